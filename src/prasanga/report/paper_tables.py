"""Tables of a study in the layouts of the papers' tables, and the files next to the page.

The layouts follow Tables 2, 4, 5 and 6 of Sadhu et al., and 2, 3, 4 and 9 of Sahoo et al. Only what the study
measured is shown. A cell that the paper's table has and the study has not is empty, and a note says why. Marks follow
the study's preset: by Holm-corrected p_association, or with `paper` by the p of the paper. The other notes are
`templates/paper_notes.txt.j2`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from prasanga.associations.comparisons import agreement, sort_lengths
from prasanga.base.errors import InputError
from prasanga.base.io import digest_of, guarded, read_frame, replacing, require_every_page, write_text
from prasanga.methods import FAMILY, PAIRS, names_of
from prasanga.pairs.preferences import OVERALL
from prasanga.report import comparison
from prasanga.report import grid as grids
from prasanga.report import sheet as sheets
from prasanga.stats.effects import two_sided_p

ENDINGS = ("csv", "md", "tex")
PAIR_TABLE = "sahoo_table2"
SADHU = tuple(f"C{number}" for number in range(1, 10))
SAHOO: Mapping[str, tuple[str, ...]] = {
    "sahoo_table3": tuple(f"GR{number}" for number in range(1, 15)),
    "sahoo_table4": tuple(f"GC{number}" for number in range(1, 7)),
    "sahoo_table9": tuple(f"GA{number}" for number in range(1, 7)),
}
"""Tests of each table, in the order of its rows."""

COHEN = 0.2, 0.5, 0.8
"""From where on an effect is small, medium and large (Cohen; Sadhu et al. 2024, appendix B.1, has the last two)."""

N_OF_TABLE_6 = 1000
"""Draws of CEAT by which Table 6 of Sadhu et al. differs from Table 5."""

Tables: TypeAlias = Mapping[str, pl.DataFrame]
"""Tables of estimates by method: ceat, seat, weat, log_probability_bias; under `pairs` the bias percentages."""

_COLUMNS = 7
"""Columns of numbers of a part in LaTeX, at most."""

_P, _COPIES = "p (Holm)", f"d {sheets.MINUS} copies"  # of the table `ceat`
_HEADS = ("Category", "Targets", "Attributes")
_IN_CSV = {"Test": "category", "Draws": "sample_mode", "Bias type": "bias_type", "Length": "segment_length"}
_OF_DRAWS = ("effect_size", "standard_error", "effect_random", "standard_error_random")
"""Columns of CEAT's table that the first draws have as well."""

_MARKINGS = {
    "ceat": grids.Marking("p_draws", 0.05),
    "log_probability_bias": grids.Marking("p_sentences", 0.05),
    # of SEAT, too, the program of Sadhu et al. permutes words
    **dict.fromkeys(("seat", "weat"), grids.Marking("p_stimuli", 0.05)),
}
"""The marks of Table 4 of Sadhu et al., by method."""

_SEAT_BY_SENTENCES = grids.Marking("p_sentences", 0.01)
"""The mark of Sahoo et al."""

_SEAT_BY_WORDS = grids.Marking("p_stimuli", 0.01)
"""The mark of SEAT in a study without p of sentences."""

_RUNS = {"Mean of runs": "runs_mean", "Deviation over runs": "runs_sd"}


class WrittenTable(NamedTuple):
    """One table in the three formats, named as their file endings."""

    csv: str
    md: str
    tex: str


class PaperTable(NamedTuple):
    """A table in a paper's layout; the page and all files are made of the same sheet.

    Attributes:
        name: of its files under `results/report/tables/`.
        caption: in plain text.
        sheet: the table.
        notes: sentences below it.
    """

    name: str
    caption: str
    sheet: sheets.Sheet
    notes: Sequence[str]

    def render(self) -> WrittenTable:
        """Return the table in the three formats."""
        heads = tuple(_IN_CSV.get(head, head.lower()) for head in self.sheet.heads)
        parts = sheets.split_columns(self.sheet, _COLUMNS)
        label = f"tab:{self.name.replace('_table', '')}"
        return WrittenTable(
            sheets.sheet_to_csv(replace(self.sheet, heads=heads)),
            f"{self.caption}\n\n{sheets.sheet_to_markdown(self.sheet, self.notes)}",
            sheets.sheets_to_latex(parts, self.notes, caption=self.caption, label=label),
        )


