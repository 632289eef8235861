"""How effects move: with draws added, between lengths and between models, and where they settle."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.corrections import columns_of
from prasanga.associations.effects import Z_95, combine, finite_vector
from prasanga.associations.intervals import difference_interval
from prasanga.associations.vectors import FloatArray, number, sequence_of, whole_number
from prasanga.base.errors import InputError
from prasanga.base.progress import progress

# --------------------
# How the combined effect of CEAT moves as draws are added, and from how many on it no longer moves much.
#
# More draws take away chance in the choice of contexts from the pool that there is. They add no contexts to that
# pool (for that see `contexts_enough`) and no words.


class Combined(NamedTuple):
    """The combined effect of the first `n` draws."""

    n: int
    effect: float
    standard_error: float


def sizes_up_to(n_draws: int) -> list[int]:
    """Return 100, 200, 500, 1000, 2000, 5000, ... as long as there are so many draws, and at last all `n_draws`.

    Raises `InputError` for no draws.
    """
    n_draws = whole_number("n_draws", n_draws, least=1)
    steps = (factor * 10**power for power in range(2, len(str(n_draws))) for factor in (1, 2, 5))
    return [*(n for n in steps if n < n_draws), n_draws]


def convergence(
    effects: npt.ArrayLike, variances: npt.ArrayLike, tau2: str = "dl", sizes: Sequence[int] | None = None
) -> list[Combined]:
    """Return the combined effect of the first n draws, for each n of `sizes`.

    Args:
        effects: (N,) effect sizes of the draws, in the order in which they were drawn.
        variances: (N,) their in-sample variances.
        tau2: see `combine`.
        sizes: numbers of draws, rising; those of `sizes_up_to` if None. N is added where it is not among them.

    Raises:
        InputError: sizes that do not rise or go beyond N; otherwise as `combine`.
    """
    y, v = finite_vector("effects", effects), finite_vector("variances", variances)
    taken = sizes_up_to(y.size) if sizes is None else sequence_of("sizes", sizes, "a list of whole numbers that rise")
    if taken[-1:] != [y.size]:
        taken.append(y.size)
    if any(not isinstance(n, Integral) or n < 1 for n in taken) or any(n >= later for n, later in pairwise(taken)):
        raise InputError(f"sizes: {taken[:10]}. Give whole numbers that rise, from 1 to at most {y.size} draws.")
    rows = []
    for n in taken:
        result = combine(y[:n], v[:n], tau2=tau2)
        rows.append(Combined(n, result.effect, result.standard_error))
    return rows


def draws_settled(rows: Sequence[Combined], band: float) -> int | None:
    """Return the smallest number of draws at and after which every combined effect is within `band` of the last one.

    None if that is said of the last one alone, which is within any band of itself. Raises `InputError` for a `band`
    that is not greater than 0.
    """
    require_band(band)
    settled = None
    for row in reversed(rows[:-1]):
        if not abs(row.effect - rows[-1].effect) <= band:
            break
        settled = row.n
    return settled


def require_band(band: float) -> None:
    """Refuse a band that is not a number greater than 0."""
    if not 0 < number("associations.band", band, "a number greater than 0, for example 0.1") < np.inf:
        raise InputError(f"associations.band: {band}. Write a number greater than 0, for example 0.1.")


def contexts_enough(effects: npt.ArrayLike, band: float, *, contexts_min: int | None = None) -> int | None:
    """Return how many contexts of each word bring the effect within `band` of what all contexts would give.

    That is meant of 95 in 100 pools of so many contexts (1.96 standard errors).
    One draw takes one context of each word, so the standard deviation of the draws' effects is what the choice of
    one context a word leaves to chance. With pools of k contexts a word and all their combinations it is
    sd / sqrt(k) or less: a part of the variance that belongs to one word falls with k, one that belongs to s words
    together with k^s (Hoeffding 1948). So k = (1.96 sd / band)^2, rounded up.

    Draws from a pool of m contexts differ less than contexts of the language do, on average by (m - 1) / m of the
    variance. It is made up for by the smallest pool, that of `contexts_min`; of few contexts the number stays a guess.

    Args:
        effects: (n_draws,) effect sizes of single draws, one context of each word in each.
        band: distance that is small enough.
        contexts_min: contexts of the word that has the fewest; None if all have many.

    Returns:
        k; None with a single draw, or with a word of one context, which says nothing about chance.

    Raises:
        InputError: a band that is not greater than 0, or effects that are not finite numbers.
    """
    drawn = finite_vector("effects", effects)
    require_band(band)
    if drawn.size < 2 or contexts_min == 1:
        return None
    finite = 1.0 if contexts_min is None else math.sqrt(contexts_min / (contexts_min - 1))
    return contexts_for_spread(float(drawn.std(ddof=1)) * finite, band)


def contexts_for_spread(spread: float, band: float) -> int:
    """Return what `contexts_enough` says, from the standard deviation of the draws' effects; at least 1."""
    require_band(band)
    if not 0 <= number("spread", spread, "a standard deviation, 0 or greater") < math.inf:
        raise InputError(f"spread: {spread}. Give a standard deviation, 0 or greater.")
    return max(1, math.ceil((Z_95 * spread / band) ** 2))


