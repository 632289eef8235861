"""The estimate of a category by WEAT, SEAT or CEAT: the same columns, computed in the same way from its cosines.

The three differ only in their items: words, sentences or contexts. Effect size, interval, tests of the words, the null
control of shuffled attribute words, and effects without one word are the same.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.vectors import SCALES, Change, Words, describe_repeats, each_once
from prasanga.base.errors import InputError
from prasanga.base.logs import progress
from prasanga.base.seeds import generator
from prasanga.schema import TABLES, Loss, Reason, loss_columns
from prasanga.stats.crossed import CountedScores, CrossedScores, contrast, contributions, leave_one_out
from prasanga.stats.effects import ConstantScoresError, FloatArray, finite_or_none
from prasanga.stats.intervals import (
    FEWEST_TEMPLATES,
    Interval,
    Omitted,
    Resampling,
    draw_resampling,
    interval,
    omit_templates,
    omit_units,
    shuffled_control,
)
from prasanga.stats.permutation import PermutationTest, Units, matched_effect_size, permutation_test_of_scores

Rows: TypeAlias = list[dict[str, Any]]

# --------------------
# The categories of a study: two target sets and two attribute sets of words.


@dataclass(frozen=True)
class CategoryWords:
    """A test category: four sets of words, in the order X, Y (targets), A, B (attributes).

    Attributes:
        name: its name.
        title: in words.
        set_names: of the four sets.
        sets: their words.
        repeated: the words that a set listed more than once, once per repetition; `sets` has each once.
        matched: the sides with sets that are matched, word by word: targets, attributes, both, or neither.
        clusters: of each set, the words in a cluster, with its name.
        as_published: whether a set has the words of a paper, only for comparison with its numbers.
    """

    name: str
    title: str
    set_names: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    repeated: tuple[tuple[str, ...], ...] = ((), (), (), ())
    matched: str = ""
    clusters: tuple[Mapping[str, str], ...] = ({}, {}, {}, {})
    as_published: bool = False

    @property
    def words(self) -> list[str]:
        """The words of all sets, each once."""
        return list(dict.fromkeys(word for words in self.sets for word in words))

    def is_matched(self, side: str) -> bool:
        """Return whether the sets of `targets` or `attributes` are matched."""
        return self.matched in (side, "both")

    def units(self, used: Sequence[Sequence[str]]) -> tuple[Units, Units]:
        """Return the units of chance of the used targets and attributes."""
        targets, attributes = (
            Units.from_clusters(used[i], used[i + 1], *self.clusters[i : i + 2], matched=self.is_matched(side))
            for i, side in ((0, "targets"), (2, "attributes"))
        )
        return targets, attributes

    def exchange(self) -> CategoryWords:
        """Return the category with targets and attributes in each other's place."""
        sides = {"targets": "attributes", "attributes": "targets"}
        of_sets: dict[str, Any] = {name: getattr(self, name) for name in ("set_names", "sets", "repeated", "clusters")}
        turned: dict[str, Any] = {name: (*each[2:], *each[:2]) for name, each in of_sets.items()}
        return replace(self, matched=sides.get(self.matched, self.matched), **turned)

    def lose(self, word: str, reason: Reason, detail: str) -> Loss:
        """Return the loss of a word, in the first set that lists it."""
        name = next(name for name, words in zip(self.set_names, self.sets, strict=True) if word in words)
        return Loss(name, word, reason, detail)


def category_of(name: str, layout: Mapping[str, Any], repeated_words: str = "once") -> CategoryWords:
    """Read one category of `categories.json`: {"title": ..., "targets": [set, set], "attributes": [set, set]}.

    A set is {"name": ..., "stimuli": [word, ...]}, and may have "clusters", {word: name of its cluster}; other keys are
    ignored. "matched" names the sides whose sets are matched. A word listed twice in a set counts `once`, or
    `as-listed`.
    """
    four = [*layout["targets"], *layout["attributes"]]
    kept = [each_once(of["stimuli"]) if repeated_words == "once" else (list(of["stimuli"]), []) for of in four]
    sets, repeated = (tuple(map(tuple, words)) for words in zip(*kept, strict=True))
    names, clusters = tuple(of["name"] for of in four), tuple(of.get("clusters", {}) for of in four)
    published = any(of.get("as_published", False) for of in four)
    return CategoryWords(name, layout["title"], names, sets, repeated, layout.get("matched", ""), clusters, published)


