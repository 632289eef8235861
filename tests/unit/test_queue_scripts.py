"""What the scripts of workflow/queue make of the answers of queues, which Snakemake must get as one word."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tables import read_cases

SCRIPTS = Path(__file__).parents[2] / "workflow/queue"
SGE_KNOWN = "=====\njob_number:                 17\nowner:                      somebody\n"
SGE_STUCK = SGE_KNOWN + "error reason    1:          can't get password entry for user\n"
SGE_GONE = "Following jobs do not exist: \n17\n"
# As the manuals of the three have it, cut to what matters: engine, {command: answer}, the word. Numbers of jobs begin
# again at a million: the last record is that of our job.
ANSWERS = read_cases(__file__, "answers_of_queues")
LOST = read_cases(__file__, "lost_jobs")


def install(folder: Path, answers: dict[str, str], *, seconds: float = 0) -> None:
    """Put commands into `folder` that answer so, and say so on stderr if it is no good news."""
    for name in {command.split()[0] for command in answers}:
        lines = [f"sleep {seconds}"]
        asked = [command for command in answers if command.split()[0] == name]
        for command in sorted(asked, key=len, reverse=True):
            answer = answers[command]
            option = command.partition(" ")[2]
            (folder / f"{command}.txt").write_text(answer, encoding="utf-8")
            stream = 1 if "\n    " in answer or "=====" in answer or answer.strip().isupper() else 2
            lines.append(
                f'case " $* " in *" {option}"*) cat "{folder}/{command}.txt" >&{stream}; exit {stream - 1};; esac'
            )
        (folder / name).write_text("#!/bin/sh\n" + "\n".join(lines) + "\n", encoding="utf-8")
        (folder / name).chmod(0o755)


def run(script: str, *arguments: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPTS / script), *arguments],
        cwd=folder,
        # as the Snakefile sets it: Python does not look beside the script for the others
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONSAFEPATH": "1", **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def status(engine: str, folder: Path, **settings: str) -> tuple[str, str]:
    """The word, and what was said beside it."""
    done = run("status.py", engine, "17.pbs01" if engine == "pbs" else "17", folder=folder, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize(("engine", "answers", "word"), ANSWERS)
def test_an_answer_becomes_one_word(engine: str, answers: dict[str, str], word: str, tmp_path: Path) -> None:
    install(tmp_path, answers)
    assert status(engine, tmp_path)[0] == f"{word}\n"


@pytest.mark.parametrize(("engine", "answers"), LOST)
def test_a_lost_job_is_waited_for_and_then_given_up(engine: str, answers: dict[str, str], tmp_path: Path) -> None:
    install(tmp_path, answers)
    assert status(engine, tmp_path) == ("running\n", "")
    [note] = (tmp_path / ".snakemake/queue").iterdir()
    assert note.name in ("17.missing", "17.pbs01.missing")
    an_hour_ago = time.time() - 3600
    os.utime(note, (an_hour_ago, an_hour_ago))
    word, said = status(engine, tmp_path)
    assert word == "failed\n"
    assert "it is lost" in said
    assert status(engine, tmp_path)[0] == "running\n", "another job of this number begins with no past"


@pytest.mark.parametrize(("left", "word"), [("0\n", "success"), ("1\n", "failed"), ("137\n", "failed")])
def test_what_a_job_says_itself_goes_before_a_forgetful_queue(left: str, word: str, tmp_path: Path) -> None:
    install(tmp_path, {"bjobs": "Job <17> is not found\n"})
    (tmp_path / ".snakemake/queue").mkdir(parents=True)
    (tmp_path / ".snakemake/queue/17.ended").write_text(left, encoding="utf-8")
    assert status("lsf", tmp_path, PRASANGA_QUEUE_PATIENCE="0") == (f"{word}\n", "")


@pytest.mark.parametrize(
    ("answers", "seconds", "settings", "said"),
    [
        ({"bjobs": "RUN\n"}, 30, {"PRASANGA_QUEUE_TIMEOUT": "0.3"}, "not answered for 0.3 seconds"),
        ({"bjobs": "RUN\n"}, 0, {"PATH": os.defpath}, "cannot be run"),
        ({"bjobs": "RUN\n"}, 0, {"PRASANGA_QUEUE_PATIENCE": "long"}, "is 'long'; write a number of seconds"),
        ({"bjobs": "Job <17> is not found\n", ".snakemake": "a file"}, 0, {}, "job 17 could not be looked at"),
    ],
)
def test_what_goes_wrong_with_a_queue_ends_no_job(
    answers: dict[str, str], seconds: float, settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    install(tmp_path, answers, seconds=seconds)
    word, told = status("lsf", tmp_path, **settings)
    assert word == "running\n"
    assert said in told


@pytest.mark.parametrize(("engine", "answer", "number"), read_cases(__file__, "submissions"))
def test_a_submission_prints_the_number_and_forgets_older_jobs_of_it(
    engine: str, answer: str, number: str, tmp_path: Path
) -> None:
    left = tmp_path / f".snakemake/queue/{number}.ended"
    left.parent.mkdir(parents=True)
    left.write_text("0\n", encoding="utf-8")
    yesterday = time.time() - 86_400
    os.utime(left, (yesterday, yesterday))
    done = run("submit.py", engine, "echo", answer, folder=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == (f"{number}\n", "", 0)
    assert not left.exists()


def test_a_job_that_ends_before_its_number_is_told_keeps_its_status(tmp_path: Path) -> None:
    ended = ".snakemake/queue/17.ended"
    command = f"mkdir -p .snakemake/queue; echo 3 > {ended}; echo 'Job <17> is submitted to queue <normal>.'"
    assert run("submit.py", "lsf", "sh", "-c", command, folder=tmp_path).stdout == "17\n"
    assert (tmp_path / ended).read_text() == "3\n"


@pytest.mark.parametrize(
    ("command", "status", "sentence"),
    [
        (["sh", "-c", "echo 'qsub: would exceed limit' >&2; exit 38"], 38, "sh took no job (exit status 38)."),
        (["echo", "No submission today"], 1, "echo took no job (exit status 0). No submission today"),
        (["bsub-of-another-cluster"], 127, "bsub-of-another-cluster is not on the path"),
    ],
)
def test_a_submission_that_fails_says_why(command: list[str], status: int, sentence: str, tmp_path: Path) -> None:
    done = run("submit.py", "pbs", *command, folder=tmp_path)
    assert (done.stdout, done.returncode) == ("", status)
    assert sentence in done.stderr


def test_orphans_are_the_jobs_that_are_still_there(tmp_path: Path) -> None:
    """Of five jobs one has said that it ended, one was seen to fail, one is lost, one unknown, and one runs."""
    for number in (11, 12, 13, 14, 17):
        assert run("submit.py", "sge", "echo", str(number), folder=tmp_path).returncode == 0
    install(tmp_path, {"qstat": SGE_STUCK})
    assert run("status.py", "sge", "12", folder=tmp_path).stdout == "failed\n"
    install(tmp_path, {"qstat": SGE_GONE, "qacct": "error: job id 13 not found\n"})
    assert run("status.py", "sge", "13", folder=tmp_path, PRASANGA_QUEUE_PATIENCE="0").stdout == "failed\n"
    (tmp_path / ".snakemake/queue/11.ended").write_text("0\n", encoding="utf-8")
    assert run("orphans.py", "sge", folder=tmp_path).stdout == "\n"
    install(tmp_path, {"qstat": SGE_KNOWN})
    (tmp_path / ".snakemake/queue/14.submitted").unlink()
    assert run("orphans.py", "sge", folder=tmp_path).stdout == "17\n"
    assert {path.name for path in (tmp_path / ".snakemake/queue").iterdir()} == {"11.ended", "17.submitted"}


def test_jobs_that_a_snakemake_waits_for_are_no_orphans(tmp_path: Path) -> None:
    install(tmp_path, {"qstat": SGE_KNOWN})
    assert run("submit.py", "sge", "echo", "17", folder=tmp_path).returncode == 0
    (tmp_path / "snakemake").write_text("#!/bin/sh\nwhile :; do sleep 0.05; done\n", encoding="utf-8")
    waiting = subprocess.Popen(["/bin/sh", "./snakemake"], cwd=tmp_path)
    try:
        done = run("orphans.py", "sge", folder=tmp_path)
    finally:
        waiting.kill()
        waiting.wait()
    assert (done.returncode, done.stdout) == (1, "")
    assert f"Snakemake is running here (process {waiting.pid})" in done.stderr
    assert run("orphans.py", "sge", folder=tmp_path).stdout == "17\n"


@pytest.mark.parametrize("script", ["submit.py", "status.py", "orphans.py"])
def test_another_engine_is_refused_by_name(script: str, tmp_path: Path) -> None:
    done = run(script, "slurm", "17", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{script} lsf|pbs|sge")


def write_job(study: Path, command: str) -> Path:
    """The script of a job, as Snakemake writes it; the job goes into the study's folder itself."""
    (study / ".snakemake/queue").mkdir(parents=True)
    script = study.parent / "job.sh"
    template = (SCRIPTS / "jobscript.sh").read_text(encoding="utf-8")
    command = f"cd {study} && {command} && exit 0 || exit 1"
    script.write_text(template.format(properties='{"rule": "draw_samples"}', exec_job=command), encoding="utf-8")
    return script


