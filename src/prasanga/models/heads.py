"""Models with their vocabulary head, for probabilities: hidden states first, and the head where it is asked for alone.

A head is as wide as the vocabulary, often a quarter of a million pieces, and most positions of a text are never read.
So the forward pass is run in two halves: the body gives hidden states, and the head is given the rows that matter. The
second half is the model's own `forward`, with a stand-in for the body, so that nothing about any family's head is known
here. A family whose own `forward` goes round the stand-in (OPT, encoder-decoders put together from two models) is found
out when it is loaded, and runs whole: its `states` are then the logits themselves (`ModelWithHead.whole`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from prasanga.errors import InputError
from prasanga.models.attended import SUMMING, summing
from prasanga.models.halves import Halves, Whole
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
        attentions: whether an encoder will be asked how much attention pieces get; of no meaning for other kinds.
        options: of the tokenizer, the weights and the cards.

    Raises:
        InputError: as `load_model`; the files have no vocabulary head, as those of ELECTRA's discriminators; the
            family does not say how much attention pieces get, and that will be asked for.
    """
    loaded = load_part(model, revision, device, dtype, options, WITH_HEAD)
    halves = Halves(loaded.encoder)
    found = ModelWithHead(
        name=loaded.name,
        kind=model_kind(loaded.config),
        tokenizer=loaded.tokenizer,
        config=loaded.config,
        device=loaded.device,
        dtype=loaded.dtype,
        max_pieces=max_pieces(loaded.tokenizer, loaded.config.get_text_config(), loaded.encoder),
        _halves=halves,
    )
    if not _runs_in(halves, found):
        found = replace(found, _halves=Whole(halves))
    _require_causal(found)
    found = replace(found, alone=not _leaves_padding_out(found))
    return _with_attention(found) if attentions and found.kind == "encoder" else found


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
        alone: whether a row must run by itself, since the family takes padding into account (FNet, ConvBERT).
    """

    name: str
    kind: str
    tokenizer: Any
    config: Any
    device: torch.device
    dtype: str
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
        """Hidden states that the head reads, (rows, length, d): of an encoder-decoder those of the decoder.

        Args:
            ids: the pieces of each row.
            decoder_ids: of an encoder-decoder, what the decoder reads in each row.
        """
        return self._run(ids, decoder_ids).last_hidden_state  # type: ignore[no-any-return]

    def states_and_attention(self, ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Hidden states, and how much attention each piece gets, (rows, length): the mean over layers, heads, readers.

        Readers are the pieces of the row, its special ones included, and not its padding. Of a family that asks
        transformers' interface for attention, weights are summed as the layers run (`prasanga.models.attended`); of
        another, those of all layers are kept until they are.

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


def _runs_in(halves: Halves, model: ModelWithHead) -> bool:
    """Whether the model's own forward pass takes its states from the stand-in: tried out on two pieces."""
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
    """Whether a row comes out the same beside a longer one: tried out on a short row."""
    short, long = (0, 1), ((1, 0) * 6)[: model.max_pieces]
    with torch.inference_mode():
        if model.kind == "encoder-decoder":
            one, other = model.states([short], [short])[0], model.states([short, long], [short, long])[0]
        else:
            one, other = model.states([short])[0], model.states([short, long])[0]
    return _alike(model, one, other[: len(short)])


def _alike(model: ModelWithHead, one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether states differ by no more than rounding."""
    rounding = 1e-3 if model.dtype == "float32" else 0.1
    scale = float(one.float().abs().max()) or 1.0
    return float((one.float() - other.float()).abs().max()) <= rounding * scale


def _with_attention(model: ModelWithHead) -> ModelWithHead:
    """The model ready for `states_and_attention`: by sums, if these are what its weights come to.

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
