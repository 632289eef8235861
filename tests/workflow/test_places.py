"""A study is a folder: it runs anywhere, and what it lacks is found in the installation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml
from small_study import Study

from prasanga.config import read_config

pytestmark = pytest.mark.workflow

MODULE = """
configfile: "study.yaml"


module prasanga:
    snakefile:
        "{snakefile}"
    config:
        config


use rule * from prasanga{renamed}


onstart:
    prasanga.onstart()


onsuccess:
    prasanga.onsuccess()


onerror:
    prasanga.onerror()
"""


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
    before = sorted(finished.root.iterdir())
    assert elsewhere.plan("--snakefile", str(finished.root / "Snakefile")) == {}
    assert {path.name for path in elsewhere.root.iterdir()} == {"study.yaml", "results", ".snakemake"}
    moved = finished.copy(tmp_path / "moved")
    shutil.rmtree(moved.root / "results")
    assert elsewhere.plan("--snakefile", str(moved.root / "Snakefile"), "--directory", str(elsewhere.root)) == {}
    assert (elsewhere.root / ".snakemake/prasanga/shipped").resolve() == moved.root.resolve()
    assert sorted(finished.root.iterdir()) == before


def test_a_file_of_the_study_stands_before_the_shipped_one(finished: Study, elsewhere: Study) -> None:
    run, words = ("--snakefile", str(finished.root / "Snakefile")), "resources/stimuli/bn/flowers.yaml"
    own = elsewhere.root / words
    own.parent.mkdir(parents=True)
    shutil.copyfile(finished.root / words, own)
    assert elsewhere.plan(*run) == {}, "the same words under another roof"
    elsewhere.run("--touch", "--forceall", *run)  # Snakemake notes what these results are made from
    own.write_text(own.read_text(encoding="utf-8").replace("gloss: ", "gloss: fine ", 1), encoding="utf-8")
    assert {"compile_categories", "write_page"} <= elsewhere.plan(*run).keys()


@pytest.mark.parametrize("renamed", ["", " as bias_*"])
def test_the_workflow_is_a_module_of_another(finished: Study, elsewhere: Study, renamed: str) -> None:
    text = MODULE.format(snakefile=finished.root / "Snakefile", renamed=renamed)
    (elsewhere.root / "Snakefile").write_text(text, encoding="utf-8")
    profile = ("--workflow-profile", str(finished.root / "profiles/default"))
    assert elsewhere.plan(*profile) == {}
    (elsewhere.root / "results/report/index.html").unlink()
    before = renamed.removeprefix(" as ").removesuffix("*")
    assert elsewhere.plan(*profile).keys() - {f"{before}all"} == {f"{before}write_page"}
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
    assert "no study, since it has no study.yaml" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_the_command_runs_what_is_missing_and_says_how_it_went(finished: Study, elsewhere: Study) -> None:
    """With a table of effects on standard output, and the last words at the end of standard error."""

    def prasanga(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(finished.root / "src"), "HF_HUB_OFFLINE": "1"}
        return subprocess.run(
            [sys.executable, "-m", "prasanga", *arguments],
            cwd=elsewhere.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert prasanga("plan").stdout == "Nothing to do: all results are what the study asks for.\n"
    (elsewhere.root / "results/report/index.html").unlink()
    assert prasanga("plan").stdout.splitlines()[:2] == ["stage\tjobs\twhy", "report\t1\tmissing"]
    done = prasanga("run", "--cores", "2", "--", "--scheduler", "greedy")
    assert done.returncode == 0, done.stderr
    assert [line.partition(":")[0] for line in done.stderr.splitlines()[-3:]] == ["Results", "Left out", "Page"]
    assert [row.split("\t")[0] for row in done.stdout.splitlines()] == ["method", *["ceat"] * 4]
    store = elsewhere.root.parent / ".prasanga-store"
    assert (elsewhere.root / "results/store").resolve() == store / "vectors"
    assert (elsewhere.root / "results/report/index.html").is_file()
    (elsewhere.root / "study.yaml").write_text("seeed: 1\n", encoding="utf-8")
    wrong = prasanga("run")
    assert wrong.returncode == 2
    begin = "The config cannot be used.\n- study.yaml, line 1: unknown key `seeed` (value 1). Did you mean `seed`?"
    assert begin in wrong.stderr


def test_a_second_study_of_the_same_text_and_model_runs_no_forward_pass(finished: Study, tmp_path: Path) -> None:
    """Also if it calls the model by another name; passes and scored pairs are counted by the logs of the jobs."""
    config = finished.config
    config["models"] = {"tiny-a": config["models"]["tiny-a"]}
    pairs = (finished.root / "resources/demo/pairs.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "pairs.csv").write_text(
        "\n".join([pairs[0], *(row for row in pairs if ",bn," in row)][:6]), encoding="utf-8"
    )
    config["pairs"] = {"sets": {"demo": {"path": str(tmp_path / "pairs.csv")}}}
    config["corpus"] = {"root": str(finished.root), "texts": [{"files": "resources/demo/corpus/bn/[ns]*.txt"}]}
    config["samples"] = {"lengths": [9], "contexts_per_stimulus": 2}
    counts = []
    for name, model in (("first", "tiny-a"), ("second", "renamed")):
        root = tmp_path / "studies" / name
        root.mkdir(parents=True)
        config["models"] = {model: next(iter(config["models"].values()))}
        (root / "study.yaml").write_text(yaml.safe_dump({**config, "study": name}), encoding="utf-8")
        study = Study(root)
        targets = ("embeddings", f"results/likelihoods/pairs/demo/{model}.parquet")
        environment = {"PRASANGA_STORE": str(tmp_path / "studies/.prasanga-store")}
        study.run(*targets, "--snakefile", str(finished.root / "Snakefile"), environment=environment)
        logs = [path.read_text(encoding="utf-8") for path in (root / "logs").rglob("*.log")]
        passes = [int(number) for log in logs for number in re.findall(r"passes=(\d+)", log)]
        scored = [int(number) for log in logs for number in re.findall(r"(\d+) of \d+ pairs to be scored", log)]
        counts.append((len(passes), sum(passes), sum(scored)))
        table = pl.read_parquet(root / f"results/likelihoods/pairs/demo/{model}.parquet")
        assert set(table["model"]) == {model}
    (n_jobs, first, scored), second = counts
    assert n_jobs > 0
    assert first > 0
    assert scored > 0
    assert second == (n_jobs, 0, 0)
