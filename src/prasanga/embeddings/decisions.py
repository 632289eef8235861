"""What is found out once and kept: the precision of `auto`, the size of a batch.

Both depend on the machine. Decided anew by every job, they would differ between jobs, and the vectors of one study with
them; so whoever comes first decides, and everybody else reads.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from prasanga.errors import InputError
from prasanga.parquet import replacing

Decision = TypeVar("Decision", bound=int | str)

_SECONDS_TO_WRITE = 10.0


def decide_once(path: str | Path, decide: Callable[[], Decision]) -> Decision:
    """What `path` says; if it is not there, what `decide` says, kept in `path` for all who come later.

    Of several processes that decide at once, one is heard, and all return what it said.

    Raises:
        InputError: the file holds something else than a decision, or cannot be written.
    """
    path = Path(path)
    found: Decision | None = _read(path)
    if found is not None:
        return found
    decision = decide()
    try:
        with replacing(path) as mine:
            mine.write_text(json.dumps({"decision": decision}) + "\n", encoding="utf-8")
            _claim(path, mine)  # who gets further than this is the only one to do so, and replaces nobody's file
    except _TakenError:
        pass
    kept: Decision | None = _read(path)
    return decision if kept is None else kept


class _TakenError(Exception):
    """Another process has decided before; no fault, so not one that `replacing` would explain."""


def _claim(path: Path, mine: Path) -> None:
    """Take the name `path` for the file `mine`; _TakenError if another process has it.

    Where the file system has no hard links, an empty file stands there until `mine` replaces it.
    """
    try:
        try:
            path.hardlink_to(mine)
        except FileExistsError:
            raise
        except OSError:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except FileExistsError:
        raise _TakenError from None


def _read(path: Path) -> Any:
    """The decision in a file, None if there is no file. One that is empty was taken just now, and is waited for."""
    until = time.monotonic() + _SECONDS_TO_WRITE
    try:
        while not (text := path.read_text(encoding="utf-8")) and time.monotonic() < until:
            time.sleep(0.02)
        return json.loads(text)["decision"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: not a decision that was kept. Delete the file and run the workflow again.") from None
