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
from small_study import SMALL, Study, copy_code, write_texts

TINY = {"hidden_size": 16, "heads": 2, "layers": 1, "steps": 3}
CONFIG: dict[str, Any] = {
    "corpus": {"root": "texts", "texts": [{"files": "demo.txt"}]},
    "lexicon": {"stimuli": "words"},
    "categories": ["C5"],
    "samples": {"lengths": [9], "contexts_per_stimulus": 3},
    "models": {
        "masks": {"train": TINY},
        "writes": {"kind": "decoder", "train": {**TINY, "seed": 2}, "stages": ["likelihoods"]},
        "rewrites": {"kind": "encoder-decoder", "train": {**TINY, "seed": 3}, "stages": ["likelihoods"]},
    },
    "embeddings": {"buckets": 2, "audit": {"unknown": 1}},  # the text is too short to have a hyphen
    "associations": {"n_samples": 40, "n_resamples": 20, "n_shuffles": 0, "random_twins": 0},
    "calibration": {"repetitions": 20, "shifts": [1.0]},
    "seat": {"categories": []},
    "static": {"vectors": {}},
    "pairs": {"sets": {"garden": {"path": "garden.csv"}, "clocks": {"path": "clocks.csv"}}, "n_resamples": 50},
    "log_probability": {
        "categories": ["C5", "C6"],
        "exchanged": ["C6"],
        "traits": ["positive.yaml", "negative.yaml"],
        "structures": "structures.yaml",
    },
    "comparison": {"paper": "sahoo2024", "models": {"writes": "Bloom", "rewrites": "mT5"}},
    "report": SMALL["report"],
}
STIMULI = "resources/stimuli/bn"
CATEGORY_TEMPLATES = "resources/templates/bn/log_probability.yaml"
TERMS = {"male": ["ছেলে", "পুরুষ"], "female": ["মেয়ে", "নারী"]}
MODELS = ("masks", "writes", "rewrites")
SETS = ("garden", "clocks")
GARDEN = """\
pair_id,language,bias_type,label,first,second,modified
bn-1,bn,appearance,stereo,বাগানের গোলাপ আজ খুব সুন্দর।,বাগানের ঘাস আজ খুব সুন্দর।,গোলাপ / ঘাস
bn-2,bn,appearance,antistereo,পুকুরের ধারে ঘাস সবাই ভালোবাসে।,পুকুরের ধারে শাপলা সবাই ভালোবাসে।,ঘাস / শাপলা
bn-3,bn,age,stereo,সকালের ফুল তাজা থাকে।,বিকালের ফুল তাজা থাকে।,
bn-4,bn,age,stereo,গতকালের ফুল শুকিয়ে গেছে।,আজকের ফুল শুকিয়ে গেছে।,
en-1,en,appearance,stereo,The rose in the garden smells sweet.,The grass in the garden smells sweet.,rose / grass
en-2,en,age,antistereo,The evening is the best time for the garden.,The morning is the best time for the garden.,
en-3,en,age,stereo,Yesterday's flowers have lost their colour.,Today's flowers have lost their colour.,
"""
# One cell with a line break, labels and types in several spellings, a bar for a danda, a blank before a danda, and two
# Hindi sentences that are the same.
CLOCKS = """\
index,modified_eng_sent_more,modified_eng_sent_less,sent_more_hindi,sent_less_hindi,bias_type,stereo_antistereo
0,The old clock is slow.,The new clock is slow.,पुरानी घड़ी धीमी है।,नई घड़ी धीमी है।,Age,stereo
1,The new bell is loud.,"The old bell
is loud.",नई घंटी तेज़ है |,पुरानी घंटी तेज़ है |,age,Antistereo
2,A tall flower is seen.,A small flower is seen.,फूल दिखता है।,फूल दिखता है।,physical_appearance,stereo
3,The red rose is picked.,The pale rose is picked.,लाल गुलाब चुना गया ।,फीका गुलाब चुना गया ।,physical-appearance,stereo
"""


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
