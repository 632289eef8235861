"""A study in one file for programs, in two cards for readers, and in the last lines of a run.

JSON has no NaN and no infinite number, so these are null. An estimate or a percentage without a number has a `reason`,
one without an interval an `interval_note`. Summary and cards hold numbers and names, and never a text of the corpus or
of a pair. The same config and results give the same bytes. The layout of the summary has a number, `SCHEMA`, and a
description: workflow/schemas/summary.schema.json, docs/outputs.md.
"""

from __future__ import annotations

import functools
import hashlib
import json
import posixpath
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga import __version__, methods
from prasanga.associations.comparisons import sort_lengths
from prasanga.base.io import escape_markdown, read_rows
from prasanga.base.places import named, said, shareable
from prasanga.base.yaml import load_yaml
from prasanga.config import find_part
from prasanga.methods import PAIRS
from prasanga.pairs.preferences import OVERALL
from prasanga.report import ASSETS, findings, grid, study
from prasanga.report.first_screen import Part, Screen
from prasanga.report.grid import METHODS, EstimateRow, few_words, is_number, is_significant, name_of_language
from prasanga.report.sheet import MISSING, TEMPLATES, list_template
from prasanga.report.study import WORDING, EmbeddingFiles, Results
from prasanga.schema import BOTH_POLARITIES, CONVENTIONS
from prasanga.stats.permutation import ALPHA

SCHEMA = 4
"""Number of the layout. A key that goes, or that means something else, makes another number; a new key does not."""

FOLDER = "report"
"""Folder of the page, relative to the summary."""

PAGE = f"{FOLDER}/index.html"

_IN_STUDY = "trained in this study"

