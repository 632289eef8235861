"""The one exception that a user is meant to read, and text that is safe to print."""

from __future__ import annotations

import os
import re

_LONGEST = 20_000
# Control characters but tab and line feed, marks that reorder a line or end it, halves of characters.
_LINKED = re.compile(r"""(?<![\w/])\.snakemake/prasanga/(?:shipped|merged)/(resources/[^\s:,;`'"()]*[^\s:,;`'"().])""")
"""A path by the links of `prasanga.base.places`."""
_UNPRINTABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


class InputError(ValueError):
    """Input that cannot be used: a config, a word list, a corpus, a model, a results file.

    The message is for the person who can correct it: the file, the line or key, the value found, what is allowed,
    and what to write instead. What it quotes comes from anywhere, so it is made printable (`printable`); paths of what
    is shipped are shown as in a config.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(_LINKED.sub(_name_shipped, str(message))))


def printable(text: str, longest: int | None = _LONGEST) -> str:
    r"""Text that a terminal shows and does nothing else with.

    Control characters, marks that turn a line around, and lone surrogates are written as escapes (`\x1b`); a very long
    text is cut at `longest` characters.
    """
    if longest is not None and len(text) > longest:
        text = f"{text[:longest]}... ({len(text) - longest} more characters)"
    return _UNPRINTABLE.sub(_escaped, text)


def reason(error: BaseException) -> str:
    """Return what a library or the system says of a failure, to be quoted within a sentence.

    Arrow and YAML write several lines; in a log, the end of a message belongs on the same line as its file.

    Returns:
        One line without the full stop at its end; the name of the error's class if it says nothing.
    """
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def _name_shipped(match: re.Match[str]) -> str:
    is_shipped = os.path.lexists(f".snakemake/prasanga/shipped/{match[1]}") and not os.path.lexists(match[1])
    return f"{match[1]} (shipped with prasanga)" if is_shipped else match[1]


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
