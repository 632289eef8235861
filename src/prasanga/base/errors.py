"""Define the exception that users read, and make text safe to print."""

from __future__ import annotations

import re

_LONGEST = 20_000
# Control characters except tab and line feed, marks that reorder or end a line, and lone surrogates.
_LINKED = re.compile(r"""(?<![\w/])\.snakemake/prasanga/shipped/(resources/[^\s:,;`'"()]*[^\s:,;`'"().])""")
"""A path through the links of `prasanga.base.places`."""
_UNPRINTABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


class InputError(ValueError):
    """Input that cannot be used: a config, a word list, a corpus, a model, a results file.

    The message is for the person who can correct it: the file, the line or key, the value found, the allowed values,
    and what to write. Its quotations come from anywhere, so it is made printable (`printable`). Paths of shipped files
    are shown as in a config.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(_LINKED.sub(_name_shipped, str(message))))


def printable(text: str, longest: int | None = _LONGEST) -> str:
    r"""Return text without control characters.

    Control characters, marks that reverse a line, and lone surrogates become escapes (`\x1b`); a very long text is cut
    at `longest` characters.
    """
    if longest is not None and len(text) > longest:
        text = f"{text[:longest]}... ({len(text) - longest} more characters)"
    return _UNPRINTABLE.sub(_escaped, text)


def reason(error: BaseException) -> str:
    """Return the message of a library's or the system's error, to be quoted within a sentence.

    Arrow and YAML write several lines; in a log, a message must end on the line of its file.

    Returns:
        One line without a final full stop; the name of the error's class if the message is empty.
    """
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def _name_shipped(match: re.Match[str]) -> str:
    return f"{match[1]} (shipped with prasanga)"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
