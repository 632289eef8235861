"""Training is deterministic, learns, and leaves a whole model or none."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers
from tables import read_data
from transformers import AutoModelForMaskedLM, AutoTokenizer

from prasanga.base.errors import InputError
from prasanga_calibration import train_model
from prasanga_calibration.training import MASK, mask_pieces, piece_id, train_tokenizer

TEXTS = [
    f"{who} {where} {what} দেখে।"
    for who in ("মা", "বাবা", "রহিম")
    for where in ("ঘরে", "বাগানে")
    for what in ("ফুল", "চাঁদ", "পাখি")
]
SMALL: dict[str, Any] = {**read_data(__file__, "small_training"), "vocabulary_size": 120}
FILES = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "training.json"}


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_it_learns_and_reports_its_losses(tmp_path: Path) -> None:
    settings = {**SMALL, "hidden_size": 32, "steps": 200, "batch_size": 16, "learning_rate": 6e-3}
    report = train_model(TEXTS, tmp_path / "m", seed=3, **settings)
    assert len(report.losses) == 20
    # The frequencies of the pieces alone, without a look at the context, reach no less than their entropy.
    tokenizer = train_tokenizer(TEXTS, 120)
    counts = Counter(piece for text in TEXTS for piece in tokenizer.encode(text, add_special_tokens=False).ids)
    shares = np.array(list(counts.values())) / counts.total()
    entropy = -(shares * np.log(shares)).sum()
    assert report.losses[0] > entropy + 1
    assert report.losses[-1] < entropy - 0.2
    written = json.loads((tmp_path / "m" / "training.json").read_text())
    assert written["losses"] == list(report.losses)
    assert written["seed"] == 3
    assert written["kind"] == "encoder"
    assert written["entropy"] == report.entropy == pytest.approx(entropy, abs=1e-4)
    assert AutoModelForMaskedLM.from_pretrained(tmp_path / "m").config.max_position_embeddings == 512
    assert AutoTokenizer.from_pretrained(tmp_path / "m").model_max_length == 512


def test_a_failed_training_leaves_the_old_model_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_model(TEXTS, tmp_path / "m", seed=3, **SMALL)
    before = digests(tmp_path / "m")

    def fail(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(transformers.PreTrainedTokenizerFast, "save_pretrained", fail)
    with pytest.raises(OSError, match="No space"):
        train_model(TEXTS, tmp_path / "m", seed=4, **SMALL)
    assert digests(tmp_path / "m") == before
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_an_existing_model_is_replaced_and_foreign_files_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "training.json").write_text("{}")
    train_model(TEXTS, folder, seed=3, **SMALL)
    assert json.loads((folder / "training.json").read_text())["seed"] == 3
    (folder / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match=r"thesis\.txt"):
        train_model(TEXTS, folder, seed=3, **SMALL)
    assert (folder / "thesis.txt").read_text() == "years of work"


def test_masking_chooses_15_percent_and_hides_80_percent_of_them() -> None:
    tokenizer = train_tokenizer(TEXTS, 120)
    ids = tokenizer.encode(" ".join(TEXTS * 40)).ids
    pieces = np.array(ids)[None]
    inputs, labels = mask_pieces(np.random.default_rng(1), pieces, tokenizer)
    chosen = labels != -100
    assert 0.13 < chosen.mean() < 0.17
    assert (labels[chosen] == pieces[chosen]).all()
    assert (inputs[~chosen] == pieces[~chosen]).all()
    assert not chosen[0, 0]
    assert not chosen[0, -1]  # [CLS] and [SEP] are never chosen
    masked = inputs[chosen] == piece_id(tokenizer, MASK)
    assert 0.75 < masked.mean() < 0.85
    assert 0.05 < (inputs[chosen] == pieces[chosen]).mean() < 0.16
