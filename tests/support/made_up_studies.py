"""Results of made-up studies, drawn with a seed so that every kind of finding occurs in some of them."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import polars as pl
import report_pages
from loss_columns import losses
from report_tables import SCHEMA, SETS, arrange_ceat, estimate

from prasanga.likelihoods.bias import why_not_found
from prasanga.report.study import Results
from prasanga.schema import TABLES

LENGTHS = ("9", "25", "75", ">75")
LOST = ("a: no contexts", "b: no context at 9 words; a: listed twice", "c: 3 of its 8 sentences have no vector")
CORPUS = [
    {"lines": 100, "skipped_lines": 3, "sentences": 70, "matched_sentences": 12, "cut_sentences": 1}
    | {"shorter_matches": 2, "occurrences": 40},
    {"lines": 50, "skipped_lines": 0, "sentences": 30, "matched_sentences": 2, "cut_sentences": 0}
    | {"shorter_matches": 0, "occurrences": 10},
]


def draw_study(seed: int) -> Results:
    """Return the results of a study."""
    random = Random(seed)
    found: dict[str, Any] = {"categories": report_pages.CATEGORIES}
    if random.random() < 0.8:
        found["ceat"] = _draw_ceat(random)
        found["differences"], found["settling"] = _draw_changes(random, found["ceat"])
    for name in ("seat", "weat", "log_probability"):
        if random.random() < 0.4:
            found[name] = _draw_rows(random, has_twins=name != "weat")
            if name != "log_probability":
                found[f"{name}_strength"] = found[name].select(
                    *("category", "model", pl.col("shift_80").cast(pl.Float64)),
                    shifts=pl.lit([0.0, 0.5, 1.5], pl.List(pl.Float64)),
                    shares_found=pl.lit([0.01, 0.2, 0.9], pl.List(pl.Float64)),
                    strength_note=pl.lit(None, pl.String),
                )
            found[name] = found[name].drop("shift_80")
    if random.random() < 0.5:
        found["structures"], found["structure_differences"] = _draw_structures(random)
    if random.random() < 0.6:
        found["bias_percentages"] = _draw_pairs(random)
    if random.random() < 0.3:
        found["missing"] = ["The table is not there. `snakemake x` makes it."]
    if random.random() < 0.5:
        found |= {"coverage": report_pages.coverage(), "corpus": CORPUS}
    return Results(**found)


def _draw_estimate(random: Random, *where: str, has_twins: bool, style: float, **more: Any) -> dict[str, Any]:
    effect = random.gauss(0, 0.8)
    if random.random() < 0.08:
        return estimate(*where, None, **more, lost=losses("গোলাপ: no contexts; not computed: flowers has 1 of 4"))
    width, p = random.choice([0.1, 0.3, 0.54]), 10 ** -random.uniform(0, 4) if style < 0.8 else 0.5
    changes = {"ci_low": effect - width, "ci_high": effect + width, "p_association": p, "p_draws": 0.2, **more}
    changes |= {"p_association_holm": min(1.0, p * random.choice([1, 4])), "contexts_min": random.choice([1, 2, 30])}
    changes |= {"p_twins": random.choice([0.01, 0.4]), "shift_80": random.choice([None, 0.8, 0.8, 1.2])}
    changes |= {"equivalence_margin": 0.2, "p_equivalence": random.choice([0.01, 0.3]), "equivalent_within": 0.3}
    if not has_twins:
        twins = ("p_twins", "twin_effect_size", "twin_difference", "twin_difference_low", "twin_difference_high")
        changes |= dict.fromkeys(twins)
    if random.random() < 0.2:
        changes["lost"] = losses(random.choice(LOST))
    if random.random() < 0.1:
        changes[random.choice(["n_x", "n_b"])] = 3
    return estimate(*where, effect, **changes)


def _draw_ceat(random: Random) -> pl.DataFrame:
    lengths, modes = random.sample(LENGTHS, random.randint(1, 4)), random.choice([["fixed"], ["fixed", "random"]])
    models, style, twins = random.sample(["m", "n", "o<b>"], random.randint(1, 3)), random.random(), random.random()
    same: dict[str, Any] = {"n_tests": random.choice([None, 1, 30]), "pool": random.choice(["shared", "per_length"])}
    rows = [
        _draw_estimate(random, category, model, length, mode, has_twins=twins < 0.7, style=style, **same)
        for category in random.sample(list(SETS), random.randint(1, 3))
        for model in models
        for length in lengths
        for mode in modes
    ]
    return arrange_ceat(pl.DataFrame(rows, schema={**SCHEMA, "n_tests": pl.Int64}))


def _draw_rows(random: Random, *, has_twins: bool) -> pl.DataFrame:
    style, has_templates = random.random(), random.random() < 0.4
    rows = []
    for category in random.sample(list(SETS), random.randint(1, 3)):
        for model in random.sample(["m", "n"], random.randint(1, 2)):
            row = _draw_estimate(random, category, model, "9", "fixed", has_twins=has_twins, style=style, n_tests=5)
            low = random.choice([None, 0.1, -0.1])
            row |= {"ci_templates_low": low, "ci_templates_high": low and 0.5} if has_templates else {}
            row.setdefault("shift_80", None)
            rows.append({k: v for k, v in row.items() if k not in ("segment_length", "sample_mode", "draws")})
    return pl.DataFrame(rows, infer_schema_length=None)


def _draw_changes(random: Random, ceat: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    differences, settling = [], []
    for category, model in ceat.select("category", "model").unique().sort("category", "model").iter_rows():
        where = {"category": category, "model": model}
        for n, first in enumerate(LENGTHS):
            for second in LENGTHS[n + 1 :]:
                change, width = random.gauss(0, 0.3), random.choice([0.1, 0.6])
                ends = {"difference": change, "ci_low": change - width, "ci_high": change + width}
                differences.append({"kind": "length", **where, "first": first, "second": second, **ends})
        pair: dict[str, Any] = {"segment_length": "mean", "first": model, "second": "z"}
        pair["p_difference_holm"] = 0.05 if category == "C1" else 0.3
        differences.append({"kind": "model", "category": category, **pair})
        known = random.random()
        settling.append(
            {
                **where,
                "band": 0.1,
                "settled_length": random.choice([None, "25"]) if known > 0.3 else None,
                "longest": None if known < 0.1 else "75",
                "largest_distance": None if known < 0.3 else 0.2,
                "sure": random.random() < 0.5,
            }
        )
    return pl.DataFrame(differences, infer_schema_length=None), pl.DataFrame(
        settling, schema_overrides={"settled_length": pl.String}
    )


def _draw_structures(random: Random) -> tuple[pl.DataFrame, pl.DataFrame]:
    names = {
        "model",
        "polarity",
        "structure",
        "quantity",
        "structure_1",
        "structure_2",
        "note",
        "pieces",
        "aggregation",
        "prior_mask",
    }
    tables: list[list[dict[str, Any]]] = [[], []]
    for model in random.sample(["bert", "<al>"], random.randint(1, 2)):
        for polarity in random.choice([["all", "positive", "negative"], ["positive"]]):
            for quantity in ("prior", "corrected", "fill"):
                where = {"model": model, "polarity": polarity, "quantity": quantity}
                for structure in ("S1", "S4", "S5"):
                    sd = random.choice([None, 0.0, 0.004, 1.3, 2.2])
                    tables[0].append({**where, "structure": structure, "n": 12, "n_left_out": 1, "sd": sd})
                low = random.choice([None, 0.5, 1.1])
                ends = {"structure_1": "S1", "structure_2": "S4", "ratio_low": low, "ratio_high": low and low + 0.6}
                tables[1].append({**where, **ends})
    spread, differences = (
        pl.DataFrame(rows, schema={name: pl.String if name in names else pl.Float64 for name in columns})
        for rows, columns in zip(
            tables, (TABLES["structures"].names, TABLES["structure_differences"].names), strict=True
        )
    )
    return spread.with_columns(pl.col("n", "n_left_out").cast(pl.Int64)), differences


def _draw_pairs(random: Random) -> pl.DataFrame:
    rows = []
    for language in random.sample(["hi", "en"], random.randint(1, 2)):
        for model in random.sample(["bert", "gpt"], random.randint(1, 2)):
            for bias_type in (*random.sample(["gender", "caste", "new-type"], random.randint(1, 3)), "all"):
                rows.append(_draw_percentage(random, language, model, bias_type))
    return pl.DataFrame(rows, infer_schema_length=None)


def _draw_percentage(random: Random, language: str, model: str, bias_type: str) -> dict[str, Any]:
    n, ties, out = random.choice([12, 40, 200]), random.choice([0, 0, 1, 3]), random.choice([0, 0, 2])
    k = random.randint(0, n)
    value, p, low = 100 * k / n, 10 ** -random.uniform(0, 4), random.choice([30.0, 55.0])
    row = dict.fromkeys(TABLES["bias_percentages"].names) | {
        **{"set": "demo", "model": model, "language": language, "bias_type": bias_type, "bias_percentage": value},
        **{"ci_low": max(0.0, value - 9), "ci_high": min(100.0, value + 9), "exact_low": max(0.0, value - 10)},
        **{"exact_high": min(100.0, value + 10), "p_binomial": p, "p_binomial_holm": min(1.0, 3 * p), "n_tests": 9},
        **{"twin_bias_percentage": 53.0, "n_twins": 4, "p_twins": random.choice([None, 0.01, 0.3])},
        **{"twin_difference": 3.0, "twin_difference_low": 1.0, "twin_difference_high": 5.0},
        **{"balanced_percentage": low + 7, "balanced_ci_low": low, "balanced_ci_high": low + 15},
        **{"p_label": 0.01, "p_label_holm": random.choice([None, 0.01, 0.2]), "n_stereo": n // 2},
        **{"n_antistereo": n - n // 2, "n_pairs": n + ties + out, "n_scored": n + ties, "n_stereotypical": k},
        **{"n_other": n - k, "n_ties": ties, "n_left_out": out, "ties": random.choice(["apart", "against"])},
        **{"left_out": json.dumps({"too-long": ["p"] * out} if out else {}), "conventions": "kind encoder"},
        **{"percentage_stereo": 50.0, "percentage_antistereo": 60.0, "runs_mean": 50.0, "runs_sd": 1.0, "n_runs": 5},
        **{"share": 0.8, "difference_median": 0.1, "equivalence_margin": 10.0},
        **{"p_equivalence": random.choice([0.01, 0.3])},
    }
    why = why_not_found(row)
    return {**row, "is_found": not why, "not_found_because": why}
