"""Log-probability of a word in a sentence, with and without the word it is associated with (Kurita et al. 2019).

For a target and an attribute in a sentence (Sadhu et al. 2024, section 3.3), in natural logarithms:

    fill       log p_target, the target masked
    prior      log p_prior, the target and the attribute masked
    corrected  fill - prior = log(p_target / p_prior)

Both are read at the target's own place, and the mask covers the whole inflected word. A target of several pieces
has as many masks, and its score is the sum over them (`all`); with `left-to-right` a piece is scored with those
before it in sight, by the chain rule; with `first` there is one mask for the word and its first piece is read,
and one mask for the attribute whatever its length, as in the program of the paper.
"""

from __future__ import annotations

import logging
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt
import polars as pl

from prasanga.associations.estimates import TestSettings
from prasanga.base.errors import InputError
from prasanga.models.options import NO_OPTIONS, ModelOptions
from prasanga.models.pieces import Pieces, Span, overlapping, read_pieces
from prasanga.stats.arguments import FloatArray, choice
from prasanga.stats.controls import ShuffledControl
from prasanga.stats.crossed import Counts, CrossedScores
from prasanga.stats.effects import STD_CONVENTIONS
from prasanga.stats.items import effects_of_items, in_blocks, item_counts
from prasanga.stats.permutation import PermutationTest, test_of_statistics

if TYPE_CHECKING:
    from prasanga.likelihoods.engine import Query, Scorer


HOW = ("all", "left-to-right", "first")
"""How a word of several pieces is scored (`log_probability.pieces`, `pairs.pieces`)."""

LEFT_OUT = ("dropped-word", "unknown-piece", "shared-piece", "too-long")
"""Why an item has no score: the tokenizer drops the target or the attribute; one of them has a piece that stands for
what the tokenizer does not know; one piece belongs to both; the model cannot read so long a sentence."""

ITEMS_SCHEMA: Mapping[str, type[pl.DataType]] = {
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
    model: str | Path | Scorer,
    items: Iterable[LogProbabilityItem | tuple[str, Span, Span]],
    *,
    pieces: str = "all",
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "auto",
    options: ModelOptions = NO_OPTIONS,
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
        One row an item, in order; columns `ITEMS_SCHEMA`.

    Raises:
        InputError: no encoder, or one without a mask piece; an item that is not (text, target, attribute), or whose
            target and attribute overlap or lie outside its text; an unknown way to score pieces.
    """
    listed = _checked(items, pieces)
    if isinstance(model, str | Path):
        from prasanga.likelihoods.engine import load_scorer  # here, because it needs torch

        model = load_scorer(model, revision=revision, device=device, dtype=dtype, options=options)
    scores = score_items(model, listed, pieces=pieces)
    rows = [
        (
            *(item.text, item.text[slice(*item.target)], item.text[slice(*item.attribute)]),
            *(score.fill, score.prior, score.corrected, score.n_pieces, score.n_attribute_pieces),
            *(score.left_out, _word_left_out(item, score), pieces, str(model.name)),
        )
        for item, score in zip(listed, scores, strict=True)
    ]
    return pl.DataFrame(rows, schema=dict(ITEMS_SCHEMA), orient="row")


class KnownScores(NamedTuple):
    """Scores of sentences, in the place of the model that gave them."""

    name: str
    scores: Mapping[LogProbabilityItem, Score]


def score_items(
    scorer: Scorer | KnownScores, items: Iterable[LogProbabilityItem], *, pieces: str = "all"
) -> list[Score]:
    """Return the score of each item, in order, and log which are left out.

    Raises:
        InputError: as `score_log_probability` does.
    """
    items = _checked(items, pieces)
    if isinstance(scorer, KnownScores):
        scores = [scorer.scores[item] for item in items]
    else:
        scores = ask_items(scorer, items, pieces=pieces)
    _tell(scorer.name, items, dict(zip(items, scores, strict=True)), pieces)
    return scores


def ask_items(scorer: Scorer, items: Sequence[LogProbabilityItem], *, pieces: str) -> list[Score]:
    """Return the score of each item, in order; masked sentences are made as they are asked for (`in_parts`).

    Raises:
        InputError: another kind of model than an encoder, or one without a mask piece.
    """
    from prasanga.likelihoods.engine import answers, masked_queries  # here, because it needs torch

    mask = require_mask(scorer)
    read = read_pieces(scorer.tokenizer, (item.text for item in items))
    found: dict[LogProbabilityItem, Score] = {}
    different = list(dict.fromkeys(items))

    def queries() -> Iterator[Sequence[Query]]:
        for item in different:
            masked = partial(masked_queries, read[item.text], item.target, mask, how=pieces)
            found[item], asked = _prepared(item, read[item.text], scorer, masked)
            yield asked

    what = f"scoring words in sentences by {scorer.name}"
    for number, values in answers(scorer.log_probabilities, queries(), len(different), what):
        sums = [float(each.sum()) for each in values]
        half = len(sums) // 2  # fill and prior take as many queries
        item = different[number]
        found[item] = found[item]._replace(fill=sum(sums[:half]), prior=sum(sums[half:]))
    return [found[item] for item in items]


def require_mask(scorer: Scorer) -> int:
    """Return the mask piece of an encoder.

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
    """Return an item with spans of plain whole numbers, which a list or an array may have held."""
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
    item: LogProbabilityItem, read: Pieces, scorer: Scorer, masked: Callable[..., list[Query]]
) -> tuple[Score, Sequence[Query]]:
    """Return an item's score so far, and the queries for fill, then prior; none where it is left out."""
    target, attribute = overlapping(read, *item.target), overlapping(read, *item.attribute)
    score = Score(None, None, len(target), len(attribute))
    roles = (("target", target), ("attribute", attribute))
    for role, positions in roles:
        if not positions:
            return score._replace(left_out="dropped-word", left_out_role=role), ()
    for role, positions in roles:
        if any(read.ids[position] in scorer.unknown for position in positions):
            return score._replace(left_out="unknown-piece", left_out_role=role), ()
    if set(target) & set(attribute):
        return score._replace(left_out="shared-piece"), ()
    fill, prior = masked(), masked(hidden=[item.attribute])
    limit = scorer.max_pieces
    if limit is not None and max(len(query.ids) for query in (*fill, *prior)) > limit:
        return score._replace(left_out="too-long"), ()
    return score, (*fill, *prior)


