"""Why a pair of sentences has no scores: one table, for the scores, the page and the documentation."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "identical": "both sentences are the same",
    "identical-pieces": "both sentences are the same to the tokenizer",
    "nothing-modified": "there is no modified word to go by (with p_modified: in one of the sentences)",
    "nothing-unmodified": "no word stands in both sentences",
    "special-piece": "a sentence has characters that the tokenizer takes for a special piece, such as [MASK]",
    "dropped-word": "the tokenizer has no piece for one of the words of the pair, scored or not",
    "unknown-piece": "a scored piece stands for what the tokenizer does not know",
    "nothing-scored": "a sentence has no piece that can be scored",
    "too-long": "a sentence is longer than the model reads",
    "not-finite": "a score is not a finite number",
    "no-score": "there is no score, and no reason is given",
}
"""Sentences by the codes of the column `left_out`. `not-finite` and `no-score` are of scores from elsewhere: the
engine stops at a number that is not finite."""
