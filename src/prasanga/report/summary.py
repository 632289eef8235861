"""A study in one file for programs: what was measured on what, what came out, what was not computed and why.

JSON has no NaN and no infinite number, and a null alone says nothing. So every object that may hold a null has an entry
`reasons`, in which each key that is null has a sentence. The summary holds numbers and names, and never a text of the
corpus or of a pair. The same config and results give the same bytes. The layout has a number, `SCHEMA`, and a
description: workflow/schemas/summary.schema.json, docs/summary.md.
"""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from prasanga import __version__
from prasanga.report.coverage import summarize, totals
from prasanga.report.embedding_files import EmbeddingFiles, family_of
from prasanga.report.findings import headline_findings, other_method
from prasanga.report.log_probability import findings_of_structures
from prasanga.report.method_names import LABELS
from prasanga.report.other_methods import findings_of_differences
from prasanga.report.pair_section import findings_of_pairs
from prasanga.report.results import Results
from prasanga.report.summary_numbers import (
    by_reason,
    known,
    summary_of_estimates,
    summary_of_pairs,
    summary_of_structures,
)

SCHEMA = 1
"""Number of the layout. A key that goes, or that means something else, makes another number; a new key does not."""

FOLDER = "report"
"""Where the page lies, from the folder of the summary."""

PAGE = f"{FOLDER}/index.html"

_NOT_MEASURED = "not measured in this study, or not yet"
_IN_STUDY = "trained in this study"