def _word_left_out(item: LogProbabilityItem, score: Score) -> str | None:
    span = {"target": item.target, "attribute": item.attribute}.get(score.left_out_role or "")
    return None if span is None else item.text[slice(*span)]


def _tell(
    model: str, items: Sequence[LogProbabilityItem], found: Mapping[LogProbabilityItem, Score], pieces: str
) -> None:
    """Log which items are left out, and which attributes one mask hides whatever their length."""
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


# --------------------
# Scores of sentences from those of the terms that stand in them, and how they move when the terms change.
#
# A set of terms has one score in a sentence. With `log-sum-exp` the terms' probabilities are added, fill and prior
# alike, and the logarithm of the ratio is taken; with `mean` the corrected scores, which are logarithms, are
# averaged:
#
#     log-sum-exp    log(sum of p_target over the terms) - log(sum of p_prior over the terms)
#     mean           mean over the terms of log(p_target / p_prior)
#
# The score of a sentence is that of the first set minus that of the second. Words of the attributes, with all their
# sentences, are what the test permutes; terms may be resampled, dealt anew or left out, and are then counted anew:
# what counts twice has twice the probability.


TERMS = ("log-sum-exp", "mean")
"""How the terms of a set become one score (`log_probability.terms`)."""

SCORE_NOISE = 1e-5
"""Models say their log-probabilities to some 1e-6: a spread of scores as small as this is rounding."""

_RELATIVE_NOISE = 1e-13
"""A spread of sums as small as this, relative to the largest score, is rounding."""

_BLOCK = 2**21  # numbers of one block of replicates


def combined(scores: npt.ArrayLike, terms: str = "log-sum-exp") -> float:
    """Return one score of several terms, from their log-probabilities (n,): of their sum, or the mean of them."""
    array = np.asarray(scores, dtype=np.float64)
    choice("log_probability.terms", terms, TERMS)
    return float(array.mean() if terms == "mean" else _log_sum(array[None], np.ones((1, array.size)))[0, 0])


