"""Texts from outside where people read them: spreadsheets, LaTeX, Markdown, terminals, figures."""

from __future__ import annotations

import csv
import html
import io
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import docutils.core
import jinja2
import polars as pl
import pyarrow as pa
import pytest
from hostile_inputs import SURROGATES, TEXTS
from matplotlib.figure import Figure

from prasanga.base.documents import guarded, guarded_text, to_tsv, unguarded_text
from prasanga.base.errors import InputError, printable
from prasanga.report.cards import escape
from prasanga.report.figures.saving import save_figure
from prasanga.report.sheet import Row, Sheet, escape_latex, escape_markdown, sheet_to_csv
from prasanga_construction.annotation import sheet_csv
from prasanga_construction.sheets import read_rows
from prasanga_construction.tuples import BiasTuple

FORMULAS = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-এর",
    "@SUM(A1)",
    " =1",
    "\t=1",
    "\r=1",
    "\n@x",
    "＝1",
    "－x",
    "-",
    "--",
    "+",
)
PLAIN = ("", "মা", "-1", "+0.25", "-1,234.5", "1e-5", "-3%", "'quoted'", "a=b", "x-y", "'", "3")


@pytest.mark.parametrize("text", FORMULAS)
def test_what_looks_like_a_formula_has_an_apostrophe(text: str) -> None:
    assert guarded_text(text) == f"'{text}"
    assert unguarded_text(f"'{text}") == text
    assert guarded(pl.DataFrame({"a": [text], "n": [-1.5]})).rows() == [(f"'{text}", -1.5)]


@pytest.mark.parametrize("text", PLAIN)
def test_other_texts_and_numbers_are_left(text: str) -> None:
    assert guarded_text(text) == unguarded_text(text) == text
    assert guarded(pl.DataFrame({"a": [text]})).rows() == [(text,)]


def test_columns_of_numbers_are_left_and_null_stays_null() -> None:
    table = pa.table({"text": ["=1", None], "n": [-1, None], "x": [-0.5, float("nan")]})
    assert to_tsv(table) == "text\tn\tx\n'=1\t-1\t-0.5\n\t\tNaN\n"


@pytest.mark.parametrize(
    "text", [text for text in TEXTS if text.strip() and text.isprintable() and "'" not in text[:1]]
)
def test_a_sheet_for_annotators_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    one = BiasTuple("t1", "en", "gender", text, "a" + text, "negative")
    path = tmp_path / "sheet.csv"
    path.write_text(sheet_csv([one], "a", 1), encoding="utf-8")
    (row,) = read_rows(path, what="votes")
    assert row.cells["identity"] == unicodedata.normalize("NFC", text).strip()
    cells = next(iter(list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))[1:]))
    assert not any(cell[:1] in tuple("=+@") for cell in cells)
    assert replace(one).identity == text


def test_labels_of_the_papers_tables() -> None:
    sheet = Sheet(("model",), (("", "C1"),), (Row(("=HYPERLINK(1)",), ()),))
    assert "\n'=HYPERLINK(1)," in sheet_to_csv(sheet)


def test_latex_of_any_text_compiles() -> None:
    """No command but our own, no unbalanced group, no character that LaTeX stops at."""
    for text in TEXTS:
        if len(text) > 2000:
            continue
        shown = escape_latex(text)
        assert "\n" not in shown
        assert not any(ord(sign) < 32 or 0x7F <= ord(sign) < 0xA0 for sign in shown), repr(shown)
        for command in (r"\input", r"\write18", r"\immediate"):
            assert command not in shown.replace(r"\textbackslash{}", "")
        depth = 0
        for at, sign in enumerate(shown):
            if sign in "{}" and (at == 0 or shown[at - 1] != "\\"):
                depth += 1 if sign == "{" else -1
                assert depth >= 0
        assert depth == 0
        assert shown.replace(r"\$", "").count("$") % 2 == 0


def test_markdown_of_any_text_is_one_line_without_markup() -> None:
    for text in TEXTS:
        for write in (escape_markdown, escape):
            shown = str(write(text))
            assert "\n" not in shown
            assert "\x1b" not in shown
            assert "\u202e" not in shown
            for sign in "|*_`<[]":
                assert shown.count(sign) == shown.count(f"\\{sign}")


@pytest.mark.parametrize("texts", [TEXTS, SURROGATES])
def test_messages_are_printable(texts: Sequence[str]) -> None:
    for text in texts:
        said = str(InputError(f"the value is {text}"))
        assert not any((ord(sign) < 32 and sign not in "\n\t") or 0x7F <= ord(sign) < 0xA0 for sign in said)
        assert len(text) > 1000 or said == printable(said)
        said.encode()
        assert len(said) <= 21_000


@pytest.mark.parametrize(
    "title",
    [
        *(text for text in TEXTS if len(text) < 100 and text.isprintable() and text.strip()),
        ".. raw:: html\n\n   <script>alert(1)</script>\n",
        "x\n\n.. include:: /etc/hostname\n",
        "a_ `b`__ |c| [1]_ :raw-html:`<b>` *d* **e** ``f`` {page} {{ 1 }} _`g` h\\ i\u2028.. j",
        "ফুলের ক্ষতি — <b>",
    ],
)
def test_a_title_is_plain_text_in_snakemakes_report(title: str) -> None:
    source = (Path(__file__).parents[2] / "workflow/report/workflow.rst").read_text(encoding="utf-8")
    filled = jinja2.Environment().from_string(source).render(snakemake={"config": {"title": title, "study": "a_b"}})
    body = docutils.core.publish_parts(filled, writer="html")["html_body"]
    paragraphs = [" ".join(re.sub("<[^>]*>", "", each).split()) for each in re.findall("<p>(.*?)</p>", body, re.DOTALL)]
    assert html.unescape(paragraphs[1]) == f"Study: {' '.join(title.split())} (a_b)."
    assert len(paragraphs) == 3
    assert body.count("<a ") == body.count("system-message") == 0


@pytest.mark.parametrize("ending", [".svg", ".pdf", ".png"])
def test_figures_with_any_label(tmp_path: Path, ending: str) -> None:
    figure = Figure((2, 2))
    axes = figure.subplots()
    label = "</text><script>alert(1)</script> & \" ' ]]> $x$ \\frac{} =1"
    axes.set_title(label, parse_math=False)
    path = tmp_path / f"a{ending}"
    save_figure(figure, path, made_from=f"{label} <!-- --> )>> endobj")
    data = path.read_bytes()
    if ending == ".svg":
        assert b"<script" not in data
        tree = ET.fromstring(data)
        assert not [each for each in tree.iter() if each.tag.endswith("script")]
    if ending == ".pdf":
        assert data.startswith(b"%PDF")
        assert data.rstrip().endswith(b"%%EOF")
