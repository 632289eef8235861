"""The strength of log-probability bias: against one study at a time, error rates, power, and from tables to studies."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from prasanga.associations import TestSettings
from prasanga.associations.comparisons import why_not_found
from prasanga.associations.strength import measure_strengths
from prasanga.likelihoods.categories import TermScores
from prasanga.likelihoods.strength import TermStudies, build_term_studies
from prasanga.schema import TABLES
from prasanga.stats.crossed import contrast, contributions
from prasanga.stats.intervals import BesideTwins, compare_with_twins, interval, omit_templates, omit_units
from prasanga.stats.permutation import Units
from prasanga.stats.strength import Judge, Rule, measure_strength

Flags = npt.NDArray[np.bool_]
WORDS = Units.from_sizes


def draw_scores(
    rng: np.random.Generator,
    n_words: int,
    n_first: int,
    n_templates: int = 3,
    terms: str = "log-sum-exp",
    n_second: int | None = None,
) -> TermScores:
    """Scores without a bias: a word and a term go together by chance, in all sentences of the word.

    Terms of the first set vary three times as much if the second has another number.
    """
    n_terms = n_first + (n_second or n_first)
    words = np.repeat(np.arange(2 * n_words), n_templates)
    prior = rng.normal(-6, 1, n_terms) + rng.normal(0, 0.1, (len(words), n_terms))
    of_pairs = rng.normal(0, 0.5, (2 * n_words, n_terms))[words]
    of_terms = rng.normal(size=n_terms) * np.where(np.arange(n_terms) < n_first, 3 if n_second else 1, 1)
    together = 0.5 * np.outer(rng.normal(size=2 * n_words)[words], of_terms)
    fill = prior + together + of_pairs + rng.normal(0, 0.2, prior.shape)
    return TermScores(fill, prior, words, n_first, n_words, n_words, terms)


def simulate(
    scores: list[TermScores], units: tuple[Units, Units], rule: Rule, n_templates: int, seed: int
) -> TermStudies:
    places = np.tile(np.arange(n_templates), scores[0].n_targets)
    spelled = np.arange(scores[0].n_targets) % 7 + 3.0, np.arange(scores[0].n_attributes) % 5 + 3.0
    return TermStudies(scores[0], places, scores[1:], units, spelled, rule, np.random.default_rng(seed))


# --------------------
# The oracle: one study at a time, from moved scores of terms, by the functions that a study calls.


def find_one(
    scores: list[TermScores], units: tuple[Units, Units], rule: Rule, is_x: Flags, k: float, n_templates: int
) -> bool:
    """Return whether one study finds a shift of `k`."""
    numbers = units[0].numbers
    order, n_x = np.argsort(~is_x, kind="stable"), int(is_x.sum())
    rank = np.argsort(order)
    own = [numbers[order[:n_x]], numbers[order[n_x:]]]
    targets = Units(*(tuple(np.unique(side, return_inverse=True)[1].tolist()) for side in own), units[0].matched)
    rows = np.concatenate([np.flatnonzero(scores[0].words == word) for word in order])
    first = np.where(np.arange(scores[0].n_attributes) < scores[0].n_first, 0.5, -0.5)

    def relabel(each: TermScores, added: float = 0.0) -> TermScores:
        words = rank[each.words[rows]]
        signs = np.where(words < n_x, 0.5, -0.5)
        fill = each.fill[rows] + added * signs[:, None] * first
        return TermScores(fill, each.prior[rows], words, each.n_first, n_x, each.n_targets - n_x, each.aggregation)

    before = relabel(scores[0]).crossed_scores().word_scores()
    sides = before[:n_x], before[n_x:]
    spread = np.sqrt(sum(side.var() * side.size for side in sides) / (before.size - 2))
    moved = relabel(scores[0], k * float(spread))
    cosines = moved.crossed_scores()
    settings = TestSettings(alternative=rule.alternative, statistic=rule.statistic, n_permutations=100_000)
    how: dict[str, Any] = {"alternative": rule.alternative, "statistic": rule.statistic, "n_resamples": 10}
    p = [targets.test(cosines.word_scores(), rng=np.random.default_rng(), noise=0.0, **how).p_value]
    if moved.aggregation == "mean":
        p.append(units[1].test(contributions(cosines), rng=np.random.default_rng(), noise=0.0, **how).p_value)
    else:
        p.append(moved.test_terms(units[1], settings, np.random.default_rng()).p_value)
    counted = cosines if moved.aggregation == "mean" else moved
    sampled, effect = (targets, units[1]), cosines.effect(rule.std)
    omitted = omit_units(counted, cosines, sampled, rule.std)
    ends = interval(effect, sampled, omitted)
    places = np.tile(np.arange(n_templates), moved.n_targets)
    row: dict[str, Any] = {"ci_low": ends.low, "ci_high": ends.high}
    if n_templates >= 4:
        parts = [moved.select_sentences(places != place) for place in range(n_templates)]
        without = np.array([part.effects(std=rule.std)[0] for part in parts if part is not None])
        wider = interval(effect, sampled, omitted, templates=omit_templates(without, cosines, rule.std))
        row |= {"ci_templates_low": wider.low, "ci_templates_high": wider.high}
    twins = [relabel(twin).crossed_scores().effect(rule.std) for twin in scores[1:]]
    row |= compare_with_twins([BesideTwins(effect, ends.low, ends.high, twins)])[0]
    return not why_not_found({**row, "p_association_holm": max(p) * 0.05 / rule.level})


PAIRS = Units(tuple(range(8)), tuple(range(8)), True)
UNEQUAL = Units((0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7), tuple(range(9)))
CLUSTERS = Units((0, 0, 1, 2, 3, 4, 5, 6, 7), (0, 1, 2, 3, 4, 5, 6, 7, 7))
DESIGNS: dict[str, Any] = {
    "words": (WORDS(8, 8), WORDS(8, 8), Rule(0.05), 3, 0, "log-sum-exp", 4),
    "copies": (WORDS(8, 8), PAIRS, Rule(0.05), 2, 3, "log-sum-exp", 12),
    "templates": (WORDS(8, 8), PAIRS, Rule(0.05), 5, 0, "log-sum-exp", 12),
    "means": (WORDS(8, 8), PAIRS, Rule(0.02, std="pooled"), 3, 0, "mean", 12),
    "one-sided": (WORDS(8, 8), PAIRS, Rule(0.05, alternative="greater"), 3, 0, "log-sum-exp", 12),
    "pairs": (PAIRS, PAIRS, Rule(0.05), 3, 0, "log-sum-exp", 12),
    "clusters": (CLUSTERS, PAIRS, Rule(0.05), 3, 0, "log-sum-exp", 12),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_many_studies_at_a_time_find_what_one_at_a_time_finds(name: str) -> None:
    """Sentences are taken to scatter as much without a word as with it: at most 5% of decisions may differ."""
    targets, attributes, rule, n_templates, n_twins, terms, n = DESIGNS[name]
    rng, shifts = np.random.default_rng(7), (1.0, 2.0, 3.5)
    scores = [draw_scores(rng, len(targets.first), 8, n_templates, terms) for _ in range(1 + n_twins)]
    units = targets, attributes
    found = simulate(scores, units, rule, n_templates, 3).shift(n, shifts)
    labels = targets.relabel(n, simulate(scores, units, rule, n_templates, 3).rng)
    wanted = [[find_one(scores, units, rule, is_x, k, n_templates) for k in (0.0, *shifts)] for is_x in labels]
    assert np.mean(found != np.array(wanted)) <= 0.05
    assert 0.1 < np.mean(wanted) < 0.9


def test_terms_with_means_are_tested_like_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A term has an association of its own: a cluster counts once, and sets of different sizes are studentized."""
    found: list[Any] = []

    def find(_: Judge, *given: Any) -> Flags:
        is_x, test_attributes = given[1], given[3]
        found.extend(test_attributes(np.full(len(is_x), True), contrast(np.ones(is_x.shape[1]), is_x)))
        return np.full(len(is_x), False)

    monkeypatch.setattr(Judge, "find", find)
    rng = np.random.default_rng(4)
    scores = draw_scores(rng, 8, len(UNEQUAL.first), 3, "mean", len(UNEQUAL.second))
    labels = WORDS(8, 8).relabel(6, rng)
    simulate([scores], (WORDS(8, 8), UNEQUAL), Rule(0.05), 3, 1).plant(labels, 1.0, np.empty((6, 0)))
    corrected = np.array([(scores.fill - scores.prior)[scores.words == word].mean(axis=0) for word in range(16)])
    first = np.arange(scores.n_attributes) < scores.n_first
    words = corrected[:, first].mean(axis=1) - corrected[:, ~first].mean(axis=1)
    for is_x, p in zip(labels, found, strict=True):
        spread = np.sqrt((8 * words[is_x].var() + 8 * words[~is_x].var()) / 14)
        moved = corrected + spread * np.outer(np.where(is_x, 0.5, -0.5), np.where(first, 0.5, -0.5))
        of_terms = moved[is_x].mean(axis=0) - moved[~is_x].mean(axis=0)
        how: dict[str, Any] = {"alternative": "two-sided", "statistic": "studentized", "n_resamples": 10}
        wanted = UNEQUAL.test(of_terms, rng=np.random.default_rng(), noise=0.0, **how)
        assert (wanted.exact, p) == (True, pytest.approx(wanted.p_value, abs=1e-12))


