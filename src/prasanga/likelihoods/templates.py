"""Sentences with two slots, a target and an attribute, and the templates of the categories."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from prasanga.associations.estimates import Category, category_of
from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, read_distinct, suggest
from prasanga.lexicon.authors import LANGUAGE, read_json_object
from prasanga.lexicon.model import Lexicon, read_yaml, spelling_of
from prasanga.lexicon.templates import SLOT, WordForm, read_word_form, whole_words
from prasanga.likelihoods.log_probability import LogProbabilityItem
from prasanga.models.pieces import Span

# --------------------
# Sentences with two slots, a target and an attribute, and where the words stand once they are in them.
#
#     {target:plural genitive}   the target in this number and case, from the lexicon
#     {attribute}                the attribute as it is
#     {target:indefinite}        English, with a or an before it
#     {Target}                   with a capital; a word at the beginning of an English sentence gets one by itself
#
# A letter that a sentence writes onto a slot ({target}রা) belongs to the word: what is masked is the whole
# inflected word, so that no ending hangs on a mask.


TARGET, ATTRIBUTE = "target", "attribute"
Sentence = TypeVar("Sentence")
_TARGET_OF_AUTHORS, _ATTRIBUTE_OF_AUTHORS = "GGG", "XXX"


@dataclass(frozen=True, slots=True)
class Slot:
    """What a sentence asks of the word in one of its slots.

    Attributes:
        role: target or attribute.
        form: the form in which it takes the word.
    """

    role: str
    form: WordForm


@dataclass(frozen=True, slots=True)
class SentenceTemplate:
    """A sentence with a slot for a target and one for an attribute, in the order in which they stand.

    Attributes:
        name: its id, or the name of its structure.
        texts: the text up to the first slot, between both, and after the second; normalized.
        slots: both slots.
        place: file and line, for messages.
    """

    name: str
    texts: tuple[str, ...]
    slots: tuple[Slot, ...]
    place: str = ""

    def slot(self, role: str) -> Slot:
        """Return the slot of the target or of the attribute."""
        return next(slot for slot in self.slots if slot.role == role)


def read_sentence(text: str, *, name: str, place: str, language: str) -> SentenceTemplate:
    """Return a template from its text, which is normalized.

    Args:
        text: with one slot for a target and one for an attribute.
        name: its id.
        place: file and line, for messages.
        language: bn, hi, en; English has articles and capitals.

    Raises:
        InputError: a slot that is missing, stands twice or asks for what there is not.
    """
    what = f"{place}: the sentence `{name}`"
    slots = list(SLOT.finditer(text))
    if text.count("{") != len(slots) or text.count("}") != len(slots):
        raise InputError(f"{what} has an open brace: {text}. Write its slots as {{target}} and {{attribute}}.")
    parts = [0, *(edge for slot in slots for edge in slot.span()), len(text)]
    texts = [text[start:end] for start, end in zip(parts[::2], parts[1::2], strict=True)]
    read = [_read_slot(what, slot[0], slot[1], None if i else texts[0], language) for i, slot in enumerate(slots)]
    if sorted(slot.role for slot in read) != [ATTRIBUTE, TARGET]:
        found = ", ".join(slot[0] for slot in slots) or "none"
        raise InputError(f"{what} has the slots {found}. Write {{target}} once and {{attribute}} once: {text}")
    if not texts[1]:
        raise InputError(f"{what} has nothing between its two slots. Write at least a space there: {text}")
    return SentenceTemplate(name, tuple(texts), tuple(read), place)


def sentence_of(entry: Entry, name: str, language: str) -> SentenceTemplate:
    """Return the template called `name` of an entry with `text`, read as by `read_sentence`."""
    entry.text("gloss")  # for readers of the file; refused if it is no text
    return read_sentence(entry.text("text"), name=name, place=entry.place, language=language)


def form_for(lexicon: Lexicon, stimulus: str, slot: Slot, template: SentenceTemplate) -> str:
    """Return the form of a stimulus that a slot asks for.

    Raises:
        InputError: the stimulus has no such form, or the lexicon has no such stimulus.
    """
    try:
        return slot.form.of(lexicon, stimulus)
    except InputError as error:
        raise InputError(
            f"{template.place}: the sentence `{template.name}` cannot be filled in. {error} Or list the form under"
            " `forms:` of the word in its word set."
        ) from None


def fill_sentence(
    template: SentenceTemplate, target: str, attribute: str, spelling: Callable[[str], str]
) -> LogProbabilityItem:
    """Put two forms into a sentence; of what comes out, the spans are of the whole inflected words.

    Args:
        template: the sentence.
        target: the form of the target (`form_for`).
        attribute: the form of the attribute.
        spelling: the study's normalization of a text (`prasanga.lexicon.model.spelling_of`).

    Raises:
        InputError: normalization changes letters where a word meets the sentence.
    """
    forms = {TARGET: target, ATTRIBUTE: attribute}
    text, spans, parts = template.texts[0], {}, []
    for slot, (left, rest) in zip(template.slots, pairwise(template.texts), strict=True):
        word = forms[slot.role]
        phrase = slot.form.phrase(word)
        text += phrase
        spans[slot.role] = (len(text) - len(word), len(text))
        text += rest
        parts.append(left + phrase + rest)
    # Words and sentence are normalized by themselves. Where they meet is looked at for each word and not for each pair
    # of words, of which there are many more.
    if not all(_is_spelled(spelling, part) for part in parts):
        raise InputError(
            f"{template.place}: the sentence `{template.name}` with {target} and {attribute} changes letters when it is"
            f" normalized ({spelling(text)}). Write a space or a form ({{target:genitive}}) beside the slot."
        )
    whole = {role: whole_words(text, *span) for role, span in spans.items()}
    return LogProbabilityItem(text, whole[TARGET], whole[ATTRIBUTE])


@lru_cache(maxsize=1 << 14)
def _is_spelled(spelling: Callable[[str], str], text: str) -> bool:
    """Return whether normalization leaves a text as it is."""
    return spelling(text) == text


def _read_slot(what: str, written: str, content: str, before: str | None, language: str) -> Slot:
    role, _, options = content.partition(":")
    role = role.strip()
    if role not in (TARGET, ATTRIBUTE, TARGET.capitalize(), ATTRIBUTE.capitalize()):
        raise InputError(f"{what} has the slot {written}.{suggest(role, (TARGET, ATTRIBUTE))}")
    form = read_word_form(
        f"{what} asks in its slot {written} for", options, language=language, before=before, capital=role[0].isupper()
    )
    return Slot(role.lower(), form)


# --------------------
# Sentences of the categories for log-probability (`resources/templates/<language>/log_probability.yaml`).
#
# A category's target stands in one slot and its attribute in the other, every target with every attribute in every
# sentence. Where a category is exchanged, as C6 to C9 by the authors of the Bangla paper, its attributes (male and
# female terms) take the place of the targets, with sentences of their own.


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
        """Return the sentences of a category, none if there are none."""
        return (self.exchanged if exchanged else self.described).get(category, ())

    @property
    def most(self) -> int:
        """Return how many sentences a category has at most."""
        return max(map(len, (*self.described.values(), *self.exchanged.values())), default=0)


class CategorySentence(NamedTuple):
    """A sentence with a target word and an attribute word in it, and where both stand."""

    template: str
    target_word: str
    attribute_word: str
    text: str
    target: Span
    attribute: Span


FilledCategory = tuple[Category, list[CategorySentence]]
"""A category as it is measured, and its sentences."""


def shares_of(
    sentences: Sequence[Sentence], whose: Callable[[Sentence], Hashable], n_twins: int | None
) -> list[list[Sentence]]:
    """Return the sentences that each of several twins scores; those of a model, all of them, are one share.

    Args:
        sentences: all of them.
        whose: what is dealt in turn, such as the template or the trait of a sentence: all of its sentences go to one
            twin.
        n_twins: how many there are; None of a model.
    """
    turns = {name: turn for turn, name in enumerate(dict.fromkeys(map(whose, sentences)))}
    shares: list[list[Sentence]] = [[] for _ in range(1 if n_twins is None else n_twins)]
    for sentence in sentences:
        shares[turns[whose(sentence)] % len(shares)].append(sentence)
    return shares


def load_category_templates(path: str | Path, normalization: str | None = None) -> CategoryTemplates:
    """Read a file of sentences by category.

    Args:
        path: the file: YAML, or JSON with the sentences as the notebook of Sadhu et al. (2024) has them, GGG for the
            target and XXX for the attribute: {"C1": [sentence, ...], "exchanged": {"C6": [...]}}.
        normalization: the study's, if not the language's own.

    Raises:
        InputError: the file is not there or no such file; an unknown key; a category without sentences; an id or a text
            that stands twice in a category; a sentence without its two slots.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check the path under `log_probability.templates` in the config.")
    if path.suffix.lower() == ".json":
        return _of_authors(path, normalization)
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
    """Return the category with its attributes as targets and its targets as attributes."""
    (x, y, a, b), (name_x, name_y, name_a, name_b) = category.sets, category.set_names
    names, repeated = (name_a, name_b, name_x, name_y), (*category.repeated[2:], *category.repeated[:2])
    return Category(category.name, category.title, names, (a, b, x, y), repeated)


