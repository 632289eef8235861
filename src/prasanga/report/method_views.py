"""Views of all methods: CEAT, other methods of words, traits in structures, sentence pairs, and methods compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.associations.comparisons import agreement, excludes_zero, fixed_lengths
from prasanga.methods import CEAT, TWIN_ENDING, method_named
from prasanga.pairs.alignment import KINDS, align_spans
from prasanga.pairs.preferences import FEWEST_PAIRS, OVERALL, REASONS, add_differences
from prasanga.report import findings, grid, section, sheet, summary
from prasanga.report.comparison import side_by_side
from prasanga.report.figures import MARKERS, MODELS
from prasanga.report.grid import METHODS, EstimateRow, Grid, few_words, is_number
from prasanga.report.section import Section, View, conventions_note, figure_of, fill_section, fold, fold_table, prose
from prasanga.report.sheet import Cell, Sheet, html, plural, show_table, two, with_sign
from prasanga.report.study import Results

EFFECT_STEPS = (0.1, 0.2, 0.5, 0.8, 1.2)
"""Where the shades of effects begin: 0.2, 0.5 and 0.8 are called small, medium and large."""

PERCENT_STEPS = (2.5, 5, 10, 20, 30)
"""Points from 50 at which the shades of bias percentages begin."""


def list_estimates(name: str, rows: Iterable[tuple[str, EstimateRow]], **values: Any) -> Sheet:
    """Return a table of estimates, given with their methods; effects are shaded and lead to their words."""
    named = [{**row, "method": METHODS[method], "name": method} for method, row in rows]
    cells = {"effect_size": lambda row, cell: shade_effect(row["name"], row, cell)}
    return show_table(name, named, cells=cells, **values)


def shade_effect(method: str, row: EstimateRow, cell: Cell) -> Cell:
    """Return the cell of an effect in its shade, bold with a mark if it is found, with a link to its words."""
    effect, marked = row["effect_size"], bool(row.get("is_found"))
    if not is_number(effect):
        return replace(cell, shade="missing")
    looks: dict[str, Any] = {"mark": sheet.MARK * marked, "bold": marked, "shade": shade_of(effect)}
    return replace(cell, **looks, words=few_words(row), link=grid.address_of_number(method, row))


def shade_of(value: float, steps: Sequence[float] = EFFECT_STEPS) -> str:
    """Return the class of a cell's shade: `zero`, `plus-1` to `plus-5` above it, `minus-1` to `minus-5` below."""
    reached = sum(abs(value) >= threshold for threshold in steps)
    return f"{'plus' if value > 0 else 'minus'}-{reached}" if reached else "zero"


def heat_cell(method: str, row: EstimateRow | None, where: str) -> Cell:
    """Return a cell of a heat table."""
    if row is None or not is_number(row["effect_size"]):
        return Cell(shade="missing", hover=f"{where}: {grid.why_missing(row)}")
    return shade_effect(method, row, Cell(two(row["effect_size"]), hover=sum_up_estimate(row)))


# --------------------
# CEAT


def method_views(config: Mapping[str, Any], results: Results) -> list[View]:
    """Return the views of all methods, as far as they were measured, and of methods compared."""
    others = {name: describe_method(name, results) for name in results.estimates if name != CEAT.name}
    return [
        View("method-ceat", "Findings", "CEAT", *ceat_sections(config, results)),
        *(View(f"method-{name}", "Findings", METHODS[name], [each]) for name, each in others.items()),
        View("method-structures", "Findings", "Sentence structures", [structures(results)]),
        View("method-pairs", "Findings", "Sentence pairs", [pairs(results, texts=not section.hides_texts(config))]),
        View("methods-compared", "Findings", "Compared", [methods_agree(results)], [raw_numbers(results)]),
    ]


