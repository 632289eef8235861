"""Files of word vectors: word2vec text and binary, GloVe, fastText.

A file is read once from the front, and only the vectors of the words that are asked for are kept; a file of many
gigabytes takes time and no memory. Words are compared after `spelling`, so that a file that writes য় as one character
and a study that writes it as two meet. Where several of a file's words come to the same, the first one counts: files
are sorted by frequency.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.errors import InputError
from prasanga.progress import BYTES, progress
from prasanga.static.opening import open_vectors

_LOG = logging.getLogger(__name__)

FORMATS = ("auto", "word2vec", "word2vec-binary", "glove", "fasttext")
FASTTEXT_BINARY = (793712314).to_bytes(4, "little")
_HEAD = 1 << 18
_DIGITS = 18  # of a number that 64 bits hold in any case
_CUT_WORDS = 58
"""The word2vec program cuts words after 98 bytes, its program for phrases after 58: shorter words are never cut."""

Vector: TypeAlias = npt.NDArray[np.float32]
Spelling: TypeAlias = Callable[[Sequence[str]], list[str]]


class Found(NamedTuple):
    """A word of a file: as the file writes it, its vector, and how often it occurred in training where that is said."""

    word: str
    vector: Vector
    occurrences: int | None = None


@dataclass(frozen=True, eq=False)
class WordVectors:
    """The vectors that were asked for.

    Attributes:
        found: by the spelling that was asked for.
        method: the file's format, or the method of a training.
        dimensions: of a vector.
        n_words: words in the file.
        repeated: how many of the file's words came to a spelling that had been found before; the first one counts.
        cut_off: words whose last character is not whole, which the word2vec program leaves of long ones; left out.
        subwords: vectors made of pieces of words that the file does not have, by spelling (fastText's binary files).
    """

    found: Mapping[str, Found]
    method: str
    dimensions: int
    n_words: int
    repeated: int = 0
    cut_off: int = 0
    subwords: Mapping[str, Vector] = field(default_factory=dict)


def as_written(words: Sequence[str]) -> list[str]:
    """The spelling that changes nothing."""
    return list(words)


def read_vectors(
    path: str | Path,
    wanted: Collection[str],
    *,
    format: str = "auto",
    spelling: Spelling = as_written,
    from_subwords: Collection[str] = (),
) -> WordVectors:
    """The vectors of some words.

    Args:
        path: the file, plain or compressed (.gz, .zst, .xz; gzip also by another name).
        wanted: words, as `spelling` writes them.
        format: `word2vec` (text, with a first line "words dimensions"), `word2vec-binary`, `glove` (text without that
            line), `fasttext` (.vec, the same as word2vec text, or .bin), or `auto`, which looks at the beginning.
        spelling: what many of the file's words are compared as.
        from_subwords: words, among those wanted, for which a vector is made of their pieces where the file does not
            have them, if it has pieces.

    Raises:
        InputError: the file is absent, empty, truncated, damaged or of another format, or a vector that is asked for
            holds something else than finite numbers; with the file, the line, and what was found.
    """
    from prasanga.static.fasttext_binary import read_fasttext_binary
    from prasanga.static.vector_texts import read_text
    from prasanga.static.word2vec_binary import read_word2vec_binary

    path = Path(path)
    kind = kind_of(path, format)
    spellings = Wanted(wanted, spelling)
    with progress(f"reading {path}", path.stat().st_size, BYTES) as done:
        if kind == "fasttext-binary":
            result = read_fasttext_binary(path, spellings, from_subwords, done.advance)
        elif kind == "word2vec-binary":
            result = read_word2vec_binary(path, spellings, done.advance)
        else:
            result = read_text(path, spellings, kind, done.advance)
    _LOG.info(
        "%s: %s, %d words of %d dimensions, %d of the %d spellings found, %d repeated, %d cut off",
        path,
        kind,
        result.n_words,
        result.dimensions,
        len(result.found),
        len(spellings.words),
        result.repeated,
        result.cut_off,
    )
    return result


class Wanted:
    """The words that are asked for, and what is found of them while a file is read."""

    def __init__(self, words: Collection[str], spelling: Spelling) -> None:
        self.words = frozenset(words)
        self.found: dict[str, Found] = {}
        self.repeated = 0
        self.cut_off = 0
        self._spelling = spelling

    def among(self, words: Sequence[str | None]) -> dict[int, str]:
        """Which of a file's next words are asked for and new: place among `words` -> spelling. None is left out."""
        known = [word or "" for word in words]
        chosen: dict[int, str] = {}
        taken: set[str] = set()
        for place, spelled in enumerate(self._spelling(known)):
            if spelled in self.words:
                if spelled in taken or spelled in self.found:
                    self.repeated += 1
                else:
                    taken.add(spelled)
                    chosen[place] = spelled
        return chosen

    def decode(self, raw: bytes, where: str, *, may_be_cut: bool) -> str | None:
        """A file's word, or None for one whose last character is cut off.

        Args:
            raw: the word.
            where: its place, for the message.
            may_be_cut: whether the format is one of the word2vec program's, which cuts long words.

        Raises:
            InputError: it is not UTF-8.
        """
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            if may_be_cut and error.reason == "unexpected end of data" and len(raw) >= _CUT_WORDS:
                self.cut_off += 1
                return None
            raise InputError(
                f"{where}: the word is not UTF-8: found the bytes {raw[error.start : error.start + 8].hex(' ')}."
                " Convert the file to UTF-8, or fetch one that is."
            ) from None

    def result(
        self, method: str, dimensions: int, n_words: int, subwords: Mapping[str, Vector] | None = None
    ) -> WordVectors:
        """What was found."""
        return WordVectors(
            self.found, method, dimensions, n_words, self.repeated, self.cut_off, subwords if subwords else {}
        )


def kind_of(path: Path, format: str = "auto") -> str:
    """How a file is to be read: word2vec, word2vec-binary, glove, or fasttext-binary.

    Raises:
        InputError: the file is absent or empty, the format unknown, or the file begins like one of another format.
    """
    if format not in FORMATS:
        raise InputError(f"format: {format!r} is unknown. Write {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    if not path.is_file():
        raise InputError(f"{path}: no such file. Write the path of a file of vectors, or put the file there.")
    with open_vectors(path) as stream:
        head = stream.read(_HEAD)
    if not head.strip():
        raise InputError(f"{path}: there is nothing in it ({len(head)} bytes). Fetch it again.")
    if head.startswith(b"PK\x03\x04"):
        raise InputError(f"{path}: a zip archive. Unpack it, and write the path of the file in it.")
    found = _look(path, head)
    asked = "word2vec" if format == "fasttext" else format
    if asked in ("auto", found) or (format == "fasttext" and found == "fasttext-binary"):
        return found
    raise InputError(
        f"{path}: `format` is {format}, but the file begins like {_NAMES[found]} (its first bytes are {head[:24]!r})."
        f" Write `format: {'fasttext' if found == 'fasttext-binary' else found}` or `format: auto`."
    )


_NAMES = {
    "word2vec": "a word2vec text or fastText .vec file: a line with the numbers of words and dimensions, then words",
    "word2vec-binary": "a word2vec binary file",
    "glove": "a GloVe file: a word and its numbers on the first line",
    "fasttext-binary": "a fastText .bin file",
}


def _look(path: Path, head: bytes) -> str:
    if head.startswith(FASTTEXT_BINARY):
        return "fasttext-binary"
    first, _, rest = head.partition(b"\n")
    header = header_of(first)
    if header is None:
        fields = numbers_apart(first).split(b" ")
        if len(fields) > 2 and all(map(is_number, fields[1:])):
            return "glove"
        raise InputError(
            f"{path}: line 1 begins with {first[:60]!r}, which is neither a header (words and dimensions, such as"
            " `400000 300`) nor a word with its numbers, spaces or tabs between them. Formats that are read: word2vec"
            " text and binary, GloVe, fastText .vec and .bin."
        )
    _, dimensions = header
    fields = numbers_apart(rest.partition(b"\n")[0]).split(b" ")
    is_text = len(fields) > dimensions and all(map(is_number, fields[-dimensions:]))
    return "word2vec" if is_text or not rest.strip() else _text_or_binary(rest)


def _text_or_binary(rest: bytes) -> str:
    """What a file is that has a header and then no line as there should be: damaged text, or numbers as bytes."""
    begin = rest[:4096]
    binary = sum(byte < 32 and byte not in b"\t\r\n" for byte in begin)
    return "word2vec-binary" if binary else "word2vec"


def numbers_apart(line: bytes) -> bytes:
    """A line of a text file without its end, with a space wherever it has a tab."""
    return line.replace(b"\t", b" ").strip(b" \r\n")


def header_of(line: bytes) -> tuple[int, int] | None:
    """Numbers of words and dimensions, if the line is a header."""
    fields = line.split()
    if len(fields) == 2 and all(part.isdigit() and len(part) <= _DIGITS for part in fields) and int(fields[1]) > 0:
        return int(fields[0]), int(fields[1])
    return None


def is_number(text: bytes) -> bool:
    """Whether this is a number in writing (NaN and infinity too)."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def finite(vector: Vector, where: str, shown: Sequence[object]) -> Vector:
    """The vector.

    Raises:
        InputError: a number in it is NaN or infinite; `shown` are the numbers as the file has them.
    """
    if not np.isfinite(vector).all():
        place = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InputError(
            f"{where}: number {place + 1} of {vector.size} is {shown[place]}, and numbers must be finite. Fetch the"
            " file again, or take the word out of it."
        )
    return vector