def study_summary(
    *,
    config: Mapping[str, Any],
    results: Results,
    made_from: Mapping[str, str],
    records: Iterable[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """The summary of a study as plain values.

    Args:
        config: the study's config, defaults filled in.
        results: what is there of its results.
        made_from: what `provenance.describe` says of the summary's making.
        records: what the files of the results say of theirs (`prasanga.parquet.made_from`), for versions and digests.

    Raises:
        InputError: a table lacks a column that the summary needs.
    """
    records = list(records)
    covered = None if results.coverage is None or results.coverage.is_empty() else _coverage(results.coverage)
    read = totals(results.corpus)
    return known(
        {
            "schema": SCHEMA,
            **{key: str(config.get(key) or "") for key in ("study", "title", "note", "language", "preset")},
            "seed": config.get("seed"),
            "program": {"name": "prasanga", "version": __version__, "code": made_from.get("code") or "not stated"},
            "versions": versions_by_stage([made_from, *records]),
            "complete": not results.missing,
            "missing": [str(sentence) for sentence in results.missing],
            "models": [
                _model(name, settings, results.embeddings) for name, settings in (config.get("models") or {}).items()
            ],
            "static_vectors": _static_vectors(config.get("static") or {}),
            "methods": known(_methods(results), _NOT_MEASURED),
            "findings": [{"method": method, "text": text} for method, text in _findings(results)],
            "coverage": covered,
            "corpus": read or None,
            "page": PAGE,
            "files": sorted({posixpath.normpath(posixpath.join(FOLDER, path)) for path in results.files}),
            "sources": dict(sorted(digests_of_sources(records).items())),
        },
        {
            "seed": "the config does not state it",
            "coverage": "no table of coverage: vectors came from elsewhere, or contexts are not drawn yet",
            "corpus": "nothing is known of the corpus files: vectors came from elsewhere, or they are not read yet",
        },
    )


def to_json(summary: Mapping[str, Any]) -> str:
    """The summary as text, keys in the order in which they were made.

    Raises:
        ValueError: it holds a number that is not finite, which no function of this module makes.
    """
    return json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def versions_by_stage(records: Iterable[Mapping[str, str]]) -> dict[str, dict[str, list[str]]]:
    """Versions of the libraries that made the results, by stage; several where files were made with several."""
    found: dict[str, dict[str, set[str]]] = {}
    for record in records:
        for library, version in json.loads(record.get("versions") or "{}").items():
            found.setdefault(record.get("stage") or "not stated", {}).setdefault(library, set()).add(str(version))
    return {
        stage: {library: sorted(versions) for library, versions in sorted(libraries.items())}
        for stage, libraries in sorted(found.items())
    }


def digests_of_sources(records: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """SHA-256 of the files outside `results/` that results were made from, by path."""
    return {
        path: str(digest)
        for record in records
        for path, digest in json.loads(record.get("inputs") or "{}").items()
        if not path.startswith("results/")
    }


def _model(name: str, settings: Mapping[str, Any], files: EmbeddingFiles | None) -> dict[str, Any]:
    """What is known of a model of the config: of its own name, of all layers measured, of its weights."""
    report = {} if files is None else files.reports.get(name, {})
    studied = {} if files is None else files.studied
    names = [each for each, of_layer in studied.items() if family_of(of_layer, each) == name]
    listed = [each for (model, _), each in (files.lists if files else {}).items() if model in names]
    made = [json.loads(each.get("made_from", {}).get("settings", "{}")) for each in listed]
    training = settings.get("train")
    identity = report.get("identity") or {}
    kind = report.get("kind") or settings.get("kind")
    dimensions = [each["dimension"] for each in listed if "dimension" in each]
    dimensions += [found for found in (report.get("hidden_size"), (training or {}).get("hidden_size")) if found]
    dtypes = [str(each["dtype"]) for each in made if each.get("dtype")]
    asked = settings.get("dtype")
    unchecked = "the model has not been checked yet, or was brought as vectors"
    return known(
        {
            "name": name,
            "names_in_tables": names or [name],
            "trained": training is not None,
            "source": _IN_STUDY if training is not None else str(settings.get("path") or "not stated"),
            "revision": settings.get("revision"),
            "commit": identity.get("commit"),
            "sha256": identity.get("sha256"),
            "pinned": report.get("pinned"),
            "kind": None if kind in (None, "auto") else str(kind),
            "dimensions": dimensions[0] if dimensions else None,
            "parameters": report.get("parameters"),
            "layers": [studied[each].get("layer", -1) for each in names],
            "dtype": dtypes[0] if dtypes else None if asked in (None, "auto") else str(asked),
            "training_seed": (training or {}).get("seed"),
            "stages": list(settings.get("stages") or ("embeddings", "likelihoods")),
        },
        {
            "revision": "trained in this study" if training is not None else "the config names none",
            "commit": "the weights are those of a folder, not of the hub" if identity else unchecked,
            "sha256": "the weights are those of a commit of the hub" if identity else unchecked,
            "training_seed": "not trained in this study" if training is None else "the config does not state it",
            **dict.fromkeys(("pinned", "kind", "dimensions", "parameters", "dtype"), unchecked),
        },
    )


def _static_vectors(static: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name, settings in (static.get("vectors") or {}).items():
        training = settings.get("train")
        found.append(
            known(
                {
                    "name": name,
                    "trained": training is not None,
                    "source": _IN_STUDY if training is not None else str(settings.get("path") or "not stated"),
                    "method": (training or {}).get("method"),
                    "dimensions": (training or {}).get("dimensions"),
                },
                "read from a file, which does not state it",
            )
        )
    return found


def _methods(results: Results) -> dict[str, Any]:
    tables = {"ceat": results.ceat, **{name: getattr(results, name) for name in LABELS}}
    bias = results.bias_percentages
    return {
        **{
            name: None if table is None or table.is_empty() else summary_of_estimates(table)
            for name, table in tables.items()
        },
        "structures": None
        if results.structures is None or results.structures.is_empty()
        else summary_of_structures(results.structures, results.structure_differences),
        "pairs": None if bias is None or bias.is_empty() else summary_of_pairs(bias),
    }


def _findings(results: Results) -> list[tuple[str, str]]:
    """All sentences of the page's findings, each with the method that it is about."""
    found: list[tuple[str, str]] = []
    if results.ceat is not None and not results.ceat.is_empty():
        found += [("ceat", text) for text in headline_findings(results.ceat)]
    if results.differences is not None and results.settling is not None:
        found += [("ceat", text) for text in findings_of_differences(results.differences, results.settling)]
    for name, table in results.methods:
        text = other_method(LABELS[name], table)
        found += [(name, text)] if text else []
    if results.structures is not None and results.structure_differences is not None:
        spread, compared = results.structures, results.structure_differences
        found += [("structures", text) for text in findings_of_structures(spread, compared)]
    if results.bias_percentages is not None and not results.bias_percentages.is_empty():
        found += [("pairs", text) for text in findings_of_pairs(results.bias_percentages)]
    return found


def _coverage(coverage: pl.DataFrame) -> dict[str, Any]:
    """Contexts by length, and how many stimuli have none, by reason."""
    found = summarize(coverage, {})
    return {
        "n_stimuli": len(found.stimuli),
        "n_without_contexts": len({each.stimulus for each in found.missing}),
        "without_contexts": by_reason(Counter(each.reason for each in found.missing)),
        "lengths": [
            known(
                {
                    "segment_length": each.length,
                    "n_stimuli": each.stimuli,
                    "n_with_contexts": each.sampled_stimuli,
                    "n_contexts": each.contexts,
                    "fewest": each.least,
                    "median": each.median,
                    "n_short": each.short,
                    "n_from_supplement": each.from_supplement,
                },
                "the table of coverage does not say it",
            )
            for each in found.lengths
        ],
    }
