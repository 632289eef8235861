"""Plan the files next to the page: the writer and the tables of each. The rules ask while they plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from prasanga.base.io import digest_of
from prasanga.base.results import fingerprints, module_file
from prasanga.methods import FAMILY, names_of
from prasanga.report.comparison import published_files, why_nothing_to_compare
from prasanga.report.figures import Drawing, figure_files
from prasanga.report.paper_tables import ENDINGS, PAIR_TABLE, layouts_of, methods_of

_FOLDER = "results/report"


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
    why_none = why_nothing_to_compare(folder, **asked, language=language, studied=studied, pairs=has_pairs)
    files = published_files(folder, asked["paper"])
    published = {path.name: digest_of(path.read_text(encoding="utf-8")) for path in files}
    common = {"language": language, "preset": config["preset"], "folder": str(folder), **_numbers_of_draws(config)}
    return {**asked, **common, "published": published}, why_none


def plan_products(
    config: Mapping[str, Any], results: Mapping[str, str], data: Mapping[str, str], comparison: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Return the files next to the page, by their writer (`prasanga.report.page.WRITERS`), with its arguments.

    Args:
        config: of the study, complete.
        results: tables by name.
        data: tables that are copied, by the names of their copies.
        comparison: of `plan_comparison`; empty without one.
    """
    found: dict[str, list[Any]] = {}
    asked = reduce(
        lambda rest, method: method.without(rest), (each for each in FAMILY if each.name not in results), dict(config)
    )
    draws = _numbers_of_draws(config)
    first = {"first_draws": results["convergence"]} if draws and "convergence" in results else {}
    estimates = estimates_by_method(asked, results)
    pairs = {"pairs": results["bias_percentages"]} if "bias_percentages" in results else {}
    compared = {name: results[name] for name in names_of(FAMILY) if name in results}
    if "ceat" in results:
        found["ceat_table"] = [{"ceat": results["ceat"]}, _tables("ceat")]
    if layouts := [*layouts_of(asked), *([PAIR_TABLE] if pairs else [])]:
        settings = {"preset": config["preset"], "language": config["language"], **draws}
        found["layouts"] = [{**estimates, **first, **pairs}, settings, _tables(*layouts)]
    if len(compared) > 1:
        found["agreement"] = [compared, [f"{_FOLDER}/tables/{name}.csv" for name in ("methods", "agreement")]]
    if comparison:
        paths = [f"{_FOLDER}/comparison.{end}" for end in ("csv", "md")]
        found["comparison"] = [{**estimates, **pairs, **first}, comparison, paths]
    if data:
        found["data"] = [{f"{_FOLDER}/data/{name}": path for name, path in data.items()}]
    return found


def estimates_by_method(config: Mapping[str, Any], results: Mapping[str, str]) -> dict[str, str]:
    """Return the tables of estimates, by the names that the papers' tables have for their methods."""
    return {method: results[method.removesuffix("_bias")] for method in methods_of(config)}


def list_written(products: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the files that products write."""
    return [path for arguments in products.values() for path in arguments[-1]]  # of a mapping, its keys


def list_read(products: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the files that products read."""
    return list(dict.fromkeys(path for sources, *_ in products.values() for path in sources.values()))


def _numbers_of_draws(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of draws of CEAT, where the study asks for several."""
    asked = config["associations"]["n_samples"]
    return {"n_samples": asked} if isinstance(asked, list) else {}


def _tables(*names: str) -> list[str]:
    return [f"{_FOLDER}/tables/{name}.{ending}" for name in names for ending in ENDINGS]


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
