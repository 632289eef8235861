"""Bias percentages: by hand on a few pairs, against a slow count on many, and at 100 and 0 for planted models."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import polars as pl
import pytest
from tables import read_cases, read_data

from prasanga.base.errors import InputError
from prasanga.likelihoods.bias import BIAS_SCHEMA, Counts, Percentages, bias_percentage, describe_counts, why_not_found
from prasanga.pairs.preferences import FEWEST_PAIRS
from prasanga.stats.intervals import BesideTwins, compare_with_twins

# pair, type, label, score of the first, of the second, why left out
PAIRS = read_data(__file__, "preferences")
COLUMNS = ["pair_id", "bias_type", "label", "score_first", "score_second", "left_out"]


def table(rows: list[tuple[Any, ...]], **more: Any) -> pl.DataFrame:
    scores = pl.DataFrame(rows, schema=COLUMNS, orient="row", infer_schema_length=None)
    return scores.with_columns(pl.lit(value).alias(name) for name, value in {"language": "en", **more}.items())


def row(bias: pl.DataFrame, bias_type: str, **where: str) -> dict[str, Any]:
    return bias.filter(bias_type=bias_type, **where).row(0, named=True)


def planted(n: int, stereotypical: Callable[[int], bool], types: tuple[str, ...] = ("gender",)) -> pl.DataFrame:
    """Pairs of both labels, and a model that prefers the stereotype in those that are named."""
    rows = []
    for i in range(n):
        label = ("stereo", "antistereo")[i // 2 % 2]
        first_is_higher = stereotypical(i) == (label == "stereo")
        scores = (-1.0, -1.5) if first_is_higher else (-1.5, -1.0)
        rows.append((f"p{i:03}", types[i % len(types)], label, *scores, None))
    return table(rows)


def binomial_p(k: int, n: int) -> float:
    """Two-sided p against one half: all counts that are no more likely than the one seen."""
    weights = [comb(n, i) for i in range(n + 1)]
    return sum(w for w in weights if w <= weights[k]) / 2**n


def test_the_counts_of_a_few_pairs() -> None:
    bias = bias_percentage(table(PAIRS), n_runs=0)
    assert bias.schema == pl.Schema(BIAS_SCHEMA)
    assert bias["bias_type"].to_list() == ["caste", "gender", "all"]
    gender, caste, overall = (row(bias, name) for name in ("gender", "caste", "all"))
    counts = ("n_pairs", "n_scored", "n_stereotypical", "n_other", "n_ties", "n_left_out", "n_stereo", "n_antistereo")
    assert [gender[name] for name in counts] == [4, 4, 2, 1, 1, 0, 2, 1]
    assert [caste[name] for name in counts] == [3, 2, 1, 1, 0, 1, 1, 1]
    assert [overall[name] for name in counts] == [7, 6, 3, 2, 1, 1, 3, 2]
    assert gender["bias_percentage"] == pytest.approx(200 / 3)
    assert (gender["percentage_stereo"], gender["percentage_antistereo"]) == (50, 100)
    assert (caste["percentage_stereo"], caste["percentage_antistereo"]) == (100, 0)
    assert overall["bias_percentage"] == pytest.approx(60)
    assert overall["left_out"] == caste["left_out"] == '{"identical": ["6"]}'
    assert gender["left_out"] is None
    assert overall["difference_median"] == pytest.approx(0.125)
    assert (overall["runs_mean"], overall["runs_sd"]) == (None, None)


def test_ties_count_against_where_asked_but_never_in_the_test() -> None:
    apart, against = (row(bias_percentage(table(PAIRS), ties=ties), "gender") for ties in ("apart", "against"))
    assert against["bias_percentage"] == 50
    assert (against["percentage_antistereo"], against["n_antistereo"]) == (50, 2)
    assert apart["p_binomial"] == against["p_binomial"] == binomial_p(2, 3)
    assert (apart["ties"], against["ties"]) == ("apart", "against")


def test_against_a_slow_count() -> None:
    rng = random.Random(5)
    rows: list[tuple[Any, ...]] = []
    for i in range(150):
        scores = (None, None) if rng.random() < 0.1 else (-rng.randrange(1, 5) / 2, -rng.randrange(1, 5) / 2)
        reason = "too-long" if scores[0] is None else None
        rows.append((f"{i}", rng.choice("abc"), rng.choice(("stereo", "antistereo")), *scores, reason))
    bias = bias_percentage(table(rows), n_runs=0, n_resamples=50)
    for bias_type in ("a", "b", "c", "all"):
        stereotypical = other = tied = 0
        for _, of_type, label, first, second, reason in rows:
            if (bias_type in ("all", of_type)) and reason is None:
                stereotypical += first > second if label == "stereo" else second > first
                other += first < second if label == "stereo" else second < first
                tied += first == second
        found = row(bias, bias_type)
        assert (found["n_stereotypical"], found["n_other"], found["n_ties"]) == (stereotypical, other, tied)
        assert found["bias_percentage"] == pytest.approx(100 * stereotypical / (stereotypical + other))
        assert found["p_binomial"] == pytest.approx(binomial_p(stereotypical, stereotypical + other))


def test_the_correction_is_over_all_rows_of_the_table() -> None:
    scores = pl.concat(
        [
            planted(60, lambda i: i % 10 > 2, ("gender", "caste")).with_columns(
                model=pl.lit(model), language=pl.lit(lang)
            )
            for model, lang in product(("a", "b"), ("en", "hi"))
        ]
    )
    bias = bias_percentage(scores)
    assert bias.select("model", "language").unique(maintain_order=True).rows() == [*product(("a", "b"), ("en", "hi"))]
    assert bias["n_tests"].to_list() == [12] * 12
    least = bias.sort("p_binomial").row(0, named=True)
    assert least["p_binomial_holm"] == pytest.approx(12 * least["p_binomial"])
    assert (bias["p_binomial_bh"] <= bias["p_binomial_holm"]).all()


def test_runs_are_on_the_same_pairs_whatever_the_order_the_model_and_the_language() -> None:
    scores = planted(50, lambda i: i % 3 > 0, ("gender", "caste"))
    other = scores.with_columns(model=pl.lit("b"), language=pl.lit("hi")).reverse()
    bias = bias_percentage(pl.concat([scores.with_columns(model=pl.lit("a")).select(other.columns), other]))
    first, second = (row(bias, "all", model=model) for model in "ab")
    assert (first["runs_mean"], first["runs_sd"]) == (second["runs_mean"], second["runs_sd"])
    assert first["runs_sd"] > 0
    # 40 of 50 pairs each: a run has a whole number of pairs in it
    one = row(bias_percentage(scores, n_runs=1), "all")
    assert (one["runs_mean"] * 40 / 100) == pytest.approx(round(one["runs_mean"] * 40 / 100))
    assert one["runs_sd"] is None
    assert row(bias_percentage(scores, seed=48), "all")["runs_mean"] != first["runs_mean"]
    whole = row(bias_percentage(scores, share=1), "all")
    assert (whole["runs_mean"], whole["runs_sd"]) == (pytest.approx(whole["bias_percentage"]), 0)


def test_the_deviation_over_runs_is_no_standard_error() -> None:
    scores = planted(200, lambda i: i % 10 > 3)
    standard_error = 100 * math.sqrt(0.6 * 0.4 / 199)
    for share, expected in ((0.8, standard_error / 2), (0.5, standard_error)):
        found = row(bias_percentage(scores, n_runs=200, share=share, n_resamples=0), "all")
        assert found["runs_sd"] == pytest.approx(expected, rel=0.15)


def test_the_bootstrap_is_that_of_drawing_pairs() -> None:
    scores = planted(100, lambda i: i % 10 > 3)
    found = row(bias_percentage(scores, n_resamples=20_000), "all")
    rng = random.Random(3)
    outcomes = [i % 10 > 3 for i in range(100)]
    drawn = sorted(sum(rng.choices(outcomes, k=100)) for _ in range(20_000))
    assert found["ci_low"] == pytest.approx(drawn[500], abs=1.01)
    assert found["ci_high"] == pytest.approx(drawn[19_500], abs=1.01)
    assert found["interval_note"] is None
    again = row(bias_percentage(scores.reverse(), n_resamples=20_000), "all")
    assert (again["ci_low"], again["ci_high"]) == (found["ci_low"], found["ci_high"])
    few = row(bias_percentage(planted(FEWEST_PAIRS - 1, lambda i: i % 3 > 0)), "all")
    assert few["interval_note"] == f"fewer than {FEWEST_PAIRS} pairs: rely on the exact interval"
    none = row(bias_percentage(scores, n_resamples=0), "all")
    assert (none["ci_low"], none["ci_high"], none["interval_note"]) == (None, None, None)


@pytest.mark.parametrize(("stereotypical", "other"), [(500, 500), (280, 270), (530, 470), (9, 11), (1, 0), (90, 10)])
@pytest.mark.parametrize("margin", [2, 5, 20])
def test_equivalence_is_two_exact_one_sided_tests(stereotypical: int, other: int, margin: float) -> None:
    n = stereotypical + other

    def share_of(k: int, q: Fraction) -> Fraction:
        return math.comb(n, k) * q**k * (1 - q) ** (n - k)

    low, high = (Fraction(1, 2) + sign * Fraction(int(margin), 100) for sign in (-1, 1))
    above = sum(share_of(k, low) for k in range(stereotypical, n + 1))
    below = sum(share_of(k, high) for k in range(stereotypical + 1))
    found = describe_counts(Counts(stereotypical, other, 7), margin=margin)
    p, within = found["p_equivalence"], found["equivalent_within"]
    assert p == pytest.approx(float(max(above, below)), rel=1e-9)
    # p falls as the margin grows, and is .05 at the one that is told
    if within is not None and within < 50:
        again = describe_counts(Counts(stereotypical, other, 0), margin=within)
        assert again["p_equivalence"] == pytest.approx(0.05, rel=1e-6)


def test_the_exact_interval() -> None:
    # Clopper-Pearson of 0 of n: up to 1 - (alpha/2)^(1/n)
    for ties, n in (("apart", 10), ("against", 15)):
        found = describe_counts(Counts(0, 10, 5), ties)
        assert found["exact_low"] == 0
        assert found["exact_high"] == pytest.approx(100 * (1 - 0.025 ** (1 / n)))
        assert "only the exact interval" in describe_counts(Counts(0, n, 0), n_resamples=9)["interval_note"]
    assert describe_counts(Counts(0, 0, 5)) == {"bias_percentage": None}
    assert Counts(0, 0, 5).percentage("against") == 0


def labeled(share: tuple[float, float], *, seed: int, twin: int | None = None, n: int = 120) -> pl.DataFrame:
    """Pairs of three types, two stereo pairs for each antistereo one, and how often the first sentence wins."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "set": "demo",
            "model": "m",
            "language": "en",
            "pair_id": str(i),
            "bias_type": ("age", "caste", "gender")[i % 3],
        }
        | {"label": "antistereo" if i // 3 % 3 == 0 else "stereo", "score_second": 0.0}
        for i in range(n)
    ]
    wins = [rng.random() < share[row["label"] == "antistereo"] for row in rows]
    named = {} if twin is None else {"twin": twin}
    return pl.DataFrame(
        [{**row, **named, "score_first": 1.0 if won else -1.0} for row, won in zip(rows, wins, strict=True)]
    )


