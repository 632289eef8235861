"""A study with CEAT, SEAT, WEAT, their controls and differences, and a paper beside them.

As small as it can be: one model that is hardly trained, vectors of a few numbers, and a quarter of the demo's text.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml
from small_study import CONFIGS, Study, copy_code, write_texts

CONFIG = CONFIGS["associations"]
SETS = {
    "C1": ("flowers", "insects", "pleasant", "unpleasant"),
    "C5": ("male_terms", "female_terms", "career", "family"),
}
ABSENT = "টগর"
"""A flower that the file of vectors lacks."""


def prepare_associations(project_root: Path, destination: Path) -> Study:
    """The study before its first run."""
    study = copy_code(project_root, destination, link_source=True)
    write_vectors(study)
    write_texts(study, every=4)
    (study.root / "config.yaml").write_text(yaml.safe_dump({**study.config, **CONFIG}), encoding="utf-8")
    return study


def measured_associations(project_root: Path, destination: Path) -> Study:
    """The study, run to its end."""
    study = prepare_associations(project_root, destination)
    study.run()
    return study


def words_of(study: Study, word_set: str) -> list[str]:
    path = study.root / f"resources/stimuli/bn/{word_set}.yaml"
    return [word["stimulus"] for word in yaml.safe_load(path.read_text(encoding="utf-8"))["words"]]


def write_vectors(study: Study) -> None:
    """A file in word2vec's text format: the words of two categories, and a flower in an inflected form besides."""
    rng = np.random.default_rng(5)
    words = dict.fromkeys(word for sets in SETS.values() for name in sets for word in words_of(study, name))
    assert ABSENT in words
    lines = [
        " ".join([word, *(f"{number:.5f}" for number in rng.normal(size=6))])
        for word in [*words, "গোলাপের"]
        if word != ABSENT and " " not in word
    ]
    (study.root / "given.txt").write_text("\n".join([f"{len(lines)} 6", *lines, ""]), encoding="utf-8")
