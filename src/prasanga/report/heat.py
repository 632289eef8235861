"""The heat table of the page, and the table behind it with every number of every estimate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prasanga.report.findings import ALPHA
from prasanga.report.grid import Category, Estimate, Grid, is_number, why_missing
from prasanga.report.numbers import MINUS, MISSING, from_log, plain, probability, signed

THRESHOLDS = (0.1, 0.2, 0.5, 0.8, 1.2)
"""Where the shades of the heat table begin: 0.2, 0.5 and 0.8 are what is called small, medium and large."""


class HeatCell(NamedTuple):
    """A cell: its text, the class of its shade, whether p_stimuli_holm < .05, and what hovering over it says."""

    text: str
    shade: str
    marked: bool
    hover: str


class HeatRow(NamedTuple):
    """The cells of a category, by model and in each model by length."""

    category: Category
    cells: list[list[HeatCell]]


class NumberRow(NamedTuple):
    """An estimate in numbers: model, length and mode first, then a text for each of `COLUMNS`."""

    model: str
    length: str
    mode: str
    cells: list[str]
    note: str


COLUMNS = (
    "effect size",
    "95 % interval over words",
    "p_stimuli",
    "Holm",
    "Benjamini-Hochberg",
    "partitions",
    "without one word",
    "random twin",
    "attributes dealt anew",
    "smallest effect to be found",
    "contexts enough",
    "draws settled",
    "standard error of the draws",
    "p_draws",
    "τ²",
    "I²",
    "Q",
    "N",
    "targets used",
    "attributes used",
    "fewest contexts",
)


NEEDED = (
    *("effect_size", "ci_low", "ci_high", "p_stimuli", "p_stimuli_holm", "p_stimuli_bh", "p_stimuli_exact"),
    *("n_partitions", "leave_out_low", "leave_out_high", "twin_effect_size", "shuffled_low", "shuffled_high"),
    *("smallest_effect", "contexts_enough", "draws_settled", "standard_error", "p_draws", "log_p_draws"),
    *("tau2", "i2", "q", "n_samples", "contexts_min", "dropped", "std", "variance", "tau2_method", "draws", "pool"),
    *(f"{kind}_{side}" for kind in ("n", "listed") for side in "xyab"),
)
"""The columns without which the page cannot show a table of CEAT's estimates."""

_CONVENTIONS = (
    *("std", "alternative", "interval", "variance", "tau2_method"),
    *("draws", "pool", "n_samples", "band", "seed"),
)


def heat_rows(grid: Grid, mode: str) -> list[HeatRow]:
    """One row for each category in one sample mode."""
    return [
        HeatRow(
            category,
            [
                [_cell(grid.at(category.name, model, length, mode), model, length, mode) for length in grid.lengths]
                for model in grid.models
            ],
        )
        for category in grid.categories
    ]


def number_rows(grid: Grid, category: Category) -> list[NumberRow]:
    """All estimates of a category, in reading order."""
    return [
        NumberRow(model, length, mode, _numbers(estimate), _note(estimate))
        for model in grid.models
        for length in grid.lengths
        for mode in grid.modes
        if (estimate := grid.at(category.name, model, length, mode)) is not None
    ]


def conventions(grid: Grid) -> list[str]:
    """The conventions that the rows of the table name; one text if all have the same."""
    return conventions_of(grid.estimates.values(), _CONVENTIONS)


def conventions_of(rows: Iterable[Estimate], named: Sequence[str]) -> list[str]:
    """What the rows with an effect say in the columns `named`, as far as they have them; each text once.

    A row that was not computed says nothing of how it would have been. All rows if none was computed.
    """
    rows = list(rows)
    rows = [row for row in rows if is_number(row["effect_size"])] or rows
    texts = (", ".join(f"{name} {row[name]}" for name in named if row.get(name) is not None) for row in rows)
    return list(dict.fromkeys(texts))


def left_out(grid: Grid) -> dict[str, list[str]]:
    """Per category, what its estimates say of stimuli that were left out: each text once, with where it holds."""
    found: dict[str, dict[str, list[str]]] = {}
    for (category, model, length, mode), row in grid.estimates.items():
        if row["dropped"]:
            found.setdefault(category, {}).setdefault(row["dropped"], []).append(f"{model} {length} {mode}")
    total = len(grid.models) * len(grid.lengths) * len(grid.modes)
    return {
        category.name: [
            f"{text} ({'all estimates' if len(where) == total else ', '.join(where)})"
            for text, where in found[category.name].items()
        ]
        for category in grid.categories
        if category.name in found
    }


