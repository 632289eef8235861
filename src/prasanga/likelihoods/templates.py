"""Sentences with two slots: the templates of categories, and the sentence structures S1 to S5 filled with traits."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import regex

from prasanga.associations.estimates import Category, category_of
from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, read_distinct, read_json_object, read_text, suggest
from prasanga.lexicon.authors import LANGUAGE
from prasanga.lexicon.model import Lexicon, read_yaml, spelling_of
from prasanga.lexicon.templates import SLOT, WordForm, read_word_form, whole_words
from prasanga.models.pieces import Span
from prasanga.schema import TABLES
from prasanga.text.words import WORD, count_words, words

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
    if text.count("{") != len(slots) or text.count("}") != len(slots):
        raise InputError(f"{what} has an open brace: {text}. Write its slots as {{target}} and {{attribute}}.")
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
    if len(slots) != 2 or len(forms) != 2:
        found = ", ".join(slot[0] for slot in slots) or "none"
        raise InputError(f"{what} has the slots {found}. Write {{target}} once and {{attribute}} once: {text}")
    if not texts[1]:
        raise InputError(f"{what} has nothing between its two slots. Write at least a space there: {text}")
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


def _to_frame(rows: Sequence[tuple[Any, ...]], schema: pl.Schema) -> pl.DataFrame:
    """Return rows as a frame; spans go through arrays, since Polars would make a series of each."""
    columns = dict(zip(schema, zip(*rows, strict=True), strict=True)) if rows else {}
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


class CategoryTemplates(NamedTuple):
    """The sentences of a language's categories.

    Attributes:
        path: the file.
        described: by category, with targets and attributes as the category describes them.
        exchanged: by category, with targets and attributes exchanged.
    """

    path: Path
    described: Mapping[str, tuple[SentenceTemplate, ...]]
    exchanged: Mapping[str, tuple[SentenceTemplate, ...]]


def read_category_sentences(
    settings: Mapping[str, Any], categories: Mapping[str, Any], lexicon: Lexicon
) -> pl.DataFrame:
    """Return the filled sentences (`fill_categories`) of the file `templates`; some categories are `exchanged`."""
    templates = load_category_templates(settings["templates"], lexicon.normalization)
    return fill_categories(categories, templates, lexicon, settings["exchanged"])


def load_category_templates(path: str | Path, normalization: str | None = None) -> CategoryTemplates:
    """Read a file of sentences by category.

    Args:
        path: the file: YAML, or JSON with the sentences as the notebook of Sadhu et al. (2024) has them, GGG for the
            target and XXX for the attribute: {"C1": [sentence, ...], "exchanged": {"C6": [...]}}.
        normalization: the study's, if not the language's own.

    Raises:
        InputError: a file that is absent or of another kind; an unknown key; an id or a text that a category has twice;
            a sentence without its two slots.
    """
    path = Path(path)
    if path.suffix.lower() == ".json":
        return _read_notebook(path, normalization)
    content = read_yaml(path, normalization=normalization)
    content.require("a file of sentences by category", required=["language", "categories"], optional=["exchanged"])
    language = content.text("language")
    described, exchanged = (
        {name: _read_category(name, by_name, language) for name in by_name}
        for by_name in (content.entry_of("categories"), content.entry_of("exchanged"))
    )
    return CategoryTemplates(path, described, exchanged)


def fill_categories(
    categories: Mapping[str, Mapping[str, Any]],
    templates: CategoryTemplates,
    lexicon: Lexicon,
    exchanged: Collection[str] = (),
) -> pl.DataFrame:
    """Put every target of each category with every attribute into every sentence.

    Args:
        categories: names to the layout of `categories.json`.
        templates: the sentences of each category.
        lexicon: where words are inflected.
        exchanged: categories whose targets and attributes change places.

    Returns:
        `CATEGORY_SENTENCES`, by category, then attribute, sentence and target.

    Raises:
        InputError: categories without sentences, a line for each; as `fill_sentence`.
    """
    problems = []
    for name in categories:
        section, found = (
            ("exchanged", templates.exchanged) if name in exchanged else ("categories", templates.described)
        )
        if not found.get(name):
            problems.append(
                f"{templates.path}: no sentences for {name} under `{section}`, but `log_probability.categories` names"
                f" it{' and `log_probability.exchanged` too' if name in exchanged else ''}. It has"
                f" {', '.join(found) or 'none'}. Write `{name}: [{{id: ..., text: ...}}]` there, or leave {name} out."
            )
    if problems:
        raise InputError("\n".join(problems))
    spelling = spelling_of(lexicon.language, lexicon.normalization)
    rows = []
    for category in read_categories(categories, exchanged):
        x, y, a, b = map(dict.fromkeys, category.sets)
        sentences = (templates.exchanged if category.name in exchanged else templates.described)[category.name]
        for attribute, template, target in product(a | b, sentences, x | y):
            filled = fill_sentence(template, target, attribute, lexicon, spelling)
            rows.append((category.name, template.name, target, attribute, *filled))
    return _to_frame(rows, CATEGORY_SENTENCES)


def read_categories(categories: Mapping[str, Mapping[str, Any]], exchanged: Collection[str]) -> Iterator[Category]:
    """Yield the categories as they are measured: of those exchanged, the attributes are the targets."""
    for name, layout in categories.items():
        category = category_of(name, layout)
        if name in exchanged:
            sides = category.set_names, category.sets, category.repeated
            category = Category(name, category.title, *((*side[2:], *side[:2]) for side in sides))
        yield category


def _read_category(name: str, by_name: Entry, language: str) -> tuple[SentenceTemplate, ...]:
    def read(entry: Entry) -> SentenceTemplate:
        entry.require(f"a sentence of the category `{name}`", required=["id", "text"], optional=["gloss"])
        return _read_entry(entry, entry.text("id"), language)

    return read_distinct(f"the category `{name}`", by_name.entries_of(name), read)


def _read_notebook(path: Path, normalization: str | None) -> CategoryTemplates:
    content = read_json_object(path)
    exchanged = content.pop("exchanged", {})
    if not isinstance(exchanged, dict):
        raise InputError(f'{path}: `exchanged` must hold {{"C6": [sentence, ...]}}; found {exchanged!r:.80}.')
    spelling = spelling_of(LANGUAGE, normalization)
    described, turned = (
        {name: tuple(_notebook_sentences(path, name, texts, spelling)) for name, texts in by_name.items()}
        for by_name in (content, exchanged)
    )
    return CategoryTemplates(path, described, turned)


def _notebook_sentences(
    path: Path, category: str, texts: object, spelling: Callable[[str], str]
) -> Iterator[SentenceTemplate]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{path}: `{category}` must be a list of sentences with GGG and XXX; found {texts!r:.80}.")
    # the notebook has a sentence twice, commented out: equal sentences count once
    for number, text in enumerate(dict.fromkeys(map(spelling, texts)), start=1):
        slots = text.replace("GGG", "{target}").replace("XXX", "{attribute}")
        place = f"{path}, `{category}` (GGG is {{target}}, XXX is {{attribute}})"
        yield read_sentence(slots, name=str(number), place=place, language=LANGUAGE)


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
        word: its spelling, normalized.
        gloss: an English translation; "" where the source gives none.
        sentences: by structure.
        place: file and line.
    """

    word: str
    gloss: str
    sentences: Mapping[str, SentenceTemplate]
    place: str


