"""A study in one file for programs: what was measured on what, what came out, what was not computed and why.

JSON has no NaN and no infinite number, and a null alone says nothing. So every object that may hold a null has an entry
`reasons`, in which each key that is null has a sentence. The summary holds numbers and names, and never a text of the
corpus or of a pair. The same config and results give the same bytes. The layout has a number, `SCHEMA`, and a
description: workflow/schemas/summary.schema.json, docs/report.md.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import posixpath
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl
from jinja2 import TemplateError

from prasanga import __version__
from prasanga.base.io import read_rows
from prasanga.base.places import named, shareable
from prasanga.methods import PAIRS
from prasanga.pairs.preferences import FEWEST_PAIRS, OVERALL
from prasanga.report import findings, grid, study, wording
from prasanga.report.grid import METHODS, Estimate, few_words, is_number, is_significant
from prasanga.report.study import EmbeddingFiles, Results
from prasanga.schema import CONVENTIONS
from prasanga.stats.permutation import ALPHA

SCHEMA = 3
"""Number of the layout. A key that goes, or that means something else, makes another number; a new key does not."""

FOLDER = "report"
"""Folder of the page, relative to the summary."""

PAGE = f"{FOLDER}/index.html"

_IN_STUDY = "trained in this study"
_GLOSSES = "glosses"  # a key among the categories of `categories.json`


def study_summary(
    *,
    config: Mapping[str, Any],
    results: Results,
    made_from: Mapping[str, str],
    records: Iterable[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Return the summary of a study as plain values.

    Args:
        config: the study's config, defaults filled in.
        results: its results so far.
        made_from: what `prasanga.base.results.describe` says of the summary's making.
        records: what the files of the results say of theirs (`prasanga.base.io.made_from`): versions and digests.

    Raises:
        InputError: a table lacks a column that the summary needs.
    """
    records = shareable(list(records), config)
    config, results = study.without_places(config, results)
    sources, static = dict(sorted(digests_of_sources(records).items())), config.get("static") or {}
    return known(
        {
            "schema": SCHEMA,
            **{key: str(config.get(key) or "") for key in ("study", "title", "note", "language", "preset")},
            "seed": config.get("seed"),
            "program": {"name": "prasanga", "version": __version__},
            "versions": versions_by_stage([made_from, *records]),
            "complete": not results.missing,
            "missing": [str(sentence) for sentence in results.missing],
            "models": describe_models(config, results.embeddings),
            "static_vectors": [_describe_vectors(*each) for each in (static.get("vectors") or {}).items()],
            "methods": known(summarize_methods(results, _digests_of_sets(config, sources)), "methods"),
            "findings": _list_findings(results),
            "coverage": _summarize_coverage(results["coverage"]),
            "corpus": study.totals(results.corpus) or None,
            "page": PAGE,
            "files": sorted({posixpath.normpath(posixpath.join(FOLDER, path)) for path in results.files}),
            "words": digests_of_words(results.categories),
            "sources": sources,
        },
        "study",
    )


def to_json(summary: Mapping[str, Any]) -> str:
    """Return the summary as text, keys in the order in which they were made.

    Raises:
        ValueError: it holds a number that is not finite, which no function of this module makes.
    """
    return json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def versions_by_stage(records: Iterable[Mapping[str, str]]) -> dict[str, dict[str, list[str]]]:
    """Return versions of the libraries that made the results, by stage; several where files were made with several."""
    found: dict[str, dict[str, set[str]]] = {}
    for record in records:
        for library, version in json.loads(record.get("versions") or "{}").items():
            found.setdefault(record.get("stage") or "not stated", {}).setdefault(library, set()).add(str(version))
    return {
        stage: {library: sorted(versions) for library, versions in sorted(libraries.items())}
        for stage, libraries in sorted(found.items())
    }


