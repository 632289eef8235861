"""Make the surface forms of a stem from the endings that its suffix groups license, and resolve ambiguous forms."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, suggest
from prasanga.lexicon.model import CASES, NUMBERS, Neighbours, SurfaceForm, read_yaml
from prasanga.text import WORD, fold

# --------------------
# The end of a stem, which decides its endings.
#
# Bangla writes the genitive of ফুল as ফুলের, of বাবা as বাবার, of মা as মায়ের and of ভাই as ভাইয়ের: the ending
# depends on whether the stem ends in a consonant, in a vowel of a longer word, in the vowel of a one-vowel word, or in
# a diphthong. The Bengali and Devanagari blocks of Unicode have the same layout, so one rule covers both. In Latin
# script the classes follow English spelling: flowers, but wishes and cities.
#
# If a class is too coarse, an ending is written out after a hyphen: -ी is any stem that ends in ी.


ENDING_CLASSES = ("consonant", "vowel", "monosyllable", "diphthong", "plain", "sibilant", "consonant_y")
ANY = "any"
OTHER = "other"

_JOINERS = "\u200c\u200d"
_GLIDE = "\u09af\u09bc"  # য়, normalized
# Devanagari and Bengali: vowel signs, vowel letters, nukta and hasanta, consonants, and signs that close a syllable.
_SIGNS, _LETTERS = "\u093e-\u094c\u0957\u09be-\u09cc\u09d7", "\u0905-\u0914\u0985-\u0994"
_NUKTA, _VIRAMA = "\u093c\u09bc", "\u094d\u09cd"
_CONSONANTS = "\u0915-\u0939\u095c\u095d\u095f\u0970\u0971\u0995-\u09b9\u09dc\u09dd\u09df\u09f0\u09f1"
_CODAS = f"\u0902\u0903\u0982\u0983\u094e\u09ce{_NUKTA}{_VIRAMA}"  # ং ঃ ৎ, a nukta (ড়), a hasanta
_CLOSING = "इईउऊইঈউঊ"  # after another vowel always the second half of a diphthong
# A written vowel, or the inherent one of a bare consonant before the last letter.
_VOWEL = re.compile(f"[{_LETTERS}{_SIGNS}]|[{_CONSONANTS}][{_NUKTA}]?(?=[^{_NUKTA}{_SIGNS}{_VIRAMA}])")
_SIGN, _LAST_VOWEL = re.compile(f"[{_SIGNS}]"), re.compile(rf"[{_LETTERS}{_SIGNS}]\Z")
_LAST_CONSONANT = re.compile(rf"[{_CONSONANTS}{_CODAS}]\Z")
_SIBILANT = re.compile(r"(s|x|z|ch|sh)$", re.IGNORECASE)
_CONSONANT_Y = re.compile(r"([^aeiou]|qu)y$", re.IGNORECASE)
_LATIN_VOWELS = tuple("aeiou")


def ending_class(stem: str) -> str:
    """Return the ending class of a normalized stem; a stem of several words has its last word's.

    Returns:
        One of `ENDING_CLASSES`, or `OTHER` for scripts without these classes.

        - consonant: a consonant letter; ৎ, ং, ঃ and letters with nukta included (an inherent vowel is not written)
        - vowel: a vowel sign at the end of a word with more than one vowel, or an independent আ, এ, or ও of a long word
        - monosyllable: the only vowel of the word (মা, স্ত্রী, গাঁ)
        - diphthong: an independent ই, উ, or the ও of a short word, after another vowel (ভাই, বউ, নাও; but রেডিও: vowel)
        - sibilant: Latin s, x, z, ch or sh (bus, box, wish)
        - consonant_y: Latin y after a consonant (city; but day: plain)
        - plain: any other Latin letter (flower, rose, wolf, piano)
    """
    word = re.split(r"[\s-]+", stem.strip(_JOINERS))[-1]
    if _is_latin(word[-1:]):
        return "sibilant" if _SIBILANT.search(word) else "consonant_y" if _CONSONANT_Y.search(word) else "plain"
    word = re.sub(f"[{_JOINERS}]", "", word).rstrip("\u0901\u0981")  # without candrabindu
    if not ends_in_vowel(word):
        return "consonant" if _LAST_CONSONANT.search(word) else OTHER
    vowels = len(_VOWEL.findall(word))
    if vowels == 1:
        return "monosyllable"
    return "diphthong" if word[-1] in _CLOSING or (word[-1] in "ओও" and vowels == 2) else "vowel"


def is_written_out(ending: str) -> bool:
    """Return whether an ending is written out, instead of naming a class: -ी."""
    return len(ending) > 1 and ending.startswith("-")


def begins_with_vowel_sign(ending: str) -> bool:
    """Return whether an ending attaches to the letter before it (ের, ে)."""
    return _SIGN.match(ending) is not None


def begins_with_vowel(ending: str) -> bool:
    """Return whether an ending begins with a vowel: a sign (ের), a letter (ओं) or Latin (es)."""
    return ending.startswith(_LATIN_VOWELS) or ends_in_vowel(ending[:1])


def ends_in_vowel(stem: str) -> bool:
    """Return whether a stem ends in a written vowel, a sign or a letter."""
    return _LAST_VOWEL.search(stem) is not None


def after_vowel(ending: str) -> str:
    """Return an ending as written after a vowel: a vowel sign becomes its letter (भाई: भा + ियों = भाइयों)."""
    return _vowel_letter(ending[0]) + ending[1:] if begins_with_vowel_sign(ending) else ending


def after_hyphen(ending: str, *, glide_may_go: bool = False) -> tuple[str, ...]:
    """Return an ending as written after a hyphen.

    A vowel sign becomes its letter there (ফুল-এর). With `glide_may_go`, the য় before a vowel sign may be left out
    (মা-য়ের, মা-এর).
    """
    if begins_with_vowel_sign(ending):
        return (after_vowel(ending),)
    if glide_may_go and ending.startswith(_GLIDE) and begins_with_vowel_sign(ending[2:]):
        return ending, _vowel_letter(ending[2]) + ending[3:]
    return (ending,)


def _is_latin(letter: str) -> bool:
    return letter.isalpha() and unicodedata.name(letter, "").startswith("LATIN ")


def _vowel_letter(sign: str) -> str:
    return chr(ord(sign) - 0x38)


# --------------------
# Surface forms: a stem and a chain of optional endings, number - case - emphatic, that its suffix group licenses.
#
#     গোলাপ + গুলো (plural) + তে (locative) + ও (emphatic) = গোলাপগুলোতেও
#
# An ending attaches to the stem, or in some languages follows a hyphen (গোলাপ-এর). A stem may change its last letters
# before an ending that begins with a vowel: রং, রঙের; लड़का, लड़के; city, cities.


class NumberBlock(NamedTuple):
    """Suffixes of one number that take the same case endings.

    The suffix alone is the nominative, unless `cases` says otherwise.
    """

    suffixes: tuple[str, ...]
    cases: Mapping[str, tuple[str, ...]]


class Example(NamedTuple):
    """A stem, with spellings that must and must not be among its forms."""

    stem: str
    match: tuple[str, ...]
    no_match: tuple[str, ...]


class Reading(NamedTuple):
    """A form of a stem, or its part after the stem, with its reading."""

    form: str
    number: str
    case: str
    emphatic: str = ""
    hyphenated: bool = False


@dataclass(frozen=True)
class SuffixGroup:
    """The endings of a class of words.

    Attributes:
        name: its key in the file.
        description: the words that belong to it.
        endings: the ending classes of its stems, or endings written out ("-ी"), or ("any",).
        cases: case -> endings on the bare stem (singular); the bare stem is always a nominative.
        numbers: number -> blocks of suffixes with their case endings.
        emphatic: endings of the last slot.
        alternation: last letters of the stem -> their replacement before a case or number ending that begins with a
            vowel; empty if they are dropped.
        examples: spellings that must and must not be forms.
        hyphenated: whether endings also follow a hyphen.
        capitalized: whether forms also occur with a capital (Flowers).
    """

    name: str
    description: str
    endings: tuple[str, ...]
    cases: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, tuple[NumberBlock, ...]]
    emphatic: tuple[str, ...]
    alternation: Mapping[str, str]
    examples: tuple[Example, ...]
    hyphenated: bool = True
    capitalized: bool = False

    def fits(self, stem: str) -> bool:
        """Return whether the stem has one of this group's ending classes or written-out endings."""
        written = [ending[1:] for ending in self.endings if is_written_out(ending)]
        return ANY in self.endings or ending_class(stem) in self.endings or stem.endswith(tuple(written))

    def altered(self, stem: str) -> str:
        """Return the stem before a case or number ending that begins with a vowel."""
        for end, replacement in self.alternation.items():
            if stem.endswith(end):
                return stem.removesuffix(end) + replacement
        return stem

    @cached_property
    def tails(self) -> tuple[Reading, ...]:
        """All continuations of a stem of this group, beginning with the bare stem's empty one."""
        suffixes = [("", "singular", self.cases)]
        for number, blocks in self.numbers.items():
            for block in blocks:
                suffixes += [(suffix, number, {"nominative": ("",), **block.cases}) for suffix in block.suffixes]
        plain = [Reading("", "singular", "nominative")]
        for suffix, number, cases in suffixes:
            plain += [Reading(suffix + ending, number, case) for case, endings in cases.items() for ending in endings]
        emphasized = [tail._replace(form=tail.form + end, emphatic=end) for tail in plain for end in self.emphatic]
        return tuple(dict.fromkeys([*plain, *emphasized]))


