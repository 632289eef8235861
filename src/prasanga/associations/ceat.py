"""CEAT: WEAT repeated over contexts of the words, and combined.

A contextual model gives a word another vector in every context. CEAT draws one context of every word, computes the
effect size, repeats that many times and combines the effects by a random-effects model (Guo and Caliskan 2021; Sadhu
et al. 2024, section 3.2 and appendix D).

The mean cosine of a word with an attribute set is the product of its unit vector with the mean of the set's unit
vectors. So each draw takes one such mean, g = mean a - mean b, and one product per target word, instead of a cosine
for every pair; draws are computed in blocks that stay in the processor's cache, whatever their number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prasanga.associations.effects import COSINE_NOISE, spreads_and_effects
from prasanga.associations.permutation import PermutationTest, permutation_test_of_scores
from prasanga.associations.random_effects import RandomEffects, combine
from prasanga.associations.sampling import IndexArray, draw_contexts
from prasanga.associations.vectors import DirectedVectors, FloatArray, directed_vectors, require_one_dimension
from prasanga.errors import InputError

VARIANCES = ("association", "hedges")

# Bytes of the vectors of one block of draws: from 5 to 20 MiB the time is the same, at 40 MiB a third more.
_BLOCK = 10 * 2**20


@dataclass(frozen=True, eq=False)
class Ceat:
    """Result of CEAT."""

    effect_sizes: FloatArray
    """(n_samples,), the effect size of each draw."""
    variances: FloatArray
    """(n_samples,), the in-sample variance V of each."""
    combined: RandomEffects
    """The effects combined with these variances; its p is `p_draws`, which says nothing about other words."""
    scores: FloatArray
    """(n_samples, nx + ny), the association s(w, A, B) of every target word in every draw, X before Y."""
    n_x: int
    """Number of words of X."""
    tau2_method: str
    """The estimator of tau2."""

    @property
    def differences(self) -> FloatArray:
        """(n_samples,), the mean association of X minus that of Y in each draw."""
        return np.asarray(self.scores[:, : self.n_x].mean(axis=1) - self.scores[:, self.n_x :].mean(axis=1))

    @property
    def target_scores(self) -> FloatArray:
        """(nx + ny,), the mean association over all draws of every target word, X before Y."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def heterogeneity(self) -> RandomEffects:
        """The effects combined with V = hedges, the variance for which tau2, Q and I2 have their usual meaning."""
        variances = hedges_variance(self.effect_sizes, self.n_x, self.scores.shape[1] - self.n_x)
        return combine(self.effect_sizes, variances, tau2=self.tau2_method)

    def test_stimuli(
        self, *, n_resamples: int = 100_000, rng: np.random.Generator | int | None = None
    ) -> PermutationTest:
        """`p_stimuli`: would other words do? The permutation test of the target words, two-sided.

        One relabelling of the words applies to all draws; the statistic, the mean over draws of the difference of
        means, is then the difference of the means of `target_scores`.
        """
        scores = self.target_scores
        return permutation_test_of_scores(scores[: self.n_x], scores[self.n_x :], n_resamples=n_resamples, rng=rng)


def ceat(
    embeddings: Mapping[str, npt.ArrayLike],
    targets: tuple[Sequence[str], Sequence[str]],
    attributes: tuple[Sequence[str], Sequence[str]],
    *,
    n_samples: int = 5000,
    draws: npt.ArrayLike | None = None,
    rng: np.random.Generator | int | None = None,
    variance: str = "association",
    tau2: str = "dl",
    std: str = "union_ddof1",
    replacement: str = "without-replacement",
) -> Ceat:
    """CEAT of the target sets X, Y and the attribute sets A, B over the contexts of their words.

    `embeddings` maps each word to its (n_contexts, d) vectors, float16 to float64. `targets` = (X, Y) and `attributes`
    = (A, B) are lists of words; a word listed twice counts twice and is drawn twice. Draws are made by
    `draw_contexts(n_samples, rng, replacement)`, or given as `draws`, an (n_samples, n_words) array of context indices
    with the words in the order X, Y, A, B as listed (then `n_samples`, `rng` and `replacement` have no effect).

    `variance` names the in-sample variance V of a draw: `association`, the square of the effect size's denominator
    (both CEAT programs), or `hedges`, the sampling variance of an effect size. `tau2`: see `combine`; `std`: see
    `effect_size`. Numbers are computed in float64 whatever the vectors are.

    Raises `InputError` for a word without vectors, bad vectors (NaN, zero, different dimensions), an empty set, draws
    that do not fit, unknown names, and draws in which all words have the same association.
    """
    x, y, a, b = (list(words) for words in (*targets, *attributes))
    for name, side in (("targets", x), ("targets", y), ("attributes", a), ("attributes", b)):
        if not side:
            raise InputError(f"{name}: a set without words. Every set needs at least one.")
    words = [*x, *y, *a, *b]
    for word in words:
        if word not in embeddings:
            raise InputError(f"embeddings: no vectors of {word!r}. Give its contexts' vectors, or leave the word out.")
    vectors = {word: directed_vectors(f"embeddings[{word!r}]", embeddings[word]) for word in dict.fromkeys(words)}
    require_one_dimension({f"embeddings[{word!r}]": v.vectors.shape[1] for word, v in vectors.items()})
    columns = [vectors[word] for word in words]
    n_contexts = [len(column.inverse_norms) for column in columns]
    if draws is None:
        drawn = draw_contexts(n_contexts, n_samples, rng, replacement)
    else:
        drawn = _checked_draws(draws, words, n_contexts)
    return ceat_of_draws(columns, drawn, (len(x), len(y), len(a), len(b)), variance=variance, tau2=tau2, std=std)