def ceat_sections(config: Mapping[str, Any], results: Results) -> tuple[list[Section], list[Section | None]]:
    """Return the sections of the view of CEAT that are open, and those that are folded."""
    ceat = results.ceat
    if not ceat.categories:
        return [], [settling(config, results)]
    about = {"steps": EFFECT_STEPS, "n_tests": findings.count_tests(ceat.rows)}
    about["has_few"] = any(map(few_words, ceat.estimates.values()))
    sentences = findings.headline_findings(results["ceat"], results.list_strengths(CEAT.name))
    said = Section("What the numbers say, in sentences", findings=sentences, folded=True)
    known = summary.find_wording("quantities", [CEAT.name], has_twins=results.has_twins)
    meanings = [(each["name"], f"{each['meaning']} {each['limit']}") for each in known]
    shown = [
        fill_section("effect_by_length", widget=draw_chart(ceat, ceat.categories, choose=True)),
        fill_section("effects", about, sheets=[_heat_sheet(ceat)], parts=[said]),
    ]
    reading, modes = fill_section("reading", definitions=meanings), sample_modes(ceat, results)
    conventions = grid.conventions_of(ceat.estimates.values())
    asked = config["associations"].get("draws") == "without-replacement"
    repeats = asked and any(row.get("draws") == "with-replacement" for row in ceat.rows)
    text = conventions_note(conventions, prose("all_numbers", repeats=repeats), head="Conventions of these estimates")
    numbers = Section("All numbers", "numbers", text=[text], parts=[_fold_numbers("ceat", CEAT.name, ceat.rows)])
    return shown, [reading, numbers, settling(config, results), modes]


def _heat_sheet(ceat: Grid) -> Sheet:
    """Return the heat table: for each model the primary estimates and the estimates at all lengths."""
    places, rows = list(product(ceat.models, (grid.MEAN, *ceat.lengths))), []
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


def _fold_numbers(name: str, method: str, rows: Sequence[EstimateRow]) -> Section:
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
    figures = figure_of(results, "settling", *(["convergence"] if has_draws else []))
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
    values = {"about": about, "exchanged": sorted(exchanged, key=grid.natural_order), "steps": EFFECT_STEPS}
    return fill_section(
        "other_method",
        {**values, "n_tests": findings.count_tests(rows)},
        findings=[findings.other_method(METHODS[method], table, strengths), *_compare_templates(rows)],
        sheets=[_show_effects(method, rows)],
        parts=[_fold_numbers("method", method, rows)],
        notes=[conventions_note(grid.conventions_of(rows), prose("method_note"))],
    )


def _by_category(table: pl.DataFrame) -> list[EstimateRow]:
    return sorted(table.iter_rows(named=True), key=lambda row: grid.natural_order(row["category"]))


def _compare_templates(rows: Sequence[EstimateRow]) -> list[str]:
    """Return in how many estimates the sign depends on the template, and how much wider templates make intervals."""
    known = [row for row in rows if is_number(row.get("by_template_low")) and (row.get("n_templates") or 0) > 1]
    both = [row for row in known if is_number(row.get("ci_templates_low")) and is_number(row["ci_low"])]
    found = {
        **{"n": len(known), "n_intervals": len(both)},
        "turned": sum(not excludes_zero(row, "by_template") for row in known),
        "changed": sum(not excludes_zero(row, "without_template") for row in known),
        "of_words": sum(excludes_zero(row, "ci") for row in both),
        "of_both": sum(excludes_zero(row, "ci_templates") for row in both),
    }
    return [prose("templates", **found)] if known else []


def _show_effects(method: str, rows: Sequence[EstimateRow]) -> Sheet:
    """Return the effects by category and model."""
    models = dict.fromkeys(row["model"] for row in rows)
    estimates = {(row["category"], row["model"]): row for row in rows}
    lines = [
        (
            html('<a href="#{}">{}</a> <span class="sets">{}; {}</span>', grid.anchor_of(each.name), *each),
            *(heat_cell(method, estimates.get((each.name, model)), model) for model in models),
        )
        for each in dict.fromkeys(map(grid.category_of, rows))
    ]
    unit = "vectors" if method_named(method).unit == "vectors" else "model"
    return show_table("effects", lines, columns=dict.fromkeys(models, ""), unit=unit)


