"""A stranger's study folder is data: no Python file, profile or pickle in it runs, wherever a command is typed."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_study import Study

pytestmark = pytest.mark.workflow

WHERE_TYPED = ("snakemake", "calendar", "statistics", "tokenizers", "yaml", "pip")
WHERE_SCRIPTS_ARE = ("prasanga", "prasanga_construction", "numpy", "calendar", "yaml")
TRAP = "open({ran!r}, 'a').write({name!r})\n"
FIGURE, PAGE = "results/report/figures/effect_by_length.svg", "results/report/index.html"
TABLE = "results/associations/ceat_differences.parquet"  # of a job that goes to a queue, where there is one
COMMAND = ("-P", "-m", "prasanga")
"""As the command `prasanga`, which Python starts without the working folder."""


class Opened:
    """A pickle that tells when it is read."""

    def __init__(self, ran: Path) -> None:
        self._ran = ran

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return os.symlink, ("read", str(self._ran))


@pytest.fixture
def theirs(finished: Study, tmp_path: Path) -> Study:
    """A finished study in a folder with traps, each of which makes `ran` beside the folder."""
    root = tmp_path / "theirs"
    root.mkdir()
    shutil.copyfile(finished.root / "config.yaml", root / "study.yaml")
    shutil.copytree(finished.root / "results", root / "results", ignore=shutil.ignore_patterns("store"))
    modules = [root / f"{name}.py" for name in WHERE_TYPED]
    modules += [root / ".snakemake/scripts" / name / "__init__.py" for name in WHERE_SCRIPTS_ARE]
    for module in modules:
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(TRAP.format(ran=str(tmp_path / "ran"), name=f"{module} "), encoding="utf-8")
    return Study(root)


def take_profiles(study: Study, ran: Path) -> None:
    """Add the profiles that Snakemake would take by itself, which have it read a pickle."""
    for folder in ("default", "profiles/default"):
        (study.root / folder).mkdir(parents=True)
        (study.root / folder / "profile.yaml").write_text("trust-io-cache: true\n", encoding="utf-8")
    (study.root / ".snakemake/iocache").mkdir()
    (study.root / ".snakemake/iocache/latest.pkl").write_bytes(pickle.dumps(Opened(ran)))


def typed_in(study: Study, finished: Study, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Start Python in the study's folder, as a person would: nothing that makes it safer is in the environment."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=study.root,
        env={**kept, "PYTHONPATH": str(finished.root / "src"), "HF_HUB_OFFLINE": "1", **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def assert_untouched(ran: Path, done: subprocess.CompletedProcess[str]) -> None:
    assert not os.path.lexists(ran), ran.read_text(encoding="utf-8") if ran.is_file() else "the pickle was read"
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("python", [COMMAND, ("-m", "prasanga")], ids=["command", "module"])
def test_a_plan_runs_nothing_of_the_folder(
    python: tuple[str, ...], finished: Study, theirs: Study, tmp_path: Path
) -> None:
    take_profiles(theirs, tmp_path / "ran")
    done = typed_in(theirs, finished, *python, "plan")
    assert_untouched(tmp_path / "ran", done)
    assert done.stdout == "Nothing to do: all results are what the study asks for.\n"


@pytest.mark.parametrize("arguments", [("run", "--cores", "1"), ("figures",)], ids=["run", "figures"])
def test_a_run_and_its_jobs_run_nothing_of_the_folder(
    arguments: tuple[str, ...], finished: Study, theirs: Study, tmp_path: Path
) -> None:
    take_profiles(theirs, tmp_path / "ran")
    (theirs.root / FIGURE).unlink()
    (theirs.root / PAGE).unlink()
    done = typed_in(theirs, finished, *COMMAND, *arguments)
    assert_untouched(tmp_path / "ran", done)
    assert (theirs.root / FIGURE).is_file()
    assert (theirs.root / PAGE).is_file()


@pytest.mark.parametrize("queue", ["", "sh", "env -u PYTHONSAFEPATH sh"], ids=["here", "queue", "forgetful queue"])
def test_jobs_of_plain_snakemake_import_nothing_of_the_folder(
    queue: str, finished: Study, theirs: Study, tmp_path: Path
) -> None:
    """Also where each job is a Snakemake of its own, and where the queue drops the environment."""
    (theirs.root / TABLE).unlink()
    plain = ("-P", "-m", "snakemake", "--snakefile", str(finished.root / "Snakefile"), "--scheduler", "greedy")
    where = ("--cores", "1")
    if queue:
        where = ("--jobs", "1", "--executor", "cluster-generic", "--cluster-generic-submit-cmd", queue)
    done = typed_in(theirs, finished, *plain, *where, TABLE)
    assert_untouched(tmp_path / "ran", done)
    assert (theirs.root / TABLE).is_file()


@pytest.mark.parametrize("at", ["theirs", "."], ids=["study", "working folder"])
def test_a_folder_of_plugins_is_refused_before_snakemake_starts(
    at: str, finished: Study, theirs: Study, tmp_path: Path
) -> None:
    """Snakemake imports every plugin in it, also without the working folder among the folders of modules."""
    plugin = tmp_path / at / ".snakemake/pip-deployments/snakemake_logger_plugin_theirs/__init__.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(TRAP.format(ran=str(tmp_path / "ran"), name="plugin"), encoding="utf-8")
    done = typed_in(Study(tmp_path), finished, *COMMAND, "plan", str(theirs.root))
    assert done.returncode == 2
    assert f"{plugin.parents[1]}: Snakemake runs Python code from this folder" in done.stderr
    assert not os.path.lexists(tmp_path / "ran")
