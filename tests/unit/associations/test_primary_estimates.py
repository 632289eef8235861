"""The primary estimates of CEAT, over the fixed lengths together, against plain loops over lengths."""

from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pytest

from prasanga.associations import CeatSettings, TestSettings, ceat, measure_ceat, named_draws

SIDES = {"x": 5, "y": 6, "a": 4, "b": 4}
SETS = {side: [f"{side}{i}" for i in range(n)] for side, n in SIDES.items()}
WORDS = [word for listed in SETS.values() for word in listed]
LENGTHS = ("9", "25", "75")
SETTINGS = CeatSettings(n_samples=60, test=TestSettings(n_resamples=20, n_shuffles=20), seed=3)
Given: TypeAlias = dict[str, tuple[list[str], np.ndarray]]


def layout(sets: dict[str, list[str]] = SETS) -> dict[str, Any]:
    x, y, a, b = ({"name": side, "stimuli": words} for side, words in sets.items())
    return {"C1": {"title": "t", "targets": [x, y], "attributes": [a, b]}}


def draw_vectors(seed: int, n: int = 7) -> Given:
    rng, common = np.random.default_rng(seed), np.random.default_rng(99)
    mean = {word: common.standard_normal(6) + (word[0] in "xa") for word in WORDS}
    return {word: ([f"{word}-{i}" for i in range(n)], mean[word] + rng.standard_normal((n, 6))) for word in WORDS}


VECTORS = {length: draw_vectors(seed) for seed, length in enumerate([*LENGTHS, ">75"])}


def measure(vectors: dict[str, Given] = VECTORS, settings: CeatSettings = SETTINGS, **more: Any) -> dict[str, Any]:
    tables = measure_ceat(layout(), vectors, model="m", settings=settings, **more)
    found = {name: table.to_pylist() for name, table in tables._asdict().items()}
    return {**found, "row": {row["segment_length"]: row for row in found["estimates"]}}


def is_same(one: dict[str, Any], other: dict[str, Any], *apart: str) -> bool:
    """Whether all columns but some are the same, numbers but for rounding."""
    rounded = (
        {name: float(f"{value:.9g}") if isinstance(value, float) else value for name, value in row.items()}
        for row in (one, other)
    )
    first, second = ({name: value for name, value in row.items() if name not in apart} for row in rounded)
    return first == second


def permute(scores: np.ndarray, n: int) -> float:
    """The share of all divisions whose studentized difference of means is at least as large as the observed one."""

    def compare(chosen: tuple[int, ...]) -> float:
        first, second = scores[list(chosen)], np.delete(scores, chosen)
        error = np.sqrt(first.var(ddof=1) / first.size + second.var(ddof=1) / second.size)
        difference = first.mean() - second.mean()
        return abs(difference / error if n * 2 != scores.size else difference)

    all_ = [compare(chosen) for chosen in combinations(range(scores.size), n)]
    return float(np.mean(np.array(all_) >= all_[0] - 1e-9 * max(all_)))


def test_primary_estimates_equal_loops_over_the_fixed_lengths() -> None:
    found = measure()
    row, words = found["row"]["mean"], [each for each in found["words"] if each["segment_length"] == "mean"]
    draws = named_draws(WORDS, [7] * len(WORDS), 60, seed=3, names=("fixed", "C1"))
    targets, attributes = (SETS["x"], SETS["y"]), (SETS["a"], SETS["b"])
    effects, scores, cosines = [], [], []
    for length in LENGTHS:
        arrays = {word: array for word, (_, array) in VECTORS[length].items()}
        alone = ceat(arrays, targets, attributes, draws=draws)
        effects.append(alone.combined.effect)
        scores.append(alone.scores.mean(axis=0))
        means = {}
        for word, array in arrays.items():
            means[word] = (array / np.linalg.norm(array, axis=1)[:, None]).mean(axis=0)
        cosines.append([[means[t] @ means[a] for a in WORDS[11:]] for t in WORDS[:11]])
    mean = np.mean(cosines, axis=0)
    of_targets = mean[:, :4].mean(axis=1) - mean[:, 4:].mean(axis=1)
    of_attributes = mean[:5].mean(axis=0) - mean[5:].mean(axis=0)
    assert row["effect_size"] == pytest.approx(np.mean(effects), rel=1e-12)
    assert row["p_stimuli"] == pytest.approx(permute(of_targets, 5), abs=1e-12)
    assert row["p_attributes"] == pytest.approx(permute(of_attributes, 4), abs=1e-12)
    assert row["p_association"] == max(row["p_stimuli"], row["p_attributes"])
    assert [each["association"] for each in words[:11]] == pytest.approx(np.mean(scores, axis=0), rel=1e-12)
    assert row["difference"] == pytest.approx(np.mean(scores, axis=0)[:5].mean() - np.mean(scores, axis=0)[5:].mean())
    by_length = [[w["effect_without"] for w in found["words"] if w["segment_length"] == each] for each in LENGTHS]
    assert [word["effect_without"] for word in words] == pytest.approx(np.mean(by_length, axis=0), rel=1e-9)
    for name in ("effect_random", "effect_centered", "difference_standardized"):
        assert row[name] == pytest.approx(np.mean([found["row"][length][name] for length in LENGTHS]), rel=1e-12)
    assert [row[name] for name in ("p_draws", "standard_error", "tau2", "draws_settled")] == [None] * 4
    assert (row["n_x"], row["contexts_min"], row["sample_mode"], row["draws"]) == (5, 7, "fixed", "with-replacement")
    assert [each["segment_length"] for each in found["estimates"]] == ["mean", *LENGTHS, ">75"]


