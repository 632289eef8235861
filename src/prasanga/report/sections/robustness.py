"""Sections on what else could have been measured: other vectors, other words, other methods."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from prasanga.methods import CEAT
from prasanga.report.agreement import agreement, at_longest, shares_that_hold, side_by_side
from prasanga.report.ceat_table import HOLM
from prasanga.report.figures import FOLDER, name_of
from prasanga.report.grid import METHODS, Estimate, interval, is_number, natural_order
from prasanga.report.section import Section, count, figure_of, prose
from prasanga.report.sections.estimates import interval_of, order_of
from prasanga.report.sheet import MARK, MISSING, Cell, Row, Sheet, numbers, plain, row_of, two, with_sign
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
        [_raw_line(method, row) for method, row in rows],
        "Differences of mean cosines, and effect sizes of the same vectors",
        "explorable raw",
        {"Category": "list", "Method": "list", "Model": "list", "adjusted for": "text"},
    )
    title = f"{count(len(rows), 'estimate')}, raw and adjusted: all numbers"
    return Section(
        "Raw numbers, and what cosines rest on",
        "raw",
        text=[prose("raw_numbers")],
        findings=list(_findings_of_scales(rows)),
        figures=figure_of(results, "scales", label=prose("scales_label")),
        parts=[Section(title, sheets=[sheet], folded=True)],
    )


def methods_agree(results: Results) -> Section | None:
    """Return the section with all methods side by side, and Kendall's tau of every two."""
    estimates = side_by_side(results.estimates)
    if estimates["method"].n_unique() < 2:
        return None
    found = agreement(estimates)
    sheet = Sheet(
        ("Methods",),
        numbers("Kendall's tau", "95 % interval", "of the twins", "same sign", "points", "categories", "models"),
        [_tau_line(row) for row in found.iter_rows(named=True)],
        "Agreement of every two methods",
    )
    return Section(
        "Agreement of methods",
        "agreement",
        text=[prose("agreement")],
        findings=list(_findings_of_agreement(found)),
        sheets=[sheet],
        figures=figure_of(results, "methods", label=prose("methods_label")),
        parts=[Section("Each category by every method", sheets=[_by_method(estimates)], folded=True)],
    )


def _tau_line(row: Estimate) -> Row:
    return row_of(
        _both(row),
        *(_two(row["tau"]), Cell(_ends(row), order=order_of(row["tau_low"])), _two(row["twin_tau"])),
        MISSING if row["same_sign"] is None else f"{100 * row['same_sign']:.0f} %",
        *(plain(row[name]) for name in ("n_points", "n_categories", "n_models")),
    )


def _two(value: float | None) -> Cell:
    return Cell(two(value), order=order_of(value))


def _three(value: float | None) -> Cell:
    return Cell(with_sign(value), order=order_of(value))


def _both(row: Estimate) -> str:
    return f"{METHODS[row['method_1']]} and {METHODS[row['method_2']]}"


def _ends(row: Estimate) -> str:
    return interval(row["tau_low"], row["tau_high"], two)


def _findings_of_agreement(found: pl.DataFrame) -> Iterator[str]:
    """Yield one sentence a pair of methods, whether it agrees by more than chance and by more than its twins."""
    for row in found.iter_rows(named=True):
        if row["tau"] is None:
            continue
        if row["tau_low"] is None:
            known = "too few categories for an interval"
        else:
            sure = "which excludes zero" if row["tau_low"] > 0 or row["tau_high"] < 0 else "which includes zero"
            known = f"95 % interval {_ends(row)}, {sure}"
        twins = ""
        if row["twin_tau"] is not None:
            more = "no more than" if row["tau"] <= row["twin_tau"] else "more than"
            twins = f"; {more} twins with random weights, {two(row['twin_tau'])}"
        yield (
            f"{_both(row)}: Kendall's tau {two(row['tau'])} over {count(row['n_points'], 'point')} ({known}{twins})."
        )


