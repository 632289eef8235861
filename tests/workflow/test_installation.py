"""A wheel holds the whole workflow: it plans a study in an empty folder, and finds that results of a checkout fit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from shared_studies import made_once
from small_study import CODE, SMALL, Study, run_prasanga

from prasanga import study as prasanga_study

pytestmark = pytest.mark.workflow


OTHERS = (os.environ.get("PRASANGA_PYTHONS") or "python3.12 python3.13").split()
"""Pythons that `make test-long` looks for: names or paths."""


@pytest.fixture(scope="module")
def wheel(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""

    def build(folder: Path) -> None:
        source = folder / "source"
        source.mkdir()
        for name in (*CODE, "docs", "pyproject.toml", "setup.py", "README.md", "LICENSE"):
            if (project_root / name).is_dir():
                ignored = shutil.ignore_patterns("*.egg-info", "__pycache__")
                shutil.copytree(project_root / name, source / name, ignore=ignored)
            else:
                shutil.copyfile(project_root / name, source / name)
        options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(folder)]
        subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(source)], check=True, cwd=folder)
        (built,) = folder.glob("*.whl")
        with zipfile.ZipFile(built) as packed:
            packed.extractall(folder / "site")

    (built,) = made_once(tmp_path_factory, "wheel", build).glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """A folder with what is in the wheel."""
    return wheel.parent / "site"


def prasanga(installed: Path, cwd: Path, *arguments: str) -> str:
    done = run_prasanga(cwd, *arguments, PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_everything_that_is_tracked_of_the_workflow_is_in_the_wheel(project_root: Path, installed: Path) -> None:
    for name in ("rules", "workflow", "profiles", "resources", "config", "construction/scripts"):
        wanted = {
            path.relative_to(project_root)
            for path in (project_root / name).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert wanted == {
            path.relative_to(installed / "prasanga_workflow")
            for path in (installed / "prasanga_workflow" / name).rglob("*")
            if path.is_file()
        }


def test_a_study_is_written_and_planned_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    prasanga(installed, tmp_path, "init", "--language", "bn")
    lines = [line.split("\t") for line in prasanga(installed, tmp_path, "plan").splitlines()]
    jobs = {line[0]: line[1] for line in lines if len(line) == 3}
    assert jobs["sentences"] == "2", "the texts of the demo, and their audit"
    assert {path.name for path in tmp_path.iterdir()} <= {"study.yaml", ".snakemake", "results"}
    assert (tmp_path / ".snakemake/prasanga/shipped").resolve() == (installed / "prasanga_workflow").resolve()


@pytest.mark.long
@pytest.mark.parametrize("python", OTHERS)
def test_a_study_runs_from_the_wheel_under_other_pythons(
    python: str, wheel: Path, finished: Study, project_root: Path, tmp_path: Path
) -> None:
    """In an environment with nothing but the wheel and what it asks for, at the versions of the lock file."""
    found = shutil.which(python)
    # What is found may be a stand-in for versions that are not chosen, as those of pyenv.
    if found is None or subprocess.run([found, "--version"], capture_output=True, check=False).returncode:
        pytest.skip(f"there is no {python} here that runs; PRASANGA_PYTHONS names others")
    subprocess.run([found, "-m", "venv", "env"], check=True, cwd=tmp_path)
    lock = str(project_root / "requirements.lock")
    asked = ["install", "--quiet", "--no-compile", "--constraint", lock, str(wheel)]
    subprocess.run([tmp_path / "env/bin/python", "-m", "pip", *asked], check=True, cwd=tmp_path)
    models = {"tiny-a": {"path": str(finished.root / "results/models/tiny-a")}}
    study = {"study": "small", "title": "A small study", "language": "bn", **SMALL, "models": models}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = [tmp_path / "env/bin/prasanga", "run", "--cores", "2", "--store", tmp_path / "store"]
    done = subprocess.run(run, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert prasanga_study(tmp_path).ceat["model"].unique().sort().to_list() == ["tiny-a"]
    assert (tmp_path / "results/report/index.html").is_file()
