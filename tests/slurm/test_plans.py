"""What would be sent to a cluster; these need no Slurm."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from small_study import Study, copy_code

SLURM = ("--dry-run", "--workflow-profile", "profiles/slurm")


@pytest.fixture(scope="module")
def tree(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A copy of the tree to plan in."""
    return copy_code(project_root, tmp_path_factory.mktemp("plans") / "study", link_source=True)


def jobs(printed: str) -> Counter[str]:
    """The jobs of a dry run: groups by their names, others by their rules."""
    group = r"Group job (\w+) \(.*?\n.*?(?=\n\[|\nJob stats)"
    alone = re.findall(r"^(?:rule|checkpoint) (\w+):", re.sub(group, "", printed, flags=re.DOTALL), flags=re.MULTILINE)
    return Counter([*re.findall(group, printed, flags=re.DOTALL), *alone])


def test_what_goes_together_in_the_demo(tree: Study) -> None:
    """Small jobs before a checkpoint; those behind it go alone."""
    planned = jobs(tree.run(*SLURM))
    assert {name: planned[name] for name in ("models", "sentences", "static")} == {
        **{"models": 4, "sentences": 1, "static": 2}
    }
    assert planned["embed_segments"] == 2  # a model with its copies, in all four lengths at once
    assert planned["train_model"] == planned["draw_samples"] == planned["train_static"] == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # four models with vectors, each in 21 buckets of words at all twelve lengths, and the templates of SEAT
        pytest.param(
            "sadhu2024",
            {"models": 5, "sentences": 1, "static": 2, "embed_segments": 4 * 21, "embed_templates": 4},
            marks=pytest.mark.long,
        ),
        # one that is trained
        ("real_text", {"models": 1, "sentences": 1, "static": 1, "embed_segments": 1}),
    ],
)
def test_what_is_sent_of_the_shipped_studies(tree: Study, name: str, expected: dict[str, int]) -> None:
    """Of a corpus of two small files, with the project's own words where the config wants others."""
    config = yaml.safe_load((tree.root / f"config/{name}.yaml").read_text(encoding="utf-8"))
    config["corpus"] = {**config["corpus"], "root": "corpora", "texts": [{"files": "*.txt"}]}
    if name == "real_text":
        config["lexicon"] = {"stimuli": "resources/stimuli/bn", "suffix_groups": "resources/suffix_groups/bn.yaml"}
        config["categories"] = [f"C{number}" for number in range(1, 10)]
    planned = tree.copy(tree.root.with_name(name))
    for number in range(2):
        text = planned.root / f"corpora/{number}.txt"
        text.parent.mkdir(exist_ok=True)
        text.write_text("ফুল\n", encoding="utf-8")
    (planned.root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    printed = planned.run(*SLURM)
    planned_jobs = jobs(printed)
    assert {name: planned_jobs[name] for name in expected} == expected
