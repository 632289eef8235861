"""Views of the methods of word associations: CEAT, the other methods, all of them together, and other choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.associations.comparisons import fixed_lengths
from prasanga.methods import CEAT, method_named
from prasanga.report import findings, grid, section, sheet, summary
from prasanga.report.comparison import agreement, shares_that_hold, side_by_side
from prasanga.report.figures import FOLDER, MARKERS, MODELS, name_of
from prasanga.report.grid import HOLM, METHODS, Estimate, Grid, few_words, is_number
from prasanga.report.section import Section, View, conventions_note, figure_of, fill_section, fold, fold_table, prose
from prasanga.report.sheet import Cell, Sheet, html, plural, show_table, two, with_sign
from prasanga.report.study import Results

THRESHOLDS = (0.1, 0.2, 0.5, 0.8, 1.2)
"""Where the shades of the heat table begin: 0.2, 0.5 and 0.8 are called small, medium and large."""


def list_estimates(name: str, rows: Iterable[tuple[str, Estimate]], **values: Any) -> Sheet:
    """Return a table of estimates with columns of the registry; effects are shaded and lead to their words.

    Args:
        name: of the table.
        rows: methods and rows of their tables.
        values: for the caption.
    """
    named = [{**row, "method": METHODS[method], "name": method} for method, row in rows]
    cells = {"effect_size": lambda row, cell: shade_effect(row["name"], row, cell)}
    return show_table(name, named, cells=cells, **values)


def shade_effect(method: str, row: Estimate, cell: Cell) -> Cell:
    """Return the cell of an effect in its shade, bold with a mark if it is significant, with a link to its words."""
    effect, marked = row["effect_size"], HOLM.marks(row)
    if not is_number(effect):
        return replace(cell, shade="missing")
    looks: dict[str, Any] = {"mark": sheet.MARK * marked, "bold": marked, "shade": shade_of(effect)}
    return replace(cell, **looks, words=few_words(row), link=grid.address_of_number(method, row))


def shade_of(value: float, steps: Sequence[float] = THRESHOLDS) -> str:
    """Return the class of a cell's shade: `zero`, `plus-1` to `plus-5` above it, `minus-1` to `minus-5` below.

    Args:
        value: of the cell.
        steps: where the shades begin.
    """
    reached = sum(abs(value) >= threshold for threshold in steps)
    return f"{'plus' if value > 0 else 'minus'}-{reached}" if reached else "zero"


def heat_cell(method: str, row: Estimate | None, where: str) -> Cell:
    """Return a cell of a heat table."""
    if row is None or not is_number(row["effect_size"]):
        return Cell(shade="missing", hover=f"{where}: {grid.why_missing(row)}")
    return shade_effect(method, row, Cell(two(row["effect_size"]), hover=describe_estimate(row)))


# --------------------
# CEAT


def method_views(config: Mapping[str, Any], results: Results) -> list[View]:
    """Return the views of CEAT, SEAT, WEAT and log-probability bias, as far as they were measured."""
    others = {name: describe_method(name, results) for name in results.estimates if name != CEAT.name}
    views = [View(f"method-{name}", "By method", METHODS[name], [each]) for name, each in others.items()]
    return [View("method-ceat", "By method", "CEAT", *ceat_sections(config, results)), *views]


def comparison_view(results: Results) -> View:
    """Return the view that compares methods, vectors and choices."""
    choices = [raw_numbers(results), other_choices(results)]
    return View("methods-compared", "By method", "Compared", [methods_agree(results)], choices)


def ceat_sections(config: Mapping[str, Any], results: Results) -> tuple[list[Section], list[Section | None]]:
    """Return the sections of the view of CEAT that are open, and those that are folded."""
    ceat = results.ceat
    if not ceat.categories:
        return [], [settling(config, results)]
    heat = section.render("heat", sheet=_heat_sheet(ceat), legend=_legend(ceat), language="en")
    sentences = findings.headline_findings(results["ceat"], results.list_strengths(CEAT.name))
    said = Section("What the numbers say, in sentences", findings=sentences, folded=True)
    known = summary.find_wording("quantities", [CEAT.name])
    meanings = [(each["name"], f"{each['meaning']} {each['limit']}") for each in known]
    shown = [
        fill_section("effect_by_length", widget=draw_chart(ceat, ceat.categories, choose=True)),
        fill_section("effects", {"n_tests": findings.count_tests(ceat.rows)}, widget=heat, parts=[said]),
    ]
    reading, modes = fill_section("reading", definitions=meanings), sample_modes(ceat, results)
    return shown, [reading, _all_numbers(ceat), settling(config, results), modes]


def _heat_sheet(ceat: Grid) -> Sheet:
    """Return the heat table: of each model the primary estimates, and those of all lengths."""
    places = list(product(ceat.models, (grid.MEAN, *ceat.lengths)))
    rows = []
    for category in ceat.categories:
        label = html(
            '<a href="#{}">{}</a> <span class="sets">{}<br>{}</span>',
            *(grid.anchor_of(category.name), category.name, category.targets, category.attributes),
        )
        found = ((ceat.at(category.name, *place), name_place(*place)) for place in places)
        rows.append((label, *(heat_cell(CEAT.name, row, where) for row, where in found)))
    words = html('<span class="unseen"> words</span>')
    columns = tuple((model, html("{}{}", length, "" if length == grid.MEAN else words)) for model, length in places)
    return replace(show_table("heat", rows), columns=columns)


def _legend(ceat: Grid) -> list[tuple[str, str]]:
    """Return shade and range of each color of the heat table, the most negative first; the hatching comes last."""
    ranges = [*(f"+{low} to +{high}" for low, high in pairwise(THRESHOLDS)), f"+{THRESHOLDS[-1]} and beyond"]
    plus = [(f"plus-{step}", text) for step, text in enumerate(ranges, start=1)]
    minus = [(shade.replace("plus", "minus"), text.replace("+", sheet.MINUS)) for shade, text in reversed(plus)]
    hatched = [("few", "few words (used/listed): no finding")] * any(map(few_words, ceat.estimates.values()))
    return [*minus, ("zero", f"within ±{THRESHOLDS[0]}"), *plus, *hatched]


def _all_numbers(ceat: Grid) -> Section:
    """Return the section with every number of every estimate of CEAT."""
    part = _fold_numbers("ceat", CEAT.name, ceat.rows)
    conventions = grid.conventions_of(ceat.estimates.values())
    text = conventions_note(conventions, prose("all_numbers"), head="Conventions of these estimates")
    return Section("All numbers", "numbers", text=[text], parts=[part])


def _fold_numbers(name: str, method: str, rows: Sequence[Estimate]) -> Section:
    listed = list_estimates(name, ((method, row) for row in rows), method=METHODS[method])
    return fold(plural(len(rows), "estimate"), "with all their numbers", sheets=[listed])


def settling(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section on the length from which on effects stay, and on effects as draws are added."""
    if not {"settling", "differences"} <= results.tables.keys():
        return None
    # with so few draws there is one point, which shows nothing
    has_draws = (results["ceat"]["n_samples"] > grid.FIRST_DRAWS).any()
    parts = fold_table("All categories and models", "settling", _by_category(results["settling"]))
    said = list(findings.findings_of_differences(results["differences"], results["settling"]))
    figures = figure_of(results, *["settling", "convergence"][: 1 + has_draws])
    values = {"band": config["associations"]["band"]}
    return fill_section("settling", values, findings=said, figures=figures, parts=parts)


