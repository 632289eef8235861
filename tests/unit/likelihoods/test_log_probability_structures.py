"""Scores of traits in the sentence structures, and their spread: worked by hand, and with planted preferences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from planted_scorer import PlantedScorer

from prasanga.likelihoods.scoring import score_sentences
from prasanga.likelihoods.structures import (
    QUANTITIES,
    TRAIT_SENTENCES,
    TRAITS_SCHEMA,
    StructureTables,
    compare_structures,
    gather_traits,
    measure_traits,
    spread_by_structure,
)
from prasanga.schema import BOTH_POLARITIES

TERMS = {"male": ("ছেলে", "বালক"), "female": ("মেয়ে", "বালিকা")}
PRIORS = {"ছেলে": 0.2, "বালক": 0.1, "মেয়ে": 0.05, "বালিকা": 0.05}


def measured(
    scorer: PlantedScorer,
    traits: Sequence[str],
    *,
    pieces: str = "all",
    texts: Mapping[str, bool] | None = None,
    **more: Any,
) -> StructureTables:
    """What is measured of traits, all in one structure; `texts` says which are drawn, and whether with a license."""
    found = []
    for trait in traits:
        for group, terms in TERMS.items():
            for pair, term in enumerate(terms):
                text = f"{term} {trait} ।"
                spans = (0, len(term)), (len(term) + 1, len(term) + 1 + len(trait))
                source = ("Web", texts[trait]) if texts and trait in texts else ("written", True)
                found.append(("positive", trait, "", "S1", *source, group, pair, term, text, *spans, 2))
    sentences = pl.DataFrame(found, schema=TRAIT_SENTENCES, orient="row")
    return measure_traits(score_sentences(scorer, sentences, pieces=pieces), model="m", pieces=pieces, **more)


def planted(factors: dict[str, dict[str, float]], words: Sequence[str] = ()) -> PlantedScorer:
    """p_prior as in `PRIORS`; a trait in sight multiplies it."""

    def log_p(target: str, in_sight: set[str]) -> float:
        trait = next((word for word in in_sight if word in factors), None)
        return math.log(PRIORS[target] * (factors[trait].get(target, 1.0) if trait else 1.0))

    return PlantedScorer([*PRIORS, *factors, "।", *words], log_p)


def test_scores_are_logarithms_of_sums_of_probabilities() -> None:
    scorer = planted({"সৎ": {"ছেলে": 2.0, "মেয়ে": 3.0}})
    row = measured(scorer, ["সৎ"]).traits.row(0, named=True)
    assert row["male_prior"] == pytest.approx(math.log(0.2 + 0.1))
    assert row["male_fill"] == pytest.approx(math.log(0.4 + 0.1))
    assert row["female_fill"] == pytest.approx(math.log(0.15 + 0.05))
    assert row["female_corrected"] == pytest.approx(math.log(0.2 / 0.1))
    assert row["prior"] == pytest.approx(math.log(0.3 / 0.1))
    assert row["fill"] == pytest.approx(math.log(0.5 / 0.2))
    assert row["corrected"] == pytest.approx(row["fill"] - row["prior"])
    assert (row["n_pairs"], row["n_words"], row["n_pieces"], row["n_attribute_pieces"]) == (2, 2, 4, 1)
    assert (row["left_out"], row["masked_as_one"], row["aggregation"], row["pieces"]) == (
        None,
        False,
        "log-sum-exp",
        "all",
    )


def test_scores_may_be_means_of_logarithms() -> None:
    scorer = planted({"সৎ": {"ছেলে": 2.0, "মেয়ে": 3.0}})
    tables = measured(scorer, ["সৎ"], aggregation="mean")
    row = tables.traits.row(0, named=True)
    assert row["male_corrected"] == pytest.approx(math.log(2) / 2)
    assert row["corrected"] == pytest.approx((math.log(2) - math.log(3)) / 2)
    long = tables.terms
    assert long["term"].to_list() == ["ছেলে", "বালক", "মেয়ে", "বালিকা"]
    assert long["corrected"].to_list() == pytest.approx([math.log(2), 0, math.log(3), 0])
    assert long["form"].to_list() == long["term"].to_list()


def test_a_term_without_a_score_takes_its_counterpart_with_it() -> None:
    scorer = planted({"সৎ": {}})
    without = PlantedScorer(["ছেলে", "মেয়ে", "বালিকা", "সৎ", "।"], scorer._log_p)
    tables = measured(without, ["সৎ", "সাহসী"])
    known, unknown = tables.traits.iter_rows(named=True)
    assert known["n_pairs"] == 1
    assert known["left_out"] == "unknown-piece বালক"
    assert known["prior"] == pytest.approx(math.log(0.2 / 0.05))
    assert unknown["fill"] is None
    assert unknown["n_pairs"] == 0
    assert "unknown-piece সাহসী" in unknown["left_out"]
    assert tables.terms["left_out"].to_list()[:4] == [None, "unknown-piece (target)", None, None]


def test_drawn_sentences_are_counted_and_quoted_only_with_a_license() -> None:
    traits, scorer = ["সৎ", "সাহসী", "দয়ালু"], planted({"সৎ": {}, "সাহসী": {}, "দয়ালু": {}})
    tables = measured(scorer, traits, texts={"সাহসী": True, "দয়ালু": False})
    assert tables.traits["origin"].to_list() == ["written", "Web", "Web"]
    of_each = tables.terms.filter(term="বালক")
    assert of_each["text"].to_list() == ["বালক সৎ ।", "বালক সাহসী ।", None]
    assert of_each["form"].to_list() == ["বালক"] * 3
    assert set(spread_by_structure(tables.traits, n_resamples=0)["n_drawn"]) == {2}
    assert set(spread_by_structure(measured(scorer, traits).traits, n_resamples=0)["n_drawn"]) == {None}


def test_a_trait_that_one_mask_stood_for_is_told() -> None:
    scorer = planted({"সৎ": {}}, ["খুব"])
    tables = measured(scorer, ["সৎ", "খুব সৎ"], pieces="first")
    assert tables.traits.select("n_attribute_pieces", "masked_as_one").rows() == [(1, False), (2, True)]


def traits_table(
    values: dict[str, Sequence[float | None]], *, model: str = "m", polarity: str = "positive"
) -> pl.DataFrame:
    """A table of traits with these corrected associations by structure; fill is twice them, prior the negative."""
    rows = [
        {
            "model": model,
            "polarity": polarity,
            "trait": f"t{number}",
            "structure": structure,
            "n_words": 3 if structure == "S1" else 15,
            "pieces": "all",
            "aggregation": "log-sum-exp",
            "prior_mask": "target",
            **dict(zip(QUANTITIES, (None, None, None) if v is None else (2 * v, -v, v), strict=True)),
        }
        for structure, of_structure in values.items()
        for number, v in enumerate(of_structure)
    ]
    return pl.DataFrame(rows, schema=dict(TRAITS_SCHEMA))


def test_the_spread_of_a_structure_is_that_of_its_traits() -> None:
    table = traits_table({"S1": [1.0, 2.0, 3.0, -4.0, None]})
    found = spread_by_structure(table, n_resamples=0).filter(pl.col("quantity") == "corrected").row(0, named=True)
    values = np.array([1.0, 2.0, 3.0, -4.0])
    assert (found["n"], found["n_left_out"], found["mean_words"]) == (4, 1, 3.0)
    assert found["mean"] == pytest.approx(0.5)
    assert found["sd"] == pytest.approx(values.std(ddof=1))
    assert found["variance"] == pytest.approx(values.var(ddof=1))
    assert (found["min"], found["median"], found["max"], found["mean_size"]) == (-4, 1.5, 3, 2.5)
    assert (found["q25"], found["q75"]) == (-0.25, 2.25)
    assert found["mean_low"] is None


def test_probabilities_are_subtracted_as_in_the_figures_of_the_paper() -> None:
    """Two traits and two pairs of terms, worked out by hand; means of logarithms have no such difference."""
    scores = {"male_fill": [0.3, 0.1], "female_fill": [0.1, 0.1], "male_prior": [0.2, 0.2], "female_prior": [0.1, 0.1]}
    logs = {name: pl.Series([math.log(p) for p in values]) for name, values in scores.items()}
    table = traits_table({"S1": [1.0, 2.0]}).with_columns(n_pairs=pl.lit(2), **logs)
    found = spread_by_structure(table, n_resamples=0).select("quantity", "probability_mean", "probability_variance")
    expected = {"fill": (0.05, 0.005), "prior": (0.05, 0.0), "corrected": (0.0, 0.005)}
    for quantity, *numbers in found.iter_rows():
        assert numbers == pytest.approx(expected[quantity], abs=1e-12)
    of_means = spread_by_structure(table.with_columns(aggregation=pl.lit("mean")), n_resamples=0)
    assert of_means["probability_mean"].null_count() == 3


def test_both_polarities_together_and_the_twin_stand_beside() -> None:
    table = pl.concat([traits_table({"S1": [1.0, 3.0]}), traits_table({"S1": [5.0, 7.0]}, polarity="negative")])
    twins = gather_traits({"m": traits_table({"S1": [0.5, 1.5]}, model="m-random")})
    found = spread_by_structure(table, twins, n_resamples=0).filter(pl.col("quantity") == "corrected")
    assert found["polarity"].to_list() == ["positive", "negative", BOTH_POLARITIES]
    assert found["mean"].to_list() == [2.0, 6.0, 4.0]
    assert found["twin_mean"].to_list() == [1.0, None, None]
    assert gather_traits({}) is None


def test_two_structures_are_compared_on_the_traits_that_both_have() -> None:
    rng = np.random.default_rng(5)
    narrow = rng.normal(size=60)
    table = traits_table({"S1": [*narrow, None], "S4": [*(3 * narrow + 0.2), 99.0]})
    found = compare_structures(table, n_resamples=400).filter(pl.col("quantity") == "corrected").row(0, named=True)
    assert (found["structure_1"], found["structure_2"], found["n"]) == ("S1", "S4", 60)
    assert found["ratio"] == pytest.approx(3)
    # the traits are drawn together, so that a ratio that is the same for all of them does not vary
    assert found["ratio_low"] == pytest.approx(3)
    assert found["ratio_high"] == pytest.approx(3)
    assert found["difference"] == pytest.approx(2 * narrow.mean() + 0.2)
    assert found["difference_low"] < found["difference"] < found["difference_high"]


def test_a_ratio_of_spreads_has_an_interval_that_holds_its_level() -> None:
    """Of 60 tables with a true ratio of 2, at least 50 intervals must hold it (57 expected)."""
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        common = rng.normal(size=40)
        table = traits_table({"S1": common + rng.normal(size=40), "S2": 2 * (common + rng.normal(size=40))})
        row = compare_structures(
            table.with_columns(fill=None, prior=None).cast(dict(TRAITS_SCHEMA)), n_resamples=200, seed=seed
        )
        found = row.filter(pl.col("quantity") == "corrected").row(0, named=True)
        held += found["ratio_low"] < 2 < found["ratio_high"]
    assert held >= 50


def test_a_structure_in_which_all_traits_are_alike_has_no_ratio() -> None:
    """As the priors of S1, where the sentence without the trait is the same for all: what differs is rounding."""
    same = [0.5 + 1e-9 * number for number in range(9)]
    table = traits_table({"S1": same, "S4": [float(number) for number in range(9)]})
    found = compare_structures(table, n_resamples=50).filter(pl.col("quantity") == "corrected").row(0, named=True)
    assert (found["sd_1"], found["ratio"], found["ratio_low"]) == (0.0, None, None)
    assert found["note"] == "no ratio: in one of them all traits have the same association"
    assert found["difference_low"] < found["difference"] < found["difference_high"]
    spread = spread_by_structure(table, n_resamples=0).filter(structure="S1", quantity="corrected")
    assert spread["sd"].to_list() == spread["variance"].to_list() == [0.0]


def test_few_traits_have_no_interval_and_say_why() -> None:
    table = traits_table({"S1": [1.0, 2.0, 4.0], "S2": [2.0, 1.0, None], "S3": [None, None, 1.0]})
    found = compare_structures(table).filter(pl.col("quantity") == "corrected")
    notes = dict(zip(zip(found["structure_1"], found["structure_2"], strict=True), found["note"], strict=True))
    assert notes["S1", "S2"] == "no interval: 2 traits, and an interval over traits needs 8"
    assert notes["S1", "S3"] == "1 traits have both structures, and a spread takes two"
    assert found["ratio"].to_list()[0] == pytest.approx(1)
    eight = [1.0, 2.0, 4.0, 3.0, 0.0, 1.5, 2.5, 6.0]
    row = (
        compare_structures(traits_table({"S1": eight, "S2": eight[::-1]}))
        .filter(quantity="corrected")
        .row(0, named=True)
    )
    assert row["note"] is None
    assert row["difference_low"] < row["difference"] < row["difference_high"]


def overall(table: pl.DataFrame, **options: Any) -> list[dict[str, Any]]:
    return spread_by_structure(table, **options).filter(quantity="corrected").rows(named=True)


def test_structures_are_a_sample_as_traits_are() -> None:
    table = traits_table({"S1": [1.0, 2.0, 9.0], "S2": [3.0, 6.0, None], "S3": [5.0, 1.0, 7.0]})
    rows = overall(table)
    assert [(row["n_overall"], row["overall"]) for row in rows] == [(2, pytest.approx(3.0))] * 3
    assert [row["overall_without"] for row in rows] == pytest.approx([15 / 4, 9 / 4, 3.0])
    assert rows[0]["overall_low"] is None
    assert rows[0]["overall_note"] == (
        "no interval: 2 traits in all of 3 structures, and an interval over both needs 8 and 4"
    )


def test_the_interval_over_structures_holds_its_level_and_that_over_traits_alone_does_not() -> None:
    """5 structures differ by 1, 30 traits by .5. Of 100 intervals 94 or so must hold 0; 60 at most of traits alone."""
    held = of_traits = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=5) + 0.5 * rng.normal(size=(30, 1)) + 0.3 * rng.normal(size=(30, 5))
        table = traits_table({f"S{i + 1}": of for i, of in enumerate(values.T)})
        row = overall(table.with_columns(fill=None, prior=None).cast(dict(TRAITS_SCHEMA)), n_resamples=300, seed=seed)[
            0
        ]
        held += row["overall_low"] < 0 < row["overall_high"]
        means = values.mean(axis=1)
        of_traits += abs(values.mean()) < 2.05 * means.std(ddof=1) / np.sqrt(30)
    assert held >= 88
    assert of_traits <= 60