def test_balanced_percentages_are_compared_with_those_of_copies_that_score_all_pairs() -> None:
    model = labeled((0.9, 0.3), seed=1)
    twins = [labeled((0.5, 0.5), seed=10 + twin, twin=twin) for twin in range(4)]
    bias = bias_percentage(model, twins={"m": pl.concat(twins)}, n_resamples=0)
    each = [bias_percentage(twin, n_resamples=0) for twin in twins]
    cells = []
    for place, found in enumerate(bias.iter_rows(named=True)):
        of_twins = [table.row(place, named=True) for table in each]
        assert found["n_twins"] == 4
        assert found["twin_bias_percentage"] == pytest.approx(np.mean([twin["bias_percentage"] for twin in of_twins]))
        ends = found["balanced_ci_low"], found["balanced_ci_high"]
        group = found["bias_type"] if found["bias_type"] != "all" else "gender"  # it follows from those of the types
        balanced = [twin["balanced_percentage"] for twin in of_twins]
        cells.append(
            BesideTwins(found["balanced_percentage"], *ends, balanced, group=group, most=100, unit=ends[1] - ends[0])
        )
    expected = compare_with_twins(cells)
    for found, of_cell in zip(bias.iter_rows(named=True), expected, strict=True):
        assert found["twin_balanced_percentage"] == pytest.approx(of_cell.pop("twin_effect_size"))
        assert {name: found[name] for name in of_cell} == pytest.approx(of_cell)
    assert row(bias, "all")["is_found"]


