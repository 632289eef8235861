"""Text in figures: which font shows it, and what of it has room.

The font of a figure is DejaVu Sans, which comes with matplotlib; letters that it lacks come from the font of their
script. Fonts with the letters of Bangla and Hindi are shipped with the package, so that a figure is the same on every
machine. Of another script a figure writes the English gloss of a word, and says so (`say_what_is_missing`): a reader
never gets boxes.

Matplotlib shapes text with HarfBuzz from version 3.11 on: vowel signs go in front of their consonant, conjuncts join.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, product

from matplotlib import font_manager
from matplotlib.font_manager import FontEntry, FontProperties
from matplotlib.textpath import text_to_path

from prasanga.report.vendor import place_of

LATIN = "DejaVu Sans"
"""The first font of every figure."""


SCRIPTS = {"Bengali": "fonts/noto-sans-bengali-{}.ttf", "Devanagari": "fonts/noto-sans-devanagari-{}.ttf"}
"""The scripts of Bangla and Hindi as Unicode calls them, with their fonts below `prasanga.report.vendor`, by weight."""


@lru_cache
def font_families() -> tuple[str, ...]:
    """Return the families for `font.family`, in the order in which a letter is looked for.

    Matplotlib is told of the shipped files, which no search for fonts finds; its cache on disk has no part in it. They
    have names of their own, since a machine's own Noto may be of another version.
    """
    families = {f"prasanga {script}": file for script, file in SCRIPTS.items()}
    known = font_manager.fontManager.ttflist
    for (family, file), weight in product(families.items(), (400, 700)):
        path = str(place_of(file.format(weight)))
        known.append(FontEntry(fname=path, name=family, weight=weight, stretch="normal", size="scalable"))
    return (LATIN, *families)


def can_show(text: str) -> bool:
    """Return whether the fonts of a figure have every letter of a text."""
    return not _missing(text)


def say_what_is_missing(texts: Iterable[str]) -> str:
    """Return a sentence on the scripts of these texts that no font of a figure has; empty if all can be shown."""
    missing = {character for text in texts for character in _missing(text)}
    names = sorted({unicodedata.name(character, "other").split()[0].title() for character in missing})
    return (
        f"No font with {' and '.join(names)} letters was found: English glosses stand for the words." if names else ""
    )


def _missing(text: str) -> set[str]:
    return _inked(text) - _covered(font_families())


def _inked(text: str) -> set[str]:
    """Return the characters that leave ink.

    Spaces, line ends and joiners do not; joiners only say how their neighbours are shaped.
    """
    return {character for character in text if unicodedata.category(character) not in {"Cf", "Zs", "Cc"}}


@lru_cache
def _covered(families: tuple[str, ...]) -> frozenset[str]:
    """Return every character for which one of these families has a glyph."""
    paths = [font_manager.fontManager.findfont(FontProperties(family=family)) for family in families]
    return frozenset(chr(code) for path in paths for code in font_manager.get_font(path).get_charmap())


# --------------------
# Text that fits: widths are measured with the font in force, in points.


ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

_HASANTAS = ("\N{BENGALI SIGN VIRAMA}", "\N{DEVANAGARI SIGN VIRAMA}")

_JOINERS = ("\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}")

_SPARE = 1.02
"""The same text is a little wider in one format than in another, where letters are moved to whole dots."""


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of one line of text."""
    if not text:
        return 0.0
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) * _SPARE


def shortened(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """Return one line of text, with an ellipsis in place of its middle where it is wider than `room`.

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


def shortened_apart(texts: Sequence[str], size: float, room: float) -> list[str]:
    """Return each text shortened; those that would then look the same get a number."""
    short = [shortened(text, size, room) for text in texts]
    return [
        text if short.count(text) == 1 else shortened(whole, size, room - width_of(f" ({n})", size)) + f" ({n})"
        for n, (text, whole) in enumerate(zip(short, texts, strict=True), start=1)
    ]


def wrapped(text: str, size: float, room: float, *, bold: bool = False) -> list[str]:
    """Break a text into lines no wider than `room`.

    Breaks are at spaces, not at no-break spaces; a word wider than that is shortened.
    """
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
    """Return the labels of an axis, without those nearer than `room` to the next one that stays; the last stays.

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
    """Return what a reader sees as one letter: with its marks, and with the letters that a hasanta joins to it."""
    letters: list[str] = []
    for before, sign in pairwise(("", *text)):
        joins = unicodedata.category(sign).startswith("M") or sign in _JOINERS
        if letters and (joins or before in _HASANTAS or before == _JOINERS[0]):
            letters[-1] += sign
        else:
            letters.append(sign)
    return letters
