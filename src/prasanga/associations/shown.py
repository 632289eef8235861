"""An estimate as a notebook shows it."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from prasanga.stats.crossed import CrossedScores
from prasanga.stats.intervals import Interval, draw_resampling, interval, replicate_effects

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SEED = 47
"""Of the resamples of an estimate that no study has made."""


class Shown(ABC):
    """An estimate as a notebook shows it: the number with its interval in one line, a table, a picture.

    A class of results says what `shown` asks for.
    """

    lost: str = ""
    """Words of the lists that do not count, each with the reason."""

    @property
    @abstractmethod
    def p_association(self) -> float:
        """Whether other words would do, on either side."""

    @abstractmethod
    def shown(self) -> tuple[str, float, str, Callable[[], CrossedScores]]:
        """Return method, effect, convention of its denominator, and what makes the cosines that intervals rest on."""

    @cached_property
    def interval(self) -> Interval:
        """The 95 % interval over words and, in CEAT, contexts: 2,000 resamples, the same each time.

        Without ends, but with a note, for sets of fewer than 8 words.
        """
        _, effect, std, _ = self.shown()
        cosines = self._cosines
        words = tuple([f"{side}{number}" for number in range(n)] for side, n in zip("XYAB", cosines.sizes, strict=True))
        resampling = draw_resampling(words, len(cosines.values), n_resamples=2000, seed=_SEED, category="")
        replicates = replicate_effects(cosines, resampling, std)
        return interval(cosines, resampling, replicates, std=std, center=effect)

    def to_frame(self) -> pl.DataFrame:
        """Return a table of one row: effect_size, ci_low, ci_high, p_association, sizes of the sets, note, lost."""
        method, effect, std, _ = self.shown()
        ends, sizes = self.interval, dict(zip(("n_x", "n_y", "n_a", "n_b"), self._cosines.sizes, strict=True))
        return pl.DataFrame(
            {"method": method, "effect_size": effect, "ci_low": ends.low, "ci_high": ends.high}
            | {"p_association": self.p_association, **sizes, "std": std, "note": ends.note, "lost": self.lost},
            schema_overrides={"ci_low": pl.Float64, "ci_high": pl.Float64},
        )

    def plot(self) -> Figure:
        """Return a picture: the association of each target word, a line for each set, and the number above."""
        from matplotlib.figure import Figure

        title = textwrap.wrap(repr(self), 90, break_on_hyphens=False)
        figure = Figure(figsize=(6.8, 1.6 + 0.2 * len(title)), layout="constrained")
        axes = figure.add_subplot()
        cosines = self._cosines
        for height, scores in enumerate(np.split(cosines.word_scores(), [cosines.n_x])):
            axes.plot(scores, np.full(len(scores), -height), "o", alpha=0.6)
            axes.plot(scores.mean(), -height, "|", color="black", markersize=18)
        axes.set(
            yticks=[0, -1],
            yticklabels=["X", "Y"],
            ylim=(-1.5, 0.5),
            xlabel="nearer to B  ·  association  ·  nearer to A",
        )
        axes.set_title("\n".join(title), fontsize="medium")
        return figure

    def __repr__(self) -> str:
        """Return the number with its interval, in one line."""
        method, effect, _, _ = self.shown()
        ends, (n_x, n_y, *_) = self.interval, self._cosines.sizes
        between = "" if ends.low is None else f"95 % {ends.low:+.2f} to {ends.high:+.2f}"
        said, lost = "; ".join(filter(None, (between, ends.note))), f" ({self.lost})" if self.lost else ""
        return f"{method} {effect:+.2f} ({said}), p_association {self.p_association:.3g}, {n_x} and {n_y} words{lost}"

    def _repr_html_(self) -> str:
        return self.to_frame()._repr_html_()

    @cached_property
    def _cosines(self) -> CrossedScores:
        return self.shown()[3]()
