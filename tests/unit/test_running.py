"""What a person sees of a run: how far it is, why its jobs run, what failed; and that a study has one run at a time."""

from __future__ import annotations

import errno
import itertools
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
from prasanga.base.logs import EVENTS
from prasanga.running import Run, command, follow, graphics_cards, only_run, stages_of_rules, why

STAGES = {"compile_forms": "lexicon", "embed_segments": "embeddings", "write_page": "report"}


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def job(rule: str, number: int, **others: Any) -> dict[str, Any]:
    return {"event": "job_info", "rule_name": rule, "jobid": number, "reason": "Missing output files: a", **others}


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("Missing output files: results/a.csv; Updated input files: words/a.yaml", "changed: words/a.yaml"),
        ("Missing output files: results/a.csv; Input files updated by another job: b", "not there yet"),
        ("Input files updated by another job: results/b", "what it is made from is made again"),
        ("Updated input files: a, b, c, d, e", "changed: a, b, c and 2 more"),
        ("Set of input files has changed since last execution", "made from other files than before"),
        ("Forced execution", "asked for"),
        ("Something new in Snakemake 10", "Something new in Snakemake 10"),
        (
            "Params have changed since last execution: Union of exclusive params before and now across all output:"
            " before: 'measure_ceat.py 0123456789ab' now: 'measure_ceat.py ba9876543210' ",
            "edited code",
        ),
        (
            "Input files updated by another job: a; Params have changed since last execution: Union of exclusive params"
            " before and now across all output: before: {'n_samples': 40, 'test': {'std': 'pooled'}, 'seed': 1} now:"
            " {'n_samples': 50, 'test': {'std': 'union_ddof1'}, 'seed': 1} ",
            "settings: n_samples 40 -> 50, test.std pooled -> union_ddof1",
        ),
        (
            "Params have changed since last execution: Union of exclusive params before and now across all output:"
            " before: <nothing exclusive> now: {'top': 3} ",
            "settings: top nothing -> 3",
        ),
        (
            "Params have changed since last execution: Union of exclusive params before and now across all output:"
            " before: no (python now: 'x' ",
            "other settings",
        ),
    ],
)
def test_a_reason_is_said_in_some_words(reason: str, said: str) -> None:
    assert why(reason) == said


def test_every_rule_has_the_stage_of_its_file_in_the_order_of_the_snakefile(project_root: Path) -> None:
    found = stages_of_rules(project_root)
    assert found["embed_segments"] == "embeddings"
    assert found["extract_supplement"] == "sentences"  # by `use rule`
    assert found["check_model"] == "models"  # a checkpoint
    assert found["build_pairs"] == "construction"
    order = list(dict.fromkeys(found.values()))
    assert order.index("lexicon") < order.index("sentences") < order.index("embeddings") < order.index("report")


def test_a_run_is_counted_by_stages(tmp_path: Path) -> None:
    clock = Clock()
    run = Run(tmp_path, STAGES, clock)
    assert run.expected_end() is None
    run.tell({"event": "run_info", "stats": {"embed_segments": 2, "compile_forms": 1, "all": 1, "total": 4}})
    assert [(name, stage.total) for name, stage in run.stages.items()] == [("lexicon", 1), ("embeddings", 2)]
    run.tell({"event": "job_started", "jobs": [1, 2]})
    for each in (job("compile_forms", 1), job("embed_segments", 2), job("embed_segments", 3), job("all", 0)):
        assert run.tell(each) == ""
    assert run.stages["lexicon"].running == run.stages["embeddings"].running == 1
    clock.now += 30
    run.tell({"event": "job_finished", "job_id": 1})
    run.tell({"event": "progress", "done": 1, "total": 4})
    assert (run.stages["lexicon"].done, run.stages["lexicon"].running) == (1, 0)
    end = run.expected_end()
    assert end is not None
    assert end.timestamp() == clock.now + 90
    assert run.hear("12:00:00 INFO prasanga.base.progress: segments embedded: 5 of 9\n") == ""
    assert run.line() == f"1 of 4 jobs; embeddings 0/2; about {end:%H:%M} at the end; segments embedded: 5 of 9"


def test_a_checkpoint_may_bring_more_jobs_of_a_stage(tmp_path: Path) -> None:
    run = Run(tmp_path, STAGES)
    run.tell({"event": "run_info", "stats": {"embed_segments": 1, "total": 1}})
    for number in (1, 2, 3):
        run.tell(job("embed_segments", number))
        run.tell({"event": "job_started", "jobs": [number]})
        assert run.stages["embeddings"].running == 1
        run.tell({"event": "job_finished", "job_id": number})
    assert (run.stages["embeddings"].done, run.stages["embeddings"].total) == (3, 3)


