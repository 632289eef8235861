"""How sure an effect is: its interval over words, contexts and templates, and its controls.

The interval is for the mean effect of studies with other words, as many in each set. It comes from the effects without
each unit: word, cluster of words or matched pair (the jackknife: Tukey 1958; of several samples: Arvesen 1969). An
effect size has a largest value, d_max, near which it is skewed. So the interval is made on the scale z = atanh(d /
d_max),

    tanh(z - t se) d_max  to  tanh(z + t se) d_max,     se^2 = sum over samples of (n - 1) / n * sum of (z_i - mean z)^2

z_i without unit i of a sample, t of Student's distribution with n_x + n_y - 2 degrees of freedom (n - 1 of n pairs). It
always includes the effect. A word moves with all its items and contexts. So contexts are covered: the noise that they
leave in a word's mean makes words differ. Templates are one more sample; degrees of freedom are then Satterthwaite's
(1946). docs/simulations.md says how often these intervals hold.

Differences between two models or lengths compare effects of the same words, so both need the same resamples: how often
a word counts in resample i depends only on the seed, the category and the words. Level
1 draws the units of each set again, with replacement; a word comes with all its items. Level 2 draws contexts: in the
draws of CEAT every context of a word is used at most once where there are enough, so resampled draws are
resampled contexts. WEAT and SEAT have one draw, and no level 2.

Controls are shuffled attribute words, copies of the model with random weights, and words that are alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError
from prasanga.base.seeds import generator
from prasanga.stats.crossed import CountedScores, Counts, CrossedScores
from prasanga.stats.effects import DENOMINATORS, TIE, Z_95, FloatArray, finite_vector, largest_effect
from prasanga.stats.permutation import Units, draw_counts

FEWEST_WORDS = 8
"""Units that each set needs for an interval over words, and for a finding: with fewer, no interval held its level."""

FEWEST_TEMPLATES = 4
"""Templates that an interval over them needs (docs/simulations.md has how often it holds)."""

EQUIVALENT = 0.05
"""An effect with at most this p counts as within the margin."""

_LEVEL = 0.95

# Share of resamples without an effect that goes without mention.
_UNDEFINED = 0.01

# An effect counts as this share of the largest one at most: beyond that its distance to it is rounding.
_WHOLE = 1 - 1e-12


class Resampling(NamedTuple):
    """How often each word and each draw counts in each of R resamples.

    Attributes:
        target_counts: (R, n_x + n_y), X before Y.
        attribute_counts: (R, n_a + n_b), A before B; None where attribute words are not resampled.
        draw_counts: (R, n_draws); None where there is one draw.
    """

    target_counts: Counts
    attribute_counts: Counts | None
    draw_counts: Counts | None


def draw_resampling(
    words: Sequence[Sequence[str]], units: Sequence[Units], n_draws: int, *, n_resamples: int, seed: int, category: str
) -> Resampling:
    """Resample the units of X and Y, or of X, Y, A and B, and `n_draws` draws, `n_resamples` times.

    Each set has a generator of its own, named by the category, the set and its `words`, as listed; the draws have one
    named by the category and their number. A larger number of resamples begins with the same ones.

    Args:
        words: of X, Y, A and B.
        units: of the targets; of the attributes as well, where these are resampled.
        n_draws: how many draws there are.
        n_resamples: how many resamples.
        seed: of the study.
        category: its name.
    """
    rngs = [generator(seed, "resampling", category, side, *of) for side, of in zip("xyab", words, strict=True)]
    counts = [each.draw(n_resamples, rngs[2 * side : 2 * side + 2]) for side, each in enumerate(units)]
    draws = draw_counts(n_draws, n_resamples, generator(seed, "resampling", category, "draws", n_draws))
    return Resampling(counts[0], counts[1] if len(counts) > 1 else None, draws if n_draws > 1 else None)


@dataclass(frozen=True)
class Interval:
    """An interval, or the reason why it is missing.

    Attributes:
        low: lower end; None without an interval.
        high: upper end; None without an interval.
        method: `jackknife`, `bc` (of a difference); of a percentage, `bootstrap` or `exact`.
        note: why the interval is missing, or a caution; may be empty.
        p_equivalence: of the hypothesis that the effect is `margin` or more from 0; None without interval or margin.
        equivalent_within: the smallest margin at which that p is .05 or less; None without an interval.
    """

    low: float | None
    high: float | None
    method: str
    note: str = ""
    p_equivalence: float | None = None
    equivalent_within: float | None = None


class Omitted(NamedTuple):
    """Effects without each unit of one sample: of a set of words, of matched pairs, or of templates.

    Attributes:
        effects: (n,) effects; NaN where none exists.
        bounds: (n,) the largest possible effects without it; infinity if effects are unbounded.
        bound: the largest effect that is possible with all units.
    """

    effects: FloatArray
    bounds: FloatArray
    bound: float


def omit_units(
    scores: CountedScores, crossed: CrossedScores, units: Sequence[Units], std: str = "union_ddof1"
) -> list[Omitted]:
    """Return the effects without each unit of X and Y, or of X, Y, A and B.

    Args:
        scores: gives effects with words counted several times or not at all.
        crossed: has their items.
        units: of the targets; of the attributes as well, where the interval is over other attribute words too.
        std: convention of the denominator.
    """
    n_items, is_x = np.bincount(crossed.targets), np.arange(crossed.n_targets) < crossed.n_x
    whole = _bound(crossed.targets.size, crossed.n_x, crossed.n_y, std)
    found = []
    for kept in units[0].leave_one_out():
        sizes = zip(kept @ n_items, kept @ is_x, kept @ ~is_x, strict=True)
        bounds = [_bound(*of, std) if min(of[1:]) else whole for of in sizes]
        found.append(Omitted(scores.effects(kept, std=std), np.array(bounds), whole))
    for side in units[1:]:
        for kept in side.leave_one_out():
            found.append(Omitted(scores.effects(attribute_counts=kept, std=std), np.full(len(kept), whole), whole))
    return found


def omit_templates(effects: FloatArray, crossed: CrossedScores, std: str = "union_ddof1") -> Omitted:
    """Return the (n,) effects without each template, with their bounds."""
    n_items, n = crossed.targets.size, len(effects)
    left, whole = (_bound(items, crossed.n_x, crossed.n_y, std) for items in (n_items * (n - 1) / n, n_items))
    return Omitted(effects, np.full(n, left), whole)


def interval(
    effect: float,
    units: Sequence[Units],
    omitted: Sequence[Omitted],
    *,
    templates: Omitted | None = None,
    margin: float | None = None,
    level: float = _LEVEL,
) -> Interval:
    """Return the interval of an effect size, and whether the effect is near 0.

    Two one-sided tests ask whether the effect is above -`margin`, and below `margin`; p is the larger of theirs
    (Schuirmann 1987): p is at most .05 where the 90% interval is within the margin.

    Args:
        effect: that is reported; it may use more draws than the effects without a unit.
        units: as in `omit_units`.
        omitted: what `omit_units` returns.
        templates: effects without each template: the interval is over other templates as well.
        margin: distance from 0 that counts as no effect, greater than 0; None for no equivalence test.
        level: probability that the interval should include the mean effect.

    Returns:
        A note in place of ends if a set has fewer than `FEWEST_WORDS` units, or no effect without one of them.
    """
    from scipy.special import stdtr, stdtrit  # here, because it takes longer to import than the rest of the package

    note = find_few_units(units)
    if not note and not all(np.isfinite(sample.effects).all() for sample in omitted):
        note = "no interval: without one of the words no effect exists, because all scores are the same"
    if note:
        return Interval(None, None, "jackknife", note)
    words, freedom = sum(map(_variance_of_omitted, omitted)), float(units[0].freedom)
    error, bound = math.sqrt(words), omitted[0].bound
    if templates is not None and words:
        of_templates = _variance_of_omitted(templates)
        error = math.sqrt(words + of_templates)
        freedom = error**4 / (words**2 / freedom + of_templates**2 / (len(templates.effects) - 1))

    def end(place: float, quantile: float) -> float:
        return float(from_scale(np.array(place + stdtrit(freedom, quantile) * error), np.array(bound)))

    def p_below(place: float, limit: float) -> float:
        """Return p of the hypothesis that the effect is below `limit`."""
        distance = place - float(to_scale(np.array(limit), np.array(bound)))
        return float(stdtr(freedom, -distance / error)) if error else float(distance <= 0)

    place = float(to_scale(np.array(effect), np.array(bound)))
    low, high = (end(place, (1 + sign * level) / 2) for sign in (-1, 1))
    if margin is None:
        return Interval(low, high, "jackknife")
    p_value = max(p_below(place, -margin), p_below(-place, -margin))
    within = max(abs(end(place, quantile)) for quantile in (EQUIVALENT, 1 - EQUIVALENT))
    return Interval(low, high, "jackknife", "", p_value, within)


def crossed_mean_interval(values: FloatArray) -> Interval:
    """Return the interval of the mean of (n, T) `values`, of n things in T templates, over other things and templates.

    The variance of the things' means is added to the variance of the templates' means, which counts the rest twice;
    degrees of freedom are Satterthwaite's.
    """
    from scipy.special import stdtrit  # here, because it takes longer to import than the rest of the package

    mean, sides = float(values.mean()), (values.mean(axis=1), values.mean(axis=0))
    parts = np.array([side.var(ddof=1) / side.size for side in sides])
    if not parts.any():
        return Interval(mean, mean, "jackknife")
    freedom = parts.sum() ** 2 / (np.square(parts) / [side.size - 1 for side in sides]).sum()
    reach = float(stdtrit(freedom, (1 + _LEVEL) / 2) * np.sqrt(parts.sum()))
    return Interval(mean - reach, mean + reach, "jackknife")


def mean_interval(values: FloatArray) -> tuple[float, float] | None:
    """Return the 95% interval of the mean of (n,) independent values by Student's t; None of a single value."""
    from scipy.special import stdtrit  # here, because it takes longer to import than the rest of the package

    if values.size < 2:
        return None
    reach = float(stdtrit(values.size - 1, (1 + _LEVEL) / 2) * values.std(ddof=1) / np.sqrt(values.size))
    return float(values.mean()) - reach, float(values.mean()) + reach


