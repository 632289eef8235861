"""Bootstrap intervals of an effect size, over words and contexts.

Level 1 draws the words of each set again, with replacement; a word comes with all its items. Level 2 draws contexts
within a word: in the draws of CEAT every context of a word is used at most once where there are enough, so draws chosen
again are contexts chosen again. What was measured once (WEAT, SEAT) has no level 2. How often a word counts in resample
i depends on the seed, the category and the words, and on nothing else. Two models therefore have the same resamples,
and the difference of their replicates, one by one, is that of paired effects.

The interval is of the effect in the population that the words of a set are thought to come from: the effect size with
infinitely many words of X and Y (and of A and B, where they are resampled), in which n and n - 1 are the same.
Replicates, which have few words, are put on that scale before anything else (`_to_population`).

- `bca`: bias-corrected and accelerated percentiles (Efron 1987), with the level widened for few words: normal
  quantiles are replaced by sqrt(n / (n - 1)) times those of Student's t, n the smallest resampled set, n_x + n_y
  - 2 degrees of freedom (Hesterberg 2015, "What teachers should know about the bootstrap", expanded percentile
  interval)
- `studentized`: bootstrap-t (Efron 1982), with standard errors by the infinitesimal jackknife

Both were chosen by simulation, and so is what they do not have; docs/statistics.md has their coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from prasanga.base.seeds import generator
from prasanga.stats.crossed import Counts, CrossedScores, leave_one_out
from prasanga.stats.effects import DENOMINATORS, FloatArray, choice, largest_effect

FEWEST_WORDS = 8
"""Words that each set needs for an interval over words, and for a finding: with fewer, no interval held its level."""
INTERVALS = ("bca", "studentized")

FEWEST_TEMPLATES = 4
"""Templates that an interval over them needs (docs/statistics.md has how often it holds)."""

EQUIVALENT = 0.05
"""Below this p an effect counts as within the margin."""

_LEVEL = 0.95

# Share of resamples without an effect that goes without mention.
_UNDEFINED = 0.01

# An effect this much outside of its interval is outside by rounding only.
_ROUNDING = 1e-9

# From this share of the largest possible effect on, the sample's scale explains why an effect is outside.
_NEAR = 0.8


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


class ResampledTemplates(NamedTuple):
    """What an interval over words and templates needs beside its replicates.

    Attributes:
        of_words: (R,) effects with the same words resampled, and no templates.
        without: gives the (T,) effects without each template, by a convention of the denominator.
    """

    of_words: FloatArray
    without: Callable[[str], FloatArray]


def draw_resampling(
    words: Sequence[Sequence[str]],
    n_draws: int,
    *,
    n_resamples: int,
    seed: int,
    category: str,
    resample_attributes: bool = True,
) -> Resampling:
    """Resample the words of X, Y, A and B (`words`, as listed) and `n_draws` draws, `n_resamples` times.

    Each set has a generator of its own, named by the category, the set and its words; the draws have one named by the
    category and their number. More resamples begin with those of fewer.
    """
    resampled = list(zip("xyab", words, strict=True))[: 4 if resample_attributes else 2]
    counts = [
        draw_counts(len(listed), n_resamples, generator(seed, "resampling", category, side, *listed))
        for side, listed in resampled
    ]
    draws = draw_counts(n_draws, n_resamples, generator(seed, "resampling", category, "draws", n_draws))
    return Resampling(
        np.concatenate(counts[:2], axis=1),
        np.concatenate(counts[2:], axis=1) if resample_attributes else None,
        draws if n_draws > 1 else None,
    )


def replicate_effects(crossed: CrossedScores, resampling: Resampling, std: str = "union_ddof1") -> FloatArray:
    """Return (R,) the effect size in every resample, by the convention `std`; NaN where all scores are the same."""
    return crossed.effects(*resampling, std)


def draw_counts(n: int, n_resamples: int, rng: np.random.Generator) -> Counts:
    """Return (n_resamples, n), how often each of `n` was drawn in `n` draws with replacement."""
    chosen = rng.integers(n, size=(n_resamples, n)) + n * np.arange(n_resamples)[:, None]
    return np.bincount(chosen.ravel(), minlength=n * n_resamples).reshape(n_resamples, n).astype(np.float64)


@dataclass(frozen=True)
class Interval:
    """An interval, or the reason why there is none.

    Attributes:
        low: lower end; None if there is no interval.
        high: upper end; None if there is no interval.
        method: `bca`, `studentized`, `bc` (of a difference); of a percentage, `bootstrap` or `exact`.
        note: why there is no interval, why it does not contain the effect, or what else to know about it; empty if
            there is nothing to say.
        p_equivalence: of the hypothesis that the effect is `margin` from 0 or farther; None without one of both.
        equivalent_within: the smallest margin at which that p is .05 or less; None without an interval.
    """

    low: float | None
    high: float | None
    method: str
    note: str = ""
    p_equivalence: float | None = None
    equivalent_within: float | None = None


def interval(
    crossed: CrossedScores,
    resampling: Resampling,
    replicates: FloatArray,
    *,
    method: str = "bca",
    level: float = _LEVEL,
    std: str = "union_ddof1",
    center: float | None = None,
    margin: float | None = None,
    templates: ResampledTemplates | None = None,
) -> Interval:
    """Return the interval of the effect size of `crossed`, from its effects in resamples, and whether it is near 0.

    Two one-sided tests ask whether the effect is above -`margin`, and below `margin`; p is the larger of theirs
    (Schuirmann 1987). Each is the level at which a one-sided interval of the same making ends there, so that p is below
    .05 where the 90 % interval lies within the margin; it is 1 / (R + 1) at least, R the replicates.

    With `templates`, the level of `bca` is widened by the smaller number of words and by that of templates, each for
    its part of the replicates' variance; the degrees of freedom are Satterthwaite's (1946).

    Args:
        crossed: scores of the items.
        resampling: how often the words and draws count in each resample.
        replicates: (R,) `replicate_effects(crossed, resampling, std)`, or effects with templates resampled as well. NaN
            is left out; more than 1 % gives a note.
        method: `bca` or `studentized` (see the module).
        level: probability that the interval is to hold the population's effect.
        std: convention of the effect's denominator, that of the replicates.
        center: the effect that is reported, where it rests on more draws than `crossed`: the interval moves with it.
        margin: distance from 0 that counts as none, greater than 0; None asks for no such test.
        templates: what is known of them, where replicates have templates resampled.

    Returns:
        Without ends, but with a note, if a resampled set has fewer than `FEWEST_WORDS` words. An interval that does not
        contain the reported effect has ends and a note.

    Raises:
        InputError: a method that is not known.
        ConstantScoresError: all words have the same association.
    """
    choice("method", method, INTERVALS)
    sizes = crossed.sizes[: 2 if resampling.attribute_counts is None else 4]
    known = np.isfinite(replicates)
    note = _too_few(sizes) or _undefined(known)
    if _too_few(sizes) or not known.any():
        return Interval(None, None, method, note)
    effect, scale = crossed.effect(std), _to_population(crossed, std)
    made: _Percentiles | _Pivots
    if method == "bca":
        without, parts = leave_one_out(crossed, _plain(std))[: sum(sizes)], [*sizes]
        widened: tuple[float, float] = min(sizes), sizes[0] + sizes[1] - 2
        if templates is not None:
            left_out = templates.without(_plain(std))
            without, parts = np.concatenate([without, left_out]), [*sizes, left_out.size]
            variances = float(np.nanvar(templates.of_words)), float(np.var(replicates[known]))
            widened = _both_widened(*variances, min(sizes), sizes[0] + sizes[1] - 2, left_out.size)
        made = _Percentiles(replicates[known], effect, _acceleration(without, parts), scale, *widened)
    else:
        made = _Pivots.of(crossed, resampling, effect, scale, std)
    low, high = made.ends(level)
    if not np.isfinite([low, high]).all():
        return Interval(None, None, method, "no interval: in no resample does a standard error exist")
    shift = 0.0 if center is None else center - effect
    bound = _largest(crossed, std)
    ends = np.clip([low + shift, high + shift], -bound, bound)
    note = "; ".join(filter(None, (note, _outside(ends, effect + shift, crossed, std))))
    found = Interval(float(ends[0]), float(ends[1]), method, note)
    if margin is None:
        return found
    p_value = max(made.level_at(-margin - shift), 1 - made.level_at(margin - shift), 1 / (known.sum() + 1))
    within = np.abs(np.clip(np.asarray(made.ends(1 - 2 * EQUIVALENT)) + shift, -bound, bound)).max()
    return replace(found, p_equivalence=float(p_value), equivalent_within=float(within))


def crossed_mean_interval(of_first: FloatArray, of_both: FloatArray, mean: float, n: int, n_templates: int) -> Interval:
    """Return the interval of a mean over n things in each of some templates, with both resampled.

    Args:
        of_first: (R,) means with the things resampled alone.
        of_both: (R,) means with the same things, and templates, resampled.
        mean: over all.
        n: number of things.
        n_templates: number of templates.
    """
    widened = _both_widened(float(of_first.var()), float(of_both.var()), n, n - 1, n_templates)
    low, high = _Percentiles(of_both, mean, 0.0, 1.0, *widened).ends(_LEVEL)
    return Interval(low, high, "bc")


def _both_widened(words: float, both: float, n: int, freedom: int, n_templates: int) -> tuple[float, float]:
    """Return number and degrees of freedom by which the level of an interval over words and templates is widened.

    Args:
        words: variance of the replicates with words resampled.
        both: that with both resampled.
        n: words of the smallest set.
        freedom: of the words alone.
        n_templates: number of templates.
    """
    parts = np.array([words, max(both - words, 0.0)])
    numbers, freedoms = np.array([n, n_templates]), np.array([freedom, n_templates - 1])
    if not parts.any():
        return n, freedom
    wider = float((parts * numbers / (numbers - 1)).sum() / parts.sum())
    return wider / (wider - 1), float(parts.sum() ** 2 / (np.square(parts) / freedoms).sum())


def difference_interval(
    replicates_1: FloatArray, replicates_2: FloatArray, effect_1: float, effect_2: float, *, sizes: Sequence[int] = ()
) -> Interval:
    """Return the interval of `effect_1` - `effect_2`, two effects of the same words.

    It is made of bias-corrected percentiles (method `bc`).

    Args:
        replicates_1: (R,) effects in the resamples that both share (`draw_resampling`).
        replicates_2: (R,) the same of the other model or length.
        effect_1: effect size from the same draws as `replicates_1`.
        effect_2: effect size from the same draws as `replicates_2`.
        sizes: words of each resampled set, X first, to refuse sets of fewer than `FEWEST_WORDS`.

    Acceleration and a wider level are left out: in simulations they only made intervals longer that held their level
    without them (docs/statistics.md).
    """
    differences, too_few = replicates_1 - replicates_2, _too_few(sizes)
    known = np.isfinite(differences)
    note = too_few or _undefined(known)
    if too_few or not known.any():
        return Interval(None, None, "bc", note)
    low, high = _bca(differences[known], effect_1 - effect_2, 0.0, _tails(_LEVEL))
    return Interval(float(low), float(high), "bc", note)


def _too_few(sizes: Sequence[int]) -> str:
    """Return why sets of these sizes (X, Y, A, B) have no interval; empty if they have one."""
    for name, size in zip("XYAB", sizes, strict=False):
        if size < FEWEST_WORDS:
            words = "1 word" if size == 1 else f"{size} words"
            return f"no interval: set {name} has {words}, and an interval over words needs {FEWEST_WORDS} in every set"
    return ""


def _undefined(known: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    share = float(np.mean(~known))
    if share == 1:
        return "no interval: in no resample does an effect exist, because all scores are the same"
    if share > _UNDEFINED:
        return f"{share:.1%} of the resamples are left out, because all their scores are the same"
    return ""


def _outside(ends: FloatArray, effect: float, crossed: CrossedScores, std: str) -> str:
    """Return why the interval does not contain the effect that it is shown with; empty if it does."""
    if ends[0] - _ROUNDING <= effect <= ends[1] + _ROUNDING:
        return ""
    bound = _largest(crossed, std)
    limit = bound / _to_population(crossed, std)
    apart = f" near the largest possible effect ({limit:.2f} here, {bound:.2f} in the population)"
    where = apart if abs(effect) > _NEAR * limit else ""
    return (
        "the effect is outside its interval, because the interval is for the population of words and the effect is for"
        f" this sample, and the two differ{where}: use the sign and leave-one-out, not the ends of the interval"
    )


def _plain(std: str) -> str:
    """Return the convention by which leaving out a word does not change the denominator's n - 1 as well."""
    return std if DENOMINATORS[std].within_sets else "union_ddof0"


