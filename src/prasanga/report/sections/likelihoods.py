"""Sections on what models find likely: traits in sentence structures, sentence pairs, and what their sets hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.base.parquet import remade_by, require_columns
from prasanga.pairs.preferences import FEWEST_PAIRS, OVERALL, REASONS
from prasanga.pairs.reading import KINDS
from prasanga.report.findings import (
    ALL,
    DIFFERENCE_COLUMNS,
    QUANTITIES,
    SPREAD_COLUMNS,
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
    interval,
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
from prasanga.report.sections.estimates import shade_of, sorted_by
from prasanga.report.sections.pair_browser import pair_browser
from prasanga.report.sheet import (
    MARK,
    MISSING,
    Cell,
    Row,
    Sheet,
    from_twins,
    html,
    numbers,
    one_decimal,
    plain,
    probability,
    row_of,
    shown,
    two,
    with_sign,
)
from prasanga.report.study import Results

THRESHOLDS = (2.5, 5, 10, 20, 30)
"""Points from 50 at which the shades of bias percentages begin."""

_TRAIT = ("structure", "polarity", "trait")
_POLARITIES = ("positive", "negative", ALL)
_SPREAD: Mapping[str, Callable[[Estimate], str]] = {
    "traits": lambda row: str(row["n"]),
    "words": lambda row: plain(row["mean_words"], 1),
    "mean": lambda row: two(row["mean"]),
    "95 % interval": lambda row: interval(row["mean_low"], row["mean_high"], two),
    "standard deviation": lambda row: plain(row["sd"], 2),
    "quartiles": lambda row: interval(row["q25"], row["q75"], two),
    "smallest": lambda row: two(row["min"]),
    "largest": lambda row: two(row["max"]),
    "distance from 0": lambda row: plain(row["mean_size"], 2),
    "random twins, deviation": lambda row: plain(row["twin_sd"], 2),
}
"""The numbers of a sentence structure by their heads."""

_PERCENTAGES: Mapping[str, Callable[[Estimate], str]] = {
    "bias percentage": lambda row: one_decimal(row["bias_percentage"]),
    "95 % interval": lambda row: interval_of_percentage(row, "ci"),
    "Holm": lambda row: probability(row["p_binomial_holm"]),
    "balanced": lambda row: one_decimal(row["balanced_percentage"]),
    "balanced interval": lambda row: interval(row["balanced_ci_low"], row["balanced_ci_high"], one_decimal),
    "p of the label (Holm)": lambda row: probability(row["p_label_holm"]),
    "random twins": lambda row: one_decimal(row["twin_bias_percentage"]) + from_twins(row, 1),
    "exact p": lambda row: probability(row["p_binomial"]),
    "Benjamini-Hochberg": lambda row: probability(row["p_binomial_bh"]),
    "exact interval": lambda row: interval_of_percentage(row, "exact"),
    "stereo pairs": lambda row: _share_of(row["percentage_stereo"], row["n_stereo"]),
    "antistereo pairs": lambda row: _share_of(row["percentage_antistereo"], row["n_antistereo"]),
    "pairs counted": lambda row: f"{pairs_counted(row)} of {row['n_pairs']}",
    "ties": lambda row: str(row["n_ties"]),
    "left out": lambda row: str(row["n_left_out"]),
    "mean of runs": lambda row: one_decimal(row["runs_mean"]),
    "deviation over runs": lambda row: one_decimal(row["runs_sd"]),
    "median difference of scores": lambda row: with_sign(row["difference_median"], 4),
}
"""The numbers of a bias percentage by their heads, the most important first; one that no row has is not shown."""

_STATISTICS = ("set", "language", "subset", "statistic", "category", "value", "n_pairs")
_ODDITIES = ("pair_id", "language", "column", "kind", "found", "done")
_ORIGINS = {OVERALL: "all pairs", "inherited": "inherited", "tuples": "from tuples"}
_EXAMPLES, _LONGEST = 3, 60
"""So many oddities of a kind are shown, of so many characters at most."""


def structures(results: Results) -> Section | None:
    """Return the section on traits in sentence structures."""
    spread, differences = results.structures, results.structure_differences
    if spread is None or differences is None:
        return None
    require_columns("spread by structure", spread, SPREAD_COLUMNS, remade_by("likelihoods"))
    require_columns("structures compared", differences, DIFFERENCE_COLUMNS, remade_by("likelihoods"))
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
    all_numbers = _spread_sheet(rows, has_traits=results.traits is not None)
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
            _structures_compared(differences),
            *([Section("Traits without a score", items=unscored, folded=True)] if unscored else []),
        ],
        notes=[conventions_note(conventions, prose("structures_note", has_twins=has_twins))],
    )


def pairs(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section on sentence pairs: percentages, every pair, and what the sets hold."""
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
    return Section(
        "Sentence pairs",
        "pairs",
        text=[text, prose("percentages", percentages=tests)],
        findings=list(findings_of_pairs(bias)),
        widget=html(
            '<div class="beside">{}</div>',
            Markup("").join(sheet_to_html(_percentage_heat(grid, group)) for group in grid.groups),
        ),
        figures=figure_of(results, "score_differences", label=prose("densities_label")),
        definitions=_readings(next(iter(grid.rows.values()))),
        parts=[part for group in grid.groups for part in _numbers_of_group(grid, group)] + [browser, *sets],
        notes=[conventions_note(conventions, prose("pairs_note"))],
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


def _spread_sheet(rows: Sequence[Estimate], *, has_traits: bool) -> Sheet:
    """Return how associations spread in each structure, a block for each model, polarity and quantity."""
    found: dict[tuple[str, str, str], list[Estimate]] = {}
    for row in rows:
        found.setdefault((row["model"], row["polarity"], row["quantity"]), []).append(row)
    lines = []
    for key in product(dict.fromkeys(model for model, _, _ in found), _POLARITIES, QUANTITIES):
        for n, row in enumerate(found.get(key, ())):
            model, polarity, quantity = key
            name, anchor = row["structure"], Markup.escape(anchor_of(row["structure"], "structure"))
            label = html('<a href="#{}">{}</a>', anchor, name) if has_traits else name
            block = html('{} <span class="sets">{}, {} traits</span>', model, quantity, polarity) if n == 0 else None
            lines.append(Row((label,), tuple(Cell(text(row)) for text in _SPREAD.values()), block=block))
    return Sheet(("Structure",), numbers(*_SPREAD), lines, "Associations over traits by structure", "blocks")


def _traits_of_structures(results: Results) -> list[Section]:
    """Return what stands behind the numbers of each structure: every trait, its scores, and its sentences; packed."""
    if results.traits is None:
        return []
    traits = results.traits.filter(pl.col("corrected").is_finite())
    models = traits["model"].unique(maintain_order=True).to_list()
    found = {(*key, model): score for *key, model, score in traits.select(*_TRAIT, "model", "corrected").iter_rows()}
    texts: dict[tuple[str, str], list[str]] = {}
    if results.sentences is not None:
        chosen = results.sentences.filter(method="structures").sort("rank")
        for structure, trait, text in chosen.select("category", "stimulus", "text").iter_rows():
            texts.setdefault((structure, trait), []).append(text)
    columns = numbers("Gloss", "Polarity", *models, *(["Sentences"] if texts else []))
    kinds = dict.fromkeys(("Gloss", "Sentences"), "text") | {"Polarity": "list"}
    parts = []
    for (structure,), of_structure in traits.group_by("structure", maintain_order=True):
        # from the highest score by any model down
        once = of_structure.sort("corrected", descending=True, maintain_order=True).unique(
            _TRAIT, keep="first", maintain_order=True
        )
        rows = []
        for polarity, trait, gloss in once.select("polarity", "trait", "gloss").iter_rows():
            scores = [found.get((structure, polarity, trait, model)) for model in models]
            cells = [sorted_by(score, with_sign(score)) for score in scores]
            said = [Markup("<br>").join(map(shown, texts.get((structure, trait), ())))] if texts else []
            rows.append(row_of(trait, gloss or "", polarity, *cells, *said))
        sheet = Sheet(("Trait",), columns, rows, f"Traits in {structure}: corrected association", "explorable", kinds)
        more = f"{count(len(rows), 'trait')} with their corrected association{' and sentences' * bool(texts)}"
        packed = "A script unpacks these traits; without one they are in data/traits.parquet, beside the page."
        parts.append(fold(structure, more, id=anchor_of(structure, "structure"), sheets=[sheet], packed=packed))
    return parts


def _structures_compared(differences: pl.DataFrame) -> Section:
    rows = []
    for row in differences.iter_rows(named=True):
        if row["quantity"] not in QUANTITIES[:2]:
            continue
        ratio, difference = plain(row["ratio"], 2), two(row["difference"])
        low, high = row["ratio_low"], row["ratio_high"]
        apart = False
        if is_number(low) and is_number(high):
            apart = low > 1 or high < 1
            ratio = f"{ratio} ({interval(low, high, partial(plain, decimals=2))})"
            difference = f"{difference} ({interval(row['difference_low'], row['difference_high'], two)})"
        rows.append(
            row_of(
                *(row["model"], row["polarity"], row["quantity"], f"{row['structure_2']} / {row['structure_1']}"),
                *(str(row["n"]), Cell(ratio, MARK * apart, bold=apart), Cell(difference, hover=row["note"] or "")),
            )
        )
    texts = ("Traits", "Quantity", "Structures")
    columns = numbers(*texts, "traits in both", "ratio of deviations", "difference of means")
    sheet = Sheet(("Model",), columns, rows, "Structures compared", "compared", dict.fromkeys(texts, "text"))
    title = "Two structures compared on the same traits"
    return Section(title, text=[prose("structures_compared")], sheets=[sheet], folded=True)


def _readings(row: Estimate) -> list[tuple[str, str]]:
    """Return what the numbers of a bias percentage say, by the conventions of the study."""
    apart = (
        ", and of the percentage" if row["ties"] == "apart" else "; in the percentage they count as not stereotypical"
    )
    runs = prose("pairs_runs", n=row["n_runs"], share=f"{100 * row['share']:g}")
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
    if row is None or not is_number(row["bias_percentage"]):
        return Cell(shade="missing", hover=f"{model}: {why_no_percentage(row)}")
    hover = (
        f"{model}\nbias percentage {one_decimal(row['bias_percentage'])}, {count(pairs_counted(row), 'pair')}"
        f"\n95 % interval {interval_of_percentage(row, 'ci')}, exact {interval_of_percentage(row, 'exact')}"
        f"\nexact p {probability(row['p_binomial'])}, {probability(row['p_binomial_holm'])} by Holm"
    )
    if is_number(row["balanced_percentage"]):
        hover += f"\nboth labels alike {one_decimal(row['balanced_percentage'])}, p {probability(row['p_label_holm'])}"
    twin = row["twin_bias_percentage"]
    hover += f"\nrandom twins {one_decimal(twin)}{from_twins(row, 1)}" if is_number(twin) else ""
    return _shaded(row, hover)


def _shaded(row: Estimate, hover: str = "") -> Cell:
    """Return the cell of a percentage in its shade, bold with a mark where it is a finding."""
    marked, percentage = is_found_of_pairs(row), row["bias_percentage"]
    shade = shade_of(percentage - 50, THRESHOLDS) if is_number(percentage) else "missing"
    return Cell(one_decimal(percentage), MARK if marked else "", bold=marked, shade=shade, hover=hover)


def _numbers_of_group(grid: PairGrid, group: Group) -> list[Section]:
    """Return all numbers of one language of one set, and its pairs left out with the reasons."""
    rows = [
        (name, model, row)
        for name in (*grid.types, OVERALL)
        for model in grid.models_of(group)
        if (row := grid.at(group, model, name)) is not None
    ]
    heads = [
        name
        for name, write in _PERCENTAGES.items()
        if name == "bias percentage" or any(write(row) != MISSING for row in grid.rows.values())
    ]
    lacks = any(why_no_percentage(row) for _, _, row in rows)
    lines = []
    before = None
    for name, model, row in rows:
        why = why_no_percentage(row)
        texts = [_PERCENTAGES[head](row) for head in heads[1:]]
        if lacks:
            texts.append(f"Not computed: {why}." if why else "")
        block = name_of_type(name) if name != before else None
        lines.append(Row((model,), (_shaded(row), *map(Cell, texts)), block=block))
        before = name
    columns = numbers(*heads, *(["why not"] if lacks else []))
    sheet = Sheet(("Model",), columns, lines, f"Sentence pairs, {group.title}", "blocks", {"why not": "text"})
    parts = [fold(group.title, "all numbers", sheets=[sheet])]
    left_out = []
    for name, model, row in rows:
        if name == OVERALL and row["n_left_out"]:
            left_out.append(f"{model}: {row['n_left_out']} of {count(row['n_pairs'], 'pair')}.")
            listed = pairs_left_out(row).items()
            left_out += [f"{REASONS.get(reason, reason)}: {', '.join(pairs)}" for reason, pairs in listed]
    return [*parts, *([fold(group.title, "pairs left out, and why", items=left_out)] if left_out else [])]


def _pair_sets(statistics: pl.DataFrame, oddities: Mapping[str, pl.DataFrame], files: Sequence[str]) -> Section:
    """Return the part on the sets of pairs: the numbers of the paper's Table 6, and what is odd about each set."""
    require_columns("statistics of pairs", statistics, _STATISTICS, remade_by("pairs"))
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
    subsets = table["subset"].unique(maintain_order=True).to_list()
    values = {row[:3]: row[3:] for row in table.select("statistic", "subset", *_STATISTICS[4:]).iter_rows()}
    n_pairs = {subset: values["mean_words", subset, OVERALL][1] for subset in subsets}
    # a subset of all pairs would say everything twice
    subsets = [subset for subset in subsets if subset == OVERALL or n_pairs[subset] < n_pairs[OVERALL]]
    rows = [row_of("Pairs", *(f"{n_pairs[subset]:,}" for subset in subsets))]
    for statistic, category in table.select("statistic", "category").unique(maintain_order=True).rows():
        name = name_of_type(category) if statistic == "bias_type_percentage" else f"Labelled {category}"
        name = "Words in a sentence, mean" if statistic == "mean_words" else name
        rows.append(row_of(name, *(_statistic_text(statistic, *values[statistic, each, category]) for each in subsets)))
    columns = numbers(*(_ORIGINS.get(subset, subset) for subset in subsets))
    sheet = Sheet(("Statistic",), columns, rows, f"What the pairs consist of, {group.title}")
    return fold(group.title, count(n_pairs[subsets[0]], "pair"), sheets=[sheet])


def _statistic_text(statistic: str, value: float | None, n_pairs: int) -> str:
    if value is None or not is_number(value):
        return MISSING
    return f"{value:.2f}" if statistic == "mean_words" else f"{value:.1f} % ({n_pairs:,})"


def _oddities_of(name: str, table: pl.DataFrame) -> Section:
    """Return what is odd about one set: of each kind how many pairs of each language have it, and the first of them."""
    require_columns(f"oddities of the set {name}", table, _ODDITIES, remade_by("pairs"))
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


def _share_of(percentage: float | None, n: int) -> str:
    return MISSING if percentage is None else f"{percentage:.1f} % of {n}"
