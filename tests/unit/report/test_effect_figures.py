"""The figures of effects: which estimate, interval and word is drawn where."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from prasanga.associations import effect_size
from prasanga.report.figures import MODELS, MUTED, PAPER
from prasanga.report.figures.canvas import WIDTHS
from prasanga.report.figures.effects import (
    MOST,
    plot_convergence,
    plot_effect_by_length,
    plot_sample_modes,
    plot_settling,
    plot_words,
)

Table = Callable[..., pl.DataFrame]
LENGTHS = ("9", "25", ">75")
FLOWERS = {"গোলাপ": 0.30, "শাপলা": 0.10, "জুঁই": 0.20}
INSECTS = {"মশা": -0.10, "মাছি": 0.05, "উকুন": -0.30}
GLOSSES = {"গোলাপ": "rose", "শাপলা": "water lily", "মশা": "mosquito", "মাছি": "fly", "উকুন": "louse"}


def panels_of(figure: Figure) -> list[Any]:
    return [axes for axes in figure.axes if axes.get_visible()]


def bars_of(panel: Any) -> list[list[float]]:
    """The ends of the intervals that a panel shows."""
    found = [bar for lines in panel.collections for bar in lines.get_segments() if len(bar)]
    return [[float(y) for y in bar[:, 1]] for bar in found]


def points_of(panel: Any, marker: str, *, filled: bool) -> list[tuple[float, float]]:
    """Where a panel has markers of this shape, with the inside filled or not."""
    (line,) = [
        line for line in panel.lines if line.get_marker() == marker and (line.get_markerfacecolor() != PAPER) == filled
    ]
    return [(float(x), float(y)) for x, y in line.get_xydata()]


def tick_labels(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def joined(panel: Any, model: int = 0) -> list[float]:
    """The values that the line of a model joins."""
    line, *_ = (line for line in panel.lines if line.get_color() == MODELS[model] and line.get_linestyle() == "-")
    return [float(y) for y in line.get_ydata()]


def thick(panel: Any, model: int = 0) -> list[float]:
    """The values that the thick line of a model joins."""
    _, line = (line for line in panel.lines if line.get_color() == MODELS[model] and line.get_linestyle() == "-")
    return [float(y) for y in line.get_ydata()]


def test_one_panel_per_category_one_line_per_model(small: pl.DataFrame) -> None:
    figure = plot_effect_by_length(small)
    panels = panels_of(figure)
    assert [panel.get_title(loc="left") for panel in panels] == ["C1", "C4", "C10"]
    assert [text.get_text() for text in panels[2].texts] == ["weapons/tools\npleasant/unpleasant"]
    assert joined(panels[0]) == pytest.approx([0.9, 1.0])
    assert {line.get_color() for line in panels[0].lines} >= set(MODELS[:2])
    assert tick_labels(panels[0].xaxis) == ["9", ">75"]
    assert panels[0].get_ylim() == panels[2].get_ylim()
    # a missing estimate leaves a gap
    effects = sorted(bar for e in (0.9, 1.0, -0.45, -0.35) for bar in (e - 0.54, e + 0.54))
    assert sorted(end for bar in bars_of(panels[0]) for end in bar) == pytest.approx(effects)
    assert [math.isnan(y) for y in joined(panels[2], 1)] == [True, False]


def test_found_effects_are_filled_and_far_intervals_are_cut(table: Table) -> None:
    ceat = table(*((name, "a", length, "fixed", 0.1) for name in ("C1", "C4") for length in ("9", "25")))
    first, second = plot_effect_by_length(ceat.with_columns(is_found=pl.col("category") == "C1")).axes
    assert points_of(first, "o", filled=True) == points_of(second, "o", filled=False) == [(0.0, 0.1), (1.0, 0.1)]
    some = [("C1", "a", "9", "fixed", 0.5, {"ci_high": 7.5}), ("C1", "b", "9", "fixed", -0.5, {"ci_low": None})]
    (panel,) = plot_effect_by_length(table(*some)).axes
    assert panel.get_ylim() == pytest.approx((-0.5 - 0.125, 2 + 0.125))
    assert len(bars_of(panel)) == 1
    (panel,) = plot_effect_by_length(table(("C1", "a", "9", "fixed", 2.5, {"ci_high": 9.0}))).axes
    assert panel.get_ylim() == pytest.approx((-0.125, 2.625))


def test_a_category_without_estimates_says_so(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", None), ("C4", "a", "9", "fixed", 0.1))
    said = [[text.get_text() for text in panel.texts] for panel in plot_effect_by_length(ceat).axes]
    assert ["nothing to draw" in texts for texts in said] == [True, False]


def test_effects_that_are_not_significant_are_left_out_if_asked(table: Table) -> None:
    ps = (("C1", "9", 0.005), ("C1", "25", 0.006), ("C4", "9", 0.5))
    ceat = table(*((category, "a", length, "fixed", 0.5, {"p_draws": p}) for category, length, p in ps))
    first, second = plot_effect_by_length(ceat, alpha=0.005).axes
    assert tick_labels(first.xaxis) == ["9", "25"]
    assert joined(first) == pytest.approx([0.5, math.nan], nan_ok=True)
    assert "nothing to draw" in {text.get_text() for text in second.texts}


@pytest.fixture
def ceat(table: Table) -> pl.DataFrame:
    return table(*[(c, m, length, "fixed", 0.5) for c in ("C1", "C4") for m in ("a", "b") for length in LENGTHS])


def test_lines_are_thick_from_where_the_effect_stays(ceat: pl.DataFrame) -> None:
    steps = {"a": (0.9, 0.45, 0.55, 0.52, 0.5), "b": (-0.2, -0.2, -0.25, -0.2, -0.2)}
    rows = [
        ("C1", model, length, n, effect + (length == "9"))
        for model, effects in steps.items()
        for length in LENGTHS
        for n, effect in zip((100, 200, 500, 960, 1000), effects, strict=True)
    ]
    names = ["category", "model", "segment_length", "n", "effect_size"]
    figure = plot_convergence(ceat, pl.DataFrame(rows, schema=names, orient="row"), band=0.0625)
    first, second = panels_of(figure)
    assert thick(first) == pytest.approx([math.nan, 0.45, 0.55, 0.52, 0.5], nan_ok=True)
    assert thick(first, 1) == [-0.2, -0.2, -0.25, -0.2, -0.2]
    bands = [(band.get_y(), band.get_y() + band.get_height()) for band in first.patches]
    assert bands == [pytest.approx((0.4375, 0.5625)), pytest.approx((-0.2625, -0.1375))]

    assert first.get_xscale() == "log"
    assert "nothing to draw" in {text.get_text() for text in second.texts}
    assert figure.get_supylabel() == "effect size (CEAT, >75 words)"


def test_distances_to_the_longest_with_paired_intervals(ceat: pl.DataFrame) -> None:
    rows: list[tuple[Any, ...]] = [
        ("length", "C1", "a", "9", ">75", 0.4, 0.2, 0.7),
        ("length", "C1", "a", "25", ">75", -0.05, -0.1, 0.02),
        ("length", "C1", "a", "9", "25", 0.45, 0.3, 0.5),
        ("length", "C1", "b", "9", ">75", 0.02, None, None),
        ("length", "C1", "b", "25", ">75", None, None, None),
        ("model", "C1", None, "a", "b", 0.3, 0.2, 0.4),
    ]
    names = ["kind", "category", "model", "first", "second", "difference", "ci_low", "ci_high"]
    differences = pl.DataFrame(rows, schema=names, orient="row")
    cells = [("C1", "a", ">75", "25"), ("C1", "b", ">75", None), ("C4", "a", None, None), ("C4", "b", None, None)]
    settling = pl.DataFrame(
        cells, schema=["category", "model", "longest", "settled_length"], orient="row"
    ).with_columns(band=0.1)
    first, second = panels_of(plot_settling(ceat, differences, settling, band=0.1))
    assert joined(first) == [-0.4, 0.05, 0]
    assert thick(first) == pytest.approx([math.nan, 0.05, 0], nan_ok=True)
    # not settled before the longest, and without an effect at 25 words
    assert joined(first, 1) == pytest.approx([-0.02, math.nan, 0], nan_ok=True)
    assert thick(first, 1) == pytest.approx([math.nan, math.nan, 0], nan_ok=True)
    assert bars_of(first) == [[-0.7, -0.2], [-0.02, 0.1]]
    (band,) = first.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((-0.1, 0.1))
    assert tick_labels(first.xaxis) == list(LENGTHS)
    without_last = differences.filter(second="25"), settling.with_columns(longest=pl.lit("25"))
    assert tick_labels(plot_settling(ceat, *without_last, band=0.1).axes[0].xaxis) == ["9", "25"]
    assert "nothing to draw" in {text.get_text() for text in second.texts}
    # bars of any width do not press the lines flat
    wide = plot_settling(ceat, differences.with_columns(ci_high=pl.lit(500.0)), settling, band=0.1)
    assert wide.axes[0].get_ylim() == pytest.approx((-2 - 0.05 * 2.1, 0.1 + 0.05 * 2.1))


def test_every_estimate_of_both_draws_is_a_point(table: Table) -> None:
    rows = [("C1", "a", "9", 0.5, 0.25), ("C4", "a", "9", -0.5, -0.625), ("C1", "<b>", ">75", 1.0, 1.0),
            ("C4", "<b>", ">75", math.nan, 0.1), ("C10", "a", "9", None, None)]  # fmt: skip
    ceat = table(
        *[(c, m, n, mode, e) for c, m, n, *es in rows for mode, e in zip(("fixed", "random"), es, strict=True)]
    )
    figure = plot_sample_modes(ceat)
    short, _ = panels = figure.axes
    drawn = [
        [line.get_xydata().tolist() for line in panel.lines if line.get_linestyle() == "None" and len(line.get_xdata())]
        for panel in panels
    ]
    assert drawn == [[[[0.5, 0.25], [-0.5, -0.625]]], [[[1.0, 1.0]]]]
    assert [panel.get_title(loc="left") for panel in panels] == ["9 words", ">75 words"]
    (identity,) = [line for line in short.lines if line.get_color() == MUTED and line.get_linewidth() == 0.7]
    assert tuple(identity.get_xdata()) == tuple(identity.get_ydata()) == short.get_xlim()
    assert short.get_xlim() == short.get_ylim()


def lexicon(x: list[str], y: list[str], **changes: Any) -> dict[str, Any]:
    sets = [{"name": name, "stimuli": stimuli} for name, stimuli in (("flowers", x), ("insects", y))]
    attributes = [{"name": "pleasant", "gloss": "pleasant words"}, {"name": "un_pleasant", "stimuli": []}]
    category = {"title": "Flowers and insects", "targets": sets, "attributes": attributes, **changes}
    return {"C1": category, "glosses": GLOSSES}


def rows_of(model: str, length: str = "mean", *, scale: float = 1.0, offset: float = 0.0) -> Any:
    return [
        ("C1", model, length, role, stimulus, value * scale + offset)
        for role, values in (("x", FLOWERS), ("y", INSECTS))
        for stimulus, value in values.items()
    ]


def table_of(rows: list[Any]) -> pl.DataFrame:
    columns = ["category", "model", "segment_length", "role", "stimulus", "association"]
    schema = {name: pl.Float64 if name == "association" else pl.String for name in columns}
    return pl.DataFrame(rows, schema=schema, orient="row")


LEXICON = lexicon(list(FLOWERS), list(INSECTS))


def dots(panel: Any, model: int = 0) -> list[float]:
    """The values of a model, from the top down."""
    (line,) = [line for line in panel.lines if line.get_color() == MODELS[model]]
    return [float(x) for _, x in sorted(zip(line.get_ydata(), line.get_xdata(), strict=True))]


def labels_of(figure: Figure) -> list[list[str]]:
    return [tick_labels(panel.yaxis) for panel in panels_of(figure)]


def test_words_are_sorted_within_their_set_with_their_glosses() -> None:
    figure = plot_words(table_of(rows_of("m")), LEXICON, "C1")
    # জুঁই has no gloss
    assert labels_of(figure) == [
        ["mean of 3", "গোলাপ · rose", "জুঁই", "শাপলা · water lily"],
        ["mean of 3", "মাছি · fly", "মশা · mosquito", "উকুন · louse"],
    ]
    assert [panel.get_title(loc="left") for panel in panels_of(figure)] == ["C1: flowers", "C1: insects"]
    assert figure.get_supxlabel() == "← nearer to un pleasant      nearer to pleasant words →"


def test_values_are_standardized_and_means_differ_by_the_effect_size() -> None:
    figure = plot_words(table_of(rows_of("m")), LEXICON, "C1")
    values = np.array([*FLOWERS.values(), *INSECTS.values()])
    left, right = (dots(panel) for panel in panels_of(figure))
    for (mean, *of_words), associations in ((left, FLOWERS), (right, INSECTS)):
        expected = sorted(((v - values.mean()) / values.std(ddof=1) for v in associations.values()), reverse=True)
        assert of_words == pytest.approx(expected)
        assert mean == pytest.approx(np.mean(expected))
    # vectors whose association with a = (1, 0) minus that with b = (0, 1) is the one asked for
    angles = {word: math.pi / 4 - math.asin(v / math.sqrt(2)) for word, v in {**FLOWERS, **INSECTS}.items()}
    vectors = {word: np.array([math.cos(angle), math.sin(angle)]) for word, angle in angles.items()}
    x, y = (np.stack([vectors[word] for word in side]) for side in (FLOWERS, INSECTS))
    d = effect_size(x, y, np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    assert left[0] - right[0] == pytest.approx(d)


def test_models_of_other_scales_fall_on_each_other_and_keep_their_colours() -> None:
    table = table_of([*rows_of("a"), *rows_of("b", scale=0.01, offset=5.0)])
    panel = panels_of(plot_words(table, LEXICON, "C1"))[0]
    assert dots(panel, 0) == pytest.approx(dots(panel, 1))
    # a model that has nothing to show in a category does not hand its colour on
    figure = plot_words(table_of([*rows_of("a", scale=0.0), *rows_of("b")]), LEXICON, "C1")
    assert len(dots(panels_of(figure)[0], 1)) == 4
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["b"]


def test_words_are_those_of_the_primary_estimate() -> None:
    table = table_of([*rows_of("m", "75", scale=-1), *rows_of("m"), *rows_of("m", "9", scale=-1)])
    figure, alone = (plot_words(words, LEXICON, "C1") for words in (table, table_of(rows_of("m"))))
    assert labels_of(figure) == labels_of(alone)


def test_words_without_a_number_are_left_out() -> None:
    table = table_of(rows_of("m")).with_columns(
        association=pl.when(stimulus="মশা").then(math.nan).when(stimulus="জুঁই").then(math.inf).otherwise("association")
    )
    figure = plot_words(table, lexicon([*FLOWERS, "টগর"], list(INSECTS)), "C1")
    assert [len(labels) for labels in labels_of(figure)] == [3, 3]
    for width in WIDTHS:  # one set may be empty
        figure = plot_words(table.filter(role="x"), LEXICON, "C1", width=width)  # type: ignore[arg-type]
        assert labels_of(figure)[1] == ["mean of 0"]


def test_a_large_set_shows_both_ends() -> None:
    x = [f"w{n:03}" for n in range(100)]
    table = table_of([("C1", "m", "mean", "x", word, n / 100) for n, word in enumerate(x)] + rows_of("m")[3:])
    for width in WIDTHS:
        figure = plot_words(table, lexicon(x, list(INSECTS)), "C1", width=width)  # type: ignore[arg-type]
        assert labels_of(figure)[0] == ["mean of 100", *x[::-1][: MOST // 2], *x[::-1][-(MOST // 2) :]]
        assert figure.get_figheight() < 11


def test_the_rows_of_a_table_may_be_in_any_order() -> None:
    table = table_of([*rows_of("a"), *rows_of("b", scale=-0.5), *rows_of("a", ">75"), *rows_of("b", ">75")])
    shuffled = pl.concat([table.head(1), table.tail(-1).sample(fraction=1.0, shuffle=True, seed=3)])
    one, two = (plot_words(words, LEXICON, "C1") for words in (table, shuffled))
    assert labels_of(one) == labels_of(two)
    for model in (0, 1):
        assert [dots(panel, model) for panel in panels_of(one)] == [dots(panel, model) for panel in panels_of(two)]
