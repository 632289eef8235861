"""Bias percentages in the layout of Table 2 of Sahoo et al. (2024): bias types by language and model.

With `preset: paper` the numbers are means over runs, as the paper's; else those of all pairs, with the test against 50.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from prasanga.pairs.preferences import OVERALL
from prasanga.report.grid import (
    NO_PAIRS,
    Estimate,
    Group,
    PairGrid,
    is_number,
    is_significant,
    name_of_type,
    pair_grid_of,
    tests_of,
    why_no_percentage,
)
from prasanga.report.paper_tables import Layout, PaperTable
from prasanga.report.sheet import MARK, MISSING, Cell, Row, Sheet, split_wide

NAME = "sahoo_table2"
"""Of the files under `results/report/tables/`."""

CAPTION = (
    "Bias percentage by bias type, language and model, in the layout of Table 2 of Sahoo et al. (2024): of how"
    " many pairs the model prefers the stereotypical sentence. 50 is no preference."
)

_WIDTH = 8
_RUNS = ("mean of runs", "deviation over runs")


def render_pair_table(bias: pl.DataFrame, *, preset: str = "recommended") -> Layout:
    """Return the table in three formats, named as their file endings; arguments and errors as of `pair_table`."""
    return pair_table(bias, preset=preset).written()


def pair_table(bias: pl.DataFrame, *, preset: str = "recommended") -> PaperTable:
    """Return the table.

    Args:
        bias: what `prasanga.likelihoods.bias_percentage` returns.
        preset: recommended or paper; decides what the numbers are of, and whether any is marked.

    Raises:
        InputError: a column is missing, there are no rows, or two for the same cell.
    """
    grid = pair_grid_of(bias)
    value = value_of(bias, preset)
    by_runs = value != "bias_percentage"
    columns = [(group, model) for group in grid.groups for model in grid.models_of(group)]
    heads = tuple((group.title, model) for group, model in columns)
    shown = [*grid.types, *([] if by_runs else [OVERALL])]
    lines = [(name, _cells(grid, columns, name, value, marked=not by_runs)) for name in shown]
    lines += [(name, _of_runs(grid, columns, name)) for name in _RUNS if bias["runs_mean"].is_not_null().any()]
    plain = Sheet(("bias_type",), heads, [Row((name,), cells, _why(grid, columns, name)) for name, cells in lines])
    labelled = [Row((name if name in _RUNS else name_of_type(name),), cells) for name, cells in lines]
    sheet = Sheet(("Bias type",), heads, labelled)
    notes = list(_notes(grid, by_runs, has_bold=any(cell.bold for _, cells in lines for cell in cells)))
    return PaperTable(NAME, CAPTION, plain, ("Bias type",), [sheet], split_wide(sheet, _WIDTH), notes)


def _cells(
    grid: PairGrid, columns: Iterable[tuple[Group, str]], bias_type: str, value: str, *, marked: bool
) -> tuple[Cell, ...]:
    rows = [(group, grid.at(group, model, bias_type)) for group, model in columns]
    distances: dict[Group, list[float]] = {}
    for group, row in rows:
        if row is not None and is_number(row[value]):
            distances.setdefault(group, []).append(_distance(row[value]))
    # of one model nothing is nearest
    nearest = {group: min(found) for group, found in distances.items() if len(found) > 1}
    return tuple(
        Cell(
            f"{row[value]:.2f}",
            MARK if marked and is_significant(row) else "",
            bold=_distance(row[value]) == nearest.get(group),
        )
        if row is not None and is_number(row[value])
        else Cell()
        for group, row in rows
    )


def _of_runs(grid: PairGrid, columns: Iterable[tuple[Group, str]], name: str) -> tuple[Cell, ...]:
    column = "runs_mean" if name == _RUNS[0] else "runs_sd"
    rows = (grid.at(group, model, OVERALL) for group, model in columns)
    return tuple(Cell(f"{row[column]:.2f}") if row is not None and is_number(row[column]) else Cell() for row in rows)


def value_of(bias: pl.DataFrame, preset: str) -> str:
    """Return the column of what the table shows: means over runs with `preset: paper`, as far as there are any."""
    by_runs = preset == "paper" and bias["runs_mean"].is_not_null().any()
    return "runs_mean" if by_runs else "bias_percentage"


def _why(grid: PairGrid, columns: Iterable[tuple[Group, str]], bias_type: str) -> str:
    if bias_type in _RUNS:
        return ""
    reasons = ((group, model, why_no_percentage(grid.at(group, model, bias_type))) for group, model in columns)
    return "; ".join(f"{group.title} {model}: {reason}" for group, model, reason in reasons if reason)


def _without_pairs(grid: PairGrid, group: Group) -> str:
    """Return the bias types of which a group has no pairs, with the models where it is not all of them."""
    models = grid.models_of(group)
    said = []
    for name in grid.types:
        lacking = [model for model in models if grid.at(group, model, name) is None]
        if lacking:
            said.append(name_of_type(name) + (f" ({', '.join(lacking)})" if len(lacking) < len(models) else ""))
    return ", ".join(said)


def _notes(grid: PairGrid, by_runs: bool, *, has_bold: bool) -> Iterator[str]:
    columns = [(group, model) for group in grid.groups for model in grid.models_of(group)]
    overall = [(group, model, grid.rows[group.set, group.language, model, OVERALL]) for group, model in columns]
    first = overall[0][2]
    n_tests = tests_of(grid)
    if by_runs:
        yield f"Each percentage is the mean over {_runs(first)}."
    else:
        yield "Percentages are of all pairs that were scored."
        yield (
            f"{MARK} differs from 50: p_binomial_holm < .05, exact two-sided test, ties left out, corrected for"
            f" {n_tests or 'no'} test{'' if n_tests == 1 else 's'}, all rows of the table of bias percentages."
        )
    if has_bold:
        yield "Bold: of two or more models the nearest to 50 in its row and language, as in the paper."
    if first["n_runs"]:
        yield (
            f"Mean and deviation over {_runs(first)}. Such samples share most of their pairs: their deviation is no"
            " standard error."
        )
    against = " They count as not stereotypical." if first["ties"] == "against" else " They are left out."
    yield from _counted("Pairs with equal scores", "n_ties", overall, against)
    yield from _counted("Pairs left out", "n_left_out", overall)
    yield f"Conventions: {'; or '.join(dict.fromkeys(row['conventions'] for _, _, row in overall))}."
    for name in grid.types:
        if reasons := _why(grid, [(group, model) for group, model in columns if grid.at(group, model, name)], name):
            yield f"{MISSING} {name_of_type(name)}: {reasons}."
    for group in grid.groups:
        if types := _without_pairs(grid, group):
            yield f"{MISSING} {group.title}: {NO_PAIRS}: {types}."


def _counted(what: str, column: str, overall: Sequence[tuple[Group, str, Estimate]], more: str = "") -> Iterator[str]:
    """Yield how many pairs of each model, the same number once."""
    where: dict[str, list[str]] = {}
    for group, model, row in overall:
        if row[column]:
            where.setdefault(f"{row[column]} of {row['n_pairs']}", []).append(f"{group.title} {model}")
    if where:
        everywhere = len(where) == 1 and len(overall) == len(next(iter(where.values())))
        said = (f"{n} ({'everywhere' if everywhere else ', '.join(columns)})" for n, columns in where.items())
        yield f"{what}: {'; '.join(said)}.{more}"


def _runs(row: Estimate) -> str:
    return f"{row['n_runs']} random samples of {100 * row['share']:g} % of the pairs"


def _distance(percentage: float) -> float:
    """Return points from 50, without the rounding of the processor: 28.57 and 71.43 are equally far."""
    return round(abs(percentage - 50), 9)
