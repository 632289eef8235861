"""Log-probability bias of categories of words (Sadhu et al. 2024, section 3.3 and the last column of Table 4)."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from prasanga.associations.estimates import (
    NO_INTERVAL_ASKED,
    Category,
    TestSettings,
    describe_category,
    difference_of,
    find_small_set,
    interval_of,
    measure_cosines,
    measure_templates,
    range_columns,
    test_words,
    word_rows,
)
from prasanga.base.seeds import generator
from prasanga.likelihoods.templates import read_categories
from prasanga.schema import TABLES
from prasanga.schema.registry import Loss, Reason, describe_missing_effect
from prasanga.stats.controls import ShuffledControl
from prasanga.stats.crossed import Counts, CrossedScores, effects_of_items, in_blocks, item_counts
from prasanga.stats.effects import STD_CONVENTIONS, ConstantScoresError, FloatArray, IndexArray, choice
from prasanga.stats.permutation import PermutationTest, permutation_test_of_scores, test_of_statistics

# --------------------
# Scores of sentences from those of the terms in them, and how they move when the terms change.
#
# A set of terms has one score in a sentence. With `log-sum-exp` the terms' probabilities are added, fill and prior
# alike, and the logarithm of the ratio is taken; with `mean` the corrected scores, which are logarithms, are
# averaged:
#
#     log-sum-exp    log(sum of p_target over the terms) - log(sum of p_prior over the terms)
#     mean           mean over the terms of log(p_target / p_prior)
#
# The score of a sentence is that of the first set minus that of the second. The test permutes words of the attributes,
# with all their sentences. Terms may be resampled, dealt into other sets or left out, and are then counted again: a
# term that counts twice has twice the probability.


TERMS = ("log-sum-exp", "mean")
"""How the terms of a set become one score (`log_probability.terms`)."""

SCORE_NOISE = 1e-5
"""Models give log-probabilities to about 1e-6: a spread of scores as small as this is rounding."""

_RELATIVE_NOISE = 1e-13
"""A spread of sums as small as this, relative to the largest score, is rounding."""

_BLOCK = 2**21  # numbers of one block of replicates


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
    words: IndexArray
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

    def set_columns(self) -> dict[str, FloatArray]:
        """Return (n_sentences,) scores: `fill`, `prior` and `corrected` of both sets, x and y, and their `score`."""
        columns: dict[str, FloatArray] = {}
        for name, side in zip("xy", self._sides, strict=True):
            ones = np.ones((1, self.fill[:, side].shape[1]))
            fill, prior = (self._combine(scores[:, side], ones)[0] for scores in (self.fill, self.prior))
            columns |= {f"fill_{name}": fill, f"prior_{name}": prior, f"corrected_{name}": fill - prior}
        return {**columns, "score": self.sentence_scores}

    def scores_of(self, counts: Counts) -> FloatArray:
        """Return (n_replicates, n_sentences) scores with the terms counted as (n_replicates, n_terms) says."""
        first, second = (self._score(self.fill[:, side], self.prior[:, side], counts[:, side]) for side in self._sides)
        return first - second

    def dealt(self, in_first: npt.NDArray[np.bool_]) -> FloatArray:
        """Return (n_replicates, n_sentences) scores with the terms dealt into two sets, (n_replicates, n_terms)."""
        first = in_first.astype(np.float64)
        return self._score(self.fill, self.prior, first) - self._score(self.fill, self.prior, 1 - first)

    def crossed_scores(self) -> CrossedScores:
        """Return the scores of sentences with terms, in nats.

        X and Y are the two attribute sets, each word with its sentences, A and B the two target sets. With `mean` the
        values are the terms' corrected scores. With `log-sum-exp` they are each term's share in the score,
        s + n (p_fill / sum of p_fill - p_prior / sum of p_prior) for a set of n terms with score s: their mean is the
        score, and to first order they say how it moves when terms are counted again (empirical influence values, Efron
        1982).
        """
        parts = []
        for side in self._sides:
            fill, prior = self.fill[:, side], self.prior[:, side]
            if self.terms == "mean":
                parts.append(fill - prior)
            else:
                score = self._score(fill, prior, np.ones((1, fill.shape[1])))[0]
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
        places: IndexArray | None = None,
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
        """Return the effect without each attribute word, then without each term, (n_words + n_terms,), NaN for none."""
        kept = 1.0 - np.eye(self.n_words + self.n_terms)
        return self.effects(kept[:, : self.n_words], kept[:, self.n_words :], std)

    def shuffled(self, n_shuffles: int, rng: np.random.Generator, std: str = "union_ddof1") -> ShuffledControl:
        """Return a null control as `shuffled_control` of associations: terms dealt at random, over the real spread.

        If an effect belongs to what the two target sets mean, it should vanish when their terms are mixed.
        """
        observed = float(self.effects(std=std)[0])
        spread = self._difference(self.sentence_scores[None])[0] / observed
        effects = self._difference(self.dealt(self._deal(n_shuffles, rng))) / spread
        return ShuffledControl.of(effects, abs(observed))

    def test_terms(self, settings: TestSettings, rng: np.random.Generator) -> PermutationTest:
        """Test whether other terms would do, by dealing them into sets of the same sizes.

        Their probabilities are added again in each deal. All deals are counted if they are no more than would be drawn.
        """
        total = math.comb(self.n_terms, self.n_first)
        if exact := total <= settings.n_permutations:
            in_first = np.zeros((total, self.n_terms), dtype=bool)
            for row, first in zip(in_first, combinations(range(self.n_terms), self.n_first), strict=True):
                row[list(first)] = True
        else:
            in_first = self._deal(settings.n_permutations, rng)
        rows = max(1, _BLOCK // len(self.fill))
        starts = range(0, len(in_first), rows)
        dealt = np.concatenate([self._difference(self.dealt(in_first[start : start + rows])) for start in starts])
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

    @property
    def _sides(self) -> tuple[slice, slice]:
        return slice(None, self.n_first), slice(self.n_first, None)

    def _score(self, fill: FloatArray, prior: FloatArray, counts: Counts) -> FloatArray:
        return self._combine(fill, counts) - self._combine(prior, counts)

    def _combine(self, scores: FloatArray, counts: Counts) -> FloatArray:
        """Return (n_replicates, n_sentences) from the (n_sentences, n) log-probabilities of a set's terms."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.terms == "mean":
                return np.asarray(counts @ scores.T / counts.sum(axis=1, keepdims=True))
            largest = scores.max(axis=1)
            logs = np.log(counts @ np.exp(scores - largest[:, None]).T) + largest
        return np.asarray(np.where(np.isfinite(logs), logs, np.nan))

    def _difference(self, scores: FloatArray) -> FloatArray:
        """Return (n,) mean over the words of the first attribute set minus the second's, of (n, n_sentences) scores."""
        belongs = self.words[:, None] == np.arange(self.n_words)
        of_words = scores @ (belongs / belongs.sum(axis=0))
        return np.asarray(of_words[:, : self.n_a].mean(axis=1) - of_words[:, self.n_a :].mean(axis=1))


