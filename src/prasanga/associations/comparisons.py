"""Estimates beside each other: of twins, of words that are alike, of other models and lengths; and where they settle.

What takes the tables of several jobs of a study, and makes those that the report reads.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl
import pyarrow as pa

from prasanga.associations.ceat import require_band, settled_from
from prasanga.base.errors import InputError
from prasanga.base.progress import progress
from prasanga.losses import join_losses
from prasanga.schema import TABLES
from prasanga.stats.arguments import FloatArray, finite_or_none
from prasanga.stats.controls import adjusted_difference, beside_twins
from prasanga.stats.corrections import benjamini_hochberg, holm
from prasanga.stats.effects import COSINE_NOISE, largest_effect
from prasanga.stats.intervals import FEWEST_WORDS, difference_interval
from prasanga.stats.power import ALPHA, smallest_effect_at

# --------------------
# The tables of a study from those of its jobs: twins beside their models, and p corrected for the number of tests.


_CELL = ("category", "sample_mode", "model", "segment_length")
_Tables = TypeVar("_Tables", bound=tuple[pa.Table, ...])


def of_twins(n_twins: int | None, measure: Callable[[int | None], _Tables]) -> _Tables:
    """Return what a job of a method comes to: the tables of a model, or those of its twins with a column `twin`.

    Args:
        n_twins: how many there are; None for a model.
        measure: gives the tables of a twin, by its number from 0; of the model, for None.
    """
    if n_twins is None:
        return measure(None)
    found = [measure(twin) for twin in range(n_twins)]
    columns = [
        [table.append_column("twin", pa.array([twin] * len(table), pa.int64())) for table in tables]
        for twin, tables in enumerate(found)
    ]
    joined = [pa.concat_tables(tables) for tables in zip(*columns, strict=True)]
    return type(found[0])(*joined)


def gather(estimates: Sequence[pa.Table], twins: Mapping[str, Sequence[pa.Table]], *, permuted: str = "xy") -> pa.Table:
    """Return all estimates of a method in one table, with the effects of random-weight copies.

    Args:
        estimates: of the jobs, all with the same columns.
        twins: estimates of the copies with random weights of each model, by the name of the model.
        permuted: the sides that p_stimuli permutes (`prasanga.methods.Method`).

    Returns:
        The rows of `estimates`, with the columns of `beside_twins` from the copies' rows of the same category, length
        and sample mode.
    """
    table = pa.concat_tables(estimates)
    rows = table.to_pylist()
    known = defaultdict(list)
    for model, tables in twins.items():
        for twin in _rows(pa.concat_tables(tables), *_CELL, "effect_size", *_WORDS):
            known[_cell_of({**twin, "model": model})].append(twin)
    for row in rows:
        row |= _beside(row, known[_cell_of(row)], permuted)
    return pa.Table.from_pylist(rows, schema=table.schema)


def correct_tests(tables: Mapping[str, pa.Table], permuted: Mapping[str, str] | None = None) -> dict[str, pa.Table]:
    """Correct p of all methods for the number of tests, and say which effects are found.

    Whoever looks at all tables looks at all tests: these are one family. The sample modes of a category, model and
    length are two estimates with one test, unless a word that one of them lacks makes it another.

    Args:
        tables: by method, what `gather` returns.
        permuted: the sides that p_stimuli permutes, by method; xy by default.

    Returns:
        The tables with `p_association_holm`, `p_association_bh`, `n_tests`, `smallest_effect` at .05 / `n_tests`, the
        level of the first step of Holm's method, `is_found` and `not_found_because`.
    """
    named_by = ("category", "model", "segment_length", "p_association")
    rows = {method: table.to_pylist() for method, table in tables.items()}
    tests = {method: [(method, *map(row.get, named_by)) for row in of_method] for method, of_method in rows.items()}
    there = list(dict.fromkeys(test for of_method in tests.values() for test in of_method if test[-1] is not None))
    p = [test[-1] for test in there]
    adjusted = zip(holm(p).tolist(), benjamini_hochberg(p).tolist(), [len(p)] * len(p), strict=True)
    family = dict(zip(there, adjusted, strict=True))
    for method, of_method in rows.items():
        sides = (permuted or {}).get(method, "xy")
        for row, test in zip(of_method, tests[method], strict=True):
            row |= dict(zip(_OF_FAMILY, family.get(test, (None, None, None)), strict=True))
            row["smallest_effect"] = _smallest_effect(row, *(row[f"n_{side}"] for side in sides))
            if row["effect_size"] is not None:
                row["not_found_because"] = why_not_found(row)
                row["is_found"] = not row["not_found_because"]
    return {method: pa.Table.from_pylist(rows[method], schema=tables[method].schema) for method in tables}


def why_not_found(row: Mapping[str, Any]) -> str:
    """Return the first condition of a finding that an effect does not meet; empty if it meets all.

    A finding has enough words, p of at most .05 after correction, an interval over words that excludes zero, and, where
    there is one, an interval over words and templates that does. Where random copies were measured, it differs from
    theirs.
    """
    if has_few_words(row, "xy") or has_few_words(row, "ab"):
        return "few words"
    p_holm, p_twins = (finite_or_none(row.get(name)) for name in ("p_association_holm", "p_twins"))
    if p_holm is None or p_holm >= ALPHA:
        return "p_association after Holm's correction"
    if not _excludes_zero(row, "ci"):
        return "an interval that includes zero"
    if finite_or_none(row.get("ci_templates_low")) is not None and not _excludes_zero(row, "ci_templates"):
        return "an interval over templates that includes zero"
    if p_twins is not None and p_twins > ALPHA:
        return "no difference from copies with random weights"
    return ""


def has_few_words(row: Mapping[str, Any], sides: str) -> bool:
    """Return whether a set has fewer than `FEWEST_WORDS` words, or lost more than a third of its list."""
    counts = [(row.get(f"n_{side}"), row.get(f"listed_{side}")) for side in sides]
    return any(
        used < FEWEST_WORDS or 3 * used < 2 * listed
        for used, listed in counts
        if used is not None and listed is not None
    )


def _excludes_zero(row: Mapping[str, Any], name: str) -> bool:
    low, high = (finite_or_none(row[f"{name}_{end}"]) for end in ("low", "high"))
    return low is not None and high is not None and (low > 0 or high < 0)


CSV_COLUMNS = {
    **{name: name for name in ("language", "category", "category_title", "model", "segment_length", "sample_mode")},
    **{name: name for name in ("effect_size", "ci_low", "ci_high", "reason", "p_stimuli", "p_attributes")},
    **{"p_association": "p_association", "p_association_holm": "p_holm", "n_tests": "n_tests"},
    **{name: name for name in ("twin_effect_size", "p_twins", "smallest_effect", "is_found")},
    **{name: name for name in ("n_x", "n_y", "n_a", "n_b", "lost", "not_found_because")},
}
"""Columns of CSV tables, those that a method has, with their names there; Parquet has all."""


def select_for_csv(table: pa.Table, language: str) -> pl.DataFrame:
    """Return the columns that CSV tables have."""
    frame = join_losses(pl.DataFrame(table)).with_columns(language=pl.lit(language))
    return frame.select(pl.col(name).alias(shown) for name, shown in CSV_COLUMNS.items() if name in frame.columns)


def _rows(table: pa.Table, *names: str) -> list[dict[str, Any]]:
    """Return the rows of a table with those of some columns that it has."""
    rows: list[dict[str, Any]] = table.select([name for name in names if name in table.column_names]).to_pylist()
    return rows


def _cell_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what says which estimate a row belongs to, as far as the method has it."""
    return tuple(row.get(name) for name in _CELL)


