"""The figure: what is drawn where, for any number of categories, and the same bytes every time."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from prasanga.base.errors import InputError
from prasanga.report.figures import MODELS
from prasanga.report.figures.canvas import WIDTHS, save_figure
from prasanga.report.figures.effects import plot_effect_by_length
from prasanga.report.sections.associations import ceat_sections
from prasanga.report.study import Results


def test_one_panel_a_category_one_line_a_model_and_mode(small: pl.DataFrame) -> None:
    figure = plot_effect_by_length(small)
    panels = [panel for panel in figure.axes if panel.get_visible()]
    assert len(panels) == 3
    labels = {text.get_text() for text in panels[2].texts}
    assert labels == {"C10", "weapons/tools\npleasant/unpleasant"}
    lines = [line for line in panels[0].lines if line.get_marker() == "o"]
    fixed, random = lines
    assert list(fixed.get_ydata()) == pytest.approx([0.9, 1.0])
    assert (fixed.get_linestyle(), random.get_linestyle()) == ("-", "--")
    assert fixed.get_markerfacecolor() != random.get_markerfacecolor()
    assert {line.get_color() for line in panels[0].lines} >= set(MODELS[:2])
    assert [tick.get_text() for tick in panels[0].get_xticklabels()] == ["9", ">75"]
    assert panels[0].get_ylim() == panels[2].get_ylim()


def bars(panel: Any) -> list[list[float]]:
    """The intervals that a panel shows."""
    pale = [lines for lines in panel.collections if lines.get_alpha() is not None]
    return [[float(y) for y in bar[:, 1]] for lines in pale for bar in lines.get_segments()]


def test_bars_are_the_interval(table: Callable[..., pl.DataFrame]) -> None:
    panel = plot_effect_by_length(table(("C1", "a", "9", "fixed", 0.5))).axes[0]
    assert bars(panel) == [pytest.approx([-0.04, 1.04])]


def test_effects_of_few_words_are_crosses_that_no_line_runs_to(table: Callable[..., pl.DataFrame]) -> None:
    few = {"n_x": 2, "listed_x": 14}
    rows = [("C1", "a", length, "fixed", effect) for length, effect in (("9", 0.1), ("25", 0.2), ("75", 0.3))]
    figure = plot_effect_by_length(table(rows[0], (*rows[1], few), rows[2]))
    lines = {line.get_marker(): line for line in figure.axes[0].lines if len(line.get_ydata()) == 3}
    assert list(lines["o"].get_ydata()) == pytest.approx([0.1, math.nan, 0.3], nan_ok=True)
    assert list(lines["x"].get_ydata()) == pytest.approx([math.nan, 0.2, math.nan], nan_ok=True)
    assert lines["x"].get_linestyle() == "None"
    assert note(figure).endswith("Crosses rest on few words.")
    assert "Crosses" not in note(plot_effect_by_length(table(*rows)))


def note(figure: Any) -> str:
    return " ".join(figure.texts[-1].get_text().split())


def test_bars_are_those_of_the_first_mode(small: pl.DataFrame) -> None:
    figure = plot_effect_by_length(small)
    assert sorted(bars(figure.axes[0])) == [
        pytest.approx(list(bar)) for bar in sorted((e - 0.54, e + 0.54) for e in (0.9, 1.0, -0.45, -0.35))
    ]
    assert note(figure) == "Pale bars: 95 % interval over words and contexts, fixed draws."


def test_the_note_says_where_bars_are_missing_or_cut(table: Callable[..., pl.DataFrame]) -> None:
    none = {"ci_low": None, "ci_high": None}
    some = [("C1", "a", "9", "fixed", 0.5, {"ci_high": 7.5}), ("C1", "b", "9", "fixed", -0.5, none)]
    figure = plot_effect_by_length(table(*some))
    assert note(figure) == (
        "Pale bars: 95 % interval over words and contexts; none where a set has fewer than eight words. Bars are cut"
        " where they leave the frame."
    )
    assert figure.axes[0].get_ylim() == pytest.approx((-0.5 - 0.125, 2 + 0.125))
    assert note(plot_effect_by_length(table(some[1]))).startswith("No intervals")
    far = plot_effect_by_length(table(("C1", "a", "9", "fixed", 2.5, {"ci_high": 9.0})))
    assert far.axes[0].get_ylim() == pytest.approx((-0.125, 2.625))


def test_names_that_are_wider_than_a_panel_are_broken(table: Callable[..., pl.DataFrame]) -> None:
    wide = {"target_x": "musical_instruments", "target_y": "weapons"}
    ceat = table(
        *(("C1", "a", "9", "fixed", 0.5, wide), ("C4", "a", "9", "fixed", 0.5), ("C10", "a", "9", "fixed", 0.5))
    )
    column, page = (
        {text.get_text() for text in plot_effect_by_length(ceat, width=width).axes[0].texts}
        for width in ("column", "page")
    )
    assert column == {"C1", "musical instruments/\nweapons\npleasant/unpleasant"}
    assert page == {"C1", "musical instruments/weapons\npleasant/unpleasant"}


def test_a_missing_estimate_leaves_a_gap(small: pl.DataFrame) -> None:
    squares = [line for line in plot_effect_by_length(small).axes[2].lines if line.get_marker() == "s"]
    assert [math.isnan(y) for y in squares[0].get_ydata()] == [True, False]


def test_a_category_without_estimates_says_so(table: Callable[..., pl.DataFrame]) -> None:
    ceat = table(("C1", "a", "9", "fixed", None), ("C4", "a", "9", "fixed", 0.1))
    first, second = plot_effect_by_length(ceat).axes
    assert "not computed" in {text.get_text() for text in first.texts}
    assert "not computed" not in {text.get_text() for text in second.texts}


def test_width(small: pl.DataFrame) -> None:
    assert plot_effect_by_length(small, width="column").get_size_inches()[0] == WIDTHS["column"] == 3.3
    with pytest.raises(InputError, match=r"width: 'poster'\. Write column or page"):
        plot_effect_by_length(small, width="poster")  # type: ignore[arg-type]


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_table_gives_the_same_bytes(small: pl.DataFrame, tmp_path: Path, ending: str) -> None:
    paths = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
    for path in paths:
        save_figure(plot_effect_by_length(small, width="column"), path, made_from="fingerprint-0123")
    one, two = (path.read_bytes() for path in paths)
    assert one == two
    assert b"fingerprint-0123" in one
    assert b"dc:date" not in one
    assert b"CreationDate" not in one


def test_other_endings_are_refused(small: pl.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be saved as '\.gif'\. Write \.svg, \.pdf, \.png"):
        save_figure(plot_effect_by_length(small), tmp_path / "figure.gif")
    assert list(tmp_path.iterdir()) == []


def test_the_section_says_what_contexts_and_words_make_of_the_variance(table: Callable[..., pl.DataFrame]) -> None:
    parts = dict.fromkeys(("variance_words", "variance_attributes", "variance_contexts", "variance_rest"), 0.0)
    half = {**parts, "variance_words": 2.0, "variance_contexts": 2.0}
    below = {**parts, "variance_attributes": -1.0, "variance_contexts": 0.3, "variance_rest": 0.1}
    rows = [("C1", "a", "9", "fixed", 0.5, half), ("C1", "a", "25", "fixed", 0.5, below)]
    (finding,) = ceat_sections({}, Results(ceat=table(*rows)))[0][0].notes
    assert str(finding).endswith(
        "each in one other context: contexts 62 % (from 50 to 75 %), target words 25 %, attribute words 0 %, their"
        " combinations 12 %; medians of 2 estimates."
    )
    assert ceat_sections({}, Results(ceat=table(rows[0][:5])))[0][0].notes == []
