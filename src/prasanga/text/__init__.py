"""Normalize text and split it into words and sentences, for every stage that reads or counts text."""

from prasanga.text.normalization import Normalizer, Replacement, normalize, normalize_batch, normalizer
from prasanga.text.words import WORD, count_words, fold, split_sentences, words
