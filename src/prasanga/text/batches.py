"""Normalization of many texts at once: what `normalize` gives for each of them, some thirty times as fast.

Nearly every line of a corpus is made of a few hundred characters: Bengali and Devanagari, ASCII, the usual quotes,
dashes and spaces. On texts of these alone, most of the pipeline can do nothing. There is no mojibake to detect (each of
ftfy's clues contains an accented letter, a symbol, a box or a control character), no entity without an ampersand, no
terminal escape; what is left is a fixed replacement per character, a few pairs, and the runs of spaces. Such texts are
joined with a character that none of them contains and rewritten by plain string replacement, a hundred at a time. All
others go through `normalize`.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Sequence

from prasanga.errors import InputError
from prasanga.text.normalization import Form, Replacement, check_form, normalize

# Left out on purpose: & (entities), U+0951-0954 and U+09FE (marks that Unicode reorders), U+09D7 (joined across a
# letter), and what normalization deletes, since deletion makes neighbours of others.
_ORDINARY_RANGES = (
    ("\t", "\n"),
    ("\r", "\r"),
    (" ", "%"),
    ("'", "~"),
    ("\u0900", "\u0950"),
    ("\u0955", "\u09d6"),
    ("\u09d8", "\u09fd"),
    ("\u00a0", "\u00a0"),
    ("\u200c", "\u200d"),
    ("\u2013", "\u2014"),
    ("\u2018", "\u2019"),
    ("\u201c", "\u201d"),
    ("\u2022", "\u2022"),
    ("\u2026", "\u2026"),
    ("\u2028", "\u2029"),
    ("\u2212", "\u2212"),
)
#: The characters that ordinary texts consist of.
ORDINARY = "".join(chr(code) for first, last in _ORDINARY_RANGES for code in range(ord(first), ord(last) + 1))

_is_ordinary = re.compile("[" + "".join(f"{re.escape(a)}-{re.escape(z)}" for a, z in _ORDINARY_RANGES) + "]*").fullmatch
# Unicode puts a nukta before a hasanta: the one reordering among these characters, and rare.
_is_misordered = re.compile("[\u094d\u09cd][\u093c\u09bc]").search

# Pairs that become one character, in the order of `normalize`: what NFC composes comes first.
_DEVANAGARI_NUKTA = "\u093c"
_DEVANAGARI_PAIRS = tuple((unicodedata.normalize("NFD", letter), letter) for letter in "\u0929\u0931\u0934")
_BENGALI_PAIRS = (
    ("\u09c7\u09be", "\u09cb"),
    ("\u09c7\u0981\u09be", "\u09cb\u0981"),
    ("\u0985\u09be", "\u0986"),
    ("\u09ac\u09bc", "\u09b0"),
)

_SEPARATOR = "\0"
# Texts per joined string: enough to make calls cheap, few enough to stay in the processor's cache.
_CHUNK = 128
# Characters per joined string, so that a batch of very long lines is not copied as a whole.
_CHUNK_CHARACTERS = 1 << 20


def normalize_batch(
    texts: Sequence[str],
    *,
    form: Form = "NFKC",
    urls: Replacement = None,
    punctuation: Replacement = None,
    emoji: Replacement = None,
) -> list[str]:
    """Normalize many texts: equal to `[normalize(text, ...) for text in texts]`.

    Args:
        texts: any texts.
        form: see `normalize`; every form is fast.
        urls: see `normalize`. With a replacement asked for, texts are normalized one by one.
        punctuation: likewise.
        emoji: likewise.

    Raises:
        InputError: for another `form`.
    """
    check_form(form)
    if not (urls is None and punctuation is None and emoji is None):
        return [normalize(text, form=form, urls=urls, punctuation=punctuation, emoji=emoji) for text in texts]
    result: list[str] = []
    for start in range(0, len(texts), _CHUNK):
        result += _normalize_chunk(texts[start : start + _CHUNK], form)
    return result


def _normalize_chunk(texts: Sequence[str], form: Form) -> list[str]:
    if len(texts) > 1 and sum(map(len, texts)) > _CHUNK_CHARACTERS:
        half = len(texts) // 2
        return _normalize_chunk(texts[:half], form) + _normalize_chunk(texts[half:], form)
    unusual = [index for index, text in enumerate(texts) if not _is_ordinary(text)]
    joined = _join_without(unusual, texts)
    if _is_misordered(joined):
        unusual = [index for index, text in enumerate(texts) if not _is_ordinary(text) or _is_misordered(text)]
        joined = _join_without(unusual, texts)
    normalized = _normalize_ordinary(joined, form).split(_SEPARATOR)
    for index in unusual:
        normalized[index] = normalize(texts[index], form=form)
    return normalized


def _join_without(unusual: Sequence[int], texts: Sequence[str]) -> str:
    """Join the texts, with nothing in the place of the unusual ones."""
    ordinary = list(texts)
    for index in unusual:
        ordinary[index] = ""
    return _SEPARATOR.join(ordinary)


def _normalize_ordinary(text: str, form: Form) -> str:
    """Normalize text of ordinary characters and separators without a misordered pair."""
    if _DEVANAGARI_NUKTA in text:
        for pair, letter in _DEVANAGARI_PAIRS:
            text = text.replace(pair, letter)
    for pair, letter in _BENGALI_PAIRS:
        text = text.replace(pair, letter)
    for character, replacement in _replacements(form):
        text = text.replace(character, replacement)
    while "  " in text:
        text = text.replace("  ", " ")
    return text


@functools.cache
def _replacements(form: Form) -> tuple[tuple[str, str], ...]:
    """The ordinary characters that normalization changes, and what into; asked of `normalize` itself."""
    normalized = ((character, normalize(f"ক{character}ক", form=form)[1:-1]) for character in ORDINARY)
    return tuple((character, replacement) for character, replacement in normalized if replacement != character)


def normalizer(name: str) -> Callable[[Sequence[str]], list[str]]:
    """The batch normalizer of that name in a config.

    Args:
        name: `bangla` (`normalize_batch`), `nfc` or `nfkc` (that Unicode form and nothing else), or `none` (texts as
            they are).

    Raises:
        InputError: for another name.
    """
    normalizers: dict[str, Callable[[Sequence[str]], list[str]]] = {
        "bangla": normalize_batch,
        "none": list,
        "nfc": functools.partial(_unicode_form, "NFC"),
        "nfkc": functools.partial(_unicode_form, "NFKC"),
    }
    if name not in normalizers:
        raise InputError(
            f"normalization: {name!r} is unknown; allowed are {', '.join(normalizers)}. Write `normalization: bangla`"
            " for Bangla, `normalization: nfc` for other languages."
        )
    return normalizers[name]


def _unicode_form(form: Form, texts: Sequence[str]) -> list[str]:
    return [unicodedata.normalize(form, text) for text in texts]