_OF_TWINS = (
    *("n_twins", "twin_effect_size", "twin_sd", "twin_difference", "twin_difference_low", "twin_difference_high"),
    "p_twins",
)
_OF_FAMILY = ("p_association_holm", "p_association_bh", "n_tests")
_WORDS = ("n_x", "n_y", "n_a", "n_b")
_KEPT = 2 / 3  # of the words of each set: an effect of fewer is about other words


def _smallest_effect(row: Mapping[str, Any], *words: int) -> float | None:
    if row["n_tests"] is None:
        return None
    alpha = ALPHA / row["n_tests"]
    return smallest_effect_at(
        row["smallest_effect"], *words, alpha=alpha, std=row["std"], alternative=row["alternative"]
    )


def _beside(row: Mapping[str, Any], twins: Sequence[Mapping[str, Any]], permuted: str) -> dict[str, float | None]:
    if row["effect_size"] is None:
        return beside_twins(None, None, None, ())
    effects = [
        twin["effect_size"]
        for twin in twins
        if twin["effect_size"] is not None and all(twin[n] >= _KEPT * row[n] for n in _WORDS)
    ]
    n_x, n_y = (row[f"n_{side}"] for side in permuted)
    most = 2 * largest_effect(n_x, n_y, row["std"]) if effects else math.inf
    return beside_twins(row["effect_size"], row["ci_low"], row["ci_high"], effects, most=most)


