"""The pieces of a text with their character spans, and which of them to keep if a text is too long for a model."""

from __future__ import annotations

from typing import Any, NamedTuple


class Piece(NamedTuple):
    """One piece: its id, the characters `start` to `end` it stands for, and whether the tokenizer added it."""

    id: int
    start: int
    end: int
    special: bool


def read_pieces(tokenizer: Any, texts: list[str]) -> dict[str, list[Piece]]:
    """The pieces of each text, special ones included; `tokenizer` is a fast one of transformers."""
    if not texts:
        return {}
    encoded = tokenizer(
        texts,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        truncation=False,
        padding=False,
        verbose=False,
    )
    columns = (encoded["input_ids"], encoded["offset_mapping"], encoded["special_tokens_mask"])
    return {
        text: [Piece(i, start, end, bool(mark)) for i, (start, end), mark in zip(ids, offsets, marks, strict=True)]
        for text, ids, offsets, marks in zip(texts, *columns, strict=True)
    }


def cut_around(pieces: list[Piece], begin: int, end: int, limit: int | None) -> list[int]:
    """Positions of the pieces to keep: all, or the special ones and a stretch around positions `begin` to `end`.

    The stretch has as many pieces as `limit` allows, the same number on either side of the target where the text goes
    on that far; what one side cannot use, the other gets. A target larger than the limit loses its end.
    """
    if limit is None or len(pieces) <= limit:
        return list(range(len(pieces)))
    ordinary = [i for i, piece in enumerate(pieces) if not piece.special]
    room = limit - (len(pieces) - len(ordinary))
    before = sum(i < begin for i in ordinary)
    after = sum(i >= end for i in ordinary)
    spare = max(0, room - (len(ordinary) - before - after))
    left = min(before, max(spare // 2, spare - after))
    kept = set(ordinary[before - left : before - left + room])
    return [i for i, piece in enumerate(pieces) if piece.special or i in kept]
