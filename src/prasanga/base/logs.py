"""Where a job's messages go: its log file and the terminal; of a mistake of ours also its traceback, in a file."""

from __future__ import annotations

import atexit
import errno
import gc
import logging
import os
import resource
import signal
import sys
import traceback
from functools import partial
from pathlib import Path
from types import TracebackType

from prasanga.base.errors import InputError, gave_up, printable, reason

EVENTS = "PRASANGA_EVENTS"
"""Names the pipe by which Snakemake tells the command, which started it, of its events (`workflow/logger`)."""

# --------------------
# How a job or a plan, which is a process of seconds, deals with garbage.
#
# Importing torch and transformers makes half a million objects, none of which is garbage. Python's collector goes
# through them again and again while they are made, and once more when the process ends: a third of the processor
# time of a job that runs a small model, and a quarter of that of a plan.


_SELDOM = 7_000
"""Objects that are made, less those that are gone, between two collections of the youngest; Python's own is 700."""


def collect_seldom() -> None:
    """Collect a tenth as often, and not at the end of the process, which gives all of its memory back anyway."""
    _, *older = gc.get_threshold()
    gc.set_threshold(_SELDOM, *older)
    atexit.register(gc.freeze)


# What Arrow's allocator sets aside at its first use, and hardly touches; threads have their stacks.
_SET_ASIDE = 3 << 29


def bound_memory(asked: int | None) -> None:
    """Let this job have about as much memory as it asked for, so that one that wants more ends with a sentence.

    For jobs that read files of strangers: what no check has foreseen is then told (`said_of_failure`), and not killed
    by the system, perhaps with others beside it. What counts is data (`RLIMIT_DATA`), and no files that are mapped; so
    jobs with models, whose libraries set aside what they never use, go without.

    Args:
        asked: `mem_mb` of the job, in megabytes; None for what the machine has free.
    """
    import psutil

    if (data := getattr(psutil.Process().memory_info(), "data", None)) is None:
        return  # no Linux
    wanted = psutil.virtual_memory().available if asked is None else int(asked) * 10**6
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = data + wanted + _SET_ASIDE
    resource.setrlimit(resource.RLIMIT_DATA, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


# --------------------
# Where a job's messages go: its log file and the terminal; of a mistake of ours also its traceback, in a file.


# What the system refuses wherever a path of the user's is looked at, and what to do about it.
_REFUSED = {
    **dict.fromkeys(
        [errno.EACCES, errno.EPERM],
        "Let yourself read it and search the folders on the way (`chmod u+rX`), or name another file in the config.",
    ),
    **dict.fromkeys(
        [errno.ENOSPC, errno.EDQUOT, errno.EFBIG],
        "Make room where results, TMPDIR and the cache of models lie, or take other folders, and run again.",
    ),
    errno.EROFS: "Nothing can be written there: take another folder.",
    errno.ENAMETOOLONG: "Write a shorter path in the config, or move the study to a folder of a shorter name.",
    errno.ELOOP: "Symbolic links lead in a circle there: take them away, or name another file in the config.",
    **dict.fromkeys([errno.EMFILE, errno.ENFILE], "Too many files are open: raise the limit (`ulimit -n`)."),
    **dict.fromkeys([errno.EIO, errno.ESTALE], "See to the disk or the network that the files lie on, and run again."),
}
# Told by a file that is open already, of which the system does not say the name.
_WITHOUT_NAME = _REFUSED.keys() - {errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP}
_TALKATIVE = ("fontTools", "matplotlib")  # which would tell of every table of every font


class _Printable(logging.Formatter):
    """Messages quote texts, labels and file names from anywhere: none of them may steer the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


class _LogFile(logging.FileHandler):
    """A file that may fill the disk: that is told once, and the job goes on without it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, mode="w", encoding="utf-8")
        self._told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Tell that the log is not written, in place of a traceback for each message."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._told:
            self._told = True
            _tell_without_log(Path(self.baseFilename), error)


def _tell_without_log(path: Path, error: OSError) -> None:
    print(f"{path}: this log cannot be written ({error.strerror}); messages are shown here alone.", file=sys.stderr)


def log_to(path: str | Path) -> None:
    """Send all messages of this process, a job, to the file `path` and to standard error: the first thing that jobs do.

    An `InputError` that nobody catches is shown as its message alone, since it is written for the user. Of any other
    exception a sentence says what to do (`said_of_failure`); of a defect of ours the traceback is in
    `<path>.traceback`. Where the file cannot be written, the terminal alone gets the messages, and the job goes on.
    """
    path = Path(path)
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _traceback_of(path).unlink(missing_ok=True)  # of a failure that is mended
        handlers.append(_LogFile(path))
    except OSError as error:
        _tell_without_log(path, error)
    for handler in handlers:
        handler.setFormatter(_Printable("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
    for library in _TALKATIVE:
        logging.getLogger(library).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    sys.excepthook = partial(_log_exception, path)
    collect_seldom()


def said_of_failure(error: BaseException, log: str | Path) -> str:
    """Return what to tell the user of an error that nobody foresaw.

    Memory, and files that the system refuses, are for the user to mend. Anything else is a defect of ours, whose
    traceback is kept in `<log>.traceback`.
    """
    where = _traceback_of(Path(log))
    kind = type(error).__name__
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error) or "not enough memory" in str(error):
        return (
            f"Out of memory ({kind}). Give the job more (`mem_mb` of its rule in the profile), or run fewer at a time;"
            " what is done is not done twice."
        )
    if gave_up(error) and "tokenizers" in sys.modules:
        return (
            f"The library tokenizers gave up ({reason(error)[:300]}): a tokenizer.json is damaged, or asks for what"
            " takes for ever. Fetch the model that this job is of again, from a source that you trust."
        )
    if isinstance(error, OSError) and error.errno in _REFUSED and (error.filename or error.errno in _WITHOUT_NAME):
        where_it_was = f"{str(error.filename)[:500]}: " if error.filename else ""
        return f"{where_it_was}{error.strerror}. {_REFUSED[error.errno]} What is done is not done twice."
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text("".join(traceback.format_exception(error)), encoding="utf-8", errors="backslashreplace")
        kept = f"Its traceback is in {where}."
    except OSError as failure:
        kept = f"Its traceback could not be kept ({failure.strerror})."
    said = str(error).strip().splitlines() or [""]
    return (
        f"Stopped by a defect of prasanga, not by a mistake of yours: {kind}: {said[0][:500]}. {kept} Please report it"
        " with that file and with the config (CONTRIBUTING.md says where); what is done is not done twice."
    )


def _end_interrupted(logger: logging.Logger) -> None:
    """Say so and end by the same signal, without waiting for threads; a second interrupt ends it sooner.

    An interrupt between the start of a thread and its entry in the list of its pool leaves a thread that nobody will
    ever tell to end, and that Python would wait for.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    logger.error("interrupted")
    logging.shutdown()
    os.kill(os.getpid(), signal.SIGINT)


def _traceback_of(log: Path) -> Path:
    return log.with_name(f"{log.name}.traceback")


def _log_exception(
    log: Path, _kind: type[BaseException], error: BaseException, _traceback: TracebackType | None
) -> None:
    logger = logging.getLogger("prasanga")
    if isinstance(error, InputError):
        logger.error("%s", error)
    elif isinstance(error, KeyboardInterrupt):
        _end_interrupted(logger)
    else:
        logger.critical("%s", said_of_failure(error, log))
