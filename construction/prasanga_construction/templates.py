"""Templates of sentences about people, and the identity terms that fill them.

Templates (`resources/construction/<language>/templates.yaml`):

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

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, read_distinct, suggest
from prasanga.lexicon.inflection import capitalize
from prasanga.lexicon.model import read_yaml
from prasanga.lexicon.templates import INDEFINITE, SLOT, begins_sentence, with_article
from prasanga.pairs.alignment import Span
from prasanga.pairs.preferences import LABELS, LANGUAGES
from prasanga.pairs.reading import canonical
from prasanga_construction.sheets import require_once
from prasanga_construction.tuples import POLARITIES, WORD_CLASSES, BiasTuple

# --------------------
# Identity terms by axis, with the forms in which sentences have them and the terms that take their place.
#
# The axes and terms come from IndiBias's Figure 2 (Sahoo et al. 2024), with a region axis. A file is YAML:
#
#     language: en
#     axes:
#       religion:
#         name: religion                # what a prompt calls it
#         bias_type: religion           # of the pairs; the axis's own name where it is missing
#         terms:
#           - id: hindu
#             gloss: Hindu              # in English; for other languages
#             gender: common            # masculine, feminine, common: what agrees with it
#             forms: {person: Hindu person, people: [Hindus, Hindu people], adjective: Hindu}
#             aliases: [Hinduism]       # other spellings of the term in tuples
#             proposed: true            # false for a term that no attributes are asked for, known from tuples alone
#             counterparts: [muslim]    # or by polarity of the attribute: {positive: [muslim], negative: [muslim]}
#
# A form is written in its first spelling and recognized in any. All terms of an axis have forms of the same names, so
# that one can replace the other in a sentence.

GENDERS = ("masculine", "feminine", "common")
REQUIRED_FORMS = ("person", "people")


@dataclass(frozen=True)
class Term:
    """An identity term.

    Attributes:
        term_id: its name in its axis.
        axis: name of the axis.
        bias_type: of its pairs.
        gender: what agrees with it.
        forms: {name of a form: its spellings, the one to write first}.
        aliases: other spellings in tuples, its id and gloss among them.
        counterparts: {polarity: ids of the terms that take its place, the first preferred}.
        proposed: whether a model is asked for its attributes.
        place: file and line.
    """

    term_id: str
    axis: str
    bias_type: str
    gender: str
    forms: Mapping[str, tuple[str, ...]]
    aliases: tuple[str, ...]
    counterparts: Mapping[str, tuple[str, ...]]
    proposed: bool
    place: str

    @property
    def people(self) -> str:
        """Return what its people are called."""
        return self.forms["people"][0]

    @property
    def spellings(self) -> list[str]:
        """Return all spellings of all forms, each once."""
        return list(dict.fromkeys(spelling for form in self.forms.values() for spelling in form))


@dataclass(frozen=True)
class Axis:
    """Terms between which a stereotype may distinguish: `terms` by id, in the order of the file."""

    name: str
    title: str
    bias_type: str
    terms: Mapping[str, Term]


@dataclass(frozen=True)
class Identities:
    """The identity terms of a language."""

    path: Path
    language: str
    axes: Mapping[str, Axis]

    def find(self, bias_type: str, identity: str, place: str) -> Term:
        """Find the term that a tuple's identity names: by id, alias or spelling of a form, whatever its case.

        Raises:
            InputError: no axis for the bias type, or no such term in it; with the nearest and all known ones.
        """
        axes = [axis for axis in self.axes.values() if bias_type in (canonical(axis.name), axis.bias_type)]
        if not axes:
            known = {canonical(axis.name) for axis in self.axes.values()}
            raise InputError(f"{place}: {self.path} has no axis {bias_type!r}.{suggest(bias_type, known)}")
        wanted = _folded(identity)
        terms = [term for axis in axes for term in axis.terms.values()]
        for term in terms:
            if wanted in map(_folded, (*term.aliases, *term.spellings)):
                return term
        raise InputError(
            f"{place}: {self.path} lacks the identity term {identity!r} for {bias_type}."
            f"{suggest(wanted, [term.term_id for term in terms])} Write one of them, or add the term (or this spelling,"
            " under `aliases`) to that file."
        )

    def counterpart_of(self, each: BiasTuple, term: Term) -> Term:
        """Return the counterpart of a tuple's term: the tuple's own word for it, or the file's first."""
        if not each.counterpart:
            return self.axes[term.axis].terms[term.counterparts[each.polarity][0]]
        found = self.find(each.bias_type, each.counterpart, each.place)
        if found == term:
            raise InputError(f"{each.place}: the counterpart of {each.identity!r} is the same term. Name another.")
        return found