# Old encodings of ৎ, which normalization does not change (উত্সব; a joiner may follow the hasanta). Only the word tells
# them from conjuncts of ত (ত্র, ত্য), so they are forms of words with ৎ, and positions stay right.
_KHANDA_TA = ("ত্", "ত্\u200d")


def inflections(stem: str, group: SuffixGroup) -> Iterator[Reading]:
    """Yield every reading of every form of `stem`: hyphenated ones later, then old spellings of ৎ, capitals last.

    Args:
        stem: normalized; its ending is not checked (`SuffixGroup.fits`).
        group: the suffix group.
    """
    readings = [*_joined(stem, group), *(_hyphenated(stem, group) if group.hyphenated else ())]
    yield from readings
    for reading in readings:
        for spelled in _KHANDA_TA if "ৎ" in reading.form else ():
            yield reading._replace(form=reading.form.replace("ৎ", spelled))
    if group.capitalized:
        yield from (reading._replace(form=capitalize(reading.form)) for reading in readings)


def capitalize(form: str) -> str:
    """Return the form with a capital first letter, otherwise unchanged (unlike `str.capitalize`)."""
    return form[:1].upper() + form[1:]


def _joined(stem: str, group: SuffixGroup) -> Iterator[Reading]:
    altered = group.altered(stem)
    for tail in group.tails:
        whole, ending = stem, tail.form
        # The emphatic endings ই and ও are vowels that change no letters: রং, রংই.
        if begins_with_vowel(ending.removesuffix(tail.emphatic)):
            whole, ending = altered, after_vowel(ending) if altered != stem and ends_in_vowel(altered) else ending
        # Letters at the seam may combine (ে + া = ো), so two normalized parts may make an unnormalized whole.
        yield tail._replace(form=unicodedata.normalize("NFKC", whole + ending))


