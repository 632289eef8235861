"""How often SEAT's p is below .05 where there is no effect, by what is permuted; see docs/methods.md.

    .venv/bin/python tests/benchmarks/seat_units.py          about two minutes

A word is a normal vector, a sentence the word's vector with a normal deviation from it; the four sets are alike.
"""

from __future__ import annotations

import argparse

import numpy as np

from prasanga.associations import seat

CASES = ((8, 5, 0.5), (8, 8, 0.5), (8, 8, 1.0), (8, 10, 1.0), (14, 8, 0.5))
_DIMENSION, _ATTRIBUTE_WORDS, _PARTITIONS = 20, 8, 999


def rejections(n_words: int, n_templates: int, spread: float, runs: int, seed: int) -> dict[str, float]:
    """The share of runs with p < .05, by unit."""
    rng = np.random.default_rng(seed)
    below = {"word": 0, "sentence": 0}
    for _ in range(runs):
        sets = [
            [rng.normal(size=_DIMENSION) + spread * rng.normal(size=(n_templates, _DIMENSION)) for _ in range(n)]
            for n in (n_words, n_words, _ATTRIBUTE_WORDS, _ATTRIBUTE_WORDS)
        ]
        for unit in below:
            below[unit] += seat(*sets, unit=unit, n_resamples=_PARTITIONS, rng=rng).test.p_value < 0.05
    return {unit: count / runs for unit, count in below.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    print("| words in X and in Y | templates | spread | unit word | unit sentence |")
    print("| --- | --- | --- | --- | --- |")
    for n_words, n_templates, spread in CASES:
        found = rejections(n_words, n_templates, spread, options.runs, options.seed)
        print(f"| {n_words} | {n_templates} | {spread} | {found['word']:.0%} | {found['sentence']:.0%} |")


if __name__ == "__main__":
    main()
