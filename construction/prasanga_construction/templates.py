"""Templates of sentences that say of people how they are, and the identity terms that fill them.

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
from prasanga.pairs.layouts import canonical
from prasanga.pairs.preferences import LABELS, LANGUAGES
from prasanga_construction.tuples import POLARITIES, WORD_CLASSES, BiasTuple

# --------------------
# Identity terms by axis, with the forms in which sentences have them and the terms that take their place.
#
# The axes and terms are those of IndiBias's Figure 2 (Sahoo et al. 2024) and a region axis. A file is YAML:
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
# A form is written as its first spelling and recognized in any. All terms of an axis have forms of the same names, so
# that one can take the other's place in a sentence.

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

    def form(self, name: str) -> str | None:
        """Return the spelling to write of a form; None if the term does not have it."""
        return self.forms[name][0] if name in self.forms else None


@dataclass(frozen=True)
class Axis:
    """Terms between which a stereotype may tell: `terms` by id, in the order of the file."""

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
            InputError: no axis for the bias type, or no such term in it; with the nearest and all that there are.
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
        ids = [term.term_id for term in terms]
        raise InputError(
            f"{place}: {self.path} has no identity term {identity!r} for {bias_type}.{suggest(wanted, ids)} Write one"
            " of them, or add the term (or this spelling, under `aliases`) to that file."
        )

    def counterpart_of(self, each: BiasTuple, term: Term) -> Term:
        """Return the term that takes the place of a tuple's own: the tuple's own word for it, or the file's first."""
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
            the axis does not have; an id that stands twice.
    """
    path = Path(path)
    content = _read_file(path, "identities", "a file of identity terms", ["language", "axes"])
    language = content.text("language")
    if language not in LANGUAGES:
        raise InputError(f"{content.place}: `language` is {language!r}. Allowed: {', '.join(LANGUAGES)}.")
    axes = content.entry_of("axes")
    if not axes:
        raise InputError(f"{content.place}: `axes` is empty. Write under it `religion: {{terms: [...]}}`.")
    return Identities(path, language, {name: _read_axis(name, axes.entry_of(name)) for name in axes})


def _read_file(path: Path, key: str, what: str, required: Sequence[str]) -> Entry:
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check `construction.{key}` in the config, or write the file.")
    content = read_yaml(path, normalization="nfc")
    content.require(what, required=required)
    return content


def _read_axis(name: str, entry: Entry) -> Axis:
    entry.require(f"the axis `{name}`", required=["terms"], optional=["name", "bias_type"])
    bias_type = canonical(entry.text("bias_type", name))
    terms: dict[str, Term] = {}
    for each in entry.entries_of("terms"):
        term = _read_term(name, bias_type, each)
        if term.term_id in terms:
            raise InputError(f"{each.place}: the id `{term.term_id}` stands twice in `{name}`. Rename one.")
        terms[term.term_id] = term
    if len(terms) < 2:
        raise InputError(f"{entry.place}: the axis `{name}` has {len(terms)} terms; a pair needs two.")
    for term in terms.values():
        first = next(iter(terms.values()))
        if set(term.forms) != set(first.forms):
            raise InputError(
                f"{term.place}: the forms of `{term.term_id}` are {', '.join(term.forms)}, but `{first.term_id}` has"
                f" {', '.join(first.forms)}. All terms of an axis need the same, to take each other's place."
            )
        for counterpart in {one for names in term.counterparts.values() for one in names}:
            if counterpart == term.term_id or counterpart not in terms:
                others = [one for one in terms if one != term.term_id]
                raise InputError(
                    f"{term.place}: `counterparts` of `{term.term_id}` has {counterpart!r}."
                    f"{suggest(counterpart, others)}"
                )
    return Axis(name, entry.text("name", name), bias_type, terms)


def _read_term(axis: str, bias_type: str, entry: Entry) -> Term:
    entry.require(
        "an identity term",
        required=["id", "forms", "counterparts"],
        optional=["gloss", "gender", "aliases", "proposed"],
    )
    name, gender = entry.text("id"), entry.text("gender", "common")
    if gender not in GENDERS:
        raise InputError(f"{entry.place}: `gender` is {gender!r}. Allowed: {', '.join(GENDERS)}.")
    forms = entry.entry_of("forms")
    spellings = {form: forms.texts(form) for form in forms}
    for form in (*REQUIRED_FORMS, *spellings):
        if not spellings.get(form) or not all(spellings[form]):
            raise InputError(f"{entry.place}: the term `{name}` has no form `{form}`. Write it under `forms`.")
    given = entry["counterparts"]
    by_polarity = entry.entry_of("counterparts") if isinstance(given, Entry) else None
    if by_polarity is not None:
        by_polarity.require("counterparts by polarity", required=POLARITIES)
    counterparts = {one: (by_polarity.texts(one) if by_polarity else entry.texts("counterparts")) for one in POLARITIES}
    if not all(counterparts.values()):
        raise InputError(f"{entry.place}: the term `{name}` has no counterpart. Write `counterparts: [<id>]`.")
    aliases: Sequence[str] = (name, *([entry.text("gloss")] if "gloss" in entry else []), *entry.texts("aliases"))
    return Term(
        *(name, axis, bias_type, gender, spellings, tuple(aliases), counterparts),
        *(entry.flag("proposed", default=True), entry.place),
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").split())


# --------------------
# Templates: the sentences, read, checked and filled.

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
    content = _read_file(path, "templates", "a file of templates", ["language", "prompts", "templates"])
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