def _shares(scores: FloatArray) -> FloatArray:
    """Return (n_sentences, n) shares of the terms in the sum of their probabilities."""
    probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


# --------------------
# Log-probability bias of the categories C1 to C9 (Sadhu et al. 2024, section 3.3 and the last column of Table 4).
#
# A sentence is a template with an attribute word in it. Its score s is the corrected score of the first target set
# minus that of the second, each over its terms (`TermScores`). With A and B the attribute sets,
#
#     d = (mean of s over the sentences of A - mean of s over those of B) / standard deviation of s over both
#
# The sentences of a word are nearly the same sentence, so the test moves an attribute word with all its sentences
# (`p_stimuli`). The program of the paper moves single sentences (`p_sentences`); that p is below .05 far too often
# where there is no effect. Everything else is as for SEAT, with the roles of targets and attributes exchanged:
# intervals resample attribute words, and the terms of the targets, and `p_attributes` deals these terms.
#
# Effect and test come from `measure_cosines`, with the attribute words, and their sentences as items, in the place
# of its targets. What depends on the terms - the interval, dealt terms, the effect without one of them - is linear
# in them for the mean only; for log-sum-exp it is computed from counted terms (`TermScores`). There the studentized
# interval takes the terms' shares to first order.


LOG_PROBABILITY_SCHEMA = TABLES["log_probability"].arrow()
"""Columns of the table of estimates, those of SEAT as far as they mean the same.

Sets are given as they were measured: with `exchanged`, those of the category's attributes are the targets. `p_stimuli`
moves attribute words, `p_attributes` the terms of the targets, `p_sentences` sentences. `masked_as_one` names the
attributes of several pieces that one mask hid (`pieces` first).
"""
WORDS_SCHEMA = TABLES["log_probability_words"].arrow()
"""Columns of the table of words. Of an attribute (a, b) the association is the mean of s over its sentences; of a
target (x, y) its mean corrected score in the sentences of A minus that in those of B."""

