"""How a model is to be loaded: what a user may write about it besides where it is and its precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prasanga.base.errors import InputError

# --------------------
# Numbers of hidden layers: 0 the embeddings, k the output of block k, -1 the last.


def depth_of(layer: int, blocks: int, model: str) -> int:
    """Return `layer` counted from the embeddings (0 to `blocks`).

    Raises:
        InputError: the model, of that name, has no such layer.
    """
    if not -blocks - 1 <= layer <= blocks:
        raise InputError(
            f"model {model}: layer is {layer}, but the model has {blocks} blocks. Write -1 for the last, or a number"
            f" from 0 (embeddings) to {blocks} (last)."
        )
    return layer % (blocks + 1)


# --------------------
# How a model is to be loaded: what a user may write about it in the config, apart from where it is and its
# precision.
#
# Plain values without torch, so that planning a study imports nothing heavy.


CHECKS_VERSION = 1
"""Raise this number when the code reports something else of a model or its tokenizer: all are then checked again."""

KINDS = ("encoder", "decoder", "encoder-decoder")
QUANTIZATIONS = ("none", "int8")


@dataclass(frozen=True)
class ModelOptions:
    """The keys of `models.<name>` in the config that decide how a model is loaded.

    Attributes:
        tokenizer: options given to the tokenizer, such as `{"keep_accents": True}`.
        weights_sha256: sha256 by file name; a pickle is read only if it is named here and its content fits.
        remote_code: run Python code that comes with the model.
        quantization: `none`, or `int8` for linear layers in 8 bits.
        cards: spread the model over so many CUDA cards; 0 for the processor.
        kind: `auto`, or the kind that the model must be of: `encoder`, `decoder`, `encoder-decoder`.
        random_weights: None, or the seed of random weights in place of the model's own, which are then not read.

    Raises:
        InputError: a value that is none of these.
    """

    tokenizer: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    weights_sha256: Mapping[str, str] = field(default_factory=dict)
    remote_code: bool = False
    quantization: str = "none"
    cards: int = 1
    kind: str = "auto"
    random_weights: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that mean nothing here, whoever made the options."""
        if self.quantization not in QUANTIZATIONS or self.kind not in ("auto", *KINDS) or self.cards < 0:
            raise InputError(
                f"quantization is {self.quantization!r}, kind {self.kind!r} and cards {self.cards}. Write"
                f" quantization: {' or '.join(QUANTIZATIONS)}; kind: auto, {', '.join(KINDS)}; and cards: 1 or more,"
                " or 0 for the CPU."
            )
        if self.cards > 1 and self.quantization != "none":
            raise InputError(
                f"cards is {self.cards} and quantization is {self.quantization!r}, which do not go together. Write"
                " quantization: none for a model spread over cards, or cards: 1 for one in 8 bits."
            )

    @property
    def device(self) -> str:
        """Where a model runs if nobody names a device: on the processor without cards, else where there is room."""
        return "auto" if self.cards else "cpu"


NO_OPTIONS = ModelOptions()
"""A model as it comes."""