def environment_of_job(study: Path, **number: str) -> dict[str, str]:
    others = {key: value for key, value in os.environ.items() if key not in ("LSB_JOBID", "PBS_JOBID", "JOB_ID")}
    return {**others, **number, "PRASANGA_QUEUE_FOLDER": str(study / ".snakemake/queue")}


@pytest.mark.parametrize(("variable", "number"), [("LSB_JOBID", "17"), ("PBS_JOBID", "17.pbs01"), ("JOB_ID", "17")])
@pytest.mark.parametrize("ends", [0, 3])
def test_a_job_leaves_its_exit_status(variable: str, number: str, ends: int, tmp_path: Path) -> None:
    """It begins elsewhere, as with PBS."""
    study = tmp_path / "study"
    script = write_job(study, f"sh -c 'exit {ends}'")
    done = subprocess.run(
        ["sh", str(script)], cwd=tmp_path, env=environment_of_job(study, **{variable: number}), check=False
    )
    assert done.returncode == (1 if ends else 0)
    assert {path.name: path.read_text() for path in (study / ".snakemake/queue").iterdir()} == {
        f"{number}.ended": f"{done.returncode}\n"
    }


@pytest.mark.parametrize(
    "sent", [signal.SIGTERM, signal.SIGUSR2, signal.SIGXCPU, signal.SIGKILL], ids=lambda sent: sent.name
)
@pytest.mark.parametrize("whom", ["shell", "all"])
def test_a_job_that_is_killed_never_says_that_it_succeeded(sent: signal.Signals, whom: str, tmp_path: Path) -> None:
    study = tmp_path / "study"
    script = write_job(study, "touch begun && sleep 1 && touch done")
    job = subprocess.Popen(
        ["sh", str(script)], cwd=tmp_path, env=environment_of_job(study, JOB_ID="17"), start_new_session=True
    )
    while not (study / "begun").exists():
        time.sleep(0.01)
    if whom == "all":
        os.killpg(job.pid, sent)
    else:
        job.send_signal(sent)
    assert job.wait() == -sent
    assert not (study / ".snakemake/queue/17.ended").exists()
