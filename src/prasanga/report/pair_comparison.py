"""A study's bias percentages beside those of Table 2 of Sahoo et al. (2024).

A row is compared if language, model and bias type are the same. The pairs are not: the paper measured 705 or 800 pairs,
of which a sample is published, and every other set has sentences of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.errors import InputError
from prasanga.pairs.names import OVERALL
from prasanga.report.comparison import (
    COMPARISON_SCHEMA,
    Comparison,
    comparison_to_csv,
    comparison_to_markdown,
    doubt_of,
    summarize,
)
from prasanga.report.grid import LANGUAGES, Estimate, Group, PairGrid, groups_of, is_number, name_of_type, pair_grid_of
from prasanga.report.pair_table import value_of, why_no_percentage
from prasanga.report.published import PAPERS, PublishedModel, match_models, percentage_files
from prasanga.report.sheet import MISSING, Cell, Row, Sheet, plain, sheets_to_markdown, signed

METHOD = "pairs"
"""The method of these rows in a comparison."""

_OF_RUNS = "mean over runs"

PERCENTAGES_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("paper", "table", "language", "model", "bias_type"), pl.String),
    **dict.fromkeys(("percentage", "spread"), pl.Float64),
}
"""Columns of `read_percentages`. `spread` is the deviation over five runs, printed for all pairs only."""

HOW_TO_READ = (
    "The published numbers are means over five runs on random 80 % samples. Ours are of all pairs or, with"
    " `preset: paper`, means over runs, as in the table in the layout of Table 2; then the note has those of all pairs."
    " Both estimate the same thing.",
    "Same side: both above 50, or both below. The interval is ours, exact, over all pairs taken for independent.",
    "The paper's pairs are not published whole. Other pairs, and other sizes of a model, give other percentages.",
    "Agreement is over bias types, without the row over all pairs, which repeats them.",
)


def read_percentages(folder: str | Path, paper: str) -> pl.DataFrame:
    """The bias percentages that a paper prints, bias types in lower case; no rows of a paper that has none.

    Raises:
        InputError: the paper is unknown, a column is missing, or a cell holds what it may not; the message names the
            file.
    """
    for path in percentage_files(folder, paper):
        table = pl.read_csv(path, schema_overrides=dict.fromkeys(PERCENTAGES_SCHEMA, pl.String))
        missing = [name for name in PERCENTAGES_SCHEMA if name not in table.columns]
        if missing:
            raise InputError(f"{path} has no column {', '.join(missing)}; it has {', '.join(table.columns)}.")
        for line, row in enumerate(table.iter_rows(named=True), start=2):
            if row["language"] not in LANGUAGES:
                raise InputError(
                    f"{path}, line {line}: language is {row['language']!r}; allowed: {', '.join(LANGUAGES)}."
                )
            for name in ("percentage", *(["spread"] if row["spread"] else [])):
                if not _is_percentage(row[name]):
                    raise InputError(f"{path}, line {line}: {name} is {row[name]!r}; write a number from 0 to 100.")
        table = table.select(*PERCENTAGES_SCHEMA).cast(pl.Schema(PERCENTAGES_SCHEMA))
        return table.with_columns(pl.col("bias_type").str.to_lowercase())
    return pl.DataFrame(schema=dict(PERCENTAGES_SCHEMA))


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
        preset: recommended or paper; decides what the numbers are of, as in `prasanga.report.pair_table`.
        about: the paper's models (`read_models`), for what is not sure about them.

    Returns:
        As `prasanga.report.comparison.compare`: the method is `pairs`, the category the bias type, `same_sign` says
        whether both are on the same side of 50, and the interval is the exact one. In the summary `method` is the
        language and, of several sets, the set: each has pairs of its own, and they are not pooled.

    Raises:
        InputError: the table of bias percentages lacks a column or has no rows.
    """
    grid = pair_grid_of(bias)
    names = [*published["model"].unique(maintain_order=True), *models.values()]
    matched = match_models(models, dict.fromkeys([*grid.models, *models]), names)
    rows = [
        row | {"model_doubt": doubt_of(about, str(row["published_model"]), METHOD)}
        for row in _rows(grid, published, matched, value_of(bias, preset))
    ]
    table = pl.DataFrame(rows, schema=dict(COMPARISON_SCHEMA), orient="row")
    nothing = "" if rows else _why_nothing(grid, published, matched, paper)
    return Comparison(paper, table, summarize_pairs(table), nothing)


def summarize_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Agreement by language, set and model, over bias types; in `method` stands the language, of several sets the set.

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
    """The languages and sets of compared pairs."""
    return groups_of((name or "", language) for name, language in rows.select("set", "language").iter_rows())


