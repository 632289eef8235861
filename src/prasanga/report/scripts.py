"""Styles and scripts of the page, joined in a fixed order, and the policy under which nothing else runs or loads.

The page is one file that opens from disk: libraries (`prasanga.report.vendor`) and the page's own `templates/*.css` and
`templates/*.js` stand in it. A content security policy names each script by its SHA-256 digest: markup that comes in by
a sentence from the web cannot run, and nothing can be fetched. Styles cannot be named so: figures and bars have `style`
attributes, which digests do not cover. A style can load nothing here either.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from markupsafe import Markup

from prasanga.errors import InputError
from prasanga.report import templates, vendor
from prasanga.report.page_fonts import font_faces

LIBRARIES = (
    *("floating-ui-core.js", "floating-ui-dom.js"),
    *("datatables.js", "datatables-dt.js", "columncontrol.js", "columncontrol-dt.js"),
)
"""Scripts of others, each after those that it needs."""

LIBRARY_STYLES = ("datatables.css", "columncontrol.css")
"""Style sheets of others; the page's own come after them and may overrule them."""

FIRST_STYLE = "style.css"
"""The style sheet that all others of the page build on."""

FIRST_SCRIPT = "theme.js"
"""The script that runs before anything is drawn, so that no page is light first and dark then."""


class Assets(NamedTuple):
    """What `index.html.j2` writes: `policy` and `first` and `style` into the head, `scripts` at the end of the body.

    Each script stands in an element of its own, without a character more, or its digest is another.
    """

    policy: str
    style: Markup
    first: Markup
    scripts: list[Markup]


def page_assets(languages: Iterable[str] = ("bn", "hi")) -> Assets:
    """Everything that the page needs to be dressed and to run.

    Args:
        languages: those whose fonts the page is to bring along; one that needs none is passed over. The name of the
            project is Bangla, so that font is always there.

    Raises:
        InputError: a script or a style sheet that would end its own element, or nothing of that name.
    """
    own = sorted(entry.name for entry in files(templates.__name__).iterdir())
    sheets = [FIRST_STYLE, *(name for name in own if name.endswith(".css") and name != FIRST_STYLE)]
    scripts = [name for name in own if name.endswith(".js") and name != FIRST_SCRIPT]
    style = "\n".join(
        [
            font_faces({"bn", *languages}),
            *(checked(name, _notice(name) + vendor.text_of(name), "style") for name in LIBRARY_STYLES),
            *(checked(name, _own(name), "style") for name in sheets),
        ]
    )
    first = checked(FIRST_SCRIPT, _own(FIRST_SCRIPT), "script")
    later = [
        *(checked(name, _notice(name) + vendor.text_of(name), "script") for name in LIBRARIES),
        *(checked(name, _own(name), "script") for name in scripts),
    ]
    return Assets(policy_of([first, *later]), Markup(style), Markup(first), [Markup(text) for text in later])


def policy_of(scripts: Iterable[str]) -> str:
    """The content security policy under which these scripts run, no other does, and nothing is loaded.

    Args:
        scripts: the text of each script element, as it stands between its tags.
    """
    digests = " ".join(f"'sha256-{digest_of(text)}'" for text in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data:; font-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def digest_of(script: str) -> str:
    """The SHA-256 digest of a script element's text, in base64 as the policy names it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def checked(name: str, text: str, element: str) -> str:
    """The text as it may stand in an element of the page, with the line ends that a browser will see.

    Args:
        name: of the file, for the message.
        text: a script or a style sheet.
        element: `script` or `style`.

    Raises:
        InputError: the text holds what ends the element, or what hides the end of it.
    """
    found = re.search(rf"</{element}|<!--", text, re.IGNORECASE)
    if found:
        raise InputError(
            f"{name}: {found.group()!r} cannot stand in a <{element}> of the page. Write it in two parts there."
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _own(name: str) -> str:
    return (files(templates.__name__) / name).read_text(encoding="utf-8")


def _notice(name: str) -> str:
    """The licence of a library's first file, as its authors ask for where it is copied."""
    listed = vendor.vendored()
    entry = listed[name]
    files_of = [other for other in (*LIBRARIES, *LIBRARY_STYLES) if listed[other].licence_file == entry.licence_file]
    if name != files_of[0]:
        return f"/*! {entry.package} {entry.version}, {entry.licence} */\n"
    licence = vendor.text_of(entry.licence_file).strip().replace("*/", "* /")
    return f"/*! {entry.package} {entry.version}, {entry.licence}\n\n{licence}\n*/\n"