def _to_population(crossed: CrossedScores, std: str) -> float:
    """Return what an effect by `std` is multiplied by to have the words' own spread, divided by n, as denominator.

    The words are the population that resamples come from; its spread has n in the denominator, whatever `std` says.
    """
    n = crossed.targets.size
    return float(np.sqrt(n / (n - DENOMINATORS[std].lost)))


def _largest(crossed: CrossedScores, std: str) -> float:
    """Return the largest effect that a population can have with X and Y in these proportions."""
    n_x = int((crossed.targets < crossed.n_x).sum())
    return largest_effect(n_x, crossed.targets.size - n_x, std)


def _tails(level: float, n: float | None = None, freedom: float = 0) -> FloatArray:
    """Return quantiles of the two ends on the normal scale, widened if a number of words is given."""
    from scipy.special import ndtri, stdtrit  # here, because it takes longer to import than the rest of the package

    probabilities = np.array([(1 - level) / 2, (1 + level) / 2])
    if n is None:
        return np.asarray(ndtri(probabilities))
    return np.asarray(np.sqrt(n / (n - 1)) * stdtrit(freedom, probabilities))


def _acceleration(without: FloatArray, sizes: Sequence[int]) -> float:
    """Return the acceleration from the effects without each word, of several sets.

    Computed as by Davison and Hinkley 1997, section 5.3.2.
    """
    third = second = 0.0
    for part in np.split(without[: sum(sizes)], np.cumsum(sizes)[:-1]):
        effects = part[np.isfinite(part)]
        if effects.size:
            influence = (effects.size - 1) * (effects.mean() - effects)
            third += float((influence**3).sum()) / effects.size**3
            second += float((influence**2).sum()) / effects.size**2
    return third / (6 * second**1.5) if second > 0 else 0.0


