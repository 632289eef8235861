"""The layouts: order, signs, marks, escapes, and what is missing with its reason."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from loss_columns import losses

from prasanga.base.errors import InputError
from prasanga.report.ceat_table import to_csv, to_latex, to_markdown
from prasanga.report.grid import grid_of, sort_lengths, why_missing
from prasanga.report.sheet import Cell, Row, Sheet, from_log, plain, probability, sheets_to_latex, signed, split_wide


def test_grid_is_in_reading_order(small: pl.DataFrame) -> None:
    grid = grid_of(small)
    assert [category.name for category in grid.categories] == ["C1", "C4", "C10"]
    assert grid.lengths == ("9", ">75")
    assert grid.modes == ("fixed", "random")
    assert grid.models == ("wide_1", "narrow")
    assert grid.categories[1].targets == "male/female names"
    assert grid.categories[0].targets == "flowers/insects"


def test_lengths_are_sorted_as_numbers() -> None:
    assert sort_lengths([">75", "100", "9", "75", "25", "9"]) == ["9", "25", "75", ">75", "100"]


def test_tables_that_cannot_be_used_say_why(small: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="no column lost"):
        grid_of(small.drop("lost"))
    with pytest.raises(InputError, match="no rows"):
        grid_of(small.clear())
    with pytest.raises(InputError, match="two rows for C10, wide_1, >75, random"):
        grid_of(pl.concat([small, small.head(1)]))


def test_why_missing() -> None:
    assert why_missing({"effect_size": 0.1, "lost": losses("x: no contexts")}) == ""
    assert why_missing(None) == "not in the table"
    assert why_missing({"effect_size": None, "lost": losses("x: no contexts; not computed: too few")}) == "too few"
    assert why_missing({"effect_size": math.inf, "lost": []}) == "the estimate is not a finite number (inf)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1234, "+0.123"), (-1.0, "-1.000"), (-0.0004, "0.000"), (0.0, "0.000"), (None, "–"), (math.nan, "–")],
)
def test_signed(value: float | None, text: str) -> None:
    assert signed(value) == text


@pytest.mark.parametrize(
    ("p", "text"), [(0.032, ".032"), (0.0009, "< .001"), (0.001, ".001"), (0.9999, "1"), (1, "1"), (None, "–")]
)
def test_probability(p: float | None, text: str) -> None:
    assert probability(p) == text


def test_small_numbers_do_not_vanish() -> None:
    assert plain(0.00012, 3) == "1.2e−04"
    assert plain(0.0) == "0"
    assert plain(30) == "30"
    assert from_log(-1000.0) == "< 1e−434"
    assert from_log(math.log(0.02)) == ".020"


FEW = {"n_x": 2, "listed_x": 14, "n_y": 3, "listed_y": 14}


def test_counts_of_few_words_stand_behind_the_number_everywhere(table: Callable[..., pl.DataFrame]) -> None:
    ceat = table(("C1", "a", "9", "fixed", 1.65, {**FEW, "p_association": 0.0001}), ("C4", "a", "9", "fixed", 0.5))
    assert [line.split(",")[4] for line in to_csv(ceat).splitlines()[1:]] == ["+1.650* (2/14 v 3/14)", "+0.500"]
    markdown, latex = to_markdown(ceat), to_latex(ceat)
    assert "+1.650\\* (2/14 v 3/14)" in markdown or "+1.650* (2/14 v 3/14)" in markdown
    assert r"\shortstack[r]{$+1.65^{*}\;[+1.11, +2.19]$ \\ {\scriptsize 2/14 v 3/14}}" in latex
    assert all(text.count("fewer than 8 in a set, or more than a third") == 1 for text in (markdown, latex))
    enough = ceat.filter(pl.col("category") == "C4")
    assert not [text for text in (to_markdown(enough), to_latex(enough)) if "Few words" in text]


def test_latex_has_room_for_counts_of_words() -> None:
    cells = (Cell("+1.650", words="attributes 2/14 v 3/14"), Cell("+0.100"))
    sheet = Sheet(("Category",), (("a", "9"), ("a", "25")), tuple(Row((f"C{n}",), cells) for n in range(30)))
    plain_sheet = replace(sheet, rows=tuple(Row(row.labels, (Cell("+1.650"), Cell("+0.100"))) for row in sheet.rows))
    pages = [
        sheets_to_latex([each], [], caption="", label="x").count(r"\begin{table*}") for each in (sheet, plain_sheet)
    ]
    assert pages == [2, 1]  # thirty rows of two lines leave no room for notes
    assert [len(split_wide(wide(each), 10)) for each in (sheet, plain_sheet)] == [2, 1]


def wide(sheet: Sheet) -> Sheet:
    """The columns of a table four times side by side."""
    rows = tuple(replace(row, cells=row.cells * 4) for row in sheet.rows)
    return replace(sheet, columns=sheet.columns * 4, rows=rows)


def test_csv_has_the_papers_layout(small: pl.DataFrame) -> None:
    lines = list(csv.reader(io.StringIO(to_csv(small))))
    assert lines[0] == [
        "category", "targets", "attributes", "sample_mode", "wide_1 9", "wide_1 >75", "narrow 9", "narrow >75", "note",
    ]  # fmt: skip
    assert lines[1] == [
        "C1", "flowers/insects", "pleasant/unpleasant", "fixed", "+0.900*", "+1.000*", "-0.450", "-0.350", "",
    ]  # fmt: skip
    assert [line[0] for line in lines[1:]] == ["C1", "C1", "C4", "C4", "C10", "C10"]
    assert lines[5][6:] == ["–", "+0.250", "narrow 9: weapons has 1 of 4 stimuli left, and a target set needs 2"]


def test_markdown(small: pl.DataFrame) -> None:
    text = to_markdown(small)
    assert text.startswith(
        "| Category | draws | wide\\_1 9 | wide\\_1 >75 | narrow 9 | narrow >75 |\n| --- | --- | ---: |"
    )
    assert "| C4: Male/Female names | fixed | +0.100 | +0.200 | -0.050 | +0.050 |\n| (Career/Family) | random |" in text
    assert "- – C10, fixed: narrow 9: weapons has 1 of 4 stimuli left, and a target set needs 2." in text
    assert "\\* p\\_association\\_holm \\< .05" in text


def test_models_that_do_not_fit_side_by_side_go_below(small: pl.DataFrame) -> None:
    four = pl.concat([small, small.with_columns(model=pl.col("model") + "_b")])
    assert to_markdown(four).count("| Category |") == 2


def test_latex_has_what_a_paper_reports_a_row_a_category_and_model(small: pl.DataFrame) -> None:
    text = to_latex(small)
    assert r"Category & Model & \multicolumn{4}{c}{9 words} \\" in text
    assert r" &  & d [95 \% interval] & p (Holm) & from twins & words \\" in text
    assert (
        r"C1: Flowers/Insects & wide\_1 & $+0.90^{*}\;[+0.36, +1.44]$ & $.040$ & $+0.79^{\dagger}$ & $16/16; 16/16$ \\"
        in text
    )
    assert (
        r"(Pleasant/Unpleasant) & narrow & $-0.45\;[-0.99, +0.09]$ & $1$ & $-0.56^{\dagger}$ & $16/16; 16/16$ \\"
        in text
    )
    assert r"(Pleasant/Unpleasant) & narrow & -- & -- & -- & -- \\" in text
    # 3 categories, 2 models, 2 lengths, of the first mode alone
    assert len(re.findall(r" & (?:wide\\_1|narrow) & ", text)) == 12
    assert "Contexts by fixed draws; the CSV file of this table has the others." in text
    assert "Intervals are over words and contexts (bca); a set of fewer than 8 words has none." in text
    assert "d minus the mean of twins with random weights (8 of a model)" in text
    assert "-- C10, narrow, 9: weapons has 1 of 4 stimuli left" in text
    assert "গোলাপ" not in text


def test_many_rows_go_on_further_pages_each_with_its_head(small: pl.DataFrame) -> None:
    many = pl.concat([small.with_columns(model=pl.col("model") + f"_{number}") for number in range(9)])
    text = to_latex(many)
    tables = re.findall(r"\\begin\{tabular\}.*?\\end\{tabular\}", text, flags=re.DOTALL)
    assert [table.count(" words} ") for table in tables] == [1] * 6
    assert text.count(r"\begin{table*}") == text.count(r"\caption{CEAT") == 6


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_tables_lie_within_a_page_in_two_columns(small: pl.DataFrame, tmp_path: Path) -> None:
    """Of 11 points, A4, as the ACL's; of models whose names are long, and as many lengths as a study has."""
    names = {"wide_1": "banglabert_large_generator", "narrow": "xlm_roberta_large_multilingual"}
    lengths = [small.with_columns(segment_length=pl.lit(length)) for length in ("25", "75")]
    long = pl.concat([small, *(each.unique(["category", "model", "sample_mode"]) for each in lengths)])
    tex = to_latex(long.with_columns(model=pl.col("model").replace(names)))
    head = r"\documentclass[11pt,twocolumn,a4paper]{article}\usepackage{booktabs}"
    page = r"\usepackage[textwidth=16cm,textheight=24.7cm]{geometry}"
    (tmp_path / "t.tex").write_text(f"{head}{page}\\begin{{document}}{tex}\\end{{document}}", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "t.tex"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False).stdout
    assert "Output written on" in said, said[-2000:]
    assert not re.findall(r"Overfull .*|Float too large .*|^! .*", said, flags=re.MULTILINE)


def test_latex_escapes_what_latex_would_read(table: Callable[..., pl.DataFrame]) -> None:
    text = to_latex(table(("C1", r"a_b%c&d#e\f{g}$~^", "9", "fixed", 0.5)))
    assert r"a\_b\%c\&d\#e\textbackslash{}f\{g\}\$\textasciitilde{}\textasciicircum{}" in text
    assert r"\shortstack[l]{C1: Flowers/Insects \\ (Pleasant/Unpleasant)}" in text


def test_a_cell_that_the_table_does_not_have_is_a_dash_with_its_reason(table: Callable[..., pl.DataFrame]) -> None:
    ceat = table(("C1", "a", "9", "fixed", 0.5), ("C1", "b", "25", "fixed", 1.0))
    lines = list(csv.reader(io.StringIO(to_csv(ceat))))
    assert lines[1][4:] == ["+0.500", "–", "–", "+1.000", "a 25, b 9: not in the table"]
