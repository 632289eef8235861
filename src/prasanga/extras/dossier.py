"""A dossier of a paper: each printed number, ours, the interval, reasons for differences, and which claims hold.

Sentences of the papers about their numbers are judged by one rule each, with printed and with measured numbers. The
sentences and their rules are data, `resources/published/claims.yaml`; its head explains the rules. A claim compares two
sides, pair by pair, and says how many pairs must agree with the sentence. A pair is decided if the interval of its
difference is on one side of the rule's limit (from two intervals by MOVER: Zou and Donner 2008). A pair without a
number, or with an interval that covers the limit, is open.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import PackageLoader

from prasanga.base.io import escape_markdown, write_text
from prasanga.base.yaml import load_yaml
from prasanga.config import read_config
from prasanga.extras.papers import FAILED, Needed, read_changes
from prasanga.methods import PAIRS
from prasanga.report import comparison
from prasanga.report.grid import write_interval
from prasanga.report.sheet import TEMPLATES, markdown_table, with_sign
from prasanga.schema import TABLES

VERDICTS = ("agrees", "differs", "no interval", "not measured")
"""Whether a published number is in our interval; `templates/dossier.md.j2` says it in words."""

DOSSIER_SCHEMA = {
    name: TABLES["comparison"].polars.get(name, pl.String())
    for name in (
        *("paper", "table", "method", "category", "language", "published_model", "sample_mode", "segment_length"),
        *("published", "bound", "model", "measured", "difference", "ci_low", "ci_high"),
        *("verdict", "reasons", "doubt", "note"),
    )
}
"""Columns of `dossier.csv`. `model` is ours; `reasons` has names of `_find_reasons`, with "; " between them; the
template explains them."""

_CELL = ("table", "method", "category", "language", "published_model", "sample_mode", "segment_length")
_OURS = (
    *("model", "measured", "difference", "ci_low", "ci_high", "published_inside", "note"),
    *("p_draws", "p_sentences", "difference_q1", "difference_median", "difference_q3"),
)
_NO_SETTINGS = ("models.", "corpus", "lexicon", "study", "title")
_FEW = ("few words", "no number", "no interval", "not computed", "below", "too few", "dropped")

HOLDS, HOLDS_NOT, OPEN = "holds", "does not hold", "cannot be told"
CLAIMS_SCHEMA = dict.fromkeys(("id", "place", "says", "by_the_paper", "printed", "by_ours", "measured"), pl.String())
"""Columns of `claims.csv`: the verdict by the paper's own numbers and by the study's, each with these numbers."""

_JUDGED = ("method", "table", "category", "language", "model", "sample_mode", "segment_length")
_KEYS = (*_JUDGED, "polarity", "quantity", "structure", "trait")
_NUMBERS = ("x", "x_low", "x_high")
_UNREADABLE = "marks-lost"  # a missing mark in these cells has no meaning
_SHOWN = 6

Tables = Mapping[str, pl.DataFrame]


def write_dossier(folder: Path, paper: str, installation: Path, items: Sequence[Needed]) -> Path:
    """Write `dossier.csv`, `claims.csv` and `dossier.md` from the results of a paper's study; return the last path.

    Args:
        folder: of the study.
        paper: its name.
        installation: the folder of configs and published numbers.
        items: the needs of the study, from `prepare`.
    """
    path, theirs = folder / "results/report/comparison.csv", read_config(installation / f"config/{paper}.yaml")
    rows = comparison.comparison_rows(pl.read_csv(path, infer_schema_length=None)) if path.is_file() else None
    study, changed = read_config(folder / "study.yaml"), list(_list_changes(read_changes(folder), theirs))
    is_whole = rows is not None and not any(item.stops or item.state == FAILED for item in items)
    cells = _compare(installation / "resources/published", paper, rows)
    reasons = ["; ".join(_find_reasons(cell, study, changed, is_whole)) for cell in cells.iter_rows(named=True)]
    doubt = pl.concat_str("doubt", "model_doubt", separator="; ", ignore_nulls=True)
    cells = cells.with_columns(pl.Series("reasons", reasons).replace("", None), doubt=doubt.replace("", None))
    claims = judge_claims(installation / "resources/published", paper, cells, folder)
    cells = cells.select(*DOSSIER_SCHEMA)
    write_text(folder / "dossier.csv", cells.write_csv(line_terminator="\n"))
    write_text(folder / "claims.csv", claims.write_csv(line_terminator="\n"))
    write_text(folder / "dossier.md", _to_markdown(paper, cells, items, changed, claims))
    return folder / "dossier.md"


def _compare(published: Path, paper: str, rows: pl.DataFrame | None) -> pl.DataFrame:
    """Return a row per printed number, with ours and a verdict."""
    printed = pl.concat(
        [
            comparison.read_published(published, paper).with_columns(published="effect_size"),
            comparison.read_percentages(published, paper).with_columns(published="percentage", category="bias_type"),
        ],
        how="diagonal",
    ).rename({"model": "published_model"})
    ours = pl.DataFrame(schema=TABLES["comparison"].polars) if rows is None else rows
    measured = ours.unique(_CELL, keep="first", maintain_order=True).select(*_CELL, *_OURS)
    cells = printed.with_columns(comparison.mode_of_printed()).join(
        measured, on=_CELL, how="left", nulls_equal=True, maintain_order="left"
    )
    inside = {True: "agrees", False: "differs"}
    verdict = pl.col("published_inside").replace_strict(inside, default="no interval", return_dtype=pl.String)
    return cells.with_columns(
        verdict=pl.when(pl.col("measured").is_null()).then(pl.lit("not measured")).otherwise(verdict)
    )


def _to_markdown(
    paper: str, cells: pl.DataFrame, items: Sequence[Needed], changed: Sequence[str], claims: pl.DataFrame
) -> str:
    """Return a dossier in Markdown: the study's needs, a count per table, the reasons in words, and every number."""
    groups = [
        (comparison.printed_at(table), method, part)
        for (table, method), part in cells.group_by("table", "method", maintain_order=True)
    ]
    return render_template(
        "dossier.md.j2",
        paper=comparison.PAPERS[paper],
        table=markdown_table,
        items=[(item.name, item.needed_for, item.state) for item in items],
        changed=changed,
        counts=[
            [place, method, str(len(part)), *(str(len(part.filter(verdict=name))) for name in VERDICTS)]
            for place, method, part in groups
        ],
        claims=claims.select("place", "says", "by_the_paper", "by_ours", "measured").rows(),
        reasons=Counter("; ".join(cells["reasons"].drop_nulls()).split("; ")),
        parts=[(f"{place}: {method}", list(map(_line, part.iter_rows(named=True)))) for place, method, part in groups],
        doubts=cells["doubt"].drop_nulls().unique(maintain_order=True).to_list(),
    )


