"""What the commands that measure decide: which parts of a card's test are run, and what became slower."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "tests/benchmarks"))

from gpu import PARTS, Outcome, constants_of, run_parts  # noqa: E402
from ratios import slower  # noqa: E402

_WRITES = "import sys; open(sys.argv[1], 'w').write({content!r})"
_PASSES = _WRITES.format(content=json.dumps({"numbers": {"speed": 2.0}, "failures": []}))
_FAILS = _WRITES.format(content=json.dumps({"numbers": {}, "failures": ["the order changes vectors"]}))
_DIES = "import os, sys; sys.stderr.write('illegal memory access\\n'); sys.stderr.flush(); os.abort()"
_HANGS = "import time; time.sleep(60)"


def _run(folder: Path, programs: dict[str, str], seconds: float = 60, longest: float = 60) -> list[Outcome]:
    def command_of(part: str, found: Path) -> list[str]:
        return [sys.executable, "-c", programs[part], str(found)]

    return list(run_parts(list(programs), command_of, folder, seconds, longest))


def test_a_part_of_a_cards_test_that_fails_or_dies_leaves_the_others_alone(tmp_path: Path) -> None:
    found = _run(tmp_path, {"prepare": _PASSES, "wrong": _FAILS, "gone": _DIES, "speed": _PASSES})
    assert [each.outcome for each in found] == ["passed", "failed", "failed", "passed"]
    assert found[1].said == ["the order changes vectors"]
    assert found[2].said == ["its process ended with -6: illegal memory access"]
    assert constants_of(found) == {"prepare, speed": 2.0, "speed, speed": 2.0}


def test_a_part_that_hangs_is_stopped_and_what_the_time_does_not_hold_is_left_out(tmp_path: Path) -> None:
    found = _run(tmp_path, {"prepare": _PASSES, "stuck": _HANGS, "next": _PASSES}, seconds=3)
    assert [each.outcome for each in found] == ["passed", "failed", "left out"]
    assert "was stopped after" in found[1].said[0]
    assert found[2].said == ["the 3 s are over"]


def test_without_models_no_part_is_run(tmp_path: Path) -> None:
    found = _run(tmp_path, {"prepare": _FAILS, "speed": _PASSES})
    assert [(each.outcome, each.said) for each in found][1] == ("left out", ["prepare failed"])


def test_what_became_slower_by_more_than_fifteen_percent_is_said() -> None:
    recorded = {"searching": 40.0, "scoring": 10.0, "CEAT": 200.0, "gone": 3.0}
    assert slower(recorded, {"searching": 34.1, "scoring": 8.4, "CEAT": 300.0, "new": 1.0}) == [
        "scoring: 8.4x, 16% slower than the 10x recorded.",
        "gone: 3x was recorded, and nothing is measured.",
    ]


@pytest.mark.long
def test_the_smallest_model_of_the_papers_is_measured_on_a_processor(tmp_path: Path) -> None:
    file = tmp_path / "gpu.json"
    command = [sys.executable, str(PROJECT / "tests/benchmarks/gpu.py"), "--quick", f"--json={file}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(file.read_text(encoding="utf-8"))["results"]
    numbers = results["size 52M"]["numbers"]
    assert numbers.pop("millions") == pytest.approx(52, abs=1)
    assert [*numbers] == [*(f"texts a second, {words} words" for words in (9, 25, 75)), "pairs a second"]
    assert numbers["texts a second, 9 words"] > numbers["texts a second, 75 words"] > 0


@pytest.mark.long
def test_all_that_a_card_is_asked_runs_on_a_processor(tmp_path: Path) -> None:
    file = tmp_path / "gpu.json"
    command = [sys.executable, str(PROJECT / "tests/benchmarks/gpu.py"), "--device=cpu", "--tiny", f"--json={file}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(file.read_text(encoding="utf-8"))["results"]
    assert {name: each["outcome"] for name, each in results.items()} == dict.fromkeys(["prepare", *PARTS], "passed")
    assert results["memory"]["numbers"]["pieces_that_did_not_fit"] > 0
