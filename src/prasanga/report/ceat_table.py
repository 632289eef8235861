"""The estimates of CEAT in the layout of Sadhu et al. (2024), Table 5, and which of its cells have a mark.

The layout has a row for each category and sample mode and a column for each model and segment length. An asterisk marks
p_association < .05, the p that asks about other words; in the paper it marks what is not significant by the p of the
draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, zip_longest
from typing import Any

import polars as pl

from prasanga.report.grid import FEW_WORDS, Category, Estimate, Grid, few_words, grid_of, is_number, why_missing
from prasanga.report.sheet import (
    MARK,
    MISSING,
    Cell,
    Row,
    Sheet,
    probability,
    sheet_to_csv,
    sheets_to_latex,
    sheets_to_markdown,
    signed,
    split_wide,
)
from prasanga.stats.intervals import FEWEST_WORDS

_TWO_SIDED_95 = 1.959963984540054
_OF_ALL_DRAWS = (
    *("tau2", "q", "i2", "contexts_enough", "draws_settled", "leave_out_low", "leave_out_high"),
    *("difference", "difference_centered", "difference_standardized", "effect_centered", "effect_standardized"),
    *("effect_adjusted", "difference_adjusted", "p_equivalence", "equivalent_within"),
    *("twin_difference", "twin_difference_low", "twin_difference_high", "p_twins"),
)

LARGE = 0.8
"""From here on an effect is large (Cohen; Sadhu et al. 2024, appendix B.1). Tables that set large effects in bold do so
by the number itself, not by what it rounds to."""


def sizes_of(n_samples: int | Sequence[int]) -> list[int]:
    """Return the numbers of draws that `associations.n_samples` asks for, rising."""
    return [n_samples] if isinstance(n_samples, int) else sorted(n_samples)


def with_fewer_draws(
    ceat: pl.DataFrame, convergence: pl.DataFrame | None, n_samples: int | Sequence[int]
) -> pl.DataFrame:
    """Return the estimates of CEAT with those of their first draws below them, for each smaller number in `n_samples`.

    `n_samples` of a row tells them apart. Effect, standard error, p and interval of the draws are those of the first n;
    the interval over words and contexts is moved to that effect. Tests of words rest on no draws, and are the same;
    what is said of all draws alone (heterogeneity, when they settle, effects without a word) is null.

    Args:
        ceat: the table of estimates.
        convergence: the combined effects of the first draws (`CONVERGENCE_SCHEMA`); None for none.
        n_samples: `associations.n_samples`.
    """
    fewer = sizes_of(n_samples)[:-1]
    if not fewer or convergence is None or ceat.is_empty():
        return ceat
    key = ["category", "model", "segment_length", "sample_mode"]
    first = convergence.filter(pl.col("n").is_in(fewer)).select(
        *key, "n", first_effect="effect_size", first_error="standard_error"
    )
    rows = []
    for row in ceat.join(first, on=key, maintain_order="left_right").iter_rows(named=True):
        n, effect, error = (row.pop(name) for name in ("n", "first_effect", "first_error"))
        p = math.erfc(abs(effect / error) / math.sqrt(2)) if error else None
        moved = effect - row["effect_size"]
        rows.append(
            {
                **row,
                **{name: None for name in _OF_ALL_DRAWS if name in row},
                **{name: row[name] + moved for name in ("ci_low", "ci_high") if row.get(name) is not None},
                "effect_size": effect,
                "n_samples": n,
                "standard_error": error,
                "draws_low": effect - _TWO_SIDED_95 * error if error else None,
                "draws_high": effect + _TWO_SIDED_95 * error if error else None,
                "p_draws": p,
                "log_p_draws": math.log(p) if p else None,
            }
        )
    added = pl.DataFrame([{name: row[name] for name in ceat.columns} for row in rows], schema=ceat.schema, orient="row")
    return pl.concat([ceat, added])


@dataclass(frozen=True)
class Marking:
    """A mark by a column of p.

    Attributes:
        column: the column of the table of estimates.
        alpha: the level.
        above: mark what is at or above the level (what is not significant), as Tables 5 and 6 of Sadhu et al. do.
        note: what the mark means, without the mark itself and without what it means in one table alone (`said_of`).
    """

    column: str
    alpha: float
    note: str
    above: bool = False

    def marks(self, estimate: Mapping[str, Any]) -> bool:
        """Return whether the estimate has the mark. One without this p has none."""
        p = estimate.get(self.column)
        return is_number(p) and (p >= self.alpha if self.above else p < self.alpha)

    def said_of(self, estimates: Iterable[Mapping[str, Any]]) -> str:
        """Return what the mark means among these estimates: the note, and which effects their test can mark.

        The alternative is that of the permutation tests; p_draws is two-sided whatever it is.
        """
        if self.column == "p_draws":
            return self.note
        sides = dict.fromkeys(_SIDES.get(str(estimate.get("alternative")), "") for estimate in estimates)
        said = " or ".join(filter(None, sides))
        return f"{self.note} The test is {said}." if said else self.note


_SIDES = {
    "two-sided": "two-sided",
    "greater": "one-sided: negative effects cannot be marked",
    "less": "one-sided: positive effects cannot be marked",
}

HOLM = Marking(
    "p_association_holm",
    0.05,
    "p_association_holm < .05: permutation of the target words and of the attribute words, the larger p,"
    " corrected by Holm over all tests of words in the study (CEAT, SEAT, WEAT and log-probability bias together).",
)
"""The recommended mark."""

NOT_BY_DRAWS = Marking(
    "p_draws",
    0.005,
    "not significant, p_draws of at least .005, as in the paper. p_draws falls with the number of draws and says"
    " nothing about other words.",
    above=True,
)
"""The mark of Tables 5 and 6 of Sadhu et al."""

_MODELS = 2
"""So many models stand side by side in Markdown and LaTeX, at most."""

_WHAT = "Combined effect sizes of CEAT; positive if the first target set is closer to the first attribute set."


def to_csv(ceat: pl.DataFrame) -> str:
    """Return the layout as CSV: one column per model and length, and a last one that says what is missing."""
    return sheet_to_csv(arranged(ceat, HOLM)[0])


def to_markdown(ceat: pl.DataFrame) -> str:
    """Return the layout in Markdown, two models side by side and the others below, with notes."""
    _, in_markdown, _, notes = arranged(ceat, HOLM)
    return sheets_to_markdown(in_markdown, notes)


def to_latex(ceat: pl.DataFrame) -> str:
    """Return what a paper reports as a LaTeX `table*` (needs booktabs), a row a category and model, lengths below.

    Of the sample modes it has the first; the others are in the CSV file. Columns are those that docs/which_statistic.md
    asks for: the effect with its interval, p by Holm, the difference from the twins, words used of those listed.
    """
    grid = grid_of(ceat)
    lines = 2 if max(map(len, grid.models)) > _LONG_NAME else 1  # a long name of a model takes two lines
    at_a_time = max(1, _ROWS // lines // len(grid.models))
    parts = [grid.categories[i : i + at_a_time] for i in range(0, len(grid.categories), at_a_time)]
    sheets = [_reported(grid, part, length) for length in grid.lengths for part in parts]
    return sheets_to_latex(sheets, list(_notes_of_reported(grid)), caption=_REPORTED, label="tab:ceat")


_REPORTED = "CEAT effect size d by segment length, category and model."


_ROWS, _LONG_NAME = 34, 18
"""Lines of a part of that table at most, as many as stand on a page; characters of a name that has a line."""


def _reported(grid: Grid, categories: Sequence[Category], length: str) -> Sheet:
    heads = ("d [95 % interval]", "p (Holm)", "from twins", "words")
    rows = []
    for category in categories:
        # of several models the second has the attributes
        targets, attributes = category_label(category).split(" (")
        labels = [targets, f"({attributes}"] if len(grid.models) > 1 else [category_label(category)]
        for model, label in zip_longest(grid.models, labels, fillvalue=""):
            estimate = grid.at(category.name, model, length, grid.modes[0])
            rows.append(Row((label, model), _reported_cells(estimate)))
    return Sheet(("Category", "Model"), tuple((f"{length} words", head) for head in heads), rows)


def _reported_cells(estimate: Estimate | None) -> tuple[Cell, ...]:
    """Return the cells of an estimate, in LaTeX's mathematics."""
    if estimate is None or not is_number(estimate["effect_size"]):
        return (Cell(),) * 4
    mark = "^{*}" if HOLM.marks(estimate) else ""
    text = f"{signed(estimate['effect_size'], 2)}{mark}"
    if is_number(estimate["ci_low"]):
        text += rf"\;[{signed(estimate['ci_low'], 2)}, {signed(estimate['ci_high'], 2)}]"
    p_twins = estimate.get("p_twins")
    dagger = r"\dagger" if isinstance(p_twins, float) and p_twins < HOLM.alpha else ""
    words = "; ".join(
        "/".join(str(sum(estimate[f"{kind}_{side}"] for side in sides)) for kind in ("n", "listed"))
        for sides in ("xy", "ab")
    )
    return (
        Cell(text, words=few_words(estimate)),
        Cell(probability(estimate["p_association_holm"])),
        Cell(signed(estimate["twin_difference"], 2), dagger),
        Cell(words),
    )


