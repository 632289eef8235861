"""A dossier of a paper: each number that it prints, ours, the interval, and why they differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import PackageLoader

from prasanga.base.io import escape_markdown, write_text
from prasanga.config import read_config
from prasanga.extras.claims import judge_claims
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
"""Columns of `dossier.csv`. `model` is ours; `reasons` has names of `_find_reasons`, with
semicolons between; the template has them in words, in its order."""

_CELL = ("table", "method", "category", "language", "published_model", "sample_mode", "segment_length")
_OURS = (
    *("model", "measured", "difference", "ci_low", "ci_high", "published_inside", "note"),
    *("p_draws", "p_sentences", "difference_q1", "difference_median", "difference_q3"),
)
_NO_SETTINGS = ("models.", "corpus", "lexicon", "study", "title")
_FEW = ("few words", "no number", "no interval", "not computed", "below", "too few", "dropped")


def write_dossier(folder: Path, paper: str, installation: Path, items: Sequence[Needed]) -> Path:
    """Write `dossier.csv`, `claims.csv` and `dossier.md` from what the study of a paper has come to; return the last.

    Args:
        folder: of the study; what it has not measured has no number of ours.
        paper: its name.
        installation: where the config of the paper and the published numbers are.
        items: what the study needs, as `prepare` returns it.
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
    """Return a dossier for readers: what was there, a count for each table, what the reasons mean, and every number."""
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
    """Yield what keeps our number from the paper's: more than one may hold, and none says how much it explains."""
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
    """Yield the keys that are changed in a config of the paper; a completed commit is not a change."""
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
