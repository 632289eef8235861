"""Compare the two sentences of a pair word by word, and count the things that differ.

IndiBias (Sahoo et al. 2024, section 4.2.1): two sentences are minimally distant if they differ only in the target group
and related pronouns. Hindi verbs and adjectives follow the gender of the group, English articles its first sound; such
words are allowed, and distinguished from the terms themselves. If the terms are unknown, the places at which the
sentences differ give the number of changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from typing import Any, NamedTuple

import polars as pl

from prasanga.models.pieces import Pieces, overlapping, read_pieces
from prasanga.pairs.alignment import Span, SpanAlignment, align_spans, align_words, comparable, write_mark
from prasanga.text.words import WORD

# Words that replace one another. English pronouns: of one person or of several, by case.
_LISTED = {
    "en": (
        {"a", "an"},
        {"he", "she", "they"},
        {"him", "her", "them"},
        {"his", "her", "their"},
        {"his", "hers", "theirs"},
        {"himself", "herself", "themselves", "themself"},
    ),
    "hi": (),
    "bn": ({"সুন্দর", "সুন্দরী"}, {"মহান", "মহীয়সী"}),
}
# Endings that replace one another after the same stem. Hindi: gender and number of adjectives, participles and verbs,
# after a consonant, after a vowel (गया, गई, गए; हुआ, हुई), the latter with or without य.
_ENDINGS = {
    "en": (),
    "hi": (r"(?<=[\u0915-\u0939\u093c])(?:ा|े|ी|ीं)", r"(?:या|ये|यी|यीं|आ|ए|ई|ईं)"),
    "bn": (r"(?:মান|মতী)", r"(?:বান|বতী)"),
}
_NEGATIONS = {
    "en": frozenset(("not", "never", "no", "cannot", "without")),
    "hi": frozenset(("नहीं", "न", "ना", "मत", "बिना", "कभी")),
    "bn": frozenset(("না", "নয়", "নেই", "নি", "নন", "নও", "নই", "ছাড়া")),
}


@dataclass(frozen=True)
class Distance:
    """The different words of two sentences: of the first and of the second.

    Attributes:
        identity: words of the identity terms.
        agreeing: words that agree with them.
        strangers: all others; a pair with some is not minimally distant.
        modified: all of them, in the order of the sentences.
    """

    identity: tuple[list[str], list[str]]
    agreeing: tuple[list[str], list[str]]
    strangers: tuple[list[str], list[str]]
    modified: tuple[list[str], list[str]]

    @property
    def is_minimal(self) -> bool:
        """Return whether the sentences differ only in identity terms and words that agree with them."""
        return any(self.identity) and not any(self.strangers)

    @property
    def modified_mark(self) -> str:
        """Write all words that differ, as in the column `modified` of a file of pairs."""
        return write_mark(*self.modified)

    @property
    def agreeing_mark(self) -> str:
        """Write the words that agree, as in the column `agreeing`; may be empty."""
        return write_mark(*self.agreeing) if any(self.agreeing) else ""


@dataclass(frozen=True)
class Place:
    """Modified words of both sentences at corresponding places; one side may be empty."""

    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def mark(self) -> str:
        """Write the words as a mark of our own layout."""
        return write_mark(list(self.first), list(self.second))

    def agrees(self, language: str) -> bool:
        """Return whether every word is a form of the corresponding one (he / she, चाहता / चाहती)."""
        return _all_agree(self.first, self.second, language)

    def negates(self, language: str) -> bool:
        """Return whether only one side has a negation."""
        return _negates(self.first, language) != _negates(self.second, language)

    def like(self, other: Place) -> bool:
        """Return whether another place exchanges the same words, or forms of them."""
        return all(
            len(mine) == len(its) and all(begin_alike(a, b) for a, b in zip(mine, its, strict=True))
            for mine, its in ((self.first, other.first), (self.second, other.second))
        )


def check_distance(
    first: str,
    second: str,
    *,
    language: str,
    identity: tuple[Sequence[Span], Sequence[Span]],
    agreeing: tuple[Sequence[Span], Sequence[Span]] = ((), ()),
) -> Distance:
    """Sort the modified words of a pair into identity, agreeing words and strangers.

    Args:
        first: a sentence.
        second: the other.
        language: of both; says which words and endings agree.
        identity: the places of the identity terms in each; a word that reaches into one belongs to it.
        agreeing: the places of words that agree by the template. Other different words, in order, must be forms of one
            word by `agree`.
    """
    spans = align_spans(first, second)
    sides = zip((first, second), (spans.modified_first, spans.modified_second), identity, agreeing, strict=True)
    kinds = [
        [
            (text[a:b], "identity" if _reaches(a, b, terms) else "known" if _reaches(a, b, follow) else "rest")
            for a, b in modified
        ]
        for text, modified, terms, follow in sides
    ]

    def words_of_kind(*wanted: str) -> tuple[list[str], list[str]]:
        one, other = ([word for word, kind in side if kind in wanted] for side in kinds)
        return one, other

    known, rest = words_of_kind("known"), words_of_kind("rest")
    agree_all = _all_agree(*rest, language)
    return Distance(
        identity=words_of_kind("identity"),
        agreeing=(known[0] + rest[0], known[1] + rest[1]) if agree_all else known,
        strangers=([], []) if agree_all else rest,
        modified=words_of_kind("identity", "known", "rest"),
    )


def find_places(first: str, second: str, language: str) -> list[Place]:
    """Return the places where two sentences of `language` differ, in order."""
    spans = align_spans(first, second)
    sides = (
        (first, spans.unmodified_first, spans.modified_first),
        (second, spans.unmodified_second, spans.modified_second),
    )
    found: dict[int, tuple[list[str], list[str]]] = {}
    for side, (text, unmodified, modified) in enumerate(sides):
        for start, end in modified:
            before = sum(begin < start for begin, _ in unmodified)
            found.setdefault(before, ([], []))[side].append(text[start:end])
    return [part for place in sorted(found) for part in _parts(*found[place], language)]


def changes(places: Sequence[Place], language: str) -> list[Place]:
    """Return the changes: places that do more than agree, each exchange of the same words once.

    Minimal distance allows one change (IndiBias 4.2.1). If only pronouns differ, the list is empty, and the pronouns
    themselves are the change.
    """
    different: list[Place] = []
    for place in places:
        if not place.agrees(language) and not any(place.like(other) for other in different):
            different.append(place)
    return different


def count_differences(first: str, second: str, language: str) -> dict[str, int]:
    """Count the differences of two sentences: `n_modified_first`, `n_modified_second` (words), `n_changes` (things).

    Minimal distance allows one change; pronouns without another difference are one.
    """
    places = find_places(first, second, language)
    return {
        "n_modified_first": sum(len(place.first) for place in places),
        "n_modified_second": sum(len(place.second) for place in places),
        "n_changes": len(changes(places, language)) or int(bool(places)),
    }


def are_same(first: str, second: str) -> bool:
    """Return whether two sentences have the same words, without case and marks, so no score can distinguish them."""
    alignment = align_words(first, second)
    return not alignment.modified_first and not alignment.modified_second


def agree(first: str, second: str, language: str) -> bool:
    """Return whether two words are forms of one word, for another gender (or, of articles, before another sound).

    Known by lists and endings, not by a dictionary: Hindi nouns that differ in the same way (लड़का, लड़की) pass as well.
    They are identity terms, and no identity term needs to agree.
    """
    a, b = comparable(first), comparable(second)
    if any(a in words and b in words for words in _LISTED[language]):
        return True
    for ending in _ENDINGS[language]:
        one, two = (re.fullmatch(f"(.+?){ending}", word) for word in (a, b))
        if one and two and one[1] == two[1]:
            return True
    return False


def begin_alike(word: str, other: str) -> bool:
    """Return whether two words are equal, or begin alike for half of the shorter one and at least two letters."""
    word, other = comparable(word), comparable(other)
    shorter = min(len(word), len(other))
    begin = next((i for i in range(shorter) if word[i] != other[i]), shorter)
    return word == other or (begin >= 2 and 2 * begin >= shorter)


def find_terms(text: str, terms: Sequence[str]) -> list[Span]:
    """Find `terms` in a text as whole words, whatever their case; of several at one place the longest."""
    found: list[Span] = []
    for term in sorted(set(terms), key=lambda term: (-len(term), term)):
        for match in re.finditer(re.escape(term), text, re.IGNORECASE):
            start, end = match.span()
            if not _inside_word(text, start, end) and not _reaches(start, end, found):
                found.append((start, end))
    return sorted(found)


def _parts(first: list[str], second: list[str], language: str) -> list[Place]:
    """Divide a stretch, so that words that are forms of the corresponding word have separate places.

    Identity term and verb are often neighbors (महिला करती); the verb does not belong to the term.
    """
    shorter = min(len(first), len(second))
    begin = next((i for i in range(shorter) if not _forms(first[i], second[i], language)), shorter)
    end = next(
        (i for i in range(shorter - begin) if not _forms(first[-1 - i], second[-1 - i], language)), shorter - begin
    )
    inner = [(first[begin : len(first) - end], second[begin : len(second) - end])]
    if len(first) == len(second):
        inner = [([], [])]
        for one, other in zip(first[begin : len(first) - end], second[begin : len(second) - end], strict=True):
            if _forms(one, other, language):
                inner += [([one], [other]), ([], [])]
            else:
                inner[-1][0].append(one)
                inner[-1][1].append(other)
    outer = [[([first[i]], [second[i]]) for i in places] for places in (range(begin), range(-end, 0))]
    return [Place(tuple(a), tuple(b)) for a, b in (*outer[0], *inner, *outer[1]) if a or b]


def _forms(word: str, other: str, language: str) -> bool:
    return begin_alike(word, other) or agree(word, other, language)


def _all_agree(first: Sequence[str], second: Sequence[str], language: str) -> bool:
    return len(first) == len(second) and all(agree(a, b, language) for a, b in zip(first, second, strict=True))


def _negates(words: Sequence[str], language: str) -> bool:
    told = [comparable(word) for word in words]
    return any(word in _NEGATIONS[language] or word.endswith("n't") for word in told)


def _inside_word(text: str, start: int, end: int) -> bool:
    return any(WORD.match(one) for one in (text[:start][-1:], text[end : end + 1]) if one)


def _reaches(start: int, end: int, spans: Sequence[Span]) -> bool:
    return any(start < stop and begin < end for begin, stop in spans)


# --------------------
# Pieces that the modified words of a pair share, and their treatment by token-level masking.
#
# Sahoo et al. 2024, section 6.1 and Figure 3: two unrelated Hindi words may end in the same piece. A program that
# aligns pieces, such as the CrowS-Pairs program, takes such a piece for common text of both sentences, and scores part
# of a modified word as unmodified. Whole words are aligned here; this module counts, only from the tokenizer, how often
# that matters for a model.

TABLE = {
    **dict.fromkeys(("model", "language", "pair_id", "word_first", "word_second", "piece"), pl.String),
    **dict.fromkeys(("position_first", "position_second"), pl.Int64),
    "related": pl.Boolean,
}
"""A row per piece shared by a modified word of the first sentence and one of the second. Positions count the pieces
of the word from 1; `related` words begin alike, as forms of one word do."""


class SharedPieces(NamedTuple):
    """The result of `find_shared_pieces`.

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
        Words are cut as in their sentences. Within a pair, each word of one side is compared once with each word of the
        other, by spelling, not by place.
    """
    pieces = read_pieces(tokenizer, (*pairs["first"], *pairs["second"]))
    rows, counts = [], []
    for pair in pairs.iter_rows(named=True):
        spans = align_spans(pair["first"], pair["second"])
        one, two = pieces[pair["first"]], pieces[pair["second"]]
        first, second = _cut(pair["first"], one, spans.modified_first), _cut(pair["second"], two, spans.modified_second)
        shared = list(_find_shared(first, second))
        rows += [
            (model, pair["language"], pair["pair_id"], *words, tokenizer.convert_ids_to_tokens(piece), *places, related)
            for words, piece, places, related in shared
        ]
        split = any(len(ids) > 1 for ids in (*first.values(), *second.values()))
        unrelated = not all(related for *_, related in shared)
        counts.append((pair["language"], 1, split, bool(shared), unrelated, any(taken_apart(one, two, spans))))
    each = pl.DataFrame(counts, schema=["language", *_COUNTS], orient="row").cast(dict.fromkeys(_COUNTS, pl.Int64))
    summed = each.group_by("language").agg(pl.all().sum()).sort("language")
    shares = {f"share_{what}": pl.col(f"n_{what}") / pl.col("n_pairs") for what in ("sharing_unrelated", "taken_apart")}
    table = pl.DataFrame(rows, schema=TABLE, orient="row")
    return SharedPieces(table, summed.select(pl.lit(model).alias("model"), "*").with_columns(**shares))


_COUNTS = ("n_pairs", "n_split", "n_sharing", "n_sharing_unrelated", "n_taken_apart")


def taken_apart(first: Pieces, second: Pieces, spans: SpanAlignment) -> tuple[int, int]:
    """Count how many pieces of modified words token-level masking counts as unmodified, in either sentence.

    The pieces of both sentences are aligned as in the CrowS-Pairs program (`difflib.SequenceMatcher`; Nangia et al.
    2020), here without its shortcut for long sequences.
    """
    blocks = SequenceMatcher(None, list(first.ids), list(second.ids), autojunk=False).get_matching_blocks()
    same = [
        {start + i for start, size in starts for i in range(size)}
        for starts in ([(block.a, block.size) for block in blocks], [(block.b, block.size) for block in blocks])
    ]
    one, two = (
        {place for start, end in modified for place in overlapping(pieces, start, end)}
        for pieces, modified in ((first, spans.modified_first), (second, spans.modified_second))
    )
    return len(same[0] & one), len(same[1] & two)


def _cut(text: str, pieces: Pieces, spans: Sequence[Span]) -> dict[str, tuple[int, ...]]:
    """Return the pieces of the words at `spans`; of a repeated word, the first occurrence counts."""
    words: dict[str, tuple[int, ...]] = {}
    for start, end in spans:
        words.setdefault(text[start:end], tuple(pieces.ids[place] for place in overlapping(pieces, start, end)))
    return words


def _find_shared(
    first: Mapping[str, tuple[int, ...]], second: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[tuple[str, str], int, tuple[int, int], bool]]:
    """Yield two words, a piece that they share, its position in each, and whether the words begin alike."""
    for (word, ids), (other, other_ids) in product(first.items(), second.items()):
        if comparable(word) != comparable(other):  # a moved word is the same word
            for piece in dict.fromkeys(piece for piece in ids if piece in other_ids):
                places = ids.index(piece) + 1, other_ids.index(piece) + 1
                yield (word, other), piece, places, begin_alike(word, other)