def with_pairs(
    comparison: Comparison, pairs: Comparison | None, models: Sequence[PublishedModel], *, others: bool = True
) -> tuple[str, str]:
    """A comparison as CSV and as Markdown, with that of sentence pairs in it.

    Args:
        comparison: of effect sizes, by `prasanga.report.comparison.compare`.
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
    """The section on sentence pairs: how to read it, agreement by language and model, and every row."""
    if pairs.nothing:
        return f"## Sentence pairs\n\n{pairs.nothing}\n"
    compared = pairs.rows["published_model"].unique(maintain_order=True).to_list()
    doubts = [f"{name}: {doubt}." for name in compared if (doubt := doubt_of(models, name, METHOD))]
    titles = {(group.set, group.language): group.title for group in groups_in(pairs.rows)}
    agreement = Sheet(
        ("language", "model", "model of the paper"),
        tuple(
            ("", name)
            for name in ("bias types", "same side", "rank correlation", "median difference", "in our interval")
        ),
        tuple(
            Row(
                (row["method"], row["model"], row["published_model"]),
                tuple(
                    Cell(text)
                    for text in (
                        str(row["n_rows"]),
                        f"{row['n_same_sign']} of {row['n_signs']}",
                        signed(row["spearman"], 2),
                        plain(row["median_difference"], 1),
                        f"{row['n_inside']} of {row['n_intervals']}",
                    )
                ),
            )
            # no cell of the table is in doubt, so that the second row of each model would repeat the first
            for row in pairs.summary.filter(cells="all").iter_rows(named=True)
        ),
    )
    every = Sheet(
        ("language", "bias type", "model", "model of the paper"),
        tuple(
            ("", name) for name in ("published", "measured", "difference", "same side", "interval", "inside", "note")
        ),
        tuple(_line(row, titles[row["set"] or "", row["language"]]) for row in pairs.rows.iter_rows(named=True)),
    )
    return "\n".join(
        [
            "## Sentence pairs: agreement\n",
            sheets_to_markdown([agreement], [*HOW_TO_READ, *doubts]),
            "## Sentence pairs: rows\n",
            sheets_to_markdown([every], []),
        ]
    )


def _line(row: Mapping[str, Any], title: str) -> Row:
    interval = MISSING
    if is_number(row["ci_low"]):
        interval = f"{row['ci_low']:.1f} to {row['ci_high']:.1f}"
    texts = (
        f"{row['published']:.2f}",
        MISSING if row["measured"] is None else f"{row['measured']:.2f}",
        signed(row["difference"], 2),
        _yes_no(row["same_sign"]),
        interval,
        _yes_no(row["published_inside"]),
        row["note"] or "",
    )
    where = (title, name_of_type(row["category"]), row["model"], row["published_model"])
    return Row(where, tuple(map(Cell, texts)))


def _yes_no(value: bool | None) -> str:
    return MISSING if value is None else "yes" if value else "no"


def _rows(
    grid: PairGrid, published: pl.DataFrame, matched: Mapping[str, str], value: str
) -> Iterator[dict[str, object]]:
    for theirs in published.iter_rows(named=True):
        for group in grid.groups:
            for model, name in matched.items():
                ours = grid.at(group, model, theirs["bias_type"])
                if group.language == theirs["language"] and name == theirs["model"] and ours is not None:
                    yield _row(theirs, model, ours, value)


def _row(theirs: Mapping[str, Any], model: str, ours: Estimate, value: str) -> dict[str, object]:
    printed, measured = theirs["percentage"], ours[value]
    known = is_number(measured)
    sides = known and printed != 50 and measured != 50
    return {
        **{key: theirs[key] for key in ("paper", "table", "language")},
        "method": METHOD,
        "category": theirs["bias_type"],
        "model": model,
        "published_model": theirs["model"],
        "published": printed,
        "measured": measured if known else None,
        "difference": measured - printed if known else None,
        "same_sign": (printed > 50) == (measured > 50) if sides else None,
        "ci_low": ours["exact_low"],
        "ci_high": ours["exact_high"],
        "published_inside": ours["exact_low"] <= printed <= ours["exact_high"] if known else None,
        "note": "; ".join(_notes(theirs, ours, value)) or None,
        "set": ours["set"],
    }


def _notes(theirs: Mapping[str, Any], ours: Estimate, value: str) -> Iterator[str]:
    if why := why_no_percentage(ours):
        yield why
    elif value != "bias_percentage":
        yield f"{_OF_RUNS if is_number(ours[value]) else 'no runs'}; of all pairs {ours['bias_percentage']:.2f}"
    if theirs["spread"] is not None and is_number(ours["runs_sd"]):
        yield f"deviation over runs {theirs['spread']:.2f} in the paper, ours {ours['runs_sd']:.2f}"


def _why_nothing(grid: PairGrid, published: pl.DataFrame, matched: Mapping[str, str], paper: str) -> str:
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


def _is_percentage(text: str | None) -> bool:
    try:
        return text is not None and 0 <= float(text) <= 100
    except ValueError:
        return False
