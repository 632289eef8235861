"""Sentences with two slots: the templates of categories, and the sentence structures S1 to S5 filled with traits."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
import regex

from prasanga.associations.estimates import CategoryWords, category_of
from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, read_distinct, read_json_object, read_text, suggest
from prasanga.lexicon.model import AUTHORS_LANGUAGE as LANGUAGE
from prasanga.lexicon.model import Lexicon, read_yaml, spelling_of
from prasanga.lexicon.templates import SLOT, WordForm, read_word_form, whole_words
from prasanga.models.pieces import Span
from prasanga.schema import TABLES
from prasanga.text.words import count_words, words

# --------------------
# Sentences with two slots, a target and an attribute, and where the words are once they are filled in.
#
#     {target:plural genitive}   the target in this number and case, from the lexicon
#     {attribute}                the attribute as it is
#     {target:indefinite}        English, with a or an before it
#     {Target}                   with a capital; a word at the beginning of an English sentence gets one by itself
#
# A letter that a sentence writes onto a slot ({target}রা) belongs to the word: what is masked is the whole
# inflected word, so that no ending hangs on a mask.


TARGET, ATTRIBUTE = "target", "attribute"

SPANS = pl.Schema({"text": pl.String(), TARGET: pl.List(pl.Int64), ATTRIBUTE: pl.List(pl.Int64)})
"""Columns of a sentence: its text, normalized as the study's texts are, and the characters [start, end) of its target
and attribute."""


class SentenceTemplate(NamedTuple):
    """A sentence with a slot for a target and one for an attribute.

    Attributes:
        name: its id, or the name of its structure.
        texts: the text before the first slot, between both, and after the second; normalized.
        forms: the forms in which the slots take their words, by target and attribute, in the order of the slots.
        place: file and line, for messages.
    """

    name: str
    texts: tuple[str, ...]
    forms: Mapping[str, WordForm]
    place: str


def read_sentence(text: str, *, name: str, place: str, language: str) -> SentenceTemplate:
    """Return a template from its text, which is normalized.

    Args:
        text: with one slot for a target and one for an attribute.
        name: its id.
        place: file and line, for messages.
        language: bn, hi, en; English has articles and capitals.

    Raises:
        InputError: a slot that is missing, is there twice or asks for an unknown form.
    """
    what = f"{place}: the sentence `{name}`"
    slots = list(SLOT.finditer(text))
    edges = [0, *(edge for slot in slots for edge in slot.span()), len(text)]
    texts = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    forms: dict[str, WordForm] = {}
    for slot in slots:
        written, _, options = slot[1].partition(":")
        role = written.strip()
        if role not in (TARGET, ATTRIBUTE, TARGET.capitalize(), ATTRIBUTE.capitalize()):
            raise InputError(f"{what} has the slot {slot[0]}.{suggest(role, (TARGET, ATTRIBUTE))}")
        asks, before = f"{what} asks in its slot {slot[0]} for", None if forms else texts[0]
        capital = role[0].isupper()
        forms[role.lower()] = read_word_form(asks, options, language=language, before=before, capital=capital)
    are_open = text.count("{") != len(slots) or text.count("}") != len(slots)
    if are_open or len(slots) != 2 or len(forms) != 2 or not texts[1]:
        found = ", ".join(slot[0] for slot in slots) or "none"
        raise InputError(
            f"{what} has the slots {found}. Write {{target}} once and {{attribute}} once, with at least a space between"
            f" them: {text}"
        )
    return SentenceTemplate(name, tuple(texts), forms, place)


def fill_sentence(
    template: SentenceTemplate, target: str, attribute: str, lexicon: Lexicon, spelling: Callable[[str], str]
) -> tuple[str, Span, Span]:
    """Return a sentence with two words in it, and the spans of the whole inflected target and attribute.

    Args:
        template: the sentence.
        target: the target, a stimulus.
        attribute: the attribute, a stimulus; any word where the slot asks for no number or case.
        lexicon: where words are inflected.
        spelling: the study's normalization of a text (`prasanga.lexicon.model.spelling_of`).

    Raises:
        InputError: a word lacks the form that its slot asks for; normalization changes letters where a word meets the
            sentence.
    """
    text, spans, parts = template.texts[0], {}, []
    for (role, form), (left, rest) in zip(template.forms.items(), pairwise(template.texts), strict=True):
        try:
            word = form.of(lexicon, target if role == TARGET else attribute)
        except InputError as error:
            raise InputError(
                f"{template.place}: the sentence `{template.name}` cannot be filled in. {error} Or list the form under"
                " `forms:` of the word in its word set."
            ) from None
        phrase = form.phrase(word)
        text += phrase
        spans[role] = (len(text) - len(word), len(text))
        text += rest
        parts.append(left + phrase + rest)
    # Words and sentence are normalized by themselves. Where they meet is checked for each word and not for each pair
    # of words, of which there are many more.
    if not all(_is_spelled(spelling, part) for part in parts):
        raise InputError(
            f"{template.place}: the sentence `{template.name}` with {target} and {attribute} changes letters when it is"
            f" normalized ({spelling(text)}). Write a space or a form ({{target:genitive}}) beside the slot."
        )
    return text, whole_words(text, *spans[TARGET]), whole_words(text, *spans[ATTRIBUTE])


@lru_cache(maxsize=1 << 14)
def _is_spelled(spelling: Callable[[str], str], text: str) -> bool:
    """Return whether normalization leaves a text as it is."""
    return spelling(text) == text


_Items: TypeAlias = Iterable[tuple[tuple[Any, ...], SentenceTemplate, str, str]]
"""The first columns of rows, with template, target and attribute."""


def _fill(items: _Items, schema: pl.Schema, lexicon: Lexicon) -> pl.DataFrame:
    """Return filled sentences."""
    spelling = spelling_of(lexicon.language, lexicon.normalization)
    rows = [
        (*names, *fill_sentence(template, target, attribute, lexicon, spelling))
        for names, template, target, attribute in items
    ]
    columns = dict(zip(schema, zip(*rows, strict=True), strict=True)) if rows else {}
    # spans go through arrays, since Polars would make a series of each
    spans = {role: pl.Series(np.array(columns[role])).cast(SPANS[role]) for role in (TARGET, ATTRIBUTE) if rows}
    return pl.DataFrame({**columns, **spans}, schema=schema)


def _read_entry(entry: Entry, name: str, language: str) -> SentenceTemplate:
    entry.text("gloss")  # for readers of the file; refused if it is no text
    return read_sentence(entry.text("text"), name=name, place=entry.place, language=language)


# --------------------
# Sentences of the categories for log-probability (`resources/templates/<language>/log_probability.yaml`).
#
# A category's target is in one slot and its attribute in the other, every target with every attribute in every
# sentence. Where a category is exchanged, as C6 to C9 by the authors of the Bangla paper, its attributes (male and
# female terms) take the place of the targets, with sentences of their own.


CATEGORY_SENTENCES = pl.Schema(
    {**dict.fromkeys(("category", "template", "target_word", "attribute_word"), pl.String()), **SPANS}
)
"""Columns of the filled sentences of categories."""

_Sections: TypeAlias = Mapping[str, Mapping[str, tuple[SentenceTemplate, ...]]]
"""Templates by section, `categories` or `exchanged`, and category."""


def read_category_sentences(
    settings: Mapping[str, Any], categories: Mapping[str, Mapping[str, Any]], lexicon: Lexicon
) -> pl.DataFrame:
    """Put every target of each category with every attribute into every sentence.

    Args:
        settings: plain values: the file `templates`, and which categories are `exchanged`, so that their targets and
            attributes change places. The file is YAML, or JSON with the sentences as the notebook of Sadhu et al.
            (2024) has them, GGG for the target and XXX for the attribute: {"C1": [sentence, ...], "exchanged": {"C6":
            [...]}}.
        categories: names to the layout of `categories.json`.
        lexicon: where words are inflected.

    Returns:
        `CATEGORY_SENTENCES`, by category, then attribute, sentence and target.

    Raises:
        InputError: a file that is absent or of another kind; an unknown key; an id or a text that a category has twice;
            a sentence without its two slots; categories without sentences, a line for each; as `fill_sentence`.
    """
    path, exchanged = Path(settings["templates"]), settings["exchanged"]
    read = _read_notebook if path.suffix.lower() == ".json" else _read_category_file
    sections = read(path, lexicon.normalization)
    section_of = {name: "exchanged" if name in exchanged else "categories" for name in categories}
    problems = [
        f"{path}: no sentences for {name} under `{section}`, but `log_probability` asks for it. It has"
        f" {', '.join(sections[section]) or 'none'}. Write `{name}: [{{id: ..., text: ...}}]` there, or leave it out."
        for name, section in section_of.items()
        if not sections[section].get(name)
    ]
    if problems:
        raise InputError("\n".join(problems))

    def items() -> _Items:
        for category in read_categories(categories, exchanged):
            x, y, a, b = map(dict.fromkeys, category.sets)
            templates = sections[section_of[category.name]][category.name]
            for attribute, template, target in product(a | b, templates, x | y):
                yield (category.name, template.name, target, attribute), template, target, attribute

    return _fill(items(), CATEGORY_SENTENCES, lexicon)


def read_categories(categories: Mapping[str, Mapping[str, Any]], exchanged: Collection[str]) -> Iterator[CategoryWords]:
    """Yield the categories as they are measured: of those exchanged, the attributes are the targets."""
    for name, layout in categories.items():
        category = category_of(name, layout)
        yield category.exchange() if name in exchanged else category


def _read_category_file(path: Path, normalization: str | None) -> _Sections:
    content = read_yaml(path, normalization=normalization)
    content.require("a file of sentences by category", required=["language", "categories"], optional=["exchanged"])
    language = content.text("language")

    def read(category: str, by_name: Entry) -> tuple[SentenceTemplate, ...]:
        def read_one(entry: Entry) -> SentenceTemplate:
            entry.require(f"a sentence of the category `{category}`", required=["id", "text"], optional=["gloss"])
            return _read_entry(entry, entry.text("id"), language)

        return read_distinct(f"the category `{category}`", by_name.entries_of(category), read_one)

    by_section = {section: content.entry_of(section) for section in ("categories", "exchanged")}
    return {section: {name: read(name, by_name) for name in by_name} for section, by_name in by_section.items()}


def _read_notebook(path: Path, normalization: str | None) -> _Sections:
    content, spelling = read_json_object(path), spelling_of(LANGUAGE, normalization)

    def read(category: str, texts: object) -> Iterator[SentenceTemplate]:
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{path}: `{category}` must be a list of sentences with GGG and XXX; found {texts!r:.80}.")
        place = f"{path}, `{category}` (GGG is {{target}}, XXX is {{attribute}})"
        # the notebook has a sentence twice, commented out: equal sentences count once
        for number, text in enumerate(dict.fromkeys(map(spelling, texts)), start=1):
            slots = text.replace("GGG", "{target}").replace("XXX", "{attribute}")
            yield read_sentence(slots, name=str(number), place=place, language=LANGUAGE)

    by_section = {"exchanged": content.pop("exchanged", {}), "categories": content}
    if not isinstance(by_section["exchanged"], dict):
        raise InputError(f'{path}: `exchanged` must hold {{"C6": [sentence, ...]}}; found a list or a text.')
    return {
        section: {name: tuple(read(name, texts)) for name, texts in by_name.items()}
        for section, by_name in by_section.items()
    }


# --------------------
# Traits, and the sentence structures S1 to S5 (Sadhu et al. 2024, section 4.3).
#
# A trait is a word that can be said of people, an adjective, and the attribute of the sentence structures. It may bring
# sentences of its own: S4 and S5 in our lists (`resources/traits/<language>/<polarity>.yaml`), all in the authors'.


POLARITIES = ("positive", "negative")
STRUCTURES = ("S1", "S2", "S3", "S4", "S5")
"""The sentence structures of Sadhu et al. (2024), section 4.3 and appendix A.4, with more and more context."""
GROUPS = ("male", "female")
"""The two groups of terms; an association is that of the first minus that of the second."""

TRAIT_SENTENCES = pl.Schema(
    {
        **dict.fromkeys(("polarity", "trait", "gloss", "structure", "group"), pl.String()),
        **{"pair": pl.Int64(), "term": pl.String(), **SPANS, "n_words": pl.Int64()},
    }
)
"""Columns of the structures filled with traits and terms; `pair` is the number of the term's pair."""

