"""The balanced percentage and the test of the label: against counting, published intervals and simulated models."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

from prasanga.likelihoods.bias import BIAS_SCHEMA, LabelCounts, balance, bias_percentage, label_p_value


def counted_p(types: list[LabelCounts]) -> float:
    """The share of all ways to deal the labels within types that are as far from the expectation as the one seen."""
    dealt = []
    for of in types:
        wins = [1] * (of.first_stereo + of.first_anti)
        wins += [0] * (of.n_stereo + of.n_anti - len(wins))
        dealt.append([sum(wins[i] for i in chosen) for chosen in combinations(range(len(wins)), of.n_stereo)])
    sums = np.array([sum(each) for each in product(*dealt)], dtype=float)
    observed = sum(of.first_stereo for of in types)
    return float(np.mean(np.abs(sums - sums.mean()) >= abs(observed - sums.mean()) - 1e-9))


def drawn_types(rng: np.random.Generator, n_types: int) -> list[LabelCounts]:
    found = []
    for _ in range(n_types):
        n_stereo, n_anti = (int(n) for n in rng.integers(1, 6, size=2))
        found.append(LabelCounts(int(rng.integers(n_stereo + 1)), n_stereo, int(rng.integers(n_anti + 1)), n_anti))
    return found


@pytest.mark.parametrize("n_types", [1, 2])
def test_p_is_that_of_counting_every_deal_of_labels(n_types: int) -> None:
    rng = np.random.default_rng(47)
    for _ in range(40):
        types = drawn_types(rng, n_types)
        assert label_p_value(types) == pytest.approx(counted_p(types), abs=1e-12)


def test_the_interval_is_the_published_one() -> None:
    # Newcombe (1998), table II, case (a): 56/70 - 48/80 = .2, by method 10 from .0524 to .3339
    found = balance([LabelCounts(56, 70, 48, 80)])
    assert found.percentage == pytest.approx(60)
    assert (found.low, found.high) == (pytest.approx(52.62, abs=0.005), pytest.approx(66.695, abs=0.005))


def test_a_preference_for_first_sentences_is_none_for_stereotypes() -> None:
    # 454 stereo and 107 antistereo pairs; the first sentence wins in 59.5% and 58.9%, whatever the label
    found, p = balance([LabelCounts(270, 454, 63, 107)]), label_p_value([LabelCounts(270, 454, 63, 107)])
    assert [round(value, 1) for value in found] == [50.3, 45.3, 55.5]  # type: ignore[arg-type]
    assert p == pytest.approx(0.9133, abs=5e-5)


def test_intervals_stay_within_the_possible_and_one_label_says_nothing() -> None:
    assert balance([LabelCounts(10, 10, 0, 10)]).high == 100
    assert balance([LabelCounts(0, 3, 3, 3)]).low == 0
    assert balance([LabelCounts(9, 12, 0, 0)]) == (None, None, None)
    assert balance([]) == (None, None, None)
    # a type with one label changes nothing
    both = LabelCounts(7, 12, 3, 12)
    assert balance([both, LabelCounts(9, 12, 0, 0)]) == balance([both])


@pytest.mark.parametrize("share", [0.6, 0.7])
def test_label_blind_models_are_called_biased_in_at_most_one_study_of_fourteen(share: float) -> None:
    """454 stereo and 107 antistereo pairs of five types: the test against 50 finds most of these models biased."""
    rng = np.random.default_rng(2026)
    sizes = np.array([(180, 40), (120, 30), (90, 20), (44, 12), (20, 5)])
    rejected = covered = 0
    for _ in range(400):
        wins = rng.binomial(sizes, share)
        types = [LabelCounts(w[0], n[0], w[1], n[1]) for w, n in zip(wins.tolist(), sizes.tolist(), strict=True)]
        found = balance(types)
        assert found.low is not None
        assert found.high is not None
        rejected += label_p_value(types) <= 0.05
        covered += found.low <= 50 <= found.high
    assert rejected / 400 <= 0.07
    assert 0.92 <= covered / 400 <= 0.98


def scored(bias_type: str, label: str, first_wins: int, n: int, **more: str) -> pl.DataFrame:
    """`n` pairs of a type and label, of which the first sentence wins so many."""
    rows = [
        {"pair_id": f"{bias_type}-{label}-{i}", "language": "en", "bias_type": bias_type, "label": label}
        | {"score_first": 1.0 if i < first_wins else -1.0, "score_second": 0.0, "model": "m", **more}
        for i in range(n)
    ]
    return pl.DataFrame(rows)


def test_the_table_has_both_labels_alike_by_type_and_over_all() -> None:
    scores = pl.concat(
        [
            *(scored("age", "stereo", 15, 20), scored("age", "antistereo", 5, 12)),
            *(scored("caste", "stereo", 9, 10), scored("caste", "antistereo", 2, 9)),  # too few for a test of its own
            scored("religion", "stereo", 30, 40),
        ]
    )
    table = bias_percentage(scores, n_resamples=0)
    names = ["balanced_percentage", "balanced_ci_low", "balanced_ci_high", "p_label", "p_label_holm"]
    assert [name for name in BIAS_SCHEMA if name in names] == names
    age, caste, religion, overall = table.select("bias_type", *names).rows(named=True)
    types = [LabelCounts(15, 20, 5, 12), LabelCounts(9, 10, 2, 9)]
    for row, expected in ((age, balance(types[:1])), (caste, balance(types[1:])), (overall, balance(types))):
        assert [row[name] for name in names[:3]] == pytest.approx(expected[:3])
    assert age["p_label"] == age["p_label_holm"] == pytest.approx(label_p_value(types[:1]))
    assert overall["p_label"] == overall["p_label_holm"] == pytest.approx(label_p_value(types))
    assert (caste["p_label"], caste["p_label_holm"]) == (None, None)
    assert [religion[name] for name in names] == [None] * 5


def test_labels_are_corrected_within_a_language_and_all_pairs_apart_from_types() -> None:
    def of_model(model: str, wins: int, language: str = "en") -> pl.DataFrame:
        parts = [scored(name, label, won, 20, model=model) for name in ("age", "caste")
                 for label, won in (("stereo", wins), ("antistereo", 10))]  # fmt: skip
        return pl.concat(parts).with_columns(language=pl.lit(language))

    scores = pl.concat([of_model("a", 17), of_model("b", 16), of_model("a", 18, "hi")])
    table = bias_percentage(scores, n_resamples=0)
    for (language, is_overall), rows in table.group_by("language", pl.col("bias_type") == "all"):
        p, holm = rows["p_label"].to_list(), rows["p_label_holm"].to_list()
        smallest = p.index(min(p))
        assert len(p) == (1 if is_overall else 2) * (2 if language == "en" else 1)
        assert holm[smallest] == pytest.approx(min(1.0, len(p) * p[smallest]))