SENTENCES_SCHEMA = TABLES["log_probability_sentences"].arrow()
"""Columns of the table of sentences, one row per template and attribute word. `text` has the first target in it,
`n_pieces` is the number of pieces of all targets together, `score` is s."""

_SENTENCE = ("attribute_word", "template")
_LOG = logging.getLogger(__name__)


class CategoryTables(NamedTuple):
    """The measures of one model, or of its twins with the column `twin`."""

    estimates: pa.Table
    """`LOG_PROBABILITY_SCHEMA`"""
    words: pa.Table
    """`WORDS_SCHEMA`"""
    sentences: pa.Table
    """`SENTENCES_SCHEMA`"""
    templates: pa.Table
    """`TEMPLATES_SCHEMA`"""


def measure_categories(
    scored: pl.DataFrame,
    categories: Mapping[str, Mapping[str, Any]],
    *,
    model: str,
    settings: TestSettings,
    exchanged: Collection[str] = (),
    pieces: str = "all",
    terms: str = "log-sum-exp",
    seed: int = 47,
) -> CategoryTables:
    """Return the log-probability bias of all categories in one model, or in each of its twins.

    Args:
        scored: `templates.CATEGORY_SENTENCES` with the columns `log_probability.SCORES`; of twins also `twin`.
        categories: names to the layout of `categories.json`.
        model: its name, for the tables.
        settings: how effects are tested.
        exchanged: categories whose targets and attributes change places.
        pieces: how a target of several pieces is scored (`log_probability`).
        terms: how the terms of a set become one score (`TERMS`).
        seed: of the study.

    Returns:
        A row per category; one per category and word; one per category, template and attribute word; one per category
        and template. A target that the model cannot score in some template is left out altogether, an attribute word or
        sentence by itself, each listed in `lost`; a category that cannot be computed is a row without numbers that
        says why.

    Raises:
        InputError: an unknown way to combine terms.
    """
    choice("log_probability.terms", terms, TERMS)
    twins = scored["twin"].unique().sort().to_list() if "twin" in scored.columns else [None]
    schemas = LOG_PROBABILITY_SCHEMA, WORDS_SCHEMA, SENTENCES_SCHEMA, TABLES["seat_templates"].arrow()
    tables: tuple[list[dict[str, Any]], ...] = ([], [], [], [])
    for twin in twins:
        rows = scored if twin is None else scored.filter(twin=twin)
        for category in read_categories(categories, exchanged):
            conventions = {"exchanged": category.name in exchanged, "pieces": pieces, "terms": terms}
            key = {"category": category.name, "model": model, "twin": twin}
            found = _measure(category, rows.filter(category=category.name), model, settings, conventions, seed)
            for table, more in zip(tables, found, strict=True):
                table += ({**key, **row} for row in more)
    if twins != [None]:
        schemas = tuple(schema.append(pa.field("twin", pa.int64())) for schema in schemas)
    return CategoryTables(*map(pa.Table.from_pylist, tables, schemas))


