"""A study of several languages: the tables of all of them in one, and a page over their pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from prasanga import __version__
from prasanga.base.io import read_frame, write_text
from prasanga.methods import FAMILY
from prasanga.report import section, summary
from prasanga.report.grid import METHODS, name_of_language, select_primary
from prasanga.report.section import Section, View, fill_section
from prasanga.report.sheet import FEW_ROWS, html, show_table


def join_languages(paths: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows of one table of several languages, with the column `language` first.

    Args:
        paths: the table of each language, Parquet or CSV. Columns of CSV stay text, and have `language` already.
    """
    read = {
        language: pl.read_csv(path, infer_schema=False) if Path(path).suffix == ".csv" else read_frame(path)
        for language, path in paths.items()
    }
    frames = [
        table if "language" in table.columns else table.select(pl.lit(language).alias("language"), pl.all())
        for language, table in read.items()
    ]
    return pl.concat(frames, how="diagonal_relaxed")


def write_front_page(
    config: Mapping[str, Any],
    languages: Sequence[str],
    tables: Mapping[str, str],
    files: Sequence[str],
    output: Mapping[str, str],
) -> None:
    """Write the page over the pages of the languages, and the summary that names theirs.

    Args:
        config: the study's config, complete.
        languages: those of the study; each has a folder of its name in that of the results.
        tables: the tables over all languages, by the name of the method.
        files: what goes with the page, from the folder of the study's results.
        output: paths of `summary` and `page`.
    """
    results = Path(output["summary"]).parent
    summaries = {language: f"{language}/summary.json" for language in languages}
    read = {language: json.loads((results / path).read_text("utf-8")) for language, path in summaries.items()}
    estimates = {name: select_primary(read_frame(path)) for name, path in tables.items()}
    about = {key: str(config.get(key) or "") for key in ("study", "title", "note")}
    pointer: dict[str, Any] = {
        **{"schema": summary.SCHEMA, "program": {"name": "prasanga", "version": __version__}, **about},
        **{"languages": summaries, "page": summary.PAGE, "files": sorted(files)},
    }
    write_text(output["summary"], summary.to_json(pointer))
    found = [_show_language(language, of, estimates) for language, of in read.items()]
    has_copies = bool(config["associations"]["random_twins"])
    opening = fill_section("languages", {"note": about["note"], "n": len(read), "has_copies": has_copies})
    listed = [html('<a href="../{}">{}</a>', path, path) for path in pointer["files"] if not path.endswith(".parquet")]
    paper = [Section("Tables over all languages", "tables", items=listed)] if listed else []
    views = [
        View("overview", "Overview", "Overview", [opening, *found]),
        View("paper", "Paper", "Paper", paper),
    ]
    language = section.language_of(config)
    write_text(output["page"], section.page_to_html(config["title"], views, language=language, scripts=languages))


def _show_language(language: str, found: Mapping[str, Any], estimates: Mapping[str, pl.DataFrame]) -> Section:
    """Return what came out in a language: the findings of its page, its primary estimates, and a link to the page."""
    rows = [
        {**row, "method": METHODS[name]}
        for name in (method.name for method in FAMILY if method.name in estimates)
        for row in estimates[name].filter(language=language).iter_rows(named=True)
    ]
    name = name_of_language(language)
    sheet = show_table("languages", rows, language=name)
    return Section(
        name,
        f"in-{language}",
        findings=[each["text"] for each in found["findings"]],
        sheets=[replace(sheet, look="explorable" * (len(rows) > FEW_ROWS))] if rows else [],
        files=[(f"../{language}/{summary.PAGE}", "words, sentences, figures, tables")],
        files_text=f"The page of {name}:",
    )
