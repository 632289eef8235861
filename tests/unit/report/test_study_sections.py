"""The overview counts what the tables hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl
from page_parts import lines_of
from planted_pairs import planted_scores

from prasanga.likelihoods import bias_percentage
from prasanga.report.page import overview_sheet
from prasanga.report.study import Results


def test_estimates_are_counted(small: pl.DataFrame) -> None:
    # 3 categories x 2 models x 2 lengths x 2 modes; one category has no number in one model and length, in both modes
    significant = sum(p is not None and p < 0.05 for p in small["p_association_holm"])
    sheet = overview_sheet(Results(ceat=small))
    assert lines_of(sheet) == [
        ["CEAT", "2", "3 categories at 9, >75 words, fixed and random draws", "22 of 24", f"{significant} of 22"]
    ]
    assert sheet.rows[0].labels == ('<a href="#effects">CEAT</a>',)
    assert significant == 4


def test_a_number_that_is_not_finite_is_none(table: Callable[..., pl.DataFrame]) -> None:
    ceat = table(("C1", "a", "9", "fixed", math.inf, {"p_association_holm": math.nan}))
    (line,) = lines_of(overview_sheet(Results(ceat=ceat)))
    assert line[3:] == ["0 of 1", "intervals only"]


def test_pairs_are_counted_once_for_all_types() -> None:
    bias = bias_percentage(planted_scores("bert", "hi", 0.9), n_resamples=0)
    (line,) = lines_of(overview_sheet(Results(bias_percentages=bias)))
    n_pairs = bias.filter(pl.col("bias_type") == "all")["n_pairs"][0]
    assert line[:3] == ["Sentence pairs", "1", f"{n_pairs} pairs at most in a language; Hindi"]
    assert line[3] == f"{bias['bias_percentage'].is_not_null().sum()} of {len(bias)}"


def test_nothing_measured_is_an_empty_overview() -> None:
    assert overview_sheet(Results()).rows == ()