def load_identities(path: str | Path) -> Identities:
    """Read a file of identity terms.

    Raises:
        InputError: with file and line: the file cannot be read, an unknown key, gender or language; a term without
            `person` or `people`, with other forms than the first of its axis, without counterparts or with one that
            the axis does not have; an id that is there twice.
    """
    content = read_yaml(Path(path), normalization="nfc")
    content.require("a file of identity terms", required=["language", "axes"])
    axes = content.entry_of("axes")
    read = {name: _read_axis(name, axes.entry_of(name)) for name in axes}
    return Identities(Path(path), _read_choice(content, "language", LANGUAGES), read)


def _read_choice(entry: Entry, key: str, allowed: Iterable[str], default: str = "") -> str:
    found = entry.text(key, default)
    if found not in allowed:
        raise InputError(f"{entry.place}: `{key}` is {found!r}.{suggest(found, allowed)}")
    return found


def _read_axis(name: str, entry: Entry) -> Axis:
    entry.require(f"the axis `{name}`", required=["terms"], optional=["name", "bias_type"])
    bias_type = canonical(entry.text("bias_type", name))
    read = [_read_term(name, bias_type, each) for each in entry.entries_of("terms")]
    require_once((term.term_id, term.place) for term in read)
    terms = {term.term_id: term for term in read}
    for term in read:
        if set(term.forms) != set(read[0].forms):
            raise InputError(
                f"{term.place}: the forms of `{term.term_id}` are {', '.join(term.forms)}, but `{read[0].term_id}` has"
                f" {', '.join(read[0].forms)}. Give all terms of an axis the same, so that one can replace another."
            )
        for counterpart in {one for names in term.counterparts.values() for one in names}:
            others = terms.keys() - {term.term_id}
            if counterpart not in others:
                raise InputError(
                    f"{term.place}: `counterparts` of `{term.term_id}` has {counterpart!r}."
                    f"{suggest(counterpart, others)}"
                )
    return Axis(name, entry.text("name", name), bias_type, terms)


