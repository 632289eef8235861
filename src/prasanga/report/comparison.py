"""A study's numbers and those that a paper prints: the same rows, how far apart, and what is doubtful.

A row is compared if method, category, language, model and, for CEAT, sample mode and segment length are the same (fixed
draws if a paper does not say the mode). That does not make the two numbers measurements of the same thing: corpus,
words and conventions may differ (docs/published.md). A row of sentence pairs is compared if language, model and bias
type are the same; the sentences are not: Sahoo et al. measured 705 or 800 pairs, of which a sample is published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from prasanga.base.io import guarded
from prasanga.pairs.preferences import OVERALL
from prasanga.report.grid import (
    Estimate,
    Group,
    few_words,
    groups_of,
    is_number,
    name_of_type,
    pair_grid_of,
    why_missing,
    why_no_percentage,
)
from prasanga.report.paper_tables import choose_percentage
from prasanga.report.published import (
    EXCHANGED,
    PAPERS,
    PUBLISHED_AS,
    REPEATED,
    PublishedModel,
    match_models,
    printed_at,
)
from prasanga.report.sheet import Sheet, list_numbers, markdown_list, sheet_to_markdown
from prasanga.schema import TABLES

SCHEMA = TABLES["comparison"]
PAIRS = "pairs"
"""The method of the rows of sentence pairs in a comparison."""

CELLS = ("all", "without doubtful cells")
_FEWEST_RANKS = 3


class Comparison(NamedTuple):
    """The comparison of a study with a paper.

    Attributes:
        rows: the table `comparison` of the registry, in the order of the paper's tables.
        nothing: why there are no rows; empty if there are some.
    """

    rows: pl.DataFrame
    nothing: str


def compare(
    tables: Mapping[str, pl.DataFrame],
    published: pl.DataFrame,
    *,
    models: Mapping[str, str],
    language: str,
    about: Sequence[PublishedModel] = (),
) -> Comparison:
    """Compare a study's tables of estimates with the numbers that a paper prints.

    Args:
        tables: the study's tables of estimates by method (ceat, seat, weat, log_probability_bias).
        published: `prasanga.report.published.read_published`.
        models: `comparison.models` of the config; models of the same name match by themselves.
        language: of the study (bn, hi, en).
        about: the paper's models (`read_models`), for doubts about them.

    Returns:
        The comparison. If the paper has the same test at several N, the N nearest to the study's is taken; if the study
        has it at several N, the one nearest to the paper's. A cell that the study could not compute is a row without a
        measured number, with the reason. Columns that repeat another table's are left out.

    Raises:
        InputError: `models` names a model that the paper does not have.
    """
    estimates: dict[tuple[str | None, ...], list[Estimate]] = {}
    for method, table in tables.items():
        for row in table.iter_rows(named=True):
            key = (method, row["category"], row["model"], row.get("sample_mode"), row.get("segment_length"))
            estimates.setdefault(key, []).append(row)
    studied = list(dict.fromkeys(name for table in tables.values() for name in table["model"]))
    # a name of the study that no table has was refused before the run, or measured by no method
    matched = match_models(models, dict.fromkeys([*studied, *models]), dict.fromkeys(published["model"]))
    rows = [
        {**theirs, **{name: ours.get(name) for name in ("model", "sample_mode", "ci_low", "ci_high", "n_samples")}}
        | {"published": theirs["effect_size"], "measured": ours["effect_size"], "published_model": theirs["model"]}
        | {"published_n_samples": theirs["n_samples"], "published_significant": theirs["significant"]}
        | {"model_doubt": doubt_of(about, theirs["model"], theirs["method"]), "note": _describe(theirs, ours)}
        for theirs in published.filter(language=language).iter_rows(named=True)
        if REPEATED not in (theirs["doubts"] or "").split()
        for model, name in matched.items()
        if name == theirs["model"]
        for ours in estimates.get(
            (theirs["method"], theirs["category"], model, mode_of(theirs), theirs["segment_length"]), ()
        )
    ]
    nothing = "" if rows else _why_nothing(published, matched, studied, [language], "effect sizes")
    return Comparison(_nearest_n(_measure_distances(rows)), nothing)


def compare_pairs(
    bias: pl.DataFrame,
    published: pl.DataFrame,
    *,
    models: Mapping[str, str],
    preset: str = "recommended",
    about: Sequence[PublishedModel] = (),
) -> Comparison:
    """Compare a study's bias percentages with those of a paper.

    Args:
        bias: what `prasanga.likelihoods.bias_percentage` returns.
        published: `read_percentages`.
        models: `comparison.models` of the config; models of the same name match by themselves.
        preset: recommended or paper; decides what the numbers are of, as in `prasanga.report.paper_tables`.
        about: the paper's models (`read_models`), for doubts about them.

    Returns:
        As `compare`: the method is `pairs`, the category the bias type, `same_sign` says whether both are on the same
        side of 50, and the interval is the exact one.
    """
    grid, value = pair_grid_of(bias), choose_percentage(bias, preset)
    names = [*published["model"].unique(maintain_order=True), *models.values()]
    matched = match_models(models, dict.fromkeys([*grid.models, *models]), names)
    rows = [
        {**theirs, "method": PAIRS, "set": ours["set"], "category": ours["bias_type"], "model": model}
        | {"published": theirs["percentage"], "measured": ours[value], "published_model": theirs["model"]}
        | {"ci_low": ours["exact_low"], "ci_high": ours["exact_high"], "model_doubt": doubt_of(about, name, PAIRS)}
        | {"note": _describe_percentage(theirs, ours, value)}
        for theirs in published.iter_rows(named=True)
        for group in grid.groups
        for model, name in matched.items()
        if (group.language, name) == (theirs["language"], theirs["model"])
        and (ours := grid.at(group, model, theirs["bias_type"])) is not None
    ]
    languages = {group.language for group in grid.groups}
    nothing = "" if rows else _why_nothing(published, matched, grid.models, languages, "bias percentages")
    return Comparison(_measure_distances(rows, even=50), nothing)


def comparison_rows(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a comparison as read from its CSV, each column of its type again."""
    # a column of nothing but nulls or whole numbers is read as another type
    return table.select(SCHEMA.names).cast(SCHEMA.polars).filter(pl.col("method").is_not_null())


