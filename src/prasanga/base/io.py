"""Files of the project: Parquet with a record of its making, JSON, tables as text, and rows kept for later runs."""

from __future__ import annotations

import csv
import errno
import glob
import hashlib
import json
import os
import re
import shutil
import socket
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from prasanga.base.errors import InputError, printable, reason

# --------------------
# Whether a table has the columns that a reader of it needs.


def require_columns(what: str, table: pl.DataFrame, needed: Iterable[str], remedy: str) -> None:
    """Refuse a table without them, such as one that an older version made.

    Args:
        what: the table, for the message.
        table: any.
        needed: names of columns.
        remedy: what to do, in a sentence, such as `remade_by(stage)`.

    Raises:
        InputError: a column is missing.
    """
    missing = [name for name in needed if name not in table.columns]
    if missing:
        there = ", ".join(table.columns) or "none"
        raise InputError(f"{what}: the table has no column {', '.join(missing)}; it has {there}. {remedy}")


def remade_by(stage: str) -> str:
    """Return what to do with a table that a stage of the workflow makes."""
    return f"Make it again with the {stage} stage."


# --------------------
# Parquet files that say what they were made from: written whole or not at all, read only if they fit together.
#
# Between the stages everything is Parquet with an explicit schema and zstd. The file's metadata has, under keys
# that begin with `prasanga.`, what made it (`prasanga.base.results.describe`): stage, settings, versions, digests
# of the inputs.
#
# zstd would decode most pages with a flipped byte to other values, so pages have checksums, which every reader here
# compares.


_PREFIX = "prasanga."
_UNWRITABLE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO),
    *(errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY),
}
_BYTES_PER_ROW_GROUP = 1 << 25


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, renamed to `path` when the block ends well and removed otherwise.

    The temporary name holds host, process and a random part: two processes that write the same file do not meet, and
    a reader of `path` sees a whole file or none. The data are on disk (fsync) before the rename.

    Raises:
        InputError: if the disk is full, a quota used up, the folder may not be written to, or a folder is in the way.
    """
    path = Path(path)
    with explaining_full_disk(path, path.parent):
        temporary = temporary_beside(path)
        try:
            yield temporary
            reach_the_disk(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def explaining_full_disk(path: str | Path, folder: Path | None = None) -> Iterator[None]:
    """Explain in a sentence why a file cannot be written: a full disk, no permission, or something in its way.

    Args:
        path: the file, or the folder for temporary ones.
        folder: the folder that is written to; `path` itself if it is a folder, otherwise its parent.

    Raises:
        InputError: in place of the OSError.
    """
    folder = folder or (Path(path) if Path(path).is_dir() else Path(path).parent)
    try:
        yield
    except OSError as error:
        elsewhere = error.filename is not None and not str(error.filename).startswith(str(folder))
        if error.errno not in _UNWRITABLE or elsewhere:
            raise
        raise InputError(
            f"{path}: could not be written ({os.strerror(error.errno)}). Nothing half-written is left there."
            f" Make room in {folder}, let yourself write there, or move the file or folder of this name, and run again:"
            " finished work is kept."
        ) from error


def temporary_beside(path: Path) -> Path:
    """Return a name for a new `path`, file or folder, that no other process uses.

    Its folder is made if necessary. Files that a killed process of this host left there for `path` are removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    begin = f".{path.name}.{socket.gethostname()}."
    for left in path.parent.glob(f"{glob.escape(begin)}*.tmp"):
        process = left.name.removeprefix(begin).partition(".")[0]
        if process.isdecimal() and not _is_running(int(process)):
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
    return path.with_name(f"{begin}{os.getpid()}.{uuid.uuid4().hex[:8]}.tmp")


