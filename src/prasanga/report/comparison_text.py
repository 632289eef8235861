"""A comparison with a paper as it is written beside the page: every row as CSV, all of it in words as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from prasanga.base.documents import escape_markdown, guarded
from prasanga.report.comparison import PAIRS, Comparison, doubt_of, groups_in
from prasanga.report.grid import interval, name_of_type, yes_no
from prasanga.report.published import PAPERS, PublishedModel
from prasanga.report.sheet import MISSING, markdown_list, markdown_table, one_decimal, plain, signed

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
    summary = (_summary_line(row, in_doubt) for row in comparison.summary.iter_rows(named=True))
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


def _summary_line(row: Mapping[str, Any], in_doubt: Mapping[str, str]) -> list[str]:
    return [row["method"], *agreement_texts(row), in_doubt.get(row["published_model"], "")]


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
