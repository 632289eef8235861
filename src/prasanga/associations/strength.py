"""The strength of bias that a study could have found in each category: from its vectors to the table of strength.

`prasanga.stats.strength` applies the rule of a finding to many simulated studies. This module has the studies of
vectors: mean directions of a study's words, which a shift moves, and the scatter of their contexts or sentences.
`measure_strengths` makes the table of any method, at the level that the other tests of the study leave.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from prasanga.associations.comparisons import has_few_words, is_primary
from prasanga.associations.effects import ItemVectors, Layouts
from prasanga.associations.estimates import TestSettings, category_of, select_words
from prasanga.associations.vectors import Words, unit_vectors
from prasanga.base.seeds import generator
from prasanga.schema import COUNTED, TABLES
from prasanga.stats.crossed import CrossedScores, contrast
from prasanga.stats.effects import FloatArray, IndexArray
from prasanga.stats.intervals import FEWEST_TEMPLATES, moderate_deviations
from prasanga.stats.permutation import Flags, Units
from prasanga.stats.strength import (
    Judge,
    Measured,
    Moderate,
    Rule,
    Studies,
    divide_by_length,
    find_level,
    find_scatter,
    measure_strength,
    spread_within,
)

# --------------------
# Studies: cosines of their words, with a shift or another disturbance.


@dataclass(frozen=True)
class Space:
    """The words of a study in one list of vectors: contexts of one length, filled templates or static vectors.

    Attributes:
        products: (n, n) products of the mean directions of all words.
        scatter: variance of a category's items (contexts, sentences) about the associations of their words.
        n_items: items of a target word in one draw.
        without: (T, n, n) products of mean directions without each template; empty if templates are too few.
    """

    products: FloatArray
    scatter: float = 0.0
    n_items: float = 1.0
    without: FloatArray = field(default_factory=lambda: np.empty((0, 1, 1)))


@dataclass(frozen=True)
class Roles:
    """The words of a category, by their numbers among a study's words.

    Attributes:
        targets: words of X, then of Y.
        attributes: words of A, then of B.
        target_units: the targets' units, which are permuted and left out.
        attribute_units: the same among the attributes.
        others: words from which attributes may be drawn.
        spelled: (n,) characters of every word of the study.
    """

    targets: IndexArray
    attributes: IndexArray
    target_units: Units
    attribute_units: Units
    others: IndexArray
    spelled: FloatArray


class _Direction(NamedTuple):
    """How the cosines of a category move with its targets along g, the direction from B to A."""

    values: FloatArray
    """(n_targets, n_attributes) without a move."""
    push: FloatArray
    """(n_targets, n_attributes) added by a unit of c."""
    along: FloatArray
    """(n_targets,) product of each target's unit vector with g."""

    @classmethod
    def from_products(cls, products: FloatArray, roles: Roles) -> _Direction:
        weights = _weigh(roles.attribute_units)
        values = products[np.ix_(roles.targets, roles.attributes)]
        among = products[np.ix_(roles.attributes, roles.attributes)] @ weights  # products with mean A - mean B
        apart = math.sqrt(max(float(weights @ among), 1e-30))
        lengths = np.sqrt(products[roles.targets, roles.targets])
        return cls(values, lengths[:, None] * among / apart, values @ weights / (lengths * apart))

    def move(self, c: FloatArray) -> FloatArray:
        """Return (R, n_targets, n_attributes) with each target moved by (R, n_targets) c."""
        shrunk = 1 / np.sqrt(1 + 2 * c * self.along + c**2)
        return np.asarray(shrunk[..., None] * (self.values + c[..., None] * self.push))

    def score(self, c: FloatArray, weights: FloatArray) -> FloatArray:
        """Return (R, n_targets) the associations of `move`."""
        return np.asarray((self.values @ weights + c * (self.push @ weights)) / np.sqrt(1 + 2 * c * self.along + c**2))


def _find_shift(directions: Sequence[_Direction], is_x: Flags, k: float, weights: FloatArray) -> FloatArray:
    """Return (R, n_targets) c with its sign, which makes the difference of means grow by k standard deviations."""
    means, signs = contrast(np.ones(is_x.shape[1]), is_x), np.where(is_x, 1.0, -1.0)

    def score(c: FloatArray) -> FloatArray:
        return np.asarray(np.mean([each.score(signs * c[:, None], weights) for each in directions], axis=0))

    low = np.zeros(len(is_x))
    scores = score(low)
    before = (means * scores).sum(axis=1)
    wanted = before + k * spread_within(scores, is_x)
    high = np.full(len(is_x), 1e-3)
    for _ in range(40):
        high = np.where((means * score(high)).sum(axis=1) < wanted, 2 * high, high)
    for _ in range(60):
        middle = (low + high) / 2
        below = (means * score(middle)).sum(axis=1) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(signs * high[:, None])