ODDITIES_SCHEMA = TABLES["trait_oddities"].polars
"""Columns of the table of oddities."""

_PER_TRAIT = "per-trait"


class Trait(NamedTuple):
    """A trait word and the sentences that are its own.

    Attributes:
        polarity: positive or negative.
        word: its spelling, normalized.
        gloss: an English translation; "" where the source gives none.
        sentences: by structure.
        place: file and line.
        oddities: rows of `ODDITIES_SCHEMA`; None in our layout, where mistakes are refused.
    """

    polarity: str
    word: str
    gloss: str
    sentences: Mapping[str, SentenceTemplate]
    place: str
    oddities: list[tuple[Any, ...]] | None = None


def read_trait_sentences(settings: Mapping[str, Any], lexicon: Lexicon) -> pl.DataFrame:
    """Put every trait with every term into every structure.

    A trait's own sentence takes precedence over the structure's.

    Args:
        settings: plain values: the file `structures` (`resources/templates/<language>/structures.yaml`), with the terms
            of the two groups as pairs in order, and for each structure a sentence for all traits, or `per-trait` where
            each trait brings its own; and the files `traits` (`read_traits`), of one or both polarities.
        lexicon: where the terms are inflected.

    Returns:
        `TRAIT_SENTENCES`, by file and trait, then structure, group and pair.

    Raises:
        InputError: a file that is absent or of another kind; an unknown key; groups of different sizes or with a common
            term; files and lexicon of different languages; a trait that is listed twice, without a sentence of a
            structure that is per trait, or that its sentence has twice; a term that is no stimulus of the lexicon, or
            lacks a form.
    """
    path = Path(settings["structures"])
    language, terms, structures = _read_structures(path, lexicon.normalization)
    lists = {file: read_traits(file, lexicon.normalization) for file in settings["traits"]}
    for file, found in ((path, language), *((file, of_list) for file, (of_list, _) in lists.items())):
        if found != lexicon.language:
            raise InputError(
                f"{file}: `language` is {found!r}, but the word lists are for {lexicon.language!r}. Name files of that"
                " language under `log_probability`."
            )
    known = {stimulus.name for stimulus in lexicon.stimuli}
    if missing := [term for group in GROUPS for term in terms[group] if term not in known]:
        raise InputError(
            f"{path}: the terms {', '.join(missing)} are no stimuli of the study's word lists, so they cannot be"
            " inflected. Add them to a word set; with `searched: false` they are not looked for in texts."
        )
    earlier: dict[tuple[str, str], Trait] = {}
    items = []
    for trait in (trait for _, traits in lists.values() for trait in traits):
        first = earlier.setdefault((trait.polarity, trait.word), trait)
        if first is not trait:
            raise InputError(
                f"{trait.place}: the {trait.polarity} trait {trait.word} is also at {first.place}. Delete one of them,"
                " or name one list only under `log_probability.traits`."
            )
        for name, shared in structures.items():
            template = trait.sentences.get(name, shared)
            if template is None:
                raise InputError(
                    f"{trait.place}: the trait {trait.word} has no sentence for {name}, which is per trait in {path}."
                    f" Write `{name}: ...` for it."
                )
            if (trait.oddities is None or template is shared) and _is_in_sight(trait.word, template):
                raise InputError(
                    f"{trait.place}: the sentence of {name} has the trait {trait.word} a second time"
                    f" ({template.place}), where no mask hides it. Write another sentence for it: `{name}: ...`."
                )
            names = trait.polarity, trait.word, trait.gloss, name
            for group in GROUPS:
                for pair, term in enumerate(terms[group]):
                    items.append(((*names, group, pair, term), template, term, trait.word))
    *columns, _ = TRAIT_SENTENCES
    filled = _fill(items, pl.Schema({name: TRAIT_SENTENCES[name] for name in columns}), lexicon)
    return filled.with_columns(n_words=pl.Series(map(count_words, filled["text"]), dtype=pl.Int64))