# --------------------
# Traits in sentence structures


def structures(results: Results) -> Section | None:
    """Return the section on traits in sentence structures."""
    spread, differences = results["structures"], results["structure_differences"]
    if spread.is_empty():
        return None
    rows = spread.rows(named=True)
    compared = differences.filter(pl.col("quantity").is_in(findings.QUANTITIES_AS_SHOWN)).rows(named=True)
    numbers = fold_table("Spread by structure: all numbers", "structures", rows)
    title, text = "Two structures compared on the same traits", [prose("structures_compared")]
    of_two = fold_table(title, "structures_compared", compared, text=text)
    n = max(row["n"] + row["n_left_out"] for row in rows)
    names = ("pieces", "aggregation", "prior_mask")
    conventions = list(dict.fromkeys(", ".join(f"{name} {row[name]}" for name in names) for row in rows))
    note = prose("structures_note", has_twins=any(is_number(row["twin_sd"]) for row in rows))
    return fill_section(
        "structures",
        {"structures": ", ".join(sorted(set(spread["structure"]))), "n": n},
        findings=list(findings.findings_of_structures(spread, differences)),
        figures=figure_of(results, "structures"),
        parts=[*_hexbins(results), *numbers, *_list_traits(results), *of_two],
        notes=[conventions_note(conventions, note)],
    )


def _hexbins(results: Results) -> Iterator[Section]:
    """Yield the figures of prior against corrected scores, one for each model, packed."""
    for name in sorted((name for name in results.figures if name.startswith("hexbins_")), key=grid.natural_order):
        file = f"figures/{name}.svg"
        packed = prose("hexbins_unscripted", file=file, is_there=file in results.files)
        figures, about = figure_of(results, name), "prior against corrected, trait by trait"
        yield fold(name.removeprefix("hexbins_"), about, figures=figures, packed=packed)


def _list_traits(results: Results) -> Iterator[Section]:
    """Yield every trait of each structure with its scores and its sentences; packed."""
    traits = results["traits"].filter(pl.col("corrected").is_finite())
    if traits.is_empty():
        return
    models = traits["model"].unique(maintain_order=True).to_list()
    chosen = results["measured_sentences"].filter(method="structures").sort("rank")
    texts = chosen.rows_by_key(["category", "stimulus"], named=True)
    columns = dict.fromkeys(models, "") | ({"Sentences": "text"} if texts else {})
    key = ["structure", "polarity", "trait", "gloss"]
    scores = traits.pivot("model", index=key, values="corrected", maintain_order=True)
    scores = scores.sort(pl.max_horizontal(models), descending=True, maintain_order=True)
    for structure in traits["structure"].unique(maintain_order=True):
        rows = []
        for row in scores.filter(structure=structure).iter_rows(named=True):
            sentences = [sheet.shown(each["text"]) for each in texts.get((structure, row["trait"]), ())]
            cells = [sheet.sortable("mean", row[model], "+.3f") for model in models]
            said = [Markup("<br>").join(sentences)] if texts else []
            rows.append((row["trait"], row["gloss"] or "", row["polarity"], *cells, *said))
        listed = show_table("traits", rows, columns=columns, structure=structure)
        more = f"{plural(len(rows), 'trait')} with their corrected association{' and sentences' * bool(texts)}"
        packed = "These traits need a script. Without one, open data/traits.parquet next to the page."
        yield fold(structure, more, id=grid.anchor_of(structure, "structure"), sheets=[listed], packed=packed)


# --------------------
# Sentence pairs


_ORIGINS = {OVERALL: "all pairs", "inherited": "inherited", "tuples": "from tuples"}
MOST_PAIRS = 5000
"""The page has the first pairs, up to this number; the file of scores has all of them."""

_SHOWN_MODELS = 4
_PAIR = ("set", "language", "pair_id", "bias_type", "label")


