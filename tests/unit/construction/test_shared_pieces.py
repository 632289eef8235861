"""Pieces that modified words share, by tokenizers of which every piece is known."""

from __future__ import annotations

from typing import Any

import polars as pl

from prasanga.models.pieces import Pieces, read_pieces
from prasanga.pairs.alignment import align_spans
from prasanga_construction.distance import find_shared_pieces, taken_apart


def tokenizer_of(pieces: list[str]) -> Any:
    """A WordPiece tokenizer with these pieces and every single letter that they have."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    letters = sorted({letter for piece in pieces for letter in piece.removeprefix("##")} | set("।."))
    named = dict.fromkeys(["[UNK]", *pieces, *letters, *("##" + letter for letter in letters)])
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(named)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]")


def pairs_of(*sentences: tuple[str, str], language: str = "hi") -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"pair_id": str(number), "language": language, "first": first, "second": second}
            for number, (first, second) in enumerate(sentences)
        ]
    )


FIGURE_3 = tokenizer_of(["करवा", "##ऊ", "##ँ", "ल", "##ड़", "##को", "##ं", "मैं", "किताब", "चाह", "##ता", "##ती", "है"])


def test_figure_3() -> None:
    """Two words that have nothing in common but their last piece (Sahoo et al. 2024, Figure 3)."""
    found = find_shared_pieces(FIGURE_3, pairs_of(("मैं करवाऊँ है", "मैं लड़कोँ है")), model="m")
    assert found.table.rows() == [("m", "hi", "0", "करवाऊँ", "लड़कोँ", "##ँ", 3, 4, False)]
    assert found.counts.rows() == [("m", "hi", 1, 1, 1, 1, 1, 1.0, 1.0)]


def test_forms_of_one_word_are_told_apart() -> None:
    found = find_shared_pieces(FIGURE_3, pairs_of(("किताब चाहता है", "किताब चाहती है"), ("किताब है", "मैं है")), model="m")
    assert found.table.rows() == [("m", "hi", "0", "चाहता", "चाहती", "चाह", 1, 1, True)]
    counts = found.counts.row(0, named=True)
    assert counts == {
        **{"model": "m", "language": "hi", "n_pairs": 2, "n_split": 1, "n_sharing": 1, "n_sharing_unrelated": 0},
        **{"n_taken_apart": 1, "share_sharing_unrelated": 0.0, "share_taken_apart": 0.5},
    }


def test_languages_are_counted_apart() -> None:
    pairs = pl.concat([pairs_of(("मैं", "है")), pairs_of(("a", "b"), ("a", "c"), language="en")])
    counts = find_shared_pieces(FIGURE_3, pairs, model="m").counts
    assert counts.select("language", "n_pairs").rows() == [("en", 2), ("hi", 1)]


def test_pieces_of_modified_words_taken_for_unmodified() -> None:
    first, second = "मैं करवाऊँ है", "मैं लड़कोँ है"
    pieces = read_pieces(FIGURE_3, [first, second])
    assert taken_apart(pieces[first], pieces[second], align_spans(first, second)) == (1, 1)
    nothing = Pieces([1], [(0, 1)], [0])
    assert taken_apart(nothing, nothing, align_spans("a", "b")) == (1, 1)  # a vocabulary without either word
