"""A study's numbers beside those that a paper prints: the same rows, how far apart, and what is doubtful.

A row is compared if method, category, language, model and, for CEAT, sample mode and segment length are the same (where
a paper does not say the mode, fixed draws are taken). That does not make the two numbers measurements of the same
thing: corpus, words and conventions may differ (docs/published.md). A row of sentence pairs is compared if language,
model and bias type are the same; the sentences are not: Sahoo et al. measured 705 or 800 pairs, of which a sample is
published.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from prasanga.base.documents import escape_markdown, guarded
from prasanga.base.parquet import remade_by, require_columns
from prasanga.pairs.preferences import OVERALL
from prasanga.report.grid import (
    Estimate,
    Group,
    PairGrid,
    few_words,
    groups_of,
    interval,
    is_number,
    name_of_type,
    pair_grid_of,
    why_missing,
    why_no_percentage,
    yes_no,
)
from prasanga.report.paper_tables import value_of
from prasanga.report.published import EXCHANGED, PAPERS, REPEATED, PublishedModel, match_models
from prasanga.report.sheet import MISSING, markdown_list, markdown_table, one_decimal, plain, signed

COMPARISON_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("paper", "table", "method", "category", "language", "model", "published_model"), pl.String),
    **dict.fromkeys(("sample_mode", "segment_length"), pl.String),
    "published": pl.Float64,
    "bound": pl.String,
    **dict.fromkeys(("measured", "difference"), pl.Float64),
    "same_sign": pl.Boolean,
    **dict.fromkeys(("ci_low", "ci_high"), pl.Float64),
    "published_inside": pl.Boolean,
    **dict.fromkeys(("published_n_samples", "n_samples"), pl.Int64),
    "published_significant": pl.Boolean,
    **dict.fromkeys(("doubt", "mark_doubt", "model_doubt", "note", "set"), pl.String),
}
"""Columns of the rows. `difference` is measured minus published; `same_sign` is null where a sign is not known;
`published_inside` says whether the published number lies in the interval of the measured one, null without interval.
`doubt` and `mark_doubt` are about the published number and its mark, `model_doubt` about which model it is of; `note`
is about ours, why there is no number or no interval, and of how few words it is. `set` is that of sentence pairs, null
for other methods."""

SUMMARY_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("method", "model", "published_model", "cells"), pl.String),
    **dict.fromkeys(("n_rows", "n_categories", "n_signs", "n_same_sign"), pl.Int64),
    **dict.fromkeys(("same_sign", "same_sign_low", "same_sign_high", "spearman"), pl.Float64),
    "n_spearman": pl.Int64,
    "median_difference": pl.Float64,
    **dict.fromkeys(("n_inside", "n_intervals"), pl.Int64),
}
"""Columns of the summary. `cells` is all, or without those whose number is in doubt; `same_sign` is a share with its
exact 95 % binomial interval; `median_difference` is the median of |measured - published|."""

_FEWEST_RANKS = 3

_CELLS = ("all", "without doubtful cells")

PAIRS = "pairs"
"""The method of the rows of sentence pairs in a comparison."""

_OF_RUNS = "mean over runs"


@dataclass(frozen=True)
class Comparison:
    """What came out of laying a study beside a paper.

    Attributes:
        paper: the paper's name.
        rows: `COMPARISON_SCHEMA`, in the order of the paper's tables.
        summary: `SUMMARY_SCHEMA`, two rows for each method and model.
        nothing: why there are no rows; empty if there are some.
    """

    paper: str
    rows: pl.DataFrame
    summary: pl.DataFrame
    nothing: str


def compare(
    tables: Mapping[str, pl.DataFrame],
    published: pl.DataFrame,
    *,
    models: Mapping[str, str],
    language: str,
    about: Sequence[PublishedModel] = (),
) -> Comparison:
    """Lay a study's tables of estimates beside what a paper prints.

    Args:
        tables: the study's tables of estimates by method (ceat, seat, weat, log_probability_bias).
        published: `prasanga.report.published.read_published`.
        models: `comparison.models` of the config; models of the same name match by themselves.
        language: of the study (bn, hi, en).
        about: the paper's models (`read_models`), for what is not sure about them.

    Returns:
        The rows and their summary. Where the paper has the same test at several N, the N nearest to the study's is
        taken; where the study has it at several N (`prasanga.report.ceat_table.with_fewer_draws`), that nearest to
        the paper's. A cell that the study could not compute is a row without a measured number, with the reason.
        Columns that repeat another table's are left out.

    Raises:
        InputError: `models` names a model that the paper does not have, or a table lacks a column.
    """
    estimates = [
        (method, _by_cell(method, part))
        for method, table in tables.items()
        for part in (table.partition_by("n_samples", maintain_order=True) if method == "ceat" else [table])
    ]
    studied = list(dict.fromkeys(name for table in tables.values() for name in table["model"]))
    # a name of the study that no table has was refused before the run, or measured by no method
    matched = match_models(models, dict.fromkeys([*studied, *models]), dict.fromkeys(published["model"]))
    rows = [
        _row(row, model, estimate) | {"model_doubt": doubt_of(about, row["model"], row["method"])}
        for row in published.filter(pl.col("language") == language).iter_rows(named=True)
        if REPEATED not in (row["doubts"] or "").split()
        for model, theirs in matched.items()
        if theirs == row["model"]
        for method, by_cell in estimates
        if method == row["method"]
        and (estimate := by_cell.get((row["category"], model, mode_of(row), row["segment_length"]))) is not None
    ]
    table = _nearest_n(pl.DataFrame(rows, schema=dict(COMPARISON_SCHEMA), orient="row"))
    nothing = "" if len(table) else _why_nothing(tables, published, matched, studied, language)
    return Comparison(published["paper"][0] if len(published) else "", table, summarize(table), nothing)


def summarize(rows: pl.DataFrame) -> pl.DataFrame:
    """Return agreement by method and model, over all cells and over those without a doubt about the number.

    Args:
        rows: `COMPARISON_SCHEMA`. Rows without a measured number do not count, nor, for differences and ranks, those
            of which only a bound is printed.

    Returns:
        `SUMMARY_SCHEMA`. Null where there are too few rows: a rank correlation takes three, not all of one rank.
    """
    measured = rows.filter(pl.col("measured").is_not_null())
    groups = measured.select("method", "model", "published_model").unique(maintain_order=True).rows()
    lines = []
    for (method, model, theirs), cells in product(groups, _CELLS):
        chosen = measured.filter((pl.col("method") == method) & (pl.col("model") == model))
        if cells != _CELLS[0]:
            chosen = chosen.filter(pl.col("doubt").is_null())
        lines.append((method, model, theirs, cells, *_agreement(chosen)))
    return pl.DataFrame(lines, schema=dict(SUMMARY_SCHEMA), orient="row")


def comparison_rows(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a comparison as read from its CSV, each column of its type again.

    Raises:
        InputError: a column is missing.
    """
    require_columns("comparison with published numbers", table, COMPARISON_SCHEMA, remade_by("report"))
    # a column of nothing but nulls or whole numbers is read as another type
    return table.select(*COMPARISON_SCHEMA).cast(pl.Schema(dict(COMPARISON_SCHEMA)))


