"""One section of the page by itself, without a study around it."""

from __future__ import annotations

import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from prasanga.report import templates


def render_part(name: str, **context: Any) -> str:
    """The HTML of `templates/<name>.html.j2`; what stands in no context is an error."""
    environment = Environment(
        loader=PackageLoader(templates.__name__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["with_language"] = environment.filters["with_code"] = lambda text: Markup(escape(text))
    return environment.get_template(f"{name}.html.j2").render(**context)


def cells_of(html: str) -> list[list[str]]:
    """The text of each cell of each row of the tables in it, tags taken away."""
    rows = re.findall(r"<tr\b.*?</tr>", html, flags=re.DOTALL)
    return [
        [Markup(cell).striptags() for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)]
        for row in rows
    ]
