"""A study's results in the layouts of the papers' tables: Tables 4, 5, 6 of Sadhu et al., 2, 3, 4, 9 of Sahoo et al.

Only what the study measured is shown. What the paper's table has besides is a column or cell without a number, and a
note says why. Marks follow the study's preset: by Holm-corrected p_association, or with `paper` by the p of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from prasanga.base.errors import InputError
from prasanga.base.parquet import remade_by, require_columns
from prasanga.methods import FAMILY, PAIRS
from prasanga.pairs.preferences import OVERALL
from prasanga.report import ceat_table
from prasanga.report.ceat_table import HOLM, LARGE, NOT_BY_DRAWS, Marking
from prasanga.report.grid import (
    FEW_WORDS,
    NO_PAIRS,
    Category,
    Estimate,
    Group,
    PairGrid,
    few_words,
    is_number,
    is_significant,
    name_of_language,
    name_of_type,
    names_of_sets,
    pair_grid_of,
    sort_lengths,
    tests_of,
    why_missing,
    why_no_percentage,
)
from prasanga.report.published import PUBLISHED_AS
from prasanga.report.sheet import (
    MARK,
    MISSING,
    Cell,
    Row,
    Sheet,
    sheet_to_csv,
    sheets_to_latex,
    sheets_to_markdown,
    signed,
    split_wide,
)

ENDINGS = ("csv", "md", "tex")
PAIR_TABLE = "sahoo_table2"
SADHU = tuple(f"C{number}" for number in range(1, 10))
SAHOO: Mapping[str, tuple[str, ...]] = {
    "sahoo_table3": tuple(f"GR{number}" for number in range(1, 15)),
    "sahoo_table4": tuple(f"GC{number}" for number in range(1, 7)),
    "sahoo_table9": tuple(f"GA{number}" for number in range(1, 7)),
}
"""Tests of each table, in the order of its rows."""

Tables: TypeAlias = Mapping[str, pl.DataFrame]
"""Tables of estimates by method: ceat, seat, weat, log_probability_bias; under `pairs` that of bias percentages."""

_AXES = {"sahoo_table3": "gender and religion", "sahoo_table4": "gender and caste", "sahoo_table9": "gender and age"}
_NEEDED = ("category", "target_x", "target_y", "attribute_a", "attribute_b", "model", "effect_size", "lost")
_CONVENTIONS = (
    *("std", "alternative", "statistic", "n_samples", "variance", "tau2_method", "draws", "repeated_words", "pool"),
    *("sentence_vector", "unit", "average", "method", "forms", "pieces", "terms"),
)
_OF_SENTENCES = "sentences as in the paper, not corrected; below .05 far too often under no effect."
_WIDTH = 10
"""Columns side by side, at most."""

N_OF_TABLE_6 = 1000
"""Draws of CEAT by which Table 6 of Sadhu et al. is told from Table 5."""


class Layout(NamedTuple):
    """One table in the three formats, named as their file endings."""

    csv: str
    md: str
    tex: str


class PaperTable(NamedTuple):
    """A table in a paper's layout before it is written: the page and all files are made of the same sheets.

    Attributes:
        name: of its files under `results/report/tables/`.
        caption: what it is, in plain text.
        heads: of the labels of `plain` as readers see them.
        plain: each label in a column of its own, all columns side by side; the CSV.
        in_markdown: its parts in Markdown, labels as in the paper.
        in_latex: its parts in LaTeX, which fit on a page.
        notes: sentences below it.
    """

    name: str
    caption: str
    heads: tuple[str, ...]
    plain: Sheet
    in_markdown: Sequence[Sheet]
    in_latex: Sequence[Sheet]
    notes: Sequence[str]

    def written(self) -> Layout:
        """Return the table in the three formats."""
        paper, _, number = self.name.partition("_table")
        return Layout(
            sheet_to_csv(self.plain),
            f"{self.caption}\n\n{sheets_to_markdown(self.in_markdown, self.notes)}",
            sheets_to_latex(self.in_latex, self.notes, caption=self.caption, label=f"tab:{paper}{number}"),
        )


_Columns: TypeAlias = Mapping[tuple[str, str], Mapping[str, Estimate]]
"""Estimates by category of each column, by its group and name; none of a method that was not measured."""


def layouts_of(config: Mapping[str, Any]) -> list[str]:
    """Return the layouts that come out of a study, by the names of their files under `results/report/tables/`.

    Args:
        config: the study's config, complete with its defaults.

    Returns:
        Out of sadhu_table4 (if WEAT, SEAT or log-probability bias measures one of C1 to C9), sadhu_table5 (CEAT of
        these; sadhu_table6 with N = 1000, both of several N), sahoo_table3, sahoo_table4 and sahoo_table9 (if SEAT
        measures one of their tests).
    """
    running = set(config["categories"])
    templates = set(config["seat"]["categories"])
    listed = config["static"]["categories"]
    static = (running if listed is None else set(listed)) if config["static"]["vectors"] else set()
    masked = set(config["log_probability"]["categories"])
    names = ["sadhu_table4"] if (templates | static | masked) & set(SADHU) else []
    if running & set(SADHU):
        sizes = ceat_table.sizes_of(config["associations"]["n_samples"])
        names += ["sadhu_table5"] if set(sizes) - {N_OF_TABLE_6} else []
        names += ["sadhu_table6"] if N_OF_TABLE_6 in sizes else []
    return names + [name for name, tests in SAHOO.items() if templates & set(tests)]


def methods_of(config: Mapping[str, Any]) -> list[str]:
    """Return the methods that a study measures, as their tables of estimates are called."""
    return [method.published_as for method in FAMILY if method.published_as and method.is_asked_for(config)]


def render_layout(name: str, tables: Tables, *, preset: str = "recommended", language: str = "bn") -> Layout:
    """Return one table in the layout of a paper, in three formats; arguments and errors as of `paper_table`."""
    return paper_table(name, tables, preset=preset, language=language).written()


def paper_table(name: str, tables: Tables, *, preset: str = "recommended", language: str = "bn") -> PaperTable:
    """Return one table in the layout of a paper.

    Args:
        name: one of `layouts_of`.
        tables: the study's tables of estimates by method; a method that was not measured is left out. Of CEAT with
            several numbers of draws (`with_fewer_draws`) Table 6 takes N = 1000, every other table the greatest N.
        preset: recommended or paper; decides what the marks mean.
        language: bn, hi or en; stands over the columns of Sahoo's tables.

    Raises:
        InputError: there is no such layout, the table that it is made of is not there, or it lacks a column.
    """
    if name == PAIR_TABLE:
        return _sahoo_pairs(_table_of(PAIRS.name, tables, name), preset)
    _require_columns(tables)
    tables = {method: _of_one_n(table, name) if method == "ceat" else table for method, table in tables.items()}
    if name == "sadhu_table4":
        return _sadhu_table_4(tables, preset)
    if name in ("sadhu_table5", "sadhu_table6"):
        return _sadhu_ceat(name[-1], _table_of("ceat", tables, name), preset)
    if name in SAHOO:
        return _sahoo(name, {language: _table_of("seat", tables, name)}, preset)
    allowed = ("sadhu_table4", "sadhu_table5", "sadhu_table6", PAIR_TABLE, *SAHOO)
    raise InputError(f"there is no layout {name!r}; there are {', '.join(allowed)}.")


def _of_one_n(ceat: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return of several numbers of draws the one that a table shows."""
    sizes = ceat["n_samples"].drop_nulls().unique().to_list() if "n_samples" in ceat.columns else []
    if len(sizes) < 2:
        return ceat
    shown = N_OF_TABLE_6 if name == "sadhu_table6" and N_OF_TABLE_6 in sizes else max(sizes)
    return ceat.filter(n_samples=shown)


