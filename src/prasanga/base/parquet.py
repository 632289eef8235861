"""Parquet files that say what they were made from: written whole or not at all, read only if they fit together."""

from __future__ import annotations

import errno
import faulthandler
import glob
import hashlib
import os
import resource
import shutil
import signal
import socket
import uuid
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash

from prasanga.base.errors import InputError, reason

# --------------------
# A digest of a Parquet file's footer, kept in the footer: a byte that flipped there is noticed before it is
# believed.
#
# The footer says what the columns are, what the file was made from, and of each row group where its pages lie and
# between which values theirs are. Checksums of pages do not cover it: one wrong bit in it can hide rows from a
# reader that looks for some of them. So the file is sealed when it is whole, with a digest over all of the footer
# in which the digest's own place is zeros. Other programs see one more entry among the file's metadata.


KEY = "prasanga-footer"
_BLANK = b"0" * 32
# The digest is found by the key or by what it begins with: one wrong byte in either does not make it absent. Between
# them stands how the footer's encoding (Thrift's compact protocol) begins a text of so many bytes.
_METHOD = b"xxh3_128:"
_KEY_AND_LENGTH = KEY.encode() + bytes([0x18, len(_METHOD) + len(_BLANK)])
_MAGIC = b"PAR1"
_SECONDS_TO_ASK = 60


def require_sound_footer(metadata: pq.FileMetaData) -> None:
    """Refuse a footer whose account of a column contradicts its schema, before anybody asks for it.

    Asked for such a column Arrow ends the process, as C++ does with an error that nobody is there to catch, or waits
    for ever. So a child asks first.

    Raises:
        pyarrow.ArrowInvalid: the child came to no end of its own within some seconds.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # of threads, from 3.12 on: the child starts none
            child = os.fork()
    except OSError:  # no room for a process, which says nothing of the file
        return
    if not child:
        try:
            faulthandler.disable()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what C++ says of its end
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(_SECONDS_TO_ASK)
            for group in range(metadata.num_row_groups):
                for column in range(metadata.num_columns):
                    metadata.row_group(group).column(column)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise pa.ArrowInvalid("what its footer says of a column does not fit the schema")


def leave_room(writer: pq.ParquetWriter) -> None:
    """Have a writer put a place for the digest into the footer."""
    writer.add_key_value_metadata({KEY: (_METHOD + _BLANK).decode()})


def seal(path: Path) -> None:
    """Put the digest into the place that `leave_room` left in a finished file."""
    with path.open("r+b") as file:
        start, footer = _read(file)
        file.seek(start + footer.rindex(_KEY_AND_LENGTH + _METHOD + _BLANK) + len(_KEY_AND_LENGTH + _METHOD))
        file.write(_digest(footer))


def require_whole(path: str | Path) -> bytes:
    """Compare a file's footer with its digest; a file without one, of another program, is taken as it is.

    Returns:
        A digest of the whole footer.

    Raises:
        ValueError: it is not a whole Parquet file, or its footer is not what was written.
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as file:
        _, footer = _read(file)
    if (place := footer.rfind(_METHOD)) < 0:
        if (place := footer.rfind(_KEY_AND_LENGTH)) < 0:
            return _digest(footer)
        place += len(_KEY_AND_LENGTH)
    place += len(_METHOD)
    end = place + len(_BLANK)
    if footer[place:end] != _digest(footer[:place] + _BLANK + footer[end:]):
        raise ValueError("its footer is not what was written")
    return _digest(footer)


def _read(file: BinaryIO) -> tuple[int, bytes]:
    """Return where the footer begins, and its bytes."""
    end = file.seek(0, os.SEEK_END) - 8
    if end < len(_MAGIC):
        raise ValueError(f"it has {end + 8} bytes")
    file.seek(end)
    last = file.read(8)
    start = end - int.from_bytes(last[:4], "little")
    if last[4:] != _MAGIC or start < len(_MAGIC):
        raise ValueError("it does not end as such a file does")
    file.seek(start)
    return start, file.read(end - start)


