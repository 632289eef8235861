"""What the table of estimates says, in plain sentences that carry their uncertainty and their limits with them.

Each function makes one finding from the table, or none where it does not apply. The sentences claim what the numbers
allow: p_stimuli and the interval ask about other words, p_draws only about other draws from the same contexts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

import polars as pl

from prasanga.report.grid import Category, Estimate, Grid, grid_of, is_number, why_missing
from prasanga.report.sheet import MINUS, equals_probability, signed

ALPHA = 0.05


class _Cell(NamedTuple):
    """An estimate and where it belongs."""

    category: Category
    model: str
    length: str
    mode: str
    estimate: Estimate

    @property
    def effect(self) -> float:
        return float(self.estimate["effect_size"])


def headline_findings(ceat: pl.DataFrame) -> list[str]:
    """All findings that apply, the most important first."""
    kinds: Sequence[Callable[[pl.DataFrame], str | None]] = (
        significance,
        largest_effect,
        largest_opposite_effect,
        change_with_length,
        null_controls,
        direction_across_models,
        fixed_against_random,
        significance_of_draws,
        fewest_contexts,
        not_computed,
    )
    return [sentence for kind in kinds if (sentence := kind(ceat))]


def other_method(method: str, table: pl.DataFrame) -> str | None:
    """What a table of SEAT or WEAT says: how many rows are significant, and the largest effect with its controls.

    Args:
        method: its name as a reader sees it.
        table: its estimates, corrected for their number.
    """
    rows = [row for row in table.iter_rows(named=True) if is_number(row["effect_size"])]
    missing = len(table) - len(rows)
    if not rows:
        return f"{method}: none of {missing} rows could be computed." if missing else None
    found = sum(is_number(row["p_stimuli_holm"]) and row["p_stimuli_holm"] < ALPHA for row in rows)
    row = max(rows, key=lambda row: abs(row["effect_size"]))
    interval = "no interval over words"
    if is_number(row["ci_low"]) and is_number(row["ci_high"]):
        interval = f"95 % interval over words {_two(row['ci_low'])} to {_two(row['ci_high'])}"
    twin = f"; random twin {_two(row['twin_effect_size'])}" if is_number(row["twin_effect_size"]) else ""
    left = f" ({missing} more could not be computed)" if missing else ""
    return (
        f"{method}: {found} of {len(rows)} rows {_verb(found, 'has', 'have')} p_stimuli < .05 after Holm's"
        f" correction{left}; the largest effect is {_two(row['effect_size'])} ({row['category']}, {row['model']};"
        f" {interval}{twin}).{_why_both(row)}"
    )


def _why_both(row: dict[str, Any]) -> str:
    """What is to be said where an effect is significant and its interval holds zero; else nothing."""
    numbers = (row["p_stimuli_holm"], row["ci_low"], row["ci_high"])
    if not all(map(is_number, numbers)) or numbers[0] >= ALPHA or not numbers[1] <= 0 <= numbers[2]:
        return ""
    return " Its interval holds zero: it takes other attribute words into account as well, and the test does not."


def by_chance(tests: int) -> str:
    """How many of so many tests are below `ALPHA` where there is nothing to be found, in words."""
    expected = ALPHA * tests
    return f"about {expected:.0f}" if expected >= 1.5 else "about one" if expected >= 0.5 else "fewer than one"


def significance(ceat: pl.DataFrame) -> str | None:
    """How many estimates have p_stimuli < .05, before and after Holm's correction."""
    p_values = [cell.estimate["p_stimuli"] for cell in _computed(ceat) if is_number(cell.estimate["p_stimuli"])]
    if not p_values:
        return None
    total = len(p_values)
    remaining, family = _after_correction(ceat, p_values)
    return (
        f"{_of(_count_below(p_values), total)} p_stimuli < .05, uncorrected; {by_chance(total)} would be expected if"
        f" the target words made no difference. With Holm's correction for {family}, {remaining}"
        f" {_verb(remaining, 'remains', 'remain')}. Estimates that share words are not independent of each other."
    )


def largest_effect(ceat: pl.DataFrame) -> str | None:
    """The strongest effect of all, with the interval of its draws and p_stimuli."""
    cells = list(_computed(ceat))
    if not cells:
        return None
    cell = max(cells, key=lambda c: abs(c.effect))
    limit = f" As the largest of {len(cells)}, it is likely to be overestimated." if len(cells) > 1 else ""
    return f"The largest effect is {_in_full(cell)}{limit}"


def largest_opposite_effect(ceat: pl.DataFrame) -> str | None:
    """The strongest effect whose sign is the other one."""
    cells = list(_computed(ceat))
    largest = max((c.effect for c in cells), key=abs, default=0.0)
    opposite = [c for c in cells if c.effect * largest < 0]
    if not opposite:
        return None
    return f"The largest effect of the opposite sign is {_in_full(max(opposite, key=lambda c: abs(c.effect)))}"