def _find_reasons(
    cell: Mapping[str, Any], study: Mapping[str, Any], changed: Sequence[str], is_whole: bool
) -> Iterator[str]:
    """Yield the reasons why our number may differ from the paper's, without their weights."""
    method, model = cell["method"], cell["model"]
    if cell["verdict"] == "agrees":
        return
    if comparison.REPEATED in (cell["doubts"] or "").split():
        yield "repeated"
    elif model is None:
        yield "not asked for" if is_whole else "not finished"
    else:
        stimuli = str(study.get("lexicon", {}).get("stimuli", "resources/stimuli"))
        vectors = study.get("static", {}).get("vectors", {}).get(model, {})
        holds = {
            "number in doubt": cell["doubt"],
            "model in doubt": cell["model_doubt"],
            "stand-in": {f"models.{model}.path", f"models.{model}"} & set(changed),
            "own texts": method in ("ceat", "weat") and any(key.startswith("corpus") for key in changed),
            "own words": method != PAIRS.name and "resources/stimuli" in stimuli,
            "own vectors": method == "weat" and "train" in vectors,
            "sample of pairs": method == PAIRS.name,
            "own settings": any(not key.startswith(_NO_SETTINGS) for key in changed),
            "few words": cell["measured"] is None or any(word in (cell["note"] or "") for word in _FEW),
        }
        yield from [name for name, is_so in holds.items() if is_so] or ["unexplained"]