# --------------------
# Differences between estimates of one category: between segment lengths of a model, and between models at a length.
#
# Two intervals that overlap do not say that two effects are alike: estimates with the same words rise and fall
# together when words are resampled, and their difference varies less than either. So resample number i of one
# estimate is compared with resample number i of the other, which has the same words the same number of times, and
# the interval is that of the differences. Estimates with other words (a word without contexts was left out of one)
# cannot be paired; their difference has no interval.


_TEXT, _NUMBER = pa.string(), pa.float64()
_CELL = ("category", "sample_mode", "model", "segment_length")
_KEY = ("kind", *_CELL, "first", "second")

DIFFERENCES_SCHEMA = pa.schema(
    [
        *((name, _TEXT) for name in _KEY),
        *((name, _NUMBER) for name in ("effect_first", "effect_second", "difference", "ci_low", "ci_high")),
        ("note", _TEXT),
    ]
)
"""Columns of the table of differences.

`kind` is `length` (`first` and `second` are segment lengths of `model`, and `segment_length` is null) or `model` (they
are models at `segment_length`, and `model` is null). `difference` is `effect_second` minus `effect_first`. `note` says
why there is no difference, or no interval, or what to know about the interval; null if there is nothing to say.
"""


class _Resamples(NamedTuple):
    words: str
    replicates: FloatArray
    effect: float
    """Of the draws that the replicates rest on."""


class _Estimate(NamedTuple):
    effect: float | None
    resamples: _Resamples | None
    why_no_interval: str


def differences(
    estimates: pa.Table,
    resamples: pa.Table,
    *,
    lengths: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
) -> pa.Table:
    """Return all paired differences of a study: rows of `DIFFERENCES_SCHEMA`.

    Args:
        estimates: with the columns category, sample_mode, model, segment_length, effect_size, a row per estimate.
            Effects may be null. With the columns ci_low and interval_note, an estimate that has no interval for a
            reason has none in a difference either, for that reason.
        resamples: with the columns category, sample_mode, model, segment_length; words, a digest of the words measured
            (estimates with the same one are paired); replicates, the effects with words and contexts resampled, NaN
            where there is none; effect_size, the effect of the same draws as the replicates, around which they lie. An
            estimate without a row here gets no intervals.
        lengths: from short to long, the order of `first` and `second`; None sorts them by words, >75 after 75.
        models: in the order of `first` and `second`; None takes them as `estimates` has them.

    Raises:
        InputError: a column missing, or two rows of one estimate.
    """
    cells = _cells(estimates, resamples)
    lengths = sorted_lengths(cell[3] for cell in cells) if lengths is None else lengths
    models = list(dict.fromkeys(cell[2] for cell in cells)) if models is None else models
    rows: list[dict[str, Any]] = []
    compared = list(dict.fromkeys((category, mode) for category, mode, _, _ in cells))
    with progress("comparing lengths and models", len(compared), "categories") as done:
        for category, mode in done.over(compared):
            by_place = {
                (m, n): cells[category, mode, m, n] for m in models for n in lengths if (category, mode, m, n) in cells
            }
            for kind, model, length, first, second in _pairs(by_place, models, lengths):
                of_first = by_place[model or first, length or first]
                of_second = by_place[model or second, length or second]
                key = zip(_KEY, (kind, category, mode, model, length, first, second), strict=True)
                rows.append({**dict(key), **_difference(first, of_first, second, of_second)})
    return pa.Table.from_pylist(rows, schema=DIFFERENCES_SCHEMA)


def sorted_lengths(labels: Iterable[str]) -> list[str]:
    """Return the labels of segment lengths, each once, from short to long; ">75" comes after "75"."""
    return sorted(set(labels), key=lambda label: (int(label.removeprefix(">")), label.startswith(">")))


def _pairs(
    places: Iterable[tuple[str, str]], models: Sequence[str], lengths: Sequence[str]
) -> Iterator[tuple[str, str | None, str | None, str, str]]:
    """Yield (kind, model, segment length, first, second) of what is there; model or length is None where it differs."""
    there = set(places)
    for model in models:
        for first, second in combinations([length for length in lengths if (model, length) in there], 2):
            yield "length", model, None, first, second
    for length in lengths:
        for first, second in combinations([model for model in models if (model, length) in there], 2):
            yield "model", None, length, first, second


def _difference(first: str, of_first: _Estimate, second: str, of_second: _Estimate) -> dict[str, Any]:
    row: dict[str, Any] = {"effect_first": of_first.effect, "effect_second": of_second.effect}
    unknown = [name for name, estimate in ((first, of_first), (second, of_second)) if estimate.effect is None]
    if of_first.effect is None or of_second.effect is None:
        return {**row, "note": f"no effect of {' and '.join(unknown)}"}
    low, high, note = _paired_interval(first, of_first, second, of_second)
    ends = {"ci_low": low, "ci_high": high, "note": note or None}
    return {**row, "difference": of_second.effect - of_first.effect, **ends}


