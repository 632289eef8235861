"""CEAT and the permutation test as the papers' programs do them: one pair of vectors, one partition at a time.

Slow, and plainly right. The fast code is compared with it, in numbers by the tests and in time by the benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.floating]


def cosine(u: Vector, v: Vector) -> float:
    """Of two vectors, from its definition."""
    return float(np.dot(u, v) / (np.linalg.norm(u) * np.linalg.norm(v)))


def association(w: Vector, a: Sequence[Vector], b: Sequence[Vector]) -> float:
    """s(w, A, B), every cosine by itself."""
    return float(np.mean([cosine(w, x) for x in a]) - np.mean([cosine(w, x) for x in b]))


def effect_and_variance(
    x: Sequence[Vector], y: Sequence[Vector], a: Sequence[Vector], b: Sequence[Vector]
) -> tuple[float, float]:
    """Effect size and squared denominator of one draw (union, ddof 1)."""
    of_x = [association(w, a, b) for w in x]
    of_y = [association(w, a, b) for w in y]
    spread = np.std([*of_x, *of_y], ddof=1)
    return float((np.mean(of_x) - np.mean(of_y)) / spread), float(spread**2)


def draws_one_by_one(
    embeddings: Mapping[str, NDArray[np.floating]], words: Sequence[Sequence[str]], draws: NDArray[np.integer]
) -> list[tuple[float, float]]:
    """Effect and variance of each draw; `words` are X, Y, A, B, `draws` has one column for each word."""
    results = []
    for row in draws:
        picked = iter(row)
        sides = [[embeddings[word][next(picked)] for word in side] for side in words]
        results.append(effect_and_variance(*sides))
    return results


def p_by_listing(x: Sequence[float], y: Sequence[float]) -> float:
    """Two-sided p of the difference of means over every partition, listed one by one."""
    scores = np.array([*x, *y])
    observed = abs(np.mean(x) - np.mean(y))
    count = total = 0
    for chosen in combinations(range(scores.size), len(x)):
        mask = np.zeros(scores.size, dtype=bool)
        mask[list(chosen)] = True
        total += 1
        count += abs(scores[mask].mean() - scores[~mask].mean()) >= observed - 1e-9 * np.abs(scores).max()
    return count / total


def p_by_shuffling(x: Sequence[float], y: Sequence[float], n_resamples: int, seed: int) -> float:
    """The same over random partitions, one at a time."""
    rng = np.random.default_rng(seed)
    scores, observed = np.array([*x, *y]), abs(np.mean(x) - np.mean(y))
    count = 0
    for _ in range(n_resamples):
        shuffled = rng.permutation(scores)
        count += abs(shuffled[: len(x)].mean() - shuffled[len(x) :].mean()) >= observed
    return (count + 1) / (n_resamples + 1)
