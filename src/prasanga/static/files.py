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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

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
_WORDS_PER_BATCH = 1000
_LONGEST_WORD = 1 << 16  # bytes
_CUT_WORDS = 58
"""The word2vec program cuts words after 98 bytes, its program for phrases after 58: shorter words are never cut."""
_FASTTEXT_BINARY = (793712314).to_bytes(4, "little")
_SUPERVISED = 3

Vector: TypeAlias = npt.NDArray[np.float32]
Spelling: TypeAlias = Callable[[Sequence[str]], list[str]]


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
        cut_off: words whose last character is incomplete, because the word2vec program cuts long ones; left out.
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
            search = _Search(path, wanted, spelling, may_be_cut=kind.startswith("word2vec"))
            if kind == "fasttext-binary":
                result = _read_fasttext_binary(_Bytes(path, stream), search, from_subwords)
            elif kind == "word2vec-binary":
                result = _read_word2vec_binary(_Bytes(path, stream), search)
            else:
                result = _read_text(stream, search, kind)
    except (EOFError, OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        raise InputError(f"{path}: truncated or damaged: {reason(error)}. Fetch it again.") from None
    result.repeated, result.cut_off = search.repeated, search.cut_off
    _LOG.info("%s: %s, %d words of %d dimensions", path, kind, result.n_words, result.dimensions)
    return result


def _open_decompressed(path: Path) -> BinaryIO:
    """Open a file after its byte-order mark, decompressed as its first bytes say."""
    with path.open("rb") as file:
        head = file.read(8)
    open_file = next((opens for magic, opens in _COMPRESSIONS.items() if head.startswith(magic)), open)
    stream = io.BufferedReader(open_file(path, "rb"), _PIECE)
    if stream.peek(len(_BYTE_ORDER_MARK)).startswith(_BYTE_ORDER_MARK):
        stream.read(len(_BYTE_ORDER_MARK))
    return stream


def _recognize(path: Path, head: bytes, format: str) -> str:
    """Return the kind of a file by its first bytes: word2vec, word2vec-binary, glove, or fasttext-binary."""
    if not head.strip():
        raise InputError(f"{path}: there is nothing in it ({len(head)} bytes). Fetch it again.")
    first, _, rest = head.partition(b"\n")
    fields = _split(first)
    if head.startswith(_FASTTEXT_BINARY):
        kind = "fasttext-binary"
    elif header := _read_header(first):
        numbers = _split(rest.partition(b"\n")[0])[-header[1] :]
        is_binary = any(byte < 32 and byte not in b"\t\r\n" for byte in rest[:4096]) and not all(
            map(_is_number, numbers)
        )
        kind = "word2vec-binary" if is_binary else "word2vec"
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
            f"{path}: `format` is {format}, but the file begins like {kind} (its first bytes are"
            f" {head[:24]!r}). Write `format: {'fasttext' if kind == 'fasttext-binary' else kind}` or `format: auto`."
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


class _Search:
    """The words that are asked for, among the words of a file that is being read."""

    def __init__(self, path: Path, words: Collection[str], spelling: Spelling, *, may_be_cut: bool) -> None:
        self.path, self.words, self.repeated, self.cut_off = path, frozenset(words), 0, 0
        self._spelling, self._may_be_cut, self._taken = spelling, may_be_cut, set[str]()

    def choose(self, words: Sequence[bytes], numbers: Sequence[int], unit: str) -> Iterator[tuple[int, str, str]]:
        """Yield the index of each of the file's next words that is asked for and new, the word, and its spelling.

        Args:
            words: of the file.
            numbers: number of each, for messages.
            unit: line or word.
        """
        decoded = [self._decode(word, f"{unit} {number}") for word, number in zip(words, numbers, strict=True)]
        for index, spelled in enumerate(self._spelling(decoded)):
            if spelled in self._taken:
                self.repeated += 1
            elif spelled in self.words:
                self._taken.add(spelled)
                yield index, decoded[index], spelled

    def _decode(self, raw: bytes, where: str) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            if self._may_be_cut and error.reason == "unexpected end of data" and len(raw) >= _CUT_WORDS:
                self.cut_off += 1
                return ""
            raise InputError(
                f"{self.path}: {where}: the word is not UTF-8: found the bytes"
                f" {raw[error.start : error.start + 8].hex(' ')}. Convert the file to UTF-8, or fetch one that is."
            ) from None

    def require_finite(self, vector: Vector, where: str) -> Vector:
        """Return a vector, if all its numbers are finite."""
        if not np.isfinite(vector).all():
            place = int(np.flatnonzero(~np.isfinite(vector))[0])
            raise InputError(
                f"{self.path}: {where}: number {place + 1} of {vector.size} is {vector[place]}, and numbers must be"
                " finite. Fetch the file again, or take the word out of it."
            )
        return vector


def _read_text(stream: BinaryIO, search: _Search, kind: str) -> WordVectors:
    """Read word2vec text or GloVe: a word and its numbers per line. The last d numbers of a line are its vector."""
    first = stream.readline()
    header = _read_header(first) if kind == "word2vec" else None
    dimensions = header[1] if header else len(_split(first)) - 1
    numbered = enumerate(stream, 2) if header else chain([(1, first)], enumerate(stream, 2))
    lines = ((number, _split(line)) for number, line in numbered if line.strip())
    result = WordVectors({}, kind, dimensions, 0)
    while batch := list(islice(lines, _WORDS_PER_BATCH)):
        words = [_take_word(parts, dimensions, f"{search.path}: line {number}") for number, parts in batch]
        for index, word, spelled in search.choose(words, [number for number, _ in batch], "line"):
            where, values = f"line {batch[index][0]}", batch[index][1][-dimensions:]
            try:
                vector = np.array(values).astype(np.float32)
            except ValueError:
                place, wrong = next((i, text) for i, text in enumerate(values) if not _is_number(text))
                raise InputError(
                    f"{search.path}: {where}: number {place + 1} of {dimensions} is"
                    f" {wrong.decode(errors='replace')[:40]!r}, where a number such as -0.25 is wanted. Fetch the file"
                    " again."
                ) from None
            result.found[spelled] = Found(word, search.require_finite(vector, where))
        result.n_words += len(batch)
    if header and result.n_words != header[0]:
        raise InputError(
            f"{search.path}: the first line says {header[0]} words, but {result.n_words} follow. The file is truncated"
            " or damaged: fetch it again, or correct the first line."
        )
    return result


def _take_word(parts: list[bytes], dimensions: int, where: str) -> bytes:
    """Return the word of a line, which may have spaces, if as many numbers follow it as there should be."""
    word = parts[: len(parts) - dimensions]
    if not word or (len(word) > 1 and b"." in word[-1] and _is_number(word[-1]) and word[-1].strip(b".")):
        raise InputError(
            f"{where} has {len(parts) - 1} numbers after {parts[0][:60].decode(errors='replace')!r}, where {dimensions}"
            " are wanted. The file is truncated or damaged: fetch it again."
        )
    return b" ".join(word)


class _Bytes:
    """A binary file that is read from the front, with the place of whatever is missing in messages."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path, self._stream, self._held, self._start = path, stream, b"", 0

    def take(self, size: int, what: str) -> bytes:
        """Return the next `size` bytes."""
        self._hold(size, what)
        self._start += size
        return self._held[self._start - size : self._start]

    def take_until(self, end: bytes, what: str) -> bytes:
        """Return the bytes before the next `end`, which is passed over."""
        while (at := self._held.find(end, self._start)) < 0:
            if len(self._held) - self._start > _LONGEST_WORD:
                raise InputError(
                    f"{self.path}: {what} begins with {self._held[self._start :][:24]!r} and does not end. The file is"
                    " damaged or of another format: fetch it again, or write its `format`."
                )
            self._hold(len(self._held) - self._start + 1, what)
        word = self._held[self._start : at]
        self._start = at + len(end)
        return word

    def unpack(self, format: str, what: str) -> tuple[Any, ...]:
        """Return the next numbers, by a format of `struct`."""
        return struct.unpack(format, self.take(struct.calcsize(format), what))

    def skip(self, size: int, what: str) -> None:
        """Pass over `size` bytes."""
        for start in range(0, size, _PIECE):
            self.take(min(_PIECE, size - start), what)

    def _hold(self, size: int, what: str) -> None:
        """Read on until `size` bytes are held."""
        if len(self._held) - self._start < size:
            self._held = self._held[self._start :] + self._stream.read(max(_PIECE, size))
            self._start = 0
            if len(self._held) < size:
                raise InputError(f"{self.path}: the file ends within {what}. It is truncated: fetch it again.")

    def rest(self) -> bytes:
        """Return some of the bytes that are left."""
        return self._held[self._start :] + self._stream.read(_PIECE)


def _read_word2vec_binary(file: _Bytes, search: _Search) -> WordVectors:
    header = _read_header(file.take_until(b"\n", "the first line"))
    assert header, "the file is recognized by its header"
    n_words, dimensions = header
    result = WordVectors({}, "word2vec-binary", dimensions, n_words)
    for first in range(1, n_words + 1, _WORDS_PER_BATCH):
        words, vectors = [], []
        numbers = range(first, min(first + _WORDS_PER_BATCH, n_words + 1))
        for number in numbers:
            what = f"word {number} of the {n_words} that the first line says"
            words.append(file.take_until(b" ", what).lstrip(b"\n"))  # some programs end an entry with a line feed
            vectors.append(file.take(4 * dimensions, what))
        for index, word, spelled in search.choose(words, numbers, "word"):
            vector = np.frombuffer(vectors[index], "<f4").astype(np.float32)
            result.found[spelled] = Found(word, search.require_finite(vector, f"word {first + index} ({word})"))
    if file.rest().strip(b"\n"):
        raise InputError(
            f"{file.path}: more follows after word {n_words}, the last that the first line says. The file is damaged,"
            " or of another format: fetch it again, or write its `format`."
        )
    return result


def _read_fasttext_binary(file: _Bytes, search: _Search, from_subwords: Collection[str]) -> WordVectors:
    from gensim.models.fasttext import ft_ngram_hashes  # cuts and hashes words as fastText's program does

    _, version, dimensions, *_, model, buckets, shortest, longest, _ = file.unpack("<14i", "the file's settings")
    file.unpack("<d", "the file's settings")
    if version not in (11, 12):
        raise InputError(
            f"{file.path}: version {version} of fastText's .bin files, of which only 11 and 12 can be read. Fetch the"
            " .vec file."
        )
    has_pieces = buckets > 0 and longest > 0 and not (version == 11 and model == _SUPERVISED)
    size, n_words, _, _, pruned = file.unpack("<3i2q", "the list of words")
    result = WordVectors({}, "fasttext", dimensions, n_words)
    entries: dict[str, tuple[str, int, int]] = {}  # word, row, count
    for first in range(0, size, _WORDS_PER_BATCH):
        words, counts = [], []
        numbers = range(first + 1, min(first + _WORDS_PER_BATCH, size) + 1)
        for number in numbers:
            word = file.take_until(b"\0", f"word {number} of {size}")
            count, is_label = file.unpack("<qb", f"word {number} of {size}")
            words.append(b"" if is_label else word)
            counts.append(count)
        for index, known, spelled in search.choose(words, numbers, "word"):
            entries[spelled] = known, first + index, counts[index]
    file.skip(8 * max(pruned, 0), "the list of pieces")
    (is_quantized,) = file.unpack("<b", "the vectors")
    if is_quantized:
        raise InputError(
            f"{file.path}: its vectors are quantized (.ftz), which cannot be read. Fetch the .bin or the .vec file."
        )
    n_rows, n_columns = file.unpack("<2q", "the vectors")
    if (n_rows, n_columns) != (n_words + (buckets if has_pieces else 0), dimensions):
        raise InputError(f"{file.path}: has {n_rows} vectors of {n_columns} numbers, which its settings do not fit.")

    def list_pieces(word: str) -> list[int]:
        if not has_pieces or word == "</s>":
            return []
        return [n_words + value for value in ft_ngram_hashes(word, max(shortest, 1), longest, buckets)]

    rows_by_word = {spelled: [row, *list_pieces(word)] for spelled, (word, row, _) in entries.items()}
    rows_by_word |= {word: list_pieces(word) for word in set(from_subwords) - entries.keys()}
    rows: dict[int, Vector] = {}
    following = 0
    for row in sorted({row for needed in rows_by_word.values() for row in needed}):
        file.skip(4 * dimensions * (row - following), "the vectors")
        rows[row] = np.frombuffer(file.take(4 * dimensions, "the vectors"), "<f4").astype(np.float32)
        following = row + 1
    file.skip(4 * dimensions * (n_rows - following), "the vectors")
    means = {
        word: search.require_finite(
            np.stack([rows[row] for row in needed]).mean(axis=0, dtype=np.float64).astype(np.float32),
            f"the word {word!r}",
        )
        for word, needed in sorted(rows_by_word.items())
        if needed
    }
    result.found = {of: Found(word, means[of], count) for of, (word, _, count) in entries.items()}
    result.subwords = {word: vector for word, vector in means.items() if word not in entries}
    return result
