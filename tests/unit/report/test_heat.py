"""The table with every number of every estimate."""

from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl
import pytest

from prasanga.columns import remade_by, require_columns
from prasanga.errors import InputError
from prasanga.report import heat
from prasanga.report.grid import grid_of

Table = Callable[..., pl.DataFrame]


def cells_of(ceat: pl.DataFrame) -> dict[str, str]:
    grid = grid_of(ceat)
    (found,) = heat.number_rows(grid, grid.categories[0])
    return dict(zip(heat.COLUMNS, found.cells, strict=True))


def test_each_column_has_its_number(table: Table) -> None:
    assert cells_of(table(("C1", "a", "9", "fixed", 0.5, {"n_x": 3, "p_stimuli": 0.01}))) == {
        "effect size": "+0.500",
        "95 % interval over words": "−0.040 to +1.040",
        "p_stimuli": ".010",
        "Holm": ".040",
        "Benjamini-Hochberg": ".020",
        "partitions": "all 70",
        "without one word": "+0.300 to +0.700",
        "random twin": "+0.110",
        "attributes dealt anew": "−0.700 to +0.700",
        "smallest effect to be found": "1.54",
        "contexts enough": "140",
        "draws settled": "100",
        "standard error of the draws": "0.0200",
        "p_draws": "< 1e−434",
        "τ²": "0",
        "I²": "0",
        "Q": "90.5",
        "N": "100",
        "targets used": "3 of 4 + 4",
        "attributes used": "4 + 4",
        "fewest contexts": "30",
    }


def test_nulls_are_dashes(table: Table) -> None:
    missing = cells_of(table(("C1", "a", "9", "fixed", None)))
    assert {name for name, text in missing.items() if text != "–"} == {
        *("N", "targets used", "attributes used", "fewest contexts"),
    }
    nulls = {"ci_low": None, "twin_effect_size": None, "shuffled_high": None, "contexts_enough": None}
    some = cells_of(table(("C1", "a", "9", "fixed", 0.5, nulls)))
    assert {name for name, text in some.items() if text == "–"} == {
        *("95 % interval over words", "random twin", "attributes dealt anew", "contexts enough"),
    }


def test_a_cell_is_marked_by_holm_alone(table: Table) -> None:
    rows = [("C1", m, "9", "fixed", 0.5, {"p_stimuli": p}) for m, p in (("a", 0.0124), ("b", 0.0126))]
    (found,) = heat.heat_rows(grid_of(table(*rows)), "fixed")
    assert [cell.marked for (cell,) in found.cells] == [True, False]


def test_in_the_papers_layout_the_mark_is_that_of_its_table_5(table: Table) -> None:
    rows = [
        ("C1", "a", "9", "fixed", 0.5, {"p_draws": 0.0049, "log_p_draws": math.log(0.0049), "p_stimuli": 0.9}),
        ("C1", "b", "9", "fixed", 0.5, {"p_draws": 0.005, "log_p_draws": math.log(0.005), "p_stimuli": 0.001}),
        ("C1", "c", "9", "fixed", 0.5, {"p_draws": None, "log_p_draws": None}),
        ("C1", "d", "9", "fixed", None),
        ("C1", "e", "9", "fixed", float("nan")),
    ]
    (found,) = heat.heat_rows(grid_of(table(*rows)), "fixed", preset="paper")
    cells = [cell for (cell,) in found.cells]
    assert [cell.marked for cell in cells] == [False, True, False, False, False]
    lines = cells[1].hover.split("\n")
    by_draws = "p_draws (other draws): .005"
    assert lines[:3] == ["b, 9 words, fixed draws", "effect size: +0.500", f"{by_draws}, the p of the paper"]
    assert any(line.startswith("p_stimuli (other words): .001") for line in lines)
    assert sum(line.startswith("p_draws") for line in lines) == 1
    # the recommended one has the same numbers, in another order and with another mark
    (other,) = heat.heat_rows(grid_of(table(*rows)), "fixed")
    assert [cell.marked for (cell,) in other.cells] == [False, True, False, False, False]
    assert sorted(other.cells[1][0].hover.split("\n")) == sorted([*lines[:2], by_draws, *lines[3:]])


@pytest.mark.parametrize(
    ("effect", "shade"),
    [
        (0.0, "zero"), (0.199, "zero"), (-0.199, "zero"), (0.2, "plus-2"), (-0.2, "minus-2"), (0.5, "plus-3"),
        (-0.79, "minus-3"), (0.8, "plus-4"), (-2.0, "minus-4"),
    ],
)  # fmt: skip
def test_shades_of_the_paper_are_small_medium_and_large(effect: float, shade: str) -> None:
    assert heat.shade_in_paper(effect) == shade
    assert shade in dict(heat.legend(preset="paper"))


def test_the_legend_names_every_shade() -> None:
    assert heat.legend(preset="paper") == [
        ("minus-4", "−0.8 and beyond"), ("minus-3", "−0.5 to −0.8"), ("minus-2", "−0.2 to −0.5"),
        ("zero", "within ±0.2"),
        ("plus-2", "+0.2 to +0.5"), ("plus-3", "+0.5 to +0.8"), ("plus-4", "+0.8 and beyond"),
    ]  # fmt: skip
    assert {heat.shade_of(step / 20) for step in range(-40, 41)} == set(dict(heat.legend()))


def test_a_table_of_an_older_version_is_refused(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", 0.5))
    require_columns("estimates", ceat, heat.NEEDED, remade_by("associations"))
    with pytest.raises(
        InputError, match=r"estimates: the table has no column p_stimuli_holm, twin_effect_size; it has "
    ):
        require_columns("estimates", ceat.drop("twin_effect_size", "p_stimuli_holm"), heat.NEEDED, "Mend it.")


def test_each_column_is_sorted_by_its_number_in_full(table: Table) -> None:
    changes = {"n_x": 3, "p_stimuli": 1 / 3, "twin_effect_size": float("nan"), "ci_low": float("-inf")}
    grid = grid_of(table(("C1", "a", "9", "fixed", 0.1 + 0.2, changes)))
    (found,) = heat.number_rows(grid, grid.categories[0])
    orders = dict(zip(heat.COLUMNS, found.orders, strict=True))
    assert float(orders["effect size"]) == 0.1 + 0.2
    assert float(orders["p_stimuli"]) == 1 / 3
    assert float(orders["p_draws"]) == -1000.0
    assert (orders["random twin"], orders["95 % interval over words"]) == ("", "")
    assert (orders["targets used"], orders["attributes used"], orders["fewest contexts"]) == ("7", "8", "30")
    grid = grid_of(table(("C1", "a", "9", "fixed", None)))
    (missing,) = heat.number_rows(grid, grid.categories[0])
    assert missing.orders == [""] * 17 + ["100", "8", "8", "30"]
