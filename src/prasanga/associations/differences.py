"""Differences between estimates of one category: between segment lengths of a model, and between models at a length.

Two intervals that overlap do not say that two effects are alike: estimates with the same words rise and fall together
when words are resampled, and their difference varies less than either. So resample number i of one estimate is compared
with resample number i of the other, which has the same words the same number of times, and the interval is that of the
differences. Estimates with other words (a word without contexts was left out of one) cannot be paired; their
difference has no interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from prasanga.associations.intervals import difference_interval
from prasanga.associations.vectors import FloatArray
from prasanga.errors import InputError
from prasanga.progress import progress

_TEXT, _NUMBER = pa.string(), pa.float64()
_CELL = ("category", "sample_mode", "model", "segment_length")

DIFFERENCES_SCHEMA = pa.schema(
    [
        *((name, _TEXT) for name in ("kind", *_CELL, "first", "second")),
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
    """All paired differences of a study: rows of `DIFFERENCES_SCHEMA`.

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
                rows.append(
                    {
                        "kind": kind,
                        "category": category,
                        "sample_mode": mode,
                        "model": model,
                        "segment_length": length,
                        "first": first,
                        "second": second,
                        **_difference(first, of_first, second, of_second),
                    }
                )
    return pa.Table.from_pylist(rows, schema=DIFFERENCES_SCHEMA)


def sorted_lengths(labels: Iterable[str]) -> list[str]:
    """Labels of segment lengths, each once, from short to long; ">75" after "75"."""
    return sorted(set(labels), key=lambda label: (int(label.removeprefix(">")), label.startswith(">")))


def _pairs(
    places: Iterable[tuple[str, str]], models: Sequence[str], lengths: Sequence[str]
) -> Iterator[tuple[str, str | None, str | None, str, str]]:
    """(kind, model, segment length, first, second) of what is there; model or length is None where it differs."""
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
    low = high = None
    note = _why_not_paired(first, of_first, second, of_second)
    if of_first.resamples and of_second.resamples and not note:
        low, high, note = _paired_interval(of_first.effect, of_first.resamples, of_second.effect, of_second.resamples)
    return {
        **row,
        "difference": of_second.effect - of_first.effect,
        "ci_low": low,
        "ci_high": high,
        "note": note or None,
    }


def _why_not_paired(first: str, of_first: _Estimate, second: str, of_second: _Estimate) -> str:
    for name, estimate in ((first, of_first), (second, of_second)):
        if estimate.resamples is None:
            return f"{name}: {estimate.why_no_interval}"
    assert of_first.resamples
    assert of_second.resamples
    if of_first.resamples.words != of_second.resamples.words:
        return f"no interval: {first} and {second} were not measured with the same words"
    sizes = of_first.resamples.replicates.size, of_second.resamples.replicates.size
    if sizes[0] != sizes[1]:
        return f"no interval: {sizes[0]} resamples of {first}, {sizes[1]} of {second}"
    return ""


def _paired_interval(
    first: float, of_first: _Resamples, second: float, of_second: _Resamples
) -> tuple[float | None, float | None, str]:
    """The interval of the reported effects' difference, or why there is none."""
    found = difference_interval(of_second.replicates, of_first.replicates, of_second.effect, of_first.effect)
    if found.low is None or found.high is None:
        return None, None, found.note
    # The effects reported rest on more draws than the replicates: the interval lies around their difference.
    shift = (second - first) - (of_second.effect - of_first.effect)
    return found.low + shift, found.high + shift, found.note


def _cells(estimates: pa.Table, resamples: pa.Table) -> dict[tuple[str, str, str, str], _Estimate]:
    """By category, sample mode, model and segment length, in the order of `estimates`."""
    require_columns("estimates", estimates, (*_CELL, "effect_size"))
    require_columns("resamples", resamples, (*_CELL, "words", "replicates", "effect_size"))
    found: dict[tuple[str, ...], _Resamples] = {}
    replicates = resamples["replicates"].combine_chunks()
    for i, (*of_whom, words, effect) in enumerate(_rows(resamples, (*_CELL, "words", "effect_size"))):
        values = replicates[i].values
        array = np.empty(0) if values is None else values.to_numpy(zero_copy_only=False)
        _put("resamples", found, tuple(of_whom), _Resamples(words, np.asarray(array, dtype=np.float64), effect))
    cells: dict[Any, _Estimate] = {}
    for cell, effect, low, why in zip(
        _rows(estimates, _CELL),
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


def _rows(table: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in columns), strict=True)


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
