"""The small files that the embeddings stage leaves beside the vectors, read for the page.

Any of them may be absent, for instance where vectors were brought from another machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from prasanga.documents import read_document
from prasanga.frames import read_frame

Report = Mapping[str, Any]


class EmbeddingFiles(NamedTuple):
    """What the embeddings stage says of the vectors of a study, as plain values.

    Attributes:
        studied: settings of each model by its name in the results, with `family` (its name in the config) and one
            `layer`.
        lists: the list of shards, by model and segment length.
        reports: what the check of a model found, by family.
        audits: summary of the audit of its tokenizer, by family.
        audit_tables: the same audit with one row per stimulus, by family.
        precisions: the comparison with float32, by name in the results.
    """

    studied: Mapping[str, Report]
    lists: Mapping[tuple[str, str], Report]
    reports: Mapping[str, Report]
    audits: Mapping[str, Report]
    audit_tables: Mapping[str, pl.DataFrame]
    precisions: Mapping[str, Report]


def read_files(studied: Mapping[str, Report], paths: Iterable[str]) -> EmbeddingFiles:
    """Read the files of the embeddings stage that are there, told apart by their places.

    Args:
        studied: see `EmbeddingFiles`.
        paths: any of `embeddings/<model>/<length>.json`, `embeddings/<model>/precision.json`, `models/<family>.json`,
            `models/<family>.tokenizer.json` and `models/<family>.tokenizer.parquet`, in any order.
    """
    lists: dict[tuple[str, str], Report] = {}
    reports: dict[str, Report] = {}
    audits: dict[str, Report] = {}
    tables: dict[str, pl.DataFrame] = {}
    precisions: dict[str, Report] = {}
    for path in map(Path, paths):
        if path.suffix == ".parquet":
            tables[path.name.removesuffix(".tokenizer.parquet")] = read_frame(path)
            continue
        found = read_document(path)
        if path.parent.parent.name != "embeddings":
            of_tokenizer = path.name.endswith(".tokenizer.json")
            (audits if of_tokenizer else reports)[path.name.removesuffix(".json").removesuffix(".tokenizer")] = found
        elif path.name == "precision.json":
            precisions[path.parent.name] = found
        else:
            lists[path.parent.name, path.stem.replace("over", ">")] = found
    return EmbeddingFiles(studied, lists, reports, audits, tables, precisions)


def families_of(files: EmbeddingFiles) -> dict[str, str]:
    """The models of the config, each with one of its names in the results.

    Layers of one model come from one pass, so that what was cut or left out is the same for all of them, and told once.
    """
    names: dict[str, str] = {}
    for name, settings in files.studied.items():
        names.setdefault(family_of(settings, name), name)
    return names


def family_of(settings: Report, name: str) -> str:
    """The name in the config of the model that is called `name` in the results."""
    return str(settings.get("family", name))


def left_out_of(files: EmbeddingFiles) -> dict[tuple[str, str], dict[str, int]]:
    """How many targets each model left out, by stimulus and segment length; nothing where none was."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for family, name in families_of(files).items():
        for (model, length), listed in files.lists.items():
            for stimulus, reasons in listed.get("left_out", {}).items() if model == name else ():
                found.setdefault((stimulus, length), {})[family] = sum(reasons.values())
    return found
