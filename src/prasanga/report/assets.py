"""Styles and scripts of the page, joined in a fixed order, and the policy under which nothing else runs or loads.

The page is one file that opens from disk: libraries (`prasanga.report.vendor`) and the page's own `templates/*.css` and
`templates/*.js` stand in it. A content security policy names each script by its SHA-256 digest: markup that comes in by
a sentence from the web cannot run, and nothing can be fetched. Styles cannot be named so: figures and bars have `style`
attributes, which digests do not cover. A style can load nothing here either.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple
from xml.etree import ElementTree

from markupsafe import Markup

from prasanga.base.errors import InputError, reason
from prasanga.report import templates, vendor
from prasanga.report.figures.palette import VARIABLES
from prasanga.report.vendor import place_of

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
    """Return everything that the page needs to be dressed and to run.

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
    """Return the content security policy under which these scripts run, no other does, and nothing is loaded.

    Args:
        scripts: the text of each script element, as it stands between its tags.
    """
    digests = " ".join(f"'sha256-{digest_of(text)}'" for text in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data:; font-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def digest_of(script: str) -> str:
    """Return the SHA-256 digest of a script element's text, in base64 as the policy names it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def checked(name: str, text: str, element: str) -> str:
    """Return the text as it may stand in an element of the page, with the line ends that a browser will see.

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
    """Return the licence of a library's first file, as its authors ask for where it is copied."""
    listed = vendor.vendored()
    entry = listed[name]
    files_of = [other for other in (*LIBRARIES, *LIBRARY_STYLES) if listed[other].licence_file == entry.licence_file]
    if name != files_of[0]:
        return f"/*! {entry.package} {entry.version}, {entry.licence} */\n"
    licence = vendor.text_of(entry.licence_file).strip().replace("*/", "* /")
    return f"/*! {entry.package} {entry.version}, {entry.licence}\n\n{licence}\n*/\n"


class _Family(NamedTuple):
    """A family as the style sheet calls it, its file without weight and ending, and the characters it is for."""

    name: str
    file: str
    characters: str


_FAMILIES = {
    "bn": _Family(
        "Noto Sans Bengali",
        "fonts/noto-sans-bengali",
        "U+0951-0952,U+0964-0965,U+0980-09FE,U+1CD0,U+1CD2,U+1CD5-1CD6,U+1CD8,U+1CE1,U+1CEA,U+1CED,U+1CF2,U+1CF5-1CF7,"
        "U+200C-200D,U+20B9,U+25CC,U+A8F1",
    ),
    "hi": _Family(
        "Noto Sans Devanagari",
        "fonts/noto-sans-devanagari",
        "U+0900-097F,U+1CD0-1CF9,U+200C-200D,U+20A8,U+20B9,U+20F0,U+25CC,U+A830-A839,U+A8E0-A8FF,U+11B00-11B09",
    ),
}
"""By language; the ranges are those of the npm packages that the files come from."""

_WEIGHTS = (400, 700)


def font_faces(languages: Iterable[str]) -> str:
    """Return `@font-face` rules with the fonts in them: a page looks the same on every machine.

    Args:
        languages: codes of those on the page (bn, hi, en ...); one without a font of its own adds nothing.
    """
    used = set(languages)
    return "\n".join(_rule(family, weight) for code, family in _FAMILIES.items() if code in used for weight in _WEIGHTS)


def _rule(family: _Family, weight: int) -> str:
    data = base64.b64encode(place_of(f"{family.file}-{weight}.woff2").read_bytes()).decode("ascii")
    return (
        f'@font-face {{ font-family: "{family.name}"; font-style: normal; font-weight: {weight}; font-display: block;'
        f' src: url("data:font/woff2;base64,{data}") format("woff2"); unicode-range: {family.characters}; }}'
    )


def pack(html: str) -> Markup:
    """Return HTML as gzip in base64, to stand in an attribute.

    Args:
        html: a part of the page, escaped as it is to be shown: it is put into the page as it is.
    """
    html = visible(html)
    # no time goes in, so that the same page comes out
    return Markup(base64.b64encode(gzip.compress(html.encode(), compresslevel=9, mtime=0)).decode())


def visible(text: str) -> Markup:
    """Return HTML in which a character that turns the direction of what follows is seen, and turns nothing."""
    return Markup(_TURNING.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text))


_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Embeddings, overrides and isolates (Unicode Standard Annex 9)."""

_ACTIVE = {"script", "foreignobject", "iframe", "image"}


def inline(svg: str, *, label: str) -> Markup:
    """Return the `<svg>` element for a page, named `label` for those who do not see it.

    Prolog, comments and metadata go; colours of the palette become variables of the page's style, with the colour
    itself as a fallback.

    Raises:
        InputError: what is given is not SVG, or holds a script or anything from outside.
    """
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise InputError(f"the figure is not SVG ({reason(error)}). Draw it again.") from error
    for element in root.iter():
        name = element.tag.rpartition("}")[2].lower()
        runs = name in _ACTIVE or any(key.startswith("on") for key in element.attrib)
        loads = any(key.rpartition("}")[2] == "href" and value[:1] != "#" for key, value in element.attrib.items())
        if runs or loads:
            raise InputError(f"the figure holds <{name}> with something that runs or loads. Draw it again.")
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    _, start, body = body.partition("<svg")
    attributes, _, body = body.partition(">")
    box = re.search(r'viewBox="[\d. -]+"', attributes)
    if not start or box is None:
        raise InputError("the figure has no <svg> element with a viewBox. Draw it again.")
    for colour, variable in VARIABLES.items():
        body = re.sub(re.escape(colour), f"var({variable}, {colour})", body, flags=re.IGNORECASE)
    return Markup('<svg {} role="img" aria-label="{}">{}').format(Markup(box.group()), label, Markup(body.strip()))
