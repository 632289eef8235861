"""Files of vectors as bytes: compressed or not, whatever they are called.

Such files are passed on and lose their endings, or come with a byte-order mark in front. What a file is, its first
bytes say.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from prasanga.errors import InputError, reason
from prasanga.sentences.decompression import COMPRESSED, Inflation, open_decompressed

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_BUFFER = 1 << 20
_GZIP = b"\x1f\x8b"
_NOT_AS_NAMED = {b"\x28\xb5\x2f\xfd": ("zstandard", ".zst"), b"\xfd7zXZ\0": ("xz", ".xz"), b"BZh": ("bzip2", "")}


def open_vectors(path: Path, read: Callable[[int], object] | None = None) -> BinaryIO:
    """Open a file of vectors from its front, decompressed, and behind a byte-order mark if there is one.

    Endings (.gz, .zst, .xz) say how a file is compressed; gzip is known without. `read` is told what has been read, as
    by `open_decompressed`; not of a gzip file that is called otherwise.

    Raises:
        InputError: at once for a file that is absent, may not be read, or is compressed in another way than its ending
            says; while reading for one that is truncated or damaged.
    """
    stream = open_decompressed(path, read)
    assert isinstance(stream, io.BufferedReader)
    try:
        if path.suffix.lower() not in COMPRESSED and _is_gzip(path, stream):
            stream.close()
            stream = io.BufferedReader(_Gunzipped(path), _BUFFER)
        if stream.peek(len(BYTE_ORDER_MARK)).startswith(BYTE_ORDER_MARK):
            stream.read(len(BYTE_ORDER_MARK))
    except InputError:
        stream.close()
        raise
    return stream


def _is_gzip(path: Path, stream: io.BufferedReader) -> bool:
    """Whether a file is compressed by gzip; refuses the formats that only their endings tell."""
    begin = stream.peek(8)
    for magic, (name, ending) in _NOT_AS_NAMED.items():
        if begin.startswith(magic):
            what_to_do = (
                f"Rename it to {path.name}{ending}" if ending else "Unpack it, and write the path of what it holds"
            )
            raise InputError(f"{path}: compressed by {name}, which its name does not say. {what_to_do}.")
    return begin.startswith(_GZIP)


class _Gunzipped(io.RawIOBase):
    """The text of a gzip file; what is wrong with it is told as an InputError."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, gzip.GzipFile(path)
        self._inflation = Inflation(path, path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            size = self._file.readinto(buffer)
            self._inflation.add(size)
            return size
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(
                f"{self._path}: a gzip file that is truncated or damaged: {reason(error)}. Fetch it again."
            ) from None

    def close(self) -> None:
        self._file.close()
        super().close()
