"""The papers' tables on the page: every cell that of the CSV, marks explained, and what is not there said."""

from __future__ import annotations

import csv
import io
from typing import Any

import polars as pl
import pytest
from loss_columns import losses
from page_parts import cells_of, lines_of
from planted_pairs import planted_scores

from prasanga.base.errors import InputError
from prasanga.config import complete
from prasanga.likelihoods.bias import bias_percentage
from prasanga.report.paper_tables import PAIR_TABLE, layouts_of, paper_table, render_layout
from prasanga.report.section import Section, section_to_html
from prasanga.report.sections.papers import paper_tables
from prasanga.report.sheet import MINUS, MISSING, marked_text
from prasanga.report.study import Results

LONG = "a-model-with-a-very-long-name" * 8
HOSTILE = "<script>alert(1)</script> & 'x'"
CONFIG: dict[str, Any] = {"preset": "recommended", "language": "hi"}


def estimate(category: str, model: str, effect: float | None, **changes: Any) -> dict[str, Any]:
    return {
        "category": category, "category_title": HOSTILE, "target_x": "male_names", "target_y": "female_names",
        "attribute_a": "career", "attribute_b": "family", "model": model, "effect_size": effect, "p_stimuli": 0.004,
        "p_association_holm": 0.03, "p_draws": 0.2,
        "lost": losses("" if effect is not None else f"not computed: {HOSTILE}"),
        "std": "union_ddof1", "alternative": "two-sided",
    } | changes  # fmt: skip