def render_languages(name: str, studies: Mapping[str, Tables], *, preset: str = "recommended") -> Layout:
    """Return one of Sahoo's tables with several languages side by side, each from a study of its own.

    Args:
        name: sahoo_table3, sahoo_table4 or sahoo_table9.
        studies: the tables of estimates of each study, by its language, in the order in which they are to stand.
        preset: recommended or paper; decides what the marks mean.

    Raises:
        InputError: another layout, or a study without a table of SEAT, or with one that lacks a column or has none of
            the tests.
    """
    if name not in SAHOO:
        raise InputError(f"{name!r} has no languages side by side; {', '.join(SAHOO)} have.")
    for tables in studies.values():
        _require_columns(tables)
    seat = {language: _table_of("seat", tables, name) for language, tables in studies.items()}
    return _sahoo(name, seat, preset).written()


def _sadhu_table_4(tables: Tables, preset: str) -> PaperTable:
    tables = {method: table.filter(pl.col("category").is_in(SADHU)) for method, table in tables.items()}
    tables = {method: table for method, table in tables.items() if len(table)}
    if not tables:
        raise InputError(f"no table has any of {SADHU[0]} to {SADHU[-1]}, so there is no Table 4.")
    columns = {head: cells for method in PUBLISHED_AS for head, cells in _columns_of(method, tables).items()}
    markings = {PUBLISHED_AS[method]: _table_4_marking(method, preset) for method in PUBLISHED_AS}

    def cell(method: str, estimate: Estimate) -> Cell:
        mark = MARK if markings[method].marks(estimate) else ""
        return Cell(signed(estimate["effect_size"]), mark, words=few_words(estimate))

    measured = [method for method in PUBLISHED_AS if method in tables]
    marks: dict[str, list[str]] = {}
    for method in measured:
        said = markings[PUBLISHED_AS[method]].said_of(tables[method].iter_rows(named=True))
        marks.setdefault(said, []).append(PUBLISHED_AS[method])
    notes = [
        "Effect sizes of several methods; positive if the first target set is closer to the first attribute set."
        " The methods see other texts and partly other words, so their sizes are not comparable one to one.",
        *(f"{MARK} {', '.join(methods)}: {note}" for note, methods in marks.items()),
        *_few_words(columns),
        *_ceat_choice(tables),
        *_exchange(tables),
        *(f"Conventions of {PUBLISHED_AS[method]}: {_conventions(tables[method])}" for method in measured),
        *(f"{MISSING} {name}: not measured in this study." for (_, name), cells in columns.items() if not cells),
    ]
    caption = "Effect sizes of several methods by category, in the layout of Table 4 of Sadhu et al. (2024)."
    return _arranged("sadhu_table4", columns, _categories(tables, SADHU), cell, notes, caption=caption, short=False)


