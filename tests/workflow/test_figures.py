"""`snakemake figures`: everything is drawn from the results that are there, and what is missing is said."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest
from edited_code import edit_definition
from small_study import Study

pytestmark = pytest.mark.workflow

PAGE = "results/report/index.html"


@pytest.fixture
def brought(study: Study) -> Study:
    """The study as somebody gets it who is sent its Parquet tables: no corpus, word lists, samples, models, vectors."""
    for gone in ("resources", ".snakemake", "results/report"):
        shutil.rmtree(study.root / gone)
    for gone in ("sentences", "samples", "models", "embeddings", "store", "lexicon"):
        shutil.rmtree(study.root / "results" / gone)
    shutil.rmtree(study.root / "results/associations/ceat")
    for path in (study.root / "results/associations").glob("*.csv"):
        path.unlink()
    study.configure({"report": {"formats": ["pdf", "png"], "widths": ["page", "column"]}})
    return study


def page_of(study: Study) -> str:
    return " ".join((study.root / PAGE).read_text(encoding="utf-8").split())


@pytest.mark.long
def test_tables_alone_are_enough(brought: Study, no_torch: dict[str, str]) -> None:
    brought.run("figures", environment=no_torch)
    page = page_of(brought)
    assert "tiny-a" in page
    assert "This study is not finished" not in page
    assert "The tables of coverage and of the audit are not there" in page
    data = {path.name for path in (brought.root / "results/report/data").iterdir()}
    assert data == {f"ceat_{name}.parquet" for name in ("words", "differences", "settling", "convergence")}
    figures = brought.root / "results/report/figures"
    for width in ("", "column/"):
        for ending in ("pdf", "png"):
            assert (figures / f"{width}effect_by_length.{ending}").stat().st_size > 1000
    assert brought.plan("figures") == {}
    # another style draws the figures of that module, and the page that holds them
    edit_definition(brought.root, "plot_effect_by_length")
    assert brought.plan("figures") == {"draw_figures": 1, "write_page": 1}


def test_a_run_writes_the_page_with_what_lies_beside_it(finished: Study, project_root: Path) -> None:
    report = finished.root / "results/report"
    page = (report / "index.html").read_text(encoding="utf-8")
    beside = {link for link in re.findall(r'href="([^"#]+)"', page) if not link.startswith("https://")}
    assert {"figures/settling.svg", "tables/ceat.tex", "data_card.md"} <= beside
    card = (report / "data_card.md").read_text(encoding="utf-8")
    assert (
        len(re.findall(r"^\| `?resources/demo/corpus/bn/\w+\.txt`? \| `?[0-9a-f]{32}`? \|$", card, re.MULTILINE)) == 4
    )
    assert [link for link in sorted(beside) if not (report / link).is_file()] == []
    layout = json.loads((project_root / "workflow/schemas/summary.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads((finished.root / "results/summary.json").read_text(encoding="utf-8")), layout)


def test_snakemakes_own_report_has_the_page(study: Study, tmp_path: Path) -> None:
    study.configure({"title": "A {model} of *ours*\n\n.. raw:: html\n\n   <img src=x>\n"})
    study.run("--report", str(tmp_path / "report.html"))
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "A {model} of *ours* .. raw:: html &lt;img src=x&gt; (demo)" in report


@pytest.mark.long
def test_of_an_unfinished_study_is_shown_what_is_there(study: Study, no_torch: dict[str, str]) -> None:
    associations = study.root / "results/associations"
    (associations / "ceat_differences.parquet").unlink()
    said = "results/associations/ceat_differences.parquet is missing."
    assert f"Warning: {said}" in study.run("figures", environment=no_torch)
    assert f"<li>{said}" in page_of(study)
    assert study.plan()["gather_estimates"] == 1


def test_nothing_to_draw_is_told(study: Study) -> None:
    shutil.rmtree(study.root / "results")
    done = study.snakemake("figures")
    printed = done.stdout + done.stderr
    assert done.returncode != 0
    assert "`figures` needs results, and this study has no" in printed
    assert "Traceback" not in printed


def test_another_config_than_that_of_the_results_is_refused(study: Study) -> None:
    """As where a forgotten --configfile would draw the demo's page over another model's numbers."""
    before = page_of(study)
    study.configure({"samples": {"lengths": [25]}})
    done = study.snakemake("figures")
    assert done.returncode == 2
    assert "results/ was made with another config: samples.lengths (9, >75 there, 25 here)" in done.stderr
    assert page_of(study) == before
    assert study.plan("figures", "--configfile", "results/config.yaml") == {}


def test_files_that_were_deleted_are_made_again(study: Study) -> None:
    results = study.root / "results"
    (results / "report/methods_card.md").unlink()
    assert study.plan("figures") == {"write_page": 1}
    (results / "report/data/ceat_words.parquet").unlink()
    (results / "associations/ceat.csv").unlink()
    assert study.plan() == {"gather_estimates": 1, "draw_figures": 1, "write_tables": 1, "write_page": 1}


def test_deleted_figures_and_tables_are_drawn_again_as_they_were(study: Study, no_torch: dict[str, str]) -> None:
    report = study.root / "results/report"
    assert study.plan("figures") == {}
    gone = [*sorted((report / "figures").glob("*.svg")), report / "tables/ceat.tex", report / "data/ceat_words.parquet"]
    before = {path: path.read_bytes() for path in gone}
    assert len(before) > 3
    for path in gone:
        path.unlink()
    assert study.plan("figures") == {"draw_figures": 1, "write_tables": 1, "write_page": 1}
    for folder in ("embeddings", "samples", "sentences", "store", "models"):
        shutil.rmtree(study.root / "results" / folder)  # tables alone are enough
    study.run("figures", environment=no_torch)
    assert {path: path.read_bytes() for path in gone} == before
    assert study.plan("figures") == {}


def test_hidden_texts_are_not_beside_the_page_either(study: Study) -> None:
    data = study.root / "results/report/data"
    texts = [data / "concordance.tsv", data / "measured_sentences.tsv"]
    assert all(path.exists() for path in texts)
    study.configure({"report": {"texts": "hidden"}})
    study.run("figures")
    assert "This page leaves out sentences of the corpus" in page_of(study)
    assert not any(path.exists() for path in texts)
    assert (data / "suffixes.tsv").exists()
