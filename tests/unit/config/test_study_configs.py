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

#: path and kind of each model, how the papers' tables call it, and what else differs from the defaults.
SADHU = read_data(__file__, "models_of_sadhu")
SAHOO = read_data(__file__, "models_of_sahoo")
PAPERS = {"sadhu2024": SADHU, "sahoo2024": SAHOO}
MODELS = [(study, model) for study, expected in PAPERS.items() for model in expected]

#: the commits that are known; of the hub's pages most show the first seven digits.
COMMITS = read_data(__file__, "commits")


@pytest.fixture(scope="module")
def study(project_root: Path) -> Study:
    """`study(name)`: the config, completed."""
    return lambda name: complete(yaml.safe_load(_text(project_root, name)))


def _text(project_root: Path, name: str) -> str:
    return (project_root / f"config/{name}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_a_model_is_named_with_its_kind_precision_and_use(name: str, model: str, study: Study) -> None:
    path, kind, _, changes = PAPERS[name][model]
    found = study(name)["models"][model]
    assert found == {
        **{"path": path, "revision": COMMITS.get(path), "kind": kind},
        "dtype": "bfloat16" if name == "sahoo2024" else "auto",
        **read_data(__file__, "model_defaults"),
        **changes,
    }


@pytest.mark.parametrize(("name", "table"), [("sadhu2024", "bangla_models.csv"), ("sahoo2024", "indibias_models.csv")])
def test_the_papers_tables_name_these_models(name: str, table: str, shared: Path) -> None:
    with (shared / "published" / table).open(encoding="utf-8", newline="") as file:
        published = [row["model"] for row in csv.DictReader(file)]
    assert sorted(published) == sorted(called for _, _, called, _ in PAPERS[name].values() if called)


@pytest.mark.parametrize("name", PAPERS)
def test_what_the_preset_of_the_papers_sets_is_not_written_twice(name: str, project_root: Path) -> None:
    written = yaml.safe_load(_text(project_root, name))
    assert written["preset"] == "paper"
    preset = complete({"preset": "paper", "models": {"any": {"path": "m"}}})
    # the other paper's SEAT permutes sentences, so the preset has the sentence
    differs = {"sadhu2024": {("seat", "unit"): "word"}}.get(name, {})
    found = {}
    for section in ("sentences", "samples", "associations", "seat", "pairs", "log_probability"):
        for key, value in written.get(section, {}).items():
            if key in PAPER[section]:
                found[section, key] = value
                assert value != preset[section][key]
    assert found == differs
    assert all("pieces" not in model for model in written["models"].values())


@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_have_no_random_copies_and_refuse_no_tokenizer(name: str, study: Study) -> None:
    config = study(name)
    assert config["associations"]["random_twins"] == 0
    assert set(config["embeddings"]["audit"].values()) == {1}


def test_the_pairs_are_scored_by_the_models_of_table_2(study: Study, project_root: Path) -> None:
    config = study("sahoo2024")
    printed = read_percentages(project_root / "resources/published", "sahoo2024")["model"].unique()
    scored = [name for name, model in config["models"].items() if "likelihoods" in model["stages"]]
    called = config["comparison"]["models"]
    assert {called[name] for name in scored if name in called} == set(printed)
    assert [name for name in scored if name not in called] == ["indicbert-v2"]
    assert config["normalization"]["hi"] == config["normalization"]["en"] == "none"
    assert config["categories"] == []


def test_the_lengths_are_those_of_tables_5_and_6_and_of_figure_1(study: Study, project_root: Path) -> None:
    config = study("sadhu2024")
    printed = read_published(project_root / "resources/published", "sadhu2024").filter(method="ceat")
    assert set(map(str, config["samples"]["lengths"])) == set(printed["segment_length"].drop_nulls())
    assert set(config["associations"]["n_samples"]) == set(printed["n_samples"].drop_nulls())


@pytest.mark.parametrize(("language", "least"), [("bn", 1500), ("en", 2500), ("hi", 2500)])
def test_there_are_words_and_templates_for_every_test_of_seat(
    language: str, least: int, study: Study, project_root: Path
) -> None:
    categories = study("sadhu2024" if language == "bn" else "sahoo2024")["seat"]["categories"]
    folder = project_root / "resources"
    stimuli = [folder / f"stimuli/{language}", *([] if language == "bn" else [folder / f"stimuli/{language}/paper"])]
    lexicon = load_lexicon(stimuli, folder / f"suffix_groups/{language}.yaml")
    templates = load_templates(folder / f"templates/{language}/seat.yaml")
    assert len(fill_templates(lexicon, categories, templates)) > least


@pytest.mark.parametrize("name", PAPERS)
def test_the_studies_say_which_model_of_the_paper_is_which(name: str, study: Study, project_root: Path) -> None:
    config, folder = study(name), project_root / "resources/published"
    theirs = {model for read in (read_published, read_percentages) for model in read(folder, name)["model"]}
    called = config["comparison"]["models"]
    assert match_models(called, config["models"], theirs) == called
    # every model of the paper has one of the study; static vectors are called as in the paper
    assert {*called.values(), *config["static"]["vectors"]} == theirs
