"""What WEAT, SEAT and CEAT say of a category: the same columns, computed in the same way from its cosines."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from prasanga.associations.vectors import SCALES, Change, Words, describe_repeats, each_once
from prasanga.base.errors import InputError
from prasanga.base.progress import progress
from prasanga.base.seeds import generator
from prasanga.losses import Loss, Reason, loss_columns
from prasanga.stats.arguments import (
    FloatArray,
    finite_or_none,
)
from prasanga.stats.controls import shuffled_control
from prasanga.stats.crossed import CrossedScores, contributions, leave_one_out
from prasanga.stats.effects import ConstantScoresError
from prasanga.stats.intervals import Resampling, draw_resampling, interval, replicate_effects
from prasanga.stats.permutation import PermutationTest, permutation_test_of_scores
from prasanga.stats.power import smallest_effect

_T = TypeVar("_T")
Rows: TypeAlias = list[dict[str, Any]]

# --------------------
# The categories of a study as the associations need them: two target sets and two attribute sets of words.
#
# They come as plain values, in the layout that the lexicon stage writes to `categories.json`.


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


REPEATED_WORDS = ("once", "as-listed")


def category_of(name: str, layout: Mapping[str, Any], repeated_words: str = "once") -> Category:
    """Read one category: {"title": ..., "targets": [set, set], "attributes": [set, set]}.

    A set is {"name": ..., "stimuli": [word, ...]}; other keys are left alone. Raises `InputError` if one is missing.
    A word listed twice in a set counts `once`, or `as-listed`.
    """
    try:
        (x, y), (a, b) = layout["targets"], layout["attributes"]
        listed = [list(map(str, each["stimuli"])) for each in (x, y, a, b)]
        kept = [each_once(words) if repeated_words == "once" else (words, []) for words in listed]
        sets, repeated = (tuple(map(tuple, words)) for words in zip(*kept, strict=True))
        return Category(name, str(layout["title"]), tuple(str(each["name"]) for each in (x, y, a, b)), sets, repeated)
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"category {name}: expected a title, two targets and two attributes, each with a name and a list of"
            f" stimuli, found {_short(layout)}. Make categories.json again with the lexicon stage."
        ) from None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}..."


# --------------------
# What WEAT, SEAT and CEAT say of a category: the same columns, computed in the same way from its cosines.
#
# The three differ in what an item is - a word, its sentences, its contexts - and in nothing else: the effect size,
# its interval, the test of the words, the null control of dealt attribute words, and what the effect is without one
# word.


CATEGORY_COLUMNS = ("category", "category_title", "target_x", "target_y", "attribute_a", "attribute_b")

NO_INTERVAL_ASKED = "no interval was asked for (associations.n_resamples is 0)"


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

    def resampled(self, words: Sequence[Sequence[str]], n_draws: int, *, seed: int, category: str) -> Resampling:
        """Return resamples of the words of a category, and of its draws: as many as are asked for, at least one."""
        return draw_resampling(
            words,
            n_draws,
            n_resamples=self.n_resamples,
            seed=seed,
            category=category,
            resample_attributes=self.resample_attributes,
        )

    def conventions(self) -> dict[str, Any]:
        """Return the settings as the columns that have their names."""
        return asdict(self)


class WordTests(NamedTuple):
    """The permutation tests of the words of a category, those of either side."""

    stimuli: PermutationTest
    """Of the words of X and Y, by their associations."""
    attributes: PermutationTest
    """Of those of A and B, by their `contributions`."""

    def columns(self) -> dict[str, Any]:
        """Return the columns of both tests.

        An association is one of these targets with these attributes: it takes both sides to say so.
        """
        words, attributes = self
        return {
            "p_stimuli": words.p_value,
            "p_stimuli_exact": words.exact,
            "n_partitions": words.n_partitions if words.exact else words.n_resamples,
            "p_stimuli_low": words.ci_low,
            "p_stimuli_high": words.ci_high,
            "p_attributes": attributes.p_value,
            "p_attributes_exact": attributes.exact,
            "n_attribute_partitions": attributes.n_partitions if attributes.exact else attributes.n_resamples,
            "p_association": max(words.p_value, attributes.p_value),
        }


def test_words(
    cosines: CrossedScores, settings: TestSettings, *, category: str, seed: int, names: tuple[object, ...]
) -> WordTests:
    """Test both sides of a category by the cosines of its words.

    Partitions that are drawn are named by `seed`, `names` and the `category`.
    """
    sides = {
        "p_stimuli": np.split(cosines.word_scores(), [cosines.n_x]),
        "p_attributes": np.split(contributions(cosines), [cosines.n_a]),
    }
    tests = (
        permutation_test_of_scores(
            *scores,
            alternative=settings.alternative,
            n_resamples=settings.n_permutations,
            rng=generator(seed, name, *names, category),
            statistic=settings.statistic,
            noise=cosines.noise,
        )
        for name, scores in sides.items()
    )
    return WordTests(*tests)


test_words.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


@dataclass(frozen=True, eq=False)
class CategoryEstimate:
    """What is known of one category.

    Attributes:
        columns: by name, but for the corrected p and the twin's.
        replicates: (n_resamples,), the effect with words and contexts resampled, numbered as everywhere with the same
            words (`resampling`); empty if no interval was asked for.
        without: effects without each word, in the order X, Y, A, B; NaN where there is none.
    """

    columns: dict[str, Any]
    replicates: FloatArray
    without: FloatArray


def measure_cosines(
    cosines: CrossedScores,
    settings: TestSettings,
    *,
    category: str,
    words: Words,
    seed: int,
    names: tuple[object, ...] = (),
    tests: WordTests | None = None,
    effect: float | None = None,
    scores: FloatArray | None = None,
    without_targets: FloatArray | None = None,
) -> CategoryEstimate:
    """Return the effect of one category, how sure it is, and its controls.

    Args:
        cosines: of its items.
        settings: how it is tested.
        category: its name, by which resamples are drawn: estimates with the same words share them, and are compared in
            pairs.
        words: of X, Y, A and B, in the order of `cosines`.
        seed: of the study.
        names: what else the sampled permutations and the dealt words belong to, such as the model and the length.
        tests: of the words, where they rest on more than `cosines`.
        effect: the effect that is reported, where it rests on more draws than `cosines` has; intervals are put around
            it.
        scores: (n_targets,) associations of the target words, where they rest on more draws.
        without_targets: (n_targets,) effects without each target word, where they rest on more draws.

    Raises:
        ConstantScoresError: all words have the same association.
    """
    observed = cosines.effect(settings.std)
    reported = observed if effect is None else effect
    scores = cosines.word_scores() if scores is None else scores
    tests = tests or test_words(cosines, settings, category=category, seed=seed, names=names)
    replicates: FloatArray = np.empty(0)
    columns: dict[str, Any] = {"effect_size": reported, **tests.columns()}
    if settings.n_resamples:
        resampling = settings.resampled(words, len(cosines.values), seed=seed, category=category)
        replicates = replicate_effects(cosines, resampling, settings.std)
        columns |= interval_of(cosines, resampling, replicates, settings, reported)
    else:
        columns |= dict.fromkeys(("ci_low", "ci_high", "p_equivalence", "equivalent_within"))
        columns["interval_note"] = NO_INTERVAL_ASKED
    # around the reported effect, as the interval
    without = leave_one_out(cosines, settings.std) - observed + reported
    if without_targets is not None:
        without[: cosines.n_targets] = without_targets
    columns |= dict.fromkeys(("shuffled_low", "shuffled_high", "p_shuffled"))
    if settings.n_shuffles:
        rng = generator(seed, "shuffles", *names, category)
        columns |= shuffled_control(cosines, n_shuffles=settings.n_shuffles, rng=rng, std=settings.std).columns()
    columns |= range_columns("leave_out", without)
    columns["smallest_effect"] = smallest_effect(cosines, scores, std=settings.std, alternative=settings.alternative)
    return CategoryEstimate(columns, replicates, without)


def range_columns(name: str, effects: FloatArray) -> dict[str, float | None]:
    """Return the smallest and the largest of the effects that there are, as `<name>_low` and `<name>_high`."""
    known = effects[np.isfinite(effects)]
    low, high = (float(known.min()), float(known.max())) if known.size else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def interval_of(
    cosines: CrossedScores,
    resampling: Resampling,
    replicates: FloatArray,
    settings: TestSettings,
    center: float | None = None,
) -> dict[str, Any]:
    """Return the columns of an effect's interval: its interval, and whether that lies about 0."""
    found = interval(
        cosines,
        resampling,
        replicates,
        method=settings.interval,
        std=settings.std,
        center=center,
        margin=settings.equivalence_margin,
    )
    return {
        "ci_low": found.low,
        "ci_high": found.high,
        "interval_note": found.note or None,
        "p_equivalence": found.p_equivalence,
        "equivalent_within": found.equivalent_within,
    }


