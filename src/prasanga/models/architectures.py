"""The tiny models that are trained: BERT-like, GPT-2-like and mT5-like, each with a tokenizer of its family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    MT5Config,
    MT5ForConditionalGeneration,
    PreTrainedTokenizerFast,
)

from prasanga.models.byte_pieces import BEGIN, END, SENTINELS, train_byte_tokenizer
from prasanga.models.byte_pieces import PAD as BYTE_PAD
from prasanga.models.tokenizer import CLS, MASK, PAD, SEP, UNKNOWN, piece_id, train_tokenizer

POSITIONS = 512
"""Pieces of the longest text that the models read."""

_NAMES: dict[str, dict[str, Any]] = {
    "encoder": {"pad_token": PAD, "unk_token": UNKNOWN, "cls_token": CLS, "sep_token": SEP, "mask_token": MASK},
    "decoder": {"pad_token": BYTE_PAD, "bos_token": BEGIN, "eos_token": END},
    "encoder-decoder": {"pad_token": BYTE_PAD, "eos_token": END, "extra_special_tokens": list(SENTINELS)},
}


def learn_tokenizer(kind: str, texts: Sequence[str], vocabulary_size: int) -> Tokenizer:
    """The tokenizer of a model of this kind: of words and their parts for an encoder, of bytes for one that writes.

    Raises:
        InputError: `vocabulary_size` leaves no room beside single letters, or bytes.
    """
    if kind == "encoder":
        return train_tokenizer(texts, vocabulary_size)
    return train_byte_tokenizer(texts, vocabulary_size, sentinels=kind == "encoder-decoder")


def with_names(kind: str, tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    """The tokenizer as transformers saves it, its special pieces named."""
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=POSITIONS, **_NAMES[kind])


def build_model(kind: str, tokenizer: Tokenizer, settings: Mapping[str, int | float]) -> Any:
    """A model of this kind with fresh weights from torch's generator, for the pieces of `tokenizer`.

    Nothing is dropped out: a few hundred steps on a small text underfit, and dropout would only slow them.

    Args:
        kind: `encoder`, `decoder`, `encoder-decoder`.
        tokenizer: from `learn_tokenizer`.
        settings: `hidden_size`, `layers`, `heads`; of an encoder-decoder, encoder and decoder have `layers` each.
    """
    return _BUILDERS[kind](tokenizer, int(settings["hidden_size"]), int(settings["layers"]), int(settings["heads"]))


def _encoder(tokenizer: Tokenizer, width: int, layers: int, heads: int) -> Any:
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=POSITIONS,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        # BERT's 0.02 suits a width of 768; at this width everything would look alike for hundreds of steps.
        initializer_range=width**-0.5,
        pad_token_id=piece_id(tokenizer, PAD),
    )
    model = BertForMaskedLM(config)
    _begin_with_sinusoids(model.bert.embeddings.position_embeddings, config.initializer_range)
    return model


def _decoder(tokenizer: Tokenizer, width: int, layers: int, heads: int) -> Any:
    config = GPT2Config(
        vocab_size=tokenizer.get_vocab_size(),
        n_embd=width,
        n_layer=layers,
        n_head=heads,
        n_positions=POSITIONS,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        resid_pdrop=0.0,
        initializer_range=width**-0.5,
        pad_token_id=piece_id(tokenizer, BYTE_PAD),
        bos_token_id=piece_id(tokenizer, BEGIN),
        eos_token_id=piece_id(tokenizer, END),
    )
    model = GPT2LMHeadModel(config)
    _begin_with_sinusoids(model.transformer.wpe, config.initializer_range)
    return model


def _encoder_decoder(tokenizer: Tokenizer, width: int, layers: int, heads: int) -> Any:
    config = MT5Config(
        vocab_size=tokenizer.get_vocab_size(),
        d_model=width,
        d_kv=width // heads,
        d_ff=2 * width,  # its gate doubles it
        num_layers=layers,
        num_decoder_layers=layers,
        num_heads=heads,
        dropout_rate=0.0,
        pad_token_id=piece_id(tokenizer, BYTE_PAD),
        eos_token_id=piece_id(tokenizer, END),
        decoder_start_token_id=piece_id(tokenizer, BYTE_PAD),  # as T5: the decoder begins with the padding
    )
    model = MT5ForConditionalGeneration(config)
    # The table is head and embeddings in one: with the family's spread of 1, the first logits would be far from even.
    model.shared.weight.data.mul_(width**-0.5)
    for half in (model.encoder, model.decoder):
        _begin_with_slopes(half.block[0].layer[0].SelfAttention.relative_attention_bias, half.is_decoder)
    return model


_BUILDERS = {"encoder": _encoder, "decoder": _decoder, "encoder-decoder": _encoder_decoder}


def _begin_with_sinusoids(table: Any, spread: float) -> None:
    """Sines and cosines (Vaswani et al. 2017, section 3.5) for positions: a start that knows what is near what."""
    positions, width = table.weight.shape
    rates = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(positions)[:, None] * rates
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(positions, -1)[:, :width]
    table.weight.data.copy_(waves * spread / 2)


def _begin_with_slopes(table: Any, backwards_only: bool) -> None:
    """Biases that fall with the distance, in each head slower (Press et al. 2022, section 3), as T5 has no positions.

    T5 learns them from nearly nothing, for which it needs far more steps than there are here.
    """
    distances, heads = table.weight.shape
    near = torch.arange(distances if backwards_only else distances // 2).repeat(1 if backwards_only else 2)
    table.weight.data.sub_(near[:, None] * 2.0 ** -torch.arange(heads))
