"""What the papers print, read from `resources/published` (its README has sources, conventions and doubts).

One tidy layout for both papers: a row for each printed number, with the reason of every doubt in words. A doubt
concerns the number (`doubt`), the mark of significance (`mark_doubt`) or the model by this method (`model_doubt`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from prasanga.base.errors import InputError, reason
from prasanga.methods import FAMILY, PAIRS

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

_NUMBERS = {"n_samples": pl.Int64, "significant": pl.Boolean} | dict.fromkeys(
    ("effect_size", "alpha", "percentage", "spread"), pl.Float64
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
        folder: `resources/published`, or a folder laid out like it.
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

    Bias types are in lower case, the method is `pairs`, and `model_doubt` is that of `read_published`.

    Raises:
        InputError: the file is not as it should be.
    """
    path = Path(folder, f"{paper}_bias_percentages.csv")
    table = _read_csv(path, _PERCENTAGES) if path.exists() else pl.DataFrame(schema=_PERCENTAGES)
    rows = table.with_columns(pl.col("bias_type").str.to_lowercase(), method=pl.lit(PAIRS.name))
    return _doubt_models(rows, folder)


def _doubt_models(rows: pl.DataFrame, folder: str | Path) -> pl.DataFrame:
    """Add what is doubtful about a model of the paper as one that was measured by the row's method."""
    described = _read_csv(Path(folder, "models.csv"), _type_columns("paper model methods doubt")).drop_nulls("doubt")
    by_method = described.with_columns(method=pl.col("methods").str.split(" ")).explode("method")
    key = ["paper", "model", "method"]
    doubts = by_method.group_by(key, maintain_order=True).agg(model_doubt=pl.col("doubt").str.join("; "))
    return rows.join(doubts, on=key, how="left", maintain_order="left")


def printed_at(table: str) -> str:
    """Return where a number is printed as a reader writes it: `Table 5`, `Figure 1`."""
    return f"Table {table}" if table.isdigit() else table


def match_models(models: Mapping[str, str], studied: Iterable[str], published: Iterable[str]) -> dict[str, str]:
    """Return which of the paper's models each studied model stands for.

    Args:
        models: `comparison.models`, {name in the study: name in the paper}; any other model stands for its namesake.
        studied: names of the study's models and static vectors.
        published: names of the paper's models.
    """
    theirs = set(published)
    return {ours: models.get(ours, ours) for ours in studied if models.get(ours, ours) in theirs}


def why_nothing_to_compare(
    folder: str | Path,
    paper: str,
    *,
    language: str,
    models: Mapping[str, str],
    studied: Sequence[str],
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
        InputError: as `read_published`, or `models` names a model that the study or the paper does not have.
    """
    published, percentages = read_published(folder, paper), read_percentages(folder, paper)
    theirs = list(dict.fromkeys([*published["model"], *percentages["model"]]))
    for names, known, whose in ((models, studied, "the study"), (models.values(), theirs, "the paper")):
        if unknown := [name for name in names if name not in known]:
            raise InputError(
                f"`comparison.models` has {unknown[0]!r}, which is no model of {whose}. Allowed:"
                f" {', '.join(known) or 'none'}. Write `name in the study: name in the paper`."
            )
    matched = match_models(models, studied, theirs)
    if matched and (language in published["language"] or (pairs and len(percentages))):
        return ""
    both = describe_both([language], studied, published, matched)
    return (
        f"`comparison.paper` is {paper}, but nothing will be compared: {both} Or write `comparison: {{paper: none}}`."
    )


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
    """Return the files that `read_published` and `read_percentages` read."""
    names = (f"{paper}.csv", f"{paper}_bias_percentages.csv", "doubts.csv", "models.csv")
    return [path for path in (Path(folder, name) for name in names) if path.exists()]


def _read_csv(path: Path, schema: pl.Schema) -> pl.DataFrame:
    try:
        return pl.read_csv(path, schema_overrides=schema).select(*schema)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path}: {reason(error)}. Put the project's file back.") from None
