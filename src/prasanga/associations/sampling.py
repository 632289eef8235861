"""Which contexts CEAT draws: one context of each word per draw, named so that draws do not depend on each other.

The paper's text (Sadhu et al. 2024, section 3.2) draws a word's contexts without replacement while there are enough
of them; its code always draws with replacement. Both have a name:

- `without-replacement`: a word with at least as many contexts as draws uses each at most once; one with fewer is
  drawn with replacement (the default)
- `with-replacement`: always with replacement
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.errors import InputError
from prasanga.seeds import generator

IndexArray: TypeAlias = npt.NDArray[np.int64]

REPLACEMENTS = ("without-replacement", "with-replacement")


def draw_contexts(
    n_contexts: Sequence[int],
    n_samples: int,
    rng: np.random.Generator | int | None = None,
    replacement: str = "without-replacement",
) -> IndexArray:
    """Draw `n_samples` times one context of each word: (n_samples, n_words) integers.

    Column j holds indices below `n_contexts[j]`, the number of contexts of word j. `rng` is a generator or a seed.
    Raises `InputError` for no draws, a word without contexts, and an unknown `replacement`.
    """
    rng = np.random.default_rng(rng)
    _check(n_contexts, n_samples, replacement)
    return _columns([_draw_column(n, n_samples, rng, replacement) for n in n_contexts], n_samples)


def named_draws(
    words: Sequence[str],
    n_contexts: Sequence[int],
    n_samples: int,
    *,
    seed: int,
    names: Sequence[object],
    replacement: str = "without-replacement",
) -> IndexArray:
    """The same, each column from a generator of its own, named by `seed`, `names`, the word and its turn.

    A word's draws therefore stay the same when words are added or left out. A word that is listed twice is drawn twice.
    `names` say what else the draws belong to, for example the sample mode and the category, and the model where models
    do not share draws.
    """
    _check(n_contexts, n_samples, replacement)
    turns: Counter[str] = Counter()
    columns = []
    for word, n in zip(words, n_contexts, strict=True):
        rng = generator(seed, "ceat", *names, word, turns[word])
        turns[word] += 1
        columns.append(_draw_column(n, n_samples, rng, replacement))
    return _columns(columns, n_samples)


def spread_draws(
    words: Sequence[str], n_contexts: Sequence[int], *, seed: int, names: Sequence[object], most: int, least: int
) -> IndexArray:
    """As many draws as the rarest word has contexts, each context of a word used at most once: (n, n_words) integers.

    At most `most` draws. At least `least` as well: words with fewer contexts use each of them as often as the others.
    Such draws are independent of each other, so that resampling them resamples contexts. Generators as in
    `named_draws`. Raises `InputError` for a word without contexts.
    """
    n_samples = max(least, min([most, *n_contexts]))
    _check(n_contexts, n_samples, REPLACEMENTS[0])
    turns: Counter[str] = Counter()
    columns = []
    for word, n in zip(words, n_contexts, strict=True):
        order = generator(seed, "spread", *names, word, turns[word]).permutation(n)
        turns[word] += 1
        columns.append(np.resize(order, n_samples))
    return _columns(columns, n_samples)


def _check(n_contexts: Sequence[int], n_samples: int, replacement: str) -> None:
    if replacement not in REPLACEMENTS:
        raise InputError(f"replacement: {replacement!r} is not known. Write {' or '.join(map(repr, REPLACEMENTS))}.")
    if n_samples < 1:
        raise InputError(f"n_samples: {n_samples} draws. Write a whole number of at least 1.")
    for column, n in enumerate(n_contexts):
        if n < 1:
            raise InputError(f"n_contexts: word {column} has {n} contexts. Leave out words without contexts.")


def _draw_column(n_contexts: int, n_samples: int, rng: np.random.Generator, replacement: str) -> IndexArray:
    if replacement == "without-replacement" and n_contexts >= n_samples:
        return rng.permutation(n_contexts)[:n_samples]
    return rng.integers(n_contexts, size=n_samples)


def _columns(columns: Sequence[IndexArray], n_samples: int) -> IndexArray:
    return np.stack(columns, axis=1) if columns else np.empty((n_samples, 0), dtype=np.int64)
