"""One browser for all tests of a process; each test opens pages in it that share nothing.

A test fails at its end if a page it opened wrote an error or a warning to the console, let one go uncaught, or asked
for anything but files. A conftest.py takes the fixtures from here by name.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import OpenPage, find_browser, is_required
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser, with nothing open; skips where none is installed and none can be."""
    path = find_browser()
    if path is None:
        reason = "no Chromium was found: install it (`make system` does where it may), or name one by PRASANGA_CHROMIUM"
        (pytest.fail if is_required() else pytest.skip)(reason)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path)
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
