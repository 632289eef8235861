"""Where the files of a study are found: its own before those of the installation, by the same path on every machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prasanga.base.places import (
    SHIPPED,
    exists,
    files_in,
    installation,
    link_installation,
    named,
    place,
    place_of_corpus,
    said,
    shareable,
)
from prasanga.config import complete


def write(root: Path, path: str, text: str = "") -> Path:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
    return root / path


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study's folder, in which one is, and an installation elsewhere."""
    for path in ("stimuli/bn/flowers.yaml", "stimuli/bn/insects.yaml", "pairs.csv", "texts/a.txt"):
        write(tmp_path / "installed", f"resources/{path}", "shipped")
    (tmp_path / "study").mkdir()
    monkeypatch.chdir(tmp_path / "study")
    link_installation(tmp_path / "installed")
    return tmp_path / "study"


def test_the_installation_is_that_of_the_package(project_root: Path) -> None:
    assert installation() == project_root.resolve()


def test_what_a_study_lacks_is_found_in_the_installation(study: Path) -> None:
    found = place("resources/pairs.csv")
    assert found == f"{SHIPPED}/resources/pairs.csv"
    assert (study / found).read_text(encoding="utf-8") == "shipped"
    assert (named(found), said(found)) == ("resources/pairs.csv", "resources/pairs.csv (shipped with prasanga)")
    assert exists("resources/pairs.csv")
    assert not exists("resources/other.csv")


def test_a_file_or_folder_of_the_study_replaces_the_shipped_one(study: Path) -> None:
    write(study, "resources/pairs.csv", "own")
    write(study, "resources/stimuli/bn/insects.yaml", "own")
    assert place("resources/pairs.csv") == said("resources/pairs.csv") == "resources/pairs.csv"
    folder = place("resources/stimuli/bn")
    assert files_in(folder, [".yaml"]) == ["resources/stimuli/bn/insects.yaml"]
    assert place("resources/stimuli") == "resources/stimuli"
    assert files_in(place("resources/texts"), [".txt"]) == [f"{SHIPPED}/resources/texts/a.txt"]


@pytest.mark.parametrize("path", ["models/mine", "/data/resources/pairs.csv", "resources/../pairs.csv", ".", "a/b"])
def test_only_resources_are_looked_for_in_the_installation(study: Path, path: str) -> None:
    write(study.parent / "installed", "models/mine/config.json")
    write(study.parent / "installed", "pairs.csv")
    assert place(path) == path


@pytest.mark.usefixtures("study")
def test_paths_do_not_depend_on_where_the_installation_lies(tmp_path: Path) -> None:
    before = [place("resources/pairs.csv"), *files_in(place("resources/stimuli/bn"), [".yaml"])]
    (tmp_path / "installed").rename(tmp_path / "moved")
    link_installation(tmp_path / "moved")
    assert [place("resources/pairs.csv"), *files_in(place("resources/stimuli/bn"), [".yaml"])] == before
    assert Path(before[0]).read_text(encoding="utf-8") == "shipped"


def test_in_a_checkout_every_path_is_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "resources/stimuli/bn/flowers.yaml")
    monkeypatch.chdir(tmp_path)
    link_installation(tmp_path)
    for path in ("resources", "resources/stimuli/bn", "resources/stimuli/bn/flowers.yaml"):
        assert place(path) == path
    assert not (tmp_path / ".snakemake").exists(), "a link to itself would lead in a circle"


def test_a_copy_that_a_program_has_made_of_the_link_is_replaced(study: Path) -> None:
    (study / SHIPPED).unlink()
    write(study, f"{SHIPPED}/resources/pairs.csv", "a copy")
    link_installation(study.parent / "installed")
    assert (study / SHIPPED).is_symlink()
    assert (study / place("resources/pairs.csv")).read_text(encoding="utf-8") == "shipped"


def test_texts_are_the_study_s_own_if_it_has_any_of_that_name(study: Path) -> None:
    assert place_of_corpus(".", ["resources/texts/*.txt"]) == SHIPPED
    assert place_of_corpus("resources", ["texts/*.txt", "texts/a.txt"]) == f"{SHIPPED}/resources"
    assert place_of_corpus(".", ["resources/texts/*.txt", "mine/*.txt"]) == "."
    assert place_of_corpus(".", ["resources/none/*.txt"]) == "."
    assert place_of_corpus(".", []) == "."
    assert place_of_corpus(".", ["resources/texts/*.txt", "/texts/*.txt"]) == ".", "an absolute path"
    write(study, "resources/texts/b.txt")
    assert place_of_corpus(".", ["resources/texts/*.txt"]) == "."


def test_every_path_of_a_config_is_placed(study: Path) -> None:
    write(study.parent / "installed", "resources/templates/bn/seat.yaml")
    config = complete(
        {
            "corpus": {"texts": [{"files": "resources/texts/*.txt"}]},
            "lexicon": {"stimuli": "resources/stimuli/bn", "suffix_groups": "mine/groups.yaml"},
            "models": {"mine": {"path": "models/mine"}},
            "pairs": {"sets": {"demo": {"path": "resources/pairs.csv"}}},
            "log_probability": {"traits": ["resources/pairs.csv"]},
            "title": "resources/pairs.csv",
        },
        placed=True,
    )
    assert config["corpus"]["root"] == SHIPPED
    assert config["corpus"]["texts"][0]["files"] == "resources/texts/*.txt"
    assert config["lexicon"]["stimuli"] == f"{SHIPPED}/resources/stimuli/bn"
    assert config["lexicon"]["suffix_groups"] == "mine/groups.yaml"
    assert config["models"]["mine"]["path"] == "models/mine"
    assert config["pairs"]["sets"]["demo"]["path"] == f"{SHIPPED}/resources/pairs.csv"
    assert config["log_probability"]["traits"] == [f"{SHIPPED}/resources/pairs.csv"]
    assert config["seat"]["templates"] == f"{SHIPPED}/resources/templates/bn/seat.yaml"
    assert config["title"] == "resources/pairs.csv"


def test_what_is_sent_to_others_names_no_folder_of_this_machine(study: Path) -> None:
    config = {"models": {"mine": {"path": "/data/models/bert"}}, "corpus": {"root": "texts"}}
    record = {"inputs": json.dumps({"/data/models/bert/config.json": "ab", f"{study}/results/a.parquet": "cd"})}
    assert shareable(config, config)["models"] == {"mine": {"path": "bert"}}
    assert json.loads(shareable(record, config)["inputs"]) == {"bert/config.json": "ab", "results/a.parquet": "cd"}
    assert shareable(["/other/place/x.txt", "a/b", "see /etc", 1.5], config) == ["x.txt", "a/b", "see /etc", 1.5]
    assert shareable(record, {**config, "report": {"paths": "whole"}}) == record
