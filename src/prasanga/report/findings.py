"""What the tables of a study say, in plain sentences that carry their uncertainty and their limits with them.

Each function makes one finding from a table, or none where it does not apply. The sentences claim what the numbers
allow: the interval and the p of words ask about other words, p_draws only about other draws from the same contexts. The
direction of an effect is told where both say so (`is_found`); of few words nothing is told but that they are few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from statistics import median
from typing import Any, NamedTuple

import polars as pl

from prasanga.base.parquet import remade_by, require_columns
from prasanga.losses import Reason
from prasanga.methods import FEWEST_WORDS
from prasanga.report.ceat_table import HOLM
from prasanga.report.grid import (
    ALPHA,
    Estimate,
    Grid,
    excludes_zero,
    few_words,
    grid_of,
    is_number,
    names_of_sets,
    why_missing,
)
from prasanga.report.sheet import equals_probability, from_twins, plain, two

P = HOLM.column.removesuffix("_holm")
"""The p of words by which an effect is significant; corrected, it is what `HOLM` marks by."""

NEEDED_OF_SETTLING = (
    *("category", "model", "sample_mode", "band", "settled_length", "longest", "largest_distance", "sure"),
)
"""The columns without which a table of settling says nothing."""


def headline_findings(ceat: pl.DataFrame) -> list[str]:
    """Return all findings that apply, the most important first."""
    kinds: Sequence[Callable[[pl.DataFrame], str | None]] = (
        *(largest_association, largest_opposite_association, direction_across_models, significance, not_found),
        *(known_to_be_small, change_with_length, null_controls, fixed_against_random, significance_of_draws),
        *(fewest_contexts, of_few_words, not_computed),
    )
    return [sentence for kind in kinds if (sentence := kind(ceat))]


def is_found(row: Estimate) -> bool:
    """Return whether an association was found, so that its direction may be told (`why_not_found`)."""
    return not why_not_found(row)


def why_not_found(row: Estimate) -> str:
    """Return the first condition of a finding that an estimate does not meet; empty if it meets all.

    A finding has enough words, p of at most .05 after correction, an interval over words that excludes zero, and, where
    there is one, an interval over words and templates that does. Where random copies were measured, it differs from
    theirs.
    """
    if few_words(row):
        return "few words"
    if not HOLM.marks(row):
        return f"{P} after Holm's correction"
    if not excludes_zero(row, "ci"):
        return "an interval that includes zero"
    if is_number(row.get("ci_templates_low")) and not excludes_zero(row, "ci_templates"):
        return "an interval over templates that includes zero"
    if is_number(p := row.get("p_twins")) and p > ALPHA:
        return "no difference from copies with random weights"
    return ""


RULE = (
    f"{P} < .05 after Holm's correction, intervals that exclude zero, and a difference from random copies where these"
    " were measured (p_twins at most .05)"
)
"""What a finding is, in a sentence."""


def other_method(method: str, table: pl.DataFrame) -> str | None:
    """Return what a table of SEAT or WEAT says: in how many rows an association was found, and the largest of these.

    Args:
        method: its name as a reader sees it.
        table: its estimates, corrected for their number.
    """
    computed = [row for row in table.iter_rows(named=True) if is_number(row["effect_size"])]
    missing = len(table) - len(computed)
    if not computed:
        return f"{method}: none of {missing} rows could be computed." if missing else None
    rows = [row for row in computed if not few_words(row)]
    if not rows:
        return f"{method}: none of {len(computed)} rows has enough words for a finding."
    found, others = ([row for row in rows if is_found(row) == wanted] for wanted in (True, False))
    left = {"of few words": len(computed) - len(rows), "not computed": missing}
    more = ", ".join(f"{n} more {why}" for why, n in left.items() if n)
    of = f"{len(rows)} {_verb(len(rows), 'row', 'rows')}{f' ({more})' if more else ''}"
    would = f"; {_detectable(others)}." if others else ""
    held = _held_back(others)
    near = _near_zero({f"{row['category']}, {row['model']}": [row] for row in others}, "row", "rows")
    held += f" {near}" if near else ""
    if not found:
        return f"{method}: no association was found in {of}{would}{held}"
    row = max(found, key=_size)
    return (
        f"{method}: an association was found in {len(found)} of {of}, that is {RULE}; the"
        f" largest is {two(row['effect_size'])} ({row['category']}, {row['model']};"
        f" 95 % interval over words {two(row['ci_low'])} to {two(row['ci_high'])}{from_twins(row, 2)}):"
        f" {_in_words(row['effect_size'], *names_of_sets(row))}."
        f"{f' In the others none was found{would}' if others else ''}{held}"
    )


def sides_of(effect: float, x: str, y: str, a: str, b: str) -> tuple[str, str, str, str]:
    """Return the sets in the order in which the sign of an effect names them: x, more than y, are with the third."""
    return (x, y, a, b) if effect > 0 else (x, y, b, a)


def _in_words(effect: float, *sets: str) -> str:
    """Return what the sign of an effect means."""
    x, y, kept, other = sides_of(effect, *sets)
    return f"{x}, more than {y}, are associated with {kept} rather than {other}"


def _held_back(rows: Sequence[Estimate]) -> str:
    """Return how many significant estimates are no finding, and why."""
    reasons = Counter(why_not_found(row) for row in rows if HOLM.marks(row) and not is_found(row))
    return "".join(
        f" {n} {_verb(n, 'has', 'have')} {P} < .05 after Holm's correction, but {why}." for why, n in reasons.items()
    )


class Detectable(NamedTuple):
    """Which effects the permutation test of words finds in 80% of studies, at .05 divided by `n_tests`.

    `sizes` are ascending; in `n_without` estimates it finds none of any size.
    """

    sizes: tuple[float, ...]
    n_without: int
    n_tests: int

    @property
    def median(self) -> float:
        """The median size; there must be one."""
        return median(self.sizes)


def detectable(rows: Sequence[Estimate]) -> Detectable:
    """Return the detectable sizes of estimates that were computed."""
    sizes = sorted(size for row in rows if is_number(size := row.get("smallest_effect")))
    return Detectable(tuple(sizes), len(rows) - len(sizes), max((row.get("n_tests") or 1 for row in rows), default=1))


def _detectable(rows: Sequence[Estimate]) -> str:
    """Return which effects so many words find, as the end of a sentence."""
    found = detectable(rows)
    level = f".05 / {found.n_tests}, for {found.n_tests} tests" if found.n_tests > 1 else ".05"
    if not found.sizes:
        return f"with so few words the permutation test of words finds no effect of any size at {level}"
    low, high = found.sizes[0], found.sizes[-1]
    size = f"{found.median:.2f} (median, {low:.2f} to {high:.2f})" if high > low else f"{low:.2f}"
    without = f"; in {found.n_without} of {len(rows)} estimates it finds none of any size" if found.n_without else ""
    return (
        f"with these words the permutation test of words finds an effect of {size} in 80% of studies, at"
        f" {level}{without}"
    )


def by_chance(tests: int) -> str:
    """Return how many of so many tests are below `ALPHA` where there is nothing to be found, in words."""
    expected = ALPHA * tests
    return f"about {expected:.0f}" if expected >= 1.5 else "about one" if expected >= 0.5 else "fewer than one"


def significance(ceat: pl.DataFrame) -> str | None:
    """Return how many estimates have p < .05, before and after Holm's correction."""
    rows = _computed(ceat)
    p_values = [row[P] for row in rows if is_number(row[P])]
    if not p_values:
        return None
    total, remaining = len(p_values), sum(map(HOLM.marks, rows))
    n_tests = next((row["n_tests"] for row in rows if is_number(row.get("n_tests"))), total)
    family = f"the {n_tests} tests of the study" if n_tests > total else f"{n_tests} tests"
    expected = by_chance(total)
    at_most = "" if expected.startswith("fewer") else "at most "
    return (
        f"{_of(_count_below(p_values), total)} {P} < .05, uncorrected; {at_most}{expected} would be"
        f" expected if the target words or the attribute words made no difference. With Holm's correction for {family},"
        f" {remaining} {_verb(remaining, 'remains', 'remain')}. Estimates that share words are not independent of each"
        " other."
    )


