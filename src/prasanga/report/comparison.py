"""Compare a study's numbers with the ones that a paper prints, and put its methods side by side.

The numbers of both papers are read from `resources/published` (its README has sources, conventions and doubts), in one
tidy layout: a row for each printed number, with the reason of every doubt in words. A doubt concerns the number
(`doubt`), the mark of significance (`mark_doubt`) or the model by this method (`model_doubt`).

A row is compared if method, category, language, model and, for CEAT, sample mode and segment length are the same (fixed
draws if a paper does not say the mode). That does not make the two numbers measurements of the same thing: corpus,
words and conventions may differ (docs/published.md). A row of sentence pairs is compared if language, model and bias
type are the same; the sentences are not: Sahoo et al. measured 705 or 800 pairs, of which a sample is published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.associations.comparisons import FEWEST_RANKS
from prasanga.base.errors import InputError, reason
from prasanga.base.io import guarded
from prasanga.methods import PAIRS
from prasanga.pairs.preferences import OVERALL
from prasanga.report import grid as grids
from prasanga.report.sheet import Sheet, markdown_list, plural, sheet_to_markdown, show_table, write_notes
from prasanga.schema import TABLES

SCHEMA = TABLES["comparison"]
PAPERS: Mapping[str, str] = {"sadhu2024": "Sadhu et al. (2024)", "sahoo2024": "Sahoo et al. (2024)"}
"""The papers by the names that `comparison.paper` takes, and how they are cited."""

DESCRIBED: Mapping[str, tuple[str, str, str]] = {
    "sadhu2024": ("structures", "sadhu2024_structures.csv", "comparison_structures"),
    "sahoo2024": ("pair_statistics", "sahoo2024_data_set.csv", "comparison_statistics"),
}
"""What else a paper has numbers of: the study's table, the file of the paper's, and the table of both."""

REPEATED = "repeats-table-5"
"""Code of cells that print another table's numbers once more; a comparison leaves them out."""

EXCHANGED = "exchanged"
"""Code of cells of a category whose targets and attributes changed places."""

_NUMBERS = {"n_samples": pl.Int64, "significant": pl.Boolean} | dict.fromkeys(
    ("effect_size", "alpha", "percentage", "spread", "value", "mean", "variance"), pl.Float64
)


def _type_columns(names: str) -> pl.Schema:
    """Return the schema of columns by their names; those that are not known for numbers are text."""
    return pl.Schema({name: _NUMBERS.get(name, pl.String) for name in names.split()})


_EFFECTS = _type_columns(
    "paper table method category language model sample_mode segment_length n_samples effect_size bound significant"
    " alpha doubts"
)
_PERCENTAGES = _type_columns("paper table language model bias_type percentage spread")
PUBLISHED_SCHEMA = pl.Schema({**_EFFECTS, **_type_columns("doubt mark_doubt model_doubt")})
"""Columns of `read_published`."""


def read_published(folder: str | Path, paper: str) -> pl.DataFrame:
    """Return the effect sizes that a paper prints.

    Args:
        folder: `resources/published`, or a folder with the same layout.
        paper: sadhu2024 or sahoo2024.

    Returns:
        A row for each printed effect size, in the order of the paper's tables. `doubts` has the codes, the last three
        columns the reasons in words; empty cells are null.

    Raises:
        InputError: a file is absent or not as it should be.
    """
    table = _read_csv(Path(folder, f"{paper}.csv"), _EFFECTS)
    doubts = _read_csv(Path(folder, "doubts.csv"), _type_columns("code concerns reason"))

    def reasons(concern: str) -> pl.Expr:
        found = doubts.filter(pl.col("concerns").str.split(" ").list.contains(concern))
        known = dict(found.select("code", "reason").iter_rows())
        listed = pl.col("doubts").str.split(" ").list.eval(pl.element().replace_strict(known, default=None))
        return listed.list.drop_nulls().list.join("; ").replace("", None)

    return _doubt_models(table.with_columns(doubt=reasons("number"), mark_doubt=reasons("mark")), folder)


def read_percentages(folder: str | Path, paper: str) -> pl.DataFrame:
    """Return the bias percentages that a paper prints; no rows of a paper that has none.

    Bias types are in lower case, the method is `pairs`, and `model_doubt` comes from `read_published`.

    Raises:
        InputError: the file is not as it should be.
    """
    path = Path(folder, f"{paper}_bias_percentages.csv")
    table = _read_csv(path, _PERCENTAGES) if path.exists() else pl.DataFrame(schema=_PERCENTAGES)
    rows = table.with_columns(pl.col("bias_type").str.to_lowercase(), method=pl.lit(PAIRS.name))
    return _doubt_models(rows, folder)


