"""The pairs browser in a real one: what it shows, how it is sorted, filtered and searched, and what it gives away."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browser import OpenPage, contrast, keep_screenshot, overflow
from playwright.sync_api import Page, expect

from prasanga.report.section import View, page_to_html
from prasanga.report.sections.pair_browser import browser_part, pair_browser

PAIRS = [
    ("g1", "bn", "gender", "stereo", "মেয়েটি রোজ রাঁধে।", "ছেলেটি রোজ রাঁধে।"),
    ("g2", "bn", "gender", "antistereo", "ছেলেটি বড় হয়েছে।", "মেয়েটি বড় হয়েছে।"),
    ("c1", "hi", "caste", "stereo", "वह ज़रूर आएगा।", "वे ज़रूर आएगा।"),
    ("r1", "en", "religion", "stereo", '<b>He</b> said "no" & don\u2019t', '<i>She</i> said "no" & don\u2019t'),
    ("x1", "en", "religion", "antistereo", "=SUM(A1) first", "=SUM(A1) second"),
    ("t1", "en", "gender", "stereo", "one </script> tie", "two </script> tie"),
    ("l1", "en", "gender", "stereo", "Same words", "Same words"),
]
SCORES: dict[str, list[tuple[float | None, float | None]]] = {
    "mone": [(-1.0, -1.5), (-2.0, -1.75), (-3.0, -1.0), (-4.0, -4.1234), (-1.0, -2.0), (-5.0, -5.0), (None, None)],
    "<i>mtwo</i>": [(-1.0, -1.1), (-2.0, -2.2), (-3.0, -3.3), (-4.0, -4.4), (-1.0, -1.5), (-5.0, -5.6), (None, None)],
    "mone-random": [(-9.0, -9.1)] * 6 + [(None, None)],
}
COLUMNS = ["pair_id", "language", "bias_type", "label", "first", "second", "score_first", "score_second", "left_out"]
PLAIN, PACKED = 1 << 30, 0


def tables(copies: int = 1) -> list[pl.DataFrame]:
    found = []
    for model, scores in SCORES.items():
        rows = [
            (*pair, first, second, None if first is not None else "identical")
            for pair, (first, second) in zip(PAIRS, scores, strict=True)
        ]
        rows = [(f"{row[0]}{'' if copy == 0 else f'-{copy}'}", *row[1:]) for copy in range(copies) for row in rows]
        columns = [
            "pair_id",
            "language",
            "bias_type",
            "label",
            "first",
            "second",
            "score_first",
            "score_second",
            "left_out",
        ]
        table = pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
        found.append(table.with_columns(model=pl.lit(model), set=pl.lit("demo"), measure=pl.lit("p_unmodified")))
    return found


@pytest.fixture
def show(open_page: OpenPage, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page with nothing but the pairs browser in it, and the browser in that unless `closed`."""

    def made(
        scores: list[pl.DataFrame] | None = None,
        *,
        texts: bool = True,
        plain_bytes: int = PLAIN,
        closed: bool = False,
        **how: Any,
    ) -> Page:
        browser = pair_browser(scores or tables(), texts=texts, plain_bytes=plain_bytes)
        view = View("pairs", "Sentence pairs", "Sentence pairs", [browser_part(browser, scored=True)])
        file = tmp_path / "pairs.html"
        file.write_text(page_to_html("pairs", [view], language="en", scripts=["hi"]), encoding="utf-8")
        page: Page = open_page(file, **how)
        if not closed:
            page.locator("#pair-browser > summary").click()
            expect(page.locator(".pair-table tbody tr").first).to_be_visible()
        return page

    return made


def expect_ids(page: Page, expected: list[str]) -> None:
    """The pairs that are shown, in order; a sort takes a moment."""
    expect(page.locator(".pair-table tbody th")).to_have_text(expected)


def cells(page: Page, pair: str) -> dict[str, str]:
    """Texts of a pair's row by the names of the columns."""
    row = page.locator(".pair-table tbody tr", has=page.locator(f"th:text-is('{pair}')"))
    found: dict[str, str] = row.evaluate(
        "row => Object.fromEntries([...row.children].map(cell => [cell.dataset.label, cell.textContent]))"
    )
    return found


def search(page: Page, text: str, expected: list[str]) -> None:
    page.get_by_label("Search").fill(text)
    expect_ids(page, expected)


@pytest.mark.parametrize("plain_bytes", [PLAIN, PACKED])
def test_numbers_of_a_pair(show: Callable[..., Page], plain_bytes: int) -> None:
    page = show(plain_bytes=plain_bytes)
    # by the size of the difference, left out at the end
    expect_ids(page, ["c1", "x1", "g1", "g2", "r1", "t1", "l1"])
    assert cells(page, "r1") == {
        "Pair": "r1",
        "Language": "English",
        "Type": "Religion",
        "Label": "stereo",
        "First sentence": 'more stereotypical<b>He</b> said "no" & don\u2019t',
        "Second sentence": '<i>She</i> said "no" & don\u2019t',
        "Score of the first": "\u22124.000",
        "Score of the second": "\u22124.123",
        "Difference": "+0.123",
        "Preferred": "stereotypical",
    }
    assert [cells(page, pair)["Preferred"] for pair in ("c1", "x1", "t1", "l1")] == [
        "other",
        "other",
        "tie",
        "left out: both sentences are the same",
    ]
    assert cells(page, "x1")["Second sentence"].startswith("more stereotypical")
    expect(page.locator(".pair-counts")).to_have_text(
        "Of the 7 pairs that fit, mone prefers the stereotypical sentence in 3, the other in 2 (60.0 % stereotypical);"
        " 1 tie, 1 left out."
    )
    assert page.locator(".pair-table caption").inner_text() == "Pairs with their scores by mone (p_unmodified)"