def pairs(results: Results, *, texts: bool) -> Section | None:
    """Return the section on sentence pairs: percentages, every pair, and the sets of pairs.

    Without `texts` no word of a sentence goes into the page.
    """
    bias, described = results["bias_percentages"], results["pair_statistics"]
    if bias.is_empty() and described.is_empty():
        return None
    parts = [browse_pairs(results["pair_scores"], texts=texts, scored=not bias.is_empty())]
    parts += [] if described.is_empty() else [_pair_sets(results)]
    if bias.is_empty():
        return fill_section("pairs", {"n_tests": None}, parts=parts)
    found = grid.pair_grid_of(bias)
    heats = Markup("").join(section.sheet_to_html(_percentage_heat(found, group)) for group in found.groups)
    reading = {"row": next(iter(found.rows.values())), "fewest": FEWEST_PAIRS}
    numbers = [_list_percentages(found, group) for group in found.groups]
    titles = {group[:2]: group.title for group in found.groups}
    strengths = [
        f"{titles[row['set'] or '', row['language']]}, {row['model']}: {findings.tell_strength('pairs', row)}"
        for row in results["pair_strength"].iter_rows(named=True)
    ]
    note = prose("pairs_note", has_twins=bool(bias["n_twins"].sum()))
    about = {"n_tests": grid.tests_of(found), "steps": PERCENT_STEPS, "fewest": FEWEST_PAIRS}
    detectable = [Section("Preferences that could have been found", items=strengths, folded=True)] * bool(strengths)
    return fill_section(
        "pairs",
        about,
        findings=findings.findings_of_pairs(bias),
        widget=html('<div class="abreast">{}</div>', heats),
        figures=figure_of(results, "score_differences"),
        parts=[*detectable, fill_section("pairs_reading", reading, folded=True), *numbers, *parts],
        notes=[conventions_note(bias["conventions"].unique(maintain_order=True), note)],
    )


def _percentage_heat(found: grid.PairGrid, group: grid.Group) -> Sheet:
    """Return the percentages of one language of one set by bias type and model."""
    models = found.models_of(group)
    rows = [
        (grid.name_of_type(name), *(_percentage_cell(found.at(group, model, name)) for model in models))
        for name in (*found.types, OVERALL)
    ]
    return show_table("percentage_heat", rows, columns=dict.fromkeys(models, ""), title=group.title)


def _percentage_cell(row: EstimateRow | None) -> Cell:
    """Return the cell of a percentage in its shade, bold with a mark if it is a finding."""
    if row is None or not is_number(row["bias_percentage"]):
        return Cell(shade="missing", hover=grid.why_no_percentage(row))
    marked, shade = findings.is_found(row), shade_of(row["bias_percentage"] - 50, PERCENT_STEPS)
    ends = grid.write_interval(row["balanced_ci_low"], row["balanced_ci_high"], sheet.one_decimal)
    hover = f"both labels weighted alike: {sheet.one_decimal(row['balanced_percentage'])}, {ends}" if marked else ""
    few = plural(n, "pair") if (n := grid.pairs_counted(row)) < FEWEST_PAIRS else ""
    text = sheet.one_decimal(row["bias_percentage"])
    return Cell(text, sheet.MARK * marked, bold=marked, shade=shade, hover=hover, words=few)


def _list_percentages(found: grid.PairGrid, group: grid.Group) -> Section:
    """Return all numbers of one language of one set."""
    rows = []
    for name, model in product((*found.types, OVERALL), found.models_of(group)):
        if (row := found.at(group, model, name)) is None:
            continue
        note = f"Not computed: {why}." if (why := grid.why_no_percentage(row)) else row["interval_note"]
        rows.append({**row, "bias_type": grid.name_of_type(row["bias_type"]), "interval_note": note})
    cells = {"bias_percentage": lambda row, cell: replace(_percentage_cell(row), order=cell.order, hover="", words="")}
    listed = show_table("percentages", rows, cells=cells, title=group.title)
    return fold(group.title, "all numbers", sheets=[listed])


# --------------------
# A table of all pairs with the difference of their scores by every model. The page unpacks it when a reader opens it,
# and then sorts, filters, searches and saves it as any long table.