Columns: TypeAlias = dict[tuple[str, str], Mapping[Any, grids.EstimateRow]]
"""The rows of results of each column, by its group and name, and then by the key of the line."""


def layouts_of(config: Mapping[str, Any]) -> list[str]:
    """Return the layouts that come out of a study, by the names of their files under `results/report/tables/`.

    Args:
        config: the study's config, complete with its defaults.

    Returns:
        Out of sadhu_table4 (if WEAT, SEAT or log-probability bias measures one of C1 to C9), sadhu_table5 (CEAT of
        these; sadhu_table6 with N = 1000, both of several N; with `preset: paper` sadhu_table2, whose gray is of the
        paper's p), sahoo_table3, sahoo_table4 and sahoo_table9 (if SEAT measures one of their tests).
    """
    running, templates = set(config["categories"]), set(config["seat"]["categories"])
    listed = config["static"]["categories"]
    static = (running if listed is None else set(listed)) if config["static"]["vectors"] else set()
    names = ["sadhu_table4"] if (templates | static | {*config["log_probability"]["categories"]}) & set(SADHU) else []
    if running & set(SADHU):
        sizes = sizes_of(config["associations"]["n_samples"])
        names += ["sadhu_table2"] if config["preset"] == "paper" else []
        names += ["sadhu_table5"] if set(sizes) - {N_OF_TABLE_6} else []
        names += ["sadhu_table6"] if N_OF_TABLE_6 in sizes else []
    # one test of one model is no table
    return names + [name for name, tests in SAHOO.items() if len(templates & set(tests)) * len(config["models"]) > 1]


def sizes_of(n_samples: int | Sequence[int]) -> list[int]:
    """Return the numbers of draws that `associations.n_samples` asks for, rising."""
    return [n_samples] if isinstance(n_samples, int) else sorted(n_samples)


def with_fewer_draws(ceat: pl.DataFrame, convergence: pl.DataFrame, n_samples: int | Sequence[int]) -> pl.DataFrame:
    """Return the estimates of CEAT, followed by estimates from their first draws, for each smaller `n_samples`.

    `n_samples` of a row distinguishes them. Effect, standard error and p come from the first n draws; the interval
    over words and contexts is moved to that effect. The papers' layouts and the comparison read no other column that
    depends on draws.

    Args:
        ceat: the table of estimates.
        convergence: the combined effects of the first draws.
        n_samples: `associations.n_samples`.
    """
    fewer = sizes_of(n_samples)[:-1]
    if not fewer:
        return ceat
    key, first = ["category", "model", "segment_length"], {name: pl.col(f"first_{name}") for name in _OF_DRAWS}
    of_first = convergence.filter(pl.col("n").is_in(fewer)).select(*key, "n", pl.col(*_OF_DRAWS).name.prefix("first_"))
    moved = first["effect_size"] - pl.col("effect_size")
    rows = ceat.join(of_first, on=key, maintain_order="left_right").with_columns(
        **first,
        **{name: pl.col(name) + moved for name in ("ci_low", "ci_high")},
        n_samples="n",
        p_draws=_test_draws(first["effect_size"], first["standard_error"]),
        p_draws_random=_test_draws(first["effect_random"], first["standard_error_random"]),
    )
    return pl.concat([ceat, rows.select(ceat.columns).cast(ceat.schema)])


def _test_draws(effect: pl.Expr, standard_error: pl.Expr) -> pl.Expr:
    """Return the two-sided p of combined effects; null where the standard error is 0."""
    z = effect / pl.when(standard_error != 0).then(standard_error)
    return z.map_elements(two_sided_p, return_dtype=pl.Float64)


def render_layout(name: str, tables: Tables, *, preset: str = "recommended", language: str = "bn") -> WrittenTable:
    """Return one table in the three formats; arguments as of `paper_table`."""
    return paper_table(name, tables, preset=preset, language=language).render()


