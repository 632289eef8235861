"""Turn texts into model inputs: the pieces to read, and the positions that each vector is made of.

A vector is made of pieces of a target word (CEAT), or of a whole sentence (SEAT). Equal texts become one input,
whatever their targets. The order of inputs depends only on their pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.models.pieces import PieceTable, Span, cut_around, read_piece_table, unknown_pieces

if TYPE_CHECKING:
    from prasanga.models.loading import LoadedModel


Part = TypeVar("Part")
Read = TypeVar("Read")
ON_A_GPU, ON_A_CPU = 1 << 20, 1 << 16
"""Characters of a part: less than a second of work for a GPU, about ten seconds for two cores."""
TARGET_PIECES = ("all", "root", "first", "last", "position")
SENTENCE_POOLINGS = ("cls", "mean", "last")
Unknown = Literal["leave-out", "keep"]
"""Whether to leave out or keep a target with a piece that the tokenizer does not know."""
Counts = NDArray[np.int32]


@dataclass(frozen=True)
class Pooling:
    """How a text becomes one vector.

    Attributes:
        unit: `target`, a word at a span of the text, or `sentence`, the text as a whole.
        positions: for a target: `all` the mean over every piece that overlaps its span (Sadhu et al. 2024, section
            4.2), `root` over the pieces that begin within its root (their program), `first` or `last` one piece (CEAT's
            program), `position` the piece at the target's place if every word were one piece (the SEAT notebook of
            Sadhu et al.; if a word before the target is split, this is a piece of an earlier word). For a sentence:
            `cls` the first position, `mean` over all, special ones included, `last` the last one.
    """

    unit: Literal["target", "sentence"] = "target"
    positions: str = "all"

    def __post_init__(self) -> None:
        """Refuse unknown positions."""
        allowed = TARGET_PIECES if self.unit == "target" else SENTENCE_POOLINGS
        if self.positions not in allowed:
            key = "pieces" if self.unit == "target" else "pooling"
            raise InputError(f"{key} is {self.positions!r}; write one of {', '.join(allowed)}.")

    def __str__(self) -> str:
        """Return the name in the key of a vector."""
        return f"{self.unit}-{self.positions}"


def root_end(start: int, end: int, stimulus: str) -> int:
    """Return where the root of a target at `start` to `end` ends.

    It has as many characters as the stimulus, as in the program of Sadhu et al.
    """
    return min(end, start + len(stimulus))


@dataclass(frozen=True)
class Inputs:
    """The model's inputs for n items, and the positions in them that make the vectors.

    Attributes:
        ids: the pieces of each forward pass, shortest first.
        row: (n,) the forward pass of each item.
        positions: for all items in turn, their positions in the passes.
        counts: (n,) the number of positions of each item, at least one.
        n_pieces: (n,) all pieces of the target or sentence, even if the vector uses fewer; 0 if the target does not
            have a piece at its `position`, and then the item's vector is meaningless.
        n_unknown: (n,) how many of these pieces the tokenizer does not know; for `position`, whether the one piece
            there (perhaps of another word) is unknown.
        cut: (n,) whether the text was cut to fit the model.
    """

    ids: list[NDArray[np.int64]]
    row: NDArray[np.int64]
    positions: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_pieces: Counts
    n_unknown: Counts
    cut: NDArray[np.bool_]


def read_inputs(
    loaded: LoadedModel,
    limit: int | None,
    texts: Sequence[str],
    spans: Sequence[Span] | None,
    pooling: Pooling,
    roots: Sequence[int] | None = None,
) -> Inputs:
    """Tokenize `texts` once, and find the positions for each vector.

    Args:
        loaded: the model.
        limit: the most pieces that it reads; None for no limit.
        texts: n texts.
        spans: the characters (start, end) of each text's target; None for whole sentences.
        pooling: how a text becomes a vector.
        roots: where each target's root ends, a position in its text; for `root` only.

    Raises:
        InputError: a span is outside its text, a target does not have a piece or is longer than the model's limit, or a
            text is empty.
    """
    if pooling.positions == "root" and roots is None:
        raise InputError("pieces is 'root', but `roots` is missing. Give the end of each target's root.")
    different = list(dict.fromkeys(texts))
    places = {text: place for place, text in enumerate(different)}
    row = np.fromiter((places[text] for text in texts), np.int64, len(texts))
    table = read_piece_table(loaded.tokenizer, different)
    lengths = np.diff(table.borders)
    # one row for each piece of each item's text: the item, the piece, and its position in the text
    item = np.repeat(np.arange(len(texts)), lengths[row])
    position = np.arange(len(item)) - np.repeat(np.cumsum(lengths[row]) - lengths[row], lengths[row])
    piece = table.borders[row][item] + position

    def count(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(item[rows], minlength=len(texts))

    if spans is None:
        whole = np.ones(len(item), np.bool_)
        for bad in np.flatnonzero(count(~table.special[piece]) == 0).tolist():
            raise InputError(f"the text {texts[bad]!r} does not have any piece. Leave empty texts out.")
    else:
        whole = _find_targets(texts, np.array(spans, np.int64).reshape(-1, 2), table, item, piece)
    n_pieces, counted = count(whole), whole
    if pooling.positions == "position":
        counted = chosen = _find_positions(texts, spans or [], table, row)[item] == position
        n_pieces[count(chosen) == 0] = 0
    else:
        chosen = _choose_pieces(pooling, whole, item, table.spans[piece, 0], roots)
    unknown = np.isin(table.ids, list(unknown_pieces(loaded.tokenizer)))[piece]
    n_unknown = count(unknown & counted)
    chosen = chosen | ((position == 0) & (n_pieces == 0)[item])  # a placeholder, for a vector that is not used

    passes = [table.ids[begin:end] for begin, end in pairwise(table.borders)]
    cut = np.zeros(len(texts), np.bool_) if limit is None else lengths[row] > limit
    counts, positions = count(chosen), position[chosen]
    if cut.any():
        parts = np.split(positions, np.cumsum(counts)[:-1])
        aims = parts if pooling.positions == "position" else np.split(position[whole], np.cumsum(count(whole))[:-1])
        known: dict[bytes, int] = {}
        for number in np.flatnonzero(cut).tolist():
            aim = [] if spans is None else aims[number].tolist()
            begin, end = (aim[0], aim[-1] + 1) if aim else (0, 0)
            kept = np.array(cut_around(table.pieces(row[number]), begin, end, limit), np.int64)
            if not np.isin(aim, kept).all():
                raise InputError(
                    f"model {loaded.name} reads at most {limit} pieces, but the target alone has {len(aim)}:"
                    f" {shorten(texts[number])!r}. Take the word out of the lexicon, or use a model that reads more."
                )
            if spans is None:
                parts[number] = {"cls": kept[:1], "last": kept[-1:], "mean": kept}[pooling.positions]
            ids = table.ids[table.borders[row[number]] + kept]
            row[number] = known.setdefault(ids.tobytes(), len(passes))
            if row[number] == len(passes):
                passes.append(ids)
            parts[number] = np.searchsorted(kept, parts[number])
        counts, positions = np.array(list(map(len, parts))), np.concatenate(parts)

    used, row = np.unique(row, return_inverse=True)
    order = np.argsort([len(passes[each]) for each in used], kind="stable")
    return Inputs(
        ids=[passes[used[each]] for each in order],
        row=np.argsort(order)[row],
        positions=positions,
        counts=counts,
        n_pieces=n_pieces.astype(np.int32),
        n_unknown=n_unknown.astype(np.int32),
        cut=cut,
    )


def plan_parts(texts: Sequence[str], order: Sequence[int], size: int) -> list[list[int]]:
    """Divide `texts`, in the given order, into parts of about `size` characters; equal neighbors share a part."""
    parts: list[list[int]] = [[]]
    before, held = None, 0
    for place in order:
        if held >= size and texts[place] != before:
            parts.append([])
            held = 0
        parts[-1].append(place)
        before = texts[place]
        held += len(before)
    return parts


def read_ahead(parts: Sequence[Part], read: Callable[[Part], Read]) -> Iterator[tuple[Part, Read]]:
    """Yield each part with the result of `read`; a thread reads the next one meanwhile."""
    with ThreadPoolExecutor(1) as reader:
        ahead = [reader.submit(read, part) for part in parts[:1]]
        for number, part in enumerate(parts):
            made = ahead.pop().result()
            ahead += [reader.submit(read, following) for following in parts[number + 1 : number + 2]]
            yield part, made


def _find_targets(
    texts: Sequence[str], spans: NDArray[np.int64], table: PieceTable, item: NDArray[np.int64], piece: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which pieces overlap the span of their item."""
    start, end = spans[:, 0], spans[:, 1]
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    for bad in np.flatnonzero((start < 0) | (start >= end) | (end > sizes)).tolist():
        raise InputError(
            f"span {start[bad]}-{end[bad]} is outside its text of {sizes[bad]} characters:"
            f" {shorten(texts[bad])!r}. Give character positions within the text."
        )
    found: NDArray[np.bool_] = (
        (table.spans[piece, 0] < end[item]) & (table.spans[piece, 1] > start[item]) & ~table.special[piece]
    )
    for bad in np.flatnonzero(np.bincount(item[found], minlength=len(texts)) == 0).tolist():
        raise InputError(
            f"the tokenizer drops the target {texts[bad][start[bad] : end[bad]]!r} at {start[bad]}-{end[bad]} of"
            f" {shorten(texts[bad])!r}. Take the word out of the lexicon, or use a tokenizer that keeps it."
        )
    return found


