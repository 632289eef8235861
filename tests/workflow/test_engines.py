"""Studies through the profiles of queues, with commands of ours in the place of the queues'.

The commands refuse, kill, forget and lose jobs and fall silent (tests/support/queue_commands); what comes out must be
what a run on this machine gives. The profiles are used as they are, but for the seconds between questions.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes_plugins import python_path
from shared_studies import shared_study
from small_study import SMALL, Study, copy_code
from waiting import until

COMMANDS = Path(__file__).parents[1] / "support/queue_commands"
# One model, one category, one length, a part of the text: as few jobs as have all stages.
SMALLEST = {
    **SMALL,
    "categories": ["C1"],
    "corpus": {
        "texts": [{"files": "resources/demo/corpus/bn/[ns]*.txt", "documents": "blank-line", "title": "Demo text"}]
    },
    "models": {"tiny": {"train": {"hidden_size": 16, "heads": 2, "layers": 1, "steps": 4, "seed": 1}}},
    "samples": {"lengths": [9], "contexts_per_stimulus": 3},
}
# Threads change last bits of vectors (docs/running.md); a queue gives more of them than a small workstation.
ONE_THREAD = ("--set-threads", "embed_segments=1")
QUICKLY = ("--seconds-between-status-checks", "1", "--max-status-checks-per-second", "10", "--latency-wait", "10")
CANCEL = {"lsf": "bkill", "pbs": "qdel", "sge": "qdel"}

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="session")
def local(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The study, run on this machine without a queue, as on a workstation."""

    def run(destination: Path) -> Study:
        study = begin(project_root, destination)
        study.run("--workflow-profile", "profiles/workstation", *ONE_THREAD)
        return study

    return shared_study(tmp_path_factory, "engines", run)


def begin(project_root: Path, destination: Path) -> Study:
    study = copy_code(project_root, destination, link_source=True)
    config = {**study.config, **SMALLEST}
    (study.root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return study


def environment(study: Study, queue: str, faults: Mapping[str, Any], **settings: str) -> dict[str, str]:
    """A shell in which the queue's commands are ours. Two seconds are long here for a queue that does not answer."""
    folder = study.root / "queue"
    folder.mkdir()
    (folder / "faults.json").write_text(json.dumps(faults), encoding="utf-8")
    return {
        "PATH": f"{COMMANDS / queue}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "QUEUE_FOLDER": str(folder),
        "PRASANGA_QUEUE_PATIENCE": "3",
        "PRASANGA_QUEUE_TIMEOUT": "2",
        **settings,
    }


def calls(study: Study, command: str) -> list[list[str]]:
    """How a command was called, in order."""
    lines = (study.root / "queue/calls.jsonl").read_text(encoding="utf-8").splitlines()
    return [call[1:] for call in map(json.loads, lines) if call[0] == command]


def through(study: Study, queue: str, *arguments: str, **keywords: Any) -> subprocess.CompletedProcess[str]:
    """Run the study through a profile, as its page says."""
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "snakemake",
            "--workflow-profile",
            f"profiles/{queue}",
            *arguments,
            *QUICKLY,
            *ONE_THREAD,
        ],
        cwd=study.root,
        env={**os.environ, "HF_HUB_OFFLINE": "1", **environment(study, queue, **keywords)},
        capture_output=True,
        text=True,
        check=False,
    )


def tables(study: Study) -> dict[str, bytes]:
    """The bytes of all tables, but for what says when and how something ran."""
    results = study.root / "results"
    return {
        str(path.relative_to(results)): path.read_bytes()
        for path in sorted(results.rglob("*"))
        if path.suffix in (".parquet", ".csv", ".tsv", ".tex") and "store" not in path.parts
    }


def assert_same_tables(study: Study, local: Study, at_least: Sequence[str]) -> None:
    ours, wanted = tables(study), tables(local)
    assert set(at_least) <= set(wanted)
    assert set(ours) == set(wanted)
    assert [name for name in wanted if ours[name] != wanted[name]] == []


@pytest.mark.long
def test_a_study_survives_a_queue_that_refuses_kills_forgets_and_loses_jobs(
    local: Study, project_root: Path, tmp_path: Path
) -> None:
    """LSF, from the corpus to the page."""
    study = begin(project_root, tmp_path / "study")
    # the first two are sentences and models, the next what is made of both
    faults = {"refused": [1], "silent": [2], "killed": [4], "lost": [5], "forgotten": [6]}
    done = through(study, "lsf", faults=faults)
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed
    assert_same_tables(
        study, local, ["associations/ceat.parquet", "samples/coverage.parquet", "report/tables/ceat.csv"]
    )
    assert (study.root / "results/report/index.html").exists()
    assert "bsub took no job (exit status 1)." in printed
    assert "has not answered for 2 seconds; the job is taken to be running." in printed
    assert "it left no exit status: it is lost." in printed
    # each of the three that failed was submitted once more, with twice the memory and the minutes
    asked = calls(study, "bsub")
    by_job: dict[str, list[list[str]]] = {}
    for call in asked:
        by_job.setdefault(Path(call[-1]).name, []).append(call)
    again = [attempts for attempts in by_job.values() if len(attempts) > 1]
    assert len(asked) - len(by_job) == 3
    for first, *others in again:
        for attempt, other in enumerate(others, start=2):
            for option in ("-M", "-W"):
                before, after = (int(call[call.index(option) + 1].removesuffix("MB")) for call in (first, other))
                assert after == attempt * before
    # jobs of seconds went together: fewer submissions than jobs
    jobs = len(re.findall(r"^Finished jobid: ", printed, re.MULTILINE))
    assert len(by_job) < jobs


