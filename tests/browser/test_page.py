"""The page as a reader has it: opened from disk, wide and narrow, light and dark, by mouse, keyboard and touch."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest
from browser import OpenPage, contrast, keep_screenshot, overflow
from playwright.sync_api import Page, expect
from report_pages import HOSTILE, estimates

# What axe-core finds in the view that is shown, a list each: the rule, and what breaks it.
AXE = """() => axe.run(document, { resultTypes: ['violations'],
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] } })
  .then((found) => found.violations.map((each) => [each.id, ...each.nodes.map((node) => node.html.slice(0, 160))]))"""
HEAT = "#effects .heat-table"
NUMBERS = "#numbers table.explorable"


def go(page: Page, place: str) -> None:
    """Follow a link to a view, or to a section, which is opened."""
    page.evaluate("(place) => { location.hash = place; }", place)
    expect(page.locator(f"#{place}")).to_be_visible()


def open_numbers(page: Page) -> None:
    go(page, "numbers")
    expect(page.locator("#numbers .dt-info")).to_be_visible()


def column(page: Page, name: str) -> list[str]:
    """The texts of a column of the table of all numbers, as they stand."""
    heads = page.locator(f"{NUMBERS} thead tr").first.locator(".dt-column-title").all_inner_texts()
    return page.locator(f"{NUMBERS} tbody tr > :nth-child({heads.index(name) + 1})").all_inner_texts()


def sort_by(page: Page, name: str, direction: str = "ascending") -> None:
    head = page.locator(f"{NUMBERS} thead tr").first.locator("th", has_text=re.compile(f"^{name}")).first
    head.locator(".dt-column-title").click()
    expect(head).to_have_attribute("aria-sort", direction)


def views_of(page: Page) -> list[str]:
    return page.locator(".view").evaluate_all("(views) => views.map((view) => view.id)")


def number(text: str) -> float:
    return float(text.replace("−", "-").rstrip("*"))


def test_a_table_sorts_and_what_is_missing_comes_last(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(page_file)
    open_numbers(page)
    assert len(column(page, "Effect size")) == 18
    for descending in (False, True):
        sort_by(page, "Effect size", "descending" if descending else "ascending")
        texts = column(page, "Effect size")
        assert texts[-2:] == ["–", "–"]
        shown = [number(text) for text in texts[:-2]]
        assert shown == sorted(shown, reverse=descending)
        assert shown[0] != shown[-1]
    sort_by(page, "Words")
    assert column(page, "Words") == ["mean"] * 6 + ["9"] * 6 + [">75"] * 6
    sort_by(page, "Category")
    assert list(dict.fromkeys(column(page, "Category"))) == ["C1", "C4", "C10"]
    keep_screenshot(page, "numbers-sorted")


def test_a_table_filters_by_list_by_number_and_by_word(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(page_file)
    open_numbers(page)
    info = page.locator("#numbers .dt-info")
    page.get_by_role("button", name="Filter by Model").click()
    chosen = page.locator(".dtcc-list-buttons button", has_text="wide_1")
    chosen.click()
    expect(info).to_contain_text("1 to 9 of 9")
    expect(chosen).to_have_attribute("aria-pressed", "true")
    assert set(column(page, "Model")) == {"wide_1"}
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Filter by Effect size").click()
    page.locator(".dtcc-searchNumber select").select_option("less")
    page.locator(".dtcc-searchNumber input").fill("-0.25")
    table = estimates().filter((pl.col("model") == "wide_1") & (pl.col("effect_size") < -0.25))
    expect(info).to_contain_text(f"of {len(table)}")
    assert sorted(map(number, column(page, "Effect size"))) == sorted(round(x, 3) for x in table["effect_size"])
    page.keyboard.press("Escape")
    keep_screenshot(page, "numbers-filtered")
    page.locator("#numbers").get_by_role("button", name="Show all rows").click()
    expect(info).to_contain_text("1 to 18 of 18")
    page.locator("#numbers").get_by_label("Search").fill("C4 >75")
    expect(info).to_contain_text("of 2 ")
    assert set(zip(column(page, "Category"), column(page, "Words"), strict=True)) == {("C4", ">75")}


@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=pytest.mark.long)])
def test_nothing_is_wider_than_a_phone(open_page: OpenPage, page_file: Path, scripts: bool) -> None:
    page = open_page(page_file, width=360, height=740, scripts=scripts)
    keep_screenshot(page, f"phone{'' if scripts else '-no-scripts'}")
    for view in views_of(page):
        page.goto(f"{page_file.as_uri()}#{view}")
        assert overflow(page) == 0, view
        for summary in page.locator("summary:visible").all():
            summary.click()
        assert overflow(page) == 0, view


def test_one_view_is_shown_and_marked(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(page_file)
    present, shown = page.locator("nav a[aria-current]"), page.locator(".view:visible")
    expect(present).to_have_text("Findings")
    expect(shown).to_have_id("overview")
    for entry, view in (("Findings", "overview"), ("Categories", "category-C1"), ("Words and sentences", "data")):
        page.get_by_role("navigation").get_by_role("link", name=entry, exact=True).click()
        expect(present).to_have_text(entry)
        expect(shown).to_have_count(1)
        expect(shown).to_have_id(view)
        assert page.evaluate("scrollY") == 0
    page.go_back()
    page.locator(".view:visible .tabs").get_by_role("link", name="C10").click()
    expect(shown).to_have_id("category-C10")
    expect(present).to_have_text("Categories")
    page.keyboard.press("Home")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(shown).to_have_id("category-C10")
    expect(page.locator("main")).to_be_focused()
    paper = "getComputedStyle(document.body).backgroundColor"
    for label, is_dark in (("Colors: light", False), ("Colors: dark", True), ("Colors: system", False)):
        page.locator(".colours").click()
        expect(page.locator(".colours")).to_have_text(label)
        assert (contrast(page.evaluate(paper), "rgb(0, 0, 0)") < 3) == is_dark
        page.emulate_media(media="print")
        assert contrast(page.evaluate(paper), "rgb(0, 0, 0)") > 20  # paper stays light
        page.emulate_media(media="screen")


def test_a_word_leads_to_its_sentences(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(f"{page_file}#category-C1")
    page.locator("#category-C1-words").get_by_role("link", name="গোলাপ").click()
    hits = page.locator("#word-গোলাপ")
    expect(hits).to_have_attribute("open", "")
    expect(hits.locator("mark")).to_have_text("গোলাপের")
    expect(hits).to_be_in_viewport()
    expect(page.locator(".view:visible")).to_have_id("data")


def test_without_scripts_all_is_there(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(f"{page_file}#method-ceat", scripts=False)
    cell = page.locator(f"{HEAT}:visible td").first
    assert "+0.90, 95% interval +0.36 to +1.44\n" in (cell.get_attribute("title") or "")
    page.locator("#numbers summary").first.click()
    rows = page.locator(f"{NUMBERS} tbody tr")
    expect(rows).to_have_count(18)
    expect(rows.first).to_be_visible()
    keep_screenshot(page, "no-scripts")
    page.locator(f"{HEAT}:visible").get_by_role("link", name="C10").click()
    expect(page.locator("#category-C10-methods")).to_be_in_viewport()
    page.emulate_media(color_scheme="dark")
    assert contrast(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(0, 0, 0)") < 3


def test_markup_that_gets_into_the_page_does_not_run(open_page: OpenPage, page_file: Path, tmp_path: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    broken = tmp_path / "page.html"
    away = "<script src='http://example.org/a.js'></script><link rel=stylesheet href='http://example.org/a.css'>"
    broken.write_text(
        text.replace("<main", f"{HOSTILE}{away}<iframe src='{page_file.as_uri()}'></iframe><main", 1), "utf-8"
    )
    page = open_page(broken)
    page.wait_for_timeout(200)
    assert page.title() == "A study of words · prasanga"
    assert page.locator(".colours").count() == 1
    found = " ".join(open_page.problems)
    assert "Content Security Policy" in found
    for address in ("a.js", "a.css", "index.html"):
        assert any("violates" in problem and address in problem for problem in open_page.problems), address
    open_page.problems.clear()


def test_bangla_is_shaped_by_the_font_of_the_page(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(page_file)
    measure = """async (text) => {
      if (!(await document.fonts.load('64px "Noto Sans Bengali"', text)).length) return null;
      const paint = document.createElement('canvas').getContext('2d');
      paint.font = '64px "Noto Sans Bengali", monospace';
      return paint.measureText(text).width;
    }"""
    joined, first, second = (page.evaluate(measure, text) for text in ("ক্ষ", "ক", "ষ"))
    assert joined < 0.75 * (first + second)
    brand = page.locator(".brand [lang=bn]")
    assert "Noto Sans Bengali" in brand.evaluate("(element) => getComputedStyle(element).fontFamily")


@pytest.mark.parametrize(("width", "dark"), [(1280, True), (390, False)])
def test_an_engine_finds_nothing_against_wcag(open_page: OpenPage, page_file: Path, width: int, dark: bool) -> None:
    page = open_page(page_file, width=width, height=844, dark=dark)
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    found: dict[str, list[str]] = {}
    for view in views_of(page):
        go(page, view)
        page.evaluate("document.querySelectorAll('.view:target details').forEach((fold) => { fold.open = true; })")
        for each in page.evaluate(AXE):
            found.setdefault(each[0], []).extend(each[1:])
    assert found == {}


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_every_view_is_pictured(open_page: OpenPage, page_file: Path, width: int, dark: bool) -> None:
    """`make screenshots` runs this one; `PRASANGA_PAGE` names another page than that of the small study."""
    file = Path(os.environ.get("PRASANGA_PAGE") or page_file).resolve()
    page = open_page(file, width=width, height=844, dark=dark)
    for view in views_of(page):
        go(page, view)
        assert overflow(page) == 0, view
        assert keep_screenshot(page, f"{view}-{width}-{'dark' if dark else 'light'}", whole=True).stat().st_size > 9000
