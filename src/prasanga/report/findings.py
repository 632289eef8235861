"""The findings of a study: which estimates are findings, and the facts of the sentences in `findings.txt.j2`.

The sentences claim only what the numbers allow. The interval and the p of words ask about other words, p_draws only
about other draws from the same contexts. A direction is named only where an association was found (`is_found`).
Estimates of few words are counted, and nothing else is said about them.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import polars as pl
from scipy.stats import binom

from prasanga.associations.comparisons import UNREACHABLE, excludes_zero
from prasanga.pairs.preferences import FEWEST_PAIRS, OVERALL
from prasanga.report import grid
from prasanga.report.grid import HOLM, EstimateRow, Grid, few_words, is_number, is_significant
from prasanga.report.sheet import TEMPLATES, one_decimal
from prasanga.report.study import Results
from prasanga.schema import BOTH_POLARITIES, COUNTED, group_lost_words
from prasanga.stats.intervals import FEWEST_WORDS
from prasanga.stats.permutation import ALPHA
from prasanga.stats.strength import POWER

_FALSE_ALARMS = {
    "attributes": "attributes drawn from the other words",
    "spelling": "sets that differ only in the length of their words",
    "scatter": "sets of which one varies more",
    "templates": "templates that each favor one set",
    "first": "a preference for the first sentence",
}
_SURE = 0.999
"""False alarms are mentioned if a rule with a rate of .05 would have fewer in this share of studies."""

P, CORRECTED = "p_association", "p_association_holm"
"""The p of words, and the same after Holm's correction, by which an effect is significant."""


def tell(finding: str, **facts: Any) -> str:
    """Return the sentences of a finding of `findings.txt.j2`, in one line."""
    return " ".join(getattr(_sentences(), finding)(**facts).split())


@functools.cache
def _sentences() -> Any:
    named = {"P": P, "CORRECTED": CORRECTED, "FEWEST_WORDS": FEWEST_WORDS, "NOT_COMPARED": grid.NOT_COMPARED}
    environment = TEMPLATES.overlay(autoescape=False, finalize=None)
    return environment.get_template("findings.txt.j2", globals=named).module


def name_chance(tests: int) -> str:
    """Return how many of these tests are significant by chance, in words."""
    expected = ALPHA * tests
    return f"about {expected:.0f}" if expected >= 1.5 else "about one" if expected >= 0.5 else "fewer than one"


def tell_strength(method: str, row: Mapping[str, Any]) -> str:
    """Return which biases would have been found, in sentences; `row` is of the table of strength of a method."""
    found, n = dict(zip(row["shifts"] or (), row["shares_found"] or (), strict=True)), row.get("repetitions") or 0
    most = float(binom.ppf(_SURE, n, ALPHA)) / n if n else 1.0
    planted = [shift for shift in found if shift]
    named = [row["shift_80"]] if is_number(row["shift_80"]) else planted[-1:]
    other = min((shift for shift in planted if shift not in named), key=lambda shift: abs(shift - 0.5), default=None)
    shares = {shift: found.get(shift, POWER) for shift in [*named, *filter(None, [other])]}
    sets = _FALSE_ALARMS | ({"attributes": "target words dealt at random"} if method == "log_probability" else {})
    alarms = [(what, share) for name, what in sets.items() if (share := row.get(f"false_{name}") or 0) > most]
    return tell("strength", row=row, method=method, shares=shares, alarms=alarms)


# ---- which estimates are findings


def is_found(row: EstimateRow) -> bool:
    """Return whether an estimate is a finding, so that its direction may be named; one that is missing is none."""
    return bool(row["is_found"])


def count_tests(rows: Iterable[EstimateRow]) -> int | None:
    """Return for how many tests p is corrected; None where no estimate was tested."""
    return next((row["n_tests"] for row in rows if row.get("n_tests")), None)


def is_near_zero(row: EstimateRow) -> bool:
    """Return whether the equivalence test shows that an effect or a preference is within the margin around none."""
    return is_significant(row.get("p_equivalence"))