def sample_modes(ceat: Grid, results: Results) -> Section | None:
    """Return the section on effects by fixed and by random draws, if the study has both."""
    if not any(is_number(row.get("effect_random")) for row in ceat.rows):
        return None
    n_samples = " or ".join(map(str, sorted({row["n_samples"] for row in ceat.estimates.values()} - {None})))
    return fill_section("sample_modes", {"n_samples": n_samples}, figures=figure_of(results, "sample_modes"))


# --------------------
# SEAT, WEAT and log-probability bias


def describe_method(method: str, results: Results) -> Section:
    """Return the section of a method other than CEAT."""
    table, strengths = results.estimates[method], results.list_strengths(method)
    rows, about = _by_category(table), method_named(method)
    exchanged = table.filter(pl.col("exchanged"))["category"].unique() if "exchanged" in table.columns else ()
    return fill_section(
        "other_method",
        {
            **{"about": about, "exchanged": sorted(exchanged, key=grid.natural_order)},
            "n_tests": findings.count_tests(rows),
        },
        findings=[findings.other_method(METHODS[method], table, strengths), *_compare_templates(rows)],
        sheets=[_show_effects(method, rows)],
        parts=[_fold_numbers("method", method, rows)],
        notes=[conventions_note(grid.conventions_of(rows), prose("method_note", has_twins=about.has_twins))],
    )


