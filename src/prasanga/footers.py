"""A digest of a Parquet file's footer, kept in the footer: a byte that flipped there is noticed before it is believed.

The footer says what the columns are, what the file was made from, and of each row group where its pages lie and between
which values theirs are. Checksums of pages do not cover it: one wrong bit in it can hide rows from a reader that looks
for some of them. So the file is sealed when it is whole, with a digest over all of the footer in which the digest's own
place is zeros. Other programs see one more entry among the file's metadata.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import pyarrow.parquet as pq
import xxhash

KEY = "prasanga-footer"
_BLANK = b"0" * 32
# The digest is found by the key or by what it begins with: one wrong byte in either does not make it absent. Between
# them stands how the footer's encoding (Thrift's compact protocol) begins a text of so many bytes.
_METHOD = b"xxh3_128:"
_KEY_AND_LENGTH = KEY.encode() + bytes([0x18, len(_METHOD) + len(_BLANK)])
_MAGIC = b"PAR1"


def leave_room(writer: pq.ParquetWriter) -> None:
    """Have a writer put a place for the digest into the footer."""
    writer.add_key_value_metadata({KEY: (_METHOD + _BLANK).decode()})


def seal(path: Path) -> None:
    """Put the digest into the place that `leave_room` left in a finished file."""
    with path.open("r+b") as file:
        start, footer = _read(file)
        file.seek(start + footer.rindex(_KEY_AND_LENGTH + _METHOD + _BLANK) + len(_KEY_AND_LENGTH + _METHOD))
        file.write(_digest(footer))


def require_whole(path: str | Path) -> None:
    """Compare a file's footer with its digest; a file without one, of another program, is taken as it is.

    Raises:
        ValueError: it is not a whole Parquet file, or its footer is not what was written.
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as file:
        _, footer = _read(file)
    if (place := footer.rfind(_METHOD)) < 0:
        if (place := footer.rfind(_KEY_AND_LENGTH)) < 0:
            return
        place += len(_KEY_AND_LENGTH)
    place += len(_METHOD)
    end = place + len(_BLANK)
    if footer[place:end] != _digest(footer[:place] + _BLANK + footer[end:]):
        raise ValueError("its footer is not what was written")


def _read(file: BinaryIO) -> tuple[int, bytes]:
    """Where the footer begins, and its bytes."""
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