def largest_association(ceat: pl.DataFrame) -> str | None:
    """Return the strongest association that was found, with its interval over words and its p."""
    found = list(filter(is_found, _computed(ceat)))
    if not found:
        return None
    limit = f" As the largest of {len(found)} found, it is likely to be overestimated." if len(found) > 1 else ""
    return (
        f"An association was found in {len(found)} of {len(_computed(ceat))} estimates, that is {RULE}. The largest is"
        f" {_in_full(max(found, key=_size))}{limit}"
    )


def largest_opposite_association(ceat: pl.DataFrame) -> str | None:
    """Return the strongest association found whose sign is the other one."""
    found = list(filter(is_found, _computed(ceat)))
    largest = max(found, key=_size, default={"effect_size": 0.0})["effect_size"]
    opposite = max((row for row in found if row["effect_size"] * largest < 0), key=_size, default=None)
    return None if opposite is None else f"The largest of the opposite sign is {_in_full(opposite)}"


def not_found(ceat: pl.DataFrame) -> str | None:
    """Return which associations were looked for and not found, and which sizes so many words find."""
    without = _without_association(ceat)
    if not without:
        return None
    said = [f"{(sets := names_of_sets(rows[0]))[0]} with {sets[2]} ({name})" for name, rows in without.items()]
    sizes = _detectable([row for rows in without.values() for row in rows])
    held = _held_back([row for rows in without.values() for row in rows])
    return (
        f"No association was found of {', of '.join(said)}: none has at any length and by any model {RULE}. Words set"
        f" the limit: {sizes}.{held}"
    )