def why_nothing_compared(table: pl.DataFrame) -> str:
    """Return why a comparison, as read from its CSV, has no rows: the note of a row without a method."""
    notes = table.filter(pl.col("method").is_null())["note"].to_list() if "note" in table.columns else []
    return " ".join(filter(None, notes))


def doubt_of(models: Sequence[PublishedModel], name: str, method: str) -> str | None:
    """Return the doubts about a model of the paper as one that was measured by a method; null without any."""
    doubts = [
        model.doubt
        for model in models
        if model.name == name and model.doubt and (method in model.methods or not model.methods)
    ]
    return "; ".join(doubts) or None


def mode_of(row: Mapping[str, Any]) -> str | None:
    """Return the sample mode of a published number: fixed for CEAT if the paper does not say."""
    return row["sample_mode"] or ("fixed" if row["method"] == "ceat" else None)


def _describe(theirs: Mapping[str, Any], ours: Estimate) -> str | None:
    """Return how an estimate differs from what the paper describes, and what it does without."""
    exchanged, is_exchanged = ours.get("exchanged"), EXCHANGED in (theirs["doubts"] or "").split()
    notes = [
        f"few words: {words}" if (words := few_words(ours)) else "",
        why_missing(ours) or ours.get("interval_note"),
    ]
    if exchanged is not None and exchanged != is_exchanged:
        here, there = ("exchanged", "as described") if exchanged else ("as described", "exchanged")
        notes.insert(0, f"targets and attributes are {here} here and {there} in the paper")
    return "; ".join(filter(None, notes)) or None


def _describe_percentage(theirs: Mapping[str, Any], ours: Estimate, value: str) -> str | None:
    notes = [why_no_percentage(ours)]
    if not notes[0] and value != "bias_percentage":
        runs = "mean over runs" if is_number(ours[value]) else "no runs"
        notes.append(f"{runs}; of all pairs {ours['bias_percentage']:.2f}")
    if theirs["spread"] is not None and is_number(ours["runs_sd"]):
        notes.append(f"deviation over runs {theirs['spread']:.2f} in the paper, ours {ours['runs_sd']:.2f}")
    return "; ".join(filter(None, notes)) or None


def _measure_distances(rows: Sequence[Mapping[str, Any]], *, even: float = 0.0) -> pl.DataFrame:
    """Return rows as the table `comparison`; a number at `even` has no sign, and a printed bound no distance."""
    published, measured, low, high = map(pl.col, ("published", "measured", "ci_low", "ci_high"))
    has_interval = low.is_finite() & high.is_finite()
    is_exact = pl.col("bound").is_null() & measured.is_finite()
    return pl.DataFrame(rows, schema=SCHEMA.polars, orient="row").with_columns(
        pl.when(measured.is_finite()).then(measured),
        pl.when(has_interval).then(low),
        pl.when(has_interval).then(high),
        difference=pl.when(is_exact).then(measured - published),
        same_sign=pl.when(is_exact & (measured != even) & (published != even)).then(
            (measured > even) == (published > even)
        ),
        published_inside=pl.when(is_exact & has_interval).then(published.is_between(low, high)),
    )


