"""Matched sets and clusters of words in tables: tests, sizes and losses against a slow program."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from prasanga.associations import TestSettings, measure_weat

N = 9
SETTINGS = TestSettings(n_resamples=0, n_shuffles=0)
SIDES = {side: [f"{side}{i}" for i in range(N)] for side in "xyab"}
RNG = np.random.default_rng(8)
PAIRED = RNG.normal(size=(N, 5))
VECTORS = {
    word: PAIRED[int(word[1:])] + 0.3 * RNG.normal(size=5) + (0.2 if side == "x" else 0)
    for side, words in SIDES.items()
    for word in words
}


def category(matched: str = "", clusters: dict[str, dict[str, str]] | None = None) -> dict[str, Any]:
    sets = [
        {"name": side, "stimuli": words, "clusters": (clusters or {}).get(side, {})} for side, words in SIDES.items()
    ]
    layout = {"title": "C", "targets": sets[:2], "attributes": sets[2:]}
    return {"C": layout | ({"matched": matched} if matched else {})}


def measure(layout: dict[str, Any], lost: tuple[str, ...] = ()) -> dict[str, Any]:
    vectors = {word: vector for word, vector in VECTORS.items() if word not in lost}
    missing = dict.fromkeys(lost, "out of vocabulary")
    (row,) = measure_weat(layout, vectors, missing, name="v", settings=SETTINGS, seed=1)[0].to_pylist()
    return row


def scores_of(targets: str = "xy", attributes: str = "ab", kept: range | list[int] = range(N)) -> np.ndarray:
    """(2, n) mean cosines of the words of two sets with A minus those with B."""
    units = {word: vector / np.linalg.norm(vector) for word, vector in VECTORS.items()}
    a, b = (np.mean([units[f"{side}{i}"] for i in kept], axis=0) for side in attributes)
    return np.array([[units[f"{side}{i}"] @ (a - b) for i in kept] for side in targets])


def flip(differences: np.ndarray) -> float:
    """Two-sided p of all flips."""
    means = [np.mean(np.multiply(signs, differences)) for signs in product((1, -1), repeat=len(differences))]
    return float(np.mean(np.abs(means) >= abs(np.mean(differences)) - 1e-12))


@pytest.mark.parametrize("matched", ["targets", "attributes", "both"])
def test_members_of_pairs_change_places(matched: str) -> None:
    row, free = measure(category(matched)), measure(category())
    differences = {"p_stimuli": np.subtract(*scores_of()), "p_attributes": np.subtract(*scores_of("ab", "xy"))}
    sides = {"p_stimuli": ("targets", "both"), "p_attributes": ("attributes", "both")}
    for name, of_pairs in differences.items():
        expected = flip(of_pairs) if matched in sides[name] else free[name]
        assert row[name] == pytest.approx(expected), name
    first = differences["p_attributes" if matched == "attributes" else "p_stimuli"]
    assert row["effect_size_matched"] == pytest.approx(first.mean() / first.std(ddof=1))
    assert row["p_association"] == max(row["p_stimuli"], row["p_attributes"])
    assert row["smallest_p"] == 2 / 2**N
    assert (row["effect_size"], row["matched"], free["matched"]) == (free["effect_size"], matched, None)
    assert free["effect_size_matched"] is None
    assert row["ci_high"] - row["ci_low"] < free["ci_high"] - free["ci_low"]


def test_a_pair_with_a_lost_member_is_left_out_whole_and_named() -> None:
    row, kept = measure(category("targets"), lost=("x3",)), [0, 1, 2, 4, 5, 6, 7, 8]
    assert [row[f"n_{side}"] for side in "xyab"] == [8, 8, 9, 9]
    units = {word: vector / np.linalg.norm(vector) for word, vector in VECTORS.items()}
    axis = np.mean([units[a] for a in SIDES["a"]], axis=0) - np.mean([units[b] for b in SIDES["b"]], axis=0)
    assert row["p_stimuli"] == pytest.approx(flip(np.array([(units[f"x{i}"] - units[f"y{i}"]) @ axis for i in kept])))
    assert [(loss["set"], loss["word"], loss["reason"]) for loss in row["lost"]] == [
        ("x", "x3", "no_vector"),
        ("y", "y3", "partner_lost"),
    ]
    assert row["lost"][1]["detail"] == "its pair with x3 is left out whole"


def test_a_cluster_is_one_unit() -> None:
    clusters = {"x": {"x0": "one", "x4": "one"}, "b": {"b1": "two", "b2": "two", "b3": "two"}}
    row = measure(category(clusters=clusters))
    assert [row[f"n_{side}"] for side in "xyab"] == [8, 9, 9, 7]
    assert [row[f"listed_{side}"] for side in "xyab"] == [8, 9, 9, 7]
    x, y = scores_of()
    units = np.concatenate([[(x[0] + x[4]) / 2], np.delete(x, [0, 4]), y])

    def studentized(first: list[int]) -> float:
        sets = units[first], np.delete(units, first)
        return float((sets[0].mean() - sets[1].mean()) / np.sqrt(sum(each.var(ddof=1) / each.size for each in sets)))

    observed = abs(studentized(list(range(8))))
    statistics = [abs(studentized(list(chosen))) for chosen in combinations(range(17), 8)]
    assert row["p_stimuli"] == pytest.approx(np.mean(np.array(statistics) >= observed * (1 - 1e-9)))
    assert (
        row["interval_note"]
        == "no interval: set B has 7 independent words, and an interval over words needs 8 in every set"
    )


def test_few_clusters_have_no_p() -> None:
    few = {"a": {f"a{i}": f"c{i % 3}" for i in range(N)}}
    row = measure(category(clusters=few))
    assert [row[name] for name in ("n_a", "p_attributes", "p_association")] == [3, None, None]
    assert row["p_stimuli"] == measure(category())["p_stimuli"]
