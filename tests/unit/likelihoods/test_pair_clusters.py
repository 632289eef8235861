"""Pairs that are not independent: the interval and the test of the label over clusters, against slow loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest

from prasanga.base.errors import InputError
from prasanga.likelihoods.bias import (
    N_DRAWS,
    LabelCounts,
    balance,
    balance_clusters,
    bias_percentage,
    cluster_p_value,
    label_p_value,
)
from prasanga.likelihoods.strength import measure_pair_strengths

Rows = Sequence[tuple[int, int, int, int]]
# clusters of one label, of unlike sizes; and clusters of both labels: the counts of `LabelCounts`
ONE: Rows = [(4, 5, 0, 0), (1, 2, 0, 0), (3, 3, 0, 0), (0, 0, 1, 4), (0, 0, 0, 1), (0, 0, 3, 3), (2, 4, 0, 0)]
BOTH: Rows = [(2, 3, 0, 2), (1, 1, 1, 2), (2, 2, 0, 1), (1, 2, 1, 1)]


def as_table(rows: Rows) -> Any:
    return np.array(rows, dtype=float)


def summed(clusters: Any) -> LabelCounts:
    return LabelCounts(*map(int, clusters.sum(axis=0)))


def counted_p(types: Sequence[Rows]) -> float:
    """The share of all permutations whose excess of stereo wins over their expectation is as large as the one seen."""
    of_types = []
    for rows in types:
        wins, n = [a + c for a, _, c, _ in rows], [b + d for _, b, _, d in rows]
        if any(b and d for _, b, _, d in rows):
            observed = sum(a - b * won / size for (a, b, _, _), won, size in zip(rows, wins, n, strict=True))
            dealt = []
            for (_, n_stereo, _, _), won, size in zip(rows, wins, n, strict=True):
                pairs = [1] * won + [0] * (size - won)
                dealt.append([sum(chosen) - n_stereo * won / size for chosen in combinations(pairs, n_stereo)])
            excesses = [sum(each) for each in product(*dealt)]
        else:
            share, stereo = sum(wins) / sum(n), [i for i, row in enumerate(rows) if row[1]]
            own = [won - share * size for won, size in zip(wins, n, strict=True)]
            observed = sum(own[i] for i in stereo)
            excesses = [sum(chosen) for chosen in combinations(own, len(stereo))]
        of_types.append((observed, excesses))
    seen = abs(sum(observed for observed, _ in of_types))
    together = [abs(sum(each)) for each in product(*(excesses for _, excesses in of_types))]
    return float(np.mean(np.array(together) >= seen - 1e-9))


@pytest.mark.parametrize("types", [[ONE], [BOTH], [ONE, BOTH]])
def test_p_is_that_of_every_permutation_of_clusters_or_within_them(types: list[Rows]) -> None:
    p, expected = cluster_p_value([as_table(rows) for rows in types], np.random.default_rng(5)), counted_p(types)
    assert p == pytest.approx(expected, abs=4 * (expected * (1 - expected) / N_DRAWS) ** 0.5)
    assert (p * (N_DRAWS + 1)) % 1 == pytest.approx(0, abs=1e-6)  # (count + 1) / (n + 1)


def test_pairs_that_are_clusters_of_their_own_have_the_exact_p() -> None:
    counts = LabelCounts(9, 13, 4, 12)
    rows = [(1, 1, 0, 0)] * 9 + [(0, 1, 0, 0)] * 4 + [(0, 0, 1, 1)] * 4 + [(0, 0, 0, 1)] * 8
    p = cluster_p_value([as_table(rows)], np.random.default_rng(6))
    assert p == pytest.approx(label_p_value([counts]), abs=0.02)


def test_a_label_whose_clusters_are_larger_is_no_preference() -> None:
    # the first sentence wins in half of the pairs of each cluster; clusters of the label stereo are four times as large
    rows = [(4, 8, 0, 0)] * 8 + [(0, 0, 1, 2)] * 8
    assert cluster_p_value([as_table(rows)], np.random.default_rng(7)) == 1


@pytest.mark.parametrize("types", [[ONE], [BOTH], [ONE, BOTH]])
def test_the_interval_is_that_of_a_loop_over_resamples(types: list[Rows]) -> None:
    tables = [as_table(rows) for rows in types]
    found = balance_clusters(tables, np.random.default_rng(8))
    rng, drawn = np.random.default_rng(8), []
    places = [rng.integers(0, len(rows), size=(N_DRAWS, len(rows))) for rows in types]
    for draw in range(N_DRAWS):
        counts = []
        for rows, of_type in zip(types, places, strict=True):
            counts.append(summed(np.array([rows[place] for place in of_type[draw]])))
        drawn.append(balance(counts).percentage)
    # Student's t with 2, 3 and 6 degrees of freedom: the clusters of the rarer label less one
    fewest, t = {"[3]": (3, 4.3027), "[4]": (4, 3.1824), "[3, 4]": (7, 2.4469)}[
        str([3 if rows is ONE else 4 for rows in types])
    ]
    tail = NormalDist().cdf(-t * (fewest / (fewest - 1)) ** 0.5)
    known = sorted(value for value in drawn if value is not None)
    expected = np.quantile(known, [tail, 1 - tail])
    assert [found.low, found.high] == pytest.approx(expected, abs=0.1)
    assert found.percentage == balance([summed(table) for table in tables]).percentage


def test_one_cluster_of_a_label_says_nothing_of_its_variation() -> None:
    found = balance_clusters([as_table([(5, 5, 0, 0), (4, 5, 0, 0), (0, 0, 1, 5)])], np.random.default_rng(2))
    assert found == (pytest.approx(50 + 50 * (0.9 - 0.2)), 0, 100)


def scored(bias_type: str, labels: Sequence[str], wins: Sequence[int], clusters: Sequence[str | None]) -> pl.DataFrame:
    """A pair for each label, of which the first sentence wins (1), loses (0) or ties (2)."""
    return pl.DataFrame(
        {
            "pair_id": [f"{bias_type}-{i}" for i in range(len(labels))],
            "language": "en",
            "bias_type": bias_type,
            "label": labels,
            "score_first": [{0: -1.0, 1: 1.0, 2: 0.0}[won] for won in wins],
            "score_second": 0.0,
            "model": "m",
            "cluster": clusters,
        },
        schema_overrides={"cluster": pl.String},
    )


def a_set(n_clusters: int = 6) -> pl.DataFrame:
    """Clusters of four pairs; of religion with one label, of age with two pairs of each label. One pair ties."""
    rng, parts = np.random.default_rng(3), []
    for name, of_cluster in (("religion", None), ("age", ["stereo", "stereo", "antistereo", "antistereo"])):
        of_clusters = (of_cluster or [("stereo", "antistereo")[i % 2]] * 4 for i in range(n_clusters))
        labels = [label for each in of_clusters for label in each]
        wins = rng.integers(0, 2, 4 * n_clusters)
        wins[1] = 2
        clusters = [f"c{i // 4}" for i in range(4 * n_clusters)]
        parts.append(scored(name, labels, wins.tolist(), clusters))
    return pl.concat(parts)


def tables_of(scores: pl.DataFrame) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, of_type in scores.group_by("bias_type"):
        rows = []
        for _, cluster in of_type.group_by("cluster", maintain_order=True):
            untied = cluster.filter(pl.col("score_first") != 0)
            row = []
            for label in ("stereo", "antistereo"):
                firsts = untied.filter(label=label)["score_first"]
                row += [int((firsts > 0).sum()), len(firsts)]
            rows.append(row)
        found[str(name[0])] = np.array(rows, dtype=float)
    return found


def test_the_table_has_intervals_and_p_over_clusters() -> None:
    scores = a_set(40)
    age, religion, overall = bias_percentage(scores).rows(named=True)
    tables = tables_of(scores)
    assert [row["n_clusters"] for row in (age, religion, overall)] == [40, 40, 80]
    for row, of_types in ((age, ["age"]), (religion, ["religion"]), (overall, ["age", "religion"])):
        expected = balance_clusters([tables[name] for name in of_types], np.random.default_rng(9))
        assert row["balanced_percentage"] == pytest.approx(expected.percentage)
        assert row["balanced_ci_low"] == pytest.approx(expected.low, abs=2)
        assert row["balanced_ci_high"] == pytest.approx(expected.high, abs=2)
        p = cluster_p_value([tables[name] for name in of_types], np.random.default_rng(9))
        assert row["p_label"] == pytest.approx(p, abs=0.03)
    assert bias_percentage(scores.reverse()).equals(bias_percentage(scores))
    # what could have been found takes pairs for independent
    bias = bias_percentage(scores)
    with_set = scores.with_columns(set=pl.lit(None, pl.String))
    assert measure_pair_strengths(bias, with_set, {}, repetitions=2, shifts=[1.0]).is_empty()


def test_the_papers_percentage_has_an_interval_over_clusters() -> None:
    # both pairs of a cluster agree, so that 40 pairs are worth 20
    labels, clusters = ["stereo"] * 40, [f"c{i // 2}" for i in range(40)]
    wins = [i // 2 % 2 for i in range(40)]
    alone, together = (
        bias_percentage(scored("age", labels, wins, names)).row(0, named=True) for names in ([None] * 40, clusters)
    )
    widths = [row["ci_high"] - row["ci_low"] for row in (alone, together)]
    assert widths[1] / widths[0] == pytest.approx(2**0.5, rel=0.1)
    assert (alone["n_clusters"], together["n_clusters"], together["p_label"]) == (None, 20, None)
    against = bias_percentage(scored("age", labels, [2] * 40, clusters), ties="against").row(0, named=True)
    assert (against["ci_low"], against["ci_high"], against["n_clusters"]) == (0, 0, 20)


@pytest.mark.parametrize("empty", [None, "", " "])
def test_without_a_cluster_nothing_changes(empty: str | None) -> None:
    scores = a_set().with_columns(cluster=pl.lit(empty, pl.String))
    assert bias_percentage(scores).equals(bias_percentage(scores.drop("cluster")))
    assert bias_percentage(scores)["n_clusters"].to_list() == [None] * 3


@pytest.mark.parametrize(
    ("label", "cluster", "named"),
    [("stereo", "c9", "c9 only stereo"), ("antistereo", None, "of pair more only antistereo")],
)
def test_a_mixture_is_refused(label: str, cluster: str | None, named: str) -> None:
    more = scored("age", [label], [1], [cluster]).with_columns(pair_id=pl.lit("more"))
    with pytest.raises(InputError, match=rf"scores of m, en: of the bias type age \(en\), cluster c0 has .*{named}\."):
        bias_percentage(pl.concat([a_set(), more]))
    # clusters that lost a label to ties are no mixture
    tied = a_set().with_columns(score_first=pl.when(pl.col("pair_id").is_in(["age-2", "age-3"])).then(0.0)
                                .otherwise("score_first"))  # fmt: skip
    assert bias_percentage(tied).height == 3