def reach_the_disk(path: Path) -> None:
    """Wait until a file's data are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # of another user
        return True
    return True


def as_frame(name: str, table: Any) -> pl.DataFrame:
    """Return a table that somebody gives as a polars frame: of polars, pandas or Arrow, or a dict of columns.

    Raises:
        InputError: with `name`, for anything else.
    """
    try:
        if table is None or isinstance(table, str | Path):  # polars would make a frame of either
            raise TypeError("no table")
        if hasattr(table, "reset_index"):  # of pandas: an index need not be unique
            table = table.reset_index(drop=True)
        return table.to_polars() if hasattr(table, "to_polars") else pl.DataFrame(table)  # the former of the hub
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{name}: a {type(table).__name__} ({reason(error)}). Give a frame of polars or pandas, or a dict."
        ) from None


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 `text` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_table(path: str | Path, table: pa.Table, made_from: Mapping[str, str]) -> None:
    """Write `table` to `path` (zstd) with `made_from` as metadata, whole or not at all."""
    write_batches(path, table.schema, table.to_batches(), made_from)


def write_batches(
    path: str | Path,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    made_from: Mapping[str, str],
    *,
    dictionary: Sequence[str] | None = None,
) -> None:
    """Write `batches` to `path` (zstd) with `made_from` as metadata; memory holds some megabytes of them at a time.

    Args:
        path: the file.
        schema: of the batches.
        batches: the rows.
        made_from: what made them (`prasanga.base.results.describe`).
        dictionary: the columns in which values repeat, where somebody knows; trying all of them takes time.
    """
    _write(path, schema, _row_groups(batches), made_from, use_dictionary=True if dictionary is None else [*dictionary])


def write_row_groups(
    path: str | Path, schema: pa.Schema, groups: Iterable[pa.Table], made_from: Mapping[str, str]
) -> None:
    """Write each of `groups` as a row group of its own, so that a reader can pick those it wants.

    Numbers and texts are dictionary-encoded; the numbers of fixed-size lists are split by their bytes, which makes
    vectors a little smaller.
    """
    plain = [field.name for field in schema if not pa.types.is_nested(field.type)]
    split = {f"{field.name}.list.element": "BYTE_STREAM_SPLIT" for field in schema if field.name not in plain}
    encoding = {"use_dictionary": plain, "write_statistics": plain, "column_encoding": split or None}
    _write(path, schema, groups, made_from, **encoding)


def _write(
    path: str | Path, schema: pa.Schema, groups: Iterable[pa.Table], made_from: Mapping[str, str], **encoding: Any
) -> None:
    """Write tables as row groups of the file that takes the place of `path`, with checksums everywhere."""
    schema = schema.with_metadata({f"{_PREFIX}{key}": value for key, value in made_from.items()})
    encoding |= {"compression": "zstd", "write_page_checksum": True}
    with replacing(path) as temporary, pq.ParquetWriter(temporary, schema, **encoding) as writer:
        for group in groups:
            table = pa.Table.from_arrays([group.column(field.name) for field in schema], schema=schema)
            writer.write_table(table, row_group_size=max(table.num_rows, 1))


def _row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the batches, several together: many small row groups are slow to write and to read."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= _BYTES_PER_ROW_GROUP:
            yield pa.Table.from_batches(held)
            held, size = [], 0
    if held:
        yield pa.Table.from_batches(held)


def made_from(path: str | Path) -> dict[str, str]:
    """Return what the file's metadata says of its making: the mapping given to `write_table`."""
    metadata: Mapping[bytes, bytes] = open_parquet(path).schema_arrow.metadata or {}
    prefix = _PREFIX.encode()
    return {k[len(prefix) :].decode(): v.decode() for k, v in metadata.items() if k.startswith(prefix)}


def open_parquet(path: str | Path) -> pq.ParquetFile:
    """Open a Parquet file; one that is absent or damaged is an `InputError` that says what to do.

    Pages are compared with their checksums when the caller reads them: `reading` explains what goes wrong then.
    """
    with reading(path):
        return pq.ParquetFile(path, page_checksum_verification=True)