def browse_pairs(scores: pl.DataFrame, *, texts: bool, scored: bool) -> Section:
    """Return the part of the page in which every pair can be looked through.

    Args:
        scores: of `prasanga.likelihoods.score_pairs`, with the columns set and model; a random-weight copy is called
            as its model with `-random` after it.
        texts: as for `pairs`.
        scored: whether there are percentages, though the scores behind them may be missing.
    """
    if scores.is_empty():
        return fill_section("no_pairs", {"scored": scored})
    rows = add_differences(scores).with_columns(pl.col(*_PAIR).fill_null(""))
    key = [*_PAIR, "model"]  # once for each copy, all of which are called the same
    rows = rows.with_columns(pl.col("difference").mean().over(key)).unique(key, keep="first", maintain_order=True)
    models, sets = (rows[name].unique(maintain_order=True).to_list() for name in ("model", "set"))
    twins = [name for name in models if name.endswith(TWIN_ENDING) and name.removesuffix(TWIN_ENDING) in models]
    n_pairs, n_models = rows.n_unique(_PAIR), len(models) - len(twins)
    about = {"n": n_pairs, "sets": sets, "n_models": n_models, "has_twins": bool(twins), "texts": texts}
    hidden = [model for n, model in enumerate(models) if n >= _SHOWN_MODELS or model in twins]
    browser = Section(
        prose("pairs_warning" if texts else "pairs_without_texts"),
        "pair-browser",
        folded=True,
        sheets=[replace(_list_pairs(rows, models, texts=texts), hidden=hidden)],
        notes=[prose("pairs_differences", texts=texts, n_more=max(0, n_pairs - MOST_PAIRS))],
        packed=prose("pairs_unscripted"),
        look="pair-browser",
    )
    return fill_section("pair_browser", about, parts=[browser])


def _list_pairs(rows: pl.DataFrame, models: Sequence[str], *, texts: bool) -> Sheet:
    """Return the table of pairs, a column for each model."""
    heads = {"set": "Set", "language": "Language", "bias_type": "Type", "label": "Label"}
    heads = {name: head for name, head in heads.items() if name in ("bias_type", "label") or rows[name].n_unique() > 1}
    scored = rows.rows_by_key([*_PAIR, "model"], named=True, include_key=True, unique=True)
    names = {"language": grid.name_of_language, "bias_type": grid.name_of_type}
    lines = []
    for pair in rows.unique(_PAIR, keep="first", maintain_order=True).head(MOST_PAIRS).iter_rows(named=True):
        key, cells = [pair[name] for name in _PAIR], [names.get(name, str)(pair[name]) for name in heads]
        differences = [_difference_cell(scored.get((*key, model))) for model in models]
        lines.append((pair["pair_id"], *cells, *(_mark_words(pair) if texts else ()), *differences))
    kinds = dict.fromkeys(heads.values(), "list") | dict.fromkeys(["First sentence", "Second sentence"] * texts, "text")
    return show_table("pairs", lines, columns=kinds | dict.fromkeys(models, ""))


def _mark_words(pair: Mapping[str, Any]) -> list[Markup]:
    """Return both sentences with the words in which they differ marked."""
    first, second = pair["first"], pair["second"]
    found = align_spans(first, second, punctuation=pair.get("punctuation") or "apart")
    marked = []
    for text, spans in ((first, found.modified_first), (second, found.modified_second)):
        parts, end = [], 0
        for start, stop in spans:
            parts += [sheet.shown(text[end:start]), html("<mark>{}</mark>", text[start:stop])]
            end = stop
        marked.append(Markup("").join([*parts, sheet.shown(text[end:])]))
    return marked


def _difference_cell(row: Mapping[str, Any] | None) -> Cell:
    if row is None:
        return Cell(hover="this model has no score for this set and language")
    if row["left_out"]:
        return Cell(row["left_out"], hover=REASONS.get(row["left_out"], ""), order="")
    return Cell(with_sign(row["difference"]))


# --------------------
# The sets of pairs