def test_a_null_study_is_found_rarely_and_a_shift_of_80_percent_in_80_percent() -> None:
    rng, n = np.random.default_rng(8), 16
    scores = [draw_scores(rng, n, 11, 4) for _ in range(5)]
    units, rule = (WORDS(n, n), Units(tuple(range(11)), tuple(range(11)), True)), Rule(0.05)
    said = measure_strength(simulate(scores, units, rule, 4, 1), shifts=(0.5, 1.0, 1.5, 2.0, 3.0), repetitions=300)
    assert said["shares_found"][0] <= 0.07
    nulls = ("scatter", "templates", "attributes", "spelling")
    assert max(said[f"false_{null}"] for null in nulls) <= 0.07
    again = simulate(scores, units, rule, 4, 2)
    rate = np.concatenate([again.shift(50, (said["shift_80"],))[:, 1] for _ in range(12)]).mean()
    assert 0.75 <= rate <= 0.85


# --------------------
# From tables.


SETS = {side: [f"{side}{i}" for i in range(9)] for side in "xyab"}
LAYOUT = {
    "title": "",
    "targets": [{"name": side, "stimuli": SETS[side]} for side in "xy"],
    "attributes": [{"name": side, "stimuli": SETS[side]} for side in "ab"],
}
SIZES = {f"{name}_{side}": 9 for name in ("n", "listed") for side in SETS}
ROW: dict[str, Any] = {
    **{"category": "C1", "model": "m", "p_association": 0.3, "smallest_p": 1e-4, "n_tests": 1, "lost": []},
    **{"n_twins": 2, "twin_sd": 0.5, "ci_low": -1.0},
    **SIZES,
}


