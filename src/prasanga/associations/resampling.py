"""Resampled words and contexts, the same for all models and lengths that have the same words.

Level 1 draws the words of each set anew, with replacement; a word comes with all its items. Level 2 draws contexts
within a word: in the draws of CEAT every context of a word is used at most once where there are enough, so draws chosen
anew are contexts chosen anew. What was measured once (WEAT, SEAT) has no level 2.

How often a word counts in resample i depends on the seed, the category and the words, and on nothing else. Two models
therefore have the same resamples, and the difference of their replicates, one by one, is that of paired effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prasanga.associations.checking import require_flag, sequence_of, whole_number, word_list
from prasanga.associations.cosines import Cosines, Counts
from prasanga.associations.vectors import FloatArray
from prasanga.errors import InputError
from prasanga.seeds import generator


@dataclass(frozen=True, eq=False)
class Resampling:
    """How often each word and each draw counts in each of R resamples.

    Attributes:
        target_counts: (R, n_x + n_y), X before Y.
        attribute_counts: (R, n_a + n_b), A before B; None where attribute words are not resampled.
        draw_counts: (R, n_draws); None where there is one draw.
    """

    target_counts: Counts
    attribute_counts: Counts | None
    draw_counts: Counts | None


def draw_resampling(
    words: Sequence[Sequence[str]],
    n_draws: int,
    *,
    n_resamples: int,
    seed: int,
    category: str,
    resample_attributes: bool = True,
) -> Resampling:
    """Resample the words of X, Y, A and B (`words`, as listed) and `n_draws` draws, `n_resamples` times.

    Each set has a generator of its own, named by the category, the set and its words; the draws have one named by the
    category and their number. More resamples begin with those of fewer. Raises `InputError` for other than four sets,
    an empty set, and no resamples or draws.
    """
    sets = sequence_of("words", words, "the lists of words of X, Y, A and B")
    words = [word_list("words", listed) for listed in sets]
    if len(words) != 4 or not all(len(listed) for listed in words):
        raise InputError(f"words: sets of {[len(listed) for listed in words]} words. Give X, Y, A and B, none empty.")
    for name, number in (("n_resamples", n_resamples), ("n_draws", n_draws)):
        whole_number(name, number, least=1)
    whole_number("seed", seed, least=0)
    require_flag("resample_attributes", resample_attributes)
    resampled = list(zip("xyab", words, strict=True))[: 4 if resample_attributes else 2]
    counts = [
        _counts(len(listed), n_resamples, generator(seed, "resampling", category, side, *listed))
        for side, listed in resampled
    ]
    draws = _counts(n_draws, n_resamples, generator(seed, "resampling", category, "draws", n_draws))
    return Resampling(
        np.concatenate(counts[:2], axis=1),
        np.concatenate(counts[2:], axis=1) if resample_attributes else None,
        draws if n_draws > 1 else None,
    )


def replicate_effects(cosines: Cosines, resampling: Resampling, std: str = "union_ddof1") -> FloatArray:
    """(R,) the effect size in every resample, by the convention `std`; NaN where all scores are the same."""
    return cosines.effects(resampling.target_counts, resampling.attribute_counts, resampling.draw_counts, std)


def _counts(n: int, n_resamples: int, rng: np.random.Generator) -> Counts:
    """(n_resamples, n), how often each of `n` was drawn in `n` draws with replacement."""
    chosen = rng.integers(n, size=(n_resamples, n)) + n * np.arange(n_resamples)[:, None]
    return np.bincount(chosen.ravel(), minlength=n * n_resamples).reshape(n_resamples, n).astype(np.float64)
