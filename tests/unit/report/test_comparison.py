"""A study beside a paper: rows, signs, ranks and intervals worked by hand, and what is left out or told."""

from __future__ import annotations

import io
from typing import Any

import polars as pl
import pytest
from loss_columns import losses

from prasanga.report.comparison import (
    PUBLISHED_SCHEMA,
    compare,
    comparison_rows,
    render_comparison,
    summarize,
    why_nothing_compared,
)
from prasanga.schema import TABLES


def printed(category: str, effect: float, **changes: Any) -> dict[str, Any]:
    row = dict.fromkeys(PUBLISHED_SCHEMA) | {
        "paper": "sahoo2024", "table": "3", "method": "seat", "category": category, "language": "hi", "model": "Big",
        "effect_size": effect, "alpha": 0.01,
    }  # fmt: skip
    return row | changes


def paper(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict(PUBLISHED_SCHEMA), orient="row")


def measured(category: str, effect: float | None, model: str = "ours", **changes: Any) -> dict[str, Any]:
    return {
        "category": category, "model": model, "effect_size": effect,
        "ci_low": None if effect is None else effect - 0.2, "ci_high": None if effect is None else effect + 0.2,
        "interval_note": None, "lost": [],
    } | changes  # fmt: skip


def study(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.fixture
def five() -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Five tests. Ranks published 4 5 2 3 1, measured 5 4 3 2 1: differences 1 1 1 1 0, so rho = 1 - 24/120 = 0.8."""
    published = paper(
        printed("GR1", 0.5),
        printed("GR2", 0.9, doubts="columns", doubt="columns in doubt"),
        printed("GR3", -0.2),
        printed("GR4", 0.1, mark_doubt="marks in doubt"),
        printed("GR5", -0.7),
        printed("GR6", 1.0),
    )
    seat = study(
        measured("GR1", 0.9), measured("GR2", 0.8), measured("GR3", 0.1), measured("GR4", -0.1), measured("GR5", -0.6),
        measured("C1", 3.0),
    )  # fmt: skip
    return {"seat": seat}, published


def test_rows(five: tuple[dict[str, pl.DataFrame], pl.DataFrame]) -> None:
    comparison = compare(*five, models={"ours": "Big"}, language="hi")
    rows = comparison
    assert rows.schema == TABLES["comparison"].polars
    assert rows["category"].to_list() == ["GR1", "GR2", "GR3", "GR4", "GR5"]
    assert rows["difference"].to_list() == pytest.approx([0.4, -0.1, 0.3, -0.2, 0.1])
    assert rows["same_sign"].to_list() == [True, True, False, False, True]
    # intervals are 0.2 to either side
    assert rows["published_inside"].to_list() == [False, True, False, True, True]
    assert rows["doubt"].to_list() == [None, "columns in doubt", None, None, None]
    assert rows["mark_doubt"].to_list() == [None, None, None, "marks in doubt", None]
    assert (rows["model"][0], rows["published_model"][0]) == ("ours", "Big")


def test_categories_measured_the_other_way_round_are_said_to_be() -> None:
    method = {"method": "log_probability_bias", "doubts": "logits exchanged"}
    published = paper(
        printed("C6", 0.93, **method), printed("C7", 0.5, **method), printed("C5", 0.6, method=method["method"])
    )
    bias = study(
        measured("C6", 0.5, exchanged=False, interval_note="no interval"), measured("C7", 0.4, exchanged=True),
        measured("C5", 0.1, exchanged=True),
    )  # fmt: skip
    rows = compare({"log_probability_bias": bias}, published, models={"ours": "Big"}, language="hi")
    assert dict(zip(rows["category"], rows["note"], strict=True)) == {
        "C6": "targets and attributes are as described here and exchanged in the paper; no interval",
        "C7": None,
        "C5": "targets and attributes are exchanged here and as described in the paper",
    }


def test_summary_by_hand(five: tuple[dict[str, pl.DataFrame], pl.DataFrame]) -> None:
    every, certain = summarize(compare(*five, models={"ours": "Big"}, language="hi"))
    assert (every["method"], every["model"], every["published_model"]) == ("SEAT", "ours", "Big")
    assert (every["cells"], certain["cells"]) == ("all", "without doubtful cells")
    assert (every["n_rows"], every["n_categories"], every["n_same_sign"], every["n_signs"]) == (5, 5, 3, 5)
    assert (every["spearman"], every["median_difference"]) == pytest.approx((0.8, 0.2))
    assert (every["n_inside"], every["n_intervals"]) == (3, 5)
    # without GR2 the ranks are 4 2 3 1 and 4 3 2 1: rho = 1 - 6 * 2 / 60 = 0.8; differences 0.4 0.3 0.2 0.1
    assert (certain["n_rows"], certain["n_same_sign"], certain["n_signs"]) == (4, 2, 4)
    assert (certain["spearman"], certain["median_difference"]) == pytest.approx((0.8, 0.25))
    assert (certain["n_inside"], certain["n_intervals"]) == (2, 4)
    two = compare(five[0], five[1].head(2), models={"ours": "Big"}, language="hi")
    assert [row["spearman"] for row in summarize(two)] == [None, None]
    assert summarize(two.clear()) == []


def test_rows_come_back_from_csv_as_they_were(five: tuple[dict[str, pl.DataFrame], pl.DataFrame]) -> None:
    comparison = compare(*five, models={"ours": "Big"}, language="hi")
    for rows in (comparison, comparison.with_columns(segment_length=pl.lit("9"))):
        text, _ = render_comparison("sahoo2024", [rows])
        assert comparison_rows(pl.read_csv(io.StringIO(text), infer_schema_length=None)).equals(rows)


def test_why_there_is_nothing_to_compare(five: tuple[dict[str, pl.DataFrame], pl.DataFrame]) -> None:
    tables, published = five
    assert "the study has hi and the models none" in why_nothing_compared(
        compare({}, published, models={}, language="hi")
    )
    for models, language, said in (
        ({}, "bn", "the study has bn and the models ours, the paper hi and Big. Models that match: none. Say in"),
        ({"ours": "Big"}, "bn", "Models that match: ours as Big."),
    ):
        comparison = compare(tables, published, models=models, language=language)
        assert said in why_nothing_compared(comparison)
        text, markdown = render_comparison("sahoo2024", [comparison])
        found = pl.read_csv(io.StringIO(text), infer_schema_length=None)
        assert comparison_rows(found).is_empty()
        assert why_nothing_compared(found) == why_nothing_compared(comparison)
        assert markdown.startswith("# Beside Sahoo et al. (2024)\n\n- Nothing to compare: ")


def test_numbers_without_a_sign_or_an_interval_and_what_the_notes_say() -> None:
    published = paper(
        printed("GR1", 0.001, bound="<", doubts="no-sign", doubt="no sign"),
        printed("GR2", 0.0),
        *(printed(f"GR{n}", 0.3) for n in range(3, 7)),
    )
    seat = study(
        measured("GR1", 0.1),
        measured("GR2", 0.1),
        measured("GR3", 0.0),
        measured("GR4", 0.4, n_x=2, listed_x=14, n_y=3, listed_y=14),
        measured("GR5", None, lost=losses("a: no vector; not computed: one word left")),
        measured("GR6", 0.4, ci_low=None, ci_high=None, interval_note="fewer than 8 words"),
    )
    rows = compare({"seat": seat}, published, models={"ours": "Big"}, language="hi")
    assert rows["same_sign"].to_list() == [None, None, None, True, None, True]
    assert rows["difference"].to_list() == [None, 0.1, -0.3, pytest.approx(0.1), None, pytest.approx(0.1)]
    assert rows["published_inside"].to_list() == [None, True, False, True, None, None]
    assert rows["note"].to_list() == [*[None] * 3, "few words: 2/14 v 3/14", "one word left", "fewer than 8 words"]
    every, _ = summarize(rows)
    assert (every["n_rows"], every["n_signs"], every["n_intervals"]) == (5, 2, 3)


def test_of_several_numbers_of_draws_the_nearest_stand_beside_each_other() -> None:
    cell = {"method": "ceat", "sample_mode": "fixed", "segment_length": "9"}
    published = paper(
        printed("C1", 0.5, table="5", n_samples=5000, **cell),
        printed("C1", 0.6, table="6", n_samples=1000, **cell),
        printed("C1", 0.7, table="6", n_samples=1000, **cell | {"sample_mode": "random"}),
        printed("C1", 0.8, table="Figure 1", n_samples=1000, method="ceat", segment_length="15"),  # fixed draws
        printed("C1", 0.9, table="4", n_samples=1000, doubts="repeats-table-5", **cell),
    )

    def beside(*ours: tuple[int, str, str, float]) -> list[tuple[str, float, float]]:
        rows = (
            measured("C1", effect, n_samples=n, sample_mode=mode, segment_length=length)
            for n, mode, length, effect in ours
        )
        found = compare({"ceat": study(*rows)}, published, models={"ours": "Big"}, language="hi")
        return comparison_rows(found).select("table", "published", "measured").rows()

    for n, table, effect in (
        (5000, "5", 0.5),
        (10_000, "5", 0.5),
        (1000, "6", 0.6),
        (2000, "6", 0.6),
        (3000, "5", 0.5),
    ):
        assert beside((n, "fixed", "9", 0.4)) == [(table, effect, 0.4)]
    assert beside(*((n, "fixed", length, n / 1e4) for n in (5000, 1000) for length in ("9", "15"))) == [
        ("5", 0.5, 0.5),
        ("6", 0.6, 0.1),
        ("Figure 1", 0.8, 0.1),
    ]
    assert beside((1000, "random", "25", 0.4)) == []


def test_columns_of_estimates_do_not_hide_those_of_the_paper() -> None:
    published = paper(printed("C1", 0.5, method="weat", table="4"))
    weat = study(measured("C1", 0.4, method="word2vec", bound="<", doubt="ours", table="9"))
    (row,) = compare({"weat": weat}, published, models={"ours": "Big"}, language="hi").to_dicts()
    assert [row[name] for name in ("method", "bound", "language", "doubt", "table")] == ["weat", None, "hi", None, "4"]