def _nearest_n(rows: pl.DataFrame) -> pl.DataFrame:
    """Return of the rows of one cell of the study the published N nearest to the study's, by ratio, and vice versa."""
    cell = ["method", "category", "model", "sample_mode", "segment_length"]
    apart = (pl.col("published_n_samples").log() - pl.col("n_samples").log()).abs()
    for side in ("n_samples", "table"):
        rows = rows.filter(apart.is_null() | (apart == apart.min().over([*cell, side])))
    return rows


def _why_nothing(
    published: pl.DataFrame, matched: Mapping[str, str], studied: Iterable[str], languages: Collection[str], what: str
) -> str:
    """Return the first difference that leaves a study and a paper without a common row, and what to do about it."""
    theirs = published["language"].unique(maintain_order=True).to_list()
    if not theirs:
        return f"Nothing to compare: the paper prints no {what}."
    if not set(languages) & set(theirs):
        ours = ", ".join(sorted(languages))
        return (
            f"Nothing to compare: the language of the study's {what} is {ours}, and the paper has {', '.join(theirs)}."
        )
    if not matched:
        names = published.filter(pl.col("language").is_in(languages))["model"].unique(maintain_order=True)
        return (
            f"Nothing to compare: no model of the study has a name of the paper's. The study has"
            f" {', '.join(studied) or 'none'}; the paper has {', '.join(names)}. Say in `comparison.models` which is"
            " which."
        )
    return (
        f"Nothing to compare: none of the study's {what} has method, category or bias type, segment length and sample"
        f" mode of one that the paper has for these models"
        f" ({', '.join(f'{ours} as {name}' for ours, name in matched.items())})."
    )


# --------------------
# Agreement, and the tables of the page and of the files beside it.