def jackknife_variance(without: FloatArray, kept: npt.NDArray[np.bool_] | bool = True) -> FloatArray:
    """Return (...) the jackknife's variance of an estimate from (..., n) estimates without each unit.

    With `kept`, (..., n) booleans, it comes from some of the units.
    """
    kept = np.broadcast_to(kept, without.shape)
    n = kept.sum(axis=-1)
    mean = np.where(kept, without, 0).sum(axis=-1) / n
    squares = np.where(kept, np.square(without - mean[..., None]), 0).sum(axis=-1)
    return np.asarray((n - 1) / n * squares)


def _bound(n_items: float, n_x: float, n_y: float, std: str) -> float:
    """Return the largest effect of sets of these numbers of words, with so many items together."""
    lost = DENOMINATORS[std].lost
    return largest_effect(n_x, n_y, std) * math.sqrt((n_items - lost) / n_items)


def _variance_of_omitted(omitted: Omitted) -> float:
    return float(jackknife_variance(to_scale(omitted.effects, omitted.bounds)))


def to_scale(effects: FloatArray, bounds: FloatArray) -> FloatArray:
    """Return effects on the scale of the interval; those without a bound stay as they are."""
    if np.isinf(bounds).any():
        return effects
    return np.asarray(np.arctanh(np.clip(effects / bounds, -_WHOLE, _WHOLE)))


