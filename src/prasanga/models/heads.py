"""Models with their vocabulary head: body and head run apart, so that the head runs where it is read alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from prasanga.base.errors import InputError
from prasanga.models.batches import pad, padding_of, send
from prasanga.models.loading import LoadedModel, load_part
from prasanga.models.options import NO_OPTIONS, ModelOptions
from prasanga.models.shape import WITH_HEAD, max_pieces, model_kind

# --------------------
# How much attention each piece of a text gets, summed layer by layer while a model runs.
#
# transformers keeps the weights of all layers and heads where it is asked for them: layers x heads x length x
# length numbers a row. Its families ask one function for attention, whichever is named in the configuration. The
# function here adds up what each piece gets, a few heads and readers at a time, and keeps no weights.


SUMMING = "prasanga_summing"
"""The name of the function, for `set_attn_implementation`."""

_AT_ONCE = {"cpu": 1 << 22, "cuda": 1 << 26}  # attention weights at once: 16 MB, 256 MB of float32


class Received:
    """The attention that pieces got so far.

    Attributes:
        shares: (rows, length), summed over layers: each layer adds the mean over its heads and the pieces that read.
        layers: how many have been added.
    """

    def __init__(self, lengths: torch.Tensor) -> None:
        """Begin with nothing; `lengths` are the pieces of each row.

        They are without padding, which does not count as a reader.
        """
        longest = int(lengths.max())
        reading = torch.arange(longest, device=lengths.device) < lengths[:, None]
        self.readers = reading.float() / lengths[:, None]
        self.shares = torch.zeros(reading.shape, dtype=torch.float32, device=lengths.device)
        self.layers = 0

    def mean(self) -> torch.Tensor:
        """Return the mean over layers, (rows, length); of a row it sums to 1."""
        return self.shares / max(1, self.layers)


_RECEIVED: ContextVar[Received | None] = ContextVar("received", default=None)


@contextmanager
def summing(lengths: torch.Tensor) -> Iterator[Received]:
    """Have a model whose attention is `SUMMING` add up what its pieces get, while this lasts."""
    received = Received(lengths)
    token = _RECEIVED.set(received)
    try:
        yield received
    finally:
        _RECEIVED.reset(token)


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **more: Any,
) -> tuple[torch.Tensor, None]:
    """Return attention as transformers' own functions do, (rows, length, heads, d), without weights."""
    received = _RECEIVED.get()
    if received is None:
        output, _ = sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **more)
        return output, None
    groups = query.shape[1] // key.shape[1]
    key, value = repeat_kv(key, groups), repeat_kv(value, groups)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    rows, heads, length, _ = query.shape
    output = query.new_empty(rows, length, heads, value.shape[-1])
    shares = received.shares.to(query.device)
    weight_of = received.readers.to(query.device) / heads
    for row, head, reader in _parts(rows, heads, length, _AT_ONCE["cpu" if query.device.type == "cpu" else "cuda"]):
        scores = (query[row, head, reader] @ key[row, head].transpose(2, 3)).float() * scale
        if attention_mask is not None:
            mask = attention_mask.expand(rows, -1, length, -1)
            part = mask[row, slice(None) if mask.shape[1] == 1 else head, reader]
            scores = scores.masked_fill_(~part, float("-inf")) if part.dtype == torch.bool else scores.add_(part)
        weights = scores.softmax(dim=-1)
        shares[row] += torch.einsum("rhqk,rq->rk", weights, weight_of[row, reader])
        output[row, reader, head] = (weights.to(value.dtype) @ value[row, head]).transpose(1, 2)
    received.shares = shares.to(received.shares.device)
    received.layers += 1
    return output, None


