"""What is beyond a study: studies compared, and the dossier of a paper. No other package but the command imports it."""

import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from prasanga.base.documents import escape_markdown


def render_template(name: str, **context: Any) -> str:
    """Return a file of `templates`, filled in; `plain` and `code` escape text for Markdown."""
    environment = Environment(
        loader=PackageLoader("prasanga.extras"),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["plain"] = escape_markdown
    environment.filters["code"] = lambda text: (
        f"`{text}`" if re.fullmatch(r"[\w./* -]+", text) else escape_markdown(text)
    )
    return environment.get_template(name).render(context)