def raw_columns(
    cosines: CrossedScores,
    scaled: Callable[[Change], CrossedScores],
    settings: TestSettings,
    *,
    effect: float,
    scores: FloatArray | None = None,
) -> dict[str, Any]:
    """Return the columns without an adjustment: the difference of the sets' mean associations, as it is.

    Args:
        cosines: of the items.
        scaled: makes the cosines of the same items by vectors changed as one of `SCALES` does.
        settings: how effects are computed.
        effect: the one that is reported, which may rest on more draws than `cosines`; what the other vectors give is
            put around it.
        scores: (n_targets,) associations of the target words, of these draws.
    """
    observed = cosines.effect(settings.std), difference_of(cosines)
    difference = difference_of(cosines, scores)
    columns: dict[str, Any] = {"difference": difference}
    for scale, change in SCALES.items():
        with contextlib.suppress(InputError):  # a vector without a direction, or words without a spread, have no number
            other = scaled(change)
            columns[f"effect_{scale}"] = other.effect(settings.std) - observed[0] + effect
            columns[f"difference_{scale}"] = difference_of(other) - observed[1] + difference
    return columns


def difference_of(cosines: CrossedScores, scores: FloatArray | None = None) -> float:
    """Return the mean association of the words of X minus that of Y (their `scores`): the effect size's numerator."""
    x, y = np.split(cosines.word_scores() if scores is None else scores, [cosines.n_x])
    return float(x.mean() - y.mean())


