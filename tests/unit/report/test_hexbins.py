"""Prior against corrected scores: what is counted where, correlations as scipy has them, few traits as points."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from drawn_studies import drawn_study
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from scipy import stats

from prasanga.base.errors import InputError
from prasanga.report.figures import COUNTS, VARIABLES
from prasanga.report.figures.canvas import save_figure
from prasanga.report.figures.likelihoods import FEWEST, correlation, plot_hexbins
from prasanga.report.section import inline


@pytest.fixture(scope="module")
def traits() -> pl.DataFrame:
    return drawn_study(categories=["C1"], models=["bert", "muril"], lengths=["9"], n_traits=90, n_pairs=1).traits


def panels(figure: Any) -> list[Any]:
    return [axes for axes in figure.axes if axes.get_visible()]


def hexagons(panel: Any) -> PolyCollection:
    (found,) = [each for each in panel.collections if isinstance(each, PolyCollection)]
    return found


def note(figure: Any) -> str:
    return " ".join(figure.texts[-1].get_text().split())


def titles(figure: Any) -> list[str]:
    return [
        next(text.get_text() for text in panel.texts if text.get_fontweight() == "bold") for panel in panels(figure)
    ]


@pytest.mark.parametrize("n", [4, 12, 180])
def test_the_correlation_is_that_of_scipy(n: int) -> None:
    x, noise = np.random.default_rng(n).normal(size=(2, n))
    y = noise - 0.6 * x + 3
    found, expected = correlation(x, y), stats.pearsonr(x, y)
    low, high = expected.confidence_interval(0.95)
    assert (found.r, found.low, found.high, found.n) == pytest.approx((expected.statistic, low, high, n), rel=1e-9)


def test_there_is_no_correlation_of_nothing() -> None:
    two = np.array([1.0, 2.0])
    assert math.isnan(correlation(two, two).r)
    assert math.isnan(correlation(np.ones(9), np.arange(9.0)).r)
    three = np.array([0.0, 1.0, 3.0])
    assert correlation(three, np.array([0.0, 1.0, 2.0])).r == pytest.approx(stats.pearsonr(three, range(3)).statistic)
    assert math.isnan(correlation(three, np.array([0.0, 1.0, 2.0])).low)
    whole = correlation(np.arange(9.0), -np.arange(9.0))
    assert (whole.r, whole.low, whole.high) == pytest.approx((-1, -1, -1))
    huge = 1e200 * np.arange(9.0)
    assert correlation(huge, huge).r == pytest.approx(1)


def test_every_trait_is_in_one_hexagon_of_its_panel(traits: pl.DataFrame) -> None:
    figure = plot_hexbins(traits, model="bert")
    assert titles(figure) == [f"S{n}, 90 {polarity}" for polarity in ("positive", "negative") for n in range(1, 6)]
    counts = [hexagons(panel).get_array() for panel in panels(figure)]
    assert [int(each.sum()) for each in counts] == [90] * 10
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in panels(figure)}) == 1
    norm = hexagons(panels(figure)[0]).norm
    assert (norm.boundaries[0], norm.boundaries[-1]) == (1, max(int(each.max()) for each in counts) + 1)
    figure.canvas.draw()
    drawn = {to_hex(colour) for panel in panels(figure) for colour in hexagons(panel).get_facecolors()}
    assert drawn <= set(COUNTS)
    assert drawn >= {COUNTS[0], COUNTS[-1]}
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[0] == "1 trait"
    assert labels[-1].endswith(f"{norm.boundaries[-1] - 1} traits")


def test_the_correlation_stands_in_each_panel(traits: pl.DataFrame) -> None:
    rows = traits.filter(model="muril", structure="S2", polarity="negative")
    expected = stats.pearsonr(rows["prior"], rows["corrected"])
    low, high = expected.confidence_interval(0.95)
    for width, place in (("page", 6), ("column", 3)):
        panel = panels(plot_hexbins(traits, model="muril", width=width))[place]  # type: ignore[arg-type]
        said = " ".join(text.get_text() for text in panel.texts if text.get_fontweight() != "bold").replace("\n", " ")
        assert said.replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-") == (
            f"r = {expected.statistic:.2f} ({low:.2f} to {high:.2f})"
        )


def test_at_column_width_polarities_stand_side_by_side(traits: pl.DataFrame) -> None:
    figure = plot_hexbins(traits, model="bert", width="column")
    assert titles(figure)[:3] == ["S1, 90 positive", "S1, 90 negative", "S2, 90 positive"]


def test_few_traits_are_points(traits: pl.DataFrame) -> None:
    few = traits.group_by("model", "polarity", "structure", maintain_order=True).head(FEWEST - 1)
    figure = plot_hexbins(few, model="bert")
    assert not any(isinstance(each, PolyCollection) for panel in panels(figure) for each in panel.collections)
    (points,) = [line for line in panels(figure)[0].lines if line.get_marker() == "o"]
    rows = few.filter(model="bert", structure="S1", polarity="positive")
    assert [tuple(point) for point in points.get_xydata()] == rows.select("prior", "corrected").rows()
    assert "Each point is a trait" in note(figure)
    assert "Each point" not in note(plot_hexbins(traits, model="bert"))


def test_rows_without_a_score_are_named(traits: pl.DataFrame) -> None:
    place = pl.int_range(pl.len())
    gone = traits.with_columns(
        prior=pl.when(place == 0).then(None).when(place == 5).then(float("nan")).otherwise("prior"),
        corrected=pl.when(place == 10).then(float("inf")).otherwise("corrected"),
    )
    figure = plot_hexbins(gone, model="bert")
    assert note(figure).endswith("Left out: 3 of 900 rows (a trait in a structure) without a score.")
    assert titles(figure)[0] == "S1, 87 positive"
    nothing = plot_hexbins(gone.with_columns(prior=pl.lit(None, pl.Float64)), model="bert")
    assert note(nothing) == "Not drawn: bert has no trait with a prior and a corrected score."
    empty = traits.with_columns(prior=pl.when(pl.col("structure") == "S2").then(None).otherwise("prior"))
    assert "no scores" in {text.get_text() for text in panels(plot_hexbins(empty, model="bert"))[1].texts}


def test_colours_fall_evenly_in_lightness_and_follow_the_page() -> None:
    def lightness(colour: str) -> float:
        """L of OKLab, by Ottosson's definition."""
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        cones = (
            0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
            0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
            0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
        )
        one, two, three = (cone ** (1 / 3) for cone in cones)
        return 0.2104542553 * one + 0.7936177850 * two - 0.0040720468 * three

    steps = np.diff([lightness(colour) for colour in COUNTS])
    assert steps == pytest.approx([-0.116] * 5, abs=0.01)
    assert [VARIABLES[colour] for colour in COUNTS] == [f"--count-{n}" for n in range(1, 7)]