def _columns_of(method: str, tables: Tables) -> _Columns:
    """Return the columns of one method: a column for each model, or one without numbers."""
    table, group = tables.get(method), PUBLISHED_AS[method]
    if table is None:
        return {("", group): {}}
    length, mode = _length_and_mode(table)
    rows = table if length is None else table.filter(segment_length=length, sample_mode=mode)
    return _by_model(method, group, rows)


def _length_and_mode(table: pl.DataFrame) -> tuple[str | None, str | None]:
    """Return which of CEAT's lengths and modes Table 4 shows: as in the paper the shortest, fixed draws."""
    if "segment_length" not in table.columns:
        return None, None
    modes = table["sample_mode"].to_list()
    return sort_lengths(table["segment_length"].to_list())[0], "fixed" if "fixed" in modes else modes[0]


def _ceat_choice(tables: Tables) -> list[str]:
    if "ceat" not in tables:
        return []
    length, mode = _length_and_mode(tables["ceat"])
    return [f"CEAT: segments of {length} words, {mode} draws (the paper shows its generator at 9 words, fixed draws)."]


def _exchange(tables: Tables) -> list[str]:
    """Return which categories were measured the other way round, as the paper did with C6 to C9."""
    table = tables.get("log_probability_bias")
    if table is None or "exchanged" not in table.columns:
        return []
    exchanged = [name for name in SADHU if name in table.filter(pl.col("exchanged"))["category"].to_list()]
    which = f"exchanged in {', '.join(exchanged)}" if exchanged else "as described in all"
    return [f"Log-probability bias: targets and attributes {which} (the paper exchanged those of C6 to C9)."]


