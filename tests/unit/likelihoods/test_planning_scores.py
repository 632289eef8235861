"""Scores at hand are used if they are what the config asks for, and named if they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from prasanga.base.errors import InputError
from prasanga.base.io import write_table
from prasanga.plan.settings import require_scores
from prasanga.plan.study import digest_of_set

RECORDED = {
    "which": {"model": "models/mine", "files": {"config.json": [10, 123]}, "options": {"remote_code": False}},
    "measures": {"encoder": "p_unmodified"},
    "reduction": "mean",
}


@pytest.fixture
def scores(tmp_path: Path) -> str:
    path = tmp_path / "mine.parquet"
    write_table(path, pa.table({"score_first": [0.5]}), {"settings": json.dumps(RECORDED)})
    return str(path)


@pytest.mark.parametrize(
    "expected",
    [
        {"which": {"model": "models/mine", "options": {"remote_code": False}}, "reduction": "mean"},
        # where the model is not at hand, its kind is not, and the measures of all kinds are expected
        {"measures": {"encoder": "p_unmodified", "encoder-decoder": "infill"}},
        {"unknown": "keep"},
        {},
    ],
)
def test_what_fits_is_used(scores: str, expected: dict[str, Any]) -> None:
    require_scores({scores: expected})


@pytest.mark.parametrize(
    ("expected", "what"),
    [
        ({"reduction": "sum"}, "with reduction 'mean', but the config says 'sum'"),
        ({"measures": {"encoder": "aul"}}, "with measures.encoder 'p_unmodified', but the config says 'aul'"),
        (
            {"which": {"options": {"remote_code": True}}},
            "with which.options.remote_code False, but the config says True",
        ),
    ],
)
def test_what_was_made_otherwise_is_named(scores: str, expected: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError) as error:
        require_scores({scores: expected, f"{scores}.absent": {}})
    assert f"(and 1 more like this): {scores} was made {what}." in str(error.value)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent.parquet")
    with pytest.raises(InputError, match=r"do not fit: .*absent.parquet is not there. Copy the right ones"):
        require_scores({absent: {}})


def test_a_file_of_pairs_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`pairs.sets.mine.path` is '.*gone.csv', which cannot be read: No such file"):
        digest_of_set("mine", tmp_path / "gone.csv")
    present = tmp_path / "pairs.csv"
    present.write_text("pair_id\n", encoding="utf-8")
    before = digest_of_set("mine", present)
    present.write_text("pair_id\n1\n", encoding="utf-8")
    assert digest_of_set("mine", present) != before