def _bias(replicates: FloatArray, effect: float) -> float:
    """Return the bias on the normal scale.

    Replicates equal to the effect count half; half a replicate at least lies on either side.
    """
    from scipy.special import ndtri  # here, because it takes longer to import than the rest of the package

    below = (np.count_nonzero(replicates < effect) + np.count_nonzero(replicates <= effect)) / 2
    n = replicates.size
    return float(ndtri(np.clip(below, 0.5, n - 0.5) / n))


def _bca(replicates: FloatArray, effect: float, acceleration: float, tails: FloatArray) -> FloatArray:
    """Return the two ends."""
    from scipy.special import ndtr  # here, because it takes longer to import than the rest of the package

    bias = _bias(replicates, effect)
    moved = bias + tails
    room = 1 - acceleration * moved
    # Past the pole of the correction the end is the last replicate.
    ends = np.where(room > 0, bias + moved / np.where(room > 0, room, 1.0), np.sign(moved) * np.inf)
    return np.asarray(np.quantile(replicates, ndtr(ends)))


@dataclass(frozen=True, eq=False)
class _Percentiles:
    """Interval `bca` of replicates, on the scale of the population."""

    replicates: FloatArray
    effect: float
    acceleration: float
    scale: float
    n: float
    freedom: float

    def ends(self, level: float) -> tuple[float, float]:
        """Return both ends."""
        tails = _tails(level, self.n, self.freedom)
        low, high = self.scale * _bca(self.replicates, self.effect, self.acceleration, tails)
        return float(low), float(high)

    def level_at(self, bound: float) -> float:
        """Return the one-sided level at which an interval begins at `bound`: the same steps, the last one first."""
        from scipy.special import ndtri, stdtr  # here, because it takes longer to import than the rest of the package

        moved = float(ndtri(_share_below(self.replicates, bound / self.scale))) - _bias(self.replicates, self.effect)
        room = 1 + self.acceleration * moved
        if not (np.isfinite(moved) and room > 0):  # no level ends there: beyond the last replicate, or past the pole
            return float(moved > 0)
        tail = moved / room - _bias(self.replicates, self.effect)
        return float(stdtr(self.freedom, tail / np.sqrt(self.n / (self.n - 1))))


