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
        apart=changes and changes.apart,
        findings=three_findings(results, say),
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


def three_findings(results: Results, say: Callable[..., str]) -> list[Finding]:
    """Return what came out, the best supported first, in the words that `say` has for it."""
    found = [*_of_context(results, say), *_of_methods(results, say), *_of_pairs(results, say), *_of_twins(results, say)]
    found = found or list(_of_structures(results, say))
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
    """Yield the strongest association that any method found, or that none was found, and what that means."""
    every = [(row, name) for name, table in results.estimates.items() for row in table.iter_rows(named=True)]
    computed = [(row, name) for row, name in every if is_number(row["effect_size"])]
    rows = [(row, name) for row, name in computed if not few_words(row)]
    found = [(row, name) for row, name in rows if is_found(row)]
    if found:
        row, name = max(found, key=lambda each: abs(each[0]["effect_size"]))
        x, y, kept, other = order_sides(row)
        where = ", ".join(filter(None, [row["category"], METHODS[name], row["model"]]))
        limits = [] if is_number(row.get("p_twins")) else [say("Not compared with random copies.")]
        if "ci_templates_low" in row and not is_number(row["ci_templates_low"]):
            limits.append(say("For these templates only."))
        yield Finding(
            SHOWN,
            say(
                "{x}, more than {y}, are associated with {kept} rather than {other} ({where}): {effect} standard"
                " deviations.",
                **{"x": x, "y": y, "kept": kept, "other": other, "where": where, "effect": two(row["effect_size"])},
            ),
            " ".join(
                [
                    say(
                        "95 % interval {low} to {high}, and more than chance after correction for all tests. So are {k}"
                        " of {n} estimates; this is the largest, and probably too large.",
                        low=two(row["ci_low"]),
                        high=two(row["ci_high"]),
                        k=len(found),
                        n=len(rows),
                    ),
                    *limits,
                ]
            ),
        )
    elif rows:
        significant = sum(is_marked(row) for row, _ in rows)
        yield Finding(
            OPEN,
            say(
                "No association was found. Significant after correction: {k} of {n} estimates, but their intervals"
                " include zero or copies with random weights show as much.",
                k=significant,
                n=len(rows),
            )
            if significant
            else say("No method found an association that is more than chance."),
            f"{say('{n} estimates, corrected for all tests.', n=len(rows))} {_words_set_the_limit(rows, say)}",
        )
    elif every:
        yield _without_enough_words([row for row, _ in every], [row["effect_size"] for row, _ in computed], say)


def _words_set_the_limit(rows: Iterable[tuple[Mapping[str, Any], str]], say: Callable[..., str]) -> str:
    """Return which effects so many words find."""
    estimates = [row for row, _ in rows]
    found = find_detectable(estimates)
    if not found.sizes:
        return say(
            "Words set the limit: with so few, the permutation test of words finds no effect of any size at .05 /"
            " {tests}.",
            tests=found.n_tests,
        )
    sizes = [f"{size:.1f}" for size in (found.median, found.sizes[0], found.sizes[-1])]
    limit = say(
        "Words set the limit: with so many, the permutation test of words finds an effect of {median} standard"
        " deviations ({low} to {high}) in 80% of studies, at .05 / {tests}.",
        **dict(zip(("median", "low", "high"), sizes, strict=True)),
        tests=found.n_tests,
    )
    if not found.n_without:
        return limit
    none = say("Estimates for which it finds none: {k} of {n}.", k=found.n_without, n=len(estimates))
    return f"{limit} {none}"


def _without_enough_words(rows: list[Mapping[str, Any]], effects: list[float], say: Callable[..., str]) -> Finding:
    """Return which numbers there are where none has enough words for a finding, and which words were lost."""
    lost: dict[str, dict[str, None]] = {}
    for row in rows:
        for words in group_lost_words(row["lost"], without=COUNTED).values():
            lost.setdefault(row["category"], {}).update(dict.fromkeys(words))
    named = "; ".join(f"{', '.join(words)} ({category})" for category, words in lost.items())
    grounds = say("A finding needs {n} words in each set, and two thirds of its list.", n=FEWEST_WORDS)
    if named:
        grounds += f" {say('Words lost: {words}.', words=named)}"
    if not effects:
        return Finding(OPEN, say("Effects computed: none of {n}.", n=len(rows)), grounds)
    counts = {"k": len(effects), "n": len(rows)}
    return Finding(
        OPEN,
        say(
            "Effects computed: {k} of {n}, from {low} to {high} standard deviations. None has enough words for a"
            " finding.",
            **counts,
            low=two(min(effects)),
            high=two(max(effects)),
        ),
        grounds,
    )


