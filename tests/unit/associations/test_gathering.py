"""The tables of a study from those of its jobs: twins beside their models, one family of tests."""

import math
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy import optimize, special, stats
from tables import read_cases

from prasanga.associations.comparisons import correct_tests, gather, of_twins, select_for_csv, why_not_found
from prasanga.schema import TABLES as SCHEMAS
from prasanga.stats.intervals import BesideTwins, compare_with_twins, moderate_deviations
from prasanga.stats.permutation import benjamini_hochberg, holm


def ceat(model: str, length: str, *rows: tuple[str, float | None, float | None]) -> pa.Table:
    """Rows of (category, effect, p)."""
    names = ("category", "effect_size", "p_association", "model", "segment_length")
    made = [dict(zip(names, (*row, model, length), strict=True)) for row in rows]
    return pa.Table.from_pylist(made, schema=SCHEMAS["ceat"].arrow())


TABLES = [
    ceat("a", "mean", ("C1", 1.0, 0.001), ("C2", 0.2, 0.4)),
    ceat("b", "mean", ("C1", 1.1, 0.002), ("C2", None, None)),
]


def corrected(*tables: pa.Table) -> pa.Table:
    return correct_tests({"ceat": pa.concat_tables(tables)})["ceat"]


LISTED = {"listed_x": 8, "listed_y": 8, "listed_a": 9, "listed_b": 9}
CI = {"ci_low": 0.2, "ci_high": 1.8}
WORDS = {"n_x": 8, "n_y": 8, "n_a": 9, "n_b": 9, "std": "union_ddof1", "alternative": "two-sided"}


def with_columns(table: pa.Table, **values: Any) -> pa.Table:
    return pa.Table.from_pylist([{**row, **values} for row in table.to_pylist()], schema=table.schema)


def test_twins_stand_beside_their_model_and_are_no_rows() -> None:
    models = [with_columns(table, ci_low=0.4, ci_high=1.5, **WORDS) for table in TABLES]

    def measured(twin: int | None) -> NamedTables:
        rows = ("C2", 0.3 + 0.1 * twin, 0.6), ("C1", None if twin == 1 else -0.1 * twin, 0.8)  # type: ignore[operator]
        of_one = with_columns(ceat("a-random", "mean", *rows), **WORDS)
        return NamedTables(with_columns(of_one, n_b=5) if twin == 3 else of_one)  # it has lost too many words

    twins = of_twins(4, measured).estimates
    assert twins["twin"].to_pylist() == [0, 0, 1, 1, 2, 2, 3, 3]
    table = gather(models, {"a": [twins]})
    assert table.schema == SCHEMAS["ceat"].arrow()
    assert table["model"].to_pylist() == ["a", "a", "b", "b"]
    assert table["n_twins"].to_pylist() == [2, 3, None, None]
    assert table["twin_effect_size"].to_pylist() == [pytest.approx(-0.1), pytest.approx(0.4), None, None]
    assert table["twin_sd"].to_pylist() == [pytest.approx(0.02**0.5), pytest.approx(0.1), None, None]
    assert table["twin_difference"].to_pylist() == [pytest.approx(1.1), pytest.approx(-0.2), None, None]
    (expected,) = compare_with_twins([BesideTwins(0.2, 0.4, 1.5, [0.3, 0.4, 0.5])])
    assert {name: table[name][1].as_py() for name in expected} == pytest.approx(expected)


def test_the_rows_of_a_model_are_moderated_together() -> None:
    """Primary rows and those of lengths apart: a mean over lengths varies less."""
    rng, names = np.random.default_rng(3), ("C1", "C2", "C3")
    effects = {model: rng.normal(scale=0.3, size=(4, 3)).tolist() for model in ("a", "b")}

    def rows(model: str, effects: list[float]) -> pa.Table:
        cells = [[(name, scale * effect, 0.1) for name, effect in zip(names, effects, strict=True)] for scale in (1, 4)]
        made = [ceat(model, length, *of_length) for length, of_length in zip(("mean", "9"), cells, strict=True)]
        return with_columns(pa.concat_tables(made), ci_low=0.0, ci_high=1.0, **WORDS)

    twins = {model: [rows(f"{model}-random", each) for each in of_model] for model, of_model in effects.items()}
    whole = gather([rows("a", [0.5] * 3), rows("b", [0.6] * 3)], twins)
    table = whole.filter(pc.equal(whole["segment_length"], "mean"))
    for model, place in (("a", slice(0, 3)), ("b", slice(3, 6))):
        sds = np.std(effects[model], axis=0, ddof=1)
        expected, df = moderate_deviations(sds, [3] * 3, names)
        assert table["twin_sd"].to_pylist()[place] == pytest.approx(sds.tolist())
        assert table["twin_sd_moderated"].to_pylist()[place] == pytest.approx(expected.tolist())
        assert table["twin_df"].to_pylist()[place] == pytest.approx(df.tolist())


