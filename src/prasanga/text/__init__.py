"""Text: normalization, words and sentences, for every stage that reads or counts text."""

from prasanga.text.normalization import Normalizer, Replacement, normalize, normalize_batch, normalizer
from prasanga.text.splitting import split_sentences
from prasanga.text.words import WORD, count_words, fold, words

__all__ = [
    "WORD",
    "Normalizer",
    "Replacement",
    "count_words",
    "fold",
    "normalize",
    "normalize_batch",
    "normalizer",
    "split_sentences",
    "words",
]
