"""From which segment length on the effect of a category no longer depends much on the length.

The effect has settled at the shortest length such that there and at all longer ones it lies within a band around the
effect at the longest. That is said of the estimates. Whether the words measured can tell is another question: it is
sure if the paired intervals of the differences to the longest length lie within the band as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from prasanga.associations.convergence import require_band
from prasanga.associations.differences import require_columns, sorted_lengths

_CELL = ("category", "model", "sample_mode")

SETTLING_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in _CELL),
        ("band", pa.float64()),
        ("settled_length", pa.string()),
        ("longest", pa.string()),
        ("largest_distance", pa.float64()),
        ("sure", pa.bool_()),
    ]
)
"""Columns of the table, a row per category, model and sample mode.

`settled_length` is null where the effect had not settled before the longest length, or there is one length only.
`longest` is the longest length with an effect. `largest_distance` is the largest |effect - effect at the longest| of
all lengths. `sure`: the intervals of the differences from `settled_length` on lie within the band; false where there is
no interval; null without a settled length.
"""


class Distance(NamedTuple):
    """How far the effect at a length is from that at the longest."""

    length: str
    distance: float | None
    """Effect at this length minus effect at the longest; None if there is no effect."""
    low: float | None
    """Lower end of its paired interval; None if there is none."""
    high: float | None


def settling(
    estimates: pa.Table, differences: pa.Table, *, band: float, lengths: Sequence[str] | None = None
) -> pa.Table:
    """At which length each effect has settled: rows of `SETTLING_SCHEMA`, in the order of `estimates`.

    Args:
        estimates: with the columns category, model, sample_mode, segment_length, effect_size.
        differences: the table of `differences.differences`.
        band: distance from the effect at the longest length that is small enough.
        lengths: from short to long; None takes `comparable_lengths` of those that there are.

    Raises:
        InputError: a column missing, or a band that is not greater than 0.
    """
    require_band(band)
    rows = []
    for cell, distances in distances_to_longest(estimates, differences, lengths=lengths).items():
        known = [abs(d.distance) for d in distances if d.distance is not None]
        settled = settled_from(distances, band)
        compared = distances[settled:-1] if settled is not None else []
        rows.append(
            {
                **dict(zip(_CELL, cell, strict=True)),
                "band": band,
                "settled_length": None if settled is None else distances[settled].length,
                "longest": distances[-1].length if known else None,
                "largest_distance": max(known) if len(known) > 1 else None,
                "sure": all(_surely_within(d, band) for d in compared) if compared else None,
            }
        )
    return pa.Table.from_pylist(rows, schema=SETTLING_SCHEMA)


def distances_to_longest(
    estimates: pa.Table, differences: pa.Table, *, lengths: Sequence[str] | None = None
) -> dict[tuple[str, str, str], list[Distance]]:
    """Distances by (category, model, sample mode), from short to long; the last is the longest that has an effect.

    Lengths that lack an effect are among them with None, but for those longer than that. Arguments as for `settling`.
    """
    require_columns("estimates", estimates, (*_CELL, "segment_length", "effect_size"))
    needed = ("kind", *_CELL, "first", "second", "ci_low", "ci_high")
    require_columns("differences", differences, needed)
    effects: dict[tuple[str, str, str], dict[str, float | None]] = {}
    for row in estimates.select([*_CELL, "segment_length", "effect_size"]).to_pylist():
        effect = row["effect_size"]
        known = effect if effect is not None and np.isfinite(effect) else None
        effects.setdefault(_cell(row), {})[row["segment_length"]] = known
    intervals = {
        (_cell(row), row["first"], row["second"]): (row["ci_low"], row["ci_high"])
        for row in differences.select(needed).to_pylist()
        if row["kind"] == "length"
    }
    order = comparable_lengths({length for own in effects.values() for length in own}) if lengths is None else lengths
    found = {}
    for cell, own in effects.items():
        there = [length for length in order if length in own]
        if not there:
            continue
        while len(there) > 1 and own[there[-1]] is None:
            there.pop()
        longest = there[-1]
        found[cell] = [
            _distance(own, length, longest, intervals.get((cell, length, longest), (None, None))) for length in there
        ]
    return found


def comparable_lengths(labels: Iterable[str]) -> list[str]:
    """The lengths among which an effect can settle, from short to long: the fixed ones, if there are two or more.

    A length such as >75 has contexts of its own; the distance to it is one between texts as well, and stands in the
    table of differences.
    """
    lengths = sorted_lengths(labels)
    fixed = [length for length in lengths if not length.startswith(">")]
    return fixed if len(fixed) > 1 else lengths


def settled_from(distances: Sequence[Distance], band: float) -> int | None:
    """The place of the shortest length at and after which every distance is known and within `band`.

    None if that is said of the longest alone.
    """
    settled = None
    for i in range(len(distances) - 2, -1, -1):
        distance = distances[i].distance
        if distance is None or not abs(distance) <= band:
            break
        settled = i
    return settled


def _distance(
    effects: Mapping[str, float | None], length: str, longest: str, interval: tuple[float | None, float | None]
) -> Distance:
    effect, last = effects[length], effects[longest]
    if effect is None or last is None:
        return Distance(length, None, None, None)
    # The table has longest minus shorter, where the distance is shorter minus longest.
    low, high = (None if end is None else -end for end in reversed(interval))
    return Distance(length, effect - last, low, high)


def _surely_within(distance: Distance, band: float) -> bool:
    return distance.low is not None and distance.high is not None and -band <= distance.low <= distance.high <= band


def _cell(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["category"], row["model"], row["sample_mode"]
