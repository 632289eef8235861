"""What would be sent to a cluster, and what the profile says; these need no Slurm."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_study import Study, copy_code

EVERY = {"sentences": 1, "associations": 1, "report": 1}
SLURM = ("--dry-run", "--workflow-profile", "profiles/slurm")


@pytest.fixture(scope="module")
def tree(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A copy of the tree to plan in."""
    return copy_code(project_root, tmp_path_factory.mktemp("plans") / "study", link_source=True)


def test_groups_of_the_demo(tree: Study) -> None:
    """Small models of our own: what runs them goes with the statistics."""
    printed = tree.run(*SLURM)
    assert Counter(re.findall(r"Group job (\w+) \(", printed)) == {
        **{"associations": 1, "likelihoods": 2, "models": 4, "report": 1, "sentences": 1, "static": 2},
    }


def test_groups_of_models_with_cards(tree: Study) -> None:
    """A model on a card has a job for each length and one for the templates; nothing that can fail hangs on them."""
    models = {
        f"real{number}": {"train": {"steps": 4}, "cards": 1, "stages": ["embeddings"], "layer": layer}
        for number, layer in enumerate((-1, [-1, -2]))
    }
    small: dict[str, Any] = {"models": models, "associations": {"random_twin": False}, "embeddings": {"buckets": 3}}
    changed = tree.copy(tree.root.parent / "with-cards")
    changed.configure({**small, "pairs": {"sets": {}}, "log_probability": {"categories": [], "traits": []}})
    config = changed.config
    config["models"] = models
    (changed.root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    groups = re.findall(r"Group job (\w+) \(.*?\n(.*?)(?=\n\[|\nJob stats)", changed.run(*SLURM), flags=re.DOTALL)
    embeddings = [
        sorted(re.findall(r"output: results/embeddings/(\S+?)/\w+(?:/|\.json)", members))
        for name, members in groups
        if name == "embeddings"
    ]
    # a job for each of four lengths, of both layers together; and templates, one for each layer
    last, before = "real1-layer-last", "real1-layer-last-1"
    assert Counter(tuple(sorted(set(names))) for names in embeddings) == {
        **{("real0",): 4 + 1, (last, before): 4, (last,): 1, (before,): 1}
    }


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        # models and their twins, each in four lengths
        pytest.param("sadhu2024", {**EVERY, "models": 4, "static": 2, "embeddings": 2 * 4 * 4}, marks=pytest.mark.long),
        # the same in three lengths, and the templates of SEAT
        pytest.param("sahoo2024", {**EVERY, "models": 10, "embeddings": 2 * 10 * (3 + 1)}, marks=pytest.mark.long),
        # one that is trained, whose vectors go with the statistics
        ("real_text", {**EVERY, "models": 1, "static": 1}),
    ],
)
def test_shipped_studies_have_groups_that_can_run(tree: Study, name: str, groups: dict[str, int]) -> None:
    """Of a corpus of two small files, with the project's own words where the config wants the authors'."""
    config = yaml.safe_load((tree.root / f"config/{name}.yaml").read_text(encoding="utf-8"))
    config["corpus"] = {**config["corpus"], "root": "corpora", "texts": [{"files": "*.txt"}]}
    config.pop("outside", None)
    if config["language"] == "bn":
        config["lexicon"] = {"stimuli": "resources/stimuli/bn", "suffix_groups": "resources/suffix_groups/bn.yaml"}
        config["categories"] = [f"C{number}" for number in range(1, 10)]
    planned = tree.copy(tree.root.with_name(name))
    for number in range(2):
        text = planned.root / f"corpora/{number}.txt"
        text.parent.mkdir(exist_ok=True)
        text.write_text("ফুল\n", encoding="utf-8")
    (planned.root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    printed = planned.run(*SLURM)
    assert Counter(re.findall(r"Group job (\w+) \(", printed)) == groups


def test_profile_keeps_what_all_profiles_share(project_root: Path) -> None:
    """With --workflow-profile the default one is not read, so it must be repeated."""
    default, slurm = (
        yaml.safe_load((project_root / "profiles" / name / "profile.yaml").read_text(encoding="utf-8"))
        for name in ("default", "slurm")
    )
    for key in ("rerun-triggers", "max-checksum-file-size", "rerun-incomplete", "show-failed-logs"):
        assert slurm[key] == default[key]


def test_profile_names_rules_that_exist(project_root: Path) -> None:
    """A rule that was renamed would silently lose its resources."""
    files = [*(project_root / "rules").glob("*.smk"), project_root / "construction/construction.smk"]
    rules = "\n".join(path.read_text(encoding="utf-8") for path in files)
    defined = set(re.findall(r"^\s*(?:rule|checkpoint) (\w+):", rules, flags=re.MULTILINE))
    defined |= set(re.findall(r"use rule \w+ as (\w+) with", rules))
    profile = yaml.safe_load((project_root / "profiles/slurm/profile.yaml").read_text(encoding="utf-8"))
    assert profile["set-resources"].keys() <= defined
    groups = (project_root / "rules" / "groups.smk").read_text(encoding="utf-8").split('"""', 2)[2]
    names = set(re.findall(r'"(\w+)"', groups)) - {"sentences", "models", "static", "associations", "report"}
    assert names - {"likelihoods", "embeddings", "train", "cards", "on_card", "local"} <= defined