def order_sides(row: EstimateRow) -> tuple[str, str, str, str]:
    """Return the sets as the sign of an effect orders them: x are closer to the third, y to the fourth."""
    x, y, a, b = grid.names_of_sets(row)
    return (x, y, a, b) if row["effect_size"] > 0 else (x, y, b, a)


TEMPLATES.filters |= {"chance": name_chance, "sides": order_sides}


def find_detectable(rows: Iterable[EstimateRow], strengths: Iterable[EstimateRow]) -> dict[str, Any]:
    """Return which biases would have been found in 80% of studies; empty if the study has not measured that.

    Args:
        rows: estimates.
        strengths: rows of the table of strength of the same methods.

    Returns:
        Of `n` rows: `sizes` of the shifts that 80% find, ascending; in `n_beyond` even the `largest` shift is found
        less often; in `n_none` no shift can be found.
    """
    wanted = {(row["category"], row["model"]) for row in rows}
    known = [row for row in strengths if (row["category"], row["model"]) in wanted]
    sizes = sorted(row["shift_80"] for row in known if is_number(row["shift_80"]))
    n_none = sum(row["strength_note"] is not None for row in known)
    largest = max((shift for row in known for shift in row["shifts"] or ()), default=None)
    counts = {"n": len(known), "n_beyond": len(known) - len(sizes) - n_none, "n_none": n_none}
    return {**counts, "sizes": sizes, "largest": largest} if known else {}


# ---- CEAT


def headline_findings(ceat: pl.DataFrame, strengths: Iterable[EstimateRow] = ()) -> list[str]:
    """Return all findings that apply, the most important first.

    Args:
        ceat: the estimates of CEAT.
        strengths: rows of the table of strength of CEAT.
    """
    if ceat.is_empty():
        return []
    cells = grid.grid_of(ceat)
    every = [row for row in cells.rows if is_number(row["effect_size"]) and not few_words(row)]
    rows, at_lengths = ([row for row in every if grid.is_primary(row) == wanted] for wanted in (True, False))
    found = [row for row in rows if is_found(row)]
    largest = max(found, key=_size, default={"effect_size": 0.0})
    opposite = [row for row in found if row["effect_size"] * largest["effect_size"] < 0]
    by_category: dict[str, list[EstimateRow]] = {}
    for row in rows:
        by_category.setdefault(row["category"], []).append(row)
    without = {name: group for name, group in by_category.items() if not any(map(is_found, group))}
    others = [row for group in without.values() for row in group]
    told = [group[0] for group in without.values() if not all(map(_is_unreachable, group))]
    rest = {"first": told, "limits": find_detectable(others, strengths)}
    facts: dict[str, dict[str, Any]] = {
        "largest": {"row": largest, "k": len(found), "n": len(rows)} if found else {},
        "opposite": {"row": max(opposite, key=_size)} if opposite else {},
        "directions": _compare_directions(rows, len(cells.models)),
        "significance": _count_significant(rows),
        "not_found": {**rest, "held": _hold_back(others)} if told else {},
        "unreachable": _list_unreachable(rows),
        "near_zero": _place_near_zero(without, "category", "categories", " in every model"),
        "lengths": _compare_lengths(at_lengths, cells.lengths),
        "slopes": _count_slopes(cells),
        "controls": _compare_controls(rows),
        "draws": _count_below(row["p_draws"] for row in at_lengths),
        "few": _list_places(cells.primary, few_words),
        "not_computed": _list_places(cells.rows, grid.why_missing),
    }
    return [tell(finding, **each) for finding, each in facts.items() if each]


def _is_unreachable(row: EstimateRow) -> bool:
    return bool(row["not_found_because"] == UNREACHABLE)


