"""Coverage of the intervals of a bias percentage, and the test of the label with clusters:
docs/measured/simulations.md.

    .venv/bin/python tests/benchmarks/bias_intervals.py [SEED]          ten minutes

The first table needs no simulation: every count that can come out has its probability, and its bootstrap percentiles
(of infinitely many resamples) are those of a binomial distribution.

The second is simulated. A model prefers first sentences in 60% of pairs, whatever their label; the share differs
between clusters (beta distribution, intracluster correlation .5). With a stereotype, 30% of the pairs follow the label
instead, and the balanced percentage is 65.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import stats

from prasanga.likelihoods.bias import LabelCounts, balance, balance_clusters, cluster_p_value, label_p_value

SIZES = (8, 12, 20, 50, 100, 700)
TRUTHS = (0.5, 0.6, 0.75, 0.9)

FIRST, CORRELATION, STUDIES = 0.6, 0.5, 400
FIVE_TYPES = ((36, 8), (24, 6), (18, 4), (9, 2), (4, 1))
DESIGNS = {
    "91 of `stereo`, 21 of `antistereo`, five types": (FIVE_TYPES, "5"),
    "the same, of 1 to 9 pairs": (FIVE_TYPES, "1 to 9"),
    "20 of each label": (((20, 20),), "5"),
    "10 of each label": (((10, 10),), "5"),
    "6 of each label": (((6, 6),), "5"),
    "40 of both labels (3 and 2 pairs)": (((40,),), "3 and 2"),
    "10 of both labels (3 and 2 pairs)": (((10,),), "3 and 2"),
}
"""By description: clusters of each bias type (of either label, or of both), and the pairs of a cluster."""


def coverage(n: int, truth: float) -> tuple[float, float]:
    """Probability that the percentile bootstrap and that the exact interval hold `truth`, with `n` pairs."""
    counts = np.arange(n + 1)
    weights = stats.binom.pmf(counts, n, truth)
    tails = (stats.binom.ppf(tail, n, counts / n) / n for tail in (0.025, 0.975))
    # of no success, and of nothing else, every resample is the same
    low, high = (np.where((counts == 0) | (counts == n), counts / n, tail) for tail in tails)
    exact = np.array([stats.binomtest(int(count), n).proportion_ci(method="exact") for count in counts])
    held = ((low <= truth + 1e-12) & (truth <= high + 1e-12), (exact[:, 0] <= truth) & (truth <= exact[:, 1]))
    bootstrap, exactly = (float(weights[inside].sum()) for inside in held)
    return bootstrap, exactly


def simulate_type(
    n_clusters: tuple[int, ...], sizes: str, stereotype: float, rng: np.random.Generator
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the counts of the clusters of a bias type (`LabelCounts`, a row per cluster)."""
    n = sum(n_clusters)
    if len(n_clusters) == 1:
        pairs = np.tile([3, 2], (n, 1))
    else:
        size = rng.integers(1, 10, n) if sizes == "1 to 9" else np.full(n, 5)
        is_stereo = np.arange(n) < n_clusters[0]
        pairs = np.stack([size * is_stereo, size * ~is_stereo], axis=1)
    scale = 1 / CORRELATION - 1
    share = rng.beta(FIRST * scale, (1 - FIRST) * scale, n)
    stereo, anti = (rng.binomial(pairs[:, i], (1 - stereotype) * share + stereotype * (i == 0)) for i in (0, 1))
    return np.stack([stereo, pairs[:, 0], anti, pairs[:, 1]], axis=1).astype(float)


def measure_clusters(design: str, stereotype: float, rng: np.random.Generator) -> list[float]:
    """Return shares of studies: p <= .05 and intervals with the truth, first for independent pairs, then clusters."""
    (types, sizes), truth, found = DESIGNS[design], 50 + 50 * stereotype, []
    for _ in range(STUDIES):
        tables = [simulate_type(n_clusters, sizes, stereotype, rng) for n_clusters in types]
        counts = [LabelCounts(*map(int, table.sum(axis=0))) for table in tables]
        ends = np.array([balance(counts)[1:], balance_clusters(tables, rng)[1:]], dtype=float)
        rejected = [label_p_value(counts) <= 0.05, cluster_p_value(tables, rng) <= 0.05]
        found.append([*rejected, *(low <= truth <= high for low, high in ends)])
    shares: list[float] = np.mean(found, axis=0).tolist()
    return shares


def main() -> None:
    """Print both tables."""
    print(f"| pairs | {' | '.join(f'{100 * truth:g} %' for truth in TRUTHS)} |")
    print(f"| --- |{' --- |' * len(TRUTHS)}")
    for n in SIZES:
        cells = ("{:.0%}, {:.0%}".format(*coverage(n, truth)) for truth in TRUTHS)
        print(f"| {n} | {' | '.join(cells)} |")
    print("\n| clusters | p <= .05 | p <= .05, declared | interval | interval, declared | stereotype: p | interval |")
    print(f"|{' --- |' * 7}", flush=True)
    rng = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else 2026)
    for design in DESIGNS:
        blind, biased = (measure_clusters(design, stereotype, rng) for stereotype in (0, 0.3))
        cells = (f"{share:.0%}" for share in (*blind, biased[1], biased[3]))
        print(f"| {design} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
