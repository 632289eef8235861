"""What a result was made from: the record in its metadata, the check of a study's results by it, and the origin of one.

A record says stage, settings, versions of libraries, and the digests of the inputs. Parquet files have it in their
metadata, figures in that of their SVG, lists of vectors in `made_from`. CSV, Markdown and LaTeX files have none.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import xxhash

from prasanga.base.documents import digest_of, digests_of_files, read_document
from prasanga.base.errors import InputError
from prasanga.base.parquet import made_from

_WITH_RECORD = (".parquet", ".json", ".svg")
_SAME, _CHANGED, _ABSENT = "as it is now", "changed since", "not here"
_SHA256 = 64  # hexadecimal digits
_SOURCE = ".//{http://purl.org/dc/elements/1.1/}source"
_KEPT = ("store", "likelihoods/kept")
"""Folders of vectors and scores for later runs; their names are digests of what they were made from."""


def describe(
    stage: str,
    *,
    inputs: Iterable[str | Path] | Mapping[str, str] = (),
    settings: Mapping[str, Any] | None = None,
    libraries: Sequence[str] = (),
    version: Mapping[str, int] | None = None,
) -> dict[str, str]:
    """Return the record of a result, as plain strings for a file's metadata.

    Args:
        stage: name of the stage (lexicon, sentences, ...).
        inputs: files whose content went in; or their digests by path, where several results have the same inputs.
        settings: the parameters of the stage (plain values).
        libraries: distributions whose version matters to the values.
        version: the version constant of a stage that has one, with its name (`SENTENCES_VERSION` and others).

    Returns:
        stage, version (JSON), inputs (JSON: {path: sha256}), settings (JSON), versions (JSON), and
        fingerprint (digest of all of these).
    """
    record = {
        "stage": stage,
        "version": _to_json(dict(version or {})),
        "inputs": _to_json(inputs if isinstance(inputs, Mapping) else digests_of_files(inputs)),
        "settings": _to_json(dict(settings or {})),
        "versions": _to_json({name: importlib.metadata.version(name) for name in libraries}),
    }
    return {**record, "fingerprint": digest_of(record)}


def read_record(file: Path) -> dict[str, Any]:
    """Return the record of a result; All but `stage` and `fingerprint` are mappings. Empty if the file has none.

    Raises:
        InputError: the file is damaged.
    """
    record: dict[str, Any] = {}
    if file.suffix == ".parquet":
        record = dict(made_from(file))
    elif file.suffix == ".json":
        listed = read_document(file)
        shards = {f"{file.parent}/{name}": sha256 for name, sha256 in listed.get("shards", {}).items()}
        record = {**listed.get("made_from", {}), "inputs": json.dumps(shards)} if shards else {}
    elif file.suffix == ".svg":
        source = ElementTree.parse(file).find(_SOURCE)
        record = json.loads(source.text or "{}") if source is not None else {}
    maps = {key: json.loads(record.get(key) or "{}") for key in ("inputs", "settings", "version", "versions")}
    return {**record, **maps} if any(record.values()) else {}


def check_results(folder: Path) -> tuple[list[str], str]:
    """Compare what the results of a study were made from with the files that are there now.

    Args:
        folder: of the results, a path from the study's folder, which is the working directory.

    Returns:
        A sentence per problem, and one on how much was compared.
    """
    users: dict[tuple[str, str], list[str]] = defaultdict(list)
    problems, n_records = [], 0
    for file in _result_files(folder):
        try:
            record = read_record(file)
        except InputError as error:
            problems.append(str(error))
            continue
        n_records += bool(record)
        for path, digest in record.get("inputs", {}).items():
            users[path, digest].append(str(file))
    states = {(path, digest): _compare(path, digest) for path, digest in users}
    for (path, digest), state in sorted(states.items()):
        if state == _CHANGED:
            files = users[path, digest]
            problems.append(
                f"{path}: it has changed since {len(files)} file(s) were made from it, such as {files[0]}. Run the"
                " study again. If nothing runs, the change does not matter."
            )
    absent = sum(state == _ABSENT for state in states.values())
    missing = f" {absent} of these inputs are not here." if absent else ""
    return problems, f"Compared: {len(states)} inputs of {n_records} results.{missing}"


def tell_origin(file: Path) -> str:
    """Return as lines of text what a result was made from, down to the files that no job made.

    Args:
        file: a table, a list of vectors or a figure, as a path from the study's folder, which is the working directory.

    Raises:
        InputError: there is no such file, it is damaged, or it has no record.
    """
    if not file.is_file():
        raise InputError(f"{file}: no such file. Name a table or a figure.")
    own = file if file.suffix in _WITH_RECORD else _beside(file)
    if not (record := read_record(own)):
        raise InputError(
            f"{own}: it has no record of what it was made from. Name a Parquet table, a figure or a list of vectors;"
            " the page has its record under `How it was made`."
        )
    sources: dict[str, str] = {}
    inputs, reached = dict(record["inputs"]), [record]
    for one in reached:
        for path, digest in one["inputs"].items():
            if path not in sources:
                sources[path] = digest
                inner = read_record(Path(path)) if Path(path).suffix in _WITH_RECORD and Path(path).is_file() else {}
                reached += [inner] if inner else []
    ours = {path for path in sources if Path(path).parts[:1] == file.parts[:1]}
    said = {
        str(own): {"stage": record["stage"], **record["version"]},
        "Settings": {key: json.dumps(value, ensure_ascii=False) for key, value in record["settings"].items()},
        "Libraries": record["versions"],
        "Made from": {path: f"{digest}, {_compare(path, digest)}" for path, digest in inputs.items()},
        "Sources": {
            path: f"{sources[path]}, {_compare(path, sources[path])}" for path in sorted(sources.keys() - ours)
        },
    }
    blocks = [
        "\n".join([head, *(f"  {key}: {text}" for key, text in rows.items())]) for head, rows in said.items() if rows
    ]
    return "\n\n".join(blocks) + "\n"


def name_old_stores() -> Iterator[str]:
    """Yield a sentence for each kind of kept values that another version of the code made, which are never read."""
    for folder in (Path("results", name) for name in _KEPT):
        keys = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*/key.json")]
        if n_old := sum("version" not in key for key in keys):
            yield (
                f"{folder} has vectors or scores of {n_old} model settings from an earlier version of prasanga. They"
                " are not used, and what the study needs is computed again. `prasanga store prune` deletes them."
            )


def _beside(file: Path) -> Path:
    """Return the file with the record of the job that made another one: the SVG of a figure, the Parquet of a table."""
    places = [file.with_suffix(".parquet"), file.with_suffix(".svg"), file.parent.parent / f"{file.stem}.svg"]
    return next((place for place in places if place.is_file()), file)


def _result_files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("[!.]*")):
        kept = any(file.is_relative_to(folder / name) for name in _KEPT)
        if file.suffix in _WITH_RECORD and file.is_file() and not kept:
            yield file


def _compare(path: str, digest: str) -> str:
    """Return whether a file still has a digest: sha256, or of a corpus file the xxh3 of 128 bits."""
    if not Path(path).is_file():
        return _ABSENT
    with Path(path).open("rb") as file:
        now = hashlib.file_digest(file, "sha256" if len(digest) == _SHA256 else xxhash.xxh3_128).hexdigest()
    return _SAME if now == digest else _CHANGED


def _to_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
