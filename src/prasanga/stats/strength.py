"""The strength of bias that a study could have found, from its own vectors: no model runs.

Take the words and contexts of a category as they are, remove the bias, plant one of known size, and apply all
conditions of a finding, the same as `why_not_found`: permutation tests of both sides at the level that Holm's method
leaves, the interval over words, the interval over templates, and the comparison with random-weight copies.
`repetitions` times,

- *relabeled*: the target words change sets at random (matched words within their pairs, clusters whole), so that any
  difference is chance. The same labels apply to the copies of the model.
- *shifted by k*: from there, c g is added to the unit vectors of X and -c g to those of Y, which are scaled to length 1
  again; g is the direction from B to A. c makes mean s(X) - mean s(Y) grow by k standard deviations of word scores
  within sets.

`shift_80` is the shift that 80% of studies find, between the shares found, made to rise by isotonic regression (Ayer et
al. 1955) and interpolated on the scale of the normal distribution. (Linear interpolation of the shares gives a shift
that more studies find.)
Other nulls show how often the rule is wrong where there is no bias: attribute words drawn from the study's other words,
words divided by length of spelling, sets whose contexts scatter differently, templates that favor one set.

Word scores are linear in cosines of mean directions. So a category needs the products of its words' mean directions and
nothing else, and hundreds of studies are computed at a time. The one simplification is that contexts and sentences of a
word scatter as much with as without a shift, and when a word is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import DENOMINATORS, TIE, Z_95, FloatArray, IndexArray
from prasanga.stats.intervals import from_scale, jackknife_variance, to_scale
from prasanga.stats.permutation import ALPHA
from prasanga.stats.units import Units

Flags: TypeAlias = npt.NDArray[np.bool_]

POWER = 0.8
SHIFTS = (0.1, 0.25, 0.5, 1.0, 1.5)

_LISTED = 2**15  # partitions that are all counted; of more, some are drawn
_DRAWN = 9_999
_AT_A_TIME = 50  # repetitions in memory
_RESAMPLES = 2000


@dataclass(frozen=True)
class Space:
    """What one list of vectors says of the words of a study: contexts of one length, filled templates, static vectors.

    Attributes:
        products: (n, n) products of the mean directions of all words.
        scatter: variance of a category's items (contexts, sentences) about the associations of their words.
        n_items: items of a target word in one draw.
        without: (T, n, n) products of mean directions without each template; empty if templates are too few.
    """

    products: FloatArray
    scatter: float = 0.0
    n_items: float = 1.0
    without: FloatArray = field(default_factory=lambda: np.empty((0, 1, 1)))


@dataclass(frozen=True)
class Roles:
    """The words of a category among those of a study, by their numbers.

    Attributes:
        targets: words of X, then of Y.
        attributes: words of A, then of B.
        target_units: what is permuted and left out among the targets.
        attribute_units: the same among the attributes.
        others: words from which attributes may be drawn.
        spelled: (n,) characters of every word of the study.
    """

    targets: IndexArray
    attributes: IndexArray
    target_units: Units
    attribute_units: Units
    others: IndexArray
    spelled: FloatArray


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
        std: denominator of effects; the others are those of permutation tests and intervals, as in the config.
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
    """Return the variance of a category's items about the associations of their words, as its effect size sees it."""
    n, scores = cosines.targets.size, cosines.word_scores()
    within_sets, lost = DENOMINATORS[std]
    parts = np.split(scores, [cosines.n_x]) if within_sets else [scores]
    of_words = float(sum(part.var() * part.size for part in parts)) / scores.size
    of_items = float(np.square(cosines.spreads(std)).mean()) * (n - lost) / n
    return max(0.0, of_items - of_words)


# --------------------
# Permutation tests of many studies at a time.