def _list_unreachable(rows: Sequence[EstimateRow]) -> dict[str, Any]:
    """Return the categories in which no p can be small enough, with their smallest number of words or pairs."""
    known = {row["category"]: row for row in rows if _is_unreachable(row)}
    places = []
    for name, row in known.items():
        n = min(row[f"n_{side}"] for side in "xyab")
        places.append((name, n, "pairs" if row["matched"] else "words", row["smallest_p"]))
    return {"places": places, "n_tests": count_tests(rows) or len(rows)} if known else {}


def _size(row: EstimateRow) -> float:
    return abs(float(row["effect_size"]))


def _count_below(p_values: Iterable[Any]) -> dict[str, Any]:
    """Return how many p are at most `ALPHA`, and of how many; empty if there are none."""
    known = [p for p in p_values if is_number(p)]
    return {"k": sum(map(is_significant, known)), "n": len(known)} if known else {}


def _count_significant(rows: Sequence[EstimateRow]) -> dict[str, Any]:
    counts = _count_below(row[P] for row in rows)
    return counts and {**counts, "n_tests": count_tests(rows) or counts["n"], "n_left": sum(map(HOLM.marks, rows))}


def _hold_back(rows: Sequence[EstimateRow]) -> list[tuple[str, int]]:
    """Return why significant estimates are no findings, and how many each reason holds back."""
    return list(Counter(row["not_found_because"] for row in rows if HOLM.marks(row) and not is_found(row)).items())


def _place_near_zero(
    groups: Mapping[str, Sequence[EstimateRow]], one: str, many: str, where: str = ""
) -> dict[str, Any]:
    """Return which groups of estimates without an association are near 0, and how far the others may reach."""
    known = {name: rows for name, rows in groups.items() if is_number(rows[0].get("equivalence_margin"))}
    if not known:
        return {}
    near = [name for name, rows in known.items() if all(map(is_near_zero, rows))]
    reached = [row["equivalent_within"] for name, rows in known.items() if name not in near for row in rows]
    return {
        **{"n": len(known), "near": near, "one": one, "many": many, "where": where},
        "margin": next(iter(known.values()))[0]["equivalence_margin"],
        "reach": max(filter(is_number, reached), default=None),
    }


def _compare_directions(rows: Sequence[EstimateRow], n_models: int) -> dict[str, Any]:
    """Return how often models disagree about the direction of an association."""
    effects: dict[str, list[float]] = {}
    for row in filter(is_found, rows):
        effects.setdefault(row["category"], []).append(row["effect_size"])
    compared = [min(each) < 0 < max(each) for each in effects.values() if len(each) > 1]
    return {"n_models": n_models, "k": sum(compared), "n": len(compared)} if compared else {}


def _compare_lengths(rows: Sequence[EstimateRow], lengths: Sequence[str]) -> dict[str, Any]:
    """Return how effects move from the shortest to the longest segment length."""
    shortest, longest = lengths[0], lengths[-1]
    there = {(row["category"], row["model"]): row for row in rows if row["segment_length"] == longest}
    here = [row for row in rows if row["segment_length"] == shortest]
    pairs = [(row, other) for row in here if (other := there.get((row["category"], row["model"])))]
    if shortest == longest or not pairs:
        return {}
    changes = [abs(after["effect_size"] - before["effect_size"]) for before, after in pairs]
    row, other = pairs[changes.index(max(changes))]
    return {
        **{"shortest": shortest, "longest": longest, "n": len(pairs)},
        "n_grow": sum(_size(after) > _size(before) for before, after in pairs),
        **{"change": median(changes), "row": {"pool": None, **row}},
        "ends": (row["effect_size"], other["effect_size"]),
    }


def _count_slopes(cells: Grid) -> dict[str, Any]:
    """Return how many associations change with the length, and how far the others may."""
    changes = list_changes(cells)
    return {"k": len(changes.shown), "n": len(changes.found), "rest": changes.range_of_rest} if changes.found else {}


