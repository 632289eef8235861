"""Finds out in seconds whether a model can be used, before hours of work depend on it.

Everything that can be told from the configuration, the tokenizer and the heads of the weight files is checked, and no
weight is read into memory. Files of the hub are fetched into the cache on the way, so that later jobs need no network.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prasanga.errors import InputError
from prasanga.models.hub import Source, open_source
from prasanga.models.identity import identity_of
from prasanga.models.layers import depth_of
from prasanga.models.loading import open_config, open_tokenizer, require_fitting_tokenizer
from prasanga.models.memory import weights_bytes
from prasanga.models.options import NO_OPTIONS, ModelOptions
from prasanga.models.pieces import read_pieces
from prasanga.models.shape import max_pieces, model_kind, size_of, skeleton
from prasanga.models.weights import Weights, find_weights, stored_shapes

_LOG = logging.getLogger(__name__)
_ANY_TEXT = "1"


def check_model(
    model: str | Path,
    *,
    revision: str | None = None,
    dtype: str = "auto",
    layers: Sequence[int] = (),
    options: ModelOptions = NO_OPTIONS,
) -> dict[str, Any]:
    """What `model` is, as plain values for JSON, if it can be used.

    Args:
        model: a folder, or the id of a model of the hub.
        revision: branch, tag or commit of the hub.
        dtype: precision that `weights_bytes` is for; `auto` counts as float32, the larger of the two it may mean.
        layers: hidden layers that will be asked for.
        options: as it will be loaded with.

    Returns:
        `identity` (see `model_identity`), `pinned` (False for a model of the hub by branch or tag), `kind`,
        `parameters` (of the part that is loaded), `weights_bytes` (these in memory), `hidden_size`, `blocks`,
        `max_pieces` (longest input, special pieces included; None if nothing limits it), `vocabulary` (pieces of the
        tokenizer), `begins_with_special` (whether the tokenizer puts a special piece, such as [CLS], before a text).

    Raises:
        InputError: everything that `load_model` refuses except lack of memory and of devices, and weights that are
            missing as single tensors.
    """
    source = open_source(model, revision)
    if not source.pinned:
        _LOG.warning(
            "model %s: revision is %s, which may stand for other weights tomorrow. To be able to repeat the study,"
            " write revision: %s",
            source.name,
            revision or "not given",
            source.commit,
        )
    config = open_config(source, options)
    tokenizer = open_tokenizer(source, options)
    bare = skeleton(source, config, options)
    rows = int(bare.get_input_embeddings().num_embeddings)
    require_fitting_tokenizer(source.name, tokenizer, rows)
    weights = find_weights(source, options)
    require_fitting_tokenizer(source.name, tokenizer, _stored_rows(source, weights, bare) or rows)
    text = config.get_text_config(encoder=True)
    blocks = int(text.num_hidden_layers)
    depths = [depth_of(layer, blocks, source.name) for layer in layers]
    if len(set(depths)) < len(depths):
        raise InputError(
            f"model {source.name}: layer is {list(layers)}, and names one twice (of {blocks} blocks, -1 and {blocks}"
            " are the same). Name each layer once."
        )
    size = size_of(bare)
    return {
        "identity": identity_of(source, options),
        "pinned": source.pinned,
        "kind": model_kind(config),
        "parameters": size.parameters,
        "weights_bytes": weights_bytes(size, "float32" if dtype == "auto" else dtype, options.quantization),
        "hidden_size": int(text.hidden_size),
        "blocks": blocks,
        "max_pieces": max_pieces(tokenizer, text, bare),
        "vocabulary": len(tokenizer),
        "begins_with_special": _begins_with_special(tokenizer),
    }


def _begins_with_special(tokenizer: Any) -> bool:
    special = read_pieces(tokenizer, [_ANY_TEXT])[_ANY_TEXT].special
    return len(special) > 0 and special[0] == 1


def _stored_rows(source: Source, weights: Weights, bare: Any) -> int | None:
    """Rows of the table of embeddings as the file has it; None if its head does not tell."""
    table = bare.get_input_embeddings().weight
    names = [name for name, parameter in bare.named_parameters(remove_duplicate=False) if parameter is table]
    for name, shape in stored_shapes(source, weights).items():
        if len(shape) == 2 and any(name == own or name.endswith(f".{own}") for own in names):
            return shape[0]
    return None