def _hyphenated(stem: str, group: SuffixGroup) -> Iterator[Reading]:
    for tail in group.tails:
        for ending in after_hyphen(tail.form, glide_may_go=tail.number == "singular") if tail.form else ():
            yield tail._replace(form=f"{stem}-{ending}", hyphenated=True)


def check_examples(groups: Mapping[str, SuffixGroup]) -> list[str]:
    """Check the examples of all groups; yield one sentence per problem."""
    problems: list[str] = []
    for group in groups.values():
        found = [problem for example in group.examples for problem in _check_example(example, group)]
        for kind in ("match", "no_match"):
            if not any(getattr(example, kind) for example in group.examples):
                found.insert(0, f"no example has `{kind}`.")
        problems += [f"{group.name}: {problem}" for problem in found]
    return problems


def _check_example(example: Example, group: SuffixGroup) -> Iterator[str]:
    stem = example.stem
    if not group.fits(stem):
        yield f"the stem {stem} ends in the class {ending_class(stem)}, the group is for {', '.join(group.endings)}."
    forms = {reading.form for reading in inflections(stem, group)}
    for form in example.match:
        if form not in forms:
            yield f"{form} must be a form of {stem}, but is none."
    for form in example.no_match:
        if form in forms:
            yield f"{form} must not be a form of {stem}, but is one."


