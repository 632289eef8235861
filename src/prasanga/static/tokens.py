"""A corpus as sentences of words, which is what trainings of static vectors read, several times over.

Words are those of the rest of the study (`prasanga.text.WORD`), so that a vector belongs to the word that is counted
and matched elsewhere. The sentences are written to a temporary file once, one a line; memory holds the counts of the
different words and nothing else of the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from prasanga.parquet import explaining_full_disk
from prasanga.text import WORD, fold, split_sentences

LONGEST = 10_000
"""Most words of a sentence; a longer one is cut (gensim would drop what is beyond)."""

_TEXTS_AT_A_TIME = 1000
# Languages whose words are lower-cased: at the beginning of a sentence a capital says nothing about the word. Bangla
# and Hindi have no capitals, and their few Latin words stay as they are.
_WITH_CAPITALS = ("en",)


@dataclass(frozen=True)
class Tokens:
    """A corpus on disk, one sentence a line, words with a space between them.

    Attributes:
        path: the file, UTF-8.
        counts: how often each word occurs, most frequent first, equally frequent ones by the alphabet.
        n_sentences: sentences.
        n_words: words, each as often as it occurs.
    """

    path: Path
    counts: dict[str, int]
    n_sentences: int
    n_words: int

    def __iter__(self) -> Iterator[list[str]]:
        """The sentences, from the first one on with every new loop."""
        with self.path.open(encoding="utf-8", newline="\n") as stream:
            for line in stream:
                yield line.removesuffix("\n").split(" ")

    def frequent(self, minimum_count: int) -> dict[str, int]:
        """The words that occur at least `minimum_count` times, with their counts, in the order of `counts`."""
        return {word: count for word, count in self.counts.items() if count >= minimum_count}


def has_capitals(language: str) -> bool:
    """Whether the words of a language are lower-cased for training."""
    return language in _WITH_CAPITALS


def sentences_of(
    texts: Iterable[str], normalize: Callable[[Sequence[str]], list[str]], *, lower: bool = False
) -> Iterator[list[str]]:
    """The sentences of texts, each as a list of at least one and at most `LONGEST` words.

    Args:
        texts: lines or records of a corpus; no sentence reaches from one into the next.
        normalize: the study's normalization of many texts (`prasanga.text.normalizer`).
        lower: whether words are lower-cased (`has_capitals`).
    """
    rest = iter(texts)
    while batch := list(islice(rest, _TEXTS_AT_A_TIME)):
        for text in normalize(batch):
            folded = fold(text)
            for start, end in split_sentences(folded):  # by its capitals, too
                words = WORD.findall(folded, start, end)
                words = [word.lower() for word in words] if lower else words
                for first in range(0, len(words), LONGEST):
                    yield words[first : first + LONGEST]


def spool(sentences: Iterable[Sequence[str]], path: str | Path) -> Tokens:
    """Write sentences of words to `path` and count the words.

    Raises:
        InputError: there is no room on the disk.
    """
    path, counts = Path(path), Counter[str]()
    n_sentences = n_words = 0
    with explaining_full_disk(path), path.open("w", encoding="utf-8", newline="\n") as stream:
        for words in sentences:
            stream.write(" ".join(words) + "\n")
            counts.update(words)
            n_sentences += 1
            n_words += len(words)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return Tokens(path, dict(ordered), n_sentences, n_words)