# --------------------
# Effects among words that are alike in frequency and in pieces: a regression with words as rows.
#
# A frequent word and a rare one, a word of one piece and one of five, have vectors that differ for that alone. Where X
# and Y differ in it, so may their associations. With s the association of a target word,
#
#     s = b0 + b1 [word is of X] + b2 log(1 + occurrences) + b3 pieces + error
#
# b1 is the difference of the sets' mean associations between words that are alike in both. Its interval takes errors
# of unequal size into account (HC3, MacKinnon and White 1985), with Student's t for as many degrees of freedom as words
# are more than coefficients.


_COVARIATES = {"occurrences": "corpus frequency", "n_pieces": "number of pieces"}


def adjust(
    estimates: pa.Table, words: pa.Table, coverage: Sequence[pa.Table], tokenizers: Mapping[str, pa.Table]
) -> tuple[pa.Table, pa.Table]:
    """Return the tables of a method with frequency and pieces of each word, and effects among words alike in both.

    Args:
        estimates: of the study; only those with a difference of means as it is have an adjusted effect.
        words: each word of these estimates.
        coverage: the table of samples, which says how often a stimulus stands in the corpus; none if nobody counted.
        tokenizers: by model, what its tokenizer makes of the forms of each stimulus.

    Returns:
        `estimates` and `words`. Where X or Y has fewer than `FEWEST_WORDS` words with both numbers there is no
        adjusted effect, and `adjusted_note` says so; it names a covariate that is not known, or is the same for all.
    """
    rows = words.to_pylist()
    occurrences = {word: n for table in coverage for word, n in columns_of(table, "stimulus", "occurrences")}
    pieces = {model: dict(columns_of(table, "stimulus", "pieces_per_form")) for model, table in tokenizers.items()}
    for row in rows:
        row["n_pieces"] = pieces.get(row["model"], {}).get(row["stimulus"])
        row["occurrences"] = occurrences.get(row["stimulus"])
    with_words = pa.Table.from_pylist(rows, schema=words.schema)
    if "adjusted_note" not in estimates.column_names:
        return estimates, with_words
    targets = defaultdict(list)
    for row in rows:
        if row["role"] in ("x", "y"):
            targets[_cell_of(row)].append(row)
    found = estimates.to_pylist()
    for row in found:
        if of_row := targets[_cell_of(row)]:
            row |= _adjusted_columns(row, of_row)
    return pa.Table.from_pylist(found, schema=estimates.schema), with_words


def columns_of(table: pa.Table, *names: str) -> Iterator[tuple[Any, ...]]:
    """Yield the values of some columns, row by row."""
    return zip(*(table.column(name).to_pylist() for name in names), strict=True)