def word_rows(
    cosines: CrossedScores,
    words: Words,
    set_names: Sequence[str],
    without: FloatArray,
    scores: FloatArray | None = None,
) -> list[dict[str, Any]]:
    """Return one row per word.

    Each has the word's association and the effect without the word (`CategoryEstimate.without`).

    `scores` are the (n_targets,) associations of the target words, where they rest on more draws than `cosines` has.
    """
    associations = np.concatenate([cosines.word_scores() if scores is None else scores, contributions(cosines)])
    items = np.concatenate([np.bincount(cosines.targets), np.bincount(cosines.attributes)])
    sides = zip("xyab", set_names, words, strict=True)
    places = [(role, name, word) for role, name, listed in sides for word in listed]
    numbers = zip(associations.tolist(), items.tolist(), map(finite_or_none, without), strict=True)
    names = ("role", "set", "stimulus", "association", "n_items", "effect_without")
    return [dict(zip(names, (*place, *of_word), strict=True)) for place, of_word in zip(places, numbers, strict=True)]


def used_words(listed: Sequence[Sequence[str]], usable: Any) -> Words:
    """Return the words of each set that can be measured (`word in usable`), in order."""
    x, y, a, b = ([word for word in words if word in usable] for words in listed)
    return x, y, a, b


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


def measured(
    what: str, unit: str, cells: Sequence[_T], rows_of: Callable[[_T], Sequence[Rows]], schemas: Sequence[pa.Schema]
) -> list[pa.Table]:
    """Return the tables of a method, a job's progress told: of each cell come rows of each table."""
    tables: list[Rows] = [[] for _ in schemas]
    with progress(what, len(cells), unit) as done:
        for cell in done.over(cells):
            for table, rows in zip(tables, rows_of(cell), strict=True):
                table += rows
    return [pa.Table.from_pylist(rows, schema=schema) for rows, schema in zip(tables, schemas, strict=True)]


def computed(category: Category, used: Words, lost: list[Loss], compute: Callable[[], _T]) -> _T | None:
    """Return what `compute` says of a category; None, and the reason added to `lost`, where there is no effect."""
    if small := find_small_set(category, used):
        lost.append(small)
        return None
    try:
        return compute()
    except ConstantScoresError as error:
        lost.append(Loss(None, None, Reason.EQUAL_SCORES, str(error)))
        return None


def describe_category(category: Category, used: Words, lost: Sequence[Loss]) -> dict[str, Any]:
    """Return the columns of a category and of its words; `lost` says what was left out, and why."""
    of_category = (category.name, category.title, *category.set_names)
    repeats = [
        Loss(name, word, Reason.REPEATED, detail)
        for name, repeated, kept in zip(category.set_names, category.repeated, used, strict=True)
        for word, detail in describe_repeats(repeated, kept)
    ]
    return {
        **dict(zip(CATEGORY_COLUMNS, of_category, strict=True)),
        **{f"n_{side}": len(words) for side, words in zip("xyab", used, strict=True)},
        **{f"listed_{side}": len(words) for side, words in zip("xyab", category.sets, strict=True)},
        **loss_columns([*repeats, *lost]),
    }
