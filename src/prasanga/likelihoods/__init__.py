"""Probabilities instead of vectors: pairs of sentences, and words in templates, scored by models of every kind.

The names are imported when they are first used, because most of their modules need torch or transformers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prasanga.likelihoods.bias import bias_percentage
    from prasanga.likelihoods.engine import Scorer, load_scorer
    from prasanga.likelihoods.log_probability import score_log_probability
    from prasanga.likelihoods.pair_scores import score_pairs
    from prasanga.likelihoods.queries import Query
    from prasanga.pairs import Alignment, align_words, read_pairs

_HOME = {
    "Alignment": "prasanga.pairs",
    "Query": "prasanga.likelihoods.queries",
    "Scorer": "prasanga.likelihoods.engine",
    "align_words": "prasanga.pairs",
    "bias_percentage": "prasanga.likelihoods.bias",
    "load_scorer": "prasanga.likelihoods.engine",
    "read_pairs": "prasanga.pairs",
    "score_log_probability": "prasanga.likelihoods.log_probability",
    "score_pairs": "prasanga.likelihoods.pair_scores",
}

__all__ = [
    "Alignment",
    "Query",
    "Scorer",
    "align_words",
    "bias_percentage",
    "load_scorer",
    "read_pairs",
    "score_log_probability",
    "score_pairs",
]


def __getattr__(name: str) -> Any:
    """Import a name's module when the name is asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
