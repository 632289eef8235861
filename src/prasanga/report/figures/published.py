"""What a study measured against what a paper prints: one panel a method, one point a row of the comparison.

On the line the two are equal. Each panel has a scale of its own: effect sizes and percentages do not share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from prasanga.pairs.names import OVERALL
from prasanga.report.comparison import PAIRS, comparison_rows
from prasanga.report.figures.fitting import shortened, wrapped
from prasanga.report.figures.frame import NOTE, lay_out, left_of, only_a_note, panel_width
from prasanga.report.figures.palette import INK, LINE, MUTED
from prasanga.report.figures.panels import SIZES, WIDTHS, Width, check_width, draw_bars, house_style, look
from prasanga.report.grid import is_number
from prasanga.report.paper_tables import method_name

_ACROSS = {"column": (1, 2), "page": (1, 2, 3, 4, 3)}
"""Panels side by side, by how many there are; the last also for more."""

_GAP = 0.24
_EVEN = 50.0
"""No preference, of sentence pairs."""


class _Point(NamedTuple):
    method: str
    model: str
    published: float
    measured: float
    low: float | None
    high: float | None
    doubtful: bool
    same_sign: bool | None


def plot_published(table: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Measured against published numbers with the intervals of the measured ones.

    Args:
        table: rows of `prasanga.report.comparison`, also as read from CSV. A row without a measured number, or of which
            the paper prints a bound only, is not drawn and counted in the note.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    check_width(width)
    rows = comparison_rows(table)
    of_types = rows.filter((pl.col("method") != PAIRS) | (pl.col("category") != OVERALL))
    # the row over all pairs repeats those of the bias types, and is left out of their agreement as well
    rows = of_types if len(of_types) else rows
    points = _points(rows)
    sizes, inches = SIZES[width], WIDTHS[width]
    with house_style(width):
        if not points:
            why = "no row of the comparison has a number of both" if len(rows) else "the comparison has no rows"
            return only_a_note(inches, sizes, f"Not drawn: {why}.")
        methods = list(dict.fromkeys(point.method for point in points))
        models = list(dict.fromkeys(point.model for point in points))
        across = _ACROSS[width][min(len(methods), len(_ACROSS[width])) - 1]
        room = panel_width(inches, across, left=left_of(sizes, "y"), gap=_GAP)
        heads = [_head(method, [p for p in points if p.method == method], sizes, room) for method in methods]
        limits = [_limits([p for p in points if p.method == method]) for method in methods]
        frame = lay_out(
            inches,
            sizes,
            len(methods),
            across=across,
            # square where there are several, and no larger than two of them side by side
            panel=min(room, panel_width(inches, 2, left=left_of(sizes, "y"), gap=_GAP)) / 72,
            top=(sizes["title"] * 1.5 + max(len(lines) for _, lines in heads) * _step(sizes) + 3) / 72,
            labels=("published", "measured"),
            keys=[_keys_of_doubt(points, sizes), [_key(models, model, sizes) for model in models]],
            note=_note(points, len(rows), limits, methods),
            gap=_GAP,
            sharex=False,
            sharey=False,
        )
        for panel, method, head, (low, high) in zip(frame.panels, methods, heads, limits, strict=False):
            shown = [point for point in points if point.method == method]
            middle = _EVEN if method == PAIRS else 0.0
            panel.axhline(middle, color=LINE, linewidth=0.6, zorder=1)
            panel.axvline(middle, color=LINE, linewidth=0.6, zorder=1)
            panel.plot([low, high], [low, high], color=MUTED, linewidth=0.7, zorder=1.5)
            for number, model in enumerate(models):
                _draw(panel, [point for point in shown if point.model == model], number, sizes)
            panel.set_xlim(low, high)
            panel.set_ylim(low, high)
            for axis in (panel.xaxis, panel.yaxis):
                axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
            _add_head(panel, head, sizes)
    return frame.figure


def _points(rows: pl.DataFrame) -> list[_Point]:
    points = []
    for row in rows.iter_rows(named=True):
        if row["bound"] or not (is_number(row["measured"]) and is_number(row["published"])):
            continue
        low, high = row["ci_low"], row["ci_high"]
        has_interval = is_number(low) and is_number(high)
        points.append(
            _Point(
                row["method"],
                row["model"],
                row["published"],
                row["measured"],
                low if has_interval else None,
                high if has_interval else None,
                row["doubt"] is not None,
                row["same_sign"],
            )
        )
    return points


def _draw(panel: Any, points: Sequence[_Point], model: int, sizes: dict[str, float]) -> None:
    sure = [point for point in points if not point.doubtful]
    for of_kind, doubtful in ((sure, 0), ([point for point in points if point.doubtful], 1)):
        style = {**look(model, doubtful, sizes), "linestyle": "none", "markersize": sizes["marker"] * 0.9}
        panel.plot([point.published for point in of_kind], [point.measured for point in of_kind], **style)
    bars = [
        (point.published, point.low, point.high) for point in points if point.low is not None and point.high is not None
    ]
    draw_bars(panel, bars, color=look(model, 0, sizes)["color"], linewidth=sizes["line"] * 0.6, alpha=0.35)


def _limits(points: Sequence[_Point]) -> tuple[float, float]:
    """Of both axes of a panel: all points are inside, intervals may leave it."""
    ends = [end for point in points for end in (point.published, point.measured)]
    middle = _EVEN if points[0].method == PAIRS else 0.0
    low, high = min(*ends, middle), max(*ends, middle)
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def _head(method: str, points: Sequence[_Point], sizes: dict[str, float], room: float) -> tuple[str, list[str]]:
    name = "Sentence pairs" if method == PAIRS else method_name(method)
    signs = [point.same_sign for point in points if point.same_sign is not None]
    said = f"{'side' if method == PAIRS else 'sign'} agrees in {sum(signs)} of {len(signs)}"
    return shortened(name, sizes["title"], room, bold=True), wrapped(said, sizes["title"] * NOTE, room)


def _add_head(panel: Any, head: tuple[str, list[str]], sizes: dict[str, float]) -> None:
    title, lines = head
    size, step = sizes["title"], _step(sizes)
    anchor: dict[str, Any] = {"textcoords": "offset points", "xycoords": "axes fraction"}
    panel.annotate(title, (0, 1), (0, 3 + step * len(lines) + 1), fontsize=size, fontweight="bold", **anchor)
    for number, line in enumerate(reversed(lines)):
        panel.annotate(line, (0, 1), (0, 3 + step * number), fontsize=size * NOTE, color=INK, **anchor)


def _step(sizes: dict[str, float]) -> float:
    """Height of a line under a panel's title, in points."""
    return sizes["title"] * NOTE * 1.15


def _key(models: Sequence[str], model: str, sizes: dict[str, float]) -> Line2D:
    return Line2D([], [], label=model, **{**look(models.index(model), 0, sizes), "linestyle": "none"})


def _keys_of_doubt(points: Sequence[_Point], sizes: dict[str, float]) -> list[Line2D]:
    """What open markers mean, where there are any."""
    if not any(point.doubtful for point in points):
        return []
    style = {**look(0, 1, sizes), "linestyle": "none", "color": MUTED}
    return [Line2D([], [], label="the published number is in doubt", **style)]


def _note(points: Sequence[_Point], n_rows: int, limits: Sequence[tuple[float, float]], methods: Sequence[str]) -> str:
    said = "On the line both are equal."
    barred = [point for point in points if point.low is not None]
    if barred:
        said += " Bars: 95 % interval of what was measured"
        of = dict(zip(methods, limits, strict=True))
        beyond = [p for p in barred if (p.low or 0) < of[p.method][0] or (p.high or 0) > of[p.method][1]]
        said += "; some go on beyond the panel." if beyond else "."
    if missing := n_rows - len(points):
        said += f" Not drawn: {missing} of {n_rows} rows, without a number of both."
    return said
