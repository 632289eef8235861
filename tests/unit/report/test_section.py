"""A section of the page and its tables as HTML: every part in its place, and nothing of a study unescaped."""

from __future__ import annotations

import base64
import gzip
import re
from dataclasses import replace

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup
from page_parts import cells_of

from prasanga.report.page import page_views
from prasanga.report.section import (
    Figure,
    Section,
    View,
    conventions_note,
    page_to_html,
    prose,
    render,
    section_to_html,
    sheet_to_html,
    with_code,
)
from prasanga.report.sheet import Cell, Row, Sheet, html, numbers, row_of, shown
from prasanga.report.study import Results

HOSTILE = "<script>alert('x')</script>\" onload=\"y"
CONFIG = {"study": "s", "title": "S", "note": "", "language": "bn", "seed": 1, "models": {}}


def sheet(*rows: Row, **more: object) -> Sheet:
    return Sheet(("Word",), numbers("n", "why"), rows, **{"caption": "A table", **more})  # type: ignore[arg-type]


def test_all_of_a_section_stands_in_one_order() -> None:
    inner = Section("folded", items=["in the fold"], folded=True)
    section = Section(
        "The head",
        "here",
        text=["first"],
        findings=["second"],
        widget=Markup("<b>third</b>"),
        sheets=[sheet(row_of("fourth", "1", ""))],
        figures=[Figure(Markup("<svg></svg>"), "fifth")],
        definitions=[("sixth", "meaning")],
        items=["seventh"],
        parts=[Section("tenth", "sub", text=["eleventh"]), inner],
        notes=["ninth"],
        files=[("data/x.csv", "CSV")],
        files_text="as",
    )
    text = section_to_html(section)
    order = ["The head", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "in the fold", "ninth"]
    order += ["data/x.csv", "tenth", "eleventh"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)
    assert '<section id="here" aria-labelledby="here-title">' in text
    assert '<h3 id="sub">tenth</h3>' in text
    assert "<details>\n<summary>folded</summary>" in text
    assert 'as <a href="data/x.csv" download>CSV</a>.' in text


def test_what_is_packed_is_unpacked_to_the_same() -> None:
    part = Section("packed", text=[HOSTILE], folded=True)
    plain = section_to_html(Section("s", "s", parts=[part]))
    text = section_to_html(Section("s", "s", parts=[Section("packed", text=[HOSTILE], folded=True, packed="a script")]))
    (packed,) = re.findall('data-packed="([^"]+)"', text)
    inside = gzip.decompress(base64.b64decode(packed)).decode()
    assert "alert" not in text
    assert inside.strip() in plain
    assert "<noscript><p>a script</p></noscript>" in text


def test_text_of_a_study_is_escaped_wherever_it_stands() -> None:
    row = Row((HOSTILE,), (Cell(HOSTILE, hover=HOSTILE, order=HOSTILE), Cell("")), block=HOSTILE, search=HOSTILE)
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
        parts=[Section(HOSTILE, text=[prose("oddities", name=HOSTILE)], folded=True)],
    )
    text = section_to_html(section)
    assert "<script" not in text
    assert '" onload' not in text
    assert text.count("&lt;script&gt;") > 15


def test_words_of_other_scripts_are_marked_by_their_script() -> None:
    assert shown("a গোলাপ, শাপলা b") == 'a <span lang="bn">গোলাপ, শাপলা</span> b'
    assert shown("फूल <x>") == '<span lang="hi">फूल</span> &lt;x&gt;'
    assert shown(Markup("<i>গোলাপ</i>")) == "<i>গোলাপ</i>"
    assert with_code("write `<x>` here") == "write <code>&lt;x&gt;</code> here"
    assert conventions_note(["a <b>", "c"], "More.") == "Conventions: <code>a &lt;b&gt;</code>; <code>c</code>. More."


