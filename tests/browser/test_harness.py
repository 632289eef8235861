"""The browser tests notice what they are there to notice."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import OpenPage, contrast, find_browser, overflow


def test_problems_of_a_page_are_kept(open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "bad.html"
    file.write_text(
        '<meta charset="utf-8"><img src="http://example.org/a.png" alt=""><p style="width: 2000px">wide</p>'
        "<script>console.warn('careful'); console.error('wrong'); throw new Error('lost')</script>",
        encoding="utf-8",
    )
    page = open_page(file)
    assert overflow(page) > 700
    found = " ".join(open_page.problems)
    assert all(text in found for text in ("example.org", "careful", "wrong", "lost"))
    open_page.problems.clear()


def test_scripts_run_only_where_asked(open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "title.html"
    file.write_text("<title>without</title><p>a</p><script>document.title = 'with'</script>", encoding="utf-8")
    assert open_page(file).title() == "with"
    assert open_page(file, scripts=False).title() == "without"


def test_dark_and_narrow_reach_the_page(open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "media.html"
    file.write_text(
        "<style>p { color: rgb(1, 2, 3) } @media (prefers-color-scheme: dark) and (max-width: 400px)"
        " { p { color: rgb(4, 5, 6) } }</style><p>a</p>",
        encoding="utf-8",
    )
    colour = "getComputedStyle(document.querySelector('p')).color"
    assert open_page(file).evaluate(colour) == "rgb(1, 2, 3)"
    assert open_page(file, dark=True, width=360).evaluate(colour) == "rgb(4, 5, 6)"


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)
    assert contrast("rgb(119, 119, 119)", "rgb(255, 255, 255)") == pytest.approx(4.48, abs=0.005)


def test_another_browser_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRASANGA_CHROMIUM", "/nowhere/chromium")
    assert find_browser() is None
