"""Components of variance of CEAT: by hand, against loops over all pairs of draws, and where they are known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from prasanga.stats.crossed import CrossedScores, VarianceComponents, variance_components

Array = npt.NDArray[np.float64]


def cosines_of(values: Array, n_x: int, n_a: int) -> CrossedScores:
    _, n, m = values.shape
    return CrossedScores(values, np.arange(n), np.arange(m), n_x, n - n_x, n_a, m - n_a)


def signs(x: list[float]) -> Array:
    """A draw of two words a set; the first set's are associated by x with A, each attribute word alike."""
    return np.array([[of / 2, of / 2, -of / 2, -of / 2] for of in [*x, 0.0, 0.0]])


def test_cases_worked_by_hand() -> None:
    """The two words of X have s = .4 and -.4, those of Y 0. The variance of .4 and -.4 is .32, and the mean of 2's .16.

    Where that is so in both draws, it is theirs. Where they change places, the mean product between draws is -.16, so
    that the words' part is -.16, and the contexts have twice as much.
    """
    same = cosines_of(np.array([signs([0.4, -0.4])] * 2), 2, 2)
    assert variance_components(same) == pytest.approx((0.16, 0, 0, 0), abs=1e-15)
    turned = cosines_of(np.array([signs([0.4, -0.4]), signs([-0.4, 0.4])]), 2, 2)
    assert variance_components(turned) == pytest.approx((-0.16, 0, 0.32, 0), abs=1e-15)
    turned_round = CrossedScores(turned.values.transpose(0, 2, 1), turned.attributes, turned.targets, 2, 2, 2, 2)
    assert variance_components(turned_round) == pytest.approx((0, -0.16, 0.32, 0), abs=1e-15)


def by_loops(values: Array, n_x: int, n_a: int) -> tuple[float, float, float, float]:
    """The definition: a product at a time."""
    n_draws, n, m = values.shape
    sides = [list(range(n_x)), list(range(n_x, n))], [list(range(n_a)), list(range(n_a, m))]

    def product(u: Array, v: Array) -> float:
        """Of two lists of numbers, as a covariance of means."""
        size = len(u)
        return sum((u[i] - np.mean(u)) * (v[i] - np.mean(v)) for i in range(size)) / (size - 1) / size

    def parts(r: int, q: int) -> tuple[float, float, float]:
        one, two = values[r], values[q]
        words = others = rest = 0.0
        for side in sides[0]:
            scores = [np.array([v[w, sides[1][0]].mean() - v[w, sides[1][1]].mean() for w in side]) for v in (one, two)]
            words += product(*scores)
        for side in sides[1]:
            scores = [np.array([v[sides[0][0], a].mean() - v[sides[0][1], a].mean() for a in side]) for v in (one, two)]
            others += product(*scores)
        for rows in sides[0]:
            for columns in sides[1]:
                blocks = [v[np.ix_(rows, columns)] for v in (one, two)]
                total = 0.0
                for i in range(len(rows)):
                    for j in range(len(columns)):
                        left = [b[i, j] - b[i].mean() - b[:, j].mean() + b.mean() for b in blocks]
                        total += left[0] * left[1]
                rest += total / ((len(rows) - 1) * (len(columns) - 1) * len(rows) * len(columns))
        return words, others, rest

    within = np.mean([parts(r, r) for r in range(n_draws)], axis=0)
    between = np.mean([parts(r, q) for r in range(n_draws) for q in range(n_draws) if r != q], axis=0)
    of_words, of_others = between[0] - between[2], between[1] - between[2]
    return of_words, of_others, within[0] + within[1] - 2 * within[2] - of_words - of_others, within[2]


@pytest.mark.parametrize(("n_draws", "sizes"), [(2, (2, 2, 2, 2)), (5, (3, 4, 2, 5)), (9, (4, 2, 3, 3))])
def test_it_is_the_sum_over_all_pairs_of_draws(n_draws: int, sizes: tuple[int, int, int, int]) -> None:
    rng = np.random.default_rng(n_draws)
    values = rng.uniform(-1, 1, size=(n_draws, sum(sizes[:2]), sum(sizes[2:])))
    found = variance_components(cosines_of(values, sizes[0], sizes[2]))
    assert found == pytest.approx(by_loops(values, sizes[0], sizes[2]), rel=1e-9)


DEVIATIONS = {"word": 0.05, "context": 0.08, "attribute": 0.03, "of_attribute": 0.06, "pair": 0.04, "rest": 0.07}


def simulated(rng: np.random.Generator, sizes: tuple[int, int, int, int], n_draws: int) -> CrossedScores:
    """A study in which each part has a known deviation; of words also a part that both sets of attributes share."""
    n_x, n_y, n_a, n_b = sizes
    n, m, sd = n_x + n_y, n_a + n_b, DEVIATIONS
    side = np.repeat([0.5, -0.5], [n_a, n_b])  # a word's part counts with one sign for A, with the other for B
    turn = np.repeat([0.5, -0.5], [n_x, n_y])[:, None]
    words = rng.normal(0, sd["word"], n) + rng.normal(0, sd["context"], (n_draws, n))
    others = rng.normal(0, sd["attribute"], m) + rng.normal(0, sd["of_attribute"], (n_draws, m))
    values = words[:, :, None] * side + others[:, None, :] * turn + rng.normal(0, 0.1, (n, 1))
    values += rng.normal(0, sd["pair"], (n, m)) + rng.normal(0, sd["rest"], (n_draws, n, m))
    return cosines_of(values, n_x, n_a)


@pytest.mark.parametrize(("sizes", "n_draws"), [((5, 7, 6, 4), 3), ((8, 8, 8, 8), 6)])
def test_the_estimates_are_right_on_average(sizes: tuple[int, int, int, int], n_draws: int) -> None:
    rng = np.random.default_rng(11)
    found = np.array([variance_components(simulated(rng, sizes, n_draws)) for _ in range(600)])
    targets, attributes = 1 / sizes[0] + 1 / sizes[1], 1 / sizes[2] + 1 / sizes[3]
    v = {name: sd**2 for name, sd in DEVIATIONS.items()}
    truth = VarianceComponents(
        v["word"] * targets,
        v["attribute"] * attributes,
        v["context"] * targets + v["of_attribute"] * attributes,
        (v["pair"] + v["rest"]) * targets * attributes,
    )
    errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - truth) < 3.5 * errors).all(), (found.mean(axis=0), truth, errors)
