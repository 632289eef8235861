"""Files of word vectors: word2vec text and binary, GloVe, fastText.

A file is read once from the front, and only the vectors of the words that are asked for are kept; a file of many
gigabytes takes time and no memory, which is why gensim's readers are not used: they hold the whole file. Words are
compared after `spelling`, so that a file that writes য় as one character and a study that writes it as two meet. Where
several of a file's words come to the same, the first one counts: files are sorted by frequency.

fastText's binary files (.bin) have words with their counts, and vectors of pieces of words (Bojanowski et al. 2017).
The vector of a word is the mean of its own row and of the rows of its pieces: the runs of so many to so many characters
of <word>, each in the row that a hash gives it. A word that the file does not have is the mean of its pieces alone.
"""

from __future__ import annotations

import gzip
import io
import logging
import os
import struct
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError, reason
from prasanga.base.progress import BYTES, progress
from prasanga.sentences.corpus import COMPRESSED, Inflation, open_decompressed

_LOG = logging.getLogger(__name__)

FORMATS = ("auto", "word2vec", "word2vec-binary", "glove", "fasttext")

_NAMES = {
    "word2vec": "a word2vec text or fastText .vec file: a line with the numbers of words and dimensions, then words",
    "word2vec-binary": "a word2vec binary file",
    "glove": "a GloVe file: a word and its numbers on the first line",
    "fasttext-binary": "a fastText .bin file",
}
_HEAD = 1 << 18
_AT_A_TIME = 1000  # words or lines that are looked at together
_DIGITS = 18  # of a number that 64 bits hold in any case
_MOST_DIMENSIONS = 1 << 20  # of a binary file, whose vectors are read whole
_CUT_WORDS = 58
"""The word2vec program cuts words after 98 bytes, its program for phrases after 58: shorter words are never cut."""
_LONGEST_WORD, _LONGEST_FASTTEXT_WORD = 2000, 1 << 16  # bytes
_FASTTEXT_BINARY = (793712314).to_bytes(4, "little")
_FASTTEXT_VERSIONS = (11, 12)
_SUPERVISED = 3

Vector: TypeAlias = npt.NDArray[np.float32]
Spelling: TypeAlias = Callable[[Sequence[str]], list[str]]
_Read: TypeAlias = Callable[[int], object]


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
    path = Path(path)
    kind = _kind_of(path, format)
    spellings = _Wanted(wanted, spelling)
    with progress(f"reading {path}", path.stat().st_size, BYTES) as done:
        if kind == "fasttext-binary":
            result = _read_fasttext_binary(path, spellings, from_subwords, done.advance)
        elif kind == "word2vec-binary":
            result = _read_word2vec_binary(path, spellings, done.advance)
        else:
            result = _read_text(path, spellings, kind, done.advance)
    found = f"{len(result.found)} of the {len(spellings.words)} spellings found"
    said = f"{result.n_words} words of {result.dimensions} dimensions, {found}, {result.repeated} repeated"
    _LOG.info("%s: %s, %s, %d cut off", path, kind, said, result.cut_off)
    return result