ALL_METHODS = {method.name: method.label for method in methods.METHODS}
"""How a reader sees the names of all methods, in the order of a summary."""


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
    """
    records = shareable(list(records), config)
    config, results = study.without_places(config, results)
    static, inputs = config.get("static") or {}, [json.loads(record.get("inputs") or "{}") for record in records]
    digests = sorted({path: digest for found in inputs for path, digest in found.items()}.items())
    sources = {path: digest for path, digest in digests if not path.startswith("results/")}
    return {
        "schema": SCHEMA,
        **{key: str(config.get(key) or "") for key in ("study", "title", "note", "language", "preset")},
        "seed": config.get("seed"),
        "program": {"name": "prasanga", "version": __version__},
        "versions": _list_versions([made_from, *records]),
        "complete": not results.missing,
        "missing": [str(sentence) for sentence in results.missing],
        "models": describe_models(config, results.embeddings),
        "static_vectors": [_describe_vectors(*each) for each in (static.get("vectors") or {}).items()],
        "random_copies": results.has_twins,
        "methods": summarize_methods(results, _digests_of_sets(config, sources)),
        "findings": _list_findings(str(config["language"]), results),
        "lost_words": findings.describe_lost_words(results),
        "coverage": _summarize_coverage(results["coverage"]),
        "corpus": study.totals(results.corpus) or None,
        "page": PAGE,
        "files": sorted({posixpath.normpath(posixpath.join(FOLDER, path)) for path in results.files}),
        "categories": study.describe_categories(results.categories),
        "words": _digests_of_words(results.categories),
        "sources": sources,
    }


def to_json(summary: Mapping[str, Any]) -> str:
    """Return the summary as text, keys in the order in which they were made."""
    return json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _list_versions(records: Iterable[Mapping[str, str]]) -> dict[str, dict[str, list[str]]]:
    """Return versions of the libraries that made the results, by stage; several where files were made with several."""
    named = ((each.get("stage") or NOT_STATED, json.loads(each.get("versions") or "{}")) for each in records)
    found: dict[str, dict[str, list[str]]] = {}
    for stage, library, version in sorted({(stage, *map(str, each)) for stage, of in named for each in of.items()}):
        found.setdefault(stage, {}).setdefault(library, []).append(version)
    return found


def _digests_of_words(categories: Mapping[str, Any]) -> dict[str, str]:
    """Return SHA-256 of the words of each category, set by set: equal where two studies measure the same words."""
    found = {}
    for name, category in sorted(categories.items()):
        if name != "glosses":
            sides = [sorted(side["stimuli"]) for role in ("targets", "attributes") for side in category[role]]
            found[name] = hashlib.sha256(json.dumps(sides, ensure_ascii=False).encode()).hexdigest()
    return found


def describe_models(config: Mapping[str, Any], files: EmbeddingFiles) -> list[dict[str, Any]]:
    """Return the models of the config, each with its names in the results, its layers and its weights."""
    return [_describe_model(name, settings, files) for name, settings in (config.get("models") or {}).items()]


def _describe_model(name: str, settings: Mapping[str, Any], files: EmbeddingFiles) -> dict[str, Any]:
    report, names = files.reports.get(name, {}), files.names(name)
    lists = [listed for (model, _), listed in files.lists.items() if model in names]
    made = (json.loads(listed.get("made_from", {}).get("settings", "{}")) for listed in lists)
    sizes = [*(listed.get("dimension") for listed in lists), report.get("hidden_size")]
    cosines = (files.precisions.get(each, {}).get("cosine_min") for each in names)
    identity, training = report.get("identity") or {}, settings.get("train") or {}
    chosen = {key: None if settings.get(key) == "auto" else settings.get(key) for key in ("kind", "dtype")}
    source = str(settings.get("path") or settings.get("package") or "not stated")
    if package := report.get("package"):
        source = f"{package['name']}, of the package {package['requirement']}"
    return {
        "name": name,
        "names_in_tables": names or [name],
        "trained": "train" in settings,
        "source": _IN_STUDY if "train" in settings else source,
        "revision": settings.get("revision"),
        **{key: identity.get(key) for key in ("commit", "sha256")},
        "pinned": report.get("pinned"),
        "kind": report.get("kind") or chosen["kind"],
        "dimensions": next(filter(None, sizes), None) or training.get("hidden_size"),
        "parameters": report.get("parameters"),
        "max_pieces": report.get("max_pieces"),
        "layers": [files.studied[each].get("layer", -1) for each in names],
        "dtype": next((each["dtype"] for each in made if each.get("dtype")), chosen["dtype"]),
        "stored_dtype": next((each["stored_dtype"] for each in lists if each.get("stored_dtype")), None),
        "least_cosine": min(filter(is_number, cosines), default=None),
        "training_seed": training.get("seed"),
        "stages": list(settings.get("stages") or ("embeddings", "likelihoods")),
    }


def _describe_vectors(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    training = settings.get("train") or {}
    source = _IN_STUDY if training else str(settings.get("path") or "not stated")
    made = {key: training.get(key) for key in ("method", "dimensions")}
    return {"name": name, "trained": bool(training), "source": source, **made}


def summarize_methods(results: Results, digests: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the numbers of each method by its name; None for methods that were not measured.

    Args:
        results: of the study.
        digests: SHA-256 of the file of each set of pairs, as far as they are known.
    """
    found: dict[str, Any] = dict.fromkeys(ALL_METHODS)
    found |= {name: _summarize_estimates(table) for name, table in results.estimates.items()}
    if "structures" in results:
        found["structures"] = _summarize_structures(results["structures"], results["structure_differences"])
    if "bias_percentages" in results:
        found["pairs"] = _summarize_pairs(results["bias_percentages"], digests or {})
    return found


def _digests_of_sets(config: Mapping[str, Any], sources: Mapping[str, str]) -> dict[str, str]:
    """Return SHA-256 of the file of each set of pairs, as far as the results say it."""
    sets = (config.get("pairs") or {}).get("sets") or {}
    return {name: digest for name, each in sets.items() for _, digest in _list_digests(str(each.get("path")), sources)}


