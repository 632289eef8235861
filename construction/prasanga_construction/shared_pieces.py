"""Pieces that the modified words of a pair share, and what token-level masking would make of them.

Sahoo et al. 2024, section 6.1 and Figure 3: two Hindi words that have nothing to do with one another may end in the
same piece. A program that aligns pieces, as the one of CrowS-Pairs, takes such a piece for something that both
sentences have, and scores part of a modified word as if it were unmodified. Whole words are aligned here; this module
counts, from the tokenizer alone, how often that matters for a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import polars as pl

from prasanga.models.pieces import Pieces, Span, overlapping, read_pieces
from prasanga.pairs.alignment import SpanAlignment, align_spans, comparable
from prasanga_construction.distance import begin_alike

TABLE = {
    "model": pl.String,
    "language": pl.String,
    "pair_id": pl.String,
    "word_first": pl.String,
    "word_second": pl.String,
    "piece": pl.String,
    "position_first": pl.Int64,
    "position_second": pl.Int64,
    "related": pl.Boolean,
}
"""A row per piece shared by a modified word of the first sentence and one of the second. Positions count the pieces
of the word from 1; `related` words begin alike, as forms of one word do."""


class SharedPieces(NamedTuple):
    """What `find_shared_pieces` finds.

    Attributes:
        table: the shared pieces (`TABLE`).
        counts: a row per language: `model`, `language`, `n_pairs`; `n_split`, pairs with a modified word of several
            pieces; `n_sharing`, pairs whose modified words share a piece, and `n_sharing_unrelated`, that do not
            begin alike; `n_taken_apart`, pairs in which token-level masking takes part of a modified word for
            unmodified; `share_sharing_unrelated` and `share_taken_apart` of all pairs.
    """

    table: pl.DataFrame
    counts: pl.DataFrame


def find_shared_pieces(tokenizer: Any, pairs: pl.DataFrame, *, model: str) -> SharedPieces:
    """Find the pieces that modified words of each pair share, by one model's tokenizer.

    Args:
        tokenizer: a fast one (`prasanga.models.load_tokenizer`).
        pairs: `pair_id`, `language`, `first`, `second`.
        model: its name, for the column.

    Returns:
        Words are cut as they stand in their sentences. Within a pair, each word of the one side meets each of the other
        once: spelling, not place, decides.
    """
    pieces = read_pieces(tokenizer, (*pairs["first"], *pairs["second"]))
    rows: list[dict[str, Any]] = []
    counted: dict[str, dict[str, int]] = {}
    for pair in pairs.iter_rows(named=True):
        spans = align_spans(pair["first"], pair["second"])
        sides = (pair["first"], pieces[pair["first"]]), (pair["second"], pieces[pair["second"]])
        first = _cut(*sides[0], spans.modified_first)
        second = _cut(*sides[1], spans.modified_second)
        of_pair = list(_shared(first, second))
        named = {name: pair[name] for name in ("language", "pair_id")}
        for shared in of_pair:
            piece = tokenizer.convert_ids_to_tokens(shared.pop("id"))
            rows.append({"model": model, **named, **shared, "piece": piece})
        counts = counted.setdefault(pair["language"], dict.fromkeys(_COUNTS, 0))
        counts["n_pairs"] += 1
        counts["n_split"] += any(len(ids) > 1 for ids in (*first.values(), *second.values()))
        counts["n_sharing"] += bool(of_pair)
        counts["n_sharing_unrelated"] += any(not shared["related"] for shared in of_pair)
        counts["n_taken_apart"] += any(count > 0 for count in taken_apart(sides[0][1], sides[1][1], spans))
    return SharedPieces(pl.DataFrame(rows, schema=TABLE), _with_shares(model, counted))


_COUNTS = ("n_pairs", "n_split", "n_sharing", "n_sharing_unrelated", "n_taken_apart")


def taken_apart(first: Pieces, second: Pieces, spans: SpanAlignment) -> tuple[int, int]:
    """Count how many pieces of modified words token-level masking counts as unmodified, in either sentence.

    The pieces of both sentences are aligned as the program of CrowS-Pairs does (`difflib.SequenceMatcher`; Nangia et
    al. 2020), here without its shortcut for long sequences.
    """
    matcher = SequenceMatcher(None, list(first.ids), list(second.ids), autojunk=False)
    same = [(block.a, block.b, block.size) for block in matcher.get_matching_blocks()]
    common = [
        {start + i for start, _, size in same for i in range(size)},
        {start + i for _, start, size in same for i in range(size)},
    ]
    modified = [_positions(first, spans.modified_first), _positions(second, spans.modified_second)]
    return len(common[0] & modified[0]), len(common[1] & modified[1])


def _positions(pieces: Pieces, spans: Sequence[Span]) -> set[int]:
    return {place for start, end in spans for place in overlapping(pieces, start, end)}


def _cut(text: str, pieces: Pieces, spans: Sequence[Span]) -> dict[str, tuple[int, ...]]:
    """Return the pieces of the words at `spans`; a word that stands there twice counts as it stands first."""
    words: dict[str, tuple[int, ...]] = {}
    for start, end in spans:
        words.setdefault(text[start:end], tuple(pieces.ids[place] for place in overlapping(pieces, start, end)))
    return words


def _shared(first: dict[str, tuple[int, ...]], second: dict[str, tuple[int, ...]]) -> Iterable[dict[str, Any]]:
    for word, ids in first.items():
        for other, other_ids in second.items():
            if comparable(word) == comparable(other):  # a word that merely moved is no other word
                continue
            for piece in dict.fromkeys(piece for piece in ids if piece in other_ids):
                yield {
                    "word_first": word,
                    "word_second": other,
                    "id": piece,
                    "position_first": ids.index(piece) + 1,
                    "position_second": other_ids.index(piece) + 1,
                    "related": begin_alike(word, other),
                }


def _with_shares(model: str, counted: dict[str, dict[str, int]]) -> pl.DataFrame:
    schema = {"model": pl.String, "language": pl.String, **dict.fromkeys(_COUNTS, pl.Int64)}
    rows = [{"model": model, "language": language, **counts} for language, counts in sorted(counted.items())]
    shares = [
        (pl.col(f"n_{what}") / pl.col("n_pairs")).alias(f"share_{what}")
        for what in ("sharing_unrelated", "taken_apart")
    ]
    return pl.DataFrame(rows, schema=schema).with_columns(shares)
