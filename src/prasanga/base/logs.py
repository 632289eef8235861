"""Send a job's messages to its log file and the terminal, and log the progress of long jobs.

The traceback of a defect goes to a file of its own.
"""

from __future__ import annotations

import atexit
import errno
import gc
import logging
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from prasanga.base.errors import InputError, printable

COMMAND, LINKED = "PRASANGA_COMMAND", "links"
"""Environment variable that the command sets for Snakemake and its jobs, and its value for a plan of links."""

_SELDOM = 7_000
"""New objects between two collections of the youngest generation; Python's default is 700."""
_REFUSED = (errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.EIO, errno.EROFS)
"""System errors that a user can fix; they do not always name the file."""
_TALKATIVE = ("fontTools", "matplotlib")
"""Libraries that log every table of every font."""


def collect_seldom() -> None:
    """Collect garbage a tenth as often, and not at the end of the process.

    Imports of torch and transformers make half a million objects, none of them garbage. Visiting them again and again
    takes a third of the CPU time of a job with a small model, and a quarter of a plan's.
    """
    gc.set_threshold(_SELDOM, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)


class _Printable(logging.Formatter):
    """Formats messages without control characters, because they quote texts and file names from anywhere."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def log_to(path: str | Path) -> None:
    """Send all messages of this process, a job, to the file `path` and to standard error. Jobs call this first.

    If the command shows progress bars on a terminal, only the file gets messages; Snakemake shows it if the job fails.
    An uncaught `InputError` is shown as its message only, because it is written for the user. For any other exception
    a sentence says what to do (`said_of_failure`); the traceback of a defect is in `<path>.traceback`. If the file
    cannot be made, only the terminal gets the messages.
    """
    path = Path(path)
    handlers = list[logging.Handler]()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _place_traceback(path).unlink(missing_ok=True)  # of an earlier failure
        handlers.append(logging.FileHandler(path, mode="w", encoding="utf-8"))
    except OSError as error:
        print(f"{path}: cannot be written ({error.strerror}); messages are only shown here.", file=sys.stderr)
    if not handlers or COMMAND not in os.environ or not sys.stderr.isatty():
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(_Printable("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
    for library in _TALKATIVE:
        logging.getLogger(library).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    sys.excepthook = partial(_log_exception, path)
    collect_seldom()


def said_of_failure(error: BaseException, log: str | Path) -> str:
    """Return a message for the user about an unforeseen error.

    Users can fix a lack of memory and files that the system refuses. Anything else is a defect, whose traceback is kept
    in `<log>.traceback`.
    """
    kind, said = type(error).__name__, str(error).strip()
    if isinstance(error, MemoryError) or "can't allocate memory" in said or "not enough memory" in said:
        return (
            f"Out of memory ({kind}). Give the job more (`mem_mb` of its rule in the profile), or run fewer at a time;"
            " finished work is kept."
        )
    if isinstance(error, OSError) and error.errno in _REFUSED:
        path = f"{error.filename}: " if error.filename else ""
        return (
            f"{path}{error.strerror}. Let yourself read and write there, make room there and in TMPDIR, or check the"
            " disk. Run again; finished work is kept."
        )
    where = _place_traceback(Path(log))
    with suppress(OSError):
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text("".join(traceback.format_exception(error)), encoding="utf-8", errors="backslashreplace")
    return (
        f"Stopped by a defect of prasanga, not by a mistake of yours: {kind}: {''.join(said.splitlines()[:1])[:500]}."
        f" Its traceback is in {where}. Please report it with that file and with the config (CONTRIBUTING.md says"
        " where); finished work is kept."
    )


def _place_traceback(log: Path) -> Path:
    return log.with_name(f"{log.name}.traceback")


def _log_exception(
    log: Path, _kind: type[BaseException], error: BaseException, _traceback: TracebackType | None
) -> None:
    logger = logging.getLogger("prasanga")
    if isinstance(error, InputError):
        logger.error("%s", error)
    elif isinstance(error, KeyboardInterrupt):
        # End by the same signal, without waiting for threads: a thread that was starting is in no pool's list.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        logger.error("interrupted")
        logging.shutdown()
        os.kill(os.getpid(), signal.SIGINT)
    else:
        logger.critical("%s", said_of_failure(error, log))


# --------------------
# Log a long job's progress: from time to time, a line with the time left.

SHORT = 5.0
"""Seconds of work without a line."""
BYTES = "bytes"
"""The unit that is shown as MB."""

clock: Callable[[], float] = time.time
"""Seconds since 1970; tests replace it."""

_EVERY, _GROWTH = 30.0, 0.35  # least seconds between lines, and as a share of the time so far
_LOG = logging.getLogger(__name__)

T = TypeVar("T")


class Progress:
    """A context manager that counts work and logs progress; any thread may call `advance`."""

    def __init__(self, name: str, total: float | None = None, unit: str = "steps") -> None:
        """Name the work.

        Args:
            name: the work, at the beginning of every line.
            total: the amount of work; None or 0 if unknown.
            unit: of the amount, in the plural; `bytes` are shown as MB.
        """
        self.name, self.total, self.unit = name, total, "MB" if unit == BYTES else unit
        self._scale = 1e-6 if unit == BYTES else 1.0
        self._done: float = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Begin."""
        self._begin = clock()
        self._due = self._begin + SHORT
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End, and log the amount and the time if it took long enough."""
        seconds = clock() - self._begin
        if seconds >= SHORT:
            end = "stopped after " if kind else ""
            _LOG.info("%s: %s%s in %s", self.name, end, self._count(), _format_duration(seconds))

    def advance(self, n: float = 1) -> None:
        """Count `n` more. It costs a microsecond: in a hot loop, call it for a batch."""
        with self._lock:
            self._done += n
            now = clock()
            if now < self._due:
                return
            passed = now - self._begin
            self._due = now + max(_EVERY, _GROWTH * passed)
        left = (self.total or 0) - self._done
        end = f", {_format_duration(left * passed / self._done)} left" if left > 0 and self._done else ""
        _LOG.info("%s: %s in %s%s", self.name, self._count(), _format_duration(passed), end)

    def over(self, items: Iterable[T], every: int = 1) -> Iterator[T]:
        """Yield the items; each `every` of them are counted together, when the next one is requested."""
        number = 0
        for number, item in enumerate(items, 1):
            yield item
            if number % every == 0:
                self.advance(every)
        self.advance(number % every)

    def _count(self) -> str:
        """Return the amount that is done: "12,400 of 50,000 segments (25%)"."""
        total, digits = self.total or 0, 1 if self._scale < 1 else 0
        done = f"{self._done * self._scale:,.{digits}f}"
        if self._done >= total:
            return f"{done} {self.unit}"
        return f"{done} of {total * self._scale:,.{digits}f} {self.unit} ({int(100 * self._done / total)}%)"


def _format_duration(seconds: float) -> str:
    """Return 45 s, 12 min, 3 h 20 min."""
    minutes = round(seconds / 60)
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


progress = Progress
