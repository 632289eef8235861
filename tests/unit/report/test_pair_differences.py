"""The figure of densities: which lines are drawn where, and the same bytes each time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.text import Text
from planted_pairs import planted_scores
from scipy import stats

from prasanga.base.errors import InputError
from prasanga.likelihoods.bias import pair_differences
from prasanga.report.figures.canvas import Width, save_figure
from prasanga.report.figures.likelihoods import FEWEST_DIFFERENCES, density, plot_differences
from prasanga.report.sheet import signed


@pytest.fixture(scope="module")
def differences() -> pl.DataFrame:
    scores = pl.concat(
        [
            planted_scores("bert", "hi", 0.9),
            planted_scores("bert", "en", 0.5),
            planted_scores("a-model-with-a-long-name-indeed", "hi", 0.4),
        ]
    )
    return pair_differences(scores, {"bert": planted_scores("bert-random", "hi", 0.5, scale=0.01)})


def panels(figure: Any) -> list[Any]:
    return [axis for axis in figure.axes if axis.get_visible()]


def curves(panel: Any) -> list[Any]:
    """The lines of a panel that are seen, without that at zero."""
    return [line for line in panel.lines if len(line.get_xdata()) > 2 and line.get_alpha() != 0]


def test_the_density_is_a_mean_of_kernels() -> None:
    values = np.array([-1.0, -0.5, 0.0, 0.25, 2.0])
    points = np.linspace(-8, 8, 2001)
    width = values.std(ddof=1) * values.size ** (-1 / 5)
    slow = [sum(np.exp(-(((x - v) / width) ** 2) / 2) for v in values) for x in points]
    expected = np.array(slow) / (values.size * width * np.sqrt(2 * np.pi))
    found = density(values, points)
    assert found is not None
    assert found == pytest.approx(expected)
    assert found.sum() * (points[1] - points[0]) == pytest.approx(1, abs=1e-6)
    assert density(values[: FEWEST_DIFFERENCES - 1], points) is None
    assert density(np.ones(9), points) is None


def test_the_density_is_that_of_scipy() -> None:
    values = np.random.default_rng(1).standard_t(4, size=9001)  # more than are in memory at once
    points = np.linspace(-6, 6, 101)
    assert density(values, points) == pytest.approx(stats.gaussian_kde(values)(points), rel=1e-9)


def test_a_panel_a_model_and_a_line_a_language(differences: pl.DataFrame) -> None:
    figure = plot_differences(differences)
    first, second = panels(figure)
    assert [len(curves(first)), len(curves(second))] == [3, 1]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["English", "Hindi", "random twins"]
    english, hindi, twin = curves(first)
    assert english.get_color() != hindi.get_color() == twin.get_color()
    assert twin.get_linewidth() < hindi.get_linewidth()
    # the stereotype is preferred where the line is right of zero
    x, y = hindi.get_data()
    assert y[x > 0].sum() > 2 * y[x < 0].sum()
    low, high = first.get_xlim()
    assert low < -0.4
    assert high > 0.5
    assert second.get_xlim() == (low, high)
    assert first.get_ylim()[1] < max(twin.get_ydata())
    titles = [text.get_text() for text in first.texts]
    assert titles == ["bert", "90 pairs"]
    # the horizontal axis is shared
    assert first.get_ylim() != second.get_ylim()
    assert any("each panel its own height" in " ".join(text.get_text().split()) for text in figure.texts)


def test_a_line_a_bias_type(differences: pl.DataFrame) -> None:
    figure = plot_differences(differences, lines="bias_type", width="column")
    assert [[text.get_text() for text in panel.texts] for panel in panels(figure)] == [
        ["bert", "English"],
        ["bert", "Hindi"],
        ["a-model-…e-indeed", "Hindi"],
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Gender", "Physical appearance", "Caste"]
    assert all(len(curves(panel)) == 3 for panel in panels(figure))
    last = panels(figure)[-1]
    figure.canvas.draw()
    assert last.texts[0].get_window_extent().width <= last.get_window_extent().width * 1.02


def test_lines_of_too_few_pairs_are_named(differences: pl.DataFrame) -> None:
    few = differences.filter(model="bert", random_twin=False).group_by("bias_type", "language").head(4)
    (panel, *_) = panels(plot_differences(few, lines="bias_type"))
    assert panel.texts[0].get_text() == "3 lines not drawn: fewer than 5 differences"


def test_the_same_table_gives_the_same_file(differences: pl.DataFrame, tmp_path: Path) -> None:
    for name in ("one", "two"):
        save_figure(plot_differences(differences), tmp_path / f"{name}.svg", made_from="f00d")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.svg").stat().st_size < 200_000


@pytest.mark.parametrize("width", ["page", "column"])
def test_without_a_score_the_figure_says_so(differences: pl.DataFrame, width: Width) -> None:
    nothing = differences.with_columns(difference=pl.when("random_twin").then("difference"))
    for table in (nothing, differences.clear()):
        figure = plot_differences(table, width=width)
        said = " ".join(text.get_text() for text in figure.findobj(Text))
        assert " ".join(said.split()) == "Not drawn: no pair has a score for both of its sentences."


def test_what_cannot_be_drawn_is_refused(differences: pl.DataFrame) -> None:
    with pytest.raises(InputError, match=r"lines: 'model' is not known"):
        plot_differences(differences, lines="model")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="width"):
        plot_differences(differences, width="poster")  # type: ignore[arg-type]


def test_a_line_tells_its_middle_to_who_points_at_it(differences: pl.DataFrame, tmp_path: Path) -> None:
    figure = plot_differences(differences)
    for ending in ("svg", "pdf"):
        save_figure(figure, tmp_path / f"f.{ending}")
    svg = (tmp_path / "f.svg").read_text(encoding="utf-8")
    known = differences.drop_nulls("difference")
    expected = []
    for model, language, is_twin in (
        ("bert", "en", False),
        ("bert", "hi", False),
        ("bert", "hi", True),
        ("a-model-with-a-long-name-indeed", "hi", False),
    ):
        values = known.filter(model=model, language=language, random_twin=is_twin)["difference"].to_numpy()
        name = {"en": "English", "hi": "Hindi"}[language] + (", random twins" if is_twin else "")
        middle, share = sorted(values)[values.size // 2 - 1 : values.size // 2 + 1], 100 * sum(values > 0) / values.size
        said = f"{name}\npairs: {values.size}\nmedian: {signed(sum(middle) / 2)}\nabove 0: {share:.0f} %"
        expected.append(said)
    assert sorted(re.findall(r"<title>(.*?)</title>", svg, flags=re.DOTALL)) == sorted(expected)
    assert "told:" not in svg
    assert b"told:" not in (tmp_path / "f.pdf").read_bytes()
