"""Simulate the strength that is reported: `python tests/benchmarks/strength.py [--studies N] [--seed S]`.

Prints Markdown (docs/statistics.md). Vectors are drawn from one population, so that nothing differs but by chance. For
each design, `shift_80` is found from one study in the way of the workflow; then the rule of a finding is applied to
further relabelings of its words at that shift, and to studies with other words of the same population."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from prasanga.associations.strength import CosineStudies, Roles, Space
from prasanga.stats.permutation import Units
from prasanga.stats.strength import Rule, measure_strength

SHIFTS = (0.1, 0.25, 0.5, 1.0, 1.5)
DIMENSIONS = 100
DESIGNS = (
    # words of a set, words in the study besides, copies, pairs, level
    (13, 80, 0, False, 0.05),
    (25, 80, 0, False, 0.05),
    (25, 80, 0, True, 0.05),
    (25, 80, 8, False, 0.05),
    (50, 80, 0, False, 0.05),
    (50, 80, 8, False, 0.05),
    (50, 80, 0, False, 0.003),
    (50, 80, 8, False, 0.003),
)


def draw_space(n: int, rng: np.random.Generator, matched: int) -> Space:
    """Draw the vectors of n words; the first 2 * `matched` are pairs of words that have much in common."""
    vectors = rng.normal(size=(n, DIMENSIONS)) + 2 * rng.normal(size=DIMENSIONS)
    vectors[:, :8] *= 2
    vectors[matched : 2 * matched] += vectors[:matched]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Space(vectors @ vectors.T)


def simulate(design: tuple[Any, ...], studies: int, rng: np.random.Generator) -> list[float]:
    """Return `shift_80`, and of the shares found: further relabelings, other words, and the false alarms."""
    n, n_others, n_twins, matched, level = design
    words = np.arange(4 * n + n_others)
    spelled = rng.integers(2, 10, size=words.size).astype(float)
    targets = Units(tuple(range(n)), tuple(range(n)), matched)
    roles = Roles(words[: 2 * n], words[2 * n : 4 * n], targets, Units.from_sizes(n, n), words[2 * n :], spelled)

    def draw() -> tuple[list[Space], list[list[Space]]]:
        drawn = [[draw_space(words.size, rng, n * matched)] for _ in range(1 + n_twins)]
        return drawn[0], drawn[1:]

    rule, study = Rule(level), draw()
    said = measure_strength(CosineStudies(*study, roles, rule, rng), shifts=SHIFTS, repetitions=500)
    false = [said["shares_found"][0], *(said[f"false_{name}"] for name in ("attributes", "spelling", "scatter"))]
    if (shift := said["shift_80"]) is None:
        return [np.nan, np.nan, np.nan, *false]
    again = CosineStudies(*study, roles, rule, rng)
    same = np.concatenate([again.shift(50, (shift,))[:, 1] for _ in range(studies // 50)])
    others = [CosineStudies(*draw(), roles, rule, rng).shift(1, (shift,))[0, 1] for _ in range(studies // 4)]
    return [shift, float(same.mean()), float(np.mean(others)), *false]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1000, help="further studies in each design")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    heads = ("words", "copies", "level", "`shift_80`", "found at it", "with other words", "relabeled", "attributes")
    heads = (*heads, "spelling", "scatter")
    print("|", " | ".join(heads), "|")
    print("|", " | ".join(["---"] * len(heads)), "|")
    for number, design in enumerate(DESIGNS):
        found = simulate(design, arguments.studies, np.random.default_rng([arguments.seed, number]))
        n, _, copies, matched, level = design
        cells = [f"{n} and {n}{', pairs' * matched}", str(copies), str(level)]
        print("|", " | ".join([*cells, *("-" if np.isnan(each) else f"{each:.3f}" for each in found)]), "|", flush=True)


if __name__ == "__main__":
    main()
