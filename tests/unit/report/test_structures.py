"""Log-probability bias on the page: categories beside SEAT, traits in sentence structures, and their figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import PatchCollection

from prasanga.likelihoods.structures import TRAITS_SCHEMA, compare_structures, spread_by_structure
from prasanga.report.figures.canvas import save_figure
from prasanga.report.figures.likelihoods import plot_structures
from prasanga.report.findings import QUANTITIES, findings_of_structures

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M 0 0"/></svg>'


@pytest.fixture(scope="module")
def traits() -> pl.DataFrame:
    """Two models, two polarities, three structures; what the trait adds shrinks from S1 to S5, which lacks one."""
    rng = np.random.default_rng(3)
    rows = []
    for model in ("bert", "<albert>"):
        for polarity, n in (("positive", 12), ("negative", 10)):
            base = rng.normal(size=n)
            for structure, width in (("S1", 2.0), ("S4", 1.0), ("S5", 0.25)):
                for number in range(n):
                    prior, corrected = 0.5 + rng.normal() / 10, width * base[number]
                    known = (structure, number) != ("S5", 0)
                    rows.append(
                        {
                            **{"model": model, "polarity": polarity, "trait": f"t{number}", "structure": structure},
                            **{"prior": prior, "corrected": corrected, "fill": prior + corrected, "n_words": 4},
                            **({} if known else dict.fromkeys(QUANTITIES)),
                            **{"pieces": "all", "terms": "log-sum-exp"},
                        }
                    )
    return pl.DataFrame(rows, schema=dict(TRAITS_SCHEMA))


@pytest.fixture(scope="module")
def spread(traits: pl.DataFrame) -> pl.DataFrame:
    twins = traits.with_columns(pl.col(*QUANTITIES) / 10)
    return spread_by_structure(traits, twins, n_resamples=200)


@pytest.fixture(scope="module")
def pairs(traits: pl.DataFrame) -> pl.DataFrame:
    return compare_structures(traits, n_resamples=200)


def test_findings_say_where_associations_spread(spread: pl.DataFrame, pairs: pl.DataFrame) -> None:
    first, second = findings_of_structures(spread, pairs)
    assert first.startswith("Log-probability bias of traits, bert: prior associations spread least in S")
    assert "corrected associations spread least in S5" in first
    assert "and most in S1" in first
    assert "Of 6 comparisons of two structures, the spreads differ by more than chance in" in first
    assert second.startswith("Log-probability bias of traits, <albert>")


@pytest.mark.parametrize("width", ["page", "column"])
def test_the_figure_is_the_same_from_the_same_table(width: Any, spread: pl.DataFrame, tmp_path: Path) -> None:
    for name in ("one", "two"):
        save_figure(plot_structures(spread, width=width), tmp_path / f"{name}.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    figure = plot_structures(spread, width=width)
    visible = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.texts[-1].get_text() for axis in visible] == ["bert", "<albert>"]
    boxes = [each for each in visible[0].collections if isinstance(each, PatchCollection)]
    assert [len(each.get_paths()) for each in boxes] == [3] * 4  # structures, by quantities and polarities
    row = spread.filter(model="bert", structure="S4", quantity="corrected", polarity="negative").row(0, named=True)
    ends = boxes[3].get_paths()[1].get_extents()
    assert (ends.y0, ends.y1) == pytest.approx((row["q25"], row["q75"]))


def test_a_figure_of_nothing_says_so(spread: pl.DataFrame) -> None:
    figure = plot_structures(spread.with_columns(median=pl.lit(None, pl.Float64)))
    assert [text.get_text() for text in figure.texts] == ["Not drawn: no structure has a number."]
