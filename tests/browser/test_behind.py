"""What stands behind a number, as a reader opens it: by mouse, keyboard and address, without a script, on paper."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from browser import OpenPage
from playwright.sync_api import Page, expect
from report_pages import HOSTILE, write_page

from prasanga.schema import TABLES

LENGTHS = {"9": "লাল গোলাপের গন্ধ", ">75": "বাগানে লাল গোলাপের গন্ধ আর অনেক কথা"}
ADDRESS = "behind-ceat.C1.wide_1.9"
CELL = "#effects .heat-table:visible tbody tr:first-child td:nth-of-type(2)"


def at(address: str) -> re.Pattern[str]:
    """Match the address of a page; it changes after what is seen, so tests wait for it by `to_have_url`."""
    return re.compile(f"#{re.escape(address)}$")


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with words of one estimate, and sentences of two words: one of them would run if it could."""
    key = {"category": "C1", "model": "wide_1", "segment_length": "9"}
    words = pl.DataFrame(
        [
            key | {"role": role, "set": role, "stimulus": word, "association": value, "effect_without": without}
            for role, word, value, without in (
                *(("x", "গোলাপ", 0.0312, 0.25), ("y", "মশা", -0.02, 0.85)),
                *(("a", "শান্তি", 0.01, 0.9), ("b", "দুঃখ", -0.01, None)),
            )
        ]
    )
    rows = [
        {"segment_length": length, "stimulus": "গোলাপ", "text": text, "source": "news.txt", "occurrence_id": "o1"}
        | {"start": text.index("গোলাপের"), "end": text.index("গোলাপের") + 7}
        for length, text in LENGTHS.items()
    ]
    hostile = f"মশা \u202e{HOSTILE}"
    rows.append(
        {"segment_length": "9", "stimulus": "মশা", "text": hostile, "source": "a.txt", "start": 0, "end": 3}
        | {"occurrence_id": "o2"}
    )
    sentences = pl.DataFrame(
        [
            {"method": "ceat", "category": "", "rank": 1, "n_measured": 25 - 24 * (row["stimulus"] == "মশা"), **row}
            for row in rows
        ],
        schema=TABLES["measured_sentences"].polars,
    )
    path = tmp_path_factory.mktemp("behind") / "index.html"
    return write_page(path, ceat_words=words, measured_sentences=sentences, files=["data/measured_sentences.tsv"])


def word_of(page: Page, word: str) -> list[str]:
    """The line of a word in the panel, and its sentences."""
    block = page.locator("#behind .behind-word").filter(has=page.locator("strong", has_text=word))
    return [
        " ".join(text.split())
        for text in (block.locator("summary").inner_text(), *block.locator("li").all_inner_texts())
    ]


def test_a_click_on_a_cell_opens_its_words_and_its_sentences(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(f"{page_file}#effects")
    page.locator(CELL).click()
    panel = page.locator("#behind")
    expect(panel.locator("h2")).to_have_text("C1, CEAT: wide_1, 9 words")
    summary, *sentences = word_of(page, "গোলাপ")
    assert summary == "গোলাপ rose flowers association +0.0312 effect without it +0.250"
    assert sentences == [f"{LENGTHS['9']} news.txt"]
    counts = panel.locator(".behind-word p.small").all_inner_texts()
    assert counts == ["The first 1 of 25 sentences:"]  # of the other word, the one that there is
    expect(panel.locator("mark").first).to_have_text("গোলাপের")
    # the word that moves the effect of 0.9 most stands first
    expect(panel.locator("ul li").first).to_have_text("গোলাপ, rose (flowers): +0.250 without it")
    word = panel.locator(".behind-word", has=page.locator("summary strong", has_text="গোলাপ"))
    word.locator("summary").click()
    expect(word).not_to_have_attribute("open", "")
    panel.get_by_role("button", name="গোলাপ").click()  # leads to its sentences
    expect(word).to_have_attribute("open", "")
    expect(word.locator("summary")).to_be_focused()
    words = panel.locator(".behind-word strong > span:first-child").all_inner_texts()
    assert words == ["গোলাপ", "মশা", "শান্তি", "দুঃখ"]
    expect(page).to_have_url(at(ADDRESS))
    page.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    expect(page).to_have_url(at("effects"))
    expect(page.locator(".view:visible")).to_have_id("method-ceat")


def test_the_keyboard_opens_and_closes_it_and_comes_back_to_the_cell(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(f"{page_file}#effects")
    page.locator(CELL).locator("a").focus()
    page.keyboard.press("Enter")
    panel = page.locator("#behind")
    expect(panel).to_be_visible()
    expect(panel.locator("#behind-title")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.locator(CELL).locator("a")).to_be_focused()


def test_an_address_opens_it_and_the_view_below(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(f"{page_file}#{ADDRESS}")
    expect(page.locator("#behind h2")).to_contain_text("wide_1, 9 words")
    page.keyboard.press("Escape")
    expect(page.locator(".view:visible")).to_have_id("category-C1")
    expect(page.locator(f'[id="{ADDRESS}"]')).to_be_visible()
