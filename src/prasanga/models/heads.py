"""Run models with their vocabulary head, for probabilities: hidden states first, then the head only where needed.

A head is as wide as the vocabulary, often a quarter of a million pieces, and most positions of a text are never read.
So the forward pass has two halves: the body gives hidden states, and the head gets only the rows that matter. The
second half is the model's own `forward` with a stand-in for the body, so this module knows nothing about any family's
head. A family whose `forward` bypasses the stand-in (OPT, encoder-decoders joined from two models) is detected on
loading and runs whole: its `states` are then the logits themselves (`ModelWithHead.whole`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from prasanga.base.errors import InputError
from prasanga.models.devices import pad, padding_of, send
from prasanga.models.loading import LoadedModel, load_part, max_pieces, model_kind

SENTINEL = "<extra_id_0>"
"""The piece for the first hidden words in T5's input (Raffel et al. 2020, section 3.1.4)."""


def load_with_head(model: str | Path, **how: Any) -> ModelWithHead:
    """Load `model`, a folder or a hub id, with its vocabulary head.

    Args:
        model: see `prasanga.models.load_model`.
        how: `revision`, `device`, `dtype` and `options`, as in `load_model`.

    Raises:
        InputError: as `load_model`; the files lack a vocabulary head (as for ELECTRA's discriminators); a decoder in
            which a piece sees later ones (as XLNet).
    """
    loaded = load_part(model, head=True, **how)
    longest = max_pieces(loaded.tokenizer, loaded.config.get_text_config(), loaded.encoder)
    kind, halves = model_kind(loaded.config), Halves(loaded.encoder)
    found = ModelWithHead(**vars(loaded), kind=kind, max_pieces=longest, _halves=halves)
    with torch.inference_mode():
        if not _runs_in_halves(found):
            halves.join()
        if kind == "decoder" and not _alike(found, *found.states([(0, 1), (0, 0)])[:, :1]):
            raise InputError(
                f"model {found.name}: its family ({found.config.model_type}) is loaded as a decoder, but its pieces see"
                " later ones, so a text does not have a probability piece by piece. Use another model."
            )
        return replace(found, alone=not _leaves_padding_out(found))


