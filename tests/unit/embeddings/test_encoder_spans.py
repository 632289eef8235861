"""Which pieces belong to a word, whatever the tokenizer does to the text: those that spell the word, and no others.

A tokenizer here knows single letters (or bytes) only, so that every letter is a piece and each has to be placed. What
a word is in its eyes is asked of its normalizer, with the word alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_embedding import PlainEmbedder
from tables import read_cases
from tiny_models import byte_fallback, byte_level
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import bytes_to_unicode

from prasanga.embeddings import load_encoder
from prasanga.models.pieces import overlapping, read_pieces

ROSE = "গোলাপ"
YYA, RRA, RHA, QA = "\u09df", "\u09dc", "\u09dd", "\u0958"  # one letter each, two in NFC and NFKC
ZWNJ, ZWJ = "\u200c", "\u200d"
# What stands before the word, the word, what follows it.
CASES: dict[str, tuple[str, str, str]] = {name: tuple(case) for name, *case in read_cases(__file__, "places")}
NORMALIZERS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "NFC": normalizers.NFC,
    "NFD": normalizers.NFD,
    "NFKC": normalizers.NFKC,
    "NFKD": normalizers.NFKD,
    "lower case": normalizers.Lowercase,
    "Nmt": normalizers.Nmt,
    "BERT, cased": lambda: normalizers.BertNormalizer(lowercase=False, strip_accents=False),
    "BERT, without marks": lambda: normalizers.BertNormalizer(lowercase=False, strip_accents=True),
    "BERT, uncased": normalizers.BertNormalizer,
    "ALBERT": lambda: normalizers.Sequence(
        [
            normalizers.Replace("``", '"'),
            normalizers.Replace("''", '"'),
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    ),
    "strip, replace, NFKC": lambda: normalizers.Sequence(
        [normalizers.Strip(), normalizers.Replace(Regex(r"\s{2,}"), " "), normalizers.NFKC()]
    ),
    "Llama 2": lambda: normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
    "SentencePiece": lambda: normalizers.Sequence(
        [normalizers.Precompiled(_charsmap()), normalizers.Replace(Regex(" {2,}"), " ")]
    ),
}
SPLITTERS: dict[str, Callable[[], Any]] = {
    "whole text": lambda: None,
    "words as in BERT": pre_tokenizers.BertPreTokenizer,
    "words with ▁": lambda: pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
    "text with ▁": lambda: pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
    "bytes": lambda: pre_tokenizers.ByteLevel(add_prefix_space=False),
    "bytes after a space": lambda: pre_tokenizers.ByteLevel(add_prefix_space=True),
}


@cache
def _charsmap() -> bytes:
    """SentencePiece's own normalization, which XLM-R, mBART, mT5 and ALBERT use: it comes with a trained model only."""
    import io

    sentencepiece = pytest.importorskip("sentencepiece")
    from transformers.utils import sentencepiece_model_pb2_new as protocol

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["abc abd acd bcd"] * 20),
        model_writer=written,
        vocab_size=12,
        hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc",
        num_threads=1,
        minloglevel=5,
    )
    model = protocol.ModelProto()
    model.ParseFromString(written.getvalue())
    return bytes(model.normalizer_spec.precompiled_charsmap)


def letter_by_letter(normalizer: str, splitter: str) -> Any:
    """A fast tokenizer whose pieces are single letters, or single bytes."""
    change, split = NORMALIZERS[normalizer](), SPLITTERS[splitter]()
    texts = ["".join(case) for case in CASES.values()]
    texts += [part for case in CASES.values() for part in case]
    letters = set("▁").union(*texts, *(change.normalize_str(text) for text in texts if change))
    if splitter.startswith("bytes"):
        letters = set(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: i for i, piece in enumerate(["<unk>", *sorted(letters)])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    if change:
        tokenizer.normalizer = change
    if split:
        tokenizer.pre_tokenizer = split
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def chosen(tokenizer: Any, text: str, start: int, end: int) -> list[int]:
    """The ids of the word's pieces; they stand side by side."""
    pieces = read_pieces(tokenizer, [text])[text]
    positions = overlapping(pieces, start, end)
    assert positions == list(range(positions[0], positions[-1] + 1))
    return [pieces.ids[i] for i in positions]


def spelled(tokenizer: Any, ids: list[int]) -> bytes:
    """What pieces say, in UTF-8: ▁ is a space, and bytes are bytes."""
    byte_of = {letter: byte for byte, letter in bytes_to_unicode().items()}
    said = b""
    for piece in tokenizer.convert_ids_to_tokens(ids):
        assert piece != "<unk>"
        if "ByteLevel" in repr(tokenizer.backend_tokenizer.pre_tokenizer):
            said += bytes(byte_of[letter] for letter in piece)
        elif piece.startswith("<0x"):
            said += bytes([int(piece[3:-1], 16)])
        else:
            said += piece.replace("▁", " ").encode()
    return said


def letters(said: bytes | str) -> str:
    """Without spaces, which splitting into words adds and drops."""
    text = said if isinstance(said, str) else said.decode()
    return "".join(text.replace("▁", " ").split())


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_the_pieces_of_a_word_spell_it(normalizer: str, splitter: str) -> None:
    tokenizer = letter_by_letter(normalizer, splitter)
    change = tokenizer.backend_tokenizer.normalizer
    for name, (before, word, after) in CASES.items():
        ids = chosen(tokenizer, before + word + after, len(before), len(before) + len(word))
        expected = change.normalize_str(word) if change else word
        assert letters(spelled(tokenizer, ids)) == letters(expected), name


def test_a_control_character_that_is_dropped_at_the_very_start() -> None:
    tokenizer = letter_by_letter("SentencePiece", "words with ▁")
    assert letters(spelled(tokenizer, chosen(tokenizer, f"\a{ROSE} ছিল", 1, 1 + len(ROSE)))) == ROSE


@pytest.mark.parametrize("make", [byte_level, lambda: byte_level(size=420), byte_fallback], ids=["small", "large", "▁"])
def test_pieces_may_begin_and_end_inside_a_letter(make: Callable[[], Any]) -> None:
    """The pieces chosen say the word and no other letter, but bytes of its neighbours where a piece has both."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=make())
    inside = 0
    for name, (before, word, after) in CASES.items():
        ids = chosen(tokenizer, before + word + after, len(before), len(before) + len(word))
        wanted = word.replace("▁", " ").encode()
        assert wanted in spelled(tokenizer, ids), name
        for fewer, dropped in ((ids[1:], ids[:1]), (ids[:-1], ids[-1:])):  # each of them is needed
            assert wanted not in spelled(tokenizer, fewer) or spelled(tokenizer, dropped) == b" ", name
        inside += sum("\ufffd" in spelled(tokenizer, [one]).decode(errors="replace") for one in ids)
    assert inside > 20


@pytest.mark.parametrize(
    "kind", ["bert", "muril", "bert-without-marks", "xlm-roberta", "mt5", "albert", "gpt2", "llama"]
)
def test_vectors_of_words_that_are_hard_to_place(
    tiny_model: Callable[..., Path], plain: Callable[..., PlainEmbedder], kind: str
) -> None:
    texts = ["".join(case) for case in CASES.values()]
    spans = [(len(before), len(before) + len(word)) for before, word, _ in CASES.values()]
    found = load_encoder(tiny_model(kind), device="cpu", pieces_per_batch=300).embed(texts, spans)
    np.testing.assert_allclose(found, plain(kind).embed_all(texts, spans), atol=1e-5, rtol=1e-6)
