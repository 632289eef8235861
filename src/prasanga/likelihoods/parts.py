"""Queries answered as they are made: part by part, and an answer that is known is not asked for again."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from prasanga.likelihoods.queries import Query

Answers = list[NDArray[np.float64]]

WAITING = 1 << 21
"""Pieces of the queries that wait together to be asked: some tens of megabytes."""
REMEMBERED = 1 << 18
"""Log-probabilities that are remembered, the newest: 130 MB where each is of a pass of its own."""


def in_parts(ask: Callable[[Sequence[Query]], Answers], queries: Iterable[Query]) -> Iterator[NDArray[np.float64]]:
    """The answer to each query, in order; never are all queries, or all answers, in memory.

    Equal passes that wait together run once, as `ask` sees to. What was read from an earlier pass is remembered
    (`REMEMBERED`). A pass runs once more where something else is to be read from it than before, or where it was last
    seen that many reads ago.

    Args:
        ask: such as `Scorer.log_probabilities`.
        queries: made as they are needed.
    """
    memory = _Memory()
    answers: list[NDArray[np.float64] | None] = []
    waiting: list[Query] = []
    size = 0
    for query in queries:
        known = memory.answer(query)
        answers.append(known)
        if known is None:
            waiting.append(query)
        size += query.size if known is None else len(known)
        if size >= WAITING:
            yield from _filled(answers, waiting, ask, memory)
            answers, waiting, size = [], [], 0
    yield from _filled(answers, waiting, ask, memory)


def _filled(
    answers: Sequence[NDArray[np.float64] | None],
    waiting: Sequence[Query],
    ask: Callable[[Sequence[Query]], Answers],
    memory: _Memory,
) -> Iterator[NDArray[np.float64]]:
    found = ask(waiting) if waiting else []
    for query, values in zip(waiting, found, strict=True):
        memory.keep(query, values)
    asked = iter(found)
    for known in answers:
        yield next(asked) if known is None else known


class Answered:
    """Counts the texts whose queries are answered, while the queries of many texts run together.

    A part (`in_parts`) has the queries of some texts. Of these, so many count as answered as of the part's passes have
    run: the longest run last, but this is told while the work goes on and not at its end.

    Attributes:
        reached: texts whose queries have been made.
    """

    def __init__(self, advance: Callable[[float], object]) -> None:
        """Begin with none; `advance` is told how many more are answered, in fractions."""
        self._advance = advance
        self.reached = 0
        self._before = 0
        self._told = 0.0

    def __call__(self, n_run: int, n_passes: int) -> None:
        """Of the `n_passes` of a part, `n_run` have run."""
        self._tell(self._before + (self.reached - self._before) * n_run / n_passes)
        if n_run == n_passes:
            self._before = self.reached

    def finish(self) -> None:
        """All are answered, those of the last part too if nothing had to run for them."""
        self._tell(self.reached)

    def _tell(self, answered: float) -> None:
        self._advance(answered - self._told)
        self._told = answered


class _Memory:
    """What was read from passes, by a digest of the pass; the oldest passes go first."""

    def __init__(self) -> None:
        self._reads: dict[bytes, dict[tuple[int, int], float]] = {}
        self._count = 0

    def answer(self, query: Query) -> NDArray[np.float64] | None:
        """The query's answer if all of it is known."""
        known = self._reads.get(_digest(query), {})
        values = [known.get(read) for read in zip(query.positions, query.targets, strict=True)]
        found = [value for value in values if value is not None]
        return np.array(found, dtype=np.float64) if known and len(found) == len(values) else None

    def keep(self, query: Query, values: NDArray[np.float64]) -> None:
        """Remember the query's answer."""
        reads = self._reads.setdefault(_digest(query), {})
        before = len(reads)
        reads.update(zip(zip(query.positions, query.targets, strict=True), values.tolist(), strict=True))
        self._count += len(reads) - before
        while self._count > REMEMBERED:
            oldest = next(iter(self._reads))
            self._count -= len(self._reads.pop(oldest))


def _digest(query: Query) -> bytes:
    numbers = array("q", (len(query.ids), *query.ids, *query.decoder_ids))
    return hashlib.blake2b(numbers.tobytes(), digest_size=16).digest()
