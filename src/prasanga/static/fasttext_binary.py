"""fastText's binary files (.bin): words with their counts, and vectors of pieces of words (Bojanowski et al. 2017).

The vector of a word is the mean of its own row and of the rows of its pieces: the runs of so many to so many characters
of <word>, each in the row that a hash gives it. A word that the file does not have is the mean of its pieces alone.
Only the rows that are needed are kept; the file is read once from the front.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from prasanga.errors import InputError
from prasanga.static.byte_stream import ByteStream, byte_stream
from prasanga.static.files import FASTTEXT_BINARY, Found, Vector, Wanted, WordVectors, finite

_VERSIONS = (11, 12)
_SUPERVISED = 3
_WORDS = 1000
_LONGEST = 1 << 16  # bytes of a word
_FNV_OFFSET, _FNV_PRIME, _32_BITS = 2166136261, 16777619, 0xFFFFFFFF


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


def read_fasttext_binary(
    path: Path, wanted: Wanted, from_subwords: Collection[str], read: Callable[[int], object] | None = None
) -> WordVectors:
    """The vectors of the wanted words, and of those among `from_subwords` that the file does not have.

    `read` as in `open_vectors`.

    Raises:
        InputError: the file is truncated, damaged, quantized, or of another version.
    """
    with byte_stream(path, read) as stream:
        settings = _settings(path, stream)
        entries, n_words = _entries(path, stream, wanted)
        pieces = {spelled: _rows_of_pieces(entry.word, n_words, settings) for spelled, entry in entries.items()}
        missing = {
            word: _rows_of_pieces(word, n_words, settings) for word in sorted(set(from_subwords)) if word not in entries
        }
        needed = {row for rows in (*pieces.values(), *missing.values()) for row in rows}
        needed |= {entry.row for entry in entries.values()}
        rows = _rows(path, stream, sorted(needed), n_words + settings.buckets, settings.dimensions)
    for spelled, entry in entries.items():
        whole = [entry.row, *pieces[spelled]]
        vector = _mean([rows[row] for row in whole])
        finite(vector, f"{path}: the word {entry.word!r}", vector.tolist())
        wanted.found[spelled] = Found(entry.word, vector, entry.occurrences)
    subwords: dict[str, Vector] = {}
    for word, of_word in missing.items():
        if of_word:
            vector = _mean([rows[row] for row in of_word])
            subwords[word] = finite(vector, f"{path}: the pieces of {word!r}", vector.tolist())
    return wanted.result("fasttext", settings.dimensions, n_words, subwords)


def _settings(path: Path, stream: ByteStream) -> _Settings:
    what = "the file's settings"
    if stream.take(4, what) != FASTTEXT_BINARY:
        raise InputError(f"{path}: does not begin as fastText's .bin files do. Write the file's `format`.")
    (version,) = stream.unpack("<i", what)
    dimensions, _, _, _, _, _, _, model, buckets, shortest, longest, _ = stream.unpack("<12i", what)
    stream.unpack("<d", what)
    if version not in _VERSIONS or dimensions < 1 or buckets < 0:
        raise InputError(
            f"{path}: version {version}, {dimensions} dimensions, {buckets} buckets. Only versions 11 and 12 of"
            " fastText's .bin files can be read; fetch the .vec file in its place."
        )
    if version == 11 and model == _SUPERVISED:
        longest = 0  # these files say that there are pieces, and have none
    return _Settings(dimensions, buckets if longest > 0 else 0, shortest, longest)


def _entries(path: Path, stream: ByteStream, wanted: Wanted) -> tuple[dict[str, _Entry], int]:
    """The wanted words that the file has, and how many words it has in all."""
    what = "the list of words"
    size, n_words, _ = stream.unpack("<3i", what)
    _, pruned = stream.unpack("<2q", what)
    entries: dict[str, _Entry] = {}
    taken = 0
    for first in range(0, size, _WORDS):
        words: list[str | None] = []
        counts: list[int] = []
        for number in range(first, min(first + _WORDS, size)):
            raw = stream.until(b"\0", _LONGEST, f"word {number + 1} of {size}")
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


def _mean(vectors: list[Vector]) -> Vector:
    mean: Vector = np.stack(vectors).astype(np.float64).mean(axis=0).astype(np.float32)
    return mean


def pieces_of(word: str, shortest: int, longest: int) -> list[str]:
    """The pieces of a word: runs of `shortest` to `longest` characters of <word>, but no bracket alone."""
    text = f"<{word}>"
    return [
        text[start : start + size]
        for start in range(len(text))
        for size in range(max(shortest, 1), longest + 1)
        if start + size <= len(text) and not (size == 1 and start in (0, len(text) - 1))
    ]


def piece_hash(piece: str) -> int:
    """FNV-1a of 32 bits, with each byte taken as a signed number, as fastText's program does."""
    value = _FNV_OFFSET
    for byte in piece.encode():
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = value * _FNV_PRIME & _32_BITS
    return value


def _rows_of_pieces(word: str, n_words: int, settings: _Settings) -> list[int]:
    if not settings.buckets or word == "</s>":
        return []
    pieces = pieces_of(word, settings.shortest, settings.longest)
    return [n_words + piece_hash(piece) % settings.buckets for piece in pieces]