def _kind_of(path: Path, format: str) -> str:
    """Return how a file is to be read: word2vec, word2vec-binary, glove, or fasttext-binary.

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
    if found in {"auto": _NAMES, "fasttext": ("word2vec", "fasttext-binary")}.get(format, (format,)):
        return found
    raise InputError(
        f"{path}: `format` is {format}, but the file begins like {_NAMES[found]} (its first bytes are {head[:24]!r})."
        f" Write `format: {'fasttext' if found == 'fasttext-binary' else found}` or `format: auto`."
    )


def _look(path: Path, head: bytes) -> str:
    if head.startswith(_FASTTEXT_BINARY):
        return "fasttext-binary"
    first, _, rest = head.partition(b"\n")
    header = _header_of(first)
    if header is None:
        fields = _numbers_apart(first).split(b" ")
        if len(fields) > 2 and all(map(_is_number, fields[1:])):
            return "glove"
        raise InputError(
            f"{path}: line 1 begins with {first[:60]!r}, which is neither a header (words and dimensions, such as"
            " `400000 300`) nor a word with its numbers, spaces or tabs between them. Formats that are read: word2vec"
            " text and binary, GloVe, fastText .vec and .bin."
        )
    _, dimensions = header
    fields = _numbers_apart(rest.partition(b"\n")[0]).split(b" ")
    if (len(fields) > dimensions and all(map(_is_number, fields[-dimensions:]))) or not rest.strip():
        return "word2vec"
    # no line as there should be: damaged text, or numbers as bytes
    is_binary = any(byte < 32 and byte not in b"\t\r\n" for byte in rest[:4096])
    return "word2vec-binary" if is_binary else "word2vec"


class _Wanted:
    """The words that are asked for, and what is found of them while a file is read."""

    def __init__(self, words: Collection[str], spelling: Spelling) -> None:
        self.words = frozenset(words)
        self.found: dict[str, Found] = {}
        self.repeated = 0
        self.cut_off = 0
        self._spelling = spelling

    def among(self, words: Sequence[str | None]) -> dict[int, str]:
        """Return which of a file's next words are asked for and new, spellings by their place; None is left out."""
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
        """Return a file's word, or None for one whose last character is cut off.

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

    def result(self, method: str, dimensions: int, n_words: int, subwords: Mapping[str, Vector]) -> WordVectors:
        """Return what was found."""
        return WordVectors(self.found, method, dimensions, n_words, self.repeated, self.cut_off, subwords)


def _read_text(path: Path, wanted: _Wanted, kind: str, read: _Read) -> WordVectors:
    """Read the vectors of the wanted words.

    Numbers have spaces or tabs between them. A word may have spaces in it (some files of GloVe have such words): the
    last numbers of a line are its vector. Every line is held to the number of numbers, those of wanted words to being
    finite numbers. `read` as in `open_vectors`.

    Raises:
        InputError: with the file, the line, what was found and what there should be.
    """
    with open_vectors(path, read) as stream:
        first = stream.readline()
        header = _header_of(first) if kind == "word2vec" else None
        dimensions = header[1] if header else _numbers_apart(first).count(b" ")
        n_words = 0
        for number, lines in _batches(stream if header else chain([first], stream), 2 if header else 1):
            split = [_word_of(path, n, line, dimensions) for n, line in enumerate(lines, number)]
            may_be_cut = kind == "word2vec"
            words = [wanted.decode(w, f"{path}: line {n}", may_be_cut=may_be_cut) for n, w in enumerate(split, number)]
            for place, spelled in wanted.among(words).items():
                numbers = lines[place][len(split[place]) + 1 :].split(b" ")
                wanted.found[spelled] = Found(words[place] or "", _vector(numbers, f"{path}: line {number + place}"))
            n_words += len(lines)
    if header and n_words != header[0]:
        raise InputError(
            f"{path}: the first line says {header[0]} words, but {n_words} follow. The file is truncated or damaged:"
            " fetch it again, or correct the first line."
        )
    return wanted.result(kind, dimensions, n_words, {})


def _batches(stream: Iterable[bytes], first: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number of the first of some lines, and these without ends and tabs; no blank ones at the file's end."""
    blank, number, rest = 0, first, iter(stream)
    while lines := [line.replace(b"\t", b" ").rstrip(b" \r\n") for line in islice(rest, _AT_A_TIME)]:
        kept = [b""] * blank + lines
        blank = 0
        while kept and not kept[-1]:
            kept.pop()
            blank += 1
        if kept:
            yield number, kept
        number += len(kept)


def _word_of(path: Path, number: int, line: bytes, dimensions: int) -> bytes:
    """Return a line's word, if so many numbers follow it as they should."""
    found = line.count(b" ")
    if found == dimensions:
        return line.partition(b" ")[0]
    if found > dimensions:
        # A word with spaces; but not if its last part is a number like those of the vector.
        word = line.rsplit(b" ", dimensions)[0]
        part = word.rpartition(b" ")[2]
        if word.strip() and not (b"." in part and _is_number(part)):
            return word
    first, *numbers = line.split(b" ")
    raise InputError(
        f"{path}: line {number} has {len(numbers)} numbers after {first[:60].decode(errors='replace')!r}, where"
        f" {dimensions} are wanted. The file is truncated or damaged: fetch it again."
    )


def _vector(numbers: list[bytes], where: str) -> Vector:
    shown = [number.decode(errors="replace")[:40] for number in numbers]
    try:
        vector = np.array(numbers).astype(np.float32)
    except ValueError:
        place = next((i for i, number in enumerate(numbers) if not _is_number(number)), 0)
        raise InputError(
            f"{where}: number {place + 1} of {len(numbers)} is {shown[place]!r}, where a number such as -0.25 is"
            " wanted. Fetch the file again."
        ) from None
    return _finite(vector, where, shown)


