"""What the papers print, read from `resources/published` (its README has sources, conventions and doubts).

One tidy layout for both papers: a row for each printed effect size, with the reason of every doubt in words. A doubt
concerns the number (`doubt`) or the mark of significance (`mark_doubt`).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from prasanga.base.errors import InputError
from prasanga.methods import FAMILY
from prasanga.report.grid import LANGUAGES

PAPERS: Mapping[str, str] = {"sadhu2024": "Sadhu et al. (2024)", "sahoo2024": "Sahoo et al. (2024)"}
"""The papers by the names that `comparison.paper` takes, and how they are cited."""

PUBLISHED_AS: Mapping[str, str] = {
    name: method.label
    for name in ("weat", "seat", "ceat", "log_probability_bias")
    for method in FAMILY
    if method.published_as == name
}
"""How methods are called in a sentence or a head, in the order of Table 4 of Sadhu et al."""

REPEATED = "repeats-table-5"
"""Code of cells that print another table's numbers once more; a comparison leaves them out."""

EXCHANGED = "exchanged"
"""Code of cells of a category whose targets and attributes changed places."""

PUBLISHED_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("paper", "table", "method", "category", "language", "model"), pl.String),
    **dict.fromkeys(("sample_mode", "segment_length"), pl.String),
    "n_samples": pl.Int64,
    "effect_size": pl.Float64,
    "bound": pl.String,
    "significant": pl.Boolean,
    "alpha": pl.Float64,
    **dict.fromkeys(("doubts", "doubt", "mark_doubt"), pl.String),
}
"""Columns of `read_published`. Empty cells are null; `doubts` has the codes, the last two the reasons in words."""

PERCENTAGES_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("paper", "table", "language", "model", "bias_type"), pl.String),
    **dict.fromkeys(("percentage", "spread"), pl.Float64),
}
"""Columns of `read_percentages`. `spread` is the deviation over five runs, printed for all pairs only."""

_COLUMNS = tuple(name for name in PUBLISHED_SCHEMA if name not in ("doubt", "mark_doubt"))
_MODES = ("", "fixed", "random")
_KEY = ("table", "method", "category", "language", "model", "sample_mode", "segment_length")


class PublishedModel(NamedTuple):
    """A model of a paper: its name in our tables and in the paper, and what is not sure about it in these methods.

    A model has as many of these as there are different doubts about it; `pairs` is among the methods.
    """

    name: str
    name_in_paper: str
    methods: tuple[str, ...]
    doubt: str


def read_published(folder: str | Path, paper: str) -> pl.DataFrame:
    """Return the effect sizes that a paper prints.

    Args:
        folder: `resources/published`, or a folder laid out like it.
        paper: sadhu2024 or sahoo2024.

    Returns:
        A row for each printed effect size, in the order of the paper's tables; columns `PUBLISHED_SCHEMA`.

    Raises:
        InputError: the paper or a file is unknown, a column is missing, or a cell holds what it may not; the message
            names file and line.
    """
    path = Path(folder, f"{require_paper(paper)}.csv")
    doubts = _read_doubts(Path(folder, "doubts.csv"))
    models = [model.name for model in read_models(folder, paper)]
    rows = [_effect(path, line, row, doubts, models) for line, row in _read_csv(path, _COLUMNS)]
    if wrong := next((f'"{row["paper"]}"' for row in rows if row["paper"] != paper), None):
        raise InputError(f'{path}: column paper has {wrong}; this file may have "{paper}" only.')
    table = pl.DataFrame(rows, schema=dict(PUBLISHED_SCHEMA), orient="row")
    twice = table.filter(table.select(_KEY).is_duplicated())
    if not twice.is_empty():
        cell = ", ".join(str(value) for value in twice.select(_KEY).row(0) if value is not None)
        raise InputError(f"{path}: two rows for the same cell of the paper ({cell}). Leave one of them.")
    return table


