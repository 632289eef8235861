"""The one exception that a user is meant to read, text that is safe to print, and files that are safe to read."""

from __future__ import annotations

import errno
import os
import re
import stat
from io import BufferedReader
from pathlib import Path

_LONGEST = 20_000
_LARGEST_WHOLE = 1 << 28  # bytes of a file that is read in one piece: a million pairs of sentences
# Control characters but tab and line feed, marks that reorder a line or end it, halves of characters.
_UNPRINTABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


class InputError(ValueError):
    """Input that cannot be used: a config, a word list, a corpus, a model, a results file.

    The message is for the person who can mend it: the file, the line or key, the value found, what is allowed,
    and what to write instead. What it quotes comes from anywhere, so it is made printable (`printable`).
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(str(message)))


def printable(text: str, longest: int | None = _LONGEST) -> str:
    r"""Text that a terminal shows and does nothing else with.

    Control characters, marks that turn a line around, and lone surrogates are written as escapes (`\x1b`); a very long
    text is cut at `longest` characters.
    """
    if longest is not None and len(text) > longest:
        text = f"{text[:longest]}... ({len(text) - longest} more characters)"
    return _UNPRINTABLE.sub(_escaped, text)


def gave_up(error: BaseException) -> bool:
    """Return whether a library in Rust met what it did not foresee; Python gets its panic as no `Exception`."""
    return type(error).__name__ == "PanicException"


def reason(error: BaseException) -> str:
    """Return what a library or the system says of a failure, to be quoted within a sentence.

    Arrow and YAML write several lines; a message whose end stands on another line than its file is not found in a log.

    Returns:
        One line without the full stop at its end; the name of the error's class if it says nothing.
    """
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def open_regular(path: str | Path) -> BufferedReader:
    """Open a file for reading bytes, but no pipe, which is waited for, and no device, which has no end.

    Raises:
        OSError: it is one of these or a folder, absent, or may not be read.
    """
    return os.fdopen(regular(path), "rb")


def open_whole(path: str | Path) -> BufferedReader:
    """Open a file as `open_regular`, one that is then held in memory as a whole; of zeros, a disk may have any number.

    Raises:
        OSError: it is large, or as `open_regular`.
    """
    file = open_regular(path)
    if (size := os.fstat(file.fileno()).st_size) > _LARGEST_WHOLE:
        file.close()
        raise OSError(errno.EFBIG, f"it has {size} bytes, and at most {_LARGEST_WHOLE} are read", str(path))
    return file


def regular(path: str | Path, _flags: int = 0) -> int:
    """Return the descriptor of a file as `open_regular`; an `opener` for `open`."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode):
        return number
    os.close(number)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "it is a pipe or a device", str(path))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
