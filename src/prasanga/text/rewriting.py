"""Rewriting of ordinary lines at the speed of reading them, by rules that a slower function was asked for.

A normalization does little to ordinary text: it replaces some characters, joins a few sequences, and makes one space of
several. `Rules` holds what a normalization does to every character and sequence of a given repertoire, learnt by asking
the normalization itself; `rewrite` applies them to many lines of UTF-8 in one pass. A line with anything outside the
repertoire, or that is not UTF-8, is left to the caller, who has the slow function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prasanga.text.compiled import compiled

Bytes = NDArray[np.uint8]
Positions = NDArray[np.int64]

_COPY: Final = 0
_REPLACE: Final = 1
_STRANGE: Final = 2
_FIRST_OF_SEQUENCE: Final = 4
_CODES: Final = 0x10000

_CONTEXT = "ক"
_SPACE: Final = 32


class Lines(NamedTuple):
    """Lines of UTF-8: line i is `data[starts[i]:ends[i]]`."""

    data: Bytes
    starts: Positions
    ends: Positions


@dataclass(frozen=True)
class Rules:
    """What becomes of each character and sequence of a repertoire.

    Attributes:
        kinds: (65536,) what to do with each code point of the basic plane.
        replacements: bytes of all replacements, one after the other.
        of_character: (65536, 2) where in them a code point's replacement begins and ends.
        sequences: (n, 3) code points of the sequences that are rewritten as a whole, filled up with -1; the sequences
            that begin alike stand together, longer ones first.
        of_sequence: (n, 2) where their replacements begin and end; -1 makes the line strange.
        sequences_of: (65536, 2) which sequences begin with a code point.
        one_space: whether runs of spaces become one.
        growth: the largest ratio of the bytes after and before.
    """

    kinds: NDArray[np.uint8]
    replacements: Bytes
    of_character: NDArray[np.int32]
    sequences: NDArray[np.int32]
    of_sequence: NDArray[np.int32]
    sequences_of: NDArray[np.int32]
    one_space: bool
    growth: float


def learn_rules(
    normalize: Callable[[str], str],
    characters: str,
    sequences: Iterable[str] = (),
    strange: Iterable[str] = (),
    *,
    one_space: bool,
) -> Rules:
    """Ask a normalization for its rules on a repertoire.

    Args:
        normalize: the normalization, of one text.
        characters: the repertoire (of the basic plane); each is rewritten independently of its neighbours.
        sequences: two or three characters that are rewritten as one.
        strange: sequences that the rules cannot do; a line with one of them is left to `normalize`.
        one_space: whether runs of spaces become one space.
    """

    def ask(text: str) -> bytes:
        return normalize(f"{_CONTEXT}{text}{_CONTEXT}")[len(_CONTEXT) : -len(_CONTEXT)].encode()

    kinds = np.full(_CODES, _STRANGE, dtype=np.uint8)
    of_character = np.zeros((_CODES, 2), dtype=np.int32)
    pool = bytearray()
    growth = 1.0
    for character in characters:
        replacement = ask(character)
        kinds[ord(character)] = _COPY if replacement == character.encode() else _REPLACE
        of_character[ord(character)] = len(pool), len(pool) + len(replacement)
        pool += replacement
        growth = max(growth, len(replacement) / len(character.encode()))
    refused = set(strange)
    ordered = sorted({*sequences, *refused}, key=lambda sequence: (sequence[0], -len(sequence), sequence))
    table = np.full((len(ordered), 3), -1, dtype=np.int32)
    of_sequence = np.full((len(ordered), 2), -1, dtype=np.int32)
    sequences_of = np.zeros((_CODES, 2), dtype=np.int32)
    for number, sequence in enumerate(ordered):
        first = ord(sequence[0])
        table[number, : len(sequence)] = [ord(character) for character in sequence]
        if not kinds[first] & _FIRST_OF_SEQUENCE:
            kinds[first] |= _FIRST_OF_SEQUENCE
            sequences_of[first, 0] = number
        sequences_of[first, 1] = number + 1
        if sequence not in refused:
            replacement = ask(sequence)
            of_sequence[number] = len(pool), len(pool) + len(replacement)
            pool += replacement
            growth = max(growth, len(replacement) / len(sequence.encode()))
    replacements = np.frombuffer(bytes(pool), dtype=np.uint8)
    return Rules(kinds, replacements, of_character, table, of_sequence, sequences_of, one_space, growth)


def rewrite(lines: Lines, rules: Rules) -> tuple[Lines, NDArray[np.bool_]]:
    """Apply the rules to each line.

    Returns:
        the lines as rewritten, and which of them are strange; these are empty.
    """
    capacity = int((lines.ends - lines.starts).sum() * rules.growth) + 16
    written = np.empty(capacity, dtype=np.uint8)
    starts = np.empty(len(lines.starts), dtype=np.int64)
    ends = np.empty(len(lines.starts), dtype=np.int64)
    strange = np.zeros(len(lines.starts), dtype=np.bool_)
    size = _rewrite(
        lines.data,
        lines.starts,
        lines.ends,
        rules.kinds,
        rules.replacements,
        rules.of_character,
        rules.sequences,
        rules.of_sequence,
        rules.sequences_of,
        rules.one_space,
        written,
        starts,
        ends,
        strange,
    )
    return Lines(written[:size], starts, ends), strange


@compiled
def decode(data: Bytes, i: int, end: int) -> tuple[np.int32, int]:
    """The code point at `data[i]` and its length in bytes; -1 and 1 where there is no valid UTF-8 before `end`."""
    first = data[i]
    if first < 0x80:
        return np.int32(first), 1
    if first >= 0xE0 and first < 0xF0:
        if i + 2 < end and data[i + 1] & 0xC0 == 0x80 and data[i + 2] & 0xC0 == 0x80:
            code = (np.int32(first & 0x0F) << 12) | (np.int32(data[i + 1] & 0x3F) << 6) | np.int32(data[i + 2] & 0x3F)
            if code >= 0x800 and (code < 0xD800 or code > 0xDFFF):
                return code, 3
    elif first >= 0xC2 and first < 0xE0:
        if i + 1 < end and data[i + 1] & 0xC0 == 0x80:
            return (np.int32(first & 0x1F) << 6) | np.int32(data[i + 1] & 0x3F), 2
    elif (
        first >= 0xF0
        and first < 0xF5
        and i + 3 < end
        and data[i + 1] & 0xC0 == 0x80
        and data[i + 2] & 0xC0 == 0x80
        and data[i + 3] & 0xC0 == 0x80
    ):
        code = (
            (np.int32(first & 0x07) << 18)
            | (np.int32(data[i + 1] & 0x3F) << 12)
            | (np.int32(data[i + 2] & 0x3F) << 6)
            | np.int32(data[i + 3] & 0x3F)
        )
        if code >= 0x10000 and code <= 0x10FFFF:
            return code, 4
    return np.int32(-1), 1


@compiled
def decode_valid(data: Bytes, i: int) -> tuple[np.int32, int]:
    """The code point at `data[i]` and its length in bytes, where it is known that one stands there."""
    first = data[i]
    if first < 0x80:
        return np.int32(first), 1
    if first >= 0xF0:
        high = (np.int32(first & 0x07) << 18) | (np.int32(data[i + 1] & 0x3F) << 12)
        return high | (np.int32(data[i + 2] & 0x3F) << 6) | np.int32(data[i + 3] & 0x3F), 4
    if first >= 0xE0:
        high = (np.int32(first & 0x0F) << 12) | (np.int32(data[i + 1] & 0x3F) << 6)
        return high | np.int32(data[i + 2] & 0x3F), 3
    return (np.int32(first & 0x1F) << 6) | np.int32(data[i + 1] & 0x3F), 2


@compiled
def _rewrite(
    data: Bytes,
    line_starts: Positions,
    line_ends: Positions,
    kinds: NDArray[np.uint8],
    replacements: Bytes,
    of_character: NDArray[np.int32],
    sequences: NDArray[np.int32],
    of_sequence: NDArray[np.int32],
    sequences_of: NDArray[np.int32],
    one_space: bool,
    written: Bytes,
    starts: Positions,
    ends: Positions,
    strange: NDArray[np.bool_],
) -> int:
    size = 0
    for line in range(len(line_starts)):
        start, end = line_starts[line], line_ends[line]
        begun = size
        i = start
        while i < end:
            lead = data[i]
            if lead == 0xE0 and i + 2 < end:  # most of a Bangla or Hindi text: U+0800 to U+0FFF, copied
                second, third = data[i + 1], data[i + 2]
                code = (np.int32(second & 0x3F) << 6) | np.int32(third & 0x3F)
                if kinds[code] == _COPY and second & 0xE0 == 0xA0 and third & 0xC0 == 0x80:
                    written[size] = lead
                    written[size + 1] = second
                    written[size + 2] = third
                    size += 3
                    i += 3
                    continue
            elif lead < 0x80 and kinds[lead] == _COPY:
                if not (one_space and lead == _SPACE and size > begun and written[size - 1] == _SPACE):
                    written[size] = lead
                    size += 1
                i += 1
                continue
            code, length = decode(data, i, end)
            kind = kinds[code] if 0 <= code < _CODES else _STRANGE
            first, last = np.int32(-1), np.int32(-1)
            if kind != _STRANGE:
                first, last = of_character[code, 0], of_character[code, 1]
            after = i + length
            if kind & _FIRST_OF_SEQUENCE:
                number, until = sequences_of[code, 0], sequences_of[code, 1]
                while number < until:
                    j, part = i + length, 1
                    while part < 3 and sequences[number, part] >= 0 and j < end:
                        next_code, next_length = decode(data, j, end)
                        if next_code != sequences[number, part]:
                            break
                        j += next_length
                        part += 1
                    if part == 3 or sequences[number, part] < 0:
                        first, last, after = of_sequence[number, 0], of_sequence[number, 1], j
                        kind = _REPLACE if first >= 0 else _STRANGE
                        break
                    number += 1
            if kind & _STRANGE:
                strange[line] = True
                size = begun
                break
            for k in range(first, last):
                byte = replacements[k]
                if not (one_space and byte == _SPACE and size > begun and written[size - 1] == _SPACE):
                    written[size] = byte
                    size += 1
            i = after
        starts[line] = begun
        ends[line] = size
    return size
