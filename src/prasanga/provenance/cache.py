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
    """Return the value that was written with `key`; None if the file is absent, damaged, or of another key."""
    try:
        head, text = path.read_text(encoding="utf-8").split("\n", 1)
        return json.loads(text) if json.loads(head) == [key, digest_of(text)] else None
    except (OSError, ValueError):
        return None


def write_cache(path: Path, key: str, value: Any) -> None:
    """Keep plain values (what JSON gives back as it was) under `key`, in place of what the file held; whole or not."""
    text = json.dumps(value, ensure_ascii=False) + "\n"
    with suppress(InputError, OSError):
        write_text(path, f"{json.dumps([key, digest_of(text)])}\n{text}")