def select_words(category: CategoryWords, usable: Container[str]) -> tuple[Words, list[Loss]]:
    """Return the usable words of each set, in order, and the losses of words whose partner is lost.

    Matched sets keep whole pairs.
    """
    kept = [[word in usable for word in words] for words in category.sets]
    lost = []
    for place, side in ((0, "targets"), (2, "attributes")):
        first, second = category.sets[place : place + 2] if category.is_matched(side) else ((), ())
        for pair, (one, other) in enumerate(zip(first, second, strict=True)):
            if kept[place][pair] != kept[place + 1][pair]:
                word, partner = (one, other) if kept[place][pair] else (other, one)
                lost.append(category.lose(word, Reason.PARTNER_LOST, f"its pair with {partner} is left out whole"))
                kept[place][pair] = kept[place + 1][pair] = False
    used = (tuple(itertools.compress(words, keep)) for words, keep in zip(category.sets, kept, strict=True))
    return cast(Words, tuple(used)), lost


def find_small_set(
    category: CategoryWords, used: Words, *, needed: str = "2211", words: str = "stimuli"
) -> Loss | None:
    """Return the first set that has too few words left for an effect size, or None.

    `needed` is the smallest number for X, Y, A and B; `words` is the noun of the message.
    """
    kinds = ("a target set", "a target set", "an attribute set", "an attribute set")
    for name, listed, kept, kind, least in zip(category.set_names, category.sets, used, kinds, needed, strict=True):
        if len(kept) < int(least):
            detail = f"has {len(kept)} of {len(listed)} {words} left, and {kind} needs {least}"
            return Loss(name, None, Reason.TOO_FEW_WORDS, detail)
    return None


def describe_category(category: CategoryWords, used: Words, lost: Sequence[Loss]) -> dict[str, Any]:
    """Return the columns of a category and of its words; `lost` lists the words left out, and why."""

    def count(words: Sequence[Sequence[str]]) -> list[int]:
        return [n for units in category.units(words) for n in units.sizes]

    sides = list(zip("xyab", category.set_names, category.sets, category.repeated, used, strict=True))
    repeats = [
        Loss(name, word, Reason.REPEATED, detail)
        for _, name, _, repeated, kept in sides
        for word, detail in describe_repeats(repeated, kept)
    ]
    return {
        **{"category": category.name, "category_title": category.title},
        **{f"{'target' if side in 'xy' else 'attribute'}_{side}": name for side, name, *_ in sides},
        **{f"n_{side}": n for side, n in zip("xyab", count(used), strict=True)},
        **{f"listed_{side}": n for side, n in zip("xyab", count(category.sets), strict=True)},
        "matched": category.matched or None,
        "as_published": category.as_published or None,
        **loss_columns([*repeats, *lost]),
    }


# --------------------
# How effects are tested.


@dataclass(frozen=True)
class TestSettings:
    """How effects are tested, as in the config."""

    __test__ = False  # no test of pytest's

    std: str = "union_ddof1"
    alternative: str = "two-sided"
    statistic: str = "studentized"
    n_permutations: int = 100_000
    n_resamples: int = 2000
    resample_attributes: bool = True
    n_shuffles: int = 1000
    equivalence_margin: float = 0.2

    def __post_init__(self) -> None:
        """Refuse a single resample, which makes no interval."""
        if self.n_resamples == 1:
            raise InputError("associations.n_resamples: 1. Write 2000, or 0 for no intervals of differences.")

    def conventions(self) -> dict[str, Any]:
        """Return the settings as the columns that have their names."""
        return {**asdict(self), "interval": "jackknife"}