def _doubt_models(rows: pl.DataFrame, folder: str | Path) -> pl.DataFrame:
    """Add the doubts about a row's model as measured by the row's method."""
    described = _read_csv(Path(folder, "models.csv"), _type_columns("paper model methods doubt")).drop_nulls("doubt")
    by_method = described.with_columns(method=pl.col("methods").str.split(" ")).explode("method")
    key = ["paper", "model", "method"]
    doubts = by_method.group_by(key, maintain_order=True).agg(model_doubt=pl.col("doubt").str.join("; "))
    return rows.join(doubts, on=key, how="left", maintain_order="left")


def printed_at(table: str) -> str:
    """Return where a number is printed as a reader writes it: `Table 5`, `Figure 1`."""
    return f"Table {table}" if table.isdigit() else table


def match_models(models: Mapping[str, str], studied: Iterable[str], published: Iterable[str]) -> dict[str, str]:
    """Return which of the paper's models each studied model corresponds to.

    Args:
        models: `comparison.models`, {name in the study: name in the paper}; others have the same name.
        studied: names of the study's models and static vectors.
        published: names of the paper's models.
    """
    theirs = set(published)
    return {ours: models.get(ours, ours) for ours in studied if models.get(ours, ours) in theirs}


def describe_both(
    languages: Iterable[str], studied: Iterable[str], published: pl.DataFrame, matched: Mapping[str, str]
) -> str:
    """Return which languages and models a study and a paper have, in sentences on what to write if they differ."""
    theirs, names = (", ".join(published[name].unique(maintain_order=True)) for name in ("language", "model"))
    same = ", ".join(f"{ours} as {name}" for ours, name in matched.items()) or "none"
    return (
        f"the study has {', '.join(languages)} and the models {', '.join(studied) or 'none'}, the paper {theirs} and"
        f" {names}. Models that match: {same}. Say in `comparison.models` which is which."
    )


def published_files(folder: str | Path, paper: str) -> list[Path]:
    """Return the files that `read_published`, `read_percentages` and `compare_described` read."""
    names = (f"{paper}.csv", f"{paper}_bias_percentages.csv", DESCRIBED[paper][1], "doubts.csv", "models.csv")
    return [path for path in (Path(folder, name) for name in names) if path.exists()]


def _read_csv(path: Path, schema: pl.Schema) -> pl.DataFrame:
    try:
        return pl.read_csv(path, schema_overrides=schema).select(*schema)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path}: {reason(error)}. Put the project's file back.") from None


# --------------------
# The rows of a comparison with a paper.


def compare(
    tables: Mapping[str, pl.DataFrame], published: pl.DataFrame, *, models: Mapping[str, str], language: str
) -> pl.DataFrame:
    """Compare a study's tables of estimates with the numbers that a paper prints.

    Args:
        tables: the study's tables of estimates by method (ceat, seat, weat, log_probability_bias).
        published: `read_published`.
        models: `comparison.models` of the config; models of the same name match by themselves.
        language: of the study (bn, hi, en); a table over several languages has a column `language`.

    Returns:
        The table `comparison` of the registry, in the order of the paper's tables; without anything to compare, a row
        with the reason as its note. If the paper has the same test at several N, the N nearest to the study's is taken;
        if the study has it at several N, the one nearest to the paper's. A cell that the study could not compute is a
        row without a measured number, with the reason. Columns that repeat another table's are left out.
    """
    ours = [pl.DataFrame(schema=_OURS), *(_select_estimates(*each, language) for each in tables.items())]
    codes = pl.col("doubts").fill_null("").str.split(" ").list
    theirs = published.filter(~codes.contains(REPEATED)).with_columns(mode_of_printed(), published="effect_size")
    here, is_exchanged = pl.col("exchanged"), codes.contains(EXCHANGED)
    order = [pl.when(each).then(pl.lit("exchanged")).otherwise(pl.lit("as described")) for each in (here, is_exchanged)]
    turned = pl.format("targets and attributes are {} here and {} in the paper", *order)
    note = pl.concat_str(pl.when(here != is_exchanged).then(turned), "note", separator="; ", ignore_nulls=True)
    return _compare_rows(pl.concat(ours, how="diagonal_relaxed"), theirs, models, [language], note)


