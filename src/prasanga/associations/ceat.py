"""CEAT: WEAT repeated over contexts of the words, and combined.

A contextual model gives a word a different vector in every context. CEAT draws one context per word, computes the
effect size, repeats this many times and combines the effects with a random-effects model (Guo and Caliskan 2021; Sadhu
et al. 2024, section 3.2 and appendix D).
"""

from __future__ import annotations

import hashlib
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.associations.effects import SEED, Rng, Shown
from prasanga.associations.vectors import (
    DirectedVectors,
    Words,
    compute_mean_cosines,
    draw_cosines,
    mean_direction,
    word_sets_and_vectors,
)
from prasanga.base.errors import InputError
from prasanga.base.seeds import generator, seed_of
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import (
    COSINE_NOISE,
    Z_95,
    FloatArray,
    IndexArray,
    RandomEffects,
    choice,
    combine,
    finite_vector,
    generator_from,
    hedges_variance,
    positive_number,
    sequence_of,
    spreads_and_effects,
    to_array,
    whole_number,
)
from prasanga.stats.permutation import PermutationTest, permutation_test_of_scores

VARIANCES = ("association", "hedges")
REPLACEMENTS = ("without-replacement", "with-replacement")

SPREAD = 256
"""Draws for intervals and controls, whatever the number of contexts, so all estimates of a category have the same
resamples. More would shorten intervals where contexts vary much more than words, and take longer."""

# --------------------
# The contexts that CEAT draws: one per word and draw, with named seeds that make draws independent of each other.
#
# The paper's text (Sadhu et al. 2024, section 3.2) draws a word's contexts without replacement if there are enough; its
# code always draws with replacement. Both have a name:
#
# - `without-replacement`: a word with at least as many contexts as draws uses each at most once; a word with fewer is
#   drawn with replacement (the default)
# - `with-replacement`: always with replacement


def draw_contexts(
    n_contexts: Sequence[int], n_samples: int, rng: Rng = None, replacement: str = "without-replacement"
) -> IndexArray:
    """Draw `n_samples` times one context of each word: (n_samples, n_words) integers.

    Column j holds indices below `n_contexts[j]`, the number of contexts of word j. `rng` is a generator or a seed.
    Raises `InputError` for no draws, a word without contexts, and an unknown `replacement`.
    """
    return _draw(n_contexts, n_samples, repeat(generator_from(rng)), replacement)


def named_draws(
    words: Sequence[str],
    n_contexts: Sequence[int],
    n_samples: int,
    *,
    seed: int,
    names: Sequence[object],
    replacement: str = "without-replacement",
) -> IndexArray:
    """Draw `n_samples` times one context of each of `words`, as `draw_contexts` does: (n_samples, n_words) integers.

    Each column has a generator of its own, named by `seed`, `names`, the word and its turn. Column j holds indices
    below `n_contexts[j]`. So a word's draws stay the same when words are added or left out. A word that is listed twice
    is drawn twice. `names` are the sample mode and the category, for example, and the model where models do not share
    draws. `replacement`: `without-replacement` or `with-replacement`.

    Raises `InputError` as `draw_contexts` does.
    """
    rngs = (generator(seed, "ceat", *names, word, turn) for word, turn in count_turns(words))
    return _draw(n_contexts, n_samples, rngs, replacement)


