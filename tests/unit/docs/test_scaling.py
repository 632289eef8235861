"""The page on scaling is what its script writes, and the formulas give what they give by hand."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from prasanga.plan.runs import BASE

MEASURED: dict[str, dict[str, float]] = {
    "sentences": {
        "megabytes_per_core_second": 50,
        "gain_of_two_processes": 2,
        "sentences_per_megabyte": 400,
        "bytes_per_sentence": 300,
        "drawn_sentences_per_second": 100_000,
        "cut_segments_per_second": 1_000,
        "start_of_job_seconds": 3,
        "gibibytes_of_search": 0.5,
    },
    "embeddings": {
        "pieces_of_9_words": 10,
        "pieces_of_75_words": 76,
        "teraflops_at_9_words": 0.2,
        "teraflops_at_25_words": 0.4,
        "teraflops_at_75_words": 0.8,
        "bytes_per_value": 1.5,
        "seconds_of_imports": 5,
    },
    "associations": {"core_seconds_per_estimate": 2, "dimensions": 1024, "gibibytes": 1.5},
    "pairs": {
        "copies_per_second_of_32000_entries_in_bfloat16": 100,
        "pieces_per_copy": 10,
        "pieces_per_copy_of_sample": 10,
        "copies_of_sample": 1_000,
    },
    "report": {"core_seconds_of_grid": 30, "megabytes_of_grid": 3},
    "static": {
        "words_per_megabyte": 50_000,
        "megabytes_cut_per_second": 4,
        "words_trained_per_second": 100_000,
        "counts_per_second": 1e6,
        "counts_per_word": 2,
        "bytes_per_word": 2,
        "words_counted_per_second": 500_000,
        "words_measured": 500_000,
        "different_words": 40_000,
        "frequent_words": 10_000,
        "growth_of_different_words": 0.5,
        "bytes_per_different_word": 100,
        "bytes_per_vector_of_glove": 9_000,
    },
}
ASSUMED: dict[str, Any] = {
    "cards": {"A100": {"bf16_teraflops": 100}},
    "share_of_published_rate": {"value": 0.5},
    "share_at_9_words": {"value": 0.2},
    "share_at_75_words": {"value": 0.4},
    "disk_megabytes_per_second": {"value": 100},
    "load_megabytes_per_second": {"value": 100},
}
#: 12 x 768^2 + 13 x 768 = 7,087,872; twice that and 4 x 768 x 10 are 14,206,464, for each of 10 pieces and 12 blocks.
BASE_AT_10_PIECES = 1_704_775_680


@pytest.fixture(scope="module")
def script(project_root: Path) -> ModuleType:
    path = project_root / "docs/write_scaling_page.py"
    spec = importlib.util.spec_from_file_location("write_scaling_page", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def known(script: ModuleType, tmp_path: Path) -> Any:
    for name, constants in MEASURED.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"constants": constants}), encoding="utf-8")
    (tmp_path / "assumed.json").write_text(json.dumps(ASSUMED), encoding="utf-8")
    return script.Constants(tmp_path)


@pytest.fixture
def plan(script: ModuleType) -> Any:
    """One GB, one model of BERT-base's size, 9 and more than 75 words, ten stimuli with twenty contexts."""
    small = {"stimuli": 10, "contexts": 20, "categories": 3, "buckets": 4}
    return script.Plan("small", 1, {"base": BASE}, (9, ">75"), "grid", **small)


def test_the_page_is_what_the_script_writes(script: ModuleType, project_root: Path) -> None:
    written = (project_root / "docs/scaling.md").read_text(encoding="utf-8")
    assert written == script.page(script.Constants()), "docs/scaling.md: run `python docs/write_scaling_page.py`"


def test_every_rate_of_a_card_is_marked_as_assumed(script: ModuleType, project_root: Path) -> None:
    lines = (project_root / "docs/scaling.md").read_text(encoding="utf-8").splitlines()
    for name in [
        *script.Constants().assumed["cards"],
        "share_of_published_rate",
        "share_at_9_words",
        "share_at_75_words",
    ]:
        rows = [line for line in lines if line.startswith(f"| `{name}`")]
        assert len(rows) == 1, name
        assert "**ASSUMED**" in rows[0]
    assert all("(ASSUMED)" in line for line in lines if line.startswith("| stage | core hours"))


def test_multiplications_are_counted_as_by_hand() -> None:
    assert BASE.flop(10) == BASE_AT_10_PIECES


def test_a_plan_is_cut_as_the_workflow_cuts_it(plan: Any) -> None:
    assert (plan.shards, plan.words, plan.segments) == (2, [9, 150], 400)  # 1,000 / 512 is nearer to 2
    assert (plan.embedding_jobs, plan.cells) == (16, 4)


