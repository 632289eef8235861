"""The record that every output carries: what made it, from what, with which code and libraries."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from prasanga.provenance.code import fingerprint
from prasanga.provenance.files import digest_of, sha256_of_file


def describe(
    stage: str,
    *,
    script: str | Path,
    inputs: Iterable[str | Path] = (),
    settings: Mapping[str, Any] | None = None,
    libraries: Sequence[str] = (),
) -> dict[str, str]:
    """What an output of `script` is made from, as plain strings for a file's metadata.

    Args:
        stage: name of the stage (lexicon, sentences, ...).
        script: the adapter that runs; the package lies in `src` beside its `workflow` folder.
        inputs: files whose content went in; each is named with its sha256.
        settings: the parameters that the stage was given (plain values).
        libraries: distributions whose version matters to the values.

    Returns:
        stage, code (digest of the fingerprint), inputs (JSON: {path: sha256}), settings (JSON), versions (JSON), and
        fingerprint (digest of all of these): equal fingerprints mean the same values.
    """
    source = Path(script).resolve().parents[2] / "src"
    record = {
        "stage": stage,
        "code": digest_of(fingerprint(script, source)),
        "inputs": _json({str(path): sha256_of_file(path) for path in inputs}),
        "settings": _json(dict(settings or {})),
        "versions": _json({name: importlib.metadata.version(name) for name in libraries}),
    }
    return {**record, "fingerprint": digest_of(record)}


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
