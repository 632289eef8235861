"""Train static vectors (one per word, whatever its context) on the study's corpus, or read them from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prasanga.base import offered

if TYPE_CHECKING:
    from prasanga.static.training import Trained, train_glove, train_word2vec, trained_table, write_sentences
    from prasanga.static.vectors import (
        Spellings,
        WordVectors,
        find_format,
        look_up,
        look_up_stimuli,
        read_looked_up,
        read_trained,
        read_vectors,
        spellings_of,
        wanted_spellings,
    )


STATIC_VERSION = 1
"""Raise this number when the code cuts the corpus or trains static vectors differently: all are then trained again."""


def __getattr__(name: str) -> Any:
    return offered(__name__, name)
