"""What the segments of a length and of some stimuli depend on, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sentence_tables import context, write_sentences

from prasanga.samples import Draw, draw, parse_length
from prasanga.samples.drawing import sampling_settings


def draw_nothing(*labels: str | int, paths: tuple[Path, ...] = (), **options: Any) -> Draw:
    given = {"pool": "shared", "contexts_per_stimulus": 30, "seed": 4, **options}
    return draw(paths, lengths=[parse_length(label) for label in labels], **given)


@pytest.mark.parametrize(
    ("pool", "window", "words"),
    [
        ("shared", "exact", {"9": 75, "75": 75, ">75": 76}),
        ("per_length", "exact", {"9": 9, "75": 75, ">75": 76}),
        ("per_length", "paper", {"9": 1, "75": 1, ">75": 1}),
    ],
)
def test_settings_of_each_length(pool: str, window: str, words: dict[str, int]) -> None:
    drawn = draw_nothing("9", "75", ">75", pool=pool, window=window)
    assert {length.label: sampling_settings(drawn, length, ["ফুল"]) for length in drawn.lengths} == {
        label: {
            "segment_length": label,
            "pool": pool,
            "context_words": number,
            "contexts_per_stimulus": 30,
            "seed": 4,
            **({"longest": 250} if label == ">75" else {"window": window}),
        }
        for label, number in words.items()
    }


@pytest.mark.parametrize(
    "other",
    [
        {"labels": (9, 25, 75, ">75")},
        {"labels": (3, 9, 75)},
        {"labels": (9, 75), "minimum": 5},
        {"labels": (9, 75), "longest": 99},
        {"labels": (9, 75), "stimuli": ["ফুল", "মা", "নদী"]},
    ],
    ids=["more lengths", "a shorter one", "minimum", "longest", "another stimulus"],
)
def test_what_does_not_concern_a_length_leaves_its_settings(tmp_path: Path, other: dict[str, Any]) -> None:
    path = write_sentences(tmp_path / "s.parquet", [context("a", 80, "ফুল")])
    labels = other.pop("labels")
    one = draw_nothing(9, 75, paths=(path,), stimuli=["ফুল", "মা"])
    changed = draw_nothing(*labels, **{"paths": (path,), "stimuli": ["ফুল", "মা"], **other})
    nine = parse_length(9)
    assert sampling_settings(one, nine, ["ফুল"]) == sampling_settings(changed, nine, ["ফুল"])


def test_a_bound_on_the_target_is_named_where_a_form_is_longer(tmp_path: Path) -> None:
    path = write_sentences(tmp_path / "s.parquet", [context("a", 9, "এক দুই তিন চার"), context("b", 9, "ফুল")])
    drawn = draw_nothing(3, 9, paths=(path,))
    nine = parse_length(9)
    assert sampling_settings(drawn, nine, ["এক দুই তিন চার", "ফুল"])["target_words"] == 3
    assert "target_words" not in sampling_settings(drawn, nine, ["ফুল"])


def test_the_supplement_concerns_the_stimuli_that_need_it(tmp_path: Path) -> None:
    primary = write_sentences(tmp_path / "p.parquet", [context(f"{i}", 9, "ফুল") for i in range(3)])
    more = write_sentences(tmp_path / "m.parquet", [context("a", 9, "মা"), context("b", 9, "ফুল")])
    drawn = draw_nothing(9, paths=(primary,), supplement=[more], minimum=2, stimuli=["ফুল", "মা", "নদী"])
    (nine,) = drawn.lengths
    assert sampling_settings(drawn, nine, ["মা", "ফুল"])["supplemented"] == ["মা"]
    assert "supplemented" not in sampling_settings(drawn, nine, ["ফুল"])
    assert drawn.forms.rows() == [("ফুল", "ফুল", "a.txt", 3, 3), ("মা", "মা", "a.txt", 1, 1)]