def test_modified_words_are_marked_not_by_colour_alone(show: Callable[..., Page]) -> None:
    page = show()
    row = page.locator(".pair-table tbody tr", has=page.locator("th:text-is('g1')"))
    assert row.locator("mark").all_text_contents() == ["মেয়েটি", "ছেলেটি"]
    assert row.locator("bdi").first.get_attribute("lang") == "bn"
    style = "mark => [getComputedStyle(mark).textDecorationLine, getComputedStyle(mark).fontWeight]"
    assert row.locator("mark").first.evaluate(style) == ["underline", "700"]


def test_sorting(show: Callable[..., Page]) -> None:
    page = show()
    head = page.locator(".pair-table thead")
    head.get_by_text("Difference").click()
    expect_ids(page, ["c1", "x1", "t1", "r1", "g2", "g1", "l1"])
    expect(page.get_by_label("Sort by")).to_have_value("other")
    assert head.locator("th[aria-sort=ascending]").all_inner_texts() == ["Difference"]
    head.get_by_text("Difference").click()
    expect_ids(page, ["g1", "g2", "r1", "t1", "x1", "c1", "l1"])
    head.get_by_text("First sentence").click()
    expect_ids(page, ["r1", "x1", "l1", "t1", "c1", "g2", "g1"])
    expect(page.get_by_label("Sort by")).to_have_value("column")
    page.get_by_label("Sort by").select_option("file")
    expect_ids(page, [pair[0] for pair in PAIRS])


def test_sorting_by_keyboard(show: Callable[..., Page]) -> None:
    page = show()
    page.get_by_role("button", name="Download").focus()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('th')?.textContent") == "Pair":
            break
    page.keyboard.press("Enter")
    expect_ids(page, [pair[0] for pair in PAIRS])
    page.keyboard.press("Enter")
    expect_ids(page, [pair[0] for pair in reversed(PAIRS)])


def test_filters(show: Callable[..., Page]) -> None:
    page = show()
    assert page.locator("#pair-set").is_hidden(), "there is one set only"
    page.get_by_label("Bias type").select_option(label="Gender")
    expect_ids(page, ["g1", "g2", "t1", "l1"])
    page.locator("#pair-label").select_option(label="stereo")
    expect_ids(page, ["g1", "t1", "l1"])
    page.get_by_label("Left out").select_option(label="scored pairs only")
    expect_ids(page, ["g1", "t1"])
    page.locator("#pair-preferred").select_option(label="neither: a tie")
    expect_ids(page, ["t1"])
    expect(page.locator(".dt-info")).to_have_text("Pairs 1 to 1 of 1 (of 7 in all)")
    assert page.locator(".dt-info").get_attribute("aria-live") == "polite"
    page.locator("#pair-language").select_option(label="Hindi")
    expect(page.locator(".pair-table tbody")).to_have_text("No pair fits all of these filters.")
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".pair-table tbody tr")).to_have_count(7)
    page.get_by_label("Left out").select_option(label="both sentences are the same")
    expect_ids(page, ["l1"])


def test_search_finds_letters_in_both_ways_of_writing(show: Callable[..., Page]) -> None:
    page = show()
    page.get_by_label("Sort by").select_option("file")
    search(page, "ম\u09c7য়\u09c7টি", ["g1", "g2"])  # য় as one sign
    search(page, "ম\u09c7য\u09bc\u09c7টি", ["g1", "g2"])  # and as two
    search(page, "\u095bरूर", ["c1"])
    search(page, "ज\u093cरूर", ["c1"])
    search(page, "রাঁধে মেয়েটি", ["g1"])
    search(page, "DON'T", ["r1"])
    search(page, "<i>", ["r1"])
    search(page, "t1", ["t1"])
    search(page, "", [pair[0] for pair in PAIRS])


def test_models(show: Callable[..., Page]) -> None:
    page = show()
    model = page.locator("#pair-model")
    assert model.locator("optgroup").evaluate_all("all => all.map(one => one.label)") == [
        "Models",
        "Random weights, for comparison",
    ]
    model.select_option(label="<i>mtwo</i>")
    assert cells(page, "t1")["Difference"] == "+0.600"
    expect(page.locator(".pair-counts")).to_contain_text("<i>mtwo</i> prefers the stereotypical sentence in 4")
    model.select_option(label="All models: differences side by side")
    row = cells(page, "c1")
    assert (row["mone"], row["<i>mtwo</i>"]) == ("\u22122.000", "+0.300")
    assert "Preferred" not in row
    assert "mone-random" not in row
    assert page.locator(".pair-table thead i").count() == 0
    assert page.locator("#pair-preferred").is_disabled()
    expect_ids(page, ["c1", "x1", "t1", "g1", "r1", "g2", "l1"])
    model.select_option(label="mone-random")
    assert cells(page, "g1")["Difference"] == "+0.100"
    assert "mone" not in cells(page, "g1")


