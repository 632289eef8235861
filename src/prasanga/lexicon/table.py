"""The lexicon as the stage writes it: a table of surface forms, and the categories as plain values for JSON."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from prasanga.lexicon.categories import GLOSSES
from prasanga.lexicon.model import Lexicon, WordSet
from prasanga.text import fold

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
        }.items()
    ]
)


def forms_table(lexicon: Lexicon) -> pa.Table:
    """One row per stimulus and form (`SCHEMA`), in the lexicon's order.

    `counted` is false where the form is ambiguous and its hits go to another stimulus, or to none.
    """
    claims = lexicon.claims()
    columns: dict[str, list[Any]] = {
        name: [getattr(form, name) for form in lexicon.forms] for name in SCHEMA.names if name != "counted"
    }
    columns["counted"] = [form.stimulus in claims.get(fold(form.form), ()) for form in lexicon.forms]
    return pa.table(columns, schema=SCHEMA)


def categories_of(lexicon: Lexicon) -> dict[str, Any]:
    """The categories by name, and under "glosses" the English gloss of every stimulus.

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
    """What templates take of a lexicon: of every stimulus its class of word, and the readings that can be produced."""
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
