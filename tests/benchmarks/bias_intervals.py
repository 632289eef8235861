"""How often the intervals of a bias percentage hold the true one; the table of docs/pairs.md.

    .venv/bin/python tests/benchmarks/bias_intervals.py          a second

No simulation: every count that can come out has its probability, and its bootstrap percentiles (of infinitely many
resamples) are those of a binomial distribution.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

SIZES = (8, 12, 20, 50, 100, 700)
TRUTHS = (0.5, 0.6, 0.75, 0.9)


def coverage(n: int, truth: float) -> tuple[float, float]:
    """Probability that the percentile bootstrap and that the exact interval hold `truth`, with `n` pairs."""
    counts = np.arange(n + 1)
    weights = stats.binom.pmf(counts, n, truth)
    tails = (stats.binom.ppf(tail, n, counts / n) / n for tail in (0.025, 0.975))
    # of no success, and of nothing else, every resample is the same
    low, high = (np.where((counts == 0) | (counts == n), counts / n, tail) for tail in tails)
    exact = np.array([stats.binomtest(int(count), n).proportion_ci(method="exact") for count in counts])
    held = (
        (low <= truth + 1e-12) & (truth <= high + 1e-12),
        (exact[:, 0] <= truth) & (truth <= exact[:, 1]),
    )
    bootstrap, exactly = (float(weights[inside].sum()) for inside in held)
    return bootstrap, exactly


def main() -> None:
    """Print the table."""
    print(f"| pairs | {' | '.join(f'{100 * truth:g} %' for truth in TRUTHS)} |")
    print(f"| --- |{' --- |' * len(TRUTHS)}")
    for n in SIZES:
        cells = ("{:.0%}, {:.0%}".format(*coverage(n, truth)) for truth in TRUTHS)
        print(f"| {n} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