def test_download_has_the_filtered_rows_and_no_formula(show: Callable[..., Page]) -> None:
    page = show()
    page.get_by_label("Bias type").select_option(label="Religion")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download").click()
    data = waiting.value.path().read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    assert header == [
        *("set", "pair_id", "language", "bias_type", "label", "first", "second"),
        *("model", "score_first", "score_second", "difference", "preferred", "left_out"),
    ]
    first, second = PAIRS[3][4:]
    assert [row[:7] for row in rows] == [
        ["demo", "x1", "en", "religion", "antistereo", "'=SUM(A1) first", "'=SUM(A1) second"],
        ["demo", "r1", "en", "religion", "stereo", first, second],
    ]
    assert [row[7:] for row in rows] == [
        ["mone", "-1.000", "-2.000", "-1.000", "other", ""],
        ["mone", "-4.000", "-4.123", "0.123", "stereotypical", ""],
    ]


def test_nothing_is_unpacked_before_it_is_opened(show: Callable[..., Page]) -> None:
    page = show(closed=True)
    assert page.locator(".pair-table tbody").count() == 0
    assert "stereotypes about people" in page.locator("#pair-browser > summary").inner_text()
    assert page.locator("#pair-browser-data").count() == 1


def test_hidden_texts(show: Callable[..., Page]) -> None:
    page = show(texts=False)
    assert "First sentence" not in cells(page, "g1")
    assert cells(page, "g1")["Difference"] == "+0.500"
    assert not re.search("[\u0900-\u09ff]", page.content().replace("প্রসঙ্গ", "")), "but for the name of the program"
    search(page, "c1", ["c1"])


def test_a_browser_that_cannot_unpack_says_so(show: Callable[..., Page]) -> None:
    page = show(plain_bytes=PACKED, closed=True)
    page.evaluate("delete window.DecompressionStream")
    page.locator("#pair-browser > summary").click()
    expect(page.locator(".pair-progress")).to_have_text(
        "The pairs could not be shown (this browser is too old to unpack them). Their scores lie in the folder"
        " results/likelihoods/pairs/ of the study."
    )


def test_without_scripts(show: Callable[..., Page]) -> None:
    page = show(closed=True, scripts=False)
    page.locator("#pair-browser > summary").click()
    expect(page.locator("noscript p")).to_contain_text("results/likelihoods/pairs/<set>/<model>.parquet")


@pytest.mark.parametrize("dark", [pytest.param(False, marks=pytest.mark.long), True])
def test_colours(show: Callable[..., Page], dark: bool) -> None:
    page = show(tables(copies=20), dark=dark)
    surface = page.locator("#pair-browser").evaluate("one => getComputedStyle(one).backgroundColor")
    for place in (
        ".pair-table td",
        ".pair-table thead th",
        ".pair-flag",
        ".dt-info",
        ".dt-paging-button:not(.disabled)",
    ):
        colour = page.locator(place).first.evaluate("one => getComputedStyle(one).color")
        assert contrast(colour, surface) >= 4.5, place
    mark = page.locator("mark").first
    front, back = mark.evaluate("one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]")
    assert contrast(front, back) >= 4.5
    keep_screenshot(page, f"pair_browser_{'dark' if dark else 'light'}", whole=True)


def test_narrow_screen(show: Callable[..., Page]) -> None:
    page = show(tables(copies=10), width=390, height=844, touch=True)
    assert overflow(page) == 0
    row = page.locator(".pair-table tbody tr").first
    boxes = row.locator("th, td").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert max(boxes) <= 390
    label = row.locator("td.pair-text").first.evaluate("one => getComputedStyle(one, '::before').content")
    assert label == '"First sentence"'
    assert row.get_attribute("role") == "row"
    page.locator("#pair-model").select_option("all")
    assert overflow(page) == 0
    keep_screenshot(page, "pair_browser_narrow")


def test_pages(show: Callable[..., Page]) -> None:
    page = show(tables(copies=10))
    expect(page.locator(".dt-info")).to_have_text("Pairs 1 to 25 of 70")
    page.locator(".dt-paging-button.next").click()
    expect(page.locator(".dt-info")).to_have_text("Pairs 26 to 50 of 70")
    page.get_by_label("Bias type").select_option(label="Caste")
    expect(page.locator(".dt-info")).to_have_text("Pairs 1 to 10 of 10 (of 70 in all)")


def test_no_globals(show: Callable[..., Page]) -> None:
    page = show(closed=True)
    before = set(page.evaluate("Object.keys(window)"))
    page.locator("#pair-browser > summary").click()
    expect(page.locator(".pair-table tbody tr")).to_have_count(7)
    assert set(page.evaluate("Object.keys(window)")) == before
