"""Tables of estimates as the associations stage writes them, row by row."""

from __future__ import annotations

from typing import Any

import polars as pl
from loss_columns import LOST

RULE = (
    "p_association < .05 after Holm's correction, intervals that exclude zero, and a difference from random copies"
    " where these were measured (p_twins at most .05)"
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
    **dict.fromkeys(("variance_words", "variance_attributes", "variance_contexts", "variance_rest"), pl.Float64),
    **dict.fromkeys(("tau2", "q", "i2", "p_stimuli", "p_attributes"), pl.Float64),
    **dict.fromkeys(("p_association", "p_association_holm", "p_association_bh"), pl.Float64),
    **dict.fromkeys(("twin_effect_size", "twin_sd", "twin_difference", "twin_difference_low"), pl.Float64),
    **dict.fromkeys(("twin_difference_high", "p_twins", "shuffled_low", "shuffled_high"), pl.Float64),
    **dict.fromkeys(("p_shuffled", "leave_out_low", "leave_out_high", "smallest_effect"), pl.Float64),
    **dict.fromkeys(("contexts_enough", "draws_settled", "n_twins"), pl.Int64),
    **dict.fromkeys(("n_partitions", "n_attribute_partitions"), pl.Int64),
    **dict.fromkeys(("p_stimuli_exact", "p_attributes_exact"), pl.Boolean),
    **dict.fromkeys(("n_samples", "n_x", "n_y", "n_a", "n_b"), pl.Int64),
    **dict.fromkeys(("listed_x", "listed_y", "listed_a", "listed_b"), pl.Int64),
    "lost": LOST,
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
        "difference": effect / 10 if number else None,
        "difference_centered": effect / 5 if number else None,
        "difference_standardized": effect / 8 if number else None,
        "effect_centered": 0.9 * effect if number else None,
        "effect_standardized": 0.8 * effect - 0.1 if number else None,
        "difference_adjusted": effect / 20 if number else None,
        "adjusted_low": effect / 20 - 0.03 if number else None,
        "adjusted_high": effect / 20 + 0.03 if number else None,
        "effect_adjusted": effect / 2 if number else None,
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
        "n_twins": 8 if number else None,
        "twin_sd": 0.2 if number else None,
        "twin_difference": effect - 0.11 if number else None,
        "twin_difference_low": effect - 0.61 if number else None,
        "twin_difference_high": effect + 0.39 if number else None,
        "p_twins": 0.04 if number else None,
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
        "lost": [],
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
