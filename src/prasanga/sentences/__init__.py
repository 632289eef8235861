"""Sentences: corpus files to normalized sentences with located stimuli, in constant memory."""

from prasanga.sentences.corpus import Document, Line, ReadingReport, read_documents, read_lines
from prasanga.sentences.extraction import SENTENCE_SCHEMA, ExtractionReport, extract
from prasanga.sentences.matcher import Match, Matcher, longest

__all__ = [
    "SENTENCE_SCHEMA",
    "Document",
    "ExtractionReport",
    "Line",
    "Match",
    "Matcher",
    "ReadingReport",
    "extract",
    "longest",
    "read_documents",
    "read_lines",
]
