"""Normalize lines of UTF-8 and split them into sentences, at the speed of reading them, by compiled functions.

A normalization changes little in ordinary text: it replaces some characters, joins a few sequences, and collapses runs
of spaces. `Rules` has a normalization's result for every character and sequence of a repertoire, learned by calling
it; `rewrite` applies them to many lines in one pass. A line with anything outside the repertoire, or that is not UTF-8,
is left to the caller's slow function.

`split_lines` gives the result of `split_sentences` for each line, about twelve times as fast. Danda, question and
exclamation marks are decided here by the same rules. A full stop or a bar that might end a sentence, a question in
quotes, and a sentence too long to be one make a line *hard*: it goes through `split_sentences`, the definition.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Final, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from prasanga.base.places import user_cache
from prasanga.text.words import (
    IS_ADDRESS,
    IS_CLOSER,
    IS_DANDA,
    IS_PYTHON_WORD,
    IS_QUESTION,
    IS_QUOTE,
    IS_SPACE,
    IS_STOP,
    WORD,
    character_flags,
    split_sentences,
)

# --------------------
# Functions compiled to machine code, for work on every byte of a corpus.
#
# Compiled code is kept on disk, so that only the first run on a machine waits for the compiler: in `NUMBA_CACHE_DIR`,
# next to this module, or in the user's cache folder, whichever is writable. The compiler's own cache notices an edit of
# a function's file, but not of functions and constants that it imports; so the folder is named by the sources of all
# modules that may be involved. These modules are imported where they are called, so that drawing figures does not load
# the compiler.

_Function = TypeVar("_Function", bound=Callable[..., object])


def _sources_digest() -> str:
    """Return a digest of the modules with compiled functions, and of the modules that these use.

    Modules with compiled functions import this one.
    """
    here = Path(__file__)
    digest = hashlib.sha256()
    for path in sorted(here.parents[1].glob("*/*.py")):
        source = path.read_bytes()
        if path.parent == here.parent or b"prasanga.text.lines import" in source:
            digest.update(source)
    return digest.hexdigest()[:16]


def _folders() -> Iterator[Path]:
    if asked := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(asked)
    yield Path(__file__).with_name("__pycache__")
    yield user_cache("compiled")


def _cache_folder() -> Path | None:
    """Return the first writable folder; None without one, and then every process compiles for itself."""
    name = f"compiled-{_sources_digest()}"
    for folder in _folders():
        try:
            (folder / name).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder / name, os.W_OK):
            return folder / name
    return None


_CACHE = _cache_folder()
if _CACHE is not None:
    numba.config.CACHE_DIR = os.fspath(_CACHE)  # type: ignore[attr-defined]  # made when numba is imported


def compiled(function: _Function) -> _Function:
    """Compile `function` at its first call. Array bounds are not checked."""
    return cast(_Function, numba.njit(cache=_CACHE is not None, boundscheck=False)(function))


def compiled_sums(function: _Function) -> _Function:
    """Compile a function that sums many numbers, which may be added in another order than written.

    The order is chosen by the compiler, so every run on a machine has the same; other CPUs may differ in the last
    digit, as they do in a product of matrices. Other threads run meanwhile.
    """
    fast = {"reassoc", "contract", "nsz"}
    return cast(_Function, numba.njit(cache=_CACHE is not None, boundscheck=False, fastmath=fast, nogil=True)(function))


# --------------------
# Lines, and a normalization's effect on them.

Bytes = NDArray[np.uint8]
Positions = NDArray[np.int64]

_COPY: Final = 0
_REPLACE: Final = 1
_STRANGE: Final = 2
_FIRST_OF_SEQUENCE: Final = 4
_CODES: Final = 0x10000

_CONTEXT = "ক"
_SPACE: Final = 32

_MARKS: Final = IS_DANDA | IS_QUESTION | IS_STOP

_NO_END: Final = 0
_END: Final = 1
_HARD: Final = 2


class Lines(NamedTuple):
    """Lines of UTF-8: line i is `data[starts[i]:ends[i]]`."""

    data: Bytes
    starts: Positions
    ends: Positions


class Rules(NamedTuple):
    """The normalized form of each character and sequence of a repertoire.

    Attributes:
        kinds: (65536,) the action for each code point of the basic plane.
        replacements: bytes of all replacements, one after the other.
        of_character: (65536, 2) where a code point's replacement begins and ends in them.
        sequences: (n, 3) code points of the sequences that are rewritten as a whole, padded with -1; sequences with the
            same beginning are adjacent, longer ones first.
        of_sequence: (n, 2) where their replacements begin and end; -1 makes the line strange.
        sequences_of: (65536, 2) the sequences that begin with a code point.
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
    normalize: Callable[[str], str], characters: str, sequences: Iterable[str], strange: Iterable[str], one_space: bool
) -> Rules:
    """Learn a normalization's rules on a repertoire by calling it.

    Args:
        normalize: the normalization, of one text.
        characters: the repertoire (of the basic plane); each is rewritten independently of its neighbors.
        sequences: two or three characters that are rewritten as one.
        strange: sequences that rules cannot express; a line with one of them is left to `normalize`.
        one_space: whether runs of spaces become one space.
    """
    pool = bytearray()
    growth = 1.0

    def ask(text: str) -> tuple[int, int]:
        """Return where in the pool the replacement of a text begins and ends."""
        nonlocal growth
        begin = len(pool)
        pool.extend(normalize(f"{_CONTEXT}{text}{_CONTEXT}")[len(_CONTEXT) : -len(_CONTEXT)].encode())
        growth = max(growth, (len(pool) - begin) / len(text.encode()))
        return begin, len(pool)

    kinds = np.full(_CODES, _STRANGE, dtype=np.uint8)
    of_character = np.zeros((_CODES, 2), dtype=np.int32)
    for character in characters:
        begin, end = of_character[ord(character)] = ask(character)
        kinds[ord(character)] = _COPY if pool[begin:end] == character.encode() else _REPLACE
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
            of_sequence[number] = ask(sequence)
    replacements = np.frombuffer(bytes(pool), dtype=np.uint8)
    return Rules(kinds, replacements, of_character, table, of_sequence, sequences_of, one_space, growth)


