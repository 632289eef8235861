"""Turn corpus files into normalized sentences with located stimuli, in constant memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prasanga.base import offered

if TYPE_CHECKING:
    from prasanga.sentences.corpus import ReadingReport, Shard, fetch
    from prasanga.sentences.files import common_settings, find_faults, find_shards
    from prasanga.sentences.matcher import Forms, Match, Matcher, longest, read_forms
    from prasanga.sentences.passages import extract_shard, read_sentences
    from prasanga.sentences.records import read_records
    from prasanga.sentences.windows import REPEATED, SENTENCE_SCHEMA, ExtractionReport


def __getattr__(name: str) -> Any:
    return offered(__name__, name)