def change_with_length(ceat: pl.DataFrame) -> str | None:
    """How effects move from the shortest to the longest segment length, in the first sample mode."""
    grid = grid_of(ceat)
    shortest, longest, mode = grid.lengths[0], grid.lengths[-1], grid.modes[0]
    pairs = [
        (here, there)
        for category in grid.categories
        for model in grid.models
        if (here := _cell(grid, category, model, shortest, mode))
        and (there := _cell(grid, category, model, longest, mode))
    ]
    if shortest == longest or not pairs:
        return None
    grown = sum(abs(there.effect) > abs(here.effect) for here, there in pairs)
    turned = sum(there.effect * here.effect < 0 for here, there in pairs)
    most = max(pairs, key=lambda pair: abs(pair[1].effect - pair[0].effect))
    change = median(abs(there.effect - here.effect) for here, there in pairs)
    return (
        f"From {shortest} to {longest} words ({mode} draws) the effect grows in size in {grown} of {len(pairs)} pairs"
        f" of category and model and changes its direction in {turned}. The change is {change:.2f} in the median, and"
        f" largest in {most[0].category.name} with {most[0].model}: from {_two(most[0].effect)} to"
        f" {_two(most[1].effect)}. {_texts_of_lengths(most[0].estimate, shortest, longest)}"
    )


def null_controls(ceat: pl.DataFrame) -> str | None:
    """How large effects are without any bias: in twins with random weights, and with attributes dealt anew."""
    twins = [
        abs(c.estimate["twin_effect_size"]) for c in _computed(ceat) if is_number(c.estimate.get("twin_effect_size"))
    ]
    outside = [
        not c.estimate["shuffled_low"] <= c.effect <= c.estimate["shuffled_high"]
        for c in _computed(ceat)
        if is_number(c.estimate.get("shuffled_low"))
    ]
    said = []
    if twins:
        said.append(
            f"Twins with random weights, which have learnt nothing, show effects of {median(twins):.2f} in the median"
            f" and {max(twins):.2f} at most: what is not larger than that needs no bias to explain it."
        )
    if outside:
        said.append(
            f"{sum(outside)} of {len(outside)} effects {_verb(sum(outside), 'lies', 'lie')} outside the range that 95 %"
            " of random divisions of the attribute words give."
        )
    return " ".join(said) or None


def direction_across_models(ceat: pl.DataFrame) -> str | None:
    """Where models disagree about the direction of an effect, in the first sample mode."""
    grid = grid_of(ceat)
    if len(grid.models) < 2:
        return None
    mode = grid.modes[0]
    compared = disagree = 0
    for category in grid.categories:
        for length in grid.lengths:
            found = [_cell(grid, category, model, length, mode) for model in grid.models]
            effects = [cell.effect for cell in found if cell]
            compared += len(effects) > 1
            disagree += len(effects) > 1 and min(effects) < 0 < max(effects)
    if not compared:
        return None
    who = "The two models disagree" if len(grid.models) == 2 else f"Not all {len(grid.models)} models agree"
    return (
        f"{who} about the direction of the effect in {disagree} of {compared} combinations of category and segment"
        f" length ({mode} draws)."
    )


def fixed_against_random(ceat: pl.DataFrame) -> str | None:
    """How far fixed and random draws lie apart."""
    grid = grid_of(ceat)
    pairs = [
        (cell, other)
        for cell in _cells(grid)
        if cell.mode == "fixed" and (other := _cell(grid, cell.category, cell.model, cell.length, "random"))
    ]
    if not pairs:
        return None
    apart = [abs(one.effect - other.effect) for one, other in pairs]
    most = pairs[apart.index(max(apart))][0]
    return (
        f"Fixed and random draws give effects that differ by {median(apart):.3f} in the median and by"
        f" {max(apart):.3f} at most ({most.category.name}, {most.model}, {most.length} words)."
    )


def significance_of_draws(ceat: pl.DataFrame) -> str | None:
    """How many estimates have p_draws < .05, and why that is no finding about bias."""
    p_values = [cell.estimate["p_draws"] for cell in _computed(ceat) if is_number(cell.estimate["p_draws"])]
    if not p_values:
        return None
    return (
        f"{_of(_count_below(p_values), len(p_values))} p_draws < .05, the p that the paper reports. It asks whether"
        " other draws from the same contexts would agree, not whether other words would, and falls as the number of"
        " draws grows: by itself it is no evidence of a bias."
    )


