"""WEAT and SEAT: associations of words by one vector each, and by those of sentences that they stand in.

WEAT (Caliskan, Bryson and Narayanan 2017) has static vectors: one vector a word, so one draw of one item a word.
Everything else is as in SEAT and CEAT (`estimates`).

SEAT: WEAT with sentences in place of words (May et al. 2019; Sahoo et al. 2024, appendix B).

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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.cosines import compute_cosines
from prasanga.associations.effects import target_scores
from prasanga.associations.estimates import (
    Category,
    Rows,
    TestSettings,
    category_of,
    computed,
    describe_category,
    measure_cosines,
    measured,
    raw_columns,
    used_words,
    word_rows,
)
from prasanga.associations.robustness import TEMPLATES_SCHEMA, InTemplates, measure_templates
from prasanga.associations.shown import Shown
from prasanga.associations.vectors import (
    SMALLEST_LENGTH,
    VECTORS,
    Change,
    Moments,
    Words,
    directed_vectors,
    embed_again,
    moments_of,
    require_one_dimension,
    require_other_words,
    unit_vectors,
    word_vectors,
)
from prasanga.base.errors import InputError
from prasanga.base.seeds import generator
from prasanga.losses import Loss, Reason
from prasanga.schema import TABLES
from prasanga.stats.arguments import FloatArray, choice, generator_from, to_array
from prasanga.stats.crossed import CrossedScores, contributions
from prasanga.stats.effects import COSINE_NOISE, effect_size_of_scores
from prasanga.stats.permutation import PermutationTest, permutation_test_of_scores

UNITS = ("word", "sentence")
AVERAGES = ("associations", "vectors")

_SIDES = "xyab"

WEAT_SCHEMA = TABLES["weat"].arrow()
"""One row per category. `model` is the name of the vectors, `vectors` where they come from, `method` how they were
trained or the format of their file, `forms` how words were looked up (dictionary, pooled)."""

WEAT_WORDS_SCHEMA = TABLES["weat_words"].arrow()
"""One row per category, set and word that has a vector."""

SEAT_SCHEMA = TABLES["seat"].arrow()
"""Columns of the table of estimates.