def paper_table(name: str, tables: Tables, *, preset: str = "recommended", language: str = "bn") -> PaperTable:
    """Return one table in the layout of a paper.

    Args:
        name: one of `layouts_of`, `PAIR_TABLE`, or `ceat`: CEAT by length with p, and the difference from the copies.
        tables: the study's tables of estimates by method; a method that was not measured is left out. Of CEAT with
            several numbers of draws (`with_fewer_draws`) Table 6 takes N = 1000, every other table the greatest N.
        preset: recommended or paper; decides what the marks mean.
        language: above the columns of Sahoo's tables. A column `language` in the table of SEAT gives several of them.

    Raises:
        InputError: there is no such layout, or the study has no numbers for it.
    """
    tables = _choose_draws(name, tables)
    if name == PAIR_TABLE:
        return _arrange_pairs(_require_table(PAIRS.name, tables, name), preset)
    if name == "sadhu_table4":
        return _arrange_methods(tables, preset)
    if name == "ceat":
        return _arrange_ceat(name, tables[name].drop("effect_random", strict=False), grids.HOLM)
    if name in ("sadhu_table2", "sadhu_table5", "sadhu_table6"):
        by_draws = preset == "paper" or name == "sadhu_table2"
        ceat = _require_table("ceat", tables, name, SADHU)
        return _arrange_ceat(name, ceat, grids.NOT_BY_DRAWS if by_draws else grids.HOLM)
    if name not in SAHOO:
        raise InputError(f"there is no layout {name!r}; `layouts_of` lists the layouts of a study.")
    return _arrange_languages(name, tables, language, preset)


def _choose_draws(name: str, tables: Tables) -> Tables:
    """Return the tables with one number of draws of CEAT: Table 6 has 1,000, where the study has several."""
    sizes = tables["ceat"]["n_samples"].drop_nulls().unique().to_list() if "ceat" in tables else []
    if len(sizes) < 2:
        return tables
    n = N_OF_TABLE_6 if name == "sadhu_table6" and N_OF_TABLE_6 in sizes else max(sizes)
    return {**tables, "ceat": tables["ceat"].filter(n_samples=n)}


def _arrange(
    name: str,
    notes: Sequence[str],
    heads: tuple[str, ...],
    lines: Mapping[Any, tuple[str, ...]],
    columns: Columns,
    cell: Callable[[tuple[str, str], Any, grids.EstimateRow], sheets.Cell],
    why: Callable[[grids.EstimateRow | None], str] = grids.why_missing,
    count: Callable[[Sequence[grids.EstimateRow]], str] | None = None,
) -> PaperTable:
    """Return a table from the labels of its lines and the results of its columns.

    The first of `notes` is the caption. `cell` writes a result that has a number, given its column and the key of its
    line; `why` says why a result has no number, and these reasons come after the notes. `count` writes the last label
    of a line, n, from its results with a number.
    """
    rows, missing = [], dict[str, list[str]]()
    for key, labels in lines.items():
        cells, said = [], []
        for head, of_column in columns.items():
            row = of_column.get(key)
            reason = why(row)
            cells.append(sheets.Cell() if row is None or reason else cell(head, key, row))
            if reason:
                said.append(f"{' '.join(filter(None, head))}: {reason}")
                missing.setdefault(said[-1], []).append(", ".join([labels[0], *labels[3:]] if labels[2:] else labels))
        n = [count([c[key] for c in columns.values() if key in c and not why(c[key])])] if count else []
        rows.append(sheets.Row((*labels, *n), tuple(cells), "; ".join(said)))
    few = any(each.words for row in rows for each in row.cells)
    listed = [f"{sheets.MISSING} {', '.join(where)}: {reason}." for reason, where in missing.items()]
    caption, *others = notes
    kept = [n for n in range(len(columns)) if any(row.cells[n].text != sheets.MISSING for row in rows)]
    sheet = sheets.select_columns(sheets.Sheet((*heads, "n") if count else heads, tuple(columns), rows), kept)
    return PaperTable(name, caption, sheet, [*others, *sheets.write_notes("few_words") * few, *listed])


