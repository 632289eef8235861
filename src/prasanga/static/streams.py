"""Files of vectors as bytes: compressed or not, whatever they are called, read from the front without being held.

Such files are passed on and lose their endings, or come with a byte-order mark in front. What a file is, its first
bytes say.
"""

from __future__ import annotations

import gzip
import io
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError, reason
from prasanga.sentences.corpus import COMPRESSED, Inflation, open_decompressed

_PIECE = _BUFFER = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_NOT_AS_NAMED = {b"\x28\xb5\x2f\xfd": ("zstandard", ".zst"), b"\xfd7zXZ\0": ("xz", ".xz"), b"BZh": ("bzip2", "")}


def open_vectors(path: Path, read: Callable[[int], object] | None = None) -> io.BufferedReader[Any]:
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
        if stream.peek(len(_BYTE_ORDER_MARK)).startswith(_BYTE_ORDER_MARK):
            stream.read(len(_BYTE_ORDER_MARK))
    except InputError:
        stream.close()
        raise
    return stream


class ByteStream:
    """A file that is read piece by piece; `place` is the number of bytes read so far; `read` as in `open_vectors`."""

    def __init__(self, path: Path, read: Callable[[int], object] | None = None) -> None:
        self._path, self._stream, self._held, self._start = path, open_vectors(path, read), b"", 0
        self.place = 0

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def take(self, size: int, what: str) -> bytes:
        """Return the next `size` bytes.

        Raises:
            InputError: the file ends before; `what` says what they should have been.
        """
        if len(self._held) - self._start < size:
            self._hold(size, what)
        taken = self._held[self._start : self._start + size]
        self._start += size
        self.place += size
        return taken

    def until(self, end: bytes, most: int, what: str) -> bytes:
        """Return the bytes before the next `end` (one byte), which is passed over.

        Raises:
            InputError: the file ends before, or there is none within `most` bytes.
        """
        while (at := self._held.find(end, self._start, self._start + most)) < 0:
            if len(self._held) - self._start >= most:
                found = self._held[self._start : self._start + 24]
                raise InputError(
                    f"{self._path}: at byte {self.place}, {what} should end within {most} bytes, but it begins with"
                    f" {found!r} and does not. The file is damaged or of another format: fetch it again, or write its"
                    " `format`."
                )
            self._hold(len(self._held) - self._start + 1, what)
        taken = self._held[self._start : at]
        self._start = at + 1
        self.place += len(taken) + 1
        return taken

    def unpack(self, format: str, what: str) -> tuple[Any, ...]:
        """Return the next numbers, by a format of `struct`."""
        return struct.unpack(format, self.take(struct.calcsize(format), what))

    def skip(self, size: int, what: str) -> None:
        """Pass over `size` bytes; a plain file is not read for it."""
        held = min(size, len(self._held) - self._start)
        self._start += held
        self.place += held
        size -= held
        if size > _PIECE and self._stream.seekable():
            end = os.fstat(self._stream.fileno()).st_size
            if size > end - self._stream.tell():
                raise self._ended(end, what)
            self._stream.seek(size, 1)
            self.place += size
            return
        while size:
            piece = min(size, _PIECE)
            self.take(piece, what)
            size -= piece

    def next_byte(self) -> bytes:
        """Return the next byte without taking it; empty at the end."""
        if self._start < len(self._held):
            return self._held[self._start : self._start + 1]
        return self._stream.peek(1)[:1]

    def _hold(self, size: int, what: str) -> None:
        """Read on until `size` bytes are held."""
        pieces = [self._held[self._start :]]
        n = len(pieces[0])
        while n < size:
            piece = self._stream.read(_PIECE)
            if not piece:
                raise self._ended(self.place + n, what)
            pieces.append(piece)
            n += len(piece)
        self._held, self._start = b"".join(pieces), 0

    def _ended(self, end: int, what: str) -> InputError:
        return InputError(f"{self._path}: the file ends at byte {end}, within {what}. It is truncated: fetch it again.")


def _is_gzip(path: Path, stream: io.BufferedReader[Any]) -> bool:
    """Return whether a file is compressed by gzip; refuse the formats that only their endings tell."""
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