def known_to_be_small(ceat: pl.DataFrame) -> str | None:
    """Return where effects are shown to be near 0, and where the words are too few to know."""
    where = " at every length and by every model"
    return _near_zero(_without_association(ceat), "category", "categories", where) or None


def _without_association(ceat: pl.DataFrame) -> dict[str, list[Estimate]]:
    """Return the estimates of each category in which none was found."""
    rows: dict[str, list[Estimate]] = {}
    for row in _computed(ceat):
        rows.setdefault(row["category"], []).append(row)
    return {category: of_category for category, of_category in rows.items() if not any(map(is_found, of_category))}


_NAMED = 6
"""Of a longer list the first are named."""


def is_near_zero(row: Estimate) -> bool:
    """Return whether an effect is shown to lie within the margin that counts as no association, or no preference."""
    p = row.get("p_equivalence")
    return isinstance(p, float) and p < ALPHA


def _near_zero(groups: Mapping[str, Sequence[Estimate]], one: str, many: str, where: str = "") -> str:
    """Return in how many groups of estimates without an association all are near 0, and how far the others may be."""
    known = {name: rows for name, rows in groups.items() if is_number(rows[0].get("equivalence_margin"))}
    if not known:
        return ""
    margin = f"within \N{PLUS-MINUS SIGN}{next(iter(known.values()))[0]['equivalence_margin']:g} of 0{where}"
    near = [name for name, rows in known.items() if all(map(is_near_zero, rows))]
    reached = [row["equivalent_within"] for name, rows in known.items() if name not in near for row in rows]
    reached = [reach for reach in reached if is_number(reach)]
    reach = f": 90 % intervals reach as far as \N{PLUS-MINUS SIGN}{max(reached):.2f}" if reached else ""
    total = f"{len(known)} {_verb(len(known), one, many)} without an association"
    if not near:
        return (
            f"{total} {_verb(len(known), 'is', 'are')} not shown to lie {margin}; the words are too few to know{reach}."
        )
    others = f" In the others the words are too few to know{reach}." if len(near) < len(known) else ""
    more = f" and {len(near) - _NAMED} more" if len(near) > _NAMED else ""
    listed = f" ({', '.join(near[:_NAMED])}{more}; p_equivalence < .05)"
    return f"{len(near)} of {total} {_verb(len(near), 'lies', 'lie')} {margin}{listed}.{others}"


