"""Queries to a language model, and the engine that answers: log-probabilities of pieces, for models of every kind.

Equal passes of one call run once. Passes are sorted by length and run in batches of a bounded number of pieces, which
are halved when memory runs out. The vocabulary head runs only at the positions that are read, in blocks with a small
output. So memory grows with the longest row, not with the number of masked copies, and a bounded number of queries of
many texts (`answer_texts`) waits. The head of a model that only runs whole (`ModelWithHead.whole`) runs at every
position of a batch; batches are then small enough for the same bound, down to one row.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.logs import progress
from prasanga.models.devices import ON_A_CPU, Halving, find_budget, no_memory_for, plan_batches
from prasanga.models.heads import ModelWithHead, load_with_head, mask_piece
from prasanga.models.packaged import NO_OPTIONS, ModelOptions
from prasanga.models.pieces import Pieces, Span, overlapping, unknown_pieces

_HEAD_NUMBERS = {"cpu": 1 << 23, "cuda": 1 << 28}  # rows x vocabulary of the head's output: 32 MB, 1 GB of float32
_ATTENTION_NUMBERS = 1 << 24  # rows x length x length x numbers kept per weight: 64 MB of float32
_TRIAL_LENGTH = 64

Answers = list[NDArray[np.float64]]


class Query(NamedTuple):
    """One pass of a model, and the log-probabilities that are read from it.

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