class TraitList(NamedTuple):
    """Traits of one polarity.

    Attributes:
        path: the file.
        language: bn, hi, en.
        polarity: positive or negative.
        traits: in the order of the file.
        oddities: rows of `ODDITIES_SCHEMA`; None of our layout, where mistakes are refused.
    """

    path: Path
    language: str
    polarity: str
    traits: tuple[Trait, ...]
    oddities: list[tuple[Any, ...]] | None


class Structures(NamedTuple):
    """Terms and sentences of a language.

    Attributes:
        path: the file.
        language: bn, hi, en.
        terms: by group, pairs in order; names of stimuli.
        sentences: by structure, in order; None where each trait brings its own.
    """

    path: Path
    language: str
    terms: Mapping[str, tuple[str, ...]]
    sentences: Mapping[str, SentenceTemplate | None]


def read_trait_sentences(settings: Mapping[str, Any], lexicon: Lexicon) -> pl.DataFrame:
    """Return the filled structures (`fill_structures`) of the files `structures` and `traits`."""
    structures = load_structures(settings["structures"], lexicon.normalization)
    lists = [load_traits(path, lexicon.normalization) for path in settings["traits"]]
    return fill_structures(structures, lists, lexicon)


def load_traits(path: str | Path, normalization: str | None = None) -> TraitList:
    """Read a list of traits, in our layout (YAML) or in the authors' (.csv).

    Args:
        path: the file. A CSV has its polarity in its name (positive_traits_bn.csv).
        normalization: the study's, if not the language's own.

    Raises:
        InputError: a file that is absent or of another kind; an unknown key; no or an unknown polarity; a list without
            traits, or a trait that is no word.
    """
    path = Path(path)
    if path.suffix.lower() == ".csv":
        return _read_authors_traits(path, normalization)
    content = read_yaml(path, normalization=normalization)
    content.require("a list of traits", required=["language", "polarity", "traits"])
    language, polarity = content.text("language"), content.text("polarity")
    if polarity not in POLARITIES:
        raise InputError(f"{content.place}: `polarity` is {polarity!r}.{suggest(polarity, POLARITIES)}")
    traits = tuple(_read_trait(entry, language) for entry in content.entries_of("traits"))
    if not traits:
        raise InputError(f"{path}: `traits` is empty. Write under it `- {{word: ..., gloss: ..., S4: ..., S5: ...}}`.")
    return TraitList(path, language, polarity, traits, None)


