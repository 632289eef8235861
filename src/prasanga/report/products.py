"""The files next to the page: which there are, and the writers of tables in the papers' layouts and of copies of data.

The rules ask while they plan which files there are; one job writes them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from prasanga.associations.comparisons import agreement
from prasanga.base.io import digest_of, guarded, read_frame, replacing, require_every_page, write_text
from prasanga.base.results import fingerprints, module_file
from prasanga.methods import FAMILY, PAIRS, names_of
from prasanga.report import comparison, paper_tables
from prasanga.report.figures import Drawing, figure_files

Sources = Mapping[str, str | Sequence[str]]
"""Paths of tables by method (`pairs` are bias percentages, `first_draws` effects as draws are added)."""

Settings = Mapping[str, Any]


class Product(NamedTuple):
    """What a writer (`WRITERS`) is given: paths of tables by name, settings, and the files to write."""

    sources: Mapping[str, Any]
    settings: Settings
    files: list[str]


def plan_comparison(
    config: Mapping[str, Any], folder: str | Path, studied: Sequence[str], results: Mapping[str, str]
) -> tuple[dict[str, Any], str]:
    """Return what changes the comparison with a paper, and why there will be nothing to compare, if so.

    Args:
        config: of the study, complete.
        folder: of the published numbers. They come with the workflow, so their content counts.
        studied: names of the study's models and static vectors.
        results: tables of the study, by name.

    Raises:
        InputError: the config names a model that the study or the paper does not have.
    """
    asked, language = config["comparison"], config["language"]
    has_pairs = "bias_percentages" in results
    why_none = comparison.why_nothing_to_compare(folder, **asked, language=language, studied=studied, pairs=has_pairs)
    files = comparison.published_files(folder, asked["paper"])
    published = {path.name: digest_of(path.read_text(encoding="utf-8")) for path in files}
    common = {"language": language, "preset": config["preset"], "folder": str(folder), **_numbers_of_draws(config)}
    return {**asked, **common, "published": published}, why_none


def plan_products(
    config: Mapping[str, Any], results: Mapping[str, str], data: Mapping[str, str], compared_with: Mapping[str, Any]
) -> dict[str, Product]:
    """Return the files next to the page by their writer.

    Args:
        config: of the study, complete.
        results: tables by name.
        data: tables that are copied, by the names of their copies.
        compared_with: of `plan_comparison`; empty without one.
    """
    asked = reduce(
        lambda rest, method: method.without(rest), (each for each in FAMILY if each.name not in results), dict(config)
    )
    draws, has_pairs = _numbers_of_draws(config), "bias_percentages" in results
    tables = {method: results[method.removesuffix("_bias")] for method in paper_tables.methods_of(asked)}
    tables |= {"first_draws": results["convergence"]} if draws and "convergence" in results else {}
    tables |= {PAIRS.name: results["bias_percentages"]} if has_pairs else {}
    layouts = ["ceat"] if "ceat" in results else []
    layouts += [*paper_tables.layouts_of(asked), *([paper_tables.PAIR_TABLE] if has_pairs else [])]
    written = [f"tables/{name}.{ending}" for name in layouts for ending in paper_tables.ENDINGS]
    compared = {name: results[name] for name in names_of(FAMILY) if name in results}
    settings = {"preset": config["preset"], "language": config["language"], **draws}
    found = {
        "layouts": Product(tables, settings, written),
        "agreement": Product(compared, {}, ["tables/methods.csv", "tables/agreement.csv"] if len(compared) > 1 else []),
        "comparison": Product(tables, compared_with, ["comparison.csv", "comparison.md"] if compared_with else []),
        "data": Product(data, {}, [f"data/{name}" for name in data]),
    }
    return {
        name: each._replace(files=[f"results/report/{path}" for path in each.files])
        for name, each in found.items()
        if each.files
    }


def list_written(products: Mapping[str, Product]) -> list[str]:
    """Return the files that products write."""
    return [path for each in products.values() for path in each.files]


def list_read(products: Mapping[str, Product]) -> list[str]:
    """Return the files that products read."""
    return list(dict.fromkeys(path for each in products.values() for path in each.sources.values()))


def _numbers_of_draws(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of draws of CEAT, where the study asks for several."""
    sizes = paper_tables.sizes_of(config["associations"]["n_samples"])
    return {"n_samples": sizes} if len(sizes) > 1 else {}