def read_percentages(folder: str | Path, paper: str) -> pl.DataFrame:
    """Return the bias percentages that a paper prints, bias types in lower case; no rows of a paper that has none.

    Raises:
        InputError: the paper is unknown, a column is missing, or a cell holds what it may not; the message names the
            file.
    """
    files = percentage_files(folder, paper)
    rows = _read_csv(files[0], PERCENTAGES_SCHEMA) if files else []
    for line, row in rows:
        if row["language"] not in LANGUAGES:
            allowed = ", ".join(LANGUAGES)
            raise InputError(f"{files[0]}, line {line}: language is {row['language']!r}; allowed: {allowed}.")
        for name in ("percentage", *(["spread"] if row["spread"] else [])):
            if not 0 <= _float(row[name]) <= 100:
                raise InputError(f"{files[0]}, line {line}: {name} is {row[name]!r}; write a number from 0 to 100.")
    cells = [{name: row[name] or None for name in PERCENTAGES_SCHEMA} for _, row in rows]
    table = pl.DataFrame(cells, schema=dict.fromkeys(PERCENTAGES_SCHEMA, pl.String))
    return table.cast(pl.Schema(PERCENTAGES_SCHEMA)).with_columns(pl.col("bias_type").str.to_lowercase())


def read_models(folder: str | Path, paper: str) -> list[PublishedModel]:
    """Return the models of a paper, in its order; a model once for each set of methods that it is described in.

    Raises:
        InputError: the paper is unknown, or the file is not as it should be.
    """
    require_paper(paper)
    columns = ("paper", "model", "name_in_paper", "methods", "doubt")
    return [
        PublishedModel(row["model"], row["name_in_paper"], tuple(row["methods"].split()), row["doubt"])
        for _, row in _read_csv(Path(folder, "models.csv"), columns)
        if row["paper"] == paper
    ]


def printed_at(table: str) -> str:
    """Return where a number is printed as a reader writes it: `Table 5`, `Figure 1`."""
    return f"Table {table}" if table.isdigit() else table


def require_paper(paper: str) -> str:
    """Return the paper's name, if there are numbers of it.

    Raises:
        InputError: there are none.
    """
    if paper not in PAPERS:
        raise InputError(
            f"`comparison.paper` is {paper!r}; there are numbers of {', '.join(PAPERS)}. Write one of these, or none."
        )
    return paper


def match_models(models: Mapping[str, str], studied: Iterable[str], published: Iterable[str]) -> dict[str, str]:
    """Return which model of a study stands for which of a paper.

    Args:
        models: `comparison.models`, {name in the study: name in the paper}.
        studied: names of the study's models and static vectors.
        published: names of the paper's models.

    Returns:
        The paper's name of each studied model that has one: as `models` says, else its own name if the paper has it.

    Raises:
        InputError: `models` names a model that the study or the paper does not have.
    """
    studied, published = list(studied), list(published)
    for ours, theirs in models.items():
        if ours not in studied:
            raise InputError(
                f"`comparison.models` has {ours!r}, which is no model and no static vectors of this study. It has"
                f" {', '.join(studied) or 'none'}. Write one of these names before the colon."
            )
        if theirs not in published:
            raise InputError(
                f"`comparison.models.{ours}` is {theirs!r}, which the paper does not have. Allowed:"
                f" {', '.join(published)}. Write e.g. `{ours}: {published[0] if published else '...'}`."
            )
    own = {name: name for name in studied if name in published}
    return {name: {**own, **models}[name] for name in studied if name in own or name in models}


def why_nothing_to_compare(
    folder: str | Path,
    paper: str,
    *,
    language: str,
    models: Mapping[str, str],
    studied: Iterable[str],
    pairs: bool = False,
) -> str:
    """Return why a study will have nothing beside a paper's numbers, as far as its config tells; empty if it may.

    Args:
        folder: `resources/published`, or a folder laid out like it.
        paper: sadhu2024 or sahoo2024.
        language: of the study (bn, hi, en).
        models: `comparison.models`.
        studied: names of the study's models and static vectors.
        pairs: whether the study has sentence pairs, whose languages are their own.

    Raises:
        InputError: as `read_published` and `match_models`.
    """
    published = read_published(folder, paper)
    theirs = list(dict.fromkeys(model.name for model in read_models(folder, paper)))
    matched = match_models(models, studied, theirs)
    languages = sorted(published["language"].unique())
    start = f"`comparison.paper` is {paper}, but nothing will be compared:"
    if language not in languages and not pairs:
        others = [other for other in PAPERS if language in read_published(folder, other)["language"]]
        instead = " or ".join(f"`comparison: {{paper: {other}}}`" for other in (*others, "none"))
        return f"{start} its numbers are for {', '.join(languages)}, and `language` is {language}. Write {instead}."
    if not matched:
        return (
            f"{start} no model of the study has the name of one of the paper's, and none is matched with one. Write"
            f" `comparison: {{models: {{name in the study: name in the paper}}}}`; the paper's are {', '.join(theirs)}."
        )
    return ""


