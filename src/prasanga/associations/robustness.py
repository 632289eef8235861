"""How far an estimate depends on the templates of its sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from prasanga.associations.estimates import (
    NO_INTERVAL_ASKED,
    TestSettings,
    range_columns,
)
from prasanga.associations.vectors import Words
from prasanga.base.seeds import generator
from prasanga.schema import TABLES
from prasanga.stats.arguments import FloatArray, finite_or_none
from prasanga.stats.crossed import Counts, CrossedScores
from prasanga.stats.effects import COSINE_NOISE
from prasanga.stats.intervals import FEWEST_TEMPLATES, crossed_interval, draw_counts
from prasanga.stats.items import effects_of_items, in_blocks, item_counts

# --------------------
# Templates as a sample: the effect in each, without each, and with words and templates resampled.
#
# A study has a few templates out of many that would do as well. They are crossed with the words: each word stands in
# each template of its class, and the templates of one place stand for each other in all classes. So templates are drawn
# anew besides the words, the same ones for all words: the two-way bootstrap of a crossed array (Owen 2007, The
# pigeonhole bootstrap, Annals of Applied Statistics 1). On average its variance is no smaller than the true one; of
# what a word and a template do together it counts up to three times as much.


TEMPLATES_SCHEMA = TABLES["seat_templates"].arrow()
"""Columns of the table of templates, a row a category, model and template: the effect in it alone, and without it."""

Effects = Callable[[Counts, Counts | None, Counts, str], FloatArray]
"""Gives (R,) effects with words of X and Y, words of A and B, and templates counted, (R, n) each, by a denominator."""


def measure_templates(
    effects: Effects,
    names: Sequence[str],
    cosines: CrossedScores,
    settings: TestSettings,
    *,
    category: str,
    words: Words,
    seed: int,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the columns of templates of an estimate, and rows of `TEMPLATES_SCHEMA` without category and model.

    Args:
        effects: the effect with words and templates counted several times or not at all.
        names: of the templates, by their place.
        cosines: of the items, as `measure_cosines` has them; it has the words of `words`.
        settings: how the effect is tested.
        category: its name. Resampled words are those of `draw_resampling`, so that both intervals rest on the same;
            templates have a generator of their own, named by the category and the templates.
        words: of the four sets.
        seed: of the study.
    """
    n = len(names)
    once, each = np.ones((1, cosines.n_targets)), np.eye(n)
    alone = effects(once, None, each, settings.std)
    without = effects(once, None, 1 - each, settings.std) if n > 1 else np.full(1, np.nan)
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
    resampling = settings.resampled(words, 1, seed=seed, category=category)
    drawn = draw_counts(n, settings.n_resamples, generator(seed, "resampling", category, "templates", *names))
    targets, attributes = resampling.target_counts, resampling.attribute_counts
    found = crossed_interval(
        cosines,
        resampling,
        effects(targets, attributes, np.ones((1, n)), settings.std),
        effects(targets, attributes, drawn, settings.std),
        lambda std: effects(once, None, 1 - each, std),
        std=settings.std,
    )
    ends = {"ci_templates_low": found.low, "ci_templates_high": found.high, "templates_note": found.note or None}
    return {**columns, **ends}, rows


# --------------------
# Effects with items counted: an item is a word in a template.


@dataclass(frozen=True, eq=False)
class InTemplates:
    """Sentences of words in templates, whose effect is asked for with words and templates counted otherwise.

    Attributes:
        values: (n_target_items, n_attribute_items) products of the sentences' vectors, as they are averaged: of unit
            vectors, their cosines, where associations are averaged; of the vectors as they are, where these are.
        squares: None where associations are averaged; else, of each word, targets first, the (T, T) products of its own
            sentences' vectors by place, 0 where it has none.
        targets: (n_target_items,) the word of each; likewise `attributes`.
        target_places: (n_target_items,) the place of its template, from 0; likewise `attribute_places`.
        n_x: words of X; likewise `n_a` of A.
    """

    values: FloatArray
    squares: FloatArray | None
    targets: npt.NDArray[np.int64]
    attributes: npt.NDArray[np.int64]
    target_places: npt.NDArray[np.int64]
    attribute_places: npt.NDArray[np.int64]
    n_x: int
    n_a: int

    def effects(
        self, target_counts: Counts, attribute_counts: Counts | None, template_counts: Counts, std: str
    ) -> FloatArray:
        """Return (R,) effects; with all counts 1, that of `seat`. See `Effects`."""
        once = np.ones((1, int(self.attributes.max()) + 1))
        counts = target_counts, once if attribute_counts is None else attribute_counts, template_counts
        of_block = self._of_associations if self.squares is None else self._of_vectors
        numbers = max(self.values.shape if self.squares is None else self._paired.shape)
        return in_blocks(partial(of_block, std), counts, numbers)

    def _of_associations(self, std: str, targets: Counts, attributes: Counts, templates: Counts) -> FloatArray:
        shares = item_counts(self.attributes, self.attribute_places, attributes, templates)
        scores = _signed(shares, self.attributes < self.n_a) @ self.values.T
        weights = item_counts(self.targets, self.target_places, targets, templates)
        return effects_of_items(scores, weights, self.targets < self.n_x, std, noise=COSINE_NOISE)

    def _of_vectors(self, std: str, targets: Counts, attributes: Counts, templates: Counts) -> FloatArray:
        assert self.squares is not None
        n_targets, n_attributes, n = targets.shape[1], attributes.shape[1], templates.shape[1]
        pairs = (templates[:, :, None] * templates[:, None, :]).reshape(len(templates), n * n)
        lengths = np.sqrt(pairs @ self.squares.reshape(-1, n * n).T)  # (R, words)
        products = (pairs @ self._paired.T).reshape(-1, n_targets, n_attributes)
        cosines = np.nan_to_num(products / lengths[:, :n_targets, None] / lengths[:, None, n_targets:])
        shares = _signed(attributes * (lengths[:, n_targets:] > 0), np.arange(n_attributes) < self.n_a)
        scores = (cosines @ shares[:, :, None])[..., 0]
        weights = targets * (lengths[:, :n_targets] > 0)
        return effects_of_items(scores, weights, np.arange(n_targets) < self.n_x, std, noise=COSINE_NOISE)

    @cached_property
    def _paired(self) -> FloatArray:
        """(n_targets * n_attributes, T * T), the products of each two words by place, 0 where there is no sentence."""
        assert self.squares is not None
        n, n_targets, n_attributes = self.squares.shape[1], self.targets.max() + 1, self.attributes.max() + 1
        table = np.zeros((n_targets, n_attributes, n, n))
        at = self.targets[:, None], self.attributes[None], self.target_places[:, None], self.attribute_places[None]
        table[at] = self.values
        return table.reshape(n_targets * n_attributes, n * n)


def _signed(counts: Counts, is_first: npt.NDArray[np.bool_]) -> Counts:
    """Return counts as shares of the first set, and as negative shares of the second."""
    shares = counts.copy()
    shares[:, is_first] /= counts[:, is_first].sum(axis=1, keepdims=True)
    shares[:, ~is_first] /= -counts[:, ~is_first].sum(axis=1, keepdims=True)
    return shares
