"""Which layouts of the papers' tables come out of a study, their marks and choices; `golden/` has the tables."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from report_pages import CONFIG
from report_tables import SCHEMA, estimate

from prasanga.base.errors import InputError
from prasanga.report.paper_tables import (
    SAHOO,
    layouts_of,
    paper_table,
    render_ceat,
    render_languages,
    render_layout,
    with_fewer_draws,
)

STATIC: dict[str, Any] = {"vectors": {}, "categories": None}


def config(**changes: dict[str, Any]) -> dict[str, Any]:
    empty = {"categories": [], "seat": {"categories": []}, "log_probability": {"categories": []}}
    return {
        **CONFIG,
        **empty,
        "static": {"vectors": {}, "categories": None},
        "associations": {"n_samples": 5000},
    } | changes


@pytest.mark.parametrize(
    ("changes", "layouts"),
    [
        ({}, []),
        ({"categories": ["C1"]}, ["sadhu_table5"]),
        ({"categories": ["C1"], "associations": {"n_samples": 1000}}, ["sadhu_table6"]),
        ({"categories": ["C1"], "associations": {"n_samples": [1000, 5000]}}, ["sadhu_table5", "sadhu_table6"]),
        ({"categories": ["X1"], "seat": {"categories": ["GR1"]}}, ["sahoo_table3"]),
        ({"seat": {"categories": ["C2", "GC1", "GA1"]}}, ["sadhu_table4", "sahoo_table4", "sahoo_table9"]),
        (
            {"categories": ["C9"], "static": {"vectors": {"w": {}}, "categories": None}},
            ["sadhu_table4", "sadhu_table5"],
        ),
        ({"log_probability": {"categories": ["C3"]}}, ["sadhu_table4"]),
    ],
)
def test_which_layouts_come_out(changes: dict[str, Any], layouts: list[str]) -> None:
    assert layouts_of(config(**changes)) == layouts


@pytest.fixture
def ceat() -> pl.DataFrame:
    rows = [
        estimate("C1", model, length, mode, effect)
        for model, effect in (("b", 0.5), ("a", -0.25))
        for length in ("25", "9")
        for mode in ("random", "fixed")
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


@pytest.fixture
def seat() -> pl.DataFrame:
    rows = [
        estimate("C1", "a", "", "", 0.9, p_association_holm=0.04, p_stimuli=0.04) | {"category": "GR1"},
        estimate("C1", "a", "", "", -0.1, p_association_holm=0.2, p_stimuli=0.004) | {"category": "GR2"},
    ]
    return pl.DataFrame(rows, schema=SCHEMA).drop("segment_length", "sample_mode")


def test_models_keep_their_order_and_lengths_and_modes_are_sorted(ceat: pl.DataFrame) -> None:
    sheet = paper_table("sadhu_table5", {"ceat": ceat}).sheet
    assert sheet.columns == (("b", "9"), ("b", "25"), ("a", "9"), ("a", "25"))
    assert [row.labels[3] for row in sheet.rows] == ["fixed", "random"]
    latex = render_ceat(ceat).tex
    assert latex.count("C1 & b & ") == 2
    assert "Contexts by fixed draws" in latex


def test_table_4_shows_the_shortest_length_and_what_was_not_measured(ceat: pl.DataFrame) -> None:
    table = paper_table("sadhu_table4", {"ceat": ceat})
    assert [name for _, name in table.sheet.columns] == ["WEAT", "SEAT", "b", "a", "Log-probability bias"]
    assert "– WEAT: not measured in this study." in table.notes
    assert any(note.startswith("CEAT: segments of 9 words, fixed draws") for note in table.notes)


def test_marks_follow_the_preset(seat: pl.DataFrame) -> None:
    cells = {preset: [row.cells[0] for row in paper_table("sahoo_table3", {"seat": seat}, preset=preset).sheet.rows]
             for preset in ("recommended", "paper")}  # fmt: skip
    assert [(cell.mark, cell.bold) for cell in cells["recommended"]] == [("*", True), ("", False)]
    assert [cell.mark for cell in cells["paper"]] == ["", "*"]


def test_languages_side_by_side(seat: pl.DataFrame) -> None:
    other = seat.with_columns(model=pl.lit("z"), p_stimuli=0.5, std=pl.lit("pooled"))
    text = render_languages("sahoo_table3", {"en": {"seat": seat}, "hi": {"seat": other}}).csv
    assert text.splitlines()[0] == "category,targets,attributes,English a,Hindi z,note"


def test_effects_of_the_first_draws_are_rows_of_their_own(ceat: pl.DataFrame) -> None:
    one = ceat.filter(model="a", segment_length="9", sample_mode="fixed").with_columns(n_samples=5000)
    key = one.select("category", "model", "segment_length", "sample_mode")
    first = key.with_columns(n=pl.lit(1000), effect_size=pl.lit(-0.3), standard_error=pl.lit(0.1))
    both = with_fewer_draws(one, first, [5000, 1000])
    assert both["n_samples"].to_list() == [5000, 1000]
    assert both["effect_size"].to_list() == [-0.25, -0.3]
    assert both["ci_low"].to_list() == pytest.approx([-0.79, -0.84])
    assert both["p_draws"][1] == pytest.approx(0.0026997960632601866)
    assert both["tau2"].to_list() == [0.0, None]
    assert both["p_stimuli"].to_list() == [0.15, 0.15]
    assert paper_table("sadhu_table6", {"ceat": both}).sheet.rows[0].cells[0].text == "−0.300"
    assert paper_table("sadhu_table5", {"ceat": both}).sheet.rows[0].cells[0].text == "−0.250"
    assert with_fewer_draws(one, first, 5000).equals(one)


@pytest.mark.parametrize(
    ("name", "method", "message"),
    [
        ("sadhu_table7", "ceat", "there is no layout 'sadhu_table7'"),
        ("sahoo_table3", "ceat", "made of SEAT of GR1 to GR14, which this study does not have"),
        ("sahoo_table2", "ceat", "made of Sentence pairs, which"),
    ],
)
def test_tables_that_cannot_be_made(ceat: pl.DataFrame, name: str, method: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        render_layout(name, {method: ceat})


def test_two_rows_for_a_cell_are_refused(ceat: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="two rows for the same category"):
        render_layout("sadhu_table5", {"ceat": pl.concat([ceat, ceat.head(1)])})


def test_tests_of_the_tables() -> None:
    assert [(name, len(tests)) for name, tests in SAHOO.items()] == [
        ("sahoo_table3", 14),
        ("sahoo_table4", 6),
        ("sahoo_table9", 6),
    ]