def _table_4_marking(method: str, preset: str) -> Marking:
    """Return the marking of a method in Table 4; of SEAT, too, the program of Sadhu et al. permutes words."""
    if preset != "paper":
        return HOLM
    if method == "ceat":
        return Marking("p_draws", 0.05, "p_draws < .05, as in the paper; it says nothing about other words.")
    if method == "log_probability_bias":
        return Marking("p_sentences", 0.05, f"p_sentences < .05: permutation of single {_OF_SENTENCES}")
    text = "permutation of the target words as in the paper, not corrected."
    return Marking("p_stimuli", 0.05, f"p_stimuli < .05: {text}")


def _sahoo_marking(seat: pl.DataFrame, preset: str) -> Marking:
    """Return the marking of a table of Sahoo et al.: their p moves sentences; where there is none, that of words."""
    if preset != "paper":
        return HOLM
    if "p_sentences" in seat.columns and seat["p_sentences"].null_count() < len(seat):
        return Marking("p_sentences", 0.01, f"p_sentences < .01: permutation of {_OF_SENTENCES}")
    text = "permutation of the target words, not corrected. The paper's, of sentences, is not in this study."
    return Marking("p_stimuli", 0.01, f"p_stimuli < .01: {text}")


def _sadhu_ceat(number: str, ceat: pl.DataFrame, preset: str) -> PaperTable:
    ceat = ceat.filter(pl.col("category").is_in(SADHU))
    if ceat.is_empty():
        raise InputError(f"the table of CEAT has none of {SADHU[0]} to {SADHU[-1]}, so there is no Table {number}.")
    marking = NOT_BY_DRAWS if preset == "paper" else HOLM
    n_samples = ", ".join(map(str, sorted(set(ceat["n_samples"].to_list()))))
    caption = (
        f"CEAT effect size by category, model and segment length in words, N = {n_samples} draws; f: fixed, r: random"
        f" draws. In the layout of Table {number} of Sadhu et al. (2024)."
    )
    found = ceat_table.arranged(ceat, marking, [f"Conventions of CEAT: {_conventions(ceat)}"])
    return PaperTable(f"sadhu_table{number}", caption, ("Category", "Targets", "Attributes", "Draws"), *found)


def _sahoo(name: str, studies: Mapping[str, pl.DataFrame], preset: str) -> PaperTable:
    """Return one of Sahoo's tables: the models of each study, by its language, beside those of the one before."""
    studies = {
        name_of_language(language): seat.filter(pl.col("category").is_in(SAHOO[name]))
        for language, seat in studies.items()
    }
    for seat in studies.values():
        if seat.is_empty():
            tests = f"{SAHOO[name][0]} to {SAHOO[name][-1]}"
            raise InputError(f"the table of SEAT has none of {tests}, so there is no {name}.")
    categories = _categories(studies, SAHOO[name])
    markings = {language: _sahoo_marking(seat, preset) for language, seat in studies.items()}
    columns = {
        head: cells for language, seat in studies.items() for head, cells in _by_model("seat", language, seat).items()
    }

    def cell(language: str, estimate: Estimate) -> Cell:
        large, marked = abs(estimate["effect_size"]) >= LARGE, markings[language].marks(estimate)
        return Cell(signed(estimate["effect_size"]), bold=large, underlined=marked, words=few_words(estimate))

    short = dict.fromkeys(f"{_initials(category)}: {category.attributes}" for category in categories)
    notes = [
        "Effect sizes of SEAT; positive if the first group is closer to the first attribute set.",
        f"Bold: |d| of {LARGE} or more. (The paper sets large effects in bold, and does not say from where on.)",
        *_by_language(
            f"Underlined (in CSV {MARK})", {k: markings[k].said_of(t.rows(named=True)) for k, t in studies.items()}
        ),
        *_few_words(columns),
        f"{'; '.join(short)}.",
        *_by_language("Conventions of SEAT", {language: _conventions(seat) for language, seat in studies.items()}),
    ]
    table = name.removeprefix("sahoo_table")
    caption = f"SEAT effect sizes for {_AXES[name]}, in the layout of Table {table} of Sahoo et al. (2024)."
    return _arranged(name, columns, categories, cell, notes, caption=caption, short=True)