def summarize(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return agreement by method and model, over all cells and over those without a doubt about the number.

    Sentence pairs are grouped by language and set, over bias types without the row of all pairs.

    Returns:
        Rows with method, model, published_model, cells, n_rows, n_categories, n_same_sign of n_signs, spearman (null
        below three ranks), median_difference (of |measured - published|) and n_inside of n_intervals. Rows without a
        measured number do not count, nor, for differences and ranks, those of which only a bound is printed. The row of
        a model without doubtful cells is left out if no cell is in doubt.
    """
    is_pairs = pl.col("method") == PAIRS
    titles: dict[tuple[Any, ...], str] = {(method, None, None): title for method, title in PUBLISHED_AS.items()}
    titles |= {(PAIRS, group.language, group.set): f"Sentence pairs, {group.title}" for group in groups_in(rows)}
    found = []
    for (*named, model, theirs), part in rows.filter(
        pl.col("measured").is_not_null() & ~(is_pairs & (pl.col("category") == OVERALL))
    ).group_by("method", pl.when(is_pairs).then("language"), "set", "model", "published_model", maintain_order=True):
        certain = part.filter(pl.col("doubt").is_null())
        for cells, chosen in zip(CELLS, (part, certain)[: 1 + (len(certain) < len(part))], strict=False):
            head = {"method": titles[tuple(named)], "model": model, "published_model": theirs, "cells": cells}
            found.append(head | _measure_agreement(chosen))
    return found


def groups_in(rows: pl.DataFrame) -> tuple[Group, ...]:
    """Return the languages and sets of compared pairs."""
    pairs = rows.filter(method=PAIRS)
    return groups_of((name or "", language) for name, language in pairs.select("set", "language").iter_rows())


def _measure_agreement(rows: pl.DataFrame) -> dict[str, Any]:
    exact = rows.filter(pl.col("bound").is_null())
    has_ranks = len(exact) >= _FEWEST_RANKS and min(exact["published"].n_unique(), exact["measured"].n_unique()) > 1
    return {
        **{"n_rows": len(rows), "n_categories": rows["category"].n_unique()},
        **{"n_same_sign": int(rows["same_sign"].sum()), "n_signs": rows["same_sign"].count()},
        "spearman": exact.select(pl.corr("published", "measured", method="spearman")).item() if has_ranks else None,
        "median_difference": exact["difference"].abs().median(),
        **{"n_inside": int(rows["published_inside"].sum()), "n_intervals": rows["published_inside"].count()},
    }


def agreement_sheet(rows: pl.DataFrame) -> Sheet:
    """Return the agreement by method and model as a table."""
    names = "method model published_model cells n_rows n_categories n_same_sign n_signs spearman median_difference"
    caption = "Agreement by method and model"
    return list_numbers(summarize(rows), f"{names} n_inside n_intervals", caption=caption, look="agreement")


def rows_sheet(rows: pl.DataFrame, doubts: str = "doubt mark_doubt model_doubt") -> Sheet:
    """Return every number and the paper's; the columns `doubts` are shown when they are chosen."""
    named = [
        {
            **row,
            "table": printed_at(row["table"]),
            "method": PUBLISHED_AS.get(row["method"], "Sentence pairs"),
            "category": name_of_type(row["category"]) if row["method"] == PAIRS else row["category"],
            "published": f"{row['bound']}{row['published']:.3f}" if row["bound"] else row["published"],
        }
        for row in rows.iter_rows(named=True)
    ]
    lists = "table method language model published_model set sample_mode segment_length same_sign published_inside"
    names = (
        "table method category language set model published_model sample_mode segment_length published measured"
        " difference ci_low ci_high same_sign published_inside published_n_samples n_samples note"
    )
    caption = "Every number and the paper's"
    look = "explorable beside-rows"
    return list_numbers(named, f"{names} {doubts}", caption=caption, lists=lists, hidden=doubts, look=look)


def list_doubts(rows: pl.DataFrame) -> dict[str, int]:
    """Return every doubt once, with the number of its rows."""
    of_models = rows.select(pl.concat_str("published_model", "model_doubt", separator=": ")).to_series()
    return Counter(text for column in (rows["doubt"], rows["mark_doubt"], of_models) for text in column.drop_nulls())


HOW_TO_READ = (
    "Neither column is the truth. The published numbers come from other texts, partly from other words, and from a"
    " program with conventions of its own; a difference may come from any of these.",
    "Rows are not independent: the lengths and modes of one category share words and texts, and tests share target"
    " sets. The number of categories is the better measure of how much was compared.",
    "Rank correlation asks whether the same tests come out high and low, whatever the scale. Below ten rows it says"
    " little.",
    "Without doubtful cells is not without doubt: a doubt about a model of the paper concerns every row of it, and is"
    " listed with the doubts.",
    "An interval is ours, over words and contexts. A published number within it does not contradict ours.",
)

HOW_TO_READ_PAIRS = (
    "The published numbers are means over five runs on random 80 % samples. Ours are of all pairs or, with"
    " `preset: paper`, means over runs, as in the table in the layout of Table 2; then the note has those of all pairs."
    " Both estimate the same thing.",
    "Same sign of percentages: both above 50, or both below. The interval is ours, exact, over all pairs taken for"
    " independent.",
    "The paper's pairs are not published whole. Other pairs, and other sizes of a model, give other percentages.",
    "Agreement is over bias types, without the row over all pairs, which repeats them.",
)


def describe_reading(rows: pl.DataFrame) -> list[str]:
    """Return how to read a comparison."""
    of_pairs = rows["method"] == PAIRS
    return [*(HOW_TO_READ if not of_pairs.all() else ()), *(HOW_TO_READ_PAIRS if of_pairs.any() else ())]


def render_comparison(paper: str, comparisons: Sequence[Comparison]) -> tuple[str, str]:
    """Return comparisons as one CSV, every row in full precision, and as Markdown.

    Args:
        paper: the paper's name.
        comparisons: of effect sizes and of sentence pairs, those that a study has. Without any row, the CSV has one row
            with the reasons as its note.
    """
    rows = pl.concat([comparison.rows for comparison in comparisons])
    nothing = " ".join(filter(None, (comparison.nothing for comparison in comparisons)))
    parts = [
        f"# Beside {PAPERS.get(paper, paper)}\n",
        markdown_list(describe_reading(rows) if len(rows) else [nothing]),
    ]
    if len(rows):
        parts.append(f"## Agreement\n\n{sheet_to_markdown(agreement_sheet(rows))}")
        parts.append(f"## Rows\n\n{sheet_to_markdown(rows_sheet(rows, doubts=''))}")
        if doubts := list_doubts(rows):
            listed = markdown_list(f"{text} ({n} row{'' if n == 1 else 's'})." for text, n in doubts.items())
            parts.append(f"## Doubts about the paper's numbers\n\n{listed}")
    else:
        rows = pl.DataFrame([{"note": nothing}], schema=SCHEMA.polars)
    return guarded(rows).write_csv(line_terminator="\n"), "\n".join(parts)
