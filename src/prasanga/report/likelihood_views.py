"""Views of the methods that ask models for probabilities: traits in sentence structures, sentence pairs, their sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.pairs.alignment import align_spans
from prasanga.pairs.preferences import FEWEST_PAIRS, OVERALL, REASONS, add_differences
from prasanga.pairs.reading import KINDS
from prasanga.report import findings, grid, section, sheet
from prasanga.report.association_views import shade_of
from prasanga.report.grid import Estimate, Group, PairGrid, is_number, name_of_language, name_of_type
from prasanga.report.section import Section, View, conventions_note, figure_of, fill_section, fold, fold_table, prose
from prasanga.report.sheet import MARK, Cell, Sheet, html, one_decimal, plural, show_table, shown, sortable, tabulate
from prasanga.report.study import Results

THRESHOLDS = (2.5, 5, 10, 20, 30)
"""Points from 50 at which the shades of bias percentages begin."""

_ORIGINS = {OVERALL: "all pairs", "inherited": "inherited", "tuples": "from tuples"}
MOST_PAIRS = 5000
"""The page has the first pairs, up to this number; the file of scores has all of them."""

_SHOWN_MODELS = 4
_PAIR = ("set", "language", "pair_id", "bias_type", "label")
_TWIN = "-random"


def method_views(config: Mapping[str, Any], results: Results) -> list[View]:
    """Return the views of sentence structures and of sentence pairs."""
    return [
        View("method-structures", "By method", "Sentence structures", [structures(results)]),
        View("method-pairs", "By method", "Sentence pairs", [pairs(results, texts=not section.hides_texts(config))]),
    ]


def structures(results: Results) -> Section | None:
    """Return the section on traits in sentence structures."""
    spread, differences = results["structures"], results["structure_differences"]
    if spread.is_empty():
        return None
    rows = spread.rows(named=True)
    compared = differences.filter(pl.col("quantity").is_in(findings.QUANTITIES[:2])).rows(named=True)
    numbers = fold_table("Spread by structure: all numbers", "structures", rows)
    title, text = "Two structures compared on the same traits", [prose("structures_compared")]
    of_two = fold_table(title, "structures_compared", compared, text=text)
    n = max(row["n"] + row["n_left_out"] for row in rows)
    conventions = list(dict.fromkeys(f"pieces {row['pieces']}, terms {row['terms']}" for row in rows))
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
        figures, about = figure_of(results, name, label="hexbins_label"), "prior against corrected, trait by trait"
        yield fold(name.removeprefix("hexbins_"), about, figures=figures, packed=packed)


def _list_traits(results: Results) -> Iterator[Section]:
    """Yield every trait of each structure with its scores and its sentences; packed."""
    traits = results["traits"].filter(pl.col("corrected").is_finite())
    models = traits["model"].unique(maintain_order=True).to_list()
    chosen = results["measured_sentences"].filter(method="structures").sort("rank")
    texts = chosen.rows_by_key(["category", "stimulus"], named=True)
    columns = dict.fromkeys(models, "") | ({"Sentences": "text"} if texts else {})
    for (structure,), of_structure in traits.group_by("structure", maintain_order=True):
        key = ["polarity", "trait", "gloss"]
        scores = of_structure.pivot("model", index=key, values="corrected", maintain_order=True)
        order = pl.max_horizontal(name for name in models if name in scores.columns)
        rows = []
        for row in scores.sort(order, descending=True, maintain_order=True).iter_rows(named=True):
            sentences = [shown(each["text"]) for each in texts.get((structure, row["trait"]), ())]
            cells = [sortable("mean", row.get(model), "+.3f") for model in models]
            said = [Markup("<br>").join(sentences)] if texts else []
            rows.append((row["trait"], row["gloss"] or "", row["polarity"], *cells, *said))
        listed = show_table("traits", rows, columns=columns, structure=structure)
        more = f"{plural(len(rows), 'trait')} with their corrected association{' and sentences' * bool(texts)}"
        packed = "A script unpacks these traits; without one they are in data/traits.parquet, beside the page."
        yield fold(structure, more, id=grid.anchor_of(structure, "structure"), sheets=[listed], packed=packed)


# --------------------
# Sentence pairs


def pairs(results: Results, *, texts: bool) -> Section | None:
    """Return the section on sentence pairs: percentages, every pair, and the sets of pairs.

    Args:
        results: of the study.
        texts: whether the sentences go into the page. Without them no word of a sentence does.
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
    return fill_section(
        "pairs",
        {"n_tests": grid.tests_of(found)},
        findings=[*findings.findings_of_pairs(bias), *_tell_strengths(found, results["pair_strength"])],
        widget=html('<div class="beside">{}</div>', heats),
        figures=figure_of(results, "score_differences"),
        parts=[fill_section("pairs_reading", reading, folded=True), *numbers, *parts],
        notes=[conventions_note(bias["conventions"].unique(maintain_order=True), prose("pairs_note"))],
    )


def _tell_strengths(found: PairGrid, strengths: pl.DataFrame) -> list[str]:
    titles = {group[:2]: group.title for group in found.groups}
    return [
        f"{titles[row['set'] or '', row['language']]}, {row['model']}: {findings.tell_strength('pairs', row)}"
        for row in strengths.iter_rows(named=True)
    ]


