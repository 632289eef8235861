"""Text files of vectors: a word and its numbers a line, with a header (word2vec, fastText .vec) or without (GloVe)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np

from prasanga.errors import InputError
from prasanga.static.files import Found, Vector, Wanted, WordVectors, finite, header_of, is_number, numbers_apart
from prasanga.static.opening import open_vectors

_LINES = 1000


def read_text(path: Path, wanted: Wanted, kind: str, read: Callable[[int], object] | None = None) -> WordVectors:
    """The vectors of the wanted words.

    Numbers have spaces or tabs between them. A word may have spaces in it (some files of GloVe have such words): the
    last numbers of a line are its vector. Every line is held to the number of numbers, those of wanted words to being
    finite numbers. `read` as in `open_vectors`.

    Raises:
        InputError: with the file, the line, what was found and what there should be.
    """
    with open_vectors(path, read) as stream:
        first = stream.readline()
        header = header_of(first) if kind == "word2vec" else None
        dimensions = header[1] if header else numbers_apart(first).count(b" ")
        n_words = 0
        for number, lines in _batches(stream if header else chain([first], stream), 2 if header else 1):
            split = [_word_of(path, number + i, line, dimensions) for i, line in enumerate(lines)]
            words = [_decoded(wanted, word, f"{path}: line {number + i}", kind) for i, word in enumerate(split)]
            for place, spelled in wanted.among(words).items():
                numbers = lines[place][len(split[place]) + 1 :].split(b" ")
                wanted.found[spelled] = Found(words[place] or "", _vector(numbers, f"{path}: line {number + place}"))
            n_words += len(lines)
    if header and n_words != header[0]:
        raise InputError(
            f"{path}: the first line says {header[0]} words, but {n_words} follow. The file is truncated or damaged:"
            " fetch it again, or correct the first line."
        )
    return wanted.result(kind, dimensions, n_words)


def _decoded(wanted: Wanted, word: bytes, where: str, kind: str) -> str | None:
    return wanted.decode(word, where, may_be_cut=kind == "word2vec")


def _batches(stream: Iterable[bytes], first: int) -> Iterator[tuple[int, list[bytes]]]:
    """Lines without their ends, with spaces for tabs, and the number of the first; no blank lines at the file's end."""
    blank, number, rest = 0, first, iter(stream)
    while lines := [line.replace(b"\t", b" ").rstrip(b" \r\n") for line in islice(rest, _LINES)]:
        kept = [b""] * blank + lines
        blank = 0
        while kept and not kept[-1]:
            kept.pop()
            blank += 1
        if kept:
            yield number, kept
        number += len(kept)


def _word_of(path: Path, number: int, line: bytes, dimensions: int) -> bytes:
    """A line's word, if so many numbers follow it as they should."""
    found = line.count(b" ")
    if found == dimensions:
        return line.partition(b" ")[0]
    if found > dimensions:
        # A word with spaces; but not if its last part is a number like those of the vector.
        word = line.rsplit(b" ", dimensions)[0]
        part = word.rpartition(b" ")[2]
        if word.strip() and not (b"." in part and is_number(part)):
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
        place = next((i for i, number in enumerate(numbers) if not is_number(number)), 0)
        raise InputError(
            f"{where}: number {place + 1} of {len(numbers)} is {shown[place]!r}, where a number such as -0.25 is"
            " wanted. Fetch the file again."
        ) from None
    return finite(vector, where, shown)