@dataclass(frozen=True)
class Estimand:
    """An effect that is measured, and the names of its random numbers.

    Attributes:
        category: its name.
        words: of X, Y, A and B. Effects with the same category and words share resamples, and are compared in pairs.
        units: of X and Y, and of A and B, which are permuted, left out and resampled.
        settings: how the effect is tested.
        seed: of the study.
        names: other names for the seeds of drawn permutations and shuffles, such as the model and the length.
    """

    category: str
    words: Words
    units: tuple[Units, Units]
    settings: TestSettings
    seed: int
    names: tuple[object, ...] = ()

    def generator(self, what: str) -> np.random.Generator:
        """Return the generator for one purpose."""
        return generator(self.seed, what, *self.names, self.category)

    @property
    def sampled(self) -> tuple[Units, ...]:
        """The units that count as a sample: of the targets, and of the attributes unless these are fixed."""
        return self.units if self.settings.resample_attributes else self.units[:1]

    def resample(self, n_draws: int = 1) -> Resampling:
        """Return `n_resamples` resamples of the units, and of `n_draws` draws."""
        how: dict[str, Any] = {"n_resamples": self.settings.n_resamples, "seed": self.seed, "category": self.category}
        return draw_resampling(self.words, self.sampled, n_draws, **how)

    def omit(self, counted: CountedScores, cosines: CrossedScores) -> list[Omitted]:
        """Return the effects without each unit."""
        return omit_units(counted, cosines, self.sampled, self.settings.std)

    def find_interval(self, effect: float, omitted: Sequence[Omitted], templates: Omitted | None = None) -> Interval:
        """Return the interval of an effect, over words, or over words and templates."""
        margin = self.settings.equivalence_margin
        return interval(effect, self.sampled, omitted, templates=templates, margin=margin)

    def _how(self, what: str) -> dict[str, Any]:
        how = self.settings
        return {"alternative": how.alternative, "n_resamples": how.n_permutations, "rng": self.generator(what)}

    def test_sentences(self, sets: Sequence[FloatArray]) -> PermutationTest:
        """Test the sentences of two sets as if they were words, as the papers do (`p_sentences`)."""
        return permutation_test_of_scores(*sets, statistic="difference", **self._how("p_sentences"))

    def test_words(self, cosines: CrossedScores) -> tuple[PermutationTest, PermutationTest]:
        """Test the units of X and Y by their words' associations, and the units of A and B by contributions."""
        how: dict[str, Any] = {"statistic": self.settings.statistic, "noise": cosines.noise}
        targets, attributes = self.units
        first = targets.test(cosines.word_scores(), **how, **self._how("p_stimuli"))
        return first, attributes.test(contributions(cosines), **how, **self._how("p_attributes"))


def _describe_tests(tests: Sequence[PermutationTest], units: Sequence[Units]) -> dict[str, Any]:
    """Return the columns of the tests of either side; a side with few clusters has no p.

    An association depends on both sides, so `p_association` is the larger p.
    """
    columns: dict[str, Any] = {"smallest_p": max(test.smallest_p for test in tests)}
    for name, number, test, side in zip(
        ("p_stimuli", "p_attributes"), ("n_partitions", "n_attribute_partitions"), tests, units, strict=True
    ):
        counted = test.n_partitions if test.exact else test.n_resamples
        columns |= {name: None if side.are_few else test.p_value, f"{name}_exact": test.exact, number: counted}
    p_values = columns["p_stimuli"], columns["p_attributes"]
    columns["p_association"] = None if None in p_values else max(p_values)
    return columns | {"p_stimuli_low": tests[0].ci_low, "p_stimuli_high": tests[0].ci_high}


# --------------------
# One estimate.


class Estimate(NamedTuple):
    """The numbers of one category.

    Attributes:
        columns: by name, without the corrected p and the columns of twins.
        words: a row for each word: its association, and the effect without it.
    """

    columns: dict[str, Any]
    words: Rows


