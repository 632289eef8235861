"""What the page shows of texts, on tables small enough to count by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
from page_parts import lines_of, part_of, plain, sheet_of
from report_pages import CATEGORIES

from prasanga.report.section import Section, section_to_html
from prasanga.report.sections import texts
from prasanga.report.study import AuditTables, Results

FORMS = pl.DataFrame(
    {
        "form": ["গোলাপ", "মশা"],
        "stimulus": ["গোলাপ", "মশা"],
        "group": ["thing_consonant", "thing_a"],
        **{name: ["", ""] for name in ("number", "case", "emphatic")},
    }
)


def categories() -> dict[str, Any]:
    """One category, and another that has both words again."""
    again = {"name": "all", "stimuli": ["মশা", "গোলাপ"]}
    return {**CATEGORIES, "C2": {"targets": [again, again], "attributes": []}}


def audit_of(audit: AuditTables) -> Section:
    section = texts.audit({}, Results(audit=audit, categories=categories(), forms=FORMS))
    assert section is not None
    return section


def coverage_of(audit: AuditTables) -> Section:
    rows = [("গোলাপ", "9", 40, 40, 40, 30, ""), ("মশা", "9", 7, 7, 7, 7, "")]
    names = ["stimulus", "segment_length", "occurrences", "contexts", "eligible", "sampled", "reason"]
    section = texts.coverage(Results(coverage=pl.DataFrame(rows, schema=names, orient="row"), audit=audit))
    assert section is not None
    return section


def test_hits_stand_once_in_their_first_word_set(audit: AuditTables) -> None:
    parts = part_of(audit_of(audit), "Concordance").parts
    assert [plain(part.title) for part in parts] == [
        "flowers 1 stimulus, 2 hits", "insects 1 stimulus, 1 hit", "Words of no set 1 stimulus, 1 hit",
    ]  # fmt: skip
    (rose,) = parts[0].parts
    assert plain(rose.title) == "গোলাপ rose · thing_consonant · 2 of 1,540 hits"
    html = section_to_html(rose)
    hits = [text.partition("</li>")[0] for text in html.split("<li>")[1:]]
    assert hits == [
        "<span>লাল </span><mark>গোলাপের</mark><span> গন্ধ &lt;b&gt;</span>",
        "<span>সে ‘</span><mark>গোলাপ</mark><span>’ বলল</span>",
    ]


def test_forms_and_files_of_a_stimulus_are_named_by_frequency(audit: AuditTables) -> None:
    sheet = sheet_of(coverage_of(audit), "Contexts kept of those possible")
    rose, mosquito = (line[-2:] for line in lines_of(sheet))
    assert rose == ["গোলাপের 1,520, গোলাপ 10, গোলাপে 7 and 1 more", "b.txt 1,503, a.txt 30, c.txt 7"]
    assert mosquito == ["মশা 60", "a.txt 60"]


def test_groups_are_sorted_by_what_they_brought(audit: AuditTables) -> None:
    groups = part_of(audit_of(audit), "Suffixes").parts
    assert [plain(group.title) for group in groups] == [
        "thing_consonant 1,534 hits, 96.2 % of all", "thing_a 60 hits, 3.8 % of all", "unused 0 hits, 0.0 % of all",
    ]  # fmt: skip
    captions = [plain(group.sheets[0].caption) for group in groups]
    assert captions == [
        "Suffixes of thing_consonant that occur; 1 do not occur",
        "Suffixes of thing_a that occur",
        "Suffixes of unused that occur; 1 do not occur",
    ]
    genitive = lines_of(groups[0].sheets[0])[0]
    assert genitive == ["ের", "singular, genitive", "1,520", "99.1 %", "1", "গোলাপের 1520"]


def test_of_many_suffixes_the_most_frequent_are_shown(audit: AuditTables) -> None:
    many = pl.concat([audit.suffixes.head(1).with_columns(occurrences=pl.lit(90 - n, pl.Int64)) for n in range(45)])
    (group,) = part_of(audit_of(audit._replace(suffixes=many)), "Suffixes").parts
    (sheet,) = group.sheets
    assert [line[2] for line in lines_of(sheet)] == [str(n) for n in range(90, 50, -1)]
    assert plain(sheet.caption) == "Suffixes of thing_a that occur, the most frequent 40; 5 more in the file"


def test_lengths_in_percent_of_all_and_of_those_at_least_as_long(audit: AuditTables) -> None:
    sheet = sheet_of(coverage_of(audit), "Contexts by their number of words")
    assert lines_of(sheet) == [
        ["1–8", "100", "25.0 %", "100.0 %", ""],
        ["9–74", "300", "75.0 %", "75.0 %", ""],
        ["75 or more", "0", "0.0 %", "0.0 %", ""],
    ]
    # of the fullest bin
    assert [row.cells[-1].text for row in sheet.rows] == [
        f'<span style="width: {width}%"></span>' for width in ("33.3", "100.0", "0.0")
    ]


def test_an_audit_of_nothing(audit: AuditTables) -> None:
    nothing = AuditTables(*(table.clear() for table in audit))
    section = audit_of(nothing)
    assert part_of(section, "Suffixes").parts == []
    assert "No hits were drawn" in plain(part_of(section, "Concordance").text[0])
    assert lines_of(sheet_of(coverage_of(nothing), "Contexts by their number of words")) == []
