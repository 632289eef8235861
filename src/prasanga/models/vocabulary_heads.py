"""Whether the files of a model hold the vocabulary head that probabilities come from.

Many do not: those of ELECTRA's discriminators, of sentence encoders, and of an encoder that was saved without its
decoder. transformers would draw what is missing at random.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import WeightRenaming

from prasanga.errors import InputError


def missing_of_head(model: Any, stored: Iterable[str]) -> list[str]:
    """The parameters that only probabilities need and that no file holds.

    Args:
        model: with its head, of any device (`skeleton` with `WITH_HEAD`).
        stored: names of all tensors in the files, as the files have them: older names are known.

    Returns:
        Their names. A parameter with several names, such as a head that is the table of embeddings, is missing if none
        of them is stored.
    """
    renamings = [one for one in get_model_conversion_mapping(model) if isinstance(one, WeightRenaming)]
    # A file of the base model alone has names without the model's prefix, that of a larger model others before it.
    endings = {
        ending
        for name in stored
        for ending in itertools.accumulate(
            reversed(_as_read(renamings, name).split(".")), lambda end, part: f"{part}.{end}"
        )
    }
    prefix = f"{model.base_model_prefix}."
    names_of: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names_of.setdefault(id(parameter), []).append(name)
    return [
        names[0]
        for names in names_of.values()
        if any(for_probabilities(model, name) for name in names)
        and not any(name in endings or name.removeprefix(prefix) in endings for name in names)
    ]


def for_probabilities(model: Any, name: str) -> bool:
    """Whether a parameter of this name serves probabilities alone: the head, and an encoder-decoder's decoder."""
    prefix = model.base_model_prefix
    below = (prefix,) if hasattr(model, prefix) else ("encoder", "decoder", "shared")  # T5 has nothing around them
    return name.partition(".")[0] not in below or _in_decoder(model, name)


def no_head(name: str, model: Any, missing: list[str]) -> InputError:
    """What to raise for a model, `name`, that lacks these parameters, which serve probabilities alone."""
    what = "decoder" if any(_in_decoder(model, one) for one in missing) else "vocabulary head"
    count = f"{len(missing)} weights of it are" if len(missing) > 1 else "one weight of it is"
    remedy = "Use files that were saved with it"
    if "Electra" in type(model).__name__:
        remedy = "They are those of an ELECTRA's discriminator: use its generator"
    return InputError(
        f"model {name}: its files have no {what} ({count} missing, for example {missing[0]!r}), so it gives vectors and"
        f" no probabilities. {remedy}, or write stages: [embeddings] under the model."
    )


def _in_decoder(model: Any, name: str) -> bool:
    own = name.removeprefix(f"{model.base_model_prefix}.")
    return bool(model.config.is_encoder_decoder) and own.startswith("decoder.")


def _as_read(renamings: Iterable[WeightRenaming], name: str) -> str:
    """The name under which transformers reads a tensor: older files have gamma and beta, for example."""
    for renaming in renamings:
        name, _ = renaming.rename_source_key(name)
    return name
