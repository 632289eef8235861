"""The table with every number of every estimate."""

from __future__ import annotations

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


def test_a_table_of_an_older_version_is_refused(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", 0.5))
    require_columns("estimates", ceat, heat.NEEDED, remade_by("associations"))
    with pytest.raises(
        InputError, match=r"estimates: the table has no column p_stimuli_holm, twin_effect_size; it has "
    ):
        require_columns("estimates", ceat.drop("twin_effect_size", "p_stimuli_holm"), heat.NEEDED, "Mend it.")