def _list_findings(language: str, results: Results) -> list[dict[str, str]]:
    """Return all sentences of the page's findings, each with the method that it is about; the first screen's lead."""
    first = Screen([Part(language, results, study.describe_categories(results.categories))]).sentences
    found: dict[str, list[str]] = {
        "ceat": [
            *findings.headline_findings(results["ceat"], results.list_strengths("ceat")),
            *findings.findings_of_differences(results["differences"], results["settling"]),
        ],
    }
    for name, table in results.estimates.items():
        if name != "ceat":
            found[name] = [findings.other_method(METHODS[name], table, results.list_strengths(name))]
    found["structures"] = [*findings.findings_of_structures(results["structures"], results["structure_differences"])]
    found["pairs"] = [*findings.findings_of_pairs(results["bias_percentages"])]
    return [*first, *({"method": method, "text": text} for method, texts in found.items() for text in texts)]


def _summarize_coverage(coverage: pl.DataFrame) -> dict[str, Any] | None:
    """Return contexts by length, and how many stimuli have none, by reason."""
    if coverage.is_empty():
        return None
    missing = coverage.filter(sampled=0).unique(["stimulus", "reason"])
    return {
        "n_stimuli": coverage["stimulus"].n_unique(),
        "n_without_contexts": missing["stimulus"].n_unique(),
        "without_contexts": _count_reasons(Counter(WORDING["stimuli"].get(why, why) for why in missing["reason"])),
        "lengths": study.coverage_by_length(coverage),
    }


_KEYS = {name: row["keys"].split() for name, row in list_template("summary.tsv").items()}
"""Columns of results that objects of the summary have under the same names."""