def _by_category(table: pl.DataFrame) -> list[Estimate]:
    return sorted(table.iter_rows(named=True), key=lambda row: grid.natural_order(row["category"]))


def _compare_templates(rows: Sequence[Estimate]) -> list[str]:
    """Return in how many estimates the sign depends on the template, and how much wider templates make intervals."""
    known = [row for row in rows if is_number(row.get("by_template_low")) and (row.get("n_templates") or 0) > 1]
    both = [row for row in known if is_number(row.get("ci_templates_low")) and is_number(row["ci_low"])]
    turned, changed = (
        sum(row[f"{name}_low"] < 0 < row[f"{name}_high"] for row in known)
        for name in ("by_template", "without_template")
    )
    words, words_and_templates = (sum(grid.excludes_zero(row, name) for row in both) for name in ("ci", "ci_templates"))
    found = {"turned": turned, "changed": changed, "of_words": words, "of_both": words_and_templates}
    return [prose("templates", **found, n=len(known), n_intervals=len(both))] if known else []


def _show_effects(method: str, rows: Sequence[Estimate]) -> Sheet:
    """Return the effects by category and model."""
    models = dict.fromkeys(row["model"] for row in rows)
    estimates = {(row["category"], row["model"]): row for row in rows}
    lines = [
        (
            html('{} <span class="sets">{}; {}</span>', each.name, each.targets, each.attributes),
            *(heat_cell(method, estimates.get((each.name, model)), model) for model in models),
        )
        for each in dict.fromkeys(map(grid.category_of, rows))
    ]
    unit = "vectors" if method_named(method).unit == "vectors" else "model"
    return show_table("effects", lines, columns=dict.fromkeys(models, ""), unit=unit)


# --------------------
# Other vectors, all methods together, other choices


def raw_numbers(results: Results) -> Section | None:
    """Return the section on differences of mean cosines: of vectors scaled otherwise, and of words that are alike."""
    rows = [
        {**row, "method": METHODS[method]}
        for method, table in results.estimates.items()
        if {"difference_centered", "difference_adjusted"} <= set(table.columns)
        for row in _by_category(grid.select_primary(table))
        if is_number(row["effect_size"])
    ]
    if not rows:
        return None
    scaled = [row for row in rows if is_number(row["effect_standardized"])]
    adjusted = [row for row in rows if is_number(row["adjusted_low"])]
    turned = sum(row["effect_size"] * row["effect_standardized"] < 0 for row in scaled)
    apart = sum(grid.excludes_zero(row, "adjusted") for row in adjusted)
    said = [
        *([prose("standardized", turned=turned, n=len(scaled))] if scaled else []),
        *([prose("adjusted", apart=apart, n=len(adjusted))] if adjusted else []),
        *([prose("unadjusted", n=len(rows) - len(adjusted))] if len(adjusted) < len(rows) else []),
    ]
    title = f"{plural(len(rows), 'estimate')}, raw and adjusted: all numbers"
    parts = fold_table(title, "raw_numbers", rows)
    return fill_section("raw_numbers", findings=said, figures=figure_of(results, "scales"), parts=parts)


