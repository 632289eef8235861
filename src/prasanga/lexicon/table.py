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
    "stimuli": [...]}.
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


def _plain(word_set: WordSet) -> dict[str, Any]:
    return {"name": word_set.name, "gloss": word_set.gloss, "stimuli": list(word_set.stimuli)}
