"""Which layouts of the papers' tables come out of a study, their marks and choices; `golden/` has the tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from report_pages import CONFIG
from report_tables import SCHEMA, arrange_ceat, estimate
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.report.comparison import read_published
from prasanga.report.paper_tables import layouts_of, paper_table, render_layout, with_fewer_draws

STATIC: dict[str, Any] = {"vectors": {}, "categories": None}


def config(**changes: dict[str, Any]) -> dict[str, Any]:
    empty = {"categories": [], "seat": {"categories": []}, "log_probability": {"categories": []}}
    return {
        **CONFIG,
        **empty,
        "static": {"vectors": {}, "categories": None},
        "associations": {"n_samples": 5000},
    } | changes


@pytest.mark.parametrize(("changes", "layouts"), read_cases(__file__, "layouts"))
def test_which_layouts_come_out(changes: dict[str, Any], layouts: list[str]) -> None:
    assert layouts_of(config(**changes)) == layouts


@pytest.fixture
def ceat() -> pl.DataFrame:
    rows = [
        estimate("C1", model, length, mode, effect + (mode == "random") / 100)
        for model, effect in (("b", 0.5), ("a", -0.25))
        for length in ("25", "9")
        for mode in ("random", "fixed")
    ]
    return arrange_ceat(pl.DataFrame(rows, schema=SCHEMA))


@pytest.fixture
def seat() -> pl.DataFrame:
    rows = [
        estimate("C1", "a", "", "", 0.9, p_association_holm=0.04, p_stimuli=0.04) | {"category": "GR1"},
        estimate("C1", "a", "", "", -0.1, p_association_holm=0.2, p_stimuli=0.004) | {"category": "GR2"},
    ]
    return pl.DataFrame(rows, schema=SCHEMA).drop("segment_length", "sample_mode")


@pytest.fixture(scope="module")
def table_5(project_root: Path) -> pl.DataFrame:
    """Table 5 of Sadhu et al. as the results of a study, with a p on the side of .005 that its marks say."""
    printed = read_published(project_root / "resources/published", "sadhu2024").filter(table="5")
    key = ("model", "segment_length", "sample_mode", "effect_size")
    return arrange_ceat(
        pl.DataFrame(
            [
                estimate("C1", *(row[name] for name in key), p_draws=0.004 if row["significant"] else 0.006)
                | {"category": row["category"]}
                for row in printed.iter_rows(named=True)
            ],
            schema=SCHEMA,
        )
    )


def test_tables_2_and_5_have_the_grays_and_marks_of_the_paper(table_5: pl.DataFrame) -> None:
    """The discriminator's C1 to C3, MuRIL's C9 and the number of cells with an asterisk are read in the paper."""
    table = paper_table("sadhu_table5", {"ceat": table_5}, preset="paper")
    rows = {row.labels[0]: row.cells[4:8] for row in table.sheet.rows if row.labels[3] == "random"}
    said = {name: [(cell.text, cell.shade, cell.mark) for cell in rows[name]] for name in ("C1", "C2", "C3")}
    assert said["C1"] == [("+0.55", "gray-2", ""), *((d, "gray-1", "") for d in ("+0.47", "+0.46", "+0.45"))]
    assert said["C2"][:2] == [("−0.27", "gray-1", ""), ("−0.18", "", "")]
    assert said["C3"] == [("0.00", "", "*"), ("+0.01", "", "*"), ("+0.02", "", ""), ("+0.02", "", "")]
    assert next(iter(table.sheet.rows)).cells[0].shade == "gray-3"
    assert r"\cellcolor[gray]{0.68}\begin{tabular}[t]{@{}r@{}}+1.23\\{\tiny [" in table.render().tex
    sheet = paper_table("sadhu_table2", {"ceat": table_5}, preset="paper").sheet
    assert sheet.columns[:3] == (("C1", "fixed"), ("C1", "random"), ("C2", "fixed"))
    (muril,) = (row for row in sheet.rows if row.labels == ("muril_large_cased", "9"))
    assert [(cell.text, cell.shade) for cell in muril.cells[-2:]] == [("−0.01", "gray-2"), ("−0.02", "")]
    assert sum(cell.shade != "" for row in sheet.rows for cell in row.cells) == 13


def test_models_keep_their_order_and_lengths_and_modes_are_sorted(ceat: pl.DataFrame) -> None:
    lengths = {"recommended": ("mean", "9", "25"), "paper": ("9", "25")}
    for preset, columns in lengths.items():
        sheet = paper_table("sadhu_table5", {"ceat": ceat}, preset=preset).sheet
        assert sheet.columns == tuple((model, length) for model in "ba" for length in columns)
        assert [row.labels[3] for row in sheet.rows] == ["fixed", "random"]
        assert [row.cells[-1].text for row in sheet.rows] == ["−0.25", "−0.24"]
    with pytest.raises(InputError, match="two rows for one category, model, segment_length"):
        render_layout("ceat", {"ceat": pl.concat([ceat, ceat.with_columns(pl.col("effect_size") + 1)])})


def test_ceat_has_a_line_per_category_with_its_p_and_its_words_and_lengths_as_columns(ceat: pl.DataFrame) -> None:
    sheet = paper_table("ceat", {"ceat": ceat.with_columns(n_x=pl.when(segment_length="9").then(7).otherwise(8))}).sheet
    columns = ("mean", "p (Holm)", "d − copies", "9", "25")
    assert sheet.columns == tuple((model, name) for model in "ba" for name in columns)
    (row,) = sheet.rows
    assert row.labels == ("C1", "flowers/insects", "pleasant/unpleasant", "7–8/8, 8/8")
    assert [cell.text for cell in row.cells[5:]] == ["−0.25", ".800", "−0.36", "−0.25", "−0.25"]
    assert row.cells[5].interval == "[−0.79, 0.29]"


def test_table_4_shows_primary_estimates_or_the_shortest_length_and_what_was_not_measured(ceat: pl.DataFrame) -> None:
    table = paper_table("sadhu_table4", {"ceat": ceat})
    of_paper = paper_table("sadhu_table4", {"ceat": ceat}, preset="paper")
    assert [name for _, name in table.sheet.columns] == ["b", "a"]
    assert "– WEAT: not measured in this study." in table.notes
    assert any(note.startswith("CEAT: mean over lengths, fixed draws") for note in table.notes)
    assert any(note.startswith("CEAT: 9 words, fixed draws") for note in of_paper.notes)


def test_table_4_is_one_table_of_all_methods_as_printed(project_root: Path) -> None:
    """C1, C4 and C9, read in the paper; the mark of CEAT is of draws, of WEAT and SEAT of words."""
    printed = read_published(project_root / "resources/published", "sadhu2024").filter(table="4")
    tables = {}
    for (method,), rows in printed.group_by("method", maintain_order=True):
        length = "9" if method == "ceat" else ""
        listed = [
            estimate("C1", row["model"], length, "fixed", row["effect_size"])
            | {"category": row["category"]}
            | dict.fromkeys(("p_draws", "p_stimuli", "p_sentences"), 0.01 if row["significant"] else 0.5)
            for row in rows.iter_rows(named=True)
        ]
        tables[method] = pl.DataFrame(listed, schema={**SCHEMA, "p_sentences": pl.Float64})
    sheet = paper_table("sadhu_table4", tables, preset="paper").sheet
    methods = ("WEAT", "WEAT", "SEAT", "CEAT", "Log-probability bias")
    models = (
        "word2vec",
        "glove",
        *(f"banglabert_large_{kind}" for kind in ("discriminator", "generator", "generator")),
    )
    assert sheet.columns == tuple(zip(methods, models, strict=True))
    cells = {row.labels[0]: [cell.text + cell.mark for cell in row.cells] for row in sheet.rows}
    assert cells["C1"] == ["+1.77*", "+1.27*", "+0.89*", "+1.23*", "+0.89*"]
    assert cells["C4"] == ["+1.44*", "−0.18", "−0.58", "+0.64*", "+0.71*"]
    assert cells["C9"] == ["+0.23", "−1.03", "−1.13", "−0.59*", "+0.70*"]
    assert len(cells) == 9


def test_marks_follow_the_preset(seat: pl.DataFrame) -> None:
    cells = {preset: [row.cells[0] for row in paper_table("sahoo_table3", {"seat": seat}, preset=preset).sheet.rows]
             for preset in ("recommended", "paper")}  # fmt: skip
    assert [(cell.mark, cell.bold) for cell in cells["recommended"]] == [("*", True), ("", False)]
    assert [cell.mark for cell in cells["paper"]] == ["", "*"]


def test_languages_side_by_side(seat: pl.DataFrame) -> None:
    other = seat.with_columns(model=pl.lit("z"), p_stimuli=0.5, std=pl.lit("pooled"))
    both = pl.concat([part.with_columns(language=pl.lit(name)) for name, part in (("en", seat), ("hi", other))])
    table = paper_table("sahoo_table3", {"seat": both}, preset="paper")
    assert table.sheet.columns == (("English", "a"), ("Hindi", "z"))
    assert [cell.mark for row in table.sheet.rows for cell in row.cells] == ["", "", "*", ""]
    assert render_layout("sahoo_table3", {"seat": both}).csv.startswith(
        "category,targets,attributes,n,English a,Hindi z,note\nGR1,"
    )


def test_effects_of_the_first_draws_are_rows_of_their_own(ceat: pl.DataFrame) -> None:
    one = ceat.filter(model="a", segment_length="9").with_columns(n_samples=5000)
    random = {"effect_random": -0.2, "standard_error_random": 0.2}
    draws = {"n": 1000, "effect_size": -0.3, "standard_error": 0.1, **random}
    first = one.select("category", "model", "segment_length").with_columns(**draws)
    both = with_fewer_draws(one, first, [5000, 1000])
    assert both["n_samples"].to_list() == [5000, 1000]
    assert both["effect_size"].to_list() == [-0.25, -0.3]
    assert both["ci_low"].to_list() == pytest.approx([-0.79, -0.84])
    assert both["p_draws"][1] == pytest.approx(0.0026997960632601866)
    assert both.select("effect_random", "p_draws_random").row(1) == pytest.approx((-0.2, 0.31731050786291415))
    assert both["p_stimuli"].to_list() == [0.15, 0.15]
    for name, effects in (("sadhu_table6", ["−0.30", "−0.20"]), ("sadhu_table5", ["−0.25", "−0.24"])):
        assert [row.cells[-1].text for row in paper_table(name, {"ceat": both}).sheet.rows] == effects
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
