"""The small study through a real Slurm while things go wrong: its tables equal those of a quiet local run."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from slurm_node import SlurmNode
from slurm_runs import require_equal_tables, slurm_run
from small_study import Study
from waiting import until

pytestmark = pytest.mark.long


def test_interrupted_then_cancelled_and_out_of_memory(
    node: SlurmNode, half_done: Callable[[], Study], finished: Study
) -> None:
    """Ctrl-C cancels all jobs; a cancelled job and one without enough memory are tried again, with more of it."""
    study = half_done()
    with slurm_run(node, study) as run:
        number = run.wait_for("embed_segments")
        node.hold(number)
        assert run.signal(signal.SIGINT) != 0
        until(lambda: not node.jobs(folder=study.root), "an empty queue after Ctrl-C")
        assert node.state(number) == "CANCELLED"
    assert not list((study.root / ".snakemake" / "locks").glob("*"))

    shutil.rmtree(study.root / "results" / "sentences" / "audit")
    # less than Snakemake itself takes in the job, then enough
    with slurm_run(node, study, "--set-resources", "audit_sentences:mem_mb=150 * attempt ** 3") as run:
        first = run.wait_for("embed_segments")
        node.hold(first)
        asked = megabytes(node, first)
        node.cancel([first])
        second = run.wait_for("embed_segments", after=first)
        assert megabytes(node, second) == 2 * asked
        printed = run.finish()
        audits = [number for number, name in run.submitted() if name.startswith("sentences")]
        assert [megabytes(node, number) for number in audits][:2] == [150, 1200]
        assert [node.state(number) for number in audits] == ["FAILED", "COMPLETED"]
    assert "Trying to restart" in printed
    log = next((study.root / ".snakemake" / "slurm_logs").glob(f"group_sentences*/**/{audits[0]}.log"))
    assert "memory" in log.read_text(encoding="utf-8")
    assert require_equal_tables(study, finished) > 10


def test_node_drained_and_controller_killed(node: SlurmNode, half_done: Callable[[], Study], finished: Study) -> None:
    """What runs on a drained node goes on, what is new waits; both outlive the controller. Nothing is sent twice."""
    study = half_done()
    with slurm_run(node, study) as run:
        number = run.wait_for("embed_segments")
        node.drain()
        time.sleep(6)  # the controller writes down what it knows every five seconds
        node.stop_controller(hard=True)
        assert not node.is_running("slurmctld")
        time.sleep(2)
        node.start_controller()
        assert node.state(number) in {"RUNNING", "COMPLETING", "COMPLETED"}
        waiting = run.wait_for("measure_ceat", state="PENDING")
        time.sleep(3)
        assert node.state(waiting) == "PENDING"
        node.resume()
        run.finish()
        assert Counter(name for _, name in run.submitted()) == {
            "embed_segments": 2,
            **{"measure_ceat": 2, "measure_multiverse": 1},
        }
    assert require_equal_tables(study, finished) > 10


def test_snakemake_killed(node: SlurmNode, half_done: Callable[[], Study], finished: Study, tmp_path: Path) -> None:
    """After kill -9 the jobs run on; the script ends those of the folder alone, and the same command goes on."""
    study = half_done()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    others = [submit_sleep(node, elsewhere, "prasanga_other-folder"), submit_sleep(node, study.root, "other-name")]
    with slurm_run(node, study) as run:
        number = run.wait_for("embed_segments")
        node.hold(number)
        assert "is running here" in cancel_orphans(study).stderr
        run.signal(signal.SIGKILL)
        assert node.state(number) == "RUNNING"
        assert "locked" in study.snakemake("--workflow-profile", "profiles/slurm").stderr.lower()

        done = cancel_orphans(study)
        assert (done.returncode, node.state(number)) == (0, "CANCELLED"), done.stderr
        assert set(others) <= set(node.jobs())
        assert cancel_orphans(study).returncode == 0
    with slurm_run(node, study) as run:
        run.finish()
    node.cancel(others)
    assert require_equal_tables(study, finished) > 10


def test_orphans_beside_a_second_start(node: SlurmNode, half_done: Callable[[], Study], finished: Study) -> None:
    """Who forgets the orphans has two jobs that write the same files; the results are whole all the same."""
    study = half_done()
    with slurm_run(node, study) as run:
        orphan = run.wait_for("embed_segments")
        run.signal(signal.SIGKILL)
        study.run("--unlock")
        with slurm_run(node, study) as again:
            again.wait_for("embed_segments", after=orphan)
            again.finish()
        until(lambda: node.state(orphan) not in {"RUNNING", "COMPLETING"}, "the end of the orphan")
    # what the orphan wrote last stands there, with what belongs to it
    with slurm_run(node, study) as run:
        run.finish()
    assert require_equal_tables(study, finished) > 10


def megabytes(node: SlurmNode, number: str) -> int:
    """The memory that a job asked for."""
    found = re.fullmatch(r"(\d+)M", node.asked_for(number)["MinMemoryNode"])
    assert found is not None
    return int(found[1])


def submit_sleep(node: SlurmNode, folder: Path, name: str) -> str:
    """A job that does nothing, and asks for next to nothing; its number."""
    return node.ask(
        *("sbatch", "--parsable", f"--chdir={folder}", f"--job-name={name}", "--mem=10", "--time=30"),
        *("--output=/dev/null", "--begin=now+1hour", "--wrap=sleep 1"),
    ).strip()


def cancel_orphans(study: Study) -> subprocess.CompletedProcess[str]:
    """The script of the profile, as a user runs it."""
    return subprocess.run(
        (sys.executable, "profiles/slurm/cancel_orphans.py"),
        cwd=study.root,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
