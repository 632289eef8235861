"""Redrawing from cached vectors: no corpus, no model, no torch."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_study import Study

pytestmark = pytest.mark.workflow


@pytest.fixture
def cached(study: Study) -> Study:
    """The study with nothing but vectors: corpus, sentences, samples, models and Snakemake's folder are gone."""
    for gone in (
        "resources/demo",
        "results/sentences",
        "results/samples",
        "results/models",
        "results/store",
        ".snakemake",
    ):
        shutil.rmtree(study.root / gone)
    study.configure({"embeddings": {"source": "cached"}})
    return study


def without_adjusted(study: Study) -> pa.Table:
    """CEAT but for what rests on corpus frequency and pieces, which came with the samples and the models."""
    table = pq.read_table(study.root / "results/associations/ceat.parquet")
    return table.select([name for name in table.column_names if "adjusted" not in name]).replace_schema_metadata()


def test_everything_is_redrawn_without_models_and_word_lists(cached: Study, no_torch: dict[str, str]) -> None:
    before = without_adjusted(cached)
    for gone in ("resources", "results/associations", "results/report"):
        shutil.rmtree(cached.root / gone)
    cached.run("figures", environment=no_torch)
    assert without_adjusted(cached).equals(before)
    page = (cached.root / "results/report/index.html").read_text(encoding="utf-8")
    assert "tiny-a" in page
    assert "গোলাপ" in page
    assert cached.plan("figures", environment=no_torch) == {}


def test_a_changed_convention_reruns_statistics_from_the_cache(cached: Study, no_torch: dict[str, str]) -> None:
    """The word lists are there, and are not asked. Without Snakemake's notes, the change has to be told."""
    cached.configure({"associations": {"variance": "hedges"}})
    assert "associations.variance (association there, hedges here)" in cached.run("--dry-run", environment=no_torch)
    plan = cached.plan("--forceall", environment=no_torch)
    assert (plan["measure_ceat"], plan["gather_estimates"], plan["write_page"]) == (2, 1, 1)
    assert not {"embed_segments", "draw_samples", "train_model"} & plan.keys()
    cached.run("results/associations/ceat.parquet", "--forceall", environment=no_torch)
    table = pq.read_table(cached.root / "results/associations/ceat.parquet")
    assert set(table["variance"].to_pylist()) == {"hedges"}


def test_switching_to_the_cache_and_back_costs_nothing(study: Study) -> None:
    study.configure({"embeddings": {"source": "cached"}})
    assert study.plan() == {}
    study.configure({"embeddings": {"source": "computed"}})
    assert study.plan() == {}


def test_what_is_missing_is_said_before_any_job(cached: Study) -> None:
    (cached.root / "results/embeddings/tiny-b/9/00.parquet").unlink()
    printed = refused(cached)
    assert "tiny-b/9/00.parquet" in printed
    assert "computed" in printed  # what to write instead


def test_vectors_that_are_not_what_the_config_says_are_refused(cached: Study) -> None:
    cached.configure({"samples": {"pool": "per_length"}})
    assert "made with pool " in refused(cached)


def refused(study: Study) -> str:
    """What `snakemake figures` prints, which does not succeed; never a traceback."""
    done = study.snakemake("figures")
    printed = done.stdout + done.stderr
    assert done.returncode != 0, printed
    assert "Traceback" not in printed
    return printed


def test_a_damaged_shard_is_refused(cached: Study) -> None:
    shard = cached.root / "results/embeddings/tiny-a/9/00.parquet"
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    shutil.rmtree(cached.root / "results/associations")
    assert "tiny-a/9/00.parquet" in refused(cached)