def read_traits(path: str | Path, normalization: str | None = None) -> tuple[str, list[Trait]]:
    """Read a list of traits, in our layout (YAML) or in the authors' (.csv); return its language and its traits.

    Args:
        path: the file. A CSV has its polarity in its name (positive_traits_bn.csv).
        normalization: the study's, if not the language's own.

    Raises:
        InputError: a file that is absent or of another kind; an unknown key; no or an unknown polarity; a list without
            traits.
    """
    path = Path(path)
    if path.suffix.lower() == ".csv":
        return LANGUAGE, list(_read_authors_traits(path, normalization))
    content = read_yaml(path, normalization=normalization)
    content.require("a list of traits", required=["language", "polarity", "traits"])
    language, polarity = content.text("language"), content.text("polarity")
    if polarity not in POLARITIES:
        raise InputError(f"{content.place}: `polarity` is {polarity!r}.{suggest(polarity, POLARITIES)}")
    traits = []
    for entry in content.entries_of("traits"):
        entry.require("a trait", required=["word"], optional=["gloss", *STRUCTURES])
        word, place = entry.text("word"), entry.place
        own = [name for name in STRUCTURES if name in entry]
        sentences = {
            name: read_sentence(entry.text(name), name=f"{word} {name}", place=place, language=language) for name in own
        }
        traits.append(Trait(polarity, word, entry.text("gloss"), sentences, place))
    if not traits:
        raise InputError(f"{path}: `traits` is empty. Write under it `- {{word: ..., gloss: ..., S4: ..., S5: ...}}`.")
    return language, traits


