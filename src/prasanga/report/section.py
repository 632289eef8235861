"""A section of the page, as values: what it says, finds and shows. One template writes every section.

A text of a section is plain, or HTML (`Markup`, by `prasanga.report.sheet.html`): plain text is escaped where it is
written. What is folded, and what has a head of its own within a section, is a section again.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from markupsafe import Markup

from prasanga.base.yaml import load_yaml
from prasanga.report import templates
from prasanga.report.assets import inline, pack, page_assets, visible
from prasanga.report.figures.registry import figure_named
from prasanga.report.sheet import Sheet, html, sheet_to_html, shown
from prasanga.report.study import Results

ENGLISH = "en"
"""The language of the page where a study names none."""

RECOMMENDED = "recommended"
"""The preset of a study that names none."""

HIDDEN = "hidden"
"""The value of `report.texts` with which no sentence of the corpus and no sentence pair is on the page."""


@dataclass(frozen=True)
class Figure:
    """A figure of the page, and the sentence below it."""

    svg: Markup
    caption: str


@dataclass(frozen=True)
class Section:
    """A section of the page, or a part of one.

    What it holds stands in this order: text, findings, widget, sheets, figures, definitions, items, folded parts,
    notes and files, and then the parts with heads of their own.

    Attributes:
        title: its head, or of a folded part the line that opens it.
        id: what links lead to it by.
        text: paragraphs.
        findings: what came out, a sentence each.
        widget: HTML (`Markup`) of its own.
        sheets: tables.
        figures: figures.
        definitions: what terms mean.
        items: a list of sentences.
        parts: sections within it.
        notes: small print below all of it.
        files: paths from the page, and what they are; `files_text` is written before them.
        folded: whether it is closed until it is opened.
        is_open: whether what is folded is open at first.
        packed: what to say where no script can unpack it; empty for a part that stands in the page as it is.
        look: class of a folded part, or of the definitions.
    """

    title: str
    id: str = ""
    text: Sequence[str] = ()
    findings: Sequence[str] = ()
    widget: str = ""
    sheets: Sequence[Sheet] = ()
    figures: Sequence[Figure] = ()
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
        entry: the entry of the navigation; views of one entry stand beside each other as its tabs.
        name: what its tab says.
        sections: those that are open.
        folded: those below them, closed until they are opened.
    """

    id: str
    entry: str
    name: str
    sections: Sequence[Section | None] = ()
    folded: Sequence[Section | None] = ()

    @property
    def contents(self) -> list[Section]:
        """Return its sections in their order, those folded that are to be."""
        return [
            *(section for section in self.sections if section is not None),
            *(replace(section, folded=True) for section in self.folded if section is not None),
        ]


def render(template: str, **context: Any) -> Markup:
    """Return the HTML of `templates/<template>.html.j2`; a name that it lacks is an error."""
    return Markup(_templates().get_template(f"{template}.html.j2").render(**context))


def prose(passage: str, **values: object) -> Markup:
    """Return a passage of `templates/prose.html.j2` with these values in it, in one line."""
    written = getattr(_templates().get_template("prose.html.j2").module, passage)(**values)
    return Markup(" ".join(written.split()))


def section_to_html(section: Section, language: str = "en") -> Markup:
    """Write a section of the page, its head in this language."""
    return render("section", section=section, language=language)


def page_to_html(title: str, views: Sequence[View], *, language: str, scripts: Iterable[str]) -> Markup:
    """Write a page: the views by their entries of the navigation, in the order in which these come.

    Args:
        title: its head.
        views: those without a section are left out.
        language: of the page's own labels.
        scripts: languages whose fonts the page is to bring along.
    """
    entries: dict[str, list[View]] = {}
    for view in views:
        if view.contents:
            entries.setdefault(view.entry, []).append(view)
    return render(
        "index", assets=page_assets({language, *scripts}), title=title, entries=list(entries.items()), language=language
    )


def figure_of(results: Results, name: str, *, label: str) -> list[Figure]:
    """Return a figure of the study with the caption of its entry, as a list; empty where it was not drawn.

    Args:
        results: the study's.
        name: of the figure's file.
        label: what it shows, for those who do not see it.
    """
    svg, entry = results.figures.get(name), figure_named(name)
    # as an attribute a label has no tags
    return [Figure(inline(svg, label=shown(label).striptags()), entry.caption)] if svg and entry else []


def with_code(text: str) -> Markup:
    """Return a text in which `x` is code."""
    parts = re.split("`([^`]+)`", text)
    return Markup("").join(html("<code>{}</code>", part) if n % 2 else shown(part) for n, part in enumerate(parts))


def conventions_note(conventions: Sequence[str], more: str, *, head: str = "Conventions") -> Markup:
    """Return the sentence that names the conventions of numbers, and more after it."""
    named = Markup("; ").join(html("<code>{}</code>", text) for text in conventions)
    return html("{}: {}. {}", head, named, more)


def preset_of(config: Mapping[str, Any]) -> str:
    """Return the preset of a study."""
    return str(config.get("preset", RECOMMENDED))


def hides_texts(config: Mapping[str, Any]) -> bool:
    """Return whether sentences of the corpus and of pairs are to stay out of the page."""
    return bool(config.get("report", {}).get("texts") == HIDDEN)


def count(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun: "1 pair", "1,200 pairs"."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def language_of(config: Mapping[str, Any]) -> str:
    """Return the language of the page's own labels."""
    return str(config.get("report", {}).get("language", ENGLISH))


def said(text: str, language: str, **values: object) -> str:
    """Return a label of the page in a language, with these values in it.

    Args:
        text: the label in English; what `labels.yaml` has not is of a study, and stays as it is.
        language: en, bn or hi.
        values: what stands in braces in the label.
    """
    found = labels().get(text, {}).get(language, text)
    return found.format(**values) if values else found


@functools.cache
def labels() -> Mapping[str, Mapping[str, str]]:
    """Return the labels of the page by their English text and by language."""
    file = files(templates.__name__) / "labels.yaml"
    found: dict[str, dict[str, str]] = load_yaml(file.name, file.read_text(encoding="utf-8"))
    return found


@functools.cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader(templates.__name__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: shown(value) if isinstance(value, str) else value,
    )
    environment.filters["said"] = pass_context(lambda context, text: said(text, context["language"]))
    environment.filters["packed"] = pack
    environment.filters["visible"] = visible
    environment.filters["table"] = sheet_to_html
    environment.filters["with_code"] = with_code
    return environment
