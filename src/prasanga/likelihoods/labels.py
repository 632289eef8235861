"""What the labels of sentence pairs say: the balanced percentage, the test of the label, and the strength to be found.

In most sets the stereotypical sentence comes first in most pairs. A model that prefers first sentences, whatever they
say, then has a bias percentage above 50. Within a bias type t, let p_t,stereo and p_t,anti be the shares of pairs of
either label in which the first sentence scores higher, ties left out. For such a model their difference D_t is zero;
50 + 50 D_t is the mean of both labels' bias percentages.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import stats

from prasanga.base.seeds import generator
from prasanga.pairs.preferences import FEWEST_OF_A_LABEL, LABELS, OVERALL, add_differences
from prasanga.schema import TABLES
from prasanga.stats.effects import TIE, Z_95, FloatArray
from prasanga.stats.intervals import BesideTwins, judge_difference, moderate_deviations
from prasanga.stats.permutation import ALPHA
from prasanga.stats.strength import estimate_shift, find_level


class LabelCounts(NamedTuple):
    """Pairs of one bias type in which the first sentence scores higher, and untied pairs, for each label."""

    first_stereo: int
    n_stereo: int
    first_anti: int
    n_anti: int

    @property
    def has_both(self) -> bool:
        """Whether there are pairs of both labels."""
        return self.n_stereo > 0 and self.n_anti > 0


class Balanced(NamedTuple):
    """A balanced percentage and its 95% interval in percent; None without pairs of both labels."""

    percentage: float | None
    low: float | None
    high: float | None


def balance(types: Sequence[LabelCounts]) -> Balanced:
    """Return the balanced percentage over bias types, with its interval.

    The difference is D = sum v_t D_t, v_t proportional to n_t,stereo n_t,anti / (n_t,stereo + n_t,anti). Its interval
    combines those of Newcombe's method 10 (1998) for each D_t, and never leaves 0 to 100.

    Args:
        types: counts of each bias type; a type with one label is left out.
    """
    types = [counts for counts in types if counts.has_both]
    if not types:
        return Balanced(None, None, None)
    first_stereo, n_stereo, first_anti, n_anti = np.array(types, dtype=np.float64).T
    weights = n_stereo * n_anti / (n_stereo + n_anti)
    weights /= weights.sum()
    stereo, stereo_low, stereo_high = _wilson(first_stereo, n_stereo)
    anti, anti_low, anti_high = _wilson(first_anti, n_anti)
    difference = float(weights @ (stereo - anti))
    # within a type, the distances of Newcombe's method 10
    below = float(np.linalg.norm(weights * np.hypot(stereo - stereo_low, anti_high - anti)))
    above = float(np.linalg.norm(weights * np.hypot(stereo_high - stereo, anti - anti_low)))
    ends = (max(-1.0, difference - below), min(1.0, difference + above))
    return Balanced(50 + 50 * difference, 50 + 50 * ends[0], 50 + 50 * ends[1])


def _wilson(count: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return shares with the ends of Wilson's 95% intervals (1927), without correction for continuity."""
    share, square = count / n, Z_95**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z_95 * np.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return share, np.minimum(share, middle - half), np.maximum(share, middle + half)


def label_p_value(types: Sequence[LabelCounts]) -> float:
    """Return the exact two-sided p of the label, over bias types that have both labels.

    The hypothesis is that within each type the first sentence wins equally often under both labels. Given the margins,
    the stereo pairs in which it wins are then a sum of independent hypergeometric variables; p is two-sided by the
    distance of their number from its expectation.
    """
    offset, expected, observed = 0, 0.0, 0
    distribution: FloatArray = np.ones(1)
    for of in types:
        n, wins = of.n_stereo + of.n_anti, of.first_stereo + of.first_anti
        fewest, chances = _distribute_wins(of.n_stereo, of.n_anti, wins)
        distribution = np.convolve(distribution, chances)
        offset += fewest
        expected += of.n_stereo * wins / n
        observed += of.first_stereo
    distances = np.abs(np.arange(len(distribution)) + offset - expected)
    far = distances >= abs(observed - expected) - TIE * max(1.0, expected)
    return min(1.0, float(distribution[far].sum()))


@lru_cache(1 << 14)
def _distribute_wins(n_stereo: int, n_anti: int, wins: int) -> tuple[int, FloatArray]:
    """Return the chances of the numbers of stereo pairs among `wins` of all pairs, and the first of these numbers."""
    support = np.arange(max(0, wins - n_anti), min(n_stereo, wins) + 1)
    chances = stats.hypergeom(n_stereo + n_anti, n_stereo, wins).pmf(support)
    known = np.flatnonzero(chances > 0)  # far tails are zero, and a short array is quickly convolved
    return int(support[known[0]]), chances[known[0] : known[-1] + 1]


# --------------------
# The same for pairs in clusters: pairs made from one tuple or template are not independent, so clusters are resampled,
# and their labels permuted, as wholes. A row of a table of clusters has the counts of one cluster.


N_DRAWS = 10_000
"""Resamples of clusters for the interval of the balanced percentage, and permutations of labels for its test."""