def doubt_of(models: Sequence[PublishedModel], name: str, method: str) -> str | None:
    """Return what is not sure about a model of the paper as one that was measured by a method; null if nothing."""
    doubts = [
        model.doubt
        for model in models
        if model.name == name and model.doubt and (method in model.methods or not model.methods)
    ]
    return "; ".join(doubts) or None


def compare_pairs(
    bias: pl.DataFrame,
    published: pl.DataFrame,
    *,
    paper: str,
    models: Mapping[str, str],
    preset: str = "recommended",
    about: Sequence[PublishedModel] = (),
) -> Comparison:
    """Lay a study's bias percentages beside those of a paper.

    Args:
        bias: what `prasanga.likelihoods.bias_percentage` returns.
        published: `read_percentages`.
        paper: its name (sadhu2024 or sahoo2024).
        models: `comparison.models` of the config; models of the same name match by themselves.
        preset: recommended or paper; decides what the numbers are of, as in `prasanga.report.paper_tables`.
        about: the paper's models (`read_models`), for what is not sure about them.

    Returns:
        As `compare`: the method is `pairs`, the category the bias type, `same_sign` says
        whether both are on the same side of 50, and the interval is the exact one. In the summary `method` is the
        language and, of several sets, the set: each has pairs of its own, and they are not pooled.

    Raises:
        InputError: the table of bias percentages lacks a column or has no rows.
    """
    grid = pair_grid_of(bias)
    names = [*published["model"].unique(maintain_order=True), *models.values()]
    matched = match_models(models, dict.fromkeys([*grid.models, *models]), names)
    value = value_of(bias, preset)
    rows = [
        _pair_row(theirs, model, ours, value) | {"model_doubt": doubt_of(about, name, PAIRS)}
        for theirs, group, (model, name) in product(published.iter_rows(named=True), grid.groups, matched.items())
        if (group.language, name) == (theirs["language"], theirs["model"])
        and (ours := grid.at(group, model, theirs["bias_type"])) is not None
    ]
    table = pl.DataFrame(rows, schema=dict(COMPARISON_SCHEMA), orient="row")
    nothing = "" if rows else _why_no_pairs(grid, published, matched, paper)
    return Comparison(paper, table, summarize_pairs(table), nothing)


