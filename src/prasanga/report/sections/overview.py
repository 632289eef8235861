"""The first screen of the page: what was measured, one picture, three findings, one line of caution.

The picture has a row per category and a column per model, with a line over the context lengths in each cell, which is
marked where the change is more than chance. The findings are sentences of `overview.html.j2`, in the language of the
page, each with how sure it is; the best supported come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl
from scipy.stats import binom

from prasanga.pairs.preferences import FEWEST_PAIRS, OVERALL
from prasanga.report import findings, grid
from prasanga.report.grid import ALPHA, METHODS, Estimate, Grid, few_words, is_number
from prasanga.report.section import Section, language_of, render, with_code
from prasanga.report.sections.associations import draw_line
from prasanga.report.sheet import one_decimal, two
from prasanga.report.study import Results
from prasanga.schema.registry import COUNTED, group_lost_words
from prasanga.stats.intervals import FEWEST_WORDS

SHOWN, LIKELY, OPEN = "Well supported", "Tentative", "Not proven"
"""How sure a finding is, the surest first."""

QUESTIONS = (
    "Does the association depend on context, and in which models?",
    "Which associations do the models have?",
    "Which of two sentences do the models prefer?",
    "Does the association depend on sentence structure?",
    "What was measured",
)
"""Heads of the first screen, by what a study measured."""

_N_FINDINGS = 3
Facts = dict[str, Any]


class Changes(NamedTuple):
    """Changes from the shortest length to the longest with the same texts, in the first sample mode.

    `found` has the rows of the table of differences by category and model; those that rest on few words, or were not
    computed, are not there. `apart` has the lengths of other texts.
    """

    shortest: str
    longest: str
    apart: tuple[str, ...]
    found: Mapping[tuple[str, str], Estimate]

    @property
    def shown(self) -> dict[tuple[str, str], Estimate]:
        """Return those that are more than chance."""
        return {key: row for key, row in self.found.items() if grid.excludes_zero(row, "ci")}


def overview(config: Mapping[str, Any], results: Results) -> Section:
    """Return the section of the first screen."""
    ceat = grid.grid_of(results["ceat"])
    changes = compare_lengths(ceat, results["differences"]) if ceat.lengths else None
    made = {**config.get("models", {}), **((config.get("static") or {}).get("vectors") or {})}
    trained = findings.tell("trained", names=[str(name) for name, each in made.items() if each.get("train")])
    widget = render(
        "overview",
        language=language_of(config),
        measured=_list_measured(ceat, results),
        picture=changes and _draw_picture(ceat, changes),
        changes=changes,
        findings=_list_findings(ceat, changes, results),
        missing=list(map(with_code, results.missing)),
        notes=list(filter(None, [config.get("note"), trained])),
    )
    asked = (len(ceat.lengths) > 1, results.estimates, "bias_percentages" in results, "structures" in results, True)
    question = next(question for question, is_asked in zip(QUESTIONS, asked, strict=True) if is_asked)
    return Section(question, "findings", widget=widget)


def compare_lengths(ceat: Grid, differences: pl.DataFrame) -> Changes:
    """Return the changes with length; contexts above a length (">75") are other texts, so they are no end of it."""
    fixed = [length for length in ceat.lengths if not length.startswith(">")]
    shortest, *_, longest = fixed if len(fixed) > 1 else (ceat.lengths[0], *ceat.lengths)
    known = [pl.col(name).is_finite() for name in ("difference", "ci_low", "ci_high")]
    wanted = {"kind": "length", "sample_mode": ceat.modes[0], "first": shortest, "second": longest}
    rows = differences.filter(*known, **wanted).rows_by_key(["category", "model"], named=True, include_key=True)
    apart = tuple(length for length in ceat.lengths if length.startswith(">") and length != longest)
    ends = (shortest, longest)
    few = {
        (each, model)
        for each, model in rows
        if any(few_words(ceat.at(each, model, end, ceat.modes[0])) for end in ends)
    }
    return Changes(shortest, longest, apart, {key: row for key, (row,) in rows.items() if key not in few})


def _list_findings(ceat: Grid, changes: Changes | None, results: Results) -> list[Facts]:
    """Return the facts of the findings, the best supported first: `kind`, `sure`, and the values of the sentences."""
    found = [
        *(_find_change(ceat, changes) if changes and changes.found else ()),
        *_find_association(results),
        *_find_percentage(results["bias_percentages"]),
        *_find_twins(ceat),
    ]
    if not found and "structures" in results:
        n, k = results["structures"]["n"].max(), results["structures"]["structure"].n_unique()
        found = [{"kind": "structures", "sure": OPEN, "n": n, "k": k}]
    return sorted(found, key=lambda facts: (SHOWN, LIKELY, OPEN).index(facts["sure"]))[:_N_FINDINGS]


def _list_measured(ceat: Grid, results: Results) -> Facts:
    """Return what was measured: models, and categories, lengths or numbers of each method."""
    tables = (*results.estimates.values(), results["structures"], results["bias_percentages"])
    others = [(METHODS[name], table["category"].n_unique()) for name, table in results.estimates.items()]
    return {
        "models": sorted({model for table in tables for model in table["model"]}),
        "lengths": ", ".join(ceat.lengths),
        "n_categories": len(ceat.categories),
        "methods": others[bool(ceat.categories) :],
        "has_structures": "structures" in results,
        "n_pairs": results["bias_percentages"]["n_pairs"].max(),
    }


def _draw_picture(ceat: Grid, changes: Changes) -> list[tuple[Any, ...]]:
    """Return a row for each category: it, its address, and (model, picture, effects, change if shown) for each model.

    The effects are those at both ends of the line, and at lengths of other texts, which are points of their own.
    """
    rows, ends = [], (changes.shortest, changes.longest, *changes.apart)
    for category in ceat.categories:
        cells = []
        for model in ceat.models:
            change = changes.shown.get((category.name, model))
            effects = [_show_effect(ceat, category.name, model, length) for length in ends]
            cells.append((model, draw_line(ceat, category.name, model, changed=bool(change)), effects, change))
        rows.append((category, grid.anchor_of(category.name), cells))
    return rows


def _show_effect(ceat: Grid, category: str, model: str, length: str) -> str:
    """Return the effect at a length, in the first sample mode."""
    row = ceat.at(category, model, length, ceat.modes[0])
    return two(row["effect_size"] if row else None)


def _exceeds_chance(k: int, n: int) -> Facts:
    """Return k of n tests at `ALPHA`, how many are expected by chance, and how sure it is that these are more."""
    is_likely = k and binom.sf(k - 1, n, ALPHA) < ALPHA
    return {"k": k, "n": n, "chance": f"{ALPHA * n:.1f}", "sure": LIKELY if is_likely else OPEN}


def _find_change(ceat: Grid, changes: Changes) -> Iterator[Facts]:
    """Yield in how many cases the association changes with context, and where most."""
    shown = changes.shown
    facts = {"short": changes.shortest, "long": changes.longest, **_exceeds_chance(len(shown), len(changes.found))}
    if shown:
        category, model = max(shown, key=lambda key: abs(shown[key]["difference"]))
        first, second = (_show_effect(ceat, category, model, length) for length in changes[:2])
        yield {"kind": "change", **facts, "category": category, "model": model, "first": first, "second": second}
    else:
        most = max(abs(row[end]) for row in changes.found.values() for end in ("ci_low", "ci_high"))
        yield {"kind": "no_change", **facts, "most": f"{most:.1f}"}


def _find_association(results: Results) -> Iterator[Facts]:
    """Yield the strongest association that any method found, or that none was found, and the limits."""
    every = [(row, name) for name, table in results.estimates.items() for row in table.iter_rows(named=True)]
    computed = [row for row, _ in every if is_number(row["effect_size"])]
    rows = [row for row in computed if not few_words(row)]
    found = [(row, name) for row, name in every if is_number(row["effect_size"]) and findings.is_found(row)]
    facts = {"n": len(rows), "sure": OPEN}
    if found:
        row, name = max(found, key=lambda each: abs(each[0]["effect_size"]))
        where = ", ".join(filter(None, [row["category"], METHODS[name], row["model"]]))
        yield facts | {
            **{"kind": "found", "sure": SHOWN, "where": where, "k": len(found)},
            **dict(zip(("x", "y", "kept", "other"), findings.order_sides(row), strict=True)),
            **{"effect": two(row["effect_size"]), "low": two(row["ci_low"]), "high": two(row["ci_high"])},
            "has_twins": is_number(row.get("p_twins")),
            "has_templates": "ci_templates_low" not in row or is_number(row["ci_templates_low"]),
        }
    elif rows:
        limits = findings.find_detectable(rows)
        sizes = (limits["median"], limits["sizes"][0], limits["sizes"][-1]) if limits["sizes"] else ()
        yield facts | {
            **{"kind": "not_found", "k": sum(map(grid.HOLM.marks, rows)), "tests": limits["n_tests"]},
            **dict(zip(("median", "low", "high"), (f"{size:.1f}" for size in sizes), strict=False)),
            "n_without": limits["n_without"],
        }
    elif every:
        lost: dict[str, dict[str, None]] = {}
        for row, _ in every:
            for words in group_lost_words(row["lost"], without=COUNTED).values():
                lost.setdefault(row["category"], {}).update(dict.fromkeys(filter(None, words)))
        effects = [row["effect_size"] for row in computed]
        yield facts | {
            **{"kind": "few_words", "n": len(every), "k": len(effects), "fewest": FEWEST_WORDS},
            "words": "; ".join(f"{', '.join(words)} ({category})" for category, words in lost.items()),
            **({"low": two(min(effects)), "high": two(max(effects))} if effects else {}),
        }


def _find_percentage(bias: pl.DataFrame) -> Iterator[Facts]:
    """Yield the percentage farthest from 50 that differs from it, or that over all pairs; of few none is ranked."""
    if bias.is_empty():
        return
    rows, row = bias.rows(named=True), findings.farthest_percentage(bias.rows(named=True))
    differs = row is not None and grid.is_significant(row)
    if row is None or not differs:
        overall = [each for each in rows if each["bias_type"] == OVERALL and is_number(each["bias_percentage"])]
        if not overall:
            yield {"kind": "no_percentage", "sure": OPEN, "n": len(rows)}
            return
        row = max(overall, key=lambda each: (findings.is_ranked(each), abs(each["bias_percentage"] - 50)))
    reason = findings.doubt(row) if differs else ""
    place = ("set", "language", "model")
    types = [each for each in rows if all(each[name] == row[name] for name in place) and each["bias_type"] != OVERALL]
    balanced = is_number(row["balanced_percentage"])
    yield {
        **{"kind": "percentage", "sure": SHOWN if differs and not reason else OPEN, "reason": reason},
        **{"differs": differs, "model": row["model"] or "", "n": grid.pairs_counted(row)},
        "has_twins": is_number(row["p_twins"]),
        "which": ", ".join(
            [grid.name_of_type(row["bias_type"]).lower()] * differs + [grid.name_of_language(row["language"])]
        ),
        **{"is_ranked": findings.is_ranked(row), "fewest": FEWEST_PAIRS},
        "n_few": sum(grid.pairs_counted(each) < FEWEST_PAIRS for each in types),
        **_show_percentage(row, "bias_percentage", "exact"),
        "balanced": balanced and _show_percentage(row, "balanced_percentage", "balanced_ci"),
    }


def _show_percentage(row: Estimate, name: str, ends: str) -> dict[str, str]:
    names = {"percent": name, "low": f"{ends}_low", "high": f"{ends}_high"}
    return {key: one_decimal(row[column]) for key, column in names.items()}


def _find_twins(ceat: Grid) -> Iterator[Facts]:
    """Yield how many effects differ from those of models that have learned nothing."""
    known = [p for row in ceat.estimates.values() if is_number(p := row.get("p_twins")) and not few_words(row)]
    if known:
        yield {"kind": "twins", **_exceeds_chance(sum(p < ALPHA for p in known), len(known))}
