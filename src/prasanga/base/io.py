"""Read and write the project's files: Parquet with records, JSON, tables as text, and rows kept for later runs."""

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
# Required columns of a table.


def require_columns(what: str, table: pl.DataFrame, needed: Iterable[str], remedy: str) -> None:
    """Refuse a table that lacks columns, such as one from an older version.

    Args:
        what: the table, for the message.
        table: any.
        needed: names of columns.
        remedy: a sentence on what to do, such as `remade_by(stage)`.

    Raises:
        InputError: a column is missing.
    """
    missing = [name for name in needed if name not in table.columns]
    if missing:
        there = ", ".join(table.columns) or "none"
        raise InputError(f"{what}: the table lacks the column {', '.join(missing)}; it has {there}. {remedy}")


def remade_by(stage: str) -> str:
    """Return what to do with a table of a workflow stage."""
    return f"Make it again with the {stage} stage."


# --------------------
# Parquet files with a record of their making: written whole or not at all, and read only if they fit together.
#
# Between stages everything is Parquet with an explicit schema and zstd. The file's metadata has, under keys with the
# prefix `prasanga.`, its record (`prasanga.base.results.describe`): stage, settings, versions, digests of the inputs.
#
# zstd would decode most pages with a flipped byte to other values, so pages have checksums, which every reader here
# checks.


_PREFIX = "prasanga."
_UNWRITABLE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO),
    *(errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY),
}
_BYTES_PER_ROW_GROUP = 1 << 25


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; rename it to `path` if the block succeeds, otherwise remove it.

    The temporary name includes host, process and a random part, so processes that write the same file do not collide,
    and readers of `path` see a whole file or none. The data are on disk (fsync) before the rename.

    Raises:
        InputError: the disk is full, a quota is used up, the folder cannot be written, or a folder is in the way.
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
    """Turn the OSError of an unwritable file (full disk, no permission, something in its way) into an `InputError`.

    Args:
        path: the file, or the folder for temporary ones.
        folder: the folder to write to; by default `path` itself if it is a folder, otherwise its parent.

    Raises:
        InputError: instead of the OSError.
    """
    folder = folder or (Path(path) if Path(path).is_dir() else Path(path).parent)
    try:
        yield
    except OSError as error:
        elsewhere = error.filename is not None and not str(error.filename).startswith(str(folder))
        if error.errno not in _UNWRITABLE or elsewhere:
            raise
        raise InputError(
            f"{path}: could not be written ({os.strerror(error.errno)}). Make room in {folder}, let yourself write"
            " there, or move the file or folder of this name, and run again: finished work is kept."
        ) from error


def temporary_beside(path: Path) -> Path:
    """Return a name for a new `path`, file or folder, that no other process uses.

    Its folder is made if necessary. Temporary files of killed processes on this host are removed.
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
    except (OSError, OverflowError):  # another user's
        return True
    return True


def as_frame(name: str, table: Any) -> pl.DataFrame:
    """Return a table of polars, pandas or Arrow, or a dict of columns, as a polars frame.

    Raises:
        InputError: anything else; the message begins with `name`.
    """
    try:
        if table is None or isinstance(table, str | Path):  # polars would make a frame of these
            raise TypeError("no table")
        if hasattr(table, "reset_index"):  # pandas: an index need not be unique
            table = table.reset_index(drop=True)
        return table.to_polars() if hasattr(table, "to_polars") else pl.DataFrame(table)  # the hub's has `to_polars`
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
    """Write `batches` to `path` (zstd) with `made_from` as metadata; memory use is a few megabytes.

    Args:
        path: the file.
        schema: of the batches.
        batches: the rows.
        made_from: the record (`prasanga.base.results.describe`).
        dictionary: the columns with repeated values, if known; trying all columns takes time.
    """
    _write(path, schema, _row_groups(batches), made_from, use_dictionary=True if dictionary is None else [*dictionary])


def write_row_groups(
    path: str | Path, schema: pa.Schema, groups: Iterable[pa.Table], made_from: Mapping[str, str]
) -> None:
    """Write each of `groups` as a row group of its own, so that readers can choose.

    Numbers and texts are dictionary-encoded; the numbers of fixed-size lists are split by bytes, which makes vectors a
    little smaller.
    """
    plain = [field.name for field in schema if not pa.types.is_nested(field.type)]
    split = {f"{field.name}.list.element": "BYTE_STREAM_SPLIT" for field in schema if field.name not in plain}
    encoding = {"use_dictionary": plain, "write_statistics": plain, "column_encoding": split or None}
    _write(path, schema, groups, made_from, **encoding)


def _write(
    path: str | Path, schema: pa.Schema, groups: Iterable[pa.Table], made_from: Mapping[str, str], **encoding: Any
) -> None:
    """Write tables as row groups of a file that replaces `path`, with checksums everywhere."""
    schema = schema.with_metadata({f"{_PREFIX}{key}": value for key, value in made_from.items()})
    encoding |= {"compression": "zstd", "write_page_checksum": True}
    with replacing(path) as temporary, pq.ParquetWriter(temporary, schema, **encoding) as writer:
        for group in groups:
            table = pa.Table.from_arrays([group.column(field.name) for field in schema], schema=schema)
            writer.write_table(table, row_group_size=max(table.num_rows, 1))


def _row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the batches, several together, because many small row groups are slow to write and read."""
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
    """Return the record in a file's metadata: the mapping given to `write_table`."""
    metadata: Mapping[bytes, bytes] = open_parquet(path).schema_arrow.metadata or {}
    prefix = _PREFIX.encode()
    return {k[len(prefix) :].decode(): v.decode() for k, v in metadata.items() if k.startswith(prefix)}


