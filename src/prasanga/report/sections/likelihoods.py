"""Views of what models find likely: traits in sentence structures, sentence pairs, and the sets of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.pairs.preferences import FEWEST_PAIRS, OVERALL, REASONS
from prasanga.pairs.reading import KINDS
from prasanga.report.findings import (
    ALL,
    QUANTITIES,
    findings_of_pairs,
    findings_of_structures,
    interval_of_percentage,
    is_found_of_pairs,
)
from prasanga.report.grid import (
    Estimate,
    Group,
    PairGrid,
    anchor_of,
    groups_of,
    is_number,
    name_of_language,
    name_of_type,
    natural_order,
    pair_grid_of,
    pairs_counted,
    pairs_left_out,
    tests_of,
    why_no_percentage,
)
from prasanga.report.section import Section, conventions_note, count, figure_of, fold, hides_texts, prose, sheet_to_html
from prasanga.report.sections.estimates import shade_of
from prasanga.report.sections.pair_browser import pair_browser
from prasanga.report.sheet import (
    MARK,
    Cell,
    Row,
    Sheet,
    from_twins,
    html,
    list_numbers,
    numbers,
    one_decimal,
    probability,
    row_of,
    show_value,
    shown,
    sortable,
)
from prasanga.report.study import Results

THRESHOLDS = (2.5, 5, 10, 20, 30)
"""Points from 50 at which the shades of bias percentages begin."""

_SPREAD = "structure model polarity quantity n mean_words mean mean_low mean_high sd q25 q75 min max mean_size twin_sd"
_COMPARED = (
    "model polarity quantity structure_1 structure_2 n ratio ratio_low ratio_high difference difference_low"
    " difference_high note"
)
_PERCENTAGES = (
    "model bias_type bias_percentage ci_low ci_high p_binomial_holm balanced_percentage balanced_ci_low"
    " balanced_ci_high p_label_holm twin_bias_percentage twin_difference p_binomial p_binomial_bh exact_low exact_high"
    " percentage_stereo percentage_antistereo n_pairs n_ties n_left_out runs_mean runs_sd difference_median"
    " interval_note"
)
_FORMS = {"ci_low": ".1f", "ci_high": ".1f", "twin_difference": "+.1f"}
_ORIGINS = {OVERALL: "all pairs", "inherited": "inherited", "tuples": "from tuples"}
_EXAMPLES, _LONGEST = 3, 60
"""Oddities of a kind that are shown, and characters of each, at most."""


def structures(results: Results) -> Section | None:
    """Return the section on traits in sentence structures."""
    spread, differences = results.structures, results.structure_differences
    if spread is None or differences is None:
        return None
    rows = list(spread.iter_rows(named=True))
    named = ", ".join(sorted(set(spread["structure"])))
    most = max((row["n"] + row["n_left_out"] for row in rows), default=0)
    unscored = [
        f"{row['model']}, {row['structure']}, {row['polarity']}: {row['n_left_out']} of"
        f" {row['n'] + row['n_left_out']} traits without a score"
        for row in rows
        if row["quantity"] == "fill" and row["polarity"] != ALL and row["n_left_out"]
    ]
    conventions = list(dict.fromkeys(f"pieces {row['pieces']}, terms {row['terms']}" for row in rows))
    has_twins = any(is_number(row["twin_sd"]) for row in rows)
    lists = "structure model polarity quantity structure_1 structure_2"
    caption = "Associations over traits by structure"
    all_numbers = list_numbers(rows, _SPREAD, caption=caption, lists=lists, forms={"median": "+.2f"})
    compared = [row for row in differences.iter_rows(named=True) if row["quantity"] in QUANTITIES[:2]]
    forms = {"difference": "+.2f"}
    of_two = list_numbers(compared, _COMPARED, caption="Structures compared", lists=lists, forms=forms)
    title = "Two structures compared on the same traits"
    return Section(
        "Traits in sentence structures",
        "structures",
        text=[prose("structures", structures=named, n=most)],
        findings=list(findings_of_structures(spread, differences)),
        figures=figure_of(results, "structures", label=prose("structures_label")),
        parts=[
            *_hexbins(results),
            Section("Spread by structure: all numbers", sheets=[all_numbers], folded=True),
            *_traits_of_structures(results),
            Section(title, text=[prose("structures_compared")], sheets=[of_two], folded=True),
            *([Section("Traits without a score", items=unscored, folded=True)] if unscored else []),
        ],
        notes=[conventions_note(conventions, prose("structures_note", has_twins=has_twins))],
    )


def _hexbins(results: Results) -> list[Section]:
    """Return the figures of prior against corrected scores, one for each model, packed."""
    label = "Prior against corrected association of each trait, one panel for each sentence structure."
    parts = []
    for name in sorted((name for name in results.figures if name.startswith("hexbins_")), key=natural_order):
        file = f"figures/{name}.svg"
        linked = '<a href="{0}">{0}</a>' if file in results.files else "<code>{}</code>"
        packed = html(f"A script unpacks this figure; without one it is in the file {linked}.", Markup.escape(file))
        head = name.removeprefix("hexbins_"), "prior against corrected, trait by trait"
        parts.append(fold(*head, figures=figure_of(results, name, label=label), packed=packed))
    return parts


def _traits_of_structures(results: Results) -> list[Section]:
    """Return every trait of each structure with its scores and its sentences; packed."""
    if results.traits is None:
        return []
    traits = results.traits.filter(pl.col("corrected").is_finite())
    models = traits["model"].unique(maintain_order=True).to_list()
    texts: dict[tuple[str, str], list[str]] = {}
    if results.sentences is not None:
        chosen = results.sentences.filter(method="structures").sort("rank")
        for structure, trait, text in chosen.select("category", "stimulus", "text").iter_rows():
            texts.setdefault((structure, trait), []).append(text)
    columns = numbers("Gloss", "Traits", *models, *(["Sentences"] if texts else []))
    kinds = {"Gloss": "text", "Traits": "list", "Sentences": "text"}
    parts = []
    for (structure,), of_structure in traits.group_by("structure", maintain_order=True):
        key = ["polarity", "trait", "gloss"]
        scores = of_structure.pivot("model", index=key, values="corrected", maintain_order=True)
        order = pl.max_horizontal(name for name in models if name in scores.columns)
        rows = []
        for row in scores.sort(order, descending=True, maintain_order=True).iter_rows(named=True):
            cells = [sortable("mean", row.get(model), "+.3f") for model in models]
            said = [Markup("<br>").join(map(shown, texts.get((structure, row["trait"]), ())))] if texts else []
            rows.append(row_of(row["trait"], row["gloss"] or "", row["polarity"], *cells, *said))
        sheet = Sheet(("Trait",), columns, rows, f"Traits in {structure}: corrected association", "explorable", kinds)
        more = f"{count(len(rows), 'trait')} with their corrected association{' and sentences' * bool(texts)}"
        packed = "A script unpacks these traits; without one they are in data/traits.parquet, beside the page."
        parts.append(fold(structure, more, id=anchor_of(structure, "structure"), sheets=[sheet], packed=packed))
    return parts


def pairs(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section on sentence pairs: percentages, every pair, and the sets of pairs."""
    bias, described = results.bias_percentages, results.pair_statistics
    if bias is None and described is None:
        return None
    text = prose("pairs", scored=bias is not None)
    browser = pair_browser(results.pair_scores, texts=not hides_texts(config), scored=bias is not None)
    oddities = {} if hides_texts(config) else results.pair_oddities  # what is odd is shown with the words in question
    sets = [] if described is None else [_pair_sets(described, oddities, results.files)]
    if bias is None:
        return Section("Sentence pairs", "pairs", text=[text], parts=[browser, *sets])
    grid = pair_grid_of(bias)
    n_tests = tests_of(grid)
    tests = "the one percentage" if n_tests == 1 else f"the {n_tests} percentages"
    conventions = list(dict.fromkeys(row["conventions"] for row in grid.rows.values()))
    heats = Markup("").join(sheet_to_html(_percentage_heat(grid, group)) for group in grid.groups)
    return Section(
        "Sentence pairs",
        "pairs",
        text=[text, prose("percentages", percentages=tests)],
        findings=list(findings_of_pairs(bias)),
        widget=html('<div class="beside">{}</div>', heats),
        figures=figure_of(results, "score_differences", label=prose("densities_label")),
        definitions=_readings(next(iter(grid.rows.values()))),
        parts=[part for group in grid.groups for part in _numbers_of_group(grid, group)] + [browser, *sets],
        notes=[conventions_note(conventions, prose("pairs_note"))],
    )