def measure_cosines(
    cosines: CrossedScores,
    estimand: Estimand,
    *,
    counted: CountedScores | None = None,
    tests: tuple[PermutationTest, PermutationTest] | None = None,
    effect: float | None = None,
    scores: FloatArray | None = None,
    without: FloatArray | None = None,
    n_items: Sequence[int] = (),
    rescale: Callable[[Change], CrossedScores] | None = None,
) -> Estimate:
    """Return the effect of one category, its interval, tests and controls.

    Args:
        cosines: of its items, with words in the estimand's order.
        estimand: the effect to measure.
        counted: gives effects with words counted several times, if they are not linear in `cosines`.
        tests: of the words, if they use more than `cosines`.
        effect: the reported effect, if it uses more draws than `cosines`; intervals and other numbers are centered on
            it.
        scores: (n_targets,) associations of the target words, if they use more draws.
        without: effects without each word, in the order X, Y, A, B, if they use more draws; NaN for none.
        n_items: of each word, for the table; by default from `cosines`.
        rescale: computes the cosines of the same items with vectors changed by one of `SCALES`.

    Raises:
        ConstantScoresError: all words have the same association.
    """
    settings, counted = estimand.settings, counted or cosines
    observed = cosines.effect(settings.std)
    effect = observed if effect is None else effect
    scores = cosines.word_scores() if scores is None else scores
    if without is None:
        without = leave_one_out(counted, settings.std) - observed + effect
    columns = {"effect_size": effect, **_describe_tests(tests or estimand.test_words(cosines), estimand.units)}
    columns |= range_columns("leave_out", without)
    columns["effect_size_matched"] = _measure_pairs(estimand.units, scores, contributions(cosines))
    found = estimand.find_interval(effect, estimand.omit(counted, cosines))
    columns |= {"ci_low": found.low, "ci_high": found.high, "interval_note": found.note or None}
    columns |= {"p_equivalence": found.p_equivalence, "equivalent_within": found.equivalent_within}
    if settings.n_shuffles:
        rng = estimand.generator("shuffles")
        control = shuffled_control(counted, n_shuffles=settings.n_shuffles, rng=rng, std=settings.std)
        columns |= {"shuffled_low": control.low, "shuffled_high": control.high, "p_shuffled": control.p_value}
    difference = columns["difference"] = _subtract_means(cosines, scores)
    if rescale is not None:
        columns |= _measure_rescaled(rescale, cosines, settings.std, effect, difference)
    listed = [(role, word) for role, side in zip("xyab", estimand.words, strict=True) for word in side]
    n_items = n_items or np.concatenate([np.bincount(cosines.targets), np.bincount(cosines.attributes)]).tolist()
    associations = np.concatenate([scores, contributions(cosines)]).tolist()
    words = [
        {"role": role, "stimulus": word, "association": score, "n_items": n, "effect_without": finite_or_none(rest)}
        for (role, word), score, n, rest in zip(listed, associations, n_items, without, strict=True)
    ]
    return Estimate(columns, words)


def _measure_rescaled(
    rescale: Callable[[Change], CrossedScores], cosines: CrossedScores, std: str, effect: float, difference: float
) -> dict[str, float]:
    """Return the effect and the difference of means on each scale, centered like the reported ones."""
    columns, observed = dict[str, float](), cosines.effect(std)
    for scale, change in SCALES.items():
        with contextlib.suppress(InputError):  # vectors without a direction, or words without a spread: no number
            other = rescale(change)
            columns[f"effect_{scale}"] = other.effect(std) - observed + effect
            apart = _subtract_means(other, other.word_scores()) - _subtract_means(cosines, cosines.word_scores())
            columns[f"difference_{scale}"] = apart + difference
    return columns


def _measure_pairs(units: Sequence[Units], *scores: FloatArray) -> float | None:
    """Return the effect size within matched pairs: of the targets, or else of the attributes."""
    matched = (each.subtract(of_words) for each, of_words in zip(units, scores, strict=True) if each.matched)
    differences = next(matched, None)
    return None if differences is None else matched_effect_size(differences)


