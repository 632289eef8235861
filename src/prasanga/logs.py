"""Where a job's messages go: its log file and the terminal, tracebacks included."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from types import TracebackType

from prasanga.errors import InputError

_TALKATIVE = ("fontTools", "matplotlib")  # which would tell of every table of every font


def log_to(path: str | Path) -> None:
    """Send all messages of this process to the file `path` and to standard error.

    An `InputError` that nobody catches is shown as its message alone, since it is written for the user; any other
    exception with its traceback.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        datefmt="%H:%M:%S",
        handlers=[logging.FileHandler(path, mode="w", encoding="utf-8"), logging.StreamHandler(sys.stderr)],
        force=True,
    )
    for library in _TALKATIVE:
        logging.getLogger(library).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_exception


def _log_exception(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    logger = logging.getLogger("prasanga")
    if isinstance(error, InputError):
        logger.error("%s", error)
    else:
        logger.critical("stopped by an error", exc_info=(kind, error, traceback))
