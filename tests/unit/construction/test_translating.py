"""Candidates from tiny translation models: what the model is told, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest
from tables import read_cases
from tiny_models import SENTENCES

from prasanga.base.errors import InputError
from prasanga_construction.translation import translate_pairs

PAIRS = pl.DataFrame(
    {
        "pair_id": ["1", "2"],
        "language": ["en"] * 2,
        "first": [SENTENCES[0], SENTENCES[6]],
        "second": [SENTENCES[4], SENTENCES[0]],
    }
)


class Languages:
    """A tokenizer of which only the pieces for languages are asked."""

    src_lang = None

    def __init__(self, *pieces: str) -> None:
        self.all_special_tokens = list(pieces)

    def get_vocab(self) -> dict[str, int]:
        return {piece: i for i, piece in enumerate(self.all_special_tokens)}


@pytest.mark.parametrize(("pieces", "codes", "prefix", "expected"), read_cases(__file__, "told"))
def test_how_a_model_is_told_the_languages(
    pieces: list[str], codes: dict[str, str], prefix: str | None, expected: list[str]
) -> None:
    echo = Echo(tokenizer=Languages(*pieces))
    translate(echo, codes, prefix)
    assert [echo.asked["reads"], echo.asked["writes"]] == expected[:2]
    assert echo.asked["texts"][0] == expected[2] + SENTENCES[0]


@pytest.mark.parametrize(("pieces", "codes", "prefix", "message"), read_cases(__file__, "not_told"))
def test_what_cannot_be_told(pieces: list[str], codes: dict[str, str], prefix: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        translate(Echo(tokenizer=Languages(*pieces)), codes, prefix)


@dataclass
class Echo:
    """Writes a text backwards, or nothing for those it does not know."""

    tokenizer: Languages = field(default_factory=lambda: Languages("en_XX", "hi_IN"))
    kind: str = "encoder-decoder"
    name: str = "echo"
    max_pieces: int | None = 100
    silent: frozenset[str] = frozenset()
    asked: dict[str, Any] = field(default_factory=dict)

    def generate(self, texts: Sequence[str], **asked: Any) -> list[str]:
        self.asked = {"texts": list(texts), **asked}
        return ["" if text in self.silent else f"{text[::-1]}\n 0" for text in texts]


def translate(writer: Any, codes: dict[str, str] | None = None, prefix: str | None = "> ") -> pl.DataFrame:
    return translate_pairs(writer, PAIRS, engine="e", into="hi", codes=codes, prefix=prefix, seed=1)


def test_each_sentence_is_asked_once_and_candidates_stand_together() -> None:
    echo = Echo()
    candidates = translate(echo)
    assert echo.asked["texts"] == [f"> {SENTENCES[i]}" for i in (0, 6, 4)]
    assert (echo.asked["reads"], echo.asked["writes"], echo.asked["beams"]) == ("en_XX", "hi_IN", 4)
    assert echo.asked["max_new_tokens"] == 99
    mirrored = [" ".join(f"> {sentence}"[::-1].split()) for sentence in SENTENCES]
    assert candidates.rows() == [
        ("1", "e", f"{mirrored[0]} 0", f"{mirrored[4]} 0"),
        ("2", "e", f"{mirrored[6]} 0", f"{mirrored[0]} 0"),
    ]


def test_a_sentence_for_which_nothing_was_written() -> None:
    silent = frozenset([f"> {SENTENCES[4]}"])
    assert translate(Echo(silent=silent))["pair_id"].to_list() == ["2"]
    everything = frozenset(f"> {sentence}" for sentence in SENTENCES)
    with pytest.raises(InputError, match="model echo wrote nothing for any of 2 pairs"):
        translate(Echo(silent=everything))
