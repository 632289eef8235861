"""What a job of a model asks of a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.plan.models import megabytes_of


def test_a_trained_model_is_small() -> None:
    assert megabytes_of({"train": {"steps": 4}, "cards": 0}) == 1500


def test_a_model_of_the_hub_is_unknown() -> None:
    assert megabytes_of({"path": "google/muril-large-cased"}) == 16000


@pytest.mark.parametrize(
    ("files", "megabytes"),
    [
        ({"model.safetensors": 3}, 1506),
        ({"model-00001-of-00002.safetensors": 3, "model-00002-of-00002.safetensors": 2}, 1510),
        # the same weights in both formats count once
        ({"model.safetensors": 3, "pytorch_model.bin": 4}, 1508),
        ({"config.json": 3}, 16000),
    ],
)
def test_a_folder_is_counted(tmp_path: Path, files: dict[str, int], megabytes: int) -> None:
    """Twice the weights, and the libraries."""
    for name, size in files.items():
        with (tmp_path / name).open("wb") as file:
            file.truncate(size * 10**6)
    assert megabytes_of({"path": str(tmp_path)}) == megabytes


def test_over_several_cards_weights_do_not_stay_in_the_memory_of_the_node(tmp_path: Path) -> None:
    """As many libraries as cards, and the largest file: what a model of 70 billion asks for, in 30 files."""
    for number in range(30):
        with (tmp_path / f"model-{number:05}-of-00030.safetensors").open("wb") as file:
            file.truncate((4_900 - number) * 10**6)
    assert megabytes_of({"path": str(tmp_path), "cards": 4}) == 4 * 1500 + 4_900
    assert megabytes_of({"path": str(tmp_path), "cards": 1}) == 1500 + 2 * sum(4_900 - n for n in range(30))