_OURS = pl.Schema(
    {
        **dict.fromkeys(("method", "category", "model", "sample_mode", "segment_length", "note"), pl.String()),
        **dict.fromkeys(("measured", "ci_low", "ci_high", "p_draws", "p_sentences"), pl.Float64()),
        **{"n_samples": pl.Int64(), "exchanged": pl.Boolean(), "language": pl.String(), "set": pl.String()},
    }
)
_SAME = ["method", "category", "language", "published_model", "sample_mode", "segment_length"]
"""Columns in which a number of the study and a published one are the same."""


def _select_estimates(method: str, table: pl.DataFrame, language: str) -> pl.DataFrame:
    """Return the estimates of a method with columns of `_OURS`; `note` says what they do without."""
    notes = []
    for row in table.iter_rows(named=True):
        few = f"few words: {words}" if (words := grids.few_words(row)) else ""
        notes.append([few, grids.why_missing(row) or row.get("interval_note")])
    of = pl.col("language") if "language" in table.columns else pl.lit(language)
    described = table.with_columns(_join_notes(notes), method=pl.lit(method), language=of)
    rows = grids.split_draws(described).rename({"effect_size": "measured"})
    return rows.select(pl.col(name).cast(kind) for name, kind in _OURS.items() if name in rows.columns)


def compare_pairs(
    bias: pl.DataFrame, published: pl.DataFrame, *, models: Mapping[str, str], preset: str = "recommended"
) -> pl.DataFrame:
    """Compare a study's bias percentages with a paper's.

    Args:
        bias: what `prasanga.likelihoods.bias_percentage` returns.
        published: `read_percentages`.
        models: `comparison.models` of the config; models of the same name match by themselves.
        preset: recommended or paper; decides what the numbers are of, as in `prasanga.report.paper_tables`.

    Returns:
        As `compare`: the method is `pairs`, the category the bias type, `same_sign` says whether both are on the same
        side of 50, and the interval is the exact one.
    """
    value = grids.choose_percentage(bias, preset)
    notes = []
    for row in bias.iter_rows(named=True):
        said = grids.why_no_percentage(row)
        if not said and value != "bias_percentage":
            runs = "mean over runs" if grids.is_number(row[value]) else "no runs"
            said = f"{runs}; of all pairs {row['bias_percentage']:.2f}"
        notes.append([said])
    renamed = {"category": "bias_type", "measured": value, "ci_low": "exact_low", "ci_high": "exact_high"}
    ours = bias.with_columns(_join_notes(notes), method=pl.lit(PAIRS.name), **renamed)
    theirs = published.with_columns(category="bias_type", published="percentage")
    deviations = (pl.col(name).map_elements("{:.2f}".format, pl.String) for name in ("spread", "runs_sd"))
    both = pl.format("deviation over runs {} in the paper, ours {}", *deviations)
    note = pl.concat_str("note", both, separator="; ", ignore_nulls=True)
    languages = sorted(bias["language"].unique())
    return _compare_rows(ours, theirs, models, languages, note, even=50)


def compare_described(
    ours: pl.DataFrame, folder: str | Path, paper: str, models: Mapping[str, str]
) -> tuple[str, pl.DataFrame]:
    """Return what else a paper has numbers of, next to the study's, and the name of this table in the registry.

    Args:
        ours: the study's table, `structures` for sadhu2024, `pair_statistics` for sahoo2024.
        folder: `resources/published`.
        paper: its name.
        models: as for `compare`.
    """
    _, file, name = DESCRIBED[paper]
    path = Path(folder, file)
    if paper == "sadhu2024":
        theirs = _read_csv(path, _type_columns("paper table model pairs polarity structure quantity mean variance"))
        matched = match_models(models, ours["model"].unique(), theirs["model"])
        model = pl.col("model").replace_strict(matched, default=None, return_dtype=pl.String)
        names = {"model": "published_model", "mean": "published_mean", "variance": "published_variance"}
        key = ["published_model", "polarity", "structure", "quantity"]
        # the paper has four pairs of terms, the notebook also two
        four = theirs.filter(pairs="4").rename(names)
        rows = four.join(ours.with_columns(published_model=model), on=key, maintain_order="left_right")
    else:
        theirs = _read_csv(path, _type_columns("paper table statistic category language subset value"))
        printed = theirs.drop_nulls("value").rename({"value": "published"})
        ours = ours.rename({"value": "measured", "language": "of"})
        rows = printed.join(ours, on=["statistic", "category", "subset"], maintain_order="left_right")
        # shares are of both languages, lengths of one
        rows = rows.filter(pl.coalesce("language", "of") == pl.col("of")).sort("set", "of", maintain_order=True)
        rows = rows.with_columns(language="of", difference=pl.col("measured") - pl.col("published"))
    return name, rows.select(TABLES[name].names)