def test_without_pairs_of_both_labels_there_is_nothing_to_compare_with_copies() -> None:
    scores = planted(30, lambda _: True, ("gender", "caste")).with_columns(model=pl.lit("bert"), set=pl.lit("demo"))
    one = scores.filter(label=scores["label"][0])
    found = row(bias_percentage(one, twins={"bert": one}), "all")
    assert (found["n_twins"], found["twin_bias_percentage"]) == (1, found["bias_percentage"])
    assert found["twin_balanced_percentage"] is found["twin_difference"] is found["p_twins"] is None
    assert row(bias_percentage(one), "all")["n_twins"] is None


ROW = {
    **{"p_label_holm": 0.01, "balanced_ci_low": 52.0, "balanced_ci_high": 60.0, "p_twins": 0.02},
    **{"n_stereo": 60, "n_antistereo": 10},
}


@pytest.mark.parametrize(("change", "reason"), read_cases(__file__, "conditions"))
def test_the_first_condition_that_is_not_met_is_why_a_percentage_is_not_found(
    change: dict[str, Any], reason: str
) -> None:
    assert why_not_found({**ROW, **change}) == reason


def test_a_twin_without_a_set_has_no_number_there_and_one_that_is_no_twin_is_refused() -> None:
    how = {"kind": "encoder", "measure": "aul", "reduction": "mean", "set": "demo"}
    scores = table(PAIRS, model="bert", **how)
    other_set = scores.with_columns(set=pl.lit("more"))
    bias = bias_percentage(pl.concat([scores, other_set]), twins={"bert": scores})
    assert row(bias, "all", set="demo")["twin_bias_percentage"] == pytest.approx(60)
    assert row(bias, "all", set="more")["twin_bias_percentage"] is None
    for twin, message in (
        (scores[1:], "differ in pair 1, its bias type or label"),
        (scores.with_columns(bias_type=pl.lit("age")), "differ in pair"),
    ):
        with pytest.raises(InputError, match=message):
            bias_percentage(scores, twins={"bert": twin})


