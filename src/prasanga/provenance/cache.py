"""Small files that save work: what was computed before, with a key that says from what.

A cache is never needed and never trusted: another key, a damaged file or none means that the value is computed, and a
folder that cannot be written means that it is computed again next time. So nothing here fails and nothing is said.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from prasanga.errors import InputError
from prasanga.parquet import write_text
from prasanga.provenance.files import digest_of


def read_cache(path: Path, key: str) -> Any:
    """The value that was written with `key`; None if the file is absent, damaged, or of another key."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        whole = content["digest"] == digest_of([content["key"], content["value"]])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return content["value"] if whole and content["key"] == key else None


def write_cache(path: Path, key: str, value: Any) -> None:
    """Keep plain values (what JSON gives back as it was) under `key`, in place of what the file held; whole or not."""
    content = {"key": key, "digest": digest_of([key, value]), "value": value}
    with suppress(InputError, OSError):
        write_text(path, json.dumps(content, ensure_ascii=False) + "\n")
