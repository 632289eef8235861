"""Numbers of hidden layers: 0 the embeddings, k the output of block k, -1 the last."""

from __future__ import annotations

from prasanga.errors import InputError


def depth_of(layer: int, blocks: int, model: str) -> int:
    """`layer` counted from the embeddings (0 to `blocks`).

    Raises:
        InputError: the model, of that name, has no such layer.
    """
    if not -blocks - 1 <= layer <= blocks:
        raise InputError(
            f"model {model}: layer is {layer}, but the model has {blocks} blocks. Write -1 for the last, or a number"
            f" from 0 (embeddings) to {blocks} (last)."
        )
    return layer % (blocks + 1)