def methods_agree(results: Results) -> Section | None:
    """Return the section with all methods side by side, and Kendall's tau of every two."""
    estimates = side_by_side(results.estimates)
    if estimates["method"].n_unique() < 2:
        return None
    found = agreement(estimates).with_columns(pl.col("method_1", "method_2").replace(METHODS)).rows(named=True)
    listed = show_table("agreement", found)
    said = [prose("agreement_of_two", row=row) for row in found if row["tau"] is not None]
    return fill_section("agreement", findings=said, sheets=[listed], figures=figure_of(results, "methods"))


def other_choices(results: Results) -> Section | None:
    """Return the section on what holds under other choices: a row per method, category and model."""
    if "multiverse" not in results or (shares := shares_that_hold(results["multiverse"])).is_empty():
        return None
    shares = shares.with_columns(pl.col("method").replace(METHODS))
    file = f"{FOLDER}/{name_of('specifications_{category}', category=shares['category'][0])}.svg"
    sign, star = pl.col("sign_holds"), pl.col("star_holds")
    counts = shares.group_by("method", maintain_order=True).agg(
        n=pl.len(), always=(sign == 1).sum(), starred=(star == 1).sum(), never=(star == 0).sum()
    )
    said = [prose("choices_of_method", **row) for row in counts.rows(named=True)]
    title = f"{plural(len(shares), 'estimate')} under all choices"
    parts = fold_table(title, "other_choices", shares.rows(named=True))
    return fill_section("other_choices", {"file": file}, findings=said, parts=parts)


# --------------------
# Pictures of effects by context length: a small one for each category and model, and one that answers when asked.

_BEYOND = 0.8
"""So far beyond all effects their intervals are drawn."""


def describe_estimate(row: Estimate) -> str:
    """Return a text about an estimate for a cell or a point, a line each: place, effect, interval, p, copies, words."""
    twins, words = row.get("twin_effect_size"), few_words(row)
    note = row.get("interval_note") if is_number(row["ci_low"]) else ""
    p, p_holm = (sheet.probability(row[name]) for name in ("p_association", "p_association_holm"))
    lines = [
        name_place(**row),
        f"effect size: {with_sign(row['effect_size'])}",
        f"95 % interval over words: {grid.interval(row['ci_low'], row['ci_high'], with_sign)}",
        f"about the interval: {note}" if note else "",
        f"p_association: {p}, {f'{p_holm} by Holm' if is_number(row['p_association_holm']) else 'not corrected'}",
        f"random twins: {with_sign(twins)}{sheet.from_twins(row, 3)}" if is_number(twins) else "",
        f"words used of those listed: {words}, too few for a finding" if words else "",
    ]
    return "\n".join(filter(None, lines))


def name_place(model: str, segment_length: str = "", **_: object) -> str:
    """Return model and length of an estimate in words; only CEAT has a length."""
    return f"{model}, {grid.name_length(segment_length)}" if segment_length else model


def draw_line(ceat: Grid, category: str, model: str, *, changed: bool) -> Markup:
    """Return the primary effect of a category and model, and those of lengths as a line with its intervals."""
    scale = _Scale(ceat, 120, 40, left=6, right=6, top=4, bottom=4)
    line, points = scale.draw(ceat.list_lengths(category, model))
    circle = '<circle class="{}" r="2.6" cx="{}" cy="{}"/>'
    drawn = Markup("").join(html(circle, "found" * findings.is_found(row), x, y) for row, x, y in points)
    picture = (
        '<svg class="spark{}" viewBox="0 0 120 40" aria-hidden="true"><path class="zero-line" d="M0 {}H120"/>{}{}</svg>'
    )
    return html(picture, " changed" * changed, scale.y(0.0), line, drawn)