def _notes_of_reported(grid: Grid) -> Iterator[str]:
    """Yield what the columns are, and what is to be known of all rows."""
    rows = [row for row in grid.estimates.values() if is_number(row["effect_size"])]
    yield _WHAT
    if len(grid.modes) > 1:
        yield f"Contexts by {grid.modes[0]} draws; the CSV file of this table has the others."
    kinds = sorted({str(row["interval"]) for row in rows if row.get("interval")})
    yield (
        f"Intervals are over words and contexts ({', '.join(kinds) or 'none'}); a set of fewer than {FEWEST_WORDS}"
        " words has none."
    )
    tests, twins = (
        ", ".join(map(str, sorted({row[name] for row in rows if is_number(row.get(name))})))
        for name in ("n_tests", "n_twins")
    )
    exact = sum(bool(row["p_stimuli_exact"] and row["p_attributes_exact"]) for row in rows)
    of_tests = f" ({tests})" if tests else ""
    yield (
        f"{MARK} {HOLM.said_of(grid.estimates.values())} Tests{of_tests} with all partitions counted on both sides:"
        f" {exact} of {len(rows)} rows of the study."
    )
    if twins:
        yield f"From twins: d minus the mean of twins with random weights ({twins} of a model); † p_twins < .05."
    fewest = [row["contexts_min"] for row in rows if is_number(row.get("contexts_min"))]
    contexts = f" The word with fewest contexts has {min(fewest)}." if fewest else ""
    yield f"Words: target words used of those listed; attribute words likewise.{contexts}"
    if any(map(few_words, rows)):
        yield FEW_WORDS
    missing: dict[str, list[str]] = {}
    intervals: dict[str, list[str]] = {}
    for (category, model, length, mode), row in grid.estimates.items():
        reason, about = why_missing(row), row.get("interval_note") if is_number(row["ci_low"]) else None
        if mode == grid.modes[0] and (reason or about):
            found, said = (missing, reason) if reason else (intervals, str(about))
            found.setdefault(said, []).append(f"{category}, {model}, {length}")
    yield from (f"Interval of {'; '.join(where)}: {about}." for about, where in intervals.items())
    yield from (f"{MISSING} {'; '.join(where)}: {reason}." for reason, where in missing.items())


