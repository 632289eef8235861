"""Names that a sentence keeps over reruns, shard counts and machines: hashes of where it stands in the corpus."""

from __future__ import annotations

import xxhash


def context_id(source: str, offset: int, ordinal: int) -> str:
    """The name of a context, 32 hexadecimal digits.

    Args:
        source: the corpus file, relative to the corpus root, with `/` between folders.
        offset: byte offset of the line in the decompressed source, or number of the record.
        ordinal: number of the sentence in its line or record, from 0.
    """
    # NUL stands in no path and no word, so that no two lists of parts are written alike.
    return xxhash.xxh3_128_hexdigest(f"{source}\0{offset}\0{ordinal}".encode())


def occurrence_id(context: str, stimulus: str, start: int) -> str:
    """The name of one located stimulus, 32 hexadecimal digits; `start` is its position in the context's text."""
    return xxhash.xxh3_128_hexdigest(f"{context}\0{stimulus}\0{start}".encode())


def text_id(text: bytes | memoryview) -> str:
    """The name of a text given as UTF-8, 32 hexadecimal digits: equal for equal texts, wherever they stand."""
    return xxhash.xxh3_128_hexdigest(text)
