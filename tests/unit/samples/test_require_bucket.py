"""A job is given the segments that it is for, or says so."""

from __future__ import annotations

import pytest

from prasanga.base.errors import InputError
from prasanga.samples.drawing import require_bucket


def test_the_right_file() -> None:
    require_bucket("results/samples/over75/03.parquet", "over75", "03")


@pytest.mark.parametrize(
    "path", ["results/samples/9/00.parquet", "results/samples/25/00.parquet", "results/samples/9-25.of2.json"]
)
def test_another_file_is_refused(path: str) -> None:
    with pytest.raises(InputError, match=r"segments of length 25 in bucket 01 are gone \(.* is not theirs\)\. Delete"):
        require_bucket(path, "25", "01")
