"""The corpus as numbers of words, cut once for all trainings, and how often its words stand near each other.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, pairwise
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.parquet import explaining_full_disk, read_batches, write_batches
from prasanga.base.progress import BYTES, Progress, progress
from prasanga.sentences.files import Shard, parts_of
from prasanga.sentences.passages import read_sentences
from prasanga.text import Normalizer
from prasanga.text.compiled import compiled
from prasanga.text.lines import Bytes, Positions, decode_valid
from prasanga.text.words import IS_WORD, character_flags

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
            most = "the corpus has no words at all"
            for word in self.first_words(1):
                most = f"the most frequent one is {word!r} with {self.counts[0]}"
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
        processes: how many read the corpus beside each other; under `s3://` one does.
        part_bytes: bytes of a large file that one of them reads at a time.
        made_from: metadata of the files.

    Raises:
        InputError: a file cannot be read, or there is no room on the disk.
    """
    parts = [part for shard in shards for part in parts_of(shard, part_bytes)]
    if any(shard.path.startswith("s3://") for shard in shards):
        processes = 1  # Arrow's client of S3 does not survive a fork
    with tempfile.TemporaryDirectory(prefix="prasanga-static-") as folder, explaining_full_disk(folder):

        def cut(number: int, read: Callable[[int], object]) -> None:
            _cut_part(parts[number], Path(folder, str(number)), normalizer, language, errors, read)

        size = sum(shard.bytes_on_disk for shard in shards)
        _each_part(cut, len(parts), min(processes, len(parts)), size)
        places = [Path(folder, str(number)) for number in range(len(parts))]
        found = [pl.scan_parquet(place.with_suffix(".parquet")) for place in places]
        counts = pl.concat(found).group_by("word").agg(pl.col("count").sum())
        numbered = counts.sort("count", "word", descending=[True, False]).collect().with_row_index("number")
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
    ends: list[Connection] = []
    try:
        for first in range(processes):
            here, there = context.Pipe(duplex=False)
            worker = context.Process(target=_work, args=(cut, range(first, n, processes), there), daemon=True)
            worker.start()
            workers[here] = worker
            ends.append(here)
            there.close()
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
    numbering = Numbering()
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


# --------------------
# Sentences of UTF-8 to numbers of words, compiled.

_NON_JOINER: Final = 0x200C
_ROOM: Final = 1 << 19
_PRIME: Final = np.uint64(0x9E3779B97F4A7C15)


