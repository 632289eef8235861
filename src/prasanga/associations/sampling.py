"""Which contexts CEAT draws: one context of each word per draw, named so that draws do not depend on each other.

The paper's text (Sadhu et al. 2024, section 3.2) draws a word's contexts without replacement while there are enough
of them; its code always draws with replacement. Both have a name:

- `without-replacement`: a word with at least as many contexts as draws uses each at most once; one with fewer is
  drawn with replacement (the default)
- `with-replacement`: always with replacement
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.associations.vectors import choice, generator_from, sequence_of, whole_number, word_list
from prasanga.base.errors import InputError
from prasanga.base.seeds import generator, seed_of

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
    rng = generator_from(rng)
    counts = _checked(n_contexts, n_samples, replacement)
    return _columns([_draw_column(n, n_samples, rng, replacement) for n in counts], n_samples)


def named_draws(
    words: Sequence[str],
    n_contexts: Sequence[int],
    n_samples: int,
    *,
    seed: int,
    names: Sequence[object],
    replacement: str = "without-replacement",
) -> IndexArray:
    """Draw `n_samples` times one context of each of `words`, as `draw_contexts` does: (n_samples, n_words) integers.

    Each column has a generator of its own, named by `seed`, `names`, the word and its turn. Column j holds indices
    below `n_contexts[j]`. A word's draws therefore stay the same when words are added or left out. A word that is
    listed twice is drawn twice. `names` say what else the draws belong to, for example the sample mode and the
    category, and the model where models do not share draws. `replacement`: `without-replacement` or `with-replacement`.

    Raises `InputError` as `draw_contexts` does, and for numbers of contexts that are not one for each word.
    """
    counts = _checked(n_contexts, n_samples, replacement)
    words, seed = word_list("words", words), whole_number("seed", seed, least=0)
    if len(words) != len(counts):
        raise InputError(f"n_contexts: {len(counts)} numbers for {len(words)} words. Give one for each word.")
    turns: Counter[str] = Counter()
    columns = []
    for word, n in zip(words, counts, strict=True):
        rng = generator(seed, "ceat", *names, word, turns[word])
        turns[word] += 1
        columns.append(_draw_column(n, n_samples, rng, replacement))
    return _columns(columns, n_samples)


def spread_draws(ids: Sequence[str], n_samples: int, *, seed: int, names: Sequence[object]) -> IndexArray:
    """Draw contexts of one word so that each is used at most once where there are enough, else equally often.

    Resampling such draws resamples contexts. And a context that is there in one model or length, and not in another,
    moves hardly any other draw: the contexts stand on a ring, each at a place that its id gives it, and a draw takes
    the first free one from a place of its own on.

    `ids` are those of the word's n contexts; `names` say what else the draws belong to. The result is (n_samples,)
    integers below n. Raises `InputError` for no contexts.
    """
    _checked([len(ids)], n_samples, REPLACEMENTS[0])
    salt = seed_of(seed, "spread", *names).to_bytes(8, "big")
    digests = b"".join(hashlib.blake2b(each.encode(), digest_size=8, key=salt).digest() for each in ids)
    places = np.frombuffer(digests, dtype=">u8").astype(np.uint64)
    ring = np.argsort(places, kind="stable")
    # multiples of the golden ratio lie evenly, however many there are
    starts = np.searchsorted(places[ring], np.arange(n_samples, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    taken = np.zeros(len(ids), dtype=bool)
    draws = np.empty(n_samples, dtype=np.int64)
    for number, start in enumerate(starts.tolist()):
        place = start % len(ids)
        while taken[place]:
            place = (place + 1) % len(ids)
        draws[number] = place
        taken[place] = True
        if (number + 1) % len(ids) == 0:
            taken[:] = False
    return ring[draws].astype(np.int64)


def _checked(n_contexts: Sequence[int], n_samples: int, replacement: str) -> list[int]:
    """Return the numbers of contexts."""
    choice("replacement", replacement, REPLACEMENTS)
    whole_number("n_samples", n_samples, least=1)
    counts = sequence_of("n_contexts", n_contexts, "a list, the number of contexts of each word")
    for column, n in enumerate(counts):
        if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
            raise InputError(
                f"n_contexts: word {column} has {n!r} contexts. Give whole numbers, and leave out words without"
                " contexts."
            )
    return [int(n) for n in counts]


def _draw_column(n_contexts: int, n_samples: int, rng: np.random.Generator, replacement: str) -> IndexArray:
    if replacement == "without-replacement" and n_contexts >= n_samples:
        return rng.permutation(n_contexts)[:n_samples]
    return rng.integers(n_contexts, size=n_samples)


def _columns(columns: Sequence[IndexArray], n_samples: int) -> IndexArray:
    return np.stack(columns, axis=1) if columns else np.empty((n_samples, 0), dtype=np.int64)