def summarize_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Return agreement by language, set and model, over bias types; in `method` stands the language and set.

    Args:
        rows: `COMPARISON_SCHEMA`, of sentence pairs.
    """
    parts = [summarize(rows.clear())]
    for group in groups_in(rows):
        of_group = pl.col("set").fill_null("") == group.set
        chosen = rows.filter(of_group & (pl.col("language") == group.language) & (pl.col("category") != OVERALL))
        parts.append(summarize(chosen).with_columns(method=pl.lit(group.title)))
    return pl.concat(parts)


def groups_in(rows: pl.DataFrame) -> tuple[Group, ...]:
    """Return the languages and sets of compared pairs."""
    return groups_of((name or "", language) for name, language in rows.select("set", "language").iter_rows())


def _agreement(rows: pl.DataFrame) -> tuple[object, ...]:
    signs = rows["same_sign"].drop_nulls()
    n_signs, n_same = len(signs), int(signs.sum())
    low = high = None
    if n_signs:
        from scipy import stats  # a second of loading, for which the page of a study without a comparison need not wait

        low, high = stats.binomtest(n_same, n_signs).proportion_ci(method="exact")
    exact = rows.filter(pl.col("bound").is_null())
    inside = rows["published_inside"].drop_nulls()
    spearman = _spearman(exact["published"].to_numpy(), exact["measured"].to_numpy())
    return (
        *(len(rows), rows["category"].n_unique(), n_signs, n_same, n_same / n_signs if n_signs else None, low, high),
        *(spearman, len(exact) if spearman is not None else 0, exact["difference"].abs().median()),
        *(int(inside.sum()), len(inside)),
    )


def _spearman(published: np.ndarray[Any, Any], measured: np.ndarray[Any, Any]) -> float | None:
    if len(published) < _FEWEST_RANKS or np.ptp(published) == 0 or np.ptp(measured) == 0:
        return None
    from scipy import stats

    return float(stats.spearmanr(published, measured).statistic)


def _row(row: Mapping[str, Any], model: str, estimate: Estimate) -> dict[str, object]:
    low, high = (estimate.get(name) for name in ("ci_low", "ci_high"))
    reason = why_missing(estimate) or estimate.get("interval_note")
    few = f"few words: {words}" if (words := few_words(estimate)) else ""
    return {
        **{name: row[name] for name in ("paper", "table", "method", "category", "language")},
        **{name: row[name] for name in ("segment_length", "bound", "doubt", "mark_doubt")},
        **_apart(row["effect_size"], estimate["effect_size"], low, high, exact=row["bound"] is None),
        "sample_mode": estimate.get("sample_mode"),
        "model": model,
        "published_model": row["model"],
        "published_n_samples": row["n_samples"],
        "n_samples": estimate.get("n_samples"),
        "published_significant": row["significant"],
        "note": "; ".join(filter(None, (_exchange(row, estimate), few, reason))) or None,
    }


def _apart(
    published: float, measured: object, low: object, high: object, *, exact: bool = True, even: float = 0.0
) -> dict[str, object]:
    """Return how far two numbers are apart.

    Args:
        published: what the paper prints.
        measured: our number, if there is one.
        low: the lower end of its interval, if there is one.
        high: the upper end.
        exact: whether the paper prints a number, not a bound.
        even: the number that has no sign, or is on no side.
    """
    ours = float(measured) if is_number(measured) else None
    ends = (low, high) if is_number(low) and is_number(high) else None
    difference = same_sign = inside = None
    if exact and ours is not None:
        difference = ours - published
        same_sign = None if even in (ours, published) else (ours > even) == (published > even)
        inside = ends and ends[0] <= published <= ends[1]
    return {
        **{"published": published, "measured": ours, "difference": difference, "same_sign": same_sign},
        **dict(zip(("ci_low", "ci_high"), ends or (None, None), strict=True)),
        "published_inside": inside,
    }


def _exchange(row: Mapping[str, Any], estimate: Estimate) -> str:
    """Return what is to be said where only one of the two has targets and attributes exchanged."""
    ours, theirs = estimate.get("exchanged"), EXCHANGED in (row["doubts"] or "").split()
    if ours is None or bool(ours) == theirs:
        return ""
    how = ("exchanged", "as described") if ours else ("as described", "exchanged")
    return f"targets and attributes are {how[0]} here and {how[1]} in the paper"


def _nearest_n(rows: pl.DataFrame) -> pl.DataFrame:
    """Return of the rows of one cell of the study that of the published N nearest to the study's, by ratio."""
    cell = ["method", "category", "model", "sample_mode", "segment_length"]
    apart = (pl.col("published_n_samples").log() - pl.col("n_samples").log()).abs()
    for side in ("n_samples", "table"):
        rows = rows.filter(apart.is_null() | (apart == apart.min().over([*cell, side])))
    return rows


