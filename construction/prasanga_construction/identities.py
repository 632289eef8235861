"""Identity terms by axis, with the forms in which sentences have them and the terms that take their place.

The axes and terms are those of IndiBias's Figure 2 (Sahoo et al. 2024) and a region axis. A file is YAML:

    language: en
    axes:
      religion:
        name: religion                # what a prompt calls it
        bias_type: religion           # of the pairs; the axis's own name where it is missing
        terms:
          - id: hindu
            gloss: Hindu              # in English; for other languages
            gender: common            # masculine, feminine, common: what agrees with it
            forms: {person: Hindu person, people: [Hindus, Hindu people], adjective: Hindu}
            aliases: [Hinduism]       # other spellings of the term in tuples
            proposed: true            # false for a term that no attributes are asked for, known from tuples alone
            counterparts: [muslim]    # or by polarity of the attribute: {positive: [muslim], negative: [muslim]}

A form is written as its first spelling and recognized in any. All terms of an axis have forms of the same names, so
that one can take the other's place in a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, suggest
from prasanga.lexicon.model import read_yaml
from prasanga.pairs.layouts import canonical
from prasanga.pairs.preferences import LANGUAGES
from prasanga_construction.tuples import POLARITIES, BiasTuple

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

    def counterparts_of(self, each: BiasTuple, term: Term) -> list[Term]:
        """Return the terms that take the place of a tuple's own: the tuple's own word for it, or those of the file."""
        if each.counterpart:
            found = self.find(each.bias_type, each.counterpart, each.place)
            if found == term:
                raise InputError(f"{each.place}: the counterpart of {each.identity!r} is the same term. Name another.")
            return [found]
        return [self.axes[term.axis].terms[name] for name in term.counterparts[each.polarity]]


def load_identities(path: str | Path) -> Identities:
    """Read a file of identity terms.

    Raises:
        InputError: with file and line: the file cannot be read, an unknown key, gender or language; a term without
            `person` or `people`, with other forms than the first of its axis, without counterparts or with one that
            the axis does not have; an id that stands twice.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check `construction.identities` in the config, or write the file.")
    content = read_yaml(path, normalization="nfc")
    content.require("a file of identity terms", required=["language", "axes"])
    language = content.text("language")
    if language not in LANGUAGES:
        raise InputError(f"{content.place}: `language` is {language!r}. Allowed: {', '.join(LANGUAGES)}.")
    axes = content.entry_of("axes")
    if not axes:
        raise InputError(f"{content.place}: `axes` is empty. Write under it `religion: {{terms: [...]}}`.")
    return Identities(path, language, {name: _read_axis(name, axes.entry_of(name)) for name in axes})


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
        name,
        axis,
        bias_type,
        gender,
        spellings,
        tuple(aliases),
        counterparts,
        entry.flag("proposed", default=True),
        entry.place,
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").split())
