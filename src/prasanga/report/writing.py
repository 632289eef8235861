"""Write what a report consists of: tables in the papers' layouts, copies of data, cards, the summary and the page."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.base.io import digests_of_files, guarded, made_from, read_frame, replacing, require_every_page, write_text
from prasanga.report.agreement import agreement, side_by_side
from prasanga.report.cards import data_card, methods_card
from prasanga.report.comparison import PAIRS, compare, compare_pairs, render_comparison
from prasanga.report.page import render_page
from prasanga.report.paper_tables import render_ceat, render_layout, with_fewer_draws
from prasanga.report.published import read_models, read_percentages, read_published
from prasanga.report.study import Results
from prasanga.report.summary import study_summary, to_json

Paths = Sequence[str]


def write_ceat_table(source: str, paths: Paths) -> None:
    """Write the estimates of CEAT in the paper's layout, as CSV, Markdown and LaTeX."""
    for path, text in zip(paths, render_ceat(read_frame(source)), strict=True):
        write_text(path, text)


def write_layouts(sources: Mapping[str, str], asked: Mapping[str, Any], paths: Paths) -> None:
    """Write tables in the papers' layouts.

    Args:
        sources: tables of estimates by method; `pairs` are bias percentages, `first_draws` effects as draws are added.
        asked: `preset`, and `language` and `n_samples` where they matter.
        paths: the files, named after the layout; their endings say the format.
    """
    tables, asked = _read_tables(sources, asked)
    names = dict.fromkeys(Path(path).stem for path in paths)
    layouts = {name: render_layout(name, tables, **asked) for name in names}
    for path in map(Path, paths):
        write_text(path, getattr(layouts[path.stem], path.suffix.removeprefix(".")))


def write_agreement(sources: Mapping[str, str], paths: Paths) -> None:
    """Write the estimates of all methods side by side, and how far every two methods agree."""
    estimates = side_by_side({method: read_frame(path) for method, path in sources.items()})
    for path, table in zip(paths, (estimates, agreement(estimates)), strict=True):
        write_text(path, guarded(table).write_csv(line_terminator="\n"))


def write_comparison(sources: Mapping[str, str], asked: Mapping[str, Any], paths: Paths) -> None:
    """Write the study's estimates beside a paper's numbers, as CSV and Markdown.

    Args:
        sources: tables of estimates by method, as for `write_layouts`; a list of tables for one method is one table.
        asked: which paper, models and language, and the folder of published numbers.
        paths: of CSV and Markdown.
    """
    tables, _ = _read_tables(sources, asked)
    folder, paper, models = asked["folder"], asked["paper"], asked["models"]
    bias, about = tables.pop(PAIRS, None), read_models(folder, paper)
    published = read_published(folder, paper)
    compared = compare(tables, published, models=models, language=asked["language"], about=about)
    found = [compared] if tables or bias is None else []
    if bias is not None:
        percentages = read_percentages(folder, paper)
        found += [compare_pairs(bias, percentages, models=models, preset=asked["preset"], about=about)]
    for path, text in zip(paths, render_comparison(paper, found), strict=True):
        write_text(path, text)


def copy_data(copies: Mapping[str, str]) -> None:
    """Copy tables of earlier stages beside the page, and remove what an earlier run left there.

    Args:
        copies: the source of each copy, by its path.
    """
    for path, source in copies.items():
        if Path(source).suffix == ".parquet":
            require_every_page(source)  # damage must not get a copy
        with replacing(path) as temporary:
            shutil.copyfile(source, temporary)
    for folder in {Path(path).parent for path in copies}:
        for old in filter(Path.is_file, set(folder.iterdir()) - set(map(Path, copies))):
            old.unlink()  # texts may have been hidden since


WRITERS: Mapping[str, Callable[..., None]] = {
    "ceat_table": write_ceat_table,
    "layouts": write_layouts,
    "pair_layouts": write_layouts,
    "agreement": write_agreement,
    "comparison": write_comparison,
    "data": copy_data,
}
"""The files beside the page, by what the rules call them."""


def write_products(products: Mapping[str, Sequence[Any]]) -> None:
    """Write the files that belong beside the page, each by its arguments."""
    for name, arguments in products.items():
        WRITERS[name](*arguments)


def write_study(
    config: Mapping[str, Any],
    results: Results,
    describe: Callable[[Sequence[str]], Mapping[str, str]],
    *,
    shown: Mapping[str, Paths],
    outputs: Mapping[str, str],
) -> None:
    """Write the summary, the cards and the page.

    Args:
        config: the study's config, complete.
        results: everything that the study has to show.
        describe: says what an output is made from, by the files that went in.
        shown: paths by what they are for: the tables of `numbers` for summary and cards, the `records` of which only
            the origin is read, and all files of the `page`.
        outputs: paths of `summary`, `methods`, `data` and `page`.
    """
    numbers = replace(results, audit=None, pair_scores=(), words={}, sentences=None, figures={}, comparison=None)
    tables = [*shown["numbers"], *(path for path in shown["records"] if path.endswith(".parquet"))]
    summary = study_summary(
        config=config, results=numbers, made_from=describe([]), records=[made_from(path) for path in tables]
    )
    files = [file for read in results.corpus for file in read.get("digest", {}).items()]
    inputs = digests_of_files(sorted(set(shown["numbers"]) - set(shown["records"])))
    write_text(outputs["summary"], to_json(summary))
    write_text(outputs["methods"], methods_card(config=config, summary=summary, inputs=inputs))
    card = data_card(config=config, summary=summary, results=numbers, corpus=files)
    write_text(outputs["data"], card)
    page = render_page(config=config, results=results, made_from=describe(shown["page"]))
    write_text(outputs["page"], page)


def _read_tables(
    sources: Mapping[str, str | Paths], asked: Mapping[str, Any]
) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """Return the tables by method, those of CEAT with fewer draws where the study asks for several numbers."""
    asked, paths = dict(asked), {name: [path] if isinstance(path, str) else path for name, path in sources.items()}
    tables = {name: pl.concat(map(read_frame, each)) for name, each in paths.items()}
    first, n_samples = tables.pop("first_draws", None), asked.pop("n_samples", 0)
    if "ceat" in tables and first is not None:
        tables["ceat"] = with_fewer_draws(tables["ceat"], first, n_samples)
    return tables, asked
