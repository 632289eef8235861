"""A study that runs through Slurm in the background, and questions to it while it runs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from slurm_node import SlurmNode
from small_study import Study
from waiting import PATIENCE, until

# What the profile says for networks of computers: files are seen at once here.
ONE_MACHINE = ("--latency-wait", "5", "--slurm-init-seconds-before-status-checks", "1", "--slurm-keep-successful-logs")
_SUBMITTED = re.compile(r"has been submitted with SLURM jobid (\d+) \(log: \S*?/slurm_logs/(?:rule|group)_([^/]+)/")


@dataclass
class SlurmRun:
    """Snakemake with the Slurm profile in a study's folder."""

    node: SlurmNode
    study: Study
    arguments: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] = field(init=False)
    log: Path = field(init=False)

    def __post_init__(self) -> None:
        self.log = self.study.root / f"run{len(list(self.study.root.glob('run*.txt')))}.txt"
        runner = Path(__file__).with_name("quick_snakemake.py")
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(
                (sys.executable, runner, "--workflow-profile", "profiles/slurm", *ONE_MACHINE, *self.arguments),
                cwd=self.study.root,
                env={**os.environ, "HF_HUB_OFFLINE": "1"},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def printed(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def submitted(self) -> list[tuple[str, str]]:
        """Number and group (with its rules) or rule of every job that went to Slurm, in order."""
        return _SUBMITTED.findall(self.printed)

    def wait_for(self, group: str, *, state: str = "RUNNING", after: str = "0") -> str:
        """The number of the newest job of a group, once it is in a state; `after` is the number of one that is over."""
        found: list[str] = []

        def there() -> bool:
            assert self.process.poll() is None, self.printed
            found[:] = [
                number
                for number, name in self.submitted()
                if name.startswith(group) and int(number) > int(after) and self.node.state(number) == state
            ]
            return bool(found)

        until(there, f"a job of {group} in state {state}")
        return found[-1]

    def signal(self, which: signal.Signals) -> int:
        """Send a signal to Snakemake itself and wait for its end; returns its exit code."""
        self.process.send_signal(which)
        return self.process.wait(timeout=PATIENCE)

    def finish(self) -> str:
        """Wait for a good end; returns what was printed."""
        code = self.process.wait(timeout=PATIENCE)
        assert code == 0, self.printed
        return self.printed


@contextmanager
def slurm_run(node: SlurmNode, study: Study, *arguments: str) -> Iterator[SlurmRun]:
    """A run whose Snakemake and jobs are gone afterwards, however the test ends."""
    run = SlurmRun(node, study, arguments)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.process.kill()
            run.process.wait()
        node.cancel(node.jobs(folder=study.root))


def tables_of(study: Study) -> dict[str, pl.DataFrame | str]:
    """Every table of results that a study ends with: Parquet as values, CSV as it is written."""
    folders = ("associations", "likelihoods", "pairs", "report/tables", "report/data")
    found: dict[str, pl.DataFrame | str] = {}
    for folder in folders:
        for path in sorted((study.root / "results" / folder).rglob("*")):
            name = path.relative_to(study.root / "results").as_posix()
            if path.suffix == ".parquet":
                found[name] = pl.read_parquet(path)
            elif path.suffix in {".csv", ".tsv"}:
                found[name] = path.read_text(encoding="utf-8")
    return found


def require_equal_tables(study: Study, undisturbed: Study) -> int:
    """Fail with the names of the tables that differ; returns how many there are."""
    ours, theirs = tables_of(study), tables_of(undisturbed)
    assert ours.keys() == theirs.keys()
    different = []
    for name, table in theirs.items():
        one = ours[name]
        same = one.equals(table) if isinstance(one, pl.DataFrame) and isinstance(table, pl.DataFrame) else one == table
        different += [] if same else [name]
    assert not different
    return len(theirs)