def open_parquet(path: str | Path) -> pq.ParquetFile:
    """Open a Parquet file; raise InputError, with what to do, if it is missing or damaged.

    Checksums are checked when the caller reads pages: `reading` explains errors then.
    """
    with reading(path):
        return pq.ParquetFile(path, page_checksum_verification=True)


def read_table(path: str | Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file, or only some columns; raise InputError if it is damaged."""
    with reading(path), open_parquet(path) as file:
        return file.read(columns=list(columns) if columns is not None else None)


def read_where(path: str | Path, columns: Sequence[str], column: str, values: Collection[str]) -> pa.Table:
    """Return the rows in which `column` has one of `values`; row groups without them are skipped.

    The file is mapped into memory. Raises InputError if it is damaged.
    """
    wanted = pc.field(column).isin(pa.array(sorted(values), pa.string()))
    with reading(path):
        options = {"memory_map": True, "page_checksum_verification": True}
        return pq.read_table(path, columns=list(columns), filters=wanted, **options)


def read_batches(path: str | Path, columns: Sequence[str], *, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
    """Read some columns of a Parquet file, at most `rows` rows at a time.

    Raises:
        InputError: the file is missing or damaged, or lacks a column.
    """

    def batches() -> Iterator[pa.RecordBatch]:
        with open_parquet(path) as file:
            if missing := sorted(set(columns) - set(file.schema_arrow.names)):
                raise InputError(
                    f"{path}: lacks the columns {', '.join(missing)}. Delete it and run the workflow again."
                )
            yield from file.iter_batches(rows, columns=list(columns))

    return each_read(path, batches())


_TAKEN_FROM = 4_096  # rows in memory at a time


def take_rows(path: str | Path, rows: NDArray[np.int64], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read some rows of a Parquet file, a few thousand in memory at a time.

    Args:
        path: the file; row groups without any of the rows are skipped.
        rows: (n,) row numbers from 0, sorted.
        columns: names of columns.

    Raises:
        InputError: the file is missing or damaged.
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
    """Yield the batches of a file; raise InputError if it is damaged."""
    while True:
        with reading(path):  # not while the caller has a batch, whose mistakes are its own
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Name the file that cannot be read in the block, and say what to do.

    Raises:
        InputError: instead of Arrow's or the system's error for a file that is missing, unreachable or damaged.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Restore it, or let the workflow make it again.") from None
    except (OSError, pa.ArrowException, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # Arrow's errors about the content lack a number
            raise _explain_unreadable(path, error) from error
        raise InputError(f"{path}: damaged ({reason(error)}). Delete it and run the workflow again.") from error


def _explain_unreadable(path: str | Path, error: OSError) -> InputError:
    return InputError(
        f"{path}: cannot be read ({error.strerror or error}). Restore it, let yourself read it (`chmod u+r`), or check"
        " the disk or the network, and run again."
    )


def require_every_page(path: str | Path) -> None:
    """Read all of a Parquet file once, so that the checksum of every page is checked.

    Raises:
        InputError: one does not fit, or the file cannot be read.
    """
    for _ in read_batches(path, open_parquet(path).schema_arrow.names):
        pass


def require_equal(paths: Sequence[str | Path], keys: Sequence[str]) -> dict[str, str]:
    """Refuse a mixture: the records of all `paths` must have the same values of `keys`.

    Returns:
        Those values; empty for no paths.

    Raises:
        InputError: a file differs; with its path, the key and both values.
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
    """Read a Parquet file, or some of its columns, as a data frame; raise InputError if it is missing or damaged.

    Polars' own reader does not check checksums.
    """
    return pl.DataFrame(read_table(path, columns).replace_schema_metadata())


# --------------------
# Digests of files and plain values, and a cache under such digests.
#
# A cache only saves work, and is not trusted: a value with another key, in a damaged file or without a file is computed
# again, and if a folder cannot be written, it is computed again next time. So nothing here fails or logs.


def sha256_of_file(path: str | Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal.

    Raises:
        InputError: the file is missing or cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _explain_unreadable(path, error) from error


def read_rows(file: Traversable) -> list[dict[str, str]]:
    """Return the rows of one of our own data tables: tab-separated, without quotes, names in the first line."""
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
    """Return the value that was written with `key`; None if the file is missing, damaged, or has another key."""
    with suppress(OSError, ValueError):
        known, value = json.loads(path.read_text(encoding="utf-8"))
        return value if known == key else None
    return None


def write_cache(path: Path, key: str, value: Any) -> None:
    """Keep plain values (that JSON restores exactly) under `key`, replacing the file's content; whole or not at all."""
    with suppress(InputError, OSError):
        write_text(path, json.dumps([key, value], ensure_ascii=False))


# --------------------
# JSON files that one stage writes and later stages read.


def write_document(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write plain values to a JSON file, whole or not at all."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_document(path: str | Path) -> dict[str, Any]:
    """Return the content of a file from `write_document`.

    Raises:
        InputError: the file is missing or damaged, or cannot be read.
    """
    with reading(path):
        content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("it does not begin with a key")
    return content


# --------------------
# Tables as text for spreadsheets.
#
# A spreadsheet reads a cell that begins like a formula as one, and a formula can fetch a page or start a program. So
# such a text gets an apostrophe, which spreadsheets hide. Numbers stay.


# A sign that begins a formula, also full-width, perhaps after white space; but not a number with its sign.
_FORMULA = r"^\s*[=+\-@＝＋－＠]"
_NUMBER = r"^[+-]?[0-9][0-9.,eE+-]*%?$"
_GUARDED = re.compile(r"'\s*[=+\-@＝＋－＠]")


def to_tsv(table: pa.Table, *, for_reader: Sequence[str] = ()) -> str:
    """Return a table as tab-separated text for spreadsheets, with empty columns `for_reader` to write in.

    An apostrophe precedes a cell of text that a spreadsheet would read as a formula.
    """
    columns = {name: pl.lit(None, pl.String) for name in for_reader}
    return guarded(pl.DataFrame(table)).with_columns(**columns).write_csv(separator="\t")


def escape_markdown(text: str) -> str:
    """Return plain text escaped for Markdown, in one line."""
    # a lone > is plain text inside a cell or sentence
    for sign in "\\|*_`<[]":
        text = text.replace(sign, f"\\{sign}")
    return printable(" ".join(text.split()))


def guarded(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with an apostrophe before each text that a spreadsheet would read as a formula."""
    texts = pl.selectors.string()
    formula = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    return table.with_columns(pl.when(formula).then(pl.lit("'") + texts).otherwise(texts).name.keep())


def guarded_text(text: str) -> str:
    """Return a text, with an apostrophe before it if a spreadsheet would read it as a formula."""
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


def unguarded_text(text: str) -> str:
    """Return a cell as it was before `guarded_text`, for sheets that come back from people."""
    return text[1:] if _GUARDED.match(text) else text


# --------------------
# Rows kept for later runs: vectors and scores, separate from the workflow's outputs, under a digest of their inputs.

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
            key: digest of everything that rows depend on, except what their ids are digests of.
            columns: names of a row's columns; the first is its id.
            describes: the values that `key` is a digest of, for people who look into the folder.
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
        """Return the rows of `ids`, in their order, without missing ones; None if all are missing.

        Raises:
            InputError: a file of the store is damaged.
        """
        tables, places = [], []
        for (name,), rows in self._locate(ids).drop_nulls("file").group_by("file", maintain_order=True):
            tables.append(read_table(self.folder / str(name), self.columns).take(rows["row"].to_arrow()))
            places.append(rows["place"].to_numpy())
        return pa.concat_tables(tables).take(np.argsort(np.concatenate(places))) if tables else None

    def add_rows(self, table: pa.Table) -> None:
        """Write rows to a file of their own; after this returns, they survive a kill.

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
        """Return one row per id: its place in `ids`, and its file and row there; null for missing ids."""
        files = {path.name: path.stat().st_mtime_ns for path in self.folder.glob("[!.]*.parquet")}
        for name in sorted(files.keys() - self._read, key=lambda name: (files[name], name)):
            found = pl.Series("id", read_table(self.folder / name, self.columns[:1]).column(0), pl.String).to_frame()
            found = found.select("id", file=pl.lit(name), row=pl.int_range(pl.len(), dtype=pl.UInt32))
            self._known = pl.concat([self._known, found]).unique("id", keep="last", maintain_order=True)
            self._read.add(name)
        asked = pl.DataFrame({"id": ids}, schema={"id": pl.String}).with_row_index("place")
        return asked.join(self._known, on="id", how="left", maintain_order="left")
