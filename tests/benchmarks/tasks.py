"""What the ratios of the sentences stage compare: each function prepares its work and returns what runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import simple_sentences

from prasanga.base.io import write_batches
from prasanga.sentences import SENTENCE_SCHEMA, Shard, extract_shard, read_forms
from prasanga.text import normalize as normalize_text
from prasanga.text import normalize_batch

Run = Callable[[], object]

LINES_PER_BATCH = 2_000


def normalize(path: str) -> Run:
    """Normalize all lines of a file, some thousand at a time."""
    lines = _lines(path)
    starts = range(0, len(lines), LINES_PER_BATCH)
    return lambda: [normalize_batch(lines[start : start + LINES_PER_BATCH]) for start in starts]


def normalize_simply(path: str) -> Run:
    """Normalize all lines of a file one by one."""
    lines = _lines(path)
    return lambda: [normalize_text(line) for line in lines]


def extract(path: str, forms: str, out: str) -> Run:
    """Read, normalize, match, cut, write: a job of the sentences stage, without its start."""
    settings: dict[str, Any] = {"lexicon": read_forms(forms), "normalization": "bangla", "language": "bn"}
    shard = Shard(path, "a.txt", "blank-line")
    return lambda: write_batches(out, SENTENCE_SCHEMA, extract_shard(shard, **settings), {})


def extract_simply(path: str, forms: str, out: str) -> Run:
    """The same, the simple way."""
    patterns = simple_sentences.compile_patterns(read_forms(forms))
    return lambda: simple_sentences.write_rows(out, simple_sentences.extract(path, source="a.txt", patterns=patterns))


def _lines(path: str) -> list[str]:
    return [line for line in Path(path).read_text(encoding="utf-8").split("\n") if line]