def _join_notes(notes: Iterable[Iterable[str | None]]) -> pl.Series:
    return pl.Series("note", ["; ".join(filter(None, each)) or None for each in notes], dtype=pl.String)


def _compare_rows(
    ours: pl.DataFrame,
    theirs: pl.DataFrame,
    models: Mapping[str, str],
    languages: Sequence[str],
    note: pl.Expr,
    *,
    even: float = 0.0,
) -> pl.DataFrame:
    """Return rows of the study and of a paper that are of the same test, as the table `comparison`.

    A number at `even` has no sign, and a printed bound no distance. Of the rows of one cell of the study the published
    N nearest to the study's is taken, by ratio, and vice versa.
    """
    ours = pl.concat([pl.DataFrame(schema=_OURS), ours], how="diagonal_relaxed")
    theirs = pl.concat([pl.DataFrame(schema=PUBLISHED_SCHEMA), theirs], how="diagonal_relaxed")
    studied = ours["model"].unique(maintain_order=True)
    matched = match_models(models, studied, theirs["model"])
    names = {"model": "published_model", "n_samples": "published_n_samples", "significant": "published_significant"}
    published_model = pl.col("model").replace_strict(matched, default=None, return_dtype=pl.String)
    rows = theirs.rename(names).join(
        ours.with_columns(published_model=published_model), on=_SAME, nulls_equal=True, maintain_order="left_right"
    )
    if rows.is_empty():
        nothing = describe_both(languages, studied, theirs, matched)
        same = "Method, category or bias type, segment length and sample mode must be the same as well."
        return pl.DataFrame([{"note": f"Nothing to compare: {nothing} {same}"}], schema=SCHEMA.polars)
    rows = rows.with_columns(note=note.replace("", None)).select(name for name in SCHEMA.names if name in rows.columns)
    rows = pl.concat([pl.DataFrame(schema=SCHEMA.polars), rows], how="diagonal_relaxed")
    published, measured, low, high = map(pl.col, ("published", "measured", "ci_low", "ci_high"))
    has_interval = low.is_finite() & high.is_finite()
    is_exact = pl.col("bound").is_null() & measured.is_finite()
    has_signs = is_exact & (measured != even) & (published != even)
    apart = (pl.col("published_n_samples").log() - pl.col("n_samples").log()).abs()
    for side in ("n_samples", "table"):
        cell = ["method", "category", "language", "model", "sample_mode", "segment_length", side]
        rows = rows.filter(apart.is_null() | (apart == apart.min().over(cell)))
    return rows.with_columns(
        pl.when(measured.is_finite()).then(measured),
        pl.when(has_interval).then(low),
        pl.when(has_interval).then(high),
        difference=pl.when(is_exact).then(measured - published),
        same_sign=pl.when(has_signs).then((measured > even) == (published > even)),
        published_inside=pl.when(is_exact & has_interval).then(published.is_between(low, high)),
    )