def category_label(category: Category) -> str:
    """Return a category with the names of its sets, which begin with capitals: C1: Flowers/Insects (Pleasant/...)."""
    return f"{category.name}: {in_capitals(category.targets)} ({in_capitals(category.attributes)})"


def in_capitals(names: str) -> str:
    """Return names of sets, several of them parted by /, that begin with capitals: Male/Female terms."""
    return "/".join(name[:1].upper() + name[1:] for name in names.split("/"))


def arranged(
    ceat: pl.DataFrame, marking: Marking, more: Sequence[str] = ()
) -> tuple[Sheet, list[Sheet], list[Sheet], list[str]]:
    """Return the layout: a sheet for CSV, each label in a column of its own, parts for Markdown and LaTeX, and notes.

    Labels of the parts are those of the paper; `more` are notes after that on the mark.
    """

    def cell(estimate: Estimate | None) -> Cell:
        if estimate is None or not is_number(estimate["effect_size"]):
            return Cell()
        return Cell(signed(estimate["effect_size"]), MARK * marking.marks(estimate), words=few_words(estimate))

    grid = grid_of(ceat)
    columns = _columns(grid, grid.models)
    cells = {
        (category, mode): {column: cell(grid.at(category.name, *column, mode)) for column in columns}
        for category, mode in product(grid.categories, grid.modes)
    }
    reasons = {(category, mode): _reasons(grid, category, mode, columns) for category, mode in cells}
    rows = [
        Row((c.name, c.targets, c.attributes, mode), tuple(of_line.values()), "; ".join(reasons[c, mode]))
        for (c, mode), of_line in cells.items()
    ]
    at_most = _MODELS * len(grid.lengths)
    in_latex = _sheets(grid, cells, ("Category", ""), lambda mode: mode[:1])
    notes = [_WHAT, f"{MARK} {marking.said_of(grid.estimates.values())}", *more]
    notes += [FEW_WORDS] * any(map(few_words, grid.estimates.values()))
    if len(grid.modes) == 1:
        notes.append("Attributes: " + "; ".join(f"{each.name} {each.attributes}" for each in grid.categories) + ".")
    notes += [f"{MISSING} {c.name}, {mode}: {reason}." for (c, mode), why in reasons.items() for reason in why]
    return (
        Sheet(("category", "targets", "attributes", "sample_mode"), tuple(columns), rows),
        _sheets(grid, cells, ("Category", "draws"), str),
        [part for sheet in in_latex for part in split_wide(sheet, at_most)],
        notes,
    )


