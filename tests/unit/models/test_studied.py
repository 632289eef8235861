"""A model stands for itself, or for each of several layers; a path that cannot be had is told while planning."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.models.packaged import KINDS
from prasanga.plan.models import (
    MeasuredModels,
    find_kind,
    list_model_files,
    list_questions,
    plan_embedded,
    plan_scored,
    require_folder,
)

MURIL = {
    **{"path": "google/muril-base-cased", "revision": "abc", "layer": -1, "dtype": "auto", "kind": "auto"},
    "stages": ["embeddings", "likelihoods"],
}
NOTHING: dict[str, Any] = {"sets": {}, "encoder": "p_unmodified", "encoder_decoder": "infill"}
NO_WORDS: dict[str, Any] = {"traits": [], "categories": []}


def study(models: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """The parts of a config that plans of models read."""
    twins = {"associations": {"random_twins": 8}, "seed": 47}
    return {"models": models, "pairs": NOTHING, "log_probability": NO_WORDS, **twins, **sections}


def embedded(models: dict[str, Any]) -> MeasuredModels:
    return plan_embedded(study(models), are_joined=True)


def test_a_model_has_an_entry_for_each_of_its_layers() -> None:
    models = {"first": {**MURIL, "layer": 3}, "muril": {**MURIL, "layer": [12, 0, -1, -2, -13]}}
    studied = embedded({**models, "one": {**MURIL, "layer": [8]}}).models
    suffixes = ("12", "0", "-last", "-last-1", "-last-12")
    assert list(studied) == ["first", *(f"muril-layer{suffix}" for suffix in suffixes), "one-layer8"]
    assert [settings["layer"] for settings in studied.values()] == [3, 12, 0, -1, -2, -13, 8]
    assert studied["first"] == {**MURIL, "layer": 3, "family": "first", "layers": [3]}
    assert studied["muril-layer0"] == {**MURIL, "layer": 0, "family": "muril", "layers": [12, 0, -1, -2, -13]}


@pytest.mark.parametrize("other_first", [True, False])
def test_a_name_that_another_model_has_is_refused(other_first: bool) -> None:
    models = {"muril": {**MURIL, "layer": [8, 12]}, "muril-layer8": MURIL}
    with pytest.raises(InputError) as caught:
        embedded(dict(reversed(models.items())) if other_first else models)
    assert str(caught.value) == (
        "`models.muril.layer` is [8, 12], and its layer 8 would be called 'muril-layer8', which is the name of another"
        " model. Rename `models.muril-layer8`, or `models.muril`."
    )


def test_a_path_that_only_a_folder_can_have_needs_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models/banglabert").mkdir(parents=True)
    (tmp_path / "model.bin").touch()
    for path in ("./models/banglabert", "models/banglabert/", f"{tmp_path}/models", ".", "google/muril", "bert-base"):
        require_folder("mine", path)
    for path in ("/no/model", "./model", "../model", "a/b/c", "model/", "~/model", "./model.bin"):
        with pytest.raises(InputError) as caught:
            require_folder("mine", path)
        said = f"`models.mine.path` is {path!r}, but there is no folder {Path(tmp_path, path)}. Write a folder"
        assert str(caught.value).startswith(said)


def test_a_file_replaced_by_an_older_one_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "checkpoint-1").mkdir(parents=True)
    (folder / "checkpoint-1" / "config.json").write_text("{}")
    for name, content, changed in (("model.safetensors", "weights", 2_000_000_000), ("config.json", "{}", 5)):
        (folder / name).write_text(content)
        os.utime(folder / name, ns=(changed, changed))
    (folder / "lost").symlink_to(tmp_path / "nowhere")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").hardlink_to(folder / "config.json")
    before = list_model_files(folder)
    assert before == {"1_Pooling/config.json": [2, 5], "config.json": [2, 5], "model.safetensors": [7, 2_000_000_000]}
    assert list(before) == sorted(before)
    assert json.loads(json.dumps(before)) == before == list_model_files(str(folder))
    older = tmp_path / "older"
    older.write_text("another")
    os.utime(older, ns=(1_000_000_000, 1_000_000_000))
    older.replace(folder / "model.safetensors")
    assert list_model_files(folder) == {**before, "model.safetensors": [7, 1_000_000_000]}
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(folder / "config.json")
    assert list_model_files(folder)["model.safetensors"] == [2, 5]


VECTORS, SCORES = {"stages": ["embeddings"]}, {"stages": ["likelihoods"]}
TRAINED = {**MURIL, "train": {}}
del TRAINED["path"]
SEVERAL = {"muril": {**MURIL, "layer": [12, -1]}, "bert": {**MURIL, **VECTORS}, "gpt": {**TRAINED, **SCORES}}


def test_a_model_is_measured_by_the_stages_that_it_is_for() -> None:
    assert list(embedded(SEVERAL).models) == ["muril-layer12", "muril-layer-last", "bert"]
    scored = plan_scored(study(SEVERAL)).models
    assert list(scored) == ["muril", "gpt"]
    assert scored["muril"] == {**{key: MURIL[key] for key in MURIL if key != "layer"}, "family": "muril"}


def test_twins_of_scored_models_have_the_weights_of_the_family() -> None:
    twins = plan_scored(study(SEVERAL)).twins
    assert list(twins) == ["muril-random", "gpt-random"]
    assert twins["muril-random"]["twin_of"] == "muril"
    of_vectors = embedded(SEVERAL).twins
    assert twins["muril-random"]["random_weights"] == of_vectors["muril-layer12-random"]["random_weights"]
    with pytest.raises(InputError, match=r"the random twins of 'gpt' would be called 'gpt-random'"):
        plan_scored(study({**SEVERAL, "gpt-random": TRAINED}))


@pytest.mark.parametrize(
    ("kinds", "sets", "words", "said"),
    [
        ([], {"demo": {}}, NO_WORDS, "`pairs.sets`: the study has no model with likelihoods"),
        (
            ["decoder"],
            {"demo": {}},
            {"traits": ["t"], "categories": []},
            "`log_probability.traits`: .* no encoder with",
        ),
        (["decoder"], {"demo": {}}, NO_WORDS, ""),
        (["auto"], {}, {"traits": [], "categories": ["C1"]}, ""),
        ([], {}, NO_WORDS, ""),
    ],
)
def test_a_study_has_a_model_for_the_probabilities_that_it_asks_for(
    kinds: list[str], sets: dict[str, Any], words: dict[str, Any], said: str
) -> None:
    config = study({kind: {**MURIL, "kind": kind} for kind in kinds}, pairs={"sets": sets}, log_probability=words)
    with pytest.raises(InputError, match=said) if said else nullcontext():
        plan_scored(config)


@pytest.mark.parametrize(("own", "kind"), read_cases(__file__, "kinds_of_folders"))
def test_the_kind_that_a_folder_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: object, kind: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text(json.dumps(own))
    assert find_kind({"path": "model", "kind": "auto"}) == kind
    assert find_kind({"path": str(tmp_path / "model"), "kind": "auto"}) == kind


def test_the_kind_that_the_config_says_goes_before() -> None:
    assert find_kind({"path": "google/mt5-small", "kind": "encoder-decoder"}) == "encoder-decoder"
    assert find_kind({"train": {}, "kind": "decoder"}) == "decoder"
    assert find_kind({"train": {}, "kind": "auto"}) == "encoder"


def test_the_kind_found_is_never_another_one_than_the_models(tmp_path: Path) -> None:
    from transformers import CONFIG_MAPPING
    from transformers.models.auto import modeling_auto

    from prasanga.models.loading import model_kind

    causal, masked = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    common = {"albert", "bloom", "deberta-v2", "gpt2", "gpt_neox", "llama", "mistral", "gemma", "qwen2"}
    named = [*causal.items(), *masked.items()]
    families = [pair for pair in named if pair[0] in common | (causal.keys() & masked.keys())]
    told = 0
    for family, name in families:
        config = CONFIG_MAPPING[family]()
        config.architectures = [name]
        (tmp_path / "config.json").write_text(json.dumps(config.to_diff_dict(), default=str))
        found = find_kind({"path": str(tmp_path), "kind": "auto"})
        assert found in (model_kind(config), "auto"), family
        told += found != "auto"
    assert told > 25


PAIRS: dict[str, Any] = {**NOTHING, "sets": {"demo": {}}}
BOTH = ["embeddings", "likelihoods"]
WORDS = {"traits": [], "categories": ["C1"]}


@pytest.mark.parametrize(
    ("kind", "pairs", "words", "expected"),
    [
        ("encoder", NOTHING, NO_WORDS, (["embeddings"], list(KINDS), [])),
        ("encoder", PAIRS, NO_WORDS, (BOTH, list(KINDS), ["encoder"])),
        ("auto", PAIRS, NO_WORDS, (BOTH, list(KINDS), ["encoder", "encoder-decoder"])),
        ("auto", {**PAIRS, "encoder": "aul"}, NO_WORDS, (BOTH, list(KINDS), ["encoder-decoder"])),
        ("auto", {**PAIRS, "encoder": "aul", "encoder_decoder": "causal"}, WORDS, (BOTH, ["encoder"], ["encoder"])),
        ("encoder", NOTHING, {"traits": ["t.yaml"], "categories": []}, (BOTH, ["encoder"], ["encoder"])),
        ("decoder", NOTHING, WORDS, (["embeddings"], list(KINDS), [])),
        ("decoder", PAIRS, WORDS, (BOTH, list(KINDS), [])),
    ],
)
def test_what_is_asked_of_a_model(
    kind: str, pairs: dict[str, Any], words: dict[str, Any], expected: tuple[list[str], list[str], list[str]]
) -> None:
    config = {"pairs": pairs, "log_probability": words}
    found = list_questions({**MURIL, "kind": kind}, config)
    assert (found["stages"], found["kinds"], found["masked"]) == expected
    alone = list_questions({**MURIL, "kind": kind, **VECTORS}, config)
    assert alone == {"stages": ["embeddings"], "kinds": list(KINDS), "masked": []}
