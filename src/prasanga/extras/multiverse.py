"""Every estimate under every combination of choices that the vectors at hand allow (specification curves).

An effect of one analysis may vanish in another that is as good. When all are computed, we can say
in how many its sign holds and in how many its star (Simonsohn, Simmons and Nelson 2020, Specification curve analysis,
Nature Human Behaviour 4). Choices are crossed: the denominator of d, and what the vectors hold. CEAT: layer, pieces,
segment length, window and pool. SEAT: layer, pieces, pooling of the sentence, what is averaged, set of templates.

An effect of CEAT is the mean over `_DRAWS` draws here, in place of the combined one of 5,000, and partitions beyond
`_PARTITIONS` are drawn: so that it takes seconds. It needs vectors, and no model.
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
from prasanga.associations.estimates import Category, category_of, describe_category, find_small_set, select_words
from prasanga.associations.vectors import (
    Words,
    compute_cosines,
    compute_mean_cosines,
    directed_vectors,
    mean_direction,
)
from prasanga.base.errors import InputError
from prasanga.base.logs import progress
from prasanga.base.seeds import generator
from prasanga.report.agreement import CHOICES
from prasanga.schema import TABLES
from prasanga.stats.crossed import CrossedScores, contributions
from prasanga.stats.effects import COSINE_NOISE, STD_CONVENTIONS, TIE, FloatArray
from prasanga.stats.permutation import holm, sign_flip_test

ALL_TEMPLATES = "all"

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


class Source(NamedTuple):
    """Vectors of a model, and what of the choices they were made with.

    Attributes:
        method: ceat, seat or weat.
        model: its name, the same for all layers and poolings of it.
        choices: by name, those that all its vectors have in common.
        variants: yields the variants of given categories, for example a `functools.partial` of `variants_of_words`.
    """

    method: str
    model: str
    choices: Mapping[str, str]
    variants: Callable[[Sequence[Category]], Iterator[Variant]]


def measure_multiverse(
    categories: Mapping[str, Mapping[str, Mapping[str, Any]]],
    sources: Iterable[Source],
    *,
    seed: int,
    repeated_words: str = "once",
) -> pa.Table:
    """Compute every estimate under all choices.

    Args:
        categories: by method, names to the layout of `categories.json`.
        sources: of each model and each way that it was embedded; gone through once.
        seed: of the study, for partitions that are drawn.
        repeated_words: how often CEAT counts a word listed twice in a set, once or as-listed.

    Returns:
        `MULTIVERSE_SCHEMA`. p is two-sided and of the studentized difference, the larger of both sides; Holm's
        correction is over the estimates of a method under the same choices, as if the study had made these alone.
    """
    listed = {
        method: [category_of(*each, repeated_words if method == "ceat" else "once") for each in of_method.items()]
        for method, of_method in categories.items()
    }
    rows: list[dict[str, Any]] = []
    tests: dict[tuple[int, int], list[tuple[int, FloatArray]]] = defaultdict(list)
    of_pairs: dict[int, float] = defaultdict(float)
    n_variants = 0
    with progress("the multiverse", 0, "models") as done:
        for source in sources:
            of_method = {category.name: category for category in listed.get(source.method, ())}
            for variant in source.variants(list(of_method.values())):
                cosines, category = variant.tested, of_method[variant.category]
                scores = cosines.word_scores(), contributions(cosines)
                for units, of_words in zip(category.units(variant.words), scores, strict=True):
                    if units.matched:
                        found = sign_flip_test(units.subtract(of_words), rng=seed, noise=COSINE_NOISE).p_value
                        of_pairs[n_variants] = max(found, of_pairs[n_variants])
                    else:
                        tests[units.sizes].append((n_variants, units.average(of_words)))
                about = {
                    "method": source.method,
                    "model": source.model,
                    **describe_category(category, variant.words, []),
                    **source.choices,
                    **variant.choices,
                }
                for std in STD_CONVENTIONS:
                    with contextlib.suppress(InputError):  # no spread, or too few words for this denominator
                        effect = variant.cosines.effect(std)
                        rows.append({**about, "std": std, "effect_size": effect, "variant": n_variants})
                n_variants += 1
            done.advance(1)
    p_values = np.array([of_pairs[number] for number in range(n_variants)])
    for (first, _), of_size in tests.items():
        of_units = permutation_p_values(np.array([scores for _, scores in of_size]), first, seed=seed)
        np.maximum.at(p_values, [number for number, _ in of_size], of_units)
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        row["p_association"] = float(p_values[row["variant"]])
        families[row["method"], *(row.get(name) for name in CHOICES)].append(row)
    for family in families.values():
        for row, corrected in zip(family, holm([row["p_association"] for row in family]), strict=True):
            row["p_association_holm"] = float(corrected)
    return pa.Table.from_pylist(rows, schema=MULTIVERSE_SCHEMA)


def permutation_p_values(scores: FloatArray, n_first: int, *, seed: int) -> FloatArray:
    """Return two-sided p of many studies with sets of one size, (m,), from their words' (m, n) scores.

    As in `permutation_test`, the statistic is the difference of means, over its standard error where sets differ in
    size. Up to 20,000 partitions are all counted; otherwise 9,999 are drawn, the same for all studies.
    """
    m, n = scores.shape
    total = comb(n, n_first)
    if total <= 2 * _PARTITIONS + 2:
        chosen = np.array(list(itertools.combinations(range(n), n_first)))
    else:
        order = np.tile(np.arange(n), (_PARTITIONS, 1))
        chosen = generator(seed, "multiverse", n_first, n).permuted(order, axis=1)[:, :n_first]
    chosen = np.concatenate([[range(n_first)], chosen])  # the observed partition, then all others
    in_first = np.zeros((n, len(chosen)))
    in_first[chosen.T, np.arange(len(chosen))] = 1.0
    # of each study what lies apart from its mean, so that sums lose no digits
    apart, found = scores - scores.mean(axis=1, keepdims=True), np.empty(m)
    for start in range(0, m, 256):  # bounds memory
        block = slice(start, start + 256)
        statistics = np.abs(_statistics(apart[block], in_first, n_first))
        counts = np.count_nonzero(statistics[:, 1:] >= statistics[:, :1] * (1 - TIE), axis=1)
        found[block] = counts / total if len(chosen) == total + 1 else (counts + 1) / len(chosen)
    found[np.ptp(scores, axis=1) <= COSINE_NOISE] = 1.0
    return found


def _statistics(apart: FloatArray, in_first: FloatArray, n_first: int) -> FloatArray:
    """Return (m, k) statistics of k partitions, from (m, n) scores and (n, k) which words are in the first set.

    The scores of a study add up to 0.
    """
    n_second, sums = apart.shape[1] - n_first, apart @ in_first
    differences = sums * (1 / n_first + 1 / n_second)
    if n_first == n_second or min(n_first, n_second) < 2:
        return np.asarray(differences)
    squares, all_squares = np.square(apart) @ in_first, np.square(apart).sum(axis=1, keepdims=True)
    variances = sum(
        np.maximum(of_set - np.square(sums) / n, 0.0) / (n - 1) / n
        for of_set, n in ((squares, n_first), (all_squares - squares, n_second))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.nan_to_num(differences / np.sqrt(variances), nan=0.0))


def variants_of_contexts(
    vectors: Mapping[str, tuple[Sequence[str], npt.ArrayLike]], categories: Sequence[Category], *, seed: int
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
            # seven digits are enough for the mean of draws, and half of the time
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
    categories: Sequence[Category],
    *,
    templates: Mapping[str, Mapping[str, int]],
) -> Iterator[Variant]:
    """Yield the variants of SEAT from a model's vectors of sentences.

    Sets of templates are all of them, the first and the second half, and each alone; a template is known by its place
    in its class. Averages are those of associations and of vectors, which are one where a word has one sentence.

    Args:
        vectors: of each stimulus, ids of its sentences and their vectors.
        categories: those to measure.
        templates: of each stimulus, its sentences' ids with the place of the template, from 0.
    """
    n = 1 + max((place for of_word in templates.values() for place in of_word.values()), default=-1)
    sets: dict[str, range] = {ALL_TEMPLATES: range(n)}
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


def variants_of_words(vectors: Mapping[str, npt.ArrayLike], categories: Sequence[Category]) -> Iterator[Variant]:
    """Yield the variants of WEAT from one vector per word: one per category."""
    usable = {word: vector for word, vector in vectors.items() if np.any(vector)}
    for category, words in _usable(categories, usable):
        cosines = compute_cosines(*([usable[word] for word in side] for side in words))
        yield Variant(category.name, words, {}, cosines, cosines)


def _usable(categories: Sequence[Category], known: Container[str]) -> Iterator[tuple[Category, Words]]:
    """Yield the categories that have words enough, with these words."""
    for category in categories:
        words, _ = select_words(category, known)
        if not find_small_set(category, words):
            yield category, words
