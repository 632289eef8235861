"""What WEAT, SEAT and CEAT say of a category: the same columns, computed in the same way from its cosines.

The three differ in what an item is - a word, its sentences, its contexts - and in nothing else: the effect size, its
interval, the tests of the words, the null control of dealt attribute words, and the effect without one word.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.vectors import SCALES, Change, Words, describe_repeats, each_once
from prasanga.base.errors import InputError
from prasanga.base.logs import progress
from prasanga.base.seeds import generator
from prasanga.schema import TABLES
from prasanga.schema.registry import Loss, Reason, loss_columns
from prasanga.stats.controls import shuffled_control
from prasanga.stats.crossed import (
    CountedScores,
    Counts,
    CrossedScores,
    contributions,
    effects_of_items,
    in_blocks,
    item_counts,
    leave_one_out,
)
from prasanga.stats.effects import COSINE_NOISE, ConstantScoresError, FloatArray, IndexArray, finite_or_none
from prasanga.stats.intervals import (
    FEWEST_TEMPLATES,
    ResampledTemplates,
    Resampling,
    draw_counts,
    draw_resampling,
    interval,
)
from prasanga.stats.permutation import PermutationTest, permutation_test_of_scores, smallest_effect

Rows: TypeAlias = list[dict[str, Any]]

NO_INTERVAL_ASKED = "no interval was asked for (associations.n_resamples is 0)"
# --------------------
# The categories of a study: two target sets and two attribute sets of words.


@dataclass(frozen=True)
class Category:
    """A test category: four sets of words, in the order X, Y (targets), A, B (attributes).

    `repeated` has the words that a set listed more than once, once per repetition; they are not in `sets` again.
    """

    name: str
    title: str
    set_names: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    repeated: tuple[tuple[str, ...], ...] = ((), (), (), ())

    @property
    def words(self) -> list[str]:
        """The words of all sets, each once."""
        return list(dict.fromkeys(word for words in self.sets for word in words))

    def lose(self, word: str, reason: Reason, detail: str) -> Loss:
        """Return the loss of a word, in the first set that lists it."""
        name = next(name for name, words in zip(self.set_names, self.sets, strict=True) if word in words)
        return Loss(name, word, reason, detail)


def category_of(name: str, layout: Mapping[str, Any], repeated_words: str = "once") -> Category:
    """Read one category of `categories.json`: {"title": ..., "targets": [set, set], "attributes": [set, set]}.

    A set is {"name": ..., "stimuli": [word, ...]}; other keys are left alone. A word listed twice in a set counts
    `once`, or `as-listed`.
    """
    four = [*layout["targets"], *layout["attributes"]]
    kept = [each_once(of["stimuli"]) if repeated_words == "once" else (list(of["stimuli"]), []) for of in four]
    sets, repeated = (tuple(map(tuple, words)) for words in zip(*kept, strict=True))
    return Category(name, layout["title"], tuple(of["name"] for of in four), sets, repeated)


def used_words(listed: Sequence[Sequence[str]], usable: Container[str]) -> Words:
    """Return the words of each set that can be measured (`word in usable`), in order."""
    return cast(Words, tuple(tuple(word for word in words if word in usable) for words in listed))


def find_small_set(category: Category, used: Words, *, needed: str = "2211", words: str = "stimuli") -> Loss | None:
    """Return the first set that has too few words left for an effect size, or None.

    `needed` has the smallest number for X, Y, A and B; `words` is the noun of the message.
    """
    kinds = ("a target set", "a target set", "an attribute set", "an attribute set")
    for name, listed, kept, kind, least in zip(category.set_names, category.sets, used, kinds, needed, strict=True):
        if len(kept) < int(least):
            detail = f"has {len(kept)} of {len(listed)} {words} left, and {kind} needs {least}"
            return Loss(name, None, Reason.TOO_FEW_WORDS, detail)
    return None


def describe_category(category: Category, used: Words, lost: Sequence[Loss]) -> dict[str, Any]:
    """Return the columns of a category and of its words; `lost` lists the words that were left out, and why."""
    sides = list(zip("xyab", category.set_names, category.sets, category.repeated, used, strict=True))
    repeats = [
        Loss(name, word, Reason.REPEATED, detail)
        for _, name, _, repeated, kept in sides
        for word, detail in describe_repeats(repeated, kept)
    ]
    return {
        **{"category": category.name, "category_title": category.title},
        **{f"{'target' if side in 'xy' else 'attribute'}_{side}": name for side, name, *_ in sides},
        **{f"n_{side}": len(kept) for side, *_, kept in sides},
        **{f"listed_{side}": len(words) for side, _, words, *_ in sides},
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
    interval: str = "bca"
    n_resamples: int = 2000
    resample_attributes: bool = True
    n_shuffles: int = 1000
    equivalence_margin: float = 0.2

    def __post_init__(self) -> None:
        """Refuse a number of resamples that the schema of the config allows and no interval can be made of."""
        if self.n_resamples == 1:
            raise InputError(
                "associations.n_resamples: 1. Write 0 for no interval, or at least 2, better 2000: the ends of an"
                " interval are quantiles of the resamples, and those of a single one are the same."
            )

    def conventions(self) -> dict[str, Any]:
        """Return the settings as the columns that have their names."""
        return asdict(self)


@dataclass(frozen=True)
class Estimand:
    """An effect that is measured, and what its random numbers are named by.

    Attributes:
        category: its name.
        words: of X, Y, A and B. Effects with the same category and words share resamples, and are compared in pairs.
        settings: how the effect is tested.
        seed: of the study.
        names: what else sampled permutations and dealt words belong to, such as the model and the length.
    """

    category: str
    words: Words
    settings: TestSettings
    seed: int
    names: tuple[object, ...] = ()

    def generator(self, what: str) -> np.random.Generator:
        """Return the generator of `what`."""
        return generator(self.seed, what, *self.names, self.category)

    def resample(self, n_draws: int = 1) -> Resampling:
        """Return `n_resamples` resamples of the words, and of `n_draws` draws."""
        how = {name: getattr(self.settings, name) for name in ("n_resamples", "resample_attributes")}
        return draw_resampling(self.words, n_draws, seed=self.seed, category=self.category, **how)

    def test(
        self, what: str, sets: Sequence[FloatArray], *, statistic: str = "", noise: float = 0.0
    ) -> PermutationTest:
        """Test the scores of two sets; `what` names the partitions that are drawn."""
        settings = self.settings
        return permutation_test_of_scores(
            *sets,
            alternative=settings.alternative,
            n_resamples=settings.n_permutations,
            rng=self.generator(what),
            statistic=statistic or settings.statistic,
            noise=noise,
        )

    def test_words(self, cosines: CrossedScores) -> tuple[PermutationTest, PermutationTest]:
        """Test the words of X and Y by their associations, and those of A and B by their contributions."""
        targets, attributes = cosines.split()
        first = self.test("p_stimuli", targets, noise=cosines.noise)
        return first, self.test("p_attributes", attributes, noise=cosines.noise)


def _describe_tests(stimuli: PermutationTest, attributes: PermutationTest) -> dict[str, Any]:
    """Return the columns of the tests of either side.

    An association is one of these targets with these attributes, so that `p_association` is the larger p.
    """
    columns: dict[str, Any] = {"p_association": max(stimuli.p_value, attributes.p_value)}
    for name, number, test in (
        ("p_stimuli", "n_partitions", stimuli),
        ("p_attributes", "n_attribute_partitions", attributes),
    ):
        counted = test.n_partitions if test.exact else test.n_resamples
        columns |= {name: test.p_value, f"{name}_exact": test.exact, number: counted}
    return columns | {"p_stimuli_low": stimuli.ci_low, "p_stimuli_high": stimuli.ci_high}


# --------------------
# One estimate.


class Estimate(NamedTuple):
    """What is known of one category.

    Attributes:
        columns: by name, but for the corrected p and the twins'.
        words: a row for each word: its association, and the effect without it.
        replicates: (n_resamples,), the effect with words and contexts resampled, numbered as everywhere with the same
            words (`draw_resampling`); empty if no interval was asked for.
    """

    columns: dict[str, Any]
    words: Rows
    replicates: FloatArray


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
    """Return the effect of one category, how sure it is, and its controls.

    Args:
        cosines: of its items, the words in the order of the estimand's.
        estimand: what is measured.
        counted: gives effects with words counted several times, where they are not linear in `cosines`.
        tests: of the words, where they rest on more than `cosines`.
        effect: the effect that is reported, where it rests on more draws than `cosines` has; intervals are put around
            it, and so is what else `cosines` give.
        scores: (n_targets,) associations of the target words, where they rest on more draws.
        without: effects without each word, in the order X, Y, A, B, where they rest on more draws; NaN for none.
        n_items: of each word, for the table; those of `cosines` if not given.
        rescale: makes the cosines of the same items by vectors changed as one of `SCALES` does.

    Raises:
        ConstantScoresError: all words have the same association.
    """
    settings, counted = estimand.settings, counted or cosines
    observed = cosines.effect(settings.std)
    effect = observed if effect is None else effect
    scores = cosines.word_scores() if scores is None else scores
    if without is None:
        without = leave_one_out(counted, settings.std) - observed + effect
    columns = {"effect_size": effect, **_describe_tests(*(tests or estimand.test_words(cosines)))}
    columns |= {**range_columns("leave_out", without), "interval_note": NO_INTERVAL_ASKED}
    columns["smallest_effect"] = smallest_effect(cosines, scores, std=settings.std, alternative=settings.alternative)
    replicates: FloatArray = np.empty(0)
    if settings.n_resamples:
        resampling = estimand.resample(len(cosines.values))
        replicates = counted.effects(*resampling, settings.std)
        how: dict[str, Any] = {"method": settings.interval, "std": settings.std, "margin": settings.equivalence_margin}
        found = interval(cosines, resampling, replicates, center=effect, **how)
        columns |= {"ci_low": found.low, "ci_high": found.high, "interval_note": found.note or None}
        columns |= {"p_equivalence": found.p_equivalence, "equivalent_within": found.equivalent_within}
    if settings.n_shuffles:
        rng = estimand.generator("shuffles")
        control = shuffled_control(counted, n_shuffles=settings.n_shuffles, rng=rng, std=settings.std)
        columns |= {"shuffled_low": control.low, "shuffled_high": control.high, "p_shuffled": control.p_value}
    difference = columns["difference"] = _subtract_means(cosines, scores)
    for scale, change in SCALES.items():
        with contextlib.suppress(InputError):  # vectors without a direction, or words without a spread: no number
            if rescale is None:
                break
            other = rescale(change)
            columns[f"effect_{scale}"] = other.effect(settings.std) - observed + effect
            apart = _subtract_means(other, other.word_scores()) - _subtract_means(cosines, cosines.word_scores())
            columns[f"difference_{scale}"] = apart + difference
    listed = [(role, word) for role, side in zip("xyab", estimand.words, strict=True) for word in side]
    n_items = n_items or np.concatenate([np.bincount(cosines.targets), np.bincount(cosines.attributes)]).tolist()
    associations = np.concatenate([scores, contributions(cosines)]).tolist()
    words = [
        {"role": role, "stimulus": word, "association": score, "n_items": n, "effect_without": finite_or_none(rest)}
        for (role, word), score, n, rest in zip(listed, associations, n_items, without, strict=True)
    ]
    return Estimate(columns, words, replicates)


def _subtract_means(cosines: CrossedScores, scores: FloatArray) -> float:
    """Return the mean association of the words of X minus that of Y: the effect size's numerator."""
    return float(scores[: cosines.n_x].mean() - scores[cosines.n_x :].mean())


