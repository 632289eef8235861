"""The slope of an effect on the length of the context: against a slow program, and where nothing changes."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import linregress, t

from prasanga.associations import measure_ceat
from prasanga.associations.comparisons import correct_tests
from prasanga.associations.contexts import CeatSettings
from prasanga.associations.estimates import Estimand, TestSettings, measure_slope
from prasanga.stats.permutation import Units

LENGTHS = ("9", "25", "75")
N = 8
WORDS = tuple(tuple(f"{side}{i}" for i in range(N)) for side in "xyab")


def estimand(matched: bool = False) -> Estimand:
    each = tuple(range(N))
    units = Units(each, each, matched=matched), Units.from_sizes(N, N)
    return Estimand("C", WORDS, units, TestSettings(), 1, ("m",))  # type: ignore[arg-type]


def halves_of(seed: int, change: float = 0.0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Cosines by two halves of the occurrences at each length; those of X with A grow by `change` per doubling."""
    rng = np.random.default_rng(seed)
    common, found = rng.normal(size=(2 * N, 2 * N)), []
    for length in LENGTHS:
        values = 0.3 + 0.05 * common + 0.01 * rng.normal(size=common.shape)
        values[:N, :N] += 0.02 + change * np.log2(int(length) / 9)
        noise = 0.01 * rng.normal(size=(2, *common.shape))
        found.append((values + noise[0], values + noise[1]))
    return found


def associations(values: np.ndarray) -> np.ndarray:
    return values[:, :N].mean(axis=1) - values[:, N:].mean(axis=1)


