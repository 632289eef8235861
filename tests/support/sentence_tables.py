"""Sentence tables for tests of the stages that read them, made without a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from prasanga.sentences import SENTENCE_SCHEMA
from prasanga.text import count_words

Row = dict[str, Any]


def named(*parts: object) -> str:
    """An identifier of 32 hexadecimal digits."""
    return hashlib.md5("\0".join(map(str, parts)).encode()).hexdigest()


def occurrence(context: str, text: str, stimulus: str, start: int, *, form: str = "", source: str = "a.txt") -> Row:
    """The row of a stimulus at `start` of a context's text."""
    form = form or stimulus
    return {
        "occurrence_id": named(context, stimulus, start),
        "context_id": named(context),
        "stimulus": stimulus,
        "form": form,
        "language": "bn",
        "text": text,
        "text_id": xxhash.xxh3_128_hexdigest(text.encode()),
        "start": start,
        "end": start + len(form),
        "word_index": count_words(text[:start]),
        "n_words": count_words(text),
        "before": 0,
        "after": 0,
        "source": source,
        "offset": 0,
    }


def context(name: str, n_words: int, *stimuli: str, text: str = "", source: str = "a.txt") -> list[Row]:
    """The rows of one context: the stimuli, in the middle of words that stand in no other context; or in `text`."""
    if not text:
        around = [f"{name}{i}" for i in range(n_words - len(stimuli))]
        half = len(around) // 2
        text = " ".join([*around[:half], *stimuli, *around[half:]])
    rows, start = [], 0
    for stimulus in stimuli:
        start = text.index(stimulus, start)
        rows.append(occurrence(name, text, stimulus, start, source=source))
        start += len(stimulus)
    return rows


def write_sentences(path: Path, contexts: Iterable[list[Row]], *, rows_per_group: int = 1_000) -> Path:
    """Write the rows of contexts to a table of sentences."""
    rows = [row for its in contexts for row in its]
    pq.write_table(pa.Table.from_pylist(rows, SENTENCE_SCHEMA), path, row_group_size=rows_per_group)
    return path