class NamedTables(NamedTuple):
    estimates: pa.Table


def test_of_a_model_nothing_is_added() -> None:
    assert of_twins(None, lambda twin: NamedTables(TABLES[0] if twin is None else TABLES[1])).estimates is TABLES[0]


def test_the_difference_from_twins_stands_out_from_other_weights_and_other_words() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        k, effect, half = int(rng.integers(2, 12)), rng.normal(), rng.uniform(0.1, 2.0)
        twins = rng.normal(scale=0.3, size=k)
        (found,) = compare_with_twins([BesideTwins(effect, effect - half, effect + half, twins.tolist())])
        difference, sd = effect - twins.mean(), twins.std(ddof=1)
        one_more = stats.ttest_ind([effect], twins)  # the model might be another twin
        error = ((half / stats.norm.ppf(0.975)) ** 2 + sd**2 / k) ** 0.5
        p_words = 2 * stats.norm.sf(abs(difference) / error)
        assert found["p_twins"] == pytest.approx(max(one_more.pvalue, p_words))
        ends = found["twin_difference_low"], found["twin_difference_high"]
        margin = max(stats.norm.ppf(0.975) * error, one_more.confidence_interval().high - difference)
        assert ends == pytest.approx((difference - margin, difference + margin))
        assert (found["p_twins"] < 0.05) == (ends[0] * ends[1] > 0)  # type: ignore[operator]


def test_without_two_twins_or_an_interval_there_is_no_test() -> None:
    names = ("twin_effect_size", "twin_sd", "twin_sd_moderated", "twin_df", "twin_difference_low", "p_twins")

    def beside(*cell: Any) -> dict[str, float | None]:
        return compare_with_twins([BesideTwins(*cell)])[0]

    assert set(beside(None, None, None, [0.1, 0.2]).values()) == {None}
    assert set(beside(0.5, 0.1, 0.9, []).values()) == {None}
    one = beside(0.5, 0.1, 0.9, [0.2])
    assert (one["n_twins"], one["twin_difference"], [one[name] for name in names]) == (1, 0.3, [0.2, *[None] * 5])
    thin = beside(0.5, None, None, [0.2, 0.3])
    assert thin["twin_sd"] == pytest.approx(0.005**0.5)
    assert [thin[name] for name in names[2:]] == [None] * 4
    assert beside(0.5, 0.1, 0.9, [0.2, 0.2])["p_twins"] is None  # no spread to compare with


def test_twins_of_all_cells_say_how_much_effects_vary_with_the_weights() -> None:
    rng = np.random.default_rng(11)
    cells = [
        BesideTwins(0.5, 0.2, 0.8, twins.tolist(), group=name, unit=unit)
        for name, unit, twins in zip("abcd", (1, 1, 2, 2), rng.normal(scale=0.2, size=(4, 5)), strict=True)
    ]
    alike = BesideTwins(0.5, 0.2, 0.8, [0.1] * 5, group="e")
    untested = BesideTwins(0.5, None, None, [9.0, -9.0], group="f")
    *found, of_alike, of_untested = compare_with_twins([*cells, alike, untested])
    own = [np.std(cell.twins, ddof=1) / cell.unit for cell in cells]
    expected, df = moderate_deviations([*own, 0.0], [4] * 5, list("abcde"))
    units = np.array([cell.unit for cell in cells])
    assert [row["twin_sd"] for row in found] == pytest.approx(own * units)
    assert [row["twin_sd_moderated"] for row in found] == pytest.approx(expected[:4] * units)
    assert [row["twin_df"] for row in found] == pytest.approx(df[:4])
    # a cell whose twins are all alike has a test as well
    assert (of_alike["twin_sd"], of_alike["twin_sd_moderated"]) == (0, pytest.approx(expected[4]))
    for row, cell in zip([*found, of_alike], [*cells, alike], strict=True):
        sd, freedom = row["twin_sd_moderated"], row["twin_df"]
        assert sd is not None
        difference = 0.5 - np.mean(cell.twins)
        p_weights = 2 * stats.t.sf(abs(difference) / (sd * 1.2**0.5), freedom)
        p_words = 2 * stats.norm.sf(abs(difference) / np.hypot(0.3 / stats.norm.ppf(0.975), sd / 5**0.5))
        assert row["p_twins"] == pytest.approx(max(p_weights, p_words))
    assert of_untested["twin_sd_moderated"] is None


