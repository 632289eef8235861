"""Probabilities instead of vectors: pairs of sentences, and words in templates, scored by models of every kind.

The names are imported when they are first used, because most of their modules need torch or transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prasanga.base import offered

if TYPE_CHECKING:
    from prasanga.likelihoods.bias import Percentages, bias_percentage
    from prasanga.likelihoods.engine import Query, Scorer, load_scorer
    from prasanga.likelihoods.scoring import score_log_probability, score_pairs
    from prasanga.pairs import Alignment, align_words, read_pairs


def __getattr__(name: str) -> Any:
    return offered(__name__, name)
