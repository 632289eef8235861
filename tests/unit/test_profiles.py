"""Every profile keeps to what must hold everywhere, and says to its queue what the rules ask for."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from kubernetes_plugins import python_path
from tables import read_cases

ROOT = Path(__file__).parents[2]
PROFILES = sorted(path.parent.name for path in (ROOT / "profiles").glob("*/profile.yaml"))
QUEUES = ("lsf", "pbs", "sge")
REMOTE = ("kubernetes", *QUEUES)
EVERYWHERE = ("rerun-triggers", "max-checksum-file-size", "rerun-incomplete", "show-failed-logs")
RULE = re.compile(
    r"^ *(?:rule|checkpoint|use rule \w+ as) (\w+)(?: with)?:\n(.*?)(?=^ *(?:rule|checkpoint|use) |\Z)", re.M | re.S
)


def text_of(profile: str) -> str:
    return (ROOT / "profiles" / profile / "profile.yaml").read_text(encoding="utf-8")


def read(profile: str) -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load(text_of(profile))
    return settings


def rules() -> dict[str, str]:
    files = [
        *sorted((ROOT / "rules").glob("*.smk")),
        ROOT / "construction/construction.smk",
        ROOT / "calibration/calibration.smk",
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return dict(RULE.findall(text))


def resources_of(job: dict[str, Any], profile: str, attempt: int) -> dict[str, Any]:
    """What a job asks for: the rule's own, over the profile's defaults, under the profile's for the rule."""
    settings = read(profile)
    asked = dict(each.split("=", 1) for each in settings["default-resources"])
    asked |= job.get("resources", {})
    asked |= settings["set-resources"].get(job["rule"], {})
    return {key: eval(value, {"attempt": attempt}) if isinstance(value, str) else value for key, value in asked.items()}


def test_there_is_a_profile_for_each_engine() -> None:
    assert PROFILES == ["default", "kubernetes", "lsf", "pbs", "sge", "slurm", "workstation"]


@pytest.mark.parametrize("profile", PROFILES)
def test_what_must_hold_everywhere_holds(profile: str) -> None:
    default, settings = read("default"), read(profile)
    assert {key: settings.get(key) for key in EVERYWHERE} == {key: default[key] for key in EVERYWHERE}


def test_snakemake_and_its_plugins_know_every_line(tmp_path: Path) -> None:
    (tmp_path / "profile.yaml").write_text("executor: cluster-generic\ncluster-generic-submit-comand: qsub\n", "utf-8")
    program = """if True:
        import sys
        from pathlib import Path
        from snakemake.cli import get_argument_parser
        for folder in sys.argv[1:]:
            try:
                print(get_argument_parser(profiles=[Path(folder)]).parse_args([]).executor)
            except SystemExit:
                print("refused")
        """
    folders = [*(str(ROOT / "profiles" / profile) for profile in PROFILES), str(tmp_path)]
    environment = {**os.environ, **python_path()}
    told = subprocess.run(
        [sys.executable, "-c", program, *folders], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert told.stdout.split() == [*(str(read(profile).get("executor")) for profile in PROFILES), "refused"]
    assert "--cluster-generic-submit-comand" in told.stderr


@pytest.mark.parametrize("profile", PROFILES)
def test_the_rules_that_a_profile_names_are_there(profile: str) -> None:
    settings = read(profile)
    named = {rule for key in ("set-resources", "set-threads") for rule in settings.get(key, {})}
    assert named <= set(rules()), named - set(rules())


@pytest.mark.parametrize("profile", [*REMOTE, "slurm"])
def test_groups_are_left_to_the_rules(profile: str) -> None:
    """rules/groups.smk says which jobs go as one."""
    assert not {"groups", "group-components", "set-resource-scopes"} & set(read(profile))


def test_the_rules_that_go_as_one_job_are_there() -> None:
    groups = (ROOT / "rules/groups.smk").read_text(encoding="utf-8").split('"""', 2)[2]
    assert set(re.findall(r'"(\w+)"', groups)) - {"sentences", "models", "static"} <= set(rules())


def test_a_job_asks_for_the_same_whatever_the_queue() -> None:
    told = {queue: read(queue) for queue in (*QUEUES, "slurm")}
    for queue in QUEUES:
        assert told[queue]["set-resources"] == told["slurm"]["set-resources"], queue
        asked = [each for each in told[queue]["default-resources"] if each != "gpu=0"]
        assert asked == [each for each in told["slurm"]["default-resources"] if not each.startswith("slurm")], queue


def test_the_three_queues_differ_in_their_commands_alone() -> None:
    own = ("cluster-generic-submit-cmd", "cluster-generic-status-cmd", "cluster-generic-cancel-cmd")
    rest = [{key: value for key, value in read(queue).items() if key not in own} for queue in QUEUES]
    assert rest[0] == rest[1] == rest[2]
    assert rest[0]["retries"] == 2


@pytest.mark.parametrize("profile", REMOTE)
def test_memory_and_minutes_grow_with_the_attempt(profile: str) -> None:
    for rule in ("extract_sentences", *read(profile)["set-resources"]):
        first, third = (resources_of({"rule": rule}, profile, attempt) for attempt in (1, 3))
        assert third["mem_mb"] == 3 * first["mem_mb"], rule
        assert first["mem_mb"] >= 1000, rule
        if profile in QUEUES:  # there is no limit of time on Kubernetes
            assert third["runtime"] == 3 * first["runtime"] >= 3 * 15, rule


PLAIN = {"rule": "extract_sentences", "threads": 1}
ON_CARDS = {"rule": "embed_segments", "threads": 3, "resources": {"gpu": 2, "mem_mb": 10000}}


@pytest.mark.parametrize(("queue", "kind", "asked"), read_cases(__file__, "asked_of_queues"))
def test_the_queue_is_told_what_the_job_asks_for(queue: str, kind: str, asked: list[str], tmp_path: Path) -> None:
    """The profile's own line, filled in as Snakemake does it, run by the shell, taken by a command that notes it.

    SGE counts memory by core: it is asked for a third of 10000 and 4000, rounded up.
    """
    job: dict[str, Any] = PLAIN if kind == "plain" else ON_CARDS
    line = read(queue)["cluster-generic-submit-cmd"].format(
        name=job["rule"], threads=job["threads"], resources=SimpleNamespace(**resources_of(job, queue, 1))
    )
    shutil.copytree(ROOT / "workflow/queue", tmp_path / "workflow/queue", ignore=shutil.ignore_patterns("__pycache__"))
    script = tmp_path / "job with a blank.sh"
    script.write_text("true\n", encoding="utf-8")
    folder = tmp_path / "queue"
    folder.mkdir()
    commands = ROOT / "tests/support/queue_commands" / queue
    done = subprocess.run(
        f'{line} "{script}"',
        shell=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{commands}:{os.environ['PATH']}", "QUEUE_FOLDER": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("1001.pbs01\n" if queue == "pbs" else "1001\n")
    calls = [json.loads(call) for call in (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()]
    assert calls == [[*asked, str(script)]]
