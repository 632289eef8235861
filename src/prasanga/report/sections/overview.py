"""The first screen of the page: what was measured, one picture, three findings, one line of caution.

The picture has a row per category and a column per model, with a line over the context lengths in each cell, which is
marked where the change is more than chance. The findings are sentences of `overview.html.j2`, in the language of the
page, each with how sure it is; the best supported come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from scipy.stats import binom

from prasanga.losses import COUNTED, group_lost_words
from prasanga.pairs.preferences import FEWEST_PAIRS, OVERALL
from prasanga.report.cards import no_model_of_a_language
from prasanga.report.findings import (
    doubt,
    farthest_percentage,
    find_detectable,
    is_found,
    is_marked,
    is_ranked,
    order_sides,
)
from prasanga.report.grid import (
    ALPHA,
    METHODS,
    Grid,
    anchor_of,
    few_words,
    is_number,
    is_significant,
    name_of_language,
    name_of_type,
    pair_grid_of,
    pairs_counted,
)
from prasanga.report.section import Section, language_of, render, said, with_code
from prasanga.report.sections.ceat import Changes, ceat_grid, changes_of, small_picture
from prasanga.report.sheet import one_decimal, two
from prasanga.report.study import Results
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


def overview(config: Mapping[str, Any], results: Results) -> Section:
    """Return the section of the first screen."""
    say = partial(said, language=language_of(config))
    grid = ceat_grid(results)
    changes = None if grid is None else changes_of(grid, results)
    first, *others = _cautions(config, results, say)
    widget = render(
        "overview",
        language=language_of(config),
        lead=_measured(grid, results, say),
        picture=None if grid is None or changes is None else _picture(grid, changes),
        changes=changes,
        numbers=changes and say("Numbers: at {shortest} and at {longest} words.", **changes._asdict()),
        apart=changes and changes.apart,
        findings=list_findings(results),
        caution=first,
        others=others,
    )
    return Section(_question(grid, results), "findings", widget=widget)


def _question(grid: Grid | None, results: Results) -> str:
    """Return what the study asks, by what it measured."""
    of_context, of_associations, of_pairs, of_structures, of_nothing = QUESTIONS
    if grid is not None and len(grid.lengths) > 1:
        return of_context
    if results.estimates:
        return of_associations
    if results.bias_percentages is not None:
        return of_pairs
    return of_nothing if results.structures is None else of_structures


def list_findings(results: Results) -> list[dict[str, Any]]:
    """Return the facts of the findings, the best supported first: `kind`, `sure`, and the values of the sentences."""
    found = [*_of_context(results), *_of_methods(results), *_of_pairs(results), *_of_twins(results)]
    if not found and results.structures is not None and len(results.structures):
        n, k = results.structures["n"].max(), results.structures["structure"].n_unique()
        found = [{"kind": "structures", "sure": OPEN, "n": n, "k": k}]
    return sorted(found, key=lambda facts: (SHOWN, LIKELY, OPEN).index(facts["sure"]))[:_N_FINDINGS]


def _measured(grid: Grid | None, results: Results, say: Callable[..., str]) -> str:
    """Return in one sentence what was measured."""
    tables = (*results.estimates.values(), results.structures, results.bias_percentages)
    models = sorted({model for table in tables if table is not None for model in table["model"]})
    parts = []
    if grid is not None:
        many, one = (
            "{n} categories in contexts of {lengths} words (CEAT)",
            "one category in contexts of {lengths} words (CEAT)",
        )
        n = len(grid.categories)
        parts.append(say(many if n > 1 else one, n=n, lengths=", ".join(grid.lengths)))
    for name, table in results.methods:
        n = table["category"].n_unique()
        many, one = "{n} categories by {method}", "one category by {method}"
        parts.append(say(many if n > 1 else one, n=n, method=METHODS[name]))
    if results.structures is not None:
        parts.append(say("traits in sentence structures"))
    if results.bias_percentages is not None and len(results.bias_percentages):
        parts.append(say("{n} sentence pairs", n=f"{max(results.bias_percentages['n_pairs']):,}"))
    if not parts:
        return say("Nothing has been measured yet.")
    told = "; ".join(parts)
    if len(models) == 1:
        return say("What {models} associates with people and things: {parts}.", models=models[0], parts=told)
    named = say("{n} models", n=len(models))
    if len(models) == 2:
        named = say("{first} and {second}", first=models[0], second=models[1])
    return say("What {models} associate with people and things: {parts}.", models=named, parts=told)


def _picture(grid: Grid, changes: Changes) -> list[tuple[Any, ...]]:
    """Return a row for each category: it, its address, and (model, picture, effects, change) for each model.

    The effects are those at both ends of the line, and at lengths of other texts, which are points of their own.
    """
    ends = (changes.shortest, changes.longest, *changes.apart)
    rows = []
    for category in grid.categories:
        cells = []
        for model in grid.models:
            change = changes.of.get((category.name, model))
            effects = _at(grid, category.name, model, ends)
            shown = change is not None and change.is_shown
            cells.append((model, small_picture(grid, category, model, changed=shown), effects, change))
        rows.append((category, anchor_of(category.name), cells))
    return rows


def _at(grid: Grid, category: str, model: str, lengths: Iterable[str]) -> list[str]:
    """Return the effects at these lengths, in the first sample mode."""
    rows = (grid.at(category, model, length, grid.modes[0]) for length in lengths)
    return [two(row["effect_size"] if row else None) for row in rows]


def _exceeds_chance(k: int, n: int) -> str:
    """Return how sure it is that k of n tests at `ALPHA` are more than chance."""
    return LIKELY if k and binom.sf(k - 1, n, ALPHA) < ALPHA else OPEN


def _of_context(results: Results) -> Iterator[dict[str, Any]]:
    """Yield in how many cases the association changes with context, and where most."""
    grid = ceat_grid(results)
    changes = None if grid is None else changes_of(grid, results)
    if grid is None or changes is None or not changes.of:
        return
    shown = {key: change for key, change in changes.of.items() if change.is_shown}
    n, k = len(changes.of), len(shown)
    facts = {"n": n, "k": k, "short": changes.shortest, "long": changes.longest, "sure": _exceeds_chance(k, n)}
    if not k:
        most = max(max(abs(change.low), abs(change.high)) for change in changes.of.values())
        yield facts | {"kind": "no_change", "most": f"{most:.1f}"}
        return
    category, model = max(shown, key=lambda key: abs(shown[key].difference))
    first, second = _at(grid, category, model, (changes.shortest, changes.longest))
    where = {"category": category, "model": model, "first": first, "second": second}
    yield facts | where | {"kind": "change", "chance": f"{ALPHA * n:.1f}"}


def _of_methods(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the strongest association that any method found, or that none was found, and the limits."""
    every = [(row, name) for name, table in results.estimates.items() for row in table.iter_rows(named=True)]
    computed = [row for row, _ in every if is_number(row["effect_size"])]
    rows = [(row, name) for row, name in every if is_number(row["effect_size"]) and not few_words(row)]
    found = [(row, name) for row, name in rows if is_found(row)]
    facts = {"n": len(rows), "sure": OPEN}
    if found:
        row, name = max(found, key=lambda each: abs(each[0]["effect_size"]))
        x, y, kept, other = order_sides(row)
        where = ", ".join(filter(None, [row["category"], METHODS[name], row["model"]]))
        yield facts | {
            **{"kind": "found", "sure": SHOWN, "x": x, "y": y, "kept": kept, "other": other, "where": where},
            **{"effect": two(row["effect_size"]), "low": two(row["ci_low"]), "high": two(row["ci_high"])},
            "k": len(found),
            "has_twins": is_number(row.get("p_twins")),
            "has_templates": "ci_templates_low" not in row or is_number(row["ci_templates_low"]),
        }
    elif rows:
        limits = find_detectable([row for row, _ in rows])
        sizes = (limits.median, limits.sizes[0], limits.sizes[-1]) if limits.sizes else ()
        yield facts | {
            **{"kind": "not_found", "k": sum(is_marked(row) for row, _ in rows), "tests": limits.n_tests},
            **dict(zip(("median", "low", "high"), (f"{size:.1f}" for size in sizes), strict=False)),
            "n_without": limits.n_without,
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


def _of_pairs(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the percentage farthest from 50 that differs from it, or that over all pairs; of few none is ranked."""
    if results.bias_percentages is None or results.bias_percentages.is_empty():
        return
    grid = pair_grid_of(results.bias_percentages)
    key = farthest_percentage(grid)
    facts: dict[str, Any] = {"kind": "percentage", "sure": OPEN, "reason": ""}
    if key is not None and is_significant(grid.rows[key]):
        row, which = grid.rows[key], f"{name_of_type(key[3]).lower()}, {name_of_language(key[1])}"
        reason = doubt(row)
        facts |= {"which": which, "reason": reason, "sure": OPEN if reason else SHOWN, "differs": True}
    else:
        overall = {
            key: row for key, row in grid.rows.items() if key[3] == OVERALL and is_number(row["bias_percentage"])
        }
        if not overall:
            yield facts | {"kind": "no_percentage", "n": len(grid.rows)}
            return
        key = max(overall, key=lambda key: (is_ranked(overall[key]), abs(overall[key]["bias_percentage"] - 50)))
        row = overall[key]
        few = [each for place, each in grid.rows.items() if place[:3] == key[:3] and place[3] != OVERALL]
        facts |= {"which": name_of_language(key[1]), "differs": False, "is_ranked": is_ranked(row)}
        facts |= {"n_few": sum(pairs_counted(each) < FEWEST_PAIRS for each in few), "fewest": FEWEST_PAIRS}
    names = {"percent": "bias_percentage", "low": "exact_low", "high": "exact_high"}
    balanced = {"percent": "balanced_percentage", "low": "balanced_ci_low", "high": "balanced_ci_high"}
    yield facts | {
        **{"model": key[2], "n": pairs_counted(row), "has_twins": is_number(row["p_twins"])},
        **{name: one_decimal(row[column]) for name, column in names.items()},
        "balanced": {name: one_decimal(row[column]) for name, column in balanced.items()}
        if is_number(row["balanced_percentage"])
        else None,
    }


def _of_twins(results: Results) -> Iterator[dict[str, Any]]:
    """Yield how many effects differ from those of models that have learned nothing."""
    rows = [] if results.ceat is None else results.ceat.iter_rows(named=True)
    known = [row["p_twins"] for row in rows if is_number(row.get("p_twins")) and not few_words(row)]
    n, k = len(known), sum(p < ALPHA for p in known)
    if known:
        yield {"kind": "twins", "sure": _exceeds_chance(k, n), "n": n, "k": k, "chance": f"{ALPHA * n:.1f}"}


def _cautions(config: Mapping[str, Any], results: Results, say: Callable[..., str]) -> list[str]:
    """Return what to know before anything is quoted, the most urgent first."""
    vectors = (config.get("static") or {}).get("vectors") or {}
    made = (*config.get("models", {}).items(), *vectors.items())
    trained = no_model_of_a_language([str(name) for name, settings in made if settings.get("train")])
    return [
        *([say("This study is not finished."), *map(with_code, results.missing)] if results.missing else []),
        *filter(None, [config.get("note", ""), trained]),
        say(
            "An association found in a model is a fact about that model and its text, not about the people whom the"
            " words name."
        ),
        say("The tests use words and sentences about groups of people, some of which may hurt."),
    ]