def _count_reasons(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return reasons with their numbers, the commonest first."""
    return [{"reason": reason, "n": n} for reason, n in study.sort_reasons(counts)]


def _summarize_estimates(table: pl.DataFrame) -> dict[str, Any]:
    """Return the numbers of a method of word associations."""
    primary = grid.select_primary(table)
    rows, computed = primary.rows(named=True), primary.filter(pl.col("effect_size").is_finite())
    conventions = _conventions(computed if len(computed) else primary, CONVENTIONS)
    several = [name for name, values in conventions.items() if len(values) > 1]
    enough = (row for row in computed.iter_rows(named=True) if grid.may_be_found(row))
    largest = max(enough, key=lambda row: abs(row["effect_size"]), default=None)
    corrected = _numbers(computed, "p_association_holm")
    return {
        "categories": sorted(set(table["category"]), key=grid.natural_order),
        "models": list(dict.fromkeys(table["model"])),
        "segment_lengths": sort_lengths(_values(table, "segment_length")),
        "n_estimates": len(rows),
        **_count_numbers(computed, map(grid.why_missing, rows), len(rows)),
        "n_tested": len(corrected),
        "n_significant": sum(map(is_significant, _numbers(computed, "p_association"))),
        "n_significant_holm": sum(map(is_significant, corrected)) if corrected else None,
        "n_found": sum(map(findings.is_found, rows)),
        "largest": None if largest is None else _describe_effect(largest),
        "conventions": conventions,
        "estimates": [_describe_effect(row, several) for row in table.iter_rows(named=True)],
    }


def _summarize_structures(spread: pl.DataFrame, differences: pl.DataFrame) -> dict[str, Any]:
    """Return the numbers of traits in sentence structures: how many, and in how many comparisons the spreads differ."""
    of_models = [findings.count_comparisons(rows, differences) for rows in spread.partition_by("model")]
    compared, apart = (sum(counts) for counts in zip(*of_models, strict=True))
    # every polarity has its traits; a row over all of them counts them again
    of_one = spread.filter((pl.col("quantity") == "fill") & (pl.col("polarity") != BOTH_POLARITIES))
    scored, left_out = (int(of_one[name].sum()) for name in ("n", "n_left_out"))
    return {
        **{f"{name}s": list(dict.fromkeys(spread[name])) for name in ("model", "structure")},
        "n_traits": scored + left_out,
        "n_traits_scored": scored,
        "n_traits_most": spread["n"].max(),
        "n_comparisons": compared if len(differences) else None,
        "n_comparisons_apart": apart if len(differences) else None,
        # a column `variance` there is no convention
        "conventions": _conventions(spread, ("pieces", "aggregation", "prior_mask", "n_resamples", "seed")),
    }


def _summarize_pairs(bias: pl.DataFrame, digests: Mapping[str, str]) -> dict[str, Any]:
    """Return the numbers of bias percentages, with SHA-256 of the file of each set of pairs."""
    cells = grid.pair_grid_of(bias)
    rows = list(cells.rows.values())
    computed, farthest = bias.filter(pl.col("bias_percentage").is_finite()), findings.farthest_percentage(rows)
    overall = [row for row in rows if row["bias_type"] == OVERALL]
    return {
        "sets": list(dict.fromkeys(group.set for group in cells.groups)),
        "languages": list(dict.fromkeys(group.language for group in cells.groups)),
        "models": list(cells.models),
        "bias_types": list(cells.types),
        "n_percentages": len(rows),
        **_count_numbers(computed, map(grid.why_no_percentage, rows), len(rows)),
        "n_tested": len(_numbers(computed, "p_binomial_holm")),
        "n_significant_holm": sum(map(grid.differs_from_half, computed.iter_rows(named=True))),
        "n_found": sum(map(findings.is_found, rows)),
        "farthest": None if farthest is None else _describe_percentage(farthest),
        "overall": list(map(_describe_percentage, overall)),
        "percentages": list(map(_describe_percentage, rows)),
        "digests": dict(digests),
        "left_out": _count_reasons(sum(map(_count_left_out, overall), Counter())),
        "conventions": list(dict.fromkeys(row["conventions"] for row in rows)),
    }


def _count_numbers(computed: pl.DataFrame, missing: Iterable[str], n_rows: int) -> dict[str, Any]:
    """Return how many rows have a number, why the others have none, and of how many tests the correction of p is."""
    return {
        "n_computed": len(computed),
        "n_not_computed": n_rows - len(computed),
        "not_computed": _count_reasons(Counter(filter(None, missing))),
        "level": ALPHA,
        "n_tests": next(iter(_numbers(computed, "n_tests")), None),
    }


def _describe_effect(row: EstimateRow, several: Iterable[str] = ()) -> dict[str, Any]:
    """Return an estimate with those of its conventions of which the table has several values."""
    return {
        **_take(row, _KEYS["effect"]),
        "few_words": few_words(row),
        "conventions": {name: row[name] for name in several if row[name] is not None},
        "reason": grid.why_missing(row),
        "interval_note": row.get("interval_note") or "",
    }


def _describe_percentage(row: EstimateRow) -> dict[str, Any]:
    """Return a percentage with where it belongs, how sure it is, and how many pairs it is of."""
    return {
        **_take(row, _KEYS["percentage"]),
        "n_counted": grid.pairs_counted(row),
        "left_out": _count_reasons(_count_left_out(row)),
        "conventions": {name: row[name] for name in _KEYS["percentage_conventions"] if row.get(name) is not None},
        "reason": grid.why_no_percentage(row),
        "interval_note": row["interval_note"] or "",
    }


def _take(row: EstimateRow, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of these columns; a number that is not finite is None."""
    found = ((name, row.get(name)) for name in names)
    return {name: None if isinstance(value, float) and not is_number(value) else value for name, value in found}


def _count_left_out(row: EstimateRow) -> Counter[str]:
    """Return how many pairs each reason, by its code, left out."""
    return Counter({reason: len(pairs) for reason, pairs in grid.pairs_left_out(row).items()})


def _conventions(table: pl.DataFrame, names: Iterable[str]) -> dict[str, list[Any]]:
    """Return the values of each convention that the rows name, each once."""
    return {name: values for name in names if (values := _values(table, name))}


def _values(table: pl.DataFrame, name: str) -> list[Any]:
    """Return the values of a column, each once, in their order; none where the table has no such column."""
    return list(dict.fromkeys(table[name].drop_nulls())) if name in table.columns else []


def _numbers(table: pl.DataFrame, name: str) -> list[float]:
    return list(filter(is_number, table[name])) if name in table.columns else []


# --------------------
# The methods card and the data card: what was measured on what, how, and how far it goes, as Markdown.
#
# Their numbers come from the summary, the meanings of choices from the models of the config, and what numbers say from
# `templates/methods.yaml`; the page shows these as well. The templates escape everything that comes from a study: no
# name makes a heading, a link or a tag.


NOT_STATED = "not stated"

OWN_FOLDER = "resources"
OWN_WORDS = "written for this project, Apache-2.0 (resources/README.md), where the file is the project's own"
"""The source of a file in the project's folder of resources. A user may have put other files there."""

LONGEST_LIST = 60
"""Of the corpus files so many are listed at most; the others are counted."""

_JOINERS = "\u200c\u200d"
"""No printable signs, but letters of words in Bangla and Hindi."""


def methods_card(
    *, config: Mapping[str, Any], summary: Mapping[str, Any], inputs: Mapping[str, str] | None = None
) -> str:
    """Return the methods card as Markdown.

    Args:
        config: the study's config, defaults filled in.
        summary: `prasanga.report.summary.study_summary`, or its file as read.
        inputs: SHA-256 of the results that the card and the page are made from, by path.
    """
    config = shareable(config, config)
    measured = {name: summary["methods"][name] for name in ALL_METHODS if summary["methods"][name] is not None}
    return _render(
        "methods_card.md.j2",
        summary,
        measured=measured,
        choices=choices(config),
        fixed=[each["text"] for each in find_wording("fixed", measured)],
        quantities=find_wording("quantities", measured, has_twins=summary["random_copies"]),
        references=find_wording("publications", measured),
        inputs=dict(sorted((inputs or {}).items())),
    )


def data_card(
    *, config: Mapping[str, Any], summary: Mapping[str, Any], results: Results, corpus: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the data card as Markdown.

    Args:
        config: the study's config, defaults filled in.
        summary: as in `methods_card`.
        results: the results that are there; of pairs and hits only their numbers are read.
        corpus: path and digest (xxh3_128) of the files of the corpus, as far as they are known.
    """
    corpus = shareable(list(corpus), config)
    config, results = study.without_places(config, results)
    traits = results["traits"].filter(pl.col("origin") != "written")
    sets: dict[str, dict[str, Any]] = {}
    for name, category in results.categories.items():
        for each in (*category.get("targets", ()), *category.get("attributes", ())):
            sets.setdefault(each["name"], {**each, "used_in": []})["used_in"].append(name)
    return _render(
        "data_card.md.j2",
        summary,
        texts=config.get("corpus") or {},
        corpus=[(said(path), digest) for path, digest in corpus[:LONGEST_LIST]],
        n_files=len(corpus),
        losses=study.list_losses(results),
        sets=list(sets.values()),
        sources=_list_sources(config, summary["sources"]),
        drawn=traits.unique(["polarity", "trait"]).group_by("origin").len().sort("origin").rows(),
        pairs=_list_pairs(config, summary["sources"], results["pair_statistics"]),
        oddities=results["pair_oddities"].group_by("set", "kind").len().sort("set", "kind").rows(),
    )


def escape(value: object) -> Markup:
    """Return plain text that Markdown shows as it is, in one line, wherever it is used; a dash for None."""
    if isinstance(value, Markup):
        return value
    if value is None:
        return Markup(MISSING)
    shown = "".join(sign if sign.isprintable() or sign.isspace() or sign in _JOINERS else "?" for sign in str(value))
    text = re.sub(r"([&~$!])", r"\\\1", escape_markdown(shown))
    # what begins a line may make a heading, a list or a quotation of it
    return Markup(re.sub(r"^(\d*)((?<=\d)[.)](?=\s|$)|(?<!\d)[#>]|(?<!\d)[-+=](?=[-+=\s]|$))", r"\1\\\2", text))


def _render(template: str, summary: Mapping[str, Any], **context: Any) -> str:
    trained = [each["name"] for each in (*summary["models"], *summary["static_vectors"]) if each["trained"]]
    named = {
        "NAMES": ALL_METHODS,
        "OVERALL": OVERALL,
        "trained": findings.tell("trained", names=trained),
        "summary": summary,
    }
    environment = TEMPLATES.overlay(finalize=escape, keep_trailing_newline=True)
    return re.sub(r"\n{3,}", "\n\n", environment.get_template(template, globals=named).render(**context))


def _list_sources(config: Mapping[str, Any], digests: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the files of words, endings, templates and traits that the config names and results were made from.

    `sources.tsv` says where the config names them, and the key without which a file is not used.
    """
    found = []
    for what, section, key, needed in map(dict.values, list_template("sources.tsv").values()):
        paths = (config.get(section) or {}).get(key) or []
        for path in [paths] if isinstance(paths, str) else paths:
            if not needed or config[section].get(needed):
                listed = _list_digests(path, digests)
                found.append({"what": what, "path": said(path), "source": _find_origin(path), "digests": listed})
    return found


def _list_digests(path: str, digests: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the digests of a file, or of the files in a folder."""
    file = named(path.rstrip("/"))
    return [(said(each), digest) for each, digest in digests.items() if f"{named(each)}/".startswith(f"{file}/")]


def _find_origin(path: str) -> str:
    """Return the known origin of a file of words, sentences or pairs."""
    return OWN_WORDS if PurePosixPath(named(path)).parts[:1] == (OWN_FOLDER,) else NOT_STATED


def _list_pairs(
    config: Mapping[str, Any], digests: Mapping[str, str], statistics: pl.DataFrame
) -> list[dict[str, Any]]:
    """Return the sets of pairs, with how many each language has."""
    counts: dict[str, list[str]] = {}
    rows = statistics.filter(subset=OVERALL, statistic="mean_words", category=OVERALL)
    for name, language, n in rows.select("set", "language", "n_pairs").iter_rows():
        counts.setdefault(name, []).append(f"{name_of_language(language)} {n:,}")
    return [
        {
            "name": name,
            "path": said(path := str(settings.get("path"))),
            "source": str(settings.get("title") or _find_origin(path)),
            "licence": str(settings.get("licence") or _find_origin(path)),
            "counts": ", ".join(counts.get(name, ())) or "not known",
            "sha256": next((digest for _, digest in _list_digests(path, digests)), "not known"),
        }
        for name, settings in ((config.get("pairs") or {}).get("sets") or {}).items()
    ]


# --------------------
# The methods in words: every choice of the config and what it means, what numbers say, and whom to cite.


_SHOWN_ELSEWHERE = {"study", "title", "note", "models"}
_NO_NUMBERS = {"construction", "report"}
"""Sections of the config that change no number of the page."""
_NO_CHOICE = {"embeddings.source", "embeddings.buckets", "comparison.paper", "comparison.models", "static.vectors"}
"""Keys that change no number of the page, or (static vectors) have a table of their own."""
_OF_VECTORS = ("layer", "pieces", "dtype", "quantization", "tokenizer", "remote_code")
"""Keys of a model that change its vectors; its others are in the table of models."""


def choices(config: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the keys of a study's config with their values and their meanings in the reference of the config."""
    models = (config.get("models") or {}).items()
    of_models = ((("models", name, key), each[key]) for name, each in models for key in _OF_VECTORS if key in each)
    return [
        (".".join(path), _value_text(value), " ".join(find_part(path).get("description", "").split()))
        for path, value in (*_flatten(config), *of_models)
    ]


def _flatten(config: Mapping[str, Any], *within: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in config.items():
        path = (*within, key)
        if ".".join(path) in _SHOWN_ELSEWHERE | _NO_NUMBERS | _NO_CHOICE:
            continue
        if isinstance(value, Mapping):
            yield from _flatten(value, *path)
        else:
            yield path, value


def _value_text(value: Any) -> str:
    """Return parts with commas between them, entries of several parts with semicolons; "none" for nothing."""
    if isinstance(value, Mapping):
        forms = {key: "{}: ({})" if isinstance(part, Mapping) else "{}: {}" for key, part in value.items()}
        return ", ".join(forms[key].format(key, _value_text(part)) for key, part in value.items()) or "none"
    if isinstance(value, list | tuple):
        between = "; " if any(isinstance(part, Mapping) for part in value) else ", "
        return between.join(map(_value_text, value)) or "none"
    return "none" if value is None or value == "" else said(str(value))


def find_wording(kind: str, measured: Iterable[str], *, has_twins: bool = False) -> list[dict[str, Any]]:
    """Return the entries of a kind that are about any of these methods, or about all, and what to say of random copies.

    Kinds are `fixed`, conventions of every study (text); `quantities`, the numbers that studies report (name, meaning,
    limit); and `publications` (authors, year, title, venue, url, link, used).
    """
    found = {*measured, "all", "twins" if has_twins else "no_twins"}
    return [each for each in _wording()[kind] if found & each["methods"]]


@functools.cache
def _wording() -> Mapping[str, Any]:
    file = ASSETS / "methods.yaml"
    texts: dict[str, Any] = load_yaml(file.name, file.read_text(encoding="utf-8"))
    rows = read_rows(ASSETS / "references.tsv")
    texts["publications"] = [{**row, "methods": row["methods"].split()} for row in rows]
    for each in (*texts["fixed"], *texts["quantities"], *texts["publications"]):
        # `words` is every method of word associations
        each["methods"] = {*each["methods"], *(METHODS if "words" in each["methods"] else ())}
    return texts


# --------------------
# The end of a run in three lines: what came out, what was left out or is missing, and where the page is. Where much was
# left out, lines before them say what, and where to read why.


MUCH = 0.2
"""A larger share of pairs or stimuli left out gets a warning of its own."""


def last_words(summary: Mapping[str, Any], page: Path) -> list[str]:
    """Return three lines about a study, after one for each model or lexicon that much is left out of.

    Args:
        summary: `study_summary`, or its file as read.
        page: the page, or the summary itself if a study has no page; relative to the working directory if it is below.
    """
    methods, coverage = summary["methods"], summary["coverage"]
    estimates = [methods[name] for name in METHODS if methods[name] is not None]
    lines = [findings.tell("lost_words", lost=lost)] if (lost := summary.get("lost_words")) and lost["words"] else []
    if coverage and coverage["n_without_contexts"] > MUCH * coverage["n_stimuli"]:
        lines.append(findings.tell("warn_of_contexts", coverage=coverage))
    for row in (methods["pairs"] or {"overall": ()})["overall"]:
        if row["n_left_out"] > MUCH * row["n_pairs"]:
            file, language = f"results/{PAIRS.tables[0].path}.csv", name_of_language(row["language"])
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
    """Print the last lines of a run to standard error.

    Args:
        summary: the file of the summary.
        page: the page; if it is not there, the summary is named in its place.
    """
    for language, found in read_summaries(summary).items():
        if language:
            print(f"{name_of_language(language)}:", file=sys.stderr)
        *lines, where = last_words(found, page if page.is_file() else summary)
        print(*lines, sep="\n", file=sys.stderr)
    print(where, file=sys.stderr, flush=True)


def read_summaries(file: Path) -> dict[str, dict[str, Any]]:
    """Return the summaries of the languages of a study, by language; "" in a study of one language."""
    found = json.loads(file.read_text(encoding="utf-8"))
    parts = {language: file.parent / part for language, part in found.get("languages", {"": file.name}).items()}
    return {language: json.loads(part.read_text(encoding="utf-8")) for language, part in parts.items()}