def comparison_rows(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a comparison as read from its CSV, each column of its type again."""
    # a column of nothing but nulls or whole numbers is read as another type
    return table.select(SCHEMA.names).cast(SCHEMA.polars).filter(pl.col("method").is_not_null())


def why_nothing_compared(table: pl.DataFrame) -> str:
    """Return why a comparison, as read from its CSV, has no rows: the note of a row without a method."""
    notes = table.filter(pl.col("method").is_null())["note"].to_list() if "note" in table.columns else []
    return " ".join(filter(None, notes))


def mode_of_printed() -> pl.Expr:
    """Return the sample mode of published numbers: fixed for CEAT if the paper does not say."""
    return pl.col("sample_mode").fill_null(pl.when(method="ceat").then(pl.lit("fixed")))


# --------------------
# Agreement, and the tables for the page and for files.


def summarize(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return agreement by method and model, over all cells and over those without a doubt about the number.

    Sentence pairs are grouped by language and set, over bias types without the row of all pairs.

    Rows without a measured number do not count, nor, for differences and ranks, printed bounds.
    The row of a model without doubtful cells is left out if no cell is in doubt.
    """
    is_pairs = pl.col("method") == PAIRS.name
    titles: dict[tuple[Any, ...], str] = {(method, None, None): title for method, title in grids.PUBLISHED_AS.items()}
    pairs = rows.filter(is_pairs).select(pl.col("set").fill_null(""), "language")
    titles |= {
        (PAIRS.name, each.language, each.set): f"Sentence pairs, {each.title}" for each in grids.groups_of(pairs.rows())
    }
    found = []
    for (*named, model, theirs), part in rows.filter(
        pl.col("measured").is_not_null() & ~(is_pairs & (pl.col("category") == OVERALL))
    ).group_by("method", pl.when(is_pairs).then("language"), "set", "model", "published_model", maintain_order=True):
        head = {"method": titles[tuple(named)], "model": model, "published_model": theirs}
        found.append(head | {"cells": "all"} | _measure_agreement(part))
        if len(certain := part.filter(pl.col("doubt").is_null())) < len(part):
            found.append(head | {"cells": "without doubtful cells"} | _measure_agreement(certain))
    return found


def _measure_agreement(rows: pl.DataFrame) -> dict[str, Any]:
    exact = rows.filter(pl.col("bound").is_null())
    has_ranks = len(exact) >= FEWEST_RANKS and min(exact["published"].n_unique(), exact["measured"].n_unique()) > 1
    return {
        **{"n_rows": len(rows), "n_categories": rows["category"].n_unique()},
        **{"n_same_sign": int(rows["same_sign"].sum()), "n_signs": rows["same_sign"].count()},
        "spearman": exact.select(pl.corr("published", "measured", method="spearman")).item() if has_ranks else None,
        "median_difference": exact["difference"].abs().median(),
        **{"n_inside": int(rows["published_inside"].sum()), "n_intervals": rows["published_inside"].count()},
    }


def agreement_sheet(rows: pl.DataFrame) -> Sheet:
    """Return the agreement by method and model as a table."""
    return show_table("agreement_with_paper", summarize(rows))


def rows_sheet(rows: pl.DataFrame) -> Sheet:
    """Return every number and the paper's."""
    named = [
        {
            **row,
            "table": printed_at(row["table"]),
            "method": grids.PUBLISHED_AS.get(row["method"], "Sentence pairs"),
            "category": grids.name_of_type(row["category"]) if row["method"] == PAIRS.name else row["category"],
            "published": f"{row['bound']}{row['published']:.3f}" if row["bound"] else row["published"],
        }
        for row in rows.iter_rows(named=True)
    ]
    return show_table("beside_rows", named)


def list_doubts(rows: pl.DataFrame) -> list[str]:
    """Return every doubt once, with the number of its rows."""
    of_models = rows.select(pl.concat_str("published_model", "model_doubt", separator=": ")).to_series()
    found = Counter(text for column in (rows["doubt"], rows["mark_doubt"], of_models) for text in column.drop_nulls())
    return [f"{text} ({plural(n, 'row')})." for text, n in found.items()]


def describe_reading(rows: pl.DataFrame) -> list[str]:
    """Return how to read a comparison."""
    of_pairs = rows["method"] == PAIRS.name
    return write_notes("reading", has_effects=not of_pairs.all(), has_pairs=of_pairs.any())


def render_comparison(paper: str, comparisons: Sequence[pl.DataFrame]) -> tuple[str, str]:
    """Return comparisons as one CSV, every row in full precision, and as Markdown.

    Args:
        paper: the paper's name.
        comparisons: of effect sizes and of sentence pairs, those that a study has.
    """
    table = pl.concat(comparisons)
    rows = comparison_rows(table)
    nothing = why_nothing_compared(table)
    parts = [
        f"# Beside {PAPERS.get(paper, paper)}\n",
        markdown_list(describe_reading(rows) if len(rows) else [nothing]),
    ]
    if len(rows):
        parts.append(f"## Agreement\n\n{sheet_to_markdown(agreement_sheet(rows))}")
        parts.append(f"## Rows\n\n{sheet_to_markdown(rows_sheet(rows.drop('doubt', 'mark_doubt', 'model_doubt')))}")
    if doubts := list_doubts(rows):
        parts.append(f"## Doubts about the paper's numbers\n\n{markdown_list(doubts)}")
    return guarded(rows if len(rows) else table).write_csv(line_terminator="\n"), "\n".join(parts)


# --------------------
# The estimates of all methods side by side.


def side_by_side(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the estimates of several methods in one table.

    Args:
        tables: estimates by name of the method; for CEAT primary estimates count.

    Returns:
        The table `methods` of the registry, in the order of methods, categories and models; estimates without a number
        are left out. `few_words` is empty where words are enough for a finding.
    """
    schema, rows = TABLES["methods"].polars, []
    for method in (name for name in grids.METHODS if name in tables):
        found = grids.select_primary(tables[method]).filter(pl.col("effect_size").is_finite()).rows(named=True)
        for row in sorted(found, key=lambda row: grids.natural_order(row["category"])):
            told = {**row, "method": method, "few_words": grids.few_words(row)}
            rows.append({name: told.get(name) for name in schema})
    return pl.DataFrame(rows, schema=schema)
