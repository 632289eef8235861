"""Measuring in fresh processes, each on a core of its own: one warm-up, then the best of some runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

TASKS = Path(__file__).with_name("tasks.py")
_ORACLES = Path(__file__).parents[1] / "oracles"
_ONE_THREAD = dict.fromkeys(
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"], "1"
)

Result = dict[str, Any]


def cores() -> list[int]:
    """The cores that this process may use; where the system does not say, numbers that stand for them."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


class Worker:
    """A process that does one task whenever it is told to."""

    def __init__(self, task: str, options: Mapping[str, Any], core: int) -> None:
        self._task = task
        with _on_core(core):
            self._process = subprocess.Popen(
                [sys.executable, str(TASKS), task, json.dumps(options)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, **_ONE_THREAD, "PYTHONPATH": _python_path()},
            )

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.kill()
        self._process.communicate()

    def tell(self) -> None:
        """Tell the process to do its task once."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def answer(self) -> Result:
        """Wait until it is done.

        Raises:
            RuntimeError: if the process died; what it had to say is on standard error.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the task {self._task} failed; its message stands above")
        answer: Result = json.loads(line)
        return answer


def measure(task: str, options: Mapping[str, Any], *, repeats: int, warm_up: bool = True) -> Result:
    """Do a task in a fresh process; the result of the fastest run, with its `seconds`."""
    return measure_together([(task, options)], repeats=repeats, warm_up=warm_up)[0]


def measure_together(
    tasks: Sequence[tuple[str, Mapping[str, Any]]], *, repeats: int, warm_up: bool = True
) -> list[Result]:
    """Do several tasks at the same time, each in a process on a core of its own.

    Returns:
        The results of the fastest run; `seconds` is the time from the first one's beginning to the last one's end.
    """
    with ExitStack() as stack:
        places = zip(tasks, cores()[: len(tasks)], strict=True)
        workers = [stack.enter_context(Worker(task, options, core)) for (task, options), core in places]
        runs = []
        for _ in range(repeats + warm_up):
            for worker in workers:
                worker.tell()
            runs.append([worker.answer() for worker in workers])
    timed = [(max(r["ended"] for r in run) - min(r["began"] for r in run), run) for run in runs[warm_up:]]
    seconds, best = min(timed, key=lambda pair: pair[0])
    return [{**result, "seconds": seconds} for result in best]


def seconds_of_a_process(task: str, options: Mapping[str, Any], *, repeats: int) -> float:
    """How long a process takes that starts, does its task once, and ends: the best of some."""
    seconds = []
    for _ in range(repeats):
        began = time.monotonic()
        measure(task, options, repeats=1, warm_up=False)
        seconds.append(time.monotonic() - began)
    return min(seconds)


def seconds_of_snakemake(repeats: int) -> float:
    """How long Snakemake takes to start, which it does once more for each job."""
    seconds = []
    for _ in range(repeats):
        began = time.monotonic()
        subprocess.run([sys.executable, "-m", "snakemake", "--version"], check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.monotonic() - began)
    return min(seconds)


@contextmanager
def _on_core(core: int) -> Iterator[None]:
    """Stay on one core for a moment: a process started meanwhile stays there for good, with all its threads."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _python_path() -> str:
    return os.pathsep.join(filter(None, [str(_ORACLES), os.environ.get("PYTHONPATH")]))