def table(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    ceat = [
        estimate(
            category,
            model,
            effect + 0.1 * step,
            segment_length=length,
            sample_mode=mode,
            n_samples=5000,
            p_draws=0.001 if step else 0.3,
        )
        for category, effect in (("C1", 0.53), ("C4", -0.31))
        for model in (LONG, HOSTILE)
        for step, length in enumerate(("9", ">75"))
        for mode in ("fixed", "random")
    ]
    ceat += [
        estimate("C2", LONG, bad, segment_length="9", sample_mode=mode, n_samples=5000)
        for bad, mode in ((float("nan"), "fixed"), (float("inf"), "random"))
    ]
    names = ("C1", "GR1", "GC1", "GA1")
    seat = [estimate(name, model, -0.9 + i / 3) for name in names for i, model in enumerate((LONG, "b"))]
    weat = [estimate("C1", "glove", 1.2, p_association_holm=0.2), estimate("C4", "glove", None)]
    masked = [estimate("C1", "b", 0.0004)]
    return {"ceat": table(*ceat), "seat": table(*seat), "weat": table(*weat), "log_probability_bias": table(*masked)}


@pytest.fixture(scope="module")
def pairs() -> pl.DataFrame:
    scores = [planted_scores("bert", "hi", 0.9), planted_scores(HOSTILE, "hi", 0.4, left_out=range(30))]
    return bias_percentage(pl.concat([*scores, planted_scores("bert", "en", 0.5)]), n_resamples=0)


def section_of(
    tables: dict[str, pl.DataFrame], pairs: pl.DataFrame | None, preset: str = "recommended", **more: Any
) -> Section | None:
    named = {name.removesuffix("_bias"): table for name, table in tables.items()}
    return paper_tables(CONFIG | {"preset": preset}, Results(**named, bias_percentages=pairs, **more))


def made(preset: str, tables: dict[str, pl.DataFrame], pairs: pl.DataFrame | None) -> list[Section]:
    found = section_of(tables, pairs, preset)
    assert found is not None
    return list(found.parts)


def as_in_csv(part: Section) -> list[list[str]]:
    return [list(map(marked_text, row.cells)) for row in part.sheets[0].rows]


@pytest.mark.parametrize("preset", ["recommended", "paper"])
def test_every_cell_is_that_of_the_csv(preset: str, tables: dict[str, pl.DataFrame], pairs: pl.DataFrame) -> None:
    section = made(preset, tables, pairs)
    names = ["sadhu_table4", "sadhu_table5", "sahoo_table3", "sahoo_table4", "sahoo_table9", "sahoo_table2"]
    assert [part.id for part in section] == names
    for part in section:
        (sheet,) = part.sheets
        if part.id == "sahoo_table2":
            layout = paper_table(PAIR_TABLE, {"pairs": pairs}, preset=preset).written()
        else:
            layout = paper_table(part.id, tables, preset=preset, language="hi").written()
        head, *lines = list(csv.reader(io.StringIO(layout.csv)))
        n_labels = len(sheet.heads)
        # a phone has no room for a column of dashes
        shown = [n for n in range(n_labels, len(head) - 1) if any(line[n] not in ("", MISSING) for line in lines)]
        assert [[line[n] for n in shown] for line in lines] == as_in_csv(part)
        assert [" ".join(filter(None, column)) for column in sheet.columns] == [head[n] for n in shown]
        left = len(head) - 1 - n_labels - len(shown)
        assert any("without a number in this study" in note for note in part.notes) == (left > 0)
        if part.id != "sahoo_table2":
            assert [line[:n_labels] for line in lines] == [list(row.labels) for row in sheet.rows]
        assert any("*" in cell for line in as_in_csv(part) for cell in line) or part.id == "sahoo_table2"


def test_the_html_has_the_same_cells_and_nothing_unescaped(
    tables: dict[str, pl.DataFrame], pairs: pl.DataFrame
) -> None:
    section = section_of(tables, pairs)
    assert section is not None
    html = section_to_html(section)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    bodies = html.split("<tbody>")[1:]
    for part, body in zip(section.parts, bodies, strict=True):
        expected = [
            [*line[: len(row.labels)], *(text.replace("-", MINUS) for text in map(marked_text, row.cells))]
            for line, row in zip(lines_of(part.sheets[0]), part.sheets[0].rows, strict=True)
        ]
        assert cells_of(body.split("</tbody>")[0]) == expected
    # only the comparison of methods is open
    assert html.count(" open>") == 1
    assert '<details id="sadhu_table4" open>' in html
    # for the eye a line, for the ear an asterisk
    assert f'<u>{MINUS}0.900</u><span class="unseen">*</span>' in html
    assert 'class="number bold' in html


def test_marks_and_gaps_are_explained(tables: dict[str, pl.DataFrame], pairs: pl.DataFrame) -> None:
    by_name = {part.id: part for part in made("paper", tables, pairs)}
    assert any("not significant, p_draws of at least .005" in note for note in by_name["sadhu_table5"].notes)
    assert any(note.startswith("Underlined (in CSV *)") for note in by_name["sahoo_table3"].notes)
    assert any("the estimate is not a finite number (nan)" in note for note in by_name["sadhu_table5"].notes)
    assert any("the estimate is not a finite number (inf)" in note for note in by_name["sadhu_table5"].notes)
    assert any("Each percentage is the mean over 5 random samples" in note for note in by_name["sahoo_table2"].notes)
    assert by_name["sahoo_table2"].sheets[0].rows[0].labels == ("Gender",)
    rows = by_name["sadhu_table5"].sheets[0].rows
    (c2,) = [row.cells for row in rows if row.labels[0] == "C2" and row.labels[-1] == "fixed"]
    assert {cell.text for cell in c2} == {MISSING}


def test_files_are_linked_where_they_lie(tables: dict[str, pl.DataFrame]) -> None:
    files = ["tables/sahoo_table3.tex", "tables/sahoo_table3.csv", "tables/ceat.md"]
    section = section_of(tables, None, files=files)
    assert section is not None
    links = {part.id: part.files for part in section.parts}
    assert links["sahoo_table3"] == [("tables/sahoo_table3.csv", "CSV"), ("tables/sahoo_table3.tex", "LaTeX")]
    assert links["sahoo_table4"] == []


def test_where_the_papers_numbers_stand_is_said(tables: dict[str, pl.DataFrame]) -> None:
    section = section_of(tables, None)
    assert section is not None
    assert "The papers' own numbers" not in section.text[0]
    compared = paper_tables(CONFIG | {"comparison": {"paper": "sahoo2024"}}, Results(seat=tables["seat"]))
    assert compared is not None
    assert 'stand under <a href="#beside-paper">' in compared.text[0]


def test_what_is_not_there_has_no_table(tables: dict[str, pl.DataFrame], pairs: pl.DataFrame) -> None:
    def names(**found: pl.DataFrame) -> list[str]:
        section = section_of(found, None)
        return [] if section is None else [part.id for part in section.parts]

    assert names(weat=tables["weat"]) == ["sadhu_table4"]
    assert names(seat=tables["seat"]) == ["sadhu_table4", "sahoo_table3", "sahoo_table4", "sahoo_table9"]
    # CEAT alone is no comparison of methods
    assert names(ceat=tables["ceat"]) == ["sadhu_table5"]
    assert names(ceat=tables["ceat"].with_columns(n_samples=1000)) == ["sadhu_table6"]
    first = tables["ceat"].with_columns(effect_size=pl.lit(0.125), n_samples=pl.lit(1000, pl.Int64))
    several = {"ceat": pl.concat([tables["ceat"], first])}
    assert names(**several) == ["sadhu_table5", "sadhu_table6"]
    assert render_layout("sadhu_table5", several) == render_layout("sadhu_table5", tables)
    assert render_layout("sadhu_table6", several) == render_layout("sadhu_table6", {"ceat": first})
    # no rows, and other tests, are as good as no table
    assert names(seat=tables["seat"].clear(), ceat=tables["ceat"].with_columns(category=pl.lit("X1"))) == []
    assert [part.id for part in made("recommended", {}, pairs)] == ["sahoo_table2"]
    assert section_of({}, pairs.clear()) is None


def test_the_tables_are_those_whose_files_a_study_writes(tables: dict[str, pl.DataFrame], pairs: pl.DataFrame) -> None:
    study = {
        "language": "hi",
        "categories": ["C1", "C2", "C4"],
        "associations": {"n_samples": 5000},
        "seat": {"categories": ["C1", "GR1", "GC1", "GA1"]},
        "static": {"vectors": {"glove": {"path": "glove.txt"}}},
        "log_probability": {"categories": ["C1"]},
    }
    assert [*layouts_of(complete(study)), "sahoo_table2"] == [part.id for part in made("paper", tables, pairs)]


def test_a_table_without_a_column_is_refused(tables: dict[str, pl.DataFrame]) -> None:
    with pytest.raises(InputError, match="SEAT: the table has no column category"):
        section_of({"seat": tables["seat"].drop("category")}, None)
