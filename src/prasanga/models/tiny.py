"""Tiny models that the workflow trains, BERT-like, GPT-2-like and mT5-like, with their tokenizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    MT5Config,
    MT5ForConditionalGeneration,
    PreTrainedTokenizerFast,
)

from prasanga.base.errors import InputError

# --------------------
# A byte-level tokenizer for Indic text, trained in the run, for models that write: no text has an unknown piece.
#
# Byte-level BPE (Radford et al. 2019, section 2.2) begins with the 256 bytes and joins what often stands together,
# so a letter that the training text never had is spelled in bytes. GPT-2 takes words apart at everything that is no
# letter, such as a vowel sign; here a letter and its marks, joiners included, stay in one word.


BYTE_PAD, BEGIN, END = "<pad>", "<s>", "</s>"
SENTINELS = tuple(f"<extra_id_{number}>" for number in range(64))
"""What stands for hidden words, in order (Raffel et al. 2020, section 3.1.4)."""

_WORDS = r" ?[\p{L}\p{M}\u200c\u200d]+| ?\p{N}+| ?[^\s\p{L}\p{M}\p{N}\u200c\u200d]+|\s+"
_BYTES = 256


def train_byte_tokenizer(texts: Sequence[str], vocabulary_size: int, *, sentinels: bool = False) -> Tokenizer:
    """Train a byte-level tokenizer on `texts`; the same texts give the same tokenizer, id by id.

    Special pieces have the first ids. The space before a word belongs to its first piece, though not to the piece's
    span of characters.

    Args:
        texts: what to learn the pieces from.
        vocabulary_size: most pieces, special ones included.
        sentinels: for an encoder-decoder, which has `SENTINELS` and ends a text with `END`; else for a decoder, which
            begins it with `BEGIN`.

    Raises:
        InputError: `vocabulary_size` leaves no room beside the single bytes.
    """
    special = [BYTE_PAD, END, *SENTINELS] if sentinels else [BYTE_PAD, BEGIN, END]
    needed = _BYTES + len(special)
    if vocabulary_size <= needed:
        raise InputError(
            f"vocabulary_size is {vocabulary_size}, but bytes and special pieces alone take {needed}. Write a"
            f" vocabulary_size well above {needed}, for example {4 * needed}."
        )
    tokenizer = Tokenizer(models.BPE())
    to_words = pre_tokenizers.Split(Regex(_WORDS), "isolated")
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([to_words, to_bytes])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    around = (f"$A {END}", END) if sentinels else (f"{BEGIN} $A", BEGIN)
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(single=around[0], special_tokens=[(around[1], special.index(around[1]))]),
        ]
    )
    return tokenizer


# --------------------
# A WordPiece tokenizer for Indic text, trained in the run: case, accents and vowel signs stay as they are.
#
# BERT's usual normalizer strips accents, which in Bangla and Hindi turns a word into another one, and drops the
# joiners ZWJ and ZWNJ as control characters; here there is no normalizer at all. Words are split at white space and
# punctuation only, so a letter and its marks stay in one word.


PAD, UNKNOWN, CLS, SEP, MASK = SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_CONTINUATION = "##"


def train_tokenizer(texts: Sequence[str], vocabulary_size: int) -> Tokenizer:
    """Train a BERT-like WordPiece tokenizer on `texts`; the same texts give the same tokenizer, id by id.

    Raises:
        InputError: if the alphabet of `texts` leaves no room in a vocabulary of `vocabulary_size` pieces.
    """
    alphabet = sorted({character for text in texts for character in text if not character.isspace()})
    # The trainer numbers the continuation letters in the order of a hash map, and equally frequent pairs are merged in
    # the order of these numbers. Reserved beforehand, they have the same numbers in every run.
    reserved = [*SPECIAL_TOKENS, *(_CONTINUATION + character for character in alphabet)]
    needed = len(SPECIAL_TOKENS) + 2 * len(alphabet)
    if vocabulary_size <= needed:
        raise InputError(
            f"vocabulary_size is {vocabulary_size}, but the texts have {len(alphabet)} different characters, which"
            f" alone take {needed} pieces. Write a vocabulary_size well above {needed}, for example {4 * needed}."
        )
    learner = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    learner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary_size,
        special_tokens=reserved,
        continuing_subword_prefix=_CONTINUATION,
        limit_alphabet=len(alphabet),
        show_progress=False,
    )
    learner.train_from_iterator(texts, trainer)
    return _assemble(learner.get_vocab())


def piece_id(tokenizer: Tokenizer, piece: str) -> int:
    """Return the id of a piece that the vocabulary has."""
    found = tokenizer.token_to_id(piece)
    if found is None:
        raise KeyError(piece)
    return found


def _assemble(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN, continuing_subword_prefix=_CONTINUATION))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix=_CONTINUATION)
    tokenizer.post_processor = processors.BertProcessing((SEP, vocabulary[SEP]), (CLS, vocabulary[CLS]))
    tokenizer.add_special_tokens(list(SPECIAL_TOKENS))
    return tokenizer


# --------------------
# The tiny models that are trained: BERT-like, GPT-2-like and mT5-like, each with a tokenizer of its family.


POSITIONS = 512
"""Pieces of the longest text that the models read."""

_NAMES: dict[str, dict[str, Any]] = {
    "encoder": {"pad_token": PAD, "unk_token": UNKNOWN, "cls_token": CLS, "sep_token": SEP, "mask_token": MASK},
    "decoder": {"pad_token": BYTE_PAD, "bos_token": BEGIN, "eos_token": END},
    "encoder-decoder": {"pad_token": BYTE_PAD, "eos_token": END, "extra_special_tokens": list(SENTINELS)},
}


def learn_tokenizer(kind: str, texts: Sequence[str], vocabulary_size: int) -> Tokenizer:
    """Learn the tokenizer of a model of this kind.

    It is one of words and their parts for an encoder, of bytes for a model that writes.

    Raises:
        InputError: `vocabulary_size` leaves no room beside single letters, or bytes.
    """
    if kind == "encoder":
        return train_tokenizer(texts, vocabulary_size)
    return train_byte_tokenizer(texts, vocabulary_size, sentinels=kind == "encoder-decoder")


def with_names(kind: str, tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    """Return the tokenizer as transformers saves it, its special pieces named."""
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=POSITIONS, **_NAMES[kind])


def build_model(kind: str, tokenizer: Tokenizer, settings: Mapping[str, int | float]) -> Any:
    """Return a model of this kind with fresh weights from torch's generator, for the pieces of `tokenizer`.

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
    """Set the positions to sines and cosines (Vaswani et al. 2017, section 3.5).

    This is a start that knows what is near what.
    """
    positions, width = table.weight.shape
    rates = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(positions)[:, None] * rates
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(positions, -1)[:, :width]
    table.weight.data.copy_(waves * spread / 2)


def _begin_with_slopes(table: Any, backwards_only: bool) -> None:
    """Make biases fall with the distance, in each head slower (Press et al. 2022, section 3), as T5 has no positions.

    T5 learns them from nearly nothing, for which it needs far more steps than there are here.
    """
    distances, heads = table.weight.shape
    near = torch.arange(distances if backwards_only else distances // 2).repeat(1 if backwards_only else 2)
    table.weight.data.sub_(near[:, None] * 2.0 ** -torch.arange(heads))