def fewest_contexts(ceat: pl.DataFrame) -> str | None:
    """The smallest number of contexts that a stimulus of any estimate has."""
    cells = [cell for cell in _computed(ceat) if is_number(cell.estimate["contexts_min"])]
    if not cells:
        return None
    cell = min(cells, key=lambda c: int(c.estimate["contexts_min"]))
    least = int(cell.estimate["contexts_min"])
    return (
        f"Every stimulus used has at least {least} context{'' if least == 1 else 's'} (fewest:"
        f" {cell.category.name}, {cell.model}, {cell.length} words)."
    )


def not_computed(ceat: pl.DataFrame) -> str | None:
    """Which estimates are missing, and why."""
    grid = grid_of(ceat)
    reasons: dict[tuple[str, str], list[str]] = {}
    for (category, model, length, mode), estimate in grid.estimates.items():
        if reason := why_missing(estimate):
            reasons.setdefault((category, reason), []).append(f"{model}, {length} words, {mode}")
    if not reasons:
        return None
    count = sum(map(len, reasons.values()))
    listed = "; ".join(
        f"{category} ({where[0]}{f' and {len(where) - 1} more' if len(where) > 1 else ''}): {reason}"
        for (category, reason), where in reasons.items()
    )
    return f"{count} of {len(grid.estimates)} estimates could not be computed. {listed}."


def _computed(ceat: pl.DataFrame) -> Iterator[_Cell]:
    return _cells(grid_of(ceat))


def _cells(grid: Grid) -> Iterator[_Cell]:
    """All cells that have a number, in reading order."""
    for category in grid.categories:
        for model in grid.models:
            for length in grid.lengths:
                for mode in grid.modes:
                    if cell := _cell(grid, category, model, length, mode):
                        yield cell


def _cell(grid: Grid, category: Category, model: str, length: str, mode: str) -> _Cell | None:
    estimate = grid.at(category.name, model, length, mode)
    if estimate is None or not is_number(estimate["effect_size"]):
        return None
    return _Cell(category, model, length, mode, estimate)


def _in_full(cell: _Cell) -> str:
    """An effect with where it was found, its uncertainty, and what its sign means."""
    estimate, category = cell.estimate, cell.category
    kept, other = category.attribute_a, category.attribute_b
    if cell.effect < 0:
        kept, other = other, kept
    interval = ""
    if is_number(estimate["ci_low"]) and is_number(estimate["ci_high"]):
        interval = f"95 % interval over words {_two(estimate['ci_low'])} to {_two(estimate['ci_high'])}; "
    corrected = estimate.get("p_stimuli_holm")
    holm = (
        f", {equals_probability(corrected).removeprefix('= ')} after Holm's correction" if is_number(corrected) else ""
    )
    return (
        f"{_two(cell.effect)} ({category.name}, {cell.model}, {cell.length} words, {cell.mode} draws; {interval}"
        f"p_stimuli {equals_probability(estimate['p_stimuli'])}{holm}): the model associates {category.target_x}, more"
        f" than {category.target_y}, with {kept} rather than {other}."
    )


def _texts_of_lengths(estimate: Estimate, shortest: str, longest: str) -> str:
    if estimate.get("pool") == "per_length":
        return "Each length has contexts of its own, so that part of a change may come from other texts."
    if longest.startswith(">") or shortest.startswith(">"):
        return (
            f"The contexts of {longest} words are not those of the fixed lengths, so that part of a change may come"
            " from other texts."
        )
    return "Both lengths are cut from the same contexts."


def _after_correction(ceat: pl.DataFrame, p_values: Sequence[Any]) -> tuple[int, str]:
    """How many estimates stay below `ALPHA` by Holm, and for which tests: all of the study, where the table says so."""
    cells = [cell.estimate for cell in _computed(ceat) if is_number(cell.estimate.get("n_tests"))]
    if not cells:
        return _holm(p_values), f"{len(p_values)} tests"
    n_tests = cells[0]["n_tests"]
    which = f"the {n_tests} tests of the study" if n_tests > len(p_values) else f"{n_tests} tests"
    return _count_below([row["p_stimuli_holm"] for row in cells]), which


def _holm(p_values: Sequence[Any]) -> int:
    """How many tests Holm's step-down procedure (1979) rejects at `ALPHA`."""
    ordered = sorted(p_values)
    for rejected, p in enumerate(ordered):
        if p > ALPHA / (len(ordered) - rejected):
            return rejected
    return len(ordered)


def _count_below(p_values: Sequence[Any]) -> int:
    return sum(p < ALPHA for p in p_values)


def _of(count: int, total: int) -> str:
    """A share as the beginning of a sentence: "None of the 4 estimates has", "3 of 4 estimates have"."""
    if total == 1:
        return "The only estimate has" if count else "The only estimate does not have"
    if count == 0:
        return f"None of the {total} estimates has"
    return f"{count} of {total} estimates {_verb(count, 'has', 'have')}"


def _verb(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def _two(value: float) -> str:
    return signed(value, 2, minus=MINUS)
