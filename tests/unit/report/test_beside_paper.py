"""The study beside a paper on the page, and the figure of it: the numbers of the comparison, and what is doubtful."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.text import Text
from page_parts import cells_of, lines_of, names_of, numbers_of, part_of, plain, sheet_of

from prasanga.base.errors import InputError
from prasanga.report.comparison import (
    COMPARISON_SCHEMA,
    Comparison,
    comparison_to_csv,
    comparison_to_markdown,
    reason_in,
)
from prasanga.report.figures.agreement import plot_published
from prasanga.report.figures.canvas import WIDTHS
from prasanga.report.section import Section, section_to_html
from prasanga.report.sections.papers import beside_paper
from prasanga.report.study import Results

Width = Literal["column", "page"]
HOSTILE = "<script>alert(1)</script> $x_1$ " + "long" * 40


def row(method: str, category: str, published: float, measured: float | None, **changes: Any) -> dict[str, Any]:
    known = measured is not None and np.isfinite(measured)
    return dict.fromkeys(COMPARISON_SCHEMA) | {
        "paper": "sadhu2024", "table": "5", "method": method, "category": category, "language": "bn", "model": "ours",
        "published_model": "theirs", "published": published, "measured": measured,
        "difference": measured - published if measured is not None and known else None,
        "same_sign": measured * published > 0 if measured is not None and known else None,
        "ci_low": measured - 0.2 if measured is not None and known else None,
        "ci_high": measured + 0.2 if measured is not None and known else None,
        "published_inside": abs(measured - published) <= 0.2 if measured is not None and known else None,
    } | changes  # fmt: skip


def table(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict(COMPARISON_SCHEMA), orient="row")


@pytest.fixture
def rows() -> pl.DataFrame:
    ceat = {"sample_mode": "fixed", "segment_length": "9", "n_samples": 100, "published_n_samples": 5000}
    pairs = {"paper": "sahoo2024", "table": "2", "language": "hi", "set": "demo", "published_model": "Muril"}
    return table(
        row("ceat", "C1", 0.5, 0.4, **ceat),
        row("ceat", "C2", -0.3, 0.1, doubt="copied from elsewhere", **ceat),
        row("ceat", "C3", 0.2, 0.9, **(ceat | {"segment_length": ">75"})),
        row("ceat", "C4", 0.001, 0.3, bound="<", same_sign=None, difference=None, published_inside=None, **ceat),
        row("seat", "C1", 1.0, None, note=HOSTILE, model=HOSTILE, model_doubt="base or large"),
        row("seat", "C2", 1.0, 1.1, model=HOSTILE, model_doubt="base or large", mark_doubt="odd mark"),
        row("pairs", "gender", 54.29, 60.0, ci_low=40.0, ci_high=77.5, same_sign=True, published_inside=True, **pairs),
        row("pairs", "all", 52.0, 49.0, ci_low=30.0, ci_high=70.0, same_sign=False, published_inside=True, **pairs),
    )


@pytest.fixture
def read(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as they come back from CSV."""
    text = comparison_to_csv(Comparison("sadhu2024", rows, rows, ""))
    return pl.read_csv(io.StringIO(text), infer_schema_length=None)


NUMBERS = ("published", "measured", "difference", "our interval")


def section(table: pl.DataFrame | None, **more: Any) -> Section:
    found = beside_paper({"comparison": {"paper": "sadhu2024"}}, Results(comparison=table, **more))
    assert found is not None
    return found