_LENGTHS = ("9", "25", "75", ">75")
"""Segment lengths of Tables 2, 5 and 6 of Sadhu et al.; a study has others for Figure 1."""


def _arrange_ceat(name: str, ceat: pl.DataFrame, marking: grids.Marking) -> PaperTable:
    """Return the estimates of CEAT: a line per category and sample mode, columns per model and segment length.

    Marked by words, primary estimates come first, since single lengths are not tested. In Table 2 lines and columns
    change places, and what has a mark is gray; in Tables 5 and 6 what is large is.
    """
    grid, key = grids.grid_of(ceat), ["category", "sample_mode", "model", "segment_length"]
    found = grids.split_draws(ceat).rows_by_key(key, named=True, unique=True)
    of_paper = [length for length in grid.lengths if length in _LENGTHS] if name != "ceat" else []
    lengths = [*([grids.MEAN] * (marking is grids.HOLM)), *(of_paper or grid.lengths)]
    modes, places = sorted({mode for _, mode, *_ in found}), list(product(grid.models, lengths))
    tests = {(each.name, mode): (*each, mode) for each, mode in product(grid.categories, modes)}
    heads: tuple[str, ...] = (*_HEADS, "Draws")
    lines: Mapping[Any, tuple[str, ...]] = tests
    columns: Columns = {at: {test: found[*test, *at] for test in tests if (*test, *at) in found} for at in places}
    if name == "ceat":
        heads, lines, shown = _HEADS, {test: labels[:3] for test, labels in tests.items()}, (_P, _COPIES, *grid.lengths)
        columns = {
            (model, each): columns[model, grids.MEAN if each in (_P, _COPIES) else each]
            for model, each in product(grid.models, (grids.MEAN, *shown))
        }
    if name == "sadhu_table2":
        heads, lines = ("Model", "Length"), {at: at for at in places}
        columns = {test: {at: columns[at][test] for at in places if test in columns[at]} for test in tests}

    def cell(column: tuple[str, str], _: Any, row: grids.EstimateRow) -> sheets.Cell:
        if column[1] in (_P, _COPIES):
            p, copies = row["p_association_holm"], [row.get(f"twin_difference{end}") for end in ("", "_low", "_high")]
            return sheets.Cell(sheets.probability(p)) if column[1] == _P else sheets.with_interval(*copies)
        written = _write_effect(row, marking)
        n = 2 * bool(written.mark) if name == "sadhu_table2" else sum(abs(row["effect_size"]) >= d for d in COHEN)
        return replace(written, shade=f"gray-{n}" if n and name != "ceat" else "")

    sizes = sorted(set(ceat["n_samples"])) if name != "ceat" else ()
    facts = {"mark": _explain_mark(marking), "conventions": sheets.describe_conventions(ceat), "mode": modes[0]}
    notes = sheets.write_notes("ceat", number=name[-1], sizes=sizes, cohen=COHEN, **facts)
    return _arrange(
        name, notes, heads, lines, columns, cell, count=None if name == "sadhu_table2" else sheets.count_words
    )


def _arrange_methods(tables: Tables, preset: str) -> PaperTable:
    """Return Table 4 of Sadhu et al.: a column per method and model.

    Of CEAT it has the primary estimates; with `preset: paper` the estimates at the shortest length, as the paper.
    """
    of_paper = {
        name: tables[name].filter(pl.col("category").is_in(SADHU)) for name in grids.PUBLISHED_AS if name in tables
    }
    tables = {name: table for name, table in of_paper.items() if len(table)}
    length = mode = exchanged = None
    if "ceat" in tables:
        length = sort_lengths(tables["ceat"]["segment_length"])[0] if preset == "paper" else grids.MEAN
        tables["ceat"] = tables["ceat"].filter(segment_length=length)
        mode = tables["ceat"]["sample_mode"][0]
    if "exchanged" in tables.get("log_probability_bias", pl.DataFrame()).columns:
        found = set(tables["log_probability_bias"].filter("exchanged")["category"])
        exchanged = [name for name in SADHU if name in found]
    groups = {label: tables.get(method, pl.DataFrame()) for method, label in grids.PUBLISHED_AS.items()}
    markings = {grids.PUBLISHED_AS[method]: _MARKINGS[method] if preset == "paper" else grids.HOLM for method in tables}
    missing = [label for label in groups if label not in markings]
    facts = {"length": length and grids.name_length(length), "mode": mode, "exchanged": exchanged, "missing": missing}
    return _arrange_groups("sadhu_table4", "methods", groups, markings, SADHU, **facts)


