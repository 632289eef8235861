"""Sentences of many lines at once: what `split_sentences` gives for each, some four times as fast.

Danda, question and exclamation marks are decided here by the same rules. A full stop or a bar that might end a
sentence, and a sentence too long to be one, make a line *hard*: it goes through `split_sentences`, which stays the
definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prasanga.text.characters import (
    IS_ADDRESS,
    IS_CLOSER,
    IS_DANDA,
    IS_LOWER,
    IS_ODD,
    IS_OPENER,
    IS_PYTHON_WORD,
    IS_QUESTION,
    IS_QUOTE,
    IS_SPACE,
    IS_STOP,
    character_flags,
)
from prasanga.text.compiled import compiled
from prasanga.text.rewriting import Bytes, Lines, Positions, decode_valid
from prasanga.text.splitting import split_sentences
from prasanga.text.words import WORD

_MARKS: Final = IS_DANDA | IS_QUESTION | IS_STOP

_NO_END: Final = 0
_END: Final = 1
_HARD: Final = 2


class Spans(NamedTuple):
    """Sentences of lines, in order: sentence i is `data[starts[i]:ends[i]]`, in line `lines[i]`."""

    lines: Positions
    starts: Positions
    ends: Positions


def split_lines(lines: Lines, longest: int) -> tuple[Spans, int]:
    """Split normalized lines of valid UTF-8 (without line feeds) into sentences.

    Args:
        lines: the lines.
        longest: greatest number of characters of a sentence; a longer one is cut into pieces of at most so many,
            between words, and with what stands between two words of at most twice as many. A longer word stays whole.

    Returns:
        The spans in bytes, and how many sentences were cut.
    """
    flags = character_flags()
    capacity = 64 + int((lines.ends - lines.starts).sum()) // 16
    while True:
        line = np.empty(capacity, dtype=np.int64)
        starts = np.empty(capacity, dtype=np.int64)
        ends = np.empty(capacity, dtype=np.int64)
        hard = np.zeros(len(lines.starts), dtype=np.bool_)
        found = _split(lines.data, lines.starts, lines.ends, flags, longest, line, starts, ends, hard)
        if found >= 0:
            break
        capacity *= 4
    spans = Spans(line[:found], starts[:found], ends[:found])
    if not hard.any():
        return spans, 0
    slow: list[tuple[int, int, int]] = []
    cut = 0
    for number in np.flatnonzero(hard).tolist():
        begin = int(lines.starts[number])
        text = lines.data[begin : lines.ends[number]].tobytes().decode("utf-8", "surrogatepass")
        pieces = []
        for start, end in split_sentences(text):
            parts = _pieces(text, start, end, longest)
            cut += len(parts) > 1
            pieces += parts
        done = 0
        for start, end in pieces:
            begin += _size(text[done:start])
            size = _size(text[start:end])
            slow.append((number, begin, begin + size))
            begin += size
            done = end
    added = np.array(slow, dtype=np.int64).reshape(-1, 3)
    joined = Spans(*(np.concatenate([column, added[:, i]]) for i, column in enumerate(spans)))
    order = np.argsort(joined.lines, kind="stable")
    return Spans(*(column[order] for column in joined)), cut


def _pieces(text: str, start: int, end: int, longest: int) -> list[tuple[int, int]]:
    """The span itself, or, where it is too long, its pieces."""
    if end - start <= longest:
        return [(start, end)]
    edges = [start]
    for unit_start, unit_end in _units(text, start, end, longest):
        if unit_end - edges[-1] > longest and unit_start > edges[-1]:
            edges.append(unit_start)
    pieces = []
    for piece_start, piece_end in pairwise([*edges, end]):
        piece = text[piece_start:piece_end]
        if ink := piece.strip():
            ink_start = piece_start + len(piece) - len(piece.lstrip())
            pieces.append((ink_start, ink_start + len(ink)))
    return pieces


def _units(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """What is not cut: the words, and in a stretch without words that is longer than that, `longest` characters."""
    after = start
    for word_start, word_end in chain((word.span() for word in WORD.finditer(text, start, end)), [(end, end)]):
        if word_start - after > longest:
            for cut in range(after, word_start, longest):
                yield cut, min(cut + longest, word_start)
        yield word_start, word_end
        after = word_end


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@compiled
def _split(
    data: Bytes,
    line_starts: Positions,
    line_ends: Positions,
    flags: NDArray[np.uint16],
    longest: int,
    lines: Positions,
    starts: Positions,
    ends: Positions,
    hard: NDArray[np.bool_],
) -> int:
    """Write the sentences of the lines that are not hard; their number, or -1 if there is no room for them."""
    size = 0
    for line in range(len(line_starts)):
        end = line_ends[line]
        first = size
        i = line_starts[line]
        start = -1  # of the sentence, once there is ink
        ink = i  # after the last character that is not white space
        characters = 0  # of the sentence so far, with those of white space that it goes on after
        length_at_ink = 0
        while i < end:
            code, length = decode_valid(data, i)
            flag = flags[code]
            if flag & IS_ODD:
                hard[line] = True
                break
            if flag & _MARKS == 0:
                if flag & IS_SPACE == 0:
                    if start < 0:
                        start, characters = i, 0
                    ink = i + length
                    length_at_ink = characters + 1
                characters += 1
                i += length
                continue
            if start < 0:
                start, characters = i, 0
            begun = i
            kinds = 0
            while i < end:  # the marks
                code, length = decode_valid(data, i)
                flag = flags[code]
                if flag & _MARKS == 0:
                    break
                kinds |= flag
                characters += 1
                i += length
            closed = False
            while i < end:  # quotes and brackets that close
                code, length = decode_valid(data, i)
                flag = flags[code]
                if flag & IS_QUOTE and i + length < end:
                    next_code, _ = decode_valid(data, i + length)
                    if flags[next_code] & IS_PYTHON_WORD:
                        break
                elif flag & (IS_CLOSER | IS_QUOTE) == 0:
                    break
                closed = True
                characters += 1
                i += length
            ink = i
            length_at_ink = characters
            verdict = _is_end(data, i, end, flags, kinds, closed)
            if verdict == _HARD:
                hard[line] = True
                break
            if verdict == _NO_END:
                continue
            if length_at_ink > longest:
                hard[line] = True
                break
            if begun == start and size > first:
                if i - starts[size - 1] > longest:  # in bytes, so that some lines go the slow way for nothing
                    hard[line] = True
                    break
                ends[size - 1] = i
            else:
                if size == len(starts):
                    return -1
                lines[size], starts[size], ends[size] = line, start, i
                size += 1
            start = -1
            characters = 0
        if not hard[line] and start >= 0:
            if length_at_ink > longest:
                hard[line] = True
            else:
                if size == len(starts):
                    return -1
                lines[size], starts[size], ends[size] = line, start, ink
                size += 1
        if hard[line]:
            size = first
    return size


@compiled
def _is_end(data: Bytes, after: int, end: int, flags: NDArray[np.uint16], kinds: int, closed: bool) -> int:
    """Whether marks of these kinds end the sentence; `after` is where they and what closes them end."""
    if kinds & IS_DANDA:
        return _END
    if kinds & IS_QUESTION:
        if not closed:
            if after < end:
                code, _ = decode_valid(data, after)
                return _NO_END if flags[code] & IS_ADDRESS else _END
            return _END
        i = after
        while i < end:
            code, length = decode_valid(data, i)
            if flags[code] & IS_ODD:
                return _HARD
            if flags[code] & IS_SPACE == 0:
                break
            i += length
        while i < end:
            code, length = decode_valid(data, i)
            if flags[code] & IS_OPENER == 0:
                return _NO_END if flags[code] & IS_LOWER else _END
            i += length
        return _END
    if after < end:
        code, _ = decode_valid(data, after)
        if flags[code] & IS_SPACE == 0:
            return _NO_END
    return _HARD
