"""From texts to what a model reads: which pieces, and at which positions of them a vector is made.

A vector is made of pieces of a target word (CEAT), or of a whole sentence (SEAT). Equal texts become one input,
whatever their targets; inputs are in an order that depends on their pieces alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.models.pieces import Pieces, Span, cut_around, overlapping, read_pieces, unknown_pieces

if TYPE_CHECKING:
    from prasanga.models.loading import LoadedModel


Part = TypeVar("Part")
Read = TypeVar("Read")
ON_A_GPU, ON_A_CPU = 1 << 20, 1 << 16
"""Characters of a part: less than a second's work of a card, some ten seconds' of two cores."""
TARGET_PIECES = ("all", "root", "first", "last", "position")
SENTENCE_POOLINGS = ("cls", "mean", "last")
Unknown = Literal["leave-out", "keep"]
"""What becomes of a target with a piece that the tokenizer does not know."""
_BY_KIND = {"encoder": "cls", "encoder-decoder": "mean", "decoder": "last"}
Counts = NDArray[np.int32]


@dataclass(frozen=True)
class Pooling:
    """How a text becomes one vector.

    Attributes:
        unit: `target`, a word at a span of the text, or `sentence`, the text as a whole.
        positions: of a target: `all` the mean over every piece that overlaps its span (Sadhu et al. 2024, section 4.2),
            `root` over those that begin within its root (their program), `first` or `last` one piece (CEAT's program),
            `position` the piece that would be the target's if every word were one piece (the SEAT notebook of Sadhu et
            al.; where a word before the target is split, that is a piece of an earlier word); of a sentence: `cls` the
            first position, `mean` over all, special ones included, `last` the last one.
    """

    unit: Literal["target", "sentence"] = "target"
    positions: str = "all"

    def __post_init__(self) -> None:
        """Refuse positions that there are not."""
        allowed = TARGET_PIECES if self.unit == "target" else SENTENCE_POOLINGS
        if self.positions not in allowed:
            key = "pieces" if self.unit == "target" else "pooling"
            raise InputError(f"{key} is {self.positions!r}; write one of {', '.join(allowed)}.")

    def __str__(self) -> str:
        """Return the name in the key of a vector."""
        return f"{self.unit}-{self.positions}"


def sentence_pooling(asked: str, kind: str, own: str | None = None) -> str:
    """Return what `auto` stands for as the vector of a sentence; anything else stays as it is.

    A model that was trained for vectors of sentences has its own way. Of others, an encoder's first position is there
    to stand for the whole text; a decoder's last one alone has read all of it; an encoder-decoder has neither, and its
    encoder's states are averaged.

    Args:
        asked: `models.<m>.sentence_vector` of the config.
        kind: of the model: `encoder`, `decoder`, `encoder-decoder`.
        own: the way that its files name, if any.
    """
    return (own or _BY_KIND[kind]) if asked == "auto" else asked


def root_end(start: int, end: int, stimulus: str) -> int:
    """Return where the root of a target at `start` to `end` ends.

    It has as many characters as the stimulus, as in the program of Sadhu et al.
    """
    return min(end, start + len(stimulus))


@dataclass(frozen=True)
class Inputs:
    """What a model reads for n items, and which positions of it their vectors are made of.

    Attributes:
        ids: the pieces of each forward pass, shortest first.
        row: (n,) the forward pass of each item.
        positions: of each item, positions in its pass.
        n_pieces: (n,) pieces of the target, or of the sentence, all of them, whichever the vector is made of; 0 where
            there is nothing to make it of (no piece at the target's `position`), and then it says nothing.
        n_unknown: (n,) how many of these the tokenizer does not know; of the one piece at the target's `position`,
            which need be none of them, whether it is unknown.
        cut: (n,) whether the text was cut to fit the model.
    """

    ids: list[tuple[int, ...]]
    row: list[int]
    positions: list[list[int]]
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
    """Tokenize `texts` once, and find what each vector is made of.

    Args:
        loaded: the model that will read them.
        limit: most pieces that it reads; None if nothing limits it.
        texts: n texts.
        spans: of each text, the characters (start, end) of its target; of no meaning for whole sentences.
        pooling: what the vectors are made of.
        roots: where each target's root ends, a position in its text; for `root` alone.

    Raises:
        InputError: a span outside its text, a target without a piece or longer than the model reads, an empty text.
    """
    tokenized = read_pieces(loaded.tokenizer, texts)
    unknown = unknown_pieces(loaded.tokenizer)
    n_pieces, n_unknown = (np.zeros(len(texts), dtype=np.int32) for _ in range(2))
    cut = np.zeros(len(texts), dtype=np.bool_)
    passes: dict[tuple[int, ...], list[tuple[int, list[int]]]] = {}
    for item, text in enumerate(texts):
        pieces = tokenized[text]
        span = None if spans is None else spans[item]
        whole = _sentence(text, pieces) if span is None else _target(text, *span, pieces)
        aim = [] if span is None else whole if pooling.positions != "position" else _at_position(text, span[0], pieces)
        kept = _fit(loaded, limit, text, pieces, aim)
        cut[item] = len(kept) < len(pieces.ids)
        n_pieces[item] = len(whole) if aim or span is None else 0
        n_unknown[item] = sum(pieces.ids[i] in unknown for i in (aim if pooling.positions == "position" else whole))
        chosen = _choose(pooling, pieces, kept, aim, roots[item] if roots is not None else None)
        place = {i: position for position, i in enumerate(kept)} if cut[item] else None
        positions = chosen if place is None else [place[i] for i in chosen]
        ids = tuple(pieces.ids) if place is None else tuple(pieces.ids[i] for i in kept)
        passes.setdefault(ids, []).append((item, positions))

    ordered = sorted(passes, key=lambda ids: (len(ids), ids))
    row, wanted = [0] * len(texts), [[0]] * len(texts)
    for number, ids in enumerate(ordered):
        for item, positions in passes[ids]:
            row[item], wanted[item] = number, positions
    return Inputs(ordered, row, wanted, n_pieces, n_unknown, cut)


def require_pieces(inputs: Inputs, texts: Sequence[str]) -> None:
    """Refuse items that there is nothing to make a vector of; `texts` are theirs, for the message.

    Raises:
        InputError: with the first such text.
    """
    for text, count in zip(texts, inputs.n_pieces.tolist(), strict=True):
        if not count:
            raise InputError(
                f"pieces is 'position', but {shorten(text)!r} has no piece at the place of its target among the words."
                " Leave the text out, or write pieces: all."
            )


def plan_parts(texts: Sequence[str], order: Sequence[int], size: int) -> list[list[int]]:
    """Divide `texts`, in the given order, into parts of about `size` characters; keep equal neighbours together."""
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
    """Yield each part with what `read` makes of it; the next one is read in a thread meanwhile."""
    with ThreadPoolExecutor(1) as reader:
        ahead = [reader.submit(read, part) for part in parts[:1]]
        for number, part in enumerate(parts):
            made = ahead.pop().result()
            ahead += [reader.submit(read, following) for following in parts[number + 1 : number + 2]]
            yield part, made


def _target(text: str, start: int, end: int, pieces: Pieces) -> list[int]:
    """Return the positions of the pieces that overlap the span."""
    if not 0 <= start < end <= len(text):
        raise InputError(f"span {start}-{end} does not lie in its text of {len(text)} characters: {shorten(text)!r}.")
    target = overlapping(pieces, start, end)
    if not target:
        raise InputError(
            f"the tokenizer makes no piece of the target {text[start:end]!r} at {start}-{end} of {shorten(text)!r}:"
            " its normalization drops these characters. Take the word out of the lexicon, or use a tokenizer that keeps"
            " them."
        )
    return target


def _sentence(text: str, pieces: Pieces) -> list[int]:
    if all(pieces.special):
        raise InputError(f"the text {text!r} has no piece: leave empty texts out.")
    return list(range(len(pieces.ids)))


def _fit(loaded: LoadedModel, limit: int | None, text: str, pieces: Pieces, target: list[int]) -> list[int]:
    """Return the positions of the pieces to read; all of the target is among them."""
    begin, end = (target[0], target[-1] + 1) if target else (0, 0)
    kept = cut_around(pieces, begin, end, limit)
    if not set(target) <= set(kept):
        raise InputError(
            f"model {loaded.name} reads {limit} pieces, but the target alone has {len(target)}:"
            f" {shorten(text)!r}. Take the word out of the lexicon, or use a model that reads more."
        )
    return kept


def _choose(pooling: Pooling, pieces: Pieces, kept: list[int], whole: list[int], root: int | None) -> list[int]:
    """Choose the positions in the whole text that the vector is made of; any one where nothing can make it."""
    if pooling.unit == "sentence":
        return {"cls": kept[:1], "last": kept[-1:], "mean": kept}[pooling.positions]
    if pooling.positions in ("all", "position"):
        return whole or kept[:1]
    if pooling.positions == "root":
        if root is None:
            raise InputError("pieces is 'root', but roots is not given: say where each target's root ends.")
        # A piece that begins before the target (with the space before it) is its first one.
        return [i for i in whole if i == whole[0] or pieces.spans[i][0] < root]
    return whole[:1] if pooling.positions == "first" else whole[-1:]


def _at_position(text: str, start: int, pieces: Pieces) -> list[int]:
    """Return the position of the piece that would be the target's if every word were one piece; none if none would.

    Words are what stands between white space; special pieces before the text are counted on top.
    """
    words_before = len(text[: start + 1].split()) - 1
    place = list(pieces.special).index(0) + words_before
    return [place] if place < len(pieces.ids) and not pieces.special[place] else []


def shorten(text: str) -> str:
    """Shorten a text for a message."""
    return text if len(text) <= 200 else f"{text[:200]}..."
