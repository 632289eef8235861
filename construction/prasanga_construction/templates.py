"""Templates of sentences that say of people how they are (`resources/construction/<language>/templates.yaml`).

    language: hi
    templates:
      adjective:                # class of the attribute: adjective, quality, person
        - {id: told, label: stereo, text: "सब कहते हैं कि {identity:people} {attribute:plural} {होते|होती} हैं।", gloss: ...}

Slots:

    {identity:people}           a form of the identity term, by its name in the identity terms
    {identity:person indefinite}  English: with a or an before it
    {attribute}                 the attribute as it is
    {attribute:plural}          Hindi: an adjective in -ा in the gender of the term and in this number (or singular)
    {होते|होती}                   what agrees with a term: masculine, feminine, and with a third one common

`label` is stereo if the sentence says that the people are so, antistereo if it says the contrary (IndiBias 4.2.2). A
template for some axes only names them under `axes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, read_distinct, suggest
from prasanga.lexicon.inflection import capitalize
from prasanga.lexicon.model import read_yaml
from prasanga.lexicon.templates import INDEFINITE, SLOT, begins_sentence, with_article
from prasanga.pairs.alignment import Span
from prasanga.pairs.preferences import LABELS
from prasanga_construction.identities import GENDERS, Term
from prasanga_construction.tuples import WORD_CLASSES, BiasTuple

_NUMBERS = ("singular", "plural")
# Hindi adjectives in -ा that do not change: of Persian and Arabic origin, or in -इया.
_UNCHANGING = frozenset(["ज़िंदा", "जिंदा", "ताज़ा", "ताजा", "उम्दा", "आला", "पेचीदा", "संजीदा", "शर्मिंदा", "रंजीदा"])
_AA = "ा"


@dataclass(frozen=True)
class Template:
    """A sentence with slots.

    Attributes:
        template_id: its name in its class.
        word_class: class of the attributes that it takes.
        label: `stereo` or `antistereo`, of a pair whose first sentence has the tuple's own identity.
        text: with slots.
        axes: that it is for; all if empty.
        place: file and line.
    """

    template_id: str
    word_class: str
    label: str
    text: str
    axes: tuple[str, ...]
    place: str


@dataclass(frozen=True)
class Prompts:
    """What a model is asked, with slots {name} for the words of a tuple.

    Attributes:
        attributes: asks for attributes: {count}, {polarity}, {identity}, {axis}.
        sentences: asks for sentences: {count}, {polarity}, {identity}, {axis}, {attribute}.
        opening: how the answer begins, so that a model that only goes on writes a list.
        polarities: {positive, negative: the words for them}.
    """

    attributes: str
    sentences: str
    opening: str
    polarities: Mapping[str, str]


@dataclass(frozen=True)
class Templates:
    """The templates of a language, {class of the attribute: templates}, and its prompts."""

    path: Path
    language: str
    classes: Mapping[str, tuple[Template, ...]]
    prompts: Prompts


class Filled(NamedTuple):
    """A sentence, with where its identity terms stand, and the words that agree with them or may."""

    text: str
    identity: list[Span]
    agreeing: list[Span]


def load_templates(path: str | Path) -> Templates:
    """Read a file of templates and prompts.

    Raises:
        InputError: with file and line: the file cannot be read, an unknown key, class, label or slot, an id or text
            that stands twice in a class, a text without identity or attribute, a prompt without a slot that it needs.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check `construction.templates` in the config, or write the file.")
    content = read_yaml(path, normalization="nfc")
    content.require("a file of templates", required=["language", "prompts", "templates"])
    by_class = content.entry_of("templates")
    by_class.require("templates by class of the attribute", required=(), optional=WORD_CLASSES)
    classes = {
        name: read_distinct(f"the class `{name}`", by_class.entries_of(name), partial(_read_template, name))
        for name in by_class
    }
    if not any(classes.values()):
        raise InputError(
            f"{path}: `templates` is empty. Write under it `adjective: [{{id: ..., label: ..., text: ...}}]`."
        )
    return Templates(path, content.text("language"), classes, _read_prompts(content.entry_of("prompts")))


