"""A view for each category: the same words through all methods, which of them carry an effect, and their sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from prasanga.methods import CEAT
from prasanga.report.grid import METHODS, Estimate, Grid, anchor_of, names_of_sets, natural_order
from prasanga.report.section import Section, View, hides_texts
from prasanga.report.sections.ceat import ceat_grid, texts_of
from prasanga.report.sections.estimates import NUMBERS, number_cells, shaded
from prasanga.report.sections.lengths import chart
from prasanga.report.sections.texts import words_with_hits
from prasanga.report.sections.words import words_of_categories
from prasanga.report.sheet import Cell, Row, Sheet, html, numbers
from prasanga.report.study import Results
from prasanga.report.words import gloss_of, glosses_of, title_of_set

_SHOWN = ("effect size", "95 % interval over words", "Holm", "difference from twins", "targets used", "attributes used")


def views(config: Mapping[str, Any], results: Results) -> list[View]:
    """Return a view for each category that any method measured, in natural order."""
    grid = ceat_grid(results)
    texts = {} if grid is None else texts_of(grid)
    of_words = words_of_categories(results)
    rows: dict[str, list[tuple[str, Estimate]]] = {}
    for label, row in _estimates(results, grid):
        rows.setdefault(row["category"], []).append((label, row))
    with_hits = {} if hides_texts(config) else words_with_hits(results)
    hits = {word.stimulus: anchor_of(name, "hits") for name, words in with_hits.items() for word in words}
    made = []
    for name in sorted(rows, key=natural_order):
        anchor = anchor_of(name)
        shown = [each for each in grid.categories if each.name == name] if grid else []
        about = Section(
            f"{name}: {rows[name][0][1]['category_title']}",
            f"{anchor}-methods",
            widget=chart(grid, shown, texts, choose=False) if grid and shown else "",
            sheets=[_by_method(name, rows[name])],
            notes=_links(name, grid),
        )
        words = Section("Its words", f"{anchor}-words", definitions=_words(results, name, rows[name][0][1], hits))
        carrying = of_words.get(name)
        made.append(
            View(
                anchor,
                "By category",
                name,
                [about, words],
                [carrying and replace(carrying, title="Which words carry the effect", id=f"{anchor}-carrying")],
            )
        )
    return made


def _estimates(results: Results, grid: Grid | None) -> Iterator[tuple[str, Estimate]]:
    """Yield method and estimate; of CEAT those of the first sample mode, from short to long."""
    if grid is not None:
        for (_, _, _, mode), row in sorted(grid.estimates.items(), key=lambda each: grid.lengths.index(each[0][2])):
            if mode == grid.modes[0]:
                yield METHODS[CEAT.name], row
    for name, table in results.methods:
        for row in table.iter_rows(named=True):
            yield METHODS[name], row


def _by_method(category: str, rows: list[tuple[str, Estimate]]) -> Sheet:
    columns = [number for number in NUMBERS if number.name in _SHOWN]
    lines = []
    for label, row in rows:
        effect, *others = number_cells(row, columns)
        where = (Cell(row["model"]), Cell(str(row.get("segment_length") or "")))
        lines.append(Row((label,), (*where, shaded(row, effect), *others)))
    caption = f"{category} by every method and model"
    kinds = dict.fromkeys(("Model", "Words"), "list")
    return Sheet(
        ("Method",), numbers("Model", "Words", *(n.name for n in columns)), tuple(lines), caption, "by-methods", kinds
    )


def _links(name: str, grid: Grid | None) -> list[Markup]:
    names = [each.name for each in grid.categories] if grid else []
    if name not in names:
        return []
    return [
        html(
            'All that is known of each estimate: <a href="#numbers" data-row="numbers-{}">all numbers of {}</a>.',
            names.index(name) + 1,
            name,
        )
    ]


def _words(results: Results, name: str, row: Estimate, hits: Mapping[str, str]) -> list[tuple[str, Markup]]:
    """Return each set with its words and their glosses, each a link to its sentences if there are any."""
    about, glosses = results.categories.get(name), glosses_of(results.categories)
    if about is None:
        return [(each, Markup("The words of this set are with its templates.")) for each in names_of_sets(row)]

    def written(stimulus: str) -> Markup:
        gloss = gloss_of(stimulus, glosses)
        more = html(' <span class="more">{}</span>', gloss) if gloss else ""
        if stimulus not in hits:
            return html("{}{}", stimulus, more)
        places = map(Markup.escape, (hits[stimulus], anchor_of(stimulus, "word")))
        return html('<a href="#{}" data-then="{}">{}</a>{}', *places, stimulus, more)

    return [
        (title_of_set(each), Markup(", ").join(map(written, dict.fromkeys(each["stimuli"]))))
        for each in (*about["targets"], *about["attributes"])
    ]
