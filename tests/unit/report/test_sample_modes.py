"""Fixed against random draws: every estimate is a point, and the section says how far apart they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from prasanga.base.errors import InputError
from prasanga.report.figures import MODELS, MUTED
from prasanga.report.figures.agreement import plot_sample_modes
from prasanga.report.grid import grid_of
from prasanga.report.sections.associations import sample_modes
from prasanga.report.study import Results

Table = Callable[..., pl.DataFrame]


@pytest.fixture
def ceat(table: Table) -> pl.DataFrame:
    return table(
        ("C1", "a", "9", "fixed", 0.5, {"p_association": 0.03}),
        ("C1", "a", "9", "random", 0.25, {"p_association": 0.03}),
        ("C4", "a", "9", "fixed", -0.5),
        ("C4", "a", "9", "random", -0.625),
        ("C1", "<b>", ">75", "fixed", 1.0),
        ("C1", "<b>", ">75", "random", 1.0),
        ("C4", "<b>", ">75", "fixed", float("nan")),
        ("C4", "<b>", ">75", "random", 0.1),
        ("C10", "a", "9", "fixed", None),
        ("C10", "a", "9", "random", None),
    )


def points(panel: Any, colour: str) -> list[list[float]]:
    (line,) = [line for line in panel.lines if line.get_color() == colour and line.get_linestyle() == "None"]
    return [[float(x), float(y)] for x, y in line.get_xydata()]


def test_every_estimate_is_a_point(ceat: pl.DataFrame) -> None:
    figure = plot_sample_modes(ceat)
    short, long = figure.axes
    assert points(short, MODELS[0]) == [[0.5, 0.25], [-0.5, -0.625]]
    assert points(long, MODELS[1]) == [[1.0, 1.0]]
    assert [
        [text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in panel.texts] for panel in (short, long)
    ] == [
        ["9 words", "median 0.188, max 0.250"],
        [">75 words", "median 0.000, max 0.000"],
    ]
    (identity,) = [line for line in short.lines if line.get_color() == MUTED and line.get_linewidth() == 0.7]
    assert list(identity.get_xdata()) == list(identity.get_ydata()) == list(short.get_xlim())
    assert short.get_xlim() == short.get_ylim() == long.get_xlim()
    note = " ".join(figure.texts[-1].get_text().split())
    assert "over 3 estimates: median 0.125, at most 0.250 (C1, a, 9 words)." in note
    assert note.endswith("Left out: 1 with a number by one kind of draws alone.")


def test_one_mode_alone_is_no_figure_and_no_section(ceat: pl.DataFrame) -> None:
    fixed = ceat.filter(sample_mode="fixed")
    assert sample_modes(grid_of(fixed), Results(ceat=fixed)) == []
    with pytest.raises(InputError, match=r"no random draws.*sample_modes: \[fixed, random\]"):
        plot_sample_modes(fixed)
    nothing = plot_sample_modes(ceat.with_columns(effect_size=pl.lit(None, pl.Float64)))
    assert next(text.get_text() for text in nothing.texts).startswith("Not drawn")
