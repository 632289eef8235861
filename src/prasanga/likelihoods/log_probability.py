"""Log-probability of a word in a sentence, with and without the word it is associated with (Kurita et al. 2019).

For a target and an attribute in a sentence (Sadhu et al. 2024, section 3.3), in natural logarithms:

    fill       log p_target, the target masked
    prior      log p_prior, the target and the attribute masked
    corrected  fill - prior = log(p_target / p_prior)

Both are read at the target's own place, and the mask covers the whole inflected word. A target of several pieces has as
many masks, and its score is the sum over them (`all`); with `left-to-right` a piece is scored with those before it in
sight, by the chain rule; with `first` there is one mask for the word and its first piece is read, and one mask for the
attribute whatever its length, as in the program of the paper.
"""

from __future__ import annotations

import logging
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, SupportsIndex

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prasanga.associations.checking import choice
from prasanga.errors import InputError
from prasanga.likelihoods.masking import HOW, masked_queries
from prasanga.likelihoods.parts import Answered, in_parts
from prasanga.likelihoods.queries import Query
from prasanga.models.pieces import Pieces, Span, overlapping, read_pieces
from prasanga.progress import progress

if TYPE_CHECKING:
    from prasanga.models.options import ModelOptions

LEFT_OUT = ("dropped-word", "unknown-piece", "shared-piece", "too-long")
"""Why an item has no score: the tokenizer drops the target or the attribute; one of them has a piece that stands for
what the tokenizer does not know; one piece belongs to both; the model cannot read so long a sentence."""

LOG_PROBABILITY_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("text", "target", "attribute"), pl.String),
    **dict.fromkeys(("fill", "prior", "corrected"), pl.Float64),
    **dict.fromkeys(("n_pieces", "n_attribute_pieces"), pl.Int64),
    **dict.fromkeys(("left_out", "left_out_word"), pl.String),
    **dict.fromkeys(("pieces", "model"), pl.String),
}
"""Columns of `score_log_probability`. `n_pieces` counts the pieces of the target, of which `first` scores one;
`left_out` is one of `LEFT_OUT` or null, `left_out_word` the word that it is about (null for a whole sentence)."""

_LOG = logging.getLogger(__name__)


class LogProbabilityItem(NamedTuple):
    """A sentence, normalized as the study's texts are, and the characters (start, end) of its target and attribute."""

    text: str
    target: Span
    attribute: Span


