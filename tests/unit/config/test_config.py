"""The config: what is refused, with which words, and what is filled in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from prasanga.base.config import complete, describe, read_schema, require_names_apart
from prasanga.base.errors import InputError


@pytest.fixture
def schema(project_root: Path) -> dict[str, Any]:
    return read_schema(project_root / "workflow/schemas/config.schema.yaml")


def shipped() -> list[Path]:
    root = Path(__file__).resolve().parents[3]
    return [root / "config.yaml", *sorted((root / "config").glob("*.yaml"))]


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_every_shipped_config_is_valid(path: Path, schema: dict[str, Any]) -> None:
    complete(yaml.safe_load(path.read_text(encoding="utf-8")), schema)


def test_the_demo_is_what_the_defaults_say_but_for_its_size_and_texts(
    project_root: Path, schema: dict[str, Any]
) -> None:
    demo = complete(
        yaml.safe_load((project_root / "tests/golden/every/study.yaml").read_text(encoding="utf-8")), schema
    )
    defaults = complete({}, schema)
    demo["note"], demo["title"] = "", defaults["title"]
    demo["samples"]["contexts_per_stimulus"] = 1200
    demo["associations"]["n_samples"] = 5000
    demo["seat"]["categories"], demo["static"] = [], defaults["static"]
    demo["pairs"]["sets"] = {}
    demo["log_probability"] |= {"categories": [], "traits": []}
    for model in ("tiny-decoder", "tiny-encoder-decoder"):  # which are asked for nothing that is asked by default
        assert demo["models"].pop(model)["stages"] == ["likelihoods"]
    for model in demo["models"].values():
        model["train"]["steps"] = 1400
    demo["models"]["tiny-wide"]["stages"] = ["embeddings", "likelihoods"]
    assert demo == defaults


def test_the_order_of_keys_makes_no_other_study(schema: dict[str, Any]) -> None:
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
    completed = complete(yaml.safe_load(one), schema)
    assert repr(complete(yaml.safe_load(other), schema)) == repr(completed)
    assert [*completed["models"]] == ["b", "a"]
    train = completed["models"]["b"]["train"]
    assert (train["steps"], train["seed"], train["layers"]) == (5, 1, 2)


def test_the_preset_of_the_papers_changes_defaults_and_nothing_that_is_written(schema: dict[str, Any]) -> None:
    models = {"mine": {"path": "m"}, "whole": {"path": "w", "pieces": "all"}}
    paper = complete({"preset": "paper", "models": models, "samples": {"window": "exact"}}, schema)
    ours = complete({"models": models}, schema)
    found = {
        (*place, key): (value, where[key])
        for place, where, others in (
            (("samples",), paper["samples"], ours["samples"]),
            (("sentences",), paper["sentences"], ours["sentences"]),
            (("associations",), paper["associations"], ours["associations"]),
            (("seat",), paper["seat"], ours["seat"]),
            (("pairs",), paper["pairs"], ours["pairs"]),
            (("log_probability",), paper["log_probability"], ours["log_probability"]),
            (("models", "mine"), paper["models"]["mine"], ours["models"]["mine"]),
            (("models", "whole"), paper["models"]["whole"], ours["models"]["whole"]),
        )
        for key, value in others.items()
        if where[key] != value
    }
    assert found == {
        ("samples", "pool"): ("shared", "per_length"),
        ("sentences", "match"): ("anywhere", "sentence-initial"),
        ("sentences", "neighbours"): ("exclude", "ignore"),
        ("sentences", "before"): (3, 1),
        ("sentences", "after"): (3, 1),
        ("associations", "draws"): ("without-replacement", "with-replacement"),
        ("associations", "repeated_words"): ("once", "as-listed"),
        ("associations", "alternative"): ("two-sided", "greater"),
        ("associations", "statistic"): ("studentized", "difference"),
        ("seat", "unit"): ("word", "sentence"),
        ("pairs", "encoder_decoder"): ("infill", "causal"),
        ("pairs", "punctuation"): ("apart", "with-word"),
        ("pairs", "ties"): ("apart", "against"),
        ("log_probability", "exchanged"): ([], ["C6", "C7", "C8", "C9"]),
        ("log_probability", "pieces"): ("all", "first"),
        ("models", "mine", "pieces"): ("all", "root"),
    }


def test_every_value_of_the_preset_is_allowed(schema: dict[str, Any]) -> None:
    def parts(schema: Any) -> Iterator[dict[str, Any]]:
        if isinstance(schema, dict):
            if "paper" in schema and "default" in schema:
                yield schema
            for value in schema.values():
                yield from parts(value)

    found = list(parts(schema))
    assert len(found) == 17
    assert all(part["paper"] != part["default"] for part in found)
    assert all(part["paper"] in part["enum"] for part in found if "enum" in part)
    assert {part["type"] for part in found if "enum" not in part} == {"array", "integer"}


def test_static_vectors_come_from_a_file_or_from_training(schema: dict[str, Any]) -> None:
    for vectors, found in (({}, "neither `path` nor `train`"), ({"path": "v", "train": {}}, "both `path` and `train`")):
        with pytest.raises(InputError, match=rf"`static.vectors.mine` has {found}"):
            complete({"static": {"vectors": {"mine": vectors}}}, schema)


def test_static_vectors_have_names_of_their_own() -> None:
    require_names_apart(["glove", "w2v"], ["bert"])
    with pytest.raises(
        InputError, match=r"`static\.vectors\.w2v` has the name of a model.*for example to `w2v-static`"
    ):
        require_names_apart(["glove", "w2v"], ["bert", "w2v"])


def test_templates_are_those_of_the_language(schema: dict[str, Any], project_root: Path) -> None:
    for language in ("bn", "hi", "en"):
        templates = complete({"language": language}, schema)["seat"]["templates"]
        assert templates == f"resources/templates/{language}/seat.yaml"
        assert (project_root / templates).is_file()
    mine = complete({"language": "hi", "seat": {"templates": "mine.yaml"}}, schema)
    assert mine["seat"]["templates"] == "mine.yaml"


def test_epochs_may_be_left_to_the_method(schema: dict[str, Any]) -> None:
    def epochs(**train: Any) -> Any:
        return complete({"static": {"vectors": {"v": {"train": train}}}}, schema)["static"]["vectors"]["v"]["train"]

    assert epochs(method="glove")["epochs"] is None
    assert epochs(epochs=3)["epochs"] == 3
    assert epochs(epochs="3")["epochs"] == 3
    with pytest.raises(InputError, match=r"`static.vectors.v.train.epochs` is 0; allowed: .* at least 1 .*or null"):
        epochs(epochs=0)


def test_a_supplement_needs_a_minimum(schema: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"`corpus.supplement` is never read with `samples.minimum` 0"):
        complete({"corpus": {"supplement": [{"files": "more.txt"}]}}, schema)


def test_defaults_are_filled_in_at_every_depth(schema: dict[str, Any]) -> None:
    config = complete({"models": {"mine": {"path": "m"}}, "samples": {"pool": "per_length"}}, schema)
    assert config["models"] == {
        "mine": {
            "path": "m",
            "revision": None,
            "kind": "auto",
            "layer": -1,
            "dtype": "auto",
            "pieces": "all",
            "sentence_vector": "auto",
            "tokenizer": {},
            "weights_sha256": {},
            "remote_code": False,
            "quantization": "none",
            "cards": 1,
            "stages": ["embeddings", "likelihoods"],
            "language_codes": {},
        }
    }
    assert config["samples"] == {
        "lengths": [9, 25, 75, ">75"],
        "pool": "per_length",
        "contexts_per_stimulus": 1200,
        "minimum": 0,
        "longest": 250,
        "window": "exact",
    }
    trained = complete({"models": {"tiny": {"train": {"seed": 3}}}}, schema)["models"]["tiny"]["train"]
    assert trained["seed"] == 3
    assert trained["hidden_size"] == 128


def test_models_of_the_run_need_no_card(schema: dict[str, Any]) -> None:
    models = {
        "tiny": {"train": {}},
        "tiny-on-a-card": {"train": {}, "cards": "1"},  # as Snakemake reads --config
        "mine": {"path": "m"},
        "on-the-processor": {"path": "m", "cards": 0},
        "halved": {"path": "m", "cards": 0, "dtype": "bfloat16"},
    }
    found = complete({"models": models}, schema)["models"]
    assert {name: (settings["cards"], settings["dtype"]) for name, settings in found.items()} == {
        "tiny": (0, "float32"),
        "tiny-on-a-card": (1, "auto"),
        "mine": (1, "auto"),
        "on-the-processor": (0, "float32"),
        "halved": (0, "bfloat16"),
    }


def test_the_config_given_is_left_as_it_was(schema: dict[str, Any]) -> None:
    given: dict[str, Any] = {"samples": {}}
    complete(given, schema)
    assert given == {"samples": {}}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        pytest.param(
            {"samples": {"contexts": 20}}, "unknown key `contexts` .*Did you mean `contexts_per_stimulus`", id="part"
        ),
        pytest.param({"sampls": {}}, "unknown key `sampls`.*Did you mean `samples`.*Allowed: study, title", id="key"),
        pytest.param(
            {"samples": {"pol": "shared"}},
            r"unknown key `pol` in `samples` \(value 'shared'\).*Did you mean `pool`",
            id="nested key",
        ),
        pytest.param(
            {"samples": {"pool": "sharde"}},
            r"`samples.pool` is 'sharde'; allowed: shared, per_length\. Write e\.g\. `pool: shared`",
            id="choice",
        ),
        pytest.param(
            {"samples": {"lengths": [9, "<75"]}},
            r"`samples.lengths.1` is '<75'; allowed: a whole number .* or text such as '>75'\. Write e\.g\. `'>75'`",
            id="length",
        ),
        pytest.param(
            {"associations": {"resample_attributes": "maybe"}},
            r"`associations.resample_attributes` is 'maybe'; allowed: true or false\. Write e\.g\. `true`",
            id="truth value",
        ),
        pytest.param(
            {"associations": {"random_twin": False}},
            r"`associations.random_twin` is no key any more: twins are counted now\. .* `random_twins: 0` for none\.",
            id="old key",
        ),
        pytest.param(
            {"study": "My study"}, r"`study` is 'My study'; allowed: text such as demo or banglabert_2024\.", id="form"
        ),
        pytest.param(
            {"associations": {"n_samples": "many"}},
            r"`associations.n_samples` is 'many'.*Write e\.g\. `5000`",
            id="type",
        ),
        pytest.param({"models": {"a b": {"path": "x"}}}, r"`models` has the name 'a b'; a name has letters", id="name"),
        pytest.param({"models": {"a": {}}}, r"`models.a` has none of `path`, `train`, `package`", id="no model"),
        pytest.param(
            {"models": {"a": {"path": "x", "train": {}}}}, r"`models.a` has `path` and `train`", id="two models"
        ),
        pytest.param(
            {"models": {"a": {"train": {"hidden_size": 30}}}},
            r"multiple of `heads` \(4\)\. Write e\.g\. `hidden_size: 32`",
            id="heads",
        ),
        pytest.param(
            {"corpus": {"texts": [{"documents": "line"}]}}, r"`corpus.texts.0` lacks the key `files`", id="missing"
        ),
        pytest.param({"embeddings": "cached"}, r"`embeddings` is 'cached'; allowed: keys", id="section"),
    ],
)
def test_mistakes_are_explained(config: dict[str, Any], message: str, schema: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"(?s){message}"):
        complete(config, schema)


def test_numbers_from_the_command_line_are_numbers(schema: dict[str, Any]) -> None:
    given = {"associations": {"n_samples": "101"}, "samples": {"lengths": ["9", ">75"]}, "seed": "3"}
    config = complete(given, schema)
    assert config["associations"]["n_samples"] == 101
    assert config["samples"]["lengths"] == [9, ">75"]
    assert config["seed"] == 3
    assert complete({"study": "2024"}, schema)["study"] == "2024"


def test_all_mistakes_are_told_at_once(schema: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        complete({"sampls": {}, "seed": -1}, schema)
    assert str(caught.value).count("\n- ") == 2


def test_every_key_has_a_description_and_every_choice_a_default(schema: dict[str, Any]) -> None:
    def walk(part: dict[str, Any], place: str) -> None:
        for key, inner in part.get("properties", {}).items():
            assert inner.get("description"), f"{place}{key} has no description"
            if inner.get("type") == "object" and "properties" in inner:
                others = inner.get("additionalProperties")
                assert others is False or "enum" in others, f"{place}{key} takes unknown keys"
            walk(inner, f"{place}{key}.")
        for inner in (part.get("items"), part.get("additionalProperties")):
            if isinstance(inner, dict):
                walk(inner, f"{place}*.")

    walk(schema, "")
    assert schema["additionalProperties"] is False


def test_the_page_on_the_config_is_made_from_the_schema(project_root: Path, schema: dict[str, Any]) -> None:
    page = (project_root / "docs/config.md").read_text(encoding="utf-8")
    assert describe(schema) in page, "docs/config.md is out of date: run `make docs`"


def test_a_path_in_place_of_its_keys_is_told_how_to_be_written(schema: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"`pairs.sets.mine` is 'mine.csv'; allowed: keys, such as \{path: ...\}"):
        complete({"pairs": {"sets": {"mine": "mine.csv"}}}, schema)
