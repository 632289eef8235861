"""Which positions of a text become a vector: pieces of a target word (CEAT), or of a whole sentence (SEAT)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prasanga.errors import InputError

TARGET_PIECES = ("all", "root", "first", "last")
SENTENCE_POOLINGS = ("cls", "mean", "last")

Unknown = Literal["leave-out", "keep"]
"""What becomes of a target with a piece that the tokenizer does not know."""


@dataclass(frozen=True)
class Pooling:
    """How a text becomes one vector.

    Attributes:
        unit: `target`, a word at a span of the text, or `sentence`, the text as a whole.
        positions: of a target: `all` the mean over every piece that overlaps its span (Sadhu et al. 2024, section 4.2),
            `root` over those that begin within its root (their program), `first` or `last` one piece (CEAT's program);
            of a sentence: `cls` the first position, `mean` over all, special ones included, `last` the last one.
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


def root_end(start: int, end: int, stimulus: str) -> int:
    """Where the root of a target at `start` to `end` ends.

    It has as many characters as the stimulus, as in the program of Sadhu et al.
    """
    return min(end, start + len(stimulus))
