"""Calibration by simulation: `python tests/benchmarks/calibration.py [--studies N] [--seed S]`.

Prints Markdown: how often each p is small where there is no effect, and how often a planted effect is found that is as
large as `smallest_effect_of_sizes` says for a power of .80. A minute or two with 2 000 studies (docs/enough.md).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from null_studies import CONTEXTS, SENTENCES, ceat_p, chance, seat_p, weat_p

from prasanga.associations.permutation import permutation_test_of_scores
from prasanga.associations.power import smallest_effect_of_sizes
from prasanga.base.seeds import generator

WORDS = (4, 8, 13, 25)
ALPHAS = (0.01, 0.05, 0.1, 0.5)
DRAWS = (100, 1000, 5000)
#: Studies of many draws take longer than others: one in so many is simulated.
FEWER = 10


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000, help="simulated studies in each cell")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for line in report(arguments.studies, arguments.seed):
        print(line, flush=True)


def report(studies: int, seed: int) -> Iterator[str]:
    """The lines of both tables."""
    fewer, seen = max(1, studies // FEWER), chance(0.05, studies, z=1.96)
    yield f"{studies:,} simulated studies in each row (`p_draws`: {fewer:,}), seed {seed}. A true .05 comes out within"
    yield f"{seen:.3f} of that in 95 of 100 rows.\n"
    yield "## Without an effect: share of studies with p of at most\n"
    yield "| what is permuted | words | " + " | ".join(f"{a:g}" for a in ALPHAS) + " |"
    yield "| --- " * (2 + len(ALPHAS)) + "|"
    for n in WORDS:
        tests: dict[str, Callable[[np.random.Generator], float]] = {
            "WEAT, words": partial(weat_p, n),
            f"CEAT, words (`p_stimuli`), {CONTEXTS} contexts": lambda rng, n=n: ceat_p(n, rng).p_stimuli,
            f"SEAT, words, {SENTENCES} sentences": lambda rng, n=n: seat_p(n, rng).word,
            f"SEAT, sentences, {SENTENCES} a word": lambda rng, n=n: seat_p(n, rng).sentence,
        }
        for name, test in tests.items():
            p = simulate(test, studies, seed, name, n)
            yield f"| {name} | {n} and {n} | " + " | ".join(share(p <= a + 1e-12) for a in ALPHAS) + " |"
    for n_samples in DRAWS:
        p = simulate(
            lambda rng, n_samples=n_samples: ceat_p(8, rng, n_samples=n_samples).p_draws,
            fewer, seed, "p_draws", n_samples,
        )  # fmt: skip
        cells = " | ".join(share(p <= a) for a in ALPHAS)
        yield f"| nothing: `p_draws` of {n_samples:,} draws | 8 and 8 | {cells} |"
    yield "\n## With an effect of the size said to be found in 80 % of studies\n"
    yield "| words | smallest effect (`union_ddof1`) | found at .05 |\n| --- | --- | --- |"
    for n_x, n_y in [(4, 4), (5, 5), (6, 6), *((n, n) for n in WORDS[1:]), (8, 25)]:
        difference = smallest_effect_of_sizes(n_x, n_y, std="pooled")
        effect = smallest_effect_of_sizes(n_x, n_y)
        assert difference is not None
        p = simulate(partial(of_normal_scores, n_x, n_y, difference), studies, seed, "power", n_x, n_y)
        yield f"| {n_x} and {n_y} | {effect:.2f} | {share(p <= 0.05)} |"


def simulate(
    test: Callable[[np.random.Generator], float], studies: int, seed: int, *names: object
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """p of every study, each from a generator of its own."""
    return np.array([test(generator(seed, "calibration", *names, i)) for i in range(studies)])


def of_normal_scores(n_x: int, n_y: int, difference: float, rng: np.random.Generator) -> float:
    """p of words whose associations are normal, with so many standard deviations between the sets."""
    x, y = rng.normal(difference, 1, n_x), rng.normal(0, 1, n_y)
    method = "auto" if n_x + n_y <= 26 else "sampled"
    return permutation_test_of_scores(x, y, method=method, n_resamples=999, rng=rng).p_value


def share(counted: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
    """A share, for a table."""
    return f"{counted.mean():.3f}"


if __name__ == "__main__":
    main()
