"""Sections on what else could have been measured: other vectors, other words, other methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from prasanga.report.grid import METHODS, Estimate, grid_of, is_number, natural_order
from prasanga.report.section import Section, count, figure_of, prose
from prasanga.report.sections.estimates import interval_of, order_of
from prasanga.report.sheet import MINUS, Cell, Row, Sheet, numbers, signed
from prasanga.report.study import Results

_RAW = ("difference", "difference_centered", "difference_standardized")
_EFFECTS = ("effect_size", "effect_centered", "effect_standardized")
_ADJUSTED = ("difference_adjusted", "adjusted_low", "adjusted_high", "effect_adjusted", "adjusted_note")


def raw_numbers(results: Results) -> Section | None:
    """Return the section on differences of mean cosines: of vectors scaled otherwise, and of words that are alike."""
    rows = list(_of_vectors(results))
    if not rows:
        return None
    names = ("difference", "centered", "standardized", "d", "d, centered", "d, standardized")
    sheet = Sheet(
        ("Category",),
        numbers("Method", "Model", *names, "adjusted difference", "its 95 % interval", "d, adjusted", "adjusted for"),
        tuple(_raw_line(method, row) for method, row in rows),
        "Differences of mean cosines, and effect sizes of the same vectors",
        "explorable raw",
        {"Category": "list", "Method": "list", "Model": "list", "adjusted for": "text"},
    )
    figures = figure_of(results, "scales", label=prose("scales_label"), caption=prose("scales_caption"))
    title = f"{count(len(rows), 'estimate')}, raw and adjusted: all numbers"
    return Section(
        "Raw numbers, and what cosines rest on",
        "raw",
        "Raw numbers",
        text=[prose("raw_numbers")],
        findings=list(_findings_of_scales(rows)),
        figures=figures,
        parts=[Section(title, sheets=[sheet], folded=True)],
    )


def _of_vectors(results: Results) -> Iterator[tuple[str, Estimate]]:
    """Yield the estimates of methods that measure vectors; of CEAT those of the longest length and first mode."""
    tables: list[tuple[str, pl.DataFrame]] = [*results.methods]
    if results.ceat is not None:
        grid = grid_of(results.ceat)
        at = (pl.col("segment_length") == grid.lengths[-1]) & (pl.col("sample_mode") == grid.modes[0])
        tables.insert(0, ("ceat", results.ceat.filter(at)))
    for method, table in tables:
        if {*_RAW, *_EFFECTS, *_ADJUSTED} <= set(table.columns):
            for row in sorted(table.iter_rows(named=True), key=lambda row: natural_order(row["category"])):
                if is_number(row["effect_size"]):
                    yield METHODS[method], row


def _raw_line(method: str, row: Estimate) -> Row:
    cells = [Cell(signed(row[name], minus=MINUS), order=order_of(row[name])) for name in (*_RAW, *_EFFECTS)]
    adjusted = row["difference_adjusted"]
    note = row["adjusted_note"] or ""
    if is_number(adjusted):
        note = f"frequency and pieces; {note}" if note else "frequency and pieces"
    return Row(
        (row["category"],),
        (
            Cell(method),
            Cell(row["model"]),
            *cells,
            Cell(signed(adjusted, minus=MINUS), order=order_of(adjusted)),
            Cell(interval_of(row, "adjusted_low", "adjusted_high"), order=order_of(row["adjusted_low"])),
            Cell(signed(row["effect_adjusted"], minus=MINUS), order=order_of(row["effect_adjusted"])),
            Cell(note),
        ),
    )


def _findings_of_scales(rows: list[tuple[str, Estimate]]) -> Iterator[str]:
    """Yield how many signs depend on the mean or on few dimensions, and how many differences stay among words alike."""
    known = [row for _, row in rows if is_number(row["effect_standardized"])]
    if known:
        turned = [row for row in known if row["effect_size"] * row["effect_standardized"] < 0]
        yield (
            f"With every dimension standardized {len(turned)} of {count(len(known), 'effect')} would have the other"
            " sign."
        )
    adjusted = [row for _, row in rows if is_number(row["adjusted_low"])]
    if adjusted:
        kept = [row for row in adjusted if _leaves_out_zero(row)]
        yield (
            f"Among words alike in corpus frequency and pieces, {len(kept)} of"
            f" {count(len(adjusted), 'difference')} of mean cosines {'has' if len(kept) == 1 else 'have'} a 95 %"
            " interval without zero."
        )
    few = len(rows) - len(adjusted)
    if few:
        yield f"{count(few, 'estimate')} could not be adjusted for frequency and pieces; the table says why."


def _leaves_out_zero(row: dict[str, Any] | Estimate) -> bool:
    return bool(row["adjusted_low"] > 0 or row["adjusted_high"] < 0)
