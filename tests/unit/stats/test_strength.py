"""The strength that would have been found: the fast rule against one study at a time, error rates, and power."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, stdtrit

from prasanga.associations.comparisons import why_not_found
from prasanga.associations.strength import CosineStudies, Roles, Space, _Direction, _find_shift
from prasanga.stats.crossed import CrossedScores, contributions, leave_one_out
from prasanga.stats.intervals import BesideTwins, compare_with_twins, interval, omit_units
from prasanga.stats.permutation import Units, holm, permutation_test_of_scores
from prasanga.stats.strength import Rule, estimate_shift, find_level, find_scatter, measure_strength

DIMENSIONS = 30


def draw_words(n: int, rng: np.random.Generator, away: float = 1.0) -> np.ndarray[Any, Any]:
    """Return (n, d) unit vectors with a direction in common, as the words of a model have one."""
    vectors = rng.normal(size=(n, DIMENSIONS)) + away
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def assign_roles(targets: Units, attributes: Units, n_others: int = 0) -> Roles:
    """Return the roles of words that are listed in the order X, Y, A, B, others."""
    n_t, n_a = (len(units.first) + len(units.second) for units in (targets, attributes))
    numbers = np.arange(n_t + n_a + n_others)
    spelled = np.array([number % 7 + 3.0 for number in numbers])
    return Roles(numbers[:n_t], numbers[n_t : n_t + n_a], targets, attributes, numbers[n_t:], spelled)


# --------------------
# The oracle: one study at a time, from moved vectors, by the functions that a study calls.


def relabel(units: Units, is_first: npt.NDArray[np.bool_]) -> tuple[list[int], Units]:
    """Return the words in the order of their new sets, and the units of these sets."""
    numbers = [*units.first, *(units.second if units.matched else np.array(units.second) + units.sizes[0])]
    sets = [[word for word in range(len(numbers)) if is_first[word] == wanted] for wanted in (True, False)]
    found = []
    for words in sets:
        order = sorted({numbers[word] for word in words})
        found.append(tuple(order.index(numbers[word]) for word in words))
    return [*sets[0], *sets[1]], Units(found[0], found[1], units.matched)


def find_one(
    spaces: list[Any], twins: list[list[Any]], roles: Roles, rule: Rule, is_x: npt.NDArray[np.bool_], k: float
) -> bool:
    """Return whether one study finds a shift of `k`, from the (n, d) unit vectors of its words in each space."""
    n_t, n_a = roles.targets.size, roles.attributes.size
    n_first = len(roles.attribute_units.first)
    order, targets = relabel(roles.target_units, is_x)
    units, n_x = (targets, roles.attribute_units), int(is_x.sum())

    def cross(vectors: list[Any], c: float) -> CrossedScores:
        values = []
        for each in vectors:
            attributes = each[n_t : n_t + n_a]
            g = attributes[:n_first].mean(axis=0) - attributes[n_first:].mean(axis=0)
            moved = each[order] + c * np.where(np.arange(n_t) < n_x, 1, -1)[:, None] * g / np.linalg.norm(g)
            values.append(moved / np.linalg.norm(moved, axis=1, keepdims=True) @ attributes.T)
        return CrossedScores.of_words(np.array(values), (n_x, n_t - n_x, n_first, n_a - n_first))

    def subtract(c: float) -> float:
        x, y = cross(spaces, c).split()[0]
        return float(x.mean() - y.mean())

    x, y = cross(spaces, 0).split()[0]
    spread = math.sqrt((x.var() * x.size + y.var() * y.size) / (n_t - 2))
    wanted = subtract(0) + k * spread
    crossed = cross(spaces, brentq(lambda c: subtract(c) - wanted, 0, 9, xtol=1e-14) if k else 0)
    scores = (crossed.word_scores(), contributions(crossed))
    how: dict[str, Any] = {"alternative": rule.alternative, "statistic": rule.statistic, "noise": 1e-13}
    tests = [
        side.test(of_words, n_resamples=10, rng=np.random.default_rng(), **how)
        for side, of_words in zip(units, scores, strict=True)
    ]
    sampled = units if rule.resample_attributes else units[:1]
    effect, omitted = crossed.effect(rule.std), omit_units(crossed, crossed, sampled, rule.std)
    ends = interval(effect, sampled, omitted)
    of_twins = [cross(twin, 0).effect(rule.std) for twin in twins]
    p_twins = compare_with_twins([BesideTwins(effect, ends.low, ends.high, of_twins)])[0]["p_twins"]
    row = {"p_association_holm": max(test.p_value for test in tests) * 0.05 / rule.level, "p_twins": p_twins}
    return not why_not_found({**row, "ci_low": ends.low, "ci_high": ends.high})


WORDS = Units.from_sizes
PAIRS = Units(tuple(range(8)), tuple(range(8)), True)
DESIGNS = {
    "equal": (WORDS(8, 8), WORDS(8, 8), Rule(0.05), 1, 3),
    "corrected": (WORDS(8, 8), WORDS(8, 8), Rule(0.01), 1, 0),
    "unequal": (WORDS(8, 9), WORDS(9, 8), Rule(0.05), 1, 0),
    "difference": (WORDS(8, 9), WORDS(9, 8), Rule(0.05, statistic="difference", std="union_ddof0"), 1, 0),
    "one-sided": (WORDS(8, 9), WORDS(8, 8), Rule(0.05, alternative="greater", resample_attributes=False), 1, 0),
    "pooled": (WORDS(8, 8), WORDS(8, 8), Rule(0.05, std="pooled"), 1, 3),
    "lengths": (WORDS(8, 8), WORDS(8, 8), Rule(0.05), 3, 2),
    "matched targets": (PAIRS, WORDS(8, 8), Rule(0.05), 1, 3),
    "matched attributes": (WORDS(8, 8), PAIRS, Rule(0.05), 1, 0),
    "clusters": (
        Units((0, 0, 1, 2, 3, 4, 5, 6, 7), (0, 1, 1, 1, 2, 3, 4, 5, 6, 7)),
        Units((0, 1, 2, 3, 3, 4, 5, 6, 7), tuple(range(8))),
        Rule(0.05),
        1,
        0,
    ),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_many_studies_at_a_time_find_what_one_at_a_time_finds(name: str) -> None:
    """Labels as drawn; the oracle moves vectors, counts partitions and leaves out words one by one."""
    targets, attributes, rule, n_spaces, n_twins = DESIGNS[name]
    rng = np.random.default_rng(11)
    roles = assign_roles(targets, attributes)
    n = roles.targets.size + roles.attributes.size
    spaces = [draw_words(n, rng) for _ in range(n_spaces)]
    twins = [[draw_words(n, rng) for _ in range(n_spaces)] for _ in range(n_twins)]
    products = [[Space(v @ v.T) for v in each] for each in (spaces, *twins)]
    shifts = (0.5, 1.5, 2.5)
    studies = CosineStudies(products[0], products[1:], roles, rule, np.random.default_rng(3))
    found = studies.shift(12, shifts)
    is_x = targets.relabel(12, np.random.default_rng(3))
    wanted = [[find_one(spaces, twins, roles, rule, labels, k) for k in (0.0, *shifts)] for labels in is_x]
    np.testing.assert_array_equal(found, wanted)
    assert 0 < np.mean(wanted) < 1


# --------------------
# Sentences and contexts: the items themselves, in place of their scatter.


@pytest.mark.parametrize("n_items", [4, 6])
def test_templates_are_left_out_and_items_scatter_as_if_each_item_was_moved(n_items: int) -> None:
    """SEAT: sentences of every word, of which all move; effects without each word, and without each template."""
    rng, n = np.random.default_rng(5), 8
    roles, rule = assign_roles(WORDS(n, n), WORDS(n, n)), Rule(0.05)
    words = rng.normal(size=(4 * n, 1, DIMENSIONS)) + rng.normal(size=(1, n_items, DIMENSIONS))
    items = words + 0.5 * rng.normal(size=(4 * n, n_items, DIMENSIONS))
    items /= np.linalg.norm(items, axis=2, keepdims=True)
    own = np.repeat(np.arange(2 * n), n_items)

    def cross(targets: Any) -> CrossedScores:
        values = targets.reshape(-1, DIMENSIONS) @ items[2 * n :].reshape(-1, DIMENSIONS).T
        return CrossedScores(values[None], own, own, n, n, n, n)

    def multiply(kept: Any) -> Any:
        return (mean := items[:, kept].mean(axis=1)) @ mean.T

    without = np.array([multiply(np.arange(n_items) != left) for left in range(n_items)])
    crossed = cross(items[: 2 * n])
    space = Space(multiply(slice(None)), find_scatter(crossed, "union_ddof1"), n_items, without)
    studies = CosineStudies([space], [], roles, rule, np.random.default_rng(3))
    shifts, n_studies = (1.0, 2.0, 3.0), 40
    found = studies.shift(n_studies, shifts)
    labels = roles.target_units.relabel(n_studies, np.random.default_rng(3))
    direction = _Direction.from_products(space.products, roles)
    apart = items[2 * n : 3 * n].mean(axis=(0, 1)) - items[3 * n :].mean(axis=(0, 1))
    g = apart / np.linalg.norm(apart)
    lengths = np.sqrt(np.diag(space.products)[: 2 * n])
    wanted = np.zeros_like(found)
    for column, k in enumerate((0.0, *shifts)):
        c = _find_shift([direction], labels, k, np.repeat([1 / n, -1 / n], n)) if k else np.zeros(labels.shape)
        for study, is_x in enumerate(labels):
            moved = items[: 2 * n] + (c[study] * lengths)[:, None, None] * g
            moved /= np.linalg.norm(moved, axis=2, keepdims=True)
            order = np.argsort(~is_x, kind="stable")
            wanted[study, column] = find_in_items(moved[order], items[2 * n :], cross(moved[order]))
    assert np.mean(found != wanted) <= 0.05
    assert 0.1 < np.mean(wanted) < 0.9


def place(effect: float, bound: float) -> float:
    return math.atanh(effect / bound)


def jackknife(samples: list[list[float]]) -> float:
    return sum((len(z) - 1) / len(z) * float(np.square(np.array(z) - np.mean(z)).sum()) for z in samples)


def find_in_items(targets: Any, attributes: Any, crossed: CrossedScores) -> bool:
    """Return whether both tests, the interval over words and that over words and templates find an association."""
    sides, n = crossed.split(), len(targets) // 2
    p = max(permutation_test_of_scores(*scores).p_value for scores in sides)
    bound = 2 * math.sqrt((crossed.targets.size - 1) / crossed.targets.size)
    z = [place(d, bound) for d in leave_one_out(crossed)]
    words = jackknife([z[:n], z[n : 2 * n], z[2 * n : 3 * n], z[3 * n :]])
    effects = []
    for left in range(targets.shape[1]):
        kept = np.arange(targets.shape[1]) != left
        own = np.repeat(np.arange(2 * n), kept.sum())
        values = targets[:, kept].reshape(-1, DIMENSIONS) @ attributes[:, kept].reshape(-1, DIMENSIONS).T
        effects.append(place(CrossedScores(values[None], own, own, n, n, n, n).effect(), bound))
    templates = jackknife([effects])
    freedom = (words + templates) ** 2 / (words**2 / (2 * n - 2) + templates**2 / (len(effects) - 1))
    middle = abs(place(crossed.effect(), bound))
    inside = middle > stdtrit(2 * n - 2, 0.975) * math.sqrt(words)
    return bool(p <= 0.05 and inside and middle > stdtrit(freedom, 0.975) * math.sqrt(words + templates))


# --------------------
# What is reported.


def test_the_shift_of_80_percent_lies_where_the_shares_found_say() -> None:
    rng, shifts = np.random.default_rng(1), [0.0, 0.5, 1.0, 1.5]
    draws = rng.random((4000, 1))
    found = draws < ndtr(np.array([-2.0, -0.5, 1.0, 2.5]))  # a line on the scale of the normal distribution
    low, middle, high = estimate_shift(shifts, found, rng)
    assert middle == pytest.approx(0.5 + (0.8416 + 0.5) / 3, abs=0.02)
    assert low < middle < high < low + 0.1
    assert np.isinf(estimate_shift(shifts[:2], found[:, :2], rng)).all()
    wavy = rng.random((1000, 3)) < [0.1, 0.9, 0.75]
    assert np.isfinite(estimate_shift(shifts[:3], wavy, rng)[1])  # 82.5% from the second on


@pytest.mark.parametrize("others", [[], [0.9], [0.001, 0.9], [0.001, 0.02, 0.03, 0.6], [0.0001, 0.0001, 0.0001]])
def test_the_level_is_the_largest_p_that_holm_leaves_significant(others: list[float]) -> None:
    level = find_level(others)
    assert holm([*others, level])[-1] <= 0.05 + 1e-12
    assert holm([*others, level * 1.01])[-1] > 0.05


def test_a_null_study_is_found_rarely_and_a_shift_of_80_percent_in_80_percent() -> None:
    """Words of one population, random copies; further studies at the shift that is said to be found in 80%."""
    rng, n = np.random.default_rng(8), 30
    roles, rule = assign_roles(WORDS(n, n), WORDS(n, n), 40), Rule(0.05)
    spaces = [[Space((v := draw_words(4 * n + 40, rng)) @ v.T)] for _ in range(9)]
    studies = CosineStudies(spaces[0], spaces[1:], roles, rule, rng)
    said = measure_strength(studies, shifts=(0.5, 1.0, 1.5, 2.0, 3.0), repetitions=300)
    assert said["shares_found"][0] <= 0.07
    assert max(said[f"false_{null}"] for null in ("scatter", "attributes", "spelling")) <= 0.07
    assert "false_templates" not in said
    studies = CosineStudies(spaces[0], spaces[1:], roles, rule, rng)
    rate = np.concatenate([studies.shift(50, (said["shift_80"],))[:, 1] for _ in range(12)]).mean()
    assert 0.75 <= rate <= 0.85
