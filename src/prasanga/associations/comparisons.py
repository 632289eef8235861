"""Compare estimates: with twins, among similar words, between models, lengths and methods; and find where they settle.

The functions make the tables that the report reads, from the tables of several jobs of a study.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, TypeVar

import numpy as np
import polars as pl
import pyarrow as pa

from prasanga.associations.ceat import find_settled
from prasanga.associations.estimates import category_of
from prasanga.base.errors import InputError
from prasanga.base.logs import progress
from prasanga.base.seeds import generator
from prasanga.schema import TABLES, join_losses
from prasanga.stats.effects import COSINE_NOISE, finite_or_none, largest_effect
from prasanga.stats.intervals import (
    FEWEST_WORDS,
    BesideTwins,
    adjusted_difference,
    compare_with_twins,
    difference_interval,
    jackknife_variance,
)
from prasanga.stats.permutation import ALPHA, benjamini_hochberg, holm

MEAN = "mean"
"""`segment_length` of the primary estimates of CEAT, over the fixed lengths together."""
_CELL = ("category", "model", "segment_length")
"""Columns that name an estimate; a method may lack some."""
_KEPT = 2 / 3  # of the words of each set: an effect of fewer is about other words
_Tables = TypeVar("_Tables", bound=tuple[pa.Table, ...])


def _cell_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in _CELL)


def _iterate(table: pa.Table, *names: str) -> Iterable[tuple[Any, ...]]:
    """Return the values of some columns, row by row."""
    return zip(*(table.column(name).to_pylist() for name in names), strict=True)


# --------------------
# The tables of a study from the tables of its jobs: models with their twins, and p corrected for the number of tests.


def of_twins(n_twins: int | None, measure: Callable[[int | None], _Tables]) -> _Tables:
    """Return the tables of a model, or of its twins with a column `twin`: the result of a method's job.

    Args:
        n_twins: how many there are; None for a model.
        measure: gives the tables of a twin, by its number from 0; of the model, for None.
    """
    if n_twins is None:
        return measure(None)
    found = [measure(twin) for twin in range(n_twins)]
    joined = []
    for tables in zip(*found, strict=True):
        numbers = [pa.array([twin] * len(table), pa.int64()) for twin, table in enumerate(tables)]
        numbered = [table.append_column("twin", column) for table, column in zip(tables, numbers, strict=True)]
        joined.append(pa.concat_tables(numbered))
    return type(found[0])(*joined)


def gather(estimates: Sequence[pa.Table], twins: Mapping[str, Sequence[pa.Table]], *, permuted: str = "xy") -> pa.Table:
    """Return all estimates of a method in one table, with the effects of random-weight copies.

    Args:
        estimates: of the jobs, all with the same columns.
        twins: estimates of the copies with random weights of each model, by the name of the model.
        permuted: the sides that p_stimuli permutes (`prasanga.methods.Method`).

    Returns:
        The rows of `estimates`, with the columns of `compare_with_twins` from the copies' rows of the same category and
        length. A model's primary rows together show how much effects vary with the weights, and so do its rows of
        single lengths.
    """
    table = pa.concat_tables(estimates)
    beside: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for model, tables in twins.items():
        for twin in pa.concat_tables(tables).to_pylist():
            if twin["effect_size"] is not None:
                beside[_cell_of({**twin, "model": model})].append(twin)
    rows = table.to_pylist()
    cells: dict[tuple[str, bool], list[tuple[dict[str, Any], BesideTwins]]] = defaultdict(list)
    for row in rows:
        alike = [
            twin["effect_size"]
            for twin in beside[_cell_of(row)]
            if all(twin[f"n_{side}"] >= _KEPT * row[f"n_{side}"] for side in "xyab")
        ]
        n_x, n_y = (row[f"n_{side}"] for side in permuted)
        most = 2 * largest_effect(n_x, n_y, row["std"]) if alike and row["effect_size"] is not None else math.inf
        effect = row["effect_size"], row["ci_low"], row["ci_high"]
        cells[row["model"], is_primary(row)].append(
            (row, BesideTwins(*effect, alike, group=row["category"], most=most))
        )
    for alike_cells in cells.values():
        for (row, _), columns in zip(alike_cells, compare_with_twins([cell for _, cell in alike_cells]), strict=True):
            row |= columns
    return pa.Table.from_pylist(rows, schema=table.schema)


def is_primary(row: Mapping[str, Any]) -> bool:
    """Return whether an estimate has the one test of its category, model and method; rows of lengths describe."""
    return row.get("segment_length") in (None, MEAN)


def correct_tests(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Correct p of the primary estimates of all methods for their number, and say which effects are findings.

    A reader of all tables sees all tests, so the primary tests of a language are one family. Tests of a paper's own
    words are outside it, because they cannot become findings.

    Args:
        tables: by method, what `gather` returns.

    Returns:
        The tables with `p_association_holm`, `p_association_bh`, `n_tests`, `smallest_p_holm`, `is_found` and
        `not_found_because`; null in all other rows. `smallest_p_holm` is p after Holm's correction if every test had
        the smallest p that its words allow. Slopes on the length are another family, with `p_slope_holm` and
        `n_slopes`.
    """
    rows = {method: table.to_pylist() for method, table in tables.items()}
    estimates = [row for of_method in rows.values() for row in of_method]
    tested = [row for row in estimates if is_primary(row) and row["p_association"] is not None]
    tested = [row for row in tested if not row.get("as_published")]
    p, smallest = [row["p_association"] for row in tested], [row["smallest_p"] or 0.0 for row in tested]
    for row, p_holm, p_bh, least in zip(tested, holm(p), benjamini_hochberg(p), holm(smallest), strict=True):
        row |= {"p_association_holm": float(p_holm), "p_association_bh": float(p_bh), "n_tests": len(p)}
        row["smallest_p_holm"] = float(least)
    sloped = [row for of_method in rows.values() for row in of_method if row.get("p_slope") is not None]
    for row, p_holm in zip(sloped, holm([row["p_slope"] for row in sloped]).tolist(), strict=True):
        row |= {"p_slope_holm": p_holm, "n_slopes": len(sloped)}
    for of_method in rows.values():
        for row in of_method:
            if row["effect_size"] is not None and is_primary(row):
                row["not_found_because"] = why_not_found(row)
                row["is_found"] = not row["not_found_because"]
    return {method: pa.Table.from_pylist(rows[method], schema=tables[method].schema) for method in tables}


