"""What results are made from: compared with the files that are there, and the same bytes in another run."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from associations_study import measured_associations, prepare_associations
from likelihoods_study import measured_likelihoods, prepare_likelihoods
from shared_studies import shared_study
from small_study import Study, run_prasanga

pytestmark = pytest.mark.workflow


def check(cwd: Path, *arguments: str, environment: Mapping[str, str]) -> tuple[int, str]:
    done = run_prasanga(cwd, "check", *arguments, **environment)
    return done.returncode, done.stdout + done.stderr


def test_results_are_compared_with_what_they_were_made_from(study: Study, no_torch: dict[str, str]) -> None:
    status, printed = check(study.root, environment=no_torch)
    assert status == 0, printed
    assert printed.startswith("Compared: ")
    shutil.rmtree(study.root / ".snakemake")
    shutil.rmtree(study.root / "results/samples")
    study.append("resources/demo/corpus/bn/news.txt", "\nআরও একটি বাক্য।\n")
    (study.root / "results/embeddings/tiny-a/9/00.parquet").write_bytes(b"PAR1")
    status, printed = check(study.root, environment=no_torch)
    assert status == 1, printed
    assert "resources/demo/corpus/bn/news.txt: it has changed since " in printed
    assert "results/embeddings/tiny-a/9/00.parquet: it has changed since 1 file(s) were made from it" in printed
    assert "of these inputs are not here" in printed
    assert "Traceback" not in printed


def test_the_origin_of_a_figure_leads_to_the_corpus(study: Study, no_torch: dict[str, str]) -> None:
    figure = "results/report/figures/effect_by_length.svg"
    status, printed = check(study.root, figure, environment=no_torch)
    assert status == 0, printed
    for part in (
        "Made from\n  results/associations/ceat.parquet: ",
        "  resources/demo/corpus/bn/news.txt: ",
        "  resources/stimuli/bn/flowers.yaml: ",
    ):
        assert part in printed
    assert "changed since" not in printed


def bytes_of(results: Path) -> dict[str, bytes]:
    """Every result but the times of corpus files, and what is kept for later runs, whose parts are named at random."""
    paths = {path.relative_to(results).as_posix(): path for path in results.rglob("*") if path.is_file()}
    kept = ("store/", "likelihoods/kept/", "corpus.json")
    return {name: path.read_bytes() for name, path in paths.items() if not name.startswith(kept)}


@pytest.fixture
def elsewhere(tmp_path: Path) -> dict[str, str]:
    """Another order of sets, another zone and language, another folder for temporary files."""
    (tmp_path / "scratch").mkdir()
    return {"PYTHONHASHSEED": "1234", "TZ": "Asia/Dhaka", "LC_ALL": "C", "TMPDIR": str(tmp_path / "scratch")}


@pytest.mark.long
def test_two_runs_are_equal_byte_for_byte(
    project_root: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, elsewhere: dict[str, str]
) -> None:
    """CEAT, SEAT, WEAT, their twins and differences, trained models and vectors, figures, tables and the page.

    Jobs of a model have the threads that they have in the first run: others may change last bits (docs/running.md).
    """
    first = shared_study(tmp_path_factory, "associations", partial(measured_associations, project_root))
    second = prepare_associations(project_root, tmp_path / "second")
    threads = ("--set-threads", "embed_segments=2", "embed_templates=2")
    second.run("all", "--cores", "3", *threads, environment=elsewhere)
    one, other = (bytes_of(study.root / "results") for study in (first, second))
    assert one.keys() == other.keys()
    assert len(one) > 100
    assert [path for path in one if one[path] != other[path]] == []


@pytest.mark.long
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
    changed = [path for path in other if one[path] != other[path]]
    assert changed == ["config.yaml"], "its first line says whether a run made everything"