def _arrange_languages(name: str, tables: Tables, language: str, preset: str) -> PaperTable:
    """Return one of Sahoo's tables: the models of each language, in the order of the table, after each other."""
    table = _require_table("seat", tables, name, SAHOO[name])
    several = "language" in table.columns
    parts = table.partition_by("language", maintain_order=True) if several else [table]
    seat = {grids.name_of_language(part["language"][0] if several else language): part for part in parts}
    has_p = {key: "p_sentences" in part.columns and part["p_sentences"].count() > 0 for key, part in seat.items()}
    of_paper = {key: _SEAT_BY_SENTENCES if found else _SEAT_BY_WORDS for key, found in has_p.items()}
    markings = of_paper if preset == "paper" else dict.fromkeys(seat, grids.HOLM)
    return _arrange_groups(name, "seat", seat, markings, SAHOO[name], number=name[-1], large=COHEN[-1])


def _arrange_groups(
    name: str,
    macro: str,
    groups: Mapping[str, pl.DataFrame],
    markings: Mapping[str, grids.Marking],
    tests: Sequence[str],
    **facts: Any,
) -> PaperTable:
    """Return a table with a line per test and a column per group and model; in one of SEAT large effects are bold."""
    tables = {label: table for label, table in groups.items() if label in markings}
    columns: Columns = {
        (label, model): {row["category"]: row for row in rows}
        for label, table in tables.items()
        for model, rows in table.rows_by_key("model", named=True, include_key=True).items()
    }
    notes = sheets.write_notes(
        macro,
        marks={label: _explain_mark(markings[label]) for label in tables},
        conventions={label: sheets.describe_conventions(table) for label, table in tables.items()},
        **facts,
    )

    def cell(column: tuple[str, str], _: Any, row: grids.EstimateRow) -> sheets.Cell:
        bold = macro == "seat" and abs(row["effect_size"]) >= COHEN[-1]
        return replace(_write_effect(row, markings[column[0]]), bold=bold)

    heads = ("Test" if macro == "seat" else "Category", *_HEADS[1:])
    return _arrange(name, notes, heads, _label_lines(tables.values(), tests), columns, cell, count=sheets.count_words)


def _arrange_pairs(bias: pl.DataFrame, preset: str) -> PaperTable:
    """Return Table 2 of Sahoo et al.: bias percentages by type, language and model.

    With `preset: paper` the numbers are means over runs, as the paper's; else over all pairs, with a test against
    50.
    """
    value = grids.choose_percentage(bias, preset)
    # without rounding errors of binary numbers: 28.57 and 71.43 are equally far from 50
    distance, cell_of_models = (pl.col(value) - 50).abs().round(9), ["set", "language", "bias_type"]
    is_nearest = (distance == distance.min()) & (distance.count() > 1)  # of one model nothing is nearest
    grid = grids.pair_grid_of(bias.with_columns(is_nearest=is_nearest.over(cell_of_models)))
    by_runs = value == "runs_mean"
    types = [*grid.types, *([] if by_runs else [OVERALL])]
    runs = _RUNS if bias["runs_mean"].is_not_null().any() else {}
    columns: Columns = {}
    overall: dict[str, grids.EstimateRow] = {}
    for group, model in ((each, model) for each in grid.groups for model in grid.models_of(each)):
        found = {name: grid.at(group, model, OVERALL if name in runs else name) for name in (*types, *runs)}
        columns[group.title, model] = {name: row for name, row in found.items() if row is not None}
        overall[f"{group.title} {model}"] = grid.rows[group.set, group.language, model, OVERALL]

    def cell(_: tuple[str, str], name: Any, row: grids.EstimateRow) -> sheets.Cell:
        number = row[runs.get(str(name), value)]
        if not grids.is_number(number):
            return sheets.Cell()
        marked = not by_runs and name not in runs and grids.differs_from_half(row)
        ends = "" if name in runs else sheets.write_ends(row["exact_low"], row["exact_high"], "{:.1f}".format)
        bold = name not in runs and bool(row["is_nearest"])
        return sheets.Cell(f"{number:.2f}", sheets.MARK * marked, bold=bold, interval=ends)

    lines: dict[Any, tuple[str, ...]] = {name: (grids.name_of_type(name),) for name in types}
    lines |= {name: (name,) for name in runs}
    first = next(iter(overall.values()))
    families = sorted({row["n_tests"] for row in overall.values() if row["n_tests"]})
    has_bold = any(column[name]["is_nearest"] for column in columns.values() for name in types if name in column)
    facts = {"by_runs": by_runs, "families": families, "first": first, "has_bold": has_bold}
    notes = sheets.write_notes("pairs", overall=overall, **facts)
    return _arrange(
        PAIR_TABLE, notes, ("Bias type",), lines, columns, cell, grids.why_no_percentage, sheets.count_pairs
    )


