"""Finds out in seconds whether a model can be used, before hours of work depend on it.

Everything that can be told from the configuration, the tokenizer and the heads of the weight files is checked, and no
weight is read into memory. Files of the hub are fetched into the cache on the way, so that later jobs need no network.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prasanga.base.documents import read_document
from prasanga.base.errors import InputError
from prasanga.models.devices import weights_bytes
from prasanga.models.heads import mask_piece, no_mask
from prasanga.models.hub import (
    PACKAGE,
    Source,
    Weights,
    find_weights,
    identity_of,
    model_identity,
    open_source,
    package_of,
    require_as_written,
    stored_shapes,
)
from prasanga.models.loading import open_config, open_tokenizer, require_fitting_tokenizer
from prasanga.models.options import KINDS, NO_OPTIONS, ModelOptions, depth_of
from prasanga.models.pieces import read_pieces, require_language_pieces
from prasanga.models.shape import (
    WITH_HEAD,
    Size,
    max_pieces,
    missing_of_head,
    model_kind,
    no_head,
    require_text_model,
    size_of,
    skeleton,
)

_LOG = logging.getLogger(__name__)
_ANY_TEXT = "1"
_POOLINGS = {
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "last": "pooling_mode_lasttoken",
}
"""The poolings of sentence-transformers that there are here, by what its file calls them."""


def check_model(
    model: str | Path,
    *,
    revision: str | None = None,
    dtype: str = "auto",
    layers: Sequence[int] = (),
    stages: Sequence[str] = ("embeddings",),
    kinds: Sequence[str] = KINDS,
    masked: Sequence[str] = (),
    language_codes: Mapping[str, str] | None = None,
    options: ModelOptions = NO_OPTIONS,
) -> dict[str, Any]:
    """Return what `model` is, as plain values for JSON, if it can be used.

    Args:
        model: a folder, or the id of a model of the hub.
        revision: branch, tag or commit of the hub.
        dtype: precision that `weights_bytes` is for; `auto` counts as float32, the larger of the two it may mean.
        layers: hidden layers that will be asked for.
        stages: what will be asked of it: `embeddings` (vectors), `likelihoods` (probabilities), or both.
        kinds: the kinds of model that can give the probabilities that will be asked for.
        masked: the kinds of model that will be asked to hide words.
        language_codes: by language, the piece by which the tokenizer will be told it.
        options: as it will be loaded with.

    Returns:
        `identity` (see `model_identity`), `pinned` (False for a model of the hub by branch or tag), `kind`,
        `parameters` (of the part that is loaded for vectors), `weights_bytes` (these in memory), the same with the
        vocabulary head as `parameters_with_head`, `weights_bytes_with_head` (None where no probabilities are asked),
        `hidden_size`, `blocks`, `max_pieces` (longest input, special pieces included; None if nothing limits it),
        `vocabulary` (pieces of the tokenizer), `begins_with_special` (whether the tokenizer puts a special piece, such
        as [CLS], before a text), `sentence_vector` (what its files take as the vector of a sentence, as those for
        sentence-transformers do: `cls`, `mean`, `last`; None where they say nothing), `head` (whether the files have
        the vocabulary head; None where no probabilities are asked, and of pickles, which are not opened), `mask` (the
        piece that stands for a hidden word, if it has one);
        `package`, if it comes from one: what `prasanga.models.packaged` says of it.

    Raises:
        InputError: everything that `load_model` refuses except lack of memory and of devices, and weights that are
            missing as single tensors. Where probabilities are asked: the model is of none of `kinds`, its files have no
            vocabulary head, or it is of a kind of `masked` and its tokenizer has no mask. A piece of `language_codes`
            is none of the tokenizer's. The workflow has written the model, and a file of it is not as it was.
    """
    source = open_source(model, revision)
    if source.folder is not None:
        require_as_written(source.folder)
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
    require_language_pieces(source.name, tokenizer, language_codes or {})
    bare = skeleton(source, config, options)
    rows = int(bare.get_input_embeddings().num_embeddings)
    require_fitting_tokenizer(source.name, tokenizer, rows)
    weights = find_weights(source, options)
    require_fitting_tokenizer(source.name, tokenizer, _stored_rows(source, weights, bare) or rows)
    text = config.get_text_config(encoder=True)
    require_text_model(source.name, config, lambda: text.num_hidden_layers, lambda: text.hidden_size)
    blocks = int(text.num_hidden_layers)
    depths = [depth_of(layer, blocks, source.name) for layer in layers]
    if len(set(depths)) < len(depths):
        raise InputError(
            f"model {source.name}: layer is {list(layers)}, and names one twice (of {blocks} blocks, -1 and {blocks}"
            " are the same). Name each layer once."
        )
    kind = model_kind(config)
    mask = mask_piece(tokenizer, kind)
    head: bool | None = None
    whole: Size | None = None
    if "likelihoods" in stages:
        _require_kind(source.name, kind, kinds, options)
        if kind in masked and mask is None:
            raise no_mask(source.name, kind)
        head, whole = _look_at_head(source, config, weights, options)

    def in_memory(size: Size) -> int:
        return weights_bytes(size, "float32" if dtype == "auto" else dtype, options.quantization)

    size = size_of(bare)
    return {
        "identity": identity_of(source, options),
        "pinned": source.pinned,
        "kind": kind,
        "parameters": size.parameters,
        "weights_bytes": in_memory(size),
        "parameters_with_head": None if whole is None else whole.parameters,
        "weights_bytes_with_head": None if whole is None else in_memory(whole),
        "hidden_size": int(text.hidden_size),
        "blocks": blocks,
        "max_pieces": max_pieces(tokenizer, text, bare),
        "vocabulary": len(tokenizer),
        "begins_with_special": _begins_with_special(tokenizer),
        "sentence_vector": _sentence_vector(source),
        "head": head,
        "mask": None if mask is None else str(tokenizer.convert_ids_to_tokens(mask)),
        **({"package": package} if (package := package_of(source.folder)) else {}),
    }


def _sentence_vector(source: Source) -> str | None:
    """Return the pooling that a model was trained with, if its files name one of those that there are."""
    if source.folder is not None and (source.folder / PACKAGE).is_file():
        found: str | None = read_document(source.folder / PACKAGE).get("sentence_vector")
        return found
    path = source.find("1_Pooling/config.json")
    try:
        settings = json.loads(path.read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError, RecursionError):
        settings = {}
    modes = [key for key, on in settings.items() if on is True] if isinstance(settings, Mapping) else []
    asked = [name for name, mode in _POOLINGS.items() if [mode] == [m for m in modes if m.startswith("pooling_mode")]]
    if modes and not asked:
        _LOG.warning(
            "model %s: %s asks for a pooling that is not there. Name the vector of a sentence: sentence_vector.",
            source.name,
            path,
        )
    return asked[0] if asked else None


def _require_kind(name: str, kind: str, kinds: Sequence[str], options: ModelOptions) -> None:
    if kind in kinds:
        return
    said = options.kind == kind
    ask_less = "" if said else f"kind: {kind} under it, so that only what such a model can give is asked; or write "
    raise InputError(
        f"model {name} is of the kind {kind}, and the probabilities that are asked of it can be had from the kind"
        f" {' or '.join(kinds)}. Write {ask_less}stages: [embeddings] under it, or leave it out."
    )


def _look_at_head(source: Source, config: Any, weights: Weights, options: ModelOptions) -> tuple[bool | None, Size]:
    """Return whether the files have the vocabulary head, None if that cannot be seen; the size of the model with it.

    Raises:
        InputError: they do not have it, or transformers has no such head for the model.
    """
    whole = skeleton(source, config, options, part=WITH_HEAD)
    stored = stored_shapes(source, weights)
    if stored and (missing := missing_of_head(whole, stored)):
        raise no_head(source.name, whole, missing)
    # An 8-bit model keeps the last layer of its head as it is.
    quantized = size_of(whole, apart=whole.get_output_embeddings())
    return (True if stored else None), quantized


def _begins_with_special(tokenizer: Any) -> bool:
    special = read_pieces(tokenizer, [_ANY_TEXT])[_ANY_TEXT].special
    return len(special) > 0 and special[0] == 1


def _stored_rows(source: Source, weights: Weights, bare: Any) -> int | None:
    """Return how many rows the table of embeddings has in the file; None if the file's head does not tell."""
    table = bare.get_input_embeddings().weight
    names = [name for name, parameter in bare.named_parameters(remove_duplicate=False) if parameter is table]
    for name, shape in stored_shapes(source, weights).items():
        if len(shape) == 2 and any(name == own or name.endswith(f".{own}") for own in names):
            return shape[0]
    return None


