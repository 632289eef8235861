"""Models with their vocabulary head, for probabilities: hidden states first, and the head where it is asked for alone.

A head is as wide as the vocabulary, often a quarter of a million pieces, and most positions of a text are never read.
So the forward pass is run in two halves: the body gives hidden states, and the head is given the rows that matter. The
second half is the model's own `forward`, with a stand-in for the body, so that nothing about any family's head is known
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from prasanga.errors import InputError
from prasanga.models.loading import load_part
from prasanga.models.options import NO_OPTIONS, ModelOptions
from prasanga.models.padding import pad, padding_of, send
from prasanga.models.shape import WITH_HEAD, max_pieces, model_kind


def load_with_head(
    model: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "auto",
    attentions: bool = False,
    options: ModelOptions = NO_OPTIONS,
) -> ModelWithHead:
    """Load `model`, a folder or the id of a model of the hub, with its vocabulary head.

    Args:
        model: see `prasanga.models.load_model`, as for `revision`, `device`, `dtype` and `options`.
        revision: branch, tag or commit of the hub.
        device: `auto`, `cpu`, `cuda`, `cuda:<number>`.
        dtype: `auto`, `float32`, `bfloat16`, `float16`.
        attentions: whether attention weights will be asked for, which the fast kernels do not keep.
        options: of the tokenizer, the weights and the cards.

    Raises:
        InputError: as `load_model`; and the files have no vocabulary head, as those of ELECTRA's discriminators.
    """
    loaded = load_part(model, revision, device, dtype, options, WITH_HEAD)
    if attentions:
        loaded.encoder.set_attn_implementation("eager")
    return ModelWithHead(
        name=loaded.name,
        kind=model_kind(loaded.config),
        tokenizer=loaded.tokenizer,
        config=loaded.config,
        device=loaded.device,
        dtype=loaded.dtype,
        max_pieces=max_pieces(loaded.tokenizer, loaded.config.get_text_config(), loaded.encoder),
        _halves=_Halves(loaded.encoder),
    )


@dataclass(frozen=True)
class ModelWithHead:
    """A tokenizer and a language model, ready to run in two halves.

    Attributes:
        name: what the user wrote, for messages and records; with a remark if its weights are random.
        kind: `encoder`, `decoder` or `encoder-decoder`.
        tokenizer: a fast tokenizer.
        config: configuration of the model.
        device: where it reads its input; of several cards, the first.
        dtype: float32, bfloat16 or float16.
        max_pieces: the longest input, special pieces included; None if nothing limits it.
    """

    name: str
    kind: str
    tokenizer: Any
    config: Any
    device: torch.device
    dtype: str
    max_pieces: int | None
    _halves: _Halves

    @property
    def vocabulary(self) -> int:
        """How many pieces the head tells apart."""
        return int(self._halves.model.get_output_embeddings().weight.shape[0])

    def states(self, ids: Sequence[Sequence[int]], decoder_ids: Sequence[Sequence[int]] | None = None) -> torch.Tensor:
        """Hidden states that the head reads, (rows, length, d): of an encoder-decoder those of the decoder.

        Args:
            ids: the pieces of each row.
            decoder_ids: of an encoder-decoder, what the decoder reads in each row.
        """
        return self._run(ids, decoder_ids).last_hidden_state  # type: ignore[no-any-return]

    def states_and_attention(self, ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Hidden states, and how much attention each piece gets, (rows, length): the mean over layers, heads, readers.

        For a model loaded with `attentions`. Readers are the pieces of the row, its special ones included, and not its
        padding.
        """
        output = self._run(ids, None, output_attentions=True)
        lengths = torch.tensor([len(row) for row in ids], device=self.device)
        reading = torch.arange(int(lengths.max()), device=self.device) < lengths[:, None]
        received = torch.zeros(reading.shape, dtype=torch.float32, device=self.device)
        for layer in output.attentions:  # (rows, heads, readers, read)
            shares = layer.float().mean(dim=1) * reading[:, :, None]
            received += shares.sum(dim=1) / lengths[:, None]
        return output.last_hidden_state, received / len(output.attentions)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """The head on rows of states, (n, d) to (n, vocabulary), in float32."""
        return self._halves.head(states[None])[0].float()

    def _run(self, ids: Sequence[Sequence[int]], decoder_ids: Sequence[Sequence[int]] | None, **asked: Any) -> Any:
        inputs = self._table(ids, "input_ids", "attention_mask")
        if decoder_ids is not None:
            inputs |= self._table(decoder_ids, "decoder_input_ids", "decoder_attention_mask")
        return self._halves.body(**inputs, **asked)

    def _table(self, ids: Sequence[Sequence[int]], name: str, name_of_mask: str) -> dict[str, torch.Tensor]:
        table, mask = pad(ids, padding_of(self.tokenizer, self.config))
        # Without padding no mask is needed, and attention without a mask is faster.
        masked = {} if mask.all() else {name_of_mask: send(mask.astype("int64"), self.device)}
        return {name: send(table, self.device), **masked}


