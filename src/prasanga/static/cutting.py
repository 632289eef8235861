"""The corpus as numbers of words, cut once for all trainings.

Words are those of the rest of the study (`prasanga.text.WORD`), so that a vector belongs to the word that is counted
and matched elsewhere. A word's number is its place among all words of the corpus, most frequent first, so that the
words that occur often enough for a vector are the first ones, whatever is asked of a training.

Parts of the corpus are cut by processes beside each other, each to numbers of its own, and then numbered alike. What
comes out depends neither on the parts nor on the processes.
"""

from __future__ import annotations

import logging
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from prasanga.base.errors import InputError
from prasanga.base.parquet import explaining_full_disk, read_batches, write_batches
from prasanga.base.progress import BYTES, Progress, progress
from prasanga.sentences.files import Shard, parts_of
from prasanga.text import Normalizer

LONGEST: Final = 10_000
"""Most words of a sentence; a longer one is cut (gensim would drop what is beyond)."""

SENTENCE_OF_WORDS = pa.schema([("words", pa.list_(pa.uint32()))])
VOCABULARY = pa.schema([("word", pa.string()), ("count", pa.int64())])

_LOG = logging.getLogger(__name__)
_PART = 1 << 28
_ROWS = 1 << 16
# Languages whose words are lower-cased: at the beginning of a sentence a capital says nothing about the word. Bangla
# and Hindi have no capitals, and their few Latin words stay as they are.
_WITH_CAPITALS = ("en",)


class Words(NamedTuple):
    """Some sentences: sentence i is `numbers[bounds[i]:bounds[i + 1]]`."""

    numbers: npt.NDArray[np.uint32]
    bounds: npt.NDArray[np.int64]