def mode_of(row: Mapping[str, Any]) -> str | None:
    """Return how draws of a published number were made: fixed where it is of CEAT and the paper does not say."""
    return row["sample_mode"] or ("fixed" if row["method"] == "ceat" else None)


def _by_cell(method: str, table: pl.DataFrame) -> dict[tuple[str | None, ...], Estimate]:
    require_columns(method, table, ("category", "model", "effect_size", "lost"), remade_by("associations"))
    return {
        (row["category"], row["model"], row.get("sample_mode"), row.get("segment_length")): row
        for row in table.iter_rows(named=True)
    }


def _why_nothing(
    tables: Mapping[str, pl.DataFrame],
    published: pl.DataFrame,
    matched: Mapping[str, str],
    studied: Sequence[str],
    language: str,
) -> str:
    """Return the first thing that keeps a study and a paper apart, and what to do about it."""
    languages = published["language"].unique(maintain_order=True).to_list()
    start = "Nothing to compare: "
    if language not in languages:
        return f"{start}the study's language is {language}, and the paper has {', '.join(languages)}."
    theirs = published.filter(pl.col("language") == language)
    if not matched:
        return (
            f"{start}no model of the study has a name of the paper's. The study has {', '.join(studied) or 'none'}; the"
            f" paper has {', '.join(theirs['model'].unique(maintain_order=True).to_list())}. Say in"
            " `comparison.models` which stands for which."
        )
    methods = theirs.filter(pl.col("model").is_in(list(matched.values())))["method"].unique(maintain_order=True)
    if not set(methods.to_list()) & set(tables):
        return (
            f"{start}of the models that were matched the paper has {', '.join(methods.to_list()) or 'nothing'} in this"
            f" language, and the study has {', '.join(tables) or 'nothing'}."
        )
    return (
        f"{start}no test of the study has category, segment length and sample mode of one that the paper has for these"
        f" models ({', '.join(f'{ours} as {name}' for ours, name in matched.items())})."
    )


