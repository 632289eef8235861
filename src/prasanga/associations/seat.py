"""SEAT: WEAT with sentences in place of words (May et al. 2019; Sahoo et al. 2024, appendix B).

A word stands in every template of its class, and each sentence has a vector. Sentences are the items of the effect
size: with s(t, A, B) = mean cos(t, a) - mean cos(t, b), over the sentences a of A and b of B,

    d = (mean of s over the sentences of X - mean over those of Y) / standard deviation of s over both

Every word weighs the same, however many sentences it stands in, so that d and the test of words are about the same
difference. Where all have as many, as with the templates of this project, d is the effect size over sentences.

The sentences of a word are not independent of one another: they are nearly the same sentence. The test therefore moves
a word with all its sentences (unit `word`). The papers move single sentences (unit `sentence`), as if a set of 8 words
in 10 templates were 80 words; then p is below .05 in far more than 5 % of runs in which there is no effect.

The average of `associations` takes every sentence as an item (May et al.). The average of `vectors` first takes the
mean of the vectors of a word's sentences, as they are, so that a word is one item (the program of Sadhu et al. 2024).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.cosines import Cosines, contributions
from prasanga.associations.effects import COSINE_NOISE, ConstantScoresError
from prasanga.associations.estimates import (
    CATEGORY_FIELDS,
    CONVENTION_FIELDS,
    EFFECT_FIELDS,
    RAW_FIELDS,
    TEST_FIELDS,
    WORD_FIELDS,
    WORDS_FIELDS,
    Category,
    TestSettings,
    category_of,
    describe_category,
    measure_cosines,
    not_computed,
    raw_columns,
    too_few,
    used_words,
    word_rows,
)
from prasanga.associations.intervals import Shown
from prasanga.associations.permutation import PermutationTest, permutation_test_of_scores
from prasanga.associations.templates import TEMPLATE_FIELDS, TEMPLATES_SCHEMA, InTemplates, measure_templates
from prasanga.associations.vectors import (
    VECTORS,
    Change,
    FloatArray,
    Moments,
    Words,
    directed_vectors,
    embed_again,
    generator_from,
    in_sets,
    moments_of,
    require_choices,
    require_one_dimension,
    require_other_words,
    to_array,
    unit_vectors,
    word_vectors,
)
from prasanga.base.errors import InputError
from prasanga.base.progress import progress
from prasanga.base.seeds import generator

UNITS = ("word", "sentence")
AVERAGES = ("associations", "vectors")

_SIDES = "xyab"
_TEXT, _NUMBER, _COUNT = pa.string(), pa.float64(), pa.int64()

SEAT_SCHEMA = pa.schema(
    [
        *CATEGORY_FIELDS,
        ("model", _TEXT),
        *EFFECT_FIELDS,
        *RAW_FIELDS,
        *TEST_FIELDS,
        *WORDS_FIELDS,
        *((f"n_sentences_{side}", _COUNT) for side in _SIDES),
        ("n_templates", _COUNT),
        *TEMPLATE_FIELDS,
        *((name, _TEXT) for name in ("sentence_vector", "unit", "average")),
        ("p_sentences", _NUMBER),
        *CONVENTION_FIELDS,
        ("seed", _COUNT),
    ]
)
"""Columns of the table of estimates.