def test_of_a_job_that_failed_its_own_message_is_told_once(tmp_path: Path) -> None:
    log = tmp_path / "logs/a.log"
    log.parent.mkdir()
    log.write_text(
        "12:00:00 INFO prasanga: begins\n12:00:01 ERROR prasanga: words.yaml, line 3: no word.\nWrite one.\n",
        encoding="utf-8",
    )
    run = Run(tmp_path, STAGES)
    run.tell(job("embed_segments", 7, wildcards={"model": "a", "length": "9"}))
    failed = {"event": "job_error", "rule_name": "embed_segments", "jobid": 7, "log": ["logs/a.log"]}
    said = "embed_segments (a, 9) failed: words.yaml, line 3: no word.\nWrite one.\n(all of it: logs/a.log)"
    assert run.tell(failed) == said
    assert run.tell(failed) == ""
    for text in (
        "WorkflowError:\nAt least one job did not complete successfully.",
        'RuleException:\nCalledProcessError in file "/a/rules/models.smk", line 54:\nCommand ...',
    ):
        assert run.tell({"event": "error", "level": "ERROR", "text": text}) == ""
    assert run.failures == [said]
    assert run.tell({**failed, "log": ["logs/none.log"]}) == "embed_segments (a, 9) failed.\n(all of it: logs/none.log)"


def test_an_error_of_the_workflow_is_told_without_the_words_of_snakemake(tmp_path: Path) -> None:
    run = Run(tmp_path, STAGES)
    text = (
        "WorkflowError in file /a/rules/common.smk, line 39:\nThe config cannot be used.\n- unknown key `x`.\n"
        '  File "/a/rules/common.smk", line 63, in <module>\n'
    )
    assert (
        run.tell({"event": "error", "level": "ERROR", "text": text}) == "The config cannot be used.\n- unknown key `x`."
    )


def test_warnings_are_told_and_nothing_else_that_jobs_print(tmp_path: Path) -> None:
    run = Run(tmp_path, STAGES)
    assert run.hear("Warning: a model is missing.\n") == "Warning: a model is missing."
    assert run.hear("12:00:00 INFO prasanga: a thousand lines\n") == ""


def test_costs_are_kept_as_the_plan_tells_them(tmp_path: Path) -> None:
    run = Run(tmp_path, STAGES)
    assert run.costs == {}
    event = {"event": "costs", "machine": "this one", "costs": [{"model": "a"}]}
    assert run.tell(event) == ""
    assert run.costs == event


def process(*code: str) -> list[str]:
    """A process in place of Snakemake."""
    head = ("import json, os, sys, time", f"pipe = int(os.environ['{EVENTS}'])")
    say = "say = lambda **event: os.write(pipe, (json.dumps(event) + chr(10)).encode())"
    return [sys.executable, "-c", "\n".join([*head, say, *code])]


def test_a_process_is_followed_to_its_end(tmp_path: Path) -> None:
    run, shown = Run(tmp_path, STAGES), list[str]()
    code = (
        "say(event='progress', done=3, total=3)",
        "print('Warning: of the plan')",
        "print('not for anybody', file=sys.stderr)",
        "os.write(int(os.environ['PRASANGA_EVENTS']), b'no event' + b'\\n')",
    )
    assert follow(process(*code), run, show=shown.append) == 0
    assert (run.done, run.total, shown) == (3, 3, ["Warning: of the plan"])


def test_a_process_that_says_no_word_of_the_workflow_is_told_without_a_traceback(tmp_path: Path) -> None:
    run, shown = Run(tmp_path, STAGES), list[str]()
    assert follow(process("{}['a key']"), run, show=shown.append) == 1
    assert shown == run.failures == ["KeyError: 'a key'"]


def test_an_interrupt_goes_to_the_process_and_waits_for_it(tmp_path: Path) -> None:
    run = Run(tmp_path, STAGES)
    code = (
        "try:",
        "    say(event='job_started', jobs=[1]); time.sleep(60)",
        "except KeyboardInterrupt:",
        f"    open({str(tmp_path / 'ended')!r}, 'w').close(); sys.exit(1)",
    )

    def interrupt() -> None:
        while not run.began:
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    main = threading.get_ident()
    threading.Thread(target=interrupt, daemon=True).start()
    assert follow(process(*code), run, show=print) == -signal.SIGINT
    assert (tmp_path / "ended").exists()
    assert run.failures == []


