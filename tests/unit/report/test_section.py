"""A section of the page and its tables as HTML: every part in its place, and nothing of a study unescaped."""

from __future__ import annotations

import base64
import gzip
import re

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup
from page_parts import cells_of

from prasanga.report.section import Section, conventions_note, prose, render, sheet_to_html, with_code
from prasanga.report.sheet import Cell, Row, Sheet, html, numbers, shown

HOSTILE = "<script>alert('x')</script>\" onload=\"y"
CONFIG = {"study": "s", "title": "S", "note": "", "language": "bn", "seed": 1, "models": {}}


def sheet(*rows: Row, **more: object) -> Sheet:
    return Sheet(("Word",), numbers("n", "why"), rows, **{"caption": "A table", **more})  # type: ignore[arg-type]


def test_what_is_packed_is_unpacked_to_the_same() -> None:
    part = Section("packed", text=[HOSTILE], folded=True)
    plain = render("section", language="en", section=Section("s", "s", parts=[part]))
    text = render(
        "section",
        language="en",
        section=Section("s", "s", parts=[Section("packed", text=[HOSTILE], folded=True, packed="a script")]),
    )
    (packed,) = re.findall('data-packed="([^"]+)"', text)
    inside = gzip.decompress(base64.b64decode(packed)).decode()
    assert "alert" not in text
    assert inside.strip() in plain
    assert "<noscript><p>a script</p></noscript>" in text


def test_text_of_a_study_is_escaped_wherever_it_stands() -> None:
    row = Row((HOSTILE,), (Cell(HOSTILE, hover=HOSTILE, order=HOSTILE), Cell("")))
    section = Section(
        HOSTILE,
        "here",
        text=[HOSTILE, html("<b>{}</b>", HOSTILE)],
        findings=[HOSTILE],
        sheets=[sheet(row, caption=HOSTILE)],
        definitions=[(HOSTILE, HOSTILE)],
        items=[HOSTILE],
        notes=[HOSTILE, HOSTILE],
        files=[(HOSTILE, HOSTILE)],
        parts=[Section(HOSTILE, text=[prose("download", name=HOSTILE, files=[])], folded=True)],
    )
    text = render("section", language="en", section=section)
    assert "<script" not in text
    assert '" onload' not in text
    assert text.count("&lt;script&gt;") > 15


def test_words_of_other_scripts_are_marked_by_their_script() -> None:
    assert shown("a গোলাপ, শাপলা b") == 'a <span lang="bn">গোলাপ, শাপলা</span> b'
    assert shown("फूल <x>") == '<span lang="hi">फूल</span> &lt;x&gt;'
    assert shown(Markup("<i>গোলাপ</i>")) == "<i>গোলাপ</i>"
    assert with_code("write `<x>` here") == "write <code>&lt;x&gt;</code> here"
    assert conventions_note(["a <b>", "c"], "More.") == "Conventions: <code>a &lt;b&gt;</code>; <code>c</code>. More."


def test_groups_are_over_their_columns() -> None:
    columns = (("m", "9"), ("m", "25"), ("<n>", "9"))
    rows = (
        Row(("a",), tuple(map(Cell, "123"))),
        Row(("b",), tuple(map(Cell, "456"))),
        Row(("c",), (Cell("7", "*"), Cell(), Cell("9"))),
    )
    text = sheet_to_html(Sheet(("Word",), columns, rows, "Groups"))
    assert cells_of(text) == [
        *(["Word", "m", "<n>"], ["9", "25", "9"]),
        *(["a", "1", "2", "3"], ["b", "4", "5", "6"], ["c", "7*", "–", "9"]),
    ]
    assert '<th scope="col" rowspan="2">Word</th>' in text
    assert '<th scope="colgroup" colspan="2" class="group first">m</th>' in text
    assert [len(re.findall("first", row)) for row in re.findall("<tr><th scope=.row.*?</tr>", text)] == [2, 2, 2]


def test_a_name_that_a_template_lacks_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("figure")
