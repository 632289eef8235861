"""Boxes of associations by sentence structure: what Figure 2 of Sadhu et al. (2024) shows as clouds, as numbers.

One panel a model. Colour tells the quantity, prior or corrected, and shade the polarity of the traits.
"""

from __future__ import annotations

import math
import textwrap
from typing import Any

import polars as pl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from prasanga.columns import remade_by, require_columns
from prasanga.errors import InputError
from prasanga.report.figures.palette import MODELS, MUTED, PAPER
from prasanga.report.figures.panels import SIZES, WIDTHS, Width, check_width, house_style
from prasanga.report.grid import is_number
from prasanga.report.log_probability import SPREAD_COLUMNS

_BOXES = (("prior", "positive"), ("prior", "negative"), ("corrected", "positive"), ("corrected", "negative"))
_COLOURS = {"prior": MODELS[0], "corrected": MODELS[1]}
_ACROSS = {"column": 1, "page": 2}
_NOTE = (
    "Association: log-probability of the male terms minus that of the female ones. The box holds the middle half of the"
    " traits, its line is the median, the whiskers reach the smallest and the largest. Filled: positive traits."
)


def plot_structures(spread: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Boxes of the associations of traits by structure.

    Args:
        spread: `prasanga.likelihoods.spread.spread_by_structure`.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, no row has a number, or another width.
    """
    check_width(width)
    require_columns("spread by structure", spread, SPREAD_COLUMNS, remade_by("likelihoods"))
    drawn = [row for row in spread.iter_rows(named=True) if (row["quantity"], row["polarity"]) in _BOXES]
    drawn = [row for row in drawn if is_number(row["median"])]
    if not drawn:
        raise InputError("spread by structure: no row has a number, so there is nothing to draw.")
    models = list(dict.fromkeys(row["model"] for row in drawn))
    structures = sorted({row["structure"] for row in drawn})
    boxes = [box for box in _BOXES if any((row["quantity"], row["polarity"]) == box for row in drawn)]
    with house_style(width):
        figure, axes = _frame(width, len(models), boxes)
        for axis, model in zip(axes, models, strict=False):
            for row in drawn:
                if row["model"] == model:
                    place = boxes.index((row["quantity"], row["polarity"]))
                    _draw(axis, row, structures.index(row["structure"]), place, len(boxes), SIZES[width])
            axis.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
            axis.grid(axis="y")
            axis.set_axisbelow(True)
            axis.set_xticks(range(len(structures)), structures)
            axis.set_xlim(-0.55, len(structures) - 0.45)
            axis.set_title(model, loc="left", fontsize=SIZES[width]["title"], fontweight="bold", pad=3)
    return figure


def _draw(axis: Any, row: dict[str, Any], structure: int, place: int, n_boxes: int, sizes: dict[str, float]) -> None:
    room = 0.8 / n_boxes
    x = structure - 0.4 + (place + 0.5) * room
    colour, line = _COLOURS[row["quantity"]], sizes["line"] * 0.8
    axis.plot([x, x], [row["min"], row["max"]], color=colour, linewidth=line * 0.7, zorder=2)
    axis.bar(
        x,
        row["q75"] - row["q25"],
        room * 0.78,
        bottom=row["q25"],
        facecolor=colour if row["polarity"] == "positive" else PAPER,
        edgecolor=colour,
        linewidth=line,
        zorder=3,
    )
    half = room * 0.39
    # a box of no height would vanish under a line in the colour of the paper
    flat = row["q75"] - row["q25"] < 0.01 * (row["max"] - row["min"])
    middle = PAPER if row["polarity"] == "positive" and not flat else colour
    axis.plot([x - half, x + half], [row["median"]] * 2, color=middle, linewidth=line * 1.3, zorder=4)


def _frame(width: Width, n_panels: int, boxes: list[tuple[str, str]]) -> tuple[Figure, list[Any]]:
    """The figure with its axes, those of the models first, and the legend and note below."""
    sizes, inches = SIZES[width], WIDTHS[width]
    line = sizes["font"] * 1.75 / 72
    note = textwrap.wrap(_NOTE, 66 if width == "column" else 130)
    columns = min(_ACROSS[width], n_panels)
    rows = math.ceil(n_panels / columns)
    key = (math.ceil(len(boxes) / (2 if width == "column" else 4)) + len(note) * 0.85) * line
    below, top, panel = key + 1.4 * line, sizes["top"] * 0.7, sizes["panel"] * 1.25
    height = rows * (panel + top) + (rows - 1) * 1.6 * line + below
    figure = Figure(figsize=(inches, height))
    FigureCanvasAgg(figure)
    left = sizes["font"] * 5.4 / 72
    axes = figure.subplots(
        rows,
        columns,
        sharey=True,
        squeeze=False,
        gridspec_kw={
            "left": left / inches,
            "right": 0.995,
            "top": 1 - top / height,
            "bottom": below / height,
            "wspace": 0.06,
            "hspace": (top + 1.6 * line) / panel,
        },
    )
    flat = list(axes.flat)
    for number, axis in enumerate(flat):
        axis.set_visible(number < n_panels)
    label = "association (natural logarithm)"
    figure.text(0.004, (height + below) / 2 / height, label, rotation=90, ha="left", va="center")
    handles = [
        Patch(
            facecolor=_COLOURS[quantity] if polarity == "positive" else PAPER,
            edgecolor=_COLOURS[quantity],
            linewidth=sizes["line"] * 0.8,
            label=f"{quantity}, {polarity} traits",
        )
        for quantity, polarity in boxes
    ]
    figure.legend(
        handles=handles,
        ncols=2 if width == "column" else 4,
        loc="lower center",
        bbox_to_anchor=(0.5, line * (len(note) * 0.85 + 0.25) / height),
        handlelength=1.6,
        columnspacing=1.4,
        borderaxespad=0,
        borderpad=0,
        labelspacing=0.4,
        fontsize=sizes["font"],
    )
    figure.text(
        0.5,
        line * 0.1 / height,
        "\n".join(note),
        ha="center",
        va="bottom",
        color=MUTED,
        fontsize=sizes["font"] * 0.92,
        linespacing=1.2,
    )
    return figure, flat