def test_a_table_has_what_sorts_filters_and_tells() -> None:
    first = Row(
        ("গোলাপ",),
        (Cell("-0.5", "*", bold=True, shade="minus-3", order="-0.5", hover="x\ny"), Cell("none")),
        anchor="row-1",
        search="rose",
        order="1",
    )
    text = sheet_to_html(sheet(first, look="explorable", kinds={"Word": "list", "why": "text"}, hidden=["why"]))
    assert '<table class="explorable"><caption>A table</caption>' in text
    assert '<th scope="col" class="list">Word</th>' in text
    assert '<th scope="col" class="text" data-visible="false">why</th>' in text
    assert '<tr id="row-1"><th scope="row" data-search="rose" data-order="1"><span lang="bn">গোলাপ</span></th>' in text
    assert '<td class="minus-3 bold" title="x\ny" data-order="-0.5">−0.5*</td>' in text
    assert '<div class="scroll" role="region" aria-label="A table" tabindex="0">' in text
    # a number that is not there is sorted as nothing, and one without an order by its text
    assert '<td data-order="">–</td>' in sheet_to_html(sheet(row_of("a", Cell(order=""), "")))
    assert '<td class="number">7</td>' in sheet_to_html(sheet(row_of("a", "7", "")))


def test_a_label_may_go_on_after_a_slash_and_is_escaped() -> None:
    text = sheet_to_html(Sheet(("Category", "Targets"), numbers("why"), [Row(("C1", "<i>/weapons"), (Cell("1"),))], ""))
    assert '<td class="label">&lt;i&gt;/<wbr>weapons</td>' in text


def test_groups_stand_over_their_columns_and_blocks_over_their_rows() -> None:
    columns = (("m", "9"), ("m", "25"), ("<n>", "9"))
    rows = (
        Row(("a",), tuple(map(Cell, "123")), block="first"),
        Row(("b",), tuple(map(Cell, "456"))),
        Row(("c",), (Cell("7", "*"), Cell(), Cell("9")), block=""),
    )
    text = sheet_to_html(Sheet(("Word",), columns, rows, "Groups"))
    assert cells_of(text) == [
        *(["Word", "m", "<n>"], ["9", "25", "9"], ["first"]),
        *(["a", "1", "2", "3"], ["b", "4", "5", "6"], ["c", "7*", "–", "9"]),
    ]
    assert '<th scope="col" rowspan="2">Word</th>' in text
    assert '<th scope="colgroup" colspan="2" class="group first">m</th>' in text
    assert text.count("<tbody>") == 2
    assert '<tr class="block"><th scope="rowgroup" colspan="4"><span>first</span></th></tr>' in text
    assert [len(re.findall("first", row)) for row in re.findall("<tr><th scope=.row.*?</tr>", text)] == [2, 2, 2]


def test_a_name_that_a_template_lacks_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("heat")


def test_views_come_in_one_order_whatever_a_study_has() -> None:
    views = [view for view in page_views(config=CONFIG, results=Results(), made_from={}) if view.contents]
    assert [(view.entry, [section.id for section in view.contents]) for view in views] == [
        ("Overview", ["findings"]),
        ("How it was measured", ["methods", "references", "making"]),
        ("For a paper", ["downloads"]),
    ]


def test_what_a_view_folds_is_closed_and_has_its_head() -> None:
    section = Section("The head", "here", text=["inside"])
    view = View("v", "Entry", "Name", [None], [section, None])
    assert view.contents == [replace(section, folded=True)]
    text = section_to_html(view.contents[0])
    assert '<details class="section" id="here">\n<summary><h2 id="here-title">The head</h2></summary>' in text
    assert text.index("inside") < text.index("</details>")


def test_a_view_without_sections_is_no_entry_and_one_entry_has_tabs() -> None:
    one = [Section("S", "s")]
    views = [View("a", "First", "A", one), View("b", "Second", "B", one), View("c", "Second", "C", one, hover="x < y")]
    text = page_to_html("T", [*views, View("d", "Third", "D", [None])], language="en", scripts=[])
    navigation = text[text.index("<nav") : text.index("</nav>")]
    assert re.findall('href="#(.)">([^<]*)<', navigation) == [("a", "First"), ("b", "Second")]
    tabs = text.split('<ul class="tabs">')[1:]
    assert [re.findall('href="#(.)"( title="[^"]+")?( aria-current="page")?>([^<]*)<', part)[:2] for part in tabs] == [
        [("b", "", ' aria-current="page"', "B"), ("c", ' title="x &lt; y"', "", "C")],
        [("b", "", "", "B"), ("c", ' title="x &lt; y"', ' aria-current="page"', "C")],
    ]