@dataclass(frozen=True, eq=False)
class TermScores:
    """Log-probabilities of all terms in all sentences of a category.

    Attributes:
        fill: (n_sentences, n_terms); sentences of the first attribute set before those of the second, terms of the
            first target set before those of the second.
        prior: the same, with the attribute masked as well.
        words: (n_sentences,) the attribute word of each sentence, those of the first set numbered first.
        n_first: terms of the first target set.
        n_a: words of the first attribute set; likewise `n_b` of the second.
        terms: log-sum-exp or mean.
    """

    fill: FloatArray
    prior: FloatArray
    words: npt.NDArray[np.int64]
    n_first: int
    n_a: int
    n_b: int
    terms: str = "log-sum-exp"

    @property
    def n_terms(self) -> int:
        """Terms of both sets."""
        return int(self.fill.shape[1])

    @property
    def n_words(self) -> int:
        """Attribute words of both sets."""
        return self.n_a + self.n_b

    @cached_property
    def sentence_scores(self) -> FloatArray:
        """(n_sentences,), the score of the first set minus that of the second."""
        return np.asarray(self.scores_of(np.ones((1, self.n_terms)))[0])

    def set_scores(self, which: str) -> tuple[FloatArray, FloatArray]:
        """Return (n_sentences,) of each set: `fill`, `prior`, or `corrected`, their difference."""
        if which == "corrected":
            fill, prior = self.set_scores("fill"), self.set_scores("prior")
            return fill[0] - prior[0], fill[1] - prior[1]
        scores = getattr(self, which)
        first, second = (self._combined(part, np.ones((1, part.shape[1])))[0] for part in self._sides(scores))
        return first, second

    def scores_of(self, counts: Counts) -> FloatArray:
        """Return (n_replicates, n_sentences) scores with the terms counted as (n_replicates, n_terms) says."""
        return self._of_sides(self._sides(self.fill), self._sides(self.prior), self._sides(counts))

    def dealt(self, in_first: npt.NDArray[np.bool_]) -> FloatArray:
        """Return (n_replicates, n_sentences) scores with the terms dealt into two sets, (n_replicates, n_terms)."""
        first = in_first.astype(np.float64)
        return self._of_sides((self.fill, self.fill), (self.prior, self.prior), (first, 1 - first))

    def crossed_scores(self) -> CrossedScores:
        """Return the scores of sentences with terms, in nats.

        X and Y are the two attribute sets, each word with its sentences, A and B the two target sets. With `mean` the
        values are the terms' corrected scores. With `log-sum-exp` they are each term's share in the score,
        s + n (p_fill / sum of p_fill - p_prior / sum of p_prior) for a set of n terms with score s: their mean is the
        score, and to first order they say how it moves when terms are counted again (empirical influence values, Efron
        1982).
        """
        parts = []
        for fill, prior in zip(self._sides(self.fill), self._sides(self.prior), strict=True):
            if self.terms == "mean":
                parts.append(fill - prior)
            else:
                ones = np.ones((1, fill.shape[1]))
                score = self._combined(fill, ones)[0] - self._combined(prior, ones)[0]
                parts.append(score[:, None] + fill.shape[1] * (_shares(fill) - _shares(prior)))
        values = np.concatenate(parts, axis=1)
        noise = _RELATIVE_NOISE * float(np.abs(values).max())
        sizes = (self.n_a, self.n_b, self.n_first, self.n_terms - self.n_first)
        return CrossedScores(values[None], self.words, np.arange(self.n_terms), *sizes, noise)

    def effects(
        self,
        word_counts: Counts | None = None,
        term_counts: Counts | None = None,
        std: str = "union_ddof1",
        *,
        template_counts: Counts | None = None,
        places: npt.NDArray[np.int64] | None = None,
    ) -> FloatArray:
        """Return (n_replicates,) effect sizes with attribute words and terms counted several times or not at all.

        Every word weighs the same, however many sentences it has, as in `CrossedScores.effects`, which this equals for
        `mean`; NaN where an effect does not exist. With `template_counts`, (n_replicates, n_templates), templates are
        counted as well, and `places` has that of each sentence, (n_sentences,) from 0.
        """
        choice("std", std, STD_CONVENTIONS)
        of_sentence = np.zeros(len(self.fill), dtype=np.int64) if places is None else places

        def effects(words: Counts, terms: Counts, templates: Counts) -> FloatArray:
            weights = item_counts(self.words, of_sentence, words, templates)
            return effects_of_items(self.scores_of(terms), weights, self.words < self.n_a, std)

        sizes = ((word_counts, self.n_words), (term_counts, self.n_terms), (template_counts, 1))
        counts = [np.ones((1, n)) if given is None else np.asarray(given, dtype=np.float64) for given, n in sizes]
        return in_blocks(effects, counts, len(self.fill))

    def without_each(self, std: str = "union_ddof1") -> FloatArray:
        """Return the effect without each attribute word, then without each term, (n_words + n_terms,).

        It is NaN where there is none.
        """
        kept = 1.0 - np.eye(self.n_words + self.n_terms)
        return self.effects(kept[:, : self.n_words], kept[:, self.n_words :], std)

    def shuffled(self, n_shuffles: int, rng: np.random.Generator, std: str = "union_ddof1") -> ShuffledControl:
        """Return a null control as `shuffled_control` of associations: terms dealt anew, over the real sets' spread.

        If an effect belongs to what the two target sets mean, it should vanish when their terms are mixed.
        """
        observed = float(self.effects(std=std)[0])
        spread = self._difference(self.sentence_scores[None])[0] / observed
        effects = self._difference(self.dealt(self._deal(n_shuffles, rng))) / spread
        return ShuffledControl.of(effects, abs(observed))

    def test_terms(self, settings: TestSettings, rng: np.random.Generator) -> PermutationTest:
        """Test whether other terms would do, by dealing them into sets of the same sizes.

        Their probabilities are added anew in each deal. All deals are counted if they are no more than would be drawn.
        """
        total = math.comb(self.n_terms, self.n_first)
        if exact := total <= settings.n_permutations:
            in_first = np.zeros((total, self.n_terms), dtype=bool)
            for row, first in zip(in_first, combinations(range(self.n_terms), self.n_first), strict=True):
                row[list(first)] = True
        else:
            in_first = self._deal(settings.n_permutations, rng)
        rows = max(1, _BLOCK // len(self.fill))
        dealt = np.concatenate(
            [self._difference(self.dealt(in_first[start : start + rows])) for start in range(0, len(in_first), rows)]
        )
        observed = float(self._difference(self.sentence_scores[None])[0])
        return test_of_statistics(dealt, observed, total, settings.alternative, exact=exact)

    def term_associations(self) -> FloatArray:
        """Return the association of each term, (n_terms,).

        It is the term's mean corrected score over the first attribute set's words minus that over the second's.
        """
        return np.asarray(self._difference((self.fill - self.prior).T))

    def _deal(self, n: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Return (n, n_terms), which terms are in the first set, in n deals."""
        return np.asarray(rng.permuted(np.tile(np.arange(self.n_terms), (n, 1)), axis=1) < self.n_first)

    def _sides(self, array: FloatArray) -> tuple[FloatArray, FloatArray]:
        return array[:, : self.n_first], array[:, self.n_first :]

    def _of_sides(self, *sides: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return the first set's score minus the second's, from fill, prior and counts of both."""
        first, second = (
            self._combined(fill, counts) - self._combined(prior, counts)
            for fill, prior, counts in zip(*sides, strict=True)
        )
        return first - second

    def _combined(self, scores: FloatArray, counts: Counts) -> FloatArray:
        """Return (n_replicates, n_sentences) from the (n_sentences, n) log-probabilities of a set's terms."""
        if self.terms == "mean":
            with np.errstate(invalid="ignore"):
                return np.asarray(counts @ scores.T / counts.sum(axis=1, keepdims=True))
        return _log_sum(scores, counts)

    @cached_property
    def _by_word(self) -> FloatArray:
        """(n_sentences, n_words): 1 where a sentence is the word's, divided by how many are."""
        belongs = self.words[:, None] == np.arange(self.n_words)
        return np.asarray(belongs / belongs.sum(axis=0))

    def _difference(self, scores: FloatArray) -> FloatArray:
        """Return (n,) mean over the words of the first attribute set minus the second's, of (n, n_sentences) scores."""
        of_words = scores @ self._by_word
        return np.asarray(of_words[:, : self.n_a].mean(axis=1) - of_words[:, self.n_a :].mean(axis=1))


def _log_sum(scores: FloatArray, counts: Counts) -> FloatArray:
    """Return the logarithm of the sum of counts times exponentials of scores, (n_replicates, n_sentences).

    `scores` is (n_sentences, n).
    """
    largest = scores.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(counts @ np.exp(scores - largest[:, None]).T) + largest
    return np.asarray(np.where(np.isfinite(logs), logs, np.nan))


def _shares(scores: FloatArray) -> FloatArray:
    """Return (n_sentences, n) shares of the terms in the sum of their probabilities."""
    probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))