`p_stimuli` moves words, whatever the unit; `p_sentences` moves sentences and is null for the unit `word`. What needs
other tables (`p_association_holm`, `p_association_bh`, `n_tests`, the columns of twins) is null here.
"""
SEAT_WORDS_SCHEMA = WEAT_WORDS_SCHEMA
"""Columns of the table of words; `n_items` is the number of sentences."""

SentenceVectors: TypeAlias = Mapping[str, tuple[Sequence[str], npt.ArrayLike]]
"""Each stimulus with the ids of its sentences and their (n_sentences, d) vectors."""


@dataclass(frozen=True, eq=False, repr=False)
class _Tested(Shown):
    """What the results of `weat` and `seat` have in common."""

    effect_size: float
    test: PermutationTest
    test_attributes: PermutationTest
    std: str

    @property
    def p_association(self) -> float:
        """The larger p of both tests: whether other words would do, on either side."""
        return max(self.test.p_value, self.test_attributes.p_value)


@dataclass(frozen=True, eq=False, repr=False)
class Weat(_Tested):
    """Result of `weat`: `effect_size` by the convention `std`, positive if X is nearer to A than Y is.

    `test` and `test_attributes` are the permutation tests of the words of either side (`PermutationTest`), and
    `p_association` is the larger p of both.
    """

    scores_x: FloatArray
    """(nx,) association s(w, A, B) of each word of X."""
    scores_y: FloatArray
    """(ny,) the same of Y."""
    vectors: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]
    """Of X, Y, A and B."""

    def shown(self) -> tuple[str, float, str, Callable[[], CrossedScores]]:
        """Return what a notebook shows."""
        sets = [np.asarray(each)[:, None] for each in self.vectors]  # a word is one item
        return "WEAT", self.effect_size, self.std, lambda: compute_cosines(*map(list, sets))


@dataclass(frozen=True, eq=False, repr=False)
class Seat(_Tested):
    """Result of `seat`: `effect_size` by the convention `std`, `test`, `test_attributes` and `p_association` as `Weat`.

    `test` is of the words of X and Y or of their sentences; `test_attributes` moves a word with all its sentences.
    """

    word_scores: FloatArray
    """(nx + ny,), the mean association of each word over its sentences, X before Y."""
    cosines: CrossedScores
    """Of the sentences, over which the effect is; or of the words for an average of vectors."""

    def shown(self) -> tuple[str, float, str, Callable[[], CrossedScores]]:
        """Return what a notebook shows."""
        return "SEAT", self.effect_size, self.std, lambda: self.cosines


def weat(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    A: npt.ArrayLike,
    B: npt.ArrayLike,
    *,
    std: str = "union_ddof1",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 100_000,
    rng: np.random.Generator | int | None = None,
    statistic: str = "studentized",
) -> Weat:
    """Compute the WEAT of target sets `X`, `Y` and attribute sets `A`, `B`, each (n, d), one vector a word.

    Hypothesis of no association: the words of X and Y do not differ in their association with A rather than B, or those
    of A and B do not differ in theirs with X rather than Y, so that every way to part them into sets of these sizes is
    as likely as the one observed. With

        s(w, A, B) = mean over a in A of cos(w, a)  -  mean over b in B of cos(w, b)

    the effect size is d = (mean of s over X - mean of s over Y) / std of s over X and Y, and p is the share of
    partitions whose difference of means is at least as extreme (Caliskan, Bryson and Narayanan 2017, Science 356; Sadhu
    et al. 2024, appendix B.1). They part the target words alone (`test`); that other attribute words would do as well
    is asked by `test_attributes`, and of both by `p_association`.

    Args:
        X: target vectors (nx, d), nx >= 1; the sets may differ in size.
        Y: target vectors (ny, d).
        A: attribute vectors (na, d).
        B: attribute vectors (nb, d).
        std: convention of the denominator: union_ddof1 (Caliskan et al.), union_ddof0, pooled (`effects`).
        alternative: two-sided, greater or less.
        method: auto, exact or sampled (`permutation`).
        n_resamples: partitions drawn where they are sampled.
        rng: their generator, or a seed.
        statistic: what partitions are compared by, studentized or difference (`permutation_test`).

    Raises:
        InputError: NaN, zero vectors, different dimensions, sets without words, an unknown name; `ConstantScoresError`
            if all words have the same association.
    """
    x, y = target_scores(X, Y, A, B)
    options = {"alternative": alternative, "method": method, "n_resamples": n_resamples}
    tests = _both_tests((x, y), statistic, target_scores(A, B, X, Y), statistic, rng, options)
    return Weat(effect_size_of_scores(x, y, std, noise=COSINE_NOISE), *tests, std, x, y, (X, Y, A, B))


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
    choice("unit", unit, UNITS)
    choice("average", average, AVERAGES)
    sets = [word_vectors(name, words) for name, words in zip("XYAB", (X, Y, A, B), strict=True)]
    for name, arrays in zip("XYAB", sets, strict=True):
        for i, word in enumerate(arrays):
            directed_vectors(f"{name}, word {i}", word)  # before they are averaged, which would hide a zero
    x_words, y_words, a_words, b_words = sets
    require_other_words({"X": x_words, "Y": y_words}, {"A": a_words, "B": b_words})
    cosines = _cosines_of(sets, average)
    effect = cosines.effect(std)
    scores = cosines.word_scores()
    of_attributes = np.split(contributions(cosines), [cosines.n_a])
    options = {"alternative": alternative, "method": method, "n_resamples": n_resamples}
    of_targets = statistic if unit == "word" else "difference"
    tests = _both_tests(_permuted(cosines, unit), of_targets, of_attributes, statistic, rng, options)
    return Seat(effect, *tests, std, scores, cosines)


def _both_tests(
    of_targets: Sequence[FloatArray],
    by: str,
    of_attributes: Sequence[FloatArray],
    by_other: str,
    rng: np.random.Generator | int | None,
    options: Mapping[str, Any],
) -> tuple[PermutationTest, PermutationTest]:
    """Test the scores of either side by a statistic each; one generator draws the partitions of both."""
    known: Mapping[str, Any] = {**options, "rng": generator_from(rng), "noise": COSINE_NOISE}
    return (
        permutation_test_of_scores(*of_targets, statistic=by, **known),
        permutation_test_of_scores(*of_attributes, statistic=by_other, **known),
    )


def measure_weat(
    categories: Mapping[str, Mapping[str, Any]],
    vectors: Mapping[str, npt.ArrayLike],
    missing: Mapping[str, str],
    *,
    name: str,
    settings: TestSettings,
    seed: int,
    source: str = "",
    method: str = "",
    forms: str = "",
) -> tuple[pa.Table, pa.Table]:
    """Compute the WEAT of all `categories` by one set of vectors.

    The result has rows of `WEAT_SCHEMA`, and of `WEAT_WORDS_SCHEMA`.

    A word without a vector, or with a zero vector, is left out and named in `dropped`. A category in which fewer than
    two words of a target set or no word of an attribute set are left has a row without numbers, and the reason.

    Args:
        categories: by name, in the layout of `categories.json`.
        vectors: of each stimulus that has one, (d,).
        missing: why each of the others has none.
        name: of the vectors, the tables' `model`.
        settings: how effects are tested.
        seed: of the study.
        source: the tables' `vectors`.
        method: likewise.
        forms: likewise.

    Raises:
        InputError: a vector that cannot be right (NaN, another shape or dimension): this needs mending.
    """
    parsed = [category_of(each, layout) for each, layout in categories.items()]
    stimuli = dict.fromkeys(word for category in parsed for word in category.words)
    usable, reasons = _usable(name, stimuli, vectors, missing)
    moments = moments_of([np.stack(list(usable.values()))] if usable else [])
    about = {"vectors": source, "method": method, "forms": forms}
    study = _Study(name, usable, moments, settings, about, seed)

    def rows_of(category: Category) -> tuple[Rows, Rows]:
        used = used_words(category.sets, usable)
        missing = [word for word in category.words if word not in usable]
        lost = [category.lose(word, Reason.NO_VECTOR, reasons[word]) for word in missing]
        found = computed(category, used, lost, lambda: study.measure(category, used, "weat"))
        _, columns, words = found or (None, {}, [])
        return [study.row(category, used, lost, columns)], words

    estimates, words = measured(f"WEAT of {name}", "categories", parsed, rows_of, (WEAT_SCHEMA, WEAT_WORDS_SCHEMA))
    return estimates, words


class _Study(NamedTuple):
    """The vectors of a study that can be used, and how the study is computed."""

    model: str
    vectors: Mapping[str, npt.NDArray[Any]]
    """Of each word its (n_items, d) vectors, or the one, (d,)."""
    moments: Moments
    settings: TestSettings
    about: Mapping[str, str]
    """Columns of all rows."""
    seed: int

    def measure(
        self, category: Category, used: Words, method: str, average: str = "associations"
    ) -> tuple[CrossedScores, dict[str, Any], Rows]:
        """Return the cosines of a category, the columns that come from them, and the rows of its words."""
        vectors, settings = self.vectors, self.settings

        def scaled(change: Change) -> CrossedScores:
            return _cosines_of([[change(vectors[word], self.moments) for word in side] for side in used], average)

        cosines = _cosines_of([[vectors[word] for word in side] for side in used], average)
        names = (method, self.model)
        found = measure_cosines(cosines, settings, category=category.name, words=used, seed=self.seed, names=names)
        columns = found.columns | raw_columns(cosines, scaled, settings, effect=found.columns["effect_size"])
        key = {"category": category.name, "model": self.model}
        words = [{**key, **row} for row in word_rows(cosines, used, category.set_names, found.without)]
        return cosines, columns, words

    def row(self, category: Category, used: Words, lost: Sequence[Loss], columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row of a category; without `columns`, one without numbers."""
        described = {**describe_category(category, used, lost), "model": self.model}
        return {**described, **columns, **self.about, **self.settings.conventions(), "seed": self.seed}


