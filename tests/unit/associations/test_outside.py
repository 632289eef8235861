"""An interval that does not contain its effect says why: in the note, in a notebook's line, and in tables."""

from typing import Any

import numpy as np
import pytest

from prasanga.associations import (
    TestSettings,
    ceat,
    seat,
    weat,
)
from prasanga.associations.estimates import Estimand, measure_cosines
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.intervals import INTERVALS, draw_resampling, interval

N = 10
SIDES = {side: [f"{side}{i}" for i in range(N)] for side in "xyab"}
SETTINGS = {method: TestSettings(interval=method, n_resamples=300, n_shuffles=20) for method in INTERVALS}
OUTSIDE = (
    "the effect is outside its interval, because the interval is for the population of words and the effect is for this"
    " sample, and the two differ near the largest possible effect (1.95 here, 2.00 in the population): use the sign and"
    " leave-one-out, not the ends of the interval"
)


def scored(apart: float, n: int = N, seed: int = 0) -> CrossedScores:
    """Words of X and Y whose scores are `apart` standard deviations apart."""
    scores = 0.02 * np.random.default_rng(seed).standard_normal(2 * n)
    scores[:n] += 0.02 * apart
    return CrossedScores(scores[None, :, None] * [0.5, -0.5], np.arange(2 * n), np.arange(2), n, n, 1, 1)


def columns(cosines: CrossedScores, settings: TestSettings, effect: float | None = None) -> dict[str, Any]:
    words = ([f"x{i}" for i in range(cosines.n_x)], [f"y{i}" for i in range(cosines.n_y)], ["a"], ["b"])
    without = TestSettings(**{**settings.__dict__, "resample_attributes": False})
    return measure_cosines(cosines, Estimand("C1", words, without, 1), effect=effect).columns


def clear(seed: int = 0, spread: float = 0.05) -> dict[str, np.ndarray]:
    """Contexts of words whose sets hardly overlap: effects near the largest possible one."""
    rng = np.random.default_rng(seed)
    made = {}
    for side, words in SIDES.items():
        for word in words:
            center = np.array([1.0, 0.0] if side in "xa" else [0.0, 1.0])
            word_center = center + spread * rng.standard_normal(2)
            made[word] = word_center + 0.02 * rng.standard_normal((12, 2))
    return made


@pytest.mark.parametrize("method", INTERVALS)
@pytest.mark.parametrize("seed", range(4))
def test_the_note_says_it_exactly_where_the_effect_is_outside(method: str, seed: int) -> None:
    said = []
    for apart in (0.0, 1.5, 4.0, 12.0, 60.0):
        found = columns(scored(apart, seed=seed), SETTINGS[method])
        is_outside = not found["ci_low"] <= found["effect_size"] <= found["ci_high"]
        assert found["interval_note"] == (OUTSIDE if is_outside else None)
        said.append(is_outside)
    assert said[0] is said[1] is False
    assert said[-1] is True


def test_a_pooled_effect_has_no_largest_value() -> None:
    cosines = scored(2.0)
    words = (SIDES["x"], SIDES["y"], ["a"], ["b"])
    resampling = draw_resampling(words, 1, n_resamples=50, seed=1, category="", resample_attributes=False)
    narrow = np.full(50, cosines.effect("pooled"))
    found = interval(cosines, resampling, narrow, std="pooled")
    assert found.low is not None
    assert found.low > cosines.effect("pooled")
    assert found.note == OUTSIDE.replace(" near the largest possible effect (1.95 here, 2.00 in the population)", "")


def results() -> list[Any]:
    vectors = clear()
    sets = [[vectors[word] for word in words] for words in SIDES.values()]
    targets, attributes = (SIDES["x"], SIDES["y"]), (SIDES["a"], SIDES["b"])
    return [
        weat(*([array[0] for array in words] for words in sets)),
        seat(*sets),
        ceat(vectors, targets, attributes, n_samples=30, rng=1),
    ]


@pytest.mark.parametrize("number", range(3))
def test_results_of_a_notebook_say_it(number: int) -> None:
    found = results()[number]
    name, effect, ends = found.method, found.effect_size, found.interval
    assert effect < ends.low < ends.high
    assert ends.note.startswith("the effect is outside its interval")
    assert found.to_frame()["note"].to_list() == [ends.note]
    said = f"{name} {effect:+.2f} (95 % {ends.low:+.2f} to {ends.high:+.2f}; {ends.note}), p_association"
    assert repr(found).startswith(said)
    lines = found.plot().axes[0].get_title().split("\n")
    assert " ".join(lines) == repr(found)
    assert max(map(len, lines)) <= 90
