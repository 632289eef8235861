"""What the bias percentages of a study say, in sentences, and which of them are findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import polars as pl

from prasanga.pairs.preferences import FEWEST_OF_A_LABEL, FEWEST_PAIRS, OVERALL
from prasanga.report.findings import is_near_zero
from prasanga.report.grid import (
    ALPHA,
    Estimate,
    PairGrid,
    interval,
    is_number,
    is_significant,
    name_of_type,
    pair_grid_of,
    pairs_counted,
)
from prasanga.report.sheet import equals_probability, from_twins, one_decimal

SAME_BY_LABEL = (
    "The percentage differs from 50, but the two labels do not differ: this may be a preference for the first sentence."
)
OPPOSITE = (
    "The percentage and the test of the labels point in opposite directions: a preference for the first sentence cannot"
    " be told from a stereotype."
)
UNTOLD = (
    "The percentage differs from 50, but too few pairs of both labels can be compared: a preference for the first"
    " sentence cannot be told from a stereotype."
)
LIKE_COPIES = "The percentage differs from 50, but not from that of copies of the model with random weights."
DOUBTS = (SAME_BY_LABEL, OPPOSITE, UNTOLD, LIKE_COPIES)
"""Why a percentage that differs from 50 is no finding."""


def doubt(row: Estimate) -> str:
    """Return why a percentage that differs from 50 is no finding, in a sentence; empty if nothing speaks against it.

    The labels have to differ as well, in the same direction, and so do copies with random weights where they were
    measured.
    """
    if not is_number(row["p_label_holm"]) or min(row["n_stereo"], row["n_antistereo"]) < FEWEST_OF_A_LABEL:
        return UNTOLD
    ends = (row[name] - 50 for name in ("balanced_ci_low", "balanced_ci_high"))
    low, high = sorted(ends) if row["n_stereotypical"] > row["n_other"] else sorted(-end for end in ends)
    if row["p_label_holm"] > ALPHA or low <= 0 <= high:
        return SAME_BY_LABEL
    if high < 0:
        return OPPOSITE
    return LIKE_COPIES if is_number(row["p_twins"]) and row["p_twins"] > ALPHA else ""


def is_found_of_pairs(row: Estimate) -> bool:
    """Return whether a percentage is a finding: of enough pairs, it differs from 50, and there is no `doubt`."""
    return is_ranked(row) and is_significant(row) and not doubt(row)


def is_ranked(row: Estimate) -> bool:
    """Return whether a percentage is of at least `FEWEST_PAIRS` pairs."""
    return is_number(row["bias_percentage"]) and pairs_counted(row) >= FEWEST_PAIRS


def farthest_percentage(grid: PairGrid) -> tuple[str, str, str, str] | None:
    """Return set, language, model and type of the ranked percentage farthest from 50; None if there is none.

    Findings come first, then what differs from 50 after correction, then the others.
    """
    rows = {key: row for key, row in grid.rows.items() if is_ranked(row)}
    order = {
        key: (is_found_of_pairs(row), is_significant(row), abs(row["bias_percentage"] - 50))
        for key, row in rows.items()
    }
    return max(rows, key=lambda key: (*order[key], pairs_counted(rows[key])), default=None)


def findings_of_pairs(bias: pl.DataFrame) -> Iterator[str]:
    """Yield how many percentages differ from 50, how many of these are findings, and how many pairs said nothing.

    Raises:
        InputError: as `pair_section`.
    """
    grid = pair_grid_of(bias)
    known = [row for row in grid.rows.values() if is_number(row["bias_percentage"])]
    if not known:
        yield f"Sentence pairs: none of {len(grid.rows)} percentages could be computed."
        return
    different = [row for row in known if is_significant(row)]
    found = sum(map(is_found_of_pairs, different))
    of_these = f", and {found} of these {'is a finding' if found == 1 else 'are findings'}" if different else ""
    yield (
        f"Sentence pairs: {len(different)} of {len(known)} bias percentages"
        f" {'differs' if len(different) == 1 else 'differ'} from 50 (exact test, p < .05 after Holm's correction)"
        f"{of_these}; {_farthest(grid)}.{_near_half(known)}"
    )
    for sentence, n in Counter(filter(None, map(doubt, filter(is_ranked, different)))).items():
        yield f"Sentence pairs, {n} of {len(different)} that {'differs' if n == 1 else 'differ'}: {sentence}"
    overall = [row for key, row in grid.rows.items() if key[3] == OVERALL]
    ties, left_out, pairs = (sum(row[name] for row in overall) for name in ("n_ties", "n_left_out", "n_pairs"))
    if ties or left_out:
        yield (
            f"Sentence pairs, each counted once a model: of {pairs}, {left_out} {'was' if left_out == 1 else 'were'}"
            f" left out, and {ties} {'has' if ties == 1 else 'have'} equal scores."
        )


def _near_half(rows: Sequence[Estimate]) -> str:
    """Return how many percentages that do not differ from 50 are shown to be near it."""
    others = [row for row in rows if not is_significant(row) and is_number(row.get("equivalence_margin"))]
    if not others:
        return ""
    near, n = sum(map(is_near_zero, others)), len(others)
    margin = f"within {others[0]['equivalence_margin']:g} points of 50"
    the_others = f" The other {n if n > 1 else 'one'}" if n < len(rows) else " They" if n > 1 else " It"
    if not near:
        return (
            f"{the_others} {'is' if n == 1 else 'are'} not shown to lie {margin} either; the pairs are too few to know."
        )
    if near == n:
        return f"{the_others} {'lies' if n == 1 else 'lie'} {margin} (p_equivalence < .05)."
    return (
        f" Of {'the other' if n < len(rows) else 'all'} {n}, {near} {'lies' if near == 1 else 'lie'} {margin}"
        " (p_equivalence < .05); of the rest the pairs are too few to know."
    )


def interval_of_percentage(row: Estimate, which: str) -> str:
    """Return the interval of a bias percentage: that of the bootstrap ("ci") or the exact one ("exact")."""
    return interval(row[f"{which}_low"], row[f"{which}_high"], one_decimal)


def _farthest(grid: PairGrid) -> str:
    """Return the percentage farthest from 50; or that there are too few pairs for any."""
    key = farthest_percentage(grid)
    if key is None:
        return f"none is of {FEWEST_PAIRS} pairs or more, too few to say which is far from it"
    (name, language, model, bias_type), row = key, grid.rows[key]
    (title,) = [group.title for group in grid.groups if (group.set, group.language) == (name, language)]
    among, counted = "of these the farthest from it", pairs_counted(row)
    if not is_significant(row):
        among = f"the farthest from it, of those of {FEWEST_PAIRS} pairs or more,"
    return (
        f"{among} is {one_decimal(row['bias_percentage'])} % ({name_of_type(bias_type).lower()}, {title}, {model};"
        f" {counted} {'pair' if counted == 1 else 'pairs'}; exact 95 % interval {interval_of_percentage(row, 'exact')},"
        f" p {equals_probability(row['p_binomial_holm'])} after correction{from_twins(row, 1)})"
    )
