"""The figures of traits and of sentence pairs: which box, hexagon and line is drawn where."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from drawn_studies import drawn_study
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch
from planted_pairs import planted_scores
from scipy import stats

from prasanga.pairs.preferences import pair_differences
from prasanga.report.figures import COUNTS, MUTED, VARIABLES
from prasanga.report.figures.likelihoods import (
    EDGES,
    correlation,
    density,
    plot_differences,
    plot_hexbins,
    plot_structures,
)

STUDY = drawn_study(categories=["C1"], models=["bert", "muril"], lengths=["9"], n_traits=90, n_pairs=1)
TRAITS = STUDY.traits


def panels_of(figure: Any) -> list[Any]:
    return [axes for axes in figure.axes if axes.get_visible()]


def hexagons(panel: Any) -> PolyCollection:
    (found,) = [each for each in panel.collections if isinstance(each, PolyCollection)]
    return found


def heads_of(figure: Any) -> list[tuple[str, str]]:
    """Title of each panel, and the text below it."""
    return [(panel.get_title(loc="left"), panel.texts[0].get_text()) for panel in panels_of(figure)]


def legend_of(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_boxes_are_the_quartiles_of_each_structure() -> None:
    spread = STUDY.spread.with_columns(pl.col("model").replace("muril", "<albert>"))
    figure = plot_structures(spread)
    assert [title for title, _ in heads_of(figure)] == ["bert", "<albert>"]
    boxes = [patch for patch in panels_of(figure)[0].patches if isinstance(patch, PathPatch)]
    assert len(boxes) == 4 * 5  # quantities and polarities, by structure
    row = spread.filter(model="bert", structure="S4", quantity="corrected", polarity="negative").row(0, named=True)
    ends = boxes[3 * 5 + 3].get_path().get_extents()
    assert (ends.y0, ends.y1) == pytest.approx((row["q25"], row["q75"]))
    assert legend_of(figure) == [f"{q}, {p} traits" for q in ("prior", "corrected") for p in ("positive", "negative")]


@pytest.mark.parametrize("n", [4, 12, 180])
def test_the_correlation_is_that_of_scipy(n: int) -> None:
    x, noise = np.random.default_rng(n).normal(size=(2, n))
    y = noise - 0.6 * x + 3
    expected = stats.pearsonr(x, y)
    low, high = expected.confidence_interval(0.95)
    assert correlation(x, y) == pytest.approx((expected.statistic, low, high), rel=1e-9)


def test_there_is_no_correlation_of_nothing() -> None:
    two, three = np.array([1.0, 2.0]), np.array([0.0, 1.0, 3.0])
    assert np.isnan([*correlation(two, two), *correlation(np.ones(9), np.arange(9.0))]).all()
    expected = [stats.pearsonr(three, range(3)).statistic, math.nan, math.nan]
    assert correlation(three, np.arange(3.0)) == pytest.approx(expected, nan_ok=True)
    assert correlation(np.arange(9.0), -np.arange(9.0)) == pytest.approx((-1, -1, -1))
    assert correlation(1e200 * np.arange(9.0), 1e200 * np.arange(9.0))[0] == pytest.approx(1)


def test_every_trait_is_in_one_hexagon_of_its_panel() -> None:
    figure = plot_hexbins(TRAITS, model="bert")
    panels = panels_of(figure)
    titles = [f"S{n}, 90 {polarity}" for polarity in ("positive", "negative") for n in range(1, 6)]
    assert [title for title, _ in heads_of(figure)] == titles
    counts = [hexagons(panel).get_array() for panel in panels]
    assert [int(each.sum()) for each in counts] == [90] * 10
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in panels}) == 1
    figure.canvas.draw()
    for panel, found in zip(panels, counts, strict=True):
        colors = [COUNTS[sum(count >= edge for edge in EDGES) - 1] for count in found]
        assert [to_hex(color) for color in hexagons(panel).get_facecolors()] == colors
    assert legend_of(figure) == ["1", "2–3", "4–7", "8–15", "16–31", "32 or more"]


def test_each_panel_has_its_correlation() -> None:
    rows = TRAITS.filter(model="muril", structure="S2", polarity="negative")
    expected = stats.pearsonr(rows["prior"], rows["corrected"])
    low, high = expected.confidence_interval(0.95)
    for width, place in (("page", 6), ("column", 3)):  # at column width polarities are side by side
        title, said = heads_of(plot_hexbins(TRAITS, model="muril", width=width))[place]  # type: ignore[arg-type]
        assert title == "S2, 90 negative"
        said = said.replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")
        assert said == f"r = {expected.statistic:.2f} ({low:.2f} to {high:.2f})"


def test_rows_without_a_score_are_left_out() -> None:
    place = pl.int_range(pl.len())
    gone = TRAITS.with_columns(
        prior=pl.when(place == 0).then(None).when(place == 5).then(float("nan")).otherwise("prior"),
        corrected=pl.when(place == 10).then(float("inf")).otherwise("corrected"),
    )
    assert heads_of(plot_hexbins(gone, model="bert"))[0][0] == "S1, 87 positive"
    empty = TRAITS.with_columns(prior=pl.when(pl.col("structure") == "S2").then(None).otherwise("prior"))
    assert "no scores" in {text.get_text() for text in panels_of(plot_hexbins(empty, model="bert"))[1].texts}


def test_colours_fall_evenly_in_lightness_and_follow_the_page() -> None:
    def lightness(colour: str) -> float:
        """L of OKLab, by Ottosson's definition."""
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        rgb = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        cones = np.array(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ]
        )
        return float(np.cbrt(cones @ rgb) @ [0.2104542553, 0.7936177850, -0.0040720468])

    assert np.diff([lightness(colour) for colour in COUNTS]) == pytest.approx([-0.116] * 5, abs=0.01)
    assert [VARIABLES[colour] for colour in COUNTS] == [f"--count-{n}" for n in range(1, 7)]