def _pair_row(theirs: Mapping[str, Any], model: str, ours: Estimate, value: str) -> dict[str, object]:
    return {
        **{key: theirs[key] for key in ("paper", "table", "language")},
        **_apart(theirs["percentage"], ours[value], ours["exact_low"], ours["exact_high"], even=50),
        "method": PAIRS,
        "category": theirs["bias_type"],
        "model": model,
        "published_model": theirs["model"],
        "note": "; ".join(_pair_notes(theirs, ours, value)) or None,
        "set": ours["set"],
    }


def _pair_notes(theirs: Mapping[str, Any], ours: Estimate, value: str) -> Iterator[str]:
    if why := why_no_percentage(ours):
        yield why
    elif value != "bias_percentage":
        yield f"{_OF_RUNS if is_number(ours[value]) else 'no runs'}; of all pairs {ours['bias_percentage']:.2f}"
    if theirs["spread"] is not None and is_number(ours["runs_sd"]):
        yield f"deviation over runs {theirs['spread']:.2f} in the paper, ours {ours['runs_sd']:.2f}"


def _why_no_pairs(grid: PairGrid, published: pl.DataFrame, matched: Mapping[str, str], paper: str) -> str:
    cited = PAPERS[paper]
    if published.is_empty():
        return f"{cited} print no bias percentages."
    languages = {group.language for group in grid.groups}
    if not languages & set(published["language"]):
        theirs = ", ".join(published["language"].unique(maintain_order=True))
        return f"The pairs are in {', '.join(sorted(languages))}, and {cited} have {theirs}."
    if not matched:
        return (
            f"No model that scored pairs has a name of {cited}: they have"
            f" {', '.join(published['model'].unique(maintain_order=True))}. Say in comparison.models which stands for"
            " which."
        )
    return "No bias type of the pairs is one of the paper's."


# --------------------
# As it is written beside the page: every row as CSV, all of it in words as Markdown.


HOW_TO_READ = (
    "Neither column is the truth. The published numbers come from other texts, partly from other words, and from a"
    " program with conventions of its own; a difference may come from any of these.",
    "Rows are not independent: the lengths and modes of one category share words and texts, and tests share target"
    " sets. The binomial intervals take them for independent and are too narrow; the number of categories is the better"
    " measure of how much was compared.",
    "Rank correlation asks whether the same tests come out high and low, whatever the scale. Below ten rows it says"
    " little.",
    "Without doubtful cells is not without doubt: what is not sure about a model of the paper concerns every row of it,"
    " and stands with the doubts.",
    "An interval is ours, over words and contexts. That a published number lies in it means that ours does not"
    " contradict it.",
)

HOW_TO_READ_PAIRS = (
    "The published numbers are means over five runs on random 80 % samples. Ours are of all pairs or, with"
    " `preset: paper`, means over runs, as in the table in the layout of Table 2; then the note has those of all pairs."
    " Both estimate the same thing.",
    "Same side: both above 50, or both below. The interval is ours, exact, over all pairs taken for independent.",
    "The paper's pairs are not published whole. Other pairs, and other sizes of a model, give other percentages.",
    "Agreement is over bias types, without the row over all pairs, which repeats them.",
)

_SUMMARY_HEADS = (
    *("method", "model", "model of the paper", "cells", "rows", "categories", "same sign", "95 %"),
    *("rank correlation", "median difference", "in our interval", "doubt"),
)

_ROW_HEADS = (
    *("table", "method", "category", "model", "model of the paper", "draws", "length"),
    *("published", "measured", "difference", "same sign", "interval", "inside", "N, published and ours"),
    *("doubt", "note"),
)

_PAIR_SUMMARY_HEADS = (
    *("language", "model", "model of the paper", "bias types", "same side", "rank correlation", "median difference"),
    "in our interval",
)

