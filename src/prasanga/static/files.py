"""Files of word vectors: word2vec text and binary, GloVe, fastText.

A file is read once from the front, and only the vectors of the words that are asked for are kept. gensim's readers
would hold the whole file (4 GB for cc.bn.300.bin). Words are compared after `spelling`, so that a file that writes য় as
one character agrees with a study that writes it as two. Where several words of a file become equal, the first one
counts: files are sorted by frequency.

fastText's binary files (.bin) have words with their counts, and vectors of pieces of words (Bojanowski et al. 2017).
The vector of a word is the mean of its own row and of the rows of its pieces. A word that the file does not have is the
mean of its pieces.
"""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import lzma
import struct
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import zstandard

from prasanga.base.errors import InputError, reason

_LOG = logging.getLogger(__name__)

FORMATS = ("auto", "word2vec", "word2vec-binary", "glove", "fasttext")

_COMPRESSIONS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\x28\xb5\x2f\xfd": zstandard.open,
    b"\xfd7zXZ\0": lzma.open,
    b"BZh": bz2.open,
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD = 1 << 18
_PIECE = 1 << 20
_BUFFER = 1 << 14  # what is buffered is copied once per word of a binary file
_WORDS_PER_BATCH = 1000
_LONGEST_WORD = 1 << 16  # bytes
_FASTTEXT_BINARY = (793712314).to_bytes(4, "little")
_SUPERVISED = 3

Vector: TypeAlias = npt.NDArray[np.float32]
Spelling: TypeAlias = Callable[[Sequence[str]], list[str]]
T = TypeVar("T")
V = TypeVar("V")


class Found(NamedTuple):
    """A word of a file: its spelling there, its vector, and how often it occurred in training if the file says so."""

    word: str
    vector: Vector
    occurrences: int | None = None


@dataclass(eq=False)
class WordVectors:
    """The vectors that were asked for.

    Attributes:
        found: by the spelling that was asked for.
        method: the file's format, or the method of a training.
        dimensions: dimensions of a vector.
        n_words: words in the file.
        repeated: how many of the file's words equal a spelling that had been found before; the first one counts.
        cut_off: words that are not UTF-8, such as long ones that word2vec cuts within a character; left out.
        subwords: vectors made of pieces of words that the file does not have, by spelling (fastText's binary files).
    """

    found: dict[str, Found]
    method: str
    dimensions: int
    n_words: int
    repeated: int = 0
    cut_off: int = 0
    subwords: Mapping[str, Vector] = field(default_factory=dict)