def _write_effect(row: grids.EstimateRow, marking: grids.Marking) -> sheets.Cell:
    written = sheets.with_interval(row["effect_size"], row.get("ci_low"), row.get("ci_high"))
    return replace(written, mark=sheets.MARK * marking.marks(row), words=grids.few_words(row))


def _explain_mark(marking: grids.Marking) -> str:
    return sheets.list_template("marks.tsv")[f"{marking.column} {marking.alpha}"]["note"]


def _label_lines(tables: Iterable[pl.DataFrame], names: Sequence[str]) -> dict[Any, tuple[str, ...]]:
    """Return the labels of the named categories that a table has, in this order."""
    found: dict[str, tuple[str, ...]] = {}
    for row in (row for table in tables for row in table.unique("category", keep="first").iter_rows(named=True)):
        # in the paper's words: "hindu male names" for hindu male first names, without caliskan
        sets = [
            name.removesuffix(" caliskan").removesuffix(" paper").replace("first names", "names")
            for name in grids.names_of_sets(row)
        ]
        x, y, a, b = sets[2:] + sets[:2] if row.get("exchanged") else sets
        found.setdefault(row["category"], (row["category"], grids.name_both(x, y), grids.name_both(a, b)))
    return {name: found[name] for name in names if name in found}


def _require_table(method: str, tables: Tables, name: str, categories: Sequence[str] = ()) -> pl.DataFrame:
    table = tables.get(method, pl.DataFrame())
    if categories and len(table):
        table = table.filter(pl.col("category").is_in(categories))
    if table.is_empty():
        of = f" of {categories[0]} to {categories[-1]}" if categories else ""
        what = grids.PUBLISHED_AS.get(method, PAIRS.label)
        raise InputError(f"{name} is made of {what}{of}, which this study does not have.")
    return table


# --------------------
# The files next to the page: which there are, and their writers. The rules ask while they plan; one job writes them.


Sources = Mapping[str, str | Sequence[str]]
"""Paths of tables by method (`pairs` are bias percentages, `first_draws` effects as draws are added)."""

Settings = Mapping[str, Any]


class Product(NamedTuple):
    """What a writer (`WRITERS`) is given: paths of tables by name, settings, and the files to write."""

    sources: Mapping[str, Any]
    settings: Settings
    files: list[str]