@dataclass(frozen=True, kw_only=True)
class ModelWithHead(LoadedModel):
    """A tokenizer and a language model, ready to run in two halves.

    Attributes:
        kind: `encoder`, `decoder` or `encoder-decoder`.
        max_pieces: the longest input, special pieces included; None for no limit.
        alone: whether each row must run by itself, because padding changes the family's states (FNet, ConvBERT).
    """

    kind: str
    max_pieces: int | None
    _halves: Halves
    alone: bool = False

    @property
    def whole(self) -> bool:
        """Whether the model runs whole, so that `states` are logits, each as wide as the vocabulary."""
        return self._halves.is_whole

    @property
    def weights_kept(self) -> int:
        """The number of attention weights that `attention` keeps per pair of pieces of a row."""
        text = self.config.get_text_config()
        return int(text.num_hidden_layers * text.num_attention_heads)

    @property
    def vocabulary(self) -> int:
        """The number of pieces in the head's vocabulary."""
        return int(self._halves.model.get_output_embeddings().weight.shape[0])

    def states(self, ids: Sequence[Sequence[int]], decoder_ids: Sequence[Sequence[int]] | None = None) -> torch.Tensor:
        """Return the hidden states that the head reads, (rows, length, d): for an encoder-decoder, the decoder's.

        Args:
            ids: the pieces of each row.
            decoder_ids: for an encoder-decoder, the decoder's input in each row.
        """
        inputs = self._table(ids, "input_ids", "attention_mask")
        if decoder_ids is not None:
            inputs |= self._table(decoder_ids, "decoder_input_ids", "decoder_attention_mask")
        output = self._halves.run_body(**inputs)
        return output.logits if self.whole else output.last_hidden_state  # type: ignore[no-any-return]

    def attention(self, ids: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return the attention that each piece of each row receives, (rows, length): mean over layers, heads, readers.

        Readers are the pieces of the row, special ones included, padding excluded. A row sums to 1.

        Raises:
            InputError: the family does not return attention.
        """
        before = self._halves.model.config._attn_implementation
        self._halves.attend_by("eager")  # other implementations do not keep the weights
        output = self._halves.run_body(**self._table(ids, "input_ids", "attention_mask"), output_attentions=True)
        self._halves.attend_by(before)
        if not output.attentions:
            raise InputError(
                f"model {self.name}: its family ({self.config.model_type}) does not return attention, which aula needs."
                " Write encoder: aul, or use another model."
            )
        lengths = torch.tensor([len(row) for row in ids], device=self.device)
        reading = torch.arange(int(lengths.max()), device=self.device) < lengths[:, None]
        received = torch.zeros(reading.shape, device=self.device)
        for layer in output.attentions:  # (rows, heads, readers, read)
            shares = layer.float().mean(dim=1) * reading[:, :, None]
            received += shares.sum(dim=1) / lengths[:, None]
        return received / len(output.attentions)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """Apply the head to rows of states, (n, d) to (n, vocabulary), in float32."""
        return self._halves.run_head(states[None])[0].float()

    def _table(self, ids: Sequence[Sequence[int]], name: str, name_of_mask: str) -> dict[str, torch.Tensor]:
        table, mask = pad(ids, padding_of(self.tokenizer, self.config))
        # Without padding no mask is needed, and attention without a mask is faster.
        masked = {} if mask.all() else {name_of_mask: send(mask.astype("int64"), self.device)}
        return {name: send(table, self.device), **masked}


# --------------------
# A model's forward pass in two halves, body and head, whatever its family; or whole, where that is impossible.


class Halves:
    """A model's forward pass in two halves.

    Attributes:
        model: the model, with a stand-in for its body.
        is_whole: whether the model runs whole: the body gives logits instead of states, and the head does nothing.
    """

    def __init__(self, model: Any) -> None:
        self.model, self.is_whole = model, False
        # T5 has only encoder and decoder; Llama 4's prefix differs from its body's
        self._name = next(name for name in (model.base_model_prefix, "model", "decoder") if hasattr(model, name))
        self._encoder = model.encoder if self._name == "decoder" else None
        self._body = getattr(model, self._name)
        self.stand_in = _StandIn(self._body)
        setattr(model, self._name, self.stand_in)

    def join(self) -> None:
        """Run the model whole from now on."""
        setattr(self.model, self._name, self._body)
        self.is_whole = True

    def attend_by(self, name: str) -> None:
        """Switch to another of transformers' attention functions."""
        for part in (self.model, self._body):
            part.set_attn_implementation(name)

    def run_body(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        decoder_input_ids: torch.Tensor | None = None,
        decoder_attention_mask: torch.Tensor | None = None,
        **asked: Any,
    ) -> Any:
        """Return the output of everything below the head."""
        body = self.model if self.is_whole else self._body
        read = {"input_ids": input_ids, "attention_mask": attention_mask}
        if decoder_input_ids is None and self.model.config.get_text_config().to_dict().get("use_cache"):
            asked["use_cache"] = False
        if decoder_input_ids is not None and (self.is_whole or self._encoder is None):
            asked |= {"decoder_input_ids": decoder_input_ids, "decoder_attention_mask": decoder_attention_mask}
            asked["use_cache"] = False
        if decoder_input_ids is None or self.is_whole or self._encoder is None:
            return body(**read, **asked)
        return body(
            input_ids=decoder_input_ids,
            attention_mask=decoder_attention_mask,
            encoder_hidden_states=self._encoder(**read).last_hidden_state,
            encoder_attention_mask=attention_mask,
            use_cache=False,
        )

    def run_head(self, states: torch.Tensor) -> torch.Tensor:
        """Return the model's own forward pass on (1, n, d) states that replace its body's."""
        if self.is_whole:
            return states
        self.stand_in.states = states
        given = {} if self._encoder is None else {"encoder_outputs": (states,)}
        logits: torch.Tensor = self.model(**given).logits
        self.stand_in.states = None
        return logits


class _StandIn(torch.nn.Module):
    """Returns the states it was given, whatever the input; everything else is the body's."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.states: torch.Tensor | None = None
        self.asked = False
        self._of = (body,)  # not a module of this one: its weights are counted and moved once

    def forward(self, *_: Any, **__: Any) -> Any:
        self.asked = self.states is not None
        return _Output((self.states,))

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_of":
                raise
            return getattr(self._of[0], name)


class _Output(tuple[Any, ...]):
    """The output of a base model, with only its states."""

    def __getattr__(self, name: str) -> Any:
        return self[0] if name == "last_hidden_state" else None


# --------------------
# Families that differ from others of their kind; they are tried out on loading.


def _runs_in_halves(model: ModelWithHead) -> bool:
    """Return whether the model's own forward pass takes its states from the stand-in."""
    try:
        states = model.states([(0, 1)], [(0, 1)] if model.kind == "encoder-decoder" else None)
        logits = model.logits(states[0])
    except torch.OutOfMemoryError:
        raise
    except Exception:  # a family's code may raise anything on the stand-in
        return False
    return model._halves.stand_in.asked and tuple(logits.shape) == (2, model.vocabulary)


def _leaves_padding_out(model: ModelWithHead) -> bool:
    """Return whether padding leaves a short row unchanged."""
    rows = [(0, 1), ((1, 0) * 6)[: model.max_pieces]]
    written = rows if model.kind == "encoder-decoder" else None
    alone = model.states(rows[:1], written and written[:1])[0]
    return _alike(model, alone, model.states(rows, written)[0, :2])


def _alike(model: ModelWithHead, one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether states differ at most by rounding."""
    rounding = 1e-3 if model.dtype == "float32" else 0.1
    scale = float(one.float().abs().max()) or 1.0
    return float((one.float() - other.float()).abs().max()) <= rounding * scale


# --------------------
# The piece that represents a hidden word: the mask or, for an encoder-decoder without one, T5's first sentinel.


def mask_piece(tokenizer: Any, kind: str) -> int | None:
    """Return the piece of `tokenizer` for a hidden word; None if a model of this kind lacks one."""
    if kind != "decoder" and tokenizer.mask_token_id is not None:
        return int(tokenizer.mask_token_id)
    found = tokenizer.get_vocab().get(SENTINEL) if kind == "encoder-decoder" else None
    return None if found is None else int(found)


def require_mask(name: str, tokenizer: Any, kind: str) -> int:
    """Return `mask_piece`.

    Raises:
        InputError: the model `name` lacks one.
    """
    piece = mask_piece(tokenizer, kind)
    if piece is None:
        raise InputError(
            f"model {name}: its tokenizer lacks a mask piece, so no word can be masked."
            f" {'Ask for encoder_decoder: causal, or u' if kind == 'encoder-decoder' else 'U'}se a model that was"
            " trained with one; if it was, write its name under `tokenizer`, such as {mask_token: '[MASK]'}."
        )
    return piece