def read_vectors(
    path: str | Path,
    wanted: Collection[str],
    *,
    format: str = "auto",
    spelling: Spelling = list,
    from_subwords: Collection[str] = (),
) -> WordVectors:
    """Return the vectors of some words.

    Args:
        path: the file, plain or compressed by gzip, zstandard, xz or bzip2.
        wanted: words, as `spelling` writes them.
        format: `word2vec` (text, with a first line "words dimensions"), `word2vec-binary`, `glove` (text without that
            line), `fasttext` (.vec, the same as word2vec text, or .bin), or `auto`, which looks at the beginning.
        spelling: the form in which words of the file are compared, for many at once.
        from_subwords: those of the wanted words that get a vector from their pieces where the file lacks them.

    Raises:
        InputError: the file is absent, empty, truncated, damaged or of another format, or a wanted vector has a number
            that is not finite; with the file, the line, and the value found.
    """
    path = Path(path)
    if format not in FORMATS:
        raise InputError(f"format: {format!r} is unknown. Write {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    if not path.is_file():
        raise InputError(f"{path}: no such file. Write the path of a file of vectors, or put the file there.")
    try:
        with _open_decompressed(path) as stream:
            kind = _recognize(path, stream.read(_HEAD), format)
        with _open_decompressed(path) as stream:
            search = _Search(path, stream, frozenset(wanted), spelling)
            if kind == "fasttext-binary":
                result = _read_fasttext_binary(search, from_subwords)
            elif kind == "word2vec-binary":
                result = _read_word2vec_binary(search)
            else:
                result = _read_text(search, kind)
    except (EOFError, OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        raise _damaged(path, reason(error)) from None
    _LOG.info("%s: %s, %d words of %d dimensions", path, kind, result.n_words, result.dimensions)
    return result


def _open_decompressed(path: Path) -> io.BufferedReader:
    """Open a file after its byte-order mark, decompressed as its first bytes say."""
    with path.open("rb") as file:
        head = file.read(8)
    open_file = next((opens for magic, opens in _COMPRESSIONS.items() if head.startswith(magic)), open)
    stream = io.BufferedReader(open_file(path, "rb"), _BUFFER)
    if stream.peek(len(_BYTE_ORDER_MARK)).startswith(_BYTE_ORDER_MARK):
        stream.read(len(_BYTE_ORDER_MARK))
    return stream


def _damaged(path: Path, problem: str) -> InputError:
    return InputError(
        f"{path}: {problem}. The file is truncated, damaged or of another format: fetch it again, or write its"
        " `format`."
    )


def _recognize(path: Path, head: bytes, format: str) -> str:
    """Return the kind of a file by its first bytes: word2vec, word2vec-binary, glove, or fasttext-binary."""
    first, _, rest = head.partition(b"\n")
    fields, header = _split(first), _read_header(first)
    if head.startswith(_FASTTEXT_BINARY):
        kind = "fasttext-binary"
    elif header:
        numbers = _split(rest.partition(b"\n")[0])[-header[1] :]
        has_bytes = any(byte < 32 and byte not in b"\t\r\n" for byte in rest[:4096])
        kind = "word2vec-binary" if has_bytes and not all(map(_is_number, numbers)) else "word2vec"
    elif len(fields) > 2 and all(map(_is_number, fields[1:])):
        kind = "glove"
    else:
        raise InputError(
            f"{path}: line 1 begins with {first[:60]!r}, which is neither a header (words and dimensions, such as"
            " `400000 300`) nor a word with its numbers, spaces or tabs between them. Formats that are read: word2vec"
            " text and binary, GloVe, fastText .vec and .bin."
        )
    if format not in ("auto", kind) and not (format == "fasttext" and kind in ("word2vec", "fasttext-binary")):
        raise InputError(
            f"{path}: `format` is {format}, but the file begins like {kind} ({head[:24]!r}). Write `format:"
            f" {kind.removesuffix('-binary') if head.startswith(_FASTTEXT_BINARY) else kind}` or `format: auto`."
        )
    return kind


def _split(line: bytes) -> list[bytes]:
    """Return the parts of a text line, between which there is a space or a tab."""
    return line.replace(b"\t", b" ").rstrip(b" \r\n").split(b" ")


def _read_header(line: bytes) -> tuple[int, int] | None:
    """Return the numbers of words and dimensions, if the line is a header."""
    fields = line.split()
    if len(fields) == 2 and all(part.isdigit() and len(part) < 10 for part in fields) and int(fields[1]) > 0:
        return int(fields[0]), int(fields[1])
    return None


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass
class _Search:
    """A file that is read from the front, and the words that are asked for in it."""

    path: Path
    stream: io.BufferedReader
    wanted: frozenset[str]
    spelling: Spelling
    n_words: int = 0
    repeated: int = 0
    cut_off: int = 0

    def find(self, entries: Iterable[tuple[bytes, int, T]], read: Callable[[str, int, T], V]) -> dict[str, V]:
        """Return what `read` makes of each wanted word, its number and value, by spelling; the first of equal ones.

        Args:
            entries: the words of the file, each with its number for messages, and its value.
            read: called only for wanted words.
        """
        found: dict[str, V] = {}
        while batch := list(islice(entries := iter(entries), _WORDS_PER_BATCH)):
            # the word2vec program cuts long words, perhaps within a character
            decoded = [word.decode(errors="replace") for word, *_ in batch]
            self.cut_off += sum("\ufffd" in word for word in decoded)
            for spelled, word, (_, number, value) in zip(self.spelling(decoded), decoded, batch, strict=True):
                if spelled in found:
                    self.repeated += 1
                elif spelled in self.wanted:
                    found[spelled] = read(word, number, value)
            self.n_words += len(batch)
        return found

    def collect(self, found: dict[str, Found], method: str, dimensions: int, n_words: int) -> WordVectors:
        """Return the result; refuse a file with more or fewer words than it says."""
        if self.n_words != n_words:
            raise _damaged(self.path, f"its beginning says {n_words} words, but {self.n_words} follow")
        if self.cut_off:
            _LOG.warning("%s: %d words are left out that are not UTF-8", self.path, self.cut_off)
        return WordVectors(found, method, dimensions, n_words, self.repeated, self.cut_off)

    def require_finite(self, vector: Vector, where: str) -> Vector:
        """Return a vector, if all its numbers are finite."""
        for place in np.flatnonzero(~np.isfinite(vector)).tolist():
            raise _damaged(self.path, f"{where}: number {place + 1} of {vector.size} is {vector[place]}")
        return vector

    def take(self, size: int, what: str) -> bytes:
        """Return the next `size` bytes."""
        data = self.stream.read(size)
        if len(data) < size:
            raise _damaged(self.path, f"the file ends within {what}")
        return data

    def take_until(self, end: bytes, what: str) -> bytes:
        """Return the bytes before the next `end` (one byte), which is passed over."""
        word = b""
        while (at := (held := self.stream.peek(1)).find(end)) < 0:
            word += self.take(len(held) or 1, what)
            if len(word) > _LONGEST_WORD:
                raise _damaged(self.path, f"{what} begins with {word[:24]!r} and does not end")
        return word + self.stream.read(at + 1)[:-1]

    def unpack(self, format: str, what: str) -> tuple[Any, ...]:
        """Return the next numbers, by a format of `struct`."""
        return struct.unpack(format, self.take(struct.calcsize(format), what))

    def skip(self, size: int, what: str) -> None:
        """Pass over `size` bytes."""
        for start in range(0, size, _PIECE):
            self.take(min(_PIECE, size - start), what)


def _read_text(search: _Search, kind: str) -> WordVectors:
    """Read word2vec text or GloVe: a word and its numbers per line. The last d numbers of a line are its vector."""
    first = search.stream.readline()
    header = _read_header(first) if kind == "word2vec" else None
    dimensions = header[1] if header else len(_split(first)) - 1
    lines = enumerate(search.stream if header else chain([first], search.stream), 2 if header else 1)

    def read_line(number: int, line: bytes) -> tuple[bytes, int, list[bytes]]:
        parts = _split(line)
        word, values = parts[:-dimensions], parts[-dimensions:]
        if not word or (len(word) > 1 and b"." in word[-1] and _is_number(word[-1]) and word[-1].strip(b".")):
            first = parts[0][:60].decode(errors="replace")
            problem = f"line {number} has {len(parts) - 1} numbers after {first!r}, where {dimensions} are wanted"
            raise _damaged(search.path, problem)
        return b" ".join(word), number, values

    def read_vector(word: str, number: int, values: list[bytes]) -> Found:
        try:
            vector = np.array(values).astype(np.float32)
        except ValueError as error:
            raise _damaged(search.path, f"line {number}: {reason(error)}") from None
        return Found(word, search.require_finite(vector, f"line {number}"))

    found = search.find((read_line(number, line) for number, line in lines if line.strip()), read_vector)
    return search.collect(found, kind, dimensions, header[0] if header else search.n_words)


def _read_word2vec_binary(search: _Search) -> WordVectors:
    n_words, dimensions = map(int, search.stream.readline().split())

    def read_entry(number: int) -> tuple[bytes, int, bytes]:
        word = search.take_until(b" ", "its words").lstrip(b"\n")  # some programs end an entry with a line feed
        return word, number, search.take(4 * dimensions, "its vectors")

    def read_vector(word: str, number: int, raw: bytes) -> Found:
        vector = np.frombuffer(raw, "<f4").astype(np.float32)
        return Found(word, search.require_finite(vector, f"word {number} ({word})"))

    found = search.find(map(read_entry, range(1, n_words + 1)), read_vector)
    search.n_words += bool(search.stream.read(_PIECE).strip(b"\n"))  # more follows
    return search.collect(found, "word2vec-binary", dimensions, n_words)


def _read_fasttext_binary(search: _Search, from_subwords: Collection[str]) -> WordVectors:
    from gensim.models.fasttext import ft_ngram_hashes  # cuts and hashes words as fastText's program does

    _, version, dimensions, *_, model, buckets, shortest, longest, _ = search.unpack("<14i", "the file's settings")
    search.unpack("<d", "the file's settings")
    has_pieces = buckets > 0 and longest > 0 and not (version == 11 and model == _SUPERVISED)
    size, n_words, _, _, pruned = search.unpack("<3i2q", "the list of words")

    def read_entry(row: int) -> tuple[bytes, int, int]:
        word = search.take_until(b"\0", "the list of words")
        count, is_label = search.unpack("<qb", "the list of words")
        return b"" if is_label else word, row, count

    entries = search.find(map(read_entry, range(size)), lambda *entry: entry)
    search.skip(8 * max(pruned, 0), "the list of pieces")
    (is_quantized,) = search.unpack("<b", "the vectors")
    n_rows, n_columns = search.unpack("<2q", "the vectors")
    expected = (n_words + (buckets if has_pieces else 0), dimensions)
    if version not in (11, 12) or is_quantized or (n_rows, n_columns) != expected:
        raise InputError(
            f"{search.path}: fastText's version {version} with {n_rows} vectors of {n_columns} numbers. Only versions"
            f" 11 and 12 with {expected[0]} vectors of {dimensions} numbers, not quantized (.ftz), are read. Fetch the"
            " .vec file."
        )

    def list_pieces(word: str) -> list[int]:
        if not has_pieces or word == "</s>":
            return []
        return [n_words + value for value in ft_ngram_hashes(word, max(shortest, 1), longest, buckets)]

    rows_by_word = {spelled: [row, *list_pieces(word)] for spelled, (word, row, _) in entries.items()}
    rows_by_word |= {word: list_pieces(word) for word in set(from_subwords) - entries.keys()}
    rows: dict[int, Vector] = {}
    following = 0
    for row in sorted({row for needed in rows_by_word.values() for row in needed}):
        search.skip(4 * dimensions * (row - following), "the vectors")
        rows[row] = np.frombuffer(search.take(4 * dimensions, "the vectors"), "<f4").astype(np.float32)
        following = row + 1
    search.skip(4 * dimensions * (n_rows - following), "the vectors")
    means = {
        word: search.require_finite(
            np.stack([rows[row] for row in needed]).mean(axis=0, dtype=np.float64).astype(np.float32),
            f"the word {word!r}",
        )
        for word, needed in sorted(rows_by_word.items())
        if needed
    }
    found = {spelled: Found(word, means[spelled], count) for spelled, (word, _, count) in entries.items()}
    result = search.collect(found, "fasttext", dimensions, size)
    result.n_words, result.subwords = n_words, {word: each for word, each in means.items() if word not in entries}
    return result
