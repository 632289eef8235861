"""The heat table, and the table with every number of every estimate."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from page_parts import missing_in, numbers_of, sheet_of

from prasanga.base.errors import InputError
from prasanga.report.ceat_table import to_latex
from prasanga.report.grid import grid_of
from prasanga.report.sections.ceat import all_numbers, effects, heat_sheet, texts_of
from prasanga.report.sections.estimates import shade_of
from prasanga.report.sheet import Cell
from prasanga.report.study import Results

Table = Callable[..., pl.DataFrame]


def numbers(ceat: pl.DataFrame) -> dict[str, str]:
    found = numbers_of(sheet_of(all_numbers(Results(ceat=ceat)), "All estimates of CEAT"))
    return {name: text for name, text in found.items() if name not in ("Model", "Words", "Draws", "left out")}


def orders(ceat: pl.DataFrame) -> dict[str, Any]:
    sheet = sheet_of(all_numbers(Results(ceat=ceat)), "All estimates of CEAT")
    (row,) = sheet.rows
    return {name: cell.order for (_, name), cell in zip(sheet.columns, row.cells, strict=True)}


def heat(ceat: pl.DataFrame, *, in_paper: bool = False) -> tuple[Cell, ...]:
    (row,) = heat_sheet(grid_of(ceat), "fixed", in_paper=in_paper).rows
    return row.cells


def test_each_column_has_its_number(table: Table) -> None:
    assert numbers(table(("C1", "a", "9", "fixed", 0.5, {"n_x": 3, "p_association": 0.01}))) == {
        "effect size": "+0.500",
        "95 % interval over words": "−0.040 to +1.040",
        "varies with": "–",
        "p_association": ".010",
        "Holm": ".040",
        "Benjamini-Hochberg": ".020",
        "p_stimuli": ".150",
        "partitions": "all 70",
        "p_attributes": ".200",
        "partitions of attributes": "all 70",
        "without one word": "+0.300 to +0.700",
        "random twins": "+0.110 (sd 0.200, 8)",
        "difference from twins": "+0.390",
        "its 95 % interval": "−0.110 to +0.890",
        "p_twins": ".040",
        "attributes dealt anew": "−0.700 to +0.700",
        "smallest effect to be found": "1.54",
        "p_equivalence": ".600",
        "within ±": "0.90",
        "contexts enough": "140",
        "draws settled": "100",
        "standard error of the draws": "0.0200",
        "p_draws": "< 1e−434",
        "τ²": "0",
        "I²": "0",
        "Q": "90.5",
        "N": "100",
        "targets used": "3 of 8 + 8",
        "attributes used": "8 + 8",
        "fewest contexts": "30",
    }


def test_a_point_tells_a_part_of_what_its_cell_does(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", 0.5, {"n_x": 2}))
    cell, point = heat(ceat)[0].hover.split("\n"), texts_of(grid_of(ceat))["C1", "a", "9", "fixed"].split("\n")
    assert [line.partition(":")[0] for line in point] == [
        *("a, 9 words, fixed draws", "effect size", "95 % interval over words", "p_association (other words)"),
        *("p of other targets", "random twins", "words used of those listed"),
    ]
    assert [line for line in cell if line in point] == point
    assert [line.partition(":")[0] for line in cell if line not in point] == [
        *("attributes dealt anew", "p_draws (other draws, no test of bias)", "fewest contexts of a stimulus"),
        "conventions",
    ]


def test_why_an_effect_is_outside_its_interval_is_told(table: Table) -> None:
    outside = {"ci_low": 0.6, "ci_high": 0.7, "interval_note": "the effect is outside: it is so"}
    ceat = table(("C1", "a", "9", "fixed", 0.5, outside), ("C1", "b", "9", "fixed", 0.5, {}))
    line = "about the interval: the effect is outside: it is so"
    for in_paper in (False, True):
        first, second = (cell.hover.split("\n") for cell in heat(ceat, in_paper=in_paper))
        assert first[first.index("95 % interval over words: +0.600 to +0.700") + 1] == line
        assert not [told for told in second if told.startswith("about")]
    points = texts_of(grid_of(ceat))
    assert [line in points["C1", model, "9", "fixed"].split("\n") for model in "ab"] == [True, False]
    sheet = sheet_of(all_numbers(Results(ceat=ceat)), "All estimates of CEAT")
    place = [name for _, name in sheet.columns].index("about the interval")
    assert [row.cells[place].text for row in sheet.rows] == ["the effect is outside: it is so", "–"]
    assert "Interval of C1, a, 9: the effect is outside: it is so." in to_latex(ceat)
    assert "Interval of" not in to_latex(table(("C1", "b", "9", "fixed", 0.5, {})))


def test_why_there_is_no_interval_is_no_remark_on_an_interval(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", 0.5, {"ci_low": None, "ci_high": None, "interval_note": "no interval: few"}))
    assert "about the interval" not in heat(ceat)[0].hover
    assert "about the interval" not in numbers(ceat)


def test_nulls_are_dashes(table: Table) -> None:
    missing = numbers(table(("C1", "a", "9", "fixed", None)))
    assert missing.keys() - missing_in(missing) == {"N", "targets used", "attributes used", "fewest contexts"}
    nulls = {"ci_low": None, "p_twins": None, "shuffled_high": None, "contexts_enough": None}
    assert missing_in(numbers(table(("C1", "a", "9", "fixed", 0.5, nulls)))) == {
        *("95 % interval over words", "varies with", "p_twins", "attributes dealt anew", "contexts enough"),
    }


def test_a_cell_is_marked_by_holm_alone(table: Table) -> None:
    rows = [("C1", m, "9", "fixed", 0.5, {"p_association": p}) for m, p in (("a", 0.0124), ("b", 0.0126))]
    assert [(cell.mark, cell.bold) for cell in heat(table(*rows))] == [("*", True), ("", False)]


def test_a_cell_of_few_words_is_hatched_and_says_how_few(table: Table) -> None:
    few = {"n_x": 2, "listed_x": 14, "n_y": 3, "listed_y": 14}
    ceat = table(("C1", "a", "9", "fixed", 1.65, few), ("C1", "b", "9", "fixed", 1.65))
    thin, enough = heat(ceat)
    assert (thin.words, enough.words) == ("2/14 v 3/14", "")
    assert "words used of those listed: 2/14 v 3/14, too few for a finding" in thin.hover
    assert "words used" not in enough.hover
    widget = str(effects({}, Results(ceat=ceat)).widget)  # type: ignore[union-attr]
    cells = re.findall(r'<td class="([^"]*)"[^>]*><a [^>]*>(.*?)</td>', widget)
    assert cells == [
        ("number plus-5 few first", '+1.65</a> <span class="used-words">2/14 v 3/14</span>'),
        ("number plus-5 first", "+1.65</a>"),
    ]
    assert widget.count("few words (used/listed): no finding") == 1
    assert "few words" not in str(effects({}, Results(ceat=ceat[1:])).widget)  # type: ignore[union-attr]


def test_in_the_papers_layout_the_mark_is_that_of_its_table_5(table: Table) -> None:
    rows = [
        ("C1", "a", "9", "fixed", 0.5, {"p_draws": 0.0049, "log_p_draws": math.log(0.0049), "p_association": 0.9}),
        ("C1", "b", "9", "fixed", 0.5, {"p_draws": 0.005, "log_p_draws": math.log(0.005), "p_association": 0.001}),
        ("C1", "c", "9", "fixed", 0.5, {"p_draws": None, "log_p_draws": None}),
        ("C1", "d", "9", "fixed", None),
        ("C1", "e", "9", "fixed", float("nan")),
    ]
    cells = heat(table(*rows), in_paper=True)
    assert [cell.mark for cell in cells] == ["", "*", "", "", ""]
    lines = cells[1].hover.split("\n")
    by_draws = "p_draws (other draws, no test of bias): .005"
    assert lines[:3] == ["b, 9 words, fixed draws", "effect size: +0.500", f"{by_draws}, the p of the paper"]
    assert any(line.startswith("p_association (other words): .001") for line in lines)
    assert sum(line.startswith("p_draws") for line in lines) == 1
    # the recommended one has the same numbers, in another order and with another mark
    others = heat(table(*rows))
    assert [cell.mark for cell in others] == ["", "*", "", "", ""]
    assert sorted(others[1].hover.split("\n")) == sorted([*lines[:2], by_draws, *lines[3:]])


@pytest.mark.parametrize(
    ("effect", "shade"),
    [
        (0.0, "zero"), (0.199, "zero"), (-0.199, "zero"), (0.2, "plus-2"), (-0.2, "minus-2"), (0.5, "plus-3"),
        (-0.79, "minus-3"), (0.8, "plus-4"), (-2.0, "minus-4"),
    ],
)  # fmt: skip
def test_shades_of_the_paper_are_small_medium_and_large(table: Table, effect: float, shade: str) -> None:
    ceat = table(("C1", "a", "9", "fixed", effect))
    assert heat(ceat, in_paper=True)[0].shade == shade
    section = effects({"preset": "paper"}, Results(ceat=ceat))
    assert section is not None
    assert f'class="swatch {shade}"' in section.widget


def test_the_legend_names_every_shade(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", 0.5))
    paper, recommended = (effects({"preset": preset}, Results(ceat=ceat)) for preset in ("paper", "recommended"))
    assert paper is not None
    assert recommended is not None
    legend = paper.widget.partition("</ul>")[0]
    places = [
        legend.index(f'swatch {shade}"></span>{text}<')
        for shade, text in (
            *(("minus-4", "−0.8 and beyond"), ("minus-3", "−0.5 to −0.8"), ("minus-2", "−0.2 to −0.5")),
            ("zero", "within ±0.2"),
            *(("plus-2", "+0.2 to +0.5"), ("plus-3", "+0.5 to +0.8"), ("plus-4", "+0.8 and beyond")),
        )
    ]
    assert places == sorted(places)
    assert legend.count("<li>") == 7
    for step in range(-40, 41):
        assert f'swatch {shade_of(step / 20)}"' in recommended.widget


def test_a_table_of_an_older_version_is_refused(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", 0.5)).drop("twin_effect_size", "p_association_holm")
    with pytest.raises(
        InputError, match=r"estimates of CEAT: the table has no column p_association_holm, twin_effect_size; it has "
    ):
        all_numbers(Results(ceat=ceat))


def test_each_column_is_sorted_by_its_number_in_full(table: Table) -> None:
    changes = {"n_x": 3, "p_association": 1 / 3, "p_twins": float("nan"), "ci_low": float("-inf")}
    found = orders(table(("C1", "a", "9", "fixed", 0.1 + 0.2, changes)))
    assert float(found["effect size"]) == 0.1 + 0.2
    assert float(found["p_association"]) == 1 / 3
    assert float(found["p_draws"]) == -1000.0
    assert (found["p_twins"], found["95 % interval over words"]) == ("", "")
    assert (found["targets used"], found["attributes used"], found["fewest contexts"]) == ("11", "16", "30")
    missing = list(orders(table(("C1", "a", "9", "fixed", None))).values())
    assert missing[3:-1] == [""] * 26 + ["100", "16", "16", "30"]
