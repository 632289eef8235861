"""Embedding through the real rules: what is embedded, how often, and what a kill costs.

A job that loads a model takes seconds to import it, so each test asks for as few as it can.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
import yaml
from small_study import Study, copy_code

pytestmark = pytest.mark.workflow


def lists(*models: str, lengths: Sequence[str] = ("9",)) -> list[str]:
    return [f"results/embeddings/{model}/{length}.json" for model in models for length in lengths]


def passes(study: Study, model: str) -> dict[str, int]:
    """{length/bucket: texts run through the model} of each embedding job's last run, by its log."""
    found = {}
    for log in (study.root / "logs/embeddings" / model).rglob("[0-9][0-9].log"):
        said = re.findall(r"/(\w+/\d\d)\.parquet: .*passes=(\d+)", log.read_text(encoding="utf-8"))
        found |= {key: int(number) for key, number in said}
    return found


def texts(study: Study) -> dict[str, set[str]]:
    """{length/bucket: different texts drawn}; equal ones of a bucket share a pass."""
    paths = (study.root / "results/samples").glob("*/*.parquet")
    return {f"{path.parent.name}/{path.stem}": set(pl.read_parquet(path)["text"]) for path in paths}


def shards(study: Study, model: str) -> dict[str, bytes]:
    folder = study.root / "results/embeddings" / model
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def stored_files(study: Study) -> int:
    return len(list((study.root / "results/store").rglob("[!.]*.parquet")))


def test_a_larger_sample_runs_the_new_texts_only(study: Study) -> None:
    before = texts(study)
    for model in ("tiny-a", "tiny-b"):
        assert passes(study, model) == {key: len(found) for key, found in before.items()}
    study.configure({"samples": {"contexts_per_stimulus": 5}})
    study.run(*lists("tiny-a"))
    after = texts(study)
    grown = len(after["9/00"] - before["9/00"])
    assert grown > 0
    assert passes(study, "tiny-a")["9/00"] == grown


def test_other_buckets_run_nothing_again(study: Study) -> None:
    study.configure({"embeddings": {"buckets": 2}})
    study.run(*lists("tiny-a"))
    assert {key: count for key, count in passes(study, "tiny-a").items() if key.startswith("9/")} == {
        "9/00": 0,
        "9/01": 0,
    }
    for bucket in ("00", "01"):
        drawn = pl.read_parquet(study.root / f"results/samples/9/{bucket}.parquet")
        embedded = pl.read_parquet(study.root / f"results/embeddings/tiny-a/9/{bucket}.parquet")
        assert embedded["segment_id"].to_list() == drawn["segment_id"].to_list()


@pytest.mark.long
def test_another_length_has_segments_of_its_own(study: Study) -> None:
    study.configure({"samples": {"lengths": [9, 25, ">75"]}})
    plan = study.plan()
    assert plan["draw_samples"] == 1
    study.run(*lists("tiny-a", lengths=("25",)))
    drawn = pl.read_parquet(study.root / "results/samples/25/00.parquet")
    embedded = pl.read_parquet(study.root / "results/embeddings/tiny-a/25/00.parquet")
    assert embedded["segment_id"].to_list() == drawn["segment_id"].to_list()
    assert set(drawn["n_words"]) == {25}


@pytest.mark.long
def test_layers_of_a_model_come_from_one_pass(study: Study) -> None:
    models = study.config["models"]
    models["tiny-b"] = {**models["tiny-b"], "layer": [0, 1]}  # of two blocks: none of them is in the store
    study.configure({"models": models})
    study.run(*lists("tiny-b-layer0", "tiny-b-layer1"))
    counts = [passes(study, f"tiny-b-layer{layer}") for layer in (0, 1)]
    expected = {key: len(mine) for key, mine in texts(study).items() if key.startswith("9/")}
    assert {key: sum(count[key] for count in counts) for key in expected} == expected
    assert shards(study, "tiny-b-layer0")["9/00.parquet"] != shards(study, "tiny-b-layer1")["9/00.parquet"]


def test_runs_that_are_killed_end_with_the_same_bits(study: Study) -> None:
    wanted = shards(study, "tiny-a")
    for made in ("embeddings/tiny-a", "store"):
        shutil.rmtree(study.root / "results" / made)
    rng = random.Random(5)
    for _ in range(2):
        before = stored_files(study)
        process = subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "2", *lists("tiny-a", lengths=("9", "over75"))],
            cwd=study.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 120
        while stored_files(study) == before and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.1))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        study.run("--unlock")
    study.run(*lists("tiny-a", lengths=("9", "over75")))
    assert shards(study, "tiny-a") == wanted


def test_a_model_that_cannot_be_had_is_told_before_the_corpus_is_read(project_root: Path, tmp_path: Path) -> None:
    study = copy_code(project_root, tmp_path / "tree", link_source=True)
    corpus = {"texts": [{"files": "resources/demo/corpus/bn/news.txt", "documents": "blank-line"}]}
    config = {**study.config, "corpus": corpus, "models": {"gone": {"path": "nobody/no-such-model"}}}
    config |= {"seat": {"categories": []}, "static": {"vectors": {}}}
    (study.root / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    done = study.snakemake("--cores", "1")  # with more, so little text is read while the model is looked for
    printed = done.stdout + done.stderr
    assert done.returncode != 0
    assert "nobody/no-such-model" in printed
    assert "Error in rule check_model" in printed
    assert not (study.root / "results/sentences").exists()
    assert not (study.root / "results/samples").exists()