def read_table(path: str | Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file, or only some of its columns; a damaged one is an `InputError`."""
    with reading(path), open_parquet(path) as file:
        return file.read(columns=list(columns) if columns is not None else None)


def read_where(path: str | Path, columns: Sequence[str], column: str, values: Collection[str]) -> pa.Table:
    """Return the rows in which `column` has one of `values`; row groups without them are not read.

    The file is mapped into memory; a damaged one is an `InputError`.
    """
    wanted = pc.field(column).isin(pa.array(sorted(values), pa.string()))
    with reading(path):
        options = {"memory_map": True, "page_checksum_verification": True}
        return pq.read_table(path, columns=list(columns), filters=wanted, **options)


def read_batches(path: str | Path, columns: Sequence[str], *, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
    """Read some columns of a Parquet file, at most so many rows at a time.

    Raises:
        InputError: the file is absent or damaged, or lacks a column.
    """

    def batches() -> Iterator[pa.RecordBatch]:
        with open_parquet(path) as file:
            if missing := sorted(set(columns) - set(file.schema_arrow.names)):
                raise InputError(
                    f"{path}: lacks the columns {', '.join(missing)}. Delete it and run the workflow again."
                )
            yield from file.iter_batches(rows, columns=list(columns))

    return each_read(path, batches())


_TAKEN_FROM = 4_096  # rows that are in memory at a time


def take_rows(path: str | Path, rows: NDArray[np.int64], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read some rows of a Parquet file, some thousand in memory at a time.

    Args:
        path: the file; row groups without any of the rows are passed over.
        rows: (n,) numbers of rows from 0, sorted.
        columns: names of columns.

    Raises:
        InputError: the file is absent or damaged.
    """
    if not len(rows):
        return
    file = open_parquet(path)
    bounds = np.cumsum([0, *(file.metadata.row_group(number).num_rows for number in range(file.num_row_groups))])
    for group in np.unique(np.searchsorted(bounds, rows, side="right") - 1):
        first = int(bounds[group])
        for batch in each_read(path, file.iter_batches(_TAKEN_FROM, row_groups=[int(group)], columns=list(columns))):
            start, stop = np.searchsorted(rows, [first, first + batch.num_rows])
            yield batch.take(pa.array(rows[start:stop] - first))
            first += batch.num_rows


def each_read(path: str | Path, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what is read of a file batch by batch; a damaged one is an `InputError`."""
    while True:
        with reading(path):  # and not while the caller has a batch, whose mistakes are its own
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Say which file cannot be read in the block, and what to do.

    Raises:
        InputError: in place of what Arrow and the system say of a file that is absent, out of reach, or damaged.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Restore it, or let the workflow make it again.") from None
    except (OSError, pa.ArrowException, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # otherwise it is Arrow's, about the content
            raise _explain_unreadable(path, error) from error
        raise InputError(f"{path}: damaged ({reason(error)}). Delete it and run the workflow again.") from error


def _explain_unreadable(path: str | Path, error: OSError) -> InputError:
    return InputError(
        f"{path}: cannot be read ({error.strerror or error}). Restore it, let yourself read it (`chmod u+r`), or check"
        " the disk or the network, and run again."
    )


def require_every_page(path: str | Path) -> None:
    """Read all of a Parquet file once, so that every page is compared with its checksum.

    Raises:
        InputError: one does not fit, or the file cannot be read.
    """
    for _ in read_batches(path, open_parquet(path).schema_arrow.names):
        pass


def require_equal(paths: Sequence[str | Path], keys: Sequence[str]) -> dict[str, str]:
    """Refuse a mixture: all `paths` must have been made with the same values of `keys`.

    Returns those values (empty for no paths). Raises `InputError` that names the file that does not fit, the key and
    both values.
    """
    found = {path: {key: made_from(path).get(key, "") for key in keys} for path in paths}
    first = next(iter(found.values()), {})
    for path, values in found.items():
        for key in (key for key in keys if values[key] != first[key]):
            raise InputError(
                f"{path}: {key} is {values[key]!r}, but {paths[0]} has {first[key]!r}. These files do not belong to one"
                " run: delete the one that does not fit and run the workflow again."
            )
    return first


def read_frame(path: str | Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a Parquet file, or some of its columns, as a data frame.

    A file that is absent or damaged is an `InputError`. Polars' own reader compares no checksums.
    """
    return pl.DataFrame(read_table(path, columns).replace_schema_metadata())


# --------------------
# Digests of files and of plain values, and values that are kept under the digest of what they were computed from.
#
# What is kept saves work and is never needed nor trusted: with another key, in a damaged file or in none it is
# computed again, and where a folder cannot be written it is computed again next time. So nothing here fails and
# nothing is said.


def sha256_of_file(path: str | Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal.

    Raises:
        InputError: the file is absent, or cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _explain_unreadable(path, error) from error


def read_rows(file: Traversable) -> list[dict[str, str]]:
    """Return the rows of one of our own tables of data: tabs between columns, no quotes, names in the first line."""
    with file.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def digests_of_files(paths: Iterable[str | Path]) -> dict[str, str]:
    """Return the sha256 of each file, by its path; as `sha256_of_file`."""
    return {str(path): sha256_of_file(path) for path in paths}


def digest_of(value: Any) -> str:
    """Return a short digest (16 hexadecimal digits) of plain values: numbers, strings, lists, mappings in any order."""
    return _digest_text(json.dumps(value, sort_keys=True, ensure_ascii=False))[:16]


def _digest_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_cache(path: Path, key: str) -> Any:
    """Return the value that was written with `key`; None if the file is absent, damaged, or of another key."""
    with suppress(OSError, ValueError):
        known, value = json.loads(path.read_text(encoding="utf-8"))
        return value if known == key else None
    return None


def write_cache(path: Path, key: str, value: Any) -> None:
    """Keep plain values (what JSON gives back as it was) under `key`, in place of what the file held; whole or not."""
    with suppress(InputError, OSError):
        write_text(path, json.dumps([key, value], ensure_ascii=False))


# --------------------
# JSON files of one stage that later stages read.


def write_document(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write plain values to a JSON file, whole or not at all."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_document(path: str | Path) -> dict[str, Any]:
    """Return what was given to `write_document`.

    Raises:
        InputError: the file is absent or damaged, or cannot be read.
    """
    with reading(path):
        content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("it does not begin with a key")
    return content


# --------------------
# Tables as text for spreadsheets.
#
# A spreadsheet takes a cell that begins like a formula for one, and a formula can fetch a page or start a program. So
# such a text gets an apostrophe, which spreadsheets do not show. Numbers stay.


# A sign that begins a formula, in its wide shape too, perhaps behind white space; but not a number with its sign.
_FORMULA = r"^\s*[=+\-@＝＋－＠]"
_NUMBER = r"^[+-]?[0-9][0-9.,eE+-]*%?$"
_GUARDED = re.compile(r"'\s*[=+\-@＝＋－＠]")


def to_tsv(table: pa.Table, *, for_reader: Sequence[str] = ()) -> str:
    """Return a table as tab-separated text that a spreadsheet opens, with empty columns `for_reader` to write in.

    A cell of text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    columns = {name: pl.lit(None, pl.String) for name in for_reader}
    return guarded(pl.DataFrame(table)).with_columns(**columns).write_csv(separator="\t")


def escape_markdown(text: str) -> str:
    """Return plain text that Markdown shows as it is, in one line."""
    # a lone > is plain inside a cell or a sentence
    for sign in "\\|*_`<[]":
        text = text.replace(sign, f"\\{sign}")
    return printable(" ".join(text.split()))


def guarded(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with an apostrophe before each text that a spreadsheet would take for a formula."""
    texts = pl.selectors.string()
    formula = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    return table.with_columns(pl.when(formula).then(pl.lit("'") + texts).otherwise(texts).name.keep())


def guarded_text(text: str) -> str:
    """Return a text with an apostrophe before it, if a spreadsheet would take it for a formula."""
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


def unguarded_text(text: str) -> str:
    """Return a cell as it was before `guarded_text`, for sheets that come back from people."""
    return text[1:] if _GUARDED.match(text) else text


# --------------------
# Rows that survive: vectors and scores, kept apart from the workflow's outputs under a digest of what made them.

KEY = "key.json"
"""The file that describes the rows of a folder."""
_ROWS = {"id": pl.String, "file": pl.String, "row": pl.UInt32}


class Store:
    """The rows of one key: the Parquet files of one folder."""

    def __init__(
        self, folder: str | Path, key: str, columns: Sequence[str], describes: Mapping[str, Any] | None = None
    ) -> None:
        """Use `folder`, which need not exist.

        Args:
            folder: the folder of this key and no other.
            key: digest of everything that rows depend on, except for what their ids are digests of.
            columns: names of the columns of a row; the first is its id.
            describes: what `key` is a digest of, as plain values for readers of the folder.
        """
        self.folder, self.key = Path(folder), key
        self.columns = list(columns)
        self._describes = dict(describes or {})
        self._known = pl.DataFrame(schema=_ROWS)
        self._read: set[str] = set()

    def find(self, ids: Sequence[str]) -> NDArray[np.bool_]:
        """Return which of n ids the store has, (n,)."""
        return self._locate(ids)["file"].is_not_null().to_numpy()

    def read_rows(self, ids: Sequence[str]) -> pa.Table | None:
        """Return the rows of `ids`, in their order, without those that the store lacks; None if it has none.

        Raises:
            InputError: a file of the store is damaged.
        """
        tables, places = [], []
        for (name,), rows in self._locate(ids).drop_nulls("file").group_by("file", maintain_order=True):
            tables.append(read_table(self.folder / str(name), self.columns).take(rows["row"].to_arrow()))
            places.append(rows["place"].to_numpy())
        return pa.concat_tables(tables).take(np.argsort(np.concatenate(places))) if tables else None

    def add_rows(self, table: pa.Table) -> None:
        """Keep rows in a file of their own: when this returns, they survive a kill.

        Raises:
            InputError: the folder cannot be written to.
        """
        if not (self.folder / KEY).exists():
            content = {**self._describes, "key": self.key}
            write_text(self.folder / KEY, json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
        name = _digest_text("".join(table.column(0).to_pylist()))[:32]
        table = table.select(self.columns)
        write_row_groups(self.folder / f"{name}.parquet", table.schema, [table], {"key": self.key})

    def _locate(self, ids: Sequence[str]) -> pl.DataFrame:
        """Return one row per id: its place in `ids`, and the file and row of it that count, null where none has it."""
        files = {path.name: path.stat().st_mtime_ns for path in self.folder.glob("[!.]*.parquet")}
        for name in sorted(files.keys() - self._read, key=lambda name: (files[name], name)):
            found = pl.Series("id", read_table(self.folder / name, self.columns[:1]).column(0), pl.String).to_frame()
            found = found.select("id", file=pl.lit(name), row=pl.int_range(pl.len(), dtype=pl.UInt32))
            self._known = pl.concat([self._known, found]).unique("id", keep="last", maintain_order=True)
            self._read.add(name)
        asked = pl.DataFrame({"id": ids}, schema={"id": pl.String}).with_row_index("place")
        return asked.join(self._known, on="id", how="left", maintain_order="left")
