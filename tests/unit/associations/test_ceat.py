"""CEAT against the authors' program, against a slow program written from the definition, and where it must refuse."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from prasanga.associations import ceat, combine, effect_size
from prasanga.base.errors import InputError
from prasanga.stats.permutation import permutation_test_of_scores

X, Y, A, B = ["x1", "x2", "x3"], ["y1", "y2", "y3", "y4"], ["a1", "a2", "a1"], ["b1", "b2", "b3", "b4", "b5"]
WORDS = [*X, *Y, *A, *B]


def random_embeddings(seed: int, d: int = 11, dtype: type = np.float64) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        word: (rng.standard_normal((int(rng.integers(3, 9)), d)) * rng.uniform(0.1, 9)).astype(dtype)
        for word in dict.fromkeys(WORDS)
    }


def random_draws(embeddings: dict[str, np.ndarray], n_samples: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(len(embeddings[word]), size=n_samples) for word in WORDS], axis=1)


def slow_ceat(embeddings: dict[str, np.ndarray], draws: np.ndarray) -> tuple[list[float], list[float]]:
    """Every cosine of every draw from its definition, in float64, one at a time."""

    def cos(u: np.ndarray, v: np.ndarray) -> float:
        dot = math.fsum(float(p) * float(q) for p, q in zip(u, v, strict=True))
        return dot / math.sqrt(math.fsum(float(p) ** 2 for p in u)) / math.sqrt(math.fsum(float(q) ** 2 for q in v))

    effects, variances = [], []
    for row in draws:
        drawn = [embeddings[word][i] for word, i in zip(WORDS, row, strict=True)]
        x, y, a, b = drawn[:3], drawn[3:7], drawn[7:10], drawn[10:]
        s = [math.fsum(cos(w, v) for v in a) / 3 - math.fsum(cos(w, v) for v in b) / 5 for w in (*x, *y)]
        mean = math.fsum(s) / 7
        variance = math.fsum((value - mean) ** 2 for value in s) / 6
        effects.append((math.fsum(s[:3]) / 3 - math.fsum(s[3:]) / 4) / math.sqrt(variance))
        variances.append(variance)
    return effects, variances


@pytest.mark.parametrize("name", ["ceat_balanced", "ceat_duplicate_attribute"])
def test_reproduces_the_authors_program(shared: Path, name: str) -> None:
    golden = np.load(shared / f"reference/golden/{name}.npz")
    expected = json.loads((shared / f"reference/golden/{name}.json").read_text())
    groups = expected["groups"]
    embeddings = {key.removeprefix("emb_"): golden[key] for key in golden.files if key.startswith("emb_")}
    result = ceat(embeddings, (groups["X"], groups["Y"]), (groups["A"], groups["B"]), draws=golden["draws"])
    np.testing.assert_allclose(result.effect_sizes, golden["effect_sizes"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(result.variances, golden["variances"], rtol=1e-6)
    assert result.combined.effect == pytest.approx(expected["ces"], abs=1e-6)
    assert result.combined.log_p_value == pytest.approx(math.log(expected["p_two_sided"]), abs=1e-5)
    assert result.effect_sizes.mean() == pytest.approx(expected["mean_effect_size"], abs=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_equals_the_definition(dtype: type) -> None:
    embeddings = random_embeddings(1, dtype=dtype)
    draws = random_draws(embeddings, 40, seed=2)
    effects, variances = slow_ceat(embeddings, draws)
    result = ceat(embeddings, (X, Y), (A, B), draws=draws)
    np.testing.assert_allclose(result.effect_sizes, effects, rtol=1e-9)
    np.testing.assert_allclose(result.variances, variances, rtol=1e-9)
    assert result.combined == combine(result.effect_sizes, result.variances)


@pytest.mark.parametrize("std", ["union_ddof1", "union_ddof0", "pooled"])
def test_each_draw_is_a_weat(std: str) -> None:
    embeddings = random_embeddings(3)
    draws = random_draws(embeddings, 5, seed=4)
    result = ceat(embeddings, (X, Y), (A, B), draws=draws, std=std)
    for i, row in enumerate(draws):
        drawn = [embeddings[word][j] for word, j in zip(WORDS, row, strict=True)]
        d = effect_size(drawn[:3], drawn[3:7], drawn[7:10], drawn[10:], std=std)
        assert result.effect_sizes[i] == pytest.approx(d, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_blocks_and_groups_change_nothing(dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    embeddings = random_embeddings(5, dtype=dtype)
    draws = random_draws(embeddings, 23, seed=6)
    whole = ceat(embeddings, (X, Y), (A, B), draws=draws)
    module = sys.modules["prasanga.associations.ceat"]
    monkeypatch.setattr(module, "_BLOCK", 8 * 11 * 4)  # four draws
    monkeypatch.setattr(module, "_GROUP", 1)  # a word at a time
    parts = ceat(embeddings, (X, Y), (A, B), draws=draws)
    np.testing.assert_array_equal(parts.scores, whole.scores)


def test_threads_change_nothing() -> None:
    embeddings = random_embeddings(5)
    draws = random_draws(embeddings, 5000, seed=6)
    one, three = (ceat(embeddings, (X, Y), (A, B), draws=draws, threads=n) for n in (1, 3))
    np.testing.assert_array_equal(one.scores, three.scores)
    with pytest.raises(InputError, match="threads: 0"):
        ceat(embeddings, (X, Y), (A, B), draws=draws, threads=0)


@pytest.mark.parametrize("dtype", [">f4", ">f8", np.longdouble, np.int16])
def test_numbers_of_any_kind(dtype: object) -> None:
    embeddings = {w: np.round(100 * v).astype(np.float32) for w, v in random_embeddings(5).items()}
    draws = random_draws(embeddings, 9, seed=6)
    other = {word: v.astype(dtype) for word, v in embeddings.items()}  # type: ignore[call-overload]
    found, expected = (ceat(given, (X, Y), (A, B), draws=draws) for given in (other, embeddings))
    np.testing.assert_allclose(found.effect_sizes, expected.effect_sizes, rtol=1e-12)


def test_hedges_variance_by_hand() -> None:
    embeddings = random_embeddings(7)
    draws = random_draws(embeddings, 30, seed=8)
    result = ceat(embeddings, (X, Y), (A, B), draws=draws, variance="hedges", tau2="pm")
    np.testing.assert_allclose(result.variances, 1 / 3 + 1 / 4 + result.effect_sizes**2 / 14, rtol=1e-14)
    assert result.combined == combine(result.effect_sizes, result.variances, tau2="pm")
    # The heterogeneity is that of hedges, whatever variance the effects are combined with.
    assert result.heterogeneity == result.combined
    by_association = ceat(embeddings, (X, Y), (A, B), draws=draws, tau2="pm")
    assert by_association.heterogeneity == result.combined
    assert by_association.combined != result.combined


def test_the_tests_of_words_rest_on_all_contexts_and_on_no_draw() -> None:
    embeddings = random_embeddings(9)
    one, other = (ceat(embeddings, (X, Y), (A, B), n_samples=50, rng=seed) for seed in (1, 2))
    mean = {w: (v / np.linalg.norm(v, axis=1, keepdims=True)).mean(axis=0) for w, v in embeddings.items()}
    x, y, a, b = ([mean[word] for word in dict.fromkeys(side)] for side in (X, Y, A, B))  # a1 counts once
    words = [w @ (np.mean(a, axis=0) - np.mean(b, axis=0)) for w in (*x, *y)]
    attributes = [w @ (np.mean(x, axis=0) - np.mean(y, axis=0)) for w in (*a, *b)]
    for found, scores, n in ((one.test, words, len(X)), (one.test_attributes, attributes, len(a))):
        test = permutation_test_of_scores(scores[:n], scores[n:])
        assert (found.p_value, found.exact) == (test.p_value, True)
        assert found.statistic == pytest.approx(test.statistic, rel=1e-10)
    assert one.p_association == max(one.test.p_value, one.test_attributes.p_value) == other.p_association


def test_draws_from_a_seed_repeat_and_use_each_context_once() -> None:
    embeddings = {word: np.random.default_rng(i).standard_normal((30, 4)) for i, word in enumerate(WORDS)}
    one, same, other = (ceat(embeddings, (X, Y), (A, B), n_samples=30, rng=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.effect_sizes, same.effect_sizes)
    assert not np.array_equal(one.effect_sizes, other.effect_sizes)
    # With the attributes fixed, 30 draws of 30 contexts use each of x1's scores once, so that the mean is the same.
    for word in (*A, *B):
        embeddings[word] = embeddings[word][:1]
    means = [ceat(embeddings, (X, Y), (A, B), n_samples=30, rng=seed).scores.mean(axis=0) for seed in (1, 2)]
    np.testing.assert_allclose(means[0], means[1], rtol=1e-10)
    replaced = [
        ceat(embeddings, (X, Y), (A, B), n_samples=30, rng=seed, replacement="with-replacement").scores.mean(axis=0)
        for seed in (1, 2)
    ]
    assert np.abs(replaced[0] - replaced[1]).min() > 1e-6


def test_copies_of_one_draw_have_no_p_draws() -> None:
    embeddings = {word: vectors[:1] for word, vectors in random_embeddings(9).items()}
    found = ceat(embeddings, (X, Y), (A, B), n_samples=5000, rng=1)
    assert len(set(found.effect_sizes)) == 1
    assert found.combined.effect == pytest.approx(found.effect_sizes[0])
    numbers = (found.combined.standard_error, found.combined.p_value, found.combined.log_p_value, found.combined.ci_low)
    assert np.isnan(numbers).all()
    assert 0 < found.p_association <= 1  # which asks about words
