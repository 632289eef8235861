"""The slope of an effect on the length of the context: against a slow program, and where nothing changes."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import linregress

from prasanga.associations import measure_ceat
from prasanga.associations.comparisons import correct_tests
from prasanga.associations.contexts import CeatSettings
from prasanga.associations.estimates import Estimand, TestSettings, measure_slope
from prasanga.stats.effects import effect_size_of_scores
from prasanga.stats.units import Units

LENGTHS = ("9", "25", "75")
N = 8
WORDS = tuple(tuple(f"{side}{i}" for i in range(N)) for side in "xyab")


def estimand(matched: bool = False) -> Estimand:
    each = tuple(range(N))
    units = Units(each, each, matched=matched), Units.of_words(N, N)
    return Estimand("C", WORDS, units, TestSettings(), 1, ("m",))  # type: ignore[arg-type]


def cosines_of(seed: int, change: float = 0.0) -> list[np.ndarray]:
    """Cosines that differ a little from length to length; those of X with A grow by `change` per doubling."""
    rng = np.random.default_rng(seed)
    common, found = rng.normal(size=(2 * N, 2 * N)), []
    for length in LENGTHS:
        values = 0.3 + 0.05 * common + 0.02 * rng.normal(size=common.shape)
        values[:N, :N] += 0.02 + change * np.log2(int(length) / 9)
        found.append(values)
    return found


def slow_slopes(cosines: list[np.ndarray]) -> tuple[float, np.ndarray, np.ndarray]:
    """The slope of d, and those of the words of X and Y, and of A and B, in units of d."""
    x = np.log2([9, 25, 75])
    effects, targets, attributes = [], [], []
    for values in cosines:
        scores = values[:, :N].mean(axis=1) - values[:, N:].mean(axis=1)
        effects.append(effect_size_of_scores(scores[:N], scores[N:]))
        targets.append(scores / scores.std(ddof=1))
        attributes.append((values[:N].mean(axis=0) - values[N:].mean(axis=0)) / scores.std(ddof=1))
    sides = [
        np.array([linregress(x, [at[word] for at in of]).slope for word in range(2 * N)])
        for of in (targets, attributes)
    ]
    return float(linregress(x, effects).slope), sides[0], sides[1]


def slow_p(slopes: np.ndarray) -> float:
    observed = abs(slopes[:N].sum() - slopes[N:].sum())
    sums = [slopes[list(chosen)].sum() for chosen in combinations(range(2 * N), N)]
    return float(np.mean(np.abs(2 * np.array(sums) - slopes.sum()) >= observed - 1e-9))


@pytest.mark.parametrize("seed", range(3))
def test_slope_and_p_are_those_of_a_slow_program(seed: int) -> None:
    cosines = cosines_of(seed, change=0.01 * seed)
    found, (slope, targets, attributes) = measure_slope(LENGTHS, cosines, estimand()), slow_slopes(cosines)
    assert found["slope"] == pytest.approx(slope)
    assert found["slope"] == pytest.approx(targets[:N].mean() - targets[N:].mean())
    assert found["p_slope"] == pytest.approx(max(slow_p(targets), slow_p(attributes)))
    assert found["slope_low"] < slope < found["slope_high"]


def test_the_interval_is_a_jackknife_of_slopes() -> None:
    cosines = cosines_of(5)
    slopes = []
    for word in range(4 * N):
        left = [
            np.delete(values, word, axis=0) if word < 2 * N else np.delete(values, word - 2 * N, axis=1)
            for values in cosines
        ]
        effects, (n_x, n_a) = [], (N - (word < N), N - (2 * N <= word < 3 * N))
        for values in left:
            scores = values[:, :n_a].mean(axis=1) - values[:, n_a:].mean(axis=1)
            effects.append(effect_size_of_scores(scores[:n_x], scores[n_x:]))
        slopes.append(linregress(np.log2([9, 25, 75]), effects).slope)
    variance = sum((N - 1) / N * np.square(side - np.mean(side)).sum() for side in np.split(np.array(slopes), 4))
    found = measure_slope(LENGTHS, cosines, estimand())
    assert found["slope_high"] - found["slope"] == pytest.approx(2.144787 * np.sqrt(variance), rel=1e-5)


def test_pairs_are_flipped() -> None:
    cosines = cosines_of(1, change=0.01)
    _, targets, attributes = slow_slopes(cosines)
    differences = targets[:N] - targets[N:]
    signs = np.array(np.meshgrid(*[[1, -1]] * N)).reshape(N, -1)
    flips = np.mean(np.abs(differences @ signs) >= abs(differences.sum()) - 1e-9)
    assert measure_slope(LENGTHS, cosines, estimand(matched=True))["p_slope"] == pytest.approx(
        max(flips, slow_p(attributes))
    )


def test_an_association_that_shrinks_with_its_spread_has_no_slope() -> None:
    first = cosines_of(2)[0]
    found = measure_slope(LENGTHS, [first, 0.9 * first, 0.6 * first], estimand())
    assert found["slope"] == pytest.approx(0, abs=1e-12)
    assert found["p_slope"] == 1


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
    cosines = []
    for at_length in vectors.values():
        directions = []
        for side in WORDS:
            for word in side:
                ids, array = at_length[word]
                kept = array[[i for i, each in enumerate(ids) if word != "x7" or not each.endswith("-0")]]
                mean = (kept / np.linalg.norm(kept, axis=1, keepdims=True)).mean(axis=0)
                directions.append(mean / np.linalg.norm(mean))
        cosines.append(np.array(directions)[: 2 * N] @ np.array(directions)[2 * N :].T)
    slope, targets, attributes = slow_slopes(cosines)
    assert row["slope"] == pytest.approx(slope)
    assert row["p_slope"] == pytest.approx(max(slow_p(targets), slow_p(attributes)))
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
