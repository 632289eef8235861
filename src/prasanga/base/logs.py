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

COMMAND = "PRASANGA_COMMAND"
"""Environment variable that the command sets for Snakemake and its jobs."""

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


# What the system refuses, and what to do about it; of a file that is open already it does not say the name.
_REFUSED = {
    **dict.fromkeys([errno.EACCES, errno.EPERM], "Let yourself read it (`chmod u+rX`), or name another file."),
    **dict.fromkeys(
        [errno.ENOSPC, errno.EDQUOT, errno.EFBIG],
        "Make room in the folders of results, of TMPDIR and of the cache of models, or take other folders.",
    ),
    **dict.fromkeys([errno.EMFILE, errno.ENFILE], "Too many files are open: raise the limit (`ulimit -n`)."),
    **dict.fromkeys([errno.EIO, errno.ESTALE, errno.EROFS], "Check the disk or the network that has the files."),
}
_TALKATIVE = ("fontTools", "matplotlib")  # which would tell of every table of every font


class _Printable(logging.Formatter):
    """Messages quote texts, labels and file names from anywhere: none of them may steer the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def log_to(path: str | Path) -> None:
    """Send all messages of this process, a job, to the file `path` and to standard error: the first thing that jobs do.

    Where the command shows progress bars on a terminal, the file alone gets them; Snakemake shows it if the job fails.

    An `InputError` that nobody catches is shown as its message only, because it is written for the user. For any other
    exception a sentence says what to do (`said_of_failure`); the traceback of a defect of ours is in
    `<path>.traceback`. Where the file cannot be made, only the terminal gets the messages.
    """
    path = Path(path)
    handlers = list[logging.Handler]()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _traceback_of(path).unlink(missing_ok=True)  # of an earlier failure
        handlers.append(logging.FileHandler(path, mode="w", encoding="utf-8"))
    except OSError as error:
        print(f"{path}: no log is written ({error.strerror}); messages are only shown here.", file=sys.stderr)
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
    """Return what to tell the user of an error that nobody foresaw.

    The user can do something about memory and about files that the system refuses. Anything else is a defect of ours,
    whose traceback is kept in `<log>.traceback`.
    """
    kind, said = type(error).__name__, str(error).strip()
    if isinstance(error, MemoryError) or "can't allocate memory" in said or "not enough memory" in said:
        return (
            f"Out of memory ({kind}). Give the job more (`mem_mb` of its rule in the profile), or run fewer at a time;"
            " finished work is kept."
        )
    if gave_up(error) and "tokenizers" in sys.modules:
        return (
            f"The library tokenizers gave up ({reason(error)[:300]}): a tokenizer.json is damaged. Fetch the model of"
            " this job again."
        )
    if isinstance(error, OSError) and error.errno in _REFUSED:
        path = f"{error.filename}: " if error.filename else ""
        return f"{path}{error.strerror}. {_REFUSED[error.errno]} Run again; finished work is kept."
    where = _traceback_of(Path(log))
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text("".join(traceback.format_exception(error)), encoding="utf-8", errors="backslashreplace")
        kept = f"Its traceback is in {where}."
    except OSError as failure:
        kept = f"Its traceback could not be kept ({failure.strerror})."
    return (
        f"Stopped by a defect of prasanga, not by a mistake of yours: {kind}: {''.join(said.splitlines()[:1])[:500]}."
        f" {kept} Please report it with that file and with the config (CONTRIBUTING.md says where); finished work is"
        " kept."
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
