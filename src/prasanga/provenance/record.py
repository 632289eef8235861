"""The record that every output carries: what made it, from what, with which code and libraries."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from prasanga.provenance.code import fingerprint
from prasanga.provenance.files import digest_of, digests_of_files


def describe(
    stage: str,
    *,
    script: str | Path,
    inputs: Iterable[str | Path] | Mapping[str, str] = (),
    settings: Mapping[str, Any] | None = None,
    libraries: Sequence[str] = (),
) -> dict[str, str]:
    """What an output of `script` is made from, as plain strings for a file's metadata.

    Args:
        stage: name of the stage (lexicon, sentences, ...).
        script: the adapter that runs; the package lies in `src` beside its `workflow` folder.
        inputs: files whose content went in, each named with its sha256; or a mapping of these, from `digests_of_files`,
            where several outputs are made from the same files.
        settings: the parameters that the stage was given (plain values).
        libraries: distributions whose version matters to the values.

    Returns:
        stage, code (digest of the fingerprint), inputs (JSON: {path: sha256}), settings (JSON), versions (JSON), and
        fingerprint (digest of all of these): equal fingerprints mean the same values.
    """
    record = {
        "stage": stage,
        "code": fingerprint(script).fingerprint,
        "inputs": _json(inputs if isinstance(inputs, Mapping) else digests_of_files(inputs)),
        "settings": _json(dict(settings or {})),
        "versions": _json({name: importlib.metadata.version(name) for name in libraries}),
    }
    return {**record, "fingerprint": digest_of(record)}


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
