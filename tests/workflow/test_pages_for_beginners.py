"""The five pages that a newcomer walks through: their commands as they stand, with the files that they write."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import yaml
from doc_pages import Block, blocks
from small_study import Study
from tables import read_data

pytestmark = pytest.mark.workflow

FIRST, MODEL, TEXT, LANGUAGE, LAST = (
    f"docs/{name}.md" for name in ("first_study", "my_model", "my_text", "my_language", "write_it_up")
)
NOT_TYPED = read_data(__file__, "not_typed")
"""Commands that are not run, with the reason."""


@pytest.fixture
def desk(project_root: Path, tmp_path: Path) -> Path:
    """A folder to type the commands in, with what a clone has."""
    (tmp_path / "resources").symlink_to(project_root / "resources")
    return tmp_path


def steps(page: str) -> Iterator[Block | list[str]]:
    """Files to write (the second one of a name is added to the first) and commands to type, in order."""
    for block in blocks(page):
        if block.title:
            yield block
        elif block.language == "":
            for line in block.code.splitlines():
                command = line.partition("  # ")[0].strip()
                if command not in NOT_TYPED and command.startswith(("prasanga ", "cp ", "mkdir ")):
                    yield shlex.split(command)


def follow(page: str, desk: Path, *, only: str = "") -> list[str]:
    """Do all that a page says, or write its files and type what holds `only`; return what was printed."""
    said = []
    for step in steps(page):
        if isinstance(step, Block):
            path = desk / step.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text((path.read_text("utf-8") if path.exists() else "") + step.code, encoding="utf-8")
        elif not only or only in step:
            said.append(typed(step, desk))
    return said


def typed(command: list[str], desk: Path) -> str:
    """Run a command, and return what it printed."""
    program = [sys.executable, "-m", "prasanga"] if command[0] == "prasanga" else command[:1]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [*program, *command[1:]], cwd=desk, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def jobs(plan: str) -> dict[str, int]:
    """The jobs of each stage that `prasanga plan` lists."""
    rows = [line.split("\t") for line in plan.splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) > 2 and row[1].isdigit()}


def test_every_page_has_commands() -> None:
    typed = {
        page: [step for step in steps(page) if isinstance(step, list)] for page in (FIRST, MODEL, TEXT, LANGUAGE, LAST)
    }
    assert {page: len(each) >= 2 for page, each in typed.items()} == dict.fromkeys(typed, True)


def test_the_first_study_is_planned(desk: Path) -> None:
    [plan] = follow(FIRST, desk, only="plan")
    assert jobs(plan)["associations"] >= 2
    planned = Study(desk / "my_first").plan("--snakefile", str(Path(__file__).parents[2] / "Snakefile"))
    assert planned["measure_ceat"] == 1
    assert planned["write_page"] == 1


def test_the_first_real_study_is_planned(desk: Path) -> None:
    """On the demo's text, as the page has it; a model of a package is planned without the package."""
    shutil.copytree(desk / "resources/demo/corpus/bn", desk / "texts")
    _, plan = follow(TEXT, desk, only="real_text")
    assert jobs(plan)["associations"] >= 2


def test_a_language_of_ones_own(desk: Path) -> None:
    """The audit of the page's words in the page's text."""
    follow(LANGUAGE, desk, only="audit_sentences")
    hits = pl.read_parquet(desk / "assamese/results/sentences/texts-sample.parquet")
    assert set(hits["form"]) == {"গোলাপৰ", "পৰুৱাবোৰক", "সুখ"}


@pytest.mark.long
def test_the_five_pages_are_walked(desk: Path) -> None:
    follow(FIRST, desk)
    results = desk / "my_first/results"
    assert "My first study" in (results / "report/index.html").read_text(encoding="utf-8")
    ceat = pl.read_parquet(results / "associations/ceat.parquet")
    assert set(ceat["category"]) == {"C1", "C5"}
    assert set(ceat["segment_length"]) == {"mean", "9", "25"}
    follow(MODEL, desk)
    assert (desk / "my-model-bn/results/report/index.html").is_file()
    follow(TEXT, desk)
    assert set(pl.read_parquet(desk / "my_text/results/associations/ceat.parquet")["model"]) == {"my-model"}
    follow(LANGUAGE, desk)
    assert (desk / "assamese/results/sentences/audit/concordance.tsv").is_file()
    follow(LAST, desk)
    for name in (
        "methods_card.md",
        "data_card.md",
        "figures/effect_by_length.pdf",
        "figures/column/effect_by_length.pdf",
    ):
        assert (results / "report" / name).is_file(), name
    assert (desk / "comparison/index.html").is_file()
    study = desk / "my_first/study.yaml"
    config = yaml.safe_load(study.read_text(encoding="utf-8"))
    study.write_text(yaml.safe_dump(config | {"associations": {"n_samples": 2000}}), encoding="utf-8")
    planned = set(jobs(typed(["prasanga", "plan", "my_first"], desk)))
    assert planned <= {"associations", "calibration", "comparison", "report"}, (
        "no corpus is searched, and no model runs"
    )