def ceat_of_draws(
    columns: Sequence[DirectedVectors],
    draws: IndexArray,
    sizes: tuple[int, int, int, int],
    *,
    variance: str = "association",
    tau2: str = "dl",
    std: str = "union_ddof1",
) -> Ceat:
    """The same for checked vectors, one element of `columns` per column of `draws`; `sizes` are those of X, Y, A, B."""
    if variance not in VARIANCES:
        raise InputError(f"variance: {variance!r} is not known. Write {' or '.join(map(repr, VARIANCES))}.")
    n_x, n_y, n_a, _ = sizes
    scores = draw_scores(columns, draws, n_x + n_y, n_a)
    spreads, effects = spreads_and_effects(scores, n_x, std, noise=COSINE_NOISE)
    variances = spreads**2 if variance == "association" else hedges_variance(effects, n_x, n_y)
    return Ceat(effects, variances, combine(effects, variances, tau2=tau2), scores, n_x, tau2)


def hedges_variance(effects: FloatArray, n_x: int, n_y: int) -> FloatArray:
    """Sampling variance of an effect size d: 1 / nx + 1 / ny + d^2 / (2 (nx + ny)) (Hedges and Olkin 1985)."""
    return 1 / n_x + 1 / n_y + effects**2 / (2 * (n_x + n_y))


def draw_scores(columns: Sequence[DirectedVectors], draws: IndexArray, n_targets: int, n_a: int) -> FloatArray:
    """Associations s(w, A, B) of the target words in every draw: (n_samples, n_targets).

    `columns` and the columns of `draws` are the target words, the `n_a` words of A, and those of B.
    """
    n_samples, n_words = draws.shape
    n_b, d = n_words - n_targets - n_a, columns[0].vectors.shape[1]
    scale = np.stack([column.inverse_norms[draws[:, j]] for j, column in enumerate(columns)], axis=1)
    weights = scale[:, n_targets:] * np.repeat([1 / n_a, -1 / n_b], [n_a, n_b])
    scores = np.empty((n_samples, n_targets))
    rows = max(1, min(n_samples, _BLOCK // (8 * n_words * d)))
    drawn = np.empty((n_words, rows, d))
    for start in range(0, n_samples, rows):
        block = slice(start, min(start + rows, n_samples))
        for j, column in enumerate(columns):
            drawn[j, : block.stop - start] = column.vectors[draws[block, j]]
        by_draw = drawn[:, : block.stop - start].transpose(1, 0, 2)
        axes = np.matmul(weights[block, None, :], by_draw[:, n_targets:])
        scores[block] = np.matmul(by_draw[:, :n_targets], axes.transpose(0, 2, 1))[:, :, 0]
    return np.asarray(scores * scale[:, :n_targets])


def _checked_draws(draws: npt.ArrayLike, words: Sequence[str], n_contexts: Sequence[int]) -> IndexArray:
    array = np.asarray(draws)
    if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != len(words) or not len(array):
        raise InputError(
            f"draws: an array of {array.dtype}, shape {array.shape}. Give integers, (n_samples, {len(words)}): one"
            " column for each word of X, Y, A and B as listed."
        )
    outside = ((array < 0) | (array >= np.asarray(n_contexts))).any(axis=0)
    if outside.any():
        j = int(np.flatnonzero(outside)[0])
        raise InputError(
            f"draws: column {j} ({words[j]!r}) goes from {array[:, j].min()} to {array[:, j].max()}, but the word has"
            f" {n_contexts[j]} contexts: 0 to {n_contexts[j] - 1}."
        )
    return array.astype(np.int64)
