"""WEAT: values by hand and by full enumeration, and the tables of a study."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from prasanga.associations.effects import weat

# s(w, A, B) is the cosine with the first axis minus that with the second: 1, -0.2 for X; -1, 0.2 for Y.
X, Y = [[1.0, 0.0], [3.0, 4.0]], [[0.0, 2.0], [4.0, 3.0]]
A, B = [[5.0, 0.0]], [[0.0, 0.5]]


@pytest.mark.parametrize(
    ("std", "effect"),
    [("union_ddof1", 0.8 / np.sqrt(2.08 / 3)), ("union_ddof0", 0.8 / np.sqrt(0.52)), ("pooled", 0.8 / np.sqrt(0.72))],
)
def test_four_words_by_hand(std: str, effect: float) -> None:
    result = weat(X, Y, A, B, std=std)
    assert result.effect_size == pytest.approx(effect, rel=1e-12)
    np.testing.assert_allclose(result.word_scores, [1.0, -0.2, -1.0, 0.2], atol=1e-12)
    assert (result.std, result.test.exact, result.test.n_partitions) == (std, True, 6)


def full_enumeration(x: np.ndarray, y: np.ndarray, alternative: str) -> float:
    """The p of a difference of means, every partition listed."""
    scores, n = np.concatenate([x, y]), len(x)
    observed = x.mean() - y.mean()
    extreme = 0
    partitions = list(combinations(range(len(scores)), n))
    for chosen in partitions:
        rest = [i for i in range(len(scores)) if i not in chosen]
        difference = scores[list(chosen)].mean() - scores[rest].mean()
        reach = {"two-sided": abs(difference) - abs(observed), "greater": difference - observed}
        extreme += reach.get(alternative, observed - difference) >= -1e-9
    return extreme / len(partitions)


@pytest.mark.parametrize(("n_x", "shift"), [(4, 1.5), (3, -2.0), (5, 0.0)], ids=["equal", "negative", "none"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_eight_words_against_full_enumeration(n_x: int, shift: float, alternative: str) -> None:
    rng = np.random.default_rng(n_x)
    words, a, b = rng.normal(size=(8, 6)), rng.normal(size=(3, 6)), rng.normal(size=(4, 6))
    words[:n_x] += shift * (a.mean(axis=0) - b.mean(axis=0))
    words[-1] = 2 * words[0]  # the same direction: a tie between the sets
    result = weat(words[:n_x], words[n_x:], a, b, alternative=alternative, statistic="difference")

    def cosine(u: np.ndarray, v: np.ndarray) -> float:
        return float(u @ v / np.sqrt(u @ u) / np.sqrt(v @ v))

    s = np.array([np.mean([cosine(w, u) for u in a]) - np.mean([cosine(w, v) for v in b]) for w in words])
    assert result.effect_size == pytest.approx((s[:n_x].mean() - s[n_x:].mean()) / s.std(ddof=1), rel=1e-12)
    assert result.test.p_value == pytest.approx(full_enumeration(s[:n_x], s[n_x:], alternative), abs=1e-12)
    c = np.array([np.mean([cosine(w, u) for u in words[:n_x]]) - np.mean([cosine(w, v) for v in words[n_x:]])
                  for w in (*a, *b)])  # fmt: skip
    assert result.test_attributes.p_value == pytest.approx(full_enumeration(c[:3], c[3:], alternative), abs=1e-12)
    assert result.p_association == max(result.test.p_value, result.test_attributes.p_value)
