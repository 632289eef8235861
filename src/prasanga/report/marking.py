"""Which cells of a table are marked: by which p, below or above which level, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from prasanga.report.grid import is_number

LARGE = 0.8
"""From here on an effect is large (Cohen; Sadhu et al. 2024, appendix B.1). Tables that set large effects in bold do so
by the number itself, not by what it rounds to."""


@dataclass(frozen=True)
class Marking:
    """A mark by a column of p.

    Attributes:
        column: the column of the table of estimates.
        alpha: the level.
        above: mark what is at or above the level (what is not significant), as Tables 5 and 6 of Sadhu et al. do.
        note: what the mark means, without the mark itself and without what it means in one table alone (`said_of`).
    """

    column: str
    alpha: float
    note: str
    above: bool = False

    def marks(self, estimate: Mapping[str, Any]) -> bool:
        """Whether the estimate has the mark. One without this p has none."""
        p = estimate.get(self.column)
        if not is_number(p):
            return False
        assert isinstance(p, int | float)
        return p >= self.alpha if self.above else p < self.alpha

    def said_of(self, estimates: Iterable[Mapping[str, Any]]) -> str:
        """What the mark means among these estimates: the note, and which effects their test can mark.

        The alternative is that of the permutation tests; p_draws is two-sided whatever it is.
        """
        if self.column == "p_draws":
            return self.note
        sides = dict.fromkeys(_SIDES.get(str(estimate.get("alternative")), "") for estimate in estimates)
        said = " or ".join(filter(None, sides))
        return f"{self.note} The test is {said}." if said else self.note


_SIDES = {
    "two-sided": "two-sided",
    "greater": "one-sided: negative effects cannot be marked",
    "less": "one-sided: positive effects cannot be marked",
}

HOLM = Marking(
    "p_stimuli_holm",
    0.05,
    "p_stimuli_holm < .05: permutation of the target words, corrected by Holm over all tests of words"
    " in the study (CEAT, SEAT, WEAT and log-probability bias together).",
)
"""The recommended mark."""

HOLM_OF_ATTRIBUTES = replace(HOLM, note=HOLM.note.replace("target words", "attribute words"))
"""The same of log-probability bias, whose test moves attribute words."""

NOT_BY_DRAWS = Marking(
    "p_draws",
    0.005,
    "not significant, p_draws of at least .005, as in the paper. p_draws falls with the number of draws and says"
    " nothing about other words.",
    above=True,
)
"""The mark of Tables 5 and 6 of Sadhu et al."""
