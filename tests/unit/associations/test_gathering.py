"""The tables of a study from those of its jobs: twins beside their models, one family of tests."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from prasanga.associations.comparisons import correct_tests, gather, of_twins, select_for_csv, why_not_found
from prasanga.schema import TABLES as SCHEMAS
from prasanga.stats.controls import beside_twins
from prasanga.stats.permutation import benjamini_hochberg, holm, smallest_effect_of_sizes


def ceat(model: str, length: str, *rows: tuple[str, str, float | None, float | None]) -> pa.Table:
    """Rows of (category, sample mode, effect, p)."""
    made: list[dict[str, Any]] = [
        {
            "category": category,
            "sample_mode": mode,
            "model": model,
            "segment_length": length,
            "effect_size": effect,
            "p_association": p,
        }
        for category, mode, effect, p in rows
    ]
    return pa.Table.from_pylist(made, schema=SCHEMAS["ceat"].arrow())


TABLES = [
    ceat("a", "9", ("C1", "fixed", 1.0, 0.001), ("C2", "fixed", 0.2, 0.4)),
    ceat("a", "75", ("C1", "fixed", 1.1, 0.002), ("C2", "fixed", None, None)),
]


def corrected(*tables: pa.Table) -> pa.Table:
    return correct_tests({"ceat": pa.concat_tables(tables)})["ceat"]


WORDS = {"n_x": 8, "n_y": 8, "n_a": 9, "n_b": 9, "std": "union_ddof1", "alternative": "two-sided"}


def with_columns(table: pa.Table, **values: Any) -> pa.Table:
    return pa.Table.from_pylist([{**row, **values} for row in table.to_pylist()], schema=table.schema)


def test_twins_stand_beside_their_model_and_are_no_rows() -> None:
    models = [with_columns(table, ci_low=0.4, ci_high=1.5, **WORDS) for table in TABLES]

    def measured(twin: int | None) -> NamedTables:
        rows = ("C2", "fixed", 0.3 + 0.1 * twin, 0.6), ("C1", "fixed", None if twin == 1 else -0.1 * twin, 0.8)  # type: ignore[operator]
        of_one = with_columns(ceat("a-random", "9", *rows), **WORDS)
        return NamedTables(with_columns(of_one, n_b=5) if twin == 3 else of_one)  # it has lost too many words

    twins = of_twins(4, measured).estimates
    assert twins["twin"].to_pylist() == [0, 0, 1, 1, 2, 2, 3, 3]
    table = gather(models, {"a": [twins]})
    assert table.schema == SCHEMAS["ceat"].arrow()
    assert table["model"].to_pylist() == ["a"] * 4
    assert table["n_twins"].to_pylist() == [2, 3, None, None]
    assert table["twin_effect_size"].to_pylist() == [pytest.approx(-0.1), pytest.approx(0.4), None, None]
    assert table["twin_sd"].to_pylist() == [pytest.approx(0.02**0.5), pytest.approx(0.1), None, None]
    assert table["twin_difference"].to_pylist() == [pytest.approx(1.1), pytest.approx(-0.2), None, None]
    expected = beside_twins(0.2, 0.4, 1.5, [0.3, 0.4, 0.5])
    assert {name: table[name][1].as_py() for name in expected} == pytest.approx(expected)


class NamedTables(NamedTuple):
    estimates: pa.Table


def test_of_a_model_nothing_is_added() -> None:
    assert of_twins(None, lambda twin: NamedTables(TABLES[0] if twin is None else TABLES[1])).estimates is TABLES[0]


def test_the_difference_from_twins_stands_out_from_other_weights_and_other_words() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        k, effect, half = int(rng.integers(2, 12)), rng.normal(), rng.uniform(0.1, 2.0)
        twins = rng.normal(scale=0.3, size=k)
        found = beside_twins(effect, effect - half, effect + half, twins.tolist())
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
    assert set(beside_twins(None, None, None, [0.1, 0.2]).values()) == {None}
    assert set(beside_twins(0.5, 0.1, 0.9, []).values()) == {None}
    one = beside_twins(0.5, 0.1, 0.9, [0.2])
    assert (one["n_twins"], one["twin_difference"], one["twin_sd"], one["p_twins"]) == (1, 0.3, None, None)
    thin = beside_twins(0.5, None, None, [0.2, 0.3])
    assert thin["twin_sd"] == pytest.approx(0.005**0.5)
    assert thin["p_twins"] is thin["twin_difference_low"] is None
    assert beside_twins(0.5, 0.1, 0.9, [0.2, 0.2])["p_twins"] is None  # no spread to compare with


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


def test_sample_modes_are_two_estimates_with_one_test() -> None:
    both = [(c, mode, 0.1, p) for c, p in (("C1", 0.01), ("C2", 0.04)) for mode in ("fixed", "random")]
    table = corrected(ceat("a", "9", *both, ("C3", "fixed", None, None), ("C3", "random", 0.2, 0.5)))
    assert table["n_tests"].to_pylist() == [3, 3, 3, 3, None, 3]
    assert table["p_association_holm"].to_pylist() == [0.03, 0.03, 0.08, 0.08, None, 0.5]
    other_words = corrected(ceat("a", "9", ("C1", "fixed", 0.1, 0.01), ("C1", "random", 0.2, 0.03)))
    assert other_words["p_association_holm"].to_pylist() == [0.02, 0.03]
    alone = corrected(ceat("a", "9", ("C1", "fixed", 0.1, 0.01)), ceat("b", "9", ("C1", "random", 0.1, 0.01)))
    assert alone["n_tests"].to_pylist() == [2, 2]


@pytest.mark.parametrize(("permuted", "n"), [("xy", 8), ("ab", 9)])
def test_the_smallest_effect_is_one_that_is_found_after_correction(permuted: str, n: int) -> None:
    at_05 = smallest_effect_of_sizes(n, n)
    rows = with_columns(TABLES[0], **WORDS, smallest_effect=at_05)
    tables = correct_tests({"m": rows, "other": TABLES[1]}, {"m": permuted})
    (first, second) = tables["m"]["smallest_effect"].to_pylist()
    assert first == second == pytest.approx(smallest_effect_of_sizes(n, n, alpha=0.05 / 3))
    assert first > at_05
    untested = with_columns(rows, p_association=None)
    assert corrected(untested)["smallest_effect"].to_pylist() == [None, None]


def test_differences_from_twins_stay_within_the_possible() -> None:
    """Effects of sets of equal size are at most 2, so two are at most 4 apart."""
    model = with_columns(ceat("a", "9", ("C1", "fixed", 1.9, 0.01)), ci_low=1.0, ci_high=1.95, **WORDS)
    effects = enumerate((-1.5, 1.4))
    twins = [
        with_columns(ceat("a", "9", ("C1", "fixed", e, 0.5)), **WORDS).append_column("twin", [[t]]) for t, e in effects
    ]
    row = gather([model], {"a": twins}).to_pylist()[0]
    assert row["twin_difference"] == pytest.approx(1.95)
    assert (row["twin_difference_low"], row["twin_difference_high"]) == (-4, 4)
    lost = with_columns(model, n_x=0, effect_size=None)
    assert gather([lost], {"a": twins}).to_pylist()[0]["n_twins"] is None


FOUND = {
    **{f"{what}_{side}": 8 for what in ("n", "listed") for side in "xyab"},
    **{"effect_size": 1.0, "p_association_holm": 0.01, "ci_low": 0.2, "ci_high": 1.8, "p_twins": 0.02},
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, ""),
        ({"p_twins": None}, ""),
        ({"ci_templates_low": 0.1, "ci_templates_high": 1.5}, ""),
        ({"n_x": 7}, "few words"),
        ({"listed_b": 13}, "few words"),
        ({"p_association_holm": 0.05}, "p_association after Holm's correction"),
        ({"p_association_holm": None}, "p_association after Holm's correction"),
        ({"ci_low": -0.1}, "an interval that includes zero"),
        ({"ci_low": None}, "an interval that includes zero"),
        ({"ci_templates_low": -0.1, "ci_templates_high": 1.5}, "an interval over templates that includes zero"),
        ({"p_twins": 0.06}, "no difference from copies with random weights"),
    ],
)
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
