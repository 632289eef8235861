"""Effects of items that are counted several times or not at all: an item is a word in a template."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from prasanga.stats.arguments import FloatArray
from prasanga.stats.crossed import Counts
from prasanga.stats.effects import DENOMINATORS

_BLOCK = 2**21  # numbers of one block of replicates


def item_counts(
    words: npt.NDArray[np.int64], places: npt.NDArray[np.int64], word_counts: Counts, template_counts: Counts
) -> Counts:
    """Return (R, n_items) how much each item counts: of one word together as often as the word, whatever was drawn.

    All together count as many items as were drawn, as in `CrossedScores`. A word that is in none of the drawn
    templates does not count.

    Args:
        words: (n_items,) the word of each item, from 0.
        places: (n_items,) the place of its template, from 0.
        word_counts: (R, n_words) or (1, n_words).
        template_counts: (R, n_templates) or (1, n_templates).
    """
    drawn = template_counts[:, places]
    of_word = drawn @ (words[:, None] == np.arange(word_counts.shape[1]))
    counted = np.where(of_word > 0, word_counts, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        per_word = (counted * of_word).sum(axis=1) / counted.sum(axis=1)
        return np.asarray(per_word[:, None] * (counted / np.maximum(of_word, 1e-300))[:, words] * drawn)


def in_blocks(effects: Callable[..., FloatArray], counts: Sequence[Counts], numbers: int) -> FloatArray:
    """Return (R,) effects of `counts`, (R, n) or (1, n) each, some rows at a time; a row takes so many `numbers`."""
    n, rows = max(map(len, counts)), max(1, _BLOCK // max(1, numbers))
    found = []
    for start in range(0, n, rows):
        block = [part if len(part) == 1 else part[start : start + rows] for part in counts]
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append(np.broadcast_to(effects(*block), min(rows, n - start)))
    return np.concatenate(found)


def effects_of_items(
    scores: FloatArray, weights: Counts, is_first: npt.NDArray[np.bool_], std: str, *, noise: float = 0.0
) -> FloatArray:
    """Return (R,) effect sizes of items counted by `weights`; NaN where there is none.

    Args:
        scores: (R, n_items) or (1, n_items) their associations.
        weights: (R, n_items) how often each counts, together the number of items.
        is_first: (n_items,) whether an item is of the first set.
        std: convention of the denominator (`effect_size`).
        noise: a spread as small as this is rounding.
    """
    sides, weighted = (is_first, ~is_first), weights * scores
    sizes = [weights[:, side].sum(axis=1) for side in sides]
    means = [weighted[:, side].sum(axis=1) / size for side, size in zip(sides, sizes, strict=True)]
    total = sizes[0] + sizes[1]
    within_sets, lost = DENOMINATORS[std]
    if within_sets:
        middle = np.where(is_first, means[0][:, None], means[1][:, None])
    else:
        middle = ((sizes[0] * means[0] + sizes[1] * means[1]) / total)[:, None]
    spread = np.sqrt((weights * np.square(scores - middle)).sum(axis=1) / (total - lost))
    return np.asarray(np.where(spread > noise, (means[0] - means[1]) / spread, np.nan))