def _pair_sets(results: Results) -> Section:
    """Return the part on the sets of pairs: the numbers of the paper's Table 6, and the oddities of each set."""
    statistics, odd = results["pair_statistics"], _count_oddities(results["pair_oddities"])
    groups = grid.groups_of(statistics.select(_PAIR[:2]).iter_rows())
    parts = [_describe_set(statistics.filter(set=group.set, language=group.language), group.title) for group in groups]
    parts += [fill_section("oddities", sheets=[odd], folded=True)] if odd.rows else []
    files = [(file, "CSV") for file in ("data/pair_statistics.csv",) if file in results.files]
    return fill_section("pair_sets", parts=parts, files=files, files_text="These numbers as")


def _describe_set(table: pl.DataFrame, title: str) -> Section:
    """Return the statistics of one language of one set by subset."""
    n_pairs = dict(table.filter(statistic="mean_words", category=OVERALL).select("subset", "n_pairs").iter_rows())
    # a subset of all pairs would say everything twice
    subsets = [subset for subset, n in n_pairs.items() if subset == OVERALL or n < n_pairs[OVERALL]]
    rows: list[tuple[Any, ...]] = [("Pairs", *(n_pairs[subset] for subset in subsets))]
    for (statistic, category), part in table.group_by("statistic", "category", maintain_order=True):
        values = dict(part.select("subset", "value").iter_rows())
        heads = {"mean_words": "Words in a sentence, mean", "label_percentage": f"Labelled {category}, %"}
        name = heads.get(str(statistic), f"{grid.name_of_type(str(category))}, %")
        form = ".2f" if statistic == "mean_words" else ".1f"
        rows.append((name, *(sheet.sortable("value", values.get(subset), form) for subset in subsets)))
    columns = {_ORIGINS.get(subset, subset): "" for subset in subsets}
    listed = show_table("pair_set", rows, columns=columns, title=title)
    return fold(title, plural(n_pairs[subsets[0]], "pair"), sheets=[listed])


def _count_oddities(oddities: pl.DataFrame) -> Sheet:
    """Return how many pairs of each set and language have each kind of oddity."""
    counts = oddities.group_by("set", "kind", "language", maintain_order=True).agg(pl.col("pair_id").n_unique())
    what = {kind: html('<code>{}</code> <span class="aside">{}</span>', kind, text) for kind, text in KINDS.items()}
    names = counts.iter_rows()
    return show_table("oddities", [(name, what[kind], grid.name_of_language(each), n) for name, kind, each, n in names])


# --------------------
# Other vectors, all methods together


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
    counts = {"scaled": len(scaled), "adjusted": len(adjusted), "unadjusted": len(rows) - len(adjusted)}
    turned = sum(row["effect_size"] * row["effect_standardized"] < 0 for row in scaled)
    apart = sum(excludes_zero(row, "adjusted") for row in adjusted)
    said = section.paragraphs("raw_findings", **counts, turned=turned, apart=apart)
    parts = fold_table(f"{plural(len(rows), 'estimate')}, raw and adjusted: all numbers", "raw_numbers", rows)
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


# --------------------
# Pictures of effects by context length: a small one for each category and model, and one that answers when asked.

_BEYOND = 0.8
"""So far beyond all effects their intervals are drawn."""


def sum_up_estimate(row: EstimateRow) -> str:
    """Return four lines on an estimate for its tooltip: effect and interval, p, copies, and how to see more."""
    copies, p = row.get("twin_effect_size"), row["p_association_holm"]
    ends = f", 95% interval {grid.write_interval(row['ci_low'], row['ci_high'], two)}" * is_number(row["ci_low"])
    tested = f"p (Holm) {sheet.equals_probability(p)}" if is_number(p) else "Not tested"
    compared = f"Random-weight copies: {two(copies)}" if is_number(copies) else "Not compared with random-weight copies"
    place = f"{name_place(**row)}: {two(row['effect_size'])}{ends}"
    return "\n".join([place, tested, compared, "Click for words and sentences"])