# --------------------
# Suffix groups as data (`resources/suffix_groups/<language>.yaml`).


@dataclass(frozen=True, slots=True)
class SuffixGroups:
    """The suffix groups of a language, by name, and their file."""

    path: Path
    language: str
    groups: Mapping[str, SuffixGroup]


def load_suffix_groups(path: str | Path, normalization: str | None = None) -> SuffixGroups:
    """Read a file of suffix groups.

    Args:
        path: the file.
        normalization: the corpus's, if not the language's own.

    Raises:
        InputError: the file cannot be read; an unknown key, ending class, number or case; a value of the wrong kind; an
            unknown normalization.
    """
    content = read_yaml(Path(path), normalization=normalization)
    content.require("a file of suffix groups", required=["language", "groups"], optional=["hyphenated", "capitalized"])
    entries = content.entry_of("groups")
    groups = {name: _read_group(name, entries.entry_of(name), content) for name in entries}
    return SuffixGroups(Path(path), content.text("language"), groups)


def _read_group(name: str, entry: Entry, head: Entry) -> SuffixGroup:
    """Read one group; `head` is the whole file, with options for all groups."""
    optional = ["description", "cases", "numbers", "emphatic", "alternation", "examples", "hyphenated", "capitalized"]
    entry.require(f"the suffix group `{name}`", required=["ending"], optional=optional)
    endings, known = entry.texts("ending"), [*ENDING_CLASSES, ANY]
    wrong = [each for each in endings if each not in known and not is_written_out(each)]
    if wrong or not endings:
        found = wrong[0] if wrong else ""
        raise InputError(
            f"{entry.place}: the suffix group `{name}` has the ending class `{found}`.{suggest(found, known)} Or write"
            " the end of the stems, with a hyphen before it: `ending: -ी`."
        )
    changed = entry.entry_of("alternation")
    alternation = {changed.clean(end): changed.text(end, may_be_empty=True) for end in changed}
    return SuffixGroup(
        name=name,
        description=entry.text("description"),
        endings=endings,
        cases=_read_cases(entry),
        numbers=_read_numbers(entry.entry_of("numbers")),
        emphatic=entry.texts("emphatic"),
        alternation=alternation,
        examples=tuple(_read_example(name, example) for example in entry.entries_of("examples")),
        hyphenated=entry.flag("hyphenated", default=head.flag("hyphenated", default=True)),
        capitalized=entry.flag("capitalized", default=head.flag("capitalized", default=False)),
    )


def _read_cases(entry: Entry) -> dict[str, tuple[str, ...]]:
    cases = entry.entry_of("cases")
    cases.require("`cases`", required=[], optional=CASES)
    return {case: cases.texts(case) for case in cases}


