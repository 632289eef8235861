"""The surface forms of a stem: chains of optional endings, number - case - emphatic, as its suffix group licenses them.

    গোলাপ + গুলো (plural) + তে (locative) + ও (emphatic) = গোলাপগুলোতেও

An ending is written onto the stem, or in some languages after a hyphen (গোলাপ-এর). A stem may change its last letters
before an ending that begins with a vowel: রং, রঙের; लड़का, लड़के; city, cities.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from prasanga.lexicon.endings import (
    after_hyphen,
    after_vowel,
    begins_with_vowel,
    ending_class,
    ends_as,
    ends_in_vowel,
)


@dataclass(frozen=True, slots=True)
class NumberBlock:
    """Suffixes of one number that take the same case endings.

    The suffix alone is the nominative, unless `cases` says otherwise.
    """

    suffixes: tuple[str, ...]
    cases: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Example:
    """A stem with spellings that must and that must not be among its forms."""

    stem: str
    match: tuple[str, ...]
    no_match: tuple[str, ...]


class Tail(NamedTuple):
    """What follows the stem, and how it is read."""

    text: str
    number: str
    case: str
    emphatic: str


class Reading(NamedTuple):
    """A form of a stem, and how it is read."""

    form: str
    number: str
    case: str
    emphatic: str
    hyphenated: bool


@dataclass(frozen=True)
class SuffixGroup:
    """The endings that a class of words takes.

    Attributes:
        name: its key in the file.
        description: which words belong to it.
        endings: the ending classes of its stems, or endings written out ("-ी"), or ("any",).
        cases: case -> endings on the bare stem (singular); the bare stem is always a nominative.
        numbers: number -> blocks of suffixes with their case endings.
        emphatic: endings of the last slot.
        alternation: last letters of the stem -> what stands in their place before a case or number ending that begins
            with a vowel; nothing, if they fall away.
        examples: what must and must not be a form.
        hyphenated: whether endings are found after a hyphen as well.
        capitalized: whether a form is found with a capital at its beginning as well (Flowers).
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
        """Whether the stem ends as this group's stems do."""
        return ends_as(stem, self.endings)

    def altered(self, stem: str) -> str:
        """The stem as it stands before a case or number ending that begins with a vowel."""
        for end, replacement in self.alternation.items():
            if stem.endswith(end):
                return stem.removesuffix(end) + replacement
        return stem

    @cached_property
    def tails(self) -> tuple[Tail, ...]:
        """Everything that may follow a stem of this group, the bare stem's empty tail first."""
        plain = [Tail("", "singular", "nominative", ""), *self._singular_tails(), *self._number_tails()]
        emphasized = [tail._replace(text=tail.text + end, emphatic=end) for tail in plain for end in self.emphatic]
        return tuple(dict.fromkeys([*plain, *emphasized]))

    def _singular_tails(self) -> Iterator[Tail]:
        for case, endings in self.cases.items():
            for ending in endings:
                yield Tail(ending, "singular", case, "")

    def _number_tails(self) -> Iterator[Tail]:
        for number, blocks in self.numbers.items():
            for block in blocks:
                for suffix in block.suffixes:
                    for case, endings in {"nominative": ("",), **block.cases}.items():
                        for ending in endings:
                            yield Tail(suffix + ending, number, case, "")


def inflections(stem: str, group: SuffixGroup) -> Iterator[Reading]:
    """Every reading of every form of `stem`; those with a hyphen come later, those with a capital last.

    Args:
        stem: normalized; its ending is not checked (`SuffixGroup.fits`).
        group: the suffix group.
    """
    readings = [*_joined(stem, group), *(_hyphenated(stem, group) if group.hyphenated else ())]
    yield from readings
    if group.capitalized:
        yield from (reading._replace(form=capitalize(reading.form)) for reading in readings)


def capitalize(form: str) -> str:
    """The form with a capital at its beginning, and the rest as it is (unlike `str.capitalize`)."""
    return form[:1].upper() + form[1:]


def _joined(stem: str, group: SuffixGroup) -> Iterator[Reading]:
    altered = group.altered(stem)
    for text, number, case, emphatic in group.tails:
        # The emphatic endings ই and ও are vowels that change nothing: রং, রংই.
        if begins_with_vowel(text.removesuffix(emphatic)):
            form = _join(altered, after_vowel(text) if altered != stem and ends_in_vowel(altered) else text)
        else:
            form = _join(stem, text)
        yield Reading(form, number, case, emphatic, False)


def _hyphenated(stem: str, group: SuffixGroup) -> Iterator[Reading]:
    for text, number, case, emphatic in group.tails:
        if text:
            for ending in after_hyphen(text, glide_may_go=number == "singular"):
                yield Reading(f"{stem}-{ending}", number, case, emphatic, True)


def check_examples(groups: Mapping[str, SuffixGroup]) -> list[str]:
    """Run the examples of all groups; return one sentence per problem."""
    problems: list[str] = []
    for group in groups.values():
        if not any(example.match for example in group.examples):
            problems.append(f"{group.name}: no example says what must match.")
        if not any(example.no_match for example in group.examples):
            problems.append(f"{group.name}: no example says what must not match.")
        for example in group.examples:
            problems += [f"{group.name}: {problem}" for problem in _check_example(example, group)]
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


def _join(stem: str, ending: str) -> str:
    # Letters at the seam may combine (ে + া = ো), so that two normalized parts need not make a normalized whole.
    return unicodedata.normalize("NFKC", stem + ending)