def change_with_length(ceat: pl.DataFrame) -> str | None:
    """Return how effects move from the shortest to the longest segment length, in the first sample mode."""
    grid = grid_of(ceat)
    shortest, longest, mode = grid.lengths[0], grid.lengths[-1], grid.modes[0]
    pairs = [
        (here, there)
        for category, model in product(grid.categories, grid.models)
        if (here := _at(grid, category.name, model, shortest, mode))
        and (there := _at(grid, category.name, model, longest, mode))
    ]
    if shortest == longest or not pairs:
        return None
    effects = [(here["effect_size"], there["effect_size"]) for here, there in pairs]
    changes = [abs(after - before) for before, after in effects]
    known = [pair for pair, rows in zip(effects, pairs, strict=True) if all(map(is_found, rows))]
    turned = sum(after * before < 0 for before, after in known)
    most = changes.index(max(changes))
    row, (before, after) = pairs[most][0], effects[most]
    return (
        f"From {shortest} to {longest} words ({mode} draws) the effect grows in size in"
        f" {sum(abs(after) > abs(before) for before, after in effects)} of {len(pairs)}"
        f" combinations of category and model; an association is found at both lengths in {len(known)} of them"
        f"{f', and changes its direction in {turned}' if known else ''}. The change is {median(changes):.2f} in the"
        f" median, and largest in {row['category']} with {row['model']}: from {two(before)} to"
        f" {two(after)}. {_texts_of_lengths(row, shortest, longest)}"
    )


def null_controls(ceat: pl.DataFrame) -> str | None:
    """Return which effects are more than models without bias have, and than attributes dealt anew give."""
    rows = _computed(ceat)
    compared = [row for row in rows if is_number(row.get("p_twins"))]
    outside = [
        not row["shuffled_low"] <= row["effect_size"] <= row["shuffled_high"]
        for row in rows
        if is_number(row.get("shuffled_low"))
    ]
    said = []
    if compared:
        size = median(abs(row["twin_effect_size"]) for row in compared)
        differ = _of(_count_below([row["p_twins"] for row in compared]), len(compared))
        said.append(
            f"Twins with random weights have learned nothing; the mean of a model's has a size of {size:.2f} in"
            f" the median. {differ} p_twins < .05, uncorrected, for the difference from them; what has not cannot be"
            " told from models that have learned nothing."
        )
    if outside:
        said.append(
            f"{sum(outside)} of {len(outside)} effects {_verb(sum(outside), 'lies', 'lie')} outside the range that 95 %"
            " of random divisions of the attribute words give."
        )
    return " ".join(said) or None


def direction_across_models(ceat: pl.DataFrame) -> str | None:
    """Return where models disagree about the direction of an association that was found, in the first sample mode."""
    grid = grid_of(ceat)
    if len(grid.models) < 2:
        return None
    mode = grid.modes[0]
    compared = disagree = 0
    for category, length in product(grid.categories, grid.lengths):
        rows = (_at(grid, category.name, model, length, mode) for model in grid.models)
        effects = [row["effect_size"] for row in rows if row and is_found(row)]
        compared += len(effects) > 1
        disagree += len(effects) > 1 and min(effects) < 0 < max(effects)
    if not compared:
        return None
    who = "The two models disagree" if len(grid.models) == 2 else f"Not all {len(grid.models)} models agree"
    return (
        f"{who} about the direction of the association in {disagree} of {compared} combinations of category and segment"
        f" length in which {'both' if len(grid.models) == 2 else 'several of them'} show one ({mode} draws)."
    )


