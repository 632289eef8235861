"""A study is a folder: it runs anywhere, and what it lacks is found in the installation."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from small_study import Study, run_prasanga
from tables import read_text

from prasanga.config import read_config

pytestmark = pytest.mark.workflow

MODULE = read_text(__file__, "module.smk")


@pytest.fixture
def elsewhere(finished: Study, tmp_path: Path) -> Study:
    """A folder with the config of the finished study, and its results as somebody may have sent them."""
    folder = tmp_path / "studies/mine"
    folder.mkdir(parents=True)
    shutil.copyfile(finished.root / "config.yaml", folder / "study.yaml")
    shutil.copytree(finished.root / "results", folder / "results", ignore=shutil.ignore_patterns("store"))
    return Study(folder)


def test_results_fit_a_folder_of_their_own_wherever_the_installation_lies(
    finished: Study, elsewhere: Study, tmp_path: Path
) -> None:
    (elsewhere.root / "statistics.py").write_text("raise SystemExit\n", encoding="utf-8")  # no job is to import it
    before = sorted(finished.root.iterdir())
    assert elsewhere.plan("--snakefile", str(finished.root / "Snakefile")) == {}
    assert {path.name for path in elsewhere.root.iterdir()} == {
        *("statistics.py", "study.yaml", "results", ".snakemake")
    }
    moved = finished.copy(tmp_path / "moved")
    shutil.rmtree(moved.root / "results")
    assert elsewhere.plan("--snakefile", str(moved.root / "Snakefile"), "--directory", str(elsewhere.root)) == {}
    assert (elsewhere.root / ".snakemake/prasanga/shipped").resolve() == moved.root.resolve()
    assert sorted(finished.root.iterdir()) == before


def test_a_folder_of_the_study_replaces_the_shipped_one(finished: Study, elsewhere: Study) -> None:
    run, words = ("--snakefile", str(finished.root / "Snakefile")), "resources/stimuli/bn/flowers.yaml"
    own = elsewhere.root / words
    shutil.copytree((finished.root / words).parent, own.parent)
    assert elsewhere.plan(*run) == {}, "the same words under another roof"
    elsewhere.run("--touch", "--forceall", *run)  # Snakemake notes what these results are made from
    own.write_text(own.read_text(encoding="utf-8").replace("gloss: ", "gloss: fine ", 1), encoding="utf-8")
    assert {"compile_categories", "write_page"} <= elsewhere.plan(*run).keys()


def test_the_workflow_is_a_module_of_another(finished: Study, elsewhere: Study) -> None:
    text = MODULE.format(snakefile=finished.root / "Snakefile")
    (elsewhere.root / "Snakefile").write_text(text, encoding="utf-8")
    profile = ("--workflow-profile", str(finished.root / "profiles/default"))
    assert elsewhere.plan(*profile) == {}
    (elsewhere.root / "results/report/index.html").unlink()
    assert elsewhere.plan(*profile).keys() - {"bias_all"} == {"bias_write_page"}
    # its handlers run where the main Snakefile calls them: the config is kept, the last words said
    kept = elsewhere.root / "results/config.yaml"
    kept.unlink()
    printed = elsewhere.run(*profile)
    assert "localrules directive specifies rules that are not present" not in printed
    assert re.findall(r"^(Results|Page): ", printed, flags=re.MULTILINE) == ["Results", "Page"]
    assert read_config(kept)["models"].keys() == read_config(elsewhere.root / "study.yaml")["models"].keys()


def test_a_folder_that_is_no_study_is_told_in_a_sentence(finished: Study, tmp_path: Path) -> None:
    done = Study(tmp_path).snakemake("--snakefile", str(finished.root / "Snakefile"))
    assert done.returncode == 2
    assert "not a study, because it lacks study.yaml" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_the_command_runs_what_is_missing_and_says_how_it_went(finished: Study, elsewhere: Study) -> None:
    """With a table of effects on standard output, and the last words at the end of standard error."""

    def prasanga(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_prasanga(elsewhere.root, *arguments, PYTHONPATH=str(finished.root / "src"))

    figure = elsewhere.root / "results/report/figures/settling.svg"
    drawn = figure.read_bytes()
    figure.unlink()
    done = prasanga("figures")  # without Snakemake's notes on these results
    assert (done.returncode, figure.read_bytes()) == (0, drawn), done.stderr
    done = prasanga("plan")
    assert done.stdout == "Nothing to do: all results are up to date.\n"
    assert "Warning: results/ came without the folder .snakemake of its run." in done.stderr
    (elsewhere.root / "results/report/index.html").unlink()
    assert prasanga("plan").stdout.splitlines()[:2] == ["stage\tjobs\twhy", "report\t1\tmissing"]
    done = prasanga("run", "--cores", "2", "--", "--scheduler", "greedy")
    assert done.returncode == 0, done.stderr
    assert [line.partition(":")[0] for line in done.stderr.splitlines()[-3:]] == ["Results", "Left out", "Page"]
    head, *rows, _ = done.stdout.splitlines()
    assert (head.split("\t")[0], len(rows)) == ("CEAT, Bangla", 4)
    store = elsewhere.root.parent / ".prasanga-store"
    assert (elsewhere.root / "results/store").resolve() == store / "vectors"
    assert (elsewhere.root / "results/report/index.html").is_file()
    (elsewhere.root / "study.yaml").write_text("seeed: 1\n", encoding="utf-8")
    wrong = prasanga("run")
    assert wrong.returncode == 2
    begin = "The config cannot be used.\n- study.yaml, line 1: unknown key `seeed` (value 1). Did you mean `seed`?"
    assert begin in wrong.stderr
