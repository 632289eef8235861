"""Sentences with two slots, a target and an attribute, and where the words stand once they are in them.

    {target:plural genitive}   the target in this number and case, from the lexicon
    {attribute}                the attribute as it is
    {target:indefinite}        English, with a or an before it
    {Target}                   with a capital; a word at the beginning of an English sentence gets one by itself

A letter that a sentence writes onto a slot ({target}রা) belongs to the word: what is masked is the whole inflected word,
so that no ending hangs on a mask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from prasanga.base.yaml import suggest
from prasanga.errors import InputError
from prasanga.lexicon.model import Lexicon
from prasanga.lexicon.slots import SLOT, WordForm, read_word_form, whole_words
from prasanga.models.pieces import Span

TARGET, ATTRIBUTE = "target", "attribute"


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
        before: the text up to the first slot, normalized.
        first: the slot that stands first.
        between: the text between the slots.
        second: the other slot.
        after: the rest.
        gloss: English translation.
        place: file and line, for messages.
    """

    name: str
    before: str
    first: Slot
    between: str
    second: Slot
    after: str
    gloss: str = ""
    place: str = ""

    def slot(self, role: str) -> Slot:
        """The slot of the target or of the attribute."""
        return self.first if self.first.role == role else self.second

    @property
    def context(self) -> str:
        """The text without the slots."""
        return f"{self.before} {self.between} {self.after}"


class FilledSentence(NamedTuple):
    """A sentence with both words in it: `text[slice(*target)]` is the whole inflected target."""

    text: str
    target: Span
    attribute: Span


def read_sentence(text: str, *, name: str, place: str, language: str, gloss: str = "") -> SentenceTemplate:
    """A template from its text, which is normalized.

    Args:
        text: with one slot for a target and one for an attribute.
        name: its id.
        place: file and line, for messages.
        language: bn, hi, en; English has articles and capitals.
        gloss: English translation.

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
    before, between, after = texts
    if not between:
        raise InputError(f"{what} has nothing between its two slots. Write at least a space there: {text}")
    return SentenceTemplate(name, before, read[0], between, read[1], after, gloss, place)


def form_for(lexicon: Lexicon, stimulus: str, slot: Slot, template: SentenceTemplate) -> str:
    """The form of a stimulus that a slot asks for.

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
) -> FilledSentence:
    """Put two forms into a sentence.

    Args:
        template: the sentence.
        target: the form of the target (`form_for`).
        attribute: the form of the attribute.
        spelling: the study's normalization of a text (`prasanga.lexicon.spelling.spelling_of`).

    Raises:
        InputError: normalization changes letters where a word meets the sentence.
    """
    forms = {TARGET: target, ATTRIBUTE: attribute}
    text, spans, parts = template.before, {}, []
    for slot, left, rest in (
        (template.first, template.before, template.between),
        (template.second, template.between, template.after),
    ):
        word = forms[slot.role]
        phrase = slot.form.phrase(word)
        text += phrase
        spans[slot.role] = (len(text) - len(word), len(text))
        text += rest
        parts.append(left + phrase + rest)
    # Words and sentence are normalized by themselves. Where they meet is looked at for each word and not for each pair
    # of words, of which there are many more.
    if not all(_is_spelled(spelling, part) for part in (parts if template.between else [text])):
        raise InputError(
            f"{template.place}: the sentence `{template.name}` with {target} and {attribute} changes letters when it is"
            f" normalized ({spelling(text)}). Write a space or a form ({{target:genitive}}) beside the slot."
        )
    whole = {role: whole_words(text, *span) for role, span in spans.items()}
    return FilledSentence(text, whole[TARGET], whole[ATTRIBUTE])


@lru_cache(maxsize=1 << 14)
def _is_spelled(spelling: Callable[[str], str], text: str) -> bool:
    """Whether normalization leaves a text as it is."""
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
