"""Reading suffix groups: which endings a class of words takes, as data (`resources/suffix_groups/<language>.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prasanga.base.yaml import Entry, suggest
from prasanga.errors import InputError
from prasanga.lexicon.endings import ANY, ENDING_CLASSES, is_written_out
from prasanga.lexicon.inflection import Example, NumberBlock, SuffixGroup
from prasanga.lexicon.model import CASES, NUMBERS
from prasanga.lexicon.spelling import read_yaml


@dataclass(frozen=True, slots=True)
class SuffixGroups:
    """The suffix groups of a language, by name, and the file that they come from."""

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
    path = Path(path)
    content = read_yaml(path, normalization=normalization)
    content.require("a file of suffix groups", required=["language", "groups"], optional=["hyphenated", "capitalized"])
    entries = content.entry_of("groups")
    if not entries:
        raise InputError(f"{path}: `groups` is empty. Write at least one group under it: `name: {{ending: any, ...}}`.")
    groups = {name: _read_group(name, entries.entry_of(name), content) for name in entries}
    return SuffixGroups(path, content.text("language"), groups)


def _read_group(name: str, entry: Entry, of_all: Entry) -> SuffixGroup:
    """Read one group; `of_all` is the head of the file, with what holds for all groups."""
    entry.require(
        f"the suffix group `{name}`",
        required=["ending"],
        optional=[
            "description",
            "cases",
            "numbers",
            "emphatic",
            "alternation",
            "examples",
            "hyphenated",
            "capitalized",
        ],
    )
    return SuffixGroup(
        name=name,
        description=entry.text("description"),
        endings=_read_ending_classes(name, entry),
        cases=_read_cases(entry),
        numbers=_read_numbers(entry),
        emphatic=entry.texts("emphatic"),
        alternation=_read_alternation(entry.entry_of("alternation")),
        examples=tuple(_read_example(name, example) for example in entry.entries_of("examples")),
        hyphenated=entry.flag("hyphenated", default=of_all.flag("hyphenated", default=True)),
        capitalized=entry.flag("capitalized", default=of_all.flag("capitalized", default=False)),
    )


def _read_ending_classes(name: str, entry: Entry) -> tuple[str, ...]:
    classes = entry.texts("ending")
    allowed = [*ENDING_CLASSES, ANY]
    for found in classes:
        if found not in allowed and not is_written_out(found):
            raise InputError(
                f"{entry.place}: the suffix group `{name}` has the ending class `{found}`.{suggest(found, allowed)}"
                " Or write the end of the stems, with a hyphen before it: `ending: -ी`."
            )
    if not classes:
        raise InputError(f"{entry.place}: the suffix group `{name}` names no ending class. Write e.g. `ending: any`.")
    return classes


def _read_cases(entry: Entry) -> dict[str, tuple[str, ...]]:
    cases = entry.entry_of("cases")
    for case in cases:
        if case not in CASES:
            raise InputError(f"{cases.place}: unknown case `{case}`.{suggest(case, CASES)}")
    return {case: cases.texts(case) for case in cases}


def _read_numbers(entry: Entry) -> dict[str, tuple[NumberBlock, ...]]:
    numbers = entry.entry_of("numbers")
    blocks: dict[str, tuple[NumberBlock, ...]] = {}
    for number in numbers:
        if number == "singular":
            raise InputError(f"{numbers.place}: the singular's endings stand under `cases`, not under `numbers`.")
        if number not in NUMBERS:
            raise InputError(f"{numbers.place}: unknown number `{number}`.{suggest(number, NUMBERS[1:])}")
        value: Any = numbers[number]
        entries = numbers.entries_of(number) if isinstance(value, list) else [numbers.entry_of(number)]
        blocks[number] = tuple(_read_block(number, block) for block in entries)
    return blocks


def _read_block(number: str, entry: Entry) -> NumberBlock:
    entry.require(f"the number `{number}`", required=["suffixes"], optional=["cases"])
    suffixes = entry.texts("suffixes")
    if not suffixes:
        raise InputError(f"{entry.place}: `suffixes` of the number `{number}` is empty. Write e.g. `suffixes: [টি]`.")
    return NumberBlock(suffixes, _read_cases(entry))


def _read_alternation(entry: Entry) -> dict[str, str]:
    alternation = {entry.clean(end): entry.text(end, may_be_empty=True) for end in entry}
    if "" in alternation:
        raise InputError(
            f"{entry.place}: `alternation` has an empty key, but a key is the last letter or letters of a stem:"
            " `{ং: ঙ}`; the value may be empty: `{ा: ''}`."
        )
    return alternation


def _read_example(name: str, entry: Entry) -> Example:
    entry.require(f"an example of the suffix group `{name}`", required=["stem"], optional=["match", "no_match"])
    return Example(entry.text("stem"), entry.texts("match"), entry.texts("no_match"))
