"""What else could have been measured: raw numbers, other vectors, other methods, on the page and in figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from prasanga.associations.comparisons import agreement, kendall_tau
from prasanga.report.comparison import side_by_side
from prasanga.report.figures.effects import plot_methods, plot_scales

Table = Callable[..., pl.DataFrame]


def points_of(line: Any) -> list[tuple[float, float]]:
    """The points of a line of a figure."""
    return [(float(x), float(y)) for x, y in zip(*line.get_data(), strict=True)]


def test_every_vector_has_a_point_by_primary_estimates(table: Table) -> None:
    ceat = table(
        ("C1", "a", "9", "fixed", 1.9),
        ("C1", "a", "25", "fixed", 0.5),
        ("C10", "a", "25", "fixed", -0.5, {"effect_standardized": None}),
        ("C1", "a", "25", "random", 1.8),
        ("C1", "b", "25", "fixed", None),
    )
    panels = [panel for panel in plot_scales(ceat).axes if panel.get_visible()]
    assert len(panels) == 1
    points = [round(x, 3) for line in panels[0].lines[1:] for x, _ in points_of(line)]
    assert sorted(points) == [-0.5, -0.45, 0.3, 0.45, 0.5]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == [
        "C1 Flowers and insects",
        "C10 Weapons & <i>others</i>",
    ]


@pytest.mark.parametrize("seed", range(8))
def test_tau_against_a_count_of_pairs_and_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, values = int(rng.integers(3, 25)), [2, 5, 1000][seed % 3]  # few values have ties
    first, second = (rng.integers(values, size=n).astype(float).tolist() for _ in range(2))
    same = opposite = tied_1 = tied_2 = 0
    for i in range(n):
        for j in range(i):
            product = (first[i] - first[j]) * (second[i] - second[j])
            same, opposite = same + (product > 0), opposite + (product < 0)
            tied_1, tied_2 = tied_1 + (first[i] == first[j]), tied_2 + (second[i] == second[j])
    pairs = n * (n - 1) / 2
    expected = (same - opposite) / np.sqrt((pairs - tied_1) * (pairs - tied_2))
    found = kendall_tau(first, second)
    assert found == pytest.approx(expected)
    assert found == pytest.approx(stats.kendalltau(first, second).statistic)


def test_two_points_and_a_list_of_one_number_have_no_tau() -> None:
    assert kendall_tau([1, 2], [1, 2]) is None
    assert kendall_tau([1, 1, 1], [1, 2, 3]) is None
    assert kendall_tau([1, 2, 3], [1, 4, 9]) == 1


SETS = {"category_title": "t", "target_x": "x", "target_y": "y", "attribute_a": "a", "attribute_b": "b"}


def estimates(effects: dict[tuple[str, str], float], twins: dict[tuple[str, str], float] | None = None) -> pl.DataFrame:
    """A table of SEAT or WEAT; the category C99 rests on few words."""
    words = dict.fromkeys([f"{kind}_{side}" for kind in ("n", "listed") for side in "xyab"], 8)
    rows = [
        {
            **{**SETS, **words, "category": category, "model": model, "effect_size": effect},
            **{"ci_low": effect - 0.5, "ci_high": effect + 0.5, "p_association_holm": 0.01 if effect > 1 else 0.5},
            **{"twin_effect_size": (twins or {}).get((category, model)), "lost": []},
            **({"n_x": 2} if category == "C99" else {}),
            "is_found": category != "C99",
        }
        for (category, model), effect in effects.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col("twin_effect_size").cast(pl.Float64))


CATEGORIES = [f"C{i}" for i in range(1, 11)]


def study(seed: int = 0) -> dict[str, pl.DataFrame]:
    """SEAT and log-probability of two models, and WEAT of other vectors; SEAT and WEAT agree, twins do not."""
    rng = np.random.default_rng(seed)
    true = dict(zip(CATEGORIES, rng.normal(size=10), strict=True))

    def drawn(noise: float, models: tuple[str, ...], follows: float = 1.0) -> dict[tuple[str, str], float]:
        return {(c, m): float(follows * true[c] + noise * rng.normal()) for c in CATEGORIES for m in models}

    models = ("a", "b")
    return {
        "seat": estimates({**drawn(0.05, models), ("C99", "a"): 9.0}, drawn(1, models, 0)),
        "weat": estimates(drawn(0.05, ("v",))),
        "log_probability": estimates(drawn(0.05, models, -1.0), drawn(1, models, 0)),
    }


def test_agreement_of_planted_orders() -> None:
    tables = study()
    together = side_by_side(tables)
    assert together["method"].unique(maintain_order=True).to_list() == ["seat", "weat", "log_probability"]
    assert together.filter(method="seat")["category"].to_list()[:2] == ["C1", "C1"]
    assert together.filter(category="C99")["few_words"].to_list() == ["2/8 v 8/8"]
    found = {(row["method_1"], row["method_2"]): row for row in agreement(together).to_dicts()}
    assert list(found) == [("seat", "weat"), ("seat", "log_probability"), ("weat", "log_probability")]
    of_models = found["seat", "log_probability"]
    assert (of_models["n_points"], of_models["n_categories"], of_models["n_models"]) == (20, 10, 2)
    by_category = found["seat", "weat"]
    assert (by_category["n_points"], by_category["n_categories"], by_category["n_models"]) == (10, 10, None)
    keys = [(c, m) for c in CATEGORIES for m in "ab"]

    def of(method: str, column: str = "effect_size") -> dict[tuple[str, str], float]:
        rows = tables[method].filter(pl.col("category") != "C99").iter_rows(named=True)
        return {(row["category"], row["model"]): row[column] for row in rows}

    seat, other = of("seat"), of("log_probability")
    assert of_models["tau"] == pytest.approx(stats.kendalltau([seat[k] for k in keys], [other[k] for k in keys])[0])
    means = [(seat[c, "a"] + seat[c, "b"]) / 2 for c in CATEGORIES]
    weat = [of("weat")[c, "v"] for c in CATEGORIES]
    assert by_category["tau"] == pytest.approx(stats.kendalltau(means, weat)[0])
    assert by_category["same_sign"] == np.mean(np.sign(means) == np.sign(weat))
    twins = of("seat", "twin_effect_size")
    of_twins = [(twins[c, "a"] + twins[c, "b"]) / 2 for c in CATEGORIES]
    assert by_category["twin_tau"] == pytest.approx(stats.kendalltau(of_twins, weat)[0])
    # the interval, by its definition
    without = [
        stats.kendalltau([x for i, x in enumerate(means) if i != j], [x for i, x in enumerate(weat) if i != j])[0]
        for j in range(10)
    ]
    half = stats.t.ppf(0.975, 9) * np.sqrt(0.9 * np.square(np.array(without) - np.mean(without)).sum())
    assert by_category["tau_low"] == pytest.approx(by_category["tau"] - half)
    assert by_category["tau_high"] == pytest.approx(min(1, by_category["tau"] + half))
    few = agreement(together.filter(pl.col("category").is_in(CATEGORIES[:7])))
    assert few["tau_low"].null_count() == 3


def test_methods_stand_side_by_side_in_the_figure(tmp_path: Path) -> None:
    together = side_by_side(study())
    path = tmp_path / "methods.csv"
    together.write_csv(path)
    panels = [panel for panel in plot_methods(pl.read_csv(path, infer_schema_length=None)).axes if panel.get_visible()]
    counts = [sum(len(points_of(line)) for line in panel.lines[1:]) for panel in panels]
    assert counts == [21, 10, 20]
    bars = [sum(len(each.get_paths()) for each in panel.collections) for panel in panels]
    assert bars == counts  # an interval each
    (few,) = [line for line in panels[0].lines if [x for x, _ in points_of(line)] == [9.0]]
    assert few.get_markerfacecolor() != few.get_color()
    rows = [[label.get_text() for label in panel.get_yticklabels()] for panel in panels]
    assert rows == [[f"{name} t" for name in names] for names in ([*CATEGORIES, "C99"], CATEGORIES, CATEGORIES)]