`p_stimuli` moves words, whatever the unit; `p_sentences` moves sentences and is null for the unit `word`. What needs
other tables (`p_association_holm`, `p_association_bh`, `n_tests`, the columns of twins) is null here.
"""
SEAT_WORDS_SCHEMA = pa.schema([("category", _TEXT), ("model", _TEXT), *WORD_FIELDS])
"""Columns of the table of words; `n_items` is the number of sentences."""

SentenceVectors: TypeAlias = Mapping[str, tuple[Sequence[str], npt.ArrayLike]]
"""Each stimulus with the ids of its sentences and their (n_sentences, d) vectors."""


@dataclass(frozen=True, eq=False, repr=False)
class Seat(Shown):
    """Result of `seat`."""

    effect_size: float
    """Over the sentences; over the words for an average of vectors."""
    test: PermutationTest
    """Permutation of the words of X and Y, or of their sentences."""
    test_attributes: PermutationTest
    """Permutation of the words of A and B, each with all its sentences."""
    word_scores: FloatArray
    """(nx + ny,), the mean association of each word over its sentences, X before Y."""
    cosines: Cosines
    """Of the sentences, or of the words for an average of vectors."""
    std: str
    """The denominator of the effect size."""

    def shown(self) -> tuple[str, float, str, Callable[[], Cosines]]:
        """Return what a notebook shows."""
        return "SEAT", self.effect_size, self.std, lambda: self.cosines

    @property
    def p_association(self) -> float:
        """The larger p of both tests: whether other words would do, on either side."""
        return max(self.test.p_value, self.test_attributes.p_value)


def seat(
    X: Sequence[npt.ArrayLike],
    Y: Sequence[npt.ArrayLike],
    A: Sequence[npt.ArrayLike],
    B: Sequence[npt.ArrayLike],
    *,
    unit: str = "word",
    average: str = "associations",
    std: str = "union_ddof1",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 100_000,
    rng: np.random.Generator | int | None = None,
    statistic: str = "studentized",
) -> Seat:
    """Compute the SEAT of target sets `X`, `Y` and attribute sets `A`, `B`.

    Hypothesis of no association: the words of X and Y could change sides (`test`), or those of A and B
    (`test_attributes`); `p_association` is the larger p of both. Formula: see the module.

    Args:
        X: one (n_sentences, d) array per word. Words may have different numbers of sentences; each word weighs the
            same.
        Y: likewise.
        A: likewise.
        B: likewise.
        unit: `word` permutes words by their mean association; `sentence` permutes single sentences, as May et al.
            (2019) and IndiBias do, and rejects far too often.
        average: `associations`, or `vectors` for one vector a word, the mean of its sentences' (Sadhu et al.); then the
            two units are the same.
        std: of the denominator: union_ddof1, union_ddof0 or pooled, as in `effect_size`.
        alternative: of the test: two-sided, greater or less.
        method: auto, exact or sampled, as in `permutation_test`.
        n_resamples: partitions drawn where they are sampled.
        rng: a generator or a seed, for partitions drawn at random.
        statistic: what partitions of words are compared by, studentized or difference (`permutation_test`); those of
            sentences always by the difference, as in the papers.

    Raises:
        InputError: a set without words, a word without sentences, NaN, zero vectors, different dimensions, unknown
            names; all sentences have the same association (`ConstantScoresError`).
    """
    _require_conventions(unit, average)
    sets = [word_vectors(name, words) for name, words in zip("XYAB", (X, Y, A, B), strict=True)]
    for name, arrays in zip("XYAB", sets, strict=True):
        for i, word in enumerate(arrays):
            directed_vectors(f"{name}, word {i}", word)  # before they are averaged, which would hide a zero
    x_words, y_words, a_words, b_words = sets
    require_other_words({"X": x_words, "Y": y_words}, {"A": a_words, "B": b_words})
    cosines = _cosines_of(sets, average)
    effect = cosines.effect(std)
    scores = cosines.word_scores()
    rng = generator_from(rng)
    of_attributes = in_sets(contributions(cosines), cosines.n_a)
    test, test_attributes = (
        permutation_test_of_scores(
            *sides,
            alternative=alternative,
            method=method,
            n_resamples=n_resamples,
            rng=rng,
            statistic=compared,
            noise=COSINE_NOISE,
        )
        for sides, compared in (
            (_permuted(cosines, unit), statistic if unit == "word" else "difference"),
            (of_attributes, statistic),
        )
    )
    return Seat(effect, test, test_attributes, scores, cosines, std)


class SeatTables(NamedTuple):
    """What one model comes to."""

    estimates: pa.Table
    """`SEAT_SCHEMA`"""
    words: pa.Table
    """`SEAT_WORDS_SCHEMA`"""
    templates: pa.Table
    """`TEMPLATES_SCHEMA`"""


def measure_seat(
    categories: Mapping[str, Mapping[str, Any]],
    sentences: pa.Table,
    vectors: SentenceVectors,
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
        categories: names to the layout of `categories.json`.
        sentences: the filled templates (`prasanga.samples.fill_templates`): columns occurrence_id, stimulus, template.
        vectors: of each stimulus, the occurrence ids of its sentences and their (n_sentences, d) vectors. A sentence
            that the model has no vector for is absent, a stimulus without any likewise.
        model: its name.
        settings: how effects are tested.
        unit: see `seat`; `p_stimuli` moves words in any case, and `sentence` adds `p_sentences`.
        average: see `seat`.
        sentence_vector: what a sentence's vector is (cls, mean, last, word, position), for the table.
        seed: of the study.

    Returns:
        A row per category, one per category and word, and one per category and template. A stimulus without vectors is
        left out and named in `dropped`, with those that lost some of their sentences; a category that cannot be
        computed is a row without numbers that says why.

    Raises:
        InputError: vectors that cannot be right (NaN, zero, different dimensions, two of one sentence, those of
            sentences that are not among the templates); an unknown unit or average.
    """
    _require_conventions(unit, average)
    parsed = [category_of(name, layout) for name, layout in categories.items()]
    wanted = {word for category in parsed for words in category.sets for word in words}
    listed = _places(sentences)
    found = {
        word: _ordered(model, word, listed.get(word, {}), *vectors[word]) for word in sorted(wanted & vectors.keys())
    }
    arrays = {word: array for word, (array, _) in found.items() if len(array)}
    require_one_dimension({f"{model}, {word}": array.shape[1] for word, array in arrays.items()})
    places = {word: rows for word, (_, rows) in found.items()}
    conventions = {"sentence_vector": sentence_vector, "unit": unit, "average": average}
    usable = _Usable(arrays, places, listed, moments_of(arrays.values()), model, settings, conventions, seed)
    estimates, words, templates = [], [], []
    with progress(f"SEAT of {model}", len(parsed), "categories") as done:
        for category in done.over(parsed):
            row, of_words, of_templates = _measure(category, usable)
            estimates.append(row)
            words += of_words
            templates += of_templates
    tables = ((estimates, SEAT_SCHEMA), (words, SEAT_WORDS_SCHEMA), (templates, TEMPLATES_SCHEMA))
    return SeatTables(*(pa.Table.from_pylist(rows, schema=schema) for rows, schema in tables))