def simple_moderation(sds: list[float], df: list[int]) -> tuple[float, float]:
    """d0 and s0^2 as Smyth (2004, section 6.2) has them, d0 by root finding."""
    known = [(s, d) for s, d in zip(sds, df, strict=True) if s > 0]
    e = [math.log(s**2) - special.digamma(d / 2) + math.log(d / 2) for s, d in known]
    mean, n = sum(e) / len(e), len(e)
    of_spreads = sum((each - mean) ** 2 for each in e) / n * n / (n - 1)
    excess = of_spreads - sum(special.polygamma(1, d / 2) for _, d in known) / n
    if excess <= 0:
        return math.inf, math.exp(mean)
    d0 = optimize.brentq(lambda d0: special.polygamma(1, d0 / 2) - excess, 1e-9, 1e9, xtol=1e-13, rtol=1e-14)
    return d0, math.exp(mean + special.digamma(d0 / 2) - math.log(d0 / 2))


def test_deviations_are_moderated_as_smyth_does() -> None:
    rng, n_infinite, n_kept = np.random.default_rng(40), 0, 0
    for _ in range(300):
        n = int(rng.integers(3, 15))
        df = rng.integers(1, 8, n).tolist()
        spreads = 0.2 * np.sqrt(4 / rng.chisquare(4, n)) if rng.random() < 0.5 else np.full(n, 0.2)
        sds = (spreads * np.sqrt(rng.chisquare(df) / df)).tolist()
        if n > 3 and rng.random() < 0.3:
            sds[0] = 0.0
        groups = rng.integers(0, n, n).tolist()
        d0, common = simple_moderation(sds, df)
        cap = sum(max(d for d, other in zip(df, groups, strict=True) if other == group) for group in set(groups))
        found = moderate_deviations(sds, df, groups)
        for s, d, moderated, freedom in zip(sds, df, *found, strict=True):
            law = stats.chi2(d, scale=common / d) if math.isinf(d0) else stats.f(d, d0, scale=common)
            share = law.sf(s**2)
            if math.isinf(d0):
                expected = common**0.5, cap
            else:
                expected = ((d0 * common + d * s**2) / (d0 + d)) ** 0.5, min(d0 + d, cap)
            # what is wider than four fifths of such cells keeps its own deviation
            assert (moderated, freedom) == pytest.approx((s, d) if share < 0.2 else expected, rel=1e-6)
            n_kept += share < 0.2
        n_infinite += math.isinf(d0)
    assert 20 < n_infinite < 280
    assert n_kept > 50


def test_of_two_cells_or_without_spread_nothing_is_moderated() -> None:
    for sds in ([0.1, 0.4], [0.0, 0.1, 0.4], [0.0, 0.0, 0.0], []):
        found, df = moderate_deviations(sds, [3] * len(sds), ["a"] * len(sds))
        assert (found.tolist(), df.tolist()) == (sds, [3] * len(sds))


def test_the_family_is_that_of_the_study() -> None:
    seat = pa.Table.from_pylist(
        [{"category": "C1", "model": "a", "p_association": p} for p in (0.01, None)], SCHEMAS["seat"].arrow()
    )
    table, of_seat = correct_tests({"ceat": pa.concat_tables(TABLES), "seat": seat}).values()
    every = [0.001, 0.4, 0.002, 0.01]
    assert table["n_tests"].to_pylist() == [4, 4, 4, None]
    assert table["p_association_holm"].to_pylist()[:3] == pytest.approx(holm(every)[:3].tolist())
    assert table["p_association_bh"].to_pylist()[:3] == pytest.approx(benjamini_hochberg(every)[:3].tolist())
    assert table["p_association_holm"].to_pylist()[3] is None
    assert table["p_association_holm"].to_pylist()[:3] == pytest.approx([0.004, 0.4, 0.006])
    # the other table is corrected for as many
    assert of_seat["p_association_holm"].to_pylist() == [pytest.approx(0.02), None]


