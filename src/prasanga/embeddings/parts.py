"""Work in parts: planned by the texts alone, and read while the model is busy with the part before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Read = TypeVar("Read")

ON_A_GPU, ON_A_CPU = 1 << 20, 1 << 16
"""Characters of a part: less than a second's work of a card, some ten seconds' of two cores."""


def plan_parts(texts: Sequence[str], order: Sequence[int], size: int) -> list[list[int]]:
    """Places of `texts` in parts of about `size` characters, in the given order; equal neighbours stay together."""
    parts: list[list[int]] = [[]]
    before, held = None, 0
    for place in order:
        if held >= size and texts[place] != before:
            parts.append([])
            held = 0
        parts[-1].append(place)
        before = texts[place]
        held += len(before)
    return parts


def read_ahead(parts: Sequence[Part], read: Callable[[Part], Read]) -> Iterator[tuple[Part, Read]]:
    """Each part with what `read` makes of it; the next one is read in a thread meanwhile."""
    with ThreadPoolExecutor(1) as reader:
        ahead = [reader.submit(read, part) for part in parts[:1]]
        for number, part in enumerate(parts):
            made = ahead.pop().result()
            ahead += [reader.submit(read, following) for following in parts[number + 1 : number + 2]]
            yield part, made
