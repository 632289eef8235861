"""The strength of bias that a study could have found, from its own vectors: no model runs.

Take the words and contexts of a category as they are, remove the bias, plant a bias of known size, and apply all
conditions of a finding, as `why_not_found` does: permutation tests of both sides at the level that Holm's method
leaves, the interval over words, the interval over templates, and the comparison with random-weight copies. Each of
`repetitions` studies is

- *relabeled*: the target words change sets at random (matched words within their pairs, clusters whole), so any
  difference is chance. The same labels apply to the copies of the model.
- *shifted by k*: c g is then added to the unit vectors of X, and subtracted in Y; all are scaled to length 1 again. g
  is the direction from B to A. c makes mean s(X) - mean s(Y) grow by k standard deviations of word scores within sets.

80% of studies find the shift `shift_80`. It comes from the shares found, made to rise by isotonic regression (Ayer et
al. 1955) and interpolated on the scale of the normal distribution. (Linear interpolation of the shares gives a shift
that more studies find.)
Other nulls show how often the rule is wrong without a bias: attribute words drawn from the study's other words, words
divided by length of spelling, sets whose contexts scatter differently, templates that favor one set.

Word scores are linear in cosines of mean directions. So a category needs only the products of its words' mean
directions, and hundreds of studies are computed at once. One simplification: contexts and sentences of a word scatter
the same with a shift, and without one of the words.

This module has the rule, and the studies of word scores by any method. `prasanga.associations.strength` has the studies
of vectors.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.stats.crossed import CrossedScores, contrast
from prasanga.stats.effects import DENOMINATORS, TIE, FloatArray, finite_or_none
from prasanga.stats.intervals import assess_difference, from_scale, jackknife_variance, to_scale
from prasanga.stats.permutation import ALPHA, Flags, Units, find_bounds

POWER = 0.8

_LISTED = 2**15  # the most partitions that are all counted; of more, `_DRAWN` or so are drawn
_DRAWN = 9_999
_AT_A_TIME = 50  # repetitions in memory
_RESAMPLES = 2000


Moderate: TypeAlias = Callable[[FloatArray, int], tuple[FloatArray, FloatArray]]
"""Gives the moderated standard deviations of random-weight copies and their degrees of freedom, (R,) each."""


def keep_deviations(deviations: FloatArray, df: int) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations as they are."""
    return deviations, np.full_like(deviations, df)


class Rule(NamedTuple):
    """The rule of a finding, as a study applies it to one category.

    Attributes:
        level: largest p that is significant after Holm's correction (`find_level`).
        moderate: moderates the spread of random-weight copies as in the study (`moderate_deviations`).
        std: denominator of effects; the other settings are of permutation tests and intervals, as in the config.
    """

    level: float
    moderate: Moderate = keep_deviations
    std: str = "union_ddof1"
    alternative: str = "two-sided"
    statistic: str = "studentized"
    n_permutations: int = 100_000
    resample_attributes: bool = True


def find_level(others: npt.ArrayLike) -> float:
    """Return the largest p that Holm's method calls significant at .05, given the p of all `others` of the family."""
    ordered = np.sort(np.asarray(others, dtype=np.float64))
    m = ordered.size + 1
    rejected = np.minimum.accumulate(ordered <= ALPHA / (m - np.arange(m - 1))) if m > 1 else np.empty(0)
    return float(ALPHA / (m - rejected.sum()))


def find_scatter(cosines: CrossedScores, std: str) -> float:
    """Return the variance of a category's items about the associations of their words, as its effect size has it."""
    n, scores = cosines.targets.size, cosines.word_scores()
    within_sets, lost = DENOMINATORS[std]
    parts = np.split(scores, [cosines.n_x]) if within_sets else [scores]
    of_words = float(sum(part.var() * part.size for part in parts)) / scores.size
    of_items = float(np.square(cosines.spreads(std)).mean()) * (n - lost) / n
    return max(0.0, of_items - of_words)


# --------------------
# Permutation tests of many studies at a time.