@dataclass(frozen=True)
class CutCorpus:
    """A corpus that was cut.

    Attributes:
        sentences: the file of sentences (`SENTENCE_OF_WORDS`), in the order of the corpus.
        words: the file of words with their counts (`VOCABULARY`), most frequent first, equally frequent ones by the
            alphabet; row i is word number i.
    """

    sentences: Path
    words: Path

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Return how often each word occurs, by its number."""
        batches = [batch.column(0).to_numpy() for batch in read_batches(self.words, ["count"])]
        return np.concatenate([np.empty(0, np.int64), *batches])

    @cached_property
    def n_sentences(self) -> int:
        """Return the number of sentences."""
        return int(pq.read_metadata(self.sentences).num_rows)

    @property
    def n_words(self) -> int:
        """Return the number of words, each as often as it occurs."""
        return int(self.counts.sum())

    def first_words(self, n: int) -> tuple[str, ...]:
        """Return the `n` most frequent words, by their numbers."""
        found: list[str] = []
        for batch in read_batches(self.words, ["word"]):
            if len(found) >= n:
                break
            found += batch.column(0)[: n - len(found)].to_pylist()
        return tuple(found)

    def frequent(self, minimum_count: int) -> int:
        """Return how many words occur so often: those with the first numbers.

        Raises:
            InputError: fewer than two do.
        """
        n = int(np.count_nonzero(self.counts >= minimum_count))
        if n < 2:
            seen = self.first_words(1)
            most = (
                f"the most frequent one is {seen[0]!r} with {self.counts[0]}"
                if seen
                else "the corpus has no words at all"
            )
            raise InputError(
                f"train.minimum_count: {minimum_count}, but {n} of the corpus's words occur so often ({most}),"
                " and at least two are needed. Write a smaller `minimum_count`, or name a larger corpus."
            )
        return n

    def parts(self, n: int, size: int, done: Progress) -> Iterator[Words]:
        """Yield the sentences with the words from number `n` on taken out, some `size` words at a time.

        Args:
            n: words that are kept.
            size: words of the corpus at a time; the last part may have fewer.
            done: told how many sentences have been yielded, after each part.
        """
        held: list[Words] = []
        for batch in read_batches(self.sentences, ["words"], rows=max(1, min(_ROWS, size // 32))):
            column = batch.column(0)
            held.append(Words(column.flatten().to_numpy(), np.diff(column.offsets.to_numpy())))
            if sum(each.numbers.size for each in held) >= size:
                yield _joined(held, n)
                done.advance(sum(each.bounds.size for each in held))
                held = []
        if held:
            yield _joined(held, n)
            done.advance(sum(each.bounds.size for each in held))


def _joined(held: Sequence[Words], n: int) -> Words:
    """Join sentences, which have lengths for bounds, without the words from number `n` on."""
    numbers = np.concatenate([each.numbers for each in held])
    bounds = np.concatenate([[0], np.cumsum(np.concatenate([each.bounds for each in held]))])
    kept = numbers < n
    return Words(numbers[kept], np.concatenate([[0], np.cumsum(kept)])[bounds])


def cut_corpus(
    shards: Sequence[Shard],
    sentences: str | Path,
    words: str | Path,
    normalizer: Normalizer,
    *,
    language: str,
    errors: Any = "stop",
    processes: int = 1,
    part_bytes: int = _PART,
    made_from: Mapping[str, str] | None = None,
) -> CutCorpus:
    """Cut the files of a corpus to sentences of words, and write these as numbers.

    Args:
        shards: whole files, in the order of the corpus.
        sentences: the file of sentences to write.
        words: the file of words to write.
        normalizer: the study's normalization (`prasanga.text.normalizer`).
        language: of the study; words of a language with capitals are lower-cased.
        errors: what to do with a line or record that cannot be used (`corpus.errors`).
        processes: how many read the corpus beside each other.
        part_bytes: bytes of a large file that one of them reads at a time.
        made_from: metadata of the files.

    Raises:
        InputError: a file cannot be read, or there is no room on the disk.
    """
    parts = [part for shard in shards for part in parts_of(shard, part_bytes)]
    with tempfile.TemporaryDirectory(prefix="prasanga-static-") as folder, explaining_full_disk(folder):

        def cut(number: int, read: Callable[[int], object]) -> None:
            _cut_part(parts[number], Path(folder, str(number)), normalizer, language, errors, read)

        size = sum(shard.bytes_on_disk for shard in shards)
        _each_part(cut, len(parts), min(processes, len(parts)), size)
        places = [Path(folder, str(number)) for number in range(len(parts))]
        found = [pl.scan_parquet(place.with_suffix(".parquet")) for place in places]
        counts = (
            pl.concat(found).group_by("word").agg(pl.col("count").sum()).sort("count", "word", descending=[True, False])
        )
        numbered = counts.collect().with_row_index("number")
        vocabulary = numbered.select(VOCABULARY.names).to_arrow().cast(VOCABULARY)
        write_batches(words, VOCABULARY, vocabulary.to_batches(), made_from or {}, dictionary=[])
        batches = (batch for place in places for batch in _numbered(place, numbered))
        write_batches(sentences, SENTENCE_OF_WORDS, batches, made_from or {}, dictionary=[])
    return CutCorpus(Path(sentences), Path(words))


def _each_part(cut: Callable[[int, Callable[[int], object]], None], n: int, processes: int, size: int) -> None:
    """Call `cut` with each number below `n`, in processes where there are several, and tell how far they are."""
    if processes <= 1:
        with progress("cutting the corpus", size, BYTES) as done:
            for number in range(n):
                cut(number, done.advance)
        return
    # Forked, since a process that begins anew would run the script of the job again. This one has no threads yet that
    # hold a lock. Each process has its parts from the start and ends when they are done, also if this one is killed.
    context = multiprocessing.get_context("fork")
    workers: dict[Connection, Any] = {}
    for first in range(processes):
        here, there = context.Pipe(duplex=False)
        workers[here] = context.Process(target=_work, args=(cut, range(first, n, processes), there), daemon=True)
        workers[here].start()
        there.close()
    ends = list(workers)
    try:
        with progress("cutting the corpus", size, BYTES) as done:
            while ends:
                for end in wait(ends):
                    assert isinstance(end, Connection)
                    try:
                        told = end.recv()
                    except EOFError:
                        raise RuntimeError(
                            "A process that cut the corpus was ended from outside, for memory perhaps. Give the job"
                            " more (`set-resources` for `cut_corpus`), or fewer cores."
                        ) from None
                    if isinstance(told, BaseException):
                        raise told
                    if told is None:
                        ends.remove(end)
                    else:
                        done.advance(told)
    finally:  # before their folder goes, in which those that are left would write on
        for end, worker in workers.items():
            if end in ends:
                worker.terminate()
            worker.join()
            end.close()


def _work(cut: Callable[[int, Callable[[int], object]], None], numbers: Sequence[int], end: Connection) -> None:
    try:
        for number in numbers:
            cut(number, end.send)
        end.send(None)
    except InputError as error:
        end.send(error)
    except Exception as error:
        _LOG.exception("cutting part %d", number)
        end.send(RuntimeError(f"{type(error).__name__}: {error}"))


def _cut_part(
    part: Shard, place: Path, normalizer: Normalizer, language: str, errors: Any, read: Callable[[int], object]
) -> None:
    """Write a part's sentences as numbers of its own words, and these words with their counts."""
    from prasanga.sentences.passages import read_sentences
    from prasanga.static.numbering import Numbering

    numbering = Numbering(LONGEST)
    with place.with_suffix(".numbers").open("wb") as of_numbers, place.with_suffix(".lengths").open("wb") as of_lengths:
        for data, spans in read_sentences(part, normalizer, errors, read):
            numbers, lengths = numbering.cut(data, spans.starts, spans.ends)
            numbers.tofile(of_numbers)
            lengths.tofile(of_lengths)
    words = numbering.words()
    if language in _WITH_CAPITALS:
        words = [word.lower() for word in words]
    # not by polars, whose threads a forked process lacks
    table = pa.table([pa.array(words, pa.string()), pa.array(numbering.counts())], schema=VOCABULARY)
    pq.write_table(table, place.with_suffix(".parquet"))


def _numbered(place: Path, numbered: pl.DataFrame) -> Iterator[pa.RecordBatch]:
    """Yield the sentences of a part by the numbers of the whole corpus; the part's files are removed."""
    own = pl.read_parquet(place.with_suffix(".parquet"), columns=["word"])
    number = own.join(numbered, on="word", how="left", maintain_order="left")["number"].to_numpy()
    lengths = np.fromfile(place.with_suffix(".lengths"), dtype=np.uint32)
    with place.with_suffix(".numbers").open("rb") as file:
        for first in range(0, lengths.size, _ROWS):
            some = lengths[first : first + _ROWS].astype(np.int64)
            numbers = number[np.fromfile(file, dtype=np.uint32, count=int(some.sum()))]
            offsets = pa.array(np.concatenate([[0], np.cumsum(some)]).astype(np.int32))
            values = pa.array(numbers.astype(np.uint32))
            yield pa.record_batch([pa.ListArray.from_arrays(offsets, values)], schema=SENTENCE_OF_WORDS)
    for ending in (".parquet", ".lengths", ".numbers"):
        place.with_suffix(ending).unlink()