class _Partitions:
    """The ways to relabel units, the same ones for all studies: all of them, or some drawn at random."""

    def __init__(self, units: Units, rule: Rule, rng: np.random.Generator) -> None:
        self._units, self._rule = units, rule
        n_first, n_second = units.sizes
        n, total = (
            (n_first, 2**n_first) if units.matched else (n_first + n_second, math.comb(sum(units.sizes), n_first))
        )
        self._drawn = total > _LISTED
        n_drawn = min(rule.n_permutations, max(_DRAWN, round(20 / rule.level)))
        if units.matched:
            flips = rng.integers(2, size=(n_drawn, n)) if self._drawn else np.arange(total)[:, None] >> np.arange(n) & 1
            self._chosen = 2.0 * flips - 1
        elif self._drawn:
            self._chosen = rng.permuted(np.tile(np.arange(n) < n_first, (n_drawn, 1)), axis=1).astype(np.float64)
        else:
            self._chosen = np.zeros((total, n))
            np.put_along_axis(self._chosen, np.array([*combinations(range(n), n_first)]), 1, axis=1)

    def test(self, scores: FloatArray, is_first: Flags) -> FloatArray:
        """Return (R,) p of studies, from (R, n_words) scores and whether each word is of the first set."""
        units, chosen = self._units, self._chosen
        if units.matched:
            observed = _subtract_pairs(scores, is_first, units).mean(axis=1)
            signed = _subtract_pairs(scores, np.broadcast_to(_is_first(units), scores.shape), units)
            found, largest = chosen @ signed.T / chosen.shape[1], np.abs(signed).max(axis=1)
        else:
            of_units, first = _average_units(scores, units), _label_units(is_first, units)
            of_units = of_units - of_units.mean(axis=1, keepdims=True)
            observed = self._compare((of_units * first).sum(1), (of_units**2 * first).sum(1), of_units)
            found = self._compare(chosen @ of_units.T, chosen @ (of_units**2).T, of_units)
            largest = np.abs(observed)
        alternative, tolerance = self._rule.alternative, TIE * largest
        if alternative == "two-sided":
            counted = np.abs(found) >= np.abs(observed) - tolerance
        else:
            sign = 1 if alternative == "greater" else -1
            counted = sign * found >= sign * observed - tolerance
        count = counted.sum(axis=0)
        return np.asarray((count + 1) / (len(chosen) + 1) if self._drawn else count / len(chosen))

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


def _is_first(units: Units) -> Flags:
    return np.arange(len(units.first) + len(units.second)) < len(units.first)


def _number_words(units: Units) -> IndexArray:
    """Return (n_words,) the unit of each word, those of the second set after those of the first."""
    return np.concatenate([units.first, np.array(units.second) + (0 if units.matched else units.sizes[0])])


def _average_units(scores: FloatArray, units: Units) -> FloatArray:
    numbers = _number_words(units)
    belongs = numbers[:, None] == np.arange(numbers.max() + 1)
    return np.asarray(scores @ (belongs / belongs.sum(axis=0)))


def _label_units(is_first: Flags, units: Units) -> Flags:
    _, places = np.unique(_number_words(units), return_index=True)
    return np.asarray(is_first[..., places])


def _subtract_pairs(scores: FloatArray, is_first: Flags, units: Units) -> FloatArray:
    """Return (R, n_pairs), in each pair the mean of its words of the first set less that of the others."""
    belongs = (_number_words(units)[:, None] == np.arange(units.sizes[0])).astype(np.float64)
    first, second = (np.where(side, scores, 0) @ belongs / (side @ belongs) for side in (is_first, ~is_first))
    return np.asarray(first - second)


def _relabel(units: Units, n: int, rng: np.random.Generator) -> Flags:
    """Return (n, n_words) whether each word is of the first set after a random relabeling of the units."""
    n_first, n_second = units.sizes
    if units.matched:
        flipped = rng.integers(2, size=(n, n_first)).astype(bool)
        return np.asarray(_is_first(units) ^ flipped[:, _number_words(units)])
    of_units = rng.permuted(np.tile(np.arange(n_first + n_second) < n_first, (n, 1)), axis=1)
    return np.asarray(of_units[:, _number_words(units)])


# --------------------
# Studies: cosines of their words, with a shift or another disturbance.


