"""Pairs of sentences as data: files of them, the words in which they differ, what is odd about them. Runs no model.

The names are imported when they are first used: whoever asks for a name of a column does not wait for readers of files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prasanga.pairs.alignment import (
        Alignment,
        Punctuation,
        Span,
        SpanAlignment,
        Word,
        align_spans,
        align_words,
        words_of,
    )
    from prasanga.pairs.preferences import statistics
    from prasanga.pairs.reading import PairFile, read_pair_file, read_pairs

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


def __getattr__(name: str) -> Any:
    """Import a name's module when the name is asked for."""
    if name in ("Alignment", "Span", "SpanAlignment", "align_spans", "align_words"):
        from prasanga.pairs import alignment

        return getattr(alignment, name)
    if name in ("PairFile", "read_pair_file", "read_pairs"):
        from prasanga.pairs import reading

        return getattr(reading, name)
    if name == "statistics":
        from prasanga.pairs.preferences import statistics

        return statistics
    if name in ("Punctuation", "Word", "words_of"):
        from prasanga.pairs import alignment

        return getattr(alignment, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