_MADE = Path("results/models")  # where the workflow makes models, below the study's folder; reports on all lie there


def require_unchanged(model: str | Path, identity: Mapping[str, str], options: ModelOptions) -> None:
    """Refuse a folder whose files are not those that `identity` tells of; all of them are read once a process.

    A byte of the weights that has flipped on the disk changes every vector a little and is seen nowhere else.

    Args:
        model: a folder; of a model of the hub nothing is asked here, its cache has checksums of its own.
        identity: from `prasanga.models.check_model`.
        options: as it is loaded with.

    Raises:
        InputError: they are others.
    """
    expected, folder = identity.get("sha256"), Path(model)
    is_made = folder.parent == _MADE
    if expected is None or not (is_made or folder.is_dir()):
        return
    is_gone = is_made and not (folder / "config.json").is_file()
    found = "" if is_gone else model_identity(model, options=options)["sha256"]
    if found != expected and is_made:
        raise InputError(
            f"model {model}: files are missing, or are not those that were looked at. Delete {folder} and"
            f" {folder}.json, and run again: the workflow makes the model again."
        )
    if found != expected:
        raise InputError(
            f"model {model}: its files are not those that were looked at (sha256 {found[:12]}..., not"
            f" {expected[:12]}...): replaced since, or damaged. Put them back if they are damaged; if you meant to"
            " replace them, delete the report on the model under results/models. Then run again."
        )