def draw_chart(ceat: Grid, categories: Sequence[grid.Category], *, choose: bool) -> Markup:
    """Return effects against length, a panel for each of these categories; panels have one scale.

    Args:
        ceat: all estimates.
        categories: those that are shown.
        choose: whether models can be chosen.
    """
    scale = _Scale(ceat, 300, 180, left=36, right=12, top=10, bottom=26)
    looks = [(model, n % len(MODELS) + 1, MARKERS[n % len(MARKERS)]) for n, model in enumerate(ceat.models)]
    shown: dict[str, Any] = {"is_found": findings.is_found, "describe": describe_estimate, "sign": with_sign}
    shown["address"] = partial(grid.address_of_number, CEAT.name)
    return section.render("chart", ceat=ceat, categories=categories, choose=choose, looks=looks, scale=scale, **shown)


class _Scale:
    """Where lengths and effects are in a picture of this size with these margins; all effects are within it."""

    def __init__(self, ceat: Grid, width: int, height: int, *, left: int, right: int, top: int, bottom: int) -> None:
        rows = [row for row in ceat.rows if is_number(row["effect_size"])]
        effects = [*(row["effect_size"] for row in rows), -0.5, 0.5]
        ends = [*effects, *(row[end] for row in rows for end in ("ci_low", "ci_high") if is_number(row[end]))]
        self._low = max(min(ends), min(effects) - _BEYOND) - 0.1
        self._high = min(max(ends), max(effects) + _BEYOND) + 0.1
        self._left, self._top, self._height = left, top, height - top - bottom
        self._step = (width - left - right) / max(len(ceat.lengths), 1)
        self._fixed = fixed_lengths(ceat.lengths)
        step = 0.5 if self._high - self._low < 4 else 1.0
        self.ticks = [n * step for n in range(-20, 21) if self._low <= n * step <= self._high]

    def x(self, n: int) -> float:
        """Return where the primary estimate (0) or the length of this number is."""
        return round(self._left + n * self._step, 1)

    def y(self, effect: float) -> float:
        """Return the height of an effect; the end of an interval beyond the picture is at its edge."""
        share = (self._high - min(max(effect, self._low), self._high)) / (self._high - self._low)
        return float(round(self._top + share * self._height, 1))

    def draw(
        self, rows: Sequence[Estimate | None], color: int = 0
    ) -> tuple[Markup, list[tuple[Estimate, float, float]]]:
        """Return the line through the effects of a model at the fixed lengths, and each effect with its place.

        The 95 % intervals are a band around the line where all of them are known; those of other points are lines.
        Contexts above a length (">75") are other texts: their effect is a point apart from the line.

        Args:
            rows: the primary estimate, and those of all lengths.
            color: of the model; 0 for none of its own.
        """
        there = [(n, row) for n, row in enumerate(rows) if row is not None and is_number(row["effect_size"])]
        points = [(row, self.x(n), self.y(row["effect_size"])) for n, row in there]
        joined = [point for point in points if point[0]["segment_length"] in self._fixed]
        known = [(row, x) for row, x, _ in joined if is_number(row["ci_low"])]
        band = [(x, self.y(row["ci_low"])) for row, x in known]
        band += [(x, self.y(row["ci_high"])) for row, x in reversed(known)]
        has_band = len(known) == len(joined) > 1
        drawn = [html('<path class="band" d="M{}z"/>', _join(band))] * has_band
        if joined:
            drawn.append(html('<path class="line" d="M{}"/>', _join((x, y) for _, x, y in joined)))
        for row, x, _ in points:
            if is_number(row["ci_low"]) and not (has_band and row["segment_length"] in self._fixed):
                ends = (self.y(row[end]) for end in ("ci_low", "ci_high"))
                drawn.append(html('<path class="line" d="M{}"/>', _join((x, y) for y in ends)))
        style = html(' style="--line-colour: var(--model-{})"', color) if color else ""
        return html("<g{}>{}</g>", style, Markup("").join(drawn)), points


def _join(points: Iterable[tuple[float, float]]) -> str:
    return "L".join(f"{x} {y}" for x, y in points)