def from_scale(places: FloatArray, bounds: FloatArray) -> FloatArray:
    """Return effects from their places on the scale of the interval."""
    return places if np.isinf(bounds).any() else np.asarray(bounds * np.tanh(places))


def difference_interval(
    replicates_1: FloatArray, replicates_2: FloatArray, effect_1: float, effect_2: float
) -> Interval:
    """Return the interval of `effect_1` - `effect_2`, two effects of the same words.

    It is made of bias-corrected percentiles (method `bc`).

    Args:
        replicates_1: (R,) effects in the resamples that both share (`draw_resampling`).
        replicates_2: (R,) the same of the other model or length.
        effect_1: effect size from the same draws as `replicates_1`.
        effect_2: effect size from the same draws as `replicates_2`.

    Acceleration and a wider level are left out: in simulations they only made intervals longer that held their level
    without them (docs/statistics.md).
    """
    differences = replicates_1 - replicates_2
    known = np.isfinite(differences)
    if not known.any():
        note = "no interval: in no resample does an effect exist, because all scores are the same"
        return Interval(None, None, "bc", note)
    lost = float(np.mean(~known))
    note = f"{lost:.1%} of the resamples are left out, because all their scores are the same" * (lost > _UNDEFINED)
    low, high = _bias_corrected(differences[known], effect_1 - effect_2)
    return Interval(float(low), float(high), "bc", note)


