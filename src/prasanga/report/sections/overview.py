"""The first screen of the page: what was measured, one picture, three findings, one line of caution.

The picture asks whether associations depend on context, and in which models: a row a category, a column a model, a line
over the lengths in each cell, which is marked where the change is more than chance. The findings are plain sentences,
each with how sure it is; what is well supported comes first. They are told in the language of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from scipy.stats import binom

from prasanga.report.cards import no_model_of_a_language
from prasanga.report.findings import farthest_percentage, is_found, sides_of
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
    names_of_sets,
    pair_grid_of,
    pairs_counted,
)
from prasanga.report.section import Section, language_of, render, said, with_code
from prasanga.report.sections.ceat import Changes, ceat_grid, changes_of, small_picture
from prasanga.report.sheet import one_decimal, two
from prasanga.report.study import Results

SHOWN, LIKELY, OPEN = "Well supported", "Tentative", "Not proven"
"""How sure a finding is, the surest first."""

_N_FINDINGS = 3


class Finding(NamedTuple):
    """A finding: how sure it is, what it says, and on what that rests."""

    sure: str
    text: str
    grounds: str


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
        findings=three_findings(results, say),
        caution=first,
        others=others,
    )
    return Section("Does the association depend on context, and in which models?", "findings", widget=widget)


def three_findings(results: Results, say: Callable[..., str]) -> list[Finding]:
    """Return what came out, the best supported first, in the words that `say` has for it."""
    found = [*_of_context(results, say), *_of_methods(results, say), *_of_pairs(results, say), *_of_twins(results, say)]
    return sorted(found, key=lambda finding: (SHOWN, LIKELY, OPEN).index(finding.sure))[:_N_FINDINGS]


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
    said = "; ".join(parts)
    if len(models) == 1:
        return say("What {models} associates with people and things: {parts}.", models=models[0], parts=said)
    named = say("{n} models", n=len(models))
    if len(models) == 2:
        named = say("{first} and {second}", first=models[0], second=models[1])
    return say("What {models} associate with people and things: {parts}.", models=named, parts=said)


def _picture(grid: Grid, changes: Changes) -> list[tuple[Any, ...]]:
    """Return a row for each category: it, its address, and (model, picture, both ends, change) for each model."""
    ends = (changes.shortest, changes.longest)
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


def _of_context(results: Results, say: Callable[..., str]) -> Iterator[Finding]:
    """Yield in how many cases the association changes with context, and where most."""
    grid = ceat_grid(results)
    if grid is None:
        return
    changes = changes_of(grid, results)
    shown = {key: change for key, change in changes.of.items() if change.is_shown}
    n, k = len(changes.of), len(shown)
    lengths = {"short": changes.shortest, "long": changes.longest}
    if k:
        category, model = max(shown, key=lambda key: abs(shown[key].difference))
        first, second = _at(grid, category, model, lengths.values())
        where = {"category": category, "model": model, "first": first, "second": second}
        yield Finding(
            LIKELY if binom.sf(k - 1, n, ALPHA) < ALPHA else OPEN,
            say(
                "The association changes with context in {k} of {n} cases, most in {category} by {model}: from {first}"
                " at {short} words to {second} at {long}.",
                **{"k": k, "n": n, **lengths, **where},
            ),
            say(
                "In these cases the 95 % interval of the change excludes zero; by chance it would in about {chance}.",
                chance=f"{ALPHA * n:.1f}",
            ),
        )
    elif n:
        most = max(max(abs(change.low), abs(change.high)) for change in changes.of.values())
        yield Finding(
            OPEN,
            say("From {short} to {long} words of context no association changes by more than chance.", **lengths),
            say(
                "{n} combinations of category and model; changes of up to {most} standard deviations remain possible.",
                n=n,
                most=f"{most:.1f}",
            ),
        )


def _of_methods(results: Results, say: Callable[..., str]) -> Iterator[Finding]:
    """Yield the strongest association that any method found, or that none was found."""
    rows = [
        (row, METHODS[name])
        for name, table in results.estimates.items()
        for row in table.iter_rows(named=True)
        if is_number(row["effect_size"]) and not few_words(row)
    ]
    found = [(row, method) for row, method in rows if is_found(row)]
    if found:
        row, method = max(found, key=lambda each: abs(each[0]["effect_size"]))
        x, y, kept, other = sides_of(row["effect_size"], *names_of_sets(row))
        where = ", ".join(filter(None, [row["category"], method, row["model"]]))
        yield Finding(
            SHOWN,
            say(
                "{x}, more than {y}, are associated with {kept} rather than {other} ({where}): {effect} standard"
                " deviations.",
                **{"x": x, "y": y, "kept": kept, "other": other, "where": where, "effect": two(row["effect_size"])},
            ),
            say(
                "95 % interval {low} to {high}, and more than chance after correction for all tests. So are {k} of {n}"
                " estimates; this is the largest, and probably too large.",
                low=two(row["ci_low"]),
                high=two(row["ci_high"]),
                k=len(found),
                n=len(rows),
            ),
        )
    elif rows:
        known = [size for row, _ in rows if is_number(size := row.get("smallest_effect"))]
        yield Finding(
            OPEN,
            say("No method found an association that is more than chance."),
            say(
                "{n} estimates, corrected for all tests. With so few words, effects below {size} standard"
                " deviations can be missed.",
                n=len(rows),
                size=f"{max(known):.1f}",
            )
            if known
            else say("{n} estimates, corrected for all tests.", n=len(rows)),
        )


def _of_pairs(results: Results, say: Callable[..., str]) -> Iterator[Finding]:
    """Yield the percentage farthest from 50, of many pairs before of few."""
    if results.bias_percentages is None or results.bias_percentages.is_empty():
        return
    grid = pair_grid_of(results.bias_percentages)
    key = farthest_percentage(grid)
    if key is None:
        return
    row, (_, language, model, bias_type) = grid.rows[key], key
    yield Finding(
        SHOWN if is_significant(row) else OPEN,
        say(
            "{model} scores the stereotype higher in {percent} % of {n} sentence pairs ({which})."
            if is_significant(row)
            else "No model prefers stereotypes by more than chance; farthest from 50 % is {model}, {percent} % of {n}"
            " sentence pairs ({which}).",
            percent=one_decimal(row["bias_percentage"]),
            n=pairs_counted(row),
            model=model,
            which=f"{name_of_type(bias_type).lower()}, {name_of_language(language)}",
        ),
        say(
            "Exact 95 % interval {low} to {high} %; 50 is no preference.",
            low=one_decimal(row["exact_low"]),
            high=one_decimal(row["exact_high"]),
        ),
    )


def _of_twins(results: Results, say: Callable[..., str]) -> Iterator[Finding]:
    """Yield how many effects differ from those of models that have learnt nothing."""
    if results.ceat is None:
        return
    known = [row for row in results.ceat.iter_rows(named=True) if is_number(row.get("p_twins")) and not few_words(row)]
    differ = sum(row["p_twins"] < ALPHA for row in known)
    if known:
        yield Finding(
            LIKELY if differ and binom.sf(differ - 1, len(known), ALPHA) < ALPHA else OPEN,
            say(
                "{k} of {n} effects (CEAT) differ from those of the same model with random weights, which has learnt"
                " nothing.",
                k=differ,
                n=len(known),
            ),
            say("Before correction; by chance {chance} would.", chance=f"{ALPHA * len(known):.1f}"),
        )


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