def _read_numbers(numbers: Entry) -> dict[str, tuple[NumberBlock, ...]]:
    """Read the endings by number; singular ones are under `cases`."""
    numbers.require("`numbers`", required=[], optional=NUMBERS[1:])
    blocks: dict[str, tuple[NumberBlock, ...]] = {}
    for number in numbers:
        entries = numbers.entries_of(number) if isinstance(numbers[number], list) else [numbers.entry_of(number)]
        for entry in entries:
            entry.require(f"the number `{number}`", required=["suffixes"], optional=["cases"])
        blocks[number] = tuple(NumberBlock(entry.texts("suffixes"), _read_cases(entry)) for entry in entries)
    return blocks


def _read_example(name: str, entry: Entry) -> Example:
    entry.require(f"an example of the suffix group `{name}`", required=["stem"], optional=["match", "no_match"])
    return Example(entry.text("stem"), entry.texts("match"), entry.texts("no_match"))


# --------------------
# Ambiguous forms, and the decisions about them (`ambiguous:` in `categories.yaml`).
#
# A form like মার is the genitive of মা, but may also belong to another stimulus. Counting it for both, for one or for
# none changes the measurement, so a person decides, and the data record the decision with its reason. The other reading
# may also be a word that is not a stimulus (খুনে, murderous); such a form can be left out, with `none`.


_SHOWN = 12


Claimed = Mapping[str, Mapping[str, SurfaceForm]]
"""Folded forms with the stimuli that claim each, as from `claimants`."""


