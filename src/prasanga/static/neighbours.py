"""How often the words of a corpus stand near each other, counted on disk where memory would not hold it.

Each part of the corpus is counted by itself (scipy's sparse matrices add up equal pairs) and written as a run of sorted
pairs; the runs are then merged range by range. Pairs of one order only are counted, since nearness has no direction,
and written in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prasanga.base.parquet import explaining_full_disk
from prasanga.static.cutting import Words

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
