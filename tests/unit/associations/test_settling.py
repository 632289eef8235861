"""From which segment length on an effect stays in the band."""

from typing import Any

import pyarrow as pa
import pytest

from prasanga.associations.comparisons import comparable_lengths, settling
from prasanga.base.errors import InputError
from prasanga.schema import TABLES

CELL = {"category": "C1", "model": "m", "sample_mode": "fixed"}


def estimates(effects: dict[str, float | None], **cell: str) -> pa.Table:
    rows = [{**CELL, **cell, "segment_length": length, "effect_size": effect} for length, effect in effects.items()]
    return pa.Table.from_pylist(rows)


def to_longest(intervals: dict[str, tuple[float | None, float | None]], longest: str = "200") -> pa.Table:
    """Rows of differences, longest minus length."""
    rows = [
        {**CELL, "kind": "length", "first": length, "second": longest, "ci_low": low, "ci_high": high}
        for length, (low, high) in intervals.items()
    ]
    return pa.Table.from_pylist(rows, schema=TABLES["differences"].arrow())


def settled(
    effects: dict[str, float | None], differences: pa.Table | None = None, band: float = 0.125
) -> dict[str, Any]:
    table = settling(estimates(effects), to_longest({}) if differences is None else differences, band=band)
    assert table.schema == TABLES["settling"].arrow()
    (row,) = table.to_pylist()
    assert {name: row[name] for name in CELL} == CELL
    assert row["band"] == band
    return row


def test_the_shortest_length_from_which_on_it_stays() -> None:
    row = settled({"9": 0.1, "25": 0.5, "75": 0.65, "200": 0.6})
    assert (row["settled_length"], row["longest"]) == ("25", "200")
    assert row["largest_distance"] == pytest.approx(0.5)


def test_order_of_rows_makes_no_difference() -> None:
    assert settled({"200": 0.6, "9": 0.1, "75": 0.65, "25": 0.5})["settled_length"] == "25"


def test_a_length_that_was_near_by_chance_does_not_count() -> None:
    assert settled({"9": 0.6, "25": 0.1, "75": 0.65, "200": 0.6})["settled_length"] == "75"


def test_not_settled_before_the_longest() -> None:
    row = settled({"9": 0.6, "25": 0.6, "200": 0.1}, to_longest({"9": (-0.6, -0.4), "25": (-0.6, -0.4)}))
    assert (row["settled_length"], row["longest"], row["sure"]) == (None, "200", None)
    assert row["largest_distance"] == pytest.approx(0.5)


def test_the_border_belongs_to_the_band() -> None:
    assert settled({"9": 0.375, "200": 0.5})["settled_length"] == "9"
    assert settled({"9": 0.375, "200": 0.5}, band=0.1249)["settled_length"] is None


def test_one_length_has_nothing_to_settle_to() -> None:
    row = settled({"9": 0.5})
    assert (row["settled_length"], row["longest"], row["largest_distance"], row["sure"]) == (None, "9", None, None)


def test_an_unknown_effect_cannot_lie_within_the_band() -> None:
    assert settled({"9": 0.5, "25": None, "75": 0.5, "200": 0.5})["settled_length"] == "75"
    # The longest length with an effect takes the place of one without.
    row = settled({"9": 0.5, "75": 0.5, "200": None})
    assert (row["settled_length"], row["longest"]) == ("9", "75")
    row = settled({"9": None, "200": float("nan")})
    assert (row["settled_length"], row["longest"], row["largest_distance"], row["sure"]) == (None, None, None, None)


@pytest.mark.parametrize(
    ("intervals", "sure"),
    [
        ({"9": (0.3, 0.7), "25": (-0.02, 0.12), "75": (-0.1, 0.01)}, True),  # 9 words are outside anyway
        ({"9": (0.3, 0.7), "25": (-0.02, 0.13), "75": (-0.1, 0.01)}, False),
        ({"9": (0.3, 0.7), "25": (-0.02, 0.12), "75": (-0.2, 0.01)}, False),
        ({"9": (0.3, 0.7), "25": (-0.02, 0.12), "75": (None, None)}, False),
        ({"9": (0.3, 0.7), "75": (-0.1, 0.01)}, False),
    ],
)
def test_sure_if_the_intervals_lie_within_the_band_too(
    intervals: dict[str, tuple[float | None, float | None]], sure: bool
) -> None:
    row = settled({"9": 0.1, "25": 0.55, "75": 0.65, "200": 0.6}, to_longest(intervals))
    assert (row["settled_length"], row["sure"]) == ("25", sure)


def test_intervals_of_other_cells_do_not_count() -> None:
    table = to_longest({"9": (-0.01, 0.01)})
    effects = estimates({"9": 0.5, "200": 0.5}, model="other")
    (row,) = settling(effects, table, band=0.125).to_pylist()
    assert (row["model"], row["settled_length"], row["sure"]) == ("other", "9", False)


@pytest.mark.parametrize(("interval", "sure"), [((-0.1, 0.02), True), ((-0.2, 0.02), False), ((-0.02, 0.2), False)])
def test_both_ends_of_an_interval_count(interval: tuple[float, float], sure: bool) -> None:
    (row,) = settling(estimates({"9": 0.75, "200": 0.6875}), to_longest({"9": interval}), band=0.125).to_pylist()
    assert (row["settled_length"], row["largest_distance"], row["sure"]) == ("9", 0.0625, sure)


def test_a_row_for_each_category_model_and_mode() -> None:
    table = pa.concat_tables(
        [estimates({"9": 0.5, "25": 0.5}, model=m, sample_mode=s) for m in "ba" for s in ("fixed", "random")]
    )
    rows = settling(table, to_longest({}), band=0.1).to_pylist()
    assert [(r["model"], r["sample_mode"], r["settled_length"], r["longest"]) for r in rows] == [
        (m, s, "9", "25") for m in "ba" for s in ("fixed", "random")
    ]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match=r"associations\.band: 0\."):
        settling(estimates({"9": 0.5}), to_longest({}), band=0)


def test_a_length_with_contexts_of_its_own_is_no_place_to_settle_at() -> None:
    row = settled({"9": 0.1, "25": 0.5, "75": 0.55, ">75": 0.9}, to_longest({"25": (-0.01, 0.1)}, longest="75"))
    assert (row["settled_length"], row["longest"], row["sure"]) == ("25", "75", True)
    # with one fixed length there is no other to compare it with
    assert settled({"9": 0.5, ">75": 0.55})["longest"] == ">75"
    assert comparable_lengths([">75", "75", "9", "25"]) == ["9", "25", "75"]
    assert comparable_lengths([">75", "25", "9"]) == ["9", "25"]
    assert comparable_lengths([">75", "9"]) == ["9", ">75"]
