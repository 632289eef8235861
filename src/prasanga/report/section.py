"""A section of the page, as values: what it says, finds and shows. One template writes every section.

A text of a section is plain, or HTML (`Markup`, by `prasanga.report.sheet.html`): plain text is escaped where it is
written. What is folded, and what has a head of its own within a section, is a section again.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import pass_context
from markupsafe import Markup

from prasanga.report import ASSETS
from prasanga.report.figures import VARIABLES, figure_named
from prasanga.report.grid import anchor_of
from prasanga.report.sheet import TEMPLATES, Sheet, group_heads, html, list_template, show_table, shown
from prasanga.report.study import Results
from prasanga.schema import HEADINGS

ENGLISH = "en"
"""The language of the page where a study names none."""

# --------------------
# Styles and scripts of the page, joined in a fixed order, and the policy under which nothing else runs or loads.
#
# The page is one file that opens from disk and includes libraries (`templates/vendor`) and the page's own
# `templates/*.css` and `templates/*.js`. A content security policy names each script by its SHA-256 digest, so markup
# in a sentence from the web cannot run, and nothing can be fetched. Digests do not cover the `style` attributes of
# figures and bars, so styles are allowed; they cannot load anything either.


LIBRARIES = ("datatables.js", "datatables-dt.js", "columncontrol.js", "columncontrol-dt.js")
"""Scripts of others, each after those that it needs."""

LIBRARY_STYLES = ("datatables.css", "columncontrol.css")
"""Style sheets of others; the page's own come after them and may overrule them."""

_VENDOR = ASSETS / "vendor"

FIRST = ("style.css", "theme.js")
"""The style sheet that the page's others build on, and the script that runs before anything is drawn."""


def page_assets(languages: Iterable[str] = ("bn", "hi")) -> dict[str, Any]:
    """Return the `policy`, the `style` and the `first` script for the head of the page, and the `scripts` for its end.

    Each script has its own element with no other character in it; otherwise its digest would differ.

    Args:
        languages: those whose fonts the page is to bring along; one that needs none is passed over. The name of the
            project is Bangla, so that font is always there.
    """
    entries = sorted(ASSETS.iterdir(), key=lambda entry: (entry.name not in FIRST, entry.name))
    styles, (first, *scripts) = (
        [entry.read_text("utf-8") for entry in entries if entry.name.endswith(ending)] for ending in (".css", ".js")
    )
    style = "\n".join([font_faces({"bn", *languages}), *map(_read_library, LIBRARY_STYLES), *styles])
    scripts = [*map(_read_library, LIBRARIES), *scripts]
    return {"policy": policy_of([first, *scripts]), "style": style, "first": first, "scripts": scripts}