def _subtract_means(cosines: CrossedScores, scores: FloatArray) -> float:
    """Return the mean association of X minus the mean of Y: the effect size's numerator."""
    return float(scores[: cosines.n_x].mean() - scores[cosines.n_x :].mean())


def range_columns(name: str, effects: FloatArray) -> dict[str, float | None]:
    """Return the smallest and the largest finite effect, as `<name>_low` and `<name>_high`."""
    known = effects[np.isfinite(effects)]
    low, high = (float(known.min()), float(known.max())) if known.size else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


# --------------------
# The estimates of a method, including categories that cannot be computed.


class AskedEstimate(NamedTuple):
    """An estimate to compute."""

    category: CategoryWords
    key: Mapping[str, str]
    """Columns of all its rows: the model, and the segment length and sample mode of CEAT."""
    used: Words
    lost: list[Loss]
    about: Mapping[str, Any]
    """Other columns of its row, known before measurement."""

    def estimate(self, settings: TestSettings, seed: int, *names: object) -> Estimand:
        """Return the estimand."""
        return Estimand(self.category.name, self.used, self.category.units(self.used), settings, seed, names)


def measure_cells(
    what: str,
    cells: Sequence[AskedEstimate],
    measure: Callable[[AskedEstimate], tuple[dict[str, Any], *tuple[Rows, ...]]],
    *tables: str,
    needed: str = "2211",
    noun: str = "stimuli",
) -> list[pa.Table]:
    """Return the tables of a method, by name: a row of estimates per cell, and the rows of other tables.

    Args:
        what: label of the progress bar.
        cells: the estimates.
        measure: gives the columns of an estimate, and the rows of the other tables.
        tables: their names in the schema, estimates first.
        needed: the smallest number of words of X, Y, A and B for an effect size.
        noun: of words, for messages.
    """
    rows: list[Rows] = [[] for _ in tables]
    with progress(what, len(cells), "estimates") as done:
        for category, key, used, lost, about in done.over(cells):
            columns: dict[str, Any] = {}
            sets = dict(zip("xyab", category.set_names, strict=True))
            if small := find_small_set(category, used, needed=needed, words=noun):
                lost.append(small)
            else:
                try:
                    columns, *others = measure(AskedEstimate(category, key, used, lost, about))
                    for table, more in zip(rows[1:], others, strict=True):
                        of_cell = {"category": category.name, **key}
                        table += [{**of_cell, "set": sets.get(row.get("role", "")), **row} for row in more]
                except ConstantScoresError as error:
                    lost.append(Loss(None, None, Reason.EQUAL_SCORES, str(error)))
            rows[0].append({**describe_category(category, used, lost), **key, **about, **columns})
    return [pa.Table.from_pylist(of, schema=TABLES[name].arrow()) for of, name in zip(rows, tables, strict=True)]


# --------------------
# The change of an association with context length: slopes of word scores on log2 of the length.
#
# Effect sizes of single contexts change with length even if no association does: they are divided by the scatter of
# contexts, which depends on the length. So a word is here the mean of its unit vectors over the occurrences that all
# lengths share. With s_l(w) the association of word w at length l, from these means, and S_l the spread of the target
# words' associations there, a word has the slope
#
#     b(w) = sum over l of (x_l - mean x) s_l(w) / S_l  /  sum over l of (x_l - mean x)^2,    x_l = log2(l)
#
# and the mean b over X minus that over Y is the slope of the effect on x_l: its change per doubling of the length. The
# test permutes words by their slopes, on both sides; the hypothesis is that slopes are exchangeable between the sets.
# Dividing by S_l matters: mean vectors shrink with the scatter of contexts, and associations with them. S_l must not
# include the scatter that remains in a mean, which is the difference between two halves of the occurrences:
#
#     S_l^2 = spread of (s_1 + s_2) / 2, squared  -  spread of (s_1 - s_2) / 2, squared


