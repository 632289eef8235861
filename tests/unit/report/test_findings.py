"""The sentences, word for word, on tables small enough to check by hand."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from prasanga.report import findings as module
from prasanga.report.findings import headline_findings

Table = Callable[..., pl.DataFrame]


def test_significance_counts_before_and_after_correction(table: Table) -> None:
    p_values = (0.001, 0.012, 0.02, 0.04, 0.6)  # Holm: .001 <= .05/5, .012 <= .05/4, .02 > .05/3
    models = "abcde"
    ceat = table(*(("C1", m, "9", "fixed", 0.1, {"p_association": p}) for m, p in zip(models, p_values, strict=True)))
    assert module.significance(ceat) == (
        "4 of 5 estimates have p_association < .05, uncorrected; fewer than one at most would be expected if the target"
        " words or the attribute words made no difference. With Holm's correction for 5 tests, 2 remain. Estimates that"
        " share words are not independent of each other."
    )


def test_significance_of_none(table: Table) -> None:
    rows = [("C1", f"m{i}", "9", "fixed", 0.1) for i in range(20)]
    assert module.significance(table(*rows)) == (
        "None of the 20 estimates has p_association < .05, uncorrected; about one at most would be expected if the"
        " target words or the attribute words made no difference. With Holm's correction for 20 tests, 0 remain."
        " Estimates that share words are not independent of each other."
    )


def test_largest_effects_say_what_their_sign_means(table: Table) -> None:
    ceat = table(
        ("C1", "a", "9", "fixed", 0.5),
        ("C4", "a", "25", "random", -1.234, {"p_association": 0.0004}),
        ("C1", "b", "9", "fixed", None),
    )
    assert module.largest_effect(ceat) == (
        "The largest effect is −1.23 (C4, a, 25 words, random draws; 95 % interval over words −1.77 to −0.69;"
        " p_association < .001, .002 after Holm's correction): the model associates male names,"
        " more than female names, with family rather than career."
        " As the largest of 2, it is likely to be overestimated."
    )
    assert module.largest_opposite_effect(ceat) == (
        "The largest effect of the opposite sign is +0.50 (C1, a, 9 words, fixed draws; 95 % interval over words"
        " −0.04 to +1.04; p_association = .200, .800 after Holm's correction): the model associates flowers,"
        " more than insects, with pleasant rather"
        " than unpleasant."
    )
    assert module.largest_opposite_effect(ceat.filter(pl.col("category") == "C1")) is None


def test_the_correction_is_that_of_the_study(table: Table) -> None:
    ceat = table(
        ("C1", "a", "9", "fixed", 0.5, {"p_association": 0.001, "p_association_holm": 0.04}),
        ("C4", "a", "9", "fixed", 0.4, {"p_association": 0.002, "p_association_holm": 0.06}),
    ).with_columns(n_tests=pl.lit(40))
    assert "With Holm's correction for the 40 tests of the study, 1 remains." in str(module.significance(ceat))
    alone = ceat.with_columns(n_tests=pl.lit(2))
    assert "With Holm's correction for 2 tests, 1 remains." in str(module.significance(alone))


def test_change_with_length(table: Table) -> None:
    rows = [
        ("C1", "a", "9", "fixed", 0.5),
        ("C1", "a", "25", "fixed", 9.0),
        ("C1", "a", "75", "fixed", 0.7),
        ("C4", "a", "9", "fixed", 0.1),
        ("C4", "a", "75", "fixed", -0.4),
        ("C1", "b", "9", "fixed", 0.3),
        ("C1", "b", "75", "fixed", 0.2),
        ("C4", "b", "9", "fixed", None),
    ]
    assert module.change_with_length(table(*rows)) == (
        "From 9 to 75 words (fixed draws) the effect grows in size in 2 of 3 pairs of category and model and changes"
        " its direction in 1. The change is 0.20 in the median, and largest in C4 with a: from +0.10 to −0.40. Both"
        " lengths are cut from the same contexts."
    )
    assert module.change_with_length(table(rows[0])) is None


def test_change_with_length_warns_of_other_texts(table: Table) -> None:
    ends = table(("C1", "a", "9", "fixed", 0.5), ("C1", "a", ">75", "fixed", 0.6))
    assert "The contexts of >75 words are not those of the fixed lengths" in str(module.change_with_length(ends))
    own = ends.with_columns(pool=pl.lit("per_length"))
    assert "Each length has contexts of its own" in str(module.change_with_length(own))


def test_null_controls(table: Table) -> None:
    ceat = table(
        ("C1", "a", "9", "fixed", 0.9, {"twin_effect_size": -0.4}),
        ("C1", "b", "9", "fixed", 0.2, {"twin_effect_size": 0.1}),
        ("C4", "a", "9", "fixed", -0.5, {"twin_effect_size": None, "shuffled_low": None, "shuffled_high": None}),
        ("C4", "b", "9", "fixed", None),
    )
    assert module.null_controls(ceat) == (
        "Twins with random weights, which have learnt nothing, show effects of 0.25 in the median and 0.40 at most:"
        " what is not larger than that needs no bias to explain it. 1 of 2 effects lies outside the range that 95 % of"
        " random divisions of the attribute words give."
    )
    no_twins = ceat.with_columns(twin_effect_size=pl.lit(None, pl.Float64))
    assert str(module.null_controls(no_twins)).startswith("1 of 2 effects lies")
    assert module.null_controls(no_twins.with_columns(shuffled_low=None)) is None
    assert module.null_controls(ceat.drop("twin_effect_size", "shuffled_low")) is None


def test_direction_across_models(table: Table) -> None:
    two = table(
        ("C1", "a", "9", "fixed", 0.5),
        ("C1", "b", "9", "fixed", -0.1),
        ("C4", "a", "9", "fixed", 0.5),
        ("C4", "b", "9", "fixed", 0.1),
    )
    assert module.direction_across_models(two) == (
        "The two models disagree about the direction of the effect in 1 of 2 combinations of category and segment"
        " length (fixed draws)."
    )
    assert module.direction_across_models(two.filter(pl.col("model") == "a")) is None


def test_fixed_against_random(table: Table) -> None:
    ceat = table(
        ("C1", "a", "9", "fixed", 0.5),
        ("C1", "a", "9", "random", 0.51),
        ("C4", "a", "9", "fixed", 0.5),
        ("C4", "a", "9", "random", 0.47),
    )
    assert module.fixed_against_random(ceat) == (
        "Fixed and random draws give effects that differ by 0.020 in the median and by 0.030 at most (C4, a, 9 words)."
    )
    assert module.fixed_against_random(ceat.filter(pl.col("sample_mode") == "fixed")) is None


def test_significance_of_draws_says_what_it_is_not(table: Table) -> None:
    assert module.significance_of_draws(table(("C1", "a", "9", "fixed", 0.5))) == (
        "The only estimate has p_draws < .05, the p that the paper reports. It asks whether other draws from the same"
        " contexts would agree, not whether other words would, and falls as the number of draws grows: by itself it"
        " is no evidence of a bias."
    )


def test_fewest_contexts(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", 0.5), ("C4", "a", "25", "fixed", 0.5, {"contexts_min": 1}))
    assert module.fewest_contexts(ceat) == "Every stimulus used has at least 1 context (fewest: C4, a, 25 words)."


def test_not_computed_groups_reasons(small: pl.DataFrame) -> None:
    assert module.not_computed(small) == (
        "2 of 24 estimates could not be computed. C10 (narrow, 9 words, random and 1 more): weapons has 1 of 4"
        " stimuli left, and a target set needs 2."
    )


def test_findings_of_a_table_without_numbers(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", None, {"dropped": "not computed: nothing there"}))
    assert headline_findings(ceat) == ["1 of 1 estimates could not be computed. C1 (a, 9 words, fixed): nothing there."]


def test_numbers_that_are_not_finite_count_as_missing(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", float("inf")), ("C1", "b", "9", "fixed", float("nan")))
    assert headline_findings(ceat) == [
        "2 of 2 estimates could not be computed. C1 (a, 9 words, fixed): the estimate is not a finite number (inf);"
        " C1 (b, 9 words, fixed): the estimate is not a finite number (nan)."
    ]