_CELLS = 1 << 20  # draws times clusters at a time, 8 MiB


def resample_clusters(clusters: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the counts in resamples of whole clusters, shape (n_resamples, k), from those of each, shape (n, k)."""
    n = len(clusters)
    drawn = (rng.integers(0, n, size=(size, n)) for size in _split_draws(n_resamples, n))
    return np.concatenate([np.stack([count[rows].sum(axis=1) for count in clusters.T], axis=1) for rows in drawn])


def balance_clusters(types: Sequence[FloatArray], rng: np.random.Generator) -> Balanced:
    """Return the balanced percentage as `balance`, with an interval from resamples of clusters within types.

    Its ends are percentiles, farther out the fewer clusters one of the labels has (expanded percentiles, Hesterberg
    2015). With one cluster of a label it is 0 to 100.

    Args:
        types: of each bias type with both labels the `LabelCounts` of its clusters, shape (clusters, 4).
        rng: of the resamples.
    """
    percentage = balance([LabelCounts(*map(int, clusters.sum(axis=0))) for clusters in types]).percentage
    fewest = min(sum(int((clusters[:, label] > 0).sum()) for clusters in types) for label in (1, 3))
    if fewest < 2:
        return Balanced(percentage, 0.0, 100.0)
    drawn = np.array([resample_clusters(clusters, N_DRAWS, rng) for clusters in types])
    first_stereo, n_stereo, first_anti, n_anti = np.moveaxis(drawn, -1, 0)
    n = np.maximum(n_stereo + n_anti, 1)
    weights = (n_stereo * n_anti / n).sum(axis=0)
    sums = ((first_stereo * n_anti - first_anti * n_stereo) / n).sum(axis=0)
    differences = sums[weights > 0] / weights[weights > 0]  # a resample without one of the labels says nothing
    tail = stats.norm.sf(math.sqrt(fewest / (fewest - 1)) * stats.t.ppf(0.975, fewest - 1))
    low, high = (50 + 50 * np.quantile(differences, [tail, 1 - tail])).tolist()
    return Balanced(percentage, low, high)


def cluster_p_value(types: Sequence[FloatArray], rng: np.random.Generator) -> float:
    """Return the two-sided p of the label by `N_DRAWS` permutations, over bias types that have both labels.

    The statistic is that of `label_p_value`: by how much the stereo pairs in which the first sentence wins exceed their
    expectation, given how many stereo pairs there are. Labels of clusters with one label are permuted among the
    clusters of a type; where clusters have both labels, within each of them.

    Args:
        types: as for `balance_clusters`.
        rng: of the permutations.
    """
    excess = np.abs(sum(_permute_labels(clusters, rng) for clusters in types))
    return float((np.count_nonzero(excess[1:] >= excess[0] - TIE * max(1.0, excess[0])) + 1) / (N_DRAWS + 1))


def _permute_labels(clusters: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the excess of stereo pairs in which the first sentence wins: as observed, then of each permutation."""
    first_stereo, n_stereo, first_anti, n_anti = clusters.T
    wins, n = first_stereo + first_anti, n_stereo + n_anti
    sizes = _split_draws(N_DRAWS, len(n))
    if (n_stereo * n_anti).any():
        expected = (n_stereo * wins / n).sum()
        stereo, anti, won = (each.astype(np.int64) for each in (n_stereo, n_anti, wins))
        drawn = [rng.hypergeometric(stereo, anti, won, size=(size, len(n))).sum(axis=1) - expected for size in sizes]
        return np.concatenate([[first_stereo.sum() - expected], *drawn])
    excess, is_stereo = wins - n * wins.sum() / n.sum(), n_stereo > 0
    drawn = [rng.permuted(np.tile(excess, (size, 1)), axis=1)[:, is_stereo].sum(axis=1) for size in sizes]
    return np.concatenate([[excess[is_stereo].sum()], *drawn])


def _split_draws(n_draws: int, n_clusters: int) -> list[int]:
    """Return how many draws are made at a time."""
    most = max(1, _CELLS // n_clusters)
    return [most] * (n_draws // most) + [n_draws % most]


# --------------------
# The rule of a finding, and the strength of stereotype that a study could have found by it, from its own scores.
#
# Labels are dealt again within bias types, so that no stereotype is left, and whatever preference there is for the
# first sentence stays. A shift of k then adds k standard deviations of score differences to the stereotypical sentence
# of each pair. The rule is applied as a whole, and random-weight copies get the same labels and no shift.
# `prasanga.stats.strength` does the same for words.


def why_not_found(row: Mapping[str, Any]) -> str:
    """Return the first condition of a finding that a percentage does not meet; empty if it meets all.

    A finding has enough pairs of both labels, p of the label of at most .05 after correction, and a balanced percentage
    whose interval excludes 50. Where two random copies or more were measured, it differs from theirs; that p is not
    corrected, because it can only remove findings.
    """
    if row["p_label_holm"] is None or min(row["n_stereo"], row["n_antistereo"]) < FEWEST_OF_A_LABEL:
        return "too few pairs of a label to tell a stereotype from a preference for the first sentence"
    if row["p_label_holm"] > ALPHA:
        return "the labels do not differ after correction, so it may be a preference for the first sentence"
    if row["balanced_ci_low"] <= 50 <= row["balanced_ci_high"]:
        return "the interval of the balanced percentage includes 50"
    if row["p_twins"] is not None and row["p_twins"] > ALPHA:
        return "no difference from copies with random weights"
    return ""


_FIRST = 0.5
"""Standard deviations by which a model that prefers first sentences is simulated to score them higher."""


def measure_pair_strengths(
    bias: pl.DataFrame,
    scores: pl.DataFrame,
    twins: Mapping[str, pl.DataFrame],
    *,
    repetitions: int,
    shifts: Sequence[float],
    seed: int = 47,
) -> pl.DataFrame:
    """Return the table `pair_strength`: a row for each set, model and language whose labels were tested over all types.

    Sets with clusters are left out.

    Args:
        bias: what `bias_percentage` returns.
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
        *shares, false_first = results.mean(axis=0).tolist()
        steps = [0.0, *shifts]
        low, middle, high = (float(v) if np.isfinite(v) else None for v in estimate_shift(steps, results[:, :-1], rng))
        found.append(
            {**key, "repetitions": repetitions, "level": studies.level, "shifts": steps, "shares_found": shares}
            | {"shift_80": middle, "shift_80_low": low, "shift_80_high": high, "false_first": false_first}
            | {"shift_80_nats": None if middle is None else middle * studies.sd}
        )
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
        known = bias.filter(
            pl.col("twin_sd").is_not_null(),
            pl.struct("set", "bias_type")
            != pl.struct(pl.lit(row["set"]).alias("set"), pl.lit(OVERALL).alias("bias_type")),
        )
        unit = known["balanced_ci_high"] - known["balanced_ci_low"]
        self._others = (known["twin_sd"] / unit).to_list(), (known["n_twins"] - 1).to_list()
        self._groups = [f"{name}, {bias_type}" for name, bias_type in known.select("set", "bias_type").iter_rows()]

    def find(self, shifts: Sequence[float], rng: np.random.Generator) -> Iterator[bool]:
        """Yield whether a study finds a stereotype: without a shift, with each, and with a preference for the first."""
        is_stereo = self._is_stereo.copy()
        for of_type in self._types:
            is_stereo[of_type] = rng.permutation(is_stereo[of_type])
        twins = [balance(self._count(copy, is_stereo)).percentage for copy in self._copies]
        known = [percentage for percentage in twins if percentage is not None]
        for k in (0.0, *shifts):
            yield self._judge(self._differences + k * self.sd * np.where(is_stereo, 1, -1), is_stereo, known)
        yield self._judge(self._differences + _FIRST * self.sd, is_stereo, known)

    def _judge(self, differences: FloatArray, is_stereo: npt.NDArray[np.bool_], twins: Sequence[float]) -> bool:
        counts, n_stereo = self._count(differences, is_stereo), int(is_stereo.sum())
        balanced, p = balance(counts), label_p_value([of_type for of_type in counts if of_type.has_both])
        assert balanced.low is not None  # the labels were tested
        assert balanced.high is not None
        row = {
            # at most ALPHA exactly where p is at most the level that Holm's method leaves
            "p_label_holm": p * ALPHA / self.level,
            "n_stereo": n_stereo,
            "n_antistereo": is_stereo.size - n_stereo,
            "balanced_ci_low": balanced.low,
            "balanced_ci_high": balanced.high,
            "p_twins": None,
        }
        if len(twins) > 1:
            unit = balanced.high - balanced.low
            (measured, df), own = self._others, float(np.std(twins, ddof=1)) / unit
            s, freedom = moderate_deviations([*measured, own], [*df, len(twins) - 1], [*self._groups, OVERALL])
            cell = BesideTwins(balanced.percentage, balanced.low, balanced.high, twins)
            if s[-1]:
                row["p_twins"] = judge_difference(cell, float(s[-1]) * unit, float(freedom[-1]))["p_twins"]
        return not why_not_found(row)

    def _count(self, differences: FloatArray, is_stereo: npt.NDArray[np.bool_]) -> list[LabelCounts]:
        """Return the counts of each bias type; a difference that is not known counts nowhere."""
        first, known = differences > 0, ~np.isnan(differences)
        parts = first & is_stereo, known & is_stereo, first & ~is_stereo, known & ~is_stereo
        return [LabelCounts(*(int((part & of_type).sum()) for part in parts)) for of_type in self._types]


def _subtract(scores: pl.DataFrame, row: Mapping[str, Any]) -> pl.DataFrame:
    """Return the untied pairs of a set and language, with the score of the first sentence less that of the second."""
    pairs = scores.filter(pl.col("set").eq_missing(pl.lit(row["set"])), pl.col("language") == row["language"])
    pairs = add_differences(pairs).filter(pl.col("preference").is_in(["stereotypical", "other"]))
    sign = pl.when(pl.col("label") == LABELS[0]).then(1.0).otherwise(-1.0)
    return pairs.select("pair_id", "bias_type", "label", of_first=pl.col("difference") * sign)