def fixed_against_random(ceat: pl.DataFrame) -> str | None:
    """Return how far fixed and random draws lie apart."""
    grid = grid_of(ceat)
    apart = {
        f"{row['category']}, {row['model']}, {row['segment_length']} words": _size(row, there)
        for row in _computed(ceat)
        if row["sample_mode"] == "fixed"
        and (there := _at(grid, row["category"], row["model"], row["segment_length"], "random"))
    }
    if not apart:
        return None
    return (
        f"Fixed and random draws give effects that differ by {median(apart.values()):.3f} in the median and by"
        f" {max(apart.values()):.3f} at most ({max(apart, key=lambda place: apart[place])})."
    )


def significance_of_draws(ceat: pl.DataFrame) -> str | None:
    """Return how many estimates have p_draws < .05, and why that is no finding about bias."""
    p_values = [row["p_draws"] for row in _computed(ceat) if is_number(row["p_draws"])]
    if not p_values:
        return None
    return (
        f"{_of(_count_below(p_values), len(p_values))} p_draws < .05, the p that the paper reports. It asks whether"
        " other draws from the same contexts would agree, not whether other words would, and falls as the number of"
        " draws grows: by itself it is no evidence of a bias."
    )


def fewest_contexts(ceat: pl.DataFrame) -> str | None:
    """Return the smallest number of contexts that a stimulus of any estimate has, and how many stimuli have none."""
    rows = [row for row in _computed(ceat) if is_number(row["contexts_min"])]
    if not rows:
        return None
    row = min(rows, key=lambda row: int(row["contexts_min"]))
    least = int(row["contexts_min"])
    without = {
        loss["word"]
        for each in ceat.iter_rows(named=True)
        for loss in each["lost"] or ()
        if loss["reason"] in (Reason.NO_CONTEXTS, Reason.NO_COMMON_CONTEXTS)
    }
    n = len(without)
    none = f" {n} {_verb(n, 'stimulus has', 'stimuli have')} none in some estimate, which does without." if n else ""
    return (
        f"Every stimulus used has at least {least} context{'' if least == 1 else 's'} (fewest:"
        f" {row['category']}, {row['model']}, {row['segment_length']} words).{none}"
    )


def of_few_words(ceat: pl.DataFrame) -> str | None:
    """Return which estimates rest on few words, so that nothing else here speaks of them."""
    n, total, listed = _where(ceat, few_words, "{category} {said} ({where})")
    if not n:
        return None
    return (
        f"{n} of {total} estimates {_verb(n, 'rests', 'rest')} on few words, fewer than {FEWEST_WORDS}"
        f" in a set or under two thirds of its list, and no other finding counts {_verb(n, 'it', 'them')}: {listed}."
    )


def not_computed(ceat: pl.DataFrame) -> str | None:
    """Return which estimates are missing, and why."""
    n, total, listed = _where(ceat, why_missing, "{category} ({where}): {said}")
    return f"{n} of {total} estimates could not be computed. {listed}." if n else None


def _where(ceat: pl.DataFrame, say: Callable[[Estimate], str], template: str) -> tuple[int, int, str]:
    """Return of how many estimates something is to be said, of how many, and what, with the first place of each."""
    grid = grid_of(ceat)
    found: dict[tuple[str, str], list[str]] = {}
    for (category, model, length, mode), estimate in grid.estimates.items():
        if said := say(estimate):
            found.setdefault((category, said), []).append(f"{model}, {length} words, {mode}")
    listed = []
    for (category, said), (first, *others) in found.items():
        where = f"{first} and {len(others)} more" if others else first
        listed.append(template.format(category=category, said=said, where=where))
    return sum(map(len, found.values())), len(grid.estimates), "; ".join(listed)