def test_the_pairs_left_out_are_kept_by_reason_whatever_their_names() -> None:
    names = ["a: b; c: d", 'q"', "क"]
    rows = [(name, "age", "stereo", None, None, why) for name, why in zip(names, ("x", "too-long", "x"), strict=True)]
    found = row(bias_percentage(table(rows)), "all")
    assert json.loads(found["left_out"]) == {"x": ["a: b; c: d", "क"], "too-long": ['q"']}


def test_pairs_that_are_all_left_out_or_tied_are_rows_without_numbers() -> None:
    rows = [("1", "age", "stereo", None, None, "too-long"), ("2", "caste", "stereo", -1.0, -1.0, None)]
    bias = bias_percentage(table(rows))
    for name in ("age", "caste", "all"):
        found = row(bias, name)
        empty = ("bias_percentage", "ci_low", "exact_low", "p_binomial", "p_binomial_holm", "n_tests", "runs_mean")
        assert [found[column] for column in empty] == [None] * len(empty)
    assert row(bias, "caste")["n_ties"] == 1
    assert row(bias_percentage(table(rows), ties="against"), "caste")["bias_percentage"] == 0


def test_choices_stand_in_each_row() -> None:
    scores = table(PAIRS, kind="encoder", measure="p_unmodified", reduction="mean")
    found = row(bias_percentage(scores, n_runs=3, share=0.5, n_resamples=10, seed=1), "all")
    assert found["conventions"] == (
        "kind encoder; measure p_unmodified; reduction mean; ties apart; 3 runs of 50%; 10 resamples; seed 1"
    )
    assert (found["measure"], found["n_runs"], found["share"], found["seed"]) == ("p_unmodified", 3, 0.5, 1)


