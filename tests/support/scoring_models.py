"""Tiny models of every family as they are asked for probabilities: with masks or sentinels, and language pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tiny_models

CODES = ("bn_IN", "hi_IN", "en_XX")


@dataclass(frozen=True)
class _More:
    """What a family of `tiny_models` lacks for probabilities.

    Attributes:
        pieces: special pieces put at the end of the vocabulary.
        names: special pieces by their role, and options of the tokenizer's class.
        tokenizer_class: the class that published models name; that of the family if None.
        config: settings of the model.
    """

    pieces: tuple[str, ...] = ()
    names: Mapping[str, Any] = field(default_factory=dict)
    tokenizer_class: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


_MASK = _More(("<mask>",), {"mask_token": "<mask>"})
FAMILIES: dict[str, _More] = {
    "bert": _More(),
    "xlm-roberta": _MASK,
    "albert": _MASK,
    "electra-generator": _More(),
    "mbart": _More(
        ("<mask>", "hi_IN", "en_XX"),
        {"mask_token": "<mask>", "src_lang": "en_XX", "extra_special_tokens": list(CODES)},
        "MBart50Tokenizer",
        {"decoder_start_token_id": 2},
    ),
    "mt5": _More(("<extra_id_0>", "<extra_id_1>"), {}, None, {"decoder_start_token_id": 1}),
    "gpt2": _More(),
    "bloom": _More(),
    "llama": _More(),
    "mistral": _More(),
}
KINDS = {
    **dict.fromkeys(("bert", "xlm-roberta", "albert", "electra-generator"), "encoder"),
    **dict.fromkeys(("mbart", "mt5"), "encoder-decoder"),
    **dict.fromkeys(("gpt2", "bloom", "llama", "mistral"), "decoder"),
}


def build(family: str, folder: Path, *, positions: int = 128) -> Path:
    """Write a tiny model of `family`, one of `FAMILIES`, and its tokenizer to `folder`."""
    more, base = FAMILIES[family], tiny_models.FAMILIES[family]

    def tokenizer() -> Any:
        made = base.tokenizer()
        made.add_special_tokens(list(more.pieces))
        return made

    def model(vocabulary: int, limit: int) -> Any:
        made = base.model(vocabulary, limit)
        for key, value in more.config.items():
            setattr(made.config, key, value)
            if hasattr(made.generation_config, key):
                setattr(made.generation_config, key, value)
        return made

    names = {**base.names, **more.names}
    whole = replace(
        base,
        tokenizer=tokenizer,
        model=model,
        names=names,
        tokenizer_class=more.tokenizer_class or base.tokenizer_class,
    )
    return tiny_models.build_family(whole, folder, positions=positions)
