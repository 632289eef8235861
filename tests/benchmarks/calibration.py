"""Calibration by simulation: `python tests/benchmarks/calibration.py [--studies N] [--seed S] [--json FILE]`.

Prints Markdown: how often each p is small where there is no effect, and how often a planted difference is found that is
as large as `find_detectable_difference` says for a power of .80 (docs/statistics.md); and how often the tests of target
words, of attribute words and of both reject where words differ along directions that have nothing to do with each other
(docs/statistics.md), where sets differ in size and spread, where words are clustered or matched; and how often a model
is told from its twins with random weights. Half an hour with 2 000 studies. `--json` writes all but the first two
tables to a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from measured import write_measured
from null_studies import (
    CONTEXTS,
    SENTENCES,
    TRUTHS,
    TRUTHS_OF_TWINS,
    TWINS,
    beside_twins_of,
    ceat_p,
    chance,
    planted_sets,
    seat_p,
    weat_p,
)
from scipy.special import stdtrit

from prasanga.associations.effects import weat
from prasanga.associations.vectors import compute_cosines
from prasanga.base.seeds import generator
from prasanga.stats.crossed import CrossedScores, contributions
from prasanga.stats.intervals import BesideTwins, Interval, compare_with_twins, interval, omit_units
from prasanga.stats.permutation import STATISTICS, Units, find_detectable_difference, permutation_test_of_scores

WORDS = (4, 8, 13, 25)
ALPHAS = (0.01, 0.05, 0.1, 0.5)
DRAWS = (100, 1000, 5000)
#: Intervals take longer than tests of words: one study in so many has one.
FEWER_INTERVALS = 4
#: Studies of many draws take longer than others: one in so many is simulated.
FEWER = 10


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000, help="simulated studies in each cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="file for the rejections of both tests of words")
    arguments = parser.parse_args()
    rejected: dict[str, dict[str, dict[str, float]]] = {}
    of_unequal: dict[str, dict[str, float]] = {}
    of_units: dict[str, dict[str, dict[str, float]]] = {}
    of_twins: dict[str, dict[str, dict[str, float]]] = {}
    tables = (
        report(arguments.studies, arguments.seed),
        report_of_both_sides(arguments.studies, arguments.seed, rejected),
        report_of_unequal_sets(arguments.studies, arguments.seed, of_unequal),
        report_of_units(arguments.studies, arguments.seed, of_units),
        report_of_twins(arguments.studies, arguments.seed, of_twins),
    )
    for line in chain.from_iterable(tables):
        print(line, flush=True)
    if arguments.json:
        results = {"studies": arguments.studies, "seed": arguments.seed, "rejected": rejected, "unequal": of_unequal}
        results |= {"units": of_units, "twins": of_twins}
        write_measured(arguments.json, results, constants={})


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
    yield "\n## With a difference of the size said to be found in 80% of studies\n"
    yield "| words | difference, in standard deviations | found at .05 |\n| --- | --- | --- |"
    for n_x, n_y in [(4, 4), (5, 5), (6, 6), *((n, n) for n in WORDS[1:]), (8, 25)]:
        difference = find_detectable_difference(n_x, n_y)
        assert difference is not None
        p = simulate(partial(of_normal_scores, n_x, n_y, difference), studies, seed, "power", n_x, n_y)
        yield f"| {n_x} and {n_y} | {difference:.2f} | {share(p <= 0.05)} |"


def report_of_both_sides(studies: int, seed: int, rejected: dict[str, dict[str, dict[str, float]]]) -> Iterator[str]:
    """The lines of the table of both tests of words; its shares go to `rejected`, by truth and number of words."""
    names = ("p_stimuli", "p_attributes", "p_association", "interval")
    with_interval = max(1, studies // FEWER_INTERVALS)
    yield "\n## WEAT: share of studies with p of at most .05, and with an interval that excludes 0\n"
    yield f"{studies:,} studies a row, {with_interval:,} for intervals.\n"
    yield "| truth | words | " + " | ".join(names) + " | p_association and interval |"
    yield "| --- " * (3 + len(names)) + "|"
    for truth in TRUTHS:
        for n in WORDS:
            found = np.array(
                [
                    both_sides(truth, n, generator(seed, "both sides", truth, n, i), interval_too=i < with_interval)
                    for i in range(studies)
                ]
            )
            shares = dict(zip(names, [*found[:, :3].mean(axis=0), found[:with_interval, 3].mean()], strict=True))
            shares["p_association and interval"] = (found[:, 2] * found[:, 3])[:with_interval].mean()
            shares = {name: round(float(each), 4) for name, each in shares.items() if not np.isnan(each)}
            rejected.setdefault(truth, {})[str(n)] = shares
            cells = (
                f"{shares[name]:.3f}" if name in shares else "–" for name in (*names, "p_association and interval")
            )
            yield f"| {truth} | {n} | " + " | ".join(cells) + " |"


def report_of_unequal_sets(studies: int, seed: int, rejected: dict[str, dict[str, float]]) -> Iterator[str]:
    """The lines of the table of sets of different sizes and spreads; its shares go to `rejected`."""
    yield "\n## Sets of different sizes, equal means: share of studies with p of at most .05\n"
    yield "| words | standard deviations | " + " | ".join(STATISTICS) + " |\n| --- | --- | --- | --- |"
    for n_x, n_y in ((8, 8), (8, 13), (8, 25), (4, 25)):
        for spread in (3.0, 1.0, 1 / 3):
            where, spreads = f"{n_x} and {n_y}", f"{max(spread, 1):g} and {max(1 / spread, 1):g}"
            shares = {}
            for statistic in STATISTICS:
                test = partial(of_spread_scores, n_x, n_y, spread, statistic)
                p = simulate(test, studies, seed, "unequal", n_x, n_y, spread)
                shares[statistic] = round(float((p <= 0.05 + 1e-12).mean()), 4)
            rejected[f"{where}, {spreads}"] = shares
            yield f"| {where} | {spreads} | " + " | ".join(f"{each:.3f}" for each in shares.values()) + " |"


DEPENDENCES = {
    "near-synonyms in twos": (2, 0.7),
    "near-synonyms in fours": (4, 0.7),
    "pairs, half in common": (0, 0.5),
    "pairs, nearly all in common": (0, 0.95),
    "pairs that differ": (0, 0.95),
}
"""What words of both sides depend on: clusters of so many, or pairs (0), with a share of variance in common."""


def report_of_units(studies: int, seed: int, rejected: dict[str, dict[str, dict[str, float]]]) -> Iterator[str]:
    """The lines of the table of words that are not independent; its shares go to `rejected`, by truth and number."""
    studies = max(1, studies // FEWER_INTERVALS)
    names = ("independent", "declared", "declared, and interval")
    yield "\n## Words that are not independent: share of studies with p_association of at most .05\n"
    yield f"{studies:,} studies a row. Clusters on both sides, and pairs of targets.\n"
    yield "| truth | words | " + " | ".join(names) + " |\n" + "| --- " * (2 + len(names)) + "|"
    for truth in DEPENDENCES:
        for n in (8, 16, 32):
            found = [of_dependent_words(truth, n, generator(seed, "units", truth, n, i)) for i in range(studies)]
            shares = dict(zip(names, np.array(found).mean(axis=0).round(4).tolist(), strict=True))
            rejected.setdefault(truth, {})[str(n)] = shares
            yield f"| {truth} | {n} | " + " | ".join(f"{each:.3f}" for each in shares.values()) + " |"


def of_dependent_words(truth: str, n: int, rng: np.random.Generator) -> tuple[bool, bool, bool]:
    """Whether p_association is at most .05 with words taken for independent, with units declared, and an interval too.

    A side of clusters has n / size units, and no interval with fewer than eight. Pairs have an association in the last
    kind of study: X is a quarter of a standard deviation nearer to A, and A and B differ along that direction.
    """
    size, shared = DEPENDENCES[truth]
    sets = rng.normal(size=(4, n, 30))
    if size:
        sets = shared**0.5 * np.repeat(rng.normal(size=(4, n // size, 30)), size, axis=1) + (1 - shared) ** 0.5 * sets
    else:
        sets[:2] = shared**0.5 * rng.normal(size=(1, n, 30)) + (1 - shared) ** 0.5 * sets[:2]
    if truth == "pairs that differ":
        sets[0, :, 0] += 0.25
        sets[2:, :, 0] += [[2.0], [-2.0]]
    cosines = compute_cosines(*(list(side) for side in sets))
    words = Units.from_sizes(n, n)
    clusters = Units(tuple(np.arange(n) // max(size, 1)), tuple(np.arange(n) // max(size, 1)), matched=not size)
    declared = clusters, clusters if size else words
    scores = cosines.word_scores(), contributions(cosines)
    how = {"alternative": "two-sided", "n_resamples": 999, "statistic": "studentized", "noise": 0.0}
    first, second = (
        max(side.test(part, rng=rng, **how).p_value for side, part in zip(units, scores, strict=True))  # type: ignore[arg-type]
        for units in ((words, words), declared)
    )
    ends = find_interval(cosines, declared)
    excludes = ends.low is not None and ends.high is not None and not ends.low <= 0 <= ends.high
    return first <= 0.05 + 1e-12, second <= 0.05 + 1e-12, second <= 0.05 + 1e-12 and excludes


def find_interval(cosines: CrossedScores, units: tuple[Units, Units] | None = None) -> Interval:
    """The interval over words of all four sets."""
    n_x, n_y, n_a, n_b = cosines.sizes
    units = units or (Units.from_sizes(n_x, n_y), Units.from_sizes(n_a, n_b))
    return interval(cosines.effect(), units, omit_units(cosines, cosines, units))


def report_of_twins(studies: int, seed: int, rejected: dict[str, dict[str, dict[str, float]]]) -> Iterator[str]:
    """The lines of the table of models beside twins; its shares go to `rejected`, by truth and number of words."""
    names = ("other weights", "other words", "p_twins")
    studies = max(1, studies // FEWER_INTERVALS)
    yield f"\n## Models beside {TWINS} twins: share of studies with p of at most .05\n"
    yield f"{studies:,} studies a row.\n"
    yield "| truth | words | " + " | ".join(names) + " |"
    yield "| --- " * (2 + len(names)) + "|"
    for truth in TRUTHS_OF_TWINS:
        for n in WORDS[1:]:
            found = np.array(
                [beside_its_twins(truth, n, generator(seed, "twins", truth, n, i)) for i in range(studies)]
            )
            shares = {name: round(float(each), 4) for name, each in zip(names, found.mean(axis=0), strict=True)}
            rejected.setdefault(truth, {})[str(n)] = shares
            yield f"| {truth} | {n} | " + " | ".join(f"{each:.3f}" for each in shares.values()) + " |"


def beside_its_twins(truth: str, n: int, rng: np.random.Generator) -> tuple[bool, bool, bool]:
    """Whether a model is told from its twins: by other weights alone, by other words alone, and by both."""
    cosines, twins = beside_twins_of(truth, n, rng)
    ends, effect = find_interval(cosines), cosines.effect()
    assert ends.low is not None
    assert ends.high is not None
    both = compare_with_twins([BesideTwins(effect, ends.low, ends.high, twins)])[0]["p_twins"]
    mean, error = float(np.mean(twins)), float(np.std(twins, ddof=1)) * (1 / TWINS) ** 0.5
    of_words = abs(effect - mean) / np.hypot((ends.high - ends.low) / 3.92, error)
    of_weights = abs(effect - mean) / (error * (TWINS + 1) ** 0.5)
    assert both is not None
    return bool(of_weights > stdtrit(TWINS - 1, 0.975)), bool(of_words > 1.96), both <= 0.05


def of_spread_scores(n_x: int, n_y: int, spread: float, statistic: str, rng: np.random.Generator) -> float:
    """p of words whose associations are normal around one mean, those of X with `spread` times the deviation of Y."""
    x, y = rng.normal(0, spread, n_x), rng.normal(0, 1, n_y)
    method = "auto" if n_x + n_y <= 16 else "sampled"
    return permutation_test_of_scores(x, y, method=method, n_resamples=999, rng=rng, statistic=statistic).p_value


def both_sides(
    truth: str, n: int, rng: np.random.Generator, *, interval_too: bool = True
) -> tuple[float, float, float, float]:
    """Whether each test of one study rejects, 1 or 0, and whether its interval excludes 0; NaN if it has none."""
    sets = planted_sets(truth, n, rng)
    found = weat(*sets, n_resamples=999, rng=rng)
    p_values = found.test.p_value, found.test_attributes.p_value, found.p_association
    of_words = compute_cosines(*(list(side) for side in sets))
    ends = find_interval(of_words) if interval_too and n >= 8 else None
    left_out = np.nan if ends is None or ends.low is None else float(not ends.low <= 0 <= ends.high)
    first, second, both = (float(p <= 0.05 + 1e-12) for p in p_values)
    return first, second, both, left_out


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