AS_PUBLISHED = "words as the paper has them, for comparison with its numbers only"
"""Why an effect of a paper's own words is never a finding."""
UNREACHABLE = "words too few for a small enough p"
"""Why an effect is no finding if no p could be significant after correction."""


def why_not_found(row: Mapping[str, Any]) -> str:
    """Return the first condition of a finding that an effect does not meet; empty if it meets all.

    A finding is about words of the study, not of a paper. It has enough words (units, if words form pairs or clusters),
    p of at most .05 after correction, and an interval over words that excludes zero, as must the interval over words
    and templates if it exists. With two random copies or more, it differs from their effects; that p is not corrected,
    because it can only remove findings.
    """
    names = ("smallest_p_holm", "p_association_holm", "p_twins", "ci_templates_low")
    smallest, p_holm, p_twins, of_templates = (finite_or_none(row.get(name)) for name in names)
    conditions = {
        AS_PUBLISHED: row.get("as_published"),
        "few words": has_few_words(row, "xyab"),
        UNREACHABLE: smallest is not None and smallest > ALPHA,
        "p_association after Holm's correction": p_holm is None or p_holm > ALPHA,
        "an interval that includes zero": not excludes_zero(row, "ci"),
        "an interval over templates that includes zero": of_templates is not None
        and not excludes_zero(row, "ci_templates"),
        "no difference from copies with random weights": p_twins is not None and p_twins > ALPHA,
    }
    return next((reason for reason, fails in conditions.items() if fails), "")


def has_few_words(row: Mapping[str, Any], sides: str) -> bool:
    """Return whether a set has fewer than `FEWEST_WORDS` words, or lost more than a third of its list."""
    counts = [(row.get(f"n_{side}"), row.get(f"listed_{side}")) for side in sides]
    return any(
        used < FEWEST_WORDS or 3 * used < 2 * listed
        for used, listed in counts
        if used is not None and listed is not None
    )


def excludes_zero(row: Mapping[str, Any], name: str) -> bool:
    """Return whether the interval `<name>_low` to `<name>_high` is there and excludes zero."""
    low, high = (finite_or_none(row[f"{name}_{end}"]) for end in ("low", "high"))
    return low is not None and high is not None and (low > 0 or high < 0)