def published_files(folder: str | Path, paper: str) -> list[Path]:
    """Return the files that `read_published` and `read_models` read."""
    return [Path(folder, name) for name in (f"{require_paper(paper)}.csv", "doubts.csv", "models.csv")]


def percentage_files(folder: str | Path, paper: str) -> list[Path]:
    """Return the file of bias percentages (`read_percentages`); none of a paper that prints none."""
    path = Path(folder, f"{require_paper(paper)}_bias_percentages.csv")
    return [path] if path.exists() else []


def _effect(
    path: Path, line: int, row: Mapping[str, str], doubts: Mapping[str, tuple[set[str], str]], models: list[str]
) -> dict[str, object]:
    codes = row["doubts"].split()
    allowed: dict[str, Iterable[str]] = {
        "method": PUBLISHED_AS,
        "language": LANGUAGES,
        "model": models,
        "sample_mode": _MODES,
        "bound": ("", "<"),
        "significant": ("", "true", "false"),
    }
    for name, values in allowed.items():
        if row[name] not in values:
            named = ", ".join(value or "an empty cell" for value in values)
            raise InputError(f"{path}, line {line}: {name} is {row[name]!r}; allowed: {named}.")
    for code in codes:
        if code not in doubts:
            raise InputError(
                f"{path}, line {line}: doubts has the code {code!r}, which doubts.csv does not have; it has"
                f" {', '.join(doubts)}."
            )
    number = {name: _number(path, line, name, row[name]) for name in ("effect_size", "alpha", "n_samples")}
    if number["effect_size"] is None:
        raise InputError(f"{path}, line {line}: effect_size is empty. Write the printed number, or leave the row out.")
    why = {
        kind: "; ".join(doubts[code][1] for code in codes if kind in doubts[code][0]) or None
        for kind in ("number", "mark")
    }
    return {
        **{name: row[name] or None for name in _COLUMNS},
        **number,
        "n_samples": None if number["n_samples"] is None else int(number["n_samples"]),
        "significant": {"true": True, "false": False}.get(row["significant"]),
        "doubt": why["number"],
        "mark_doubt": why["mark"],
    }


def _number(path: Path, line: int, name: str, text: str) -> float | None:
    if not text:
        return None
    number = _float(text)
    if not math.isfinite(number):
        raise InputError(f"{path}, line {line}: {name} is {text!r}; it must be a number, such as -0.226.")
    return number


def _read_doubts(path: Path) -> dict[str, tuple[set[str], str]]:
    doubts = {}
    for line, row in _read_csv(path, ("code", "concerns", "reason")):
        concerns = set(row["concerns"].split())
        if not concerns or concerns - {"number", "mark"}:
            raise InputError(f"{path}, line {line}: concerns is {row['concerns']!r}; allowed: number, mark, or both.")
        doubts[row["code"]] = (concerns, row["reason"])
    return doubts


def _read_csv(path: Path, columns: Iterable[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV file, each with the number of its last line."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(
                    f"{path} has no column {', '.join(missing)}; it has {', '.join(reader.fieldnames or ()) or 'none'}."
                )
            rows = [(reader.line_num, row) for row in reader]
    except FileNotFoundError:
        raise InputError(
            f"{path} is not there. The published numbers come with the project; put the file back."
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}). Save it as UTF-8.") from None
    for line, row in rows:
        if None in row or None in row.values():
            raise InputError(f"{path}, line {line}: not as many cells as the first line has columns. Check the commas.")
    return rows


def _float(text: str) -> float:
    """Return a number; NaN for what is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
