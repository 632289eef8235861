"""A run of the workflow: its command line, its plan, its interrupt, and that a study has one run at a time."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from prasanga.base.errors import InputError
from prasanga.cli.running import INTERRUPTED, count_gpus, count_jobs, explain, follow, only_run, snakemake_command

PARAMS = (
    "Params have changed since last execution: Union of exclusive params before and now across all output: before: "
)
EDITED = f"{PARAMS}'measure_ceat.py 0123456789abcdef' now: 'measure_ceat.py ba98765432101234' "


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        (["Missing output files: a.csv; Updated input files: words/a.yaml"], "input changed"),
        (["Missing output files: a.csv; Input files updated by another job: b"], "missing"),
        (["Input files updated by another job: results/b"], "its inputs change"),
        (["Set of input files has changed since last execution"], "other input files than before"),
        (["Forced execution"], "asked for"),
        (["Something new in Snakemake 10"], "Something new in Snakemake 10"),
        ([EDITED, "Missing output files: a.csv"], "code changed"),
        ([f"Input files updated by another job: a; {PARAMS}{{'n': 40}} now: {{'n': 50}} ", EDITED], "setting changed"),
        ([f"{PARAMS}'a.py 012' {{'n': 40}} now: 'a.py 345' {{'n': 50}} "], "setting changed"),
        ([f"{PARAMS}<nothing exclusive> now: {{'top': 3}} "], "setting changed"),
    ],
)
def test_a_stage_has_one_reason(reasons: list[str], said: str) -> None:
    assert explain(reasons) == said


def test_jobs_of_a_dry_run_are_counted_by_stage() -> None:
    def job(rule: str, log: str, reason: str) -> str:
        return f"rule {rule}:\n    input: a\n{log}    jobid: 1\n    reason: {reason}\n    resources: tmpdir=/tmp\n"

    printed = [
        *(job("embed", f"    log: logs/embeddings/{n}.log\n", f"Missing output files: {n}") for n in range(3)),
        job("write_page", "    log: logs/report/page.log\n", "Input files updated by another job: a"),
        job("all", "", "Input files updated by another job: a"),
    ]
    assert count_jobs("".join(printed)) == [("embeddings", 3, "missing"), ("report", 1, "its inputs change")]
    assert count_jobs("Nothing to be done.") == []


def test_an_interrupt_goes_to_the_process_once_and_waits_for_it(tmp_path: Path) -> None:
    code = (
        "import pathlib, time",
        f"here = pathlib.Path({str(tmp_path)!r})",
        "try:",
        "    (here / 'began').touch(); time.sleep(60)",
        "except KeyboardInterrupt:",
        "    time.sleep(0.2); (here / 'ended').touch()",
    )

    def interrupt() -> None:
        while not (tmp_path / "began").exists():
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    main = threading.get_ident()
    threading.Thread(target=interrupt, daemon=True).start()
    assert follow([sys.executable, "-c", "\n".join(code)]) == INTERRUPTED
    assert (tmp_path / "ended").exists()
    assert follow([sys.executable, "-c", "raise SystemExit(3)"]) == 3


def test_a_study_has_one_run_at_a_time(tmp_path: Path) -> None:
    told = rf"is being run already, by process {os.getpid()} on .*since"
    with only_run(tmp_path):
        for _ in range(2):  # a run that is refused leaves what the other has noted
            with pytest.raises(InputError, match=told), only_run(tmp_path):
                pass
    with only_run(tmp_path) as held:
        assert os.pread(held, 200, 0)


def test_a_file_system_without_locks_is_left_to_snakemake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr("prasanga.cli.running.fcntl.flock", unsupported)
    with only_run(tmp_path) as held:
        assert os.pread(held, 200, 0)


def test_locks_that_a_killed_run_has_left_are_taken_away_and_others_are_told(tmp_path: Path) -> None:
    lock = tmp_path / ".snakemake/locks/0.input.lock"
    lock.parent.mkdir(parents=True)
    killed = "import os; from pathlib import Path; from prasanga.cli.running import only_run; c = only_run(Path.cwd());"
    killed += f" c.__enter__(); Path({str(lock)!r}).touch(); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", killed], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    assert lock.exists()
    with only_run(tmp_path):
        assert not lock.exists()
    lock.touch()  # as Snakemake does that was started without us, and says so itself
    with only_run(tmp_path):
        assert lock.exists()


def test_the_command_line_has_targets_first_and_what_the_machine_has(
    tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    (tmp_path / "mine.yaml").write_text("study: mine\n", encoding="utf-8")
    asked: dict[str, Any] = {"config": tmp_path / "mine.yaml", "dry_run": True, "draws_bars": True}
    line = snakemake_command(tmp_path, ["figures"], **asked, others=["--keep-going"])
    root = project_root.resolve()
    assert line[1:] == [
        *("-P", "-m", "snakemake", "figures", "--configfile", str(tmp_path / "mine.yaml"), "--cores", "all"),
        *("--resources", "gpu=2", "--logger", "rich", "--workflow-profile", str(root / "profiles/default")),
        *("--snakefile", str(root / "Snakefile"), "--directory", str(tmp_path), "--nocolor"),
        *("--dry-run", "--keep-going"),
    ]
    assert "gpu=1" in snakemake_command(tmp_path, gpus=0), "one job on a model at a time"
    on_cluster = snakemake_command(tmp_path, profile="slurm")
    assert on_cluster[4:6] == ["--workflow-profile", str(root / "profiles/slurm")]
    assert "--cores" not in on_cluster
    (tmp_path / "profiles/slurm").mkdir(parents=True)
    (tmp_path / "profiles/slurm/profile.yaml").touch()
    assert str(tmp_path / "profiles/slurm") in snakemake_command(tmp_path, profile="slurm"), "the study's own"
    with pytest.raises(InputError, match=r"no profile 'slrum'.*slurm, workstation"):
        snakemake_command(tmp_path, profile="slrum")


def test_cards_are_counted_without_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert count_gpus(tmp_path) == 0
    for name in ("0000:01:00.0", "0000:02:00.0"):
        information = tmp_path / f"driver/nvidia/gpus/{name}/information"
        information.parent.mkdir(parents=True)
        information.write_text(json.dumps({}), encoding="utf-8")
    assert count_gpus(tmp_path) == 2
    for visible, count in {"": 0, "-1": 0, "1": 1, "0,1": 2}.items():
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert count_gpus(tmp_path) == count
