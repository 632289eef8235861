"""A byte-level tokenizer for Indic text, trained in the run, for models that write: no text has an unknown piece.

Byte-level BPE (Radford et al. 2019, section 2.2) begins with the 256 bytes and joins what often stands together, so a
letter that the training text never had is spelled in bytes. GPT-2 takes words apart at everything that is no letter,
such as a vowel sign; here a letter and its marks, joiners included, stay in one word.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from prasanga.errors import InputError

PAD, BEGIN, END = "<pad>", "<s>", "</s>"
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
    special = [PAD, END, *SENTINELS] if sentinels else [PAD, BEGIN, END]
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
