"""Sentences: corpus files to normalized sentences with located stimuli, in constant memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prasanga.sentences.corpus import Line, ReadingReport, read_lines
from prasanga.sentences.files import Shard, common_settings, find_shards
from prasanga.sentences.matcher import Forms, Match, Matcher, longest, read_forms
from prasanga.sentences.records import read_corpus, read_texts, require_small

if TYPE_CHECKING:
    from prasanga.sentences.extraction import extract_shard
    from prasanga.sentences.passages import ExtractionReport
    from prasanga.sentences.windows import REPEATED, SENTENCE_SCHEMA

__all__ = [
    "REPEATED",
    "SENTENCE_SCHEMA",
    "ExtractionReport",
    "Forms",
    "Line",
    "Match",
    "Matcher",
    "ReadingReport",
    "Shard",
    "common_settings",
    "extract_shard",
    "find_shards",
    "longest",
    "read_corpus",
    "read_forms",
    "read_lines",
    "read_texts",
    "require_small",
]


def __getattr__(name: str) -> Any:
    """Import what needs the compiler when it is asked for: the Snakefile, read anew by every job, does without it."""
    if name == "extract_shard":
        from prasanga.sentences.extraction import extract_shard

        return extract_shard
    if name == "ExtractionReport":
        from prasanga.sentences.passages import ExtractionReport

        return ExtractionReport
    if name in ("REPEATED", "SENTENCE_SCHEMA"):
        from prasanga.sentences import windows

        return getattr(windows, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
