"""Paired differences: what is compared with what, the interval by hand, and why there is none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tables import read_cases

from prasanga.associations.comparisons import differences, sort_lengths
from prasanga.schema import TABLES
from prasanga.stats.intervals import difference_interval
from prasanga.stats.permutation import holm, permutation_test_of_scores


def estimates(*rows: tuple[Any, ...]) -> pa.Table:
    names = ("category", "model", "segment_length", "effect_size", "ci_low", "interval_note")
    made = [dict(zip(names, row, strict=False)) for row in rows]
    return pa.Table.from_pylist(made, schema=TABLES["ceat"].arrow())


SCHEMA = TABLES["resamples"].arrow()


def resamples(*rows: tuple[str, str, str, str, Sequence[float] | None, float]) -> pa.Table:
    names = ("category", "model", "segment_length", "words", "replicates", "effect_size")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=SCHEMA)


WORDS = pa.Table.from_pylist([], schema=TABLES["ceat_words"].arrow())


def compare(ceat: pa.Table, of_resamples: pa.Table, **more: Any) -> pa.Table:
    return differences(ceat, of_resamples, **{"words": WORDS, "categories": {}, **more})


def one(table: pa.Table, **key: Any) -> dict[str, Any]:
    (row,) = [row for row in table.to_pylist() if all(row[name] == value for name, value in key.items())]
    return row


def test_all_pairs_of_lengths_and_of_models() -> None:
    cells = [("C1", model, length) for model in ("wide", "narrow") for length in ("mean", ">75", "75", "9")]
    effects = (0.25, 0.5, 0.4, 0.1, 0.65, 0.9, 0.7, 0.6)
    table = compare(estimates(*((*cell, effect) for cell, effect in zip(cells, effects, strict=True))), resamples())
    assert table.schema == TABLES["differences"].arrow()
    keys = [
        tuple(row[name] for name in ("kind", "model", "segment_length", "first", "second")) for row in table.to_pylist()
    ]
    assert keys == read_cases(__file__, "compared")
    row = one(table, model="wide", first="9", second=">75")
    assert (row["effect_first"], row["effect_second"]) == (0.1, 0.5)
    assert row["difference"] == pytest.approx(0.4, rel=1e-15)
    assert one(table, kind="model", segment_length="9")["difference"] == pytest.approx(0.5, rel=1e-15)


def interval_of(
    first: Sequence[float],
    second: Sequence[float],
    observed: tuple[float, float],
    reported: tuple[float, float] | None = None,
) -> Any:
    cells = [("C1", "m", "9"), ("C1", "m", "25")]
    table = compare(
        estimates(*((*cell, effect) for cell, effect in zip(cells, reported or observed, strict=True))),
        resamples((*cells[1], "w", second, observed[1]), (*cells[0], "w", first, observed[0])),
    )
    (row,) = table.to_pylist()
    assert row["note"] is None
    return row["ci_low"], row["ci_high"]


def test_the_interval_is_that_of_the_paired_differences() -> None:
    # Both effects vary by much, and together: in 100 resamples, second minus first goes from .3 to .4. The difference
    # of the estimates is in the middle, so that the bias is 0 and the ends are the 2.5 % and 97.5 % points.
    rng = np.random.default_rng(1)
    first = rng.normal(0, 5, 100)
    second = first + np.linspace(0.3, 0.4, 100)[rng.permutation(100)]
    assert interval_of(first, second, (0.0, 0.35)) == pytest.approx((0.3025, 0.3975), abs=1e-9)


def test_the_interval_lies_around_the_difference_reported() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.normal(0.2, 0.3, 500), rng.normal(0.5, 0.3, 500)
    expected = difference_interval(second, first, 0.5, 0.2)
    assert expected.low is not None
    assert expected.high is not None
    assert interval_of(first, second, (0.2, 0.5)) == (expected.low, expected.high)
    # The effects reported rest on more draws, and their difference is .05 larger.
    moved = interval_of(first, second, (0.2, 0.5), reported=(0.19, 0.54))
    assert moved == pytest.approx((expected.low + 0.05, expected.high + 0.05), rel=1e-12)


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (("other words", [0.1] * 50, 0.5), "no interval: 9 and 25 were not measured with the same words"),
        (("w", None, 0.5), "25: no resamples"),
        (("w", [], 0.5), "25: no resamples"),
        (("w", [0.1] * 50, None), "25: no resamples"),
        (None, "25: no resamples"),
        (("w", [float("nan")] * 50, 0.5), "no interval: in no resample does an effect exist"),
    ],
)
def test_no_interval_and_why(second: tuple[Any, ...] | None, why: str) -> None:
    nine, other = ("C1", "m", "9"), ("C1", "m", "25")
    given = [(*nine, "w", [0.2] * 50, 0.25)] + ([(*other, *second)] if second else [])
    (row,) = compare(estimates((*nine, 0.25), (*other, 0.5)), resamples(*given)).to_pylist()
    assert (row["difference"], row["ci_low"], row["ci_high"]) == (0.25, None, None)
    assert row["note"].startswith(why)


def test_an_estimate_without_an_interval_has_none_in_a_difference() -> None:
    cells = [("C1", "m", length) for length in ("9", "25")]
    few = "no interval: set X has 7 words"
    given = resamples(*((*cell, "w", [0.1, 0.2] * 25, 0.15) for cell in cells))
    for low, note, expected in ((None, few, f"25: {few}"), (0.1, "1.2% of the resamples are left out", None)):
        table = estimates((*cells[0], 0.5, 0.1, None), (*cells[1], 0.5, low, note))
        (row,) = compare(table, given).to_pylist()
        assert row["note"] == expected
        assert (row["ci_low"] is None) == (expected is not None)


SETS = {"x": 8, "y": 9, "a": 8, "b": 8}
LISTED = {side: [f"{side}{i}" for i in range(n)] for side, n in SETS.items()}


def layout(**more: Any) -> dict[str, Any]:
    x, y, a, b = ({"name": side, "stimuli": words, **more.get(side, {})} for side, words in LISTED.items())
    return {"title": "t", "targets": [x, y], "attributes": [a, b]}


def of_models(scores: dict[str, np.ndarray], category: str = "C1") -> tuple[pa.Table, pa.Table, pa.Table]:
    """Primary estimates of models with these associations of words, with resamples, and their words."""
    rng = np.random.default_rng(5)
    cells = [(category, model, "mean", 0.1 * n) for n, model in enumerate(scores)]
    ceat = estimates(*((*cell, -1.0, None) for cell in cells)).to_pylist()
    how = {"statistic": "studentized", "n_permutations": 500, "seed": 1}
    listed = [(side, word) for side, words in LISTED.items() for word in words]
    rows = [
        {"category": category, "model": model, "segment_length": "mean", "role": side, "stimulus": word}
        | {"association": v}
        for model, values in scores.items()
        for (side, word), v in zip(listed, values, strict=True)
    ]
    return (
        pa.Table.from_pylist([{**row, **how} for row in ceat], schema=TABLES["ceat"].arrow()),
        resamples(*((*cell[:3], "w", rng.normal(cell[3], 0.2, 50), cell[3]) for cell in cells)),
        pa.Table.from_pylist(rows, schema=TABLES["ceat_words"].arrow()),
    )


def test_models_are_tested_by_the_differences_of_their_words() -> None:
    rng = np.random.default_rng(7)
    scores = {
        model: rng.normal(size=33) + np.repeat([k, 0, k, 0], [8, 9, 8, 8])
        for model, k in (("m", 0), ("n", 1), ("o", 3))
    }
    ceat, drawn, words = of_models(scores)
    table = differences(ceat, drawn, words, {"C1": layout()})
    rows = {(row["first"], row["second"]): row for row in table.to_pylist()}
    assert list(rows) == [("m", "n"), ("m", "o"), ("n", "o")]
    for (first, second), row in rows.items():
        one, other = (scores[model] / scores[model][:17].std(ddof=1) for model in (first, second))
        expected = max(
            permutation_test_of_scores(*sides).p_value
            for sides in (np.split((other - one)[:17], [8]), np.split((other - one)[17:], [8]))
        )
        assert row["p_difference"] == pytest.approx(expected, rel=1e-9)
    p = [row["p_difference"] for row in rows.values()]
    assert [row["p_difference_holm"] for row in rows.values()] == pytest.approx(holm(p).tolist())
    assert {row["n_tests"] for row in rows.values()} == {3}
    assert p[1] < 0.05 < 0.2 < max(p)


def test_clusters_are_units_of_models_too_and_what_has_no_interval_is_not_tested() -> None:
    rng = np.random.default_rng(8)
    ceat, drawn, words = of_models({model: rng.normal(size=33) for model in "mn"})
    fours = {"clusters": {f"x{i}": str(i // 4) for i in range(8)}}
    (alone,) = differences(ceat, drawn, words, {"C1": layout()}).to_pylist()
    (few,) = differences(ceat, drawn, words, {"C1": layout(x=fours)}).to_pylist()
    assert alone["p_difference"] is not None
    assert (few["p_difference"], few["p_difference_holm"], few["n_tests"]) == (None, None, None)
    (row,) = differences(ceat, resamples(), words, {"C1": layout()}).to_pylist()
    assert (row["p_difference"], row["note"]) == (None, "m: no resamples")


def test_no_effect_no_difference() -> None:
    for effect in (None, float("nan")):
        table = compare(estimates(("C1", "m", "9", effect), ("C1", "m", "25", 0.5)), resamples())
        (row,) = table.to_pylist()
        assert (row["effect_first"], row["effect_second"], row["difference"]) == (None, 0.5, None)
        assert row["note"] == "no effect of 9"


def test_lengths_are_sorted_by_words() -> None:
    assert sort_lengths([">75", "100", "9", "75", "9", "25"]) == ["9", "25", "75", ">75", "100"]
