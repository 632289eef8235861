"""Results of a made-up study of any size, in the files that the stages write: for what draws and shows them.

Words, glosses and categories are those of the Bangla lists; every number is drawn at random, small effects more often
than large ones. Nothing here is a measurement.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from prasanga.lexicon import categories_of, forms_table, load_lexicon
from prasanga.likelihoods import bias_percentage
from prasanga.likelihoods.structures import TRAITS_SCHEMA, compare_structures, spread_by_structure
from prasanga.pairs import statistics
from prasanga.pairs.preferences import pair_differences
from prasanga.samples.drawing import COVERAGE_SCHEMA
from prasanga.schema import TABLES

CATEGORIES = tuple(f"C{number}" for number in range(1, 10))
MODELS = ("banglabert-large", "banglabert-generator", "muril-large", "xlm-roberta-large")
LENGTHS = (9, 12, 18, 25, 35, 50, 75, 100, 150, ">150")
MODES = ("fixed", "random")
VECTORS = ("word2vec", "glove")
TYPES = ("age", "disability", "gender", "physical-appearance", "socioeconomic", "religion", "caste")
STEPS = (100, 200, 500, 1000, 2000, 5000)
_NOTHING_ELSE: dict[str, Any] = {
    "seat": {"categories": []},
    "static": {"vectors": {}},
    "pairs": {"sets": {}},
    "log_probability": {"categories": [], "traits": []},
}
_SYLLABLES = "ক খ গ চ জ ট ড ত দ ন প ফ ব ভ ম য র ল শ স হ ক্ষ জ্ঞ ন্ত্র স্ত ত্র ঙ্গ".split()  # noqa: SIM905
_VOWELS = ("", "া", "ি", "ী", "ু", "ে", "ো", "ৈ")


def write_large_study(
    root: Path,
    *,
    models: Sequence[str] = MODELS,
    lengths: Sequence[int | str] = LENGTHS,
    n_samples: int = 5000,
    pairs: int = 705,
    n_traits: int = 180,
    ceat_alone: bool = False,
    seed: int = 5,
) -> None:
    """Write `config.yaml` and `results/` of a study into a copy of the tree.

    Args:
        root: the copy, with `resources`.
        models: their names.
        lengths: of segments.
        n_samples: N of CEAT.
        pairs: sentence pairs of each of two languages.
        n_traits: of each polarity.
        ceat_alone: a study without SEAT, WEAT, log-probability bias and sentence pairs.
        seed: of all numbers.
    """
    rng = np.random.default_rng(seed)
    config = _config(models, lengths, n_samples)
    config |= _NOTHING_ELSE if ceat_alone else {}
    (root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    lexicon = load_lexicon(root / "resources/stimuli/bn", root / "resources/suffix_groups/bn.yaml")
    categories = categories_of(lexicon)
    results = root / "results"
    _write_json(results / "lexicon/categories.json", categories)
    _write(results / "lexicon/forms.parquet", forms_table(lexicon))
    of_study = {name: categories[name] for name in CATEGORIES}
    labels = [str(length) for length in lengths]
    _write_ceat(results / "associations", of_study, models, labels, n_samples, rng)
    _write_coverage(results / "samples/coverage.parquet", of_study, labels, rng)
    if not ceat_alone:
        _write_others(results, of_study, models, rng)
        _write_traits(results / "likelihoods", models, n_traits, rng)
        _write_pairs(results, models, pairs, rng)


def _config(models: Sequence[str], lengths: Sequence[int | str], n_samples: int) -> dict[str, Any]:
    return {
        "study": "large",
        "title": "A made-up study as large as a paper's",
        "note": "Every number is drawn at random.",
        "language": "bn",
        "corpus": {"root": ".", "texts": [{"files": "not/there.txt", "licence": "none"}]},
        "lexicon": {"stimuli": "resources/stimuli/bn", "suffix_groups": "resources/suffix_groups/bn.yaml"},
        "categories": list(CATEGORIES),
        "samples": {"lengths": list(lengths)},
        "models": {model: {"path": f"models/{model}", "kind": "encoder"} for model in models},
        "associations": {"n_samples": n_samples, "sample_modes": list(MODES), "random_twins": 0},
        "seat": {"categories": list(CATEGORIES)},
        "static": {"vectors": {name: {"path": f"{name}.txt"} for name in VECTORS}},
        "pairs": {"sets": {"large": {"path": "not/there.csv"}}},
        "log_probability": {"categories": list(CATEGORIES), "traits": ["resources/traits/bn/positive.yaml"]},
    }


def _write_ceat(
    folder: Path,
    categories: Mapping[str, Any],
    models: Sequence[str],
    lengths: Sequence[str],
    n_samples: int,
    rng: np.random.Generator,
) -> None:
    last = {(category, model): rng.normal(scale=0.6) for category, model in product(categories, models)}
    effects = {
        (category, model, length): last[category, model] + rng.normal(scale=0.4) / (1 + place)
        for (category, model), (place, length) in product(last, enumerate(("mean", *lengths)))
    }
    rows = [
        {
            **_estimate(category, categories[category], model, effects[category, model, length], rng),
            **{"segment_length": length, "sample_mode": "fixed", "n_samples": n_samples, "contexts_min": 400},
            "effect_random": effects[category, model, length] + rng.normal(scale=0.01),
            **{"variance": "association", "tau2_method": "dl", "draws": "without-replacement", "pool": "shared"},
            **{"standard_error": 0.004, "p_draws": 0.0, "log_p_draws": -900.0, "tau2": 0.01, "q": 5300.0, "i2": 0.06},
            **{"contexts_enough": 120, "draws_settled": 200, "band": 0.1},
        }
        for category, model, length in effects
    ]
    _write_estimates(folder / "ceat.parquet", rows, TABLES["ceat"].arrow())
    words = (
        {"model": model, "segment_length": length, **row}
        for category, model, length in effects
        for row in _words(category, categories[category], rng)
    )
    _write(folder / "ceat_words.parquet", _table(words, TABLES["ceat_words"].arrow()))
    between = [
        {
            **{"kind": "length", "category": category, "model": model},
            **_difference(first, second, effects[category, model, first], effects[category, model, second]),
        }
        for (category, model), (first, second) in product(last, combinations(lengths, 2))
    ] + [
        {
            **{"kind": "model", "category": category, "segment_length": length},
            **_difference(first, second, effects[category, first, length], effects[category, second, length]),
        }
        for category, length, (first, second) in product(categories, ("mean", *lengths), combinations(models, 2))
    ]
    _write(folder / "ceat_differences.parquet", _table(between, TABLES["differences"].arrow()))
    settling = [
        {
            **{"category": category, "model": model, "band": 0.1, "longest": lengths[-2]},
            **{"settled_length": lengths[min(3, len(lengths) - 1)], "largest_distance": 0.3, "sure": True},
        }
        for category, model in last
    ]
    _write(folder / "ceat_settling.parquet", _table(settling, TABLES["settling"].arrow()))
    convergence = [
        {
            **{"category": category, "model": model, "segment_length": length, "n": n},
            **{"effect_size": effects[category, model, length] + 1 / n, "standard_error": 0.3 / n**0.5},
        }
        for (category, model, length), n in product(effects, [n for n in STEPS if n <= n_samples])
    ]
    _write(folder / "ceat_convergence.parquet", _table(convergence, TABLES["convergence"].arrow()))


def _write_others(
    results: Path, categories: Mapping[str, Any], models: Sequence[str], rng: np.random.Generator
) -> None:
    """SEAT, WEAT and log-probability bias."""
    for path, names, schema, words_schema in (
        ("associations/seat", models, TABLES["seat"].arrow(), TABLES["seat_words"].arrow()),
        ("associations/weat", VECTORS, TABLES["weat"].arrow(), TABLES["weat_words"].arrow()),
        (
            "likelihoods/log_probability",
            models,
            *(TABLES[name].arrow() for name in ("log_probability", "log_probability_words")),
        ),
    ):
        cells = list(product(categories, names))
        rows = [_estimate(name, categories[name], model, rng.normal(scale=0.6), rng) for name, model in cells]
        _write_estimates(results / f"{path}.parquet", rows, schema)
        words = ({"model": model, **row} for name, model in cells for row in _words(name, categories[name], rng))
        _write(results / f"{path}_words.parquet", _table(words, words_schema))


def _write_coverage(
    path: Path, categories: Mapping[str, Any], lengths: Sequence[str], rng: np.random.Generator
) -> None:
    stimuli = dict.fromkeys(
        stimulus
        for category in categories.values()
        for word_set in (*category["targets"], *category["attributes"])
        for stimulus in word_set["stimuli"]
    )
    rows = [
        {
            **dict.fromkeys(("occurrences", "contexts", "long_enough", "eligible"), int(found)),
            **{"stimulus": stimulus, "segment_length": length, "sampled": int(min(found, 1200)), "short": False},
            **{"over_cap": int(max(0, found - 1200)), "reason": ""},
        }
        for (stimulus, length), found in zip(
            product(stimuli, lengths), rng.integers(400, 90_000, len(stimuli) * len(lengths)), strict=True
        )
    ]
    _write(path, _table(rows, COVERAGE_SCHEMA))


def _write_traits(folder: Path, models: Sequence[str], n_traits: int, rng: np.random.Generator) -> None:
    rows = []
    for model, polarity, number in product(models, ("positive", "negative"), range(n_traits)):
        for step in range(1, 6):
            prior, corrected = rng.normal(scale=0.3 * step), rng.normal(scale=1.5 / step)
            rows.append(
                {
                    **{"model": model, "polarity": polarity, "trait": f"trait {number}", "gloss": "", "left_out": None},
                    **{"structure": f"S{step}", "prior": prior, "corrected": corrected, "fill": prior + corrected},
                    **{
                        "n_pairs": 5,
                        "n_words": 3 * step,
                        "pieces": "all",
                        "aggregation": "log-sum-exp",
                        "prior_mask": "target",
                        "masked_as_one": False,
                    },
                }
            )
    traits = pl.DataFrame(rows, schema=dict(TRAITS_SCHEMA))
    spread = spread_by_structure(traits, n_resamples=200)
    _write(folder / "traits.parquet", traits.to_arrow())
    _write(folder / "structures.parquet", spread.to_arrow())
    spread.write_csv(folder / "structures.csv")
    _write(folder / "structure_differences.parquet", compare_structures(traits, n_resamples=200).to_arrow())


def _write_pairs(results: Path, models: Sequence[str], number: int, rng: np.random.Generator) -> None:
    words = [
        "".join(rng.choice(_SYLLABLES) + rng.choice(_VOWELS) for _ in range(rng.integers(1, 4))) for _ in range(3000)
    ]
    pairs = pl.concat([_pairs(language, number, words, rng) for language in ("bn", "hi")])
    folder = results / "pairs"
    described = statistics(pairs).with_columns(set=pl.lit("large"))
    _write(folder / "statistics.parquet", described.to_arrow())
    described.write_csv(folder / "statistics.csv")
    oddities = dict.fromkeys(("pair_id", "language", "column", "kind", "found", "done"), pl.String)
    _write(folder / "large.oddities.parquet", pl.DataFrame(schema={**oddities, "row": pl.Int64}).to_arrow())
    tables = []
    for model in models:
        scores = rng.normal(-4, 1, (2, len(pairs)))
        table = pairs.with_columns(
            score_first=pl.Series(scores[0]),
            score_second=pl.Series(scores[0] + rng.normal(0.05, 0.4, len(pairs))),
            n_first=pl.lit(12, pl.Int64),
            n_second=pl.lit(12, pl.Int64),
            left_out=pl.Series(["unknown-piece" if n % 97 == 0 else None for n in range(len(pairs))], dtype=pl.String),
            **{
                name: pl.lit(value)
                for name, value in {
                    **{"kind": "encoder", "measure": "p_unmodified", "reduction": "mean", "pieces": "all"},
                    **{"punctuation": "apart", "unknown": "leave-out", "model": model, "set": "large"},
                }.items()
            },
        )
        _write(results / f"likelihoods/pairs/large/{model}.parquet", table.to_arrow())
        tables.append(table)
    scores_of_all = pl.concat(tables)
    bias = bias_percentage(scores_of_all, n_resamples=0)
    _write(results / "likelihoods/bias_percentages.parquet", bias.to_arrow())
    bias.write_csv(results / "likelihoods/bias_percentages.csv")
    _write(results / "likelihoods/pair_differences.parquet", pair_differences(scores_of_all, {}).to_arrow())


def _pairs(language: str, number: int, words: Sequence[str], rng: np.random.Generator) -> pl.DataFrame:
    rows = []
    for place in range(number):
        sentence = [words[n] for n in rng.integers(0, len(words), 14)]
        where, other = int(rng.integers(0, 14)), words[int(rng.integers(0, len(words)))]
        rows.append(
            {
                **{"pair_id": f"{language}-{place}", "language": language, "bias_type": TYPES[place % len(TYPES)]},
                **{"label": "stereo" if place % 3 else "antistereo", "first": f"{' '.join(sentence)}।"},
                **{"second": f"{' '.join([*sentence[:where], other, *sentence[where + 1 :]])}।", "origin": ""},
            }
        )
    return pl.DataFrame(rows)


def _estimate(
    name: str, category: Mapping[str, Any], model: str, effect: float, rng: np.random.Generator
) -> dict[str, Any]:
    sets = [word_set["name"] for word_set in (*category["targets"], *category["attributes"])]
    sizes = [len(word_set["stimuli"]) for word_set in (*category["targets"], *category["attributes"])]
    p, has_interval = float(np.exp(-3 * abs(effect)) * rng.uniform()), min(sizes[:2]) >= 8
    return {
        **{"category": name, "category_title": category["title"], "model": model, "effect_size": float(effect)},
        **dict(zip(("target_x", "target_y", "attribute_a", "attribute_b"), sets, strict=True)),
        **{f"{kind}_{side}": n for side, n in zip("xyab", sizes, strict=True) for kind in ("n", "listed")},
        **({"ci_low": effect - 0.45, "ci_high": effect + 0.45, "interval": "bca"} if has_interval else {}),
        **{"p_stimuli": p, "p_stimuli_exact": True, "n_partitions": 12870, "p_attributes": p / 2},
        **{"p_attributes_exact": True, "n_attribute_partitions": 12870, "p_association": p, "n_tests": 900},
        **{
            "p_association_holm": min(1.0, 60 * p),
            "p_association_bh": min(1.0, 8 * p),
            "twin_effect_size": float(rng.normal(scale=0.2)),
        },
        **{"n_twins": 8, "twin_sd": 0.2, "twin_difference": 0.4, "twin_difference_low": -0.1},
        **{"twin_difference_high": 0.9, "p_twins": 0.1, "shuffled_low": -0.6, "shuffled_high": 0.6, "p_shuffled": 0.1},
        **{"leave_out_low": effect - 0.1, "leave_out_high": effect + 0.1, "reason": None, "lost": []},
        **{"std": "union_ddof1", "alternative": "two-sided", "seed": 47},
    }


def _words(name: str, category: Mapping[str, Any], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for role, word_set in zip("xyab", (*category["targets"], *category["attributes"]), strict=True):
        for stimulus in word_set["stimuli"]:
            association = float(rng.normal(scale=0.05))
            yield {
                **{"category": name, "role": role, "set": word_set["name"], "stimulus": stimulus},
                **{"association": association, "n_items": 900, "effect_without": association},
            }


def _difference(first: str, second: str, one: float, other: float) -> dict[str, Any]:
    return {
        **{"first": first, "second": second, "effect_first": one, "effect_second": other},
        **{"difference": other - one, "ci_low": other - one - 0.2, "ci_high": other - one + 0.2},
    }


def _table(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows in a schema; what a row does not say is null, or 0 where there may be none."""
    empty = {field.name: None if field.nullable else 0 for field in schema}
    return pa.Table.from_pylist([{**empty, **row} for row in rows], schema=schema)


def _write_estimates(path: Path, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> None:
    table = _table(rows, schema)
    _write(path, table)
    pl.DataFrame(pl.from_arrow(table)).write_csv(path.with_suffix(".csv"))


def _write(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd")


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