def _readings(row: Estimate) -> list[tuple[str, str]]:
    """Return what the numbers of a bias percentage say, by the conventions of the study."""
    apart = (
        ", and of the percentage" if row["ties"] == "apart" else "; in the percentage they count as not stereotypical"
    )
    runs = prose("pairs_runs", n=row["n_runs"], share=f"{100 * (row['share'] or 0):g}")
    return [
        ("The interval", prose("pairs_interval", fewest=FEWEST_PAIRS)),
        ("Exact p", f"The two-sided binomial test against 50. Pairs with equal scores are left out of it{apart}."),
        *([("Mean and deviation over runs", runs)] if row["n_runs"] else []),
        ("Stereo and antistereo pairs", prose("pairs_labels")),
    ]


def _percentage_heat(grid: PairGrid, group: Group) -> Sheet:
    """Return the percentages of one language of one set by bias type and model."""
    models = grid.models_of(group)
    rows = [
        row_of(name_of_type(name), *(_percentage_cell(model, grid.at(group, model, name)) for model in models))
        for name in (*grid.types, OVERALL)
    ]
    caption = f"Bias percentage by bias type and model, {group.title}"
    look = "heat-table overview of-pairs"
    return Sheet(("Bias type",), numbers(*models), rows, caption, look, {"Bias type": "corner"})