class _Usable(NamedTuple):
    """The sentences of a study that have a vector, those that were asked for, and how the study is computed."""

    vectors: Mapping[str, npt.NDArray[Any]]
    """Of each word its (n_sentences, d) vectors, in the order of the templates."""
    places: Mapping[str, npt.NDArray[np.int64]]
    """Of each word (n_sentences,) the places of their templates in its class, from 0."""
    listed: Mapping[str, Mapping[str, tuple[int, str]]]
    """Of each word, every sentence that it was to stand in, with the place and the name of its template."""
    moments: Moments
    model: str
    settings: TestSettings
    conventions: Mapping[str, str]
    seed: int


def _require_conventions(unit: str, average: str) -> None:
    require_choices({"seat.unit": (unit, UNITS), "seat.average": (average, AVERAGES)})


def _places(sentences: pa.Table) -> dict[str, dict[str, tuple[int, str]]]:
    """Return place and template of each sentence of each stimulus: a template is known by its place in its class."""
    places: dict[str, dict[str, tuple[int, str]]] = {}
    columns = (sentences.column(name).to_pylist() for name in ("stimulus", "occurrence_id", "template"))
    for stimulus, sentence, template in zip(*columns, strict=True):
        of_word = places.setdefault(stimulus, {})
        of_word[sentence] = len(of_word), str(template)
    return places