def plan_comparison(
    config: Mapping[str, Any], folder: str | Path, studied: Sequence[str], results: Mapping[str, str]
) -> tuple[dict[str, Any], str]:
    """Return what changes the comparison with a paper, and why there will be nothing to compare, if so.

    Args:
        config: of the study, complete.
        folder: of the published numbers. They come with the workflow, so their content counts.
        studied: names of the study's models and static vectors.
        results: tables of the study, by name.

    Raises:
        InputError: the config names a model that the study or the paper does not have.
    """
    asked, language = config["comparison"], config["language"]
    paper, models = asked["paper"], asked["models"]
    published, percentages = comparison.read_published(folder, paper), comparison.read_percentages(folder, paper)
    theirs = list(dict.fromkeys([*published["model"], *percentages["model"]]))
    for names, known, whose in ((models, studied, "the study"), (models.values(), theirs, "the paper")):
        if unknown := [name for name in names if name not in known]:
            raise InputError(
                f"`comparison.models` has {unknown[0]!r}, which is not a model of {whose}. Allowed:"
                f" {', '.join(known) or 'none'}. Write `name in the study: name in the paper`."
            )
    matched, why_none = comparison.match_models(models, studied, theirs), ""
    has_pairs = "bias_percentages" in results and len(percentages) > 0
    if not matched or not (has_pairs or language in published["language"]):
        both = comparison.describe_both([language], studied, published, matched)
        why_none = f"`comparison.paper` is {paper}, but nothing will be compared: {both}"
        why_none += " Or write `comparison: {paper: none}`."
    files = comparison.published_files(folder, paper)
    digests = {path.name: digest_of(path.read_text(encoding="utf-8")) for path in files}
    common = {"language": language, "preset": config["preset"], "folder": str(folder), **_numbers_of_draws(config)}
    return {**asked, **common, "published": digests}, why_none


def plan_products(
    config: Mapping[str, Any],
    results: Mapping[str, str],
    data: Mapping[str, str],
    compared_with: Mapping[str, Any],
    folder: str = "results",
) -> dict[str, Product]:
    """Return the files next to the page by their writer.

    Args:
        config: of the study, complete.
        results: tables by name.
        data: tables that are copied, by the names of their copies.
        compared_with: of `plan_comparison`; empty without one.
        folder: of the study's results.
    """
    asked = reduce(
        lambda rest, method: method.without(rest), (each for each in FAMILY if each.name not in results), dict(config)
    )
    draws, has_pairs = _numbers_of_draws(config), "bias_percentages" in results
    tables = {each.published_as: results[each.name] for each in FAMILY if each.published_as and each.name in results}
    tables |= {"first_draws": results["convergence"]} if draws and "convergence" in results else {}
    tables |= {PAIRS.name: results["bias_percentages"]} if has_pairs else {}
    compared = {name: results[name] for name in names_of(FAMILY) if name in results}
    layouts = ["ceat"] if "ceat" in results else []
    layouts += [*layouts_of(asked), *([PAIR_TABLE] if has_pairs else [])]
    if isinstance(config["languages"], Mapping):  # of the papers' tables, these have languages side by side
        layouts, compared = [name for name in layouts if name in {*SAHOO, PAIR_TABLE}], {}
    written = [f"tables/{name}.{ending}" for name in layouts for ending in ENDINGS]
    settings = {"preset": config["preset"], "language": config["language"], **draws}
    found = {
        "layouts": Product(tables, settings, written),
        "agreement": Product(compared, {}, ["tables/methods.csv", "tables/agreement.csv"] if len(compared) > 1 else []),
        "comparison": Product(tables, compared_with, ["comparison.csv", "comparison.md"] if compared_with else []),
        "described": Product(*_plan_described(results, compared_with)),
        "data": Product(data, {}, [f"data/{name}" for name in data]),
    }
    return {
        name: each._replace(files=[f"{folder}/report/{path}" for path in each.files])
        for name, each in found.items()
        if each.files
    }


def _plan_described(results: Mapping[str, str], compared_with: Mapping[str, Any]) -> tuple[Any, Settings, list[str]]:
    ours, _, both = comparison.DESCRIBED[compared_with["paper"]] if compared_with else ("", "", "")
    asked = {"path": results[ours]} if ours in results else {}
    return asked, compared_with, [f"{both}.csv", f"{both}.md"] if asked else []


def list_written(products: Mapping[str, Product]) -> list[str]:
    """Return the files that products write."""
    return [path for each in products.values() for path in each.files]


def list_read(products: Mapping[str, Product]) -> list[str]:
    """Return the files that products read."""
    return list(dict.fromkeys(path for each in products.values() for path in each.sources.values()))


