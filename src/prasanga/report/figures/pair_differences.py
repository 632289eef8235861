"""Densities of the difference of scores of sentence pairs, after Figures 4 and 5 of Sahoo et al. (2024).

The paper has one figure a language with a line for each model. Here each model has a panel, so that its lines can be
told apart: languages, or bias types. The horizontal axis is the same in all panels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from prasanga.base.errors import InputError
from prasanga.base.parquet import remade_by, require_columns
from prasanga.report.figures.canvas import (
    COLUMNS,
    NOTE,
    SIZES,
    NothingToDrawError,
    Width,
    drawn,
    few_ticks,
    lay_out,
    wrapped,
)
from prasanga.report.figures.palette import MODELS, MUTED
from prasanga.report.grid import groups_of, name_of_type, sort_types

Lines = Literal["language", "bias_type"]

FEWEST = 5
"""A density is drawn of so many differences and more: of fewer it would show the width of its own kernel."""

_NEEDED = ("set", "model", "language", "bias_type", "random_twin", "difference")
_SHOWN = (0.005, 0.995)
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.4)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
_POINTS = 241
_AT_ONCE = 4096
"""Differences whose kernels are in memory at a time."""

_FILLED = 6
"""Areas under more lines, twins counted, would only darken the panel."""

Numbers = npt.NDArray[np.float64]


class _Line(NamedTuple):
    """Differences that make one line; `place` is its number in the legend."""

    place: int
    differences: Numbers
    is_twin: bool = False


class _Panel(NamedTuple):
    title: str
    below: str
    lines: list[_Line]


def density(differences: Numbers, points: Numbers) -> Numbers | None:
    """Return the (m,) Gaussian kernel density at (m,) points.

    The bandwidth follows Scott's rule: standard deviation by n to the -1/5.

    None of fewer than `FEWEST` differences, or of differences that are all the same.
    """
    if differences.size < FEWEST or np.ptp(differences) == 0:
        return None
    width = differences.std(ddof=1) * differences.size ** (-1 / 5)
    heights = np.zeros(points.size)
    for start in range(0, differences.size, _AT_ONCE):
        steps = (points[:, None] - differences[None, start : start + _AT_ONCE]) / width
        heights += np.exp(-(steps**2) / 2).sum(axis=1)
    return np.asarray(heights / (differences.size * width * math.sqrt(2 * math.pi)), dtype=np.float64)


@drawn
def plot_differences(differences: pl.DataFrame, *, lines: Lines = "language", width: Width = "page") -> Figure:
    """Plot densities of the difference of scores: stereotypical sentence minus the other.

    Args:
        differences: what `prasanga.likelihoods.bias.pair_differences` returns. Pairs left out have null.
        lines: `language` has a panel a model, a line a language (of a set, where there are several), and the random
            twin as a thin line of the same kind; `bias_type` has a panel a model and language, a line a bias type.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or an argument is not known.
    """
    if lines not in ("language", "bias_type"):
        raise InputError(f"lines: {lines!r} is not known. Write 'language' or 'bias_type'.")
    require_columns("differences of scores", differences, _NEEDED, remade_by("likelihoods"))
    known = differences.with_columns(pl.col("set", "model").fill_null("")).filter(pl.col("difference").is_finite())
    if known.filter(~pl.col("random_twin")).is_empty():
        raise NothingToDrawError("no pair has a score for both of its sentences.")
    names, panels = _by_language(known) if lines == "language" else _by_type(known)
    low, high, beyond = _limits([line.differences for panel in panels for line in panel.lines if not line.is_twin])
    has_twins = any(line.is_twin for panel in panels for line in panel.lines)
    frame = lay_out(
        width,
        len(panels),
        across=COLUMNS,
        heads=[(panel.title, panel.below) for panel in panels],
        labels=("difference of scores (natural logarithm)", ""),
        keys=[_keys(names, has_twins, SIZES[width])],
        note=_note(beyond, has_twins),
        sharey=False,
    )
    points = np.linspace(low, high, _POINTS)
    for panel, axis in zip(panels, frame.panels, strict=False):
        _draw(axis, panel, points, frame.sizes, frame.room)
    few_ticks(frame.panels[0].xaxis, most=4 if width == "column" else 5)
    frame.panels[0].set_xlim(low, high)
    return frame.finish()


def _by_language(known: pl.DataFrame) -> tuple[list[str], list[_Panel]]:
    groups = groups_of(known.select("set", "language").iter_rows())
    panels = []
    for model in known.filter(~pl.col("random_twin"))["model"].unique(maintain_order=True):
        of_model = known.filter(model=model)
        lines = [
            _Line(place, found, is_twin)
            for place, group in enumerate(groups)
            for is_twin in (False, True)
            if (found := _of(of_model, set=group.set, language=group.language, random_twin=is_twin)).size
        ]
        counts = [line.differences.size for line in lines if not line.is_twin]
        panels.append(_Panel(model or "scores", f"{_range(counts)} pair{'' if max(counts) == 1 else 's'}", lines))
    return [group.title for group in groups], panels


def _by_type(known: pl.DataFrame) -> tuple[list[str], list[_Panel]]:
    known = known.filter(~pl.col("random_twin"))
    types = sort_types(known["bias_type"].to_list())
    groups = groups_of(known.select("set", "language").iter_rows())
    panels = []
    for model in known["model"].unique(maintain_order=True):
        for group in groups:
            of_group = known.filter(model=model, set=group.set, language=group.language)
            lines = [_Line(place, _of(of_group, bias_type=name)) for place, name in enumerate(types)]
            lines = [line for line in lines if line.differences.size]
            if lines:
                panels.append(_Panel(model or "scores", group.title, lines))
    return [name_of_type(name) for name in types], panels


def _of(known: pl.DataFrame, **where: Any) -> Numbers:
    return known.filter(**where)["difference"].to_numpy().astype(np.float64)


def _range(counts: Sequence[int]) -> str:
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _limits(found: Sequence[Numbers]) -> tuple[float, float, int]:
    """Return where the axis begins and ends, zero inside, and how many differences lie beyond."""
    values = np.concatenate(found)
    low, high = (float(end) for end in np.quantile(values, _SHOWN))
    low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.15 * (high - low) or 1.0
    low, high = low - margin, high + margin
    return low, high, int(((values < low) | (values > high)).sum())


def _note(beyond: int, has_twins: bool) -> str:
    said = [
        "Score of the stereotypical sentence minus that of the other. Each line has area 1, each panel its own height."
    ]
    if has_twins:
        said.append("Thin and pale: the model with random weights.")
    if beyond:
        said.append(f"{beyond} difference{' lies' if beyond == 1 else 's lie'} beyond the axis.")
    return " ".join(said)


def _draw(axis: Any, panel: _Panel, points: Numbers, sizes: dict[str, float], room: float) -> None:
    top, missing = 0.0, 0
    for line in panel.lines:
        heights = density(line.differences, points)
        if heights is None:
            missing += not line.is_twin
            continue
        look = _look(line.place, sizes["line"])
        if line.is_twin:
            axis.plot(points, heights, **{**look, "linewidth": sizes["line"] * 0.5, "alpha": 0.55, "zorder": 2})
        else:
            axis.plot(points, heights, **look, zorder=3)
            if len(panel.lines) <= _FILLED:
                axis.fill_between(points, heights, color=look["color"], alpha=0.08, linewidth=0, zorder=1.5)
            top = max(top, float(heights.max()))
    small = sizes["font"] * NOTE
    if missing:
        text = f"{missing} line{'s' if missing > 1 else ''} not drawn: fewer than {FEWEST} differences"
        axis.text(0.98, 0.95, "\n".join(wrapped(text, small, room * 0.96)), transform=axis.transAxes, ha="right",
                  va="top", color=MUTED, fontsize=small)  # fmt: skip
    axis.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
    axis.spines["left"].set_visible(False)
    # a twin may be far steeper, and would press all else flat
    axis.set_ylim(0, 1.08 * top or 1.0)
    axis.set_yticks([])


def _look(place: int, line: float) -> dict[str, Any]:
    return {"color": MODELS[place % len(MODELS)], "linestyle": _DASHES[place % len(_DASHES)], "linewidth": line}


def _keys(names: Sequence[str], has_twins: bool, sizes: dict[str, float]) -> list[Line2D]:
    handles = [Line2D([], [], label=name, **_look(n, sizes["line"])) for n, name in enumerate(names)]
    if has_twins:
        handles.append(Line2D([], [], label="random twins", color=MUTED, linewidth=sizes["line"] * 0.5, alpha=0.55))
    return handles