CSV_COLUMNS = {
    name: {"p_association_holm": "p_holm"}.get(name, name)
    for name in (
        *("language", "category", "category_title", "model", "segment_length", "effect_size", "ci_low", "ci_high"),
        *("reason", "p_stimuli", "p_attributes", "p_association", "p_association_holm", "n_tests", "twin_effect_size"),
        *("p_twins", "is_found", "n_x", "n_y", "n_a", "n_b", "lost", "not_found_because"),
    )
}
"""Columns of CSV tables, with their names there; Parquet has all columns."""


def select_for_csv(table: pa.Table, language: str) -> pl.DataFrame:
    """Return the columns of CSV tables."""
    frame = join_losses(pl.DataFrame(table)).with_columns(language=pl.lit(language))
    return frame.select(pl.col(name).alias(shown) for name, shown in CSV_COLUMNS.items() if name in frame.columns)


# --------------------
# Effects among words that are alike in frequency and in pieces: `adjusted_difference` with words as rows.


_COVARIATES = {"occurrences": "corpus frequency", "n_pieces": "number of pieces"}


def adjust(
    estimates: pa.Table, words: pa.Table, coverage: Sequence[pa.Table], tokenizers: Mapping[str, pa.Table]
) -> tuple[pa.Table, pa.Table]:
    """Return the tables of a method with frequency and pieces of each word, and effects among words alike in both.

    Args:
        estimates: of the study; an adjusted effect needs the column of the difference of means.
        words: each word of these estimates.
        coverage: the table of samples, with the corpus frequency of each stimulus; may be absent.
        tokenizers: by model, the pieces of the forms of each stimulus.

    Returns:
        `estimates` and `words`. If X or Y has fewer than `FEWEST_WORDS` words with both numbers, the adjusted effect is
        missing, and `adjusted_note` says why; it also names a covariate that is unknown, or the same for all words.
    """
    rows = words.to_pylist()
    occurrences = {word: n for table in coverage for word, n in _iterate(table, "stimulus", "occurrences")}
    pieces = {model: dict(_iterate(table, "stimulus", "pieces_per_form")) for model, table in tokenizers.items()}
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
            row |= _adjust_effect(row, of_row)
    return pa.Table.from_pylist(found, schema=estimates.schema), with_words


