"""The whole chain on real Bangla text, with the word lists of the paper's authors in their own layout."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from shared_studies import shared_study
from small_study import Study, copy_code

from prasanga.config import complete
from prasanga.schema import describe_losses
from prasanga.text import normalize

pytestmark = pytest.mark.workflow

AUTHORS = "reference/banglacontextualbias/CeatDataCollection"


@pytest.fixture(scope="module")
def real(project_root: Path, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """config/real_text.yaml, run with a model that is hardly trained."""

    def finish(destination: Path) -> Study:
        study = copy_code(project_root, destination, link_source=True)
        config = yaml.safe_load((study.root / "config/real_text.yaml").read_text(encoding="utf-8"))
        config["corpus"]["root"] = str(shared)
        for key in ("stimuli", "suffix_groups"):
            config["lexicon"][key] = config["lexicon"][key].replace("../shared", str(shared))
        config["samples"]["contexts_per_stimulus"] = 5
        config["embeddings"] = {"buckets": 1}
        config["associations"] |= {"n_samples": 50, "n_resamples": 20, "n_shuffles": 20}
        config["static"]["vectors"]["word2vec"]["train"] |= {"dimensions": 10, "epochs": 1}
        config["models"] = {"tiny": {"train": {"hidden_size": 16, "heads": 2, "layers": 1, "steps": 3}}}
        (study.root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
        study.run()
        return study

    study = shared_study(tmp_path_factory, "real", finish)
    yield study
    shutil.rmtree(study.root)


@pytest.mark.long
def test_sentences_are_found_in_every_register(real: Study) -> None:
    counts = {path.stem: json.loads(path.read_text()) for path in (real.root / "results/sentences").glob("*.json")}
    assert len(counts) == 6
    assert all(count["occurrences"] > 0 for count in counts.values())
    prose = next(count for name, count in counts.items() if "bn_prose_pd" in name)
    assert prose["lines"] == 11_910
    assert prose["documents"] == 1
    tatoeba = next(count for name, count in counts.items() if "tatoeba" in name)
    assert tatoeba["documents"] == tatoeba["lines"] == 4_596


@pytest.mark.long
def test_every_row_says_where_it_comes_from(real: Study, shared: Path) -> None:
    path = next((real.root / "results/sentences").glob("*porjotonlipi*.parquet"))
    rows = pq.read_table(path).to_pylist()
    raw = (shared / AUTHORS / "sample_data/porjotonlipi.bn").read_bytes()
    assert {row["source"] for row in rows} == {f"{AUTHORS}/sample_data/porjotonlipi.bn"}
    for row in rows[:200]:
        assert row["text"][row["start"] : row["end"]] == row["form"]
        line = raw[row["offset"] :].split(b"\n", 1)[0].decode()
        assert row["form"] in normalize(line)


@pytest.mark.long
def test_segments_have_the_length_asked_for(real: Study) -> None:
    for name, fits in {"9": range(9, 10), "25": range(25, 26), "75": range(75, 76), "over75": range(76, 10**6)}.items():
        rows = pq.read_table(real.root / f"results/samples/{name}/00.parquet", columns=["n_words"])
        numbers = set(rows.column("n_words").to_pylist())
        assert numbers, name
        assert numbers <= set(fits), name


@pytest.mark.long
def test_what_is_lost_is_said(real: Study) -> None:
    coverage = pq.read_table(real.root / "results/samples/coverage.parquet").to_pylist()
    lost = {row["stimulus"] for row in coverage if row["reason"]}
    assert lost  # a few megabytes do not hold every name
    ceat = pq.read_table(real.root / "results/associations/ceat.parquet").to_pylist()
    assert len(ceat) == 9 * (1 + 4)
    for row in ceat:
        used = sum(row[key] for key in ("n_x", "n_y", "n_a", "n_b"))
        listed = sum(row[key] for key in ("listed_x", "listed_y", "listed_a", "listed_b"))
        assert (used < listed) == bool(describe_losses(row["lost"]))
        if row["effect_size"] is not None:
            assert -2 <= row["effect_size"] <= 2


@pytest.mark.long
def test_the_authors_words_have_static_vectors(real: Study) -> None:
    rows = pq.read_table(real.root / "results/associations/weat.parquet").to_pylist()
    assert [row["category"] for row in rows] == [f"C{number}" for number in range(1, 10)]
    for row in rows:
        assert row["n_x"] + row["n_y"] + row["n_a"] + row["n_b"] > 0
        assert (row["effect_size"] is None) == ("not computed" in describe_losses(row["lost"]))


@pytest.mark.long
def test_a_word_listed_twice_counts_once(real: Study) -> None:
    """The authors list one pleasant and one unpleasant word twice, so that their 24 words are 23."""
    row = next(
        r for r in pq.read_table(real.root / "results/associations/ceat.parquet").to_pylist() if r["category"] == "C1"
    )
    assert (row["listed_a"], row["listed_b"]) == (23, 23)
    assert describe_losses(row["lost"]).count("listed twice, counted once") == 2
    log = (real.root / "logs/lexicon/forms.log").read_text(encoding="utf-8")
    assert "It counts once; with `preset: paper` it counts 2 times in CEAT" in log


@pytest.mark.long
def test_the_page_is_made(real: Study) -> None:
    page = (real.root / "results/report/index.html").read_text(encoding="utf-8")
    assert "Bangla on real text" in page
    assert "গোলাপ" in page


def test_the_config_needs_no_change_but_its_paths(project_root: Path) -> None:
    config = yaml.safe_load((project_root / "config/real_text.yaml").read_text(encoding="utf-8"))
    completed = complete(config)
    assert completed["categories"] == [f"C{number}" for number in range(1, 10)]