class Numbering:
    """Numbers for words, from 0 in the order in which they come; memory holds each different word once.

    A zero-width non-joiner is no part of a word, as `prasanga.text.fold` has it.
    """

    def __init__(self) -> None:
        self._n = 0
        self._slots = np.full(4 * _ROOM, -1, dtype=np.int32)  # a power of two, twice the words at least
        self._text = np.empty(16 * _ROOM, dtype=np.uint8)
        # of each word: where its text ends, its hash, how often it came; entry 0 of the ends stands before all words
        self._ends = np.zeros(_ROOM + 1, dtype=np.int64)
        self._hashes = np.empty(_ROOM, dtype=np.uint64)
        self._counts = np.zeros(_ROOM, dtype=np.int64)

    def cut(self, data: Bytes, starts: Positions, ends: Positions) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the numbers of the words of sentences, and how many words each sentence with words has.

        Args:
            data: valid UTF-8.
            starts: of each sentence, its first byte.
            ends: the byte after its last.
        """
        size = int((ends - starts).sum())
        most = size // 2 + len(starts) + 1  # words, each with what stands behind it
        self._make_room(most, size)
        numbers = np.empty(most, dtype=np.uint32)
        lengths = np.empty(most, dtype=np.uint32)
        known = (self._slots, self._text, self._ends, self._hashes, self._counts, self._n)
        number: Callable[..., tuple[int, int, int]] = _number
        found, sentences, self._n = number(data, starts, ends, character_flags(), *known, numbers, lengths)
        return numbers[:found], lengths[:sentences]

    def words(self) -> list[str]:
        """Return the words, by their numbers."""
        text, ends = self._text.tobytes(), self._ends[: self._n + 1].tolist()
        return [text[start:end].decode() for start, end in pairwise(ends)]

    def counts(self) -> NDArray[np.int64]:
        """Return how often each word came."""
        return self._counts[: self._n].copy()

    def _make_room(self, words: int, size: int) -> None:
        if self._n + words > len(self._counts):
            room = 2 * (self._n + words)
            for array, size_of in ((self._counts, room), (self._hashes, room), (self._ends, room + 1)):
                array.resize(size_of, refcheck=False)
            self._slots = np.full(1 << (2 * room - 1).bit_length(), -1, dtype=np.int32)
            _fill(self._hashes[: self._n], self._slots)
        if self._ends[self._n] + size > len(self._text):
            self._text.resize(2 * int(self._ends[self._n] + size), refcheck=False)


@compiled
def _fill(hashes: NDArray[np.uint64], slots: NDArray[np.int32]) -> None:
    mask = np.uint64(len(slots) - 1)
    for word in range(len(hashes)):
        slot = hashes[word] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word


@compiled
def _number(
    data: Bytes,
    starts: Positions,
    ends: Positions,
    flags: NDArray[np.uint16],
    slots: NDArray[np.int32],
    text: Bytes,
    text_ends: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    counts: NDArray[np.int64],
    n: int,
    numbers: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
) -> tuple[int, int, int]:
    """Write numbers and lengths; return how many of each, and how many different words there are by now."""
    mask = np.uint64(len(slots) - 1)
    found = sentences = 0
    for sentence in range(len(starts)):
        i, end = starts[sentence], ends[sentence]
        length = 0
        while i < end:
            # A word is written behind those that are known, and stays there if it is new.
            begin = text_ends[n]
            write = begin
            hash_ = np.uint64(0)
            while i < end:
                code, size = decode_valid(data, i)
                if flags[code] & IS_WORD == 0:
                    break
                if code != _NON_JOINER:
                    hash_ = (hash_ ^ np.uint64(code)) * _PRIME
                    hash_ ^= hash_ >> np.uint64(29)
                    for k in range(size):
                        text[write + k] = data[i + k]
                    write += size
                i += size
            if write > begin:
                slot = hash_ & mask
                while slots[slot] >= 0:
                    word = slots[slot]
                    if hashes[word] == hash_ and _is_same(text, text_ends[word], text_ends[word + 1], begin, write):
                        break
                    slot = (slot + np.uint64(1)) & mask
                if slots[slot] < 0:
                    slots[slot] = n
                    hashes[n] = hash_
                    text_ends[n + 1] = write
                    counts[n] = 0
                    n += 1
                word = slots[slot]
                counts[word] += 1
                numbers[found] = word
                found += 1
                length += 1
                if length == LONGEST:
                    lengths[sentences] = length
                    sentences += 1
                    length = 0
            while i < end:
                code, size = decode_valid(data, i)
                if flags[code] & IS_WORD != 0:
                    break
                i += size
        if length > 0:
            lengths[sentences] = length
            sentences += 1
    return found, sentences, n


@compiled
def _is_same(text: Bytes, start: int, end: int, other: int, other_end: int) -> bool:
    if end - start != other_end - other:
        return False
    same = True
    for k in range(end - start):
        same &= text[start + k] == text[other + k]
    return same


# --------------------
# How often the words of a corpus stand near each other, counted on disk where memory would not hold it.
#
# Each part of the corpus is counted by itself (scipy's sparse matrices add up equal pairs) and written as a run of
# sorted pairs; the runs are then merged range by range. Pairs of one order only are counted, since nearness has no
# direction, and written in both.

ENTRY = np.dtype([("row", "<i4"), ("column", "<i4"), ("count", "<f4")])
"""One count on disk."""

PAIRS_AT_A_TIME = 1 << 23
_SAMPLED = 1024
_RUNS_AT_A_TIME = 8


class Entries(NamedTuple):
    """The entries that are not zero, in files by the blocks of their row and column.

    Attributes:
        paths: the file of row block i and column block j is number i * blocks + j.
        n_entries: in all of them.
    """

    paths: list[Path]
    n_entries: int


def count_pairs(
    parts: Iterable[Words],
    block: npt.NDArray[np.int32],
    window: int,
    folder: str | Path,
    *,
    pairs_at_a_time: int = PAIRS_AT_A_TIME,
) -> Entries:
    """Count how often words stand near each other within sentences, each pair weighted by one over its distance.

    Args:
        parts: of the corpus, without words that have no place in the vocabulary, so that these make no distance.
        block: (n_words,) the block of each word, from 0 on.
        window: greatest distance.
        folder: where the files go.
        pairs_at_a_time: what memory holds, in pairs; what comes out does not depend on it but for rounding and order.

    Raises:
        InputError: there is no room on the disk.
    """
    folder, n, n_blocks = Path(folder), len(block), int(block.max()) + 1
    with explaining_full_disk(folder):
        runs = _runs(parts, n, window, folder, pairs_at_a_time)
        paths = [folder / f"entries-{number}" for number in range(n_blocks**2)]
        for path in paths:
            path.write_bytes(b"")
        n_entries = 0
        for run in _merged(runs, n, pairs_at_a_time):
            entries = _both_ways(run, n)
            n_entries += entries.size
            dealt = block[entries["row"]] * n_blocks + block[entries["column"]]
            order = np.argsort(dealt, kind="stable")
            entries, bounds = entries[order], np.searchsorted(dealt[order], np.arange(len(paths) + 1))
            for path, (first, last) in zip(paths, pairwise(bounds.tolist()), strict=True):
                if last > first:
                    with path.open("ab") as file:
                        entries[first:last].tofile(file)
        _remove(runs)
    return Entries(paths, n_entries)


class _Run(NamedTuple):
    keys: npt.NDArray[np.int64]  # row * n_words + column, ascending, row <= column
    sums: npt.NDArray[np.float64]
    paths: tuple[Path, ...] = ()


def _runs(parts: Iterable[Words], n: int, window: int, folder: Path, pairs_at_a_time: int) -> list[_Run]:
    """Count each part; runs become one, level by level, so that pairs that come often do not fill the disk."""
    levels: list[list[_Run]] = [[]]
    names = count()
    for part in parts:
        run = _written([_counted(part, n, window)], folder / f"run-{next(names)}")
        for level in levels:
            level.append(run)
            if len(level) < _RUNS_AT_A_TIME:
                break
            run = _written(_merged(level, n, pairs_at_a_time), folder / f"run-{next(names)}")
            _remove(level)
            level.clear()
        else:
            levels.append([run])
    return [run for level in reversed(levels) for run in level]


def _counted(part: Words, n: int, window: int) -> _Run:
    from scipy.sparse import coo_array

    ids = part.numbers.astype(np.int64)
    sentence = np.repeat(np.arange(part.bounds.size - 1), np.diff(part.bounds))

    rows, columns, weights = [], [], []
    for distance in range(1, min(window, ids.size - 1) + 1):
        near = sentence[:-distance] == sentence[distance:]
        left, right = ids[:-distance][near], ids[distance:][near]
        rows.append(np.minimum(left, right))
        columns.append(np.maximum(left, right))
        weights.append(np.full(left.size, 1 / distance))
    if not rows:
        return _Run(np.empty(0, np.int64), np.empty(0))
    pairs = (np.concatenate(rows), np.concatenate(columns))
    matrix: Any = coo_array((np.concatenate(weights), pairs), shape=(n, n)).tocsr()
    matrix.sum_duplicates()  # sorts as well
    keys = np.repeat(np.arange(n), np.diff(matrix.indptr)) * n + matrix.indices
    return _Run(keys.astype(np.int64), matrix.data)


def _written(pieces: Iterable[_Run], path: Path) -> _Run:
    """Return runs of ascending keys as one, on disk from now on."""
    paths = (path.with_suffix(".keys"), path.with_suffix(".sums"))
    with paths[0].open("wb") as of_keys, paths[1].open("wb") as of_sums:
        for piece in pieces:
            piece.keys.tofile(of_keys)
            piece.sums.tofile(of_sums)
    if not paths[0].stat().st_size:  # nothing can be mapped of an empty file
        return _Run(np.empty(0, np.int64), np.empty(0), paths)
    return _Run(np.memmap(paths[0], np.int64, "r"), np.memmap(paths[1], np.float64, "r"), paths)


def _remove(runs: Iterable[_Run]) -> None:
    for run in runs:
        for path in run.paths:
            path.unlink()


def _merged(runs: Sequence[_Run], n: int, pairs_at_a_time: int) -> Iterator[_Run]:
    """Yield the runs as one, in ranges of keys of which memory holds one."""
    step = max(1, min(_SAMPLED, pairs_at_a_time // 16))
    samples = np.sort(np.concatenate([np.empty(0, np.int64), *(run.keys[::step] for run in runs)]))
    every = max(1, pairs_at_a_time // step)
    bounds = [0, *np.unique(samples[every::every]).tolist(), n * n]
    for low, high in pairwise(bounds):
        pieces = [(run, *np.searchsorted(run.keys, [low, high]).tolist()) for run in runs]
        keys = np.concatenate([run.keys[start:stop] for run, start, stop in pieces])
        if not keys.size:
            continue
        order = np.argsort(keys, kind="stable")
        keys, sums = keys[order], np.concatenate([run.sums[start:stop] for run, start, stop in pieces])[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        yield _Run(keys[first], np.add.reduceat(sums, first))


def _both_ways(run: _Run, n: int) -> npt.NDArray[Any]:
    keys, sums, _ = run
    rows, columns = np.divmod(keys, n)
    same = rows == columns
    entries = np.empty(2 * keys.size - int(same.sum()), dtype=ENTRY)
    # a word near itself is near on both sides
    entries["row"] = np.concatenate([rows, columns[~same]])
    entries["column"] = np.concatenate([columns, rows[~same]])
    entries["count"] = np.concatenate([np.where(same, 2 * sums, sums), sums[~same]])
    return entries
