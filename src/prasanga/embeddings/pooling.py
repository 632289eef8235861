"""Which positions of a text become a vector: pieces of a target word (CEAT), or of a whole sentence (SEAT)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prasanga.errors import InputError

TARGET_PIECES = ("all", "root", "first", "last", "position")
SENTENCE_POOLINGS = ("cls", "mean", "last")

Unknown = Literal["leave-out", "keep"]
"""What becomes of a target with a piece that the tokenizer does not know."""

_BY_KIND = {"encoder": "cls", "encoder-decoder": "mean", "decoder": "last"}


@dataclass(frozen=True)
class Pooling:
    """How a text becomes one vector.

    Attributes:
        unit: `target`, a word at a span of the text, or `sentence`, the text as a whole.
        positions: of a target: `all` the mean over every piece that overlaps its span (Sadhu et al. 2024, section 4.2),
            `root` over those that begin within its root (their program), `first` or `last` one piece (CEAT's program),
            `position` the piece that would be the target's if every word were one piece (the SEAT notebook of Sadhu et
            al.; where a word before the target is split, that is a piece of an earlier word); of a sentence: `cls` the
            first position, `mean` over all, special ones included, `last` the last one.
    """

    unit: Literal["target", "sentence"] = "target"
    positions: str = "all"

    def __post_init__(self) -> None:
        """Refuse positions that there are not."""
        allowed = TARGET_PIECES if self.unit == "target" else SENTENCE_POOLINGS
        if self.positions not in allowed:
            key = "pieces" if self.unit == "target" else "pooling"
            raise InputError(f"{key} is {self.positions!r}; write one of {', '.join(allowed)}.")

    def __str__(self) -> str:
        """As it stands in the key of a vector."""
        return f"{self.unit}-{self.positions}"


def sentence_pooling(asked: str, kind: str) -> str:
    """What `auto` stands for as the vector of a sentence; anything else stays as it is.

    An encoder's first position is there to stand for the whole text; a decoder's last one alone has read all of it; an
    encoder-decoder has neither, and its encoder's states are averaged.

    Args:
        asked: `models.<m>.sentence_vector` of the config.
        kind: of the model: `encoder`, `decoder`, `encoder-decoder`.
    """
    return _BY_KIND[kind] if asked == "auto" else asked


def root_end(start: int, end: int, stimulus: str) -> int:
    """Where the root of a target at `start` to `end` ends.

    It has as many characters as the stimulus, as in the program of Sadhu et al.
    """
    return min(end, start + len(stimulus))