def test_numbers_are_those_of_the_comparison(rows: pl.DataFrame, read: pl.DataFrame) -> None:
    found = section(read)
    assert found == section(rows)
    sheet = sheet_of(found, "Every number beside the paper's")
    assert (found.title, len(sheet.rows)) == ("Beside Sadhu et al. (2024)", len(rows))
    places = [names_of(sheet).index(name) for name in NUMBERS]
    for shown, expected in zip(sheet.rows, rows.iter_rows(named=True), strict=True):
        texts = {name: (shown.cells[n].text, shown.cells[n].order) for name, n in zip(NUMBERS, places, strict=True)}
        assert texts["published"][1] == repr(expected["published"])
        if expected["measured"] is None:
            assert texts["measured"] == texts["difference"] == texts["our interval"] == ("–", "")
        else:
            assert float(texts["measured"][1] or "nan") == expected["measured"]
            assert float(texts["measured"][0].replace("−", "-")) == expected["measured"]
            assert float(texts["our interval"][1] or "nan") == expected["ci_low"]
    lines = lines_of(sheet)
    first, bound, pairs = lines[0], lines[3], lines[6]
    assert first == [
        *("Table 5", "CEAT", "C1", "ours", "theirs", "fixed, 9 words"),
        *("+0.500", "+0.400", "−0.100", "+0.200 to +0.600", "yes", "yes", "", ""),
    ]
    assert numbers_of(sheet, sheet.rows[3])["same sign"] == "–"
    assert (bound[6], sheet.rows[3].cells[places[0]].order) == ("<0.001", "0.001")
    assert pairs[:6] == ["Table 2", "Sentence pairs", "Gender", "ours", "Muril", "Hindi"]
    assert pairs[6:10] == ["54.29", "60.00", "+5.71", "40.00 to 77.50"]


def test_agreement_by_hand(read: pl.DataFrame) -> None:
    found = section(read)
    sheet = sheet_of(found, "Agreement by method and model")
    by = {(row.labels[0], row.cells[2].text): numbers_of(sheet, row) for row in sheet.rows}
    # published 0.5 -0.3 0.2, measured 0.4 0.1 0.9: ranks 3 1 2 and 2 1 3, rho = 1 - 6 * 2 / 24
    assert by["CEAT", "all"] | {"95 % interval of that": ""} == {
        "Model": "ours", "Model of the paper": "theirs", "Cells": "all",
        "rows": "4", "categories": "4", "same sign": "2 of 3", "95 % interval of that": "",
        "rank correlation": "+0.50 (n = 3)", "median difference": "0.400", "in our interval": "1 of 3",
    }  # fmt: skip
    assert by["CEAT", "without doubtful cells"]["same sign"] == "2 of 2"
    # the row over all pairs repeats the others
    assert by["Sentence pairs, Hindi", "all"]["same sign"] == "1 of 1"
    assert by["Sentence pairs, Hindi", "all"]["median difference"] == "5.7"
    assert found.findings == [
        "CEAT: 2 of 3 numbers have the same sign as in the paper, and 1 of 3 published numbers lie in our interval.",
        "SEAT: 1 of 1 numbers has the same sign as in the paper, and 1 of 1 published number lies in our interval.",
        "Sentence pairs: 1 of 1 numbers is on the same side of 50 as in the paper, and 1 of 1 published number lies in"
        " our interval.",
    ]
    assert part_of(found, "Doubts about the paper's numbers").items == [
        "1: copied from elsewhere (1 row).", "2: odd mark (1 row).", "3: theirs: base or large (2 rows).",
    ]  # fmt: skip
    assert part_of(found, "Notes on this study's numbers").items == [f"n1: {HOSTILE} (1 row)."]
    every = lines_of(sheet_of(found, "Every number beside the paper's"))
    assert [(line[-2], line[-1]) for line in every] == [
        ("", ""), ("1", ""), ("", ""), ("", ""), ("3", "n1"), ("2, 3", ""), ("", ""), ("", ""),
    ]  # fmt: skip
    # of SEAT no number is in doubt, so that the row without doubtful cells would repeat the other
    assert list(by) == [
        ("CEAT", "all"), ("CEAT", "without doubtful cells"), ("SEAT", "all"), ("Sentence pairs, Hindi", "all"),
    ]  # fmt: skip