def digests_of_sources(records: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return SHA-256 of the files outside `results/` that results were made from, by path."""
    return {
        path: str(digest)
        for record in records
        for path, digest in json.loads(record.get("inputs") or "{}").items()
        if not path.startswith("results/")
    }


def digests_of_words(categories: Mapping[str, Any]) -> dict[str, str]:
    """Return SHA-256 of the words of each category, set by set: equal where two studies measure the same words."""
    found = {}
    for name, category in categories.items():
        if name != _GLOSSES:
            sides = [sorted(side["stimuli"]) for role in ("targets", "attributes") for side in category[role]]
            found[name] = hashlib.sha256(json.dumps(sides, ensure_ascii=False).encode()).hexdigest()
    return dict(sorted(found.items()))


def describe_models(config: Mapping[str, Any], files: EmbeddingFiles) -> list[dict[str, Any]]:
    """Return the models of the config, each with its names in the results, its layers and its weights."""
    return [_describe_model(name, settings, files) for name, settings in (config.get("models") or {}).items()]


def _describe_model(name: str, settings: Mapping[str, Any], files: EmbeddingFiles) -> dict[str, Any]:
    report, names = files.reports.get(name, {}), files.names(name)
    made = [
        json.loads(each.get("made_from", {}).get("settings", "{}"))
        for (m, _), each in files.lists.items()
        if m in names
    ]
    training: Mapping[str, Any] = settings.get("train") or {}
    is_trained, identity = settings.get("train") is not None, report.get("identity") or {}
    chosen = {key: None if settings.get(key) == "auto" else settings.get(key) for key in ("kind", "dtype")}
    source = str(settings.get("path") or settings.get("package") or "not stated")
    if package := report.get("package"):
        source = f"{package['name']}, of the package {package['requirement']}"
    return known(
        {
            "name": name,
            "names_in_tables": names or [name],
            "trained": is_trained,
            "source": _IN_STUDY if is_trained else source,
            "revision": settings.get("revision"),
            **{key: identity.get(key) for key in ("commit", "sha256")},
            "pinned": report.get("pinned"),
            "kind": report.get("kind") or chosen["kind"],
            "dimensions": files.dimensions(name) or training.get("hidden_size"),
            "parameters": report.get("parameters"),
            "layers": [files.studied[each].get("layer", -1) for each in names],
            "dtype": next((each["dtype"] for each in made if each.get("dtype")), chosen["dtype"]),
            "training_seed": training.get("seed"),
            "stages": list(settings.get("stages") or ("embeddings", "likelihoods")),
        },
        "model",
        revision=_IN_STUDY if is_trained else None,
        commit="the weights are those of a folder, not of the hub" if identity else None,
        sha256="the weights are those of a commit of the hub" if identity else None,
        training_seed="the config does not state it" if is_trained else None,
    )


def _describe_vectors(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    training = settings.get("train")
    source = str(settings.get("path") or "not stated") if training is None else _IN_STUDY
    made = {key: (training or {}).get(key) for key in ("method", "dimensions")}
    return known({"name": name, "trained": training is not None, "source": source, **made}, "static")


def summarize_methods(results: Results, digests: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the numbers of each method by its name; None for methods that were not measured.

    Args:
        results: of the study.
        digests: SHA-256 of the file of each set of pairs, as far as they are known.
    """
    found: dict[str, Any] = dict.fromkeys((*METHODS, "structures", "pairs"))
    found |= {name: summary_of_estimates(table) for name, table in results.estimates.items()}
    if "structures" in results:
        found["structures"] = summary_of_structures(results["structures"], results["structure_differences"])
    if "bias_percentages" in results:
        found["pairs"] = summary_of_pairs(results["bias_percentages"], digests or {})
    return found


def _digests_of_sets(config: Mapping[str, Any], sources: Mapping[str, str]) -> dict[str, str]:
    """Return SHA-256 of the file of each set of pairs, as far as the results say it."""
    by_name = {named(path): digest for path, digest in sources.items()}
    sets = (config.get("pairs") or {}).get("sets") or {}
    return {name: by_name[path] for name, each in sets.items() if (path := named(str(each.get("path")))) in by_name}


def _list_findings(results: Results) -> list[dict[str, str]]:
    """Return all sentences of the page's findings, each with the method that it is about."""
    others = {name: table for name, table in results.estimates.items() if name != "ceat"}
    found: list[tuple[str, Iterable[str]]] = [
        ("ceat", findings.headline_findings(results["ceat"], results.list_strengths("ceat"))),
        ("ceat", findings.findings_of_differences(results["differences"], results["settling"])),
        *(
            (name, [findings.other_method(METHODS[name], table, results.list_strengths(name))])
            for name, table in others.items()
        ),
        ("structures", findings.findings_of_structures(results["structures"], results["structure_differences"])),
        ("pairs", findings.findings_of_pairs(results["bias_percentages"])),
    ]
    return [{"method": method, "text": text} for method, texts in found for text in texts]


def _summarize_coverage(coverage: pl.DataFrame) -> dict[str, Any] | None:
    """Return contexts by length, and how many stimuli have none, by reason."""
    if coverage.is_empty():
        return None
    missing = coverage.filter(sampled=0).unique(["stimulus", "reason"])
    return {
        "n_stimuli": coverage["stimulus"].n_unique(),
        "n_without_contexts": missing["stimulus"].n_unique(),
        "without_contexts": by_reason(Counter(study.WORDING["stimuli"].get(why, why) for why in missing["reason"])),
        "lengths": [known(each, "coverage") for each in study.coverage_by_length(coverage)],
    }


_KEYS = {row["object"]: row["keys"].split() for row in read_rows(files(wording.__name__) / "summary.tsv")}
"""Columns of results that objects of the summary have under the same names."""

_ALWAYS = ("segment_length", "p_draws", "set")
"""Keys whose reason does not depend on whether a number was computed."""


def known(values: Mapping[str, Any], kind: str, missing: str = "", **own: str | None) -> dict[str, Any]:
    """Return the values, null if there is none or none that is finite, and under `reasons` why, for each null.

    Args:
        values: plain values by key.
        kind: of the object, a section of `nulls` in `losses.yaml`.
        missing: why nothing of the object was computed; empty if it was.
        own: reasons by key, which take precedence.
    """
    reasons, general = {}, study.WORDING["nulls"][kind]
    for key, value in values.items():
        if value is None:
            told = own.get(key) or ("" if key in _ALWAYS else missing)
            reasons[key] = told or general.get(key) or general.get("other", "the table does not say it")
        elif isinstance(value, float) and not math.isfinite(value):
            reasons[key] = f"not a finite number ({value})"
    return {**{key: None if key in reasons else value for key, value in values.items()}, "reasons": reasons}


def by_reason(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return reasons with their numbers, the commonest first."""
    return [{"reason": reason, "n": n} for reason, n in study.sort_reasons(counts)]


def summary_of_estimates(table: pl.DataFrame) -> dict[str, Any]:
    """Return the numbers of CEAT, SEAT, WEAT or log-probability bias.

    Args:
        table: its estimates, corrected for the number of tests; at least one.
    """
    primary = grid.select_primary(table)
    rows, computed = primary.rows(named=True), primary.filter(pl.col("effect_size").is_finite())
    conventions = _conventions(computed if len(computed) else primary, CONVENTIONS)
    several = [name for name, values in conventions.items() if len(values) > 1]
    enough = (row for row in computed.iter_rows(named=True) if not few_words(row))
    largest = max(enough, key=lambda row: abs(row["effect_size"]), default=None)
    corrected = _numbers(computed, "p_association_holm")
    return known(
        {
            "categories": sorted(set(table["category"]), key=grid.natural_order),
            "models": list(dict.fromkeys(table["model"])),
            "segment_lengths": grid.sort_lengths(_values(table, "segment_length")),
            "n_estimates": len(rows),
            **_count_numbers(computed, map(grid.why_missing, rows), len(rows)),
            "n_tested": len(corrected),
            "n_significant": sum(map(is_significant, _numbers(computed, "p_association"))),
            "n_significant_holm": sum(map(is_significant, corrected)) if corrected else None,
            "largest": None if largest is None else _describe_effect(largest),
            "twin": _describe_twins(computed, "twin_effect_size", 0),
            "conventions": conventions,
            "estimates": [_describe_effect(row, several) for row in table.iter_rows(named=True)],
        },
        "estimates",
        largest="every estimate rests on few words" if len(computed) else None,
    )


def summary_of_structures(spread: pl.DataFrame, differences: pl.DataFrame) -> dict[str, Any]:
    """Return the numbers of traits in sentence structures: how many, and in how many comparisons the spreads differ.

    Args:
        spread: how traits spread in each structure.
        differences: structures compared, two by two; no rows if they are not.
    """
    of_models = [findings.count_comparisons(rows, differences) for rows in spread.partition_by("model")]
    compared, apart = (sum(counts) for counts in zip(*of_models, strict=True))
    # every polarity has its traits; a row over all of them counts them again
    of_one = spread.filter((pl.col("quantity") == "fill") & (pl.col("polarity") != findings.ALL))
    scored, left_out = (int(of_one[name].sum()) for name in ("n", "n_left_out"))
    return known(
        {
            **{f"{name}s": list(dict.fromkeys(spread[name])) for name in ("model", "structure")},
            "polarities": list(dict.fromkeys(spread["polarity"])),
            "quantities": list(dict.fromkeys(spread["quantity"])),
            "n_rows": len(spread),
            "n_traits": scored + left_out,
            "n_traits_scored": scored,
            "n_traits_most": spread["n"].max(),
            "n_left_out_most": spread["n_left_out"].max(),
            "n_comparisons": compared if len(differences) else None,
            "n_comparisons_apart": apart if len(differences) else None,
            # a column `variance` there is no convention
            "conventions": _conventions(spread, ("pieces", "terms", "n_resamples", "seed")),
        },
        "structures",
    )


def summary_of_pairs(bias: pl.DataFrame, digests: Mapping[str, str]) -> dict[str, Any]:
    """Return the numbers of bias percentages.

    Args:
        bias: their table; at least one row.
        digests: SHA-256 of the file of each set, as far as they are known.
    """
    cells = grid.pair_grid_of(bias)
    rows = list(cells.rows.values())
    computed, farthest = bias.filter(pl.col("bias_percentage").is_finite()), findings.farthest_percentage(rows)
    overall = [row for row in rows if row["bias_type"] == OVERALL]
    return known(
        {
            "sets": list(dict.fromkeys(group.set for group in cells.groups)),
            "languages": list(dict.fromkeys(group.language for group in cells.groups)),
            "models": list(cells.models),
            "bias_types": list(cells.types),
            "n_percentages": len(rows),
            **_count_numbers(computed, map(grid.why_no_percentage, rows), len(rows)),
            "n_tested": len(_numbers(computed, "p_binomial_holm")),
            "n_significant_holm": sum(map(grid.differs_from_half, computed.iter_rows(named=True))),
            "farthest": None if farthest is None else _describe_percentage(farthest),
            "overall": list(map(_describe_percentage, overall)),
            "percentages": list(map(_describe_percentage, rows)),
            "digests": dict(digests),
            "left_out": by_reason(sum(map(_count_left_out, overall), Counter())),
            "twin": _describe_twins(bias.filter(bias_type=OVERALL), "twin_bias_percentage", 50),
            "conventions": list(dict.fromkeys(row["conventions"] for row in rows)),
        },
        "pairs",
        farthest=f"no percentage is of {FEWEST_PAIRS} pairs or more" if len(computed) else None,
    )


def _count_numbers(computed: pl.DataFrame, missing: Iterable[str], n_rows: int) -> dict[str, Any]:
    """Return how many rows have a number, why the others have none, and of how many tests the correction of p is."""
    return {
        "n_computed": len(computed),
        "n_not_computed": n_rows - len(computed),
        "not_computed": by_reason(Counter(filter(None, missing))),
        "level": ALPHA,
        "n_tests": next(iter(_numbers(computed, "n_tests")), None),
    }


def _describe_effect(row: Estimate, several: Iterable[str] = ()) -> dict[str, Any]:
    """Return an estimate with where it belongs, how sure it is, and those of its conventions that have several values.

    Args:
        row: of the table of estimates.
        several: the conventions of which the table has several values.
    """
    missing = grid.why_missing(row)
    note = missing or row.get("interval_note")
    values = {name: row.get(name) for name in _KEYS["effect"]} | {"few_words": few_words(row)}
    own = {name: row[name] for name in several if row[name] is not None}
    return known({**values, "conventions": own}, "effect", missing, ci_low=note, ci_high=note)


def _describe_percentage(row: Estimate) -> dict[str, Any]:
    """Return a percentage with where it belongs, how sure it is, and how many pairs it is of."""
    missing = grid.why_no_percentage(row)
    return known(
        {
            **{name: row[name] for name in _KEYS["percentage"]},
            "n_counted": grid.pairs_counted(row),
            "left_out": by_reason(_count_left_out(row)),
            "note": str(row["interval_note"] or ""),
            "conventions": {name: row[name] for name in _KEYS["percentage_conventions"] if row.get(name) is not None},
        },
        "percentage",
        missing,
        **dict.fromkeys(("ci_low", "ci_high", "exact_low", "exact_high"), missing or row["interval_note"]),
    )


def _count_left_out(row: Estimate) -> Counter[str]:
    """Return how many pairs each reason, by its code, left out."""
    return Counter({reason: len(pairs) for reason, pairs in grid.pairs_left_out(row).items()})


def _describe_twins(table: pl.DataFrame, name: str, without_bias: float) -> dict[str, Any] | None:
    """Return how far the controls are from no bias; None if there are none."""
    distances = [abs(value - without_bias) for value in _numbers(table, name)]
    if not distances:
        return None
    return {"n": len(distances), "median_size": median(distances), "largest_size": max(distances)}


def _conventions(table: pl.DataFrame, names: Iterable[str]) -> dict[str, list[Any]]:
    """Return the values of each convention that the rows name, each once."""
    return {name: values for name in names if (values := _values(table, name))}


def _values(table: pl.DataFrame, name: str) -> list[Any]:
    """Return the values of a column, each once, in their order; none where the table has no such column."""
    return list(dict.fromkeys(table[name].drop_nulls())) if name in table.columns else []


def _numbers(table: pl.DataFrame, name: str) -> list[float]:
    return list(filter(is_number, table[name])) if name in table.columns else []


# --------------------
# The end of a run in three lines: what came out, what was left out or is missing, and where the page is. Where much was
# left out, lines before them say what, and where to read why.


MUCH = 0.2
"""Of pairs or stimuli left out, the share above which that is told apart."""


def last_words(summary: Mapping[str, Any], page: Path) -> list[str]:
    """Return three lines about a study, after one for each model or lexicon that much is left out of.

    Args:
        summary: `study_summary`, or its file as read.
        page: the page, or the summary itself if a study has no page; relative to the working directory if it is below.
    """
    methods, coverage = summary["methods"], summary["coverage"]
    estimates = [methods[name] for name in METHODS if methods[name] is not None]
    lines = []
    if coverage and coverage["n_without_contexts"] > MUCH * coverage["n_stimuli"]:
        lines.append(findings.tell("warn_of_contexts", coverage=coverage))
    for row in (methods["pairs"] or {"overall": ()})["overall"]:
        if row["n_left_out"] > MUCH * row["n_pairs"]:
            file, language = f"results/{PAIRS.tables[0].path}.csv", grid.name_of_language(row["language"])
            lines.append(findings.tell("warn_of_pairs", row=row, language=language, file=file))
    whole = page.absolute()
    shown = str(whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else whole)
    return [
        *lines,
        f"Results: {findings.tell('came_out', summary=summary, estimates=estimates)}.",
        f"Left out: {findings.tell('lost', summary=summary, estimates=estimates)}.",
        f"{'Page' if page.suffix == '.html' else 'Summary'}: "
        + "".join(sign if sign.isprintable() else "?" for sign in shown),
    ]


def print_last_words(summary: Path, page: Path) -> None:
    """Print them to the standard error; a summary that cannot be read is reported, and is no error.

    Args:
        summary: the file of the summary.
        page: the page; if it is not there, the summary is named in its place.
    """
    try:
        read = json.loads(summary.read_text(encoding="utf-8"))
        lines = last_words(read, page if page.is_file() else summary)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, TemplateError) as error:
        lines = [f"The results are there, but {summary} could not be read: {type(error).__name__}."]
    with contextlib.suppress(OSError, ValueError):  # whoever read along has gone
        print(*lines, sep="\n", file=sys.stderr, flush=True)
