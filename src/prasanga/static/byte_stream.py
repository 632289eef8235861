"""Reading binary files from the front, without holding them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from prasanga.errors import InputError
from prasanga.static.opening import open_vectors

_PIECE = 1 << 20


class ByteStream:
    """A file, plain or compressed, read piece by piece; `place` is the number of bytes read so far."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path, self._stream, self._held, self._start = path, stream, b"", 0
        self.place = 0

    def take(self, size: int, what: str) -> bytes:
        """The next `size` bytes.

        Raises:
            InputError: the file ends before; `what` says what they should have been.
        """
        while len(self._held) - self._start < size:
            self._more(what)
        taken = self._held[self._start : self._start + size]
        self._start += size
        self.place += size
        return taken

    def until(self, end: bytes, most: int, what: str) -> bytes:
        """The bytes before the next `end` (one byte), which is passed over.

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
            self._more(what)
        taken = self._held[self._start : at]
        self._start = at + 1
        self.place += len(taken) + 1
        return taken

    def unpack(self, format: str, what: str) -> tuple[Any, ...]:
        """The next numbers, by a format of `struct`."""
        return struct.unpack(format, self.take(struct.calcsize(format), what))

    def skip(self, size: int, what: str) -> None:
        """Pass over `size` bytes; a plain file is not read for it."""
        held = min(size, len(self._held) - self._start)
        self._start += held
        self.place += held
        size -= held
        if size > _PIECE and self._stream.seekable():
            # the last byte is read, so that a file that ends before does not pass for a whole one
            self._stream.seek(size - 1, 1)
            self.place += size - 1
            size = 1
        while size:
            piece = min(size, _PIECE)
            self.take(piece, what)
            size -= piece

    def at_end(self) -> bool:
        """Whether nothing follows."""
        return self._start == len(self._held) and not self._stream.peek(1)  # type: ignore[attr-defined]

    def next_byte(self) -> bytes:
        """The next byte without taking it; empty at the end."""
        if self._start < len(self._held):
            return self._held[self._start : self._start + 1]
        ahead: bytes = self._stream.peek(1)[:1]  # type: ignore[attr-defined]
        return ahead

    def _more(self, what: str) -> None:
        piece = self._stream.read(_PIECE)
        if not piece:
            end = self.place + len(self._held) - self._start
            raise InputError(
                f"{self._path}: the file ends at byte {end}, within {what}. It is truncated: fetch it again."
            )
        self._held, self._start = self._held[self._start :] + piece, 0


@contextmanager
def byte_stream(path: Path, read: Callable[[int], object] | None = None) -> Iterator[ByteStream]:
    """Open a file for reading from the front; `read` as in `open_vectors`."""
    with open_vectors(path, read) as stream:
        yield ByteStream(path, stream)