def _sheets(
    grid: Grid,
    cells: Mapping[tuple[Category, str], Mapping[tuple[str, str], Cell]],
    heads: tuple[str, str],
    short: Callable[[str], str],
) -> list[Sheet]:
    """Return the layout in parts of a few models; a label has targets in the first line, attributes in the second."""
    sheets = []
    for start in range(0, len(grid.models), _MODELS):
        columns = _columns(grid, grid.models[start : start + _MODELS])
        rows = []
        for (category, mode), of_line in cells.items():
            is_first = mode == grid.modes[0]
            targets, attributes = in_capitals(category.targets), in_capitals(category.attributes)
            label = f"{category.name}: {targets}" if is_first else f"({attributes})"
            rows.append(Row((label, short(mode)), tuple(of_line[column] for column in columns)))
        sheets.append(Sheet(heads, tuple(columns), rows))
    return sheets


def _reasons(grid: Grid, category: Category, mode: str, columns: Sequence[tuple[str, str]]) -> list[str]:
    """Return why cells of a row have no number: a reason once, with the cells it holds for."""
    cells: dict[str, list[str]] = {}
    for model, length in columns:
        if reason := why_missing(grid.at(category.name, model, length, mode)):
            cells.setdefault(reason, []).append(f"{model} {length}")
    return [f"{', '.join(where)}: {reason}" for reason, where in cells.items()]


def _columns(grid: Grid, models: Sequence[str]) -> list[tuple[str, str]]:
    return [(model, length) for model in models for length in grid.lengths]