@pytest.fixture(scope="module")
def differences() -> pl.DataFrame:
    planted = [("bert", "hi", 0.9), ("bert", "en", 0.5), ("a-model-with-a-long-name-indeed", "hi", 0.4)]
    scores = pl.concat([planted_scores(*each) for each in planted])
    return pair_differences(scores, {"bert": planted_scores("bert-random", "hi", 0.5, scale=0.01)})


def curves(panel: Any) -> list[Any]:
    """The lines of a panel that are seen, without that at zero."""
    return [line for line in panel.lines if len(line.get_xdata()) > 2 and line.get_alpha() != 0]


def test_the_density_is_a_mean_of_kernels() -> None:
    values = np.array([-1.0, -0.5, 0.0, 0.25, 2.0])
    points = np.linspace(-8, 8, 2001)
    width = values.std(ddof=1) * values.size ** (-1 / 5)
    slow = [sum(np.exp(-(((x - v) / width) ** 2) / 2) for v in values) for x in points]
    expected = np.array(slow) / (values.size * width * np.sqrt(2 * np.pi))
    assert density(values, points) == pytest.approx(expected)
    assert expected.sum() * (points[1] - points[0]) == pytest.approx(1, abs=1e-6)
    assert density(values[:0], points) is None
    assert density(np.ones(9), points) is None


def test_one_panel_per_model_and_one_line_per_language(differences: pl.DataFrame) -> None:
    figure = plot_differences(differences)
    first, second = panels_of(figure)
    assert [len(curves(first)), len(curves(second))] == [3, 1]
    assert legend_of(figure) == ["English", "Hindi", "random-weight copies"]
    assert heads_of(figure)[0] == ("bert", "90 pairs")
    english, hindi, twin = curves(first)
    assert len({english.get_color(), hindi.get_color(), MUTED}) == 3
    assert twin.get_color() == MUTED
    # the stereotype is preferred where the line is right of zero
    x, y = hindi.get_data()
    assert y[x > 0].sum() > 2 * y[x < 0].sum()
    low, high = first.get_xlim()
    assert low < -0.4 < 0.5 < high
    assert second.get_xlim() == (low, high)
    # far steeper, and scaled to fit
    assert max(twin.get_ydata()) == pytest.approx(max(*english.get_ydata(), *hindi.get_ydata()))
    assert first.get_ylim() != second.get_ylim()


def test_one_line_per_bias_type(differences: pl.DataFrame) -> None:
    figure = plot_differences(differences, lines="bias_type", width="column")
    titles = [("bert", "English"), ("bert", "Hindi"), ("a-model-…-indeed", "Hindi")]
    assert heads_of(figure) == titles
    assert legend_of(figure) == ["Gender", "Physical appearance", "Caste"]
    assert all(len(curves(panel)) == 3 for panel in panels_of(figure))


def test_few_pairs_are_dots_with_their_mean_and_interval(differences: pl.DataFrame) -> None:
    few = differences.filter(model="bert", language="hi").group_by("random_twin").head(19)
    (panel,) = panels_of(figure := plot_differences(few))
    assert legend_of(figure) == ["a pair", "random-weight copies", "mean, 95% interval"]
    values = few.filter(~pl.col("random_twin"))["difference"]
    assert [label.get_text() for label in panel.get_yticklabels()] == [f"Hindi ({len(values)})"]
    own, copies, (mean,) = (line.get_xdata() for line in panel.lines if line.get_linestyle() == "None")
    assert sorted(own) == pytest.approx(sorted(values))
    assert len(copies) == len(values)
    (bar,) = [bar for lines in panel.collections for bar in lines.get_segments() if len(bar)]
    half = stats.t.ppf(0.975, len(values) - 1) * values.std() / math.sqrt(len(values))
    assert [mean, *bar[:, 0]] == pytest.approx([values.mean(), values.mean() - half, values.mean() + half])
    assert not curves(panel)[3:]


def test_one_panel_per_language_and_one_line_per_model(differences: pl.DataFrame) -> None:
    figure = plot_differences(differences, lines="model")
    assert heads_of(figure) == [("English", "90 pairs"), ("Hindi", "90 pairs")]
    assert legend_of(figure) == ["bert", "a-model-with-a-long-name-indeed"]
    assert [len(curves(panel)) for panel in panels_of(figure)] == [1, 2]
    (english,), (hindi, _) = (curves(panel) for panel in panels_of(figure))
    assert english.get_color() == hindi.get_color()
    values = differences.filter(model="bert", language="hi", random_twin=False)["difference"].to_numpy()
    assert hindi.get_ydata() == pytest.approx(density(values, hindi.get_xdata()))
