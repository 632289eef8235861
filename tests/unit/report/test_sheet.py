"""Tables of the registry's columns: numbers as text, CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from tables import read_cases

from prasanga.report.grid import Marking, why_missing
from prasanga.report.section import said
from prasanga.report.sheet import (
    Cell,
    Row,
    Sheet,
    escape_latex,
    plain,
    probability,
    sheet_to_csv,
    sheet_to_markdown,
    sheets_to_latex,
    show_table,
    show_value,
    split_columns,
    with_sign,
)
from prasanga.schema import COLUMNS, HEADINGS

ROWS: list[dict[str, Any]] = [
    {"category": "C1", "model": "a_b", "effect_size": -0.51234, "p_association": 0.0004, "n_x": 1200, "lost": []},
    {"category": "C2", "model": "ক", "effect_size": None, "p_association": None, "n_x": 3, "ci_low": None},
]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("effect_size", 0.51234, "+0.512"),
        ("effect_size", -0.0004, "0.000"),
        ("effect_size", float("nan"), "–"),
        ("effect_size", None, "–"),
        ("p_association", 0.0321, ".032"),
        ("p_association", 1.0, "1"),
        ("n_x", 1200, "1,200"),
        ("sure", True, "yes"),
        ("sure", None, "–"),
        ("tau2", 0.0, "0.0000"),
        ("model", "<b>", "<b>"),
        ("lost", [{"set": "x", "word": "মশা", "reason": "no_contexts", "detail": "no contexts"}], "মশা: no contexts"),
    ],
)
def test_a_value_is_shown_by_the_format_of_its_column(name: str, value: object, text: str) -> None:
    assert show_value(name, value) == text


def test_numbers_as_text() -> None:
    assert [with_sign(value, 2) for value in (-0.456, -0.001, None, float("inf"))] == ["−0.46", "0.00", "–", "–"]
    assert [plain(value) for value in (0.00004, 0.0, 7, 1.5)] == ["4.0e−05", "0.000", "7", "1.500"]
    assert [probability(value) for value in (0.0, 0.05, 0.99951)] == ["< .001", ".050", "1"]


def test_headings_have_all_languages_and_columns_of_the_registry() -> None:
    for name, heading in HEADINGS.items():
        assert all(heading[:3]), name
    others = HEADINGS.keys() - COLUMNS.keys()
    assert len(others) < 20, sorted(others)
    assert said("Effect size", "bn") == "প্রভাবের মাত্রা"


def test_columns_without_values_are_left_out_but_for_the_effect() -> None:
    sheet = show_table("method", ROWS, method="SEAT")
    assert sheet.caption == "SEAT: all numbers"
    assert [name for _, name in sheet.columns] == ["Model", "Effect size", "X", "p"]
    assert (sheet.kinds, list(sheet.hidden)) == ({"Category": "list", "Model": "list"}, ["p"])
    assert [cell.order for cell in sheet.rows[0].cells] == [None, "-0.51234", "1200", "0.0004"]
    assert sheet.rows[1].cells[1] == Cell("–", order="")
    empty = show_table("method", [], method="SEAT")
    assert ([name for _, name in empty.columns], empty.rows) == (["Effect size"], [])


@pytest.fixture
def sheet() -> Sheet:
    rows = [
        Row(("=C1", "a/b"), (Cell("−0.50", "*", bold=True), Cell("+1.00", words="2/14 v 3/14"), Cell())),
        Row(("C_2", "মশা, মা"), (Cell("+0.25", interval="[0.1, 0.4]"), Cell(), Cell("< .001")), "m 25: no words"),
    ]
    return Sheet(("Category", "Targets"), (("m", "9"), ("m", "25"), ("n", "9")), rows, "A table")


def test_csv_has_one_head_hyphens_and_why_cells_are_empty(sheet: Sheet) -> None:
    assert list(csv.reader(io.StringIO(sheet_to_csv(sheet)))) == [
        ["Category", "Targets", "m 9", "m 25", "n 9", "note"],
        ["'=C1", "a/b", "-0.50*", "+1.00 (2/14 v 3/14)", "–", ""],
        ["C_2", "মশা, মা", "+0.25", "–", "< .001", "m 25: no words"],
    ]


def test_markdown(sheet: Sheet) -> None:
    text = sheet_to_markdown(sheet, ["a | note"])
    assert "| Category | Targets | m 9 | m 25 | n 9 |\n| --- | --- | ---: | ---: | ---: |\n" in text
    assert "| =C1 | a/b | **−0.50\\*** | +1.00 (2/14 v 3/14) | – |\n" in text
    assert text.endswith("\n- a \\| note\n")


def test_latex_numbers_its_parts_as_one_table_and_is_ascii(sheet: Sheet) -> None:
    text = sheets_to_latex(split_columns(sheet, 2), ["50% of মশা"], caption="d & p", label="tab:x")
    assert text.isascii()
    assert (text.count(r"\begin{table*}"), text.count(r"\label{tab:x}"), text.count(r"\addtocounter")) == (2, 1, 1)
    assert r"\caption{d \& p}" in text
    assert r"& & \multicolumn{2}{c}{m} \\" in text.replace("& & &", "& &")
    assert r"=C1 & a/b & \textbf{$-$0.50}$^{*}$ & +1.00 {\tiny 2/14 v 3/14} \\" in text
    assert r"C\_2 & [2 words] & \begin{tabular}[t]{@{}r@{}}+0.25\\{\tiny [0.1, 0.4]}\end{tabular} & -- \\" in text
    assert text.count(r"50\% of [1 word]\par") == 1
    assert re.findall(r"\\(toprule|midrule|bottomrule)", text) == ["toprule", "midrule", "bottomrule"] * 2


def test_wide_tables_are_parted_between_groups(sheet: Sheet) -> None:
    assert [part.columns for part in split_columns(sheet, 2)] == [(("m", "9"), ("m", "25")), (("n", "9"),)]
    assert [part.columns for part in split_columns(sheet, 1)] == [(("m", "9"),), (("m", "25"),), (("n", "9"),)]
    assert split_columns(sheet, 3)[0].rows[0].cells == sheet.rows[0].cells


@pytest.mark.parametrize(("text", "latex"), read_cases(__file__, "latex"))
def test_latex_escapes(text: str, latex: str) -> None:
    assert escape_latex(text) == latex


def test_marks() -> None:
    below, above = Marking("p", 0.05), Marking("p", 0.005, above=True)
    assert [below.marks({"p": p}) for p in (0.05, 0.0501, None)] == [True, False, False]
    assert [above.marks({"p": p}) for p in (0.005, 0.0051, None)] == [False, True, False]


def test_why_missing() -> None:
    assert why_missing(None) == "not in the table"
    assert why_missing({"effect_size": 0.1, "lost": []}) == ""
    assert why_missing({"effect_size": float("nan"), "lost": []}) == "the estimate is not a finite number (nan)"
    assert why_missing({"effect_size": None, "lost": []}) == "not computed, and the table does not say why"