def describe_drawings(drawings: Mapping[str, Drawing], report: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what the job that draws a figure is given, by its name, with the code of the function that draws.

    Args:
        drawings: the figures of a study.
        report: the section of the config.
    """
    modules = {name: module_file(drawing.figure.module) for name, drawing in drawings.items()}
    code = fingerprints(set(modules.values()))
    return {
        name: {
            **{"plot": drawing.figure.plot, "options": dict(drawing.options), "code": code[modules[name]]},
            **{"tables": list(drawing.tables.values()), "files": figure_files([name], report)},
        }
        for name, drawing in drawings.items()
    }


# --------------------
# Writers.


def write_layouts(sources: Sources, settings: Settings, paths: Sequence[str]) -> None:
    """Write tables in the papers' layouts; a file's name is its layout, and its ending the format."""
    tables = _read_tables(sources, settings)
    asked = {name: settings[name] for name in ("preset", "language")}
    layouts = {name: paper_tables.render_layout(name, tables, **asked) for name in {Path(path).stem for path in paths}}
    for path in map(Path, paths):
        write_text(path, getattr(layouts[path.stem], path.suffix.removeprefix(".")))


def write_agreement(sources: Mapping[str, str], _: Settings, paths: Sequence[str]) -> None:
    """Write the estimates of all methods side by side, and how far every two methods agree."""
    estimates = comparison.side_by_side({method: read_frame(path) for method, path in sources.items()})
    for path, table in zip(paths, (estimates, agreement(estimates)), strict=True):
        write_text(path, guarded(table).write_csv(line_terminator="\n"))


def write_comparison(sources: Sources, settings: Settings, paths: Sequence[str]) -> None:
    """Write the study's estimates next to a paper's numbers, as CSV and Markdown; settings as of `plan_comparison`."""
    tables = _read_tables(sources, settings)
    folder, paper, models = settings["folder"], settings["paper"], settings["models"]
    bias = tables.pop(PAIRS.name, None)
    effects = comparison.read_published(folder, paper)
    compared = comparison.compare(tables, effects, models=models, language=settings["language"])
    found = [compared] if tables or bias is None else []
    if bias is not None:
        percentages = comparison.read_percentages(folder, paper)
        found += [comparison.compare_pairs(bias, percentages, models=models, preset=settings["preset"])]
    for path, text in zip(paths, comparison.render_comparison(paper, found), strict=True):
        write_text(path, text)


def copy_data(sources: Mapping[str, str], _: Settings, paths: Sequence[str]) -> None:
    """Copy tables of earlier stages next to the page, and remove what an earlier run left there."""
    for path, source in zip(paths, sources.values(), strict=True):
        if Path(source).suffix == ".parquet":
            require_every_page(source)  # damage must not get a copy
        with replacing(path) as temporary:
            shutil.copyfile(source, temporary)
    for folder in {Path(path).parent for path in paths}:
        for old in filter(Path.is_file, set(folder.iterdir()) - set(map(Path, paths))):
            old.unlink()  # texts may have been hidden since


WRITERS: Mapping[str, Callable[[Any, Settings, Sequence[str]], None]] = {
    "layouts": write_layouts,
    "agreement": write_agreement,
    "comparison": write_comparison,
    "data": copy_data,
}


def write_products(products: Mapping[str, Sequence[Any]]) -> None:
    """Write the files of `plan_products`, each product as a plain list, as rules hand it to a job."""
    for name, product in products.items():
        WRITERS[name](*product)


def _read_tables(sources: Sources, settings: Settings) -> dict[str, pl.DataFrame]:
    """Return the tables by method; CEAT has further rows where the study asks for several numbers of draws."""
    paths = {name: [path] if isinstance(path, str) else path for name, path in sources.items()}
    tables = {name: pl.concat(map(read_frame, each)) for name, each in paths.items()}
    first = tables.pop("first_draws", None)
    if "ceat" in tables and first is not None:
        tables["ceat"] = paper_tables.with_fewer_draws(tables["ceat"], first, settings["n_samples"])
    return tables