# all nulls draw from one generator, so their order decides the numbers
_NULLS = ("false_scatter", "false_attributes", "false_spelling", "false_templates")


class CosineStudies(Studies):
    """Simulated studies with the vectors of a category.

    Args:
        spaces: of the model, one for each segment length; effects and scores are averaged over them.
        twins: the same of each random-weight copy; none where copies were not measured.
        roles: the words of the category.
        rule: of a finding.
        rng: draws the labels and words.
    """

    def __init__(
        self,
        spaces: Sequence[Space],
        twins: Sequence[Sequence[Space]],
        roles: Roles,
        rule: Rule,
        rng: np.random.Generator,
    ) -> None:
        super().__init__((roles.target_units, roles.attribute_units), len(spaces[0].without), rule, rng)
        self._spaces, self._twins, self._roles = spaces, twins, roles
        self._directions = [_Direction.from_products(space.products, roles) for space in spaces]
        self._directions_without = [_Direction.from_products(products, roles) for products in spaces[0].without]

    @cached_property
    def _judge_drawn_attributes(self) -> Judge:
        """Decides on drawn attributes, which are single words."""
        return Judge(self.target_units, self.attribute_units.ungrouped, self.judge.rule, self.rng)

    @cached_property
    def _judge_single_words(self) -> Judge:
        return Judge(self.target_units.ungrouped, self.attribute_units.ungrouped, self.judge.rule, self.rng)

    @property
    def nulls(self) -> dict[str, Callable[[int], Flags]]:
        """The nulls of all studies, and nulls that draw attributes if the study has enough other words."""
        found = super().nulls
        if self._roles.others.size >= self._roles.attributes.size:
            found |= {"false_attributes": self.draw_attributes, "false_spelling": self.divide_by_spelling}
        return {name: found[name] for name in _NULLS if name in found}

    def score(self) -> FloatArray:
        """Return (n_targets,) the associations of words as they are."""
        return np.asarray(np.mean([each.values @ _weigh(self.attribute_units) for each in self._directions], axis=0))

    def plant(self, is_x: Flags, k: float, twins: FloatArray) -> Flags:
        """Move the vectors of X and Y apart along the direction from B to A."""
        weights = _weigh(self.attribute_units)
        c = _find_shift(self._directions, is_x, k, weights) if k else np.zeros(is_x.shape)
        without = [each.move(c) for each in self._directions_without]
        return self._find(self.judge, [each.move(c) for each in self._directions], without, is_x, twins)

    def disturb(self, is_x: Flags, added: FloatArray, without: FloatArray, twins: FloatArray) -> Flags:
        """Add half to the cosines with A, and take half from those with B."""
        sides = np.sign(_weigh(self.attribute_units)) / 2
        pairs = zip(self._directions_without, without, strict=True)
        moved = [each.values + more[..., None] * sides for each, more in pairs]
        cosines = [each.values + added[..., None] * sides for each in self._directions]
        return self._find(self.judge, cosines, moved, is_x, twins)

    def draw_attributes(self, n: int) -> Flags:
        """Keep the targets, and draw A and B from the other words."""
        is_x = np.broadcast_to(self.target_units.is_first, (n, self._roles.targets.size))
        return self._find_drawn(is_x, self._draw(n), self._judge_drawn_attributes)

    def divide_by_spelling(self, n: int) -> Flags:
        """Divide targets and drawn attributes by the length of their spelling, equal ones at random."""
        roles = self._roles
        is_x = divide_by_length(roles.spelled[roles.targets], len(self.target_units.first), n, self.rng)
        drawn = self._draw(n)
        order = np.argsort(roles.spelled[drawn], axis=1, kind="stable")
        return self._find_drawn(is_x, np.take_along_axis(drawn, order, axis=1), self._judge_single_words)

    def measure_twins(self, is_x: Flags) -> FloatArray:
        """Return (R, K) the effects of the copies with the same labels."""
        return self._measure_twins(is_x, self._roles.attributes)

    def _measure_twins(self, is_x: Flags, attributes: IndexArray) -> FloatArray:
        """Return the same with other attributes, (n_a,) or (R, n_a)."""
        rows, weights = (self._roles.targets[:, None], attributes[..., None, :]), _weigh(self.attribute_units)
        spaces = (
            [Measured(each.products[rows] @ weights, each.scatter, each.n_items) for each in twin]
            for twin in self._twins
        )
        return self.judge.measure_copies(spaces, is_x)

    def _draw(self, n: int) -> IndexArray:
        others = np.tile(self._roles.others, (n, 1))
        return np.asarray(self.rng.permuted(others, axis=1)[:, : self._roles.attributes.size])

    def _find_drawn(self, is_x: Flags, drawn: IndexArray, judge: Judge) -> Flags:
        rows = self._roles.targets[:, None], drawn[:, None, :]
        without = [products[rows] for products in self._spaces[0].without]
        cosines = [space.products[rows] for space in self._spaces]
        return self._find(judge, cosines, without, is_x, self._measure_twins(is_x, drawn))

    def _find(
        self, judge: Judge, cosines: Sequence[FloatArray], without: Sequence[FloatArray], is_x: Flags, twins: FloatArray
    ) -> Flags:
        """Return the findings with (R, n_targets, n_attributes) mean cosines in each space, and without templates."""
        first, weights = judge.attribute_units.is_first, _weigh(judge.attribute_units)
        left_out = contrast(np.vstack(judge.attribute_units.leave_one_out()), first).T
        templates = np.array([each @ weights for each in without])
        spaces = [
            Measured(each @ weights, space.scatter, space.n_items, (each @ left_out).swapaxes(1, 2), templates)
            for each, space in zip(cosines, self._spaces, strict=True)
        ]

        def test_attributes(which: Flags, means: FloatArray) -> FloatArray:
            scores = np.mean([(means[:, None] @ each[which])[:, 0] for each in cosines], axis=0)
            return judge.partitions[1].test(scores, np.broadcast_to(first, scores.shape))

        return judge.find(spaces, is_x, twins, test_attributes)