def _ordered(
    model: str, word: str, listed: Mapping[str, tuple[int, str]], ids: Sequence[str], vectors: npt.ArrayLike
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Return the checked vectors of a word, in the order of the templates, and the templates' places."""
    whose = f"{model}, {word}"
    array = to_array(whose, vectors, VECTORS)
    if len(ids) != len(array):
        raise InputError(f"{whose}: {len(ids)} ids of sentences for {len(array)} vectors. Embed its sentences again.")
    if len(set(ids)) != len(ids):
        raise InputError(f"{whose}: {len(ids)} vectors of {len(set(ids))} sentences. Embed its sentences again.")
    strange = next((sentence for sentence in ids if sentence not in listed), None)
    if strange is not None:
        raise InputError(
            f"{whose}: the vector of sentence {strange} belongs to none of the templates' sentences. They have changed,"
            " or the vectors are another study's. Embed the sentences again."
        )
    places = np.array([listed[each][0] for each in ids], dtype=np.int64)
    if not len(array):
        return array, places
    directed_vectors(whose, array, ids=ids, mend=embed_again(model))
    order = np.argsort(places)
    return array[order], places[order]


def _measure(category: Category, usable: _Usable) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the row of a category, those of its words, and those of its templates."""
    used = used_words(category.sets, usable.vectors)
    notes = list(_losses(category, usable))
    numbers: dict[str, Any] = {}
    words: list[dict[str, Any]] = []
    templates: list[dict[str, Any]] = []
    if reason := too_few(category.set_names, category.sets, used):
        notes.append(reason)
    else:
        try:
            numbers, words, templates = _numbers(category, used, usable)
        except ConstantScoresError as error:
            notes.append(not_computed(error))
    key = {"category": category.name, "model": usable.model}
    row = {
        **describe_category(category, used, notes),
        "model": usable.model,
        **numbers,
        **{
            f"n_sentences_{side}": sum(len(usable.vectors[word]) for word in of_side)
            for side, of_side in zip(_SIDES, used, strict=True)
        },
        **usable.conventions,
        **usable.settings.conventions(),
        "seed": usable.seed,
    }
    return row, [{**key, **of_word} for of_word in words], [{**key, **each} for each in templates]


def _losses(category: Category, usable: _Usable) -> list[str]:
    """Return a note for each word that lost sentences, or all of them."""
    notes = []
    for word in dict.fromkeys(word for words in category.sets for word in words):
        n, kept = len(usable.listed.get(word, {})), len(usable.vectors.get(word, ()))
        if not n:
            notes.append(f"{word}: in no template")
        elif not kept:
            notes.append(f"{word}: no vector of its {n} sentences")
        elif kept < n:
            notes.append(f"{word}: vectors of {kept} of its {n} sentences")
    return notes


def _numbers(
    category: Category, used: Words, usable: _Usable
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    vectors, settings, seed, average = usable.vectors, usable.settings, usable.seed, usable.conventions["average"]
    cosines = _cosines_of([[vectors[word] for word in words] for words in used], average)
    names = ("seat", usable.model)
    estimate = measure_cosines(cosines, settings, category=category.name, words=used, seed=seed, names=names)
    p_sentences = None
    if usable.conventions["unit"] == "sentence":
        p_sentences = permutation_test_of_scores(
            *_permuted(cosines, "sentence"),
            alternative=settings.alternative,
            n_resamples=settings.n_permutations,
            rng=generator(seed, "p_sentences", *names, category.name),
            statistic="difference",
        ).p_value
    words = [
        {**row, "n_items": len(vectors[row["stimulus"]])}
        for row in word_rows(cosines, used, category.set_names, estimate.without)
    ]

    def scaled(change: Change) -> Cosines:
        sets = [[change(vectors[word], usable.moments) for word in of_side] for of_side in used]
        return _cosines_of(sets, average)

    raw = raw_columns(cosines, scaled, settings, effect=estimate.columns["effect_size"])
    templates = _template_names(used, usable)
    columns, of_templates = measure_templates(
        _in_templates(used, usable, average, len(templates)).effects,
        templates,
        cosines,
        settings,
        category=category.name,
        words=used,
        seed=seed,
    )
    numbers = {**estimate.columns, **raw, "n_templates": len(templates), **columns, "p_sentences": p_sentences}
    return numbers, words, of_templates


def _template_names(words: Words, usable: _Usable) -> list[str]:
    """Return the templates by place; one of several classes has the names that it has in them."""
    names: dict[int, dict[str, None]] = {}
    for of_word in (usable.listed[word].values() for side in words for word in side):
        for place, name in of_word:
            names.setdefault(place, {})[name] = None
    return [", ".join(names[place]) for place in sorted(names)]


def _in_templates(words: Words, usable: _Usable, average: str, n_templates: int) -> InTemplates:
    """Return the sentences of a category, to count words and templates anew."""
    sides = [[word for side in both for word in side] for both in (words[:2], words[2:])]
    arrays = [[usable.vectors[word] for word in side] for side in sides]
    items = [np.repeat(np.arange(len(side)), list(map(len, side))) for side in arrays]
    places = [np.concatenate([usable.places[word] for word in side]) for side in sides]
    squares = None
    if average == "vectors":
        squares = np.zeros((sum(map(len, sides)), n_templates, n_templates))
        for of_word, word in zip(squares, (*sides[0], *sides[1]), strict=True):
            array = usable.vectors[word].astype(np.float64)
            of_word[np.ix_(usable.places[word], usable.places[word])] = array @ array.T
        vectors = [np.concatenate(side).astype(np.float64) for side in arrays]
    else:
        vectors = [np.concatenate([unit_vectors("a word", array) for array in side]) for side in arrays]
    products, n_x, n_a = vectors[0] @ vectors[1].T, len(words[0]), len(words[2])
    return InTemplates(products, squares, items[0], items[1], places[0], places[1], n_x, n_a)


def _cosines_of(sets: Sequence[Sequence[npt.NDArray[Any]]], average: str) -> Cosines:
    if average == "vectors":
        sets = [[word.mean(axis=0, keepdims=True, dtype=np.float64) for word in words] for words in sets]
    return Cosines.of_vectors(*sets)


def _permuted(cosines: Cosines, unit: str) -> tuple[FloatArray, FloatArray]:
    """Return the associations that are permuted, of X and of Y."""
    if unit == "word":
        return in_sets(cosines.word_scores(), cosines.n_x)
    of_items, is_x = cosines.item_scores()[0], cosines.targets < cosines.n_x
    return of_items[is_x], of_items[~is_x]
