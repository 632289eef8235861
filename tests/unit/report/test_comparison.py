"""A study beside a paper: rows, signs, ranks and intervals worked by hand, and what is left out or told."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import polars as pl
import pytest
from loss_columns import losses

from prasanga.base.errors import InputError
from prasanga.report.comparison import (
    COMPARISON_SCHEMA,
    SUMMARY_SCHEMA,
    Comparison,
    compare,
    comparison_rows,
    comparison_to_csv,
    comparison_to_markdown,
    doubt_of,
    summarize,
)
from prasanga.report.published import PUBLISHED_SCHEMA, PublishedModel

MODELS = [PublishedModel("Big", "Big (large)", ("ceat", "seat"), "base or large cannot be decided")]


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
    rows = comparison.rows
    assert rows.schema == pl.Schema(dict(COMPARISON_SCHEMA))
    assert rows["category"].to_list() == ["GR1", "GR2", "GR3", "GR4", "GR5"]
    assert rows["difference"].to_list() == pytest.approx([0.4, -0.1, 0.3, -0.2, 0.1])
    assert rows["same_sign"].to_list() == [True, True, False, False, True]
    # intervals are 0.2 to either side
    assert rows["published_inside"].to_list() == [False, True, False, True, True]
    assert rows["doubt"].to_list() == [None, "columns in doubt", None, None, None]
    assert rows["mark_doubt"].to_list() == [None, None, None, "marks in doubt", None]
    assert (rows["model"][0], rows["published_model"][0], comparison.nothing) == ("ours", "Big", "")


def test_categories_measured_the_other_way_round_are_said_to_be() -> None:
    method = {"method": "log_probability_bias", "doubts": "logits exchanged"}
    published = paper(
        printed("C6", 0.93, **method), printed("C7", 0.5, **method), printed("C5", 0.6, method=method["method"])
    )
    bias = study(
        measured("C6", 0.5, exchanged=False, interval_note="no interval"), measured("C7", 0.4, exchanged=True),
        measured("C5", 0.1, exchanged=True),
    )  # fmt: skip
    rows = compare({"log_probability_bias": bias}, published, models={"ours": "Big"}, language="hi").rows
    assert dict(zip(rows["category"], rows["note"], strict=True)) == {
        "C6": "targets and attributes are as described here and exchanged in the paper; no interval",
        "C7": None,
        "C5": "targets and attributes are exchanged here and as described in the paper",
    }


def test_summary_by_hand(five: tuple[dict[str, pl.DataFrame], pl.DataFrame]) -> None:
    summary = compare(*five, models={"ours": "Big"}, language="hi").summary
    assert summary.schema == pl.Schema(dict(SUMMARY_SCHEMA))
    every, certain = summary.iter_rows(named=True)
    assert (every["method"], every["model"], every["published_model"]) == ("seat", "ours", "Big")
    assert (every["cells"], certain["cells"]) == ("all", "without doubtful cells")
    assert (every["n_rows"], every["n_categories"], every["n_same_sign"], every["n_signs"]) == (5, 5, 3, 5)
    assert every["same_sign"] == 0.6
    # Clopper and Pearson for 3 of 5: P(at least 3 | low) = P(at most 3 | high) = 0.025
    low, high = every["same_sign_low"], every["same_sign_high"]
    assert 10 * low**3 * (1 - low) ** 2 + 5 * low**4 * (1 - low) + low**5 == pytest.approx(0.025)
    assert 1 - 5 * high**4 * (1 - high) - high**5 == pytest.approx(0.025)
    assert every["spearman"] == pytest.approx(0.8)
    assert every["n_spearman"] == 5
    assert every["median_difference"] == pytest.approx(0.2)
    assert (every["n_inside"], every["n_intervals"]) == (3, 5)
    # without GR2 the ranks are 4 2 3 1 and 4 3 2 1: rho = 1 - 6 * 2 / 60 = 0.8; differences 0.4 0.3 0.2 0.1
    assert (certain["n_rows"], certain["n_same_sign"], certain["n_signs"]) == (4, 2, 4)
    assert certain["spearman"] == pytest.approx(0.8)
    assert certain["median_difference"] == pytest.approx(0.25)
    assert (certain["n_inside"], certain["n_intervals"]) == (2, 4)


def test_all_signs_alike_and_too_few_ranks() -> None:
    published = paper(printed("GR1", 0.5), printed("GR2", 0.9))
    seat = study(measured("GR1", 0.1), measured("GR2", 0.2))
    every, _ = compare({"seat": seat}, published, models={"ours": "Big"}, language="hi").summary.iter_rows(named=True)
    assert (every["same_sign"], every["same_sign_high"]) == (1.0, 1.0)
    # (low)^2 = 0.025
    assert every["same_sign_low"] == pytest.approx(0.025**0.5)
    assert (every["spearman"], every["n_spearman"]) == (None, 0)


def test_a_bound_has_no_sign_and_no_difference() -> None:
    published = paper(printed("GR1", 0.001, bound="<", doubts="no-sign", doubt="no sign"))
    rows = compare({"seat": study(measured("GR1", 0.1))}, published, models={"ours": "Big"}, language="hi").rows
    assert rows.select("difference", "same_sign", "published_inside").row(0) == (None, None, None)
    assert (rows["published"][0], rows["bound"][0]) == (0.001, "<")


def test_zero_has_no_sign() -> None:
    published = paper(printed("GR1", 0.0), printed("GR2", 0.3))
    seat = study(measured("GR1", 0.1), measured("GR2", 0.0))
    rows = compare({"seat": seat}, published, models={"ours": "Big"}, language="hi").rows
    assert rows["same_sign"].to_list() == [None, None]
    assert rows["difference"].to_list() == [0.1, -0.3]


def test_a_measured_number_of_few_words_says_so() -> None:
    seat = study(measured("GR1", 0.4, n_x=2, listed_x=14, n_y=3, listed_y=14), measured("GR2", 0.4))
    published = paper(printed("GR1", 0.5), printed("GR2", 0.5))
    rows = compare({"seat": seat}, published, models={"ours": "Big"}, language="hi").rows
    assert rows["note"].to_list() == ["few words: 2/14 v 3/14", None]


def test_what_was_not_computed_says_why() -> None:
    seat = study(
        measured("GR1", None, lost=losses("a: no vector; not computed: one word left")),
        measured("GR2", 0.4, ci_low=None, ci_high=None, interval_note="fewer than 8 words"),
    )
    comparison = compare(
        {"seat": seat}, paper(printed("GR1", 0.5), printed("GR2", 0.5)), models={"ours": "Big"}, language="hi"
    )
    assert comparison.rows["note"].to_list() == ["one word left", "fewer than 8 words"]
    assert comparison.rows["measured"].to_list() == [None, 0.4]
    every, _ = comparison.summary.iter_rows(named=True)
    assert (every["n_rows"], every["n_intervals"]) == (1, 0)


def test_of_two_published_n_the_nearer_is_taken() -> None:
    cell = {"method": "ceat", "sample_mode": "fixed", "segment_length": "9"}
    published = paper(
        printed("C1", 0.5, table="5", n_samples=5000, **cell),
        printed("C1", 0.6, table="6", n_samples=1000, **cell),
        printed("C1", 0.7, table="6", n_samples=1000, method="ceat", sample_mode="random", segment_length="9"),
    )
    for n, table in ((5000, "5"), (10_000, "5"), (1000, "6"), (2000, "6"), (3000, "5")):
        ceat = study(measured("C1", 0.4, n_samples=n, sample_mode="fixed", segment_length="9"))
        rows = compare({"ceat": ceat}, published, models={"ours": "Big"}, language="hi").rows
        assert rows["table"].to_list() == [table]
        assert rows["n_samples"].to_list() == [n]


def test_several_n_of_ours_stand_each_beside_its_own() -> None:
    cell = {"method": "ceat", "sample_mode": "fixed"}
    published = paper(
        printed("C1", 0.5, table="5", n_samples=5000, segment_length="9", **cell),
        printed("C1", 0.6, table="6", n_samples=1000, segment_length="9", **cell),
        printed("C1", 0.8, table="Figure 1", n_samples=1000, segment_length="15", method="ceat"),
    )
    ceat = study(
        *(
            measured("C1", effect, n_samples=n, sample_mode="fixed", segment_length=length)
            for n, effect in ((5000, 0.1), (1000, 0.2))
            for length in ("9", "15")
        )
    )
    rows = compare({"ceat": ceat}, published, models={"ours": "Big"}, language="hi").rows
    assert rows.select("table", "published", "measured", "n_samples").rows() == [
        ("5", 0.5, 0.1, 5000),
        ("6", 0.6, 0.2, 1000),
        ("Figure 1", 0.8, 0.2, 1000),
    ]


def test_a_published_number_without_a_mode_is_laid_beside_fixed_draws() -> None:
    published = paper(
        printed("C1", 0.5, table="6", method="ceat", n_samples=1000, sample_mode="fixed", segment_length="9"),
        printed("C1", 0.7, table="Figure 1", method="ceat", n_samples=1000, segment_length="9"),
    )
    cell = {"n_samples": 1000, "segment_length": "9"}
    ceat = study(measured("C1", 0.3, sample_mode="random", **cell), measured("C1", 0.4, sample_mode="fixed", **cell))
    rows = compare({"ceat": ceat}, published, models={"ours": "Big"}, language="hi").rows
    assert rows.select("table", "sample_mode", "published", "measured").rows() == [
        ("6", "fixed", 0.5, 0.4),
        ("Figure 1", "fixed", 0.7, 0.4),
    ]


def test_lengths_and_modes_must_be_the_same() -> None:
    published = paper(printed("C1", 0.5, method="ceat", n_samples=5000, sample_mode="fixed", segment_length="9"))
    for other in ({"sample_mode": "random"}, {"segment_length": "25"}):
        row = measured("C1", 0.4) | {"n_samples": 5000, "sample_mode": "fixed", "segment_length": "9"} | other
        comparison = compare({"ceat": study(row)}, published, models={"ours": "Big"}, language="hi")
        assert comparison.rows.is_empty()
        assert "no test of the study has category, segment length and sample mode" in comparison.nothing


def test_a_column_that_repeats_another_is_left_out() -> None:
    published = paper(
        printed("C1", 0.5, table="4", doubts="repeats-table-5", doubt="a copy"),
        printed("C1", 0.5, table="5"),
    )
    rows = compare({"seat": study(measured("C1", 0.4))}, published, models={"ours": "Big"}, language="hi").rows
    assert rows["table"].to_list() == ["5"]


def test_same_names_match_and_others_are_refused(five: tuple[dict[str, pl.DataFrame], pl.DataFrame]) -> None:
    _, published = five
    tables = {"seat": study(measured("GR1", 0.2, model="Big"), measured("GR1", 0.3, model="small"))}
    assert compare(tables, published, models={}, language="hi").rows["model"].to_list() == ["Big"]
    both = compare(tables, published, models={"small": "Big"}, language="hi")
    assert both.rows["model"].to_list() == ["Big", "small"]
    with pytest.raises(
        InputError, match=r"`comparison.models.small` is 'Bog', which the paper does not have. .* Big\."
    ):
        compare(tables, published, models={"small": "Bog"}, language="hi")


def test_nothing_to_compare_is_a_table_without_rows_and_a_sentence(
    five: tuple[dict[str, pl.DataFrame], pl.DataFrame],
) -> None:
    tables, published = five
    sentences = {
        "the study's language is bn, and the paper has hi": compare(tables, published, models={}, language="bn"),
        "no model of the study has a name of the paper's. The study has ours; the paper has Big.": compare(
            tables, published, models={}, language="hi"
        ),
        "the paper has seat in this language, and the study has weat": compare(
            {"weat": tables["seat"]}, published, models={"ours": "Big"}, language="hi"
        ),
    }
    for sentence, comparison in sentences.items():
        assert sentence in comparison.nothing
        assert comparison.rows.is_empty()
        assert comparison.summary.is_empty()
        assert comparison.rows.schema == pl.Schema(dict(COMPARISON_SCHEMA))
        assert comparison_to_csv(comparison) == ",".join(COMPARISON_SCHEMA) + "\n"
        text = comparison_to_markdown(comparison, MODELS)
        assert text.startswith("# Beside Sahoo et al. (2024)\n\nNothing to compare: ")
        assert text.count("\n") == 3


def test_a_table_without_a_column_is_refused(five: tuple[dict[str, pl.DataFrame], pl.DataFrame]) -> None:
    tables, published = five
    with pytest.raises(InputError, match="seat: the table has no column effect_size"):
        compare({"seat": tables["seat"].drop("effect_size")}, published, models={"ours": "Big"}, language="hi")


def test_csv(five: tuple[dict[str, pl.DataFrame], pl.DataFrame]) -> None:
    lines = list(csv.DictReader(io.StringIO(comparison_to_csv(compare(*five, models={"ours": "Big"}, language="hi")))))
    assert len(lines) == 5
    assert (lines[2]["published"], lines[2]["measured"], lines[2]["same_sign"]) == ("-0.2", "0.1", "false")
    assert lines[1]["doubt"] == "columns in doubt"


def test_markdown(five: tuple[dict[str, pl.DataFrame], pl.DataFrame]) -> None:
    text = comparison_to_markdown(compare(*five, models={"ours": "Big"}, language="hi"), MODELS)
    # the model is in doubt whichever cells are left out
    assert "| seat | ours | Big | all | 5 | 5 | 3 of 5 | 0.15 to 0.95 | +0.80 (n = 5) | 0.200 | 3 of 5 | (3) |" in text
    assert re.search(r"\| seat \| ours \| Big \| without doubtful cells \| 4 \| .* \| \(3\) \|\n", text)
    assert (
        "| 3 | seat | GR2 | ours | Big |  |  | +0.900 | +0.800 | -0.100 | yes | +0.600 to +1.000 | yes |  | (1) |  |"
        in text
    )
    assert (
        "| 3 | seat | GR4 | ours | Big |  |  | +0.100 | -0.100 | -0.200 | no | -0.300 to +0.100 | yes |  | (2) |  |"
        in text
    )
    assert "- (1) columns in doubt." in text
    assert "- (2) marks in doubt." in text
    assert "- (3) Big: base or large cannot be decided." in text
    assert "are too narrow" in text
    assert "Notes on this study" not in text
    sure = comparison_to_markdown(compare(*five, models={"ours": "Big"}, language="hi"), [])
    assert "3 of 5 |  |\n" in sure
    assert "Doubts about models" not in sure


def test_what_our_own_cells_lack_is_no_doubt_about_the_papers() -> None:
    published = paper(printed("GR1", 0.5, doubts="columns", doubt="columns in doubt"), printed("GR2", 0.5))
    seat = study(
        measured("GR1", None, lost=losses("not computed: one word left")),
        measured("GR2", 0.4, ci_low=None, ci_high=None, interval_note="fewer than 8 words"),
    )
    text = comparison_to_markdown(compare({"seat": seat}, published, models={"ours": "Big"}, language="hi"), [])
    assert "| doubt | note |\n" in text
    assert "| – | – | – | – | – |  | (1) | n1 |\n" in text
    assert "| – | – |  |  | n2 |\n" in text
    assert text.endswith(
        "## Doubts about published cells\n\n- (1) columns in doubt.\n\n"
        "## Notes on this study\n\n- n1 one word left.\n- n2 fewer than 8 words.\n"
    )


def test_doubts_about_models_are_those_of_the_method() -> None:
    models = [
        PublishedModel("Big", "Big", ("ceat",), "base or large cannot be decided"),
        PublishedModel("Big", "Big", ("seat",), "which layer is not said"),
        PublishedModel("Big", "Big", (), "no source"),
    ]
    assert doubt_of(models, "Big", "ceat") == "base or large cannot be decided; no source"
    assert doubt_of(models, "Big", "seat") == "which layer is not said; no source"
    assert doubt_of(models, "Small", "seat") is None
    published, seat = paper(printed("GR1", 0.5)), study(measured("GR1", 0.4))
    found = compare({"seat": seat}, published, models={"ours": "Big"}, language="hi", about=models)
    assert found.rows["model_doubt"].to_list() == ["which layer is not said; no source"]
    assert "- (1) Big: which layer is not said; no source.\n" in comparison_to_markdown(found, models)


def test_rows_come_back_from_csv_as_they_were(five: tuple[dict[str, pl.DataFrame], pl.DataFrame]) -> None:
    comparison = compare(*five, models={"ours": "Big"}, language="hi")
    for rows in (comparison.rows, comparison.rows.clear(), comparison.rows.with_columns(segment_length=pl.lit("9"))):
        text = comparison_to_csv(Comparison("sahoo2024", rows, comparison.summary, ""))
        assert comparison_rows(pl.read_csv(io.StringIO(text), infer_schema_length=None)).equals(rows)
    with pytest.raises(InputError, match="no column doubt, note; it has paper, "):
        comparison_rows(comparison.rows.drop("doubt", "note"))


def test_the_summary_of_no_rows_is_empty() -> None:
    assert summarize(pl.DataFrame(schema=dict(COMPARISON_SCHEMA))).is_empty()
