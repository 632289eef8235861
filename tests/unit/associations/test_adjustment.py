"""Adjusted effects: against statsmodels, where only frequency makes words differ, and what is said of too few words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm

from prasanga.associations.comparisons import adjust
from prasanga.base.errors import InputError
from prasanga.schema import TABLES
from prasanga.stats.intervals import adjusted_difference


@pytest.mark.parametrize("seed", range(5))
def test_coefficient_and_interval_are_those_of_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_x, n_y, k = rng.integers(8, 30), rng.integers(8, 30), seed % 3 + 1
    is_x = np.arange(n_x + n_y) < n_x
    covariates = rng.normal(size=(n_x + n_y, k)) + is_x[:, None]
    scores = 0.1 * is_x + covariates @ rng.normal(size=k) + rng.normal(size=n_x + n_y) * (1 + 2 * is_x)
    fitted = sm.OLS(scores, sm.add_constant(np.column_stack([is_x, covariates]))).fit(cov_type="HC3", use_t=True)
    found = adjusted_difference(scores, is_x, covariates)
    assert found.difference == pytest.approx(fitted.params[1])
    assert found[1:] == pytest.approx(fitted.conf_int()[1].tolist())


def test_a_difference_of_frequency_alone_is_adjusted_away() -> None:
    rng = np.random.default_rng(0)
    is_x = np.arange(60) < 30
    frequency = rng.normal(size=60) + 1.5 * is_x
    scores = 0.3 * frequency + 0.1 * rng.normal(size=60)
    assert scores[:30].mean() - scores[30:].mean() > 0.3
    found = adjusted_difference(scores, is_x, frequency)
    assert found.low < 0 < found.high
    assert found.high - found.low < 0.2
    with pytest.raises(InputError, match="60 words cannot determine 3 coefficients"):
        adjusted_difference(scores, is_x, is_x * 2.0)


def tables(n_x: int = 9, n_y: int = 8) -> tuple[pa.Table, pa.Table]:
    words = [
        {
            "category": "C1",
            "model": "m",
            "role": side,
            "stimulus": f"{side}{i}",
            "association": 0.1 * (side == "x") + i / 99,
        }
        for side, n in (("x", n_x), ("y", n_y), ("a", 3))
        for i in range(n)
    ]
    row = {"category": "C1", "model": "m", "effect_size": 1.2, "difference": 0.105}
    return pa.Table.from_pylist([row], schema=TABLES["weat"].arrow()), pa.Table.from_pylist(
        words, schema=TABLES["weat_words"].arrow()
    )


def coverage(words: pa.Table, without: tuple[str, ...] = ()) -> list[pa.Table]:
    rng = np.random.default_rng(3)
    listed = [word for word in words.column("stimulus").to_pylist() if word not in without]
    rows = [{"stimulus": w, "segment_length": n, "occurrences": int(c)} for n in ("9", "25") for w, c in
            zip(listed, rng.integers(0, 5000, len(listed)), strict=True)]  # fmt: skip
    return [pa.Table.from_pylist(rows[: len(listed)] + [{**r, "occurrences": rows[i]["occurrences"]}
            for i, r in enumerate(rows[len(listed) :])])]  # fmt: skip


def tokenizer(words: pa.Table, most: int = 4) -> dict[str, pa.Table]:
    listed = words.column("stimulus").to_pylist()
    rows = [{"stimulus": word, "pieces_per_form": 1.0 + i * 7 % most} for i, word in enumerate(listed)]
    return {"m": pa.Table.from_pylist(rows)}


def adjusted(*args: Any) -> dict[str, Any]:
    return dict(adjust(*args)[0].to_pylist()[0])


def test_words_have_their_frequency_and_pieces_and_the_estimate_the_regression_of_them() -> None:
    estimates, words = tables()
    table, of_words = adjust(estimates, words, coverage(words), tokenizer(words))
    rows = of_words.to_pylist()
    assert all(row["occurrences"] is not None and row["n_pieces"] >= 1 for row in rows)
    targets = [row for row in rows if row["role"] in "xy"]
    expected = adjusted_difference(
        [row["association"] for row in targets],
        [row["role"] == "x" for row in targets],
        [[np.log(1 + row["occurrences"]), row["n_pieces"]] for row in targets],
    )
    (found,) = table.to_pylist()
    assert [found[name] for name in ("difference_adjusted", "adjusted_low", "adjusted_high")] == pytest.approx(expected)
    assert found["effect_adjusted"] == pytest.approx(1.2 * expected.difference / 0.105)
    assert found["adjusted_note"] is None


def test_what_is_not_known_is_said() -> None:
    estimates, words = tables()
    assert adjusted(estimates, words, [], {})["adjusted_note"] == (
        "not adjusted: corpus frequency is not known, number of pieces is not known"
    )
    found = adjusted(estimates, words, coverage(words), {})
    assert found["adjusted_note"] == "number of pieces is not known"
    assert found["difference_adjusted"] is not None
    found = adjusted(estimates, words, coverage(words, without=("x1",)), tokenizer(words, most=1))
    assert found["adjusted_note"] == (
        "number of pieces is the same for all words; 1 of 17 words are left out, of which it is not known"
    )


def test_too_few_words_are_said() -> None:
    estimates, words = tables(n_x=7)
    found = adjusted(estimates, words, coverage(words), tokenizer(words))
    assert found["difference_adjusted"] is None
    assert found["adjusted_note"] == (
        "not adjusted: set X has 7 words with corpus frequency and number of pieces, and a regression over words needs"
        " 8 in either set"
    )
