"""From which segment length on an effect stays in the band."""

from typing import Any

import pyarrow as pa
import pytest

from prasanga.associations.comparisons import comparable_lengths, settling
from prasanga.base.errors import InputError
from prasanga.schema import TABLES

CELL = {"category": "C1", "model": "m"}


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


@pytest.mark.parametrize(
    ("effects", "settled_length", "longest", "largest"),
    [
        ({"9": 0.1, "25": 0.5, "75": 0.65, "200": 0.6}, "25", "200", 0.5),
        ({"200": 0.6, "9": 0.1, "75": 0.65, "25": 0.5}, "25", "200", 0.5),  # in another order
        ({"9": 0.6, "25": 0.1, "75": 0.65, "200": 0.6}, "75", "200", 0.5),  # near by chance does not count
        ({"9": 0.6, "25": 0.6, "200": 0.1}, None, "200", 0.5),  # not settled before the longest
        ({"9": 0.375, "200": 0.5}, "9", "200", 0.125),  # the border belongs to the band
        ({"9": 0.374, "200": 0.5}, None, "200", 0.126),
        ({"9": 0.5}, None, "9", None),  # one length has nothing to settle to
        ({"9": 0.5, "25": None, "75": 0.5, "200": 0.5}, "75", "200", 0.0),  # an unknown effect is outside the band
        ({"9": 0.5, "75": 0.5, "200": None}, "9", "75", 0.0),  # the longest length with an effect
        ({"9": None, "200": float("nan")}, None, None, None),
    ],
)
def test_the_shortest_length_from_which_on_it_stays(
    effects: dict[str, float | None], settled_length: str | None, longest: str | None, largest: float | None
) -> None:
    row = settled(effects)
    assert (row["settled_length"], row["longest"]) == (settled_length, longest)
    assert row["largest_distance"] == (None if largest is None else pytest.approx(largest))
    assert row["sure"] is (None if settled_length is None else False)  # there are no intervals


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
