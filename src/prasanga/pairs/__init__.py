"""Pairs of sentences as data: files of them, the words in which they differ, what is odd about them. Runs no model."""

from prasanga.pairs.alignment import Alignment, Span, SpanAlignment, align_spans, align_words
from prasanga.pairs.reading import PairFile, read_pair_file, read_pairs
from prasanga.pairs.statistics import statistics
from prasanga.pairs.words import Punctuation, Word, words_of

__all__ = [
    "Alignment",
    "PairFile",
    "Punctuation",
    "Span",
    "SpanAlignment",
    "Word",
    "align_spans",
    "align_words",
    "read_pair_file",
    "read_pairs",
    "statistics",
    "words_of",
]