def _arranged(
    name: str,
    columns: _Columns,
    categories: Sequence[Category],
    cell: Callable[[str, Estimate], Cell],
    notes: Sequence[str],
    *,
    caption: str,
    short: bool,
) -> PaperTable:
    """Return a table with a row for each category; `cell` writes an estimate of a group that has a number."""
    first, heads = "Test" if short else "Category", tuple(columns)
    plain, labelled = [], []
    rows_of: dict[str, list[str]] = {}
    for category in categories:
        estimates = {head: of_column.get(category.name) for head, of_column in columns.items()}
        cells = tuple(
            cell(group, row) if row is not None and is_number(row["effect_size"]) else Cell()
            for (group, _), row in estimates.items()
        )
        found = {" ".join(head): why_missing(row) for head, row in estimates.items() if columns[head]}
        reasons = [f"{column}: {reason}" for column, reason in found.items() if reason]
        for reason in reasons:
            rows_of.setdefault(reason, []).append(category.name)
        labels = (category.name, category.targets, category.attributes)
        label = f"{category.name}: {ceat_table.in_capitals(category.targets)}, {_initials(category)}"
        plain.append(Row(labels, cells, "; ".join(dict.fromkeys(reasons))))
        labelled.append(Row((label if short else ceat_table.category_label(category),), cells))
    sheet = Sheet((first,), heads, labelled)
    return PaperTable(
        name,
        caption,
        (first, "Targets", "Attributes"),
        Sheet(("category", "targets", "attributes"), heads, plain),
        [sheet],
        split_wide(sheet, _WIDTH),
        # each reason once, with the rows that it holds for
        [*notes, *(f"{MISSING} {', '.join(where)}: {reason}." for reason, where in rows_of.items())],
    )


def _initials(category: Category) -> str:
    """Return the attribute sets as the paper shortens them: C/F, N/V, P/U."""
    return f"{category.attribute_a[:1]}/{category.attribute_b[:1]}".upper()


def _few_words(columns: _Columns) -> list[str]:
    """Return the note on effects of few words, where a column has one."""
    return [FEW_WORDS] * any(few_words(estimate) for cells in columns.values() for estimate in cells.values())


def _by_language(what: str, said: Mapping[str, str]) -> list[str]:
    """Return one note where it holds for all languages, else one for each."""
    if len(set(said.values())) == 1:
        return [f"{what}: {next(iter(said.values()))}"]
    return [f"{what}, {language}: {text}" for language, text in said.items()]


def _conventions(table: pl.DataFrame) -> str:
    """Return the choices behind the numbers, as the columns name them; those that differ with the models named."""
    parts = []
    for name in (name for name in _CONVENTIONS if name in table.columns):
        of_value = table.drop_nulls(name).group_by(name, maintain_order=True)
        models = of_value.agg(pl.col("model").unique(maintain_order=True)).rows()
        said = [f"{value} ({', '.join(which)})" if len(models) > 1 else f"{value}" for value, which in models]
        parts += [f"{name} {', '.join(said)}"] if said else []
    return f"{'; '.join(parts) or 'the table names none'}."


def _categories(tables: Tables, names: Sequence[str]) -> list[Category]:
    """Return those of the named categories that some table has, in this order."""
    found: dict[str, Category] = {}
    for table in tables.values():
        for row in table.iter_rows(named=True):
            title = row.get("category_title") or ""
            # in the paper's words: "hindu male names" for hindu male first names, without caliskan
            names_there = (each.removesuffix(" caliskan") for each in names_of_sets(row))
            x, y, a, b = (each.replace("first names", "names") for each in names_there)
            sets = (a, b, x, y) if row.get("exchanged") else (x, y, a, b)  # as the category has them
            found.setdefault(row["category"], Category(row["category"], title, *sets))
    return [found[name] for name in names if name in found]