def test_on_the_page(read: pl.DataFrame) -> None:
    html = section_to_html(section(read, files=["comparison.csv"]))
    assert "<script" not in html
    body = cells_of(html.split('class="explorable beside-rows"')[1].split("<tbody>")[1].split("</tbody>")[0])
    assert len(body) == len(read)
    assert body[0][:3] == ["Table 5", "CEAT", "C1"]
    assert 'data-order="0.5"' in html
    assert '<a href="comparison.csv" download>CSV</a>' in html
    assert "comparison.md" not in html
    assert "<figure>" not in html
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M 0 0"/></svg>'
    assert "<figure>" in section_to_html(section(read, figures={"published": svg}))


def test_why_there_is_nothing() -> None:
    assert beside_paper({"comparison": {"paper": "none"}}, Results()) is None
    assert section(None).text == ["The comparison was not made yet."]
    nothing = "Nothing to compare: the study's language is hi, and the paper has bn <b>*x*</b>."
    markdown = comparison_to_markdown(Comparison("sadhu2024", table(), table(), nothing), [])
    assert reason_in(markdown) == nothing
    found = section(table(), why_no_comparison=reason_in(markdown))
    assert [plain(text) for text in found.text] == [plain(Markup.escape(nothing))]
    html = section_to_html(found)
    assert "the study&#39;s language is hi, and the paper has bn &lt;b&gt;" in html
    assert "<table" not in html
    with pytest.raises(InputError, match="no column same_sign"):
        section(table().drop("same_sign"))


def texts_of(figure: Figure) -> Iterator[Text]:
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if text.get_text() and text.get_visible():
            yield text


@pytest.mark.parametrize("width", WIDTHS)
def test_the_figure_has_every_number(read: pl.DataFrame, rows: pl.DataFrame, width: Width) -> None:
    figure = plot_published(read, width=width)
    assert figure.get_figwidth() == WIDTHS[width]
    drawn = [axes for axes in figure.axes if axes.get_visible()]
    shown = rows.filter(pl.col("measured").is_not_null() & pl.col("bound").is_null() & (pl.col("category") != "all"))
    for axes, method in zip(drawn, ("ceat", "seat", "pairs"), strict=True):
        of_method = shown.filter(method=method)
        points = {
            (x, y)
            for line in axes.lines
            if line.get_linestyle() == "None"
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
        }
        assert points == set(of_method.select("published", "measured").iter_rows())
        bars = {
            (segment[0][0], segment[0][1], segment[1][1])
            for collection in axes.collections
            for segment in collection.get_segments()  # type: ignore[attr-defined]
        }
        assert {tuple(np.round(bar, 9)) for bar in bars} == {
            tuple(np.round(bar, 9)) for bar in of_method.select("published", "ci_low", "ci_high").iter_rows()
        }
        low, high = axes.get_xlim()
        assert axes.get_ylim() == (low, high)
        assert all(low < value < high for point in points for value in point)
    figure.set_dpi(300)  # as it is saved; with fewer dots letters are moved to whole ones
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    assert box.x0 >= 0
    assert box.x1 <= WIDTHS[width]
    assert box.y0 >= 0
    assert box.y1 <= figure.get_figheight()
    assert min(text.get_fontsize() for text in texts_of(figure)) >= 5.5
    said = " ".join(" ".join(text.get_text() for text in texts_of(figure)).split())
    assert "sign agrees in 2 of 3" in said
    assert "Not drawn: 2 of 7 rows" in said
    assert "the published number is in doubt" in said


def test_a_figure_of_nothing_says_so(rows: pl.DataFrame) -> None:
    def said(table: pl.DataFrame) -> str:
        return " ".join(" ".join(text.get_text() for text in texts_of(plot_published(table))).split())

    assert said(table()) == "Not drawn: the comparison has no rows."
    numbers = rows.with_columns(measured=pl.lit(float("nan")))
    assert said(numbers) == "Not drawn: no row of the comparison has a number of both."
    with pytest.raises(InputError, match="width"):
        plot_published(rows, width="poster")  # type: ignore[arg-type]
