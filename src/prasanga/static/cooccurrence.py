"""How often words stand near each other, counted on disk where memory would not hold it.

Each part of the corpus is counted by itself (scipy's sparse matrices add up equal pairs) and written as a run of sorted
pairs; the runs are then merged range by range. Pairs of one order only are counted, since nearness has no direction,
and written out in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prasanga.parquet import explaining_full_disk

_PAIRS_AT_A_TIME = 1 << 23
_SAMPLED = 1024

ENTRY = np.dtype([("row", "<i4"), ("column", "<i4"), ("count", "<f4")])
"""One entry of the matrix on disk."""


class _Run(NamedTuple):
    keys: npt.NDArray[np.int64]  # row * n_words + column, ascending, row <= column
    sums: npt.NDArray[np.float64]


class Entries(NamedTuple):
    """The entries that are not zero, scattered over files at random: each file is a fair sample of all."""

    paths: list[Path]
    n_entries: int


def count_pairs(
    sentences: Iterable[Sequence[str]],
    vocabulary: Sequence[str],
    window: int,
    folder: str | Path,
    rng: np.random.Generator,
    *,
    pairs_at_a_time: int = _PAIRS_AT_A_TIME,
) -> Entries:
    """Co-occurrences of the words of a vocabulary, each pair weighted by one over its distance.

    Words outside the vocabulary are taken out first, so that they make no distance.

    Args:
        sentences: of words.
        vocabulary: the words that count; entries name them by their place.
        window: greatest distance.
        folder: where the files go.
        rng: deals the entries to files.
        pairs_at_a_time: what memory holds, in pairs; what comes out does not depend on it but for rounding and order.

    Raises:
        InputError: there is no room on the disk.
    """
    folder, n = Path(folder), len(vocabulary)
    with explaining_full_disk(folder):
        runs = [
            _written(_counted(ids, sentence, n, window), folder / f"run-{number}")
            for number, (ids, sentence) in enumerate(_parts(sentences, vocabulary, max(1, pairs_at_a_time // window)))
        ]
        n_files = max(1, -(-2 * sum(run.keys.size for run in runs) // pairs_at_a_time))
        paths = [folder / f"entries-{number}" for number in range(n_files)]
        for path in paths:
            path.write_bytes(b"")
        n_entries = 0
        for keys, sums in _merged(runs, n, pairs_at_a_time):
            entries = _both_ways(keys, sums, n)
            n_entries += entries.size
            dealt = rng.integers(n_files, size=entries.size)
            for number, path in enumerate(paths):
                with path.open("ab") as file:
                    entries[dealt == number].tofile(file)
    for number in range(len(runs)):
        for kind in ("keys", "sums"):
            (folder / f"run-{number}.{kind}.npy").unlink()
    return Entries(paths, n_entries)


def _parts(
    sentences: Iterable[Sequence[str]], vocabulary: Sequence[str], size: int
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Places in the vocabulary of some `size` words at a time, and the number of the sentence of each."""
    place = {word: number for number, word in enumerate(vocabulary)}
    ids: list[int] = []
    lengths: list[int] = []
    for words in sentences:
        known = [place[word] for word in words if word in place]
        ids += known
        lengths.append(len(known))
        if len(ids) >= size:
            yield np.array(ids), np.repeat(np.arange(len(lengths)), lengths)
            ids, lengths = [], []
    if ids:
        yield np.array(ids), np.repeat(np.arange(len(lengths)), lengths)


def _counted(ids: npt.NDArray[np.int64], sentence: npt.NDArray[np.int64], n: int, window: int) -> _Run:
    from scipy.sparse import coo_array

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


def _written(run: _Run, path: Path) -> _Run:
    """The run, on disk from now on."""
    for kind, values in run._asdict().items():
        np.save(f"{path}.{kind}.npy", values)
    if not run.keys.size:  # nothing can be mapped of an empty file
        return run
    return _Run(*(np.load(f"{path}.{kind}.npy", mmap_mode="r") for kind in _Run._fields))


def _merged(runs: Sequence[_Run], n: int, pairs_at_a_time: int) -> Iterator[_Run]:
    """The runs as one, in ranges of keys of which memory holds one."""
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


def _both_ways(keys: npt.NDArray[np.int64], sums: npt.NDArray[np.float64], n: int) -> npt.NDArray[Any]:
    rows, columns = np.divmod(keys, n)
    same = rows == columns
    entries = np.empty(2 * keys.size - int(same.sum()), dtype=ENTRY)
    # a word near itself is near on both sides
    entries["row"] = np.concatenate([rows, columns[~same]])
    entries["column"] = np.concatenate([columns, rows[~same]])
    entries["count"] = np.concatenate([np.where(same, 2 * sums, sums), sums[~same]])
    return entries
