"""Text to measure on: lines of real text, or of the demo corpus, dealt out so that the number of hits is known.

The lines are those that hold no stimulus and those that hold exactly one, as they come; how many of each a corpus has
is said, and in which order they stand is random with a seed.
"""

from __future__ import annotations

import itertools
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prasanga.sentences import Shard, extract_shard
from prasanga.sentences.matcher import HasClaims
from prasanga.text import fold, normalize_batch, split_sentences, words

LINES_PER_DOCUMENT = 20


@dataclass(frozen=True)
class Lines:
    """Lines without a stimulus and with one, line feed included, and where they come from."""

    origin: str
    plain: list[bytes]
    hit: list[bytes]


@dataclass(frozen=True)
class Corpus:
    """A file, and what is in it; blank lines between documents are not counted as lines."""

    path: Path
    bytes: int
    lines: int
    hits: int

    @property
    def megabytes(self) -> float:
        """Its size in 10^6 bytes."""
        return self.bytes / 1e6

    def describe(self) -> str:
        """Its size and density, in words."""
        average = self.bytes / self.lines
        share = self.hits / self.lines
        return (
            f"{self.megabytes:,.0f} MB, {self.lines:,} lines of {average:.0f} bytes on average, {share:.0%} with a hit"
        )

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self) | {"path": self.path.name}


def read_texts(project: Path, shared: Path | None) -> tuple[str, list[str]]:
    """The lines to choose from, and what they are: real Bangla text where it is at hand, else the demo's sentences."""
    real = sorted((shared / "corpora").glob("bn_*.txt")) if shared is not None else []
    if real:
        texts = [line for path in real for line in path.read_text(encoding="utf-8").split("\n")]
        return f"real text ({', '.join(path.stem for path in real)})", [text for text in texts if text.strip()]
    paragraphs = [
        line
        for path in sorted((project / "resources" / "demo" / "corpus" / "bn").glob("*.txt"))
        for line in path.read_text(encoding="utf-8").split("\n")
    ]
    sentences = [line[start:end] for line in paragraphs for start, end in split_sentences(line)]
    return "sentences of the demo corpus", sentences


def sort_lines(origin: str, texts: list[str], lexicon: HasClaims) -> Lines:
    """Take the lines without a stimulus and those with exactly one, and leave the others out.

    A long line is more likely to hold a stimulus. The longest of those are left out too, until both kinds have the same
    average length: else a corpus with a hit in every line would be one of long lines, and the easier for it.
    """
    encoded = [f"{text}\n".encode() for text in texts]
    with TemporaryDirectory() as folder:
        path = Path(folder, "lines.txt")
        path.write_bytes(b"".join(encoded))
        hits: Counter[int] = Counter()
        shard = Shard(str(path), "", "line")
        for batch in extract_shard(shard, lexicon=lexicon, normalization="bangla", language="bn", before=0, after=0):
            hits.update(batch["offset"].to_pylist())
    found = [hits[offset] for offset in itertools.accumulate(map(len, encoded[:-1]), initial=0)]
    plain = [line for line, number in zip(encoded, found, strict=True) if number == 0]
    hit = sorted((line for line, number in zip(encoded, found, strict=True) if number == 1), key=len)
    while len(hit) > 1 and _average(hit) > _average(plain):
        hit = hit[: -max(1, len(hit) // 200)]
    return Lines(origin, plain, hit)


def words_of(texts: list[str]) -> set[str]:
    """All words of the texts, normalized and folded."""
    return {fold(word) for text in normalize_batch(texts) for word, _, _ in words(text)}


def write_corpus(path: Path, lines: Lines, *, every: int, size: int, seed: int) -> Corpus:
    """Write documents until the file has `size` bytes; every so-many-th line holds a stimulus."""
    rng = random.Random(seed)
    plain, hit = _shuffled(lines.plain, rng), _shuffled(lines.hit, rng)
    written = number = hits = 0
    with path.open("wb") as stream:
        while written < size:
            written += stream.write(next(plain) if number % every else next(hit))
            hits += not number % every
            number += 1
            if number % LINES_PER_DOCUMENT == 0:
                written += stream.write(b"\n")
    return Corpus(path, written, number, hits)


def repeat_corpus(path: Path, corpus: Corpus, times: int) -> Corpus:
    """Write a corpus several times over: as large as asked for, and as quick to write as the disk is."""
    with path.open("wb") as stream:
        for _ in range(times):
            with corpus.path.open("rb") as part:
                shutil.copyfileobj(part, stream, 1 << 24)
            stream.write(b"\n")
    return Corpus(path, path.stat().st_size, times * corpus.lines, times * corpus.hits)


def first_lines(path: Path, corpus: Corpus, number: int) -> Corpus:
    """Write the first few lines of a corpus with a hit in every line."""
    with corpus.path.open("rb") as stream:
        content = b"".join(stream.readline() for _ in range(number))
    path.write_bytes(content)
    return Corpus(path, len(content), number, number)


def _average(lines: list[bytes]) -> float:
    return sum(map(len, lines)) / len(lines)


def _shuffled(lines: list[bytes], rng: random.Random) -> Iterator[bytes]:
    """The lines in random order, over and over, in another order each time."""
    lines = list(lines)
    while True:
        rng.shuffle(lines)
        yield from lines