@pytest.mark.long
def test_statistics_and_page_through_a_pbs_without_history(local: Study, tmp_path: Path) -> None:
    """It forgets every job with its end, so that all is known from what the jobs leave; a seed says what goes wrong."""
    study = local.copy(tmp_path / "study")
    for folder in ("associations", "report"):
        shutil.rmtree(study.root / "results" / folder)
    done = through(study, "pbs", faults={"seed": 2, "share": 0.3}, PBS_HISTORY="off")
    assert done.returncode == 0, done.stdout + done.stderr
    assert_same_tables(study, local, ["associations/ceat.parquet", "associations/ceat_differences.parquet"])
    assert calls(study, "qsub")


@pytest.mark.long
def test_vectors_and_what_follows_through_grid_engine(local: Study, tmp_path: Path) -> None:
    study = local.copy(tmp_path / "study")
    for folder in ("embeddings", "store", "associations"):
        shutil.rmtree(study.root / "results" / folder)
    done = through(study, "sge", "results/associations/ceat.parquet", faults={"killed": [1]})
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("embeddings/tiny/9/00.parquet", "associations/ceat.parquet"):
        assert (study.root / "results" / name).read_bytes() == (local.root / "results" / name).read_bytes(), name
    assert len(calls(study, "qsub")) == 3, "vectors, whose job was killed, and tried again; their statistics"
    assert not any("gpu" in word for call in calls(study, "qsub") for word in call), "a tiny model has no card"


def test_a_job_that_was_killed_is_tried_again_through_grid_engine(finished: Study, study: Study) -> None:
    name = "results/associations/ceat/tiny-a.parquet"
    (study.root / name).unlink()
    done = through(study, "sge", name, faults={"killed": [1]})
    assert done.returncode == 0, done.stdout + done.stderr
    assert (study.root / name).read_bytes() == (finished.root / name).read_bytes()
    assert len(calls(study, "qsub")) == 2
    assert not any("gpu" in word for call in calls(study, "qsub") for word in call), "a tiny model has no card"


def test_a_queue_that_takes_nothing_ends_the_run_with_its_own_words(study: Study) -> None:
    name = "results/associations/ceat/tiny-a.parquet"
    (study.root / name).unlink()
    done = through(study, "sge", name, faults={"refused": [1, 2, 3]})
    assert done.returncode == 1
    assert done.stderr.count("qsub took no job (exit status 1).") == 3
    assert "only 75000 jobs are allowed per cluster" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_ctrl_c_takes_the_jobs_out_of_the_queue(local: Study, tmp_path: Path) -> None:
    """One job, which waits: there is no slot."""
    study = local.copy(tmp_path / "study")
    name = "results/associations/ceat/tiny.parquet"
    (study.root / name).unlink()
    settings = environment(study, "lsf", {}, QUEUE_SLOTS="0")
    run = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/lsf", *QUICKLY, name],
        cwd=study.root,
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # a shell that starts tests in the background has them ignore Ctrl-C, and what they start as well
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    asked = study.root / "queue/calls.jsonl"
    until(lambda: run.poll() is not None or (asked.exists() and calls(study, "bjobs")), "a question about the job")
    time.sleep(0.5)  # while Snakemake asks, once a second, it knows of no job that it could cancel
    # one that comes while it writes a line of its log goes unheard; one that comes while it cancels stops that
    for _ in range(5):
        if run.poll() is not None:
            break
        run.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            run.wait(60)
    assert run.returncode == 1
    assert calls(study, "bkill")[0] == ["1001"]
    job = study.root / "queue/1001"
    until((job / "ended").exists, "the end of the job")  # the process of the job writes down what befell it
    assert (job / "ended").read_text(encoding="utf-8") == "137"
    assert not (study.root / name).exists()


@pytest.mark.parametrize("profile", ["workstation", "lsf", "pbs", "sge"])  # of the others: test_structure
def test_a_finished_study_has_nothing_to_do_under_any_profile(finished: Study, profile: str) -> None:
    done = finished.snakemake("--dry-run", "--workflow-profile", f"profiles/{profile}")
    assert done.returncode == 0, done.stderr
    assert "Nothing to be done" in done.stdout + done.stderr


def test_a_study_is_planned_for_kubernetes_with_all_its_files_in_storage(study: Study, tmp_path: Path) -> None:
    """The profile as it is, with a folder in the place of the bucket; no pod is made."""
    shutil.rmtree(study.root / "results")
    bucket = tmp_path / "bucket"
    storage = ("--default-storage-provider", "fs", "--default-storage-prefix", str(bucket))
    profile = ("--workflow-profile", "profiles/kubernetes", *storage)
    without = study.snakemake("--dry-run", *profile, environment=python_path())
    assert without.returncode == 1
    assert f"{bucket}/resources/stimuli/bn/flowers.yaml (in storage)" in without.stdout + without.stderr
    shutil.copytree(study.root / "resources", bucket / "resources")
    planned = study.plan(*profile, environment=python_path())
    assert planned["embed_segments"] == 2
    assert planned["write_page"] == 1
    assert not (study.root / "results/lexicon").exists()