def list_oddities(paths: Iterable[str | Path], normalization: str | None = None) -> pl.DataFrame:
    """Return the oddities of several lists of traits, in their order; columns `ODDITIES_SCHEMA`."""
    traits = (trait for path in paths for trait in read_traits(path, normalization)[1])
    return pl.DataFrame([odd for trait in traits for odd in trait.oddities or ()], schema=ODDITIES_SCHEMA, orient="row")


def _is_in_sight(trait: str, template: SentenceTemplate) -> bool:
    """Return whether the text around the slots has the trait, as a word or words of its own."""
    around, sought = (" ".join(word for word, _, _ in words(text)) for text in (" ".join(template.texts), trait))
    return bool(sought) and f" {sought} " in f" {around} "


def _read_structures(
    path: Path, normalization: str | None
) -> tuple[str, dict[str, tuple[str, ...]], dict[str, SentenceTemplate | None]]:
    """Return the language, the terms by group, and the sentences by structure, None where each trait brings its own."""
    content = read_yaml(path, normalization=normalization)
    content.require("a file of sentence structures", required=["language", "targets", "structures"])
    language, by_name, targets = content.text("language"), content.entry_of("structures"), content.entry_of("targets")
    if not by_name:
        raise InputError(f"{path}: `structures` is empty. Write under it `S1: {{text: ...}}`, or `S4: {_PER_TRAIT}`.")
    by_name.require("the structures", required=[], optional=STRUCTURES)
    sentences: dict[str, SentenceTemplate | None] = {}
    for name in (name for name in STRUCTURES if name in by_name):
        entry = by_name[name]
        if isinstance(entry, Entry):
            entry.require(f"the structure {name}", required=["text"], optional=["gloss"])
        elif entry != _PER_TRAIT:
            raise InputError(
                f"{by_name.place}: {name} is {entry!r}. Write `{name}: {{text: ...}}`, or `{name}: {_PER_TRAIT}`."
            )
        sentences[name] = _read_entry(entry, name, language) if isinstance(entry, Entry) else None
    targets.require("the terms under `targets`", required=GROUPS)
    terms = {group: targets.texts(group) for group in GROUPS}
    first, second = terms.values()
    if len(first) != len(second) or not first:
        raise InputError(
            f"{targets.place}: {GROUPS[0]} has {len(first)} terms and {GROUPS[1]} {len(second)}, but they are pairs in"
            " order. Give as many of both, at least one."
        )
    return language, terms, sentences