def list_terms(scores: TermScores) -> pl.DataFrame:
    """The table of the terms, without the last word of every set, which the model could not score."""
    words, terms = ([word for side in sides for word in SETS[side][:8]] for sides in ("ab", "xy"))
    keys = [(words[word], f"t{row % 3}", term) for row, word in enumerate(scores.words) for term in terms]
    frame = pl.DataFrame(keys, schema=["attribute", "template", "term"], orient="row")
    frame = frame.with_columns(category=pl.lit("C1"), fill=scores.fill.ravel(), prior=scores.prior.ravel())
    return frame.with_columns(model=pl.lit("m")).select(TABLES["log_probability_terms"].names)


def test_studies_of_an_estimate_come_from_its_table_and_those_of_its_copies() -> None:
    rng = np.random.default_rng(2)
    scores = [draw_scores(rng, 8, 8) for _ in range(4)]
    own, *twins = map(list_terms, scores)
    copies = pl.concat([table.with_columns(twin=pl.lit(number)) for number, table in enumerate(twins)])
    lacking = copies.filter((pl.col("twin") != 2) | (pl.col("term") != "x3"))

    def build(row: Any, rule: Rule, rng: np.random.Generator) -> TermStudies:
        return build_term_studies({"C1": LAYOUT}, row, own, [lacking], rule, rng)

    how: dict[str, Any] = {"settings": TestSettings(), "repetitions": 40, "shifts": [1.0, 3.0], "seed": 5}
    table = measure_strengths({"log_probability": [ROW]}, "log_probability", build, **how)
    assert table.schema == TABLES["log_probability_strength"].arrow()
    (found,) = table.to_pylist()
    assert found["shares_found"][0] < found["shares_found"][-1]
    built = build(ROW, Rule(0.05), np.random.default_rng(1))
    units, spelled = (WORDS(8, 8), WORDS(8, 8)), (np.full(16, 2.0), np.full(16, 2.0))
    places = np.tile(np.arange(3), 16)
    direct = TermStudies(scores[0], places, scores[1:3], units, spelled, Rule(0.05), np.random.default_rng(1))
    assert built.shift(20, (2.0,)).tolist() == direct.shift(20, (2.0,)).tolist()