def test_where_no_p_can_be_small_enough_the_reason_is_not_p() -> None:
    """Eight pairs have no p below 2/256. Of six such tests the first could be found, of seven none."""
    for n, unreachable in ((6, False), (7, True)):
        table = ceat("a", "mean", *((f"C{i}", 1.0, 0.0078125) for i in range(n)))
        pairs = with_columns(table, smallest_p=0.0078125, **CI, **WORDS, **LISTED)
        many = with_columns(ceat("a", "mean", ("C9", 1.0, 0.0001)), smallest_p=1e-5, **CI, **WORDS, **LISTED)
        rows = correct_tests({"ceat": pa.concat_tables([pairs, many])})["ceat"].to_pylist()
        assert [row["smallest_p_holm"] for row in rows] == pytest.approx([0.0078125 * n] * n + [1e-5 * (n + 1)])
        reasons = {row["not_found_because"] for row in rows[:-1]}
        assert reasons == ({"words too few for a small enough p"} if unreachable else {""})


def test_rows_of_lengths_are_not_tested() -> None:
    """They keep their numbers; corrected p, the size of the family and the verdict are those of primary rows."""
    lengths = [ceat("a", length, ("C1", 1.0, 1e-6), ("C2", 0.5, None)) for length in ("9", "25", ">75")]
    whole, alone = (
        corrected(*(with_columns(table, **WORDS, **LISTED, **CI) for table in tables))
        for tables in ([*TABLES, *lengths], TABLES)
    )
    assert whole[:4].equals(alone)
    for row in whole[4:].to_pylist():
        untold = (
            "p_association_holm",
            "p_association_bh",
            "n_tests",
            "smallest_p_holm",
            "is_found",
            "not_found_because",
        )
        assert {row[name] for name in untold} == {None}
    assert whole["p_association"].to_pylist()[4:] == [1e-6, None] * 3
    assert alone["is_found"].to_pylist() == [True, False, True, None]


def test_words_of_a_paper_are_never_found_and_take_no_part_in_the_correction() -> None:
    known = [with_columns(table, **WORDS, **LISTED, **CI) for table in TABLES]
    of_paper = with_columns(ceat("a", "mean", ("GC1", 1.0, 1e-6)), as_published=True, **WORDS, **LISTED, **CI)
    *others, row = corrected(*known, of_paper).to_pylist()
    assert others == corrected(*known).to_pylist()
    assert (row["p_association"], row["p_association_holm"], row["is_found"]) == (1e-6, None, False)
    assert row["not_found_because"] == "words as the paper has them, for comparison with its numbers only"


def test_differences_from_twins_stay_within_the_possible() -> None:
    """Effects of sets of equal size are at most 2, so two are at most 4 apart."""
    model = with_columns(ceat("a", "9", ("C1", 1.9, 0.01)), ci_low=1.0, ci_high=1.95, **WORDS)
    effects = enumerate((-1.5, 1.4))
    twins = [with_columns(ceat("a", "9", ("C1", e, 0.5)), **WORDS).append_column("twin", [[t]]) for t, e in effects]
    row = gather([model], {"a": twins}).to_pylist()[0]
    assert row["twin_difference"] == pytest.approx(1.95)
    assert (row["twin_difference_low"], row["twin_difference_high"]) == (-4, 4)
    lost = with_columns(model, n_x=0, effect_size=None)
    assert gather([lost], {"a": twins}).to_pylist()[0]["n_twins"] is None


FOUND = {
    **{f"{what}_{side}": 8 for what in ("n", "listed") for side in "xyab"},
    **{"effect_size": 1.0, "p_association_holm": 0.01, "ci_low": 0.2, "ci_high": 1.8, "p_twins": 0.02},
}


@pytest.mark.parametrize(("change", "reason"), read_cases(__file__, "why_not_found"))
def test_the_first_condition_that_is_not_met_is_why_an_effect_is_not_found(change: dict[str, Any], reason: str) -> None:
    assert why_not_found({**FOUND, **change}) == reason


def test_csv_tables_have_few_columns_and_losses_as_text() -> None:
    lost = [{"set": "s", "word": "rose", "reason": "no_contexts", "detail": "no contexts"}]
    table = corrected(with_columns(TABLES[0], **WORDS, lost=lost))
    frame = select_for_csv(table, "bn")
    assert len(frame.columns) <= 25
    assert frame["language"].to_list() == ["bn", "bn"]
    assert frame["lost"].to_list() == ["rose: no contexts"] * 2
    assert frame["p_holm"].to_list() == table["p_association_holm"].to_pylist()
    assert frame["is_found"].to_list() == [False, False]
