"""Names that a sentence keeps over reruns, shard counts and machines: hashes of where it stands in the corpus."""

from __future__ import annotations

import hashlib


def context_id(source: str, offset: int, ordinal: int) -> str:
    """The name of a context, 32 hexadecimal digits.

    Args:
        source: the corpus file, relative to the corpus root, with `/` between folders.
        offset: byte offset of the line in the decompressed source.
        ordinal: number of the sentence in its line, from 0.
    """
    return _digest(source, offset, ordinal)


def occurrence_id(context: str, stimulus: str, start: int) -> str:
    """The name of one located stimulus, 32 hexadecimal digits; `start` is its position in the context's text."""
    return _digest(context, stimulus, start)


def _digest(*parts: str | int) -> str:
    # NUL stands in no path and no word, so that no two lists of parts are written alike.
    return hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=16).hexdigest()