def load_scorer(
    model: str | Path,
    *,
    kind: str = "auto",
    threads: int | None = None,
    pieces_per_batch: int | None = None,
    options: ModelOptions = NO_OPTIONS,
    **loading: Any,
) -> Scorer:
    """Load a model, a folder or the id of a model of the hub, for log-probabilities.

    Args:
        model: see `prasanga.models.heads.load_with_head`.
        kind: `auto`, or what the model must be: `encoder`, `decoder`, `encoder-decoder`.
        threads: threads of torch in this process; left alone if None.
        pieces_per_batch: most pieces per batch, padding included; None for 2,048 on a CPU, and for the result of a
            trial with the first batch on a GPU.
        options: of the tokenizer, the weights and the GPUs.
        **loading: `revision` (branch, tag or commit of the hub), `device` (`auto`, `cpu`, `cuda`, `cuda:<number>`) and
            `dtype` (`auto`, `float32`, `bfloat16`, `float16`), as for `load_with_head`.

    Raises:
        InputError: the model is not available, is of another kind, or lacks a vocabulary head.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    if kind != "auto":
        options = replace(options, kind=kind)
    return Scorer(load_with_head(model, options=options, **loading), pieces_per_batch=pieces_per_batch)


class Scorer:
    """A loaded model that says how probable pieces are.

    Attributes:
        model: the model in its two halves.
        name: as the user wrote it.
        kind: `encoder`, `decoder` or `encoder-decoder`.
        tokenizer: a fast one.
        max_pieces: the longest input, special pieces included; None without a limit.
        mask: the mask's piece; None if the tokenizer lacks it.
        unknown: pieces for unknown text.
        passes: rows run through the model since it was loaded; equal ones of one call are run once.
        pieces: the same in pieces, special ones included, padding not.
    """

    def __init__(self, model: ModelWithHead, *, pieces_per_batch: int | None = None) -> None:
        """Wrap a loaded model; `load_scorer` is the usual way to get one."""
        self.model = model
        self.name, self.kind = model.name, model.kind
        self.tokenizer, self.max_pieces = model.tokenizer, model.max_pieces
        self.mask = mask_piece(model.tokenizer, model.kind)
        self.unknown = unknown_pieces(model.tokenizer)
        self.passes = self.pieces = 0
        on_a_cpu = model.device.type == "cpu"
        self._budget = ON_A_CPU if pieces_per_batch is None and on_a_cpu else pieces_per_batch
        if model.alone:  # the smallest batch is one row
            self._budget = 1
        self._halving = Halving(lambda pieces: no_memory_for(model.name, model.device, pieces))
        self._head_rows = max(1, _HEAD_NUMBERS["cpu" if on_a_cpu else "cuda"] // model.vocabulary)
        if model.whole:  # each piece of a batch has a row of logits
            self._budget = min(self._budget or self._head_rows, self._head_rows)

    @torch.inference_mode()
    def log_probabilities(
        self, queries: Sequence[Query], told: Callable[[float], object] | None = None, *, raw_logits: bool = False
    ) -> list[NDArray[np.float64]]:
        """Return the natural logarithm of the probability of each query's targets at its positions, in the given order.

        A masked model gives the probability at the position itself, a left-to-right model of the piece after it.

        Args:
            queries: the questions.
            told: called after each batch with its share of all passes.
            raw_logits: return the numbers of the vocabulary head instead of log-probabilities.

        Raises:
            InputError: a number that is not finite, or a text that is too large for the device's memory.
        """
        passes = _distinct(queries)
        found = [np.empty(len(query.targets), dtype=np.float64) for query in queries]
        if self._budget is None and passes:
            self._budget = find_budget(self._time)
        waiting: list[tuple[list[tuple[int, int]], torch.Tensor]] = []

        def run(rows: slice) -> None:
            waiting.append(self._run(passes[rows], raw_logits))
            if told is not None:
                told((rows.stop - rows.start) / len(passes))

        for batch in plan_batches([one.query.size for one in passes], self._budget or ON_A_CPU):
            self._halving.run(batch, lambda rows: _padded([one.query for one in passes[rows]]), run)
        for places, values in waiting:  # fetched last, so that a GPU never waits
            numbers = values.double().cpu().numpy()
            if not np.isfinite(numbers).all():
                said = f"model {self.name}: some log-probabilities are not finite in {self.model.dtype}"
                raise InputError(f"{said}. Write dtype: float32; if it is, the weights are damaged: fetch them again.")
            for (query, place), value in zip(places, numbers, strict=True):
                found[query][place] = value
        self.passes += len(passes)
        self.pieces += sum(one.query.size for one in passes)
        return found

    @torch.inference_mode()
    def attention(self, texts: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        """Return how much attention each piece of each text gets: the mean over layers, heads and the pieces that read.

        Weights of a text sum to 1, its special pieces included. In a batch, rows x length x length is below 2^24, so a
        text of more than 4,096 pieces runs alone.

        Raises:
            InputError: the model does not return attention, or a text is too large for the device's memory.
        """
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        rows = [texts[place] for place in order]
        found: list[NDArray[np.float64]] = [np.empty(0)] * len(texts)

        def work(batch: slice) -> None:
            received = self.model.attention(rows[batch])
            for place, row, weights in zip(order[batch], rows[batch], received.double().cpu().numpy(), strict=True):
                found[place] = weights[: len(row)]

        most = _ATTENTION_NUMBERS // self.model.weights_kept
        for batch in _square_batches([len(row) for row in rows], self._budget or ON_A_CPU, most):
            self._halving.run(batch, lambda part: (part.stop - part.start) * len(rows[part.stop - 1]), work)
        return found

    def _run(self, passes: Sequence[_Pass], raw_logits: bool = False) -> tuple[list[tuple[int, int]], torch.Tensor]:
        """Run one batch; return the query and target of each value, and the values, on the device."""
        decoder_ids = [one.query.decoder_ids for one in passes] if self.kind == "encoder-decoder" else None
        states = self.model.states([one.query.ids for one in passes], decoder_ids)
        reads: dict[tuple[int, int], list[tuple[int, int, int]]] = {}  # by row and position: the head runs once on each
        for row, one in enumerate(passes):
            for number, query in one.readers:
                for place, (position, target) in enumerate(zip(query.positions, query.targets, strict=True)):
                    reads.setdefault((row, position), []).append((number, place, target))
        index = partial(torch.tensor, dtype=torch.long, device=states.device)
        chosen = states[index([row for row, _ in reads]), index([position for _, position in reads])]
        wanted = index([state for state, found in enumerate(reads.values()) for _ in found])
        pieces = index([target for found in reads.values() for _, _, target in found])
        values = []
        for begin in range(0, len(reads), self._head_rows):
            logits = self.model.logits(chosen[begin : begin + self._head_rows])
            here = (wanted >= begin) & (wanted < begin + self._head_rows)
            own = wanted[here] - begin
            values.append(logits[own, pieces[here]] - (0 if raw_logits else logits.logsumexp(dim=1)[own]))
        places = [(number, place) for found in reads.values() for number, place, _ in found]
        return places, torch.cat(values) if values else states.new_empty(0)

    def _time(self, pieces: int) -> float:
        """Return the seconds for a batch of this many pieces, not counting a first run that warms the device up."""
        length = min(_TRIAL_LENGTH, self.max_pieces or _TRIAL_LENGTH, pieces)
        row = tuple(range(1, length + 1))
        written = row[: length // 2 + 1] if self.kind == "encoder-decoder" else ()
        one = _Pass(query := Query(row, (0,), (0,), written), [(0, query)])
        for _ in range(2):
            begin = time.perf_counter()
            self._run([one] * (pieces // length or 1))[1].cpu()  # which waits for the device
            seconds = time.perf_counter() - begin
        return seconds


class _Pass(NamedTuple):
    """One row for the model, and its queries, by their places."""

    query: Query
    readers: list[tuple[int, Query]]


def _distinct(queries: Sequence[Query]) -> list[_Pass]:
    """Return each distinct pass once, shortest first, whatever the order of the queries."""
    passes: dict[tuple[tuple[int, ...], tuple[int, ...]], _Pass] = {}
    for place, query in enumerate(queries):
        passes.setdefault((query.ids, query.decoder_ids), _Pass(query, [])).readers.append((place, query))
    return sorted(passes.values(), key=lambda one: (one.query.size, one.query.ids, one.query.decoder_ids))


def _square_batches(lengths: Sequence[int], budget: int, most: int) -> Iterator[slice]:
    """Yield batches as `plan_batches` does, of one row or with rows x length x length of at most `most`."""
    for batch in plan_batches(lengths, budget):
        begin = batch.start
        for stop in range(begin + 1, batch.stop + 1):
            if stop == batch.stop or (stop + 1 - begin) * lengths[stop] ** 2 > most:
                yield slice(begin, stop)
                begin = stop


def _padded(queries: Sequence[Query]) -> int:
    """Count the pieces of these rows as a batch, padding included."""
    longest = max(len(query.ids) for query in queries) + max(len(query.decoder_ids) for query in queries)
    return len(queries) * longest


# --------------------
# Queries answered as they are made.


WAITING = 1 << 21
"""Pieces of the queries that wait together to be asked: some tens of megabytes."""


def answer_texts(
    ask: Callable[..., Answers], texts: Iterable[Iterable[Query]], n: int, what: str
) -> Iterator[tuple[int, Answers]]:
    """Yield the number of each text with queries, and their answers, and log progress.

    Equal passes that wait together run once. Memory never holds the queries of all texts.

    Args:
        ask: `Scorer.log_probabilities`.
        texts: the queries of each, made on demand.
        n: number of texts.
        what: for the log.
    """
    with progress(what, n, "sentences") as done:

        def answer(part: Sequence[tuple[int, Query]], n_texts: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
            found = ask([query for _, query in part], told=lambda share: done.advance(share * n_texts))
            return zip((number for number, _ in part), found, strict=True)

        def answers() -> Iterator[tuple[int, NDArray[np.float64]]]:
            part: list[tuple[int, Query]] = []
            size = begun = 0
            for number, queries in enumerate(texts):
                for query in queries:
                    part.append((number, query))
                    size += query.size
                    if size >= WAITING:
                        yield from answer(part, number + 1 - begun)
                        part, size, begun = [], 0, number + 1
            yield from answer(part, n - begun)

        for number, found in groupby(answers(), key=operator.itemgetter(0)):
            yield number, [values for _, values in found]


# --------------------
# Words hidden from a model: the masked pieces of a text, and the pieces read at the masks.
#
# A word is always hidden whole. A visible piece would reveal the rest, and in Bangla and Hindi unrelated words share
# pieces (Sahoo et al. 2024, section 6.1 and figure 3).


def masked_queries(
    pieces: Pieces, span: Span, mask: int, *, how: str = "all", hidden: Sequence[Span] = ()
) -> list[Query]:
    """Return the queries whose log-probabilities, summed, are the score of the word at `span`.

    Args:
        pieces: of the whole text with the word in it.
        span: characters of the word.
        mask: the mask's id.
        how: `all` masks the word's pieces together, one mask each. `left-to-right` makes a query for each piece, which
            hides it and later ones and shows earlier ones. `first` puts one mask for the whole word, and for each word
            of `hidden`, and reads the word's first piece (the program of Sadhu et al.).
        hidden: other words that the model must not see, such as the attribute of a prior; one mask per piece.

    Returns:
        An empty list if the tokenizer drops the word.
    """
    own = overlapping(pieces, *span)
    if not own:
        return []
    others = [word for other in hidden if (word := overlapping(pieces, *other))]
    if how == "first":
        return [_mask_words_once(pieces, [own, *others], mask)]
    covered = {position for word in others for position in word}
    begins = range(len(own)) if how == "left-to-right" else [0]
    return [
        Query(
            ids=tuple(mask if n in covered or n in own[begin:] else piece for n, piece in enumerate(pieces.ids)),
            positions=tuple(positions),
            targets=tuple(pieces.ids[position] for position in positions),
        )
        for begin in begins
        for positions in [own[begin : begin + 1] if how == "left-to-right" else own]
    ]


def _mask_words_once(pieces: Pieces, words: Sequence[Sequence[int]], mask: int) -> Query:
    """Return the query with one mask for each word, which reads the first piece of the first word."""
    own, firsts = words[0][0], {word[0] for word in words}
    dropped = {position for word in words for position in word} - firsts
    kept = [position for position in range(len(pieces.ids)) if position not in dropped]
    ids = tuple(mask if position in firsts else pieces.ids[position] for position in kept)
    return Query(ids, (kept.index(own),), (pieces.ids[own],))
