"""Every estimate under every combination of choices that the vectors allow (specification curves).

An effect of one analysis may vanish in another that is as good. With all of them we can say how many keep its sign, and
how many its significance (Simonsohn, Simmons and Nelson 2020, Specification curve analysis, Nature Human Behaviour 4).
Choices are crossed: the denominator of d, and the variants of vectors. CEAT: layer, pieces, segment length, window and
pool. SEAT: layer, pieces, pooling of the sentence, kind of average, set of templates.

To take only seconds, an effect of CEAT is the mean over `_DRAWS` draws here, not the combined effect of 5,000, and
partitions beyond `_PARTITIONS` are drawn. It needs vectors, but no model.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.ceat import spread_draws
from prasanga.associations.estimates import CategoryWords, category_of, describe_category, find_small_set, select_words
from prasanga.associations.vectors import Words, compute_cosines, compute_mean_cosines, directed_vectors, mean_direction
from prasanga.base.errors import InputError
from prasanga.base.logs import progress
from prasanga.schema import CHOICES, TABLES
from prasanga.stats.crossed import CrossedScores, contributions
from prasanga.stats.effects import COSINE_NOISE, STD_CONVENTIONS, FloatArray
from prasanga.stats.permutation import holm, permutation_test_of_scores, sign_flip_test

MULTIVERSE_SCHEMA = TABLES["multiverse"].arrow()
"""One row per method, category, model and specification with a number."""

_DRAWS = 64
_PARTITIONS = 9_999


class Variant(NamedTuple):
    """The cosines of a category under some choices, all but the denominator."""

    category: str
    words: Words
    choices: Mapping[str, str]
    cosines: CrossedScores
    """Whose mean effect over draws is reported."""
    tested: CrossedScores
    """Whose words are permuted; for CEAT over all contexts."""


class ModelVectors(NamedTuple):
    """Vectors of a model, and the choices behind them.

    Attributes:
        method: ceat, seat or weat.
        model: its name, the same for all layers and poolings of it.
        choices: by name, common to all its vectors.
        variants: yields the variants of given categories, for example a `functools.partial` of `variants_of_words`.
    """

    method: str
    model: str
    choices: Mapping[str, str]
    variants: Callable[[Sequence[CategoryWords]], Iterator[Variant]]


def measure_multiverse(
    categories: Mapping[str, Mapping[str, Mapping[str, Any]]],
    sources: Iterable[ModelVectors],
    *,
    seed: int,
    repeated_words: str = "once",
) -> pa.Table:
    """Compute every estimate under all choices.

    Args:
        categories: by method, names to the layout of `categories.json`.
        sources: vectors of each model and each way of embedding; iterated once.
        seed: of the study, for partitions that are drawn.
        repeated_words: how often CEAT counts a word listed twice in a set, once or as-listed.

    Returns:
        `MULTIVERSE_SCHEMA`. p is two-sided, of the studentized difference, and the larger of both sides; Holm's
        correction is over the estimates of a method under the same choices, as if the study had made only these.
    """
    listed = {
        method: [category_of(*each, repeated_words if method == "ceat" else "once") for each in of_method.items()]
        for method, of_method in categories.items()
    }
    rows: list[dict[str, Any]] = []
    with progress("the multiverse", 0, "models") as done:
        for source in sources:
            of_method = {category.name: category for category in listed.get(source.method, ())}
            for variant in source.variants(list(of_method.values())):
                category, choices = of_method[variant.category], {**source.choices, **variant.choices}
                about = {
                    **{"method": source.method, "model": source.model, **choices},
                    **describe_category(category, variant.words, []),
                    "p_association": _test_sides(category, variant, seed),
                }
                for std in STD_CONVENTIONS:
                    with contextlib.suppress(InputError):  # no spread, or too few words for this denominator
                        rows.append({**about, "std": std, "effect_size": variant.cosines.effect(std)})
            done.advance(1)
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        families[row["method"], *map(row.get, CHOICES)].append(row)
    for family in families.values():
        for row, corrected in zip(family, holm([row["p_association"] for row in family]), strict=True):
            row["p_association_holm"] = float(corrected)
    return pa.Table.from_pylist(rows, schema=MULTIVERSE_SCHEMA)


def _test_sides(category: CategoryWords, variant: Variant, seed: int) -> float:
    """Return the larger p of both sides; if partitions are many, some are drawn."""
    scores = variant.tested.word_scores(), contributions(variant.tested)
    found = []
    for units, of_words in zip(category.units(variant.words), scores, strict=True):
        if units.matched:
            test = sign_flip_test(units.subtract(of_words), rng=seed, noise=COSINE_NOISE)
        else:
            first, second = np.split(units.average(of_words), units.sizes[:1])
            method = "exact" if comb(len(first) + len(second), len(first)) <= 2 * _PARTITIONS + 2 else "sampled"
            test = permutation_test_of_scores(
                first, second, method=method, n_resamples=_PARTITIONS, rng=seed, noise=COSINE_NOISE
            )
        found.append(test.p_value)
    return max(found)


def variants_of_contexts(
    vectors: Mapping[str, tuple[Sequence[str], npt.ArrayLike]], categories: Sequence[CategoryWords], *, seed: int
) -> Iterator[Variant]:
    """Yield the variants of CEAT from a model's vectors at a length: one per category."""
    drawn: dict[str, npt.NDArray[np.float32]] = {}
    directions: dict[str, FloatArray] = {}
    for word in dict.fromkeys(word for category in categories for word in category.words):
        if word in vectors and len(vectors[word][0]):
            ids, array = vectors[word]
            directed = directed_vectors(word, array, ids=ids)
            order = np.argsort(np.asarray(ids), kind="stable")
            rows = order[spread_draws([ids[row] for row in order], _DRAWS, seed=seed, names=(word, 0))]
            # seven digits are enough for the mean of draws, in half of the time
            drawn[word] = (directed.vectors[rows] * directed.inverse_norms[rows, None]).astype(np.float32)
            directions[word] = mean_direction(directed)
    for category, words in _usable(categories, drawn):
        targets, attributes = (
            np.stack([drawn[word] for side in sides for word in side], axis=1) for sides in (words[:2], words[2:])
        )
        cosines = CrossedScores.of_words(np.clip(targets @ attributes.transpose(0, 2, 1), -1, 1), map(len, words))
        yield Variant(category.name, words, {}, cosines, compute_mean_cosines(directions, words))