_PAIR_ROW_HEADS = (
    *("language", "bias type", "model", "model of the paper"),
    *("published", "measured", "difference", "same side", "interval", "inside", "note"),
)


def comparison_to_csv(comparison: Comparison) -> str:
    """Return every row in full precision; empty where there is no number."""
    return guarded(comparison.rows).write_csv(line_terminator="\n")


def comparison_to_markdown(comparison: Comparison, models: Sequence[PublishedModel]) -> str:
    """Return the summary, every row, and every doubt in words.

    Args:
        comparison: of `compare`.
        models: the paper's models (`read_models`), for what is not sure about them.
    """
    title = f"# Beside {PAPERS.get(comparison.paper, comparison.paper)}\n"
    if comparison.nothing:
        return f"{title}\n{escape_markdown(comparison.nothing)}\n"
    of_cells = _texts(comparison.rows, "doubt", "mark_doubt")
    of_models: dict[str, str] = {}
    for method, name in comparison.rows.select("method", "published_model").unique(maintain_order=True).iter_rows():
        if doubt := doubt_of(models, name, method):
            of_models[name] = f"{of_models[name]}; {doubt}" if name in of_models else f"{name}: {doubt}"
    # one counting for both kinds of doubt, so that a number means one thing; notes of ours have letters before theirs
    doubts = {text: f"({number})" for number, text in enumerate([*of_cells, *of_models.values()], start=1)}
    notes = {text: f"n{number}" for number, text in enumerate(_texts(comparison.rows, "note"), start=1)}
    in_doubt = {model: doubts[text] for model, text in of_models.items()}
    summary = (
        [row["method"], *agreement_texts(row), in_doubt.get(row["published_model"], "")]
        for row in comparison.summary.iter_rows(named=True)
    )
    rows = (_line(row, doubts, notes) for row in comparison.rows.iter_rows(named=True))
    sections = [
        *(title, markdown_list(HOW_TO_READ)),
        *("## Agreement\n", markdown_table(_SUMMARY_HEADS, summary, labels=4)),
        *("## Rows\n", markdown_table(_ROW_HEADS, rows, labels=7)),
    ]
    for head, numbers, texts in (
        ("Doubts about published cells", doubts, of_cells),
        ("Doubts about models of the paper", doubts, list(of_models.values())),
        ("Notes on this study", notes, list(notes)),
    ):
        if texts:
            sections += [f"## {head}\n", markdown_list(f"{numbers[text]} {text}." for text in texts)]
    return "\n".join(sections)


def with_pairs(
    comparison: Comparison, pairs: Comparison | None, models: Sequence[PublishedModel], *, others: bool = True
) -> tuple[str, str]:
    """Return a comparison as CSV and as Markdown, with that of sentence pairs in it.

    Args:
        comparison: of effect sizes, by `compare`.
        pairs: by `compare_pairs`; None for none.
        models: the paper's models, for what is not sure about them; of pairs, only of those without a method or with
            the method `pairs`.
        others: whether the study measures anything besides pairs.
    """
    if pairs is None:
        return comparison_to_csv(comparison), comparison_to_markdown(comparison, models)
    rows = pl.concat([comparison.rows, pairs.rows])
    title = f"# Beside {PAPERS.get(pairs.paper, pairs.paper)}\n"
    before = comparison_to_markdown(comparison, models) if others else title
    joined = Comparison(pairs.paper, rows, comparison.summary, "")
    return comparison_to_csv(joined), f"{before}\n{pairs_to_markdown(pairs, models)}"


