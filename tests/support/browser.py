"""A browser for tests of the page: Debian's Chromium, driven by Playwright, with no way to the network.

`PRASANGA_CHROMIUM` names another browser than the one found on the path. Nothing is ever downloaded.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

NAMES = ("chromium", "chromium-browser", "google-chrome")
SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
"""Where `keep_screenshot` puts its pictures; not part of the project, overwritten by every run."""

_INSIDE = ("file:", "data:", "blob:", "about:")


def find_browser() -> str | None:
    """The path of the browser to start; None if there is none."""
    named = os.environ.get("PRASANGA_CHROMIUM")
    return next(filter(None, (shutil.which(name) for name in ((named,) if named else NAMES))), None)


def is_required() -> bool:
    """Whether a missing browser is a failure: in CI, and wherever `make system` can install one."""
    return bool(os.environ.get("CI")) or (os.geteuid() == 0 and shutil.which("apt-get") is not None)


class OpenPage:
    """Opens pages in contexts of their own, and keeps what went wrong in them.

    `problems` has a sentence for every console error or warning (the content security policy's too), every
    error that no script caught, and every request to anything but a file or the page's own data.
    """

    def __init__(self, browser: Browser) -> None:
        self.problems: list[str] = []
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    def __call__(
        self,
        path: Path | str,
        *,
        width: int = 1200,
        height: int = 800,
        dark: bool = False,
        scripts: bool = True,
        touch: bool = False,
        media: str = "screen",
    ) -> Page:
        """Open a file from disk.

        Args:
            path: the file; a fragment may follow as in `index.html#numbers`.
            width: of the window, in CSS pixels, as is `height`.
            height: of the window.
            dark: whether the system asks for dark colours.
            scripts: whether scripts run.
            touch: whether there is a touch screen and no mouse.
            media: `screen` or `print`.
        """
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            java_script_enabled=scripts,
            has_touch=touch,
            is_mobile=touch,
            offline=True,
        )
        context.set_default_timeout(15_000)
        self._contexts.append(context)
        context.on("request", self._on_request)
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self.problems.append(f"uncaught: {error.error}"))
        page = context.new_page()
        if media != "screen":
            page.emulate_media(media=media)  # type: ignore[arg-type]
        file, hash_, fragment = str(path).partition("#")
        page.goto(Path(file).resolve().as_uri() + hash_ + fragment, wait_until="load")
        return page

    def close(self) -> None:
        """Close what was opened."""
        for context in self._contexts:
            context.close()

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith(_INSIDE):
            self.problems.append(f"asked for {request.url}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console {message.type}: {message.text}")


def keep_screenshot(page: Page, name: str, *, whole: bool = False) -> Path:
    """Write a picture of the window, or of the whole page, to `tests/screenshots/<name>.png`."""
    SCREENSHOTS.mkdir(exist_ok=True)
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path, full_page=whole, animations="disabled")
    return path


def contrast(front: str, back: str) -> float:
    """The contrast of two opaque colours as `getComputedStyle` writes them, 1 to 21 (WCAG 2.2, relative luminance)."""
    bright, dark = sorted((_luminance(front), _luminance(back)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(float(part) / 255) for part in re.findall(r"[\d.]+", colour)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def overflow(page: Page) -> float:
    """By how many pixels the page is wider than its window."""
    width: Any = page.evaluate("document.scrollingElement.scrollWidth - document.documentElement.clientWidth")
    return float(width)
