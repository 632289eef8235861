"""The pairs browser in a real one: it opens closed, unpacks, searches, filters, and saves what the filters leave."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
from browser import OpenPage, overflow
from playwright.sync_api import expect

from prasanga.report.method_views import browse_pairs
from prasanga.report.section import View, page_to_html

PAIRS = [
    ("g1", "gender", "stereo", "মেয়েটি রোজ রাঁধে।", "ছেলেটি রোজ রাঁধে।", -1.0, -1.5),
    ("r1", "religion", "stereo", '<b>He</b> said "no"', '<i>She</i> said "no"', -4.0, -4.1234),
    ("x1", "religion", "antistereo", "=SUM(A1) first", "=SUM(A1) second", -1.0, -0.5),
]


def test_pairs_are_opened_searched_and_saved(open_page: OpenPage, tmp_path: Path) -> None:
    names = ["pair_id", "bias_type", "label", "first", "second", "score_first", "score_second"]
    table = pl.DataFrame(PAIRS, schema=names, orient="row").with_columns(
        language=pl.lit("en"), model=pl.lit("<i>m</i>"), set=pl.lit("demo")
    )
    view = View("pairs", "Sentence pairs", "Sentence pairs", [browse_pairs(table, texts=True, scored=True)])
    file = tmp_path / "pairs.html"
    file.write_text(page_to_html("pairs", [view], language="en", scripts=["bn"]), encoding="utf-8")
    page = open_page(file)
    rows = page.locator(".pair-browser tbody tr")
    expect(rows).to_have_count(0)
    page.locator("#pair-browser > summary").click()
    expect(rows).to_have_count(3)
    assert overflow(page) == 0
    assert page.locator(".pair-browser mark").first.inner_text() == "মেয়েটি"
    page.get_by_label("Search").fill("=SUM")
    expect(rows).to_have_count(1)
    with page.expect_download() as saved:
        page.get_by_text("Download these rows, CSV").click()
    lines = list(csv.reader(io.StringIO(Path(saved.value.path()).read_text(encoding="utf-8-sig"))))
    assert lines == [
        ["Pair", "Type", "Label", "First sentence", "Second sentence", "<i>m</i>"],
        ["x1", "Religion", "antistereo", "'=SUM(A1) first", "'=SUM(A1) second", "+0.500"],
    ]
