"""Digests of files and of plain values, and values that are kept under the digest of what they were computed from.

What is kept saves work and is never needed nor trusted: with another key, in a damaged file or in none it is computed
anew, and where a folder cannot be written it is computed again next time. So nothing here fails and nothing is said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from prasanga.errors import InputError
from prasanga.parquet import write_text


def sha256_of_file(path: str | Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unreadable(path: str | Path, error: OSError) -> InputError:
    """Return what to say of a file that is there and cannot be read."""
    mend = (
        "Let yourself read it (`chmod u+r`)" if isinstance(error, PermissionError) else "Restore it, or see to the disk"
    )
    return InputError(f"{path}: cannot be read ({error.strerror or error}). {mend}, and run again.")


def digests_of_files(paths: Iterable[str | Path]) -> dict[str, str]:
    """Return the sha256 of each file, by its path."""
    return {str(path): sha256_of_file(path) for path in paths}


def json_line(value: Any) -> str:
    """Return a value as a line of JSON, readable in any script; escaped where a file name in it is no UTF-8."""
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        line = json.dumps(value, sort_keys=True)
    return f"{line}\n"


def digest_of(value: Any) -> str:
    """Return a short digest (16 hexadecimal digits) of plain values: numbers, strings, lists, mappings in any order."""
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    ).hexdigest()[:16]


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