def rewrite(lines: Lines, rules: Rules) -> tuple[Lines, NDArray[np.bool_]]:
    """Apply the rules to each line.

    Returns:
        the lines as rewritten, and which of them are strange; these are empty.
    """
    written = np.empty(int((lines.ends - lines.starts).sum() * rules.growth) + 16, dtype=np.uint8)
    starts, ends = np.empty((2, len(lines.starts)), dtype=np.int64)
    strange = np.zeros(len(lines.starts), dtype=np.bool_)
    size = _rewrite(lines, rules, written, starts, ends, strange)
    return Lines(written[:size], starts, ends), strange


class Spans(NamedTuple):
    """Sentences of lines, in order: sentence i is `data[starts[i]:ends[i]]`, in line `lines[i]`."""

    lines: Positions
    starts: Positions
    ends: Positions


def split_lines(lines: Lines, longest: int) -> tuple[Spans, int]:
    """Split normalized lines of valid UTF-8 (without line feeds) into sentences.

    Args:
        lines: the lines.
        longest: most characters of a sentence; a longer one is cut into pieces of at most that length, between words,
            and including the text between two words of at most twice that length. A longer word stays whole.

    Returns:
        The spans in bytes, and the number of sentences that were cut.
    """
    flags = character_flags()
    capacity = 64 + int((lines.ends - lines.starts).sum()) // 16
    while True:
        line, starts, ends = np.empty((3, capacity), dtype=np.int64)
        hard = np.zeros(len(lines.starts), dtype=np.bool_)
        found = _split(*lines, flags, longest, line, starts, ends, hard)
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


