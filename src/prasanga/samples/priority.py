"""The order in which contexts are drawn: a hash of seed, stimulus and text, computed from the text's identifier.

A sentence table names each context's text by its `text_id`, the 128-bit XXH3 of it, so a draw need not read the text.
A second 128-bit XXH3, of seed and stimulus, is the key. Both are taken as halves of 64 bits and mixed:

    low'  = mix(high ^ key_high)
    high' = mix(low ^ low' ^ key_low)

where `mix` is that of `prasanga.hashing`.
For a given key each step can be undone, so two texts have the same priority exactly if they have the same identifier;
for another seed or stimulus the order is another one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import xxhash

from prasanga.hashing import mix, mix_one

Words64 = npt.NDArray[np.uint64]


def priority(seed: int, stimulus: str, text: str) -> int:
    """The priority of a context for a stimulus, a 128-bit hash; smaller is drawn earlier.

    This is the definition; `priorities` computes the same for whole columns.
    """
    key_high, key_low = divmod(_key(seed, stimulus), 1 << 64)
    high, low = divmod(xxhash.xxh3_128_intdigest(text.encode()), 1 << 64)
    new_low = mix_one(high ^ key_high)
    new_high = mix_one(low ^ new_low ^ key_low)
    return new_high << 64 | new_low


def stimulus_keys(seed: int, stimuli: Sequence[str]) -> Words64:
    """The keys of stimuli, shape (n, 2): high and low halves."""
    numbers = [divmod(_key(seed, stimulus), 1 << 64) for stimulus in stimuli]
    return np.array(numbers, np.uint64).reshape(-1, 2)


def priorities(high: Words64, low: Words64, keys: Words64) -> tuple[Words64, Words64]:
    """The priorities of contexts, as high and low halves.

    Args:
        high: high half of each text's identifier, shape (n,).
        low: low half, shape (n,).
        keys: the key of each row's stimulus, shape (n, 2).
    """
    new_low = mix(high ^ keys[:, 0])
    return mix(low ^ new_low ^ keys[:, 1]), new_low


def _key(seed: int, stimulus: str) -> int:
    # NUL stands in no number, so that no two pairs are written alike.
    return xxhash.xxh3_128_intdigest(f"{seed}\0{stimulus}".encode())
