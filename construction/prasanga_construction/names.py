"""Given names in pairs: which words may be foreign ones, and names of the language to put in their place.

Sahoo et al. 2024, section 4.2.1, replace the names of CrowS-Pairs by Indian names of women and of men that are
frequent in text. Here they come from the candidate sets that the tests of gender and religion are chosen from
(`resources/candidates/<language>`). What is found is a suggestion: annotators decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from prasanga.errors import InputError
from prasanga.lexicon.spelling import read_yaml
from prasanga.pairs.words import words_of
from prasanga.seeds import generator

_CATEGORIES = "categories.yaml"
_POSSESSIVE = re.compile(r"['’]s?$")
_PRONOUNS = ("i", "i'm", "i'll", "i've", "i'd")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_NO_NAMES = frozenset((*_PRONOUNS, *_DAYS, *_MONTHS, "english", "hindi", "bangla", "indian", "american", "christmas"))


def read_names(folder: str | Path) -> dict[str, dict[str, str]]:
    """Read the names of each set of a folder of candidates: every spelling, with the name that it is a spelling of.

    Args:
        folder: one of `resources/candidates/<language>`.

    Returns:
        By name of the set (`hindu_female_names`, ...), in the order of the files.

    Raises:
        InputError: no such folder, or a file that is no word set.
    """
    folder = Path(folder)
    paths = [path for path in sorted(folder.glob("*.yaml")) if path.name != _CATEGORIES]
    if not paths:
        raise InputError(
            f"{folder}: no folder with sets of names (*.yaml). Write one like those of resources/candidates, with"
            " `set:` and `words:`."
        )
    language = read_yaml(folder / _CATEGORIES).text("language")
    names: dict[str, dict[str, str]] = {}
    for path in paths:
        content = read_yaml(path, language)
        spellings: dict[str, str] = {}
        for entry in content.entries_of("words"):
            name = entry.text("stimulus")
            spellings |= dict.fromkeys((name, *entry.texts("variants")), name)
        names[content.text("set")] = spellings
    return names


def possible_names(sentences: Iterable[str], known: Iterable[str] = ()) -> dict[str, int]:
    """Count words that the sentences write with a capital letter and never with a small one, by sentences.

    That is what a name looks like in English; in scripts without capital letters nothing is found. Words in capitals
    throughout (IQ), days, months and languages are left out, and names that are `known`.

    Args:
        sentences: all sentences of a set: the more there are, the fewer ordinary words begin with a capital everywhere.
        known: names that need no replacement.
    """
    counts: dict[str, int] = {}
    small: set[str] = set()
    for sentence in sentences:
        seen = set()
        for word in words_of(sentence):
            text = _POSSESSIVE.sub("", word.text)
            if text.islower():
                small.add(text)
            elif text.istitle() and text.isalpha() and len(text) > 1:
                seen.add(text)
        for text in seen:
            counts[text] = counts.get(text, 0) + 1
    left_out = _NO_NAMES | {name.casefold() for name in known}
    return {
        text: count for text, count in counts.items() if text.lower() not in small and text.casefold() not in left_out
    }


def suggest_names(foreign: Sequence[str], names: Mapping[str, Mapping[str, str]], *, seed: int) -> dict[str, str]:
    """Suggest a name of each set for each foreign name, the same for the same name wherever it stands.

    Which name is drawn depends on the seed and the foreign name alone. A name stands for a group, of gender and of
    religion at least, so the choice among the sets is the annotators': it must not change what the pair is about.

    Returns:
        By foreign name: `hindu_female_names: Sunita; hindu_male_names: Rahul; ...`.
    """
    found = {}
    for name in foreign:
        drawn = []
        for name_of_set, spellings in names.items():
            choices = sorted(set(spellings.values()))
            place = generator(seed, "names", name_of_set, name).integers(len(choices))
            drawn.append(f"{name_of_set}: {choices[place]}")
        found[name] = "; ".join(drawn)
    return found


def read_replacements(cell: str, place: str) -> dict[str, str]:
    """Read the replaced names of a pair, written `Tom=Rahul; Mary=Sunita`.

    Args:
        cell: what stands in the column; nothing for none.
        place: file and row, for messages.

    Raises:
        InputError: a part without `=`, an empty name, or a name that is replaced twice in different ways.
    """
    replaced: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in cell.split(";"))):
        old, equals, new = (text.strip() for text in part.partition("="))
        if not (old and equals and new):
            raise InputError(
                f"{place}: names has {part!r}. Write each name and its replacement as `Tom=Rahul; Mary=Sunita`."
            )
        if replaced.setdefault(old, new) != new:
            raise InputError(
                f"{place}: names replaces {old} by {replaced[old]} and by {new}. One name has one replacement in both"
                " sentences: delete one of the two."
            )
    return replaced


def has_name(sentence: str, name: str) -> bool:
    """Tell whether a name of one or several words stands in a sentence, whole and perhaps with 's."""
    words = [_POSSESSIVE.sub("", word.text) for word in words_of(sentence)]
    wanted = name.split()
    return any(words[start : start + len(wanted)] == wanted for start in range(len(words) - len(wanted) + 1))