def _adjust_effect(estimate: Mapping[str, Any], targets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the columns of the effect among similar words, from the rows of the target words, or why it is missing."""
    words = pl.DataFrame([{name: row[name] for name in ("role", "association", *_COVARIATES)} for row in targets])
    used = [name for name in _COVARIATES if words[name].null_count() < len(words)]
    notes = [f"{said} is not known" for name, said in _COVARIATES.items() if name not in used]
    known = words.drop_nulls(used) if used else words
    for role in ("x", "y") if used else ():
        n = int((known["role"] == role).sum())
        if n < FEWEST_WORDS:
            what = " and ".join(_COVARIATES[name] for name in used)
            return {
                "adjusted_note": f"not adjusted: set {role.upper()} has {n} word{'' if n == 1 else 's'} with {what},"
                f" and a regression over words needs {FEWEST_WORDS} in either set"
            }
    varying = [name for name in used if known[name].n_unique() > 1]
    notes += [f"{_COVARIATES[name]} is the same for all words" for name in used if name not in varying]
    if not varying:
        return {"adjusted_note": f"not adjusted: {', '.join(notes)}"}
    if len(known) < len(words):
        notes.append(f"{len(words) - len(known)} of {len(words)} words are left out, of which it is not known")
    covariates = known.select(pl.col(name).log1p() if name == "occurrences" else pl.col(name) for name in varying)
    try:
        found = adjusted_difference(known["association"], known["role"] == "x", covariates.to_numpy())
    except InputError:
        return {"adjusted_note": "not adjusted: words of X and Y cannot be told from frequent and rare, long and short"}
    # in units of d: the same share of the effect as of the difference
    difference, effect = estimate["difference"], estimate["effect_size"]
    comparable = difference * effect > 0 and abs(difference) > COSINE_NOISE
    return {
        **{"difference_adjusted": found.difference, "adjusted_low": found.low, "adjusted_high": found.high},
        "effect_adjusted": effect * found.difference / difference if comparable else None,
        "adjusted_note": "; ".join(notes) or None,
    }


# --------------------
# Differences between estimates of one category: between segment lengths of a model, and between models at a length.
#
# Overlapping intervals do not show that two effects are equal: estimates with the same words rise and fall together
# when words are resampled, and their difference varies less than either. So resample number i of one estimate is
# compared with resample number i of the other, which counts each word as often, and the differences give the interval.
# Estimates with different words (one lost a word without contexts) are not paired; their difference has no interval.
#
# Models are compared once per category, over the fixed lengths, by a test of their words' differences; these tests are
# a separate family.


def differences(
    estimates: pa.Table,
    resamples: pa.Table,
    words: pa.Table,
    categories: Mapping[str, Mapping[str, Any]],
    *,
    models: Sequence[str] | None = None,
) -> pa.Table:
    """Return all paired differences of a study: the table `differences`.

    `kind` is `length` (`first` and `second` are segment lengths of `model`, from short to long, and `segment_length` is
    null) or `model` (they are models at `segment_length`, or over the fixed lengths where that is mean, and `model` is
    null). `note` says why the difference or its interval is missing, or has a caution. Models over the fixed lengths
    also have a p, and the same with Holm's correction for their number.

    Args:
        estimates: the table `ceat`. The reason for a missing interval of an estimate also holds for its differences.
        resamples: the table `resamples`. An estimate without a row here gets no intervals.
        words: the table `ceat_words`.
        categories: by name, in the layout of `categories.json`.
        models: in the order of `first` and `second`; None takes them as `estimates` has them.
    """
    on = [*_CELL]
    of_words = pl.DataFrame(words).filter(segment_length=MEAN).partition_by("category", "model", as_dict=True)
    drawn = pl.DataFrame(resamples).select(*on, "words", "replicates", of_replicates="effect_size")
    settings = ("statistic", "n_permutations", "seed")
    effects = pl.DataFrame(estimates).select(*on, "effect_size", "ci_low", "interval_note", *settings)
    cells: dict[str, dict[tuple[str, str], dict[str, Any]]] = defaultdict(dict)
    for row in effects.join(drawn, on=on, how="left", maintain_order="left").iter_rows(named=True):
        cells[row["category"]][row["model"], row["segment_length"]] = row
    known = effects["model"].unique(maintain_order=True).to_list() if models is None else models
    lengths = sort_lengths(effects["segment_length"])
    kinds = (  # what is the same, and what differs, in the cells that are compared
        ("length", "model", "segment_length", [[(model, length) for length in lengths] for model in known]),
        ("model", "segment_length", "model", [[(model, length) for model in known] for length in (MEAN, *lengths)]),
    )
    rows: list[dict[str, Any]] = []
    with progress("comparing lengths and models", len(cells), "categories") as done:
        for category, there in done.over(cells.items()):
            for kind, same, differs, groups in kinds:
                compared = (combinations([there[key] for key in group if key in there], 2) for group in groups)
                for one, other in chain.from_iterable(compared):
                    first, second = one[differs], other[differs]
                    row = {"kind": kind, "category": category, same: one[same], "first": first, "second": second}
                    row |= _subtract(first, one, second, other)
                    if row.get("segment_length") == MEAN and row.get("ci_low") is not None:
                        tables = of_words[category, first], of_words[category, second]
                        row["p_difference"] = _test_models(categories[category], *tables, row, one)
                    rows.append(row)
    tested = [row for row in rows if row.get("p_difference") is not None]
    for row, p_holm in zip(tested, holm([row["p_difference"] for row in tested]).tolist(), strict=True):
        row |= {"p_difference_holm": p_holm, "n_tests": len(tested)}
    return pa.Table.from_pylist(rows, schema=TABLES["differences"].arrow())


def _test_models(
    layout: Mapping[str, Any],
    first: pl.DataFrame,
    second: pl.DataFrame,
    row: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> float | None:
    """Return p of the difference of two models in a category, two-sided; None with too few clusters on a side.

    Each model's associations, means over contexts, are divided by their standard deviation. The statistic is the mean
    difference of the words of X minus the mean of Y. It does not depend on the scatter of contexts, so its sign may
    differ from the difference of effects, which does. The hypothesis is that words' differences are exchangeable
    between the sets; p is the larger of targets and attributes, as for an effect.
    """
    used = [first.filter(role=role)["stimulus"].to_list() for role in "xyab"]
    n, found = len(used[0]) + len(used[1]), []
    scores = [table["association"].to_numpy() / table["association"][:n].std() for table in (first, second)]
    units = category_of(row["category"], layout).units(used)
    how: dict[str, Any] = {"alternative": "two-sided", "statistic": settings["statistic"], "noise": COSINE_NOISE}
    for side, differences in zip(units, np.split(scores[1] - scores[0], [n]), strict=True):
        rng = generator(settings["seed"], "p_difference", row["category"], row["first"], row["second"])
        found.append(side.test(differences, n_resamples=settings["n_permutations"], rng=rng, **how).p_value)
    return None if any(side.are_few for side in units) else max(found)


def sort_lengths(labels: Iterable[str]) -> list[str]:
    """Return the labels of segment lengths but `MEAN`, each once, from short to long; ">75" comes after "75"."""
    return sorted({*labels} - {MEAN}, key=lambda label: (int(label.removeprefix(">")), label.startswith(">")))


def fixed_lengths(labels: Iterable[str]) -> list[str]:
    """Return the lengths of primary estimates, from short to long: the fixed ones, or else all.

    A length such as >75 has other texts.
    """
    lengths = sort_lengths(labels)
    return [length for length in lengths if not length.startswith(">")] or lengths


def _subtract(first: str, one: Mapping[str, Any], second: str, other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the difference of two effects with its interval, or a note on why one is missing."""
    effects = {first: finite_or_none(one["effect_size"]), second: finite_or_none(other["effect_size"])}
    row: dict[str, Any] = {"effect_first": effects[first], "effect_second": effects[second]}
    if missing := [name for name, effect in effects.items() if effect is None]:
        return {**row, "note": f"no effect of {' and '.join(missing)}"}
    difference = row["difference"] = row["effect_second"] - row["effect_first"]
    for name, each in ((first, one), (second, other)):
        if each["ci_low"] is None and each["interval_note"]:
            return {**row, "note": f"{name}: {each['interval_note']}"}
        if each["of_replicates"] is None or not each["replicates"]:
            return {**row, "note": f"{name}: no resamples"}
    if one["words"] != other["words"]:
        return {**row, "note": f"no interval: {first} and {second} were not measured with the same words"}
    ours, theirs = (np.asarray(each["replicates"], np.float64) for each in (one, other))
    found = difference_interval(theirs, ours, other["of_replicates"], one["of_replicates"])
    row["note"] = found.note or None
    if found.low is not None and found.high is not None:
        # The reported effects use more draws than the replicates: the interval is around their difference.
        shift = difference - (other["of_replicates"] - one["of_replicates"])
        row |= {"ci_low": found.low + shift, "ci_high": found.high + shift}
    return row


# --------------------
# The segment length at which the effect of a category settles.
#
# The effect has settled at the shortest length such that there and at all longer ones it is within a band around the
# effect at the longest. That is about the estimates. It is sure if the paired intervals of the differences to the
# longest length are within the band as well.


_CURVE = ("category", "model")


def settling(estimates: pa.Table, differences: pa.Table, *, band: float) -> pa.Table:
    """Return the length at which each effect has settled: the table `settling`, in the order of `estimates`.

    The longest length is the last one that has an effect. `settled_length` is null where the effect had not settled
    before, or with a single length. `sure`: the intervals of the differences from `settled_length` on are within the
    band; false without an interval; null without a settled length.

    Args:
        estimates: with the columns category, model, segment_length, effect_size.
        differences: the table of `differences`.
        band: distance from the effect at the longest length that is small enough.

    Raises:
        InputError: a band of 0 or less.
    """
    effects: dict[Any, dict[str, float | None]] = defaultdict(dict)
    for *curve, length, effect in _iterate(estimates, *_CURVE, "segment_length", "effect_size"):
        effects[tuple(curve)][length] = finite_or_none(effect)
    within = pl.DataFrame(differences).filter(pl.col("kind") == "length", pl.col("ci_low", "ci_high").abs() <= band)
    sure = {*within.select(*_CURVE, "first", "second").iter_rows()}
    order = comparable_lengths(estimates["segment_length"].to_pylist())
    rows = []
    for curve, own in effects.items():
        there = [length for length in order if length in own]
        while len(there) > 1 and own[there[-1]] is None:
            there.pop()
        if not there:
            continue
        last = own[there[-1]]
        distances = [None if last is None or (effect := own[length]) is None else effect - last for length in there]
        known, settled = [abs(each) for each in distances if each is not None], find_settled(distances, band)
        row = dict(zip(_CURVE, curve, strict=True)) | {"band": band, "longest": there[-1] if known else None}
        row["largest_distance"] = max(known) if len(known) > 1 else None
        if settled is not None:
            row["settled_length"] = there[settled]
            row["sure"] = all((*curve, length, there[-1]) in sure for length in there[settled:-1])
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=TABLES["settling"].arrow())


