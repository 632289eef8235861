"""Scores at hand are used if they are what the config asks for, and named if they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.base.io import write_table
from prasanga.plan.runs import require_cached

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
        {"reduction": "auto"},
        {},
    ],
)
def test_what_fits_is_used(scores: str, expected: dict[str, Any]) -> None:
    require_cached({scores: expected})


@pytest.mark.parametrize(("expected", "what"), read_cases(__file__, "made_otherwise"))
def test_what_was_made_otherwise_is_named(scores: str, expected: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError) as error:
        require_cached({scores: expected, f"{scores}.absent": {}})
    assert f"do not fit: {scores} was made {what}. Copy" in str(error.value)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent.parquet")
    with pytest.raises(InputError, match=r"do not fit: .*absent.parquet: no such file\. .* Copy the right ones"):
        require_cached({absent: {}})