def fill(template: Template, term: Term, each: BiasTuple) -> Filled:
    """Write the sentence of a template about the people of `term`, with the tuple's attribute.

    Raises:
        InputError: the term lacks the form, or a gender that the template tells apart.
    """
    text, identity, agreeing = "", [], []
    position = 0
    for slot in SLOT.finditer(template.text):
        text += template.text[position : slot.start()]
        position = slot.end()
        start = len(text)
        name, _, rest = slot[1].partition(":")
        if "|" in slot[1]:
            text += _of_gender(slot[1].split("|"), term, template)
            agreeing.append((start, len(text)))
        elif name == "attribute":
            text += inflected(each.attribute, each.language, each.word_class, term.gender, rest.strip())
            agreeing.append((start, len(text)))
        else:
            form, indefinite = _asked(rest)
            word = term.form(form)
            if word is None:
                raise InputError(
                    f"{template.place}: the template `{template.template_id}` asks for the form `{form}`, which"
                    f" {term.place} has not. Its forms are {', '.join(term.forms)}: add it, or name the `axes` of the"
                    " template."
                )
            phrase = with_article(word) if indefinite else word
            phrase = capitalize(phrase) if begins_sentence(text, each.language) else phrase
            text += phrase
            identity.append((len(text) - len(word), len(text)))
            if indefinite:
                agreeing.append((start, len(text) - len(word) - 1))
    return Filled(text + template.text[position:], identity, agreeing)


def inflected(attribute: str, language: str, word_class: str, gender: str, number: str) -> str:
    """Write an attribute as it stands beside a term: in Hindi, an adjective in -ा agrees; all else is as it is."""
    last = attribute.rsplit(" ", 1)[-1]
    changes = language == "hi" and word_class == "adjective" and number and last.endswith(_AA)
    if not changes or last in _UNCHANGING or last.endswith("िया"):
        return attribute
    ending = "ी" if gender == "feminine" else "े" if number == "plural" else _AA
    return attribute[: -len(_AA)] + ending


def _of_gender(words: Sequence[str], term: Term, template: Template) -> str:
    by_gender = dict(zip(GENDERS, words, strict=False))
    if term.gender not in by_gender:
        raise InputError(
            f"{template.place}: the template `{template.template_id}` tells masculine from feminine"
            f" ({'|'.join(words)}), but {term.place} is {term.gender}. Write a third word for it, or name the `axes` of"
            " the template."
        )
    return by_gender[term.gender]


def _read_template(word_class: str, entry: Entry) -> Template:
    entry.require("a template", required=["id", "label", "text"], optional=["gloss", "axes"])
    label = entry.text("label")
    if label not in LABELS:
        raise InputError(f"{entry.place}: `label` is {label!r}. Allowed: {', '.join(LABELS)}.")
    template = Template(entry.text("id"), word_class, label, entry.text("text"), entry.texts("axes"), entry.place)
    _check_slots(template)
    return template


def _check_slots(template: Template) -> None:
    names = set()
    for slot in SLOT.finditer(template.text):
        if "|" in slot[1]:
            continue
        name, _, rest = slot[1].partition(":")
        names.add(name)
        allowed = {"identity": bool(rest.strip()), "attribute": rest.strip() in ("", *_NUMBERS)}
        if not allowed.get(name):
            raise InputError(
                f"{template.place}: the slot {slot[0]} is none that there is. Write {{identity:people}} (or another"
                " form of the term), {attribute}, {attribute:singular}, {attribute:plural}, or words that agree:"
                " {he|she}."
            )
    if names != {"identity", "attribute"} or "{" in SLOT.sub("", template.text) or "}" in SLOT.sub("", template.text):
        raise InputError(
            f"{template.place}: the template `{template.template_id}` needs an {{identity:...}}, an {{attribute}},"
            f" and no brace besides: {template.text}"
        )


def _asked(rest: str) -> tuple[str, bool]:
    """Return the name of a form, and whether an article stands before it."""
    words = rest.split()
    return " ".join(word for word in words if word != INDEFINITE), INDEFINITE in words


def _read_prompts(entry: Entry) -> Prompts:
    entry.require("the prompts", required=["attributes", "sentences", "opening", "polarities"])
    polarities = entry.entry_of("polarities")
    polarities.require("the words for polarities", required=["positive", "negative"])
    needed = {"attributes": ("count", "polarity", "identity"), "sentences": ("count", "identity", "attribute")}
    for name, slots in needed.items():
        found = set(SLOT.findall(entry.text(name)))
        allowed = ("count", "polarity", "identity", "axis", *(("attribute",) if name == "sentences" else ()))
        for slot in sorted(found - set(allowed)):
            raise InputError(f"{entry.place}: the prompt `{name}` has the slot {{{slot}}}.{suggest(slot, allowed)}")
        for slot in slots:
            if slot not in found:
                raise InputError(
                    f"{entry.place}: the prompt `{name}` lacks the slot {{{slot}}}. Write it where it belongs."
                )
    return Prompts(
        entry.text("attributes"),
        entry.text("sentences"),
        entry.text("opening", may_be_empty=True),
        {one: polarities.text(one) for one in ("positive", "negative")},
    )
