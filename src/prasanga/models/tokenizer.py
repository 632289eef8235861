"""A WordPiece tokenizer for Indic text, trained in the run: case, accents and vowel signs stay as they are.

BERT's usual normalizer strips accents, which in Bangla and Hindi turns a word into another one, and drops the joiners
ZWJ and ZWNJ as control characters; here there is no normalizer at all. Words are split at white space and punctuation
only, so a letter and its marks stay in one word.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from prasanga.errors import InputError

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
    """The id of a piece that the vocabulary has."""
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