def fill_categories(
    categories: Mapping[str, Mapping[str, Any]],
    templates: CategoryTemplates,
    lexicon: Lexicon,
    exchanged: Collection[str] = (),
) -> list[FilledCategory]:
    """Return each category as it is measured, with its sentences (`category_sentences`), in the order of `categories`.

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
    """Put every target of a category with every attribute into every sentence.

    The order is by attribute, then sentence, then target.

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


def _of_authors(path: Path, normalization: str | None) -> CategoryTemplates:
    content = read_json_object(path)
    exchanged = content.pop("exchanged", {})
    if not isinstance(exchanged, dict):
        raise InputError(f'{path}: `exchanged` must hold {{"C6": [sentence, ...]}}; found {exchanged!r:.80}.')
    spelling = spelling_of(LANGUAGE, normalization)
    described, turned = (
        {name: _notebook_sentences(path, name, texts, spelling) for name, texts in by_name.items()}
        for by_name in (content, exchanged)
    )
    return CategoryTemplates(path, LANGUAGE, described, turned)


def _notebook_sentences(
    path: Path, category: str, texts: object, spelling: Callable[[str], str]
) -> tuple[SentenceTemplate, ...]:
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{path}: `{category}` must be a list of sentences with GGG and XXX; found {texts!r:.80}.")
    sentences = []
    # the notebook has a sentence twice, commented out: what is the same counts once
    for number, text in enumerate(dict.fromkeys(map(spelling, texts)), start=1):
        if text.count(_TARGET_OF_AUTHORS) != 1 or text.count(_ATTRIBUTE_OF_AUTHORS) != 1:
            raise InputError(
                f"{path}: sentence {number} of `{category}` must have {_TARGET_OF_AUTHORS} (the target) and"
                f" {_ATTRIBUTE_OF_AUTHORS} (the attribute) once each: {text!r:.80}."
            )
        slots = text.replace(_TARGET_OF_AUTHORS, "{target}").replace(_ATTRIBUTE_OF_AUTHORS, "{attribute}")
        sentences.append(read_sentence(slots, name=str(number), place=f"{path}: {category}", language=LANGUAGE))
    return tuple(sentences)


def _read_category(name: str, by_name: Entry, language: str) -> tuple[SentenceTemplate, ...]:
    if not (entries := by_name.entries_of(name)):
        raise InputError(
            f"{by_name.place}: the category `{name}` has no sentences. Write at least one `- {{id: ..., text: ...}}`,"
            " or delete the category."
        )

    def read(entry: Entry) -> SentenceTemplate:
        entry.require(f"a sentence of the category `{name}`", required=["id", "text"], optional=["gloss"])
        return sentence_of(entry, entry.text("id"), language)

    return read_distinct(f"the category `{name}`", entries, read)
