"""How a file's words are compared with a study's: after the study's normalization, without the non-joiner."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prasanga.text import fold, normalizer


def spelling_like(normalization: str) -> Callable[[Sequence[str]], list[str]]:
    """The function that gives many words the spelling that the study's words have.

    Args:
        normalization: its name in the config (`prasanga.text.normalizer`).

    Raises:
        InputError: an unknown normalization.
    """
    normalize = normalizer(normalization)
    return lambda words: [fold(word) for word in normalize(words)]