def resolve(
    claimed: Claimed, heads: Sequence[Entry], places: Mapping[str, str], unused: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Decide who gets the hits of each form that several stimuli claim, or that a decision names.

    A decision about a form also holds for the form with an emphatic ending.

    Args:
        claimed: the forms of all stimuli.
        heads: the content of each `categories.yaml`, with its list `ambiguous`.
        places: stimulus -> file and line, for messages.
        unused: stimuli that the study does not measure. Without a decision, the others get their forms.

    Returns:
        Folded form -> the stimuli that get its hits.

    Raises:
        InputError: a form without decision (with the lines to write), a decision about a form that nobody claims, or
            for a stimulus that does not claim it.
    """
    decisions = _read_decisions(heads, claimed, may_lack_forms=bool(unused))
    resolutions: dict[str, tuple[str, ...]] = {}
    undecided: dict[str, Mapping[str, SurfaceForm]] = {}
    for form, owners in claimed.items():
        base = without_emphatic(form, owners)
        kept = tuple(owner for owner in owners if owner not in unused)
        if form in decisions:
            resolutions[form] = decisions[form]
        elif base in decisions and (len(owners) > 1 or not decisions[base]):
            resolutions[form] = decisions[base]
        elif len(owners) > 1 and len(kept) < 2:
            resolutions[form] = kept
        elif len(owners) > 1 and len(claimed.get(base, ())) > 1:
            undecided.setdefault(base, claimed[base])
        elif len(owners) > 1:
            undecided[form] = owners
    if undecided:
        raise InputError(_explain(undecided, heads[-1], places))
    return resolutions


def _read_decisions(heads: Sequence[Entry], claimed: Claimed, *, may_lack_forms: bool) -> dict[str, tuple[str, ...]]:
    decisions: dict[str, tuple[str, ...]] = {}
    for entry in (entry for head in heads for entry in head.entries_of("ambiguous")):
        entry.require("an ambiguous form", required=["form", "resolution", "reason"])
        form, resolution = entry.text("form"), entry.text("resolution")
        owners = tuple(claimed.get(fold(form), ()))
        meant: dict[str, tuple[str, ...]] = {**{owner: (owner,) for owner in owners}, "both": owners, "none": ()}
        is_about_nothing = len(owners) < (1 if resolution == "none" else 2)
        if may_lack_forms and (is_about_nothing or resolution not in meant):
            continue  # it was about a word that the study has replaced
        if fold(form) in decisions or is_about_nothing:
            twice = "is listed twice" if fold(form) in decisions else "is listed"
            raise InputError(
                f"{entry.place}: the form {form} {twice} under `ambiguous`, and is claimed by"
                f" {', '.join(owners) or 'no stimulus'}. Delete the entry, or leave a form out with `resolution: none`."
            )
        if resolution not in meant:
            allowed = suggest(resolution, meant)
            raise InputError(f"{entry.place}: the form {form} has the resolution `{resolution}`.{allowed}")
        decisions[fold(form)] = meant[resolution]
    return decisions


def read_neighbours(claimed: Claimed, heads: Sequence[Entry], *, may_lack_forms: bool = False) -> dict[str, Neighbours]:
    """Read which neighbors show that a form is another word (`neighbours:` in `categories.yaml`), by folded form.

    An entry for a form also holds for the form with an emphatic ending; entries for one form are joined. Unknown forms
    are skipped if a study `may_lack_forms`, because it has replaced words.

    Raises:
        InputError: an entry without forms or without neighbors, a form or stimulus that nobody claims, or a neighbor
            that is not one word or one mark.
    """
    found: dict[str, Neighbours] = {}
    forms_of: defaultdict[str, list[str]] = defaultdict(list)
    for form, owners in claimed.items():
        for owner in owners:
            forms_of[owner].append(form)
    for entry in (entry for head in heads for entry in head.entries_of("neighbours")):
        optional = ["forms", "stimuli", "not_after", "not_before"]
        entry.require("neighbours of a form", required=["reason"], optional=optional)
        listed, stimuli = [fold(text) for text in entry.texts("forms")], entry.texts("stimuli")
        if may_lack_forms:
            listed = [form for form in listed if form in claimed]
            if not listed and not stimuli:
                continue
        beside = Neighbours(*(frozenset(map(fold, entry.texts(key))) for key in Neighbours._fields))
        known = claimed.keys() >= set(listed) and forms_of.keys() >= set(stimuli) and bool(listed or stimuli)
        words = [text for texts in beside for text in texts]
        if not known or not words or not all(WORD.fullmatch(text) or len(text) == 1 for text in words):
            raise InputError(
                f"{entry.place}: an entry of `neighbours` needs known `forms: [...]` or `stimuli: [...]`, and"
                " `not_after: [...]` or `not_before: [...]`. Write one word or one punctuation mark in each item."
            )
        kin = {form for base in listed for owner in claimed[base] for form in forms_of[owner]}
        meant = {form for form in kin if form in listed or without_emphatic(form, claimed[form]) in listed}
        for form in meant.union(*(forms_of[stimulus] for stimulus in stimuli)):
            earlier = found.get(form, Neighbours())
            found[form] = Neighbours(earlier.not_after | beside.not_after, earlier.not_before | beside.not_before)
    return found


def without_emphatic(form: str, owners: Mapping[str, SurfaceForm]) -> str:
    """Return the form without its emphatic ending, if all claimants read the same one."""
    endings = {fold(reading.emphatic) for reading in owners.values()}
    return form.removesuffix(endings.pop()) if len(endings) == 1 else form


def _explain(undecided: Claimed, head: Entry, places: Mapping[str, str]) -> str:
    lines = [f"{head.path}: {len(undecided)} form(s) have several stimuli, and nothing says which one gets the hit:"]
    shown = list(undecided.items())[:_SHOWN]
    for form, owners in shown:
        read = {name: f"{reading.number} {reading.case}".strip() for name, reading in owners.items()}
        lines.append(f"- {form}: " + " and ".join(f"{name} ({read[name]}; {places[name]})" for name in owners))
    if len(undecided) > _SHOWN:
        lines.append(f"- ... and {len(undecided) - _SHOWN} more")
    lines.append("Write there, with the stimulus that gets the hit, or `both`, or `none`:")
    lines.append("    ambiguous:")
    lines += [f'      - {{form: {form}, resolution: {next(iter(owners))}, reason: "..."}}' for form, owners in shown]
    return "\n".join(lines)