def _paired_interval(
    first: str, of_first: _Estimate, second: str, of_second: _Estimate
) -> tuple[float | None, float | None, str]:
    """Return the interval of the reported effects' difference, and what to know of it, or why there is none."""
    one, other = of_first.resamples, of_second.resamples
    if one is None or other is None:
        name, why = (first, of_first.why_no_interval) if one is None else (second, of_second.why_no_interval)
        return None, None, f"{name}: {why}"
    if one.words != other.words:
        return None, None, f"no interval: {first} and {second} were not measured with the same words"
    if one.replicates.size != other.replicates.size:
        sizes = f"{one.replicates.size} resamples of {first}, {other.replicates.size} of {second}"
        return None, None, f"no interval: {sizes}"
    found = difference_interval(other.replicates, one.replicates, other.effect, one.effect)
    if found.low is None or found.high is None or of_first.effect is None or of_second.effect is None:
        return None, None, found.note
    # The effects reported rest on more draws than the replicates: the interval lies around their difference.
    shift = (of_second.effect - of_first.effect) - (other.effect - one.effect)
    return found.low + shift, found.high + shift, found.note


def _cells(estimates: pa.Table, resamples: pa.Table) -> dict[tuple[str, str, str, str], _Estimate]:
    """Return the estimates by category, sample mode, model and segment length, in the order of `estimates`."""
    require_columns("estimates", estimates, (*_CELL, "effect_size"))
    require_columns("resamples", resamples, (*_CELL, "words", "replicates", "effect_size"))
    found: dict[tuple[str, ...], _Resamples] = {}
    replicates = resamples["replicates"].combine_chunks()
    for i, (*of_whom, words, effect) in enumerate(columns_of(resamples, *_CELL, "words", "effect_size")):
        values = replicates[i].values
        array = np.empty(0) if values is None else values.to_numpy(zero_copy_only=False)
        _put("resamples", found, tuple(of_whom), _Resamples(words, np.asarray(array, dtype=np.float64), effect))
    cells: dict[Any, _Estimate] = {}
    for cell, effect, low, why in zip(
        columns_of(estimates, *_CELL),
        estimates["effect_size"].to_pylist(),
        _column(estimates, "ci_low"),
        _column(estimates, "interval_note"),
        strict=True,
    ):
        known = effect if effect is not None and np.isfinite(effect) else None
        of_cell = found.get(cell)
        reason = (why or "") if low is None else ""
        usable = of_cell is not None and of_cell.replicates.size and of_cell.effect is not None and not reason
        _put("estimates", cells, cell, _Estimate(known, of_cell if usable else None, reason or "no resamples"))
    return cells


def _column(table: pa.Table, name: str) -> list[Any]:
    return table[name].to_pylist() if name in table.column_names else [None] * table.num_rows


def _put(table: str, cells: dict[Any, Any], cell: tuple[str, ...], value: object) -> None:
    if cell in cells:
        raise InputError(
            f"{table}: two rows of {', '.join(map(str, cell))} ({', '.join(_CELL)}). Make the table again with the"
            " associations stage."
        )
    cells[cell] = value


def require_columns(name: str, table: pa.Table, columns: Iterable[str]) -> None:
    """Refuse a table without one of the columns; `name` says in the message which table it is."""
    missing = [column for column in columns if column not in table.column_names]
    if missing:
        raise InputError(
            f"{name}: no column {', '.join(missing)}; there are {', '.join(table.column_names)}. Make the table again"
            " with the associations stage."
        )


# --------------------
# From which segment length on the effect of a category no longer depends much on the length.
#
# The effect has settled at the shortest length such that there and at all longer ones it lies within a band around
# the effect at the longest. That is said of the estimates. Whether the words measured can tell is another question:
# it is sure if the paired intervals of the differences to the longest length lie within the band as well.


_CURVE = ("category", "model", "sample_mode")

SETTLING_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in _CURVE),
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
    """Return the length at which each effect has settled: rows of `SETTLING_SCHEMA`, in the order of `estimates`.

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
                **dict(zip(_CURVE, cell, strict=True)),
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
    """Return the distances by (category, model, sample mode), from short to long.

    The last one is the longest that has an effect.

    Lengths that lack an effect are among them with None, but for those longer than that. Arguments as for `settling`.
    """
    require_columns("estimates", estimates, (*_CURVE, "segment_length", "effect_size"))
    needed = ("kind", *_CURVE, "first", "second", "ci_low", "ci_high")
    require_columns("differences", differences, needed)
    effects: dict[tuple[str, str, str], dict[str, float | None]] = {}
    for row in estimates.select([*_CURVE, "segment_length", "effect_size"]).to_pylist():
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
    """Return the lengths among which an effect can settle, from short to long.

    These are the fixed ones, if there are two or more.

    A length such as >75 has contexts of its own; the distance to it is one between texts as well, and stands in the
    table of differences.
    """
    lengths = sorted_lengths(labels)
    fixed = [length for length in lengths if not length.startswith(">")]
    return fixed if len(fixed) > 1 else lengths


def settled_from(distances: Sequence[Distance], band: float) -> int | None:
    """Return the place of the shortest length at and after which every distance is known and within `band`.

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
