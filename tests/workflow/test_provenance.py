"""What results are made from: told of every file, checked on every byte, and the same bytes in another run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from associations_study import measured_associations, prepare_associations
from likelihoods_study import measured_likelihoods, prepare_likelihoods
from shared_studies import shared_study
from small_study import Study
from warm_python import warm_python

from prasanga.provenance.ledger import read_ledger, result_files
from prasanga.provenance.lineage import follow

pytestmark = pytest.mark.workflow

CHECK = "logs/provenance/check.tsv"
DIFFERENT = {
    "provenance.jsonl": "when files were made, and with how many cores",
    "corpus.json": "the times of the corpus files",
}
"""Files under results/ that differ between two runs, and what differs in them; a store's parts are named at random."""


def checked(study: Study, **keywords: Mapping[str, str]) -> tuple[int, str, set[tuple[str, str]]]:
    """Status and words of `check_results`, and what its table calls wrong."""
    done = study.snakemake("check_results", **keywords)
    table = pl.read_csv(study.root / CHECK, separator="\t", schema_overrides={"text": pl.String})
    wrong = table.filter(pl.col("wrong") == "yes")
    return done.returncode, done.stdout + done.stderr, set(zip(wrong["kind"], wrong["path"], strict=True))


def told_of(*files: Path, environment: Mapping[str, str], cwd: Path) -> str:
    command = [warm_python(), "-m", "prasanga", "why", *map(str, files)]
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_file_knows_its_making_down_to_the_corpus(finished: Study) -> None:
    results = finished.root / "results"
    ledger = read_ledger(results / "provenance.jsonl")
    files = {path.relative_to(finished.root).as_posix() for path in result_files(results)}
    assert files == set(ledger.entries)
    corpus = {
        path.relative_to(finished.root).as_posix() for path in finished.root.glob("resources/demo/corpus/bn/*.txt")
    }
    assert len(corpus) == 4
    for path, entry in ledger.entries.items():
        made = ledger.of(entry)
        assert made.config["seed"] == finished.config["seed"], path
        assert {"python", "torch", "numpy", "polars", "prasanga"} <= set(made.libraries), path
        assert {"processor", "architecture", "cores", "system"} <= set(made.host), path
        assert made.settings["cores"] == 2, path
        lineage = follow(entry, ledger)
        assert lineage.gaps == (), path
        assert all(source.sha256 for source in lineage.sources), path
        if path.startswith("results/report/"):
            assert corpus <= {source.path for source in lineage.sources if source.xxh3}, path


def test_every_kind_of_file_can_be_asked_anywhere(finished: Study, tmp_path: Path, no_torch: dict[str, str]) -> None:
    """From the results alone, and of a figure that lies somewhere else under another name."""
    brought = tmp_path / "sent"
    shutil.copytree(finished.root / "results", brought, ignore=shutil.ignore_patterns("store"))
    names = (
        *("associations/ceat.csv", "associations/ceat.parquet", "report/figures/effect_by_length.svg"),
        *("report/index.html", "report/methods_card.md", "report/tables/ceat.tex", "summary.json"),
    )
    parts = ("resources/demo/corpus/bn/news.txt", "flowers.yaml", "results/models/tiny-a", "seed 47", "torch 2.13.0")
    for name in names:
        said = told_of(brought / name, environment=no_torch, cwd=tmp_path)
        assert [part for part in parts if part not in said] == [], name
    figure = (brought / "report/figures/effect_by_length.svg").read_text(encoding="utf-8")
    (tmp_path / "Figure 3.svg").write_text(figure.replace("<svg ", '<svg id="mine" ', 1), encoding="utf-8")
    said = told_of(Path("Figure 3.svg"), Path("--results"), brought, environment=no_torch, cwd=tmp_path)
    assert "carries the fingerprint of the job that made results/report/figures/effect_by_length.svg" in said


