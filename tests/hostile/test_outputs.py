"""Texts from outside where people read them: spreadsheets, LaTeX, Markdown, terminals, figures."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shlex
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import docutils.core
import jinja2
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.figure import Figure
from report_pages import CONFIG, audit, estimates
from tables import read_data

from prasanga.base.errors import InputError, printable
from prasanga.base.io import escape_markdown, guarded, guarded_text, to_tsv, unguarded_text
from prasanga.extras.corpora import Text, TextTally, datasheet, sources_page
from prasanga.models.hub import download_command
from prasanga.report.figures.canvas import save_figure
from prasanga.report.page import render_page
from prasanga.report.sheet import escape_latex
from prasanga.report.study import EmbeddingFiles, Results
from prasanga.report.summary import data_card, escape, methods_card, study_summary, to_json
from prasanga_construction.sheets import read_rows
from prasanga_construction.tuples import BiasTuple, sheet_csv

TEXTS: tuple[str, ...] = (
    *("", " ", "\n", "\r", "\t", "\0", "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "\u2028\u2029", "\ufeff", "\u200c"),
    *("ফুল", "ফুলের বাগানে গোলাপ।", "ক্" * 40, "e" + "\u0301" * 500, "👩‍👩‍👧‍👦🏳️‍🌈", "𝒳\U0010ffff", "١٢٣৪৫"),
    *(
        "<script>alert(1)</script>",
        "</style><img src=x onerror=alert(1)>",
        "\"'`",
        '=HYPERLINK("http://x","y")',
        "-1+2",
    ),
    *(
        "\\input{/etc/passwd}",
        "$x_1^2$ & 50 % #{}~",
        "| a | b |",
        "[x](javascript:alert(1))",
        "{{ config }}",
        "%s %(x)s",
    ),
    *("../../etc/passwd", "; rm -rf ~ #", "`id`", "a\nb: c", "`` ` ``", "!include x", "NaN", "null", "1e999"),
)
SURROGATES: tuple[str, ...] = ("\ud800", "a\udfffb")


FORMULAS = read_data(__file__, "formulas")
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
    (row,) = read_rows(path)
    assert row.cells["identity"] == unicodedata.normalize("NFC", text).strip()
    cells = next(iter(list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))[1:]))
    assert not any(cell[:1] in tuple("=+@") for cell in cells)
    assert replace(one).identity == text


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


@pytest.mark.parametrize("text", [text for text in TEXTS if 0 < len(text.strip()) < 100])
def test_a_release_has_no_markup_but_its_own(text: str) -> None:
    tallies = {
        Text(text, text, text): TextTally(3, {"a"}),
        Text(text, text, None, supplement=True): TextTally(1, {"b"}),
    }
    plain = {Text("f", "t", "l"): TextTally(3, {"a"}), Text("f", "t", None, supplement=True): TextTally(1, {"b"})}
    pages = [(datasheet(text, tallies), datasheet("t", plain))]
    settings = {"categories": [text, "a\n```\n<script>"]}
    pages += [
        (
            sources_page(tallies, made={"study": text}, settings=settings),
            sources_page(plain, made={"study": "s"}, settings={}),
        )
    ]
    for page, ordinary in pages:
        outside = page.split("\n````yaml")[0].replace(f"`{text}`", "``")  # in a span of code it is no markup
        for mark in ("\n#", "\n- ", "<", "](", "**", "__", "\n|"):
            bare = re.sub(r"\\\\|\\[|*_`<\[\]]", "", outside)
            assert bare.count(mark) <= ordinary.split("\n```yaml")[0].count(mark), mark


def disclosed(tmp_path: Path, paths: str) -> list[str]:
    """The page, the summary and the cards of a study whose files lie in folders of the machine."""
    home = "/home/somebody/hidden"
    config: Any = {
        **CONFIG,
        "report": {**CONFIG["report"], "paths": paths},
        "models": {"a": {"path": f"{home}/models/bert_base"}},
        "corpus": {
            **CONFIG["corpus"],
            "root": f"{home}/texts",
            "texts": [{"files": f"{home}/more/*.txt", "title": None}],
        },
        "lexicon": {**CONFIG["lexicon"], "stimuli": f"{home}/words/bn"},
        "pairs": {**CONFIG["pairs"], "sets": {"p": {"path": f"{home}/pairs.csv", "layout": "auto", "languages": None}}},
        "static": {**CONFIG["static"], "vectors": {"v": {"path": f"{tmp_path}/vectors.bin", "format": "auto"}}},
    }
    inputs = {f"{home}/words/bn/sets/a.yaml": "0" * 64, f"{home}/pairs.csv": "1" * 64, f"{home}/other": "2" * 64}
    studied = {"a": {"family": "a", "layer": -1, "path": f"{home}/models/bert_base"}}
    report = {"identity": {"sha256": "3" * 64}, "kind": "encoder"}
    results = Results(
        ceat=estimates(), **place(audit(), f"{home}/more/a.txt"), embeddings=EmbeddingFiles(studied, {}, {"a": report})
    )
    record = {"inputs": json.dumps(inputs), "stage": "lexicon"}
    summary = study_summary(config=config, results=results, made_from={}, records=[record])
    corpus = [(f"{home}/texts/news/a.txt", "4" * 32)]
    return [
        render_page(config=config, results=results, made_from={}),
        to_json(summary),
        methods_card(config=config, summary=summary),
        data_card(config=config, summary=summary, results=results, corpus=corpus),
    ]


def place(tables: dict[str, pl.DataFrame], source: str) -> dict[str, pl.DataFrame]:
    return {name: table.with_columns(source=pl.lit(source)) for name, table in tables.items()}


def test_what_is_sent_to_others_names_no_folder_of_the_machine(tmp_path: Path) -> None:
    told = disclosed(tmp_path, "names")
    for text in told:
        assert not [folder for folder in ("/home", "somebody/", str(tmp_path)) if folder in text]
    page, summary, _, data = told
    assert "bert_base" in page
    assert json.loads(summary)["sources"] == {"bn/sets/a.yaml": "0" * 64, "pairs.csv": "1" * 64, "other": "2" * 64}
    assert json.loads(summary)["models"][0]["source"] == "bert_base"
    for name in ("texts/news/a.txt", "bn/sets/a.yaml", "1" * 64):
        assert name in data.replace("\\", "")
    assert all("/home/somebody/hidden" in text for text in disclosed(tmp_path, "whole"))


@pytest.mark.parametrize("revision", ["; rm -rf ~ #", "$(id)", "a b", "--help", "`id`", "a'b"])
def test_a_command_to_paste_runs_nothing_else(revision: str) -> None:
    assert shlex.split(download_command("o/n", revision)) == ["hf", "download", "o/n", "--revision", revision]
    assert shlex.split(download_command(revision, None)) == ["hf", "download", revision]


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