def _of_structures(results: Results, say: Callable[..., str]) -> Iterator[Finding]:
    """Yield how many traits were scored, where a study has nothing else."""
    if results.structures is not None and len(results.structures):
        n, k = results.structures["n"].max(), results.structures["structure"].n_unique()
        yield Finding(
            OPEN,
            say("{n} traits were scored in {k} sentence structures.", n=n, k=k),
            say("The section on sentence structures says how far associations spread in each."),
        )


def _of_pairs(results: Results, say: Callable[..., str]) -> Iterator[Finding]:
    """Yield the percentage farthest from 50 that differs from it, or that over all pairs; of few none is ranked."""
    if results.bias_percentages is None or results.bias_percentages.is_empty():
        return
    grid = pair_grid_of(results.bias_percentages)
    key = farthest_percentage(grid)
    if key is not None and is_significant(grid.rows[key]):
        row, (_, language, model, bias_type) = grid.rows[key], key
        which = f"{name_of_type(bias_type).lower()}, {name_of_language(language)}"
        text = say(
            "{model} scores the stereotype higher in {percent} % of {n} sentence pairs ({which}).",
            **_percentage(row),
            model=model,
            which=which,
        )
        reason = doubt(row)
        grounds = _pair_grounds(row, say)
        if not is_number(row["p_twins"]):
            grounds += f" {say('Not compared with random copies.')}"
        yield Finding(OPEN if reason else SHOWN, f"{text} {say(reason)}" if reason else text, grounds)
        return
    overall = {key: row for key, row in grid.rows.items() if key[3] == OVERALL and is_number(row["bias_percentage"])}
    if not overall:
        yield Finding(OPEN, say("Bias percentages computed: none of {n}.", n=len(grid.rows)), "")
        return
    key = max(overall, key=lambda key: (is_ranked(overall[key]), abs(overall[key]["bias_percentage"] - 50)))
    few = sum(
        pairs_counted(row) < FEWEST_PAIRS
        for (*place, bias_type), row in grid.rows.items()
        if tuple(place) == key[:3] and bias_type != OVERALL
    )
    grounds = _pair_grounds(overall[key], say)
    if few:
        grounds += f" {say('Bias types of fewer than {n} pairs, too few to rank: {k}.', k=few, n=FEWEST_PAIRS)}"
    text = say(
        "Over all {n} sentence pairs ({which}), {model} scores the stereotype higher in {percent}%. No difference from"
        " 50% was shown."
        if is_ranked(overall[key])
        else "Too few sentence pairs for a finding ({n}, {which}): {model} scores the stereotype higher in {percent}%.",
        **_percentage(overall[key]),
        model=key[2],
        which=name_of_language(key[1]),
    )
    yield Finding(OPEN, text, grounds)


def _percentage(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"percent": one_decimal(row["bias_percentage"]), "n": pairs_counted(row)}


def _pair_grounds(row: Mapping[str, Any], say: Callable[..., str]) -> str:
    """Return the intervals of a percentage, and of that with both labels weighted alike."""
    grounds = say(
        "Exact 95 % interval {low} to {high} %; 50 is no preference.",
        low=one_decimal(row["exact_low"]),
        high=one_decimal(row["exact_high"]),
    )
    if not is_number(row["balanced_percentage"]):
        return grounds
    numbers = {
        name: one_decimal(row[f"balanced_{column}"])
        for name, column in {"percent": "percentage", "low": "ci_low", "high": "ci_high"}.items()
    }
    balanced = say("With both labels weighted alike: {percent}% ({low} to {high}).", **numbers)
    return f"{grounds} {balanced}"


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
                "{k} of {n} effects (CEAT) differ from those of the same model with random weights, which has learned"
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
