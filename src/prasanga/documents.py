"""JSON files that later stages believe: with a digest of what they say, so that a letter that flipped is noticed.

A word of another spelling would find no vector, and be left out of an effect without anybody knowing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prasanga.digests import digest_of, unreadable
from prasanga.errors import InputError, reason
from prasanga.parquet import write_text

_DIGEST = "digest"


def write_document(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write plain values to a JSON file, whole or not at all; the key `digest` is added to them.

    Raises:
        ValueError: the content has such a key.
    """
    if _DIGEST in content:
        raise ValueError(f"{path}: a document has no key {_DIGEST!r} of its own")
    plain = json.loads(json.dumps(content))  # as it will be read: keys that are numbers become text
    text = json.dumps({**plain, _DIGEST: digest_of(plain)}, indent=1, ensure_ascii=False)
    write_text(path, f"{text}\n")


def is_whole_document(path: str | Path) -> bool:
    """Whether a file is JSON, and if it has a digest, one that fits; OSError if it cannot be read."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return False
    said = content.pop(_DIGEST, None) if isinstance(content, dict) else None
    return said is None or bool(said == digest_of(content))


def read_document(path: str | Path) -> dict[str, Any]:
    """What was given to `write_document`; a file without a digest, of an older version, is taken as it is.

    Raises:
        InputError: the file is absent or damaged, or cannot be read.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("it does not begin with a key")
        said = content.pop(_DIGEST, None)
        if said is not None and said != digest_of(content):
            raise ValueError("it does not say what was written")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Restore it, or let the workflow make it again.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: damaged ({reason(error)}). Delete it and run the workflow again.") from None
    return content