# --------------------
# The trait lists of Sadhu et al. (2024): CSV files with parts of sentences, put together as their program does it.
#
# The columns of a structure are what is written onto the target (Mask_Suffix), what is written after the trait
# (Trait_Suffix), and the rest (Placeholder). What begins with a hyphen is an ending of the trait (-তা), and is written
# onto it. Here the mask covers the target with its ending; in the program the ending hangs on the mask.


_ORDERS = {
    **dict.fromkeys(("S1", "S2"), "{target} {rest} {trait}"),
    "S3": "{trait} {target} {rest}",
    **dict.fromkeys(("S4", "S5"), "{rest} {trait} {target}"),
}
_PARTS = ("Mask_Suffix", "Placeholder", "Trait_Suffix")
_COLUMNS = ("Trait", *(f"{name}_{part}" for name in STRUCTURES for part in _PARTS))
_FEWEST_WORDS = {"S4": 4, "S5": 6}
"""A shorter sentence has none of the context that its structure is about."""


def _read_authors_traits(path: Path, normalization: str | None) -> Iterator[Trait]:
    """Yield the traits of a CSV of the authors; oddities are listed, and every sentence is kept as it comes out."""
    polarity = next((name for name in POLARITIES if name in path.stem.lower()), None)
    if polarity is None:
        raise InputError(
            f"{path}: its name says neither positive nor negative, and the file does not either. Rename it, for example"
            " to positive_traits_bn.csv."
        )
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), restval="")
    if missing := [name for name in _COLUMNS if name not in (reader.fieldnames or ())]:
        raise InputError(
            f"{path} has no column {', '.join(missing)}; it has {', '.join(reader.fieldnames or ()) or 'none'}. Give a"
            " list of traits in YAML, or a CSV with the columns of Sadhu et al. (2024)."
        )
    spelling, number = spelling_of(LANGUAGE, normalization), 0
    for number, row in enumerate(reader, start=1):
        word, place = spelling(row["Trait"]).strip(), f"{path}, line {reader.line_num}"
        if not word:
            raise InputError(f"{place}: the column Trait is empty. Write the trait, or delete the row.")
        sentences, oddities = {}, []
        for name in STRUCTURES:
            on_target, rest, after_trait = (row[f"{name}_{part}"] for part in _PARTS)
            ending = after_trait.strip()
            trait = "{attribute}" + (ending[1:] if ending.startswith("-") else f" {after_trait}")
            text = _ORDERS[name].format(target="{target}" + on_target, rest=rest, trait=trait)
            # Parts are written with blanks between them, of which there are too many where a part is empty.
            text = spelling(regex.sub(r" (?=[।,?!])", "", regex.sub(r"\s+", " ", text))).strip()
            sentence = read_sentence(text, name=f"{word} {name}", place=place, language=LANGUAGE)
            sentences[name] = sentence
            oddities += [(str(path), number, word, name, *odd) for odd in _find_oddities(row, name, word, sentence)]
        yield Trait(polarity, word, "", sentences, place, oddities)
    if not number:
        raise InputError(f"{path}: no rows below its first line. Give a list of traits.")