def _adjusted_columns(estimate: Mapping[str, Any], targets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    notes, used = [], []
    for name, said in _COVARIATES.items():
        if all(row[name] is None for row in targets):
            notes.append(f"{said} is not known")
        else:
            used.append(name)
    if not used:
        return {"adjusted_note": f"not adjusted: {', '.join(notes)}"}
    known = [row for row in targets if all(row[name] is not None for name in used)]
    for role in ("x", "y"):
        n = sum(row["role"] == role for row in known)
        if n < FEWEST_WORDS:
            what = " and ".join(_COVARIATES[name] for name in used)
            return {
                "adjusted_note": f"not adjusted: set {role.upper()} has {n} word{'' if n == 1 else 's'} with {what},"
                f" and a regression over words needs {FEWEST_WORDS} in either set"
            }
    columns = {name: np.array([row[name] for row in known], dtype=np.float64) for name in used}
    if "occurrences" in columns:
        columns["occurrences"] = np.log1p(columns["occurrences"])
    for name in [name for name, values in columns.items() if np.ptp(values) == 0]:
        notes.append(f"{_COVARIATES[name]} is the same for all words")
        del columns[name]
    if not columns:
        return {"adjusted_note": f"not adjusted: {', '.join(notes)}"}
    if len(known) < len(targets):
        notes.append(f"{len(targets) - len(known)} of {len(targets)} words are left out, of which it is not known")
    is_x = [row["role"] == "x" for row in known]
    scores = np.array([row["association"] for row in known], dtype=np.float64)
    try:
        adjusted = adjusted_difference(scores, is_x, np.column_stack(list(columns.values())))
    except InputError:
        return {"adjusted_note": "not adjusted: words of X and Y cannot be told from frequent and rare, long and short"}
    # in units of d: as much of the effect as the difference keeps
    difference, effect = estimate["difference"], estimate["effect_size"]
    comparable = difference * effect > 0 and abs(difference) > COSINE_NOISE
    return {
        "difference_adjusted": adjusted.difference,
        "adjusted_low": adjusted.low,
        "adjusted_high": adjusted.high,
        "effect_adjusted": effect * adjusted.difference / difference if comparable else None,
        "adjusted_note": "; ".join(notes) or None,
    }


# --------------------
# Differences between estimates of one category: between segment lengths of a model, and between models at a length.
#
# Two intervals that overlap do not say that two effects are alike: estimates with the same words rise and fall
# together when words are resampled, and their difference varies less than either. So resample number i of one
# estimate is compared with resample number i of the other, which has the same words the same number of times, and
# the interval is that of the differences. Estimates with other words (a word without contexts was left out of one)
# cannot be paired; their difference has no interval.


_KEY = ("kind", *_CELL, "first", "second")

DIFFERENCES_SCHEMA = TABLES["differences"].arrow()
"""Columns of the table of differences.

`kind` is `length` (`first` and `second` are segment lengths of `model`, and `segment_length` is null) or `model` (they
are models at `segment_length`, and `model` is null). `difference` is `effect_second` minus `effect_first`. `note` says
why there is no difference, or no interval, or what to know about the interval; null if there is nothing to say.
"""


class _Estimate(NamedTuple):
    effect: float | None
    why_no_interval: str
    words: str
    of_replicates: float
    """The effect of the draws that the replicates rest on."""
    replicates: FloatArray


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
    places: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for category, mode, *place in cells:
        places.setdefault((category, mode), set()).add((place[0], place[1]))
    with progress("comparing lengths and models", len(places), "categories") as done:
        for of_whom, there in done.over(places.items()):
            for kind, model, length, first, second in _pairs(there, models, lengths):
                one, other = (cells[*of_whom, model or each, length or each] for each in (first, second))
                key = zip(_KEY, (kind, *of_whom, model, length, first, second), strict=True)
                rows.append({**dict(key), **_difference(first, one, second, other)})
    return pa.Table.from_pylist(rows, schema=DIFFERENCES_SCHEMA)


def sorted_lengths(labels: Iterable[str]) -> list[str]:
    """Return the labels of segment lengths, each once, from short to long; ">75" comes after "75"."""
    return sorted(set(labels), key=lambda label: (int(label.removeprefix(">")), label.startswith(">")))


def _pairs(
    there: Collection[tuple[str, str]], models: Sequence[str], lengths: Sequence[str]
) -> Iterator[tuple[str, str | None, str | None, str, str]]:
    """Yield (kind, model, segment length, first, second) of what is there; model or length is None where it differs."""
    for model in models:
        for first, second in combinations([length for length in lengths if (model, length) in there], 2):
            yield "length", model, None, first, second
    for length in lengths:
        for first, second in combinations([model for model in models if (model, length) in there], 2):
            yield "model", None, length, first, second


def _difference(first: str, one: _Estimate, second: str, other: _Estimate) -> dict[str, Any]:
    """Return the difference of two effects, its interval, and what to know of it, or why there is none."""
    row: dict[str, Any] = {"effect_first": one.effect, "effect_second": other.effect}
    if one.effect is None or other.effect is None:
        unknown = [name for name, estimate in ((first, one), (second, other)) if estimate.effect is None]
        return {**row, "note": f"no effect of {' and '.join(unknown)}"}
    row["difference"] = other.effect - one.effect
    if one.why_no_interval or other.why_no_interval:
        name, why = (first, one.why_no_interval) if one.why_no_interval else (second, other.why_no_interval)
        return {**row, "note": f"{name}: {why}"}
    if one.words != other.words:
        return {**row, "note": f"no interval: {first} and {second} were not measured with the same words"}
    if one.replicates.size != other.replicates.size:
        sizes = f"{one.replicates.size} resamples of {first}, {other.replicates.size} of {second}"
        return {**row, "note": f"no interval: {sizes}"}
    found = difference_interval(other.replicates, one.replicates, other.of_replicates, one.of_replicates)
    row["note"] = found.note or None
    if found.low is not None and found.high is not None:
        # The effects reported rest on more draws than the replicates: the interval lies around their difference.
        shift = (other.effect - one.effect) - (other.of_replicates - one.of_replicates)
        row |= {"ci_low": found.low + shift, "ci_high": found.high + shift}
    return row


def _cells(estimates: pa.Table, resamples: pa.Table) -> dict[tuple[str, str, str, str], _Estimate]:
    """Return the estimates by category, sample mode, model and segment length, in the order of `estimates`."""
    require_columns("estimates", estimates, (*_CELL, "effect_size"))
    require_columns("resamples", resamples, (*_CELL, "words", "replicates", "effect_size"))
    found: dict[Any, tuple[str, float | None, FloatArray]] = {}
    replicates = resamples["replicates"].combine_chunks()
    for i, (*of_whom, words, effect) in enumerate(columns_of(resamples, *_CELL, "words", "effect_size")):
        values = replicates[i].values
        array = np.asarray([] if values is None else values, dtype=np.float64)
        _put("resamples", found, tuple(of_whom), (words, effect, array))
    cells: dict[Any, _Estimate] = {}
    for row in _rows(estimates, *_CELL, "effect_size", "ci_low", "interval_note"):
        cell = _cell_of(row)
        words, effect, array = found.get(cell, ("", None, np.empty(0)))
        why = row.get("interval_note") if row.get("ci_low") is None else None
        if not why and (effect is None or not array.size):
            why = "no resamples"
        estimate = _Estimate(finite_or_none(row["effect_size"]), why or "", words, effect or 0.0, array)
        _put("estimates", cells, cell, estimate)
    return cells


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

SETTLING_SCHEMA = TABLES["settling"].arrow()
"""Columns of the table, a row per category, model and sample mode.

`settled_length` is null where the effect had not settled before the longest length, or there is one length only.
`longest` is the longest length with an effect. `largest_distance` is the largest |effect - effect at the longest| of
all lengths. `sure`: the intervals of the differences from `settled_length` on lie within the band; false where there is
no interval; null without a settled length.
"""


def settling(estimates: pa.Table, differences: pa.Table, *, band: float) -> pa.Table:
    """Return the length at which each effect has settled: rows of `SETTLING_SCHEMA`, in the order of `estimates`.

    The longest length is the last one that has an effect.

    Args:
        estimates: with the columns category, model, sample_mode, segment_length, effect_size.
        differences: the table of `differences`.
        band: distance from the effect at the longest length that is small enough.

    Raises:
        InputError: a column missing, or a band that is not greater than 0.
    """
    require_band(band)
    require_columns("estimates", estimates, (*_CURVE, "segment_length", "effect_size"))
    needed = ("kind", *_CURVE, "first", "second", "ci_low", "ci_high")
    require_columns("differences", differences, needed)
    effects: dict[Any, dict[str, float | None]] = {}
    for *cell, length, effect in columns_of(estimates, *_CURVE, "segment_length", "effect_size"):
        effects.setdefault(tuple(cell), {})[length] = finite_or_none(effect)
    surely_within = {
        (tuple(cell), first, second)
        for kind, *cell, first, second, low, high in columns_of(differences, *needed)
        if kind == "length" and low is not None and high is not None and -band <= low <= high <= band
    }
    order = comparable_lengths({length for own in effects.values() for length in own})
    rows = []
    for cell, own in effects.items():
        there = [length for length in order if length in own]
        if not there:
            continue
        while len(there) > 1 and own[there[-1]] is None:
            there.pop()
        longest = own[there[-1]]
        distances = [None if longest is None or (effect := own[n]) is None else effect - longest for n in there]
        known = [abs(distance) for distance in distances if distance is not None]
        settled = settled_from(distances, band)
        compared = there[settled:-1] if settled is not None else []
        rows.append(
            {
                **dict(zip(_CURVE, cell, strict=True)),
                "band": band,
                "settled_length": None if settled is None else there[settled],
                "longest": there[-1] if known else None,
                "largest_distance": max(known) if len(known) > 1 else None,
                "sure": all((cell, length, there[-1]) in surely_within for length in compared) if compared else None,
            }
        )
    return pa.Table.from_pylist(rows, schema=SETTLING_SCHEMA)


def comparable_lengths(labels: Iterable[str]) -> list[str]:
    """Return the lengths among which an effect can settle, from short to long.

    These are the fixed ones, if there are two or more.

    A length such as >75 has contexts of its own; the distance to it is one between texts as well, and stands in the
    table of differences.
    """
    lengths = sorted_lengths(labels)
    fixed = [length for length in lengths if not length.startswith(">")]
    return fixed if len(fixed) > 1 else lengths