def _choose_pieces(
    pooling: Pooling,
    whole: NDArray[np.bool_],
    item: NDArray[np.int64],
    start: NDArray[np.int64],
    roots: Sequence[int] | None,
) -> NDArray[np.bool_]:
    """Return which pieces of a target or sentence make its vector; `start` is the first character of each piece."""
    at = np.flatnonzero(whole)
    changes = item[at][1:] != item[at][:-1]
    if pooling.positions in ("first", "cls"):
        at = at[np.concatenate([[True], changes])[: len(at)]]
    elif pooling.positions == "last":
        at = at[np.concatenate([changes, [True]])[: len(at)]]
    elif pooling.positions == "root":
        # A piece that begins before the target (with the space before it) is its first one.
        at = at[np.concatenate([[True], changes])[: len(at)] | (start[at] < np.array(roots)[item[at]])]
    chosen = np.zeros_like(whole)
    chosen[at] = True
    return chosen


def _find_positions(
    texts: Sequence[str], spans: Sequence[Span], table: PieceTable, row: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each text the position of the target's piece if every word were one piece, (n,); -1 if there is none.

    Words are separated by white space; special pieces before the text are added.
    """
    found = np.full(len(texts), -1)
    for number, (text, (start, _)) in enumerate(zip(texts, spans, strict=True)):
        special = table.special[table.borders[row[number]] : table.borders[row[number] + 1]]
        place = int(np.argmin(special)) + len(text[: start + 1].split()) - 1
        if place < len(special) and not special[place]:
            found[number] = place
    return found


def shorten(text: str) -> str:
    """Shorten a text for a message."""
    return text if len(text) <= 200 else f"{text[:200]}..."
