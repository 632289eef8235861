"""How often the slope of an effect on the length is significant: `python tests/benchmarks/slopes.py [--studies N]`.

Prints a table of docs/measured/simulations.md. Vectors of 30 dimensions are the same at 9,
25 and 75 words; A and B lie on either side of 0 along a direction, X and Y as well where there is an association.
Contexts, the same ones at all lengths up to 30 % of their variance, scatter around a word by as much as words scatter
(1), less or more. Where associations change, X moves towards A, and Y away, with log2 of the length. Beside the test of
slopes: the paired interval of the change of d from 9 to 75 words, of single contexts.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

from prasanga.associations.estimates import Estimand, TestSettings, measure_slope
from prasanga.associations.vectors import Words
from prasanga.base.seeds import generator
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.intervals import difference_interval
from prasanga.stats.permutation import Units

Vectors = npt.NDArray[np.float64]

LENGTHS, DIMENSIONS, SIDES = ("9", "25", "75"), 30, "xyab"
DISTANCE = DIMENSIONS**0.5 / 4
SCATTERS = {"as words": (1.0, 1.0, 1.0), "grows": (0.7, 1.0, 1.5), "shrinks": (1.5, 1.0, 0.7)}
SHARED = 0.7
SETTINGS = TestSettings(n_resamples=400, n_permutations=999)


def draw_study(
    n: int, n_contexts: int, scatter: tuple[float, ...], apart: float, change: float, rng: np.random.Generator
) -> list[Vectors]:
    """(4 n, n_contexts, d) unit vectors of the words' contexts at each length, X before Y before A before B."""
    words = rng.normal(size=(4, n, DIMENSIONS))
    words[2:, :, 0] += 2 * DISTANCE * np.array([[1.0], [-1.0]])
    common, found = rng.normal(size=(4, n, n_contexts, DIMENSIONS)), []
    for length, spread in zip(LENGTHS, scatter, strict=True):
        noise = SHARED**0.5 * common + (1 - SHARED) ** 0.5 * rng.normal(size=common.shape)
        moved = words.copy()
        moved[:2, :, 0] += DISTANCE * (apart + change * np.log2(int(length) / 9)) * np.array([[1.0], [-1.0]])
        vectors = (moved[:, :, None] + spread * noise).reshape(4 * n, n_contexts, DIMENSIONS)
        found.append(vectors / np.linalg.norm(vectors, axis=2, keepdims=True))
    return found


def judge_study(lengths: list[Vectors], n: int, seed: int) -> tuple[bool, bool]:
    """Whether the slope is significant, and whether the interval of the change of d excludes 0."""
    x, y, a, b = (tuple(f"{side}{i}" for i in range(n)) for side in SIDES)
    words: Words = (x, y, a, b)
    estimand = Estimand("C", words, (Units.from_sizes(n, n), Units.from_sizes(n, n)), SETTINGS, seed)
    halves = []
    for vectors in lengths:
        axes = vectors[2 * n :].mean(axis=1)
        parts = (vectors[: 2 * n, half::2].mean(axis=1) @ axes.T for half in (0, 1))
        halves.append((next(parts), next(parts)))
    ends = [lengths[0].transpose(1, 0, 2), lengths[-1].transpose(1, 0, 2)]
    draws = [CrossedScores.of_words(of[:, : 2 * n] @ of[:, 2 * n :].transpose(0, 2, 1), (n, n, n, n)) for of in ends]
    resampling = estimand.resample(draws[0].n_draws)
    replicates = [each.effects(*resampling) for each in draws]
    change = difference_interval(replicates[1], replicates[0], draws[1].effect(), draws[0].effect())
    assert change.low is not None
    assert change.high is not None
    p_slope = measure_slope(LENGTHS, halves, estimand).get("p_slope", 1.0)
    return p_slope <= 0.05 + 1e-12, not change.low <= 0 <= change.high


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400, help="simulated studies in each row")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| association | scatter of contexts | words | slope, p at most .05 | change of d, interval without 0 |")
    print("| --- | --- | --- | --- | --- |")
    cases = [
        (f"none changes, {apart:g} apart", apart, 0.0, scatter) for apart in (0.0, 0.5, 1.5) for scatter in SCATTERS
    ]
    cases += [(f"changes by {change:g} per doubling", 0.5, change, "as words") for change in (0.1, 0.2)]
    for name, apart, change, scatter in cases:
        for n in (8, 13, 25):
            rng = generator(options.seed, "slopes", name, scatter, n)
            found = [
                judge_study(draw_study(n, 16, SCATTERS[scatter], apart, change, rng), n, number)
                for number in range(options.studies)
            ]
            slope, of_d = np.mean(found, axis=0)
            print(f"| {name} | {scatter} | {n} | {slope:.3f} | {of_d:.3f} |", flush=True)


if __name__ == "__main__":
    main()
