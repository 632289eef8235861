"""Jobs of the workflow without the workflow: its adapter scripts, each in a process of its own, in a folder of its own.

A job's process is forked from one that has imported the libraries already, so that it starts in a moment, and is a
process like any other: it is killed, runs out of disk and loses its rights alone.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.process
import os
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from faults import Around

Files = Mapping[str, Any] | Sequence[str]

_PRELOADED = (
    "pytest",
    "faults_jobs",
    "polars",
    "pyarrow.parquet",
    "numba",
    "scipy.stats",
    "regex",
    "ftfy",
    "transformers",
    "torch",
    "prasanga.associations",
    "prasanga.associations.weat",
    "prasanga.embeddings.encoder",
    "prasanga.likelihoods.pair_scores",
    "prasanga.likelihoods.engine",
    "prasanga_calibration.training",
    "prasanga.samples",
    "prasanga.sentences",
    "prasanga.static",
)


@dataclass(frozen=True)
class Job:
    """What one job is given, as a rule gives it.

    Attributes:
        script: name of an adapter in workflow/scripts, or `module:function`, which is called with `params`.
        input: files by name, or in order.
        output: the same.
        params: plain values by name.
        wildcards: by name.
        folders: folders of the results that the job writes to besides its outputs, and keeps.
    """

    script: str
    input: Files = ()
    output: Files = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    wildcards: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()

    @property
    def inputs(self) -> list[str]:
        """Its input files."""
        return list(_flat(self.input))

    @property
    def outputs(self) -> list[str]:
        """Its output files."""
        return list(_flat(self.output))


def _flat(files: Files) -> list[str]:
    values = files.values() if isinstance(files, Mapping) else files
    return [path for value in values for path in ([value] if isinstance(value, str) else value)]


class JobProcess:
    """A running job; has what `faults.Kill` needs of a process."""

    def __init__(self, process: multiprocessing.process.BaseProcess, printed: Path) -> None:
        self._process, self._printed = process, printed

    @property
    def pid(self) -> int:
        """Its process id, which is that of its session too."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """What it ended with; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The same."""
        return self._process.exitcode

    def wait(self, timeout: float = 180) -> int:
        """Wait for its end.

        Raises:
            TimeoutError: it has not come; the job is killed.
        """
        self._process.join(timeout)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
            raise TimeoutError(f"no end after {timeout} s:\n{self.printed()}")
        return self._process.exitcode

    def printed(self) -> str:
        """What it has printed so far."""
        return self._printed.read_text(encoding="utf-8", errors="replace") if self._printed.exists() else ""


def start_job(job: Job, root: Path, *, around: Around | None = None, name: str = "job") -> JobProcess:
    """Start a job in the folder `root`; what it prints goes to `<root>/../<name>.txt`."""
    context = multiprocessing.get_context("forkserver")
    here = Path(__file__).parent
    os.environ.setdefault("PYTHONPATH", str(here))
    context.set_forkserver_preload(list(_PRELOADED))
    for path in job.outputs:  # as Snakemake does
        with suppress(OSError):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
    printed = root.parent / f"{name}.txt"
    around = around or Around()
    process = context.Process(
        target=_run, args=(job, str(root), str(printed), dict(around.environment), list(around.before)), daemon=True
    )
    process.start()
    return JobProcess(process, printed)


def run_job(job: Job, root: Path, *, around: Around | None = None, name: str = "job") -> tuple[int, str]:
    """Run a job to its end: what it ended with, and what it printed."""
    process = start_job(job, root, around=around, name=name)
    return process.wait(), process.printed()


def _run(
    job: Job, root: str, printed: str, environment: Mapping[str, str | None], before: Sequence[Callable[[], None]]
) -> None:
    os.setsid()
    stream = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(stream, 1)
    os.dup2(stream, 2)
    os.chdir(root)
    sys.path.insert(0, str(Path(root, "src")))
    os.environ["HF_HUB_OFFLINE"] = "1"
    for name, value in environment.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    for each in before:
        each()
    code = 0
    try:
        if ":" in job.script:
            module, function = job.script.split(":")
            getattr(import_module(module), function)(**job.params)
        else:
            script = str(Path(root, "workflow", "scripts", f"{job.script}.py"))
            runpy.run_path(script, init_globals={"snakemake": _stand_in(job)}, run_name="__main__")
    except SystemExit as error:
        code = 1 if error.code else 0
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _stand_in(job: Job) -> SimpleNamespace:
    from snakemake.iocontainers import InputFiles, OutputFiles, Params, ResourceList, Wildcards

    def filled(files: Any, given: Files) -> Any:
        for name, value in given.items() if isinstance(given, Mapping) else ((None, value) for value in given):
            start = len(files)
            files.extend([value] if isinstance(value, str) else value)
            if name is not None:
                files._set_name(name, start, end=None if isinstance(value, str) else len(files))
        return files

    return SimpleNamespace(
        input=filled(InputFiles(), job.input),
        output=filled(OutputFiles(), job.output),
        params=Params(fromdict=dict(job.params)),
        wildcards=Wildcards(fromdict=dict(job.wildcards)),
        log=[f"logs/{job.script}.log"],
        threads=1,
        resources=ResourceList(fromdict={"cards": 0}),
        config={},
    )
