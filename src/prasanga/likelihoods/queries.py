"""What a model is asked: forward passes, words hidden from it, and the pieces whose log-probabilities are read."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prasanga.models.pieces import Pieces, Span, overlapping


class Query(NamedTuple):
    """One pass of a model, and what is read from it.

    Attributes:
        ids: the pieces that the model reads; of an encoder-decoder, that its encoder reads.
        positions: places of its output; of an encoder-decoder, of the decoder's output.
        targets: the piece whose log-probability is read at each of `positions`.
        decoder_ids: of an encoder-decoder, the pieces that its decoder reads.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    targets: tuple[int, ...]
    decoder_ids: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Pieces that run through the model."""
        return len(self.ids) + len(self.decoder_ids)


# --------------------
# Queries answered as they are made: part by part, and an answer that is known is not asked for again.


Answers = list[NDArray[np.float64]]

WAITING = 1 << 21
"""Pieces of the queries that wait together to be asked: some tens of megabytes."""
REMEMBERED = 1 << 18
"""Log-probabilities that are remembered, the newest: 130 MB where each is of a pass of its own."""


def in_parts(ask: Callable[[Sequence[Query]], Answers], queries: Iterable[Query]) -> Iterator[NDArray[np.float64]]:
    """Yield the answer to each query, in order; never are all queries, or all answers, in memory.

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
        """Tell how far a part is: of its `n_passes`, `n_run` have run."""
        self._tell(self._before + (self.reached - self._before) * n_run / n_passes)
        if n_run == n_passes:
            self._before = self.reached

    def finish(self) -> None:
        """Tell that all are answered, those of the last part too if nothing had to run for them."""
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
        """Return the query's answer if all of it is known."""
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


# --------------------
# Words hidden from a model: which pieces of a text are masked, and which are read at the masks.
#
# A word is always hidden whole. A piece of it left in sight would give the rest away, and in Bangla and Hindi
# unrelated words share pieces (Sahoo et al. 2024, section 6.1 and figure 3).


HOW = ("all", "left-to-right", "first")
"""How a word of several pieces is scored (`log_probability.pieces`, `pairs.pieces`)."""


def masked_queries(
    pieces: Pieces, span: Span, mask: int, *, how: str = "all", hidden: Sequence[Span] = ()
) -> list[Query]:
    """Return the queries whose log-probabilities, summed, are the score of the word at `span`.

    Args:
        pieces: of the whole text with the word in it.
        span: characters of the word.
        mask: the mask's id.
        how: `all` masks the word's pieces together, one mask each. `left-to-right` makes a query for each piece, which
            hides it and those after it and shows those before it. `first` puts one mask for the whole word and reads
            its first piece (the program of Sadhu et al.); so it does with the spans of `hidden`.
        hidden: other words that the model may not see, such as the attribute where a prior is asked for; one mask a
            piece.

    Returns:
        None at all if no piece stands for a character of the word: the tokenizer drops it.
    """
    own = overlapping(pieces, *span)
    if not own:
        return []
    others = [overlapping(pieces, *other) for other in hidden]
    if how == "first":
        return [_one_mask_a_word(pieces, own, others, mask)]
    covered = {position for word in others for position in word}
    begins = range(len(own)) if how == "left-to-right" else [0]
    read = [[own[begin]] if how == "left-to-right" else own for begin in begins]
    return [
        Query(
            ids=tuple(_replaced(pieces.ids, covered | set(own[begin:]), mask)),
            positions=tuple(positions),
            targets=tuple(pieces.ids[position] for position in positions),
        )
        for begin, positions in zip(begins, read, strict=True)
    ]


def _replaced(ids: Sequence[int], positions: Iterable[int], mask: int) -> list[int]:
    replaced = list(ids)
    for position in positions:
        replaced[position] = mask
    return replaced


def _one_mask_a_word(pieces: Pieces, own: Sequence[int], others: Sequence[Sequence[int]], mask: int) -> Query:
    words = [own, *(word for word in others if word)]
    firsts = {word[0] for word in words}
    dropped = {position for word in words for position in word[1:]} - firsts
    kept = [position for position in range(len(pieces.ids)) if position not in dropped]
    return Query(
        ids=tuple(mask if position in firsts else pieces.ids[position] for position in kept),
        positions=(kept.index(own[0]),),
        targets=(pieces.ids[own[0]],),
    )
