"""The strength of stereotype that sentence pairs could have found."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from prasanga.likelihoods.bias import bias_percentage
from prasanga.likelihoods.strength import PairStudies, measure_pair_strengths

SHIFTS = [0.1, 0.25, 0.5, 1.0]


def draw_scores(seed: int, model: str = "m", first: float = 0.0, n: int = 60, twin: int | None = None) -> pl.DataFrame:
    """Draw scores without a stereotype, with a preference for the first sentence: labels 2 to 1."""
    rng = np.random.default_rng(seed)
    rows = [
        {"pair_id": f"{bias_type}-{i}", "language": "en", "bias_type": bias_type, "set": "s", "model": model}
        | {"label": "stereo" if i % 3 else "antistereo", "first": "a", "second": "b", "twin": twin}
        | {"score_first": -2 + first + rng.normal(), "score_second": -2.0}
        for bias_type in ("age", "caste")
        for i in range(n)
    ]
    return pl.DataFrame(rows, schema_overrides={"twin": pl.Int64})


def measure(scores: pl.DataFrame, twins: dict[str, pl.DataFrame], repetitions: int = 200) -> dict[str, Any]:
    bias = bias_percentage(scores, twins=twins, n_runs=0, n_resamples=0)
    found = measure_pair_strengths(bias, scores, twins, repetitions=repetitions, shifts=SHIFTS, seed=3)
    return found.row(0, named=True)


def test_a_preference_for_the_first_sentence_is_no_stereotype() -> None:
    found = measure(draw_scores(1, first=1.0), {})
    assert found["shares_found"][0] <= 0.07
    assert found["false_first"] <= 0.07
    assert found["level"] == 0.05
    assert found["shares_found"] == sorted(found["shares_found"])


@pytest.mark.parametrize("n_twins", [0, 6])
def test_the_shift_of_80_percent_is_found_in_80_percent(n_twins: int) -> None:
    scores = draw_scores(2)
    twins = {"m": pl.concat([draw_scores(10 + k, twin=k) for k in range(n_twins)])} if n_twins else {}
    found = measure(scores, twins, 1000)
    bias = bias_percentage(scores, twins=twins, n_runs=0, n_resamples=0)
    row = bias.row(-1, named=True)
    studies, rng = PairStudies(bias, row, scores, twins, 0.05), np.random.default_rng(9)
    rate = np.mean([[*studies.find([found["shift_80"]], rng)][1] for _ in range(1000)])
    assert 0.75 <= rate <= 0.85
    assert found["shift_80_nats"] == pytest.approx(found["shift_80"] * studies.sd)


def test_copies_make_it_harder_and_levels_follow_from_other_models() -> None:
    one, other = draw_scores(2), draw_scores(3, model="other")
    alone = measure(one, {})
    twins = {"m": pl.concat([draw_scores(10 + k, twin=k) for k in range(3)])}
    assert measure(one, twins)["shares_found"][2] < alone["shares_found"][2]
    both = pl.concat([one, other])
    assert measure(both, {})["level"] == 0.025


def test_ties_and_pairs_without_a_score_do_not_count() -> None:
    scores = draw_scores(2)
    more = scores.head(9).with_columns(pair_id=pl.concat_str(pl.lit("x-"), "pair_id"))
    tied = more.head(4).with_columns(score_first=pl.col("score_second"))
    missing = more.tail(5).with_columns(score_first=pl.lit(None, pl.Float64))
    assert measure(pl.concat([scores, tied, missing]), {})["shares_found"] == measure(scores, {})["shares_found"]


def test_labels_of_one_kind_have_no_strength() -> None:
    scores = draw_scores(2).with_columns(label=pl.lit("stereo"))
    bias = bias_percentage(scores, n_runs=0, n_resamples=0)
    assert measure_pair_strengths(bias, scores, {}, repetitions=5, shifts=SHIFTS).is_empty()