def shade_of(effect: float) -> str:
    """The class of a cell's shade: `zero`, or `plus-1` to `plus-5` and `minus-1` to `minus-5`."""
    step = sum(abs(effect) >= threshold for threshold in THRESHOLDS)
    return "zero" if step == 0 else f"{'plus' if effect > 0 else 'minus'}-{step}"


def _cell(estimate: Estimate | None, model: str, length: str, mode: str) -> HeatCell:
    where = f"{model}, {length} words, {mode} draws"
    if estimate is None or not is_number(estimate["effect_size"]):
        return HeatCell(MISSING, "missing", marked=False, hover=f"{where}: {why_missing(estimate)}")
    effect, p = estimate["effect_size"], estimate.get("p_stimuli_holm")
    hover = (
        f"{where}\neffect size {signed(effect, minus=MINUS)}"
        f"\n95 % interval over words {interval_of(estimate, 'ci_low', 'ci_high')}"
        f"\np_stimuli {probability(estimate['p_stimuli'])} (other words), {probability(p)} by Holm"
        f"\nrandom twin {_twin(estimate)}"
        f"; attributes dealt anew {interval_of(estimate, 'shuffled_low', 'shuffled_high')}"
        f"\np_draws {from_log(estimate['log_p_draws'])} (other draws)"
        f"\nfewest contexts of a stimulus: {plain(estimate['contexts_min'])}"
        f"\n{estimate['std']}, V {estimate['variance']}, tau2 {estimate['tau2_method']}, {estimate['draws']},"
        f" pool {estimate['pool']}, N {estimate['n_samples']}"
    )
    marked = p is not None and is_number(p) and p < ALPHA
    return HeatCell(signed(effect, 2, minus=MINUS), shade_of(effect), marked, hover)


def _numbers(row: Estimate) -> list[str]:
    if not is_number(row["effect_size"]):
        numbers = [MISSING] * 17
    else:
        numbers = [
            signed(row["effect_size"], minus=MINUS),
            interval_of(row, "ci_low", "ci_high"),
            probability(row["p_stimuli"]),
            probability(row["p_stimuli_holm"]),
            probability(row["p_stimuli_bh"]),
            _partitions(row),
            interval_of(row, "leave_out_low", "leave_out_high"),
            _twin(row),
            interval_of(row, "shuffled_low", "shuffled_high"),
            plain(row["smallest_effect"], 2),
            plain(row["contexts_enough"]),
            plain(row["draws_settled"]),
            plain(row["standard_error"], 4),
            from_log(row["log_p_draws"]),
            plain(row["tau2"], 4),
            plain(row["i2"], 3),
            plain(row["q"], 1),
        ]
    return [
        *numbers,
        plain(row["n_samples"]),
        used_of(row, "x", "y"),
        used_of(row, "a", "b"),
        plain(row["contexts_min"]),
    ]


def interval_of(row: Estimate, low: str, high: str) -> str:
    """The interval between two columns, a dash where there is none."""
    if not is_number(row[low]) or not is_number(row[high]):
        return MISSING
    return f"{signed(row[low], minus=MINUS)} to {signed(row[high], minus=MINUS)}"


def _twin(row: Estimate) -> str:
    effect = row.get("twin_effect_size")
    return signed(effect, minus=MINUS) if is_number(effect) else MISSING


def _partitions(row: Estimate) -> str:
    if not is_number(row["n_partitions"]):
        return MISSING
    return f"{'all' if row['p_stimuli_exact'] else 'sampled'} {row['n_partitions']:,}"


def used_of(row: Estimate, *sides: str) -> str:
    """As "14 + 14", or "13 of 14 + 14" where stimuli were left out."""
    counts = ((row[f"n_{side}"], row[f"listed_{side}"]) for side in sides)
    return " + ".join(f"{used}" if used == listed else f"{used} of {listed}" for used, listed in counts)


def _note(row: Estimate) -> str:
    return str(row["dropped"] or "")
