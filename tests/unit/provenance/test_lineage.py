"""What a file was made from, asked by its path, its content, or the fingerprint inside it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from noted_results import NotedResults, small_results

from prasanga.base.errors import InputError
from prasanga.base.parquet import write_table
from prasanga.provenance.ledger import LEDGER, read_ledger, synchronize
from prasanga.provenance.lineage import fingerprint_inside, follow, identify, tell

FIGURE = "report/figures/ceat.svg"


@pytest.fixture
def noted(tmp_path: Path) -> NotedResults:
    return small_results(tmp_path / "study")


def how(path: Path, noted: NotedResults) -> tuple[str, str] | None:
    found = identify(path, read_ledger(noted.results / LEDGER))
    return None if found is None else (found.how, found.entry.path)


def test_the_way_leads_from_the_figure_to_the_corpus(noted: NotedResults) -> None:
    ledger = read_ledger(noted.results / LEDGER)
    lineage = follow(ledger.entries[f"results/{FIGURE}"], ledger)
    assert [step.rule for step in lineage.steps] == [
        *("gather_ceat", "measure_ceat", "measure_ceat", "extract_sentences", "compile_forms")
    ]
    assert [(source.path, source.sha256 is None, source.xxh3 is None) for source in lineage.sources] == [
        ("texts/corpus.txt", True, False),
        ("words/flowers.yaml", False, True),
    ]
    assert lineage.gaps == ()


def test_the_way_is_known_where_only_the_end_of_it_was_sent(noted: NotedResults) -> None:
    for gone in ("lexicon", "sentences"):
        shutil.rmtree(noted.results / gone)
    shutil.rmtree(noted.root / "texts")
    synchronize(noted.root)
    ledger = read_ledger(noted.results / LEDGER)
    lineage = follow(ledger.entries[f"results/{FIGURE}"], ledger)
    assert {source.path for source in lineage.sources} == {"texts/corpus.txt", "words/flowers.yaml"}


def test_what_was_made_anew_since_is_a_gap(noted: NotedResults) -> None:
    noted.make("results/associations/ceat.csv", "a,0.6\n", "gather_ceat", ["results/associations/ceat/a.tsv"])
    noted.end_run()
    ledger = read_ledger(noted.results / LEDGER)
    lineage = follow(ledger.entries[f"results/{FIGURE}"], ledger)
    assert [(gap.path, gap.of) for gap in lineage.gaps] == [("results/associations/ceat.csv", f"results/{FIGURE}")]


def test_a_file_is_known_by_place_by_content_and_by_fingerprint(noted: NotedResults, tmp_path: Path) -> None:
    figure = noted.results / FIGURE
    copied, edited, other = (tmp_path / name for name in ("figure 3.svg", "edited.svg", "other.csv"))
    shutil.copyfile(figure, copied)
    edited.write_text(figure.read_text().replace("<svg>", '<svg width="3">'))
    other.write_text("nobody's\n")
    assert how(figure, noted) == ("path", f"results/{FIGURE}")
    assert how(copied, noted) == ("content", f"results/{FIGURE}")
    assert how(edited, noted) == ("fingerprint", f"results/{FIGURE}")
    assert how(other, noted) is None
    table = noted.results / "associations/ceat.csv"
    table.write_text("changed by hand\n")
    assert how(table, noted) == ("name", "results/associations/ceat.csv")


def test_fingerprints_are_found_in_every_format(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    from prasanga.report.figures.canvas import save_figure

    for ending in ("svg", "pdf", "png"):
        save_figure(Figure(figsize=(1, 1)), tmp_path / f"figure.{ending}", made_from="0123456789abcdef")
        assert fingerprint_inside(tmp_path / f"figure.{ending}") == "0123456789abcdef", ending
    write_table(tmp_path / "t.parquet", pa.table({"a": [1]}), {"fingerprint": "fedcba9876543210"})
    assert fingerprint_inside(tmp_path / "t.parquet") == "fedcba9876543210"
    (tmp_path / "t.csv").write_text("a\n1\n")
    assert fingerprint_inside(tmp_path / "t.csv") is None
    (tmp_path / "broken.parquet").write_text("PAR1")
    assert fingerprint_inside(tmp_path / "broken.parquet") is None


def test_the_answer_names_all_that_it_was_made_from(noted: NotedResults) -> None:
    said = tell(noted.results / FIGURE)
    for part in (
        *("texts/corpus.txt", "words/flowers.yaml", "xxh3", "measure_ceat 2", "seed 47", "study: tried"),
        *("models/a  revision not pinned", "torch 2.13.0", "A processor, x86_64, 2 cores (avx2)", "prasanga 0.1.0"),
        "no graphics card",
    ):
        assert part in said, part
    assert "n_samples" not in said
    whole = tell(noted.results / FIGURE, whole=True)
    assert '"n_samples": 40' in whole
    assert "prasanga.base.parquet.write ba9876543210" in whole


def test_a_changed_file_is_said_to_be_one(noted: NotedResults) -> None:
    (noted.results / "associations/ceat.csv").write_text("changed by hand\n")
    assert "is NOT the file that the workflow made" in tell(noted.results / "associations/ceat.csv")


def test_results_under_another_name_are_asked_as_well(noted: NotedResults, tmp_path: Path) -> None:
    elsewhere = noted.results.rename(tmp_path / "from a colleague")
    assert "texts/corpus.txt" in tell(elsewhere / FIGURE)
    copied = Path(shutil.copy(elsewhere / FIGURE, tmp_path / "figure.svg"))
    assert "texts/corpus.txt" in tell(copied, elsewhere)


def test_what_cannot_be_told_is_said(noted: NotedResults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("nobody's\n")
    with pytest.raises(InputError, match=r"absent\.csv: no such file"):
        tell(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="no such ledger"):
        tell(tmp_path / "other.csv")
    with pytest.raises(InputError, match="neither its content nor a fingerprint inside it is known"):
        tell(Path("other.csv"), noted.results)
    assert "made by the rule draw_ceat" in tell(noted.results / FIGURE)