def variants_of_sentences(
    vectors: Mapping[str, tuple[Sequence[str], npt.ArrayLike]],
    categories: Sequence[CategoryWords],
    *,
    templates: Mapping[str, Mapping[str, int]],
) -> Iterator[Variant]:
    """Yield the variants of SEAT from a model's vectors of sentences.

    Sets of templates are all of them, the first and the second half, and each alone; a template is known by its place
    in its class. Averages are over associations and over vectors, which are equal for words with one sentence.

    Args:
        vectors: of each stimulus, ids of its sentences and their vectors.
        categories: to measure.
        templates: of each stimulus, its sentences' ids with the place of the template, from 0.
    """
    n = 1 + max((place for of_word in templates.values() for place in of_word.values()), default=-1)
    sets: dict[str, range] = {"all": range(n)}
    if n > 3:
        sets |= {f"1 to {n // 2}": range(n // 2), f"{n // 2 + 1} to {n}": range(n // 2, n)}
    if n > 1:
        sets |= {str(place + 1): range(place, place + 1) for place in range(n)}

    arrays, of_template = {}, {}
    for word, (ids, array) in vectors.items():
        known = [row for row, each in enumerate(ids) if each in templates.get(word, {})]
        arrays[word] = np.asarray(array, dtype=np.float64)[known]
        of_template[word] = np.array([templates[word][ids[row]] for row in known], dtype=np.int64)
    for category, (name, places) in itertools.product(categories, sets.items()):
        there = [word for word in category.words if word in arrays]
        kept = {word: arrays[word][np.isin(of_template[word], places)] for word in there}
        for _, words in _usable([category], {word for word, rows in kept.items() if len(rows)}):
            averages = {"associations": compute_cosines(*([kept[word] for word in side] for side in words))}
            if len(places) > 1:
                means = ([kept[word].mean(axis=0, keepdims=True) for word in side] for side in words)
                averages["vectors"] = compute_cosines(*means)
            for average, cosines in averages.items():
                choices = {"templates": name, "average": average}
                yield Variant(category.name, words, choices, cosines, cosines)


def variants_of_words(vectors: Mapping[str, npt.ArrayLike], categories: Sequence[CategoryWords]) -> Iterator[Variant]:
    """Yield the variants of WEAT from one vector per word: one per category."""
    usable = {word: vector for word, vector in vectors.items() if np.any(vector)}
    for category, words in _usable(categories, usable):
        cosines = compute_cosines(*([usable[word] for word in side] for side in words))
        yield Variant(category.name, words, {}, cosines, cosines)


def _usable(categories: Sequence[CategoryWords], known: Container[str]) -> Iterator[tuple[CategoryWords, Words]]:
    """Yield the categories with enough words, and these words."""
    for category in categories:
        words, _ = select_words(category, known)
        if not find_small_set(category, words):
            yield category, words
