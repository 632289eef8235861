"""Sentence pairs on the page: percentages, how sure they are, and what was left out and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import polars as pl

from prasanga.pairs.names import FEWEST_PAIRS, OVERALL
from prasanga.pairs.reasons import REASONS
from prasanga.report.grid import Estimate, Group, PairGrid, is_number, name_of_type, pair_grid_of
from prasanga.report.heat import HeatCell
from prasanga.report.pair_table import is_significant, tests_of, why_no_percentage
from prasanga.report.sheet import MINUS, MISSING, equals_probability, probability, signed

COLUMNS = (
    "bias percentage",
    "95 % interval",
    "Holm",
    "random twin",
    "exact p",
    "Benjamini-Hochberg",
    "exact interval",
    "stereo pairs",
    "antistereo pairs",
    "pairs counted",
    "ties",
    "left out",
    "mean of runs",
    "deviation over runs",
    "median difference of scores",
)
"""The most important first. A column without a single number is not shown."""

THRESHOLDS = (2.5, 5, 10, 20, 30)
"""Points from 50 at which the shades begin."""

DENSITIES_LABEL = (
    "Density of the difference of scores of the two sentences of a pair, one panel for each model, one line for each"
    " language. The bias percentages stand in the table above."
)


class PairRow(NamedTuple):
    """A model in one bias type: a text for each of `COLUMNS`, and why it has no percentage."""

    model: str
    shade: str
    marked: bool
    cells: list[str]
    why_missing: str


class PairBlock(NamedTuple):
    """A bias type of a group: its rows in the table of all numbers, and a cell for each model in the overview."""

    name: str
    rows: list[PairRow]
    overview: list[HeatCell]


class LeftOutPairs(NamedTuple):
    """The pairs of a group that a model's percentages do without, each reason with its pairs."""

    model: str
    pairs: int
    of: str
    reasons: list[str]


class PairGroup(NamedTuple):
    """One language of one set, and the models that scored it."""

    title: str
    models: list[str]
    blocks: list[PairBlock]
    left_out: list[LeftOutPairs]


class PairSection(NamedTuple):
    """The section of the page. `columns` are numbers and names of those of `COLUMNS` that have a number."""

    models: list[str]
    groups: list[PairGroup]
    columns: list[tuple[int, str]]
    conventions: list[str]
    n_languages: int
    n_runs: int
    share: str
    ties: str
    n_tests: int
    fewest: int


def pair_section(bias: pl.DataFrame) -> PairSection:
    """The section of the page for a table of bias percentages.

    Raises:
        InputError: a column is missing, there are no rows, or two for the same cell.
    """
    grid = pair_grid_of(bias)
    groups = [
        PairGroup(
            group.title,
            grid.models_of(group),
            [_block(grid, group, name) for name in (*grid.types, OVERALL)],
            [_left_out(model, row) for model in grid.models if (row := grid.at(group, model, OVERALL)) is not None],
        )
        for group in grid.groups
    ]
    cells = [row.cells for group in groups for block in group.blocks for row in block.rows]
    first = next(iter(grid.rows.values()))
    return PairSection(
        list(grid.models),
        [group._replace(left_out=[found for found in group.left_out if found.pairs]) for group in groups],
        [(n, name) for n, name in enumerate(COLUMNS) if n == 0 or any(row[n] != MISSING for row in cells)],
        list(dict.fromkeys(row["conventions"] for row in grid.rows.values())),
        len({group.language for group in grid.groups}),
        first["n_runs"],
        f"{100 * first['share']:g} %",
        first["ties"],
        tests_of(grid),
        FEWEST_PAIRS,
    )


def findings_of_pairs(bias: pl.DataFrame) -> Iterator[str]:
    """How many percentages differ from 50, one that is far from it, and how many pairs said nothing.

    Of a few pairs a percentage is easily far from 50. So the one that is named is the farthest of those that differ
    after correction, or, where none does, of those with at least `FEWEST_PAIRS` pairs.

    Raises:
        InputError: as `pair_section`.
    """
    grid = pair_grid_of(bias)
    known = {key: row for key, row in grid.rows.items() if is_number(row["bias_percentage"])}
    if not known:
        yield f"Sentence pairs: none of {len(grid.rows)} percentages could be computed."
        return
    found = [row for row in known.values() if is_significant(row)]
    yield (
        f"Sentence pairs: {len(found)} of {len(known)} bias percentages {'differs' if len(found) == 1 else 'differ'}"
        f" from 50 (exact test, p < .05 after Holm's correction); {_farthest(grid)}."
    )
    overall = [row for key, row in grid.rows.items() if key[3] == OVERALL]
    ties, left_out, pairs = (sum(row[name] for row in overall) for name in ("n_ties", "n_left_out", "n_pairs"))
    if ties or left_out:
        yield (
            f"Sentence pairs, each counted once a model: of {pairs}, {left_out} {'was' if left_out == 1 else 'were'}"
            f" left out, and {ties} {'has' if ties == 1 else 'have'} equal scores."
        )