class _Cosines(NamedTuple):
    """Mean cosines of targets with attributes in R studies: (R, n_targets, n_attributes), in one space."""

    values: FloatArray
    without: FloatArray
    """(T, R, n_targets, n_attributes), without each template."""


def _weigh(attribute_units: Units) -> FloatArray:
    """Return (n_attributes,) the weight of each attribute word in an association."""
    return np.repeat([1 / len(attribute_units.first), -1 / len(attribute_units.second)], _lengths(attribute_units))


def _lengths(units: Units) -> list[int]:
    return [len(units.first), len(units.second)]


class _Direction(NamedTuple):
    """How the cosines of a category move with its targets along g, the direction from B to A."""

    values: FloatArray
    """(n_targets, n_attributes) as they are."""
    push: FloatArray
    """(n_targets, n_attributes) what a unit of c adds."""
    along: FloatArray
    """(n_targets,) product of each target's unit vector with g."""

    @classmethod
    def from_products(cls, products: FloatArray, roles: Roles) -> _Direction:
        weights = _weigh(roles.attribute_units)
        values = products[np.ix_(roles.targets, roles.attributes)]
        among = products[np.ix_(roles.attributes, roles.attributes)] @ weights  # products with mean A - mean B
        apart = math.sqrt(max(float(weights @ among), 1e-30))
        lengths = np.sqrt(products[roles.targets, roles.targets])
        return cls(values, lengths[:, None] * among / apart, values @ weights / (lengths * apart))

    def move(self, c: FloatArray) -> FloatArray:
        """Return (R, n_targets, n_attributes) with each target moved by (R, n_targets) c."""
        shrunk = 1 / np.sqrt(1 + 2 * c * self.along + c**2)
        return np.asarray(shrunk[..., None] * (self.values + c[..., None] * self.push))

    def score(self, c: FloatArray, weights: FloatArray) -> FloatArray:
        """Return (R, n_targets) the associations of `move`."""
        return np.asarray((self.values @ weights + c * (self.push @ weights)) / np.sqrt(1 + 2 * c * self.along + c**2))


def _find_shift(directions: Sequence[_Direction], is_x: Flags, k: float, weights: FloatArray) -> FloatArray:
    """Return (R, n_targets) c with its sign, which makes the difference of means grow by k standard deviations."""
    n_x = is_x.sum(axis=1)
    means = is_x / n_x[:, None] - ~is_x / (~is_x).sum(axis=1)[:, None]
    signs = np.where(is_x, 1.0, -1.0)

    def score(c: FloatArray) -> FloatArray:
        return np.asarray(np.mean([each.score(signs * c[:, None], weights) for each in directions], axis=0))

    low = np.zeros(len(is_x))
    scores = score(low)
    before = (means * scores).sum(axis=1)
    wanted = before + k * _spread_within(scores, is_x)
    high = np.full(len(is_x), 1e-3)
    for _ in range(40):
        high = np.where((means * score(high)).sum(axis=1) < wanted, 2 * high, high)
    for _ in range(60):
        middle = (low + high) / 2
        below = (means * score(middle)).sum(axis=1) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(signs * high[:, None])


def _spread_within(scores: FloatArray, is_x: Flags) -> FloatArray:
    """Return (R,) the pooled standard deviation of word scores within sets."""
    squares = np.zeros(len(scores))
    for side in (is_x, ~is_x):
        n = side.sum(axis=1, keepdims=True)
        mean = np.where(side, scores, 0).sum(axis=1, keepdims=True) / n
        squares += np.square(np.where(side, scores - mean, 0)).sum(axis=1)
    return np.asarray(np.sqrt(squares / (scores.shape[1] - 2)))


# --------------------
# The rule of a finding, for many studies at a time.


