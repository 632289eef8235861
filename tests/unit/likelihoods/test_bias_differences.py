"""The difference of scores of a pair, and what it says of the model."""

from __future__ import annotations

import math

import polars as pl
import pytest

from prasanga.pairs.preferences import DIFFERENCES_SCHEMA, add_differences, pair_differences

ROWS = [
    ("stereo", -1.0, -1.25, 0.25, "stereotypical", None),
    ("stereo", -1.25, -1.0, -0.25, "other", None),
    ("antistereo", -1.0, -1.25, -0.25, "other", None),
    ("antistereo", -1.25, -1.0, 0.25, "stereotypical", None),
    ("stereo", -3.0, -3.0 - 1e-9, None, "tie", None),
    ("antistereo", -0.1, -0.1 + 1e-8, None, "stereotypical", None),
    ("stereo", -math.inf, -1.0, None, None, "not-finite"),
    ("stereo", math.nan, -1.0, None, None, "not-finite"),
    ("stereo", None, -1.0, None, None, "no-score"),
]


@pytest.fixture
def scores() -> pl.DataFrame:
    rows = [(f"{n}", "en", "age", *row[:3]) for n, row in enumerate(ROWS)]
    names = ["pair_id", "language", "bias_type", "label", "score_first", "score_second"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_positive_is_the_stereotype_whatever_the_label(scores: pl.DataFrame) -> None:
    added = add_differences(scores)
    assert added["preference"].to_list() == [row[4] for row in ROWS]
    assert added["left_out"].to_list() == [row[5] for row in ROWS]
    assert added["difference"].to_list()[:4] == [row[3] for row in ROWS[:4]]
    assert added["difference"].to_list()[4:6] == [pytest.approx(1e-9), pytest.approx(1e-8)]
    assert added["difference"].to_list()[6:] == [None] * 3


def test_a_reason_that_is_there_stays(scores: pl.DataFrame) -> None:
    added = add_differences(scores.with_columns(left_out=pl.lit("too-long")))
    assert added["left_out"].unique().to_list() == ["too-long"]
    assert added["difference"].null_count() == added["preference"].null_count() == len(scores)


def test_all_differences_of_a_study_in_one_table(scores: pl.DataFrame) -> None:
    of_model = scores.with_columns(set=pl.lit("demo"), model=pl.lit("bert"))
    table = pair_differences(of_model, {"bert": of_model.with_columns(model=pl.lit("bert-random"))})
    assert table.schema == pl.Schema(DIFFERENCES_SCHEMA)
    assert table["model"].unique().to_list() == ["bert"]
    assert table["random_twin"].to_list() == [False] * 9 + [True] * 9
    alone = pair_differences(scores.with_columns(score_first=None, score_second=None))
    assert alone["model"].null_count() == alone["difference"].null_count() == 9