def _numbers_of_draws(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of draws of CEAT, where the study asks for several."""
    sizes = sizes_of(config["associations"]["n_samples"])
    return {"n_samples": sizes} if len(sizes) > 1 else {}


# --------------------
# Writers.


def write_layouts(sources: Sources, settings: Settings, paths: Sequence[str]) -> None:
    """Write tables in the papers' layouts; a file's name is its layout, and its ending the format."""
    tables = _read_tables(sources, settings)
    asked = {name: settings[name] for name in ("preset", "language")}
    layouts = {name: render_layout(name, tables, **asked) for name in {Path(path).stem for path in paths}}
    for path in map(Path, paths):
        write_text(path, getattr(layouts[path.stem], path.suffix.removeprefix(".")))


def write_agreement(sources: Mapping[str, str], _: Settings, paths: Sequence[str]) -> None:
    """Write the estimates of all methods side by side, and how far every two methods agree."""
    estimates = comparison.side_by_side({method: read_frame(path) for method, path in sources.items()})
    for path, table in zip(paths, (estimates, agreement(estimates)), strict=True):
        write_text(path, guarded(table).write_csv(line_terminator="\n"))


def write_comparison(sources: Sources, settings: Settings, paths: Sequence[str]) -> None:
    """Write the study's estimates next to a paper's numbers, as CSV and Markdown; settings as of `plan_comparison`."""
    tables = _read_tables(sources, settings)
    folder, paper, models = settings["folder"], settings["paper"], settings["models"]
    bias = tables.pop(PAIRS.name, None)
    effects = comparison.read_published(folder, paper)
    compared = comparison.compare(tables, effects, models=models, language=settings["language"])
    found = [compared] if tables or bias is None else []
    if bias is not None:
        percentages = comparison.read_percentages(folder, paper)
        found += [comparison.compare_pairs(bias, percentages, models=models, preset=settings["preset"])]
    for path, text in zip(paths, comparison.render_comparison(paper, found), strict=True):
        write_text(path, text)


def write_described(sources: Mapping[str, str], settings: Settings, paths: Sequence[str]) -> None:
    """Write what else a paper has numbers of next to the study's, as CSV and Markdown; settings as above."""
    asked = (settings[name] for name in ("folder", "paper", "models"))
    name, table = comparison.compare_described(read_frame(sources["path"]), *asked)
    title, *notes = sheets.write_notes(name)
    shown = sheets.sheet_to_markdown(sheets.show_table(name, table.rows(named=True)), notes)
    for path, text in zip(
        paths, (guarded(table).write_csv(line_terminator="\n"), f"# {title}\n\n{shown}"), strict=True
    ):
        write_text(path, text)


def copy_data(sources: Mapping[str, str], _: Settings, paths: Sequence[str]) -> None:
    """Copy tables of earlier stages next to the page, and remove what an earlier run left there."""
    for path, source in zip(paths, sources.values(), strict=True):
        if Path(source).suffix == ".parquet":
            require_every_page(source)  # damage must not get a copy
        with replacing(path) as temporary:
            shutil.copyfile(source, temporary)
    for folder in {Path(path).parent for path in paths}:
        for old in filter(Path.is_file, set(folder.iterdir()) - set(map(Path, paths))):
            old.unlink()  # texts may have been hidden since


WRITERS: Mapping[str, Callable[[Any, Settings, Sequence[str]], None]] = {
    "layouts": write_layouts,
    "agreement": write_agreement,
    "comparison": write_comparison,
    "described": write_described,
    "data": copy_data,
}


def write_products(products: Mapping[str, Sequence[Any]]) -> None:
    """Write the files of `plan_products`, each product as a plain list, as rules hand it to a job."""
    for name, each in products.items():
        WRITERS[name](*each)


def _read_tables(sources: Sources, settings: Settings) -> dict[str, pl.DataFrame]:
    """Return the tables by method; CEAT has further rows where the study asks for several numbers of draws."""
    paths = {name: [path] if isinstance(path, str) else path for name, path in sources.items()}
    tables = {name: pl.concat(map(read_frame, each)) for name, each in paths.items()}
    first = tables.pop("first_draws", None)
    if "ceat" in tables and first is not None:
        tables["ceat"] = with_fewer_draws(tables["ceat"], first, settings["n_samples"])
    return tables
