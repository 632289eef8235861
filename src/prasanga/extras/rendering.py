"""Templates of pages in Markdown."""

from __future__ import annotations

import re
from typing import Any

from jinja2 import PackageLoader

from prasanga.base.documents import escape_markdown
from prasanga.report.sheet import TEMPLATES


def render_template(name: str, **context: Any) -> str:
    """Return a file of `templates`, filled in; `plain` and `code` escape text for Markdown."""
    loader = PackageLoader("prasanga.extras")
    environment = TEMPLATES.overlay(
        loader=loader, autoescape=False, finalize=None, lstrip_blocks=False, keep_trailing_newline=True
    )
    environment.filters = {**environment.filters, "plain": escape_markdown, "code": _to_code}
    return environment.get_template(name).render(context)


def _to_code(text: str) -> str:
    return f"`{text}`" if re.fullmatch(r"[\w./* -]+", text) else escape_markdown(text)