def _find_usable(
    category: Category, scored: pl.DataFrame, terms: str
) -> tuple[tuple[list[str], list[str], list[str], list[str]], pl.DataFrame, TermScores | None, list[Loss]]:
    """Return which targets have a score in every sentence, and the sentences in which all of these have one.

    The score of a sentence is that of a set of terms, which must be the same in all sentences: a target with an unknown
    piece in one template is left out of all. An attribute word, or a sentence that is too long, is left out by itself.

    Returns:
        The words of X, Y, A and B that are left. One row per attribute word and template, with `is_usable`, whether all
        targets that are left have a score, and `left_out`, why not. The scores of the targets in the usable sentences,
        None where a set has no word. What was left out.
    """
    role = pl.col("left_out_role")
    word = pl.when(role == "target").then("target_word").when(role == "attribute").then("attribute_word")
    reasons = pl.col("left_out").drop_nulls().unique(maintain_order=True).str.join(", ")
    blamed = scored.filter(role.is_not_null()).group_by(word.alias("word"), maintain_order=True)
    unscored = dict(blamed.agg(reasons).iter_rows())
    targets, attributes = (
        [word for word in dict.fromkeys(first + second) if word not in unscored]
        for first, second in (category.sets[:2], category.sets[2:])
    )
    known = scored.filter(pl.col("target_word").is_in(targets))
    sentences = scored.group_by(_SENTENCE, maintain_order=True).agg(pl.col("text", "n_attribute_pieces").first())
    of_sentence = known.group_by(_SENTENCE).agg(pl.col("n_pieces").sum(), reasons)
    sentences = sentences.join(of_sentence, on=_SENTENCE, how="left", maintain_order="left").with_columns(
        pl.col("n_pieces").fill_null(0), pl.col("left_out").fill_null("")
    )
    sentences = sentences.with_columns(
        is_usable=pl.col("attribute_word").is_in(attributes) & (pl.col("left_out") == ""),
        left_out=pl.col("attribute_word").replace_strict(unscored, default=pl.col("left_out"), return_dtype=pl.String),
    )
    usable = sentences.filter("is_usable")
    lost = [category.lose(word, Reason.NO_SCORE, found) for word, found in unscored.items()]
    n_templates, n_of = scored["template"].n_unique(), dict(usable["attribute_word"].value_counts().iter_rows())
    for attribute in attributes:
        if (n := n_of.get(attribute, 0)) < n_templates:
            found = known.filter(attribute_word=attribute).select(reasons).item()
            lost.append(category.lose(attribute, Reason.IN_PART, f"{n} of its {n_templates} sentences ({found})"))
    x, y = ([word for word in targets if word in side] for side in category.sets[:2])
    a, b = ([word for word in attributes if word in side and word in n_of] for side in category.sets[2:])
    if not all((len(usable), x, y, a, b)):
        return (x, y, a, b), sentences, None, lost
    scores = known.join(usable, on=_SENTENCE, how="semi", maintain_order="left")
    order = [targets.index(word) for word in x + y]
    fill, prior = (scores[name].to_numpy().reshape(len(usable), len(targets))[:, order] for name in ("fill", "prior"))
    number = {word: i for i, word in enumerate(a + b)}
    words = np.array([number[word] for word in usable["attribute_word"]], dtype=np.int64)
    return (x, y, a, b), sentences, TermScores(fill, prior, words, len(x), len(a), len(b), terms), lost


def _measure(
    category: Category,
    scored: pl.DataFrame,
    model: str,
    settings: TestSettings,
    conventions: Mapping[str, Any],
    seed: int,
) -> tuple[list[dict[str, Any]], ...]:
    """Return the row of a category, those of its words, of its sentences, and of its templates."""
    words, sentences, terms, lost = _find_usable(category, scored, conventions["terms"])
    usable = sentences.filter("is_usable")
    numbers: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    templates: list[dict[str, Any]] = []
    # attribute words are what the test permutes, so that there must be two of each set
    if small := find_small_set(category, words, needed="1122", words="words"):
        lost.append(small)
        _LOG.warning("%s, %s: not computed: %s", model, category.name, describe_missing_effect([small.columns()]))
    elif terms is not None:
        try:
            names = usable["template"].to_list()
            numbers, rows, templates = _measure_terms(category, model, words, terms, names, settings, seed)
        except ConstantScoresError as error:
            lost.append(Loss(None, None, Reason.EQUAL_SCORES, str(error)))
    one_mask = scored.filter(pl.col("n_attribute_pieces") > 1)["attribute_word"].unique(maintain_order=True)
    one_mask = one_mask if conventions["pieces"] == "first" else one_mask.clear()
    n_a = usable["attribute_word"].is_in(words[2]).sum()
    estimate = {
        **describe_category(category, words, lost),
        **numbers,
        "n_sentences_a": n_a,
        "n_sentences_b": len(usable) - n_a,
        "n_templates": scored["template"].n_unique(),
        "n_masked_as_one": len(one_mask),
        "masked_as_one": ", ".join(one_mask),
        **conventions,
        **settings.conventions(),
        "seed": seed,
    }
    sentences = sentences.with_columns(
        attribute="attribute_word",
        role=pl.when(pl.col("attribute_word").is_in(category.sets[2])).then(pl.lit("a")).otherwise(pl.lit("b")),
        left_out=pl.when(pl.col("left_out") == "").then(pl.lit("no target left")).otherwise("left_out"),
    )
    if terms is not None:
        scores = usable.select(_SENTENCE).with_columns(**terms.set_columns())
        sentences = sentences.join(scores, on=_SENTENCE, how="left", maintain_order="left")
        sentences = sentences.with_columns(left_out=pl.when(~pl.col("is_usable")).then("left_out"))
    return [estimate], rows, sentences.to_dicts(), templates