def _compare_controls(rows: Sequence[EstimateRow]) -> dict[str, Any]:
    """Return which effects exceed those of models without bias, and of shuffled attributes."""
    compared = [row for row in rows if is_number(row.get("p_twins"))]
    shuffled = [row for row in rows if is_number(row.get("shuffled_low"))]
    alike = [row for row in compared if not is_significant(row["p_twins"])]
    ends = ("twin_difference_low", "twin_difference_high")
    unseen = [max(abs(row[end] - row["twin_difference"]) for end in ends) for row in alike]
    return {
        **{"k": len(compared) - len(alike), "n": len(compared)},
        "size": median(abs(row["twin_effect_size"]) for row in compared) if compared else None,
        "unseen": (median(unseen), max(unseen)) if unseen else (),
        "n_shuffled": len(shuffled),
        "n_outside": sum(not row["shuffled_low"] <= row["effect_size"] <= row["shuffled_high"] for row in shuffled),
    }


def _list_places(rows: Sequence[EstimateRow], say: Callable[[EstimateRow], str]) -> dict[str, Any]:
    """Return how many estimates have something to be said of them, and what, with the first place of each."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if text := say(row):
            place = f"{row['model']}, {grid.name_length(row['segment_length'])}"
            found.setdefault((row["category"], text), []).append(place)
    places = [(*key, f"{first} and {len(others)} more" if others else first) for key, (first, *others) in found.items()]
    return {"n": sum(map(len, found.values())), "of": len(rows), "places": places} if found else {}


def findings_of_differences(differences: pl.DataFrame, settling: pl.DataFrame) -> Iterator[str]:
    """Yield how many differences between lengths and models are larger than chance, and where effects settle.

    Raises:
        InputError: a column is missing.
    """
    known = differences.filter(pl.col("ci_low").is_not_null(), kind="length")
    if len(known):
        yield tell("differences", n=len(known), k=len(known.filter((pl.col("ci_low") > 0) | (pl.col("ci_high") < 0))))
    tested = differences.filter(pl.col("p_difference_holm").is_not_null())
    if len(tested):
        yield tell("model_differences", n=len(tested), k=len(tested.filter(pl.col("p_difference_holm") <= ALPHA)))
    known = settling.filter(pl.col("largest_distance").is_not_null())
    if len(known):
        counts = {"n": len(known), "k": known["settled_length"].count(), "n_missing": settling["longest"].null_count()}
        n_sure = len(known.filter(pl.col("settled_length").is_not_null() & pl.col("sure")))
        n_alone = len(settling) - len(known) - counts["n_missing"]
        yield tell("settling", **counts, n_sure=n_sure, n_alone=n_alone, band=known["band"][0])


# ---- other methods of words


def other_method(method: str, table: pl.DataFrame, strengths: Iterable[EstimateRow] = ()) -> str:
    """Return in how many rows of a method's estimates an association was found, and the largest of these.

    Args:
        method: its name as a reader sees it.
        table: its estimates, corrected for their number.
        strengths: rows of its table of strength.
    """
    computed = [row for row in table.iter_rows(named=True) if is_number(row["effect_size"])]
    enough = [row for row in computed if grid.may_be_found(row)]
    rows = [row for row in enough if not _is_unreachable(row)]
    found, others = ([row for row in rows if is_found(row) == wanted] for wanted in (True, False))
    facts: dict[str, Any] = {
        **{"method": method, "n_missing": len(table) - len(computed), "n_computed": len(computed)},
        "n_published": sum(bool(row.get("as_published")) for row in computed),
        **{"n": len(rows), "found": len(found), "row": max(found, key=_size, default=None)},
        **{"n_others": len(others), "limits": find_detectable(others, strengths), "held": _hold_back(others)},
        "unreachable": _list_unreachable(enough),
        "near": _place_near_zero({f"{row['category']}, {row['model']}": [row] for row in others}, "effect", "effects"),
    }
    return tell("other_method", **facts)


# ---- traits in sentence structures

QUANTITIES_AS_SHOWN = ("prior", "corrected")
"""The quantities of traits that are compared: the bias without the trait, and what the trait adds to it."""


def findings_of_structures(spread: pl.DataFrame, differences: pl.DataFrame) -> Iterator[str]:
    """Yield for each model where associations spread most and least, and how many differences exceed chance.

    Raises:
        InputError: a column is missing.
    """
    for of_model in spread.partition_by("model", maintain_order=True):
        spreads = []
        for quantity in QUANTITIES_AS_SHOWN:
            known = of_model.filter(pl.col("sd") > 0, polarity=_choose_polarity(of_model), quantity=quantity).sort("sd")
            if len(known) > 1:
                spreads.append((quantity, known.row(0, named=True), known.row(-1, named=True)))
        if spreads:
            n, k = count_comparisons(of_model, differences)
            yield tell("structures", model=of_model["model"][0], spreads=spreads, n=n, k=k)


def count_comparisons(of_model: pl.DataFrame, differences: pl.DataFrame) -> tuple[int, int]:
    """Return how many pairs of structures of a model have an interval, and in how many the spreads differ.

    Only prior and corrected associations over all traits count: the same traits by polarity would count twice.

    Args:
        of_model: the rows of one model in the table of spreads; at least one.
        differences: structures compared, of any models.
    """
    compared = differences.filter(
        pl.col("quantity").is_in(QUANTITIES_AS_SHOWN),
        pl.all_horizontal(pl.col("ratio_low", "ratio_high").is_finite()),
        model=of_model["model"][0],
        polarity=_choose_polarity(of_model),
    )
    return len(compared), len(compared.filter((pl.col("ratio_low") > 1) | (pl.col("ratio_high") < 1)))


def _choose_polarity(of_model: pl.DataFrame) -> str:
    return BOTH_POLARITIES if BOTH_POLARITIES in set(of_model["polarity"]) else str(of_model["polarity"][0])


# ---- sentence pairs


def is_ranked(row: EstimateRow) -> bool:
    """Return whether a percentage is of at least `FEWEST_PAIRS` pairs."""
    return is_number(row["bias_percentage"]) and grid.pairs_counted(row) >= FEWEST_PAIRS


def farthest_percentage(rows: Iterable[EstimateRow]) -> EstimateRow | None:
    """Return the ranked percentage farthest from 50; None if there is none.

    Findings come first, by their balanced percentages, then what differs from 50 after correction, then the others.
    """

    def order(row: EstimateRow) -> tuple[Any, ...]:
        percent = row["balanced_percentage" if is_found(row) else "bias_percentage"]
        return is_found(row), grid.differs_from_half(row), abs(percent - 50), grid.pairs_counted(row)

    return max(filter(is_ranked, rows), key=order, default=None)


def findings_of_pairs(bias: pl.DataFrame) -> Iterator[str]:
    """Yield how many percentages differ from 50, how many of these are findings, and how many pairs have no score."""
    rows, overall = bias.rows(named=True), bias.filter(bias_type=OVERALL)
    known = [row for row in rows if is_number(row["bias_percentage"])]
    if not known:
        yield from [tell("no_percentages", n=len(rows))] if rows else []
        return
    different = [row for row in known if grid.differs_from_half(row)]
    others = [row for row in known if not grid.differs_from_half(row) and is_number(row["equivalence_margin"])]
    near = {"n": len(others), "k": sum(map(is_near_zero, others))}
    near |= {"margin": others[0]["equivalence_margin"]} if others else {}
    counts = {"n": len(known), "k": len(different), "n_found": sum(map(is_found, rows))}
    yield tell("percentages", **counts, far=_describe_farthest(rows), fewest=FEWEST_PAIRS, near=near)
    for why, n in Counter(row["not_found_because"] for row in different if not is_found(row)).items():
        yield tell("not_found_of_pairs", n=n, of=len(different), why=why)
    n, left_out, ties = overall.select("n_pairs", "n_left_out", "n_ties").sum().row(0)
    if ties or left_out:
        yield tell("unscored", n=n, left_out=left_out, ties=ties)


def _describe_farthest(rows: Sequence[EstimateRow]) -> dict[str, Any] | None:
    if (row := farthest_percentage(rows)) is None:
        return None
    titles = {
        group[:2]: group.title for group in grid.groups_of((each["set"] or "", each["language"]) for each in rows)
    }
    return {
        **{"row": row, "title": titles[row["set"] or "", row["language"]], "differs": grid.differs_from_half(row)},
        **{"type": grid.name_of_type(row["bias_type"]).lower(), "n": grid.pairs_counted(row)},
        "exact": grid.write_interval(row["exact_low"], row["exact_high"], one_decimal),
        "balanced": grid.write_interval(row["balanced_ci_low"], row["balanced_ci_high"], one_decimal),
    }


# ---- changes with the length of the context, and lost words

_N_WORDS = 20  # of a category are named; all are in the tables


class Changes(NamedTuple):
    """Whether associations change with the length of the context.

    Attributes:
        shortest: the shortest fixed length.
        longest: the longest one with the same texts.
        found: primary estimates with a slope by category and model, without those of few words.
    """

    shortest: str
    longest: str
    found: Mapping[tuple[str, str], EstimateRow]

    @property
    def shown(self) -> dict[tuple[str, str], EstimateRow]:
        """Return those whose slope is significant and has an interval without zero, as a finding has."""
        return {
            key: row
            for key, row in self.found.items()
            if is_significant(row["p_slope_holm"]) and excludes_zero(row, "slope")
        }

    @property
    def range_of_rest(self) -> tuple[float, float] | None:
        """Return the lowest and the highest slope that the intervals of the others include; None without intervals."""
        rest = [row for key, row in self.found.items() if key not in self.shown and is_number(row["slope_low"])]
        return (min(row["slope_low"] for row in rest), max(row["slope_high"] for row in rest)) if rest else None


def list_changes(ceat: Grid) -> Changes:
    """Return the slopes on the length; contexts above a length (">75") are other texts, so they are no end of it."""
    fixed = [length for length in ceat.lengths if not length.startswith(">")]
    shortest, *_, longest = fixed if len(fixed) > 1 else (ceat.lengths[0], *ceat.lengths)
    sloped = (row for row in ceat.primary if is_number(row.get("p_slope_holm")) and not few_words(row))
    return Changes(shortest, longest, {(row["category"], row["model"]): row for row in sloped})


def describe_lost_words(results: Results) -> dict[str, str]:
    """Return the lost words by category, and the categories that lack effects or intervals without them."""
    rows_of: dict[str, list[EstimateRow]] = {}
    for table in results.estimates.values():
        for row in grid.select_primary(table).iter_rows(named=True):
            rows_of.setdefault(row["category"], []).append(row)
    words, gone = list[str](), dict[str, list[str]](effects=[], intervals=[])
    for category in sorted(rows_of, key=grid.natural_order):
        rows = rows_of[category]
        if named := [*dict.fromkeys(word for row in rows for word in _list_lost(row))]:
            words.append(f"{_list_some(named)} ({category})")
        for what, n in Counter(filter(None, map(_name_gone, rows))).items():
            gone[what].append(category if n == len(rows) else f"{category} ({n}/{len(rows)})")
    return {"words": "; ".join(words), **{what: ", ".join(categories) for what, categories in gone.items()}}


def _list_lost(row: EstimateRow) -> list[str]:
    return [word for each in group_lost_words(row["lost"], without=COUNTED).values() for word in each]


def _name_gone(row: EstimateRow) -> str:
    """Return what an estimate has not because words are lost: `effects`, `intervals` or nothing."""
    if not _list_lost(row):
        return ""
    if not is_number(row["effect_size"]):
        return "effects"
    listed = min(row[f"listed_{side}"] or 0 for side in "xyab")
    return "intervals" if listed >= FEWEST_WORDS and not is_number(row["ci_low"]) else ""


def _list_some(words: Sequence[str]) -> str:
    return ", ".join(words[:_N_WORDS]) + (f" + {len(words) - _N_WORDS}" if len(words) > _N_WORDS else "")