def range_columns(name: str, effects: FloatArray) -> dict[str, float | None]:
    """Return the smallest and the largest of the effects that there are, as `<name>_low` and `<name>_high`."""
    known = effects[np.isfinite(effects)]
    low, high = (float(known.min()), float(known.max())) if known.size else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


# --------------------
# The estimates of a method, and those that cannot be computed.


class Cell(NamedTuple):
    """An estimate that is asked for."""

    category: Category
    key: Mapping[str, str]
    """Columns of all its rows, besides the category: the model, and the segment length and sample mode of CEAT."""
    used: Words
    lost: list[Loss]
    about: Mapping[str, Any]
    """Other columns of its row that are known before it is measured."""


def measure_cells(
    what: str,
    cells: Sequence[Cell],
    measure: Callable[[Cell], tuple[dict[str, Any], *tuple[Rows, ...]]],
    *tables: str,
    needed: str = "2211",
    noun: str = "stimuli",
) -> list[pa.Table]:
    """Return the tables of a method, by name: of each cell a row of estimates, and rows of the others.

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
                    columns, *others = measure(Cell(category, key, used, lost, about))
                    for table, more in zip(rows[1:], others, strict=True):
                        of_cell = {"category": category.name, **key}
                        table += [{**of_cell, "set": sets.get(row.get("role", "")), **row} for row in more]
                except ConstantScoresError as error:
                    lost.append(Loss(None, None, Reason.EQUAL_SCORES, str(error)))
            rows[0].append({**describe_category(category, used, lost), **key, **about, **columns})
    return [pa.Table.from_pylist(of, schema=TABLES[name].arrow()) for of, name in zip(rows, tables, strict=True)]


# --------------------
# Templates as a sample: the effect in each, without each, and with words and templates resampled.
#
# A study has a few templates out of many that would do as well. They are crossed with the words: each word is in each
# template of its class, and the templates of one place correspond in all classes. So templates are drawn again besides
# the words, the same ones for all words: the two-way bootstrap of a crossed array (Owen 2007, The pigeonhole
# bootstrap, Annals of Applied Statistics 1). On average its variance is no smaller than the true one; of what a word
# and a template do together it counts up to three times as much.


Effects: TypeAlias = Callable[[Counts, Counts | None, Counts, str], FloatArray]
"""Gives (R,) effects with words of X and Y, words of A and B, and templates counted, (R, n) each, by a denominator."""


def measure_templates(
    effects: Effects, names: Sequence[str], cosines: CrossedScores, estimand: Estimand
) -> tuple[dict[str, Any], Rows]:
    """Return the columns of templates of an estimate, and rows of the table of templates without category and model.

    Resampled words are those of the interval over words, so that both intervals rest on the same; templates have a
    generator of their own, named by the category and the templates.

    Args:
        effects: the effect with words and templates counted several times or not at all.
        names: of the templates, by their place.
        cosines: of the items, as `measure_cosines` has them.
        estimand: what is measured.
    """
    n, settings = len(names), estimand.settings
    std, once, each = settings.std, np.ones((1, cosines.n_targets)), np.eye(n)
    alone = effects(once, None, each, std)
    without = effects(once, None, 1 - each, std) if n > 1 else np.full(1, np.nan)
    rows = [
        {"place": place, "template": name, "effect_size": finite_or_none(one), "effect_without": finite_or_none(rest)}
        for place, (name, one, rest) in enumerate(zip(names, alone, without, strict=True), start=1)
    ]
    columns: dict[str, Any] = {**range_columns("by_template", alone), **range_columns("without_template", without)}
    if not settings.n_resamples:
        return {**columns, "templates_note": NO_INTERVAL_ASKED}, rows
    if n < FEWEST_TEMPLATES:
        some = "1 template" if n == 1 else f"{n} templates"
        note = f"no interval: {some}, and an interval over templates needs {FEWEST_TEMPLATES}"
        return {**columns, "templates_note": note}, rows
    resampling = estimand.resample()
    rng = generator(estimand.seed, "resampling", estimand.category, "templates", *names)
    of_words, of_both = (
        effects(resampling.target_counts, resampling.attribute_counts, counts, std)
        for counts in (np.ones((1, n)), draw_counts(n, settings.n_resamples, rng))
    )
    templates = ResampledTemplates(of_words, lambda std: effects(once, None, 1 - each, std))
    found = interval(cosines, resampling, of_both, std=std, templates=templates)
    ends = {"ci_templates_low": found.low, "ci_templates_high": found.high, "templates_note": found.note or None}
    return {**columns, **ends}, rows


def count_sentences(cosines: CrossedScores, places: Sequence[IndexArray]) -> Effects:
    """Return the effect over sentences as a function of counts of words and templates, from one draw of `cosines`.

    `places` are those of the templates of each word's sentences, from 0, in the order X, Y, A, B.
    """
    n = cosines.n_targets
    target_places, attribute_places = np.concatenate(places[:n]), np.concatenate(places[n:])

    def compute(std: str, targets: Counts, attributes: Counts, templates: Counts) -> FloatArray:
        shares = item_counts(cosines.attributes, attribute_places, attributes, templates)
        scores = _sign(shares, cosines.attributes < cosines.n_a) @ cosines.values[0].T
        weights = item_counts(cosines.targets, target_places, targets, templates)
        return effects_of_items(scores, weights, cosines.targets < cosines.n_x, std, noise=COSINE_NOISE)

    return _count_in_blocks(compute, cosines.n_attributes, max(cosines.values[0].shape))


def count_mean_vectors(
    arrays: Sequence[npt.NDArray[Any]], places: Sequence[IndexArray], n_templates: int, sizes: Sequence[int]
) -> Effects:
    """Return the effect of the mean vectors of words as a function of counts of words and templates.

    `arrays` are the (n_sentences, d) vectors of each word, `places` those of their templates, from 0; `sizes` are the
    words of X, Y, A and B.
    """
    n_x, n_y, n_a, n_b = sizes
    n_targets, n_attributes, squared = n_x + n_y, n_a + n_b, n_templates**2
    vectors = np.zeros((len(arrays), n_templates, arrays[0].shape[1]))  # 0 where a word has no sentence
    for of_word, array, rows in zip(vectors, arrays, places, strict=True):
        of_word[rows] = array
    squares = (vectors @ vectors.transpose(0, 2, 1)).reshape(-1, squared)
    paired = np.einsum("isd,jtd->ijst", vectors[:n_targets], vectors[n_targets:], optimize=True).reshape(-1, squared)

    def compute(std: str, targets: Counts, attributes: Counts, templates: Counts) -> FloatArray:
        pairs = (templates[:, :, None] * templates[:, None, :]).reshape(-1, squared)
        lengths = np.sqrt(pairs @ squares.T)  # (R, words)
        products = (pairs @ paired.T).reshape(-1, n_targets, n_attributes)
        cosines = np.nan_to_num(products / lengths[:, :n_targets, None] / lengths[:, None, n_targets:])
        shares = _sign(attributes * (lengths[:, n_targets:] > 0), np.arange(n_attributes) < n_a)
        weights = targets * (lengths[:, :n_targets] > 0)
        scores = (cosines @ shares[:, :, None])[..., 0]
        return effects_of_items(scores, weights, np.arange(n_targets) < n_x, std, noise=COSINE_NOISE)

    return _count_in_blocks(compute, n_attributes, max(paired.shape))


def _count_in_blocks(compute: Callable[..., FloatArray], n_attributes: int, numbers: int) -> Effects:
    def effects(targets: Counts, attributes: Counts | None, templates: Counts, std: str) -> FloatArray:
        counts = targets, np.ones((1, n_attributes)) if attributes is None else attributes, templates
        return in_blocks(lambda *block: compute(std, *block), counts, numbers)

    return effects


def _sign(counts: Counts, is_first: npt.NDArray[np.bool_]) -> Counts:
    """Return counts as shares of the first set, and as negative shares of the second."""
    shares = counts.copy()
    shares[:, is_first] /= counts[:, is_first].sum(axis=1, keepdims=True)
    shares[:, ~is_first] /= -counts[:, ~is_first].sum(axis=1, keepdims=True)
    return shares
