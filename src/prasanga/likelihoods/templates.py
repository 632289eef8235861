"""Sentences of the categories for log-probability (`resources/templates/<language>/log_probability.yaml`).

A category's target stands in one slot and its attribute in the other, every target with every attribute in every
sentence. Where a category is exchanged, as C6 to C9 by the authors of the Bangla paper, its attributes (male and female
terms) take the place of the targets, with sentences of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.associations.categories import Category, category_of
from prasanga.base.yaml import Entry, read_distinct
from prasanga.errors import InputError
from prasanga.lexicon.model import Lexicon
from prasanga.lexicon.spelling import read_yaml, spelling_of
from prasanga.likelihoods.slots import (
    ATTRIBUTE,
    TARGET,
    SentenceTemplate,
    fill_sentence,
    form_for,
    read_sentence,
)
from prasanga.models.pieces import Span


@dataclass(frozen=True, slots=True)
class CategoryTemplates:
    """The sentences of a language's categories.

    Attributes:
        path: the file.
        language: bn, hi, en.
        described: by category, targets and attributes as the category describes them.
        exchanged: by category, with targets and attributes exchanged.
    """

    path: Path
    language: str
    described: Mapping[str, tuple[SentenceTemplate, ...]]
    exchanged: Mapping[str, tuple[SentenceTemplate, ...]]

    def of(self, category: str, *, exchanged: bool) -> tuple[SentenceTemplate, ...]:
        """The sentences of a category, none if there are none."""
        return (self.exchanged if exchanged else self.described).get(category, ())


class CategorySentence(NamedTuple):
    """A sentence with a target word and an attribute word in it, and where both stand."""

    template: str
    target_word: str
    attribute_word: str
    text: str
    target: Span
    attribute: Span


def load_category_templates(path: str | Path, normalization: str | None = None) -> CategoryTemplates:
    """Read a file of sentences by category.

    Args:
        path: the file.
        normalization: the study's, if not the language's own.

    Raises:
        InputError: the file is not there or no such file; an unknown key; a category without sentences; an id or a text
            that stands twice in a category; a sentence without its two slots.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check the path under `log_probability.templates` in the config.")
    content = read_yaml(path, normalization=normalization)
    content.require("a file of sentences by category", required=["language", "categories"], optional=["exchanged"])
    language = content.text("language")
    described, exchanged = (
        {name: _read_category(name, by_name, language) for name in by_name}
        for by_name in (content.entry_of("categories"), content.entry_of("exchanged"))
    )
    return CategoryTemplates(path, language, described, exchanged)


def require_sentences(templates: CategoryTemplates, categories: Iterable[str], exchanged: Collection[str] = ()) -> None:
    """Refuse categories without sentences, before anything is filled in or loaded.

    Args:
        templates: of the study.
        categories: `log_probability.categories`.
        exchanged: `log_probability.exchanged`.

    Raises:
        InputError: a line for each of them.
    """
    problems = []
    for name in categories:
        if not templates.of(name, exchanged=name in exchanged):
            section = "exchanged" if name in exchanged else "categories"
            there = ", ".join(templates.exchanged if name in exchanged else templates.described) or "none"
            problems.append(
                f"{templates.path}: no sentences for {name} under `{section}`, but `log_probability.categories` names"
                f" it{' and `log_probability.exchanged` too' if name in exchanged else ''}. It has {there}. Write"
                f" `{name}: [{{id: ..., text: ...}}]` there, or leave {name} out."
            )
    if problems:
        raise InputError("\n".join(problems))


def sides_exchanged(category: Category) -> Category:
    """The category with its attributes as targets and its targets as attributes."""
    (x, y, a, b), (name_x, name_y, name_a, name_b) = category.sets, category.set_names
    return Category(category.name, category.title, (name_a, name_b, name_x, name_y), (a, b, x, y))


def fill_categories(
    categories: Mapping[str, Mapping[str, Any]],
    templates: CategoryTemplates,
    lexicon: Lexicon,
    exchanged: Collection[str] = (),
) -> list[tuple[Category, list[CategorySentence]]]:
    """Each category as it is measured, with its sentences (`category_sentences`), in the order of `categories`.

    Args:
        categories: names to the layout of `categories.json`.
        templates: the sentences of each category.
        lexicon: where words are inflected.
        exchanged: categories whose targets and attributes change places.

    Raises:
        InputError: as `require_sentences` and `category_sentences`.
    """
    require_sentences(templates, categories, exchanged)
    filled = []
    for name, layout in categories.items():
        category = category_of(name, layout)
        if name in exchanged:
            category = sides_exchanged(category)
        sentences = templates.of(name, exchanged=name in exchanged)
        filled.append((category, category_sentences(category, sentences, lexicon)))
    return filled


def category_sentences(
    category: Category, sentences: Iterable[SentenceTemplate], lexicon: Lexicon
) -> list[CategorySentence]:
    """Every target of a category with every attribute in every sentence, by attribute, then sentence, then target.

    Args:
        category: as it is measured (`sides_exchanged` where it is).
        sentences: its templates.
        lexicon: where its words are inflected.

    Raises:
        InputError: a word lacks a form that a sentence asks for.
    """
    spelling = spelling_of(lexicon.language, lexicon.normalization)
    x, y, a, b = category.sets
    found = []
    for attribute in dict.fromkeys((*a, *b)):
        for template in sentences:
            attribute_form = form_for(lexicon, attribute, template.slot(ATTRIBUTE), template)
            for target in dict.fromkeys((*x, *y)):
                target_form = form_for(lexicon, target, template.slot(TARGET), template)
                filled = fill_sentence(template, target_form, attribute_form, spelling)
                found.append(CategorySentence(template.name, target, attribute, *filled))
    return found


def _read_category(name: str, by_name: Entry, language: str) -> tuple[SentenceTemplate, ...]:
    entries = by_name.entries_of(name)
    if not entries:
        raise InputError(
            f"{by_name.place}: the category `{name}` has no sentences. Write at least one `- {{id: ..., text: ...}}`,"
            " or delete the category."
        )
    return read_distinct(
        f"the category `{name}`", entries, lambda entry: _read_category_sentence(name, entry, language)
    )


def _read_category_sentence(category: str, entry: Entry, language: str) -> SentenceTemplate:
    entry.require(f"a sentence of the category `{category}`", required=["id", "text"], optional=["gloss"])
    return read_sentence(
        entry.text("text"),
        name=entry.text("id"),
        place=entry.place,
        language=language,
        gloss=entry.text("gloss"),
    )