def _digest(footer: bytes) -> bytes:
    return xxhash.xxh3_128_hexdigest(footer).encode()


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
# Between the stages everything is Parquet with an explicit schema and zstd. The file's metadata carries, under keys
# that begin with `prasanga.`, what made it (`provenance.describe`): stage, code fingerprint, versions, digests of
# the inputs.
#
# A byte that has flipped on the disk is noticed: zstd would decode most of such pages to other values without a
# word, so pages carry checksums and the footer a digest (`prasanga.base.parquet`), and every reader here compares both.


_PREFIX = "prasanga."
_NO_ROOM = "Make room in {folder} or let yourself write there, and run again: what is done is not done twice."
_IN_THE_WAY = "What lies there is in the way: move it to another place, and run again: what is done is not done twice."
_UNWRITABLE = {
    **dict.fromkeys([errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM], _NO_ROOM),
    **dict.fromkeys([errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY], _IN_THE_WAY),
    errno.EIO: "The disk fails: have it looked at, and run again in another place.",
}
_BYTES_PER_ROW_GROUP = 1 << 25


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to `path` when the block ends well and removed when it does not.

    The temporary name holds host, process and a random part: two processes that write the same file do not meet, and
    whoever reads `path` sees a whole file or none. The data are on disk (fsync) before the rename.

    Raises:
        InputError: if the disk is full, a quota used up, the folder may not be written to, or a folder is in the way.
    """
    path = Path(path)
    with explaining_full_disk(path, path.parent):
        temporary = temporary_beside(path)
        try:
            yield temporary
            reach_the_disk(temporary)
            _keep_digest(path, temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def explaining_full_disk(path: str | Path, folder: Path | None = None) -> Iterator[None]:
    """Say in a sentence that there is no room for a file, no permission to write it, or something in its way.

    Args:
        path: the file, or the folder for temporary ones.
        folder: what is written in; `path` itself if that is one, and else what holds it.

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
            f" {_UNWRITABLE[error.errno].format(folder=folder)}"
        ) from error


# --------------------
# Text tables and figures cannot say by themselves whether they are whole. Until the ledger knows them, which is when
# their run has ended, a file among Snakemake's notes has the digest of what was written.


WRITTEN = "prasanga/written"
"""Where such digests are, below Snakemake's folder."""


def _keep_digest(path: Path, written: Path) -> None:
    notes = Path(".snakemake")
    if path.suffix not in (".parquet", ".json") and path.parts[0] == "results" and notes.is_dir():
        place = _place_of_digest(notes, path.as_posix())
        place.parent.mkdir(parents=True, exist_ok=True)
        with written.open("rb") as file:
            place.write_text(hashlib.file_digest(file, "sha256").hexdigest(), encoding="ascii")