def _list_changes(changes: Mapping[str, Any], theirs: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Yield the changed keys of a paper's config; a completed commit is not a change."""
    for key, value in changes.items():
        old = theirs.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            yield from _list_changes(value, old, f"{place}{key}.")
        elif key != "weights_sha256" and not (key == "revision" and str(value or "").startswith(str(old or ""))):
            yield f"{place}{key}"


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    def write(value: float | None) -> str:
        return with_sign(value) if row["method"] != PAIRS.name or value is None else f"{value:.2f}"

    draws = ", ".join(filter(None, (row["sample_mode"], row["segment_length"])))
    printed = f"{row['bound']}{row['published']:g}" if row["bound"] else write(row["published"])
    ours = write(row["measured"]), write_interval(row["ci_low"], row["ci_high"], write)
    where = (row["category"], row["language"], row["published_model"], draws)
    return (*where, printed, *ours, row["verdict"], row["reasons"] or "")


# --------------------
# Claims: their tables, and the verdicts.


def judge_claims(published: Path, paper: str, cells: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """Return a row per claim of a paper (`CLAIMS_SCHEMA`).

    Args:
        published: `resources/published`.
        paper: sadhu2024 or sahoo2024.
        cells: a row per printed number, with the columns of the tables `read_published` and `comparison`.
        folder: of the study, for numbers that the paper only plots.
    """
    path = published / "claims.yaml"
    printed, ours = _read_printed(cells, published / f"{paper}_structures.csv"), _read_ours(cells, folder)
    rows = [
        [claim["id"], claim["place"], claim["says"], *_judge(claim, printed), *_judge(claim, ours)]
        for claim in load_yaml(path, path.read_text(encoding="utf-8"))[paper]
    ]
    return pl.DataFrame(rows, schema=CLAIMS_SCHEMA, orient="row")


def _read_printed(cells: pl.DataFrame, structures: Path) -> Tables:
    value = pl.when(pl.col("bound").is_null()).then("published").otherwise(0.0)  # `<0.001`: too small to matter
    is_read = pl.col("significant") | ~pl.col("doubts").fill_null("").str.contains(_UNREADABLE)
    tables = {"cells": _take(cells, value=value, insignificant=pl.when(is_read).then(~pl.col("significant")))}
    if structures.is_file():
        tables["structures"] = pl.read_csv(structures).filter(pairs=4).with_columns(_log(pl.col("variance")))
    return tables


def _read_ours(cells: pl.DataFrame, folder: Path) -> Tables:
    numbers = {"value": "measured", "value_low": "ci_low", "value_high": "ci_high", "median": "difference_median"}
    insignificant = pl.coalesce("p_draws", "p_sentences") >= pl.col("alpha")
    quartiles = pl.col("difference_q3") - pl.col("difference_q1")
    tables = {"cells": _take(cells, **numbers, insignificant=insignificant, quartiles=quartiles)}
    models = dict(cells.select("model", "published_model").drop_nulls().unique().iter_rows())
    is_positive = (pl.col("corrected") > 0).alias("is_positive")
    for name, number in {"structures": _log(pl.col("probability_variance")), "traits": is_positive}.items():
        if (path := folder / f"results/likelihoods/{name}.parquet").is_file():
            tables[name] = pl.read_parquet(path).with_columns(pl.col("model").replace(models), number)
    return tables


def _log(variance: pl.Expr) -> pl.Expr:
    """Return the logarithm of the deviation to base 2, whose differences do not depend on the unit."""
    return (variance.log(2) / 2).alias("doublings")


def _take(cells: pl.DataFrame, **numbers: Any) -> pl.DataFrame:
    """Return cells with these numbers only; models have the names of the paper."""
    return cells.with_columns(model="published_model").select(*_JUDGED, **numbers)


def _judge(claim: Mapping[str, Any], tables: Tables) -> tuple[str, str]:
    """Return the verdict on a claim, and its numbers."""
    table, value = tables.get(claim.get("table", "cells")), claim.get("value", "value")
    if table is None or value not in table.columns:
        return OPEN, "no such numbers"
    has_interval = claim.get("interval", True) and f"{value}_low" in table.columns
    names = [value, f"{value}_low", f"{value}_high"] if has_interval else [value] * 3
    numbers = {x: pl.col(name).cast(pl.Float64).fill_nan(None) for x, name in zip(_NUMBERS, names, strict=True)}
    pairs = _pair(claim, _keep(table, claim.get("where", {})).with_columns(**numbers))
    sign, limit = -1 if claim["is"] == "below" else 1, claim.get("by", 0)
    low, high = (sign * pl.col(end) for end in ("low", "high")[::sign])
    so, not_so = low > limit, high <= limit
    if claim["is"] == "within":
        so, not_so = (low >= -limit) & (high <= limit), (low > limit) | (high < -limit)
    pairs = pairs.with_columns(so=so.fill_null(False), not_so=not_so.fill_null(False))
    n, n_so, n_not = max(len(pairs), claim.get("of", 1)), int(pairs["so"].sum()), int(pairs["not_so"].sum())
    needed = {"all": n, "almost all": math.ceil(0.8 * n), "most": n // 2 + 1, "some": 1}[claim.get("for", "all")]
    verdict = HOLDS if n_so >= needed else HOLDS_NOT if n - n_not < needed else OPEN
    said = f"{n_so} of {n} {claim['is']}, {n_not} not, {n - n_so - n_not} open, {needed} needed"
    return verdict, "; ".join([said, *_show(pairs, told=pl.col("so") == (claim.get("for") == "some"))])


def _pair(claim: Mapping[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that a claim compares: both values, and the interval of their difference."""
    if (origin := claim.get("from")) is not None:
        low, high = (pl.col(name) - origin for name in _NUMBERS[1:])
        nearest = pl.when(low * high <= 0).then(0.0).when(low > 0).then(low).otherwise(-high)
        rows = rows.with_columns((pl.col("x") - origin).abs(), x_low=nearest, x_high=pl.max_horizontal(high, -low))
    left, right, other = claim.get("left", {}), claim["right"], ("y", "y_low", "y_high")
    pairs = _summarize(_keep(rows, left), claim)
    if isinstance(right, Mapping):
        second = _summarize(_keep(rows, right, left), claim).rename(dict(zip(_NUMBERS, other, strict=True)))
        on = [key for key in _KEYS if key in pairs.columns and key not in {*left, *right}]
        pairs = pairs.join(second, on=on, nulls_equal=True) if on else pairs.join(second, how="cross")
    else:
        pairs = pairs.with_columns(pl.lit(float(right)).alias(name) for name in other)
    x, y = pl.col("x"), pl.col("y")
    below = ((x - pl.col("x_low")) ** 2 + (pl.col("y_high") - y) ** 2).sqrt()
    above = ((pl.col("x_high") - x) ** 2 + (y - pl.col("y_low")) ** 2).sqrt()
    return pairs.with_columns(low=(x - y - below).round(9).fill_nan(None), high=(x - y + above).round(9).fill_nan(None))


def _keep(rows: pl.DataFrame, side: Mapping[str, Any], left: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """Return the rows of a side; `others` are the rows that the left side does not name."""
    for key, values in side.items():
        named = pl.col(key).is_in(left[key] if left and values == "others" else values)
        rows = rows.filter(~named if values == "others" else named)
    return rows


def _summarize(rows: pl.DataFrame, claim: Mapping[str, Any]) -> pl.DataFrame:
    """Return the values of a side after the claim's steps; a summary over a missing number is missing."""
    rows = rows.select(*(key for key in _KEYS if key in rows.columns), *_NUMBERS)
    for how, by in claim.get("steps", {}).items():
        each = pl.col(*_NUMBERS)
        found = each.max() - each.min() if how == "range" else getattr(each, how)()
        rows = rows.group_by(by, maintain_order=True).agg(pl.when(each.null_count() == 0).then(found))
    return rows


def _show(pairs: pl.DataFrame, told: pl.Expr) -> list[str]:
    """Return the numbers of a few pairs; of many the means, and some of the pairs in `told`."""
    means = pairs.select(pl.format("means {} against {}", *(pl.col(name).mean().round_sig_figs(3) for name in "xy")))
    sides = []
    for name, end in (("x", ""), ("y", "_right")):
        keys = [key for key in _KEYS if f"{key}{end}" in pairs.columns]
        keys = [f"{key}{end}" for key in keys if f"{key}_right" in pairs.columns or pairs[key].n_unique() > 1]
        number = pl.col(name).round_sig_figs(3).cast(pl.String).fill_null("?")
        sides.append(pl.concat_str(*keys, number, separator=" ", ignore_nulls=True))
    is_many = len(pairs) > _SHOWN
    rows = pairs.drop_nulls(["x", "y"]).filter(told).head(_SHOWN) if is_many else pairs
    texts = rows.select(pl.format("{} against {}", *sides)).to_series().to_list()
    return [*means.to_series().drop_nulls(), *texts] if is_many else texts


# --------------------
# Templates of pages in Markdown.


def render_template(name: str, **context: Any) -> str:
    """Return a file of `templates`, filled in; `plain` and `code` escape text for Markdown."""
    loader = PackageLoader("prasanga.extras")
    environment = TEMPLATES.overlay(
        loader=loader, autoescape=False, finalize=None, lstrip_blocks=False, keep_trailing_newline=True
    )
    environment.filters = {**environment.filters, "plain": escape_markdown, "code": _to_code}
    return environment.get_template(name).render(context)


def _to_code(text: str) -> str:
    return f"`{text}`" if re.fullmatch(r"[\w./* -]+", text) else escape_markdown(text)