def pairs_to_markdown(pairs: Comparison, models: Sequence[PublishedModel]) -> str:
    """Return the section on sentence pairs: how to read it, agreement by language and model, and every row."""
    if pairs.nothing:
        return f"## Sentence pairs\n\n{pairs.nothing}\n"
    compared = pairs.rows["published_model"].unique(maintain_order=True).to_list()
    doubts = [f"{name}: {doubt}." for name in compared if (doubt := doubt_of(models, name, PAIRS))]
    titles = {(group.set, group.language): group.title for group in groups_in(pairs.rows)}
    agreement = (
        [
            *(row["method"], row["model"], row["published_model"], str(row["n_rows"])),
            *(f"{row['n_same_sign']} of {row['n_signs']}", signed(row["spearman"], 2)),
            *(plain(row["median_difference"], 1), f"{row['n_inside']} of {row['n_intervals']}"),
        ]
        # no cell of the table is in doubt, so that the second row of each model would repeat the first
        for row in pairs.summary.filter(cells="all").iter_rows(named=True)
    )
    rows = (_pair_line(row, titles[row["set"] or "", row["language"]]) for row in pairs.rows.iter_rows(named=True))
    sections = [
        *("## Sentence pairs: agreement\n", markdown_table(_PAIR_SUMMARY_HEADS, agreement, labels=3)),
        markdown_list([*HOW_TO_READ_PAIRS, *doubts]),
        *("## Sentence pairs: rows\n", markdown_table(_PAIR_ROW_HEADS, rows, labels=4)),
    ]
    return "\n".join(sections)


def reason_in(markdown: str) -> str:
    """Return why there is nothing to compare, as `comparison.md` says it; empty if it has a comparison."""
    lines = (line for line in markdown.split("\n") if line.strip() and not line.startswith("#"))
    paragraphs = [line for line in lines if not line.startswith(("|", "-"))]
    return " ".join(re.sub(r"\\([\\|*_`<\[\]])", r"\1", line) for line in paragraphs)


def agreement_texts(row: Mapping[str, Any], decimals: int = 3, write: Callable[..., str] = signed) -> list[str]:
    """Return what a row of the summary says, from its model on.

    Args:
        row: `prasanga.report.comparison.SUMMARY_SCHEMA`.
        decimals: of the median difference.
        write: writes a number with its sign in so many decimals.
    """
    low, high = (row["same_sign_low"], row["same_sign_high"]) if row["n_signs"] else (None, None)
    return [
        *(row["model"], row["published_model"], row["cells"], str(row["n_rows"]), str(row["n_categories"])),
        *(f"{row['n_same_sign']} of {row['n_signs']}", interval(low, high, partial(plain, decimals=2))),
        f"{write(row['spearman'], 2)} (n = {row['n_spearman']})" if row["n_spearman"] else MISSING,
        *(plain(row["median_difference"], decimals), f"{row['n_inside']} of {row['n_intervals']}"),
    ]


def _line(row: Mapping[str, Any], doubts: Mapping[str, str], notes: Mapping[str, str]) -> list[str]:
    ours, theirs = row["n_samples"], row["published_n_samples"]
    return [
        *(row[name] or "" for name in ("table", "method", "category", "model", "published_model")),
        *(row[name] or "" for name in ("sample_mode", "segment_length")),
        f"{row['bound']}{row['published']:.3f}" if row["bound"] else signed(row["published"]),
        *(signed(row["measured"]), signed(row["difference"]), yes_no(row["same_sign"])),
        *(interval(row["ci_low"], row["ci_high"], signed), yes_no(row["published_inside"])),
        f"{theirs}, {ours}" if ours is not None and theirs is not None else "",
        " ".join(doubts[text] for text in (row["doubt"], row["mark_doubt"]) if text),
        notes.get(row["note"] or "", ""),
    ]


def _texts(rows: pl.DataFrame, *columns: str) -> list[str]:
    """Return what stands in these columns, each once, in the order in which the rows have it."""
    return list(dict.fromkeys(text for row in rows.select(columns).iter_rows() for text in row if text))


def _pair_line(row: Mapping[str, Any], title: str) -> list[str]:
    return [
        *(title, name_of_type(row["category"]), row["model"], row["published_model"], f"{row['published']:.2f}"),
        MISSING if row["measured"] is None else f"{row['measured']:.2f}",
        *(signed(row["difference"], 2), yes_no(row["same_sign"])),
        *(interval(row["ci_low"], row["ci_high"], one_decimal), yes_no(row["published_inside"]), row["note"] or ""),
    ]