def policy_of(scripts: Iterable[str]) -> str:
    """Return the content security policy under which these scripts run, no other does, and nothing is loaded.

    Args:
        scripts: the text between the tags of each script element.
    """
    digests = " ".join(f"'sha256-{_base64(hashlib.sha256(text.encode()).digest())}'" for text in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data:; font-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _read_library(name: str) -> str:
    """Return a library after its licence, as its authors ask for where it is copied."""
    about = json.loads(_VENDOR.joinpath("vendor.json").read_text("utf-8"))[name]
    licence, library = (_VENDOR.joinpath(file).read_text("utf-8") for file in (about["licence_file"], name))
    head = "{package} {version}, {licence}".format_map(about)
    return f"/*! {head}\n\n{licence.strip().replace('*/', '* /')}\n*/\n{library}"


def font_faces(languages: Iterable[str]) -> str:
    """Return `@font-face` rules with the fonts of these languages (bn, hi, en ...) in them, one rule per line."""
    return TEMPLATES.get_template("fonts.css.j2").render(languages=set(languages)).strip()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _pack(text: str) -> Markup:
    # no time goes in, so that the same page comes out
    return Markup(_base64(gzip.compress(text.encode(), compresslevel=9, mtime=0)))


PLAIN_BYTES = 1 << 18
"""Data up to this size are JSON in the page, which every browser reads; larger data are gzip in base64."""


def inline_data(data: Mapping[str, Any]) -> tuple[str, Markup]:
    """Return data for a script: `json` or `gzip`, and the text for a script element.

    Args:
        data: plain values; keys are texts or numbers.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if len(text.encode()) > PLAIN_BYTES:
        return "gzip", _pack(text)
    # What could end the element or begin a comment, and what turns the direction of a line and so misleads a reader of
    # the source, occurs only in JSON strings.
    return "json", Markup(re.sub("[<>&\u2028\u2029\u202a-\u202e\u2066-\u2069]", lambda m: f"\\u{ord(m[0]):04x}", text))


def visible(text: str) -> Markup:
    """Return HTML in which a character that turns the direction of what follows is seen, and turns nothing.

    These are embeddings, overrides and isolates (Unicode Standard Annex 9).
    """
    return Markup(re.sub("[\u202a-\u202e\u2066-\u2069]", lambda found: f"⟨U+{ord(found[0]):04X}⟩", text))


def inline(svg: str, *, label: str) -> Markup:
    """Return the `<svg>` element of a figure for a page, named `label` for those who do not see it.

    Prolog, comments, metadata and indentation go; colors of the palette become variables of the page's style, with the
    color itself as a fallback.
    """
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|(?<=\n) +", "", svg, flags=re.DOTALL)
    attributes, _, body = body.partition("<svg")[2].partition(">")
    box = "".join(re.findall(r'viewBox="[\d. -]+"', attributes))
    for color, variable in VARIABLES.items():
        body = re.sub(re.escape(color), f"var({variable}, {color})", body, flags=re.IGNORECASE)
    return Markup('<svg {} role="img" aria-label="{}">{}').format(Markup(box), label, Markup(body.strip()))


# --------------------


@dataclass(frozen=True)
class Section:
    """A section of the page, or a part of one.

    Its parts appear in this order: text, widget, sheets, figures, key, findings, definitions, items, folded parts,
    notes and files, and then the parts with heads of their own.

    Attributes:
        title: its head, or of a folded part the line that opens it.
        id: what links lead to it by.
        text: paragraphs.
        findings: what came out, a sentence each.
        widget: HTML (`Markup`) of its own.
        sheets: tables.
        figures: SVG and caption of each figure.
        key: how to read what is above.
        definitions: what terms mean.
        items: a list of sentences.
        parts: sections within it.
        notes: small print below all of it.
        files: paths from the page, and what they are; `files_text` is written before them.
        folded: whether it is closed until it is opened.
        is_open: whether a folded part is open at first.
        packed: what to say where no script can unpack it; empty for a part that is not packed.
        look: class of a folded part, or of the definitions.
    """

    title: str
    id: str = ""
    text: Sequence[str] = ()
    findings: Sequence[str] = ()
    widget: str = ""
    sheets: Sequence[Sheet] = ()
    figures: Sequence[tuple[Markup, str]] = ()
    key: Sequence[str] = ()
    definitions: Sequence[tuple[str, str]] = ()
    items: Sequence[str] = ()
    parts: Sequence[Section] = ()
    notes: Sequence[str] = ()
    files: Sequence[tuple[str, str]] = ()
    files_text: str = ""
    folded: bool = False
    is_open: bool = False
    packed: str = ""
    look: str = ""


@dataclass(frozen=True)
class View:
    """What a reader sees at one time: sections, behind a tab of an entry of the navigation.

    Attributes:
        id: what links lead to it by.
        entry: the entry of the navigation; views of one entry are its tabs.
        name: what its tab says.
        more: what its tab says after the name, smaller.
        sections: those that are open.
        folded: those below them, closed until they are opened.
    """

    id: str
    entry: str
    name: str
    sections: Sequence[Section | None] = ()
    folded: Sequence[Section | None] = ()
    more: str = ""

    @property
    def contents(self) -> list[Section]:
        """Return its sections in their order, those folded that are to be."""
        return [
            *(section for section in self.sections if section is not None),
            *(replace(section, folded=True) for section in self.folded if section is not None),
        ]


def render(template: str, **context: Any) -> Markup:
    """Return the HTML of `templates/<template>.html.j2`; a name that it lacks is an error."""
    return Markup(TEMPLATES.get_template(f"{template}.html.j2").render(**context))


def prose(passage: str, **values: object) -> Markup:
    """Return a passage of `templates/prose.html.j2` with these values in it, in one line."""
    return Markup(" ").join(paragraphs(passage, **values))


def paragraphs(passage: str, **values: object) -> list[Markup]:
    """Return the paragraphs of a passage, each in one line."""
    written = getattr(TEMPLATES.get_template("prose.html.j2").module, passage)(**values)
    return [Markup(" ".join(paragraph.split())) for paragraph in re.split(r"\n\s*\n", written) if paragraph.strip()]


def fill_section(passage: str, values: Mapping[str, Any] | None = None, **parts: Any) -> Section:
    """Return a section whose head, address and text are a passage of `templates/prose.html.j2`.

    The text is the key to what the section shows, if it has a table, a figure or a widget.

    Args:
        passage: its first line is `# address: head`; paragraphs follow, parted by empty lines.
        values: values for the passage.
        parts: the other parts of the section.
    """
    head, *text = paragraphs(passage, **(values or {}))
    address, _, title = head.removeprefix("# ").partition(": ")
    shows = any(parts.get(name) for name in ("widget", "sheets", "figures"))
    return Section(Markup(title), address, text=[] if shows else text, key=text if shows else [], **parts)


def sheet_to_html(sheet: Sheet, language: str = ENGLISH) -> Markup:
    """Write a table of the page, its heads in a language, in a region that scrolls sideways on a narrow screen."""
    groups = group_heads(sheet)
    # whether a group begins with a column
    starts = [
        bool(groups) and n == 0 for _, n_columns in groups or [("", len(sheet.columns))] for n in range(n_columns)
    ]
    return render("table", sheet=sheet, groups=groups, starts=starts, language=language) + "\n"


def page_to_html(
    title: str, views: Sequence[View], *, language: str, scripts: Iterable[str], panel: str = "", home: str = ""
) -> Markup:
    """Write a page: the views by their entries of the navigation, in the order in which these come.

    Args:
        title: its head.
        views: those without a section are left out.
        language: of the page's own labels.
        scripts: languages whose fonts the page is to bring along.
        panel: HTML after the views.
        home: the page over the pages of all languages, where the study has several.
    """
    entries: dict[str, list[View]] = {}
    for view in views:
        if view.contents:
            entries.setdefault(view.entry, []).append(view)
    assets = page_assets({language, *scripts})
    return render("index", assets=assets, title=title, entries=entries, language=language, panel=panel, home=home)


def fold(name: str, more: str, **parts: Any) -> Section:
    """Return a folded part whose head is a name, set off, and more after it."""
    return Section(html("<strong>{}</strong> {}", name, more), folded=True, **parts)


def fold_table(title: str, name: str, rows: Sequence[Any], **parts: Any) -> list[Section]:
    """Return a folded part with a table of `templates/tables.tsv`; nothing if it has no rows."""
    return [Section(title, sheets=[show_table(name, rows)], folded=True, **parts)] if rows else []


def figure_of(results: Results, *names: str) -> list[tuple[Markup, str]]:
    """Return the figures of these files that the study has drawn, with their captions."""
    return [
        (inline(results.figures[name], label=entry.label), entry.caption)
        for name in names
        if name in results.figures and (entry := figure_named(name))
    ]


def with_code(text: str) -> Markup:
    """Return a text in which `x` is code."""
    parts = re.split("`([^`]+)`", text)
    return Markup("").join(html("<code>{}</code>", part) if n % 2 else shown(part) for n, part in enumerate(parts))


def conventions_note(conventions: Iterable[str], more: str, *, head: str = "Conventions") -> Markup:
    """Return the sentence that names the conventions of numbers, and more after it."""
    named = Markup("; ").join(html("<code>{}</code>", text) for text in conventions)
    return html("{}: {}. {}", head, named, more)


def hides_texts(config: Mapping[str, Any]) -> bool:
    """Return whether sentences of the corpus and of pairs are to stay out of the page."""
    return bool(config.get("report", {}).get("texts") == "hidden")


def language_of(config: Mapping[str, Any]) -> str:
    """Return the language of the page's own labels."""
    return str(config.get("report", {}).get("language", ENGLISH))


def said(text: str, language: str, **values: object) -> str:
    """Return a label of the page in a language, with these values in it.

    Args:
        text: the label in English; what `labels.tsv` has not is of a study, and stays as it is.
        language: en, bn or hi.
        values: values for the braces in the label.
    """
    found = (list_template("labels.tsv").get(text) or _HEADINGS.get(text, {})).get(language, text)
    return found.format(**values) if values else found


_HEADINGS = {heading.en: {"bn": heading.bn, "hi": heading.hi} for heading in HEADINGS.values()}


TEMPLATES.filters |= {
    "said": pass_context(lambda page, text, **values: said(text, page["language"], **values)),
    "packed": lambda text: _pack(visible(text)),
    "visible": visible,
    "embedded": lambda name: _base64(_VENDOR.joinpath(name).read_bytes()),
    "table": pass_context(lambda page, sheet: sheet_to_html(sheet, page["language"])),
    "plain_text": lambda text: shown(text).striptags(),
    "with_code": with_code,
    "anchor": anchor_of,
}
