"""The heat table of the page, and the table behind it with every number of every estimate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from prasanga.report.ceat_table import NOT_BY_DRAWS
from prasanga.report.findings import ALPHA
from prasanga.report.grid import Category, Estimate, Grid, is_number, why_missing
from prasanga.report.sheet import MINUS, MISSING, from_log, plain, probability, signed

THRESHOLDS = (0.1, 0.2, 0.5, 0.8, 1.2)
"""Where the shades of the heat table begin: 0.2, 0.5 and 0.8 are what is called small, medium and large."""

IN_PAPER: Mapping[float, int] = {0.2: 2, 0.5: 3, 0.8: 4}
"""The shades of Tables 5 and 6 of Sadhu et al. (2024), small, medium and large, each with the step that shows it."""


class HeatCell(NamedTuple):
    """A cell: its text, the class of its shade, whether it is marked, and what hovering over it says.

    The mark stands for p_stimuli_holm < .05, in the paper's layout for what is not significant by p_draws.
    """

    text: str
    shade: str
    marked: bool
    hover: str


class HeatRow(NamedTuple):
    """The cells of a category, by model and in each model by length."""

    category: Category
    cells: list[list[HeatCell]]


class NumberRow(NamedTuple):
    """An estimate in numbers: model, length and mode first, then a text for each of `COLUMNS`.

    `orders` has the number that each text stands for, in full precision, for sorting; empty where there is none.
    """

    model: str
    length: str
    mode: str
    cells: list[str]
    orders: list[str]
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


def heat_rows(grid: Grid, mode: str, *, preset: str = "recommended") -> list[HeatRow]:
    """One row for each category in one sample mode; `preset` (recommended, paper) decides on marks and shades."""
    in_paper = preset == "paper"
    return [
        HeatRow(
            category,
            [
                [
                    _cell(
                        grid.at(category.name, model, length, mode), f"{model}, {length} words, {mode} draws", in_paper
                    )
                    for length in grid.lengths
                ]
                for model in grid.models
            ],
        )
        for category in grid.categories
    ]


def number_rows(grid: Grid, category: Category) -> list[NumberRow]:
    """All estimates of a category, in reading order."""
    return [
        NumberRow(model, length, mode, _numbers(estimate), _orders(estimate), _note(estimate))
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


def legend(*, preset: str = "recommended") -> list[tuple[str, str]]:
    """Shade and range of each colour of the heat table, from the most negative to the most positive effects."""
    steps = IN_PAPER if preset == "paper" else {edge: step for step, edge in enumerate(THRESHOLDS, start=1)}
    edges = [*map(str, steps), ""]
    shades = {
        sign: [
            (f"{sign}-{step}", f"{mark}{low} to {mark}{high}" if high else f"{mark}{low} and beyond")
            for (low, high), step in zip(pairwise(edges), steps.values(), strict=True)
        ]
        for sign, mark in (("minus", MINUS), ("plus", "+"))
    }
    return [*reversed(shades["minus"]), ("zero", f"within ±{edges[0]}"), *shades["plus"]]


def shade_in_paper(effect: float) -> str:
    """The class of a cell's shade in the paper's layout: `zero`, or small, medium and large to either side."""
    step = max((step for edge, step in IN_PAPER.items() if abs(effect) >= edge), default=0)
    return "zero" if step == 0 else f"{'plus' if effect > 0 else 'minus'}-{step}"


def shade_of(effect: float) -> str:
    """The class of a cell's shade: `zero`, or `plus-1` to `plus-5` and `minus-1` to `minus-5`."""
    step = sum(abs(effect) >= threshold for threshold in THRESHOLDS)
    return "zero" if step == 0 else f"{'plus' if effect > 0 else 'minus'}-{step}"


def _cell(estimate: Estimate | None, where: str, in_paper: bool) -> HeatCell:
    if estimate is None or not is_number(estimate["effect_size"]):
        return HeatCell(MISSING, "missing", marked=False, hover=f"{where}: {why_missing(estimate)}")
    effect, p = estimate["effect_size"], estimate.get("p_stimuli_holm")
    by_draws = f"\np_draws (other draws): {from_log(estimate['log_p_draws'])}"
    hover = (
        f"{where}\neffect size: {signed(effect, minus=MINUS)}"
        f"{f'{by_draws}, the p of the paper' if in_paper else ''}"
        f"\n95 % interval over words: {interval_of(estimate, 'ci_low', 'ci_high')}"
        f"\np_stimuli (other words): {probability(estimate['p_stimuli'])}, by Holm {probability(p)}"
        f"\nrandom twin: {_twin(estimate)}"
        f"\nattributes dealt anew: {interval_of(estimate, 'shuffled_low', 'shuffled_high')}"
        f"{'' if in_paper else by_draws}"
        f"\nfewest contexts of a stimulus: {plain(estimate['contexts_min'])}"
        f"\nconventions: {estimate['std']}, V {estimate['variance']}, tau2 {estimate['tau2_method']},"
        f" {estimate['draws']}, pool {estimate['pool']}, N {estimate['n_samples']}"
    )
    text = signed(effect, 2, minus=MINUS)
    if in_paper:
        return HeatCell(text, shade_in_paper(effect), NOT_BY_DRAWS.marks(estimate), hover)
    marked = p is not None and is_number(p) and p < ALPHA
    return HeatCell(text, shade_of(effect), marked, hover)


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


def _orders(row: Estimate) -> list[str]:
    """What each of `COLUMNS` is sorted by: of an interval the lower end, of a p the p, of p_draws its logarithm."""
    columns = (
        *("effect_size", "ci_low", "p_stimuli", "p_stimuli_holm", "p_stimuli_bh", "n_partitions", "leave_out_low"),
        *("twin_effect_size", "shuffled_low", "smallest_effect", "contexts_enough", "draws_settled", "standard_error"),
        *("log_p_draws", "tau2", "i2", "q"),
    )
    measured = is_number(row["effect_size"])
    return [
        *(order_of(row.get(name)) if measured else "" for name in columns),
        order_of(row["n_samples"]),
        order_of(row["n_x"] + row["n_y"]),
        order_of(row["n_a"] + row["n_b"]),
        order_of(row["contexts_min"]),
    ]


def order_of(value: object) -> str:
    """A number in full precision, as a table of the page sorts by it; empty where there is none."""
    return repr(value) if is_number(value) else ""


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