@pytest.mark.parametrize("width", ["page", "column"])
def test_the_same_table_gives_the_same_bytes(traits: pl.DataFrame, tmp_path: Path, width: Any) -> None:
    for name in ("one", "two"):
        save_figure(plot_hexbins(traits, model="bert", width=width), tmp_path / f"{name}.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_hexagon_tells_its_count_to_who_points_at_it(traits: pl.DataFrame, tmp_path: Path) -> None:
    figure = plot_hexbins(traits, model="bert")
    counts = [int(n) for panel in panels(figure) for n in hexagons(panel).get_array()]
    for ending in ("svg", "pdf"):
        save_figure(figure, tmp_path / f"f.{ending}")
    svg = (tmp_path / "f.svg").read_text(encoding="utf-8")
    told = re.findall(r"<title>(\d+) traits?</title>\s*<g[^>]*>\s*<use", svg)
    assert [int(n) for n in told] == counts
    assert "<title>1 traits" not in svg
    assert inline(svg, label="f").count("<title>") == len(counts)
    # nothing leads anywhere, in either format
    assert "told:" not in svg
    assert b"told:" not in (tmp_path / "f.pdf").read_bytes()


def test_what_cannot_be_drawn_is_refused(traits: pl.DataFrame) -> None:
    (note,) = plot_hexbins(traits, model="gpt").texts
    assert note.get_text() == "Not drawn: gpt has no row in the table of traits."
    with pytest.raises(InputError, match="width"):
        plot_hexbins(traits, model="bert", width="poster")  # type: ignore[arg-type]