def _read_term(axis: str, bias_type: str, entry: Entry) -> Term:
    optional = ["gloss", "gender", "aliases", "proposed"]
    entry.require("an identity term", required=["id", "forms", "counterparts"], optional=optional)
    name, forms = entry.text("id"), entry.entry_of("forms")
    spellings = {form: forms.texts(form) for form in (*REQUIRED_FORMS, *forms)}
    by_polarity = isinstance(entry["counterparts"], Entry)
    counterparts = {
        one: entry.entry_of("counterparts").texts(one) if by_polarity else entry.texts("counterparts")
        for one in POLARITIES
    }
    for what, found in (*spellings.items(), *counterparts.items()):
        if not found or not all(found):
            raise InputError(
                f"{entry.place}: the term `{name}` lacks a {what} {'form' if what in spellings else 'counterpart'}."
                " Write `forms: {person: ..., people: ...}` and `counterparts: [<id>]`."
            )
    return Term(
        term_id=name,
        axis=axis,
        bias_type=bias_type,
        gender=_read_choice(entry, "gender", GENDERS, "common"),
        forms={form: spellings[form] for form in forms},
        aliases=(name, *entry.texts("gloss"), *entry.texts("aliases")),
        counterparts=counterparts,
        proposed=entry.flag("proposed", default=True),
        place=entry.place,
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").split())


# --------------------
# Templates: the sentences, read, checked and filled.

T = TypeVar("T")
_SLOTS = re.compile(r"identity:.*\S.*|attribute(:\s*(singular|plural)?\s*)?")
# Hindi adjectives in -ा that do not change: of Persian and Arabic origin, or in -इया.
_UNCHANGING = frozenset(["ज़िंदा", "जिंदा", "ताज़ा", "ताजा", "उम्दा", "आला", "पेचीदा", "संजीदा", "शर्मिंदा", "रंजीदा"])
_AA = "ा"
_SLOTS_OF_PROMPTS = {"attributes": {"count", "polarity", "identity"}, "sentences": {"count", "identity", "attribute"}}


@dataclass(frozen=True)
class PairTemplate:
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
class PairTemplates:
    """The templates of a language, {class of the attribute: templates}, and its prompts."""

    path: Path
    classes: Mapping[str, tuple[PairTemplate, ...]]
    prompts: Prompts


class Filled(NamedTuple):
    """A sentence with the places of its identity terms, and the words that agree, or may agree, with them."""

    text: str
    identity: list[Span]
    agreeing: list[Span]


def load_templates(path: str | Path, language: str) -> PairTemplates:
    """Read a file of templates and prompts in a language.

    Raises:
        InputError: with file and line: the file cannot be read, another language, an unknown key, class, label or slot,
            an id or text that is there twice in a class, a text without identity or attribute, a prompt without a slot
            that it needs.
    """
    content = read_yaml(Path(path), normalization="nfc")
    content.require("a file of templates", required=["language", "prompts", "templates"])
    by_class = content.entry_of("templates")
    by_class.require("templates by class of the attribute", required=(), optional=WORD_CLASSES)
    classes = {
        name: read_distinct(f"the class `{name}`", by_class.entries_of(name), partial(_read_template, name))
        for name in by_class
    }
    _read_choice(content, "language", [language])
    return PairTemplates(Path(path), classes, _read_prompts(content.entry_of("prompts")))


def choose_prompts(templates: PairTemplates, path: str | Path, names: Iterable[str], language: str) -> PairTemplates:
    """Return templates with prompts of a list in the place of their own (`resources/construction/prompts.yaml`).

    Args:
        templates: of the study.
        path: the list, a prompt for attributes or for sentences by its id.
        names: the ids, one of either kind.
        language: of the identity terms, in which a model is asked.

    Raises:
        InputError: the list is for another language, or lacks the id; as `load_templates`.
    """
    content = read_yaml(Path(path), normalization="nfc")
    _read_choice(content, "language", [language])
    listed = {entry.text("id"): entry for entry in content.entries_of("prompts")}
    chosen: dict[str, Any] = {}
    for name in names:
        if name not in listed:
            raise InputError(f"construction.prompts: {path} lacks the prompt {name!r}.{suggest(name, listed)}")
        kind = _read_choice(listed[name], "kind", _SLOTS_OF_PROMPTS)
        chosen[kind] = _read_prompt(listed[name], "text", kind)
    return replace(templates, prompts=replace(templates.prompts, **chosen))


def fill(template: PairTemplate, term: Term, each: BiasTuple) -> Filled:
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
        if name == "identity":
            form = " ".join(word for word in rest.split() if word != INDEFINITE)
            word = _require(term.forms, form, template, term)[0]
            indefinite = INDEFINITE in rest.split()
            phrase = with_article(word) if indefinite else word
            text += capitalize(phrase) if begins_sentence(text, each.language) else phrase
            identity.append((len(text) - len(word), len(text)))
            if indefinite:
                agreeing.append((start, len(text) - len(word) - 1))
            continue
        if name == "attribute":
            text += inflected(each.attribute, each.language, each.word_class, term.gender, rest.strip())
        else:
            text += _require(dict(zip(GENDERS, slot[1].split("|"), strict=False)), term.gender, template, term)
        agreeing.append((start, len(text)))
    return Filled(text + template.text[position:], identity, agreeing)


def inflected(attribute: str, language: str, word_class: str, gender: str, number: str) -> str:
    """Return an attribute as used with a term: in Hindi, an adjective in -ा agrees; others are unchanged."""
    last = attribute.rsplit(" ", 1)[-1]
    changes = language == "hi" and word_class == "adjective" and number and last.endswith(_AA)
    if not changes or last in _UNCHANGING or last.endswith("िया"):
        return attribute
    ending = "ी" if gender == "feminine" else "े" if number == "plural" else _AA
    return attribute[: -len(_AA)] + ending


def _require(forms: Mapping[str, T], wanted: str, template: PairTemplate, term: Term) -> T:
    """Return the form that a slot asks for: one of the term, or a word for its gender."""
    if wanted not in forms:
        raise InputError(
            f"{template.place}: the template `{template.template_id}` has {', '.join(forms)} for {term.place}, and not"
            f" the form `{wanted}`. Write it there, or name the `axes` of the template."
        )
    return forms[wanted]


def _read_template(word_class: str, entry: Entry) -> PairTemplate:
    entry.require("a template", required=["id", "label", "text"], optional=["gloss", "axes"])
    label, text = _read_choice(entry, "label", LABELS), entry.text("text")
    slots = [slot for slot in SLOT.findall(text) if "|" not in slot]
    both = {slot.partition(":")[0] for slot in slots} == {"identity", "attribute"}
    if not both or not all(map(_SLOTS.fullmatch, slots)) or re.search("[{}]", SLOT.sub("", text)):
        raise InputError(
            f"{entry.place}: the template `{entry.text('id')}` has wrong slots: {text} Write {{identity:people}} (or"
            " another form of the term), {attribute}, {attribute:singular} or {attribute:plural}, and words that agree:"
            " {he|she}; no other braces."
        )
    return PairTemplate(entry.text("id"), word_class, label, text, entry.texts("axes"), entry.place)


def _read_prompts(entry: Entry) -> Prompts:
    entry.require("the prompts", required=["attributes", "sentences", "opening", "polarities"])
    polarities = entry.entry_of("polarities")
    polarities.require("the words for polarities", required=POLARITIES)
    attributes, sentences = (_read_prompt(entry, name, name) for name in _SLOTS_OF_PROMPTS)
    opening = entry.text("opening", may_be_empty=True)
    return Prompts(attributes, sentences, opening, {one: polarities.text(one) for one in POLARITIES})


def _read_prompt(entry: Entry, key: str, kind: str) -> str:
    text, slots = entry.text(key), _SLOTS_OF_PROMPTS[kind]
    found, allowed = set(SLOT.findall(text)), slots | {"polarity", "axis"}
    if not slots <= found <= allowed:
        raise InputError(
            f"{entry.place}: the prompt `{key}` has the slots {', '.join(sorted(found)) or 'none'}. Write each of"
            f" {', '.join(sorted(slots))}; others may be {', '.join(sorted(allowed - slots))}."
        )
    return text