class Partitions:
    """The ways to relabel units, the same ones for all studies: all of them, or some drawn at random."""

    def __init__(self, units: Units, rule: Rule, rng: np.random.Generator) -> None:
        self._units, self._rule, self._drawn = units, rule, units.n_partitions > _LISTED
        n_drawn = min(rule.n_permutations, max(_DRAWN, round(20 / rule.level)))
        chosen = units.draw_partitions(n_drawn, rng) if self._drawn else units.list_partitions()
        self.labels = units.label_words(chosen)
        """(P, n_words) whether each word is of the first set in each partition."""
        self._chosen = 2.0 * chosen - 1 if units.matched else chosen.astype(np.float64)

    def test(self, scores: FloatArray, is_first: Flags) -> FloatArray:
        """Return (R,) p of studies, from (R, n_words) scores and whether each word is of the first set."""
        units, chosen = self._units, self._chosen
        if units.matched:
            observed = units.subtract(scores, is_first).mean(axis=1)
            signed = units.subtract(scores)
            found, largest = chosen @ signed.T / chosen.shape[1], np.abs(signed).max(axis=1)
        else:
            of_units, first = units.average(scores), units.label(is_first)
            of_units = of_units - of_units.mean(axis=1, keepdims=True)
            observed = self._compare((of_units * first).sum(1), (of_units**2 * first).sum(1), of_units)
            found = self._compare(chosen @ of_units.T, chosen @ (of_units**2).T, of_units)
            largest = np.abs(observed)
        return self.compute_p(found, observed, TIE * largest)

    def compute_p(self, found: npt.NDArray[Any], observed: FloatArray, tolerance: FloatArray) -> FloatArray:
        """Return (R,) p of studies from their (R,) `observed` statistics and those in all partitions, (P, R).

        Statistics within the (R,) `tolerance` are ties.
        """
        lower, upper = find_bounds(observed, tolerance, self._rule.alternative)
        count = ((found <= lower) | (found >= upper)).sum(axis=0)
        return np.asarray((count + 1) / (len(found) + 1) if self._drawn else count / len(found))

    def _compare(self, sums: FloatArray, squares: FloatArray, scores: FloatArray) -> FloatArray:
        """Return differences of means, studentized where sets differ in size, from sums over the first set."""
        n_x, n_y = self._units.sizes
        differences = sums * (1 / n_x + 1 / n_y)  # scores of a study add up to 0
        if self._rule.statistic == "difference" or n_x == n_y or min(n_x, n_y) == 1:
            return differences
        rest = (scores**2).sum(axis=1) - squares
        of_x, of_y = (squares - sums**2 / n_x) / (n_x * (n_x - 1)), (rest - sums**2 / n_y) / (n_y * (n_y - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(differences / np.sqrt(np.maximum(of_x, 0) + np.maximum(of_y, 0)))


# --------------------
# The rule of a finding, for many studies at a time.


class Measured(NamedTuple):
    """The scores of R studies, or of one study that each relabels, in one space.

    Attributes:
        scores: (R, n_targets) or (n_targets,) associations of words.
        scatter: variance of items (contexts, sentences) about the associations of their words (`find_scatter`).
        n_items: items of a word in one draw.
        without_attributes: (R, U, n_targets) associations without each unit of the attributes.
        without_templates: (T, R, n_targets) associations without each template; empty if templates are too few.
    """

    scores: FloatArray
    scatter: float
    n_items: float
    without_attributes: FloatArray = np.empty(0)
    without_templates: FloatArray = np.empty(0)


class Judge:
    """Decides which studies find an association.

    Args:
        target_units: the targets' units, which are permuted and left out.
        attribute_units: the same among the attributes.
        rule: of a finding.
        rng: draws partitions.
    """

    def __init__(self, target_units: Units, attribute_units: Units, rule: Rule, rng: np.random.Generator) -> None:
        self.target_units, self.attribute_units, self.rule = target_units, attribute_units, rule
        self.partitions = Partitions(target_units, rule, rng), Partitions(attribute_units, rule, rng)

    def find(
        self,
        spaces: Sequence[Measured],
        is_x: Flags,
        twins: FloatArray,
        test_attributes: Callable[[Flags, FloatArray], FloatArray],
        is_a: Flags | None = None,
    ) -> Flags:
        """Return (R,) whether each study finds an association.

        Args:
            spaces: the measurements, over which effects and scores are averaged.
            is_x: (R, n_targets) whether a word is of X.
            twins: (R, K) effects of random-weight copies.
            test_attributes: gives p of the attributes in some studies, by (R,) booleans and the `contrast` of X and Y
                in these.
            is_a: (R, n_attributes) whether an attribute is of A; None if these keep their sets.
        """
        level = self.rule.level * (1 + TIE)
        found = self.partitions[0].test(np.mean([each.scores for each in spaces], axis=0), is_x) <= level
        found &= self._exclude_zero(spaces, is_x, self.attribute_units.is_first if is_a is None else is_a, twins)
        if found.any():
            found[found] = test_attributes(found, contrast(np.ones(is_x.shape[1]), is_x[found])) <= level
        return found

    def measure_copies(self, copies: Iterable[Sequence[Measured]], is_x: Flags) -> FloatArray:
        """Return (R, K) the effects of K copies, averaged over their spaces, with words labeled as `is_x` says."""
        effects = [self._average(each, [space.scores for space in each], is_x, ~is_x)[0] for each in copies]
        return np.stack(effects, axis=1) if effects else np.empty((len(is_x), 0))

    def _average(
        self, spaces: Sequence[Measured], scores: Sequence[FloatArray], in_x: Flags, in_y: Flags
    ) -> tuple[FloatArray, FloatArray]:
        """Return effects and the largest possible ones, averaged over spaces; words are along the last axis."""
        within_sets, lost = DENOMINATORS[self.rule.std]
        n_x, n_y = in_x.sum(axis=-1), in_y.sum(axis=-1)
        n, found, bounds = n_x + n_y, [], []
        for space, values in zip(spaces, scores, strict=True):
            centered = values - values.mean(axis=-1, keepdims=True)
            of_x, of_y = (np.where(side, centered, 0).sum(axis=-1) for side in (in_x, in_y))
            squares = np.square(np.where(in_x | in_y, centered, 0)).sum(axis=-1)
            inside = squares - (of_x**2 / n_x + of_y**2 / n_y if within_sets else (of_x + of_y) ** 2 / n)
            n_items = n * space.n_items
            variance = (np.maximum(inside, 0) + n * space.scatter) * space.n_items / (n_items - lost)
            with np.errstate(divide="ignore", invalid="ignore"):
                found.append((of_x / n_x - of_y / n_y) / np.sqrt(variance))
            bound = np.inf if within_sets else n / np.sqrt(n_x * n_y) * np.sqrt((n_items - lost) / n_items)
            bounds.append(np.broadcast_to(bound, found[-1].shape))
        return np.mean(found, axis=0), np.mean(bounds, axis=0)

    def _exclude_zero(self, spaces: Sequence[Measured], is_x: Flags, is_a: Flags, twins: FloatArray) -> Flags:
        """Return whether the intervals exclude zero, and effects differ from several copies' effects."""
        from scipy.special import stdtrit  # here, because it takes longer to import than the rest of the package

        scores, in_x = [each.scores for each in spaces], is_x[:, None]
        effects, bounds = self._average(spaces, scores, is_x, ~is_x)
        place, freedom = to_scale(effects, bounds), float(self.target_units.freedom)
        kept = np.vstack(self.target_units.leave_one_out()) > 0
        left = self._average(spaces, [each[:, None] for each in scores], in_x & kept, ~in_x & kept)
        words = _sum_samples(to_scale(*left), self.target_units, self.target_units.label(is_x))
        if self.rule.resample_attributes:
            left = self._average(spaces, [each.without_attributes for each in spaces], in_x, ~in_x)
            words = words + _sum_samples(to_scale(*left), self.attribute_units, self.attribute_units.label(is_a))
        reach = stdtrit(freedom, 0.975) * np.sqrt(words)
        found = np.abs(place) > reach
        if n_templates := len(spaces[0].without_templates):
            left = self._average(spaces[:1], [spaces[0].without_templates], is_x, ~is_x)
            more = jackknife_variance(to_scale(*left).T)
            wider = (words + more) ** 2 / (words**2 / freedom + more**2 / (n_templates - 1))
            found &= np.abs(place) > stdtrit(wider, 0.975) * np.sqrt(words + more)
        if (n_twins := twins.shape[1]) > 1:
            widths = from_scale(place + reach, bounds) - from_scale(place - reach, bounds)
            spread = self.rule.moderate(twins.std(axis=1, ddof=1), n_twins - 1)
            found &= assess_difference(effects - twins.mean(axis=1), widths, n_twins, *spread)[0] <= ALPHA
        return np.asarray(found)


def _sum_samples(places: FloatArray, units: Units, is_first: Flags) -> FloatArray:
    """Return (R,) squared standard errors from (R, n_units) effects without each unit, and its label."""
    if units.matched:
        return jackknife_variance(places)
    first = np.broadcast_to(is_first, places.shape)
    return jackknife_variance(places, first) + jackknife_variance(places, ~first)


# --------------------
# Studies without a bias, or with one of known size.


class Studies(ABC):
    """Simulated studies of one category; methods return which of n of them find an association.

    A subclass knows how scores are computed: it has `plant` and `disturb`, and other `nulls`.

    Args:
        units: of the targets and of the attributes.
        n_templates: that an interval is over; 0 for none.
        rule: of a finding.
        rng: draws labels and partitions.
    """

    def __init__(self, units: tuple[Units, Units], n_templates: int, rule: Rule, rng: np.random.Generator) -> None:
        self.target_units, self.attribute_units = units
        self.n_templates, self.rng, self.judge = n_templates, rng, Judge(*units, rule, rng)

    @abstractmethod
    def measure_twins(self, is_x: Flags) -> FloatArray:
        """Return (R, K) the effects of the copies with words labeled as (R, n_targets) `is_x` says."""

    @abstractmethod
    def score(self) -> FloatArray:
        """Return (n_targets,) the associations of words as they are."""

    @abstractmethod
    def plant(self, is_x: Flags, k: float, twins: FloatArray) -> Flags:
        """Return the findings when associations of X and Y differ by k standard deviations more."""

    @abstractmethod
    def disturb(self, is_x: Flags, added: FloatArray, without: FloatArray, twins: FloatArray) -> Flags:
        """Return the findings after `added` (R, n_targets) is added to word scores.

        `without` (T, R, n_targets) is added instead when a template is left out.
        """

    @property
    def nulls(self) -> dict[str, Callable[[int], Flags]]:
        """Studies without a bias that may find one, by column name; the order decides the random numbers of each."""
        found: dict[str, Callable[[int], Flags]] = {"false_scatter": self.scatter_more}
        return found | ({"false_templates": self.favor_in_templates} if self.n_templates else {})

    def shift(self, n: int, shifts: Sequence[float]) -> Flags:
        """Return (n, 1 + S) for targets that are relabeled, as they are and with each shift."""
        is_x = self.target_units.relabel(n, self.rng)
        twins = self.measure_twins(is_x)
        return np.stack([self.plant(is_x, k, twins) for k in (0.0, *shifts)], axis=1)

    def scatter_more(self, n: int) -> Flags:
        """Relabel, and let the words of X scatter by one more standard deviation, as words with few contexts do."""
        is_x = self.target_units.relabel(n, self.rng)
        noise = is_x * self.rng.normal(size=is_x.shape) * spread_within(self.score(), is_x)[:, None]
        without = np.broadcast_to(noise, (self.n_templates, *noise.shape))
        return self.disturb(is_x, noise, without, self.measure_twins(is_x))

    def favor_in_templates(self, n: int) -> Flags:
        """Relabel, and let each template favor one set, by half a standard deviation on average."""
        is_x = self.target_units.relabel(n, self.rng)
        of_templates = self.rng.normal(size=(self.n_templates, n)) * spread_within(self.score(), is_x) / 2
        favors = of_templates.sum(axis=0) / self.n_templates
        without = (of_templates.sum(axis=0) - of_templates) / (self.n_templates - 1)
        return self.disturb(is_x, is_x * favors[:, None], is_x * without[..., None], self.measure_twins(is_x))


def spread_within(scores: FloatArray, is_x: Flags) -> FloatArray:
    """Return (R,) the pooled standard deviation of (R, n) or (n,) word scores within sets."""
    squares = np.zeros(len(is_x))
    for side in (is_x, ~is_x):
        n = side.sum(axis=1, keepdims=True)
        mean = np.where(side, scores, 0).sum(axis=1, keepdims=True) / n
        squares += np.square(np.where(side, scores - mean, 0)).sum(axis=1)
    return np.asarray(np.sqrt(squares / (is_x.shape[1] - 2)))


def divide_by_length(spelled: FloatArray, n_first: int, n: int, rng: np.random.Generator) -> Flags:
    """Return (n, n_words) whether each word is among the `n_first` shortest, equal ones at random."""
    ties = rng.random((n, spelled.size))
    return np.asarray(np.lexsort((ties, np.broadcast_to(spelled, ties.shape)), axis=1).argsort(axis=1) < n_first)


# --------------------
# The strength that studies find.


def measure_strength(studies: Studies, *, shifts: Sequence[float], repetitions: int) -> dict[str, Any]:
    """Return the columns of the table of strength for one category and model.

    Args:
        studies: of the category.
        shifts: ascending, in standard deviations of word scores within sets.
        repetitions: number of studies.

    Returns:
        `shifts`, from 0, with the share of studies that find each (`shares_found`); `shift_80` with its 95% interval;
        and the shares of false findings, by null; nulls that do not apply are absent.
    """
    blocks = [min(_AT_A_TIME, repetitions - start) for start in range(0, repetitions, _AT_A_TIME)]
    found = np.concatenate([studies.shift(n, shifts) for n in blocks])
    columns = describe_shifts(shifts, found, studies.judge.rule.level, studies.rng)
    nulls = {name: np.concatenate([draw(n) for n in blocks]) for name, draw in studies.nulls.items()}
    return columns | {name: float(alarms.mean()) for name, alarms in nulls.items()}


def describe_shifts(shifts: Sequence[float], found: Flags, level: float, rng: np.random.Generator) -> dict[str, Any]:
    """Return the columns of strength, from (R, 1 + S) whether each study has a finding without and with each shift.

    `level` is the largest p that is significant; `rng` draws studies again for the interval of `shift_80`.
    """
    steps = [0.0, *shifts]
    low, middle, high = map(finite_or_none, estimate_shift(steps, found, rng))
    return {
        **{"repetitions": len(found), "level": level, "shifts": steps, "shares_found": found.mean(axis=0).tolist()},
        **{"shift_80": middle, "shift_80_low": low, "shift_80_high": high},
    }


def estimate_shift(shifts: Sequence[float], found: Flags, rng: np.random.Generator) -> FloatArray:
    """Return the shift that `POWER` of the studies find, between the ends of its 95% interval: (low, shift, high).

    It is interpolated between the normal quantiles of the shares found, made to rise by isotonic regression; infinite
    where the largest shift is found less often. The interval is by percentiles of studies drawn again.

    Args:
        shifts: (S,) ascending.
        found: (R, S) whether each study finds each shift.
        rng: draws the studies.
    """
    from scipy.optimize import isotonic_regression  # here, because it takes longer to import than the rest

    n = len(found)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES)
    shares = np.concatenate([found.mean(axis=0, keepdims=True), counts @ found / n])
    rising = [isotonic_regression(each).x for each in shares]
    places = np.array([_interpolate(shifts, np.clip(each, 0.5 / n, 1 - 0.5 / n)) for each in rising])
    low, high = np.quantile(places[1:], [0.025, 0.975], method="inverted_cdf")
    return np.array([low, places[0], high])


def _interpolate(shifts: Sequence[float], shares: FloatArray) -> float:
    from scipy.special import ndtri  # here, because it takes longer to import than the rest of the package

    above = np.flatnonzero(shares >= POWER)
    if not above.size or not above[0]:
        return math.inf if not above.size else float(shifts[0])
    at = int(above[0])
    low, wanted, high = ndtri([shares[at - 1], POWER, shares[at]])
    return float(shifts[at - 1] + (wanted - low) / (high - low) * (shifts[at] - shifts[at - 1]))