def _by_method(estimates: pl.DataFrame) -> Sheet:
    """Return the estimates, a row a category and model, a column a method."""
    methods = estimates["method"].unique(maintain_order=True).to_list()
    rows = {(row["category"], row["model"], row["method"]): row for row in estimates.iter_rows(named=True)}
    lines = []
    for category, model in sorted({key[:2] for key in rows}, key=lambda key: (natural_order(key[0]), key[1])):
        cells = []
        for method in methods:
            row = rows.get((category, model, method))
            effect = row["effect_size"] if row else None
            text = two(effect)
            if row and is_number(row["ci_low"]):
                text += f" ({interval_of(row, 'ci')})"
            marked = row is not None and HOLM.marks(row)
            words = row["few_words"] if row else ""
            cells.append(Cell(text, MARK if marked else "", bold=marked, order=order_of(effect), words=words))
        lines.append(Row((category,), (Cell(model), *cells)))
    return Sheet(
        ("Category",),
        numbers("Model", *(METHODS[method] for method in methods)),
        lines,
        "Effect size by every method, with its 95 % interval over words",
        "explorable by_method",
        {"Category": "list", "Model": "list"},
    )


def other_choices(results: Results) -> Section | None:
    """Return the section on what holds under other choices: a row a method, category and model."""
    if results.multiverse is None or results.multiverse.is_empty():
        return None
    shares = shares_that_hold(results.multiverse)
    if shares.is_empty():
        return None
    names = ("specifications", "sign holds", "star holds", "lowest d", "median d", "highest d")
    sheet = Sheet(
        ("Category",),
        numbers("Method", "Model", *names),
        [_share_line(row) for row in shares.iter_rows(named=True)],
        "Estimates under all choices",
        "explorable choices",
        {"Category": "list", "Method": "list", "Model": "list"},
    )
    file = f"{FOLDER}/{name_of('specifications_{category}', category=shares['category'][0])}.svg"
    title = f"{count(len(shares), 'estimate')} under all choices"
    return Section(
        "Other choices",
        "choices",
        text=[prose("other_choices", file=file)],
        findings=list(_findings_of_choices(shares)),
        parts=[Section(title, sheets=[sheet], folded=True)],
    )


def _share_line(row: Estimate) -> Row:
    shares = (Cell(f"{100 * row[name]:.0f} %", order=order_of(row[name])) for name in ("sign_holds", "star_holds"))
    effects = (_two(row[name]) for name in ("low", "median", "high"))
    return row_of(row["category"], METHODS[row["method"]], row["model"], str(row["n"]), *shares, *effects)


def _findings_of_choices(shares: pl.DataFrame) -> Iterator[str]:
    """Yield, for each method, in how many estimates sign and star hold whatever is chosen."""
    for method in shares["method"].unique(maintain_order=True):
        rows = shares.filter(method=method)
        n = len(rows)
        always, starred, never = rows.filter(sign_holds=1.0), rows.filter(star_holds=1.0), rows.filter(star_holds=0.0)
        yield (
            f"{METHODS[method]}: the sign is the same under all choices in {len(always)} of {count(n, 'estimate')}; the"
            f" star holds under all in {len(starred)}, under some in {n - len(starred) - len(never)}, and under none in"
            f" {len(never)}."
        )


def _of_vectors(results: Results) -> Iterator[tuple[str, Estimate]]:
    """Yield the estimates of methods that measure vectors; of CEAT those of the longest length and first mode."""
    for method, table in results.estimates.items():
        if method == CEAT.name:
            table = at_longest(table)
        if {*_RAW, *_EFFECTS, *_ADJUSTED} <= set(table.columns):
            for row in sorted(table.iter_rows(named=True), key=lambda row: natural_order(row["category"])):
                if is_number(row["effect_size"]):
                    yield METHODS[method], row


def _raw_line(method: str, row: Estimate) -> Row:
    adjusted_for = ["frequency and pieces"] if is_number(row["difference_adjusted"]) else []
    return row_of(
        *(row["category"], method, row["model"]),
        *(_three(row[name]) for name in (*_RAW, *_EFFECTS, "difference_adjusted")),
        Cell(interval_of(row, "adjusted"), order=order_of(row["adjusted_low"])),
        _three(row["effect_adjusted"]),
        "; ".join([*adjusted_for, *filter(None, [row["adjusted_note"]])]),
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
        kept = [row for row in adjusted if row["adjusted_low"] > 0 or row["adjusted_high"] < 0]
        yield (
            f"Among words alike in corpus frequency and pieces, {len(kept)} of"
            f" {count(len(adjusted), 'difference')} of mean cosines {'has' if len(kept) == 1 else 'have'} a 95 %"
            " interval that excludes zero."
        )
    few = len(rows) - len(adjusted)
    if few:
        yield f"{count(few, 'estimate')} could not be adjusted for frequency and pieces; the table says why."