class ScoresMasks(Protocol):
    """What of a `Scorer` is needed here."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def tokenizer(self) -> Any: ...  # noqa: D102
    @property
    def max_pieces(self) -> int | None: ...  # noqa: D102

    mask: int | None
    unknown: frozenset[int]

    def log_probabilities(  # noqa: D102
        self, queries: Sequence[Query], told: Callable[[int, int], object] | None = None
    ) -> list[NDArray[np.float64]]: ...


class Score(NamedTuple):
    """What one item comes to; numbers are None where it is left out."""

    fill: float | None
    prior: float | None
    n_pieces: int
    n_attribute_pieces: int
    left_out: str | None = None
    left_out_role: str | None = None  # target or attribute, where one of them is why

    @property
    def corrected(self) -> float | None:
        """Fill minus prior."""
        return None if self.fill is None or self.prior is None else self.fill - self.prior


def score_log_probability(
    model: str | Path | ScoresMasks,
    items: Iterable[LogProbabilityItem | tuple[str, Span, Span]],
    *,
    pieces: str = "all",
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "auto",
    options: ModelOptions | None = None,
) -> pl.DataFrame:
    """Fill, prior and corrected log-probability of the target of each item (see the module).

    Args:
        model: an encoder's folder or id, or a `Scorer` of one.
        items: sentences with the characters of target and attribute, each (start, end), whole numbers.
        pieces: how a target of several pieces is scored: all, left-to-right or first.
        revision: of the model on the hub; this and the rest are of no use with a `Scorer`.
        device: as in `load_scorer`.
        dtype: likewise.
        options: likewise.

    Returns:
        One row an item, in order; columns `LOG_PROBABILITY_SCHEMA`.

    Raises:
        InputError: no encoder, or one without a mask piece; an item that is not (text, target, attribute), or whose
            target and attribute overlap or lie outside its text; an unknown way to score pieces.
    """
    listed = _checked(items, pieces)
    if isinstance(model, str | Path):
        from prasanga.likelihoods.engine import load_scorer  # here, because it needs torch
        from prasanga.models.options import NO_OPTIONS

        scorer: ScoresMasks = load_scorer(
            model, revision=revision, device=device, dtype=dtype, options=options or NO_OPTIONS
        )
    else:
        scorer = model
    scores = score_items(scorer, listed, pieces=pieces)
    rows = [
        (
            *(item.text, item.text[slice(*item.target)], item.text[slice(*item.attribute)]),
            *(score.fill, score.prior, score.corrected, score.n_pieces, score.n_attribute_pieces),
            *(score.left_out, _word_left_out(item, score), pieces, str(scorer.name)),
        )
        for item, score in zip(listed, scores, strict=True)
    ]
    return pl.DataFrame(rows, schema=dict(LOG_PROBABILITY_SCHEMA), orient="row")


def score_items(scorer: ScoresMasks, items: Iterable[LogProbabilityItem], *, pieces: str = "all") -> list[Score]:
    """The score of each item, in order; masked sentences are made as they are asked for (`in_parts`).

    Raises:
        InputError: as `score_log_probability` does.
    """
    items = _checked(items, pieces)
    mask = require_mask(scorer)
    read = read_pieces(scorer.tokenizer, (item.text for item in items))
    found: dict[LogProbabilityItem, Score] = {}
    asked: deque[tuple[LogProbabilityItem, int, int]] = deque()  # with the number of queries for fill and prior
    different = list(dict.fromkeys(items))
    scoring = progress(f"scoring words in sentences by {scorer.name}", len(different), "sentences")

    def stream() -> Iterator[Query]:
        for item in different:
            answered.reached += 1
            found[item], queries = _prepared(item, read[item.text], mask, scorer, pieces)
            if queries is not None:
                fill, prior = queries
                asked.append((item, len(fill), len(prior)))
                yield from (*fill, *prior)

    with scoring as done:
        answered = Answered(done.advance)
        values = in_parts(partial(scorer.log_probabilities, told=answered), stream())
        for first in values:  # which has made the query, and noted its item
            item, n_fill, n_prior = asked.popleft()
            sums = [float(first.sum()), *(float(next(values).sum()) for _ in range(n_fill + n_prior - 1))]
            found[item] = found[item]._replace(fill=sum(sums[:n_fill]), prior=sum(sums[n_fill:]))
        answered.finish()
    _tell(scorer.name, items, found, pieces)
    return [found[item] for item in items]


def require_mask(scorer: ScoresMasks) -> int:
    """The mask piece of an encoder.

    Raises:
        InputError: another kind of model, or an encoder without a mask piece; with what to write in the config.
    """
    if scorer.kind != "encoder":
        raise InputError(
            f"model {scorer.name}: log-probability bias masks words, which takes an encoder, and this is"
            f" {'an' if scorer.kind[:1] in 'aeiou' else 'a'} {scorer.kind}. Write"
            " `models: {<its name>: {stages: [embeddings]}}`, or leave `log_probability.categories` and"
            " `log_probability.traits` empty; decoders and encoder-decoders score pairs (`pairs.sets`)."
        )
    if scorer.mask is None:
        raise InputError(
            f"model {scorer.name}: its tokenizer has no mask piece, so no word can be masked. Name the piece in the"
            ' tokenizer\'s settings ("mask_token" in tokenizer_config.json), or write'
            " `models: {<its name>: {stages: [embeddings]}}`."
        )
    return scorer.mask


def _checked(items: Iterable[LogProbabilityItem | tuple[str, Span, Span]], pieces: str) -> list[LogProbabilityItem]:
    choice("log_probability.pieces", pieces, HOW)
    checked = [_item(number, item) for number, item in enumerate(items)]
    for number, item in enumerate(checked):
        for name, (start, end) in (("target", item.target), ("attribute", item.attribute)):
            if not 0 <= start < end <= len(item.text):
                raise InputError(
                    f"item {number}: the {name} is at characters {start} to {end} of a text of {len(item.text)}:"
                    f" {item.text}. Give (start, end) of the whole inflected word."
                )
        if item.target[0] < item.attribute[1] and item.attribute[0] < item.target[1]:
            raise InputError(f"item {number}: target and attribute overlap in {item.text}. Give words apart.")
    return checked


def _item(number: int, item: Any) -> LogProbabilityItem:
    """An item with spans of plain whole numbers, which a list or an array may have held."""
    try:
        text, target, attribute = item
        spans = [(_place(start), _place(end)) for start, end in (target, attribute)]
    except (TypeError, ValueError):
        text, spans = None, []
    if not isinstance(text, str):
        raise InputError(
            f"item {number}: {item!r} is no sentence with two words. Write (text, (start, end), (start, end)): the"
            " characters of target and attribute, whole numbers."
        )
    return LogProbabilityItem(text, *spans)


def _place(value: SupportsIndex) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _prepared(
    item: LogProbabilityItem, read: Pieces, mask: int, scorer: ScoresMasks, pieces: str
) -> tuple[Score, tuple[list[Query], list[Query]] | None]:
    """An item's score so far, and what the model is to be asked for it; nothing where it is left out."""
    target, attribute = overlapping(read, *item.target), overlapping(read, *item.attribute)
    score = Score(None, None, len(target), len(attribute))
    roles = (("target", target), ("attribute", attribute))
    for role, positions in roles:
        if not positions:
            return score._replace(left_out="dropped-word", left_out_role=role), None
    for role, positions in roles:
        if any(read.ids[position] in scorer.unknown for position in positions):
            return score._replace(left_out="unknown-piece", left_out_role=role), None
    if set(target) & set(attribute):
        return score._replace(left_out="shared-piece"), None
    fill = masked_queries(read, item.target, mask, how=pieces)
    prior = masked_queries(read, item.target, mask, how=pieces, hidden=[item.attribute])
    limit = scorer.max_pieces
    if limit is not None and max(len(query.ids) for query in (*fill, *prior)) > limit:
        return score._replace(left_out="too-long"), None
    return score, (fill, prior)


def _word_left_out(item: LogProbabilityItem, score: Score) -> str | None:
    span = {"target": item.target, "attribute": item.attribute}.get(score.left_out_role or "")
    return None if span is None else item.text[slice(*span)]


def _tell(
    model: str, items: Sequence[LogProbabilityItem], found: Mapping[LogProbabilityItem, Score], pieces: str
) -> None:
    """What the log says of items left out, and of attributes that one mask hides whatever their length."""
    for reason in LEFT_OUT:
        of_reason = [item for item, score in found.items() if score.left_out == reason]
        if of_reason:
            words = dict.fromkeys(filter(None, (_word_left_out(item, found[item]) for item in of_reason)))
            said = f": {', '.join(words)}" if words else ""
            _LOG.warning("%s: %d sentences left out, %s%s", model, len(of_reason), reason, said)
    if pieces == "first":
        several = dict.fromkeys(
            item.text[slice(*item.attribute)] for item in items if found[item].n_attribute_pieces > 1
        )
        if several:
            _LOG.warning(
                "%s: with pieces: first, one mask stands for each of %d attributes of several pieces: %s",
                *(model, len(several), ", ".join(several)),
            )
