"""The first screen of the page: what was measured, one picture, three findings, one line of caution.

The picture has a row per category and a column per model, with a line over the context lengths in each cell, which is
marked where the change is more than chance. The findings are sentences of `overview.html.j2`, in the language of the
page, each with how sure it is; the best supported come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from scipy.stats import binom

from prasanga.pairs.preferences import FEWEST_PAIRS, OVERALL
from prasanga.report import findings
from prasanga.report.cards import no_model_of_a_language
from prasanga.report.grid import (
    ALPHA,
    METHODS,
    Estimate,
    Grid,
    anchor_of,
    excludes_zero,
    few_words,
    is_number,
    is_significant,
    name_of_language,
    name_of_type,
    pair_grid_of,
    pairs_counted,
)
from prasanga.report.section import Section, language_of, render, said, with_code
from prasanga.report.sections.associations import ceat_grid, draw_line
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


class Changes(NamedTuple):
    """Changes from the shortest length to the longest with the same texts, in the first sample mode.

    `found` has the rows of the table of differences by category and model; those that rest on few words, or were not
    computed, are not there. `apart` has the lengths of other texts.
    """

    shortest: str
    longest: str
    apart: tuple[str, ...]
    found: Mapping[tuple[str, str], Estimate]


def overview(config: Mapping[str, Any], results: Results) -> Section:
    """Return the section of the first screen."""
    say = partial(said, language=language_of(config))
    grid = ceat_grid(results)
    changes = None if grid is None else compare_lengths(grid, results)
    first, *others = _cautions(config, results, say)
    widget = render(
        "overview",
        language=language_of(config),
        measured=_list_measured(grid, results),
        picture=None if grid is None or changes is None else _draw_picture(grid, changes),
        changes=changes,
        findings=list_findings(results),
        caution=first,
        others=others,
    )
    asked = (
        grid is not None and len(grid.lengths) > 1,
        results.estimates,
        results.bias_percentages is not None,
        results.structures is not None,
        True,
    )
    question = next(question for question, is_asked in zip(QUESTIONS, asked, strict=True) if is_asked)
    return Section(question, "findings", widget=widget)


def compare_lengths(grid: Grid, results: Results) -> Changes:
    """Return the changes with length; contexts above a length (">75") are other texts, so they are no end of it."""
    fixed = [length for length in grid.lengths if not length.startswith(">")]
    shortest, *_, longest = fixed if len(fixed) > 1 else (grid.lengths[0], *grid.lengths)
    found: dict[tuple[str, str], Estimate] = {}
    if results.differences is not None:
        wanted = {"kind": "length", "sample_mode": grid.modes[0], "first": shortest, "second": longest}
        for row in results.differences.filter(**wanted).iter_rows(named=True):
            key = row["category"], row["model"]
            few = any(few_words(grid.at(*key, length, grid.modes[0])) for length in (shortest, longest))
            if all(is_number(row[name]) for name in ("difference", "ci_low", "ci_high")) and not few:
                found[key] = row
    apart = tuple(length for length in grid.lengths if length.startswith(">") and length != longest)
    return Changes(shortest, longest, apart, found)


def list_findings(results: Results) -> list[dict[str, Any]]:
    """Return the facts of the findings, the best supported first: `kind`, `sure`, and the values of the sentences."""
    found = [*_find_change(results), *_find_association(results), *_find_percentage(results), *_find_twins(results)]
    if not found and results.structures is not None and len(results.structures):
        n, k = results.structures["n"].max(), results.structures["structure"].n_unique()
        found = [{"kind": "structures", "sure": OPEN, "n": n, "k": k}]
    return sorted(found, key=lambda facts: (SHOWN, LIKELY, OPEN).index(facts["sure"]))[:_N_FINDINGS]


def _list_measured(grid: Grid | None, results: Results) -> dict[str, Any]:
    """Return what was measured: models, and categories, lengths or numbers of each method."""
    pairs = results.bias_percentages
    tables = (*results.estimates.values(), results.structures, pairs)
    return {
        "models": sorted({model for table in tables if table is not None for model in table["model"]}),
        "lengths": ", ".join(grid.lengths) if grid else "",
        "n_categories": len(grid.categories) if grid else 0,
        "methods": [(METHODS[name], table["category"].n_unique()) for name, table in results.methods],
        "has_structures": results.structures is not None,
        "n_pairs": 0 if pairs is None or pairs.is_empty() else max(pairs["n_pairs"]),
    }


def _draw_picture(grid: Grid, changes: Changes) -> list[tuple[Any, ...]]:
    """Return a row for each category: it, its address, and (model, picture, effects, change if shown) for each model.

    The effects are those at both ends of the line, and at lengths of other texts, which are points of their own.
    """
    rows = []
    for category in grid.categories:
        cells = []
        for model in grid.models:
            change = changes.found.get((category.name, model))
            change = change if change and excludes_zero(change, "ci") else None
            ends = (changes.shortest, changes.longest, *changes.apart)
            effects = [_show_effect(grid, category.name, model, length) for length in ends]
            cells.append((model, draw_line(grid, category, model, changed=bool(change)), effects, change))
        rows.append((category, anchor_of(category.name), cells))
    return rows


def _show_effect(grid: Grid, category: str, model: str, length: str) -> str:
    """Return the effect at a length, in the first sample mode."""
    row = grid.at(category, model, length, grid.modes[0])
    return two(row["effect_size"] if row else None)


def _exceeds_chance(k: int, n: int) -> dict[str, Any]:
    """Return k of n tests at `ALPHA`, how many are expected by chance, and how sure it is that these are more."""
    is_likely = k and binom.sf(k - 1, n, ALPHA) < ALPHA
    return {"k": k, "n": n, "chance": f"{ALPHA * n:.1f}", "sure": LIKELY if is_likely else OPEN}


def _find_change(results: Results) -> Iterator[dict[str, Any]]:
    """Yield in how many cases the association changes with context, and where most."""
    grid = ceat_grid(results)
    if grid is None or not (changes := compare_lengths(grid, results)).found:
        return
    shown = {key: row["difference"] for key, row in changes.found.items() if excludes_zero(row, "ci")}
    facts = {"short": changes.shortest, "long": changes.longest, **_exceeds_chance(len(shown), len(changes.found))}
    if shown:
        category, model = max(shown, key=lambda key: abs(shown[key]))
        first, second = (_show_effect(grid, category, model, length) for length in changes[:2])
        where = {"category": category, "model": model, "first": first, "second": second}
        yield {"kind": "change", **facts, **where}
    else:
        most = max(abs(row[end]) for row in changes.found.values() for end in ("ci_low", "ci_high"))
        yield {"kind": "no_change", **facts, "most": f"{most:.1f}"}


def _find_association(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the strongest association that any method found, or that none was found, and the limits."""
    every = [(row, name) for name, table in results.estimates.items() for row in table.iter_rows(named=True)]
    computed = [(row, name) for row, name in every if is_number(row["effect_size"])]
    rows = [(row, name) for row, name in computed if not few_words(row)]
    found = [(row, name) for row, name in rows if findings.is_found(row)]
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
        limits = findings.find_detectable([row for row, _ in rows])
        sizes = (limits["median"], limits["sizes"][0], limits["sizes"][-1]) if limits["sizes"] else ()
        yield facts | {
            **{"kind": "not_found", "k": sum(findings.is_marked(row) for row, _ in rows), "tests": limits["n_tests"]},
            **dict(zip(("median", "low", "high"), (f"{size:.1f}" for size in sizes), strict=False)),
            "n_without": limits["n_without"],
        }
    elif every:
        lost: dict[str, dict[str, None]] = {}
        for row, _ in every:
            for words in group_lost_words(row["lost"], without=COUNTED).values():
                lost.setdefault(row["category"], {}).update(dict.fromkeys(filter(None, words)))
        effects = [row["effect_size"] for row, _ in computed]
        yield facts | {
            **{"kind": "few_words", "n": len(every), "k": len(effects), "fewest": FEWEST_WORDS},
            "words": "; ".join(f"{', '.join(words)} ({category})" for category, words in lost.items()),
            **({"low": two(min(effects)), "high": two(max(effects))} if effects else {}),
        }