def findings_of_differences(differences: pl.DataFrame, settling: pl.DataFrame) -> Iterator[str]:
    """Yield how many differences between lengths and models are larger than chance, and where effects settle.

    Raises:
        InputError: a column is missing.
    """
    require_columns("differences", differences, ("kind", "ci_low", "ci_high"), remade_by("associations"))
    require_columns("settling", settling, NEEDED_OF_SETTLING, remade_by("associations"))
    for kind, what in (("length", "between two lengths of a model"), ("model", "between two models at a length")):
        known = differences.filter((pl.col("kind") == kind) & pl.col("ci_low").is_not_null())
        if len(known):
            apart = known.filter((pl.col("ci_low") > 0) | (pl.col("ci_high") < 0))
            yield (
                f"Of {len(known)} {_verb(len(known), 'difference', 'differences')} {what}, {len(apart)}"
                f" {_verb(len(apart), 'has', 'have')} a paired 95 % interval that excludes zero;"
                f" {by_chance(len(known))} would without any difference."
            )
    known = settling.filter(pl.col("largest_distance").is_not_null())
    if len(known):
        settled = known.filter(pl.col("settled_length").is_not_null())
        yield (
            f"In {len(settled)} of {len(known)} rows of category, model and draws{_not_among(settling)} the effect"
            f" settles before the longest length: from there on it stays within {known['band'][0]:g} of the last one."
            f"{_how_sure(len(settled), len(settled.filter(pl.col('sure'))))}"
        )


def _computed(ceat: pl.DataFrame) -> list[Estimate]:
    """Return the estimates that have a number and do not rest on few words, in reading order."""
    grid = grid_of(ceat)
    every = product(grid.places, grid.modes)
    rows = (_at(grid, category.name, model, length, mode) for (category, model, length), mode in every)
    return [row for row in rows if row]


def _at(grid: Grid, category: str, model: str, length: str, mode: str) -> Estimate | None:
    """Return an estimate that has a number and does not rest on few words."""
    row = grid.at(category, model, length, mode)
    return None if row is None or not is_number(row["effect_size"]) or few_words(row) else row


def _size(row: Estimate, other: Estimate | None = None) -> float:
    """Return how large an effect is, or how far two are apart."""
    return abs(float(row["effect_size"] - (other["effect_size"] if other else 0)))


def _in_full(row: Estimate) -> str:
    """Return an effect with where it was found, its uncertainty, and what its sign means."""
    return (
        f"{two(row['effect_size'])} ({row['category']}, {row['model']}, {row['segment_length']} words,"
        f" {row['sample_mode']} draws; 95 % interval over words {two(row['ci_low'])} to {two(row['ci_high'])}; {P}"
        f" {equals_probability(row[P])}, {equals_probability(row[HOLM.column]).removeprefix('= ')} after Holm's"
        f" correction{from_twins(row, 2)}): {_in_words(row['effect_size'], *names_of_sets(row))}."
    )


def _texts_of_lengths(estimate: Estimate, shortest: str, longest: str) -> str:
    if estimate.get("pool") == "per_length":
        return "Each length has contexts of its own, so that part of a change may come from other texts."
    if longest.startswith(">") or shortest.startswith(">"):
        return (
            f"The contexts of {longest} words are not those of the fixed lengths, so that part of a change may come"
            " from other texts."
        )
    return "Both lengths are cut from the same contexts."


def _count_below(p_values: Sequence[Any]) -> int:
    return sum(p < ALPHA for p in p_values)


def _of(count: int, total: int) -> str:
    """Return a share as the beginning of a sentence: "None of the 4 estimates has", "3 of 4 estimates have"."""
    if total == 1:
        return "The only estimate has" if count else "The only estimate does not have"
    if count == 0:
        return f"None of the {total} estimates has"
    return f"{count} of {total} estimates {_verb(count, 'has', 'have')}"


