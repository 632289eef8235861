"""Hidden states at some layers, without computing or keeping more than these need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from prasanga.models.loading import LoadedModel


class _Reached(Exception):  # noqa: N818
    """Leaves the forward pass when the highest layer asked for is known."""


def hidden_states(
    loaded: LoadedModel, layers: Sequence[int], ids: torch.Tensor, mask: torch.Tensor | None
) -> list[torch.Tensor]:
    """States (rows, length, d) after each of `layers`, from one pass over ids and mask of shape (rows, length).

    The last layer is the model's output, with its final normalization where it has one; an earlier one is what the
    next block reads. Blocks above the highest layer asked for do not run.
    """
    blocks = int(loaded.config.num_hidden_layers)
    inner = {layer for layer in layers if layer < blocks}
    if not inner:
        return [_tensor(loaded.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)] * len(layers)
    stack = None if loaded.config.model_type == "albert" else _blocks(loaded.encoder, blocks)
    if stack is None:  # blocks that share weights, as in ALBERT: everything runs, and some layers are taken
        output = loaded.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        return [
            _tensor(output.last_hidden_state if layer == blocks else output.hidden_states[layer]) for layer in layers
        ]
    states: dict[int, torch.Tensor] = {}
    highest = max(layers)

    def keep(layer: int) -> Any:
        def hook(_module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            states[layer] = _tensor(args[0] if args else kwargs["hidden_states"])
            if layer == highest:
                raise _Reached

        return hook

    hooks = [stack[layer].register_forward_pre_hook(keep(layer), with_kwargs=True) for layer in inner]
    try:
        states[blocks] = _tensor(loaded.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)
    except _Reached:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    if not states.keys() >= set(layers):
        raise RuntimeError(
            f"model {loaded.name}: the forward pass did not meet blocks {sorted(set(layers) - set(states))}"
        )
    return [states[layer] for layer in layers]


def _blocks(encoder: torch.nn.Module, count: int) -> torch.nn.ModuleList | None:
    """The list of transformer blocks: the outermost list with as many members as the model has blocks."""
    for module in encoder.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == count:
            return module
    return None


def _tensor(value: Any) -> torch.Tensor:
    assert isinstance(value, torch.Tensor)
    return value