def _parts(rows: int, heads: int, length: int, at_once: int) -> Iterator[tuple[slice, slice, slice]]:
    """Yield the rows, heads and readers that are run together.

    They have at most `at_once` weights, but always those of one reader.
    """
    readers = min(length, max(1, at_once // length))
    some_heads = min(heads, max(1, at_once // (readers * length)))
    some_rows = max(1, at_once // (some_heads * readers * length))
    for row in range(0, rows, some_rows):
        for head in range(0, heads, some_heads):
            for reader in range(0, length, readers):
                yield (
                    slice(row, row + some_rows),
                    slice(head, head + some_heads),
                    slice(reader, reader + readers),
                )


AttentionInterface.register(SUMMING, _attend)
AttentionMaskInterface.register(SUMMING, sdpa_mask)


# --------------------
# A model's forward pass in two halves, body and head, whatever its family; or whole, where there is no other way.


class Halves:
    """A model's forward pass in two halves."""

    def __init__(self, model: Any) -> None:
        self.model = model
        prefix = model.base_model_prefix
        self._name = prefix if hasattr(model, prefix) else "decoder"  # T5 has encoder and decoder and nothing around
        self._encoder = None if hasattr(model, prefix) else model.encoder
        self._body = getattr(model, self._name)
        self._stand_in = _StandIn(self._body)
        setattr(model, self._name, self._stand_in)

    @property
    def asked(self) -> bool:
        """Whether the stand-in has been asked for states by the model."""
        return self._stand_in.asked

    def undone(self) -> Any:
        """Return the model as it was."""
        setattr(self.model, self._name, self._body)
        return self.model

    def attend_by(self, name: str) -> None:
        """Have attention from another of transformers' functions."""
        for part in (self.model, self._body):
            part.set_attn_implementation(name)

    def body(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        decoder_input_ids: torch.Tensor | None = None,
        decoder_attention_mask: torch.Tensor | None = None,
        **asked: Any,
    ) -> Any:
        """Return the output of everything below the head."""
        read = {"input_ids": input_ids, "attention_mask": attention_mask}
        if decoder_input_ids is None:
            return self._body(**read, **_uncached(self.model), **asked)
        if self._encoder is None:
            written = {"decoder_input_ids": decoder_input_ids, "decoder_attention_mask": decoder_attention_mask}
            return self._body(**read, **written, use_cache=False)
        return self._body(
            input_ids=decoder_input_ids,
            attention_mask=decoder_attention_mask,
            encoder_hidden_states=self._encoder(**read).last_hidden_state,
            encoder_attention_mask=attention_mask,
            use_cache=False,
        )

    def head(self, states: torch.Tensor) -> torch.Tensor:
        """Return the model's own forward pass on (1, n, d) states instead of those of its body."""
        self._stand_in.states = states
        given = {} if self._encoder is None else {"encoder_outputs": (states,)}
        logits: torch.Tensor = self.model(**given).logits
        self._stand_in.states = None
        return logits


class Whole:
    """The same interface for a model that only runs whole: logits in place of states, and a head that does nothing."""

    def __init__(self, halves: Halves) -> None:
        self.model = halves.undone()

    def attend_by(self, name: str) -> None:
        """Have attention from another of transformers' functions, as `Halves.attend_by` does."""
        self.model.set_attn_implementation(name)

    def body(self, **inputs: Any) -> Any:
        """Return the output of the whole model."""
        output = self.model(**inputs, **_uncached(self.model))
        return _Output((output.logits,), getattr(output, "attentions", None))

    def head(self, logits: torch.Tensor) -> torch.Tensor:
        """Return what it is given."""
        return logits


def _uncached(model: Any) -> dict[str, bool]:
    """Return what keeps a model from caching, where it would."""
    return {"use_cache": False} if model.config.get_text_config().to_dict().get("use_cache") else {}


class _StandIn(torch.nn.Module):
    """Gives the states it was handed, whatever it is asked; everything else about it is the body's."""

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
    """The output of a base model of which the states are all that is known, and perhaps its attention weights."""

    attentions: Any

    def __new__(cls, states: tuple[Any, ...], attentions: Any = None) -> _Output:
        made = super().__new__(cls, states)
        made.attentions = attentions
        return made

    def __getattr__(self, name: str) -> Any:
        return self[0] if name == "last_hidden_state" else None


# --------------------
# Models with their vocabulary head, for probabilities: hidden states first, and the head where it is asked for
# alone.
#
# A head is as wide as the vocabulary, often a quarter of a million pieces, and most positions of a text are never
# read. So the forward pass is run in two halves: the body gives hidden states, and the head is given the rows that
# matter. The second half is the model's own `forward`, with a stand-in for the body, so that nothing about any
# family's head is known here. A family whose own `forward` goes round the stand-in (OPT, encoder-decoders put
# together from two models) is found out when it is loaded, and runs whole: its `states` are then the logits
# themselves (`ModelWithHead.whole`).


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
        attentions: whether an encoder will be asked how much attention pieces get; of no meaning for other kinds.
        options: of the tokenizer, the weights and the cards.

    Raises:
        InputError: as `load_model`; the files have no vocabulary head, as those of ELECTRA's discriminators; the
            family does not say how much attention pieces get, and that will be asked for.
    """
    loaded = load_part(model, revision, device, dtype, options, WITH_HEAD)
    halves = Halves(loaded.encoder)
    longest = max_pieces(loaded.tokenizer, loaded.config.get_text_config(), loaded.encoder)
    found = ModelWithHead(**vars(loaded), kind=model_kind(loaded.config), max_pieces=longest, _halves=halves)
    if not _runs_in(halves, found):
        found = replace(found, _halves=Whole(halves))
    _require_causal(found)
    found = replace(found, alone=not _leaves_padding_out(found))
    return _with_attention(found) if attentions and found.kind == "encoder" else found


@dataclass(frozen=True, kw_only=True)
class ModelWithHead(LoadedModel):
    """A tokenizer and a language model, ready to run in two halves.

    Attributes:
        kind: `encoder`, `decoder` or `encoder-decoder`.
        max_pieces: the longest input, special pieces included; None if nothing limits it.
        alone: whether a row must run by itself, since the family takes padding into account (FNet, ConvBERT).
    """

    kind: str
    max_pieces: int | None
    _halves: Halves | Whole
    alone: bool = False
    _attention: str | None = None  # how it is had: SUMMING, "eager", or not at all

    @property
    def whole(self) -> bool:
        """Whether the model cannot be run in halves, so that `states` are logits, each as wide as the vocabulary."""
        return isinstance(self._halves, Whole)

    @property
    def weights_kept(self) -> int:
        """Attention weights that `states_and_attention` keeps for each two pieces of a row."""
        text = self.config.get_text_config()
        return 1 if self._attention == SUMMING else int(text.num_hidden_layers * text.num_attention_heads)

    @property
    def vocabulary(self) -> int:
        """How many pieces the head tells apart."""
        return int(self._halves.model.get_output_embeddings().weight.shape[0])

    def states(self, ids: Sequence[Sequence[int]], decoder_ids: Sequence[Sequence[int]] | None = None) -> torch.Tensor:
        """Return the hidden states that the head reads, (rows, length, d): of an encoder-decoder those of the decoder.

        Args:
            ids: the pieces of each row.
            decoder_ids: of an encoder-decoder, what the decoder reads in each row.
        """
        return self._run(ids, decoder_ids).last_hidden_state  # type: ignore[no-any-return]

    def states_and_attention(self, ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the hidden states, and how much attention each piece gets, (rows, length).

        That is the mean over layers, heads, readers.

        Readers are the pieces of the row, its special ones included, and not its padding. Of a family that asks
        transformers' interface for attention, weights are summed as the layers run; of another, those of all layers
        are kept until they are.

        Raises:
            InputError: the model was loaded without `attentions`.
        """
        self.require_attention()
        lengths = torch.tensor([len(row) for row in ids], device=self.device)
        if self._attention == SUMMING:
            with summing(lengths) as summed:
                states = self._run(ids, None).last_hidden_state
            return states, summed.mean()
        output = self._run(ids, None, output_attentions=True)
        if not output.attentions:
            raise InputError(
                f"model {self.name}: its family ({self.config.model_type}) does not say how much attention pieces get,"
                " which aula needs. Write encoder: aul, or use another model."
            )
        reading = torch.arange(int(lengths.max()), device=self.device) < lengths[:, None]
        received = torch.zeros(reading.shape, dtype=torch.float32, device=self.device)
        for layer in output.attentions:  # (rows, heads, readers, read)
            shares = layer.float().mean(dim=1) * reading[:, :, None]
            received += shares.sum(dim=1) / lengths[:, None]
        return output.last_hidden_state, received / len(output.attentions)

    def require_attention(self) -> None:
        """Refuse a model that was loaded without `attentions`.

        Raises:
            InputError: it was.
        """
        if self._attention is None:
            raise InputError(
                f"model {self.name}: aula weighs pieces by attention, and the model was loaded without. Load it with"
                " load_scorer(..., attentions=True)."
            )

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """Return the head on rows of states, (n, d) to (n, vocabulary), in float32."""
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


def _runs_in(halves: Halves, model: ModelWithHead) -> bool:
    """Return whether the model's own forward pass takes its states from the stand-in: tried out on two pieces."""
    try:
        with torch.inference_mode():
            states = model.states([(0, 1)], [(0, 1)] if model.kind == "encoder-decoder" else None)
            logits = model.logits(states[0])
    except torch.OutOfMemoryError:
        raise
    except Exception:  # whatever a family's code makes of a body that is none
        return False
    return halves.asked and tuple(logits.shape) == (2, model.vocabulary)


def _require_causal(model: ModelWithHead) -> None:
    """Refuse a decoder in which a piece sees what comes after it: tried out on two rows that differ at their end.

    Raises:
        InputError: as XLNet, which writes in any order and is loaded as a decoder.
    """
    if model.kind != "decoder":
        return
    with torch.inference_mode():
        one, other = model.states([(0, 1), (0, 0)])
    if not _alike(model, one[:1], other[:1]):
        raise InputError(
            f"model {model.name}: its family ({model.config.model_type}) is loaded as a decoder, and yet a piece sees"
            " those after it, so that no text has a probability piece by piece. Use another model."
        )


def _leaves_padding_out(model: ModelWithHead) -> bool:
    """Return whether a row comes out the same beside a longer one: tried out on a short row."""
    short, long = (0, 1), ((1, 0) * 6)[: model.max_pieces]
    with torch.inference_mode():
        if model.kind == "encoder-decoder":
            one, other = model.states([short], [short])[0], model.states([short, long], [short, long])[0]
        else:
            one, other = model.states([short])[0], model.states([short, long])[0]
    return _alike(model, one, other[: len(short)])


def _alike(model: ModelWithHead, one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether states differ by no more than rounding."""
    rounding = 1e-3 if model.dtype == "float32" else 0.1
    scale = float(one.float().abs().max()) or 1.0
    return float((one.float() - other.float()).abs().max()) <= rounding * scale


def _with_attention(model: ModelWithHead) -> ModelWithHead:
    """Return the model ready for `states_and_attention`: by sums, if these are what its weights come to.

    A family's own way of attention may do more than the common one; then the weights of all layers are asked for.
    """
    rows = [(0, 1, 2, 3, 4), (4, 3, 1)]
    plain, by_sums = (replace(model, _attention=one) for one in ("eager", SUMMING))
    model._halves.attend_by("eager")
    with torch.inference_mode():
        expected = plain.states_and_attention(rows)[1]
        model._halves.attend_by(SUMMING)
        found = by_sums.states_and_attention(rows)[1]
    if torch.allclose(found, expected, atol=1e-4 if model.dtype == "float32" else 1e-2):
        return by_sums
    model._halves.attend_by("eager")
    return plain


def require_mask(model: ModelWithHead) -> int:
    """Return the piece that stands for a hidden word.

    It is the mask, or, of an encoder-decoder without one, the first sentinel of T5.

    Raises:
        InputError: the tokenizer has neither.
    """
    piece = mask_of(model)
    if piece is None:
        raise no_mask(model.name, model.kind)
    return piece


def no_mask(name: str, kind: str) -> InputError:
    """Return what to raise for a model of this kind whose tokenizer has nothing that stands for a hidden word."""
    return InputError(
        f"model {name}: its tokenizer has no mask piece, so no word can be masked."
        f" {'Ask for encoder_decoder: causal, or u' if kind == 'encoder-decoder' else 'U'}se a model that was"
        " trained with one; if it was, write its name under `tokenizer`, such as {mask_token: '[MASK]'}."
    )


def mask_of(model: ModelWithHead) -> int | None:
    """Return the same piece as `require_mask`, or None where there is none."""
    return mask_piece(model.tokenizer, model.kind)


def mask_piece(tokenizer: Any, kind: str) -> int | None:
    """Return the piece of `tokenizer` that stands for a hidden word, if a model of this kind has one."""
    if kind != "decoder" and tokenizer.mask_token_id is not None:
        return int(tokenizer.mask_token_id)
    found = tokenizer.get_vocab().get(SENTINEL) if kind == "encoder-decoder" else None
    return None if found is None else int(found)


SENTINEL = "<extra_id_0>"
"""What stands for the first hidden words in the text that T5 reads (Raffel et al. 2020, section 3.1.4)."""
