"""Hidden states at one layer, without computing or keeping more than that layer needs."""

from __future__ import annotations

from typing import Any

import torch

from prasanga.errors import InputError
from prasanga.models.loading import LoadedModel


class _Reached(Exception):  # noqa: N818
    """Leaves the forward pass when the layer asked for is known."""

    def __init__(self, states: torch.Tensor) -> None:
        super().__init__()
        self.states = states


def check_layer(loaded: LoadedModel, layer: int) -> int:
    """`layer` counted from the embeddings (0); refuse one that the model does not have."""
    blocks = int(loaded.config.num_hidden_layers)
    if not -blocks - 1 <= layer <= blocks:
        raise InputError(
            f"model {loaded.name}: layer is {layer}, but the model has {blocks} blocks. Write -1 for the last, or a"
            f" number from 0 (embeddings) to {blocks} (last)."
        )
    return layer % (blocks + 1)


def hidden_states(loaded: LoadedModel, layer: int, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """States (rows, length, d) after block `layer`, for ids and mask of shape (rows, length).

    The last layer is the model's output, with its final normalization where it has one; an earlier one is what the
    next block reads, and the blocks above it do not run.
    """
    blocks = int(loaded.config.num_hidden_layers)
    if layer == blocks:
        return _tensor(loaded.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)
    stack = _blocks(loaded.encoder, blocks)
    if stack is None:  # blocks that share weights, as in ALBERT: everything runs, and one layer is taken
        output = loaded.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        return _tensor(output.hidden_states[layer])
    hook = stack[layer].register_forward_pre_hook(_leave, with_kwargs=True)
    try:
        loaded.encoder(input_ids=ids, attention_mask=mask)
    except _Reached as reached:
        return reached.states
    finally:
        hook.remove()
    raise RuntimeError(f"model {loaded.name}: the forward pass went past block {layer} without meeting it")


def _leave(_module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    raise _Reached(_tensor(args[0] if args else kwargs["hidden_states"]))


def _blocks(encoder: torch.nn.Module, count: int) -> torch.nn.ModuleList | None:
    """The list of transformer blocks: the outermost list with as many members as the model has blocks."""
    for module in encoder.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == count:
            return module
    return None


def _tensor(value: Any) -> torch.Tensor:
    assert isinstance(value, torch.Tensor)
    return value
