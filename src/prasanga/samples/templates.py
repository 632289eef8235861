"""Filled templates as segments: sentences that no corpus holds, embedded by the same code as those that one does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from prasanga.errors import InputError
from prasanga.lexicon.model import Lexicon
from prasanga.lexicon.templates import FilledTemplate, Templates, filled_templates
from prasanga.samples.segments import SEGMENT_SCHEMA, segment_id
from prasanga.sentences.identity import occurrence_id, text_id
from prasanga.text.words import count_words

#: What stands under `segment_length` of a filled template.
TEMPLATES = "templates"

TEMPLATE_SCHEMA = pa.schema(
    [
        *SEGMENT_SCHEMA,
        pa.field("template", pa.string(), nullable=False),
        pa.field("word_class", pa.string(), nullable=False),
    ]
)
"""One row per stimulus and template of its class, sorted by stimulus. `template` is its id in the class."""


def fill_templates(lexicon: Lexicon, categories: Iterable[str], templates: Templates) -> pa.Table:
    """The sentences of all words of some categories, each word once however many categories have it.

    Args:
        lexicon: the words.
        categories: names of its categories (`seat.categories`).
        templates: from `prasanga.lexicon.templates.load_templates`.

    Returns:
        A table in `TEMPLATE_SCHEMA`, which holds the columns of a segment.

    Raises:
        InputError: a category that the lexicon does not have; as `filled_templates` does.
    """
    stimuli: dict[str, None] = {}
    for name in categories:
        if name not in lexicon.categories:
            raise InputError(
                f"`seat.categories` in the config names {name!r}, which the lexicon does not have. Allowed:"
                f" {', '.join(lexicon.categories) or 'none, since these word lists have no categories'}."
            )
        category = lexicon.categories[name]
        for side in (*category.targets, *category.attributes):
            stimuli.update(dict.fromkeys(side.stimuli))
    rows = [_row(filled) for filled in filled_templates(lexicon, sorted(stimuli), templates)]
    return pa.Table.from_pylist(rows, schema=TEMPLATE_SCHEMA)


def _row(filled: FilledTemplate) -> dict[str, Any]:
    context = text_id(f"{filled.word_class}\0{filled.template}".encode())
    return {
        "segment_id": segment_id(filled.text, filled.start, filled.end),
        "occurrence_id": occurrence_id(context, filled.stimulus, filled.start),
        "context_id": context,
        "stimulus": filled.stimulus,
        "segment_length": TEMPLATES,
        "text": filled.text,
        "start": filled.start,
        "end": filled.end,
        "n_words": count_words(filled.text),
        "template": filled.template,
        "word_class": filled.word_class,
    }
