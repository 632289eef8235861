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
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from prasanga.base.errors import InputError
from prasanga.base.places import count_gpus
from prasanga.cli.running import (
    INTERRUPTED,
    Watch,
    count_jobs,
    explain,
    follow,
    only_run,
    snakemake_command,
)

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


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        (signal.SIGINT, "(here / 'ended').touch(); break"),
        (signal.SIGTERM, "(here / 'ended').touch(); break"),
        (signal.SIGHUP, "(here / 'ended').touch(); break"),
        (signal.SIGTERM, "(here / 'ended').touch()"),  # it goes on, and is killed
    ],
)
def test_a_signal_ends_the_process_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: signal.Signals, ending: str
) -> None:
    code = (
        "import pathlib, subprocess, time",
        f"here = pathlib.Path({str(tmp_path)!r})",
        "child = subprocess.Popen(['sleep', '60'])",
        "(here / 'child').write_text(str(child.pid))",
        "while True:",
        "    try:",
        "        (here / 'began').touch(); time.sleep(60)",
        "    except KeyboardInterrupt:",
        f"        {ending}",
    )

    def interrupt() -> None:
        while not (tmp_path / "began").exists():
            time.sleep(0.01)
        signal.pthread_kill(main, name)

    monkeypatch.setattr("prasanga.cli.running._GRACE", 1)
    before, main = signal.getsignal(name), threading.get_ident()
    threading.Thread(target=interrupt, daemon=True).start()
    with only_run(tmp_path) as held:
        assert follow([sys.executable, "-c", "\n".join(code)], held) == INTERRUPTED
    assert (tmp_path / "ended").exists()
    assert is_over(tmp_path / "child")
    assert signal.getsignal(name) == before
    assert follow([sys.executable, "-c", "raise SystemExit(3)"]) == 3


def is_over(file: Path) -> bool:
    """Whether the process whose number a file has ends within a second; one that nobody waited for is over."""
    state = Path("/proc", file.read_text(encoding="utf-8"), "stat")
    for _ in range(100):
        if not state.exists() or state.read_text(encoding="utf-8").split()[2] == "Z":
            return True
        time.sleep(0.01)
    return False


def test_where_snakemake_is_killed_its_jobs_end_and_the_next_run_takes_its_locks(tmp_path: Path) -> None:
    lock, child = tmp_path / ".snakemake/locks/0.input.lock", tmp_path / "child"
    lock.parent.mkdir(parents=True)
    killed = f"""
import os, pathlib, subprocess
pathlib.Path({str(child)!r}).write_text(str(subprocess.Popen(["sleep", "60"]).pid))
pathlib.Path({str(lock)!r}).touch()
os.kill(os.getpid(), 9)
"""
    with only_run(tmp_path) as held:
        assert follow([sys.executable, "-c", killed], held) == -signal.SIGKILL
    assert is_over(child)
    with only_run(tmp_path) as held:
        assert not lock.exists()
        assert follow([sys.executable, "-c", ""], held) == 0
    lock.touch()  # of a Snakemake that was started without us: it says so itself
    with only_run(tmp_path):
        assert lock.exists()


def test_where_the_command_is_killed_the_next_one_names_what_goes_on(tmp_path: Path) -> None:
    lock = tmp_path / ".snakemake/locks/0.input.lock"
    lock.parent.mkdir(parents=True)
    goes_on = f"import pathlib, time; pathlib.Path({str(lock)!r}).touch(); time.sleep(60)"
    code = f"""
from pathlib import Path
from prasanga.cli.running import follow, only_run
with only_run(Path({str(tmp_path)!r})) as held:
    follow([{sys.executable!r}, "-c", {goes_on!r}], held)
"""
    command = subprocess.Popen([sys.executable, "-c", code])
    while not lock.exists():
        time.sleep(0.01)
    command.kill()
    command.wait()
    with pytest.raises(InputError, match=r"to stop it: kill -INT -- -\d+\)") as refused, only_run(tmp_path):
        pass
    os.killpg(int(str(refused.value).partition("-- -")[2].partition(")")[0]), signal.SIGKILL)
    for _ in range(100):
        with suppress(InputError), only_run(tmp_path):
            break
        time.sleep(0.01)
    assert not lock.exists()