def _usable(
    name: str, stimuli: Iterable[str], vectors: Mapping[str, npt.ArrayLike], missing: Mapping[str, str]
) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """Return the vectors with a direction, and why the other words have none."""
    usable: dict[str, FloatArray] = {}
    reasons: dict[str, str] = {}
    for word in stimuli:
        if word not in vectors:
            reasons[word] = missing.get(word) or "no vector"
            continue
        given = to_array(f"{name}, {word}", vectors[word], "(d,) numbers, one vector a word")
        if given.dtype.kind not in "fiu":
            raise InputError(f"{name}, {word}: a vector of type {given.dtype}. Give (d,) numbers, for example float32.")
        vector = given.astype(np.float64)
        if vector.ndim != 1 or not vector.size:
            raise InputError(f"{name}, {word}: a vector of shape {vector.shape}. Give (d,), one vector a word.")
        if not np.isfinite(vector).all():
            place = int(np.flatnonzero(~np.isfinite(vector))[0])
            raise InputError(
                f"{name}, {word}: number {place} is {vector[place]}. Make this vector again, or leave it out."
            )
        if np.abs(vector).max() >= SMALLEST_LENGTH:
            usable[word] = vector
        else:
            reasons[word] = "zero vector"
    require_one_dimension({f"{name}, {word}": vector.size for word, vector in usable.items()})
    return usable, reasons


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
        left out and listed in `lost`, with those that lost some of their sentences; a category that cannot be
        computed is a row without numbers that says why.

    Raises:
        InputError: vectors that cannot be right (NaN, zero, different dimensions, two of one sentence, those of
            sentences that are not among the templates).
    """
    parsed = [category_of(name, layout) for name, layout in categories.items()]
    wanted = {word for category in parsed for word in category.words}
    listed = _places(sentences)
    found = {
        word: _ordered(model, word, listed.get(word, {}), *vectors[word]) for word in sorted(wanted & vectors.keys())
    }
    arrays = {word: array for word, (array, _) in found.items() if len(array)}
    require_one_dimension({f"{model}, {word}": array.shape[1] for word, array in arrays.items()})
    places = {word: rows for word, (_, rows) in found.items()}
    about = {"sentence_vector": sentence_vector, "unit": unit, "average": average}
    study = _Study(model, arrays, moments_of(arrays.values()), settings, about, seed)
    sentences_of = _Sentences(arrays, places, listed)
    schemas = (SEAT_SCHEMA, SEAT_WORDS_SCHEMA, TEMPLATES_SCHEMA)
    rows_of = partial(_measure, study=study, sentences=sentences_of)
    return SeatTables(*measured(f"SEAT of {model}", "categories", parsed, rows_of, schemas))


class _Sentences(NamedTuple):
    """The sentences of a study that have a vector, and those that were asked for."""

    vectors: Mapping[str, npt.NDArray[Any]]
    """Of each word its (n_sentences, d) vectors, in the order of the templates."""
    places: Mapping[str, npt.NDArray[np.int64]]
    """Of each word (n_sentences,) the places of their templates in its class, from 0."""
    listed: Mapping[str, Mapping[str, tuple[int, str]]]
    """Of each word, every sentence that it was to stand in, with the place and the name of its template."""


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


def _measure(category: Category, study: _Study, sentences: _Sentences) -> tuple[Rows, Rows, Rows]:
    """Return the row of a category, those of its words, and those of its templates."""
    used = used_words(category.sets, study.vectors)
    lost = _losses(category, sentences)
    found = computed(category, used, lost, lambda: _numbers(category, used, study, sentences))
    columns, words, templates = found or ({}, [], [])
    for side, of_side in zip(_SIDES, used, strict=True):
        columns[f"n_sentences_{side}"] = sum(len(study.vectors[word]) for word in of_side)
    return [study.row(category, used, lost, columns)], words, templates


def _losses(category: Category, sentences: _Sentences) -> list[Loss]:
    """Return each word that lost sentences, or all of them."""
    lost = []
    for word in category.words:
        n, kept = len(sentences.listed.get(word, {})), len(sentences.vectors.get(word, ()))
        if not n:
            lost.append(category.lose(word, Reason.NO_CONTEXTS, "in no template"))
        elif not kept:
            lost.append(category.lose(word, Reason.NO_VECTOR, f"no vector of its {n} sentences"))
        elif kept < n:
            lost.append(category.lose(word, Reason.IN_PART, f"vectors of {kept} of its {n} sentences"))
    return lost


def _numbers(
    category: Category, used: Words, study: _Study, sentences: _Sentences
) -> tuple[dict[str, Any], Rows, Rows]:
    settings, average = study.settings, study.about["average"]
    cosines, columns, words = study.measure(category, used, "seat", average)
    for row in words:
        row["n_items"] = len(study.vectors[row["stimulus"]])
    if study.about["unit"] == "sentence":
        columns["p_sentences"] = permutation_test_of_scores(
            *_permuted(cosines, "sentence"),
            alternative=settings.alternative,
            n_resamples=settings.n_permutations,
            rng=generator(study.seed, "p_sentences", "seat", study.model, category.name),
            statistic="difference",
        ).p_value
    names = _template_names(used, sentences)
    of_templates, templates = measure_templates(
        _in_templates(used, sentences, average, len(names)).effects,
        names,
        cosines,
        settings,
        category=category.name,
        words=used,
        seed=study.seed,
    )
    key = {"category": category.name, "model": study.model}
    return {**columns, "n_templates": len(names), **of_templates}, words, [{**key, **each} for each in templates]


def _template_names(words: Words, sentences: _Sentences) -> list[str]:
    """Return the templates by place; one of several classes has the names that it has in them."""
    names: dict[int, dict[str, None]] = {}
    for of_word in (sentences.listed[word].values() for side in words for word in side):
        for place, name in of_word:
            names.setdefault(place, {})[name] = None
    return [", ".join(names[place]) for place in sorted(names)]


def _in_templates(words: Words, sentences: _Sentences, average: str, n_templates: int) -> InTemplates:
    """Return the sentences of a category, to count words and templates anew."""
    sides = [[word for side in both for word in side] for both in (words[:2], words[2:])]
    arrays = [[sentences.vectors[word] for word in side] for side in sides]
    items = [np.repeat(np.arange(len(side)), list(map(len, side))) for side in arrays]
    places = [np.concatenate([sentences.places[word] for word in side]) for side in sides]
    squares = None
    if average == "vectors":
        squares = np.zeros((sum(map(len, sides)), n_templates, n_templates))
        for of_word, word in zip(squares, (*sides[0], *sides[1]), strict=True):
            array = sentences.vectors[word].astype(np.float64)
            of_word[np.ix_(sentences.places[word], sentences.places[word])] = array @ array.T
        vectors = [np.concatenate(side).astype(np.float64) for side in arrays]
    else:
        vectors = [np.concatenate([unit_vectors("a word", array) for array in side]) for side in arrays]
    products, n_x, n_a = vectors[0] @ vectors[1].T, len(words[0]), len(words[2])
    return InTemplates(products, squares, items[0], items[1], places[0], places[1], n_x, n_a)


def _cosines_of(sets: Sequence[Sequence[npt.NDArray[Any]]], average: str) -> CrossedScores:
    if average == "vectors":
        sets = [[word.mean(axis=0, keepdims=True, dtype=np.float64) for word in words] for words in sets]
    return compute_cosines(*sets)


def _permuted(cosines: CrossedScores, unit: str) -> Sequence[FloatArray]:
    """Return the associations that are permuted, of X and of Y."""
    if unit == "word":
        return np.split(cosines.word_scores(), [cosines.n_x])
    of_items, is_x = cosines.item_scores()[0], cosines.targets < cosines.n_x
    return of_items[is_x], of_items[~is_x]