def _read_word2vec_binary(path: Path, wanted: _Wanted, read: _Read) -> WordVectors:
    """Read the vectors of the wanted words; `read` as in `open_vectors`.

    Raises:
        InputError: the file is truncated or damaged, or something follows its last word.
    """
    with closing(ByteStream(path, read)) as stream:
        header = _header_of(stream.until(b"\n", 100, "the first line"))
        if header is None or header[1] > _MOST_DIMENSIONS:
            raise InputError(f"{path}: the first line is no header such as `400000 300`. Write the file's `format`.")
        n_words, dimensions = header
        for first in range(0, n_words, _AT_A_TIME):
            words, numbers = [], []
            for number in range(first + 1, min(first + _AT_A_TIME, n_words) + 1):
                what = f"word {number} of the {n_words} that the first line says"
                # some programs end an entry with a line feed, others do not
                word = stream.until(b" ", _LONGEST_WORD, what).lstrip(b"\n")
                words.append(wanted.decode(word, f"{path}: word {number}", may_be_cut=True))
                numbers.append(stream.take(4 * dimensions, what))
            for place, spelled in wanted.among(words).items():
                vector = np.frombuffer(numbers[place], "<f4").astype(np.float32)
                _finite(vector, f"{path}: word {first + place + 1} ({words[place]})", vector.tolist())
                wanted.found[spelled] = Found(words[place] or "", vector)
        if stream.next_byte() == b"\n":
            stream.take(1, "the end")
        if stream.next_byte():
            raise InputError(
                f"{path}: something follows word {n_words}, the last that the first line says, at byte {stream.place}."
                " The file is damaged, or of another format: fetch it again, or write its `format`."
            )
    return wanted.result("word2vec-binary", dimensions, n_words, {})


class _Settings(NamedTuple):
    """What a file says of its training, as far as its vectors depend on it."""

    dimensions: int
    buckets: int
    shortest: int
    longest: int


class _Entry(NamedTuple):
    """A wanted word: as the file writes it, its row, how often it occurred."""

    word: str
    row: int
    occurrences: int


def _read_fasttext_binary(path: Path, wanted: _Wanted, from_subwords: Collection[str], read: _Read) -> WordVectors:
    """Read the vectors of the wanted words, and of those among `from_subwords` that the file does not have.

    `read` as in `open_vectors`.

    Raises:
        InputError: the file is truncated, damaged, quantized, or of another version.
    """
    with closing(ByteStream(path, read)) as stream:
        settings = _settings(path, stream)
        entries, n_words = _entries(path, stream, wanted)
        pieces = {of: [each.row, *_rows_of_pieces(each.word, n_words, settings)] for of, each in entries.items()}
        unknown = {word: _rows_of_pieces(word, n_words, settings) for word in set(from_subwords) - entries.keys()}
        needed = {row for rows in (*pieces.values(), *unknown.values()) for row in rows}
        rows = _rows(path, stream, sorted(needed), n_words + settings.buckets, settings.dimensions)

    def mean(numbers: Sequence[int], what: str) -> Vector:
        vectors = np.stack([rows[row] for row in numbers]).astype(np.float64)
        vector: Vector = vectors.mean(axis=0).astype(np.float32)
        return _finite(vector, f"{path}: {what}", vector.tolist())

    for spelled, entry in entries.items():
        vector = mean(pieces[spelled], f"the word {entry.word!r}")
        wanted.found[spelled] = Found(entry.word, vector, entry.occurrences)
    subwords = {word: mean(unknown[word], f"the pieces of {word!r}") for word in sorted(unknown) if unknown[word]}
    return wanted.result("fasttext", settings.dimensions, n_words, subwords)


def _settings(path: Path, stream: ByteStream) -> _Settings:
    what = "the file's settings"
    if stream.take(4, what) != _FASTTEXT_BINARY:
        raise InputError(f"{path}: does not begin as fastText's .bin files do. Write the file's `format`.")
    (version,) = stream.unpack("<i", what)
    dimensions, _, _, _, _, _, _, model, buckets, shortest, longest, _ = stream.unpack("<12i", what)
    stream.unpack("<d", what)
    if version not in _FASTTEXT_VERSIONS or not 0 < dimensions <= _MOST_DIMENSIONS or buckets < 0:
        raise InputError(
            f"{path}: version {version}, {dimensions} dimensions, {buckets} buckets. Only versions 11 and 12 of"
            " fastText's .bin files can be read; fetch the .vec file in its place."
        )
    if version == 11 and model == _SUPERVISED:
        longest = 0  # these files say that there are pieces, and have none
    return _Settings(dimensions, buckets if longest > 0 else 0, shortest, longest)