def list_oddities(lists: Iterable[TraitList]) -> pl.DataFrame:
    """Return the oddities of several lists, in their order; columns `ODDITIES_SCHEMA`."""
    rows = [oddity for found in lists for oddity in found.oddities or ()]
    return pl.DataFrame(rows, schema=dict(ODDITIES_SCHEMA), orient="row")


def load_structures(path: str | Path, normalization: str | None = None) -> Structures:
    """Read a file of sentence structures (`resources/templates/<language>/structures.yaml`).

    It has the terms of the two groups as pairs in order, and for each structure a sentence for all traits, or
    `per-trait` where each trait brings its own.

    Args:
        path: the file.
        normalization: the study's, if not the language's own.

    Raises:
        InputError: a file that is absent or of another kind; an unknown key; groups of different sizes or with a
            common term; a sentence without its two slots.
    """
    path = Path(path)
    content = read_yaml(path, normalization=normalization)
    content.require("a file of sentence structures", required=["language", "targets", "structures"])
    language, by_name = content.text("language"), content.entry_of("structures")
    if not by_name:
        raise InputError(f"{path}: `structures` is empty. Write under it `S1: {{text: ...}}`, or `S4: {_PER_TRAIT}`.")
    by_name.require("the structures", required=[], optional=STRUCTURES)
    sentences = {name: _read_structure(name, by_name, language) for name in STRUCTURES if name in by_name}
    return Structures(path, language, _read_terms(content.entry_of("targets")), sentences)


def fill_structures(structures: Structures, lists: Sequence[TraitList], lexicon: Lexicon) -> pl.DataFrame:
    """Put every trait with every term into every structure.

    A trait's own sentence takes precedence over the structure's.

    Args:
        structures: terms and sentences.
        lists: traits of one or both polarities.
        lexicon: where the terms are inflected.

    Returns:
        `TRAIT_SENTENCES`, by list and trait, then structure, group and pair.

    Raises:
        InputError: lists, structures and lexicon of different languages; a trait that is listed twice; a trait without
            a sentence of a structure that is per trait, or that its sentence has twice; a term that is no stimulus of
            the lexicon, or lacks a form.
    """
    sources: list[Structures | TraitList] = [structures, *lists]
    for source in sources:
        if source.language != lexicon.language:
            raise InputError(
                f"{source.path}: `language` is {source.language!r}, but the word lists are for {lexicon.language!r}."
                " Name files of that language under `log_probability`."
            )
    known = {stimulus.name for stimulus in lexicon.stimuli}
    missing = [term for group in GROUPS for term in structures.terms[group] if term not in known]
    if missing:
        raise InputError(
            f"{structures.path}: the terms {', '.join(missing)} are no stimuli of the study's word lists, so they"
            " cannot be inflected. Add them to a word set; with `searched: false` they are not looked for in texts."
        )
    spelling = spelling_of(lexicon.language, lexicon.normalization)
    earlier: dict[tuple[str, str], Trait] = {}
    rows = []
    for found in lists:
        for trait in found.traits:
            first = earlier.setdefault((found.polarity, trait.word), trait)
            if first is not trait:
                raise InputError(
                    f"{trait.place}: the {found.polarity} trait {trait.word} is also at {first.place}. Delete one of"
                    " them, or name one list only under `log_probability.traits`."
                )
            for name, template in _sentences_for(trait, structures, are_checked=found.oddities is None).items():
                for group in GROUPS:
                    for pair, term in enumerate(structures.terms[group]):
                        text, *spans = fill_sentence(template, term, trait.word, lexicon, spelling)
                        names = (found.polarity, trait.word, trait.gloss, name, group, pair, term)
                        rows.append((*names, text, *spans, count_words(text)))
    return _to_frame(rows, TRAIT_SENTENCES)


