"""Sentences: corpus files to normalized sentences with located stimuli, in constant memory."""

from prasanga.sentences.corpus import Document, Line, ReadingReport, read_documents, read_lines
from prasanga.sentences.extraction import SENTENCE_SCHEMA, ExtractionReport, extract
from prasanga.sentences.forms import Forms, read_forms
from prasanga.sentences.matcher import Match, Matcher, longest
from prasanga.sentences.settings import common_settings

__all__ = [
    "SENTENCE_SCHEMA",
    "Document",
    "ExtractionReport",
    "Forms",
    "Line",
    "Match",
    "Matcher",
    "ReadingReport",
    "common_settings",
    "extract",
    "longest",
    "read_documents",
    "read_forms",
    "read_lines",
]