class _Halves:
    """A model's forward pass in two halves."""

    def __init__(self, model: Any) -> None:
        self.model = model
        prefix = model.base_model_prefix
        self._name = prefix if hasattr(model, prefix) else "decoder"  # T5 has encoder and decoder and nothing around
        self._encoder = None if hasattr(model, prefix) else model.encoder
        self._body = getattr(model, self._name)
        self._stand_in = _StandIn(self._body)
        setattr(model, self._name, self._stand_in)

    def body(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        decoder_input_ids: torch.Tensor | None = None,
        decoder_attention_mask: torch.Tensor | None = None,
        **asked: Any,
    ) -> Any:
        """The output of everything below the head."""
        if decoder_input_ids is None:
            caching = {"use_cache": False} if self.model.config.get_text_config().to_dict().get("use_cache") else {}
            return self._body(input_ids=input_ids, attention_mask=attention_mask, **caching, **asked)
        if self._encoder is None:
            return self._body(
                input_ids=input_ids,
                attention_mask=attention_mask,
                decoder_input_ids=decoder_input_ids,
                decoder_attention_mask=decoder_attention_mask,
                use_cache=False,
            )
        read = self._encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return self._body(
            input_ids=decoder_input_ids,
            attention_mask=decoder_attention_mask,
            encoder_hidden_states=read,
            encoder_attention_mask=attention_mask,
            use_cache=False,
        )

    def head(self, states: torch.Tensor) -> torch.Tensor:
        """The model's own forward pass on (1, n, d) states instead of those of its body."""
        self._stand_in.states = states
        given = {} if self._encoder is None else {"encoder_outputs": (states,)}
        logits: torch.Tensor = self.model(**given).logits
        self._stand_in.states = None
        return logits


class _StandIn(torch.nn.Module):
    """Gives the states it was handed, whatever it is asked; everything else about it is the body's."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.states: torch.Tensor | None = None
        self._of = (body,)  # not a module of this one: its weights are counted and moved once

    def forward(self, *_: Any, **__: Any) -> Any:
        return _Output((self.states,))

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_of":
                raise
            return getattr(self._of[0], name)


class _Output(tuple[Any, ...]):
    """The output of a base model of which the states are all that is known."""

    def __getattr__(self, name: str) -> Any:
        return self[0] if name == "last_hidden_state" else None


def require_mask(model: ModelWithHead) -> int:
    """The piece that stands for a hidden word: the mask; of an encoder-decoder without one, the first sentinel of T5.

    Raises:
        InputError: the tokenizer has neither.
    """
    piece = mask_of(model)
    if piece is None:
        raise no_mask(model.name, model.kind)
    return piece


def no_mask(name: str, kind: str) -> InputError:
    """What to raise for a model of this kind whose tokenizer has nothing that stands for a hidden word."""
    return InputError(
        f"model {name}: its tokenizer has no mask piece, so no word can be masked."
        f" {'Ask for encoder_decoder: causal, or u' if kind == 'encoder-decoder' else 'U'}se a model that was"
        " trained with one; if it was, write its name under `tokenizer`, such as {mask_token: '[MASK]'}."
    )


def mask_of(model: ModelWithHead) -> int | None:
    """As `require_mask`, None where there is none."""
    return mask_piece(model.tokenizer, model.kind)


def mask_piece(tokenizer: Any, kind: str) -> int | None:
    """The piece of `tokenizer` that stands for a hidden word, if a model of this kind has one."""
    if kind != "decoder" and tokenizer.mask_token_id is not None:
        return int(tokenizer.mask_token_id)
    found = tokenizer.get_vocab().get(SENTINEL) if kind == "encoder-decoder" else None
    return None if found is None else int(found)


SENTINEL = "<extra_id_0>"
"""What stands for the first hidden words in the text that T5 reads (Raffel et al. 2020, section 3.1.4)."""