def count_turns(words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield each word with the number of times that it was listed before."""
    seen: Counter[str] = Counter()
    for word in words:
        yield word, seen[word]
        seen[word] += 1


def _draw(
    n_contexts: Sequence[int], n_samples: int, rngs: Iterable[np.random.Generator], replacement: str
) -> IndexArray:
    choice("replacement", replacement, REPLACEMENTS)
    n_samples = whole_number("n_samples", n_samples, least=1)
    counts = sequence_of("n_contexts", n_contexts, "a list, the number of contexts of each word")
    draws = np.empty((n_samples, len(counts)), dtype=np.int64)
    for column, (n, rng) in enumerate(zip(counts, rngs, strict=False)):
        n = whole_number(f"n_contexts, word {column}", n, least=1)
        once = replacement == "without-replacement" and n >= n_samples
        draws[:, column] = rng.permutation(n)[:n_samples] if once else rng.integers(n, size=n_samples)
    return draws


def spread_draws(ids: Sequence[str], n_samples: int, *, seed: int, names: Sequence[object]) -> IndexArray:
    """Draw contexts of one word, each at most once if there are enough, else equally often.

    Resampling such draws resamples contexts. A context that exists in only one of two models or lengths moves very few
    other draws: contexts have places on a ring, by their ids, and a draw takes the first free one from its own place.

    `ids` are the n >= 1 contexts of the word; `names` as for `named_draws`. Returns (n_samples,) integers below n.
    """
    salt = seed_of(seed, "spread", *names).to_bytes(8, "big")
    digests = b"".join(hashlib.blake2b(each.encode(), digest_size=8, key=salt).digest() for each in ids)
    places = np.frombuffer(digests, dtype=">u8").astype(np.uint64)
    ring = np.argsort(places, kind="stable")
    # multiples of the golden ratio are spread evenly, whatever their number
    starts = np.searchsorted(places[ring], np.arange(n_samples, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    taken: set[int] = set()
    draws = np.empty(n_samples, dtype=np.int64)
    for turn, place in enumerate((starts % len(ids)).tolist()):
        while place in taken:
            place = (place + 1) % len(ids)
        draws[turn] = place
        taken.add(place)
        if len(taken) == len(ids):
            taken.clear()
    return ring[draws].astype(np.int64)


# --------------------
# The estimate.


@dataclass(frozen=True, eq=False, repr=False)
class Ceat(Shown):
    """Result of CEAT."""

    method = "CEAT"

    effect_sizes: FloatArray
    """(n_samples,), the effect size of each draw."""
    variances: FloatArray
    """(n_samples,), the in-sample variance V of each."""
    combined: RandomEffects
    """The effects combined with these variances; its p is `p_draws`, which says nothing about other words.

    p, standard error and interval are NaN if all draws are the same, as with a single context per word.
    """
    scores: FloatArray
    """(n_samples, nx + ny), the association s(w, A, B) of every target word in every draw, X before Y."""
    n_x: int
    """Number of words of X."""
    tau2_method: str
    """The estimator of tau2."""
    all_contexts: CrossedScores
    """The mean cosines of the words over all their contexts, whatever the draws."""
    std: str
    """The denominator of the effect sizes."""
    draw_cosines: Callable[[], CrossedScores]
    """Makes the cosines of some draws, for the interval."""
    lost: str = ""
    """Words listed more than once in a set, which count once; empty with given `draws`."""

    @property
    def effect_size(self) -> float:
        """The combined effect."""
        return self.combined.effect

    @cached_property
    def cosines(self) -> CrossedScores:
        """Of some draws, for the interval."""
        return self.draw_cosines()

    @property
    def heterogeneity(self) -> RandomEffects:
        """The effects combined with V = hedges, the variance for which tau2, Q and I2 have their usual meaning."""
        variances = hedges_variance(self.effect_sizes, self.n_x, self.scores.shape[1] - self.n_x)
        return combine(self.effect_sizes, variances, tau2=self.tau2_method)

    @cached_property
    def test(self) -> PermutationTest:
        """Permutation of the target words, two-sided: would other words have the same effect (`p_stimuli`)?

        A word's score is its mean association over all contexts of all words, so p does not depend on the draws. Drawn
        partitions are the same each time.
        """
        return permutation_test_of_scores(*self.all_contexts.split()[0], rng=SEED, noise=COSINE_NOISE)

    @cached_property
    def test_attributes(self) -> PermutationTest:
        """Permutation of the attribute words, two-sided: would other words have the same effect (`p_attributes`)?

        A word's score is its mean cosine with X minus that with Y, over all contexts.
        """
        return permutation_test_of_scores(*self.all_contexts.split()[1], rng=SEED, noise=COSINE_NOISE)


def ceat(
    embeddings: Mapping[str, npt.ArrayLike],
    targets: tuple[Sequence[str], Sequence[str]],
    attributes: tuple[Sequence[str], Sequence[str]],
    *,
    n_samples: int = 5000,
    draws: npt.ArrayLike | None = None,
    rng: Rng = None,
    variance: str = "association",
    tau2: str = "dl",
    std: str = "union_ddof1",
    replacement: str = "without-replacement",
    threads: int | None = None,
) -> Ceat:
    """Compute the CEAT of the target sets X, Y and the attribute sets A, B over the contexts of their words.

    A draw takes one context of each word and computes d_i as `effect_size` does; the draws are combined by `combine`
    (Guo and Caliskan 2021; Sadhu et al. 2024, section 3.2 and appendix D). Hypothesis of `combined.p_value` (p_draws):
    the effect of these words over these contexts is 0. For other words see `test` of the target words (p_stimuli),
    `test_attributes` of the attribute words (p_attributes), the larger p of both (`p_association`), and `interval`.

    `embeddings` maps each word to its (n_contexts, d) vectors, float16 to float64. `targets` = (X, Y) and `attributes`
    = (A, B) are lists of words. A word listed twice in a set counts once, and `lost` says so. Draws are made by
    `draw_contexts(n_samples, rng, replacement)`, or given as `draws`, an (n_samples, n_words) array of context indices
    with the words in the order X, Y, A, B as listed (then `n_samples`, `rng` and `replacement` have no effect, and a
    word listed twice has two columns and counts twice).

    `threads` share the work (None: one per core, at most 8); they change no number.

    `variance` names the in-sample variance V of a draw: `association`, the square of the effect size's denominator
    (both CEAT programs), or `hedges`, the sampling variance 1 / nx + 1 / ny + d^2 / (2 (nx + ny)). `tau2` names the
    estimator of the variance between draws: `dl` (DerSimonian and Laird; the default), `pm` (Paule and Mandel) or
    `reml` (restricted maximum likelihood). `std` names the denominator of d: `union_ddof1` (of X and Y together,
    divided by n - 1; the default), `union_ddof0` (divided by n) or `pooled` (within X and within Y). `replacement`:
    `without-replacement` (the default) or `with-replacement`. Computation is in float64 for vectors of any type.

    Raises `InputError` for a word without vectors, bad vectors (NaN, zero, different dimensions), an empty set, a word
    in X and Y or in A and B, draws that do not fit, unknown names, and draws with the same association for all words.
    """
    as_listed = draws is not None
    words, directed, lost = word_sets_and_vectors(embeddings, targets, attributes, as_listed=as_listed)
    listed = [word for side in words for word in side]
    n_contexts = [len(directed[word].inverse_norms) for word in listed]
    if draws is None:
        drawn = draw_contexts(n_contexts, n_samples, rng, replacement)
    else:
        drawn = _checked_draws(draws, listed, n_contexts)
    n_x, threads = len(words[0]), min(8, os.cpu_count() or 1) if threads is None else threads
    scores = draw_scores(directed, words, drawn, threads=whole_number("threads", threads, least=1))
    return Ceat(
        *combine_scores(scores, n_x, drawn, variance=variance, tau2=tau2, std=std),
        scores,
        n_x,
        tau2,
        compute_mean_cosines({word: mean_direction(vectors) for word, vectors in directed.items()}, words),
        std,
        partial(_draw_some, directed, words, n_contexts),
        "; ".join(lost),
    )


def _draw_some(vectors: Mapping[str, DirectedVectors], words: Words, n_contexts: Sequence[int]) -> CrossedScores:
    """Return the cosines of draws that use each of a word's contexts once before any is used again."""
    rng = generator_from(SEED)
    draws = [np.resize(rng.permutation(n), SPREAD) for n in n_contexts]
    return draw_cosines(vectors, words, np.stack(draws, axis=1))


def combine_scores(
    scores: FloatArray, n_x: int, draws: IndexArray, *, variance: str, tau2: str, std: str
) -> tuple[FloatArray, FloatArray, RandomEffects]:
    """Return each draw's effect and variance, and the combined effect, from the target words' associations.

    `scores` is (n_samples, nx + ny), X before Y; `draws` are their (n_samples, n_words) contexts.
    """
    choice("variance", variance, VARIANCES)
    spreads, effects = spreads_and_effects(scores, n_x, std, noise=COSINE_NOISE)
    variances = spreads**2 if variance == "association" else hedges_variance(effects, n_x, scores.shape[1] - n_x)
    combined = combine(effects, variances, tau2=tau2)
    if len(draws) > 1 and (draws == draws[0]).all():
        unknown = dict.fromkeys(("standard_error", "p_value", "log_p_value", "ci_low", "ci_high"), math.nan)
        combined = replace(combined, **unknown)
    return effects, variances, combined


def _checked_draws(draws: npt.ArrayLike, words: Sequence[str], n_contexts: Sequence[int]) -> IndexArray:
    array = to_array("draws", draws, f"(n_samples, {len(words)}) whole numbers")
    if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != len(words) or not len(array):
        raise InputError(
            f"draws: an array of {array.dtype}, shape {array.shape}. Give integers, (n_samples, {len(words)}): one"
            " column for each word of X, Y, A and B as listed."
        )
    outside = ((array < 0) | (array >= np.asarray(n_contexts))).any(axis=0)
    if outside.any():
        j = int(np.flatnonzero(outside)[0])
        raise InputError(f"draws: column {j} ({words[j]!r}) has numbers beyond its contexts, 0 to {n_contexts[j] - 1}.")
    return array.astype(np.int64)


# --------------------
# How the combined effect of CEAT changes as draws are added, and when it settles.
#
# More draws reduce chance in the choice of contexts from the pool. They add no contexts to that pool (see
# `contexts_enough`) and no words.


class Combined(NamedTuple):
    """The combined effect of the first `n` draws."""

    n: int
    effect_size: float
    standard_error: float


def sizes_up_to(n_draws: int) -> list[int]:
    """Return 100, 200, 500, 1000, 2000, 5000, ... below `n_draws`, and then `n_draws`."""
    steps = (factor * 10**power for power in range(2, len(str(n_draws))) for factor in (1, 2, 5))
    return [*(n for n in steps if n < n_draws), n_draws]


def convergence(effects: FloatArray, variances: FloatArray, tau2: str, sizes: Sequence[int]) -> list[Combined]:
    """Return the combined effect of the first n draws, for each n of `sizes`.

    Args:
        effects: (N,) effect sizes of the draws, in the order in which they were drawn.
        variances: (N,) their in-sample variances.
        tau2: see `combine`.
        sizes: numbers of draws, from 1 to N.
    """
    results = [combine(effects[:n], variances[:n], tau2=tau2) for n in sizes]
    return [Combined(n, each.effect, each.standard_error) for n, each in zip(sizes, results, strict=True)]


def draws_settled(rows: Sequence[Combined], band: float) -> int | None:
    """Return the smallest number of draws at and after which every combined effect is within `band` of the last one.

    None if that is true only of the last one, which is within any band of itself. Raises `InputError` unless `band` is
    greater than 0.
    """
    place = find_settled([row.effect_size - rows[-1].effect_size for row in rows], band)
    return None if place is None else rows[place].n


def find_settled(distances: Sequence[float | None], band: float) -> int | None:
    """Return the first place at and after which every distance is known and within `band`.

    None if that is true only of the last one. Raises `InputError` unless `band` is greater than 0.
    """
    positive_number("associations.band", band)
    far = [place for place, distance in enumerate(distances[:-1]) if distance is None or not abs(distance) <= band]
    first = far[-1] + 1 if far else 0
    return first if first < len(distances) - 1 else None


def contexts_enough(effects: npt.ArrayLike, band: float, *, contexts_min: int | None = None) -> int | None:
    """Return how many contexts per word bring the effect within `band` of the effect with unlimited contexts.

    In 95 of 100 pools of that size, that is (1.96 standard errors). One draw takes one context per word, so the draws'
    standard deviation shows the chance in that choice. With pools of k contexts per word and all their combinations it
    is sd / sqrt(k) or less: the variance of one word falls with k, the variance of s words together with k^s (Hoeffding
    1948). So k = (1.96 sd / band)^2, rounded up.

    Draws from a pool of m contexts vary less than contexts of the language, on average by (m - 1) / m of the variance.
    The correction takes the smallest pool, `contexts_min`; with few contexts the number is a rough guess.

    Args:
        effects: (n_draws,) effect sizes of single draws, one context of each word in each.
        band: distance that is small enough.
        contexts_min: contexts of the word that has the fewest; None if all have many.

    Returns:
        k; None with a single draw, or with a word of one context.

    Raises:
        InputError: a band of 0 or less, or effects that are not finite numbers.
    """
    drawn = finite_vector("effects", effects)
    positive_number("associations.band", band)
    if drawn.size < 2 or contexts_min == 1:
        return None
    finite = 1.0 if contexts_min is None else math.sqrt(contexts_min / (contexts_min - 1))
    return max(1, math.ceil((Z_95 * float(drawn.std(ddof=1)) * finite / band) ** 2))


# --------------------
# The associations of target words in every draw, without all vectors in memory at once.
#
# The mean cosine of a word with an attribute set is the product of its unit vector with the mean of the set's unit
# vectors. So each draw needs one such mean, g = mean a - mean b, and one product per target word, instead of a cosine
# for every pair. Memory holds the means of all draws, (n_samples, d), and one group of words at a time: attributes are
# added to the means, then targets are multiplied with them. Draws are taken in blocks whose means fit into the CPU's
# cache.


Vectors: TypeAlias = npt.NDArray[np.floating[Any]]
_Group: TypeAlias = dict[int, tuple[Vectors, FloatArray]]

_GROUP = 1 << 29
"""Bytes of the words' vectors in memory at a time, in addition to those that `vectors` itself keeps."""
_BLOCK = 1 << 19
"""Bytes of the means of one block of draws."""


def draw_scores(
    vectors: Mapping[str, DirectedVectors], words: Words, draws: IndexArray, *, threads: int = 1
) -> FloatArray:
    """Return the associations s(w, A, B) of the target words in every draw: (n_samples, n_targets), in float64.

    Args:
        vectors: of each word; a mapping that reads on demand is asked once per word and set.
        words: of X, Y, A and B.
        draws: (n_samples, n_words) rows of each word's vectors.
        threads: share the blocks of draws; the result is the same.

    Besides what `vectors` keeps, memory holds the means, 8 * n_samples * d bytes, and the words of one group.
    """
    n_samples, n_words = draws.shape
    n_targets, listed = len(words[0]) + len(words[1]), [word for side in words for word in side]
    signs = np.repeat([1 / len(words[2]), -1 / len(words[3])], [len(words[2]), len(words[3])])
    add_drawn, multiply_drawn = _compiled()
    columns = np.asfortranarray(draws)
    sums = np.zeros((n_samples, vectors[listed[0]].vectors.shape[1]))
    scores = np.empty((n_samples, n_targets), order="F")
    block = max(1, _BLOCK // sums[0].nbytes)
    blocks = [slice(start, start + block) for start in range(0, n_samples, block)]

    def add(group: _Group, part: slice) -> None:
        for column, (array, inverse_norms) in group.items():
            add_drawn(sums[part], array, inverse_norms, columns[part, column], signs[column - n_targets])

    def multiply(group: _Group, part: slice) -> None:
        for column, (array, inverse_norms) in group.items():
            multiply_drawn(sums[part], array, inverse_norms, columns[part, column], scores[part, column])

    with ThreadPoolExecutor(threads) as pool:
        # Handing a block to a thread takes as long as adding some of its words.
        spread = map if threads == 1 else pool.map
        for work, chosen in ((add, range(n_targets, n_words)), (multiply, range(n_targets))):
            for group in _groups(vectors, listed, chosen):
                list(spread(partial(work, group), blocks))
    return np.ascontiguousarray(scores)


def _groups(vectors: Mapping[str, DirectedVectors], words: Sequence[str], columns: Sequence[int]) -> Iterator[_Group]:
    """Yield the vectors of these columns with their inverse lengths, as many columns at a time as `_GROUP` allows.

    Half precision is widened, because CPUs do not compute in it.
    """
    group: _Group = {}
    held = 0
    for column in columns:
        array, inverse_norms = vectors[words[column]]
        wide = np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float16 else None)
        if group and held + wide.nbytes > _GROUP:
            yield group
            group, held = {}, 0
        group[column] = wide, inverse_norms
        held += wide.nbytes
    if group:
        yield group


@cache
def _compiled() -> tuple[Callable[..., None], Callable[..., None]]:
    from prasanga.text.lines import compiled_sums  # here, because it loads the compiler

    return compiled_sums(_add_drawn), compiled_sums(_multiply_drawn)


def _add_drawn(sums: FloatArray, vectors: Vectors, inverse_norms: FloatArray, rows: IndexArray, weight: float) -> None:
    for i in range(rows.size):
        row = rows[i]
        scale = weight * inverse_norms[row]
        for j in range(sums.shape[1]):
            sums[i, j] += scale * vectors[row, j]


def _multiply_drawn(
    sums: FloatArray, vectors: Vectors, inverse_norms: FloatArray, rows: IndexArray, products: FloatArray
) -> None:
    for i in range(rows.size):
        row = rows[i]
        product = 0.0
        for j in range(sums.shape[1]):
            product += sums[i, j] * vectors[row, j]
        products[i] = inverse_norms[row] * product
