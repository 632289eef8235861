"""The cosine to float32, on segments that are chosen evenly and always the same."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from prasanga.embeddings.precision import (
    choose,
    compare_vectors,
    cosines,
    not_compared,
)


def test_choice_is_even_from_the_shortest_to_the_longest() -> None:
    texts = ["x" * length for length in range(1, 101)]
    chosen = [len(texts[place]) for place in choose(texts, 10)]
    assert chosen == [1, 12, 23, 34, 45, 56, 67, 78, 89, 100]


def test_choice_does_not_depend_on_the_order() -> None:
    texts = [letter * length for length in range(1, 40) for letter in "abc"]
    shuffled = random.Random(3).sample(texts, len(texts))
    assert [texts[place] for place in choose(texts, 64)] == [shuffled[place] for place in choose(shuffled, 64)]
    assert len(set(choose(texts, 64))) == 64


def test_choice_of_few() -> None:
    assert choose([], 64) == []
    assert choose(["bb", "a", "ba"], 64) == [1, 2, 0]
    assert choose(["bb", "a", "ba"], 2) == [1, 0]
    assert choose(["bb", "a", "ba"], 1) == [1]
    assert choose(["bb", "a"], 0) == []


def test_cosines_and_vectors_without_a_direction() -> None:
    one = np.array([[3, 4], [1, 0], [1, 1], [0, 0], [0, 0], [np.inf, 1], [1e-30, 0], [2, 2]], dtype=np.float32)
    other = np.array([[6, 8], [0, 2], [-2, -2], [0, 0], [1, 0], [np.inf, 1], [1e-30, 0], [1, 0]], dtype=np.float32)
    expected = [1.0, 0.0, -1.0, 1.0, 0.0, 0.0, 1.0, 0.5**0.5]
    np.testing.assert_allclose(cosines(one, other), expected, atol=1e-12)
    assert cosines(one, other).max() <= 1.0


def test_the_cosines_are_those_of_row_and_row() -> None:
    rng = np.random.default_rng(5)
    exact = rng.normal(size=(5, 16)).astype(np.float32)
    coarse = (exact + rng.normal(scale=0.02, size=exact.shape)).astype(np.float32)
    report = compare_vectors(coarse, exact, stored_dtype="float32")
    expected = [
        float(a @ b / np.sqrt((a @ a) * (b @ b)))
        for a, b in zip(coarse.astype(float), exact.astype(float), strict=True)
    ]
    assert report["compared"] == 5
    assert report["cosine_mean"] == pytest.approx(np.mean(expected), abs=1e-7)
    assert report["cosine_min"] == pytest.approx(min(expected), abs=1e-7)
    assert report["cosine_min"] is not None
    assert 0.99 < report["cosine_min"] < 0.9999
    assert report["reason"] is None


def test_what_float16_does_is_told_apart() -> None:
    vector = np.array([[1.4, 1.0]], dtype=np.float32) * 2.0**-24  # as small as float16 goes: there it is (1, 1)
    stored = compare_vectors(vector, vector, stored_dtype="float16")
    assert stored["cosine_mean"] == stored["cosine_min"] == stored["float16_cosine_min"]
    assert stored["cosine_min"] == pytest.approx(2.4 / (2 * 2.96) ** 0.5, abs=1e-7)
    full = compare_vectors(vector, vector, stored_dtype="float32")
    assert (full["cosine_mean"], full["cosine_min"]) == (1.0, 1.0)
    assert full["float16_cosine_min"] == stored["float16_cosine_min"]


def test_numbers_beyond_float16_are_said() -> None:
    vectors = np.array([[1e5, 1.0], [1.0, 1.0]], dtype=np.float32)
    report = compare_vectors(vectors, vectors)
    assert (report["cosine_mean"], report["cosine_min"]) == (0.5, 0.0)
    assert report["reason"] is not None
    assert report["reason"].startswith("1 of 2 vectors have numbers beyond the range of float16")
    assert compare_vectors(vectors, vectors, stored_dtype="float32")["reason"] is None


def test_nothing_to_compare() -> None:
    none = np.empty((0, 4), dtype=np.float32)
    assert compare_vectors(none, none) == not_compared("there are no segments")
    assert not_compared("no memory") == {
        "compared": 0,
        "cosine_mean": None,
        "cosine_min": None,
        "float16_cosine_min": None,
        "reason": "no memory",
    }


def test_the_report_is_plain_json() -> None:
    vectors = np.array([[0.1, 0.7], [0.0, 0.0]], dtype=np.float32)
    report = compare_vectors(vectors, vectors[::-1].copy())
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert (report["cosine_mean"], report["cosine_min"]) == (0.0, 0.0)
