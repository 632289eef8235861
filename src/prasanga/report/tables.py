"""The table of estimates as text: in the layout of Sadhu et al. (2024), Table 5, and as one tidy CSV.

The layout has a row for each category and sample mode and a column for each model and segment length. An asterisk marks
p_stimuli < .05, the p that asks about other words; in the paper it marks what is not significant by the p of the draws.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from prasanga.report.grid import Category, Grid, grid_of, is_number, why_missing
from prasanga.report.numbers import MISSING, signed

ALPHA = 0.05
"""Below this p_stimuli a cell is marked."""

_MARK = "*"
_NOTES = (
    "Combined effect sizes of CEAT; positive if the first target set is closer to the first attribute set.",
    "* p_stimuli < .05: permutation of the target words, two-sided, not corrected for the number of cells."
    " No mark stands for p_draws, the p of the combined effect over draws from these contexts (in Sadhu et al., 2024,"
    " an asterisk is p_draws of at least .005).",
)


class _Row(NamedTuple):
    """One line of the layout: a category in one sample mode, with the text of each (model, length)."""

    category: Category
    mode: str
    cells: dict[tuple[str, str], str]
    first: bool


def to_csv(ceat: pl.DataFrame) -> str:
    """The layout of the paper as CSV: one column per model and length, and a last one that says what is missing."""
    grid = grid_of(ceat)
    columns = _columns(grid, grid.models)
    header = ["category", "targets", "attributes", "sample_mode", *(f"{m} {length}" for m, length in columns), "note"]
    lines = [
        [
            row.category.name,
            row.category.targets,
            row.category.attributes,
            row.mode,
            *(row.cells[column] for column in columns),
            "; ".join(_reasons(grid, row, columns)),
        ]
        for row in _rows(grid)
    ]
    return _write_csv([header, *lines])


def to_tidy_csv(ceat: pl.DataFrame) -> str:
    """Every column of every estimate in full precision, one line per estimate; empty where there is no number."""
    return ceat.write_csv(line_terminator="\n")


def to_markdown(ceat: pl.DataFrame, *, models_per_table: int = 2) -> str:
    """The layout of the paper in Markdown, `models_per_table` models side by side, with notes below."""
    grid = grid_of(ceat)
    blocks = []
    for models in _blocks(grid.models, models_per_table):
        columns = _columns(grid, models)
        header = ["Category", "draws", *(f"{_markdown(model)} {length}" for model, length in columns)]
        lines = [header, ["---", "---", *("---:" for _ in columns)]]
        lines += [[_markdown(_label(row)), row.mode, *(row.cells[c] for c in columns)] for row in _rows(grid)]
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    notes = "\n".join(f"- {_markdown(note)}" for note in _notes(grid))
    return "\n\n".join([*blocks, notes]) + "\n"


def to_latex(ceat: pl.DataFrame, *, models_per_table: int = 2) -> str:
    r"""The layout of the paper as a LaTeX `table*` (needs booktabs), `models_per_table` models side by side."""
    grid = grid_of(ceat)
    tabulars = [_tabular(grid, models) for models in _blocks(grid.models, models_per_table)]
    return "\n".join(
        [
            r"% Needs \usepackage{booktabs}.",
            r"\begin{table*}",
            r"\centering\small",
            "\n\n\\medskip\n".join(tabulars),
            "",
            r"\smallskip",
            r"\begin{minipage}{\linewidth}\footnotesize",
            "\\par\n".join(_latex(note) for note in _notes(grid)),
            r"\end{minipage}",
            r"\caption{CEAT effect size by category, model and segment length in words; f: fixed, r: random draws.}",
            r"\label{tab:ceat}",
            r"\end{table*}",
            "",
        ]
    )


def _tabular(grid: Grid, models: Sequence[str]) -> str:
    columns, width = _columns(grid, models), len(grid.lengths)
    spans = [(3 + i * width, 2 + (i + 1) * width) for i in range(len(models))]
    heads = [rf"\multicolumn{{{width}}}{{c}}{{{_latex(model)}}}" for model in models]
    lines = [
        rf"\begin{{tabular}}{{ll{'r' * len(columns)}}}",
        r"\toprule",
        " & ".join(["Category", "", *heads]) + r" \\",
        " ".join(rf"\cmidrule(lr){{{first}-{last}}}" for first, last in spans),
        " & ".join(["", "", *(_latex(length) for _, length in columns)]) + r" \\",
        r"\midrule",
    ]
    for row in _rows(grid):
        cells = [_latex_number(row.cells[column]) for column in columns]
        lines.append(" & ".join([_latex(_label(row)), row.mode[:1], *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _rows(grid: Grid) -> Iterator[_Row]:
    for category in grid.categories:
        for number, mode in enumerate(grid.modes):
            cells = {
                (model, length): _cell(grid, category.name, model, length, mode)
                for model, length in _columns(grid, grid.models)
            }
            yield _Row(category, mode, cells, first=number == 0)


def _cell(grid: Grid, category: str, model: str, length: str, mode: str) -> str:
    estimate = grid.at(category, model, length, mode)
    if estimate is None or not is_number(estimate["effect_size"]):
        return MISSING
    p = estimate.get("p_stimuli")
    return signed(estimate["effect_size"]) + (_MARK if p is not None and p < ALPHA else "")


def _label(row: _Row) -> str:
    """As in the paper: name and targets in a category's first line, the attributes in its second."""
    if row.first:
        return f"{row.category.name}: {row.category.targets}"
    return f"({row.category.attributes})"


def _notes(grid: Grid) -> list[str]:
    notes = list(_NOTES)
    if len(grid.modes) == 1:
        notes.append(
            "Attributes: " + "; ".join(f"{category.name} {category.attributes}" for category in grid.categories) + "."
        )
    columns = _columns(grid, grid.models)
    missing = [f"{r.category.name}, {r.mode}: {reason}" for r in _rows(grid) for reason in _reasons(grid, r, columns)]
    return [*notes, *(f"{MISSING} {reason}." for reason in missing)]


def _reasons(grid: Grid, row: _Row, columns: Sequence[tuple[str, str]]) -> list[str]:
    """Why cells of a row have no number: a reason once, with the cells it holds for."""
    cells: dict[str, list[str]] = {}
    for model, length in columns:
        reason = why_missing(grid.at(row.category.name, model, length, row.mode))
        if reason:
            cells.setdefault(reason, []).append(f"{model} {length}")
    return [f"{', '.join(where)}: {reason}" for reason, where in cells.items()]


def _columns(grid: Grid, models: Sequence[str]) -> list[tuple[str, str]]:
    return [(model, length) for model in models for length in grid.lengths]


def _blocks(models: Sequence[str], size: int) -> list[Sequence[str]]:
    return [models[start : start + max(1, size)] for start in range(0, len(models), max(1, size))]


def _write_csv(lines: Sequence[Sequence[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(lines)
    return buffer.getvalue()


def _markdown(text: str) -> str:
    for sign in "\\|*_`<>[]":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    MISSING: "--",
}


def _latex(text: str) -> str:
    return " ".join("".join(_LATEX.get(sign, sign) for sign in text).split())


def _latex_number(cell: str) -> str:
    if cell == MISSING:
        return "--"
    number = cell.removesuffix(_MARK)
    return f"${number}$" if number == cell else f"${number}^{{*}}$"