def _percentage_heat(found: PairGrid, group: Group) -> Sheet:
    """Return the percentages of one language of one set by bias type and model."""
    models = found.models_of(group)
    rows = [
        (name_of_type(name), *(_percentage_cell(found.at(group, model, name)) for model in models))
        for name in (*found.types, OVERALL)
    ]
    return show_table("percentage_heat", rows, columns=dict.fromkeys(models, ""), title=group.title)


def _percentage_cell(row: Estimate | None) -> Cell:
    """Return the cell of a percentage in its shade, bold with a mark if it is a finding."""
    if row is None or not is_number(row["bias_percentage"]):
        return Cell(shade="missing", hover=grid.why_no_percentage(row))
    marked, shade = findings.is_found(row), shade_of(row["bias_percentage"] - 50, THRESHOLDS)
    ends = grid.interval(row["balanced_ci_low"], row["balanced_ci_high"], one_decimal)
    hover = f"both labels weighted alike: {one_decimal(row['balanced_percentage'])}, {ends}" if marked else ""
    return Cell(one_decimal(row["bias_percentage"]), MARK * marked, bold=marked, shade=shade, hover=hover)


def _list_percentages(found: PairGrid, group: Group) -> Section:
    """Return all numbers of one language of one set."""
    every = (found.at(group, model, name) for name in (*found.types, OVERALL) for model in found.models_of(group))
    rows = []
    for row in (row for row in every if row is not None):
        note = f"Not computed: {why}." if (why := grid.why_no_percentage(row)) else row["interval_note"]
        rows.append({**row, "bias_type": name_of_type(row["bias_type"]), "interval_note": note})
    cells = {"bias_percentage": lambda row, cell: replace(_percentage_cell(row), order=cell.order, hover="")}
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

    Raises:
        InputError: a column is missing, or a label is neither stereo nor antistereo.
    """
    if scores.is_empty():
        return fill_section("no_pairs", {"scored": scored})
    rows = add_differences(scores).with_columns(pl.col(*_PAIR).fill_null(""))
    key = [*_PAIR, "model"]  # once for each copy, all of which are called the same
    rows = rows.with_columns(pl.col("difference").mean().over(key)).unique(key, keep="first", maintain_order=True)
    models, sets = (rows[name].unique(maintain_order=True).to_list() for name in ("model", "set"))
    twins = [name for name in models if name.endswith(_TWIN) and name.removesuffix(_TWIN) in models]
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
    names = {"language": name_of_language, "bias_type": name_of_type}
    lines = []
    for pair in rows.unique(_PAIR, keep="first", maintain_order=True).head(MOST_PAIRS).iter_rows(named=True):
        key, cells = [pair[name] for name in _PAIR], [names.get(name, str)(pair[name]) for name in heads]
        differences = [_difference_cell(scored.get((*key, model))) for model in models]
        lines.append((pair["pair_id"], *cells, *(_mark_words(pair) if texts else ()), *differences))
    kinds = {"Pair": "text", **dict.fromkeys(heads.values(), "list")}
    kinds |= {"First sentence": "text", "Second sentence": "text"} if texts else {}
    caption = "Difference of the scores of each pair, by model"
    return tabulate(caption, kinds | dict.fromkeys(models, ""), lines, look="explorable")


def _mark_words(pair: Mapping[str, Any]) -> list[Markup]:
    """Return both sentences with the words in which they differ marked."""
    first, second = pair["first"], pair["second"]
    found = align_spans(first, second, punctuation=pair.get("punctuation") or "apart")
    marked = []
    for text, spans in ((first, found.modified_first), (second, found.modified_second)):
        parts, end = [], 0
        for start, stop in spans:
            parts += [shown(text[end:start]), html("<mark>{}</mark>", text[start:stop])]
            end = stop
        marked.append(Markup("").join([*parts, shown(text[end:])]))
    return marked


def _difference_cell(row: Mapping[str, Any] | None) -> Cell:
    if row is None:
        return Cell(hover="this model has no score for this set and language")
    if row["left_out"]:
        return Cell(row["left_out"], hover=REASONS.get(row["left_out"], ""), order="")
    return Cell(sheet.with_sign(row["difference"]))


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
        name = heads.get(str(statistic), f"{name_of_type(str(category))}, %")
        form = ".2f" if statistic == "mean_words" else ".1f"
        rows.append((name, *(sortable("value", values.get(subset), form) for subset in subsets)))
    columns = {_ORIGINS.get(subset, subset): "" for subset in subsets}
    listed = show_table("pair_set", rows, columns=columns, title=title)
    return fold(title, plural(n_pairs[subsets[0]], "pair"), sheets=[listed])


def _count_oddities(oddities: pl.DataFrame) -> Sheet:
    """Return how many pairs of each set and language have each kind of oddity, the kinds in their order."""
    counts = oddities.group_by("set", "kind", "language", maintain_order=True).agg(pl.col("pair_id").n_unique())
    sets, kinds = oddities["set"].unique(maintain_order=True).to_list(), list(KINDS)
    rows = [
        (name, html('<code>{}</code> <span class="aside">{}</span>', kind, KINDS[kind]), name_of_language(language), n)
        for name, kind, language, n in sorted(
            counts.iter_rows(), key=lambda row: (sets.index(row[0]), kinds.index(row[1]))
        )
    ]
    return show_table("oddities", rows)
