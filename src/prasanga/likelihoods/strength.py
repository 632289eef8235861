"""The strength of bias that a study could have found, from studies simulated with its own scores of terms or pairs.

As for vectors (`prasanga.associations.strength`), with attribute words as targets and terms as attributes. A shift is
added to the association of an attribute word: half of it to the fill log-probabilities of the first set's terms in its
sentences, and minus half to the second set's. Probabilities of either set change by one factor, so scores move by
exactly the shift, also without some of the terms. This is not so for terms dealt into other sets, so probabilities are
added again there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from numpy.polynomial.chebyshev import chebpts1, chebvander

from prasanga.base.seeds import generator
from prasanga.likelihoods.bias import LabelCounts, balance, label_p_value, why_not_found
from prasanga.likelihoods.categories import TermScores, read_categories
from prasanga.pairs.preferences import LABELS, OVERALL, add_differences
from prasanga.schema import TABLES
from prasanga.stats.effects import FloatArray, IndexArray
from prasanga.stats.intervals import FEWEST_TEMPLATES, BesideTwins, judge_difference, moderate_deviations
from prasanga.stats.permutation import ALPHA, Flags, Units
from prasanga.stats.strength import (
    Judge,
    Measured,
    Rule,
    Studies,
    describe_shifts,
    divide_by_length,
    find_level,
    find_scatter,
    spread_within,
)

_BLOCK = 2**21  # numbers of one block of deals

_NODES = chebpts1(15)
"""Nodes of the interpolation of associations, to 1e-6 nats or better within 3 nats."""

_TIE = 1e-5
"""Statistics of deals closer than this, relative to the largest, are ties."""


class TermStudies(Studies):
    """Simulated studies with the scores of a category.

    Args:
        scores: of the model.
        places: (n_sentences,) the template of each sentence, from 0.
        copies: scores of each random-weight copy, in the same sentences.
        units: of the attribute words, and of the terms.
        spelled: characters of each attribute word, (n_words,), and of each term, (n_terms,).
        rule: of a finding.
        rng: draws labels.
    """

    def __init__(
        self,
        scores: TermScores,
        places: IndexArray,
        copies: Sequence[TermScores],
        units: tuple[Units, Units],
        spelled: tuple[FloatArray, FloatArray],
        rule: Rule,
        rng: np.random.Generator,
    ) -> None:
        n_templates = int(places.max()) + 1
        super().__init__(units, n_templates if n_templates >= FEWEST_TEMPLATES else 0, rule, rng)
        self._scores, self._copies, self._spelled = scores, copies, spelled
        self._signs = np.where(np.arange(scores.n_attributes) < scores.n_first, 0.5, -0.5)
        self._scatter = [find_scatter(each.crossed_scores(), rule.std) for each in (scores, *copies)]
        self._n_items = len(places) / scores.n_targets
        belongs = (scores.words[:, None] == np.arange(scores.n_targets)).astype(np.float64)
        left = [belongs * (places != place)[:, None] for place in range(self.n_templates)]
        # a word without other sentences keeps its own
        weights = [belongs, *(np.where(each.any(axis=0), each, belongs) for each in left)]
        self._averages = np.array([each / each.sum(axis=0) for each in weights])
        self._corrected = self._averages[0].T @ (scores.fill - scores.prior)  # (n_words, n_terms)
        self._judge_single_words = Judge(units[0].ungrouped, units[1].ungrouped, rule, rng)
        self._tabulate = lru_cache(maxsize=2)(self._tabulate_deals)  # tables are large

    @property
    def nulls(self) -> dict[str, Callable[[int], Flags]]:
        """The nulls of all studies, and nulls that deal the terms."""
        return super().nulls | {"false_attributes": self.deal_terms, "false_spelling": self.divide_by_spelling}

    def score(self) -> FloatArray:
        """Return (n_words,) the associations of attribute words as they are."""
        return np.asarray(self._scores.sentence_scores @ self._averages[0])

    def plant(self, is_x: Flags, k: float, twins: FloatArray) -> Flags:
        """Move the associations of the words of both sets apart."""
        added = np.where(is_x, 0.5, -0.5) * k * spread_within(self.score(), is_x)[:, None]
        return self.disturb(is_x, added, np.broadcast_to(added, (self.n_templates, *added.shape)), twins)

    def disturb(self, is_x: Flags, added: FloatArray, without: FloatArray, twins: FloatArray) -> Flags:
        """Add to the associations of words. The test of terms has the same addition in all sentences of a word."""
        return self._find(self.judge, is_x, self.attribute_units.is_first[None], twins, added, without)

    def deal_terms(self, n: int) -> Flags:
        """Keep the sets of attribute words, and deal the terms into other sets."""
        is_a = self.attribute_units.relabel(n, self.rng)
        is_x = np.broadcast_to(self.target_units.is_first, (n, self._scores.n_targets))
        return self._find(self.judge, is_x, is_a, self._measure_twins(is_x, is_a))

    def divide_by_spelling(self, n: int) -> Flags:
        """Divide attribute words and terms by the length of their spelling, equal ones at random."""
        sizes = self._scores.n_a, self._scores.n_first
        pairs = zip(self._spelled, sizes, strict=True)
        is_x, is_a = (divide_by_length(spelled, size, n, self.rng) for spelled, size in pairs)
        return self._find(self._judge_single_words, is_x, is_a, self._measure_twins(is_x, is_a))

    def measure_twins(self, is_x: Flags) -> FloatArray:
        """Return (R, K) the effects of the copies with the same labels."""
        return self._measure_twins(is_x, self.attribute_units.is_first[None])

    def _measure_twins(self, is_x: Flags, is_a: Flags) -> FloatArray:
        scored = [each.dealt(is_a) @ self._averages[0] for each in self._copies]
        of_copies = zip(scored, self._scatter[1:], strict=True)
        return self.judge.measure_copies(([Measured(*each, self._n_items)] for each in of_copies), is_x)

    def _find(
        self,
        judge: Judge,
        is_x: Flags,
        is_a: Flags,
        twins: FloatArray,
        added: FloatArray | float = 0.0,
        without: FloatArray | float = 0.0,
    ) -> Flags:
        """Return the findings with words and terms in these sets, (R, n_words) and (R or 1, n_terms)."""
        added = np.broadcast_to(added, is_x.shape)
        kept = np.vstack(judge.attribute_units.leave_one_out()) > 0
        rows, left = (np.repeat(is_a, len(kept), axis=0), np.tile(kept, (len(is_a), 1)))
        scores, *templates = self._scores.dealt(is_a) @ self._averages
        left_out = (self._scores.dealt(rows, left) @ self._averages[0]).reshape(len(is_a), len(kept), -1)
        of_templates = np.array(templates) + without if templates else np.empty(0)
        moved = left_out + added[:, None]
        space = Measured(scores + added, self._scatter[0], self._n_items, moved, of_templates)

        def test_attributes(which: Flags, means: FloatArray) -> FloatArray:
            if self._scores.aggregation == "mean":  # terms have associations, which are tested like words
                moved_apart = (added[which] * means).sum(axis=1, keepdims=True) * self._signs
                associations = means @ self._corrected + moved_apart
                return judge.partitions[1].test(associations, is_a if len(is_a) == 1 else is_a[which])
            reach, shares = self._interpolate(added[which])
            weights = (shares * means[..., None]).reshape(len(means), -1).astype(np.float32)
            found = self._tabulate(judge, reach) @ weights.T
            observed = (space.scores[which] * means).sum(axis=1)
            return judge.partitions[1].compute_p(found, observed, _TIE * np.abs(found).max(axis=0, initial=0.0))

        return judge.find([space], is_x, twins, test_attributes, is_a)

    def _interpolate(self, added: FloatArray) -> tuple[float, FloatArray]:
        """Return the reach of a table of deals, and (R, n_words, nodes) the weight of each node for the shift."""
        unit = float(self.score().std())
        reach = unit * 2.0 ** max(0, math.ceil(math.log2(max(float(np.abs(added).max(initial=0.0)) / unit, 1.0))))
        of_nodes = chebvander(_NODES, len(_NODES) - 1)
        of_nodes[:, 1:] *= 2
        return reach, chebvander(added / reach, len(_NODES) - 1) @ of_nodes.T / len(_NODES)

    def _tabulate_deals(self, judge: Judge, reach: float) -> npt.NDArray[np.float32]:
        """Return (P, n_words * nodes) the associations of words with the terms dealt in each way.

        The association of a word is a smooth function of the word's own shift: it is interpolated between nodes in
        `reach`.
        """
        dealt, scores = judge.partitions[1].labels, self._scores
        moved = [replace(scores, fill=scores.fill + reach * node * self._signs) for node in _NODES]
        rows = max(1, _BLOCK // len(scores.fill))
        blocks = [dealt[start : start + rows] for start in range(0, len(dealt), rows)]
        found = np.empty((len(dealt), scores.n_targets, len(_NODES)), dtype=np.float32)
        for node, each in enumerate(moved):
            found[..., node] = np.vstack([each.dealt(block) @ self._averages[0] for block in blocks])
        return found.reshape(len(dealt), -1)


def build_term_studies(
    categories: Mapping[str, Mapping[str, Any]],
    row: Mapping[str, Any],
    scores: pl.DataFrame,
    copies: Sequence[pl.DataFrame],
    rule: Rule,
    rng: np.random.Generator,
    *,
    exchanged: Collection[str] = (),
    aggregation: str = "log-sum-exp",
) -> TermStudies:
    """Return the simulated studies of an estimate.

    Args:
        categories: names to the layout of `categories.json`.
        row: the estimate.
        scores: the table `log_probability_terms` of its model.
        copies: the same of random-weight copies, with `twin`; a copy without a score is left out.
        rule: of a finding.
        rng: draws the studies.
        exchanged: categories whose targets and attributes change places.
        aggregation: how the terms of a set become one score; not raw logits.
    """
    (category,) = read_categories({row["category"]: categories[row["category"]]}, exchanged)
    own = scores.filter(category=category.name)
    there = {*own["term"], *own["attribute"]}
    x, y, a, b = used = [[word for word in words if word in there] for words in category.sets]
    sentences = own[:: len(x) + len(y)]
    places = sentences["template"].rank("dense").to_numpy().astype(np.int64) - 1
    words = np.array([[*a, *b].index(word) for word in sentences["attribute"]], dtype=np.int64)

    def read(table: pl.DataFrame) -> TermScores:
        fill, prior = (table[name].to_numpy().reshape(len(words), -1) for name in ("fill", "prior"))
        return TermScores(fill, prior, words, len(x), len(a), len(b), aggregation)

    keys = own.select("category", "attribute", "template", "term")
    twins = [twin for table in copies for twin in table.partition_by("twin")]
    found = (keys.join(twin, on=keys.columns, how="left", maintain_order="left") for twin in twins)
    of_terms, of_words = category.units(used)
    spelled = np.array([*map(len, (*a, *b))], dtype=float), np.array([*map(len, (*x, *y))], dtype=float)
    measured = [read(each) for each in found if not each["fill"].null_count()]
    return TermStudies(read(own), places, measured, (of_words, of_terms), spelled, rule, rng)


# --------------------
# The strength of stereotype in sentence pairs.
#
# Labels are shuffled within bias types, which removes any stereotype and keeps a preference for the first sentence. A
# shift of k then adds k standard deviations of score differences to the stereotypical sentence of each pair. The whole
# rule is applied, and random-weight copies get the same labels and no shift.


_FIRST = 0.5
"""Standard deviations that first sentences gain in the simulation of a model that prefers them."""


def measure_pair_strengths(
    bias: pl.DataFrame,
    scores: pl.DataFrame,
    twins: Mapping[str, pl.DataFrame],
    *,
    repetitions: int,
    shifts: Sequence[float],
    seed: int = 47,
) -> pl.DataFrame:
    """Return the table `pair_strength`: a row for each set, model and language with a test of labels over all types.

    Sets with clusters are left out.

    Args:
        bias: the table of `bias_percentage`.
        scores: of the pairs, with their set and model.
        twins: scores of random-weight copies, by model, with `twin`.
        repetitions: number of simulated studies.
        shifts: that are planted, in standard deviations of score differences.
        seed: of the study.
    """
    found = []
    tested = bias.filter(pl.col("bias_type") == OVERALL, pl.col("p_label").is_not_null()).rows(named=True)
    for row in (each for each in tested if each["n_clusters"] is None):
        key = {name: row[name] for name in ("set", "model", "language")}
        others = [each["p_label"] for each in tested if each["language"] == row["language"] and each is not row]
        studies = PairStudies(
            bias.filter(model=row["model"], language=row["language"]), row, scores, twins, find_level(others)
        )
        rng = generator(seed, "strength", "pairs", *key.values())
        results = np.array([[*studies.find(shifts, rng)] for _ in range(repetitions)])
        columns = describe_shifts(shifts, results[:, :-1], studies.level, rng)
        nats = None if columns["shift_80"] is None else columns["shift_80"] * studies.sd
        found.append({**key, **columns, "false_first": results[:, -1].mean(), "shift_80_nats": nats})
    return pl.DataFrame(found, schema=TABLES["pair_strength"].polars)


class PairStudies:
    """Simulated studies with the pairs of a set, model and language.

    Attributes:
        level: largest p of the label that is significant.
        sd: standard deviation of score differences, in nats.
    """

    def __init__(
        self,
        bias: pl.DataFrame,
        row: Mapping[str, Any],
        scores: pl.DataFrame,
        twins: Mapping[str, pl.DataFrame],
        level: float,
    ) -> None:
        self.level, model = level, row["model"]
        pairs = _subtract(scores.filter(model=model), row)
        self._differences = pairs["of_first"].to_numpy()
        self._is_stereo = (pairs["label"] == LABELS[0]).to_numpy()
        self._types = [(pairs["bias_type"] == name).to_numpy() for name in pairs["bias_type"].unique().sort()]
        self.sd = float(self._differences.std(ddof=1))
        copies = twins[model].partition_by("twin") if model in twins else []
        self._copies = [
            pairs.join(_subtract(copy, row), "pair_id", "left", maintain_order="left")["of_first_right"].to_numpy()
            for copy in copies
        ]
        is_own = pl.col("set").eq_missing(pl.lit(row["set"])) & (pl.col("bias_type") == OVERALL)
        known = bias.filter(pl.col("twin_sd").is_not_null() & ~is_own)
        unit = known["balanced_ci_high"] - known["balanced_ci_low"]
        self._others = (known["twin_sd"] / unit).to_list(), (known["n_twins"] - 1).to_list()
        self._groups = [f"{name}, {bias_type}" for name, bias_type in known.select("set", "bias_type").iter_rows()]

    def find(self, shifts: Sequence[float], rng: np.random.Generator) -> Iterator[bool]:
        """Yield whether a study finds a stereotype without and with each shift, and with a preference for the first."""
        is_stereo = self._is_stereo.copy()
        for of_type in self._types:
            is_stereo[of_type] = rng.permutation(is_stereo[of_type])
        twins = [balance(self._count(copy, is_stereo)).percentage for copy in self._copies]
        known = [percentage for percentage in twins if percentage is not None]
        for k in (0.0, *shifts):
            yield self._judge(self._differences + k * self.sd * np.where(is_stereo, 1, -1), is_stereo, known)
        yield self._judge(self._differences + _FIRST * self.sd, is_stereo, known)

    def _judge(self, differences: FloatArray, is_stereo: Flags, twins: Sequence[float]) -> bool:
        counts, n_stereo = self._count(differences, is_stereo), int(is_stereo.sum())
        balanced, p = balance(counts), label_p_value([of_type for of_type in counts if of_type.has_both])
        assert balanced.low is not None  # the labels were tested
        assert balanced.high is not None
        # scaled, so that ALPHA corresponds to the level that Holm's method leaves
        row: dict[str, Any] = {"p_label_holm": p * ALPHA / self.level, "p_twins": None}
        row |= {"n_stereo": n_stereo, "n_antistereo": is_stereo.size - n_stereo}
        row |= {"balanced_ci_low": balanced.low, "balanced_ci_high": balanced.high}
        if len(twins) > 1:
            unit = balanced.high - balanced.low
            (measured, df), own = self._others, float(np.std(twins, ddof=1)) / unit
            s, freedom = moderate_deviations([*measured, own], [*df, len(twins) - 1], [*self._groups, OVERALL])
            cell = BesideTwins(balanced.percentage, balanced.low, balanced.high, twins)
            if s[-1]:
                row["p_twins"] = judge_difference(cell, float(s[-1]) * unit, float(freedom[-1]))["p_twins"]
        return not why_not_found(row)

    def _count(self, differences: FloatArray, is_stereo: Flags) -> list[LabelCounts]:
        """Return the counts of each bias type, without unknown differences."""
        first, known = differences > 0, ~np.isnan(differences)
        parts = first & is_stereo, known & is_stereo, first & ~is_stereo, known & ~is_stereo
        return [LabelCounts(*(int((part & of_type).sum()) for part in parts)) for of_type in self._types]


def _subtract(scores: pl.DataFrame, row: Mapping[str, Any]) -> pl.DataFrame:
    """Return the untied pairs of a set and language, with the score of the first sentence minus the second's."""
    pairs = scores.filter(pl.col("set").eq_missing(pl.lit(row["set"])), pl.col("language") == row["language"])
    pairs = add_differences(pairs).filter(pl.col("preference").is_in(["stereotypical", "other"]))
    sign = pl.when(pl.col("label") == LABELS[0]).then(1.0).otherwise(-1.0)
    return pairs.select("pair_id", "bias_type", "label", of_first=pl.col("difference") * sign)
