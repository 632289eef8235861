"""Text that must fit: how wide it is, shortened in the middle, wrapped to lines, labels of an axis thinned out.

Widths are measured with the font of the style that is in force, so these are called in `house_style`, as all that
draws. All lengths are in points.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Sequence

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

_HASANTAS = ("\N{BENGALI SIGN VIRAMA}", "\N{DEVANAGARI SIGN VIRAMA}")
_JOINERS = ("\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}")
_SPARE = 1.02
"""The same text is a little wider in one format than in another, where letters are moved to whole dots."""


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Width of one line of text."""
    if not text:
        return 0.0
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) * _SPARE


def shortened(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """One line of text, with an ellipsis in place of its middle where it is wider than `room`.

    Letters are not torn from their vowel signs, nor a conjunct apart. Line breaks and runs of spaces become one space.
    """
    text = " ".join(text.split())
    if width_of(text, size, bold=bold) <= room:
        return text
    letters = _letters(text)
    low, high = 0, len(letters) - 1
    while low < high:  # the most letters that may stay
        kept = (low + high + 1) // 2
        if width_of(_without_middle(letters, kept), size, bold=bold) <= room:
            low = kept
        else:
            high = kept - 1
    return _without_middle(letters, low)


def shortened_apart(texts: Sequence[str], size: float, room: float, *, bold: bool = False) -> list[str]:
    """Each text shortened; those that would then look the same get a number."""
    short = [shortened(text, size, room, bold=bold) for text in texts]
    twice = {text for text in short if short.count(text) > 1}
    return [
        shortened(texts[i], size, room - width_of(f" ({i + 1})", size, bold=bold), bold=bold) + f" ({i + 1})"
        if text in twice
        else text
        for i, text in enumerate(short)
    ]


def wrapped(text: str, size: float, room: float, *, bold: bool = False) -> list[str]:
    """Lines no wider than `room`, broken at spaces, not at no-break spaces; a word wider than that is shortened."""
    space = width_of("n n", size, bold=bold) - width_of("nn", size, bold=bold)
    lines: list[str] = []
    used = room
    for word in filter(None, re.split("[ \t\n]+", text)):
        if (width := width_of(word, size, bold=bold)) > room:
            word = shortened(word, size, room, bold=bold)
            width = width_of(word, size, bold=bold)
        if used + space + width > room:
            lines.append(word)
            used = width
        else:
            lines[-1] += f" {word}"
            used += space + width
    return lines


def thinned(labels: Sequence[str], places: Sequence[float], room: float) -> list[str]:
    """Labels of an axis, without those that are nearer than `room` to the next one that stays; the last stays.

    Args:
        labels: one a tick; empty ones stay empty.
        places: where they stand, rising.
        room: what a label needs, in the units of `places`.
    """
    kept: list[str] = []
    before = float("inf")
    for label, place in zip(reversed(labels), reversed(places), strict=True):
        stays = bool(label) and before - place >= room
        kept.append(label if stays else "")
        before = place if stays else before
    return kept[::-1]


def _without_middle(letters: Sequence[str], kept: int) -> str:
    start = (kept + 1) // 2
    return "".join((*letters[:start], ELLIPSIS, *letters[len(letters) - (kept - start) :]))


def _letters(text: str) -> list[str]:
    """What a reader sees as one letter: with its marks, and with the letters that a hasanta joins to it."""
    letters: list[str] = []
    for before, sign in itertools.pairwise(("", *text)):
        joins = unicodedata.category(sign).startswith("M") or sign in _JOINERS
        if letters and (joins or before in _HASANTAS or before == _JOINERS[0]):
            letters[-1] += sign
        else:
            letters.append(sign)
    return letters