def _measure_terms(
    category: Category,
    model: str,
    words: tuple[list[str], list[str], list[str], list[str]],
    terms: TermScores,
    templates: Sequence[str],
    settings: TestSettings,
    seed: int,
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the columns of the estimate, the rows of words, and those of templates.

    Args:
        category: as it is measured.
        model: its name.
        words: X, Y, A and B that are left.
        terms: their scores.
        templates: (n_sentences,), that of each sentence.
        settings: how the effect is tested.
        seed: of the study.

    Raises:
        ConstantScoresError: all sentences have the same score.
    """
    if float(terms.sentence_scores.std()) <= SCORE_NOISE:
        raise ConstantScoresError("all sentences have the same score, so that there is no effect size")
    crossed = terms.crossed_scores()
    x, y, a, b = words
    permuted, names = (a, b, x, y), ("log_probability", model)
    linear = terms.terms == "mean"
    tests = test_words(crossed, settings, category=category.name, seed=seed, names=names)
    if not linear:
        rng = generator(seed, "p_attributes", *names, category.name)
        tests = tests._replace(attributes=terms.test_terms(settings, rng))
    known = measure_cosines(
        crossed,
        settings if linear else replace(settings, n_resamples=0, n_shuffles=0),
        category=category.name,
        words=permuted,
        seed=seed,
        names=names,
        tests=tests,
    )
    columns, without = dict(known.columns), known.without
    if not linear:
        without = terms.without_each(settings.std)
        columns |= range_columns("leave_out", without)
        columns |= interval_of_terms(terms, crossed, category.name, permuted, settings, seed)
        if settings.n_shuffles:
            rng = generator(seed, "shuffles", *names, category.name)
            columns |= terms.shuffled(settings.n_shuffles, rng, settings.std).columns()
    columns["difference"] = difference_of(crossed)
    of_a = terms.words < terms.n_a
    columns["p_sentences"] = permutation_test_of_scores(
        terms.sentence_scores[of_a],
        terms.sentence_scores[~of_a],
        alternative=settings.alternative,
        n_resamples=settings.n_permutations,
        rng=generator(seed, "p_sentences", *names, category.name),
        statistic="difference",
    ).p_value
    place_of = {name: place for place, name in enumerate(dict.fromkeys(templates))}
    places = np.array([place_of[name] for name in templates])
    of_templates, template_rows = measure_templates(
        lambda words, terms_, counts, std: terms.effects(words, terms_, std, template_counts=counts, places=places),
        list(place_of),
        crossed,
        settings,
        category=category.name,
        words=permuted,
        seed=seed,
    )
    columns |= of_templates
    names_x, names_y, names_a, names_b = category.set_names
    set_names = (names_a, names_b, names_x, names_y)
    for note in ("interval_note", "templates_note"):
        columns[note] = columns[note] and _name_sets(columns[note], set_names)
    rows = word_rows(crossed, permuted, set_names, without)
    for row, association in zip(rows[terms.n_words :], terms.term_associations(), strict=True):
        row |= {"association": float(association), "n_items": len(terms.words)}
    for row in rows:
        row["role"] = {"x": "a", "y": "b", "a": "x", "b": "y"}[row["role"]]
    return columns, [*rows[terms.n_words :], *rows[: terms.n_words]], template_rows


def interval_of_terms(
    terms: TermScores,
    crossed: CrossedScores,
    category: str,
    words: tuple[list[str], list[str], list[str], list[str]],
    settings: TestSettings,
    seed: int,
) -> dict[str, Any]:
    """Return the interval, from replicates in which the terms' probabilities are added again."""
    if not settings.n_resamples:
        return {"interval_note": NO_INTERVAL_ASKED}
    resampling = settings.resampled(words, 1, seed=seed, category=category)
    replicates = terms.effects(resampling.target_counts, resampling.attribute_counts, settings.std)
    return interval_of(crossed, resampling, replicates, settings)


def _name_sets(note: str, set_names: Sequence[str]) -> str:
    """Return a note on the sets X to B of `measure_cosines` with the names of the category's sets."""
    names = dict(zip("XYAB", set_names, strict=True))
    return re.sub(r"\bset ([XYAB])\b", lambda found: f"the set {names[found[1]]}", note)
