"""The study beside a paper's numbers on the page: agreement by method and model, every row, and what is doubtful."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from prasanga.pairs.names import OVERALL
from prasanga.report.comparison import HOW_TO_READ, comparison_rows, summarize
from prasanga.report.grid import is_number, name_of_type
from prasanga.report.heat import order_of
from prasanga.report.pair_comparison import HOW_TO_READ as HOW_TO_READ_PAIRS
from prasanga.report.pair_comparison import METHOD as PAIRS
from prasanga.report.pair_comparison import groups_in, summarize_pairs
from prasanga.report.paper_tables import method_name
from prasanga.report.published import PAPERS
from prasanga.report.sheet import MINUS, MISSING, plain, signed

LABEL = (
    "Scatter plots of measured against published numbers, one panel for each method, with the line on which they are"
    " equal. The same numbers stand in the table of all rows."
)
"""What the figure is, for who does not see it."""

AGREEMENT_COLUMNS = (
    *("rows", "categories", "same sign", "95 % interval of that", "rank correlation", "median difference"),
    "in our interval",
)
NUMBER_COLUMNS = ("published", "measured", "difference", "our interval")

_FILES = (("comparison.csv", "CSV"), ("comparison.md", "Markdown"))


class Agreement(NamedTuple):
    """One method and model, over all cells or without doubtful ones: a text for each column."""

    method: str
    model: str
    published_model: str
    cells: str
    texts: list[str]


class BesideRow(NamedTuple):
    """A row: where it is from, and (text, number that it stands for or empty) for what can be sorted by it.

    `doubts` and `note` are numbers of what the section lists.
    """

    table: str
    method: str
    category: str
    model: str
    published_model: str
    where: str
    numbers: list[tuple[str, str]]
    same_sign: str
    inside: str
    doubts: str
    note: str


class BesidePaper(NamedTuple):
    """The section of the page.

    Attributes:
        paper: how it is cited.
        nothing: why there is nothing to compare; empty if there is something.
        findings: agreement by method in sentences.
        reading: how to read the numbers.
        agreement: by method and model.
        rows: every row.
        doubts: about published cells and about models, each with how many rows it concerns; rows name them by number.
        notes: what is to be said of this study's numbers, likewise, by n1, n2 and so on.
        files: paths from the page, and what they are.
        agreement_columns: heads of the numbers of an `Agreement`.
        number_columns: heads of the numbers of a `BesideRow`.
    """

    paper: str
    nothing: str
    findings: list[str]
    reading: list[str]
    agreement: list[Agreement]
    rows: list[BesideRow]
    doubts: list[str]
    notes: list[str]
    files: list[tuple[str, str]]
    agreement_columns: Sequence[str] = AGREEMENT_COLUMNS
    number_columns: Sequence[str] = NUMBER_COLUMNS


def beside_paper(
    paper: str, table: pl.DataFrame | None, *, why_nothing: str = "", files: Iterable[str] = ()
) -> BesidePaper | None:
    """The section for a study's comparison with a paper.

    Args:
        paper: `comparison.paper` of the config: none, or the name of a paper.
        table: the rows as read from `comparison.csv`; None if it was not made yet.
        why_nothing: what `reason_in` finds in `comparison.md`, shown where there are no rows.
        files: what lies beside the page, as paths from it.

    Returns:
        None where the config asks for no comparison and there is none.

    Raises:
        InputError: the table lacks a column.
    """
    if table is None and paper == "none":
        return None
    rows = None if table is None else comparison_rows(table)
    found = set(files)
    links = [(path, what) for path, what in _FILES if path in found]
    if rows is None or rows.is_empty():
        reason = "The comparison was not made yet." if rows is None else why_nothing or "No row of the two is the same."
        return BesidePaper(PAPERS.get(paper, paper), reason, [], [], [], [], [], [], links)
    pairs, effects = rows.filter(pl.col("method") == PAIRS), rows.filter(pl.col("method") != PAIRS)
    titles = {(group.set, group.language): group.title for group in groups_in(pairs)}
    summary, of_pairs = _without_repeats(summarize(effects)), _without_repeats(summarize_pairs(pairs))
    of_models = rows["published_model"] + ": " + rows["model_doubt"]
    doubts, notes = _counted([rows["doubt"], rows["mark_doubt"], of_models]), _counted([rows["note"]])
    reading = [*(HOW_TO_READ if len(effects) else ()), *(HOW_TO_READ_PAIRS if len(pairs) else ())]
    name = rows["paper"][0]
    return BesidePaper(
        PAPERS.get(name, name),
        "",
        _findings(effects, pairs),
        reading,
        [
            *(_agreement(row, method_name(row["method"]), 3) for row in summary.iter_rows(named=True)),
            *(_agreement(row, f"Sentence pairs, {row['method']}", 1) for row in of_pairs.iter_rows(named=True)),
        ],
        [_row(row, titles, list(doubts), list(notes)) for row in rows.iter_rows(named=True)],
        [f"{text} ({_rows(n)})." for text, n in doubts.items()],
        [f"{text} ({_rows(n)})." for text, n in notes.items()],
        links,
    )


def reason_in(markdown: str) -> str:
    """Why there is nothing to compare, as `comparison.md` says it; empty if it has a comparison."""
    lines = (line for line in markdown.splitlines() if line.strip() and not line.startswith("#"))
    paragraphs = [line for line in lines if not line.startswith(("|", "-"))]
    return " ".join(re.sub(r"\\([\\|*_`<\[\]])", r"\1", line) for line in paragraphs)


def _findings(effects: pl.DataFrame, pairs: pl.DataFrame) -> list[str]:
    """For each method, how many signs agree, and how many published numbers lie in our intervals."""
    said = []
    for method in effects["method"].unique(maintain_order=True):
        of_method = effects.filter((pl.col("method") == method) & pl.col("measured").is_not_null())
        said.append(f"{method_name(method)}: {_counts(of_method, 'has the same sign', 'have the same sign')}")
    if len(pairs):
        measured = pairs.filter(pl.col("measured").is_not_null() & (pl.col("category") != OVERALL))
        said.append(f"Sentence pairs: {_counts(measured, 'is on the same side of 50', 'are on the same side of 50')}")
    return said


def _counts(rows: pl.DataFrame, one: str, many: str) -> str:
    signs, inside = rows["same_sign"].drop_nulls(), rows["published_inside"].drop_nulls()
    if rows.is_empty():
        return "no row has a number of both."
    n_same, n_inside = int(signs.sum()), int(inside.sum())
    sign = f"{n_same} of {len(signs)} numbers {one if n_same == 1 else many}" if len(signs) else "no sign is known"
    if not len(inside):
        return f"{sign} as in the paper; there are no intervals."
    lie = "published number lies" if len(inside) == 1 else "published numbers lie"
    return f"{sign} as in the paper, and {n_inside} of {len(inside)} {lie} in our interval."


def _agreement(row: Mapping[str, Any], method: str, decimals: int) -> Agreement:
    known = bool(row["n_signs"])
    texts = [
        str(row["n_rows"]),
        str(row["n_categories"]),
        f"{row['n_same_sign']} of {row['n_signs']}",
        f"{plain(row['same_sign_low'], 2)} to {plain(row['same_sign_high'], 2)}" if known else MISSING,
        f"{signed(row['spearman'], 2, minus=MINUS)} (n = {row['n_spearman']})" if row["n_spearman"] else MISSING,
        plain(row["median_difference"], decimals),
        f"{row['n_inside']} of {row['n_intervals']}",
    ]
    return Agreement(method, row["model"], row["published_model"], row["cells"], texts)


def _without_repeats(summary: pl.DataFrame) -> pl.DataFrame:
    """Without the second row of a model of which no cell is in doubt, since it repeats the first."""
    model = ["method", "model", "published_model"]
    return summary.filter((pl.col("cells") == "all") | (pl.col("n_rows") != pl.col("n_rows").max().over(model)))


def _row(
    row: Mapping[str, Any], titles: Mapping[tuple[str, str], str], doubts: Sequence[str], notes: Sequence[str]
) -> BesideRow:
    of_pairs = row["method"] == PAIRS
    if of_pairs:
        where = titles[row["set"] or "", row["language"]]
    else:
        length = row["segment_length"] and f"{row['segment_length']} words"
        where = ", ".join(filter(None, (row["sample_mode"], length)))
    of_model = row["model_doubt"] and f"{row['published_model']}: {row['model_doubt']}"
    found = sorted(doubts.index(text) + 1 for text in (row["doubt"], row["mark_doubt"], of_model) if text)
    return BesideRow(
        f"Table {row['table']}",
        "Sentence pairs" if of_pairs else method_name(row["method"]),
        name_of_type(row["category"]) if of_pairs else row["category"],
        row["model"],
        row["published_model"],
        where,
        _numbers(row, of_pairs),
        _yes_no(row["same_sign"]),
        _yes_no(row["published_inside"]),
        ", ".join(map(str, found)),
        f"n{notes.index(row['note']) + 1}" if row["note"] else "",
    )


def _numbers(row: Mapping[str, Any], of_pairs: bool) -> list[tuple[str, str]]:
    def text(value: float | None) -> str:
        if of_pairs:
            return f"{value:.2f}" if value is not None and is_number(value) else MISSING
        return signed(value, minus=MINUS)

    published, low, high = row["published"], row["ci_low"], row["ci_high"]
    difference = signed(row["difference"], 2 if of_pairs else 3, minus=MINUS)
    interval = f"{text(low)} to {text(high)}" if is_number(low) and is_number(high) else MISSING
    return [
        (f"{row['bound']}{published:.3f}" if row["bound"] else text(published), order_of(published)),
        (text(row["measured"]), order_of(row["measured"])),
        (difference, order_of(row["difference"])),
        (interval, order_of(low)),
    ]


def _yes_no(value: bool | None) -> str:
    return MISSING if value is None else "yes" if value else "no"


def _counted(columns: Sequence[pl.Series]) -> dict[str, int]:
    """Each text of these columns once, with how many rows have it, in the order in which they come."""
    counts: dict[str, int] = {}
    for text in (text for column in columns for text in column.drop_nulls()):
        counts[text] = counts.get(text, 0) + 1
    return counts


def _rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"
