"""Tables of estimates as the associations stage writes them, row by row."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from loss_columns import LOST

from prasanga.associations.comparisons import why_not_found
from prasanga.schema import TABLES

RULE = (
    "p_association of at most .05 after Holm's correction, intervals that exclude zero, and a difference from random"
    " copies where these were measured (p_twins at most .05)"
)
"""What a finding is, in a sentence."""

SETS = {
    "C1": ("Flowers and insects", "flowers", "insects", "pleasant", "unpleasant"),
    "C4": ("Male and female names, career and family", "male_names", "female_names", "career", "family"),
    "C10": ("Weapons & <i>others</i>", "weapons", "tools", "pleasant", "unpleasant"),
}
SCHEMA = {
    **dict.fromkeys(("category", "category_title", "target_x", "target_y", "attribute_a", "attribute_b"), pl.String),
    **dict.fromkeys(("model", "segment_length", "sample_mode"), pl.String),
    **dict.fromkeys(("effect_size", "ci_low", "ci_high"), pl.Float64),
    **dict.fromkeys(("interval_note", "interval"), pl.String),
    **dict.fromkeys(("p_equivalence", "equivalent_within", "equivalence_margin"), pl.Float64),
    **dict.fromkeys(("difference", "difference_centered", "difference_standardized"), pl.Float64),
    **dict.fromkeys(("effect_centered", "effect_standardized", "effect_adjusted"), pl.Float64),
    **dict.fromkeys(("difference_adjusted", "adjusted_low", "adjusted_high"), pl.Float64),
    "adjusted_note": pl.String,
    **dict.fromkeys(("standard_error", "draws_low", "draws_high", "p_draws", "log_p_draws"), pl.Float64),
    **dict.fromkeys(("effect_random", "standard_error_random", "p_draws_random"), pl.Float64),
    **dict.fromkeys(("variance_words", "variance_attributes", "variance_contexts", "variance_rest"), pl.Float64),
    **dict.fromkeys(("tau2", "q", "i2", "p_stimuli", "p_attributes"), pl.Float64),
    **dict.fromkeys(("p_association", "p_association_holm", "p_association_bh"), pl.Float64),
    **dict.fromkeys(("twin_effect_size", "twin_sd", "twin_difference", "twin_difference_low"), pl.Float64),
    **dict.fromkeys(("twin_difference_high", "p_twins", "shuffled_low", "shuffled_high"), pl.Float64),
    **dict.fromkeys(("p_shuffled", "leave_out_low", "leave_out_high"), pl.Float64),
    **dict.fromkeys(("contexts_enough", "draws_settled", "n_twins"), pl.Int64),
    **dict.fromkeys(("n_partitions", "n_attribute_partitions"), pl.Int64),
    **dict.fromkeys(("p_stimuli_exact", "p_attributes_exact"), pl.Boolean),
    **dict.fromkeys(("n_samples", "n_x", "n_y", "n_a", "n_b"), pl.Int64),
    **dict.fromkeys(("listed_x", "listed_y", "listed_a", "listed_b"), pl.Int64),
    "is_found": pl.Boolean,
    "not_found_because": pl.String,
    "lost": LOST,
    "contexts_min": pl.Int64,
    **dict.fromkeys(("std", "alternative", "variance", "tau2_method", "draws", "pool"), pl.String),
    "band": pl.Float64,
    "seed": pl.Int64,
}


def fill_columns(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """A table with a column for everything that the registry names, as files have it; null where it says nothing."""
    missing = {key: kind for key, kind in TABLES[name].polars.items() if key not in table.columns}
    return table.with_columns(**{key: pl.lit(None, dtype=kind) for key, kind in missing.items()})


DEFAULTS = json.loads(Path(__file__).with_name("estimate.json").read_text(encoding="utf-8"))
"""Values of every estimate, and of those that were computed."""


def estimate(category: str, model: str, length: str, mode: str, effect: float | None, **changes: Any) -> dict[str, Any]:
    named = zip(("category_title", "target_x", "target_y", "attribute_a", "attribute_b"), SETS[category], strict=True)
    where = {"category": category, **dict(named), "model": model, "segment_length": length, "sample_mode": mode}
    computed = dict.fromkeys((*DEFAULTS["if_computed"], *DEPENDING, "p_association_holm", "p_association_bh"))
    if effect is not None:
        p = changes.get("p_association", 0.2)
        computed |= {**DEFAULTS["if_computed"], **{name: change(effect) for name, change in DEPENDING.items()}}
        computed |= {"p_association_holm": min(1.0, 4 * p), "p_association_bh": min(1.0, 2 * p)}
    return judge({**where, "effect_size": effect, **computed, **DEFAULTS["always"], "lost": [], **changes})


def judge(row: dict[str, Any]) -> dict[str, Any]:
    """Return an estimate with whether it is a finding, and why not."""
    why = None if row["effect_size"] is None else why_not_found(row)
    return {**row, "is_found": None if why is None else not why, "not_found_because": why}


def judged(table: pl.DataFrame) -> pl.DataFrame:
    """Return estimates that a test has changed as `judge` does."""
    rows = [judge(row) for row in table.iter_rows(named=True)]
    return pl.DataFrame(rows, schema={**table.schema, "is_found": pl.Boolean, "not_found_because": pl.String})


def arrange_ceat(ceat: pl.DataFrame) -> pl.DataFrame:
    """The table of CEAT from rows of every length and mode: random draws are columns, and primary rows come first.

    The primary row of a category and model is that of its longest fixed length; rows of lengths are not tested.
    """
    key = ["category", "model", "segment_length"]
    taken = {"effect_random": "effect_size", "standard_error_random": "standard_error", "p_draws_random": "p_draws"}
    schema = {**ceat.schema, **dict.fromkeys(taken, pl.Float64)}
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in sorted(ceat.rows(named=True), key=lambda row: str(row["sample_mode"]) == "random"):
        place = tuple(row[name] for name in key)
        if place in rows:
            rows[place] |= {name: row.get(source) for name, source in taken.items()}
        else:
            rows[place] = dict(row)
    order = {place: n for n, place in enumerate(dict.fromkeys(ceat.select(key).iter_rows()))}
    listed = [rows[place] for place in order]
    lengths = sorted({row["segment_length"] for row in listed}, key=lambda label: (">" in label, int(label.strip(">"))))
    primary: dict[tuple[str, str], dict[str, Any]] = {}
    for length in [*(each for each in lengths if ">" in each), *(each for each in lengths if ">" not in each)]:
        for row in (row for row in listed if row["segment_length"] == length):
            untold = ("p_draws", "log_p_draws", "standard_error", "standard_error_random", "p_draws_random")
            changed = {"segment_length": "mean", **{name: None for name in untold if name in schema}}
            primary[row["category"], row["model"]] = row | changed
    untested = ("p_association_holm", "p_association_bh", "n_tests", "is_found", "not_found_because")
    single = [row | {name: None for name in untested if name in schema} for row in listed]
    first = [primary[place] for place in dict.fromkeys((row["category"], row["model"]) for row in listed)]
    return pl.DataFrame([*first, *single], schema=schema)


DEPENDING: dict[str, Callable[[float], float]] = {
    **{"ci_low": lambda d: d - 0.54, "ci_high": lambda d: d + 0.54, "difference": lambda d: d / 10},
    **{"difference_centered": lambda d: d / 5, "difference_standardized": lambda d: d / 8},
    **{"effect_centered": lambda d: 0.9 * d, "effect_standardized": lambda d: 0.8 * d - 0.1},
    **{"difference_adjusted": lambda d: d / 20, "adjusted_low": lambda d: d / 20 - 0.03},
    **{"adjusted_high": lambda d: d / 20 + 0.03, "effect_adjusted": lambda d: d / 2},
    **{"draws_low": lambda d: d - 0.04, "draws_high": lambda d: d + 0.04, "twin_difference": lambda d: d - 0.11},
    **{"twin_difference_low": lambda d: d - 0.61, "twin_difference_high": lambda d: d + 0.39},
    **{"leave_out_low": lambda d: d - 0.2, "leave_out_high": lambda d: d + 0.2},
}
"""What depends on the effect size."""
