"""Probabilities instead of vectors: pairs of sentences, and words in templates, scored by models of every kind.

The names are imported when they are first used, because most of their modules need torch or transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prasanga.likelihoods.bias import Percentages, bias_percentage
    from prasanga.likelihoods.engine import Scorer, load_scorer
    from prasanga.likelihoods.log_probability import score_log_probability
    from prasanga.likelihoods.pair_scores import score_pairs
    from prasanga.likelihoods.queries import Query
    from prasanga.pairs import Alignment, align_words, read_pairs

__all__ = [
    "Alignment",
    "Percentages",
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
    if name in ("Alignment", "align_words", "read_pairs"):
        from prasanga import pairs

        return getattr(pairs, name)
    if name == "Query":
        from prasanga.likelihoods import queries

        return getattr(queries, name)
    if name in ("Scorer", "load_scorer"):
        from prasanga.likelihoods import engine

        return getattr(engine, name)
    if name in ("Percentages", "bias_percentage"):
        from prasanga.likelihoods import bias

        return getattr(bias, name)
    if name == "score_log_probability":
        from prasanga.likelihoods import log_probability

        return getattr(log_probability, name)
    if name == "score_pairs":
        from prasanga.likelihoods import pair_scores

        return getattr(pair_scores, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
