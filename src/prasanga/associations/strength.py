"""The strength of bias that a study could have found in each category: from its vectors to the table of strength.

`prasanga.stats.strength` plants biases of known size in the words of a category. Here is what it starts from: the mean
directions of a study's words, the scatter of their contexts or sentences, and the other tests of the study, which
decide at which level this one is significant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.comparisons import has_few_words, is_primary
from prasanga.associations.estimates import TestSettings, category_of, select_words
from prasanga.associations.study import ItemVectors, Layouts
from prasanga.associations.vectors import Words, unit_vectors
from prasanga.base.seeds import generator
from prasanga.schema import COUNTED, TABLES
from prasanga.stats.controls import moderate_deviations
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import FloatArray
from prasanga.stats.intervals import FEWEST_TEMPLATES
from prasanga.stats.strength import Moderate, Roles, Rule, Space, find_level, find_scatter, measure_strength

_DRAWS = 16
"""Contexts of each word from which their scatter is estimated; they are in memory, of all words, lengths and copies."""


class WordVectors(NamedTuple):
    """The words of a study in one list of vectors: of a model or a random copy, at one length or in templates.

    Attributes:
        words: that have vectors, each with its number.
        products: (n, n) products of their mean directions.
        without: (T, n, n) the same without each template; empty if these are too few.
        items: of each word, (m, d) unit vectors: some of its contexts, or all of its sentences.
        is_drawn: whether items are contexts, one of each word per draw; sentences are crossed.
    """

    words: dict[str, int]
    products: FloatArray
    without: FloatArray
    items: list[npt.NDArray[np.float32]]
    is_drawn: bool


def summarize_vectors(
    vectors: ItemVectors,
    words: Sequence[str],
    *,
    sentences: Mapping[str, Sequence[str]] | None = None,
    average: str = "associations",
    seed: int = 47,
) -> WordVectors:
    """Return what strength depends on in the vectors of `words`, which are read one word at a time.

    Args:
        vectors: ids and (n, d) vectors of each word that has some.
        words: of the study.
        sentences: of templates: the ids of each word's sentences in the order of the templates; None for contexts.
        average: of SEAT: with `vectors`, the mean of a word's vectors is its one item.
        seed: of the study; draws contexts.
    """
    known = {word: number for number, word in enumerate(sorted({*words} & vectors.keys()))}
    n_templates = max(map(len, sentences.values())) if sentences else 0
    items, directions = [], []
    for word in known:
        ids, array = vectors[word]
        units = unit_vectors(word, array)
        averaged = units if average == "associations" else np.asarray(array, dtype=np.float64)
        kept = [np.ones(len(ids), dtype=bool)]
        if sentences is None:
            units = units[np.resize(generator(seed, "strength", word).permutation(len(units)), _DRAWS)]
        elif n_templates >= FEWEST_TEMPLATES:
            places = np.array([sentences[word].index(each) for each in ids])
            kept += [places != place for place in range(n_templates)]
        means = np.array([averaged[rows if rows.any() else kept[0]].mean(axis=0) for rows in kept])
        if average == "vectors":
            means /= np.linalg.norm(means, axis=1, keepdims=True)
            units = means[:1]
        items.append(units.astype(np.float32))
        directions.append(means)
    of_all, *without = np.array(directions).transpose(1, 0, 2) if known else np.zeros((1, 0, 1))
    products = np.array([of_all @ of_all.T, *(each @ each.T for each in without)])
    return WordVectors(known, products[0], products[1:], items, sentences is None)


def measure_strengths(
    categories: Layouts,
    estimates: Sequence[Mapping[str, Any]],
    family: Sequence[float],
    spaces: Sequence[WordVectors],
    twins: Sequence[Sequence[WordVectors]],
    *,
    method: str,
    settings: TestSettings,
    repetitions: int,
    shifts: Sequence[float],
    seed: int,
    repeated_words: str = "once",
) -> pa.Table:
    """Return the table of strength for one model: a row per category that has a test.

    Args:
        categories: by name, in the layout of `categories.json`.
        estimates: rows of the method's table for the model; those with `n_tests` have a test.
        family: p of all tests of the study.
        spaces: the model's vectors, at each length that these tests are over.
        twins: the same of each random-weight copy.
        method: its name.
        settings: how effects are tested.
        repetitions: number of simulated studies.
        shifts: that are planted, in standard deviations of word scores within sets.
        seed: of the study.
        repeated_words: how often CEAT counts a word that a set lists twice.
    """
    found = []
    common = sorted(set.intersection(*(set(each.words) for each in spaces)))
    for row in (row for row in estimates if row["n_tests"]):
        category = category_of(row["category"], categories[row["category"]], repeated_words)
        lost = {loss["word"] for loss in row["lost"] if loss["reason"] not in COUNTED}
        used, _ = select_words(category, {*common} - lost)
        level = find_level(_without(family, row["p_association"]))
        columns = {name: row.get(name) for name in ("category", "model")}
        if note := _find_obstacle(row, level):
            found.append({**columns, "level": level, "strength_note": note})
            continue
        rule = Rule(level, _moderate(row, estimates), *(getattr(settings, name) for name in Rule._fields[2:]))
        copies = [twin for twin in twins if all(word in each.words for each in twin for side in used for word in side)]
        words = [word for word in common if all(word in each.words for twin in copies for each in twin)]
        numbers = {word: number for number, word in enumerate(words)}
        targets, attributes = ([numbers[word] for side in sides for word in side] for sides in (used[:2], used[2:]))
        rest = sorted(set(range(len(words))) - set(targets))
        spelled = np.array([float(len(word)) for word in words])
        roles = Roles(np.array(targets), np.array(attributes), *category.units(used), np.array(rest), spelled)
        parts = [[_describe_space(each, used, words, settings.std) for each in part] for part in (spaces, *copies)]
        rng = generator(seed, "strength", method, *columns.values())
        strength = measure_strength(parts[0], parts[1:], roles, rule, shifts=shifts, repetitions=repetitions, rng=rng)
        found.append({**columns, **strength})
    return pa.Table.from_pylist(found, schema=TABLES[f"{method}_strength"].arrow())


def _without(family: Sequence[float], p: float) -> list[float]:
    others = [*family]
    others.remove(p)
    return others


def _moderate(row: Mapping[str, Any], estimates: Sequence[Mapping[str, Any]]) -> Moderate:
    """Return what moderates the deviation of simulated copies, as those of other estimates of the model suggest."""
    others = [
        (each["twin_sd"], each["n_twins"] - 1, each["category"])
        for each in estimates
        if each is not row and is_primary(each) and each["twin_sd"] is not None and each["ci_low"] is not None
    ]
    measured, df, groups = map(list, zip(*others, strict=True)) if others else ([], [], [])

    def moderate(deviations: FloatArray, own: int) -> tuple[FloatArray, FloatArray]:
        found = [
            [each[-1] for each in moderate_deviations([*measured, sd], [*df, own], [*groups, row["category"]])]
            for sd in deviations
        ]
        moderated, freedom = np.array(found).T
        return moderated, freedom

    return moderate


def _find_obstacle(row: Mapping[str, Any], level: float) -> str:
    """Return why no shift of any size could be found; empty if nothing prevents it."""
    if row["smallest_p"] > level:
        return f"the smallest possible p is {row['smallest_p']:.2g}, and only {level:.2g} or less is significant"
    return "too few words" if has_few_words(row, "xyab") else ""


def _describe_space(vectors: WordVectors, used: Words, words: Sequence[str], std: str) -> Space:
    """Return the space of these `words`, with the scatter of the `used` words' items."""
    numbers = [vectors.words[word] for word in words]
    targets, attributes = (
        [vectors.items[vectors.words[word]] for side in sides for word in side] for sides in (used[:2], used[2:])
    )
    if vectors.is_drawn:
        values = (np.stack(targets, axis=1) @ np.stack(attributes, axis=1).transpose(0, 2, 1)).astype(np.float64)
        cosines = CrossedScores.of_words(values, map(len, used))
    else:
        rows, columns = (np.repeat(np.arange(len(side)), [*map(len, side)]) for side in (targets, attributes))
        values = (np.concatenate(targets) @ np.concatenate(attributes).T).astype(np.float64)
        cosines = CrossedScores(values[None], rows, columns, *map(len, used))
    scatter, n_items = find_scatter(cosines, std), cosines.targets.size / len(targets)
    products, without = vectors.products[np.ix_(numbers, numbers)], vectors.without[:, numbers][:, :, numbers]
    return Space(products, scatter, n_items, without)
