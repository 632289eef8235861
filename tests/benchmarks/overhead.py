"""What the workflow costs beside the stages run by hand: `python tests/benchmarks/overhead.py [--small]`.

Prints Markdown. The study (the demo, or with `--small` that of the workflow tests) is run in copies of the tree:

1. by Snakemake, which writes down what it hands to each script; this is also the warm-up and is not timed;
2. by hand: each of these scripts as one Python process, one after the other in the same order, without Snakemake;
3. by `snakemake --cores 1`, and by `snakemake --cores 2`.

Overhead is how much longer `snakemake --cores 1` takes than the stages by hand, in percent of these; asked are 20. It
is told in time and in processor time, which other work on the machine moves less.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "tests/support"))

from measured import write_measured  # noqa: E402
from small_study import SMALL, Study, copy_code  # noqa: E402

BESIDE = Path(__file__).parent
ASKED = 20
_THREADS = ("OMP", "GOTO", "OPENBLAS", "MKL", "VECLIB", "NUMEXPR")
#: Written by the run itself and not by a job.
_OF_THE_RUN = {"results/corpus.json"}


class Timed(NamedTuple):
    """Seconds, and seconds of processor time."""

    seconds: float
    cpu: float


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="target", help="what is made; the whole study if none is named")
    parser.add_argument("--small", action="store_true", help="a smaller study than the demo, to see that it works")
    parser.add_argument("--repeats", type=int, default=1, help="of each way, in turns; the best counts")
    parser.add_argument("--folder", type=Path, help="where the copies go; a temporary folder if not given")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured there")
    options = parser.parse_args()
    with TemporaryDirectory(dir=options.folder, prefix="prasanga-overhead-") as name:
        measure(Path(name), options.targets, small=options.small, repeats=options.repeats, to=options.json)


def measure(folder: Path, targets: list[str], *, small: bool, repeats: int, to: Path | None) -> None:
    """Run the study in each way, `repeats` times in turns."""
    _say(f"targets: {' '.join(targets) or 'all'}")

    def fresh(name: str) -> Study:
        study = copy_code(PROJECT, folder / name, link_source=True)
        if small:
            study.configure(SMALL)
        return study

    jobs = folder / "jobs"
    jobs.mkdir()
    first = fresh("first")
    _say("the first run, which is not timed")
    run_snakemake(first, 2, targets, [str(BESIDE / "recorded_snakemake.py"), str(jobs)])
    recorded = sorted(jobs.glob("*.pickle"))
    ways: dict[str, Callable[[Study], None]] = {
        "by hand": lambda study: run_by_hand(study, recorded),
        "snakemake --cores 1": lambda study: run_snakemake(study, 1, targets),
        "snakemake --cores 2": lambda study: run_snakemake(study, 2, targets),
    }
    best: dict[str, Timed] = {}
    outside: dict[str, float] = {}
    for repeat in range(repeats):
        for way, run in ways.items():
            _say(way)
            study = fresh(f"{way}-{repeat}")
            timed = clocked(run, study)
            require_same_files(first, study)
            if way not in best or timed.seconds < best[way].seconds:
                best[way] = timed
                outside[way] = timed.seconds - seconds_in_jobs(study) if way == "snakemake --cores 1" else 0.0
    hand, one = best["by hand"], best["snakemake --cores 1"]
    overhead = Timed(*(100 * (mine / theirs - 1) for mine, theirs in zip(one, hand, strict=True)))
    print(
        f"{'small study' if small else 'the demo'}, {len(recorded)} jobs, {os.cpu_count()} cores; best of {repeats}\n"
    )
    print("| way | time | processor time | overhead | of processor time | asked | met |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for way, timed in best.items():
        cells = ["-"] * 4
        if way == "snakemake --cores 1":
            met = "yes" if overhead.seconds < ASKED else "**no**"
            cells = [f"{overhead.seconds:.0f} %", f"{overhead.cpu:.0f} %", f"< {ASKED} %", met]
        print(f"| {way} | {timed.seconds:.1f} s | {timed.cpu:.1f} s | {' | '.join(cells)} |")
    spent = outside["snakemake --cores 1"]
    print(f"\nOf `snakemake --cores 1`, {spent:.1f} s were not within jobs, as their benchmark files tell.")
    if to:
        results = {way: timed._asdict() for way, timed in best.items()}
        constants = {
            "jobs": len(recorded),
            "overhead_percent": overhead.seconds,
            "overhead_percent_of_cpu": overhead.cpu,
        }
        write_measured(to, results, constants={**constants, "seconds_outside_of_jobs": spent})


def clocked(run: Callable[[Study], None], study: Study) -> Timed:
    """How long a run takes, with all processes that it starts."""
    before, began = os.times(), time.perf_counter()
    run(study)
    seconds, after = time.perf_counter() - began, os.times()
    return Timed(seconds, sum(after[place] - before[place] for place in (2, 3)))


def run_snakemake(study: Study, cores: int, targets: list[str], program: list[str] | None = None) -> None:
    """Run the study as a user does."""
    command = [sys.executable, *(program or ["-m", "snakemake"]), *targets, "--cores", str(cores)]
    _require(subprocess.run(command, cwd=study.root, env=_environment(), capture_output=True, text=True, check=False))


def run_by_hand(study: Study, jobs: list[Path]) -> None:
    """Run every job as a process of its own, one after the other, with the threads that Snakemake gives it: one."""
    threads = {f"{name}_NUM_THREADS": "1" for name in _THREADS}
    environment = {**_environment(), **threads, "PYTHONPATH": str(study.root / "src")}
    for job in jobs:
        command = [sys.executable, str(BESIDE / "by_hand.py"), str(job)]
        _require(subprocess.run(command, cwd=study.root, env=environment, capture_output=True, text=True, check=False))


def require_same_files(one: Study, other: Study) -> None:
    """Refuse to compare ways that do not make the same files."""
    difference = results_of(one) ^ results_of(other)
    if difference:
        sys.exit(f"{one.root.name} and {other.root.name} do not have the same results: {sorted(difference)[:5]}")


def results_of(study: Study) -> set[str]:
    """The results that jobs have written, but for the store, whose files have random names."""
    files = (path.relative_to(study.root) for path in (study.root / "results").rglob("*") if path.is_file())
    return {path.as_posix() for path in files if path.parts[1] != "store"} - _OF_THE_RUN


def seconds_in_jobs(study: Study) -> float:
    """What the benchmark files of a run say that its jobs took, all together."""
    seconds = 0.0
    for path in (study.root / "benchmarks").rglob("*.tsv"):
        with path.open(encoding="utf-8") as file:
            seconds += sum(float(row["s"]) for row in csv.DictReader(file, delimiter="\t"))
    return seconds


def _environment() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1"}


def _require(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])


def _say(what: str) -> None:
    print(f"... {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