def test_a_study_has_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        only_run(tmp_path),
        pytest.raises(InputError, match=rf"being run already, by process {os.getpid()} on .*since"),
        only_run(tmp_path),
    ):
        pass
    with only_run(tmp_path):
        pass


def test_a_run_that_is_refused_leaves_what_the_other_has_noted(tmp_path: Path) -> None:
    with only_run(tmp_path) as held:
        for _ in range(2):
            with (
                pytest.raises(InputError, match=rf"is being run already, by process {os.getpid()} on"),
                only_run(tmp_path),
            ):
                pass
        assert os.pread(held, 200, 0)


def test_a_file_system_without_locks_is_left_to_snakemake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr("prasanga.running.fcntl.flock", unsupported)
    with only_run(tmp_path) as held:
        assert os.pread(held, 200, 0)


def test_locks_that_a_killed_run_has_left_are_taken_away_and_others_are_told(tmp_path: Path) -> None:
    lock = tmp_path / ".snakemake/locks/0.input.lock"
    lock.parent.mkdir(parents=True)
    killed = "import os; from pathlib import Path; from prasanga.running import only_run; c = only_run(Path.cwd());"
    killed += f" c.__enter__(); Path({str(lock)!r}).touch(); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", killed], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    assert lock.exists()
    with only_run(tmp_path):
        assert not lock.exists()
    lock.touch()  # as Snakemake does that was started without us
    with pytest.raises(InputError, match=r"Snakemake has locked this folder.*--unlock"), only_run(tmp_path):
        pass
    assert lock.exists()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / ".snakemake").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="nothing can be written in the study's folder"), only_run(tmp_path):
        pass


def test_the_command_line_has_targets_first_and_what_the_machine_has(
    tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    (tmp_path / "mine.yaml").write_text("study: mine\n", encoding="utf-8")
    line = command(tmp_path, ["figures"], config=tmp_path / "mine.yaml", dry_run=True, others=["--keep-going"])
    root = project_root.resolve()
    assert line[1:] == [
        *("-P", "-m", "snakemake", "figures", "--configfile", str(tmp_path / "mine.yaml"), "--cores", "all"),
        *("--resources", "gpu=2", "--workflow-profile", str(root / "profiles/default")),
        *("--snakefile", str(root / "Snakefile"), "--directory", str(tmp_path), "--nocolor"),
        *("--dry-run", "--keep-going"),
    ]
    assert "gpu=1" in command(tmp_path, gpus=0), "one job on a model at a time"
    on_cluster = command(tmp_path, profile="slurm")
    assert on_cluster[4:6] == ["--workflow-profile", str(root / "profiles/slurm")]
    assert "--cores" not in on_cluster
    with pytest.raises(InputError, match=r"no profile 'slrum'.*slurm, workstation"):
        command(tmp_path, profile="slrum")


def test_a_profile_of_the_study_is_taken_when_it_is_asked_for(tmp_path: Path, project_root: Path) -> None:
    def profile_of(line: list[str]) -> list[str]:
        return [value for option, value in itertools.pairwise(line) if option == "--workflow-profile"]

    shipped = str(project_root.resolve() / "profiles/default")
    for name in ("slurm", "default"):
        own = tmp_path / "profiles" / name
        own.mkdir(parents=True)
        (own / "profile.yaml").touch()
        assert profile_of(command(tmp_path)) == [shipped]
        assert profile_of(command(tmp_path, profile=name)) == [str(own)]
    # of several, Snakemake takes the last
    assert profile_of(command(tmp_path, others=["--workflow-profile", "mine"])) == [shipped, "mine"]


@pytest.mark.parametrize("at", ["study", "here"])
def test_a_folder_from_which_snakemake_would_import_is_refused(
    at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("study", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / at / ".snakemake/pip-deployments").mkdir(parents=True)
    with pytest.raises(InputError, match=rf"/{at}/\.snakemake/pip-deployments: .* Delete it\."):
        command(tmp_path / "study")


def test_cards_are_counted_without_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert graphics_cards(tmp_path) == 0
    for name in ("0000:01:00.0", "0000:02:00.0"):
        information = tmp_path / f"driver/nvidia/gpus/{name}/information"
        information.parent.mkdir(parents=True)
        information.write_text(json.dumps({}), encoding="utf-8")
    assert graphics_cards(tmp_path) == 2
    for visible, count in {"": 0, "-1": 0, "1": 1, "0,1": 2}.items():
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert graphics_cards(tmp_path) == count
