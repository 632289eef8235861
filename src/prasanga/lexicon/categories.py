"""The lexicon as the stage writes it (forms and categories), and what later stages read of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa

from prasanga.base.documents import read_document
from prasanga.base.errors import InputError
from prasanga.base.places import exists
from prasanga.lexicon.model import Lexicon, Neighbours, SurfaceForm, WordSet
from prasanga.text import fold

# --------------------
# What later stages read of a lexicon: the stimuli of the categories in `categories.json`.
#
# Kept apart from the reader of the word lists, so that a change there does not concern those stages.


GLOSSES = "glosses"


def stimuli_of(
    categories: Mapping[str, Any], names: Iterable[str] | None = None, *, key: str = "categories"
) -> list[str]:
    """Return the stimuli of some categories, each once, in the order of first mention.

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
    """Return some categories, with nothing of them but what a statistic depends on: title, names of the sets, stimuli.

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


def require_words(
    categories: Mapping[str, Any],
    names: Iterable[str],
    *,
    key: str = "categories",
    files: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Refuse categories with a list too short for an effect size, whatever is found in texts.

    A standard deviation over the target words needs two of each set.

    Args:
        categories: in the layout of `prasanga.lexicon.categories_of`.
        names: those that the config names under `key`; the lexicon has them.
        key: where the config names them, for the message.
        files: for each category the files of its sets, as far as they are known.

    Raises:
        InputError: a target set of one word, or an attribute set of none, with category, set and file, each in a line.
    """
    problems = []
    for name in names:
        for role, what, least in (("targets", "a target set", 2), ("attributes", "an attribute set", 1)):
            for side in categories[name][role]:
                there = len(side["stimuli"])
                if there < least:
                    file = (files or {}).get(name, {}).get(side["name"], "")
                    problems.append(
                        f"{file}{': ' if file else ''}the set {side['name']!r} of the category {name} has"
                        f" {there} word{'' if there == 1 else 's'}, but {what} needs {least} for an effect size. Add"
                        f" words to it, or take {name} out of `{key}`."
                    )
    if problems:
        raise InputError("\n".join(problems))


def require_other_words(categories: Mapping[str, Any], names: Iterable[str], *, key: str = "categories") -> None:
    """Refuse categories with a word among their targets and their attributes: it is nearest to itself in every model.

    Args:
        categories: in the layout of `prasanga.lexicon.categories_of`.
        names: those that the config names under `key`; the lexicon has them.
        key: where the config names them, for the message.

    Raises:
        InputError: with the words, the sets and the category, each in a line.
    """
    problems = []
    for name in names:
        for target, attribute in product(categories[name]["targets"], categories[name]["attributes"]):
            common = dict.fromkeys(word for word in target["stimuli"] if word in attribute["stimuli"])
            if common:
                problems.append(
                    f"the category {name} has {', '.join(common)} among its targets (the set {target['name']!r}) and"
                    f" its attributes ({attribute['name']!r}), and a word is nearest to itself. Take it out of one of"
                    f" these sets, or take {name} out of `{key}`."
                )
    if problems:
        raise InputError("\n".join(problems))


def read_categories(path: str | Path) -> dict[str, Any]:
    """Read the categories of earlier results (`results/lexicon/categories.json`).

    Raises:
        InputError: if the file is absent or damaged.
    """
    if not Path(path).exists():
        raise InputError(
            f"{path}: no such file, and the word lists of `lexicon.stimuli` are not there either. Restore one of them."
        )
    return read_document(path)


def require_language(found: str, wanted: str, *, key: str = "lexicon.stimuli") -> None:
    """Refuse word lists, or templates, that are for another language (`found`) than the config names (`wanted`).

    Args:
        found: their language.
        wanted: `language` of the config.
        key: `lexicon.stimuli` or `seat.templates`, where the config names them.

    Raises:
        InputError: with both languages and what to write.
    """
    if found == wanted:
        return
    what = "word lists" if key.startswith("lexicon") else "templates"
    said = f"`language` is {wanted!r}, but the {what} in `{key}` are for {found!r}."
    if what == "templates":
        ours = f"resources/templates/{wanted}/seat.yaml"
        instead = f"`seat: {{templates: {ours}}}`" if exists(ours) else f"the path of templates for {wanted!r} there"
        raise InputError(f"{said} Write {instead}.")  # `language` is that of the word lists
    stimuli, groups = f"resources/stimuli/{wanted}", f"resources/suffix_groups/{wanted}.yaml"
    instead = f"name word lists for {wanted!r} there"
    if exists(stimuli) and exists(groups):
        instead = f"`lexicon: {{stimuli: {stimuli}, suffix_groups: {groups}}}`"
    raise InputError(f"{said} Write `language: {found}`, or {instead}.")


# --------------------
# The lexicon as the stage writes it: a table of surface forms, and the categories as plain values for JSON.


SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "form": pa.string(),
            "stimulus": pa.string(),
            "group": pa.string(),
            "number": pa.string(),
            "case": pa.string(),
            "emphatic": pa.string(),
            "hyphenated": pa.bool_(),
            "counted": pa.bool_(),
            "not_after": pa.string(),
            "not_before": pa.string(),
        }.items()
    ]
)


def forms_table(lexicon: Lexicon) -> pa.Table:
    """Return one row per stimulus and form (`SCHEMA`), in the lexicon's order.

    `counted` is false where the form is ambiguous and its hits go to another stimulus, or to none; `not_after` and
    `not_before` are words and marks, a blank between them.
    """
    claims = lexicon.claims()
    columns: dict[str, list[Any]] = {
        name: [getattr(form, name) for form in lexicon.forms] for name in SCHEMA.names if hasattr(SurfaceForm, name)
    }
    folded = [fold(form.form) for form in lexicon.forms]
    columns["counted"] = [form.stimulus in claims.get(of, ()) for form, of in zip(lexicon.forms, folded, strict=True)]
    beside = [lexicon.neighbours.get(of, Neighbours()) for of in folded]
    for number, name in enumerate(Neighbours._fields):
        columns[name] = [" ".join(sorted(each[number])) for each in beside]
    return pa.table(columns, schema=SCHEMA)


def categories_of(lexicon: Lexicon) -> dict[str, Any]:
    """Return the categories by name, and under "glosses" the English gloss of every stimulus.

    A category is {"title": ..., "targets": [set, set], "attributes": [set, set]}, a set {"name": ..., "gloss": ...,
    "stimuli": [...]}, with "searched": False beside these where its words stand in templates only.
    """
    categories: dict[str, Any] = {
        category.name: {
            "title": category.title,
            "targets": [_plain(side) for side in category.targets],
            "attributes": [_plain(side) for side in category.attributes],
        }
        for category in lexicon.categories.values()
    }
    return {**categories, GLOSSES: {stimulus.name: stimulus.gloss for stimulus in lexicon.stimuli}}


def words_for_templates(lexicon: Lexicon) -> dict[str, list[list[str]]]:
    """Return what templates take of a lexicon.

    That is the class of word of every stimulus, and the readings that can be produced.
    """
    return {
        "classes": [[stimulus.name, stimulus.word_class] for stimulus in lexicon.stimuli],
        "readings": [
            [form.stimulus, form.form, form.number, form.case, form.emphatic]
            for form in lexicon.readings or lexicon.forms
            if not form.hyphenated
        ],
    }


def _plain(word_set: WordSet) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": word_set.name, "gloss": word_set.gloss, "stimuli": list(word_set.stimuli)}
    # Said only where it is so: the categories of a study without templates are written as they always were.
    return plain if word_set.searched else {**plain, "searched": False}
