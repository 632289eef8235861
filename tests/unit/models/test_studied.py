"""A model stands for itself, or for each of several layers; a path that cannot be had is told while planning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prasanga.errors import InputError
from prasanga.models.studied import files_of_model, require_places, studied_models

MURIL = {"path": "google/muril-base-cased", "revision": "abc", "layer": -1, "dtype": "auto"}


def test_a_model_with_one_layer_stands_for_itself() -> None:
    assert studied_models({"muril": MURIL, "tiny": {"train": {"seed": 1}, "layer": 0}}) == {
        "muril": {**MURIL, "layer": -1, "family": "muril", "layers": [-1]},
        "tiny": {"train": {"seed": 1}, "layer": 0, "family": "tiny", "layers": [0]},
    }


def test_a_list_of_layers_makes_one_entry_each_in_its_order() -> None:
    studied = studied_models({"first": {**MURIL, "layer": 3}, "muril": {**MURIL, "layer": [12, 0, -1, -2, -13]}})
    assert list(studied) == [
        "first",
        "muril-layer12",
        "muril-layer0",
        "muril-layer-last",
        "muril-layer-last-1",
        "muril-layer-last-12",
    ]
    assert [settings["layer"] for settings in studied.values()] == [3, 12, 0, -1, -2, -13]
    assert studied["muril-layer0"] == {**MURIL, "layer": 0, "family": "muril", "layers": [12, 0, -1, -2, -13]}


def test_a_list_with_one_layer_is_still_named_after_it() -> None:
    assert studied_models({"muril": {**MURIL, "layer": [8]}}) == {
        "muril-layer8": {**MURIL, "layer": 8, "family": "muril", "layers": [8]}
    }


@pytest.mark.parametrize("other_first", [True, False])
def test_a_name_that_another_model_has_is_refused(other_first: bool) -> None:
    models = {"muril": {**MURIL, "layer": [8, 12]}, "muril-layer8": MURIL}
    with pytest.raises(InputError) as caught:
        studied_models(dict(reversed(models.items())) if other_first else models)
    assert str(caught.value) == (
        "`models.muril.layer` is [8, 12], and its layer 8 would be called 'muril-layer8', which is the name of another"
        " model. Rename `models.muril-layer8`, or `models.muril`."
    )


def test_the_name_of_a_model_measured_by_its_own_layers_is_taken_too() -> None:
    with pytest.raises(InputError, match=r"called 'a-layer1', which is the name of another model"):
        studied_models({"a": {**MURIL, "layer": [1]}, "a-layer1": {**MURIL, "layer": [2]}})


def test_the_name_of_a_file_about_another_model_is_refused() -> None:
    assert list(studied_models({"a.tokenizer": MURIL})) == ["a.tokenizer"]
    for name in ("tokenizer", "words"):
        with pytest.raises(
            InputError, match=rf"`models\.a\.{name}` has the name of a file .* about `models\.a`\. Rename .* `a-{name}`"
        ):
            studied_models({"a": MURIL, f"a.{name}": MURIL})


def test_folders_and_names_of_the_hub_pass(tmp_path: Path) -> None:
    (tmp_path / "models" / "banglabert").mkdir(parents=True)
    paths = ["models/banglabert", "./models/banglabert", "models/banglabert/", f"{tmp_path}/models", "google/muril"]
    models = {str(i): {"path": path} for i, path in enumerate([*paths, "bert-base-uncased"])}
    require_places({**models, "tiny": {"train": {"seed": 1}}}, tmp_path)


@pytest.mark.parametrize("path", ["/no/model", "./model", "../model", "a/b/c", "model/", "~/model", "."])
def test_a_path_that_only_a_folder_can_have_needs_the_folder(tmp_path: Path, path: str) -> None:
    root = tmp_path / "project"
    with pytest.raises(InputError) as caught:
        require_places({"hub": MURIL, "mine": {"path": path}}, root)
    message = str(caught.value)
    assert message.startswith(
        f"`models.mine.path` is {path!r}, but there is no folder {Path(root, path)}. Write the path"
    )
    assert "models.hub" not in message


def test_a_file_is_no_folder_and_all_missing_models_are_named(tmp_path: Path) -> None:
    (tmp_path / "model.bin").touch()
    with pytest.raises(InputError, match=r"(?s)`models\.one\.path` is '\./model\.bin'.*\n`models\.two\.path` is ''"):
        require_places({"one": {"path": "./model.bin"}, "two": {"path": ""}}, tmp_path / "absent/..")


def test_a_file_replaced_by_an_older_one_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "checkpoint-1").mkdir(parents=True)
    (folder / "checkpoint-1" / "config.json").write_text("{}")
    for name, content, changed in (("model.safetensors", "weights", 2_000_000_000), ("config.json", "{}", 5)):
        (folder / name).write_text(content)
        os.utime(folder / name, ns=(changed, changed))
    (folder / "lost").symlink_to(tmp_path / "nowhere")
    before = files_of_model(folder)
    assert before == {"config.json": [2, 5], "model.safetensors": [7, 2_000_000_000]}
    assert list(before) == sorted(before)
    assert json.loads(json.dumps(before)) == before == files_of_model(str(folder))
    older = tmp_path / "older"
    older.write_text("another")
    os.utime(older, ns=(1_000_000_000, 1_000_000_000))
    older.replace(folder / "model.safetensors")
    assert files_of_model(folder) == {**before, "model.safetensors": [7, 1_000_000_000]}
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(folder / "config.json")
    assert files_of_model(folder)["model.safetensors"] == [2, 5]


def test_a_model_of_the_hub_has_no_files_to_watch(tmp_path: Path) -> None:
    assert files_of_model("google/muril-base-cased") == {}
    (tmp_path / "model.bin").touch()
    assert files_of_model(tmp_path / "model.bin") == {}


def test_planning_imports_no_torch() -> None:
    program = "import sys; import prasanga.models.studied; sys.exit('torch' in sys.modules or 'polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
