"""What later stages read of a lexicon: the stimuli of the categories in `categories.json`.

Kept apart from the reader of the word lists, so that a change there does not concern those stages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prasanga.errors import InputError

GLOSSES = "glosses"


def stimuli_of(
    categories: Mapping[str, Any], names: Iterable[str] | None = None, *, key: str = "categories"
) -> list[str]:
    """The stimuli of some categories, each once, in the order of first mention.

    Args:
        categories: in the layout of `prasanga.lexicon.categories_of`.
        names: the categories wanted; all by default.
        key: where the config names them, for the message.

    Raises:
        InputError: a category that the lexicon does not have.
    """
    known = [name for name in categories if name != GLOSSES]
    stimuli: dict[str, None] = {}
    for name in known if names is None else names:
        if name not in known:
            raise InputError(
                f"`{key}` in the config names {name!r}, which the lexicon does not have. Allowed:"
                f" {', '.join(known) or 'none, since these word lists have no categories'}."
            )
        for side in (*categories[name]["targets"], *categories[name]["attributes"]):
            stimuli.update(dict.fromkeys(side["stimuli"]))
    return list(stimuli)


def chosen_categories(
    categories: Mapping[str, Any], names: Iterable[str], *, key: str = "categories"
) -> dict[str, Any]:
    """Some categories, with nothing of them but what a statistic depends on: title, names of the sets, stimuli.

    `key` says where the config names them, for a message.

    Raises:
        InputError: a category that the lexicon does not have.
    """
    names = list(names)
    stimuli_of(categories, names, key=key)
    return {
        name: {
            "title": categories[name]["title"],
            **{
                role: [{"name": side["name"], "stimuli": list(side["stimuli"])} for side in categories[name][role]]
                for role in ("targets", "attributes")
            },
        }
        for name in names
    }


def require_searched(categories: Mapping[str, Any], names: Iterable[str]) -> None:
    """Refuse categories that are to be measured in running text with words that are not looked for there.

    Args:
        categories: in the layout of `prasanga.lexicon.categories_of`.
        names: those that the config names under `categories`; the lexicon has them.

    Raises:
        InputError: a category with a word set that says `searched: false`.
    """
    for name in names:
        for side in (*categories[name]["targets"], *categories[name]["attributes"]):
            if not side.get("searched", True):
                raise InputError(
                    f"`categories` in the config names {name!r}, but its word set {side['name']!r} stands in templates"
                    f" only and is not looked for in texts. Write {name} under `seat.categories` instead, or take"
                    " `searched: false` out of the file of the word set."
                )


def read_categories(path: str | Path) -> dict[str, Any]:
    """Read the categories of earlier results (`results/lexicon/categories.json`).

    Raises:
        InputError: if the file is absent or damaged.
    """
    try:
        categories: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file, and the word lists of `lexicon.stimuli` are not there either. Restore one of them."
        ) from None
    except ValueError as error:
        raise InputError(f"{path}: damaged ({error}). Restore it, or the word lists of `lexicon.stimuli`.") from None
    return categories


def require_language(found: str, wanted: str, *, key: str = "lexicon.stimuli") -> None:
    """Refuse word lists, or templates, that are for another language (`found`) than the config names (`wanted`).

    Args:
        found: their language.
        wanted: `language` of the config.
        key: where the config names them, for the message.

    Raises:
        InputError: with both languages and what to write.
    """
    if found != wanted:
        what = "word lists" if key.startswith("lexicon") else key.rpartition(".")[2]
        raise InputError(
            f"`language` is {wanted!r}, but the {what} in `{key}` are for {found!r}. Write `language: {found}`, or name"
            f" other {what}."
        )
