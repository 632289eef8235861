"""Raw differences, and effects of centered and standardized vectors: by definition, and with a rogue dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from prasanga.associations import CeatSettings, TestSettings, effect_size, measure_ceat
from prasanga.associations.effects import measure_weat
from prasanga.associations.vectors import center, compute_moments, standardize

Vectors = dict[str, npt.NDArray[np.float64]]

TEST = TestSettings(n_permutations=50, n_resamples=0, n_shuffles=0)
SIZES = {"x": 12, "y": 12, "a": 12, "b": 12}
SETS = {side: [f"{side}{i}" for i in range(n)] for side, n in SIZES.items()}
CATEGORIES = {
    "C1": {
        "title": "test",
        "targets": [{"name": side, "stimuli": SETS[side]} for side in "xy"],
        "attributes": [{"name": side, "stimuli": SETS[side]} for side in "ab"],
    }
}


def contexts(rogue: float = 0.0, n: int = 40, d: int = 60) -> Vectors:
    """Vectors of contexts, X near A and Y near B in all dimensions; one more is noise around zero of this sd."""
    rng = np.random.default_rng(3)
    found = {}
    for side, words in SETS.items():
        for word in words:
            vectors = (
                (0.15 if side in "xa" else -0.15) + 0.5 * rng.normal(size=d + 1) + 0.65 * rng.normal(size=(n, d + 1))
            )
            vectors[:, -1] = rogue * rng.normal(size=n)
            found[word] = vectors
    return found


def of_ceat(vectors: Vectors) -> dict[str, Any]:
    settings = CeatSettings(n_samples=400, sample_modes=["random"], test=TEST)
    given = {word: ([f"{word}-{i}" for i in range(len(of))], of) for word, of in vectors.items()}
    return dict(measure_ceat(CATEGORIES, {"9": given}, model="m", settings=settings)[0].to_pylist()[1])


def of_weat(vectors: Vectors) -> dict[str, Any]:
    first = {word: of[0] for word, of in vectors.items()}
    return dict(measure_weat(CATEGORIES, first, {}, name="v", settings=TEST, seed=1)[0].to_pylist()[0])


def test_moments_are_those_of_all_rows_at_a_time() -> None:
    rng = np.random.default_rng(0)
    arrays = [1000 + rng.normal(size=(n, 5)).astype(dtype) * 3 for n, dtype in ((1, "f4"), (7, "f8"), (50, "f4"))]
    arrays.append(np.full((1, 5), 990.0))
    stacked = np.concatenate(arrays).astype(np.float64)
    found = compute_moments(iter(arrays))
    np.testing.assert_allclose(found.mean, stacked.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.sd, stacked.std(axis=0), rtol=1e-9)
    np.testing.assert_allclose(standardize(stacked, found).std(axis=0), 1)
    constant = np.column_stack([stacked, np.ones(len(stacked))])
    np.testing.assert_array_equal(standardize(constant, compute_moments([constant]))[:, -1], 0)


def test_a_rogue_dimension_cuts_the_effect_and_standardizing_restores_it() -> None:
    without, with_it = of_ceat(contexts()), of_ceat(contexts(rogue=30.0))
    assert without["effect_size"] == pytest.approx(1.37, abs=0.01)
    assert with_it["effect_size"] == pytest.approx(0.26, abs=0.01)
    # its mean is zero, so that removing the mean changes nothing
    assert with_it["effect_centered"] == pytest.approx(with_it["effect_size"], abs=0.02)
    assert with_it["effect_standardized"] == pytest.approx(without["effect_size"], abs=0.06)
    assert without["effect_standardized"] == pytest.approx(without["effect_size"], abs=0.01)
    assert with_it["difference"] < 0.25 * without["difference"]


def test_columns_of_static_vectors_by_their_definition() -> None:
    vectors = {word: of[0] for word, of in contexts().items()}
    stacked = np.array(list(vectors.values()))
    units = stacked / np.linalg.norm(stacked, axis=1, keepdims=True)
    x, y, a, b = (units[i : i + 12] for i in (0, 12, 24, 36))
    found = of_weat(contexts())
    difference = (x @ a.T).mean() - (x @ b.T).mean() - (y @ a.T).mean() + (y @ b.T).mean()
    assert found["difference"] == pytest.approx(difference)
    moments = compute_moments([stacked])
    for scale, change in (("centered", center), ("standardized", standardize)):
        sets = [change(stacked, moments)[i : i + 12] for i in (0, 12, 24, 36)]
        assert found[f"effect_{scale}"] == pytest.approx(effect_size(*sets))
    assert found["difference_adjusted"] is None  # until tables are gathered


def test_a_vector_that_is_the_mean_has_no_number() -> None:
    vectors = contexts(n=1)
    vectors["x0"] = np.mean([of for word, of in vectors.items() if word != "x0"], axis=0)
    found = of_weat(vectors)
    assert found["effect_size"] is not None
    assert found["effect_centered"] is None
