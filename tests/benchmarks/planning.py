"""Seconds until a study is planned: `python tests/benchmarks/planning.py [paper|web|largest ...]`.

Prints Markdown. `paper` is the full study of config/sadhu2024.yaml on a corpus of the size of Bangla2B+ in 256 files;
`web` is the third plan of docs/performance.md, `largest` the same in parts of 512 MB and 16 buckets: 23,000 jobs.
Each lies in a copy of the tree, with files of a corpus that take no room (holes of the right size) and with their
digests in `results/corpus.json`: reading a corpus for its digests is not planning, and not in the figures. Each is
planned by `snakemake --dry-run`:

first     nothing is there, nothing is remembered under `.snakemake`
again     nothing is there, code and word lists are remembered
finished  all results are there, as empty files with Snakemake's notes: nothing is to be done
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "tests/support"))

from measured import write_measured  # noqa: E402
from small_study import CODE  # noqa: E402

LISTS_OF_OURS = {"stimuli": "resources/stimuli/bn", "suffix_groups": "resources/suffix_groups/bn.yaml"}
CATEGORIES = [f"C{number}" for number in range(1, 10)]
_MODEL = {"revision": "0" * 40, "kind": "encoder", "dtype": "bfloat16"}


class Planned(NamedTuple):
    """A study to plan.

    Attributes:
        config: what is laid over `base`, section by section.
        files: of the corpus.
        gigabytes: of all files together, 10^9 bytes.
        asked: seconds within which it is to be planned.
        base: the config that it starts from.
    """

    config: Mapping[str, Any]
    files: int
    gigabytes: float
    asked: int
    base: str = "config/sadhu2024.yaml"


_TEN = {
    "categories": CATEGORIES,
    "lexicon": LISTS_OF_OURS,
    "samples": {"lengths": [9, 12, 18, 25, 35, 50, 75, 100, 150, ">150"]},
    "models": {f"model-{number}": {"path": f"somebody/model-{number}", **_MODEL} for number in range(10)},
    "comparison": {"paper": "none", "models": {}},
    "static": {"vectors": {}},
}
PLANS = {
    "paper": Planned({"categories": CATEGORIES, "lexicon": LISTS_OF_OURS}, 256, 27.5, 10),
    "web": Planned({**_TEN, "corpus": {"shard_megabytes": 4096}, "embeddings": {"buckets": 4}}, 2_441, 10_000, 60),
    "largest": Planned({**_TEN, "embeddings": {"buckets": 16}}, 19_531, 10_000, 60),
}


class Timed(NamedTuple):
    """One dry run: seconds, seconds of processor time, jobs that it plans, GiB of memory at most."""

    seconds: float
    cpu: float
    jobs: int
    memory: float


def main() -> None:
    """Measure the plans that the command line names; all of them if it names none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", nargs="*", metavar="plan", help=f"{' or '.join(PLANS)}; all if none is named")
    parser.add_argument("--states", nargs="+", default=list(STATES), choices=STATES, metavar="STATE", help="which")
    parser.add_argument("--profile", type=Path, metavar="FOLDER", help="write cProfile's files of the dry runs there")
    parser.add_argument("--folder", type=Path, help="where the copies go; a temporary folder if not given")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured there")
    options = parser.parse_args()
    print("| plan | state | jobs | planned within | CPU | memory | asked | met |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    results: dict[str, Any] = {}
    for name in options.plans or PLANS:
        planned = PLANS[name]
        with TemporaryDirectory(dir=options.folder, prefix="prasanga-planning-") as folder:
            root = Path(folder)
            write_study(root, planned)
            for state in (state for state in STATES if state in options.states):
                STATES[state](root)
                profile = options.profile and options.profile.absolute() / f"{name}-{state}.prof"
                timed = plan(root, profile=profile)
                results[f"{name}, {state}"] = {
                    **timed._asdict(),
                    **(sizes_of_notes(root) if state == "finished" else {}),
                }
                met = "yes" if timed.seconds <= planned.asked else "**no**"
                cells = (name, state, f"{timed.jobs:,}", f"{timed.seconds:.1f} s", f"{timed.cpu:.1f} s")
                print(f"| {' | '.join(cells)} | {timed.memory:.2f} GiB | <= {planned.asked} s | {met} |", flush=True)
    if options.json:
        write_measured(options.json, results, constants=constants_of(results))


def constants_of(results: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """What docs/performance.md computes with."""
    return {
        f"{key} of {name}": value
        for name, found in results.items()
        for key, value in found.items()
        if key != "cpu" and not (name.endswith("finished") and key == "jobs")
    }


def sizes_of_notes(root: Path) -> dict[str, int]:
    """Files of results, bytes of Snakemake's notes on them, and of the largest."""
    notes = [path for path in (root / ".snakemake/metadata").rglob("*") if path.is_file()]
    results = [path for path in (root / "results").rglob("*") if path.is_file()]
    return {
        "results": len(results),
        "notes": len(notes),
        "bytes_of_notes": sum(path.stat().st_size for path in notes),
        "bytes_of_largest_note": max((path.stat().st_size for path in notes), default=0),
    }


def write_study(root: Path, planned: Planned) -> None:
    """A copy of the tree with the study's config, its corpus of holes, and the digests of that."""
    for part in CODE:
        target = root / part
        (shutil.copytree if (PROJECT / part).is_dir() else shutil.copy)(PROJECT / part, target)
    config = yaml.safe_load((PROJECT / planned.base).read_text(encoding="utf-8"))
    for key, value in planned.config.items():
        merged = isinstance(value, Mapping) and key != "models"
        config[key] = {**config.get(key, {}), **value} if merged else value
    corpus, size = root / config["corpus"]["root"], round(planned.gigabytes * 1e9 / planned.files)
    corpus.mkdir(parents=True)
    entries = {}
    for number in range(planned.files):
        path = corpus / f"text-{number:05d}.txt"
        with path.open("wb") as file:
            file.truncate(size)
        status = path.stat()
        entry = {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "digest": f"{number:032x}"}
        entries[path.relative_to(root).as_posix()] = entry
    (root / "results").mkdir()
    (root / "results/corpus.json").write_text(json.dumps({"files": entries}), encoding="utf-8")
    (root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")


def forget(root: Path) -> None:
    """As in a fresh clone, but for Python's own files of compiled modules."""
    shutil.rmtree(root / ".snakemake", ignore_errors=True)


def remember(root: Path) -> None:
    """As after an earlier plan."""
    plan(root)


def finish(root: Path) -> None:
    """As after a run to the end: every output is there, empty, and noted."""
    printed = snakemake(root, "--dry-run", "--forceall").stdout
    for line in re.findall(r"^ +output: (.+)$", printed, flags=re.MULTILINE):
        for name in re.sub(r" \(.+?\)", "", line).split(", "):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    snakemake(root, "--touch", "--forceall")


STATES = {"first": forget, "again": remember, "finished": finish}


def plan(root: Path, *, profile: Path | None = None) -> Timed:
    """Time a dry run."""
    before, began = os.times(), time.perf_counter()
    done = snakemake(root, "--dry-run", "--quiet", "rules", profile=profile)
    seconds, after = time.perf_counter() - began, os.times()
    total = re.search(r"^total +(\d+)$", done.stdout, flags=re.MULTILINE)
    if total is None and "Nothing to be done" not in done.stdout + done.stderr:
        sys.exit(f"This says neither how many jobs there are nor that there are none:\n{done.stdout}{done.stderr}")
    peak = re.search(r"^peak (\d+)$", done.stderr, flags=re.MULTILINE)
    memory = int(peak.group(1)) / 2**20 if peak else 0.0
    cpu = sum(after[place] - before[place] for place in (2, 3))
    return Timed(seconds, cpu, int(total.group(1)) if total else 0, memory)


def snakemake(root: Path, *arguments: str, profile: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in the study's folder; it says on standard error how many KiB it had at most."""
    profiled: Sequence[str] = ("-m", "cProfile", "-o", str(profile)) if profile else ()
    command = [sys.executable, *profiled, str(Path(__file__).with_name("snakemake_with_peak.py")), *arguments]
    done = subprocess.run(
        [*command, "--cores", "2"],
        cwd=root,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    return done


if __name__ == "__main__":
    main()