def find_few_units(units: Sequence[Units]) -> str:
    """Return why too few units of the targets, or of targets and attributes, allow no interval; else an empty text."""
    for sides, each in zip(("XY", "AB"), units, strict=False):
        for name, size, words in zip(sides, each.sizes, (each.first, each.second), strict=True):
            if size < FEWEST_WORDS:
                what = "matched pair" if each.matched else "word" if size == len(words) else "independent word"
                some = f"{size} {what}{'' if size == 1 else 's'}"
                needed = f"an interval over words needs {FEWEST_WORDS} in every set"
                return f"no interval: set {name} has {some}, and {needed}"
    return ""


def _bias_corrected(replicates: FloatArray, effect: float) -> FloatArray:
    """Return the two ends (Efron 1981).

    Replicates equal to the effect count half; half a replicate at least is on either side.
    """
    from scipy.special import ndtr, ndtri  # here, because it takes longer to import than the rest of the package

    n = replicates.size
    below = (np.count_nonzero(replicates < effect) + np.count_nonzero(replicates <= effect)) / 2
    bias = ndtri(np.clip(below, 0.5, n - 0.5) / n)
    tails = ndtri(np.array([(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]))
    return np.asarray(np.quantile(replicates, ndtr(2 * bias + tails)))


# --------------------
# A null control: the attribute words of A and B shuffled.
#
# If an effect belongs to what A and B mean, it should vanish when their words are mixed. What remains is what any
# two sets of these words would give.
#
# An effect size is a difference over a spread. Mixed sets make both small, but not their ratio: where X and Y differ
# strongly, a small difference is divided by a small spread, which gives effect sizes near the largest possible, of
# either sign. The control therefore divides by the spread that the target words have with the real A and B. Then it
# asks whether the difference of the sets' means vanishes, as it should.


@dataclass(frozen=True)
class ShuffledControl:
    """The range of the effects of shuffled attribute words.

    Attributes:
        low: the 2.5% quantile of the effects.
        high: the 97.5% quantile.
        p_value: (number with |effect| >= |observed|, + 1) / (number of effects + 1); two-sided.
    """

    low: float
    high: float
    p_value: float


def shuffled_control(
    scores: CountedScores,
    *,
    n_shuffles: int = 1000,
    rng: np.random.Generator | int | None = None,
    std: str = "union_ddof1",
) -> ShuffledControl:
    """Compare the size of the observed effect with `shuffled_effects` over the observed spread.

    `p_value` asks whether the division of these attribute words into A and B matters; it says nothing about other
    target words. Raises `ConstantScoresError` if all words have the same association.
    """
    effects, observed = scores.shuffled_effects(n_shuffles, rng, std), abs(scores.effects(std=std)[0])
    count = int(np.count_nonzero(np.abs(effects) >= observed * (1 - TIE)))
    low, high = np.quantile(effects, [0.025, 0.975])
    return ShuffledControl(float(low), float(high), (count + 1) / (len(effects) + 1))


# --------------------
# The effects of copies of the model with random weights.
#
# Few copies say little about how much effects vary with the weights. The standard deviations of all cells of a model
# are therefore moderated by empirical Bayes (Smyth 2004, section 6.2): each variance is shrunk towards a common one,
# s0^2, which counts as d0 degrees of freedom. A cell whose copies vary much more than the others' keeps its own
# deviation: with a smaller one it would differ from its copies far too often (Phipson et al. 2016).


FEWEST_CELLS = 3
"""Standard deviations needed to estimate how standard deviations vary."""

_WIDE = 0.2
_INFINITE = 1e10  # half of as many degrees of freedom: all cells vary alike


class BesideTwins(NamedTuple):
    """An estimate of a model and of its twins, which have the same words and random weights.

    Attributes:
        effect: of the model; may be None.
        low: lower end of its 95% interval over words or pairs; may be None.
        high: upper end.
        twins: the K estimates of the twins.
        group: estimates of one group share words or pairs, and are not independent.
        most: largest possible difference; the interval ends there.
        unit: how much such an estimate varies compared with others; standard deviations are moderated in this unit.
    """

    effect: float | None
    low: float | None
    high: float | None
    twins: Sequence[float]
    group: str = ""
    most: float = math.inf
    unit: float = 1.0


def compare_with_twins(cells: Sequence[BesideTwins]) -> list[dict[str, float | None]]:
    """Compare the estimates of one model by one method with its twins' estimates.

    The difference, effect - mean of the K twins, is tested against two null hypotheses, and both must be rejected:

        other weights   Student's t, f degrees of freedom, of difference / (s sqrt(1 + 1 / K))
        other words     the normal distribution, of difference / sqrt(V + s^2 / K)

    s and f are the twins' moderated standard deviation and its degrees of freedom (`moderate_deviations`); the first
    hypothesis is that the model is one more of the twins, with these words. V is how much the effect varies with other
    words, ((high - low) / 3.92)^2; the second is that words of the same kind have the twins' mean. p is the larger of
    both, the interval the wider one (docs/simulations.md has how often they reject).

    Returns:
        For each cell `n_twins`, `twin_effect_size` (their mean), `twin_sd`, `twin_difference`, its 95% interval
        `twin_difference_low` to `twin_difference_high`, `p_twins`, and s and f as `twin_sd_moderated` and `twin_df`;
        None where one is missing. Interval and p need two twins and an interval over words.
    """
    found = [_describe_twins(cell) for cell in cells]
    tested = [
        (cell, of_cell)
        for cell, of_cell in zip(cells, found, strict=True)
        if of_cell["twin_sd"] is not None and cell.low is not None and cell.high is not None
    ]
    moderated = moderate_deviations(
        [(of_cell["twin_sd"] or 0.0) / cell.unit for cell, of_cell in tested],
        [len(cell.twins) - 1 for cell, _ in tested],
        [cell.group for cell, _ in tested],
    )
    for (cell, of_cell), s, df in zip(tested, *(each.tolist() for each in moderated), strict=True):
        if s > 0:
            of_cell |= judge_difference(cell, s * cell.unit, df)
    return found


def _describe_twins(cell: BesideTwins) -> dict[str, float | None]:
    names = ("twin_effect_size", "twin_sd", "twin_sd_moderated", "twin_df", "p_twins")
    ends = ("twin_difference_low", "twin_difference_high")
    found: dict[str, float | None] = dict.fromkeys((*names, *ends))
    if (n := len(cell.twins)) and cell.effect is not None:
        mean = float(np.mean(cell.twins))
        found |= {"n_twins": n, "twin_effect_size": mean, "twin_difference": cell.effect - mean}
        found["twin_sd"] = float(np.std(cell.twins, ddof=1)) if n > 1 else None
    return found


def judge_difference(cell: BesideTwins, sd: float, df: float) -> dict[str, float | None]:
    """Return the columns of the test, from the moderated standard deviation and its degrees of freedom."""
    assert cell.effect is not None
    assert cell.low is not None
    assert cell.high is not None
    difference = cell.effect - float(np.mean(cell.twins))
    p, margin = map(float, assess_difference(difference, cell.high - cell.low, len(cell.twins), sd, df))
    return {
        "twin_sd_moderated": sd,
        "twin_df": df,
        "twin_difference_low": max(difference - margin, -cell.most),
        "twin_difference_high": min(difference + margin, cell.most),
        "p_twins": p,
    }


def assess_difference(difference: Any, width: Any, n_twins: int, sd: Any, df: Any) -> tuple[Any, Any]:
    """Return p of the difference from the copies' mean, and half of its interval; numbers, or arrays of many studies.

    `width` is the length of the effect's interval over words.
    """
    from scipy.special import ndtr, stdtr, stdtrit  # here, because it takes longer to import than the rest

    of_weights = sd * (1 + 1 / n_twins) ** 0.5
    of_words = ((width / (2 * Z_95)) ** 2 + sd**2 / n_twins) ** 0.5
    margin = np.maximum(stdtrit(df, 0.975) * of_weights, Z_95 * of_words)
    distance = -np.abs(difference)
    return 2 * np.maximum(stdtr(df, distance / of_weights), ndtr(distance / of_words)), margin


def moderate_deviations(
    deviations: npt.ArrayLike, df: npt.ArrayLike, groups: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations shrunk towards a common one, and their degrees of freedom.

    With e = log s^2 - digamma(d / 2) + log(d / 2) of each s with d degrees of freedom, trigamma(d0 / 2) is the variance
    of e minus the mean of trigamma(d / 2), and d0 is infinite where that is not positive; log s0^2 = mean of e +
    digamma(d0 / 2) - log(d0 / 2). The moderated variance is (d0 s0^2 + d s^2) / (d0 + d), with d0 + d degrees of
    freedom, at most as many as the groups have together. A variance stays as it is if the common distribution has
    larger ones in fewer than `_WIDE` of the cells.

    Args:
        deviations: (n,) standard deviations; zeros do not count for d0 and s0, and are moderated.
        df: (n,) degrees of freedom of each.
        groups: (n,) deviations of one group are correlated, and count once among all degrees of freedom.

    Returns:
        Two arrays, (n,); the arguments where fewer than `FEWEST_CELLS` deviations are above zero.
    """
    s, d = np.asarray(deviations, dtype=np.float64), np.asarray(df, dtype=np.float64)
    if np.count_nonzero(s) < FEWEST_CELLS:
        return s, d
    from scipy.special import digamma, fdtrc, polygamma  # here, because it takes longer to import than the rest

    half = d[s > 0] / 2
    logs = 2 * np.log(s[s > 0]) - digamma(half) + np.log(half)
    excess = float(logs.var(ddof=1) - polygamma(1, half).mean())
    half_prior = _invert_trigamma(excess) if excess > 0 else _INFINITE
    prior, common = 2 * half_prior, np.exp(logs.mean() + digamma(half_prior) - np.log(half_prior))
    most = {group: max(df for other, df in zip(groups, d, strict=True) if other == group) for group in set(groups)}
    is_kept = fdtrc(d, prior, s**2 / common) < _WIDE
    moderated = np.sqrt((prior * common + d * s**2) / (prior + d))
    return np.where(is_kept, s, moderated), np.where(is_kept, d, np.minimum(prior + d, sum(most.values())))


def _invert_trigamma(value: float) -> float:
    """Return the y with trigamma(y) = value > 0, by Newton's method for 1 / trigamma, from below (Smyth 2004)."""
    from scipy.special import polygamma

    y, step = 0.5 + 1 / value, 1.0
    while abs(step) > 1e-12 * y:
        trigamma = polygamma(1, y)
        step = float(trigamma * (1 - trigamma / value) / polygamma(2, y))
        y += step
    return y


# --------------------
# Effects among words that are alike in frequency and in pieces: a regression with words as rows.
#
# Vectors depend on a word's frequency, and on its number of pieces. If X and Y differ in these, so may their
# associations. With s the association of a target word,
#
#     s = b0 + b1 [word is of X] + b2 log(1 + occurrences) + b3 pieces + error
#
# b1 is the difference of the sets' mean associations between words that are alike in both. Its interval takes errors
# of unequal size into account (HC3, MacKinnon and White 1985), with Student's t for as many degrees of freedom as words
# are more than coefficients.


class Adjusted(NamedTuple):
    """A difference between words that are alike, with the ends of its 95% interval."""

    difference: float
    low: float
    high: float


def adjusted_difference(scores: npt.ArrayLike, is_x: npt.ArrayLike, covariates: npt.ArrayLike) -> Adjusted:
    """Return the difference of means between words of X and of Y with the same covariates, by least squares.

    Args:
        scores: (n,) associations of the target words.
        is_x: (n,) whether each is of X.
        covariates: (n, k) what else may make words differ.

    Raises:
        InputError: arrays that do not fit, at most as many words as coefficients, or covariates that determine the
            sets or each other: then no words are alike.
    """
    y = finite_vector("scores", scores)
    others = np.asarray(covariates, dtype=np.float64).reshape(y.size, -1)
    design = np.column_stack([np.ones(y.size), np.asarray(is_x, dtype=np.float64), others - others.mean(axis=0)])
    n, k = design.shape
    if n <= k or np.linalg.matrix_rank(design) < k:
        raise InputError(f"covariates: {n} words cannot determine {k} coefficients. Leave out one, or add words.")
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    # a word of leverage 1 determines a coefficient, and has no error
    errors = (y - design @ coefficients) / np.maximum(1 - leverage, 1e-12)
    covariance = inverse @ (design.T * np.square(errors)) @ design @ inverse
    from scipy.special import stdtrit  # here, because it takes longer to import than the rest of the package

    half = float(stdtrit(n - k, 0.975)) * float(np.sqrt(covariance[1, 1]))
    return Adjusted(float(coefficients[1]), float(coefficients[1]) - half, float(coefficients[1]) + half)
