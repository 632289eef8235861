"""Sentences of UTF-8 to numbers of words, compiled."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from prasanga.text.compiled import compiled
from prasanga.text.lines import Bytes, Positions, decode_valid
from prasanga.text.words import IS_WORD, character_flags

_NON_JOINER: Final = 0x200C
_ROOM: Final = 1 << 19
_PRIME: Final = np.uint64(0x9E3779B97F4A7C15)


class Numbering:
    """Numbers for words, from 0 in the order in which they come; memory holds each different word once.

    A zero-width non-joiner is no part of a word, as `prasanga.text.fold` has it.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._n = 0
        self._slots = np.full(4 * _ROOM, -1, dtype=np.int32)  # a power of two, twice the words at least
        self._text = np.empty(16 * _ROOM, dtype=np.uint8)
        # of each word: where its text ends, its hash, how often it came; entry 0 of the ends stands before all words
        self._ends = np.zeros(_ROOM + 1, dtype=np.int64)
        self._hashes = np.empty(_ROOM, dtype=np.uint64)
        self._counts = np.zeros(_ROOM, dtype=np.int64)

    def cut(self, data: Bytes, starts: Positions, ends: Positions) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the numbers of the words of sentences, and how many words each sentence with words has.

        Args:
            data: valid UTF-8.
            starts: of each sentence, its first byte.
            ends: the byte after its last.
        """
        size = int((ends - starts).sum())
        most = size // 2 + len(starts) + 1  # words, each with what stands behind it
        self._make_room(most, size)
        numbers = np.empty(most, dtype=np.uint32)
        lengths = np.empty(most, dtype=np.uint32)
        found, sentences, self._n = _number(
            data,
            starts,
            ends,
            character_flags(),
            self._longest,
            self._slots,
            self._text,
            self._ends,
            self._hashes,
            self._counts,
            self._n,
            numbers,
            lengths,
        )
        return numbers[:found], lengths[:sentences]

    def words(self) -> list[str]:
        """Return the words, by their numbers."""
        text, ends = self._text.tobytes(), self._ends[: self._n + 1].tolist()
        return [text[start:end].decode() for start, end in pairwise(ends)]

    def counts(self) -> NDArray[np.int64]:
        """Return how often each word came."""
        return self._counts[: self._n].copy()

    def _make_room(self, words: int, size: int) -> None:
        if self._n + words > len(self._counts):
            room = 2 * (self._n + words)
            self._counts = np.concatenate([self._counts[: self._n], np.zeros(room - self._n, np.int64)])
            self._hashes = np.concatenate([self._hashes[: self._n], np.zeros(room - self._n, np.uint64)])
            self._ends = np.concatenate([self._ends[: self._n + 1], np.zeros(room - self._n, np.int64)])
            self._slots = np.full(1 << (2 * room - 1).bit_length(), -1, dtype=np.int32)
            _fill(self._hashes[: self._n], self._slots)
        if self._ends[self._n] + size > len(self._text):
            used = self._text[: self._ends[self._n]]
            self._text = np.concatenate([used, np.empty(len(used) + 2 * size, np.uint8)])


@compiled
def _fill(hashes: NDArray[np.uint64], slots: NDArray[np.int32]) -> None:
    mask = np.uint64(len(slots) - 1)
    for word in range(len(hashes)):
        slot = hashes[word] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word


@compiled
def _number(
    data: Bytes,
    starts: Positions,
    ends: Positions,
    flags: NDArray[np.uint16],
    longest: int,
    slots: NDArray[np.int32],
    text: Bytes,
    text_ends: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    counts: NDArray[np.int64],
    n: int,
    numbers: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
) -> tuple[int, int, int]:
    """Write numbers and lengths; return how many of each, and how many different words there are by now."""
    mask = np.uint64(len(slots) - 1)
    found = sentences = 0
    for sentence in range(len(starts)):
        i, end = starts[sentence], ends[sentence]
        length = 0
        while i < end:
            # A word is written behind those that are known, and stays there if it is new.
            begin = text_ends[n]
            write = begin
            hash_ = np.uint64(0)
            while i < end:
                code, size = decode_valid(data, i)
                if flags[code] & IS_WORD == 0:
                    break
                if code != _NON_JOINER:
                    hash_ = (hash_ ^ np.uint64(code)) * _PRIME
                    hash_ ^= hash_ >> np.uint64(29)
                    for k in range(size):
                        text[write + k] = data[i + k]
                    write += size
                i += size
            if write > begin:
                slot = hash_ & mask
                while slots[slot] >= 0:
                    word = slots[slot]
                    if hashes[word] == hash_ and _is_same(text, text_ends[word], text_ends[word + 1], begin, write):
                        break
                    slot = (slot + np.uint64(1)) & mask
                if slots[slot] < 0:
                    slots[slot] = n
                    hashes[n] = hash_
                    text_ends[n + 1] = write
                    counts[n] = 0
                    n += 1
                word = slots[slot]
                counts[word] += 1
                numbers[found] = word
                found += 1
                length += 1
                if length == longest:
                    lengths[sentences] = length
                    sentences += 1
                    length = 0
            while i < end:
                code, size = decode_valid(data, i)
                if flags[code] & IS_WORD != 0:
                    break
                i += size
        if length > 0:
            lengths[sentences] = length
            sentences += 1
    return found, sentences, n


@compiled
def _is_same(text: Bytes, start: int, end: int, other: int, other_end: int) -> bool:
    if end - start != other_end - other:
        return False
    same = True
    for k in range(end - start):
        same &= text[start + k] == text[other + k]
    return same
