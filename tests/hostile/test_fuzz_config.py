"""Configs with something wrong in them, through what a plan does with a config before it looks at any file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hostile_inputs import Edit, edited_bytes, edited_tree, edits, fuzzing, try_input
from hypothesis import given
from hypothesis import strategies as st

from prasanga.base.config import complete, read_config, read_schema, require_names_apart
from prasanga.plan.models import (
    kind_at_hand,
    require_encoder,
    require_places,
    require_stage,
    scored_models,
    studied_models,
    twins_of,
)
from prasanga.samples import bucket_names, parse_length, require_longest
from prasanga.sentences.files import find_shards, require_apart

ROOT = Path(__file__).parents[2]
SCHEMA = read_schema(ROOT / "workflow/schemas/config.schema.yaml")
FULL: dict[str, Any] = {
    **yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")),
    "outside": ["../shared", "/data"],
    "replacements": {"urls": "URL", "emoji": None},
    "construction": {"annotators": ["a", "b"], "tuples": "t.csv", "pairs": "demo", "prefixes": {"m": "x: "}},
    "comparison": {"paper": "sadhu2024", "models": {"tiny-narrow": "BanglaBERT"}},
    "report": {"formats": ["svg"], "widths": ["page"]},
}
FULL["models"] = {
    **FULL["models"],
    "mine": {
        "path": "models/mine",
        "revision": "main",
        "layer": [-1, 8],
        "tokenizer": {"keep_accents": True},
        "weights_sha256": {"pytorch_model.bin": "0" * 64},
        "cards": 2,
        "language_codes": {"bn": "bn_IN"},
    },
}


def plan(config: Any) -> None:
    """What `prasanga.plan.Study` does with a config, up to the first file of a study."""
    config = complete(config, SCHEMA)
    models = config["models"]
    studied, scored = studied_models(models), scored_models(models)
    twins_of(studied, config["seed"], config["associations"]["random_twins"])
    twins_of(scored, config["seed"], config["associations"]["random_twins"])
    require_stage(models, "likelihoods", ["pairs.sets"] if config["pairs"]["sets"] else [])
    require_encoder({name: kind_at_hand(each) for name, each in scored.items()}, [])
    require_names_apart(config["static"]["vectors"], {**studied, **scored})
    lengths = [parse_length(length) for length in config["samples"]["lengths"]]
    require_longest(lengths, config["samples"]["longest"])
    if (buckets := config["embeddings"]["buckets"]) != "auto":
        bucket_names(buckets)
    require_places(models, Path.cwd())
    corpus, outside = config["corpus"], [".", *config["outside"]]
    shards = find_shards(corpus["root"], corpus["texts"], corpus["shard_megabytes"] * 10**6, "corpus.texts", outside)
    more = find_shards(corpus["root"], corpus["supplement"], 10**6, "corpus.supplement", outside)
    require_apart(shards, more)
    for name in (*studied, *scored, *config["pairs"]["sets"], *config["static"]["vectors"], *shards):
        assert Path("results", name).resolve().parent == Path("results").resolve(), name
        assert len(name.encode()) < 200
        assert name.isprintable()
    json.dumps(config, allow_nan=False)


@pytest.fixture(scope="module", autouse=True)
def study(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An otherwise empty study, with a text and nothing else to be found."""
    root, before = tmp_path_factory.mktemp("study"), Path.cwd()
    (root / "resources/demo/corpus/bn").mkdir(parents=True)
    (root / "resources/demo/corpus/bn/a.txt").write_text("গোলাপ\n", encoding="utf-8")
    os.chdir(root)
    yield root
    os.chdir(before)


def test_the_config_that_is_edited_is_a_good_one() -> None:
    plan(FULL)


@fuzzing()
@given(edits())
def test_values_that_a_program_might_give(changes: list[Edit]) -> None:
    config = edited_tree(FULL, changes)
    try_input("config: values", lambda: plan(config) if isinstance(config, dict) else None)


def _as_yaml(tree: Any) -> str:
    return str(yaml.safe_dump(tree, allow_unicode=True, sort_keys=False))


WRITERS: tuple[Callable[[Any], str], ...] = (_as_yaml, lambda tree: json.dumps(tree, indent=1))


@fuzzing()
@given(edits(), st.sampled_from(WRITERS))
def test_files_with_odd_values(changes: list[Edit], write: Callable[[Any], str]) -> None:
    config = edited_tree(FULL, changes)
    try:
        text = write(config).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, yaml.YAMLError):
        return  # not to be written at all
    Path("c.yaml").write_bytes(text)
    try_input("config: files", lambda: plan(read_config("c.yaml")))


TEXT = _as_yaml(FULL).encode()


@fuzzing()
@given(edits(6))
def test_files_with_odd_text(changes: list[Edit]) -> None:
    Path("c.yaml").write_bytes(edited_bytes(TEXT, changes))
    try_input("config: text", lambda: plan(read_config("c.yaml")))


@fuzzing(0.3)
@given(st.binary(max_size=400))
def test_files_of_any_bytes(data: bytes) -> None:
    Path("c.yaml").write_bytes(data)
    try_input("config: bytes", lambda: plan(read_config("c.yaml")))