def _verb(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def _not_among(settling: pl.DataFrame) -> str:
    """Return which rows can say nothing of settling."""
    missing = settling["longest"].null_count()
    alone = settling["largest_distance"].null_count() - missing
    said = [f"{missing} not computed"] * bool(missing) + [f"{alone} at one length only"] * bool(alone)
    return f" ({', '.join(said)})" if said else ""


def _how_sure(settled: int, sure: int) -> str:
    """Return in how many of the rows that settled the intervals say so, too; empty where none settled."""
    if not settled:
        return ""
    if settled == 1:
        where, not_there = "There", "do not lie within that band"
    else:
        where, not_there = f"In {'all' if sure == settled else sure or 'none'} of them", "lie within that band"
    they = f" {where} the intervals of the differences"
    if not sure:
        return f"{they} {not_there}, so it may be luck."
    return f"{they} lie within that band as well, so that it is more than luck."


# --------------------
# Traits in sentence structures.


QUANTITIES = ("prior", "corrected", "fill")
"""What is measured of traits, in this order: language's own bias, what the trait adds, and both together."""

ALL = "all"
"""Name of the rows over both polarities."""

SPREAD_COLUMNS = (
    *("model", "polarity", "structure", "quantity", "n", "n_left_out", "mean_words", "mean", "mean_low", "mean_high"),
    *("sd", "min", "q25", "median", "q75", "max", "mean_size", "twin_mean", "twin_sd", "pieces", "terms"),
)
"""The columns without which a table of spreads says nothing."""

DIFFERENCE_COLUMNS = (
    *("model", "polarity", "quantity", "structure_1", "structure_2", "n", "sd_1", "sd_2"),
    *("ratio", "ratio_low", "ratio_high", "difference", "difference_low", "difference_high", "note"),
)
"""The same of a table of structures compared."""


def findings_of_structures(spread: pl.DataFrame, differences: pl.DataFrame) -> Iterator[str]:
    """Yield for each model where associations spread most and least, and how many differences are no chance.

    Raises:
        InputError: a column is missing.
    """
    require_columns("spread by structure", spread, SPREAD_COLUMNS, remade_by("likelihoods"))
    require_columns("structures compared", differences, DIFFERENCE_COLUMNS, remade_by("likelihoods"))
    for model in spread["model"].unique(maintain_order=True):
        of_model = spread.filter(pl.col("model") == model)
        polarity = _polarity_of(of_model)
        said = []
        for quantity in QUANTITIES[:2]:
            known = of_model.filter(pl.col("sd") > 0, polarity=polarity, quantity=quantity).sort("sd")
            if len(known) > 1:
                least, most = known.row(0, named=True), known.row(-1, named=True)
                said.append(
                    f"{quantity} associations spread least in {least['structure']} (standard deviation"
                    f" {plain(least['sd'], 2)}) and most in {most['structure']} ({plain(most['sd'], 2)})"
                )
        if not said:
            continue
        compared, apart = comparisons_of_model(of_model, differences)
        more = (
            f" Of {compared} comparisons of two structures, the spreads differ by more than chance in {apart} (paired"
            " 95 % intervals)."
        )
        yield f"Log-probability bias of traits, {model}: {'; '.join(said)}.{more if compared else ''}"


def comparisons_of_model(of_model: pl.DataFrame, differences: pl.DataFrame) -> tuple[int, int]:
    """Return how many pairs of structures of a model have an interval, and in how many the spreads differ.

    Those of prior and corrected associations over all traits: the same traits by polarity would count twice.

    Args:
        of_model: the rows of one model in the table of spreads; at least one.
        differences: structures compared, of any models.
    """
    compared = differences.filter(
        (pl.col("model") == of_model["model"][0])
        & (pl.col("polarity") == _polarity_of(of_model))
        & pl.col("quantity").is_in(QUANTITIES[:2])
        & pl.col("ratio_low").is_finite()
        & pl.col("ratio_high").is_finite()
    )
    return len(compared), len(compared.filter((pl.col("ratio_low") > 1) | (pl.col("ratio_high") < 1)))


def _polarity_of(of_model: pl.DataFrame) -> str:
    """Return the polarity that findings are of: all traits where there is more than one."""
    return ALL if ALL in set(of_model["polarity"]) else str(of_model["polarity"][0])