def _find_percentage(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the percentage farthest from 50 that differs from it, or that over all pairs; of few none is ranked."""
    if results.bias_percentages is None or results.bias_percentages.is_empty():
        return
    grid = pair_grid_of(results.bias_percentages)
    key = findings.farthest_percentage(grid)
    differs = key is not None and is_significant(grid.rows[key])
    if key is None or not differs:
        overall = {k: row for k, row in grid.rows.items() if k[3] == OVERALL and is_number(row["bias_percentage"])}
        if not overall:
            yield {"kind": "no_percentage", "sure": OPEN, "n": len(grid.rows)}
            return
        ranked = {k: (findings.is_ranked(row), abs(row["bias_percentage"] - 50)) for k, row in overall.items()}
        key = max(ranked, key=ranked.__getitem__)
    row = grid.rows[key]
    reason = findings.doubt(row) if differs else ""
    types = [each for place, each in grid.rows.items() if place[:3] == key[:3] and place[3] != OVERALL]
    balanced = is_number(row["balanced_percentage"])
    yield {
        **{"kind": "percentage", "sure": SHOWN if differs and not reason else OPEN, "reason": reason},
        **{"differs": differs, "model": key[2], "n": pairs_counted(row), "has_twins": is_number(row["p_twins"])},
        "which": ", ".join([name_of_type(key[3]).lower()] * differs + [name_of_language(key[1])]),
        **{"is_ranked": findings.is_ranked(row), "fewest": FEWEST_PAIRS},
        "n_few": sum(pairs_counted(each) < FEWEST_PAIRS for each in types),
        **_show_percentage(row, "bias_percentage", "exact"),
        "balanced": balanced and _show_percentage(row, "balanced_percentage", "balanced_ci"),
    }


def _show_percentage(row: Estimate, name: str, ends: str) -> dict[str, str]:
    names = {"percent": name, "low": f"{ends}_low", "high": f"{ends}_high"}
    return {key: one_decimal(row[column]) for key, column in names.items()}


def _find_twins(results: Results) -> Iterator[dict[str, Any]]:
    """Yield how many effects differ from those of models that have learned nothing."""
    rows = [] if results.ceat is None else results.ceat.iter_rows(named=True)
    known = [row["p_twins"] for row in rows if is_number(row.get("p_twins")) and not few_words(row)]
    if known:
        yield {"kind": "twins", **_exceeds_chance(sum(p < ALPHA for p in known), len(known))}


def _cautions(config: Mapping[str, Any], results: Results, say: Callable[..., str]) -> list[str]:
    """Return what to know before anything is quoted, the most urgent first."""
    made = {**config.get("models", {}), **((config.get("static") or {}).get("vectors") or {})}
    trained = no_model_of_a_language([str(name) for name, settings in made.items() if settings.get("train")])
    return [
        *([say("This study is not finished."), *map(with_code, results.missing)] if results.missing else []),
        *filter(None, [config.get("note", ""), trained]),
        say(
            "An association found in a model is a fact about that model and its text, not about the people whom the"
            " words name."
        ),
        say("The tests use words and sentences about groups of people, some of which may hurt."),
    ]
