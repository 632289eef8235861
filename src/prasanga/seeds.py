"""Random generators with a name, so that every random choice can be repeated and none depends on another.

A generator is derived from the study's seed and the names of what it is for (stage, model, category, ...). Its numbers
therefore stay the same when a model or category is added, and do not depend on the order of jobs or on their number.
"""

from __future__ import annotations

import hashlib

import numpy as np


def seed_of(seed: int, *names: object) -> int:
    """A 64-bit seed for what `names` name, derived from the study's `seed`; the same on every machine."""
    text = "\x1f".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def generator(seed: int, *names: object) -> np.random.Generator:
    """A numpy generator of its own for what `names` name (stage, model, category, ...)."""
    return np.random.default_rng(seed_of(seed, *names))