def test_finished_results_pass_whole_or_in_part(study: Study, no_torch: dict[str, str]) -> None:
    status, printed, wrong = checked(study)
    assert (status, wrong) == (0, set()), printed
    assert "all are what the ledger says, and fit together" in printed
    assert study.plan() == {}  # nothing is made anew for it
    for gone in ("resources", ".snakemake", "results/sentences", "results/samples", "results/models", "results/store"):
        shutil.rmtree(study.root / gone)
    status, printed, wrong = checked(study, environment=no_torch)
    assert (status, wrong) == (0, set()), printed
    assert "source(s) are not here and were not compared" in printed


def test_what_does_not_fit_is_named_with_what_to_do(study: Study) -> None:
    results = study.root / "results"
    shard = results / "embeddings/tiny-a/9/00.parquet"
    data, status = bytearray(shard.read_bytes()), shard.stat()
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    os.utime(shard, ns=(status.st_atime_ns, status.st_mtime_ns))  # as a disk does it
    (results / "associations/mine.csv").write_text("effect\n9\n")
    (results / "report/.index.html.host.1.abcd.tmp").write_text("<html")
    with (results / "associations/ceat.csv").open("a") as file:
        file.write("made up\n")
    study.append("resources/demo/corpus/bn/news.txt", "\nআরও একটি বাক্য।\n")
    status_of_check, printed, wrong = checked(study)
    assert status_of_check != 0
    assert wrong == {
        ("changed", "results/embeddings/tiny-a/9/00.parquet"),
        ("list", "results/embeddings/tiny-a/9.json"),
        ("changed", "results/associations/ceat.csv"),
        ("unknown", "results/associations/mine.csv"),
        ("unfinished", "results/report/.index.html.host.1.abcd.tmp"),
        ("source", "resources/demo/corpus/bn/news.txt"),
    }
    assert "delete it and have it made again by its name: snakemake results/" in printed
    assert "Traceback" not in printed


def test_the_check_is_asked_for_alone(study: Study) -> None:
    done = study.snakemake("all", "check_results")
    assert done.returncode != 0
    assert "Ask for it alone: snakemake check_results --cores 1" in done.stdout + done.stderr


def bytes_of(results: Path) -> dict[str, bytes]:
    return {path.relative_to(results).as_posix(): path.read_bytes() for path in result_files(results)}


@pytest.fixture
def elsewhere(tmp_path: Path) -> dict[str, str]:
    """Another order of sets, another zone and language, another folder for temporary files."""
    (tmp_path / "scratch").mkdir()
    return {"PYTHONHASHSEED": "1234", "TZ": "Asia/Dhaka", "LC_ALL": "C", "TMPDIR": str(tmp_path / "scratch")}


@pytest.mark.long
def test_two_runs_are_equal_byte_for_byte(
    project_root: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, elsewhere: dict[str, str]
) -> None:
    """CEAT, SEAT, WEAT, their twins and differences, trained models and vectors, figures, tables and the page."""
    first = shared_study(tmp_path_factory, "associations", partial(measured_associations, project_root))
    second = prepare_associations(project_root, tmp_path / "second")
    second.run("all", "--cores", "1", environment=elsewhere)
    one, other = (bytes_of(study.root / "results") for study in (first, second))
    assert one.keys() == other.keys()
    assert len(one) > 100
    assert [path for path in one if one[path] != other[path]] == []
    everything = {path.name for path in (second.root / "results").iterdir() if path.is_file()}
    assert everything == {*DIFFERENT, "config.yaml", "summary.json"}


def test_scores_of_two_runs_are_equal_byte_for_byte(
    project_root: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, elsewhere: dict[str, str]
) -> None:
    """Probabilities of pairs, by a model that each run trains."""
    first = shared_study(tmp_path_factory, "likelihoods", partial(measured_likelihoods, project_root))
    second = prepare_likelihoods(project_root, tmp_path / "second")
    wanted = "likelihoods/pairs/garden/masks.parquet"
    second.run(f"results/{wanted}", "--cores", "1", environment=elsewhere)
    one, other = (bytes_of(study.root / "results") for study in (first, second))
    assert {wanted} < other.keys() < one.keys()
    assert [path for path in other if one[path] != other[path]] == []
