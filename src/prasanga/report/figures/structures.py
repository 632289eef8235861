"""Boxes of associations by sentence structure: what Figure 2 of Sadhu et al. (2024) shows as clouds, as numbers.

One panel a model. Colour tells the quantity, prior or corrected, and shade the polarity of the traits.
"""

from __future__ import annotations

from typing import Any

import polars as pl
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from prasanga.columns import remade_by, require_columns
from prasanga.errors import InputError
from prasanga.report.figures.fitting import shortened, thinned, width_of
from prasanga.report.figures.frame import finish_axes, lay_out, left_of, panel_width
from prasanga.report.figures.palette import MODELS, MUTED, PAPER
from prasanga.report.figures.panels import SIZES, WIDTHS, Width, check_width, house_style
from prasanga.report.findings import SPREAD_COLUMNS
from prasanga.report.grid import is_number

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
    sizes, inches, across = SIZES[width], WIDTHS[width], min(_ACROSS[width], len(models))
    with house_style(width):
        frame = lay_out(
            inches,
            sizes,
            len(models),
            across=across,
            panel=sizes["panel"] * 1.25,
            top=sizes["title"] * 2.2 / 72,
            labels=("", "association (log)"),
            keys=[_keys(boxes, sizes["line"])],
            note=_NOTE,
            gap=0.06,
        )
        room = panel_width(inches, across, left=left_of(sizes, "y"), gap=0.06)
        for axes, model in zip(frame.panels, models, strict=False):
            rows = [row for row in drawn if row["model"] == model]
            _draw(axes, rows, structures, boxes, sizes["line"] * 0.8)
            axes.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
            title = shortened(model, sizes["title"], room, bold=True)
            axes.set_title(title, loc="left", fontsize=sizes["title"], fontweight="bold", pad=3)
        ends = [0.0, *(row[end] for row in drawn for end in ("min", "max") if is_number(row[end]))]
        margin = 0.05 * (max(ends) - min(ends)) or 1.0
        step = room / (len(structures) + 0.1)
        ticks = [shortened(name, sizes["font"], max(step - 3, sizes["font"] * 3)) for name in structures]
        widest = max(width_of(tick, sizes["font"]) for tick in ticks) + 2
        frame.panels[0].set_xticks(range(len(ticks)), thinned(ticks, [i * step for i in range(len(ticks))], widest))
        frame.panels[0].set_xlim(-0.55, len(structures) - 0.45)
        frame.panels[0].set_ylim(min(ends) - margin, max(ends) + margin)
        finish_axes(frame.panels, grid=True)
    return frame.figure


def _draw(
    axes: Any, rows: list[dict[str, Any]], structures: list[str], boxes: list[tuple[str, str]], line: float
) -> None:
    room = 0.8 / len(boxes)
    half = room * 0.39
    for place, (quantity, polarity) in enumerate(boxes):
        colour, filled = _COLOURS[quantity], polarity == "positive"
        middle = PAPER if filled else colour
        whiskers, rectangles, medians, colours = [], [], [], []
        for row in rows:
            if (row["quantity"], row["polarity"]) != (quantity, polarity):
                continue
            x = structures.index(row["structure"]) - 0.4 + (place + 0.5) * room
            height = row["q75"] - row["q25"]
            whiskers.append([(x, row["min"]), (x, row["max"])])
            rectangles.append(Rectangle((x - half, row["q25"]), 2 * half, height))
            medians.append([(x - half, row["median"]), (x + half, row["median"])])
            # a box of no height would vanish under a line in the colour of the paper
            colours.append(colour if height < 0.01 * (row["max"] - row["min"]) else middle)
        axes.add_collection(LineCollection(whiskers, colors=colour, linewidths=line * 0.7, zorder=2), autolim=False)
        face = colour if filled else PAPER
        axes.add_collection(
            PatchCollection(rectangles, facecolor=face, edgecolor=colour, linewidth=line, zorder=3), autolim=False
        )
        axes.add_collection(LineCollection(medians, colors=colours, linewidths=line * 1.3, zorder=4), autolim=False)


def _keys(boxes: list[tuple[str, str]], line: float) -> list[Patch]:
    return [
        Patch(
            facecolor=_COLOURS[quantity] if polarity == "positive" else PAPER,
            edgecolor=_COLOURS[quantity],
            linewidth=line,
            label=f"{quantity}, {polarity} traits",
        )
        for quantity, polarity in boxes
    ]