def measure_slope(
    lengths: Sequence[str], halves: Sequence[tuple[FloatArray, FloatArray]], estimand: Estimand
) -> dict[str, Any]:
    """Return the columns of the slope of an effect: its change per doubling of the length, interval and p.

    Args:
        lengths: two fixed segment lengths or more, in words.
        halves: at each length, (n_targets, n_attributes) mean cosines over either half of the targets' occurrences.
        estimand: the effect to measure; `names` identify the slope.
    """
    x = np.log2([int(length) for length in lengths])
    weights = (x - x.mean()) / np.square(x - x.mean()).sum()
    sizes, std = [len(side) for side in estimand.words], estimand.settings.std
    total = np.zeros(halves[0][0].shape)
    for length, weight, (first, second) in zip(lengths, weights, halves, strict=True):
        mean, apart = (CrossedScores.of_words(each[None] / 2, sizes) for each in (first + second, first - second))
        square = float(mean.spreads(std)[0] ** 2 - np.nan_to_num(apart.spreads(std)[0]) ** 2)
        if not square > 0:
            why = f"no slope: at {length} words, associations of words differ by no more than the scatter of contexts"
            return {"slope_note": why}
        total += weight * mean.values[0] / math.sqrt(square)
    slopes = CrossedScores.of_words(total[None], sizes)
    sides = slopes.word_scores(), contributions(slopes)
    settings = replace(estimand.settings, alternative="two-sided")
    tests = replace(estimand, names=(*estimand.names, "slope"), settings=settings).test_words(slopes)
    omitted = [
        Omitted(contrast(kept, units.is_first) @ scores, np.full(len(kept), math.inf), math.inf)
        for units, scores in zip(estimand.sampled, sides, strict=False)
        for kept in units.leave_one_out()
    ]
    slope = _subtract_means(slopes, sides[0])
    found = estimand.find_interval(slope, omitted)
    return {
        **{"slope": slope, "slope_low": found.low, "slope_high": found.high, "slope_note": found.note or None},
        "p_slope": None if any(side.are_few for side in estimand.units) else max(test.p_value for test in tests),
    }


# --------------------
# Templates as a sample: the effect in each, without each, and its interval over words and templates.
#
# A study has a few templates out of many possible ones. They are crossed with the words: each word is in each template
# of its class, and templates with the same place correspond in all classes. So templates add to the variance of words;
# interactions of words and templates count in both.


def measure_templates(
    measure: Callable[[npt.NDArray[np.bool_]], float],
    names: Sequence[str],
    cosines: CrossedScores,
    estimand: Estimand,
    *,
    counted: CountedScores | None = None,
) -> tuple[dict[str, Any], Rows]:
    """Return the columns of templates of an estimate, and rows of the table of templates without category and model.

    Args:
        measure: gives the effect in some templates, (n_templates,) booleans; may be NaN.
        names: of the templates, by their place.
        cosines: of the items, as in `measure_cosines`.
        estimand: the effect to measure.
        counted: as in `measure_cosines`.
    """
    n, std = len(names), estimand.settings.std
    each = np.eye(n, dtype=bool)
    alone, without = (np.array([measure(kept) for kept in of_rows]) for of_rows in (each, ~each))
    rows = [
        {"place": place, "template": name, "effect_size": finite_or_none(one), "effect_without": finite_or_none(rest)}
        for place, (name, one, rest) in enumerate(zip(names, alone, without, strict=True), start=1)
    ]
    columns: dict[str, Any] = {**range_columns("by_template", alone), **range_columns("without_template", without)}
    if n < FEWEST_TEMPLATES:
        some = "1 template" if n == 1 else f"{n} templates"
        note = f"no interval: {some}, and an interval over templates needs {FEWEST_TEMPLATES}"
        return {**columns, "templates_note": note}, rows
    templates, effect = omit_templates(without, cosines, std), cosines.effect(std)
    found = estimand.find_interval(effect, estimand.omit(counted or cosines, cosines), templates)
    ends = {"ci_templates_low": found.low, "ci_templates_high": found.high, "templates_note": found.note or None}
    return {**columns, **ends}, rows
