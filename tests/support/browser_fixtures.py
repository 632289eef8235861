"""One browser for all tests of a process; each test opens pages in it that share nothing.

Of the machine's fonts it knows none, so that a page looks the same wherever it is tested: those that it has come with
matplotlib, and have letters of neither Bangla nor Hindi.

A test fails at its end if a page it opened wrote an error or a warning to the console, let one go uncaught, or asked
for anything but files. Playwright runs once in a process, so tests/conftest.py has the fixtures for all tests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import pytest
from browser import OpenPage, find_browser, is_required
from playwright.sync_api import Browser, sync_playwright

FONTS = Path(__file__).with_name("fonts.conf")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The browser, with nothing open; skips where none is installed and none can be."""
    path = find_browser()
    if path is None:
        reason = "no Chromium was found: install it (`make system` does where it may), or name one by PRASANGA_CHROMIUM"
        (pytest.fail if is_required() else pytest.skip)(reason)
    fonts = tmp_path_factory.mktemp("fonts") / "fonts.conf"
    fonts.write_text(
        FONTS.read_text(encoding="utf-8").format(folder=matplotlib.get_data_path(), cache=fonts.parent),
        encoding="utf-8",
    )
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, env={**os.environ, "FONTCONFIG_FILE": str(fonts)})
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens a page: `open_page(path, width=, height=, dark=, scripts=, touch=, media=)`."""
    opened = OpenPage(browser)
    yield opened
    problems = list(opened.problems)
    opened.close()
    assert problems == []
