"""How often one test over lengths rejects, beside a test at each length; and the test of the difference of two models.

`python tests/benchmarks/primary_tests.py` prints their tables of docs/measured/simulations.md, in about five minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from prasanga.stats.permutation import permutation_test_of_scores

DIMENSIONS, LENGTHS, FIXED, CONTEXTS = 64, 4, 3, 8
Scores = tuple[NDArray[np.float64], NDArray[np.float64]]
NULLS = {"nothing differs": None, "targets differ": 0, "attributes differ": 2}
"""The set that lies apart under each null."""


def draw_words(n: int, rng: np.random.Generator, apart: int | None = None, shift: float = 0.0) -> NDArray[np.float64]:
    """(4 n, dimensions) directions of the words of X, Y, A and B; one set apart, or X with A and Y with B."""
    words = rng.standard_normal((4 * n, DIMENSIONS))
    if apart is not None:
        words[apart * n : (apart + 1) * n] += 0.5 * rng.standard_normal(DIMENSIONS)
    axis = rng.standard_normal(DIMENSIONS)
    return words + shift * np.repeat([1, -1, 1, -1], n)[:, None] * axis / np.linalg.norm(axis)


def draw_length(words: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """(2 n, 2 n) mean cosines at a length, where words have other directions, around which contexts scatter."""
    directions = words + 0.5 * rng.standard_normal(words.shape)
    contexts = directions[:, None] + rng.standard_normal((len(words), CONTEXTS, DIMENSIONS))
    means = (contexts / np.linalg.norm(contexts, axis=2, keepdims=True)).mean(axis=1)
    return np.asarray(means[: len(words) // 2] @ means[len(words) // 2 :].T)


def score(cosines: NDArray[np.float64]) -> Scores:
    """Associations of the target words, and contributions of the attribute words."""
    n = len(cosines) // 2
    return cosines[:, :n].mean(1) - cosines[:, n:].mean(1), cosines[:n].mean(0) - cosines[n:].mean(0)


def find_p(scores: Sequence[NDArray[np.float64]]) -> float:
    """The larger p of both sides."""
    how = {"n_resamples": 2000, "rng": 1}
    return max(permutation_test_of_scores(*np.split(side, 2), **how).p_value for side in scores)  # type: ignore[arg-type]


def report_lengths(n: int, studies: int, rng: np.random.Generator) -> Iterator[str]:
    """Rejections by the primary test, and by any of the lengths' tests after Holm's correction."""
    shifts: dict[str, tuple[int | None, float]] = {name: (apart, 0.0) for name, apart in NULLS.items()}
    for name, (apart, shift) in {**shifts, **{f"effect {k}": (None, k) for k in (0.8, 1.1, 1.4)}}.items():
        primary, any_length = 0, 0
        for _ in range(studies):
            words = draw_words(n, rng, apart, shift)
            lengths = np.stack([draw_length(words, rng) for _ in range(LENGTHS)])
            primary += find_p(score(lengths[:FIXED].mean(axis=0))) <= 0.05
            any_length += min(find_p(score(each)) for each in lengths) <= 0.05 / LENGTHS
        yield f"{n} words, {name}: primary {primary / studies:.3f}, any length {any_length / studies:.3f}"


def report_models(n: int, studies: int, rng: np.random.Generator) -> Iterator[str]:
    """Rejections of the test of two models."""

    def measure(words: NDArray[np.float64], noise: float = 0.5) -> Scores:
        units = words + noise * rng.standard_normal(words.shape)
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        targets, attributes = score(units[: 2 * n] @ units[2 * n :].T)
        return targets / targets.std(ddof=1), attributes / targets.std(ddof=1)

    for name, shift, only, noise, is_shared in (
        *(("no effect", 0.0, 0.0, 0.5, True), ("the same effect", 1.2, 0.0, 0.5, True)),
        *(
            ("no effect, directions of their own", 0.0, 0.0, 0.5, False),
            ("the second scatters twice", 1.2, 0.0, 1.0, True),
        ),
        *((f"the second has an effect of {k}", 0.0, k, 0.5, True) for k in (0.8, 1.5)),
    ):
        rejected = 0
        for _ in range(studies):
            words = draw_words(n, rng, shift=shift)
            axis = rng.standard_normal(DIMENSIONS)
            second = words if is_shared else draw_words(n, rng)
            second = second + only * np.repeat([1, -1, 1, -1], n)[:, None] * axis / np.linalg.norm(axis)
            (targets, attributes), others = measure(words), measure(second, noise)
            rejected += find_p((others[0] - targets, others[1] - attributes)) <= 0.05
        yield f"{n} words, two models, {name}: {rejected / studies:.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=600)
    parser.add_argument("--seed", type=int, default=40)
    options = parser.parse_args()
    for n_words in (8, 13):
        for report in (report_lengths, report_models):
            generator = np.random.default_rng([options.seed, n_words])
            for line in report(n_words, options.studies, generator):
                print(line, flush=True)
