"""Which words the two sentences of a pair share, and which they do not.

IndiBias (Sahoo et al. 2024, 6.1) breaks both sentences into words and scores the unmodified ones (its U sets) given the
modified ones (its M sets). A word is unmodified if it belongs to the longest common subsequence of the two lists of
words, so order counts: a word that both sentences have at places that cannot be matched at once is modified in both.
Whole words are aligned, never pieces, since unrelated words of Indic scripts share pieces (the paper's Figure 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from prasanga.pairs.words import Punctuation, Word, comparable, words_of

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Alignment:
    """The words of a pair, each list in the order of its sentence and spelled as there.

    `unmodified_first[i]` and `unmodified_second[i]` are the same word, perhaps in two spellings.
    """

    unmodified_first: list[str]
    modified_first: list[str]
    unmodified_second: list[str]
    modified_second: list[str]


@dataclass(frozen=True)
class SpanAlignment:
    """The same four lists as character spans (start, end) into the sentences as given."""

    unmodified_first: list[Span]
    modified_first: list[Span]
    unmodified_second: list[Span]
    modified_second: list[Span]


def align_words(first: str, second: str, *, punctuation: Punctuation = "apart") -> Alignment:
    """Unmodified and modified words of two sentences.

    Words are compared as `prasanga.pairs.words.comparable` says and returned as written. Among the longest common
    subsequences, that with the fewest runs of modified words is taken, so that what differs lies together; then that
    with the fewest edits (one word in place of another is one edit), so that of two nouns that are exchanged around a
    word both are modified. The choice between those that are left is fixed, and the same if the two sentences change
    places.

    Args:
        first: a sentence.
        second: the other.
        punctuation: `apart` or `with-word`, see `words_of`.

    Raises:
        InputError: for another `punctuation`.
    """
    return Alignment(*([word.text for word in words] for words in _aligned(first, second, punctuation)))


def align_spans(first: str, second: str, *, punctuation: Punctuation = "apart") -> SpanAlignment:
    """Where the words of `align_words` stand: `first[start:end]`, `second[start:end]`."""
    return SpanAlignment(
        *([(word.start, word.end) for word in words] for words in _aligned(first, second, punctuation))
    )


def _aligned(first: str, second: str, punctuation: Punctuation) -> tuple[list[Word], ...]:
    """Unmodified and modified words of the first sentence, then of the second."""
    of_first, of_second = words_of(first, punctuation), words_of(second, punctuation)
    matches = match_words([comparable(word.text) for word in of_first], [comparable(word.text) for word in of_second])
    return (
        *_parted(of_first, {place for place, _ in matches}),
        *_parted(of_second, {place for _, place in matches}),
    )


def _parted(words: Sequence[Word], unmodified: set[int]) -> tuple[list[Word], list[Word]]:
    return (
        [word for place, word in enumerate(words) if place in unmodified],
        [word for place, word in enumerate(words) if place not in unmodified],
    )


def match_words(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """A longest common subsequence with the fewest gaps, and then the fewest edits, as pairs of places, in order.

    Args:
        first: words, as they are to be compared.
        second: words.

    Returns:
        `(i, j)` with `first[i] == second[j]`, both rising. `match_words(second, first)` gives the same with i and j
        exchanged.

    Without what both begin and end with there are n and m words left; time and memory grow with n x m, 25 bytes
    each. That is nothing for sentences, and 100 MB for two texts of 2,000 words that begin and end differently.
    """
    if tuple(second) < tuple(first):
        return [(i, j) for j, i in match_words(second, first)]
    # Matching what both begin and end with costs neither length nor gaps, and leaves little of a usual pair.
    shorter = min(len(first), len(second))
    begin = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    end = next((i for i in range(shorter - begin) if first[-1 - i] != second[-1 - i]), shorter - begin)
    inner = _match_inner(first[begin : len(first) - end], second[begin : len(second) - end])
    return [
        *((i, i) for i in range(begin)),
        *((begin + i, begin + j) for i, j in inner),
        *((len(first) - i, len(second) - i) for i in range(end, 0, -1)),
    ]


def _match_inner(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """`match_words` for what is left between a common beginning and a common end."""
    if not first or not second:
        return []
    codes = {word: code for code, word in enumerate(dict.fromkeys([*first, *second]))}
    equal = np.equal.outer([codes[word] for word in first], [codes[word] for word in second])
    beside = len(first) + len(second) + 1  # more than all edits together
    one_match = beside * (min(len(first), len(second)) + 2)  # more than all that can stand side by side
    apart, joined = _values(equal, one_match, beside)
    matches = []
    i = j = 0
    adjacent = True
    while i < len(first) and j < len(second):
        value = joined[i, j] if adjacent else apart[i, j]
        if equal[i, j] and value == one_match + adjacent * beside + joined[i + 1, j + 1]:
            matches.append((i, j))
            i, j, adjacent = i + 1, j + 1, True
            continue
        if apart[i + 1, j + 1] - 1 == value:
            i, j = i + 1, j + 1
        elif apart[i + 1, j] - 1 == value:
            i += 1
        else:
            j += 1
        adjacent = False
    return matches


def _values(equal: NDArray[np.bool_], one_match: int, beside: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What the words from (i, j) on can still bring: `one_match` a match, `beside` where no gap parts it from the last.

    An edit takes 1 away: a word of one sentence left out, or a word of each in one place. `apart[i, j]` supposes that
    the places before (i, j) are not matched with each other, `joined[i, j]` that they are. The places before the
    beginning and after the end count as matched. Filled along the diagonals i + j, which depend on later ones only.
    """
    n, m = equal.shape
    left = np.maximum.outer(n - np.arange(n + 1), m - np.arange(m + 1))
    apart = -left.astype(np.int64)  # right where one sentence is at its end: the rest of the other is left out
    joined = apart.copy()
    joined[n, m] = beside
    for total in range(n + m - 2, -1, -1):
        i = np.arange(max(0, total - m + 1), min(n - 1, total) + 1)
        j = total - i
        skipped = np.maximum(np.maximum(apart[i + 1, j], apart[i, j + 1]), apart[i + 1, j + 1]) - 1
        matched = np.where(equal[i, j], one_match + joined[i + 1, j + 1], skipped)
        apart[i, j] = np.maximum(skipped, matched)
        joined[i, j] = np.maximum(skipped, np.where(equal[i, j], matched + beside, skipped))
    return apart, joined
