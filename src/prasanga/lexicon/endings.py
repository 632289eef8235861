"""How a stem ends, which decides the endings that it takes.

Bangla writes the genitive of ফুল as ফুলের, of বাবা as বাবার, of মা as মায়ের and of ভাই as ভাইয়ের: the ending depends on
whether the stem ends in a consonant, in a vowel of a longer word, in the vowel of a one-vowel word, or in a
diphthong. The Bengali and the Devanagari block of Unicode have the same layout, so both are read alike. In Latin script
the classes are those of English spelling: flowers, but wishes and cities.

Where a class says too little, an ending is written out with a hyphen before it: -ी is any stem that ends in ी.
"""

from __future__ import annotations

import re
import unicodedata

ENDING_CLASSES = ("consonant", "vowel", "monosyllable", "diphthong", "plain", "sibilant", "consonant_y")
ANY = "any"
OTHER = "other"

# Offsets within the block of a script (U+0900 Devanagari, U+0980 Bengali).
_CANDRABINDU, _NUKTA, _VIRAMA = 0x01, 0x3C, 0x4D
_INDEPENDENT_VOWELS = range(0x05, 0x15)
_CLOSING_VOWELS = {0x07, 0x08, 0x09, 0x0A}  # ই ঈ উ ঊ: after another vowel always the second half of a diphthong
_VOWEL_SIGNS = {*range(0x3E, 0x4D), 0x57}
_O = 0x13
_GLIDE = "\u09af\u09bc"  # য়, normalized
_CODAS = {0x02, 0x03, _NUKTA, _VIRAMA, 0x4E}  # ং ঃ, a nukta (ড়), a hasanta, ৎ
_JOINERS = "\u200c\u200d"
_SIBILANT = re.compile(r"(s|x|z|ch|sh)$", re.IGNORECASE)
_CONSONANT_Y = re.compile(r"([^aeiou]|qu)y$", re.IGNORECASE)
_LATIN_VOWELS = tuple("aeiou")


def ending_class(stem: str) -> str:
    """The ending class of a normalized stem; of a stem with several words, that of the last one.

    Returns:
        One of `ENDING_CLASSES`, or `OTHER` for scripts in which these classes have no meaning.

        - consonant: a consonant letter; ৎ, ং, ঃ and letters with nukta included (an inherent vowel is not written)
        - vowel: a vowel sign at the end of a word with more than one vowel, or an independent আ, এ, or ও of a long word
        - monosyllable: the only vowel of the word (মা, স্ত্রী, গাঁ)
        - diphthong: an independent ই, উ, or the ও of a short word, after another vowel (ভাই, বউ, নাও; but রেডিও: vowel)
        - sibilant: Latin s, x, z, ch or sh (bus, box, wish)
        - consonant_y: Latin y after a consonant (city; but day: plain)
        - plain: any other Latin letter (flower, rose, wolf, piano)
    """
    word = re.split(r"[\s-]+", stem.strip(_JOINERS))[-1]
    if _is_latin(word[-1:]):
        return "sibilant" if _SIBILANT.search(word) else "consonant_y" if _CONSONANT_Y.search(word) else "plain"
    offsets = [_offset(letter) for letter in word if letter not in _JOINERS]
    while offsets and offsets[-1] == _CANDRABINDU:
        offsets.pop()
    if not offsets or offsets[-1] is None:
        return OTHER
    last = offsets[-1]
    vowels = _count_vowels(offsets)
    if last in _VOWEL_SIGNS:
        return "monosyllable" if vowels == 1 else "vowel"
    if last in _INDEPENDENT_VOWELS:
        if vowels == 1:
            return "monosyllable"
        return "diphthong" if last in _CLOSING_VOWELS or (last == _O and vowels == 2) else "vowel"
    return "consonant" if _is_consonant(last) or last in _CODAS else OTHER


def ends_as(stem: str, endings: tuple[str, ...]) -> bool:
    """Whether a stem is of one of these ending classes, or has one of the endings written out (-ी), or any may be."""
    return (
        ANY in endings
        or ending_class(stem) in endings
        or any(stem.endswith(ending[1:]) for ending in endings if is_written_out(ending))
    )


def is_written_out(ending: str) -> bool:
    """Whether an ending stands for itself, not for a class: -ी."""
    return len(ending) > 1 and ending.startswith("-")


def begins_with_vowel_sign(ending: str) -> bool:
    """Whether an ending is written onto the letter before it (ের, ে)."""
    return bool(ending) and _offset(ending[0]) in _VOWEL_SIGNS


def begins_with_vowel(ending: str) -> bool:
    """Whether an ending begins with a vowel, be it a sign (ের), a letter (ओं) or Latin (es)."""
    if begins_with_vowel_sign(ending) or ending.startswith(_LATIN_VOWELS):
        return True
    return bool(ending) and _offset(ending[0]) in _INDEPENDENT_VOWELS


def ends_in_vowel(stem: str) -> bool:
    """Whether a stem ends in a vowel that is written, as a sign or as a letter."""
    offset = _offset(stem[-1]) if stem else None
    return offset in _VOWEL_SIGNS or offset in _INDEPENDENT_VOWELS


def after_vowel(ending: str) -> str:
    """How an ending is written after a vowel: a vowel sign becomes its letter (भाई: भा + ियों = भाइयों)."""
    return _vowel_letter(ending[0]) + ending[1:] if begins_with_vowel_sign(ending) else ending


def after_hyphen(ending: str, *, glide_may_go: bool = False) -> tuple[str, ...]:
    """How an ending is written after a hyphen.

    A vowel sign cannot stand there; its letter does (ফুল-এর). With `glide_may_go`, the য় before a vowel sign may be
    left out (মা-য়ের, মা-এর).
    """
    if begins_with_vowel_sign(ending):
        return (after_vowel(ending),)
    if glide_may_go and ending.startswith(_GLIDE) and begins_with_vowel_sign(ending[2:]):
        return ending, _vowel_letter(ending[2]) + ending[3:]
    return (ending,)


def _offset(letter: str) -> int | None:
    """The letter's place in its block, or None outside the Bengali and Devanagari blocks."""
    return ord(letter) & 0x7F if 0x0900 <= ord(letter) <= 0x09FF else None


def _is_latin(letter: str) -> bool:
    return letter.isalpha() and unicodedata.name(letter, "").startswith("LATIN ")


def _vowel_letter(sign: str) -> str:
    return chr(ord(sign) - 0x38)


def _count_vowels(offsets: list[int | None]) -> int:
    """The vowels that are written, and the inherent vowel of each bare consonant before the last letter."""
    count = 0
    for place, offset in enumerate(offsets):
        if offset in _VOWEL_SIGNS or offset in _INDEPENDENT_VOWELS:
            count += 1
        elif _is_consonant(offset):
            following = [later for later in offsets[place + 1 : place + 3] if later != _NUKTA]
            count += bool(following) and following[0] not in {*_VOWEL_SIGNS, _VIRAMA}
    return count


def _is_consonant(offset: int | None) -> bool:
    return offset is not None and (0x15 <= offset <= 0x39 or offset in {0x5C, 0x5D, 0x5F, 0x70, 0x71})
