"""WEAT and SEAT: of one category, for notebooks, and of a whole study, from vectors to tables.

WEAT (Caliskan, Bryson and Narayanan 2017) has static vectors: one vector per word.

SEAT is WEAT with sentences in place of words (May et al. 2019; Sahoo et al. 2024, appendix B). A word is in every
template of its class, and each sentence has a vector. Sentences are the items of the effect size: with s(t, A, B) =
mean cos(t, a) - mean cos(t, b), over the sentences a of A and b of B,

    d = (mean of s over the sentences of X - mean over the sentences of Y) / standard deviation of s over both

Every word has the same weight, however many sentences it has, so d and the test of words are about the same difference.
If all words have equally many, as with the templates of this project, d is the effect size over sentences.

The sentences of a word are not independent: they are nearly the same sentence. The test therefore moves a word with all
its sentences (unit `word`). The papers move single sentences (unit `sentence`), as if a set of 8 words in 10 templates
were 80 words; then p is below .05 in far more than 5% of runs without an effect.

The average of `associations` takes every sentence as an item (May et al.). The average of `vectors` first takes the
mean vector of a word's sentences, so a word is one item (the program of Sadhu et al. 2024).

The tables of a study have one row per estimate. No category stops a study: if it cannot be computed, its row has the
reason instead of numbers, and `lost` lists words without vectors. Wrong vectors (NaN, zero) are refused.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from prasanga.associations.estimates import (
    AskedEstimate,
    CategoryWords,
    Estimand,
    Estimate,
    Rows,
    TestSettings,
    category_of,
    measure_cells,
    measure_cosines,
    measure_templates,
    select_words,
)
from prasanga.associations.vectors import (
    VECTORS,
    Change,
    Moments,
    compute_cosines,
    compute_moments,
    directed_vectors,
    embed_again,
    require_other_words,
    unit_sets,
    word_sets_and_vectors,
    word_vectors,
)
from prasanga.base.errors import InputError
from prasanga.schema import Loss, Reason
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import COSINE_NOISE, FloatArray, IndexArray, choice, generator_from, to_array
from prasanga.stats.intervals import Interval, interval, omit_units
from prasanga.stats.permutation import PermutationTest, Units, permutation_test_of_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNITS = ("word", "sentence")
AVERAGES = ("associations", "vectors")

SEED = 47
"""Of the resamples and partitions of an estimate in a notebook."""

Rng: TypeAlias = np.random.Generator | int | None


class PermutationOptions(TypedDict, total=False):
    """How partitions are compared, counted and drawn, as in `permutation_test`."""

    alternative: str
    method: str
    n_resamples: int
    rng: Rng
    statistic: str


def effect_size(
    X: npt.ArrayLike, Y: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike, *, std: str = "union_ddof1"
) -> float:
    """Return the effect size d of target sets `X`, `Y` and attribute sets `A`, `B`.

    Each set is (n, d) with one vector per word.

        s(w, A, B) = mean over a in A of cos(w, a)  -  mean over b in B of cos(w, b)
        d = (mean of s(x, A, B) over X  -  mean of s(y, A, B) over Y) / std of s

    `std` is one of `union_ddof1`, over X and Y together, divided by n - 1 (Caliskan,
    Bryson and Narayanan 2017; Sadhu et al. 2024, appendix B.1; the default), `union_ddof0`, the same divided by n, and
    `pooled`, within X and within Y (Cohen's d). Hypothesis and test: `permutation_test`.

    Positive if X is associated with A rather than B more than Y is. The sets may differ in size. With one word per
    side, `union_ddof1` gives +-1.414 for any vectors. Raises `InputError` for arrays of other
    shapes, different dimensions, NaN and zero vectors, an unknown `std`, too few words for it, and scores that are all
    the same (`ConstantScoresError`).
    """
    return _compute_word_cosines(X, Y, A, B).effect(std)


def _compute_word_cosines(X: npt.ArrayLike, Y: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike) -> CrossedScores:
    x, y, a, b = unit_sets(X=X, Y=Y, A=A, B=B)
    require_other_words({"X": x, "Y": y}, {"A": a, "B": b})
    values = np.concatenate([x, y]) @ np.concatenate([a, b]).T
    return CrossedScores.of_words(values[None], map(len, (x, y, a, b)))


def permutation_test(
    X: npt.ArrayLike, Y: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike, **options: Unpack[PermutationOptions]
) -> PermutationTest:
    """Test whether target sets `X` and `Y` differ in their association with attributes `A` rather than `B`.

    Hypothesis of no difference: every partition of the words of X and Y into sets of these sizes is as likely as the
    observed one. Statistic, and p over these partitions (Caliskan, Bryson and Narayanan 2017; Sadhu et al. 2024, B.1):

        S = mean of s(x, A, B) over X  -  mean of s(y, A, B) over Y
        p = share of partitions with |S| >= |S observed|      (two-sided)

    With sets of different sizes, and two words or more in each, the difference is divided by its standard error,
    sqrt(variance over X / nx + variance over Y / ny) (`statistic="studentized"`; Janssen 1997; Chung and Romano 2013).
    Otherwise p would be small too often if the smaller set varies more; with sets of equal size both statistics have
    the same p. `statistic="difference"` compares S itself, as the papers' programs do.

    `X`, `Y`, `A`, `B` are (n, d) arrays, one vector per word, of any sizes; s as in `effect_size`.
    Options: `alternative` "two-sided" (the default) counts |statistic| >= |observed|, "greater" statistic >= observed,
        "less" the opposite; ties within 1e-9 of the largest score count. `method` "exact" counts all partitions (up to
        44 words, or more if one set is small; 17 million partitions of a studentized difference), "sampled" draws
        `n_resamples` (100,000) of them with `rng` (a generator or a seed), "auto" (the default) is exact if possible.
        If all scores are the same, every partition is a tie and p is 1. Raises `InputError` for bad arrays, unknown
        names, and `exact` with too many words.
    """
    return _test_sides(_compute_word_cosines(X, Y, A, B).split()[0], **options)[0]


def _test_sides(*sides: Sequence[FloatArray], **options: Unpack[PermutationOptions]) -> list[PermutationTest]:
    """Test the scores of two sets on each side; one generator draws all partitions."""
    options["rng"] = generator_from(options.get("rng"))
    return [permutation_test_of_scores(*scores, noise=COSINE_NOISE, **options) for scores in sides]


class Shown:
    """An estimate in a notebook: the number with its interval in one line, a table, a picture."""

    method: ClassVar[str]
    std: str
    """The denominator of the effect sizes."""
    lost: str = ""
    """Words that do not count, each with the reason."""
    if TYPE_CHECKING:

        @property
        def effect_size(self) -> float:
            """The effect that is shown."""

        @property
        def test(self) -> PermutationTest:
            """Of the targets."""

        @property
        def test_attributes(self) -> PermutationTest:
            """Of the attributes."""

        @property
        def cosines(self) -> CrossedScores:
            """For the interval."""

    @property
    def p_association(self) -> float:
        """The larger p of both tests: would other words, on either side, have the same effect?"""
        return max(self.test.p_value, self.test_attributes.p_value)

    @cached_property
    def interval(self) -> Interval:
        """The 95% interval over words and, in CEAT, contexts; a note in place of ends for fewer than 8 words."""
        n_x, n_y, n_a, n_b = self.cosines.sizes
        units = Units.from_sizes(n_x, n_y), Units.from_sizes(n_a, n_b)
        omitted = omit_units(self.cosines, self.cosines, units, self.std)
        return interval(self.effect_size, units, omitted)

    def to_frame(self) -> pl.DataFrame:
        """Return a table of one row: effect_size, ci_low, ci_high, p_association, sizes of the sets, note, lost."""
        ends, sizes = self.interval, dict(zip(("n_x", "n_y", "n_a", "n_b"), self.cosines.sizes, strict=True))
        return pl.DataFrame(
            {"method": self.method, "effect_size": self.effect_size, "ci_low": ends.low, "ci_high": ends.high}
            | {"p_association": self.p_association, **sizes, "std": self.std, "note": ends.note, "lost": self.lost},
            schema_overrides={"ci_low": pl.Float64, "ci_high": pl.Float64},
        )

    def plot(self) -> Figure:
        """Return a picture: the association of each target word, a line for each set, and the number above."""
        from matplotlib.figure import Figure

        title = textwrap.wrap(repr(self), 90, break_on_hyphens=False)
        figure = Figure(figsize=(6.8, 1.6 + 0.2 * len(title)), layout="constrained")
        axes, sets = figure.add_subplot(), np.split(self.cosines.word_scores(), [self.cosines.n_x])
        for height, scores in enumerate(sets):
            axes.plot(scores, np.full(len(scores), -height), "o", alpha=0.6)
            axes.plot(scores.mean(), -height, "|", color="black", markersize=18)
        axes.set(yticks=[0, -1], yticklabels=["X", "Y"], ylim=(-1.5, 0.5))
        axes.set_xlabel("nearer to B  ·  association  ·  nearer to A")
        axes.set_title("\n".join(title), fontsize="medium")
        return figure

    def __repr__(self) -> str:
        """Return the number with its interval, in one line."""
        ends, (n_x, n_y, *_) = self.interval, self.cosines.sizes
        between = "" if ends.low is None else f"95% {ends.low:+.2f} to {ends.high:+.2f}"
        said, lost = "; ".join(filter(None, (between, ends.note))), f" ({self.lost})" if self.lost else ""
        number = f"{self.method} {self.effect_size:+.2f} ({said}), p_association {self.p_association:.3g}"
        return f"{number}, {n_x} and {n_y} words{lost}"

    def _repr_html_(self) -> str:
        return self.to_frame()._repr_html_()


@dataclass(frozen=True, eq=False, repr=False)
class Weat(Shown):
    """Result of `weat`."""

    method = "WEAT"

    effect_size: float
    """By the convention `std`; positive if X is nearer to A than Y is."""
    test: PermutationTest
    """Permutation of the target words (of `seat` also of their sentences)."""
    test_attributes: PermutationTest
    """Permutation of the attribute words."""
    std: str
    cosines: CrossedScores
    """Of the words or sentences, over which the effect is; of the words for an average of vectors."""
    lost: str = ""
    """Words listed more than once in a set, which count once; empty if arrays were given."""

    @property
    def word_scores(self) -> FloatArray:
        """(nx + ny,) association s(w, A, B) of each target word, X before Y; of sentences, their mean."""
        return self.cosines.word_scores()


class Seat(Weat):
    """Result of `seat`, like the result of `weat`."""

    method = "SEAT"


def _select_sets(given: Sequence[Any], targets: Any, attributes: Any, *, are_single: bool) -> tuple[Sequence[Any], str]:
    """Return the vectors of X, Y, A and B, (n, d) per word if words were given, and the text of `lost`."""
    if not isinstance(given[0], Mapping) and targets is attributes is None:
        return given, ""
    if sum(each is not None for each in (*given[1:], targets, attributes)) > 2:
        raise InputError("Give four arrays (X, Y, A, B), or vectors by word with `targets=(X, Y), attributes=(A, B)`.")
    both = given[1] if targets is None else targets, given[2] if attributes is None else attributes
    words, directed, lost = word_sets_and_vectors(given[0], *both, are_single=are_single)
    return [[directed[word].vectors for word in side] for side in words], "; ".join(lost)


def weat(
    X: npt.ArrayLike | Mapping[str, npt.ArrayLike],
    Y: npt.ArrayLike | None = None,
    A: npt.ArrayLike | None = None,
    B: npt.ArrayLike | None = None,
    *,
    targets: tuple[Sequence[str], Sequence[str]] | None = None,
    attributes: tuple[Sequence[str], Sequence[str]] | None = None,
    std: str = "union_ddof1",
    **options: Unpack[PermutationOptions],
) -> Weat:
    """Compute the WEAT of target sets `X`, `Y` and attribute sets `A`, `B`, each (n, d), one vector per word.

    Hypothesis of no association: the words of X and Y do not differ in their association with A rather than B, or the
    words of A and B not in theirs with X rather than Y, so every partition of them into sets of these sizes is as
    likely as the observed one. With

        s(w, A, B) = mean over a in A of cos(w, a)  -  mean over b in B of cos(w, b)

    the effect size is d = (mean of s over X - mean of s over Y) / std of s over X and Y, and p is the share of
    partitions whose difference of means is at least as extreme (Caliskan, Bryson and Narayanan 2017, Science 356; Sadhu
    et al. 2024, appendix B.1). `test` permutes only the target words, `test_attributes` the attribute words;
    `p_association` is the larger p of both.

    Give arrays, `weat(X, Y, A, B)`, or words as to `ceat`: `weat(vectors, targets=(X, Y), attributes=(A, B))`.

    Args:
        X: target vectors (nx, d), nx >= 1; the sets may differ in size. Or the (d,) vector of each word, by word.
        Y: target vectors (ny, d).
        A: attribute vectors (na, d).
        B: attribute vectors (nb, d).
        targets: two lists of words. A word listed twice in a set counts once, and `lost` says so.
        attributes: likewise.
        std: convention of the denominator: union_ddof1 (Caliskan et al.), union_ddof0, pooled (`effects`).
        **options: `alternative` (two-sided, greater, less), `method` (auto, exact, sampled), `n_resamples`, `rng` and
            `statistic` (studentized, difference), as in `permutation_test`.

    Raises:
        InputError: NaN, zero vectors, different dimensions, sets without words, an unknown name, words without a vector
            or in two sets; `ConstantScoresError` if all words have the same association.
    """
    sets, lost = _select_sets((X, Y, A, B), targets, attributes, are_single=True)
    cosines = _compute_word_cosines(*(np.concatenate(side) if isinstance(X, Mapping) else side for side in sets))
    test, test_attributes = _test_sides(*cosines.split(), **options)
    return Weat(cosines.effect(std), test, test_attributes, std, cosines, lost)


def seat(
    X: Sequence[npt.ArrayLike] | Mapping[str, npt.ArrayLike],
    Y: Sequence[npt.ArrayLike] | None = None,
    A: Sequence[npt.ArrayLike] | None = None,
    B: Sequence[npt.ArrayLike] | None = None,
    *,
    targets: tuple[Sequence[str], Sequence[str]] | None = None,
    attributes: tuple[Sequence[str], Sequence[str]] | None = None,
    unit: str = "word",
    average: str = "associations",
    std: str = "union_ddof1",
    **options: Unpack[PermutationOptions],
) -> Seat:
    """Compute the SEAT of target sets `X`, `Y` and attribute sets `A`, `B`.

    Hypothesis of no association: the words of X and Y (`test`), or of A and B (`test_attributes`), could change sides;
    `p_association` is the larger p of both. Formula: see the module.

    Give arrays, `seat(X, Y, A, B)`, or words as to `ceat`: `seat(vectors, targets=(X, Y), attributes=(A, B))`.

    Args:
        X: one (n_sentences, d) array per word. Words may have different numbers of sentences; each has the same weight.
            Or these arrays by word.
        Y: as X.
        A: as X.
        B: as X.
        targets: two lists of words. A word listed twice in a set counts once, and `lost` says so.
        attributes: likewise.
        unit: `word` permutes words by their mean association; `sentence` permutes single sentences, as May et al.
            (2019) and IndiBias do, and rejects far too often.
        average: `associations`, or `vectors` for one vector per word, the mean of its sentences' (Sadhu et al.); then
            the two units are the same.
        std: of the denominator: union_ddof1, union_ddof0 or pooled, as in `effect_size`.
        **options: `alternative`, `method`, `n_resamples`, `rng` and `statistic`, as in `permutation_test`; partitions
            of sentences are always compared by the difference, as in the papers.

    Raises:
        InputError: a set without words, a word without sentences or in two sets, NaN, zero vectors, different
            dimensions, unknown names; all sentences have the same association (`ConstantScoresError`).
    """
    choice("unit", unit, UNITS)
    choice("average", average, AVERAGES)
    given, lost = _select_sets((X, Y, A, B), targets, attributes, are_single=False)
    sets = {name: word_vectors(name, words) for name, words in zip("XYAB", given, strict=True)}
    for name, words in sets.items():
        for i, word in enumerate(words):
            directed_vectors(f"{name}, word {i}", word)  # before they are averaged, which would hide a zero
    require_other_words({name: sets[name] for name in "XY"}, {name: sets[name] for name in "AB"})
    cosines = compute_sentence_cosines(list(sets.values()), average)
    effect, (of_x_and_y, of_a_and_b) = cosines.effect(std), cosines.split(unit)
    options["rng"] = generator_from(options.get("rng"))
    of_targets = options if unit == "word" else PermutationOptions(**{**options, "statistic": "difference"})
    (test,), (test_attributes,) = _test_sides(of_x_and_y, **of_targets), _test_sides(of_a_and_b, **options)
    return Seat(effect, test, test_attributes, std, cosines, lost)


def compute_sentence_cosines(sets: Sequence[Sequence[npt.NDArray[Any]]], average: str) -> CrossedScores:
    """Return the cosines of the sentences of X, Y, A and B, (n_sentences, d) per word, or of mean vectors of words."""
    if average == "vectors":
        sets = [[word.mean(axis=0, keepdims=True, dtype=np.float64) for word in words] for words in sets]
    x, y, a, b = sets
    return compute_cosines(x, y, a, b)


# --------------------
# Of a whole study.


ItemVectors: TypeAlias = Mapping[str, tuple[Sequence[str], npt.ArrayLike]]
"""Each stimulus with the ids of its sentences or occurrences and their (n, d) vectors."""

Layouts: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Categories by name, in the layout of `categories.json`."""


def _measure_items(
    vectors: Mapping[str, npt.NDArray[Any]], moments: Moments, estimand: Estimand, average: str = "associations"
) -> tuple[CrossedScores, Estimate]:
    """Return the cosines and the estimate of a category's words or sentences; `vectors` has (n_items, d) per word."""

    def compute(change: Change = lambda vectors, _: vectors) -> CrossedScores:
        sets = [[change(vectors[word], moments) for word in side] for side in estimand.words]
        return compute_sentence_cosines(sets, average)

    cosines, n_items = compute(), [len(vectors[word]) for side in estimand.words for word in side]
    return cosines, measure_cosines(cosines, estimand, n_items=n_items, rescale=compute)


def measure_weat(
    categories: Layouts,
    vectors: Mapping[str, npt.ArrayLike],
    missing: Mapping[str, str],
    *,
    name: str,
    settings: TestSettings,
    seed: int,
    source: str = "",
    method: str = "",
    forms: str = "",
) -> list[pa.Table]:
    """Compute the WEAT of all `categories` by one set of vectors: the tables `weat` and `weat_words`.

    A word without a vector, or with a zero vector, is left out and listed in `lost`.

    Args:
        categories: by name, in the layout of `categories.json`.
        vectors: (d,), by stimulus.
        missing: why the others lack a vector.
        name: of the vectors, the tables' `model`.
        settings: how effects are tested.
        seed: of the study.
        source: the tables' `vectors`.
        method: how the vectors were trained or the format of their file.
        forms: how words were looked up (dictionary, pooled).

    Raises:
        InputError: a vector with NaN or infinity.
    """
    parsed = [category_of(each, layout) for each, layout in categories.items()]
    there = dict.fromkeys(word for category in parsed for word in category.words if word in vectors)
    arrays = {word: np.asarray(vectors[word], dtype=np.float64)[None] for word in there}
    usable = {word: array for word, array in arrays.items() if array.any()}
    reasons = {**missing, **dict.fromkeys(there, "zero vector")}
    about = {"vectors": source, "method": method, "forms": forms, **settings.conventions(), "seed": seed}
    cells = []
    for category in parsed:
        unknown = [word for word in category.words if word not in usable]
        lost = [category.lose(word, Reason.NO_VECTOR, reasons.get(word) or "no vector") for word in unknown]
        used, partners = select_words(category, usable)
        cells.append(AskedEstimate(category, {"model": name}, used, lost + partners, about))
    moments = compute_moments(usable.values())

    def measure(cell: AskedEstimate) -> tuple[dict[str, Any], Rows]:
        estimand = cell.estimate(settings, seed, "weat", name)
        found = _measure_items(usable, moments, estimand)[1]
        return found.columns, found.words

    return measure_cells(f"WEAT of {name}", cells, measure, "weat", "weat_words")


class SeatTables(NamedTuple):
    """The tables of one model, by their names in the schema: `seat`, `seat_words` and `seat_templates`."""

    estimates: pa.Table
    words: pa.Table
    templates: pa.Table


def measure_seat(
    categories: Layouts,
    sentences: pa.Table,
    vectors: ItemVectors,
    *,
    model: str,
    settings: TestSettings,
    unit: str = "word",
    average: str = "associations",
    sentence_vector: str = "",
    seed: int = 47,
) -> SeatTables:
    """Compute the SEAT of all `categories` for one model.

    Args:
        categories: by name, in the layout of `categories.json`.
        sentences: the filled templates (`prasanga.samples.fill_templates`): columns occurrence_id, stimulus, template.
        vectors: of each stimulus, the occurrence ids of its sentences and their (n_sentences, d) vectors. Sentences and
            stimuli without vectors are absent.
        model: its name.
        settings: how effects are tested.
        unit: see `seat`; `p_stimuli` moves words in any case, and `sentence` adds `p_sentences`.
        average: see `seat`.
        sentence_vector: kind of a sentence's vector (cls, mean, last, word, position), for the table.
        seed: of the study.

    Returns:
        A row per category, one per category and word, and one per category and template.

    Raises:
        InputError: wrong vectors: NaN, zero, two of one sentence, or of a sentence that no template has.
    """
    parsed = [category_of(name, layout) for name, layout in categories.items()]
    listed: dict[str, dict[str, tuple[int, str]]] = {}
    for sentence in sentences.select(["stimulus", "occurrence_id", "template"]).to_pylist():
        of_word = listed.setdefault(sentence["stimulus"], {})  # a template is known by its place in its class
        of_word[sentence["occurrence_id"]] = len(of_word), sentence["template"]
    wanted = sorted({word for category in parsed for word in category.words} & vectors.keys())
    ordered = {word: _order_sentences(model, word, listed.get(word, {}), *vectors[word]) for word in wanted}
    arrays = {word: array for word, (array, _) in ordered.items() if len(array)}
    places = {word: ordered[word][1] for word in arrays}
    how = {"sentence_vector": sentence_vector, "unit": unit, "average": average, **settings.conventions(), "seed": seed}
    cells = []
    for category in parsed:
        used, partners = select_words(category, arrays)
        counts = {f"n_sentences_{side}": sum(len(arrays[w]) for w in of) for side, of in zip("xyab", used, strict=True)}
        lost = [loss for word in category.words if (loss := _lose_sentences(category, word, listed, arrays))]
        cells.append(AskedEstimate(category, {"model": model}, used, lost + partners, {**how, **counts}))
    moments = compute_moments(arrays.values())

    def measure(cell: AskedEstimate) -> tuple[dict[str, Any], Rows, Rows]:
        used = cell.used
        estimand = cell.estimate(settings, seed, "seat", model)
        cosines, (columns, words) = _measure_items(arrays, moments, estimand, average)
        if unit == "sentence":
            columns["p_sentences"] = estimand.test_sentences(cosines.split("sentence")[0]).p_value
        names: dict[int, dict[str, None]] = {}  # of a place in several classes, those that it has in them
        for place, template in (each for side in used for word in side for each in listed[word].values()):
            names.setdefault(place, {})[template] = None
        templates = [", ".join(names[place]) for place in sorted(names)]

        def measure_in(kept: npt.NDArray[np.bool_]) -> float:
            sets = [[arrays[word][rows] for word in side if (rows := kept[places[word]]).any()] for side in used]
            return (
                float(compute_sentence_cosines(sets, average).effects(std=settings.std)[0]) if all(sets) else math.nan
            )

        of_templates, rows = measure_templates(measure_in, templates, cosines, estimand)
        return {**columns, "n_templates": len(templates), **of_templates}, words, rows

    return SeatTables(*measure_cells(f"SEAT of {model}", cells, measure, "seat", "seat_words", "seat_templates"))


def _order_sentences(
    model: str, word: str, listed: Mapping[str, tuple[int, str]], ids: Sequence[str], vectors: npt.ArrayLike
) -> tuple[npt.NDArray[Any], IndexArray]:
    """Return the checked vectors of a word, in the order of the templates, and the templates' places."""
    whose = f"{model}, {word}"
    array = to_array(whose, vectors, VECTORS)
    for sentence in ids:
        if sentence not in listed:
            raise InputError(f"{whose}: sentence {sentence} has a vector, but is in no template. Embed them again.")
    places = np.array([listed[each][0] for each in ids], dtype=np.int64)
    if len(array):
        directed_vectors(whose, array, ids=ids, cure=embed_again(model))
    order = np.argsort(places)
    return array[order], places[order]


def _lose_sentences(
    category: CategoryWords, word: str, listed: Mapping[str, Collection[str]], arrays: Mapping[str, npt.NDArray[Any]]
) -> Loss | None:
    """Return the loss of a word that lost sentences, or all of them."""
    n, kept = len(listed.get(word, ())), len(arrays.get(word, ()))
    if not n:
        return category.lose(word, Reason.NO_CONTEXTS, "in no template")
    if not kept:
        return category.lose(word, Reason.NO_VECTOR, f"no vector of its {n} sentences")
    return category.lose(word, Reason.IN_PART, f"vectors of {kept} of its {n} sentences") if kept < n else None