@pytest.mark.parametrize("modes", [["fixed"], ["fixed", "random"]])
def test_of_one_fixed_length_the_primary_estimate_is_that_of_the_length(modes: list[str]) -> None:
    settings = replace(SETTINGS, sample_modes=modes)
    found = measure({length: VECTORS[length] for length in ("9", ">75")}, settings)
    of_draws = ("standard_error", "draws_low", "draws_high", "p_draws", "log_p_draws", "tau2", "q", "i2")
    of_draws += ("standard_error_random", "p_draws_random", "draws_settled", "segment_length")
    slopes = [name for name in found["row"]["9"] if "slope" in name]
    assert is_same(found["row"]["mean"], found["row"]["9"], *of_draws, *slopes)
    only_longer = measure({">75": VECTORS[">75"]}, settings)["row"]
    assert only_longer["mean"]["effect_size"] == only_longer[">75"]["effect_size"]


def test_the_primary_estimate_has_the_words_that_all_fixed_lengths_have() -> None:
    """A word without contexts at one length is lost; what >75 lacks does not matter."""
    fewer = {length: dict(of_length) for length, of_length in VECTORS.items()}
    del fewer["25"]["x1"], fewer["75"]["a0"], fewer[">75"]["y0"]
    found = measure(fewer)["row"]
    kept = {
        length: {w: v for w, v in of_length.items() if w not in ("x1", "a0")} for length, of_length in VECTORS.items()
    }
    expected = measure(kept)["row"]["mean"]
    row = found["mean"]
    # the mean and spread by which vectors are scaled are those of all words of a length
    scaled = [f"{what}_{scale}" for what in ("effect", "difference") for scale in ("centered", "standardized")]
    assert is_same(row, expected, "lost", *scaled)
    assert [(loss["word"], loss["detail"]) for loss in row["lost"]] == [("x1", "no contexts"), ("a0", "no contexts")]
    assert [found[length]["n_x"] for length in ("9", "25", "mean")] == [5, 4, 4]
    one_left = {length: dict(of_length) for length, of_length in VECTORS.items()}
    for word in ("x1", "x2", "x3", "x4"):
        del one_left["25"][word]
    small = measure(one_left)["row"]["mean"]
    assert (small["effect_size"], small["n_x"]) == (None, 1)
    assert small["lost"][-1]["detail"] == "has 1 of 5 stimuli left, and a target set needs 2"


def test_a_length_at_which_all_words_are_the_same_leaves_no_primary_estimate() -> None:
    same = {word: (ids, np.ones_like(array)) for word, (ids, array) in VECTORS["25"].items()}
    found = measure({**VECTORS, "25": same})["row"]
    assert found["mean"]["effect_size"] is None
    assert found["mean"]["lost"][-1]["detail"] == "At 25 words, all words have the same association."
    assert found["9"]["effect_size"] is not None


def test_copies_have_effects_only() -> None:
    row = measure(settings=replace(SETTINGS, effects_only=True))["row"]
    full = measure()["row"]
    assert {length: row[length]["effect_size"] for length in row} == {
        length: full[length]["effect_size"] for length in full
    }
    assert row["mean"]["p_stimuli"] is None
