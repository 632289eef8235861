"""The categories of a study as the associations need them: two target sets and two attribute sets of words.

They come as plain values, in the layout that the lexicon stage writes to `categories.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prasanga.errors import InputError


@dataclass(frozen=True)
class Category:
    """A test category: four sets of words, in the order X, Y (targets), A, B (attributes)."""

    name: str
    title: str
    set_names: tuple[str, str, str, str]
    sets: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def category_of(name: str, layout: Mapping[str, Any]) -> Category:
    """Read one category: {"title": ..., "targets": [set, set], "attributes": [set, set]}.

    A set is {"name": ..., "stimuli": [word, ...]}; other keys are left alone. Raises `InputError` if one is missing.
    """
    try:
        (x, y), (a, b) = layout["targets"], layout["attributes"]
        sets = _words_of(x), _words_of(y), _words_of(a), _words_of(b)
        names = str(x["name"]), str(y["name"]), str(a["name"]), str(b["name"])
        return Category(name, str(layout["title"]), names, sets)
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"category {name}: expected a title, two targets and two attributes, each with a name and a list of"
            f" stimuli, found {_short(layout)}. Make categories.json again with the lexicon stage."
        ) from None


def _words_of(word_set: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(map(str, word_set["stimuli"]))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}..."