def test_stages_that_grow_with_the_corpus(script: ModuleType, plan: Any, known: Any) -> None:
    assert script.digests(plan, known).core_seconds == 10  # 1,000 MB at 100 MB/s
    searched = script.sentences(plan, known)
    assert searched.core_seconds == pytest.approx(2 * 3 + 1_000 / 50)
    assert (searched.disk, searched.memory) == (1_000 * 400 * 300, 0.5)
    # 400,000 sentences at 100,000 a second, 400 segments at 1,000; 200 of 9 words and of 150 at 20 bytes a word
    drawn = script.samples(plan, known)
    assert drawn.core_seconds == pytest.approx(3 + 4 + 0.4)
    assert (drawn.disk, drawn.memory) == (200 * 9 * 20 + 200 * 150 * 20, None)
    # cut once at 4 MB/s, 5 epochs of 50 million words, counted once at 500,000 a second, 25 of 100 million counts
    trained = script.static(plan, known)
    assert (trained.core_seconds, trained.disk) == (250 + 5 * 500 + 100 + 25 * 100, 50e6 * 2)
    # a hundred times the words that were measured: ten times as many different ones, a quarter of them with a vector
    assert trained.memory == pytest.approx(10 * (40_000 * 100 + 10_000 * 9_000) / 2**30)


def test_embeddings(script: ModuleType, plan: Any, known: Any) -> None:
    assert (known.pieces(9), known.pieces(75), known.pieces(150)) == (10, 76, 151)
    short, long = 2 * 200 * BASE.flop(10), 2 * 200 * BASE.flop(151)
    starts = 2 * 2 * 4 * (5 + 220e6 / 100e6)
    cost = script.embeddings(plan, known)
    assert cost.core_seconds == pytest.approx(short / 0.1e12 + long / 0.4e12 + starts)
    assert cost.card_seconds == pytest.approx(short / 10e12 + long / 20e12 + starts)
    assert cost.disk == 2 * 2 * 200 * 768 * 1.5


def test_stages_that_do_not_grow(script: ModuleType, plan: Any, known: Any) -> None:
    assert script.associations(plan, known).core_seconds == 2 * 2 * 3 * 2 * 2 * 768 / 1024
    assert script.associations(plan, known).memory == 1.5 * 768 / 1024
    # 2,000 copies by a model that makes 50 a second on a core, and two starts; on a card 10 TFLOP/s
    scored = script.pairs(plan, known)
    assert scored.core_seconds == pytest.approx(2_000 / 50 + 2 * 5)
    assert scored.card_seconds == pytest.approx(2_000 * BASE_AT_10_PIECES / 10e12 + 2 * 5)
    assert script.report(plan, known)[:1] == (30,)


def test_notes_name_every_table_for_every_output(script: ModuleType, plan: Any, known: Any) -> None:
    kept = script.notes(plan, known)
    assert kept.jobs == 2 + 16 + 2 * 4
    # results: 2 a part and bucket, 5 a cell, 3 + 8 of the draw; and a log and a benchmark a job
    assert kept.files == 2 * 2 + 2 * 16 + 5 * 4 + 11 + 2 * 26
    assert kept.bytes == (11 + 8) * 2 * len('"results/sentences/text-00001.part0001.parquet", ')
    assert kept.hashed == 0  # two tables of 60 MB: compared by their times
    many = script.replace(plan, shard_megabytes=100)
    assert script.notes(many, known).hashed == (11 + 8) * 120e6  # ten of 12 MB


def test_snakemake_plans_as_many_jobs_as_the_formula_says_and_some_thirty(script: ModuleType) -> None:
    known, (paper, _, web) = script.Constants(), script.PLANS
    plans = {
        "paper": script.replace(paper, shard_megabytes=107),
        "web": web,
        "largest": script.replace(web, shard_megabytes=512, buckets=16),
    }
    counted = {
        name.partition(",")[0]: found["jobs"]
        for name, found in known.files["planning"]["results"].items()
        if name.endswith(", first")
    }
    assert counted
    for name, jobs in counted.items():
        assert 25 <= jobs - script.notes(plans[name], known).jobs <= 40, name


def test_hours_and_sizes_are_short(script: ModuleType) -> None:
    assert [script._hours(each) for each in (30, 360, 4_500, 36_000_000)] == ["< 0.01", "0.10", "1.2", "10,000"]
    assert [script._bytes(each) for each in (900, 2.5e6, 3e9, 1.25e12)] == ["0.9 kB", "2.5 MB", "3.0 GB", "1.2 TB"]
