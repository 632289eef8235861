"""What else could have been measured: raw numbers and other vectors, on the page and in the figure."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from prasanga.report.figures.rows import plot_scales
from prasanga.report.sections.robustness import raw_numbers
from prasanga.report.study import Results

Table = Callable[..., pl.DataFrame]


def test_every_vector_has_a_point_at_the_longest_length(table: Table) -> None:
    ceat = table(
        ("C1", "a", "9", "fixed", 1.9),
        ("C1", "a", "25", "fixed", 0.5),
        ("C10", "a", "25", "fixed", -0.5, {"effect_standardized": None}),
        ("C1", "a", "25", "random", 1.8),
        ("C1", "b", "25", "fixed", None),
    )
    panels = [panel for panel in plot_scales(ceat).axes if panel.get_visible()]
    assert len(panels) == 1
    points = [
        round(float(line.get_xdata()[0]), 3) for line in panels[0].lines if line.get_marker() not in ("None", None, "")
    ]
    assert sorted(points) == [-0.5, -0.45, 0.3, 0.45, 0.5]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == ["C1", "C10"]


def test_without_a_number_the_figure_says_so(table: Table) -> None:
    figure = plot_scales(table(("C1", "a", "9", "fixed", None)), width="column")
    assert "Not drawn" in " ".join(text.get_text() for text in figure.texts)


def test_raw_numbers_stand_beside_effects(table: Table) -> None:
    few = {"difference_adjusted": None, "adjusted_low": None, "adjusted_high": None, "effect_adjusted": None}
    why = "not adjusted: set X has 3 words"
    ceat = table(
        ("C1", "a", "25", "fixed", 0.1),  # standardized it is -0.02, and its adjusted interval holds zero
        ("C4", "a", "25", "fixed", 1.0),
        ("C10", "a", "25", "fixed", 1.0, {**few, "adjusted_note": why}),
    )
    section = raw_numbers(Results(ceat=ceat))
    assert section is not None
    assert section.findings == [
        "With every dimension standardized 1 of 3 effects would have the other sign.",
        "Among words alike in corpus frequency and pieces, 1 of 2 differences of mean cosines has a 95 % interval"
        " without zero.",
        "1 estimate could not be adjusted for frequency and pieces; the table says why.",
    ]
    (sheet,) = section.parts[0].sheets
    rows = [[str(cell.text) for cell in row.cells] for row in sheet.rows]
    assert rows[0] == [
        *("CEAT", "a", "+0.010", "+0.020", "+0.013", "+0.100", "+0.090", "−0.020"),
        *("+0.005", "−0.025 to +0.035", "+0.050", "frequency and pieces"),
    ]
    assert rows[2][8:] == ["–", "–", "–", why]


@pytest.mark.parametrize("missing", ["difference", "effect_centered", "adjusted_note"])
def test_tables_without_these_numbers_have_no_section(table: Table, missing: str) -> None:
    assert raw_numbers(Results(ceat=table(("C1", "a", "25", "fixed", 0.5)).drop(missing))) is None
    assert raw_numbers(Results()) is None