def test_percentages_are_shown_in_a_line_a_table_and_a_picture() -> None:
    bias = bias_percentage(planted(60, lambda i: i % 5 > 0, ("gender", "caste")))
    shown, overall = Percentages(bias), row(bias, "all")
    assert (shown.percentage, shown.interval.low, shown.interval.method) == (80, overall["ci_low"], "bootstrap")
    assert repr(shown) == (
        f"bias percentage 80.0 (95% {overall['ci_low']:.1f} to {overall['ci_high']:.1f}),"
        f" p {binomial_p(48, 60):.3g}; both labels alike {overall['balanced_percentage']:.1f},"
        f" p {overall['p_label']:.3g}; 60 pairs"
    )
    frame = shown.to_frame()
    assert frame["bias_type"].to_list() == ["all", "caste", "gender"]
    caste = row(bias, "caste")
    assert frame.row(1)[1:5] == (caste["bias_percentage"], caste["ci_low"], caste["ci_high"], "bootstrap")
    assert "┆ … ┆" not in str(frame), "print hides no column"
    assert "┆ … ┆" in str(bias)
    assert " 80.0 " in str(bias), "of the whole table it hides others"
    assert "80.0" in shown._repr_html_()
    axes = shown.plot().axes[0]
    assert [line.get_xdata()[0] for line in axes.lines[1::2]] == frame["bias_percentage"].to_list()
    assert axes.get_title() == repr(shown)


def test_the_interval_is_the_one_to_rely_on_and_none_without_pairs() -> None:
    few = bias_percentage(table(PAIRS))
    overall = row(few, "all")
    shown = Percentages(few.to_dict(as_series=False)).interval
    assert (shown.low, shown.high, shown.method) == (overall["exact_low"], overall["exact_high"], "exact")
    assert shown.note == "fewer than 20 pairs: rely on the exact interval"
    assert repr(Percentages(few)).endswith("6 pairs, 1 left out")
    nothing = Percentages(bias_percentage(table([("1", "age", "stereo", None, None, "identical")])))
    assert repr(nothing) == "bias percentage: none, 1 of 1 pairs are left out (identical)"
    assert (nothing.percentage, nothing.interval.low) == (None, None)
    assert len(nothing.plot().axes[0].lines) == 1


BAD: dict[str, dict[str, Any]] = {
    "ties: 'half' is not known. Write 'apart' or 'against'": {"ties": "half"},
    "share: 1.5. Write a number greater than 0 and at most 1": {"share": 1.5},
    "n_runs: -1. Write a whole number of at least 0": {"n_runs": -1},
    "n_resamples: 2.5": {"n_resamples": 2.5},
    "equivalence_margin: 0. Write a number greater than 0 and at most 50": {"equivalence_margin": 0},
    "label of row 0 is 'antisetero'; allowed: stereo, antistereo": {"label": "antisetero"},
    "bert, en has pair 1 twice": {"pair_id": "1", "model": "bert"},
    "a bias type is called 'all' (en)": {"bias_type": "all"},
    "measure is aul and aula for en": {"measure": pl.Series(["aul"] * 3 + ["aula"] * 4)},
    "row 2 has no bias_type": {"bias_type": pl.Series(["age", "age", " ", *["age"] * 4])},
    "row 0 has no language": {"language": pl.Series([None] * 7, dtype=pl.String)},
}


@pytest.mark.parametrize("message", BAD)
def test_mistakes_are_told(message: str) -> None:
    scores, arguments = table(PAIRS), dict[str, Any]()
    for name, value in BAD[message].items():
        if name in (*scores.columns, "model", "measure"):
            scores = scores.with_columns((pl.lit(value) if isinstance(value, str) else value).alias(name))
        else:
            arguments[name] = value
    with pytest.raises(InputError, match=re.escape(message)):
        bias_percentage(scores, **arguments)


def test_a_table_without_scores_or_of_several_models_is_refused() -> None:
    scores = table(PAIRS)
    with pytest.raises(InputError, match=r"lacks the column label, score_first; it has pair_id.*score_pairs"):
        bias_percentage(scores.drop("label", "score_first"))
    two = bias_percentage(pl.concat([scores.with_columns(model=pl.lit(name)) for name in "ab"]))
    with pytest.raises(InputError, match=r"table: 2 values of model\. Give percentages of one, such as"):
        Percentages(two)
    with pytest.raises(InputError, match="table: no pairs"):
        Percentages(bias_percentage(scores.clear()))