def _entries(path: Path, stream: ByteStream, wanted: _Wanted) -> tuple[dict[str, _Entry], int]:
    """Return the wanted words that the file has, and how many words it has in all."""
    what = "the list of words"
    size, n_words, _ = stream.unpack("<3i", what)
    _, pruned = stream.unpack("<2q", what)
    entries: dict[str, _Entry] = {}
    taken = 0
    for first in range(0, size, _AT_A_TIME):
        words: list[str | None] = []
        counts: list[int] = []
        for number in range(first, min(first + _AT_A_TIME, size)):
            raw = stream.until(b"\0", _LONGEST_FASTTEXT_WORD, f"word {number + 1} of {size}")
            count, label = stream.unpack("<qb", f"word {number + 1} of {size}")
            words.append(None if label else wanted.decode(raw, f"{path}: word {number + 1}", may_be_cut=False))
            counts.append(count)
            taken += not label
        for place, spelled in wanted.among(words).items():
            if spelled in entries:
                wanted.repeated += 1
            else:
                entries[spelled] = _Entry(words[place] or "", first + place, counts[place])
    if taken != n_words:
        raise InputError(f"{path}: says that it has {n_words} words, and has {taken}. It is damaged: fetch it again.")
    if pruned > 0:
        stream.skip(8 * pruned, "the list of pieces")
    return entries, n_words


def _rows(path: Path, stream: ByteStream, needed: list[int], expected: int, dimensions: int) -> dict[int, Vector]:
    what = "the vectors"
    (quantized,) = stream.unpack("<b", what)
    if quantized:
        raise InputError(
            f"{path}: its vectors are quantized (.ftz), which cannot be read. Fetch the .bin or the .vec file."
        )
    n_rows, n_columns = stream.unpack("<2q", what)
    if (n_rows, n_columns) != (expected, dimensions):
        raise InputError(
            f"{path}: has {n_rows} vectors of {n_columns} numbers, where its settings say {expected} of {dimensions}."
            " It is damaged: fetch it again."
        )
    rows: dict[int, Vector] = {}
    row = 0
    for wanted_row in needed:
        stream.skip(4 * dimensions * (wanted_row - row), what)
        rows[wanted_row] = np.frombuffer(stream.take(4 * dimensions, what), "<f4").astype(np.float32)
        row = wanted_row + 1
    stream.skip(4 * dimensions * (n_rows - row), what)
    return rows


def _rows_of_pieces(word: str, n_words: int, settings: _Settings) -> list[int]:
    """Return the rows of a word's pieces, which gensim cuts and hashes as fastText's program does."""
    if not settings.buckets or word == "</s>":
        return []
    from gensim.models.fasttext import ft_ngram_hashes

    hashes = ft_ngram_hashes(word, max(settings.shortest, 1), settings.longest, settings.buckets)
    return [n_words + value for value in hashes]


def _numbers_apart(line: bytes) -> bytes:
    """Return a line of a text file without its end, with a space wherever it has a tab."""
    return line.replace(b"\t", b" ").strip(b" \r\n")


def _header_of(line: bytes) -> tuple[int, int] | None:
    """Return the numbers of words and dimensions, if the line is a header."""
    fields = line.split()
    if len(fields) == 2 and all(part.isdigit() and len(part) <= _DIGITS for part in fields) and int(fields[1]) > 0:
        return int(fields[0]), int(fields[1])
    return None


def _is_number(text: bytes) -> bool:
    """Return whether this is a number in writing (NaN and infinity too)."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _finite(vector: Vector, where: str, shown: Sequence[object]) -> Vector:
    """Return the vector.

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


# --------------------
# Files of vectors as bytes, read from the front without being held. Such files are passed on and lose their endings, or
# come with a byte-order mark in front: what a file is, its first bytes say.

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
        rest = self._held[self._start :]
        self._held, self._start = rest + self._stream.read(max(_PIECE, size - len(rest))), 0
        if len(self._held) < size:
            raise self._ended(self.place + len(self._held), what)

    def _ended(self, end: int, what: str) -> InputError:
        return InputError(f"{self._path}: the file ends at byte {end}, within {what}. It is truncated: fetch it again.")


def _is_gzip(path: Path, stream: io.BufferedReader[Any]) -> bool:
    """Return whether a file is compressed by gzip; refuse the formats that only their endings tell."""
    begin = stream.peek(8)
    for magic, (name, ending) in _NOT_AS_NAMED.items():
        if begin.startswith(magic):
            unpack = "Unpack it, and write the path of what it holds"
            what_to_do = f"Rename it to {path.name}{ending}" if ending else unpack
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
