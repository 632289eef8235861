"""A model is asked for its files once more before anything is kept under its name."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prasanga.base.errors import InputError
from prasanga.models.checking import require_unchanged
from prasanga.models.hub import model_identity
from prasanga.models.options import ModelOptions
from prasanga_calibration import train_model

SMALL: dict[str, Any] = {"hidden_size": 16, "layers": 1, "heads": 2, "vocabulary_size": 90, "steps": 2}
TEXTS = ["মা ঘরে ফুল দেখে।", "বাবা বাগানে চাঁদ দেখে।"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    train_model(TEXTS, folder, **SMALL)
    return folder


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_flipped_byte_in_a_model_is_noticed(model: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(model, folder)
    identity = model_identity(folder)
    require_unchanged(folder, identity, ModelOptions())
    (folder / "README.md").write_text("a note beside the model is no change")
    require_unchanged(folder, identity, ModelOptions())
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 4
    (folder / name).write_bytes(data)
    os.utime(folder / name, ns=(1, 1))
    with pytest.raises(InputError, match=r"tiny: its files are not those that were looked at \(sha256 \w{12}"):
        require_unchanged(folder, identity, ModelOptions())


@pytest.mark.parametrize("gone", ["config.json", "tokenizer.json", ""])
def test_of_a_model_that_the_workflow_makes_folder_and_report_are_to_be_deleted(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    monkeypatch.chdir(tmp_path)
    made, own = Path("results/models/tiny"), Path("other/results/models/tiny")
    for folder in (made, own):
        shutil.copytree(model, folder)
        folder.with_name("tiny.json").write_text("{}")  # the report on it
        identity = model_identity(folder)
        require_unchanged(folder, identity, ModelOptions())
        (folder / gone).unlink() if gone else shutil.rmtree(folder)
    with pytest.raises(InputError, match=f"missing.* Delete {made} and {made}.json, and run again: the workflow"):
        require_unchanged(made, identity, ModelOptions())
    if gone:  # a model of the reader's own
        with pytest.raises(InputError, match=r"^(?!.*Delete)"):
            require_unchanged(own, identity, ModelOptions())


def test_a_model_in_the_folder_of_the_study() -> None:
    require_unchanged(".", {"id": "somebody/model", "commit": "ab"}, ModelOptions())


def test_of_the_hub_nothing_is_asked(tmp_path: Path) -> None:
    require_unchanged("owner/name", {"id": "owner/name", "commit": "ab"}, ModelOptions())
    require_unchanged(tmp_path / "gone", {"sha256": "ab"}, ModelOptions())


def test_what_a_killed_training_left_is_removed_by_the_next(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f".tiny.{socket.gethostname()}.{ended.pid}.0123abcd.tmp"
    left.mkdir()
    (left / "model.safetensors").write_bytes(b"half")
    running = tmp_path / f".tiny.{socket.gethostname()}.{os.getpid()}.0123abcd.tmp"
    running.mkdir()
    train_model(TEXTS, tmp_path / "tiny", **SMALL)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([running.name, "tiny"])


def test_a_full_disk_is_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import safetensors.torch

    def full(*_: Any, **__: Any) -> None:
        raise safetensors.SafetensorError("Error while serializing: I/O error: Os { code: 28, kind: StorageFull }")

    monkeypatch.setattr("transformers.modeling_utils.safe_save_file", full)
    with pytest.raises(InputError, match=r"could not be written \(No space left on device\)"):
        train_model(TEXTS, tmp_path / "models/tiny", **SMALL)
    assert list((tmp_path / "models").iterdir()) == []
