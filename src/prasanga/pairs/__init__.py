"""Read pairs of sentences, align their words, and list their oddities, without running a model.

The names are imported when they are first used: a name of a column does not load readers of files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prasanga.base import offered

if TYPE_CHECKING:
    from prasanga.pairs.alignment import Alignment, align_spans, align_words
    from prasanga.pairs.preferences import statistics
    from prasanga.pairs.reading import PairFile, read_pair_file, read_pairs


def __getattr__(name: str) -> Any:
    return offered(__name__, name)