def written_digest(notes: Path, path: str) -> str | None:
    """Return the sha256 that a text table or figure had when its job wrote it; None where nobody knows.

    Args:
        notes: Snakemake's folder.
        path: of the file, as its job calls it.
    """
    try:
        said = _place_of_digest(notes, path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None
    return said if len(said) == hashlib.sha256().digest_size * 2 else None


def _place_of_digest(notes: Path, path: str) -> Path:
    return notes / WRITTEN / xxhash.xxh3_128_hexdigest(path.encode())


def temporary_beside(path: Path) -> Path:
    """Return a name for what is to take the place of `path`, file or folder, that no other process uses.

    The folder that holds it is made if need be, and what a process that was killed has left there for `path` removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_what_the_dead_left(path)
    return path.with_name(f".{path.name}.{socket.gethostname()}.{os.getpid()}.{uuid.uuid4().hex[:8]}.tmp")


def reach_the_disk(path: Path) -> None:
    """Wait until a file's data are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_what_the_dead_left(path: Path) -> None:
    """Remove temporary files of `path` whose process, on this host, is no more: it was killed while it wrote."""
    beginning = f".{path.name}.{socket.gethostname()}."
    for left in path.parent.glob(f"{glob.escape(beginning)}*.tmp"):
        if is_gone(left.name.removeprefix(beginning).partition(".")[0]):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def is_gone(process: str) -> bool:
    """Return whether a process of this host is no more, by the number in a file's name; False if it is no number."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return False


def as_frame(name: str, table: Any) -> pl.DataFrame:
    """Return a table that somebody gives as a polars frame: of polars, pandas or Arrow, or a dict of columns.

    Raises:
        InputError: with `name`, where it is none of these.
    """
    if isinstance(table, pl.DataFrame):
        return table
    try:
        if table is None or isinstance(table, str | Path):  # polars would make a frame of either
            raise TypeError("no table")
        return pl.DataFrame(table)
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
        made_from: what made them (`prasanga.provenance.describe`).
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
    with replacing(path) as temporary:
        with pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True, **encoding) as writer:
            leave_room(writer)
            for group in groups:
                table = pa.Table.from_arrays([group.column(field.name) for field in schema], schema=schema)
                writer.write_table(table, row_group_size=max(table.num_rows, 1))
        seal(temporary)


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

    The footer is compared with its digest now. Pages are compared with their checksums when they are read, which is the
    caller's to do: `reading` explains what goes wrong then.
    """
    with reading(path):
        return _opened(path)


def _opened(path: str | Path) -> pq.ParquetFile:
    require_whole(path)
    return pq.ParquetFile(path, page_checksum_verification=True)


def read_table(path: str | Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file, or only some of its columns; a damaged one is an `InputError`."""
    with reading(path), _opened(path) as file:
        return file.read(columns=list(columns) if columns is not None else None)


def read_where(path: str | Path, columns: Sequence[str], column: str, values: Collection[str]) -> pa.Table:
    """Return the rows in which `column` has one of `values`; row groups that have none of them are not read.

    The file is mapped into memory; a damaged one is an `InputError`.
    """
    wanted = pc.field(column).isin(pa.array(sorted(values), pa.string()))
    with reading(path):
        footer = require_whole(path)
        if footer not in _sound:  # of a file that is read word by word the child is asked once
            require_sound_footer(pq.read_metadata(path))
            _sound.add(footer)
        options = {"memory_map": True, "page_checksum_verification": True}
        return pq.read_table(path, columns=list(columns), filters=wanted, **options)


_sound: set[bytes] = set()
"""Digests of footers that a child has asked for every column."""


def read_batches(path: str | Path, columns: Sequence[str], *, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
    """Read some columns of a Parquet file, at most so many rows at a time; a damaged one is an `InputError`."""

    def batches() -> Iterator[pa.RecordBatch]:
        with _opened(path) as file:
            yield from file.iter_batches(rows, columns=list(columns))

    return each_read(path, batches())


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
    """Say which Parquet file cannot be read in the block, and what to do.

    Raises:
        InputError: in place of what Arrow and the system say of a file that is absent, out of reach, or damaged.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Restore it, or let the workflow make it again.") from None
    except PermissionError:
        raise InputError(f"{path}: you may not read it. Let yourself read it (`chmod u+r`), and run again.") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, where a Parquet file should be. Move it away, and run again.") from None
    except OSError as error:
        if error.errno is None:  # Arrow's, about the content
            raise DamagedFileError(path, reason(error)) from error
        raise InputError(
            f"{path}: cannot be read ({error.strerror or reason(error)}). It may be whole: see to the disk or the"
            " network, and run again."
        ) from error
    except (pa.ArrowException, ValueError) as error:
        raise DamagedFileError(path, reason(error)) from error


class DamagedFileError(InputError):
    """A Parquet file that is cut short or has lost a byte; `what` is the message without what to do about it."""

    def __init__(self, path: str | Path, why: str) -> None:
        self.what = f"{path}: not a whole Parquet file ({why})."
        super().__init__(f"{self.what} Delete it and run the workflow again.")


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
    first: dict[str, str] = {}
    for path in paths:
        found: dict[str, Any] = made_from(path)
        values = {key: found.get(key, "") for key in keys}
        first = first or values
        for key in keys:
            if values[key] != first[key]:
                raise InputError(
                    f"{path}: {key} is {values[key]!r}, but {paths[0]} has {first[key]!r}. These files do not belong"
                    " to one run: delete the one that does not fit and run the workflow again."
                )
    return first


# --------------------
# Tables of other stages as data frames, read as carefully as everything else.
#
# Polars has a Parquet reader of its own. It compares no checksums: a byte that has flipped on the disk becomes
# another value, or ends the process.


def read_frame(path: str | Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a Parquet file, or some of its columns, as a data frame.

    A file that is absent or damaged is an `InputError`.
    """
    return pl.DataFrame(read_table(path, columns).replace_schema_metadata())