def _sentences_for(trait: Trait, structures: Structures, *, are_checked: bool) -> dict[str, SentenceTemplate]:
    found: dict[str, SentenceTemplate] = {}
    for name, shared in structures.sentences.items():
        template = trait.sentences.get(name, shared)
        if template is None:
            raise InputError(
                f"{trait.place}: the trait {trait.word} has no sentence for {name}, which is per trait in"
                f" {structures.path}. Write `{name}: ...` for it."
            )
        if (are_checked or template is shared) and _is_in_sight(trait.word, template):
            raise InputError(
                f"{trait.place}: the sentence of {name} has the trait {trait.word} a second time ({template.place}),"
                f" where no mask hides it. Write another sentence for it: `{name}: ...`."
            )
        found[name] = template
    return found


def _is_in_sight(trait: str, template: SentenceTemplate) -> bool:
    """Return whether the text around the slots has the trait, as a word or words of its own."""
    around = [word for word, _, _ in words(" ".join(template.texts))]
    sought = [word for word, _, _ in words(trait)]
    return any(around[start : start + len(sought)] == sought for start in range(len(around))) if sought else False


def _read_trait(entry: Entry, language: str) -> Trait:
    entry.require("a trait", required=["word"], optional=["gloss", *STRUCTURES])
    word = entry.text("word")
    if not WORD.search(word) or regex.search(r"[{}]", word):
        raise InputError(f"{entry.place}: the trait is {word!r}, which is no word. Write `word: ...`.")
    sentences = {
        name: read_sentence(entry.text(name), name=f"{word} {name}", place=entry.place, language=language)
        for name in STRUCTURES
        if name in entry
    }
    return Trait(word, entry.text("gloss"), sentences, entry.place)


def _read_terms(entry: Entry) -> dict[str, tuple[str, ...]]:
    entry.require("the terms under `targets`", required=GROUPS)
    terms = {group: entry.texts(group) for group in GROUPS}
    first, second = terms.values()
    if len(first) != len(second) or not first:
        raise InputError(
            f"{entry.place}: {GROUPS[0]} has {len(first)} terms and {GROUPS[1]} {len(second)}, but they are pairs in"
            " order. Give as many of both, at least one."
        )
    if twice := [term for term in first + second if (first + second).count(term) > 1]:
        raise InputError(f"{entry.place}: the term {twice[0]} is there twice. Leave it out once, with its counterpart.")
    return terms


def _read_structure(name: str, by_name: Entry, language: str) -> SentenceTemplate | None:
    if by_name[name] == _PER_TRAIT:
        return None
    if not isinstance(by_name[name], Entry):
        raise InputError(
            f"{by_name.place}: {name} is {by_name[name]!r}. Write `{name}: {{text: ...}}`, or `{name}: {_PER_TRAIT}`."
        )
    entry = by_name.entry_of(name)
    entry.require(f"the structure {name}", required=["text"], optional=["gloss"])
    return _read_entry(entry, name, language)


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


def _read_authors_traits(path: Path, normalization: str | None) -> TraitList:
    """Read a CSV of the authors; oddities are listed, and every sentence is kept as it comes out."""
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
    spelling = spelling_of(LANGUAGE, normalization)
    traits: list[Trait] = []
    oddities: list[tuple[Any, ...]] = []
    for number, row in enumerate(reader, start=1):
        word, place = spelling(row["Trait"]).strip(), f"{path}, line {reader.line_num}"
        if not word:
            raise InputError(f"{place}: the column Trait is empty. Write the trait, or delete the row.")
        sentences = {}
        for name in STRUCTURES:
            on_target, rest, after_trait = (row[f"{name}_{part}"] for part in _PARTS)
            ending = after_trait.strip()
            trait = "{attribute}" + (ending[1:] if ending.startswith("-") else f" {after_trait}")
            text = _ORDERS[name].format(target="{target}" + on_target, rest=rest, trait=trait)
            # Parts are written with blanks between them, of which there are too many where a part is empty.
            text = spelling(regex.sub(r" (?=[।,?!])", "", regex.sub(r"\s+", " ", text))).strip()
            sentence = read_sentence(text, name=f"{word} {name}", place=place, language=LANGUAGE)
            sentences[name] = sentence
            oddities += ((str(path), number, word, name, *odd) for odd in _find_oddities(row, name, word, sentence))
        traits.append(Trait(word, "", sentences, place))
    if not traits:
        raise InputError(f"{path}: no rows below its first line. Give a list of traits.")
    return TraitList(path, LANGUAGE, polarity, tuple(traits), oddities)


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