def _by_model(method: str, group: str, table: pl.DataFrame) -> _Columns:
    """Return a column for each model, in the order in which the table has them."""
    columns: dict[tuple[str, str], dict[str, Estimate]] = {}
    for row in table.iter_rows(named=True):
        cells = columns.setdefault((group, row["model"]), {})
        if row["category"] in cells:
            raise InputError(
                f"the table of {PUBLISHED_AS[method]} has two rows for {row['category']}, {row['model']}. Make it again"
                " with the associations stage."
            )
        cells[row["category"]] = row
    return columns


def _table_of(method: str, tables: Tables, name: str) -> pl.DataFrame:
    if method not in tables:
        label = PUBLISHED_AS.get(method, PAIRS.label)
        raise InputError(f"{name} is made of the table of {label}, which this study does not have.")
    return tables[method]


def _require_columns(tables: Tables) -> None:
    for method, table in tables.items():
        if method not in PUBLISHED_AS:
            raise InputError(f"there is no method {method!r}; there are {', '.join(PUBLISHED_AS)}.")
        require_columns(PUBLISHED_AS[method], table, _NEEDED, remade_by("associations"))


# --------------------
# Table 2 of Sahoo et al.: bias percentages by type, language and model.
#
# With `preset: paper` the numbers are means over runs, as the paper's; else those of all pairs, with a test against 50.


_OF_PAIRS = (
    "Bias percentage by bias type, language and model, in the layout of Table 2 of Sahoo et al. (2024): of how"
    " many pairs the model prefers the stereotypical sentence. 50 is no preference."
)

_PAIRS_WIDE = 8
_RUNS = {"mean of runs": "runs_mean", "deviation over runs": "runs_sd"}


def _sahoo_pairs(bias: pl.DataFrame, preset: str) -> PaperTable:
    grid = pair_grid_of(bias)
    value = value_of(bias, preset)
    by_runs = value != "bias_percentage"
    columns = [(group, model) for group in grid.groups for model in grid.models_of(group)]
    heads = tuple((group.title, model) for group, model in columns)
    shown = [*grid.types, *([] if by_runs else [OVERALL])]
    lines = [(name, _cells(grid, columns, name, value, marked=not by_runs, bold=True)) for name in shown]
    if bias["runs_mean"].is_not_null().any():
        lines += [(name, _cells(grid, columns, OVERALL, column)) for name, column in _RUNS.items()]
    plain = Sheet(("bias_type",), heads, [Row((name,), cells, _why(grid, columns, name)) for name, cells in lines])
    labelled = [Row((name if name in _RUNS else name_of_type(name),), cells) for name, cells in lines]
    sheet = Sheet(("Bias type",), heads, labelled)
    notes = list(_notes(grid, by_runs, has_bold=any(cell.bold for _, cells in lines for cell in cells)))
    return PaperTable(PAIR_TABLE, _OF_PAIRS, ("Bias type",), plain, [sheet], split_wide(sheet, _PAIRS_WIDE), notes)


def _cells(
    grid: PairGrid,
    columns: Iterable[tuple[Group, str]],
    bias_type: str,
    value: str,
    *,
    marked: bool = False,
    bold: bool = False,
) -> tuple[Cell, ...]:
    """Return a line of cells: `marked` for a mark of significance, `bold` for the nearest to 50 of each group."""
    found = [(group, grid.at(group, model, bias_type)) for group, model in columns]
    found = [(group, row if row is not None and is_number(row[value]) else None) for group, row in found]
    distances: dict[Group, list[float]] = {}
    for group, row in found:
        if row is not None:
            distances.setdefault(group, []).append(_distance(row[value]))
    # of one model nothing is nearest
    nearest = {group: min(of_group) for group, of_group in distances.items() if bold and len(of_group) > 1}

    def cell(group: Group, row: Estimate) -> Cell:
        is_nearest = _distance(row[value]) == nearest.get(group)
        return Cell(f"{row[value]:.2f}", MARK * (marked and is_significant(row)), bold=is_nearest)

    return tuple(Cell() if row is None else cell(group, row) for group, row in found)


