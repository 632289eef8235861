"""Make seeds, hashes and identifiers that are the same on every machine, in every order, at every rerun."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import xxhash

# --------------------
# Named random generators, so that every random choice can be repeated and none depends on another.
#
# A generator is derived from the study's seed and the names of its purpose (stage, model, category, ...). Its numbers
# therefore stay the same when a model or category is added, and do not depend on the order or number of jobs.


def seed_of(seed: int, *names: object) -> int:
    """Return a 64-bit seed for the purpose `names`, derived from the study's `seed`; the same on every machine."""
    text = "\x1f".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def generator(seed: int, *names: object) -> np.random.Generator:
    """Return a numpy generator for the purpose `names` (stage, model, category, ...)."""
    return np.random.default_rng(seed_of(seed, *names))


# --------------------
# Mixing of 64-bit numbers, for orders that look random and are the same everywhere.


_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scatter numbers over all 64-bit numbers, one to one.

    This is the finalizer of SplitMix64 (Steele, Lea and Flood 2014, with the constants of Stafford's variant 13).
    """
    values = (values ^ (values >> np.uint64(30))) * np.uint64(_FIRST)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(_SECOND)
    return values ^ (values >> np.uint64(31))


# --------------------
# Identifiers that are the same over reruns, shard counts and machines: hashes of a sentence's place in the corpus.


def context_id(source: str, offset: int, ordinal: int) -> str:
    """Return the identifier of a context, 32 hexadecimal digits.

    Args:
        source: the corpus file, relative to the corpus root, with `/` between folders.
        offset: byte offset of the line in the decompressed source, or number of the record.
        ordinal: number of the sentence in its line or record, from 0.
    """
    # NUL does not occur in paths and words, so different parts never give the same text.
    return xxhash.xxh3_128_hexdigest(f"{source}\0{offset}\0{ordinal}".encode())


def occurrence_id(context: str, stimulus: str, start: int) -> str:
    """Return the identifier of an occurrence, 32 hexadecimal digits; `start` is its position in the context's text."""
    return xxhash.xxh3_128_hexdigest(f"{context}\0{stimulus}\0{start}".encode())


def text_id(text: bytes | memoryview) -> str:
    """Return the identifier of a UTF-8 text, 32 hexadecimal digits; equal texts have equal ones."""
    return xxhash.xxh3_128_hexdigest(text)