@compiled
def decode(data: Bytes, i: int, end: int) -> tuple[np.int32, int]:
    """Return the code point at `data[i]` and its length in bytes; -1 and 1 if `Rules` do not cover it before `end`.

    They do not cover invalid UTF-8 and code points beyond the basic plane.
    """
    first = data[i]
    if first < 0x80:
        return np.int32(first), 1
    if first >= 0xE0 and first < 0xF0:
        if i + 2 < end and data[i + 1] & 0xC0 == 0x80 and data[i + 2] & 0xC0 == 0x80:
            code = (np.int32(first & 0x0F) << 12) | (np.int32(data[i + 1] & 0x3F) << 6) | np.int32(data[i + 2] & 0x3F)
            if code >= 0x800 and (code < 0xD800 or code > 0xDFFF):
                return code, 3
    elif first >= 0xC2 and first < 0xE0 and i + 1 < end and data[i + 1] & 0xC0 == 0x80:
        return (np.int32(first & 0x1F) << 6) | np.int32(data[i + 1] & 0x3F), 2
    return np.int32(-1), 1


@compiled
def decode_valid(data: Bytes, i: int) -> tuple[np.int32, int]:
    """Return the code point at `data[i]` and its length in bytes, where one is known to begin."""
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
    lines: Lines, rules: Rules, written: Bytes, starts: Positions, ends: Positions, strange: NDArray[np.bool_]
) -> int:
    """Write the lines by the rules, and mark strange ones; return the number of bytes."""
    data, kinds, sequences = lines.data, rules.kinds, rules.sequences
    size = 0
    for line in range(len(lines.starts)):
        start, end = lines.starts[line], lines.ends[line]
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
                if not (rules.one_space and lead == _SPACE and size > begun and written[size - 1] == _SPACE):
                    written[size] = lead
                    size += 1
                i += 1
                continue
            code, length = decode(data, i, end)
            kind = kinds[code] if code >= 0 else _STRANGE
            first, last = np.int32(-1), np.int32(-1)
            if kind != _STRANGE:
                first, last = rules.of_character[code, 0], rules.of_character[code, 1]
            after = i + length
            if kind & _FIRST_OF_SEQUENCE:
                number, until = rules.sequences_of[code, 0], rules.sequences_of[code, 1]
                while number < until:
                    j, part = i + length, 1
                    while part < 3 and sequences[number, part] >= 0 and j < end:
                        next_code, next_length = decode(data, j, end)
                        if next_code != sequences[number, part]:
                            break
                        j += next_length
                        part += 1
                    if part == 3 or sequences[number, part] < 0:
                        first, last = rules.of_sequence[number, 0], rules.of_sequence[number, 1]
                        after = j
                        kind = _REPLACE if first >= 0 else _STRANGE
                        break
                    number += 1
            if kind & _STRANGE:
                strange[line] = True
                size = begun
                break
            for k in range(first, last):
                byte = rules.replacements[k]
                if not (rules.one_space and byte == _SPACE and size > begun and written[size - 1] == _SPACE):
                    written[size] = byte
                    size += 1
            i = after
        starts[line] = begun
        ends[line] = size
    return size


def _pieces(text: str, start: int, end: int, longest: int) -> list[tuple[int, int]]:
    """Return the span itself or, if it is too long, its pieces."""
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
    """Yield the uncut units: words, and `longest` characters at a time of a longer stretch without words."""
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
    """Write the sentences of lines that are not hard; return their number, or -1 if the space is too small."""
    size = 0
    for line in range(len(line_starts)):
        end = line_ends[line]
        first = size
        i = line_starts[line]
        start = -1  # of the sentence, once there is ink
        ink = i  # after the last character that is not white space
        characters = 0  # of the sentence so far, including inner white space
        length_at_ink = 0
        while i < end:
            code, length = decode_valid(data, i)
            flag = flags[code]
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
    """Return whether marks of these kinds end the sentence; `after` is where they and what closes them end."""
    if kinds & IS_DANDA:
        return _END
    if kinds & IS_QUESTION:
        if closed:
            return _HARD
        if after < end:
            code, _ = decode_valid(data, after)
            return _NO_END if flags[code] & IS_ADDRESS else _END
        return _END
    if after < end:
        code, _ = decode_valid(data, after)
        if flags[code] & IS_SPACE == 0:
            return _NO_END
    return _HARD
