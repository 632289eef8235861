"""The papers' studies as configs: every model of their tables is there, by id, commit, kind and precision."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tables import read_data

from prasanga.config import complete
from prasanga.config.values import PAPER
from prasanga.lexicon import load_lexicon, load_templates
from prasanga.report.comparison import match_models, read_percentages, read_published
from prasanga.samples import fill_templates

Study = Callable[[str], dict[str, Any]]

#: path, kind and tokenizer options of each model, and how the papers' tables call it.
SADHU = read_data(__file__, "models_of_sadhu")
SAHOO = read_data(__file__, "models_of_sahoo")
SEAT = {"banglabert-discriminator": SADHU["banglabert-discriminator"]}
ENGLISH = {**SAHOO, "mbart": ("facebook/mbart-large-50", "encoder-decoder", {"src_lang": "en_XX"}, None)}
STUDIES = {"sadhu2024": SADHU, "sadhu2024_seat": SEAT, "sahoo2024": SAHOO, "sahoo2024_en": ENGLISH}
MODELS = [(study, model) for study, expected in STUDIES.items() for model in expected]

#: the configs of a paper, all of whose conventions are those of its program.
OF_PAPERS = (*STUDIES, "sadhu2024_figure1", "sadhu2024_log_probability", "sahoo2024_pairs")

#: the commits that are known; of the hub's pages most show the first seven digits.
COMMITS = read_data(__file__, "commits")


@pytest.fixture(scope="module")
def study(project_root: Path) -> Study:
    """`study(name)`: the config, completed."""
    return lambda name: complete(yaml.safe_load(_text(project_root, name)))


def _text(project_root: Path, name: str) -> str:
    return (project_root / f"config/{name}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_a_model_is_named_with_its_kind_and_precision(name: str, model: str, study: Study) -> None:
    path, kind, tokenizer, _ = STUDIES[name][model]
    found = study(name)["models"][model]
    assert found == {
        "path": path,
        "revision": COMMITS.get(path),
        "kind": kind,
        "layer": -1,
        "dtype": "bfloat16",
        "pieces": "root",
        "sentence_vector": "position" if name == "sadhu2024_seat" else "auto",
        "tokenizer": tokenizer,
        "weights_sha256": {},
        "remote_code": False,
        "quantization": "none",
        "cards": 1,
        "stages": ["embeddings", "likelihoods"],
        "language_codes": {},
    }


@pytest.mark.parametrize(("name", "table"), [("sadhu2024", "bangla_models.csv"), ("sahoo2024", "indibias_models.csv")])
def test_the_papers_tables_name_these_models(name: str, table: str, shared: Path) -> None:
    with (shared / "published" / table).open(encoding="utf-8", newline="") as file:
        published = [row["model"] for row in csv.DictReader(file)]
    assert sorted(published) == sorted(called for *_, called in STUDIES[name].values() if called)


@pytest.mark.parametrize("name", OF_PAPERS)
def test_what_the_preset_of_the_papers_sets_is_not_written_twice(name: str, project_root: Path) -> None:
    written = yaml.safe_load(_text(project_root, name))
    assert written["preset"] == "paper"
    preset = complete({"preset": "paper", "models": {"any": {"path": "m"}}})
    # the other paper's SEAT permutes words, so the preset has the sentence
    differs = {"sadhu2024_seat": {("seat", "unit"): "word"}}.get(name, {})
    found = {}
    for section in ("sentences", "samples", "associations", "seat", "pairs", "log_probability"):
        for key, value in written.get(section, {}).items():
            if key in PAPER[section]:
                found[section, key] = value
                assert value != preset[section][key]
    assert found == differs
    assert all("pieces" not in model for model in written["models"].values())


@pytest.mark.parametrize("name", OF_PAPERS)
def test_a_model_has_its_known_commit_in_every_config_and_no_other_is_made_up(name: str, study: Study) -> None:
    for model in study(name)["models"].values():
        assert model["revision"] == COMMITS.get(model["path"])


def test_the_pairs_are_scored_by_the_models_of_table_2(study: Study, project_root: Path) -> None:
    config = study("sahoo2024_pairs")
    printed = read_percentages(project_root / "resources/published", "sahoo2024")["model"].unique()
    assert set(config["comparison"]["models"].values()) == set(printed)
    assert set(config["comparison"]["models"]) == set(config["models"])
    assert config["normalization"]["hi"] == config["normalization"]["en"] == "none"
    assert config["pairs"]["sets"]["indibias"]["languages"] == ["en", "hi"]


def test_the_figure_has_the_lengths_and_models_that_the_notebook_draws(study: Study, project_root: Path) -> None:
    config = study("sadhu2024_figure1")
    drawn = read_published(project_root / "resources/published", "sadhu2024").filter(table="Figure 1")
    assert list(map(str, config["samples"]["lengths"])) == drawn["segment_length"].unique(maintain_order=True).to_list()
    assert set(config["comparison"]["models"].values()) == set(drawn["model"])
    assert {config["associations"]["n_samples"]} == set(drawn["n_samples"])


def test_the_english_study_has_words_and_templates_for_every_test(study: Study, project_root: Path) -> None:
    config, hindi = study("sahoo2024_en"), study("sahoo2024")
    assert config["language"] == "en"
    assert config["seat"]["categories"] == hindi["seat"]["categories"]
    assert list(config["models"]) == list(hindi["models"])
    lexicon = load_lexicon(
        project_root / config["lexicon"]["stimuli"], project_root / config["lexicon"]["suffix_groups"]
    )
    templates = load_templates(project_root / config["seat"]["templates"])
    assert len(fill_templates(lexicon, config["seat"]["categories"], templates)) > 500


def test_the_bangla_study_of_templates_takes_words_with_classes_and_one_vector_a_word(
    study: Study, project_root: Path
) -> None:
    config = study("sadhu2024_seat")
    assert config["language"] == "bn"
    assert config["seat"] == {
        "categories": [f"C{n}" for n in range(1, 10)],
        "templates": "resources/templates/bn/seat.yaml",
        "unit": "word",
        "average": "vectors",
    }
    assert config["comparison"] == {
        "paper": "sadhu2024",
        "models": {"banglabert-discriminator": "banglabert_large_discriminator"},
    }
    lexicon = load_lexicon(
        project_root / config["lexicon"]["stimuli"], project_root / config["lexicon"]["suffix_groups"]
    )
    templates = load_templates(project_root / config["seat"]["templates"])
    sentences = fill_templates(lexicon, config["seat"]["categories"], templates)
    assert len(set(sentences["stimulus"].to_pylist())) > 200


def test_the_studies_say_which_model_of_the_paper_is_which(study: Study, project_root: Path) -> None:
    for name in STUDIES:
        comparison = study(name)["comparison"]
        folder = project_root / "resources/published"
        tables = (read(folder, comparison["paper"]) for read in (read_published, read_percentages))
        theirs = [name for table in tables for name in table["model"]]
        assert match_models(comparison["models"], study(name)["models"], theirs) == comparison["models"]