def test_a_run_without_a_terminal_says_how_far_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = tmp_path / ".snakemake/log"
    logs.mkdir(parents=True)
    (logs / "1.snakemake.log").write_text("9 of 9 steps (100%) done\n", encoding="utf-8")  # of an earlier run
    watch = Watch(tmp_path)
    wrong = "Unable to guess the account.\nsacct: fatal: no controller\n"
    begun, log = "running or in a queue: ", logs / "2.snakemake.log"
    says = f"No step has ended for 30 s. {log} says: "
    for added, seconds, lines in (
        (
            f"rule embed:\n    jobid: 4\n{wrong}localcheckpoint check:\n",
            20,
            [f"20 s: no steps done; {begun}embed, check"],
        ),
        (
            "",
            30,
            [
                *(f"{says}Unable to guess the account.", f"{says}sacct: fatal: no controller"),
                f"30 s: no steps done; {begun}embed, check",
            ],
        ),
        (
            "Finished jobid: 2 (Rule: check)\n1 of 29 steps (3%) done\nrule embed:\n",
            40,
            [f"40 s: 1 of 29 steps done; {begun}embed (2)"],
        ),
        ("sacct: error: again\n2 of ", 50, [f"50 s: 1 of 29 steps done; {begun}embed (2)"]),
        ("29 steps (6%) done\n", 60, [f"60 s: 2 of 29 steps done; {begun}embed (2)"]),
    ):
        with log.open("a", encoding="utf-8") as file:
            file.write(added)
        watch.began = time.monotonic() - seconds
        if seconds <= 30:
            watch.advanced = watch.began
        watch.report()
        assert capsys.readouterr().err.splitlines() == lines
    for added, cause in (
        ("BLOOM\nExiting because a job execution failed.\n", ""),
        ("Error in rule embed:\n    message: no account.For further details see x.\n", f"{log} says: no account. "),
        ("Command 'x' died with <Signals.SIGKILL: 9>.\n", "A job was killed,"),
        ("", "A job was killed,"),
    ):
        with log.open("a", encoding="utf-8") as file:
            file.write(added)
        watch.report()  # nothing more, and what it reads is kept
        assert watch.find_cause()[: len(cause) or None] == cause
    assert capsys.readouterr().err == ""


def test_a_run_goes_on_where_nobody_reads_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def close(_: object) -> None:
        (tmp_path / "asked").touch()
        raise BrokenPipeError

    monkeypatch.setattr(Watch, "report", close)
    monkeypatch.setattr("prasanga.cli.running._EVERY", 0.05)
    assert follow([sys.executable, "-c", "import time; time.sleep(0.3)"], watch=Watch(tmp_path)) == 0
    assert (tmp_path / "asked").exists()


def test_a_study_has_one_run_at_a_time(tmp_path: Path) -> None:
    told = rf"is running already, by process {os.getpid()} on .*since"
    with only_run(tmp_path):
        for _ in range(2):  # a run that is refused leaves what the other has noted
            with pytest.raises(InputError, match=told), only_run(tmp_path):
                pass
    with only_run(tmp_path) as held:
        assert os.pread(held, 200, 0)
    (running := tmp_path / ".snakemake/prasanga/running").unlink()
    os.mkfifo(running)
    with pytest.raises(InputError, match=rf"{running}: cannot be written \(a pipe\)"), only_run(tmp_path):
        pass


def test_a_file_system_without_locks_is_left_to_snakemake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr("prasanga.cli.running.fcntl.flock", unsupported)
    with only_run(tmp_path) as held:
        assert os.pread(held, 200, 0)


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