@dataclass(frozen=True, eq=False)
class _Pivots:
    """Interval `studentized`. An effect over the spread within sets is unbounded: its scale is 2 arcsinh(d / 2)."""

    pivots: FloatArray
    effect: float
    error: float
    curved: bool

    @classmethod
    def of(cls, crossed: CrossedScores, resampling: Resampling, effect: float, scale: float, std: str) -> _Pivots:
        """Return those of resamples, with standard errors by the infinitesimal jackknife."""
        curved = DENOMINATORS[std].within_sets
        once = None if resampling.attribute_counts is None else np.ones((1, crossed.n_attributes))
        error = scale * crossed.effects_and_errors(attribute_counts=once, std=std)[1][0]
        replicates, errors = crossed.effects_and_errors(*resampling, std)
        with np.errstate(invalid="ignore", divide="ignore"):
            if curved:
                effect, replicates = 2 * np.arcsinh(scale * effect / 2), 2 * np.arcsinh(scale * replicates / 2)
                error, errors = error / np.cosh(effect / 2), scale * errors / np.cosh(replicates / 2)
            else:
                effect, replicates, errors = scale * effect, scale * replicates, scale * errors
            pivots = (replicates - effect) / errors
        return cls(pivots[np.isfinite(pivots)], float(effect), float(error), curved)

    def ends(self, level: float) -> tuple[float, float]:
        """Return both ends; NaN where there is no pivot."""
        if not self.pivots.size:
            return np.nan, np.nan
        smallest, largest = np.quantile(self.pivots, [(1 - level) / 2, (1 + level) / 2])
        low, high = self.effect - largest * self.error, self.effect - smallest * self.error
        return (float(2 * np.sinh(low / 2)), float(2 * np.sinh(high / 2))) if self.curved else (float(low), float(high))

    def level_at(self, bound: float) -> float:
        """Return the one-sided level at which an interval begins at `bound`."""
        place = float(2 * np.arcsinh(bound / 2)) if self.curved else bound
        return 1 - _share_below(self.pivots, (self.effect - place) / self.error)


def _share_below(numbers: FloatArray, bound: float) -> float:
    """Return the probability whose quantile (linear, as numpy's) is `bound`; 0 or 1 beyond all numbers."""
    ordered = np.sort(numbers)
    return float(np.interp(bound, ordered, np.linspace(0, 1, ordered.size), left=0, right=1))