def farthest_percentage(grid: PairGrid) -> tuple[str, str, str, str] | None:
    """Set, language, model and type of the percentage farthest from 50, of many pairs before of few.

    Of those that differ from 50 after correction, or, where none does, of those with at least `FEWEST_PAIRS` pairs;
    None if there is neither.
    """
    known = {key: row for key, row in grid.rows.items() if is_number(row["bias_percentage"])}
    found = {key: row for key, row in known.items() if is_significant(row)}
    rows = found or {key: row for key, row in known.items() if pairs_counted(row) >= FEWEST_PAIRS}
    return max(rows, key=lambda key: (abs(rows[key]["bias_percentage"] - 50), pairs_counted(rows[key])), default=None)


def _farthest(grid: PairGrid) -> str:
    """The percentage farthest from 50; or that there are too few pairs for any."""
    key = farthest_percentage(grid)
    if key is None:
        return f"none is of {FEWEST_PAIRS} pairs or more, too few to say which is far from it"
    (name, language, model, bias_type), row = key, grid.rows[key]
    (title,) = [group.title for group in grid.groups if (group.set, group.language) == (name, language)]
    twin = f"; random twin {_one(row['twin_bias_percentage'])}" if is_number(row["twin_bias_percentage"]) else ""
    among = (
        "of these the farthest from it"
        if is_significant(row)
        else f"the farthest from it, of those of {FEWEST_PAIRS} pairs or more,"
    )
    return (
        f"{among} is {_one(row['bias_percentage'])} % ({name_of_type(bias_type).lower()}, {title}, {model};"
        f" {_pairs(pairs_counted(row))}; exact 95 % interval {_interval(row, 'exact')}, p"
        f" {equals_probability(row['p_binomial_holm'])} after correction{twin})"
    )


def shade_of_percentage(percentage: float) -> str:
    """The class of a cell's shade: `zero` near 50, `plus-1` to `plus-5` above it, `minus-1` to `minus-5` below."""
    step = sum(abs(percentage - 50) >= threshold for threshold in THRESHOLDS)
    return "zero" if step == 0 else f"{'plus' if percentage > 50 else 'minus'}-{step}"


def _block(grid: PairGrid, group: Group, bias_type: str) -> PairBlock:
    rows = [(model, grid.at(group, model, bias_type)) for model in grid.models_of(group)]
    return PairBlock(
        name_of_type(bias_type),
        [_row(model, row) for model, row in rows if row is not None],
        [_cell(model, row) for model, row in rows],
    )


def _cell(model: str, row: Estimate | None) -> HeatCell:
    if row is None or not is_number(row["bias_percentage"]):
        return HeatCell(MISSING, "missing", marked=False, hover=f"{model}: {why_no_percentage(row)}")
    hover = (
        f"{model}\nbias percentage {_one(row['bias_percentage'])}, {_pairs(pairs_counted(row))}"
        f"\n95 % interval {_interval(row, 'ci')}, exact {_interval(row, 'exact')}"
        f"\nexact p {probability(row['p_binomial'])}, {probability(row['p_binomial_holm'])} by Holm"
    )
    hover += f"\nrandom twin {_one(row['twin_bias_percentage'])}" if is_number(row["twin_bias_percentage"]) else ""
    percentage = row["bias_percentage"]
    return HeatCell(_one(percentage), shade_of_percentage(percentage), is_significant(row), hover)


def _row(model: str, row: Estimate) -> PairRow:
    why = why_no_percentage(row)
    cells = [
        _one(row["bias_percentage"]),
        _interval(row, "ci"),
        probability(row["p_binomial_holm"]),
        _one(row["twin_bias_percentage"]),
        probability(row["p_binomial"]),
        probability(row["p_binomial_bh"]),
        _interval(row, "exact"),
        *(_of(row[f"percentage_{label}"], row[f"n_{label}"]) for label in ("stereo", "antistereo")),
        f"{pairs_counted(row)} of {row['n_pairs']}",
        str(row["n_ties"]),
        str(row["n_left_out"]),
        _one(row["runs_mean"]),
        _one(row["runs_sd"]),
        signed(row["difference_median"], 4, minus=MINUS),
    ]
    shade = "missing" if why else shade_of_percentage(row["bias_percentage"])
    return PairRow(model, shade, is_significant(row), cells, why)


def _left_out(model: str, row: Estimate) -> LeftOutPairs:
    """The pairs left out by reason, the reason in words where it is known."""
    reasons: Mapping[str, list[str]] = json.loads(row["left_out"] or "{}")
    said = [f"{REASONS.get(reason, reason)}: {', '.join(pairs)}" for reason, pairs in reasons.items()]
    return LeftOutPairs(model, row["n_left_out"], _pairs(row["n_pairs"]), said)


def _pairs(n: int) -> str:
    return f"{n} pair{'' if n == 1 else 's'}"


def pairs_counted(row: Estimate) -> int:
    """How many pairs the percentage is of."""
    ties = row["n_ties"] if row["ties"] == "against" else 0
    return int(row["n_stereotypical"] + row["n_other"] + ties)


def _of(percentage: float | None, n: int) -> str:
    return MISSING if percentage is None else f"{percentage:.1f} % of {n}"


def _interval(row: Estimate, which: str) -> str:
    low, high = row[f"{which}_low"], row[f"{which}_high"]
    return f"{low:.1f} to {high:.1f}" if is_number(low) and is_number(high) else MISSING


def _one(value: float | None) -> str:
    return f"{value:.1f}" if value is not None and is_number(value) else MISSING