def _weigh(attribute_units: Units) -> FloatArray:
    """Return (n_attributes,) the weight of each attribute word in an association."""
    return contrast(np.ones(attribute_units.numbers.size), attribute_units.is_first)


# --------------------
# From vectors and estimates to the table.


_DRAWS = 16
"""Contexts per word for the estimate of their scatter; memory holds them for all words, lengths and copies."""


class VectorList(NamedTuple):
    """The words of a study in one list of vectors: of a model or a random copy, at one length or in templates.

    Attributes:
        words: that have vectors, each with its number.
        products: (n, n) products of their mean directions.
        without: (T, n, n) the same without each template; empty with too few templates.
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
    sentences: pa.Table | None = None,
    average: str = "associations",
    seed: int = 47,
) -> VectorList:
    """Return what strength needs of the vectors of `words`, reading one word at a time.

    Args:
        vectors: ids and (n, d) vectors, by word.
        words: of the study.
        sentences: the filled templates, of SEAT; None for contexts and words.
        average: of SEAT: with `vectors`, the mean of a word's vectors is its one item.
        seed: of the study; draws contexts.
    """
    known = {word: number for number, word in enumerate(sorted({*words} & vectors.keys()))}
    listed: dict[str, list[str]] = {}  # the ids of each word's sentences, in the order of the templates
    if sentences is not None:
        by_word = pl.DataFrame(sentences).group_by("stimulus", maintain_order=True).agg("occurrence_id")
        listed = dict(by_word.iter_rows())
    n_templates = max(map(len, listed.values()), default=0)
    items, directions = [], []
    for word in known:
        ids, array = vectors[word]
        units = unit_vectors(word, array)
        averaged = units if average == "associations" else np.asarray(array, dtype=np.float64)
        kept = [np.ones(len(ids), dtype=bool)]
        if sentences is None:
            units = units[np.resize(generator(seed, "strength", word).permutation(len(units)), _DRAWS)]
        elif n_templates >= FEWEST_TEMPLATES:
            places = np.array([listed[word].index(each) for each in ids])
            kept += [places != place for place in range(n_templates)]
        means = np.array([averaged[rows if rows.any() else kept[0]].mean(axis=0) for rows in kept])
        if average == "vectors":
            means /= np.linalg.norm(means, axis=1, keepdims=True)
            units = means[:1]
        items.append(units.astype(np.float32))
        directions.append(means)
    of_all, *without = np.array(directions).transpose(1, 0, 2) if known else np.zeros((1, 0, 1))
    products = np.array([of_all @ of_all.T, *(each @ each.T for each in without)])
    return VectorList(known, products[0], products[1:], items, sentences is None)


def summarize_models(
    paths: Mapping[str, Sequence[Sequence[str]]],
    read: Callable[[str, int | None], ItemVectors],
    words: Sequence[str],
    n_twins: Mapping[str, int],
    **how: Any,
) -> Callable[[str], list[list[VectorList]]]:
    """Return a function that summarizes the vectors of a model and of its copies, and caches the last model.

    Args:
        paths: by model, the files of its vectors at each length, and then the files of its copies, if any.
        read: gives the vectors in a file, of the model (None) or of a copy.
        words: of the study.
        n_twins: number of copies by model.
        **how: arguments of `summarize_vectors`.
    """

    @lru_cache(maxsize=1)  # estimates of a model follow each other
    def summarize(model: str) -> list[list[VectorList]]:
        own, *copies = paths[model]
        files = [(own, None), *((each, twin) for each in copies for twin in range(n_twins[model]))]
        return [[summarize_vectors(read(path, twin), words, **how) for path in each] for each, twin in files]

    return summarize


def measure_strengths(
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    method: str,
    build: Callable[[Mapping[str, Any], Rule, np.random.Generator], Studies],
    *,
    settings: TestSettings,
    repetitions: int,
    shifts: Sequence[float],
    seed: int,
) -> pa.Table:
    """Return the table of strength of a method: a row per category and model that has a test.

    Args:
        tables: the estimates of all methods; a row with `n_tests` has a test.
        method: its name.
        build: gives the simulated studies of an estimate, by a rule and a generator; it gets a model's estimates one
            after the other.
        settings: how effects are tested.
        repetitions: number of simulated studies.
        shifts: that are planted, in standard deviations of word scores within sets.
        seed: of the study.
    """
    found, family = [], [row["p_association"] for rows in tables.values() for row in rows if row["n_tests"]]
    for row in (row for row in tables[method] if row["n_tests"]):
        others = [*family]
        others.remove(row["p_association"])
        columns, level = {name: row[name] for name in ("category", "model")}, find_level(others)
        if note := _find_obstacle(row, level):
            found.append({**columns, "level": level, "strength_note": note})
            continue
        alike = [each for each in tables[method] if each["model"] == row["model"]]
        rule = Rule(level, _moderate(row, alike), *(getattr(settings, name) for name in Rule._fields[2:]))
        studies = build(row, rule, generator(seed, "strength", method, *columns.values()))
        found.append({**columns, **measure_strength(studies, shifts=shifts, repetitions=repetitions)})
    return pa.Table.from_pylist(found, schema=TABLES[f"{method}_strength"].arrow())


def build_cosine_studies(
    categories: Layouts,
    row: Mapping[str, Any],
    vectors: Sequence[VectorList],
    copies: Sequence[Sequence[VectorList]],
    rule: Rule,
    rng: np.random.Generator,
    *,
    repeated_words: str = "once",
) -> CosineStudies:
    """Return the simulated studies of an estimate.

    Args:
        categories: by name, in the layout of `categories.json`.
        row: the estimate; its studies leave out the words that it lost.
        vectors: of the model, at each length that the test is over.
        copies: the same of each random-weight copy; one that lacks a word of the category is left out.
        rule: of a finding.
        rng: draws the studies.
        repeated_words: how often CEAT counts a word that a set lists twice.
    """
    category = category_of(row["category"], categories[row["category"]], repeated_words)
    common = sorted(set.intersection(*(set(each.words) for each in vectors)))
    lost = {loss["word"] for loss in row["lost"] if loss["reason"] not in COUNTED}
    used, _ = select_words(category, {*common} - lost)
    whole = [copy for copy in copies if all(word in each.words for each in copy for side in used for word in side)]
    words = [word for word in common if all(word in each.words for copy in whole for each in copy)]
    numbers = {word: number for number, word in enumerate(words)}
    targets, attributes = ([numbers[word] for side in sides for word in side] for sides in (used[:2], used[2:]))
    rest = sorted(set(range(len(words))) - set(targets))
    spelled = np.array([float(len(word)) for word in words])
    roles = Roles(np.array(targets), np.array(attributes), *category.units(used), np.array(rest), spelled)
    parts = [[_describe_space(each, used, words, rule.std) for each in part] for part in (vectors, *whole)]
    return CosineStudies(parts[0], parts[1:], roles, rule, rng)


def _moderate(row: Mapping[str, Any], estimates: Sequence[Mapping[str, Any]]) -> Moderate:
    """Return a function that moderates the deviation of simulated copies by the model's other estimates."""
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
    """Return why no study could find a shift of any size; else an empty text."""
    if row["smallest_p"] > level:
        return f"the smallest possible p is {row['smallest_p']:.2g}, and only {level:.2g} or less is significant"
    return "too few words" if has_few_words(row, "xyab") else ""


def _describe_space(vectors: VectorList, used: Words, words: Sequence[str], std: str) -> Space:
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