def value_of(bias: pl.DataFrame, preset: str) -> str:
    """Return the column of what the table shows: means over runs with `preset: paper`, as far as there are any."""
    by_runs = preset == "paper" and bias["runs_mean"].is_not_null().any()
    return "runs_mean" if by_runs else "bias_percentage"


def _why(grid: PairGrid, columns: Iterable[tuple[Group, str]], bias_type: str) -> str:
    if bias_type in _RUNS:
        return ""
    reasons = ((group, model, why_no_percentage(grid.at(group, model, bias_type))) for group, model in columns)
    return "; ".join(f"{group.title} {model}: {reason}" for group, model, reason in reasons if reason)


def _without_pairs(grid: PairGrid, group: Group) -> str:
    """Return the bias types of which a group has no pairs, with the models where it is not all of them."""
    models = grid.models_of(group)
    said = []
    for name in grid.types:
        lacking = [model for model in models if grid.at(group, model, name) is None]
        if lacking:
            said.append(name_of_type(name) + (f" ({', '.join(lacking)})" if len(lacking) < len(models) else ""))
    return ", ".join(said)


def _notes(grid: PairGrid, by_runs: bool, *, has_bold: bool) -> Iterator[str]:
    columns = [(group, model) for group in grid.groups for model in grid.models_of(group)]
    overall = [(group, model, grid.rows[group.set, group.language, model, OVERALL]) for group, model in columns]
    first = overall[0][2]
    n_tests = tests_of(grid)
    if by_runs:
        yield f"Each percentage is the mean over {_runs(first)}."
    else:
        yield "Percentages are of all pairs that were scored."
        yield (
            f"{MARK} differs from 50: p_binomial_holm < .05, exact two-sided test, ties left out, corrected for"
            f" {n_tests or 'no'} test{'' if n_tests == 1 else 's'}, all rows of the table of bias percentages."
        )
    if has_bold:
        yield "Bold: of two or more models the nearest to 50 in its row and language, as in the paper."
    if first["n_runs"]:
        yield (
            f"Mean and deviation over {_runs(first)}. Such samples share most of their pairs: their deviation is no"
            " standard error."
        )
    against = " They count as not stereotypical." if first["ties"] == "against" else " They are left out."
    yield from _counted("Pairs with equal scores", "n_ties", overall, against)
    yield from _counted("Pairs left out", "n_left_out", overall)
    yield f"Conventions: {'; or '.join(dict.fromkeys(row['conventions'] for _, _, row in overall))}."
    for name in grid.types:
        if reasons := _why(grid, [(group, model) for group, model in columns if grid.at(group, model, name)], name):
            yield f"{MISSING} {name_of_type(name)}: {reasons}."
    for group in grid.groups:
        if types := _without_pairs(grid, group):
            yield f"{MISSING} {group.title}: {NO_PAIRS}: {types}."


def _counted(what: str, column: str, overall: Sequence[tuple[Group, str, Estimate]], more: str = "") -> Iterator[str]:
    """Yield how many pairs of each model, the same number once."""
    where: dict[str, list[str]] = {}
    for group, model, row in overall:
        if row[column]:
            where.setdefault(f"{row[column]} of {row['n_pairs']}", []).append(f"{group.title} {model}")
    if where:
        everywhere = len(where) == 1 and len(overall) == len(next(iter(where.values())))
        said = (f"{n} ({'everywhere' if everywhere else ', '.join(columns)})" for n, columns in where.items())
        yield f"{what}: {'; '.join(said)}.{more}"


def _runs(row: Estimate) -> str:
    return f"{row['n_runs']} random samples of {100 * row['share']:g} % of the pairs"


def _distance(percentage: float) -> float:
    """Return points from 50, without the rounding of the processor: 28.57 and 71.43 are equally far."""
    return round(abs(percentage - 50), 9)
