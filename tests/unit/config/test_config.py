"""The config: what is refused, with which words, and what is filled in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tables import read_cases, read_table

from prasanga.base.errors import InputError
from prasanga.config import complete, describe_key, make_schema, read_study


def shipped() -> list[Path]:
    root = Path(__file__).resolve().parents[3]
    return [root / "config.yaml", *sorted((root / "config").glob("*.yaml"))]


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_every_shipped_config_is_valid(path: Path) -> None:
    complete(yaml.safe_load(path.read_text(encoding="utf-8")))


def test_the_demo_is_what_the_defaults_say_but_for_its_size_and_texts(project_root: Path) -> None:
    demo = complete(yaml.safe_load((project_root / "tests/golden/every/study.yaml").read_text(encoding="utf-8")))
    defaults = complete({})
    demo["note"], demo["title"] = "", defaults["title"]
    demo["samples"]["contexts_per_stimulus"] = 1200
    demo["associations"]["n_samples"] = 5000
    demo["calibration"] = defaults["calibration"]
    demo["seat"]["categories"], demo["static"], demo["models"] = [], defaults["static"], defaults["models"]
    demo["pairs"]["sets"] = {}
    demo["log_probability"] |= {"categories": [], "traits": []}
    assert demo == defaults


def test_the_order_of_keys_makes_no_other_study() -> None:
    """Snakemake compares parameters as text; what a study names itself keeps its order, that of the page."""
    one = """
        corpus: {root: texts, texts: [{files: a.txt, documents: line}]}
        models: {b: {train: {steps: 5, seed: 1}, stages: [embeddings]}, a: {path: a}}
        associations: {n_samples: 7, band: 0.2}
    """
    other = """
        associations: {band: 0.2, n_samples: 7}
        models: {b: {stages: [embeddings], train: {seed: 1, steps: 5}}, a: {path: a}}
        corpus: {texts: [{documents: line, files: a.txt}], root: texts}
    """
    completed = complete(yaml.safe_load(one))
    assert repr(complete(yaml.safe_load(other))) == repr(completed)
    assert [*completed["models"]] == ["b", "a"]
    train = completed["models"]["b"]["train"]
    assert (train["steps"], train["seed"], train["layers"]) == (5, 1, 2)


def test_the_preset_of_the_papers_changes_defaults_and_nothing_that_is_written() -> None:
    models = {"mine": {"path": "m"}, "whole": {"path": "w", "pieces": "all"}}
    paper = complete({"preset": "paper", "models": models, "samples": {"window": "exact"}})
    ours = complete({"models": models})
    found: dict[str, Any] = {}
    for section, value in ours.items():
        for key, default in value.items() if isinstance(value, dict) else {}:
            if paper[section][key] != default:
                found.setdefault(section, {})[key] = (default, paper[section][key])
    assert {model: each["pieces"] for model, each in paper["models"].items()} == {"mine": "root", "whole": "all"}
    assert [model for model, (default, changed) in found.pop("models").items() if default != changed] == ["mine"]
    assert found == {
        "samples": {"pool": ("shared", "per_length")},
        "sentences": {
            **{"match": ("anywhere", "sentence-initial"), "neighbours": ("exclude", "ignore")},
            **{"before": (3, 1), "after": (3, 1)},
        },
        "associations": {
            **{"draws": ("without-replacement", "with-replacement"), "repeated_words": ("once", "as-listed")},
            **{"alternative": ("two-sided", "greater"), "statistic": ("studentized", "difference")},
        },
        "seat": {"unit": ("word", "sentence")},
        "pairs": {
            **{"encoder_decoder": ("infill", "causal"), "punctuation": ("apart", "with-word")},
            "ties": ("apart", "against"),
        },
        "log_probability": {
            **{"exchanged": ([], ["C6", "C7", "C8", "C9"]), "pieces": ("all", "first")},
            **{"aggregation": ("log-sum-exp", "raw_logits"), "prior_mask": ("target", "authors")},
        },
    }


def test_a_name_with_the_ending_of_a_result_is_free_where_it_meets_no_other() -> None:
    study = {
        "models": {"my.terms": {"path": "m"}},
        "pairs": {"sets": {"x.train": {"path": "x"}, "a.words": {"path": "a"}}},
    }
    assert [*complete(study)["pairs"]["sets"]] == ["x.train", "a.words"]


def test_epochs_may_be_left_to_the_method() -> None:
    def epochs(**train: Any) -> Any:
        return complete({"static": {"vectors": {"v": {"train": train}}}})["static"]["vectors"]["v"]["train"]

    assert epochs(method="glove")["epochs"] is None
    assert epochs(epochs=3)["epochs"] == 3
    assert epochs(epochs="3")["epochs"] == 3
    with pytest.raises(InputError, match=r"`static.vectors.v.train.epochs` is 0; allowed: .* at least 1 .*or null"):
        epochs(epochs=0)


def test_defaults_are_filled_in_at_every_depth() -> None:
    config = complete({"models": {"mine": {"path": "m"}}, "samples": {"pool": "per_length"}})
    model = config["models"]["mine"]
    assert (model["path"], model["layer"], model["cards"], model["tokenizer"]) == ("m", -1, 1, {})
    assert "package" not in model
    assert (config["samples"]["pool"], config["samples"]["lengths"]) == ("per_length", [9, 25, 75, ">75"])
    trained = complete({"models": {"tiny": {"train": {"seed": 3}}}})["models"]["tiny"]["train"]
    assert (trained["seed"], trained["hidden_size"]) == (3, 128)


@pytest.mark.parametrize(
    ("settings", "cards", "dtype"),
    [
        ({"train": {}}, 1, "float32"),
        ({"train": {}, "cards": "2"}, 2, "float32"),  # as Snakemake reads --config
        ({"path": "m"}, 1, "auto"),
        ({"path": "m", "cards": 0}, 0, "float32"),
        ({"path": "m", "cards": 0, "dtype": "bfloat16"}, 0, "bfloat16"),
    ],
)
def test_models_on_a_cpu_and_small_ones_run_in_full_precision(settings: dict[str, Any], cards: int, dtype: str) -> None:
    found = complete({"models": {"m": settings}})["models"]["m"]
    assert (found["cards"], found["dtype"]) == (cards, dtype)


def test_the_config_given_is_left_as_it_was() -> None:
    given: dict[str, Any] = {"samples": {}}
    complete(given)
    assert given == {"samples": {}}


@pytest.mark.parametrize(("config", "message"), read_table(__file__, "mistakes"))
def test_mistakes_are_explained(config: str, message: str) -> None:
    with pytest.raises(InputError, match=f"(?s){message}"):
        complete(json.loads(config))


def test_numbers_from_the_command_line_are_numbers() -> None:
    given = {"associations": {"n_samples": "101"}, "samples": {"lengths": ["9", ">75"]}, "seed": "3"}
    config = complete(given)
    assert config["associations"]["n_samples"] == 101
    assert config["samples"]["lengths"] == [9, ">75"]
    assert config["seed"] == 3
    assert complete({"study": "2024"})["study"] == "2024"
    assert complete({"calibration": "off"}) == complete({"calibration": {"repetitions": 0}})


def write_study(folder: Path, text: str) -> Path:
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    return folder / "config.yaml"


@pytest.mark.parametrize(("text", "message"), read_cases(__file__, "mistakes_in_files"))
def test_mistakes_of_a_file_are_told_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    path = write_study(tmp_path, text)
    with pytest.raises(InputError, match=message) as refused:
        read_study(path)
    assert str(path) in str(refused.value)


def test_a_mistake_of_the_command_line_has_no_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"used\.\n- `samples.minimum` is -1"):
        complete({"study": "s", "samples": {"minimum": -1}}, source=write_study(tmp_path, "study: s"))


def test_a_language_is_a_list_of_one() -> None:
    assert complete({"languages": ["hi"]}) == complete({"language": "hi"})
    config = complete({"languages": ["hi"]})
    assert (config["languages"], config["language"]) == (["hi"], "hi")
    assert config["lexicon"]["stimuli"] == "resources/stimuli/hi"
    assert config["seat"]["templates"] == "resources/templates/hi/seat.yaml"
    assert config["normalization"] == {"bn": "bangla", "hi": "nukta", "en": "nfkc"}
    assert complete({"language": "as", "lexicon": {"stimuli": "mine"}})["normalization"]["as"] == "nfkc"


def test_a_completed_config_is_complete() -> None:
    earlier = {"outside": [], "pairs": {"buckets": "auto"}, "log_probability": {"buckets": "auto"}}
    assert complete(earlier) == complete({}), "as results of earlier versions have it"
    for config in ({}, {"preset": "paper", "language": "hi"}):
        assert complete(complete(config)) == complete(config)


def test_every_key_has_a_meaning() -> None:
    lines = describe_key().splitlines()
    assert len(lines) > 170
    assert [line for line in lines if not line.partition(": ")[2]] == []
    assert "values: shared, per_length\ndefault: shared\npreset paper: per_length" in describe_key("samples.pool")
    with pytest.raises(InputError, match=r"unknown config key 'pool'\. Did you mean samples.pool"):
        describe_key("pool")


def test_the_schema_for_editors_is_up_to_date(project_root: Path) -> None:
    schema = json.loads((project_root / "docs/config.schema.json").read_text(encoding="utf-8"))
    assert schema == make_schema(), "docs/config.schema.json is out of date: run `make docs`"


def test_each_language_has_the_study_with_what_it_replaces() -> None:
    models = {"all": {"path": "a"}, "few": {"path": "b", "languages": ["hi"]}}
    sets = {"both": {"path": "p.csv"}, "own": {"path": "o.csv", "languages": ["en", "hi"]}}
    shared = {"models": models, "pairs": {"sets": sets}, "corpus": {"root": "texts/{language}"}}
    config = complete({**shared, "languages": {"en": {"categories": []}, "hi": {"samples": {"lengths": [9]}}}})
    assert [*config["languages"]] == ["en", "hi"]
    en, hi = config["languages"].values()
    assert (en["languages"], en["language"], en["categories"], hi["categories"][0]) == (["en"], "en", [], "C1")
    assert ([*en["models"]], [*hi["models"]]) == (["all"], ["all", "few"])
    assert {name: each["languages"] for name, each in en["pairs"]["sets"].items()} == {"both": ["en"], "own": ["en"]}
    assert (en["corpus"]["root"], hi["corpus"]["root"]) == ("texts/en", "texts/hi")
    assert (hi["samples"]["lengths"], en["samples"]["lengths"]) == ([9], [9, 25, 75, ">75"])
    assert hi == complete({**shared, "languages": ["hi"], "samples": {"lengths": [9]}, "pairs": hi["pairs"]})
    assert complete(config) == config, "as results keep it"
    assert complete({"languages": ["ta"], "pairs": {"sets": {"p": {"path": "p.csv"}}}})["categories"] == []
    pairs = {"pairs": {"sets": {"p": {"path": "p.csv"}}}, "seat": {"categories": ["C1"]}}
    with_words, without = complete({"languages": ["en", "ta"], **pairs})["languages"].values()
    assert (with_words["seat"]["categories"], without["seat"]["categories"]) == (["C1"], []), "what needs words goes"