def _percentage_cell(model: str, row: Estimate | None) -> Cell:
    """Return the cell of a percentage in its shade, bold with a mark if it is a finding."""
    if row is None or not is_number(row["bias_percentage"]):
        return Cell(shade="missing", hover=f"{model}: {why_no_percentage(row)}")
    twin, marked = row["twin_bias_percentage"], is_found_of_pairs(row)
    lines = [
        f"{model}\nbias percentage {one_decimal(row['bias_percentage'])}, {count(pairs_counted(row), 'pair')}",
        f"95 % interval {interval_of_percentage(row, 'ci')}, exact {interval_of_percentage(row, 'exact')}",
        f"exact p {probability(row['p_binomial'])}, {probability(row['p_binomial_holm'])} by Holm",
        f"random twins {one_decimal(twin)}{from_twins(row, 1)}" if is_number(twin) else "",
    ]
    shade = shade_of(row["bias_percentage"] - 50, THRESHOLDS)
    text, hover = one_decimal(row["bias_percentage"]), "\n".join(filter(None, lines))
    return Cell(text, MARK * marked, bold=marked, shade=shade, hover=hover)


def _numbers_of_group(grid: PairGrid, group: Group) -> list[Section]:
    """Return all numbers of one language of one set, and its pairs left out with the reasons."""
    found = [
        (model, row)
        for name in (*grid.types, OVERALL)
        for model in grid.models_of(group)
        if (row := grid.at(group, model, name)) is not None
    ]
    rows = [{**row, "bias_type": name_of_type(row["bias_type"])} for _, row in found]
    for row in rows:
        row["interval_note"] = f"Not computed: {why}." if (why := why_no_percentage(row)) else row["interval_note"]
    caption = f"Sentence pairs, {group.title}"
    sheet = list_numbers(rows, _PERCENTAGES, caption=caption, lists="model bias_type", forms=_FORMS)
    at = [name for _, name in sheet.columns].index("Bias percentage")
    lines = []
    for line, (model, row) in zip(sheet.rows, found, strict=True):
        cells = list(line.cells)
        cells[at] = replace(_percentage_cell(model, row), order=cells[at].order, hover="")
        lines.append(replace(line, cells=tuple(cells)))
    left_out = []
    for model, row in found:
        if row["bias_type"] == OVERALL and row["n_left_out"]:
            left_out.append(f"{model}: {row['n_left_out']} of {count(row['n_pairs'], 'pair')}.")
            listed = pairs_left_out(row).items()
            left_out += [f"{REASONS.get(reason, reason)}: {', '.join(pairs)}" for reason, pairs in listed]
    parts = [fold(group.title, "all numbers", sheets=[replace(sheet, rows=lines)])]
    return [*parts, *([fold(group.title, "pairs left out, and why", items=left_out)] if left_out else [])]