def describe_estimate(row: EstimateRow) -> str:
    """Return a text about an estimate for its panel, a line each: place, effect, interval, p, copies, words."""
    twins, words = row.get("twin_effect_size"), few_words(row)
    note = row.get("interval_note") if is_number(row["ci_low"]) else ""
    p, p_holm = (sheet.probability(row[name]) for name in ("p_association", "p_association_holm"))
    lines = [
        name_place(**row),
        f"effect size: {with_sign(row['effect_size'])}",
        f"95% interval over words: {grid.write_interval(row['ci_low'], row['ci_high'], with_sign)}",
        f"about the interval: {note}" if note else "",
        f"p_association: {p}, {f'{p_holm} by Holm' if is_number(row['p_association_holm']) else 'not corrected'}",
        f"random-weight copies: {with_sign(twins)}{sheet.from_twins(row, 3)}" if is_number(twins) else "",
        f"words used of those listed: {words}, too few for a finding" if words else "",
    ]
    return "\n".join(filter(None, lines))


def name_place(model: str, segment_length: str = "", **_: object) -> str:
    """Return model and length of an estimate in words; only CEAT has a length."""
    return f"{model}, {grid.name_length(segment_length)}" if segment_length else model


def draw_chart(ceat: Grid, categories: Sequence[grid.TitledCategory], *, choose: bool) -> Markup:
    """Return effects against length, a panel for each of these categories; with `choose` models can be chosen."""
    scale = Scale(ceat, *((272, 170) if choose else (340, 210)))
    looks = [(model, n % len(MODELS) + 1, MARKERS[n % len(MARKERS)]) for n, model in enumerate(ceat.models)]
    about = {"ceat": ceat, "categories": categories, "choose": choose, "looks": looks, "scale": scale}
    address = partial(grid.address_of_number, CEAT.name)
    return section.render("chart", **about, address=address, describe=sum_up_estimate, sign=with_sign)


class Scale:
    """Where lengths and effects are in a picture of this size with these margins; all effects are within it."""

    def __init__(self, ceat: Grid, width: int, height: int) -> None:
        rows = [row for row in ceat.rows if is_number(row["effect_size"])]
        effects = [*(row["effect_size"] for row in rows), -0.5, 0.5]
        ends = [*effects, *(row[end] for row in rows for end in ("ci_low", "ci_high") if is_number(row[end]))]
        self._low = max(min(ends), min(effects) - _BEYOND) - 0.1
        self._high = min(max(ends), max(effects) + _BEYOND) + 0.1
        self.width, self.height = width, height
        self._step = (width - 76) / max(len(ceat.lengths), 1)
        self._fixed = fixed_lengths(ceat.lengths)
        step = 0.5 if self._high - self._low < 4 else 1.0
        self.ticks = [n * step for n in range(-20, 21) if self._low <= n * step <= self._high]

    def x(self, n: int) -> float:
        """Return where the primary estimate (0) or the length of this number is."""
        return round(54 + n * self._step, 1)

    def y(self, effect: float) -> float:
        """Return the height of an effect; the end of an interval beyond the picture is at its edge."""
        share = (self._high - min(max(effect, self._low), self._high)) / (self._high - self._low)
        return float(round(10 + share * (self.height - 36), 1))

    def place(self, rows: Sequence[EstimateRow | None], shift: float = 0) -> list[dict[str, Any]]:
        """Return each estimate of a model with its place and the heights of the ends of its interval, None without one.

        All are moved to the right by `shift`, so that no model hides another. `is_fixed` are those at fixed lengths;
        contexts above a length (">75") are other texts.
        """
        found = []
        for n, row in enumerate(rows):
            if row is not None and is_number(row["effect_size"]):
                low, high = (self.y(row[end]) if is_number(row["ci_low"]) else None for end in ("ci_low", "ci_high"))
                place = {"x": self.x(n) + shift, "y": self.y(row["effect_size"]), "low": low, "high": high}
                found.append({"row": row, **place, "is_fixed": row["segment_length"] in self._fixed})
        return found
