"""Tables of estimates as the associations stage writes them, row by row."""

from __future__ import annotations

from typing import Any

import polars as pl

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
    **dict.fromkeys(("standard_error", "draws_low", "draws_high", "p_draws", "log_p_draws"), pl.Float64),
    **dict.fromkeys(("tau2", "q", "i2", "p_stimuli", "p_attributes"), pl.Float64),
    **dict.fromkeys(("p_association", "p_association_holm", "p_association_bh"), pl.Float64),
    **dict.fromkeys(("twin_effect_size", "twin_p_association", "shuffled_low", "shuffled_high"), pl.Float64),
    **dict.fromkeys(("p_shuffled", "leave_out_low", "leave_out_high", "smallest_effect"), pl.Float64),
    **dict.fromkeys(("contexts_enough", "draws_settled"), pl.Int64),
    **dict.fromkeys(("n_partitions", "n_attribute_partitions"), pl.Int64),
    **dict.fromkeys(("p_stimuli_exact", "p_attributes_exact"), pl.Boolean),
    **dict.fromkeys(("n_samples", "n_x", "n_y", "n_a", "n_b"), pl.Int64),
    **dict.fromkeys(("listed_x", "listed_y", "listed_a", "listed_b"), pl.Int64),
    "dropped": pl.String,
    "contexts_min": pl.Int64,
    **dict.fromkeys(("std", "alternative", "variance", "tau2_method", "draws", "pool"), pl.String),
    "band": pl.Float64,
    "seed": pl.Int64,
}


def estimate(category: str, model: str, length: str, mode: str, effect: float | None, **changes: Any) -> dict[str, Any]:
    title, x, y, a, b = SETS[category]
    number = effect is not None
    return {
        "category": category,
        "category_title": title,
        "target_x": x,
        "target_y": y,
        "attribute_a": a,
        "attribute_b": b,
        "model": model,
        "segment_length": length,
        "sample_mode": mode,
        "effect_size": effect,
        "ci_low": effect - 0.54 if number else None,
        "ci_high": effect + 0.54 if number else None,
        "interval_note": "" if number else None,
        "interval": "bca" if number else None,
        "p_equivalence": 0.6 if number else None,
        "equivalent_within": 0.9 if number else None,
        "standard_error": 0.02 if number else None,
        "draws_low": effect - 0.04 if number else None,
        "draws_high": effect + 0.04 if number else None,
        "p_draws": 0.0 if number else None,
        "log_p_draws": -1000.0 if number else None,
        "tau2": 0.0 if number else None,
        "q": 90.5 if number else None,
        "i2": 0.0 if number else None,
        "p_stimuli": 0.15 if number else None,
        "p_attributes": 0.2 if number else None,
        "p_association": 0.2 if number else None,
        "p_association_holm": min(1.0, 4 * changes.get("p_association", 0.2)) if number else None,
        "p_association_bh": min(1.0, 2 * changes.get("p_association", 0.2)) if number else None,
        "twin_effect_size": 0.11 if number else None,
        "twin_p_association": 0.7 if number else None,
        "shuffled_low": -0.7 if number else None,
        "shuffled_high": 0.7 if number else None,
        "p_shuffled": 0.1 if number else None,
        "leave_out_low": effect - 0.2 if number else None,
        "leave_out_high": effect + 0.2 if number else None,
        "smallest_effect": 1.54 if number else None,
        "contexts_enough": 140 if number else None,
        "draws_settled": 100 if number else None,
        **dict.fromkeys(("n_partitions", "n_attribute_partitions"), 70 if number else None),
        **dict.fromkeys(("p_stimuli_exact", "p_attributes_exact"), True if number else None),
        "n_samples": 100,
        **dict.fromkeys(("n_x", "n_y", "n_a", "n_b"), 8),
        **dict.fromkeys(("listed_x", "listed_y", "listed_a", "listed_b"), 8),
        "dropped": "",
        "contexts_min": 30,
        "std": "union_ddof1",
        "alternative": "two-sided",
        "variance": "association",
        "tau2_method": "dl",
        "draws": "without-replacement",
        "pool": "shared",
        "band": 0.1,
        "seed": 47,
        **changes,
    }