def _pair_sets(statistics: pl.DataFrame, oddities: Mapping[str, pl.DataFrame], files: Sequence[str]) -> Section:
    """Return the part on the sets of pairs: the numbers of the paper's Table 6, and the oddities of each set."""
    groups = groups_of(statistics.select("set", "language").iter_rows())
    file = "data/pair_statistics.csv"
    return Section(
        "What the sets hold",
        "pairs-sets",
        text=[prose("pair_sets")],
        parts=[
            *(_set(statistics.filter(set=group.set, language=group.language), group) for group in groups),
            *(_oddities_of(name, table) for name, table in oddities.items() if len(table)),
        ],
        notes=[f"Nothing is odd about the set {name}." for name, table in oddities.items() if table.is_empty()],
        files=[(file, "CSV")] if file in files else [],
        files_text="These numbers as",
    )


def _set(table: pl.DataFrame, group: Group) -> Section:
    """Return the statistics of one language of one set by subset."""
    means = table.filter(statistic="mean_words", category=OVERALL)
    n_pairs = dict(means.select("subset", "n_pairs").iter_rows())
    # a subset of all pairs would say everything twice
    subsets = [subset for subset, n in n_pairs.items() if subset == OVERALL or n < n_pairs[OVERALL]]
    rows = [row_of("Pairs", *(f"{n_pairs[subset]:,}" for subset in subsets))]
    for (statistic, category), part in table.group_by("statistic", "category", maintain_order=True):
        values = {subset: (value, n) for subset, value, n in part.select("subset", "value", "n_pairs").iter_rows()}
        name = {"mean_words": "Words in a sentence, mean", "label_percentage": f"Labelled {category}"}.get(
            str(statistic), name_of_type(str(category))
        )
        cells = (values.get(subset, (None, 0)) for subset in subsets)
        form = ".2f" if statistic == "mean_words" else ".1f"
        said = (
            show_value("value", value, form) + f" % ({n:,})" * (form == ".1f" and value is not None)
            for value, n in cells
        )
        rows.append(row_of(name, *said))
    columns = numbers(*(_ORIGINS.get(subset, subset) for subset in subsets))
    sheet = Sheet(("Statistic",), columns, rows, f"What the pairs consist of, {group.title}")
    return fold(group.title, count(n_pairs[subsets[0]], "pair"), sheets=[sheet])


def _oddities_of(name: str, table: pl.DataFrame) -> Section:
    """Return the oddities of one set: per kind the pairs of each language that have it, and the first of them."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    kinds = sorted(table["kind"].unique(), key=order.__getitem__)
    rows = []
    for kind in kinds:
        found = table.filter(kind=kind)
        counts = found.group_by("language", maintain_order=True).agg(pl.col("pair_id").n_unique()).rows()
        said = ", ".join(f"{n:,}\u00a0{name_of_language(language)}" for language, n in counts)
        head: str = html('<code>{}</code> <span class="aside">{}</span>', kind, KINDS[kind])
        block: str | None = ""
        for row in found.head(_EXAMPLES).iter_rows(named=True):
            where, text = f"{row['pair_id']}, {row['language']}, {row['column']}", row["found"]
            short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
            rows.append(Row((head,), tuple(map(Cell, (said, where, short, row["done"]))), block=block))
            head, said, block = "", "", None
    texts = ("Pairs", "Pair, language, column", "Found", "Done")
    caption = f"Oddities of {name}, the first of each kind"
    sheet = Sheet(("Kind",), numbers(*texts), rows, caption, "oddities", dict.fromkeys(texts, "text"))
    what = f"{count(len(table), 'oddity', 'oddities')} of {count(len(kinds), 'kind')}"
    return fold(name, what, text=[prose("oddities", name=name)], sheets=[sheet])