def _find_oddities(
    row: Mapping[str, str], name: str, word: str, sentence: SentenceTemplate
) -> Iterator[tuple[str, str, str]]:
    """Yield the kind of each oddity, what was found, and what was done."""
    empty = [f"{name}_{part}" for part in _PARTS if not row[f"{name}_{part}"].strip()]
    n_words, ending = count_words(" x ".join(sentence.texts)), row[f"{name}_Trait_Suffix"].strip()
    if empty and name == "S5":  # in the others a part is often empty on purpose
        yield "empty-cell", ", ".join(empty), "the sentence is made of what is there"
    if n_words < _FEWEST_WORDS.get(name, 0):
        yield "no-context", f"a sentence of {n_words} words", "scored as it is, though it lacks the structure's context"
    if _is_in_sight(word, sentence):
        yield "trait-in-sight", "the trait stands in the context once more", "scored as it is; no mask hides it there"
    if ending.startswith("-"):
        yield "ending-after-hyphen", ending, f"written onto the trait: {word}{ending[1:]}"
    if not regex.match(r"[\p{L}\p{M}]", row[f"{name}_Mask_Suffix"]) and name not in ("S4", "S5"):
        yield "target-without-ending", repr(row[f"{name}_Mask_Suffix"]), "the bare term stands there"