def slow_slopes(halves: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of the words of X and Y, and of A and B, in units of the spread that is no scatter of contexts."""
    x, targets, attributes = np.log2([9, 25, 75]), [], []
    for first, second in halves:
        covariance = np.cov(associations(first), associations(second))[0, 1]
        values = (first + second) / 2
        targets.append(associations(values) / np.sqrt(covariance))
        attributes.append((values[:N].mean(axis=0) - values[N:].mean(axis=0)) / np.sqrt(covariance))
    slopes = [
        np.array([linregress(x, [at[word] for at in of]).slope for word in range(2 * N)])
        for of in (targets, attributes)
    ]
    return slopes[0], slopes[1]


def slow_p(slopes: np.ndarray) -> float:
    observed = abs(slopes[:N].sum() - slopes[N:].sum())
    sums = [slopes[list(chosen)].sum() for chosen in combinations(range(2 * N), N)]
    return float(np.mean(np.abs(2 * np.array(sums) - slopes.sum()) >= observed - 1e-9))


@pytest.mark.parametrize("seed", range(3))
def test_slope_p_and_interval_are_those_of_a_slow_program(seed: int) -> None:
    halves = halves_of(seed, change=0.01 * seed)
    found, (targets, attributes) = measure_slope(LENGTHS, halves, estimand()), slow_slopes(halves)
    slope = targets[:N].mean() - targets[N:].mean()
    assert found["slope"] == pytest.approx(slope)
    assert found["slope"] == pytest.approx(attributes[:N].mean() - attributes[N:].mean())
    assert found["p_slope"] == pytest.approx(max(slow_p(targets), slow_p(attributes)))
    error = np.sqrt(sum(part.var(ddof=1) / N for side in (targets, attributes) for part in np.split(side, 2)))
    ends = slope - t.ppf(0.975, 14) * error, slope + t.ppf(0.975, 14) * error
    assert (found["slope_low"], found["slope_high"]) == pytest.approx(ends)


def test_pairs_are_flipped() -> None:
    halves = halves_of(1, change=0.01)
    targets, attributes = slow_slopes(halves)
    differences = targets[:N] - targets[N:]
    signs = np.array(np.meshgrid(*[[1, -1]] * N)).reshape(N, -1)
    flips = np.mean(np.abs(differences @ signs) >= abs(differences.sum()) - 1e-9)
    p_slope = measure_slope(LENGTHS, halves, estimand(matched=True))["p_slope"]
    assert p_slope == pytest.approx(max(flips, slow_p(attributes)))


def test_associations_that_shrink_all_alike_have_no_slope() -> None:
    first, second = halves_of(2)[0]
    found = measure_slope(LENGTHS, [(k * first, k * second) for k in (1, 0.9, 0.6)], estimand())
    assert found["slope"] == pytest.approx(0, abs=1e-12)
    assert found["p_slope"] == 1


def test_words_that_differ_by_the_scatter_of_contexts_alone_have_no_slope() -> None:
    noise = np.random.default_rng(0).normal(size=(2 * N, 2 * N))
    found = measure_slope(LENGTHS, [*halves_of(2)[:2], (0.3 + noise, 0.3 - noise)], estimand())
    assert found == {
        "slope_note": "no slope: at 75 words, associations of words differ by no more than the scatter of contexts"
    }


# Of a study.


def contexts_of(length: int, ids: dict[str, list[str]]) -> dict[str, tuple[list[str], np.ndarray]]:
    """Contexts of each word at a length: around a vector of its own, farther the longer they are."""
    own = np.random.default_rng(3).normal(size=(4 * N, 6))
    found = {}
    for number, side in enumerate(WORDS):
        for i, word in enumerate(side):
            rng = np.random.default_rng([length, number, i])
            found[word] = ids[word], own[number * N + i] + 0.02 * length * rng.normal(size=(len(ids[word]), 6))
    return found


def study(settings: CeatSettings, lengths: tuple[str, ...] = LENGTHS) -> tuple[list[dict], dict]:
    """Primary rows, and the contexts by length; the last word of X lacks its first occurrence at 25 words."""
    ids = {word: [f"{word}-{i}" for i in range(5)] for side in WORDS for word in side}
    fewer = ids | {"x7": ids["x7"][1:]}
    vectors = {length: contexts_of(int(length), fewer if length == "25" else ids) for length in lengths}
    sets = [{"name": side[0][0], "stimuli": side} for side in WORDS]
    layout = {"C": {"title": "C", "targets": sets[:2], "attributes": sets[2:]}}
    table = correct_tests({"ceat": measure_ceat(layout, vectors, model="m", settings=settings).estimates})["ceat"]
    return [row for row in table.to_pylist() if row["segment_length"] == "mean"], vectors


SETTINGS = CeatSettings(10, ["random"], test=TestSettings(n_resamples=0, n_shuffles=0))


def test_a_study_measures_slopes_over_the_occurrences_that_all_lengths_share() -> None:
    (row,), vectors = study(SETTINGS)
    halves = []
    for at_length in vectors.values():
        means = {}
        for word in [word for side in WORDS for word in side]:
            ids, array = at_length[word]
            kept = array[[i for i, each in enumerate(ids) if word != "x7" or not each.endswith("-0")]]
            units = kept / np.linalg.norm(kept, axis=1, keepdims=True)
            means[word] = units[::2].mean(axis=0), units[1::2].mean(axis=0)
        targets = [word for side in WORDS[:2] for word in side]
        axes = np.array([np.mean(means[word], axis=0) for side in WORDS[2:] for word in side])
        halves.append(tuple(np.array([means[word][half] for word in targets]) @ axes.T for half in (0, 1)))
    of_targets, of_attributes = slow_slopes(halves)  # type: ignore[arg-type]
    slope = of_targets[:N].mean() - of_targets[N:].mean()
    assert row["slope"] == pytest.approx(slope)
    assert row["p_slope"] == pytest.approx(max(slow_p(of_targets), slow_p(of_attributes)))
    assert (row["p_slope_holm"], row["n_slopes"], row["slope_note"]) == (row["p_slope"], 1, None)
    assert row["slope_low"] < slope < row["slope_high"]


@pytest.mark.parametrize(
    ("settings", "lengths", "note"),
    [
        (SETTINGS, ("9",), "no slope: one fixed length"),
        (
            replace(SETTINGS, pool="per_length"),
            LENGTHS,
            "no slope: lengths have texts of their own (samples.pool is per_length)",
        ),
    ],
)
def test_without_a_slope_the_table_says_why(settings: CeatSettings, lengths: tuple[str, ...], note: str) -> None:
    (row,), _ = study(settings, lengths)
    assert (row["slope"], row["p_slope"], row["n_slopes"], row["slope_note"]) == (None, None, None, note)
