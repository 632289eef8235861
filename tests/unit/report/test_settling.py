"""The figures of how much data is enough: what is drawn where, and the same bytes every time."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from prasanga.base.errors import InputError
from prasanga.report.figures import MODELS, PAPER
from prasanga.report.figures.canvas import WIDTHS, save_figure
from prasanga.report.figures.effects import plot_convergence, plot_settling

Table = Callable[..., pl.DataFrame]
LENGTHS = ("9", "25", ">75")


@pytest.fixture
def ceat(table: Table) -> pl.DataFrame:
    cells = [(c, m, length, "fixed", 0.5) for c in ("C1", "C4") for m in ("a", "b") for length in LENGTHS]
    return table(*cells)


@pytest.fixture
def convergence() -> pl.DataFrame:
    steps = {"a": (0.9, 0.45, 0.55, 0.5), "b": (-0.2, -0.2, -0.25, -0.2)}
    rows = [
        ("C1", model, length, "fixed", n, effect + (length == "9"))
        for model, effects in steps.items()
        for length in LENGTHS
        for n, effect in zip((100, 200, 500, 1000), effects, strict=True)
    ]
    return pl.DataFrame(
        rows, schema=["category", "model", "segment_length", "sample_mode", "n", "effect_size"], orient="row"
    )


@pytest.fixture
def differences() -> pl.DataFrame:
    rows: list[tuple[Any, ...]] = [
        ("length", "C1", "a", "9", ">75", 0.4, 0.2, 0.7),
        ("length", "C1", "a", "25", ">75", -0.05, -0.1, 0.02),
        ("length", "C1", "a", "9", "25", 0.45, 0.3, 0.5),
        ("length", "C1", "b", "9", ">75", 0.02, None, None),
        ("length", "C1", "b", "25", ">75", None, None, None),
        ("model", "C1", None, "a", "b", 0.3, 0.2, 0.4),
    ]
    names = ["kind", "category", "model", "first", "second", "difference", "ci_low", "ci_high"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(sample_mode=pl.lit("fixed"))


@pytest.fixture
def settling() -> pl.DataFrame:
    rows = [("C1", "a", ">75", "25"), ("C1", "b", ">75", None), ("C4", "a", None, None), ("C4", "b", None, None)]
    names = ["category", "model", "longest", "settled_length"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(band=0.1, sample_mode=pl.lit("fixed"))


def points(panel: Any, marker: str, *, filled: bool) -> list[tuple[float, float]]:
    """Where a panel has markers of this shape, with the inside filled or not."""
    (line,) = [
        line for line in panel.lines if line.get_marker() == marker and (line.get_markerfacecolor() != PAPER) == filled
    ]
    return [(float(x), float(y)) for x, y in line.get_xydata()]


def texts(figure: Any) -> str:
    return "\n".join(text.get_text() for text in figure.texts)


def test_draws_are_filled_from_where_the_effect_stays(ceat: pl.DataFrame, convergence: pl.DataFrame) -> None:
    figure = plot_convergence(ceat, convergence, band=0.0625)
    first, second = (panel for panel in figure.axes if panel.get_visible())
    assert points(first, "o", filled=False) == [(100, 0.9)]
    assert points(first, "o", filled=True) == [(200, 0.45), (500, 0.55), (1000, 0.5)]
    assert [x for x, _ in points(first, "s", filled=True)] == [100, 200, 500, 1000]
    bands = [(band.get_y(), band.get_y() + band.get_height()) for band in first.patches]
    assert bands == [pytest.approx((0.4375, 0.5625)), pytest.approx((-0.2625, -0.1375))]
    assert [tick.get_text() for tick in first.get_xticklabels()] == ["100", "200", "500", "1k"]
    assert first.get_xscale() == "log"
    assert "not computed" in {text.get_text() for text in second.texts}
    assert ">75 words, fixed draws" in texts(figure)


def test_one_point_is_not_drawn(ceat: pl.DataFrame, convergence: pl.DataFrame, tmp_path: Path) -> None:
    few = convergence.filter(n=100).with_columns(n=40)
    figure = plot_convergence(ceat, few, band=0.1)
    assert not figure.axes
    assert not figure.legends
    assert (
        texts(figure)
        == "Not drawn: with 40 draws (associations.n_samples) there is one point. Points begin at 100 draws."
    )
    save_figure(figure, tmp_path / "convergence.svg")
    assert plot_convergence(ceat, convergence.clear(), band=0.1).axes


def test_a_label_that_the_next_would_cover_is_left_out(ceat: pl.DataFrame, convergence: pl.DataFrame) -> None:
    more = convergence.with_columns(n=pl.when(pl.col("n") == 500).then(960).otherwise("n"))
    labels = plot_convergence(ceat, more, band=0.1).axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == ["100", "200", "", "1k"]


def test_bars_of_any_width_do_not_press_the_lines_flat(
    ceat: pl.DataFrame, differences: pl.DataFrame, settling: pl.DataFrame
) -> None:
    wide = differences.with_columns(ci_high=pl.lit(500.0))
    low, high = plot_settling(ceat, wide, settling, band=0.1).axes[0].get_ylim()
    assert (low, high) == pytest.approx((-2 - 0.05 * 2.1, 0.1 + 0.05 * 2.1))


def test_distances_to_the_longest_with_paired_intervals(
    ceat: pl.DataFrame, differences: pl.DataFrame, settling: pl.DataFrame
) -> None:
    figure = plot_settling(ceat, differences, settling, band=0.1)
    first, second = (panel for panel in figure.axes if panel.get_visible())
    assert [y for _, y in points(first, "o", filled=False)] == [-0.4]
    assert [y for _, y in points(first, "o", filled=True)] == [0.05, 0]
    # Not settled before the longest: only that one is filled. There is no effect at 25 words.
    short, unknown = (y for _, y in points(first, "s", filled=False))
    assert short == -0.02
    assert math.isnan(unknown)
    assert [y for _, y in points(first, "s", filled=True)] == [0]
    bars = [[float(y) for y in bar[:, 1]] for lines in first.collections[:2] for bar in lines.get_segments()]
    assert bars == [[-0.7, -0.2], [-0.02, 0.1]]
    (band,) = first.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((-0.1, 0.1))
    assert [tick.get_text() for tick in first.get_xticklabels()] == list(LENGTHS)
    assert {line.get_color() for line in first.lines} >= set(MODELS[:2])
    assert "not computed" in {text.get_text() for text in second.texts}


def test_the_band_is_one(ceat: pl.DataFrame, differences: pl.DataFrame, settling: pl.DataFrame) -> None:
    two = settling.with_columns(band=pl.when(pl.col("model") == "a").then(0.1).otherwise(0.2))
    with pytest.raises(InputError, match=r"band: 0\.1, but the table of settling has \[0\.2\]"):
        plot_settling(ceat, differences, two, band=0.1)


def test_tables_and_widths_that_do_not_fit_are_refused(
    ceat: pl.DataFrame, differences: pl.DataFrame, settling: pl.DataFrame
) -> None:
    with pytest.raises(InputError, match=r"width: 'poster'\. Write column or page"):
        plot_settling(ceat, differences, settling, band=0.1, width="poster")  # type: ignore[arg-type]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_same_tables_give_the_same_bytes(
    ceat: pl.DataFrame,
    convergence: pl.DataFrame,
    differences: pl.DataFrame,
    settling: pl.DataFrame,
    tmp_path: Path,
    ending: str,
) -> None:
    for draw in (
        lambda: plot_convergence(ceat, convergence, band=0.1, width="column"),
        lambda: plot_settling(ceat, differences, settling, band=0.1, width="column"),
    ):
        figures = draw(), draw()
        paths = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
        for figure, path in zip(figures, paths, strict=True):
            assert figure.get_size_inches()[0] == WIDTHS["column"]
            save_figure(figure, path)
        one, two = (path.read_bytes() for path in paths)
        assert one == two
