"""A training from the texts of a corpus to vectors: words into a temporary file, then the method over them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from prasanga.errors import InputError
from prasanga.static.glove import train_glove
from prasanga.static.tokens import has_capitals, sentences_of, spool
from prasanga.static.trained import Trained
from prasanga.static.word2vec import train_word2vec

_METHODS: dict[str, Callable[..., Trained]] = {"word2vec": train_word2vec, "glove": train_glove}


def train_on_texts(
    texts: Iterable[str], normalize: Callable[[Sequence[str]], list[str]], *, language: str, method: str, **options: Any
) -> Trained:
    """Train on texts, which are read once; their words lie in `TMPDIR` meanwhile.

    Args:
        texts: lines or records of a corpus.
        normalize: the study's normalization of many texts.
        language: of the study; says whether words are lower-cased.
        method: word2vec or glove.
        options: of `train_word2vec` or `train_glove`.

    Raises:
        InputError: another method; no room on the disk; as the method does.
    """
    if method not in _METHODS:
        raise InputError(f"train.method: {method!r} is unknown. Write {' or '.join(_METHODS)}.")
    with tempfile.TemporaryDirectory(prefix="prasanga-static-") as folder:
        tokens = spool(sentences_of(texts, normalize, lower=has_capitals(language)), Path(folder, "tokens"))
        return _METHODS[method](tokens, **options)
