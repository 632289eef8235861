"""Scores that are kept: a pair is scored once, whatever it is called and whatever set it is in."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from prasanga.base.store import Store
from prasanga.likelihoods import stage
from prasanga.likelihoods.stage import PAIRS
from prasanga.pairs.preferences import SCORES


class Counting:
    """Scores a pair by the lengths of its sentences, and notes which it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, pairs: pl.DataFrame) -> pl.DataFrame:
        self.asked.append(pairs["first"].to_list())
        return pairs.with_columns(
            score_first=-pl.col("first").str.len_chars().cast(pl.Float64),
            score_second=-pl.col("second").str.len_chars().cast(pl.Float64),
            n_first=pl.lit(1, pl.Int64),
            n_second=pl.lit(2, pl.Int64),
            left_out=pl.when(pl.col("first") == pl.col("second")).then(pl.lit("identical")),
            kind=pl.lit("encoder"),
            measure=pl.lit("p_unmodified"),
            reduction=pl.lit("mean"),
            pieces=pl.lit("all"),
            punctuation=pl.lit("apart"),
            unknown=pl.lit("leave-out"),
            model=pl.lit("m"),
        )


def table(*rows: tuple[str, str, str]) -> pl.DataFrame:
    texts = pl.DataFrame(list(rows), schema=["language", "first", "second"], orient="row")
    return texts.with_row_index("pair_id")


def opened(root: Path, reduction: str = "mean") -> Store:
    return stage.open_scores(PAIRS, root, {"reduction": reduction}, {"sha256": "a"}, "float32")


def score_missing(pairs: pl.DataFrame, store: Store, score: Counting) -> pl.DataFrame:
    """Pairs with their scores."""
    return stage.with_scores(PAIRS, pairs, stage.score_missing(PAIRS, pairs, store, score))


def test_only_new_pairs_are_scored_and_the_order_is_that_of_the_set(tmp_path: Path) -> None:
    score = Counting()
    first = table(("en", "a", "bb"), ("en", "ccc", "d"), ("en", "a", "bb"))
    found = score_missing(first, opened(tmp_path), score)
    assert score.asked == [["a", "ccc"]]  # the third is the first once more
    assert found.columns == [*first.columns, *SCORES]
    assert found["pair_id"].to_list() == [0, 1, 2]
    assert found["score_first"].to_list() == [-1.0, -3.0, -1.0]

    second = table(("en", "eeee", "f"), ("en", "ccc", "d"), ("hi", "a", "bb"), ("en", "g", "g"))
    found = score_missing(second, opened(tmp_path), score)
    assert score.asked[1:] == [["eeee", "a", "g"]]  # in another language it is another pair
    assert found["score_first"].to_list() == [-4.0, -3.0, -1.0, -1.0]
    assert found["left_out"].to_list() == [None, None, None, "identical"]

    score_missing(second, opened(tmp_path), score)
    assert len(score.asked) == 2


def test_sets_of_one_key_share_scores_and_keys_do_not(tmp_path: Path) -> None:
    score, pairs = Counting(), table(("en", "a", "bb"))
    score_missing(pairs, opened(tmp_path), score)
    score_missing(pairs, opened(tmp_path), score)
    assert len(score.asked) == 1
    score_missing(pairs, opened(tmp_path, "sum"), score)
    assert len(score.asked) == 2


def test_scores_that_a_table_has_are_replaced(tmp_path: Path) -> None:
    pairs = table(("en", "a", "bb")).with_columns(score_first=pl.lit(7.0), model=pl.lit("other"))
    found = score_missing(pairs, opened(tmp_path), Counting())
    assert found.columns == ["pair_id", "language", "first", "second", *SCORES]
    assert found["score_first"].to_list() == [-1.0]
    assert found["model"].to_list() == ["m"]


def test_a_set_without_pairs_keeps_its_columns(tmp_path: Path) -> None:
    found = score_missing(table(("en", "a", "b"))[:0], opened(tmp_path), Counting())
    assert found.columns == ["pair_id", "language", "first", "second", *SCORES]
    assert found.height == 0


@pytest.mark.parametrize(
    ("settings", "identity", "dtype"),
    [
        ({"reduction": "sum"}, {"sha256": "a"}, "float32"),
        ({"reduction": "mean"}, {"sha256": "b"}, "float32"),
        ({"reduction": "mean"}, {"sha256": "a"}, "bfloat16"),
    ],
)
def test_another_model_or_choice_has_another_key(
    tmp_path: Path, settings: dict[str, str], identity: dict[str, str], dtype: str
) -> None:
    known = opened(tmp_path).key
    assert known == opened(tmp_path).key
    assert stage.open_scores(PAIRS, tmp_path, settings, identity, dtype).key != known
