"""A study with sentence pairs and log-probability bias, by models of three kinds, and a paper beside them.

As small as it can be: models that are hardly trained, a few words, a tenth of the demo's text, and pairs about flowers
and hours.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from small_study import CONFIGS, Study, copy_code, write_texts

CONFIG = CONFIGS["likelihoods"]
STIMULI = "resources/stimuli/bn"
CATEGORY_TEMPLATES = "resources/templates/bn/log_probability.yaml"
TERMS = {"male": ["ছেলে", "পুরুষ"], "female": ["মেয়ে", "নারী"]}
MODELS = ("masks", "writes", "rewrites")
SETS = ("garden", "clocks")
GARDEN = Path(__file__).with_name("garden.csv").read_text(encoding="utf-8")
# One cell with a line break, labels and types in several spellings, a bar for a danda, a blank before a danda, and two
# Hindi sentences that are the same.
CLOCKS = Path(__file__).with_name("clocks.csv").read_text(encoding="utf-8")


def prepare_likelihoods(project_root: Path, destination: Path) -> Study:
    """The study before its first run."""
    study = copy_code(project_root, destination, link_source=True)
    write_texts(study, every=10)
    write_words(study)
    for name, text in (("garden", GARDEN), ("clocks", CLOCKS)):
        (study.root / f"{name}.csv").write_text(text, encoding="utf-8")
    (study.root / "config.yaml").write_text(yaml.safe_dump({**study.config, **CONFIG}), encoding="utf-8")
    return study


def measured_likelihoods(project_root: Path, destination: Path) -> Study:
    """The study, run to its end."""
    study = prepare_likelihoods(project_root, destination)
    study.run("all", "likelihoods")
    return study


def write_words(study: Study) -> None:
    """The word sets of two categories, two pairs of terms, and two traits of each polarity."""
    listed = read_yaml(study, f"{STIMULI}/categories.yaml")
    (study.root / "words").mkdir()
    categories = {name: listed["categories"][name] for name in ("C5", "C6")}
    write_yaml(study, "words/categories.yaml", {"language": "bn", "categories": categories})
    for name in {name for each in categories.values() for role in ("targets", "attributes") for name in each[role]}:
        shutil.copyfile(study.root / f"{STIMULI}/{name}.yaml", study.root / f"words/{name}.yaml")
    structures = read_yaml(study, "resources/templates/bn/structures.yaml")
    write_yaml(study, "structures.yaml", {**structures, "targets": TERMS})
    for polarity in ("positive", "negative"):
        traits = read_yaml(study, f"resources/traits/bn/{polarity}.yaml")
        write_yaml(study, f"{polarity}.yaml", {**traits, "traits": traits["traits"][:2]})


def traits_of(study: Study, polarity: str) -> list[str]:
    return [trait["word"] for trait in read_yaml(study, f"{polarity}.yaml")["traits"]]


def read_yaml(study: Study, path: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((study.root / path).read_text(encoding="utf-8"))
    return found


def write_yaml(study: Study, path: str, content: Mapping[str, Any]) -> None:
    (study.root / path).write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