class _Judge:
    """Decides which studies find an association."""

    def __init__(self, spaces: Sequence[Space], targets: Units, attributes: Units, rule: Rule, rng: Any) -> None:
        self._spaces, self._targets, self._attributes, self._rule = spaces, targets, attributes, rule
        self._weights = _weigh(attributes)
        self._partitions = _Partitions(targets, rule, rng), _Partitions(attributes, rule, rng)

    def find(self, cosines: Sequence[_Cosines], is_x: Flags, twins: FloatArray) -> Flags:
        """Return (R,) whether each study finds an association; `twins` are (R, K) effects of random-weight copies."""
        scores = [each.values @ self._weights for each in cosines]
        means = is_x / is_x.sum(axis=1, keepdims=True) - ~is_x / (~is_x).sum(axis=1, keepdims=True)
        of_attributes = np.mean([(means[:, None] @ each.values)[:, 0] for each in cosines], axis=0)
        first = np.broadcast_to(_is_first(self._attributes), of_attributes.shape)
        level = self._rule.level * (1 + TIE)
        found = self._partitions[0].test(np.mean(scores, axis=0), is_x) <= level
        found &= self._partitions[1].test(of_attributes, first) <= level
        return found & self._exclude_zero(cosines, scores, is_x, twins)

    def measure(self, scores: FloatArray, is_x: Flags, space: Space) -> FloatArray:
        """Return (R,) the effects of studies in a space from (n_targets,) or (R, n_targets) scores."""
        return self._effects(_center(scores), is_x, space)[0]

    def _effects(self, scores: FloatArray, is_x: Flags, space: Space) -> tuple[FloatArray, FloatArray]:
        """Return effects and their bounds from centered scores, words along the last axis."""
        of_x, of_y = (np.where(side, scores, 0).sum(axis=-1) for side in (is_x, ~is_x))
        squares = np.square(scores).sum(axis=-1)
        return self._divide(of_x, of_y, squares, is_x.sum(axis=-1), (~is_x).sum(axis=-1), space)

    def _divide(
        self, of_x: Any, of_y: Any, squares: Any, n_x: Any, n_y: Any, space: Space
    ) -> tuple[FloatArray, FloatArray]:
        within_sets, lost = DENOMINATORS[self._rule.std]
        n = n_x + n_y
        inside = squares - (of_x**2 / n_x + of_y**2 / n_y if within_sets else (of_x + of_y) ** 2 / n)
        variance = (np.maximum(inside, 0) + n * space.scatter) * space.n_items / (n * space.n_items - lost)
        with np.errstate(divide="ignore", invalid="ignore"):
            effects = (of_x / n_x - of_y / n_y) / np.sqrt(variance)
        share = (n * space.n_items - lost) / (n * space.n_items)
        return effects, np.full_like(effects, np.inf) if within_sets else n / np.sqrt(n_x * n_y) * np.sqrt(share)

    def _exclude_zero(
        self, cosines: Sequence[_Cosines], scores: Sequence[FloatArray], is_x: Flags, twins: FloatArray
    ) -> Flags:
        """Return whether the intervals exclude zero, and the effects differ from those of the copies."""
        from scipy.special import ndtr, stdtr, stdtrit  # here, because it takes longer to import than the rest

        centered = [_center(each) for each in scores]
        effects, bounds = self._average(lambda space, s: self._effects(s, is_x, space), centered)
        place = to_scale(effects, bounds)
        words = self._leave_out_targets(centered, is_x)
        if self._rule.resample_attributes:
            words = words + self._leave_out_attributes(cosines, is_x)
        of_targets = float(self._targets.freedom)
        reach = stdtrit(of_targets, 0.975) * np.sqrt(words)
        found = np.abs(place) > reach
        if len(cosines[0].without):
            left = [
                self._average(lambda space, each: self._effects(_center(each), is_x, space), [each @ self._weights])
                for each in cosines[0].without
            ]
            n = len(left)
            more = jackknife_variance(np.stack([to_scale(*each) for each in left], axis=1))
            wider = (words + more) ** 2 / (words**2 / of_targets + more**2 / (n - 1))
            found &= np.abs(place) > stdtrit(wider, 0.975) * np.sqrt(words + more)
        n_twins = twins.shape[1]
        if n_twins > 1:
            low, high = from_scale(place - reach, bounds), from_scale(place + reach, bounds)
            difference = np.abs(effects - twins.mean(axis=1))
            sd, freedom = self._rule.moderate(twins.std(axis=1, ddof=1), n_twins - 1)
            of_words = ((high - low) / (2 * Z_95)) ** 2 + sd**2 / n_twins
            of_weights = stdtr(freedom, -difference / (sd * math.sqrt(1 + 1 / n_twins)))
            p = 2 * np.maximum(of_weights, ndtr(-difference / np.sqrt(of_words)))
            found &= p <= ALPHA
        return np.asarray(found)

    def _average(self, measure: Callable[..., Any], parts: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
        """Return effects and bounds, averaged over spaces."""
        found = [measure(space, part) for space, part in zip(self._spaces, parts, strict=True)]
        effects, bounds = (np.mean(each, axis=0) for each in zip(*found, strict=True))
        return effects, bounds

    def _leave_out_targets(self, scores: Sequence[FloatArray], is_x: Flags) -> FloatArray:
        """Return (R,) the part of the squared standard error from target units."""
        numbers = _number_words(self._targets)
        kept = (numbers != np.arange(numbers.max() + 1)[:, None]).T.astype(np.float64)

        def measure(space: Space, s: FloatArray) -> tuple[FloatArray, FloatArray]:
            x, y = is_x.astype(np.float64), (~is_x).astype(np.float64)
            return self._divide((s * x) @ kept, (s * y) @ kept, s**2 @ kept, x @ kept, y @ kept, space)

        places = to_scale(*self._average(measure, scores))
        if self._targets.matched:
            return jackknife_variance(places)
        first = _label_units(is_x, self._targets)
        return sum((jackknife_variance(places, side) for side in (first, ~first)), np.zeros(len(is_x)))

    def _leave_out_attributes(self, cosines: Sequence[_Cosines], is_x: Flags) -> FloatArray:
        """Return (R,) the part from attribute units."""
        numbers, first = _number_words(self._attributes), _is_first(self._attributes)
        kept = numbers != np.arange(numbers.max() + 1)[:, None]
        weights = kept * first / (kept & first).sum(1, keepdims=True) - kept * ~first / (kept & ~first).sum(
            1, keepdims=True
        )

        def measure(space: Space, c: _Cosines) -> tuple[FloatArray, FloatArray]:
            s = (c.values @ weights.T).transpose(0, 2, 1)
            return self._effects(_center(s), is_x[:, None, :], space)

        places = to_scale(*self._average(measure, cosines))
        if self._attributes.matched:
            return jackknife_variance(places)
        labels = np.broadcast_to(_label_units(first, self._attributes), places.shape)
        return jackknife_variance(places, labels) + jackknife_variance(places, ~labels)


def _center(scores: FloatArray) -> FloatArray:
    return np.asarray(scores - scores.mean(axis=-1, keepdims=True))


# --------------------
# The strength that would have been found.


def measure_strength(
    spaces: Sequence[Space],
    twins: Sequence[Sequence[Space]],
    roles: Roles,
    rule: Rule,
    *,
    shifts: Sequence[float],
    repetitions: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the columns of the table of strength for one category and model.

    Args:
        spaces: of the model, one for each segment length; effects and scores are averaged over them.
        twins: the same of each random-weight copy; none where copies were not measured.
        roles: the words of the category.
        rule: of a finding.
        shifts: ascending, in standard deviations of word scores within sets.
        repetitions: number of studies.
        rng: draws the labels and words.

    Returns:
        `shifts`, from 0, with the share of studies that find each (`shares_found`); `shift_80` with its 95% interval;
        and the shares of studies that find something where there is nothing, absent where a null does not apply.
    """
    studies = _Studies(spaces, twins, roles, rule, rng)
    blocks = [min(_AT_A_TIME, repetitions - start) for start in range(0, repetitions, _AT_A_TIME)]
    found = np.concatenate([studies.shift(n, shifts) for n in blocks])
    steps = [0.0, *shifts]
    low, middle, high = (float(each) if np.isfinite(each) else None for each in estimate_shift(steps, found, rng))
    nulls: dict[str, Callable[[int], Flags]] = {"false_scatter": studies.scatter_more}
    if roles.others.size >= roles.attributes.size:
        nulls |= {"false_attributes": studies.draw_attributes, "false_spelling": studies.divide_by_spelling}
    if len(spaces[0].without):
        nulls["false_templates"] = studies.favor_in_templates
    return {
        "repetitions": repetitions,
        "level": rule.level,
        "shifts": steps,
        "shares_found": found.mean(axis=0).tolist(),
        "shift_80": middle,
        "shift_80_low": low,
        "shift_80_high": high,
        **{name: float(np.concatenate([draw(n) for n in blocks]).mean()) for name, draw in nulls.items()},
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
    n = len(found)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES)
    shares = np.concatenate([found.mean(axis=0, keepdims=True), counts @ found / n])
    places = np.array([_interpolate(shifts, np.clip(each, 0.5 / n, 1 - 0.5 / n)) for each in _make_rise(shares)])
    low, high = np.quantile(places[1:], [0.025, 0.975], method="inverted_cdf")
    return np.array([low, places[0], high])


def _make_rise(shares: FloatArray) -> FloatArray:
    """Return the isotonic regression of each row, (n, S), all steps weighing the same (Robertson et al. 1988, 1.4)."""
    sums = np.concatenate([np.zeros((len(shares), 1)), np.cumsum(shares, axis=1)], axis=1)
    size = shares.shape[1]
    means = np.array([[(sums[:, j + 1] - sums[:, i]) / max(j + 1 - i, 1) for j in range(size)] for i in range(size)])
    return np.stack([means[: k + 1, k:].min(axis=1).max(axis=0) for k in range(size)], axis=1)


def _interpolate(shifts: Sequence[float], shares: FloatArray) -> float:
    from scipy.special import ndtri  # here, because it takes longer to import than the rest of the package

    above = np.flatnonzero(shares >= POWER)
    if not above.size or not above[0]:
        return math.inf if not above.size else float(shifts[0])
    at = int(above[0])
    low, wanted, high = ndtri([shares[at - 1], POWER, shares[at]])
    return float(shifts[at - 1] + (wanted - low) / (high - low) * (shifts[at] - shifts[at - 1]))


class _Studies:
    """Studies without a bias, or with one of known size; methods return which of n of them find an association."""

    def __init__(
        self, spaces: Sequence[Space], twins: Sequence[Sequence[Space]], roles: Roles, rule: Rule, rng: Any
    ) -> None:
        self._spaces, self._twins, self._roles, self._rng = spaces, twins, roles, rng
        self._weights = _weigh(roles.attribute_units)
        self._rule, self._judge = rule, _Judge(spaces, roles.target_units, roles.attribute_units, rule, rng)
        self._directions = [_Direction.from_products(space.products, roles) for space in spaces]
        self._directions_without = [_Direction.from_products(products, roles) for products in spaces[0].without]

    @cached_property
    def _judge_of_drawn(self) -> _Judge:
        attributes = Units.from_sizes(*_lengths(self._roles.attribute_units))
        return _Judge(self._spaces, self._roles.target_units, attributes, self._rule, self._rng)

    @cached_property
    def _judge_of_words(self) -> _Judge:
        targets = Units.from_sizes(*_lengths(self._roles.target_units))
        return _Judge(
            self._spaces, targets, Units.from_sizes(*_lengths(self._roles.attribute_units)), self._rule, self._rng
        )

    def shift(self, n: int, shifts: Sequence[float]) -> Flags:
        """Return (n, 1 + S) for targets that are relabeled, as they are and with each shift."""
        is_x = _relabel(self._roles.target_units, n, self._rng)
        twins = self._measure_twins(is_x, self._roles.attributes)
        found = []
        for k in (0.0, *shifts):
            c = _find_shift(self._directions, is_x, k, self._weights) if k else np.zeros(is_x.shape)
            without = np.array([each.move(c) for each in self._directions_without])
            cosines = [_Cosines(each.move(c), without) for each in self._directions]
            found.append(self._judge.find(cosines, is_x, twins))
        return np.stack(found, axis=1)

    def scatter_more(self, n: int) -> Flags:
        """Relabel, and let the words of X scatter by one more standard deviation, as words of few contexts do."""
        is_x = _relabel(self._roles.target_units, n, self._rng)
        noise = is_x * self._rng.normal(size=is_x.shape) * self._find_spread(is_x)[:, None]
        return self._find_disturbed(is_x, noise, np.broadcast_to(noise, (len(self._spaces[0].without), *noise.shape)))

    def favor_in_templates(self, n: int) -> Flags:
        """Relabel, and let each template favor one set, by half a standard deviation on average."""
        is_x, n_templates = _relabel(self._roles.target_units, n, self._rng), len(self._spaces[0].without)
        of_templates = self._rng.normal(size=(n_templates, n)) * self._find_spread(is_x) / 2
        favors = of_templates.sum(axis=0) / n_templates
        without = (of_templates.sum(axis=0) - of_templates) / (n_templates - 1)
        return self._find_disturbed(is_x, is_x * favors[:, None], is_x * without[..., None])

    def draw_attributes(self, n: int) -> Flags:
        """Keep the targets, and draw A and B from the other words."""
        is_x = np.broadcast_to(_is_first(self._roles.target_units), (n, self._roles.targets.size))
        return self._find_drawn(is_x, self._draw(n), self._judge_of_drawn)

    def divide_by_spelling(self, n: int) -> Flags:
        """Divide targets and drawn attributes by the length of their spelling, equal ones at random."""
        roles = self._roles
        ties = self._rng.random((n, roles.targets.size))
        ranks = np.lexsort((ties, np.broadcast_to(roles.spelled[roles.targets], ties.shape)), axis=1).argsort(axis=1)
        is_x = ranks < len(roles.target_units.first)
        drawn = self._draw(n)
        order = np.argsort(roles.spelled[drawn], axis=1, kind="stable")
        return self._find_drawn(is_x, np.take_along_axis(drawn, order, axis=1), self._judge_of_words)

    def _draw(self, n: int) -> IndexArray:
        others = np.tile(self._roles.others, (n, 1))
        return np.asarray(self._rng.permuted(others, axis=1)[:, : self._roles.attributes.size])

    def _find_spread(self, is_x: Flags) -> FloatArray:
        scores = np.mean([each.values @ self._weights for each in self._directions], axis=0)
        return _spread_within(np.broadcast_to(scores, is_x.shape), is_x)

    def _find_disturbed(self, is_x: Flags, added: FloatArray, without: FloatArray) -> Flags:
        """Return what is found where word scores have (R, n_targets) `added`; (T, R, n_targets) without a template."""
        sides = np.sign(self._weights) / 2
        moved = np.array(
            [
                each.values + more[..., None] * sides
                for each, more in zip(self._directions_without, without, strict=True)
            ]
        )
        cosines = [_Cosines(each.values + added[..., None] * sides, moved) for each in self._directions]
        return self._judge.find(cosines, is_x, self._measure_twins(is_x, self._roles.attributes))

    def _find_drawn(self, is_x: Flags, drawn: IndexArray, judge: _Judge) -> Flags:
        def take(products: FloatArray) -> FloatArray:
            return products[self._roles.targets[:, None], drawn[:, None, :]]

        cosines = [_Cosines(take(space.products), np.array([*map(take, space.without)])) for space in self._spaces]
        return judge.find(cosines, is_x, self._measure_twins(is_x, drawn))

    def _measure_twins(self, is_x: Flags, attributes: IndexArray) -> FloatArray:
        """Return (R, K) the effects of the copies with the same labels and attributes, (n_a,) or (R, n_a)."""
        rows = self._roles.targets[:, None], attributes[..., None, :]
        effects = [
            np.mean([self._judge.measure(space.products[rows] @ self._weights, is_x, space) for space in twin], axis=0)
            for twin in self._twins
        ]
        return np.stack(effects, axis=1) if effects else np.empty((len(is_x), 0))
