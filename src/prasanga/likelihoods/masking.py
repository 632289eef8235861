"""Words hidden from a model: which pieces of a text are masked, and which are read at the masks.

A word is always hidden whole. A piece of it left in sight would give the rest away, and in Bangla and Hindi unrelated
words share pieces (Sahoo et al. 2024, section 6.1 and figure 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prasanga.likelihoods.queries import Query
from prasanga.models.pieces import Pieces, Span, overlapping

HOW = ("all", "left-to-right", "first")
"""How a word of several pieces is scored (`log_probability.pieces`, `pairs.pieces`)."""


def masked_queries(
    pieces: Pieces, span: Span, mask: int, *, how: str = "all", hidden: Sequence[Span] = ()
) -> list[Query]:
    """The queries whose log-probabilities, summed, are the score of the word at `span`.

    Args:
        pieces: of the whole text with the word in it.
        span: characters of the word.
        mask: the mask's id.
        how: `all` masks the word's pieces together, one mask each. `left-to-right` makes a query for each piece, which
            hides it and those after it and shows those before it. `first` puts one mask for the whole word and reads
            its first piece (the program of Sadhu et al.); so it does with the spans of `hidden`.
        hidden: other words that the model may not see, such as the attribute where a prior is asked for; one mask a
            piece.

    Returns:
        None at all if no piece stands for a character of the word: the tokenizer drops it.
    """
    own = overlapping(pieces, *span)
    if not own:
        return []
    others = [overlapping(pieces, *other) for other in hidden]
    if how == "first":
        return [_one_mask_a_word(pieces, own, others, mask)]
    covered = {position for word in others for position in word}
    begins = range(len(own)) if how == "left-to-right" else [0]
    read = [[own[begin]] if how == "left-to-right" else own for begin in begins]
    return [
        Query(
            ids=tuple(_replaced(pieces.ids, covered | set(own[begin:]), mask)),
            positions=tuple(positions),
            targets=tuple(pieces.ids[position] for position in positions),
        )
        for begin, positions in zip(begins, read, strict=True)
    ]


def _replaced(ids: Sequence[int], positions: Iterable[int], mask: int) -> list[int]:
    replaced = list(ids)
    for position in positions:
        replaced[position] = mask
    return replaced


def _one_mask_a_word(pieces: Pieces, own: Sequence[int], others: Sequence[Sequence[int]], mask: int) -> Query:
    words = [own, *(word for word in others if word)]
    firsts = {word[0] for word in words}
    dropped = {position for word in words for position in word[1:]} - firsts
    kept = [position for position in range(len(pieces.ids)) if position not in dropped]
    return Query(
        ids=tuple(mask if position in firsts else pieces.ids[position] for position in kept),
        positions=(kept.index(own[0]),),
        targets=(pieces.ids[own[0]],),
    )
