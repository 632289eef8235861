"""Fonts of the page for Bangla and Hindi, so that both are shaped on a machine that has no font for them."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import NamedTuple

from prasanga.report.vendor import place_of


class _Family(NamedTuple):
    """A family as the style sheet calls it, its file without weight and ending, and the characters it is for."""

    name: str
    file: str
    characters: str


_FAMILIES = {
    "bn": _Family(
        "Noto Sans Bengali",
        "fonts/noto-sans-bengali",
        "U+0951-0952,U+0964-0965,U+0980-09FE,U+1CD0,U+1CD2,U+1CD5-1CD6,U+1CD8,U+1CE1,U+1CEA,U+1CED,U+1CF2,U+1CF5-1CF7,"
        "U+200C-200D,U+20B9,U+25CC,U+A8F1",
    ),
    "hi": _Family(
        "Noto Sans Devanagari",
        "fonts/noto-sans-devanagari",
        "U+0900-097F,U+1CD0-1CF9,U+200C-200D,U+20A8,U+20B9,U+20F0,U+25CC,U+A830-A839,U+A8E0-A8FF,U+11B00-11B09",
    ),
}
"""By language; the ranges are those of the npm packages that the files come from."""

_WEIGHTS = (400, 700)


def font_faces(languages: Iterable[str]) -> str:
    """`@font-face` rules for a style sheet, with the fonts in them: a page looks the same on every machine.

    Args:
        languages: codes of those on the page (bn, hi, en ...); one without a font of its own adds nothing.
    """
    used = set(languages)
    return "\n".join(_rule(family, weight) for code, family in _FAMILIES.items() if code in used for weight in _WEIGHTS)


def _rule(family: _Family, weight: int) -> str:
    data = base64.b64encode(place_of(f"{family.file}-{weight}.woff2").read_bytes()).decode("ascii")
    return (
        f'@font-face {{ font-family: "{family.name}"; font-style: normal; font-weight: {weight}; font-display: block;'
        f' src: url("data:font/woff2;base64,{data}") format("woff2"); unicode-range: {family.characters}; }}'
    )
