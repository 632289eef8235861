"""What the papers print, read from `resources/published` (its README has sources, conventions and doubts).

One tidy layout for both papers: a row for each printed effect size, with the reason of every doubt in words. A doubt
concerns the number (`doubt`) or the mark of significance (`mark_doubt`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from prasanga.base.errors import InputError, reason
from prasanga.methods import FAMILY

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

PUBLISHED_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("paper", "table", "method", "category", "language", "model"), pl.String),
        **dict.fromkeys(("sample_mode", "segment_length"), pl.String),
        "n_samples": pl.Int64,
        "effect_size": pl.Float64,
        "bound": pl.String,
        "significant": pl.Boolean,
        "alpha": pl.Float64,
        **dict.fromkeys(("doubts", "doubt", "mark_doubt"), pl.String),
    }
)
"""Columns of `read_published`; the files have all but the last two."""
_PERCENTAGES = pl.Schema(
    {
        **dict.fromkeys(("paper", "table", "language", "model", "bias_type"), pl.String),
        **dict.fromkeys(("percentage", "spread"), pl.Float64),
    }
)


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
        A row for each printed effect size, in the order of the paper's tables. `doubts` has the codes, `doubt` (about
        the number) and `mark_doubt` (about its mark) the reasons in words; empty cells are null.

    Raises:
        InputError: the paper is unknown, or a file is absent or not as it should be.
    """
    table = _read_csv(Path(folder, f"{require_paper(paper)}.csv"), dict(list(PUBLISHED_SCHEMA.items())[:-2]))
    doubts = _read_csv(Path(folder, "doubts.csv"), dict.fromkeys(("code", "concerns", "reason"), pl.String))

    def reasons(concern: str) -> pl.Expr:
        found = doubts.filter(pl.col("concerns").str.split(" ").list.contains(concern))
        known = dict(found.select("code", "reason").iter_rows())
        listed = pl.col("doubts").str.split(" ").list.eval(pl.element().replace_strict(known, default=None))
        return listed.list.drop_nulls().list.join("; ").replace("", None)

    return table.with_columns(doubt=reasons("number"), mark_doubt=reasons("mark"))


def read_percentages(folder: str | Path, paper: str) -> pl.DataFrame:
    """Return the bias percentages that a paper prints, bias types in lower case; no rows of a paper that has none.

    Raises:
        InputError: the paper is unknown, or the file is not as it should be.
    """
    files = percentage_files(folder, paper)
    table = _read_csv(files[0], _PERCENTAGES) if files else pl.DataFrame(schema=_PERCENTAGES)
    return table.with_columns(pl.col("bias_type").str.to_lowercase())


def read_models(folder: str | Path, paper: str) -> list[PublishedModel]:
    """Return the models of a paper, in its order; a model once for each set of methods that it is described in.

    Raises:
        InputError: the paper is unknown, or the file is not as it should be.
    """
    columns = ("paper", "model", "name_in_paper", "methods", "doubt")
    table = _read_csv(Path(folder, "models.csv"), dict.fromkeys(columns, pl.String)).filter(paper=require_paper(paper))
    return [
        PublishedModel(model, name, tuple((methods or "").split()), doubt or "")
        for _, model, name, methods, doubt in table.select(columns).iter_rows()
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


def _read_csv(path: Path, schema: Mapping[str, Any]) -> pl.DataFrame:
    try:
        return pl.read_csv(path, schema_overrides=schema).select(*schema)
    except FileNotFoundError:
        raise InputError(
            f"{path} is not there. The published numbers come with the project; put the file back."
        ) from None
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{path}: {reason(error)}. Put the project's file back.") from None