def comparable_lengths(labels: Iterable[str]) -> list[str]:
    """Return the lengths at which an effect can settle, from short to long: the fixed ones, if there are two or more.

    A length such as >75 has other contexts, so the distance to it depends on texts too; the table of differences has
    it.
    """
    lengths = sort_lengths(labels)
    fixed = fixed_lengths(lengths)
    return fixed if len(fixed) > 1 else lengths


# --------------------
# Agreement of methods: Kendall's tau of every two over categories and models.
#
# Units and texts differ between methods, so only rankings are compared. tau is the share of pairs of points in the same
# order minus the share in the opposite order, corrected for ties (tau-b; Kendall 1945, The treatment of ties in ranking
# problems). Two methods may agree for other reasons than learning, such as spelling. The floor is the tau of the
# models' random-weight copies.


FEWEST_RANKS = 3
"""Points needed for a rank correlation."""


def agreement(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return how far every two methods agree about the order of categories and models.

    A point is a category of a model that both methods measure. Without a common model, as for WEAT, it is a category,
    and its effects are means over models. Estimates of few words do not count.

    Args:
        estimates: the table `methods`.

    Returns:
        The table `agreement` of the registry. tau's 95% interval comes from a jackknife that leaves out a category with
        all its points (Arvesen 1969), and needs eight categories. `same_sign` is the share of points in which both
        signs agree. `twin_tau` is tau of the twins' effects (or, if only one method has twins, with the other's
        effects). Without three points that differ, tau is null.
    """
    enough = estimates.filter(pl.col("few_words") == "")
    rows = []
    for one, other in combinations(enough["method"].unique(maintain_order=True), 2):
        effects, twins = (
            [
                enough.filter(pl.col(column).is_finite(), method=method).select("category", "model", effect=column)
                for method in (one, other)
            ]
            for column in ("effect_size", "twin_effect_size")
        )
        points, has_twins = _pair_effects(*effects), any(map(len, twins))
        floor = _pair_effects(*(twin if len(twin) else effect for twin, effect in zip(twins, effects, strict=True)))
        low, high = _jackknife_tau(points)
        models = [set(each["model"]) for each in effects]
        rows.append(
            {
                **{"method_1": one, "method_2": other, "n_points": len(points)},
                **{"n_categories": points["category"].n_unique(), "n_models": len(models[0] & models[1]) or None},
                **{"tau": kendall_tau(points["first"], points["second"]), "tau_low": low, "tau_high": high},
                "same_sign": (points["first"] * points["second"] > 0).mean(),
                "twin_tau": kendall_tau(floor["first"], floor["second"]) if has_twins else None,
            }
        )
    return pl.DataFrame(rows, schema=TABLES["agreement"].polars)


def kendall_tau(first: Sequence[float] | pl.Series, second: Sequence[float] | pl.Series) -> float | None:
    """Return Kendall's tau-b of two lists of numbers; None with fewer than three, or if one list is constant."""
    from scipy.stats import kendalltau  # here, because it takes longer to import than the rest of the package

    tau = float(kendalltau(first, second).statistic) if len(first) >= FEWEST_RANKS else float("nan")
    return None if np.isnan(tau) else tau


def _pair_effects(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Return the category and both effects of each point, `first` and `second`."""
    key = ["category", "model"]
    if not set(first["model"]) & set(second["model"]):
        key = ["category"]
        first, second = (
            each.group_by(key, maintain_order=True).agg(pl.col("effect").mean()) for each in (first, second)
        )
    return first.join(second, on=key, maintain_order="left").select("category", first="effect", second="effect_right")


def _jackknife_tau(points: pl.DataFrame) -> tuple[float | None, float | None]:
    """Return the ends of the interval of tau from leaving out each category."""
    names, tau = points["category"].unique().sort(), kendall_tau(points["first"], points["second"])
    kept = [points.filter(pl.col("category") != name) for name in names]
    without = np.array([kendall_tau(each["first"], each["second"]) for each in kept], dtype=np.float64)
    if len(names) < FEWEST_WORDS or tau is None or np.isnan(without).any():
        return None, None
    from scipy.special import stdtrit

    half = float(stdtrit(len(names) - 1, 0.975) * np.sqrt(jackknife_variance(without)))
    return max(-1.0, tau - half), min(1.0, tau + half)
