"""The word sets of a study, for a reader to judge: every stimulus with its gloss and some of its forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

_SHOWN = 8


class Word(NamedTuple):
    """A stimulus, its gloss, suffix groups, a few of its forms, and how many forms there are in all."""

    stimulus: str
    gloss: str
    groups: str
    forms: list[str]
    n_forms: int


class WordSet(NamedTuple):
    """A word set and the categories that use it."""

    name: str
    used_in: str
    words: list[Word]


def glosses_of(categories: Mapping[str, Any]) -> Mapping[str, str]:
    """English glosses by stimulus."""
    glosses: Mapping[str, str] = categories.get("glosses", {})
    return glosses


def word_sets(categories: Mapping[str, Any], forms: pl.DataFrame | None) -> list[WordSet]:
    """All word sets in the order of the categories, each once."""
    glosses, inflected = glosses_of(categories), _forms_by_stimulus(forms)
    used: dict[str, list[str]] = {}
    sets: dict[str, Mapping[str, Any]] = {}
    for name, category in categories.items():
        if name == "glosses":
            continue
        for role in ("targets", "attributes"):
            for word_set in category[role]:
                sets.setdefault(word_set["name"], word_set)
                used.setdefault(word_set["name"], []).append(f"{role[:-1]} in {name}")
    return [
        WordSet(
            str(word_set.get("gloss") or name),
            _roles(used[name]),
            [
                _word(stimulus, glosses.get(stimulus, ""), inflected.get(stimulus, []))
                for stimulus in word_set["stimuli"]
            ],
        )
        for name, word_set in sets.items()
    ]


def _roles(uses: list[str]) -> str:
    """["target in C3", "target in C4", "attribute in C7"] as "target in C3, C4; attribute in C7"."""
    roles: dict[str, list[str]] = {}
    for use in uses:
        role, _, category = use.partition(" in ")
        roles.setdefault(role, []).append(category)
    return "; ".join(f"{role} in {', '.join(dict.fromkeys(names))}" for role, names in roles.items())


def _forms_by_stimulus(forms: pl.DataFrame | None) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    if forms is not None:
        for row in forms.iter_rows(named=True):
            found.setdefault(row["stimulus"], []).append(row)
    return found


def _word(stimulus: str, gloss: str, rows: list[dict[str, Any]]) -> Word:
    """One form of each number and case first: a reader judges the paradigm, not the alphabet."""
    paradigm: dict[tuple[str, str], str] = {}
    for row in rows:
        if not row["emphatic"] and "-" not in row["form"]:
            paradigm.setdefault((row["number"], row["case"]), row["form"])
    distinct = list(dict.fromkeys(paradigm.values()))
    groups = ", ".join(dict.fromkeys(row["group"] for row in rows if row["group"]))
    return Word(stimulus, gloss, groups, distinct[:_SHOWN], len({row["form"] for row in rows}))
