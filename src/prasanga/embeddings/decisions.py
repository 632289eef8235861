"""What is found out once and kept: the precision of `auto`, the size of a batch.

Both depend on the machine. Decided anew by every job, they would differ between jobs, and the vectors of one study with
them; so whoever comes first decides, and everybody else reads.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from prasanga.errors import InputError
from prasanga.parquet import explaining_full_disk, replacing

Decision = TypeVar("Decision", bound=int | str)


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
    mine = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    with replacing(mine) as temporary:
        temporary.write_text(json.dumps({"decision": decision}) + "\n", encoding="utf-8")
    try:
        with explaining_full_disk(path):
            _name(mine, path)
    finally:
        mine.unlink(missing_ok=True)
    kept: Decision | None = _read(path)
    return decision if kept is None else kept


def _name(mine: Path, path: Path) -> None:
    """Give the file its name unless somebody has it already."""
    try:
        path.hardlink_to(mine)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not path.exists():
            mine.replace(path)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))["decision"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: not a decision that was kept. Delete the file and run the workflow again.") from None
