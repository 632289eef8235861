"""Tables of estimates as the associations stage writes them, row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.associations.comparisons import why_not_found
from prasanga.schema import TABLES

SETS = {
    "C1": ("Flowers and insects", "flowers", "insects", "pleasant", "unpleasant"),
    "C4": ("Male and female names, career and family", "male_names", "female_names", "career", "family"),
    "C10": ("Weapons & <i>others</i>", "weapons", "tools", "pleasant", "unpleasant"),
}
DEFAULTS = json.loads(Path(__file__).with_name("estimate.json").read_text(encoding="utf-8"))
"""Values of every estimate and of those that were computed, a and b of what is a * effect + b, columns of the table."""
SCHEMA = {name: TABLES["ceat"].polars[name] for name in DEFAULTS["columns"]}


def fill_columns(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """A table with a column for everything that the registry names, as files have it; null where it says nothing."""
    missing = {key: kind for key, kind in TABLES[name].polars.items() if key not in table.columns}
    return table.with_columns(**{key: pl.lit(None, dtype=kind) for key, kind in missing.items()})


def estimate(category: str, model: str, length: str, mode: str, effect: float | None, **changes: Any) -> dict[str, Any]:
    named = zip(("category_title", "target_x", "target_y", "attribute_a", "attribute_b"), SETS[category], strict=True)
    where = {"category": category, **dict(named), "model": model, "segment_length": length, "sample_mode": mode}
    linear = DEFAULTS["linear"]
    computed = dict.fromkeys((*DEFAULTS["if_computed"], *linear, "p_association_holm", "p_association_bh"))
    if effect is not None:
        p = changes.get("p_association", 0.2)
        computed |= {**DEFAULTS["if_computed"], **{name: a * effect + b for name, (a, b) in linear.items()}}
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
