"""Tables for readers: cells and rows under headings of the registry, written as CSV, Markdown and LaTeX.

`section` writes them as HTML.
"""

from __future__ import annotations

import csv
import functools
import io
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, TypeAlias

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from prasanga.associations.comparisons import MEAN
from prasanga.base.io import escape_markdown, guarded_text, read_rows
from prasanga.report import ASSETS
from prasanga.report.grid import MISSING, EstimateRow, is_number, name_of_language, pairs_counted
from prasanga.schema import COLUMNS, CONVENTIONS, HEADINGS, describe_losses
from prasanga.stats.intervals import FEWEST_WORDS

MINUS, MARK = "\N{MINUS SIGN}", "*"
GRAYS = {"gray-1": 0.93, "gray-2": 0.82, "gray-3": 0.68}
"""Shades of the papers' tables, and how light they are in LaTeX; `style.css` has them for the page."""

# --------------------
# Numbers as text. Each writer returns a dash for null, NaN and infinite.


def with_sign(value: float | None, decimals: int = 3) -> str:
    """Return a number with its sign; a number that rounds to zero has none."""
    if not is_number(value):
        return MISSING
    text = f"{value:+.{decimals}f}"
    return (text if float(text) else text[1:]).replace("-", MINUS)


def two(value: float | None) -> str:
    """Return a number as `with_sign` does, in two decimals."""
    return with_sign(value, 2)


def from_twins(row: EstimateRow, decimals: int) -> str:
    """Return the difference from the random-weight copies, after `; `; "" without a comparison."""
    ends = [row.get(f"twin_difference{end}") for end in ("", "_low", "_high")]
    if not all(map(is_number, ends)):
        return ""
    difference, low, high = (with_sign(end, decimals) for end in ends)
    return f"; difference from {row['n_twins']} random-weight copies {difference}, {low} to {high}"


def plain(value: float | None, decimals: int = 3) -> str:
    """Return a number without a plus; with an exponent if it would round to zero."""
    if not is_number(value):
        return MISSING
    if isinstance(value, int):
        return f"{value}"
    text = f"{value:.{decimals}f}"
    return (text if float(text) or not value else f"{value:.1e}").replace("-", MINUS)


def one_decimal(value: float | None) -> str:
    """Return a percentage with one decimal."""
    return f"{value:.1f}" if is_number(value) else MISSING


def probability(p: float | None) -> str:
    """Return a p as ".032", "< .001" or "1"."""
    if not is_number(p):
        return MISSING
    return "< .001" if p < 0.001 else "1" if p >= 0.9995 else f"{p:.3f}"[1:]


def equals_probability(p: float | None) -> str:
    """Return a p for use after its name: "= .032", "< .001"."""
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


def agree(n: int, one: str, many: str) -> str:
    """Return the form of a word that agrees with a number: "has" for 1, "have" for 2."""
    return one if n == 1 else many


def plural(n: int, one: str, many: str = "") -> str:
    """Return a number and its noun: "1 pair", "1,200 pairs"."""
    return f"{n:,} {agree(n, one, many or f'{one}s')}"


def show_value(name: str, value: Any, form: str = "") -> str:
    """Return a value of a column as readers see it.

    Args:
        name: of the column.
        value: any.
        form: Python's format of its numbers; by default the one in the registry.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "lost":
        return describe_losses(value) or MISSING
    if not is_number(value):
        return MISSING if value is None or isinstance(value, float) else str(value)
    if name in COLUMNS and COLUMNS[name].unit == "p":
        return probability(value)
    form = form or (HEADINGS[name].format if name in HEADINGS else "")
    text = format(value, form or ",")
    return text.replace("-", MINUS) if re.search("[1-9]", text) else text.lstrip("+-")


# --------------------
# Tables as values.


@dataclass(frozen=True)
class Cell:
    """A number as text, and how it is set off.

    Attributes:
        text: of the cell. On the page, `Markup` is HTML, and any other text is escaped.
        mark: written after the text, in CSV as well.
        bold: whether the text is bold.
        shade: of the heat scale: `zero`, `plus-1` to `plus-5`, `minus-1` to `minus-5`, or `missing`; or of `GRAYS`.
        order: the value by which a table of the page sorts; empty for nothing, None for the text.
        hover: shown when the cell is pointed at.
        words: used and listed words behind the number, if they are few (`grid.few_words`).
        interval: both ends in brackets, below the number in LaTeX and after it in Markdown.
        link: address of the panel behind the number.
    """

    text: str = MISSING
    mark: str = ""
    bold: bool = False
    shade: str = ""
    order: str | None = None
    hover: str = ""
    words: str = ""
    interval: str = ""
    link: str = ""


@dataclass(frozen=True)
class Row:
    """A line: labels before the numbers, the numbers, and why some are missing (for CSV).

    Attributes:
        labels: one for each head of the sheet.
        cells: one for each column.
        note: why cells are missing; only CSV has it, the page says it below the table.
    """

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table: heads of the labels, columns as (group, name), and the rows. A group may be empty.

    Attributes:
        heads: of the labels.
        columns: of the cells.
        rows: the lines.
        caption: of the table, on the page.
        look: classes of the table on the page; an `explorable` table sorts and filters there.
        kinds: of heads and columns by name, on the page: `list` (few values, chosen from a list), `text`, or the name
            of a style; by default `number` for columns.
        hidden: columns that an explorable table shows only when they are chosen.
    """

    heads: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: Sequence[Row]
    caption: str = ""
    look: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)
    hidden: Collection[str] = ()

    @property
    def headings(self) -> list[str]:
        """Return the heads of labels and columns, group and name in one."""
        return [*self.heads, *(" ".join(filter(None, column)) for column in self.columns)]


def with_interval(number: float | None, low: float | None, high: float | None) -> Cell:
    """Return the cell of a number in two decimals and its interval."""
    return Cell(two(number), interval=write_ends(low, high, lambda end: two(end).lstrip("+")))


def write_ends(low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    """Return both ends of an interval in brackets; "" where one is not there."""
    return f"[{write(low)}, {write(high)}]" if is_number(low) and is_number(high) else ""


def count_words(rows: Iterable[EstimateRow]) -> str:
    """Return how many words estimates used, "16/10, 23/24"; a range where they used different ones."""
    rows = list(rows)
    x, y, a, b = (_span(row.get(f"n_{side}") for row in rows) for side in "xyab")
    return f"{x}/{y}, {a}/{b}"


def count_pairs(rows: Iterable[EstimateRow]) -> str:
    """Return how many pairs percentages count."""
    return _span(map(pairs_counted, rows))


def _span(counts: Iterable[int | None]) -> str:
    known = sorted({count for count in counts if count is not None})
    return "\N{EN DASH}".join(map(str, dict.fromkeys((known[0], known[-1])))) if known else MISSING


def numbers(*names: str) -> tuple[tuple[str, str], ...]:
    """Return columns of these names without a group."""
    return tuple(("", name) for name in names)


def sortable(name: str, value: object, form: str = "") -> Cell:
    """Return the cell of a value; a table of the page sorts it in full precision, last if it is no number.

    Segment lengths are sorted from short to long, ">75" after "75", the mean over them first.
    """
    order = repr(value) if is_number(value) and not isinstance(value, bool) else None if isinstance(value, str) else ""
    if name == "segment_length" and value == MEAN:
        order = "0"
    elif name == "segment_length" and isinstance(value, str) and (length := value.lstrip(">")).isdigit():
        order = str(int(length) + 0.5 * value.startswith(">"))
    return Cell(show_value(name, value, form), order=order)


FEW_ROWS = 10
"""A table of more rows sorts and filters on the page."""


def _write_cell(value: Any) -> Cell:
    return value if isinstance(value, Cell) else Cell(value if isinstance(value, str) else f"{value:,}")


_KEPT = ("effect_size", "bias_percentage")
"""Columns that a table has even if no row has a value."""

_LISTS = (
    *("method", "category", "model", "published_model", "segment_length", "sample_mode", "bias_type", "set"),
    *("structure", "structure_1", "structure_2", "polarity", "quantity"),
    *("table", "language", "same_sign", "published_inside"),
)
"""Columns of few values, which a reader chooses from a list."""


SetOff: TypeAlias = Mapping[str, Callable[[Mapping[str, Any], Cell], Cell]]
"""For some columns of a table, what sets a cell off by its row."""


def show_table(
    name: str,
    rows: Iterable[Any],
    *,
    columns: dict[str, str] | None = None,
    cells: SetOff | None = None,
    **values: object,
) -> Sheet:
    """Return a table of the page, which has its caption, its look and its columns from `templates/tables.tsv`.

    There `columns` and `hidden` name columns of the registry, with a format after a colon if it differs from the
    registry's; those without a value in any row are left out. Other tables have `heads` with their kinds. The look
    `auto` makes a long table explorable.

    Args:
        name: of the table.
        rows: rows by column, or for other tables the label and a value for each column.
        columns: heads and kinds of further columns.
        cells: for some columns, what sets a cell off by its row.
        values: for the caption.
    """
    about = list_template("tables.tsv")[name]
    written = (
        _list_columns(about, list(rows), cells or {}) if about["columns"] else _list_values(about, rows, columns or {})
    )
    return replace(written, caption=about["caption"].format(**values))


def _list_values(about: Mapping[str, str], rows: Iterable[Sequence[Any]], columns: dict[str, str]) -> Sheet:
    """Return a table of rows of texts, numbers and cells, the label first; `columns` come after those of `about`."""
    kinds = dict(head.partition("=")[::2] for head in about["heads"].split("; ")) | columns
    lines = [Row((row[0],), tuple(map(_write_cell, row[1:]))) for row in rows]
    look = "explorable" * (len(lines) > FEW_ROWS) if about["look"] == "auto" else about["look"]
    label, *others = kinds
    return Sheet(
        (label,), numbers(*others), lines, look=look, kinds={head: kind for head, kind in kinds.items() if kind}
    )


def _list_columns(about: Mapping[str, str], rows: Sequence[Mapping[str, Any]], cells: SetOff) -> Sheet:
    """Return a table of columns of the registry, whose first one is the label."""
    forms = dict(each.partition(":")[::2] for each in f"{about['columns']} {about['hidden']}".split())
    first, *others = forms
    shown = [name for name in others if name in _KEPT or any(row.get(name) not in (None, "", []) for row in rows)]
    heads = {name: HEADINGS[name].en for name in (first, *shown)}
    texts = [name for name in shown if not any(is_number(row.get(name)) for row in rows)]
    explorable = "explorable" in about["look"]
    kinds = {heads[n]: "list" if explorable and n in _LISTS else "text" for n in [first] * explorable + texts}
    lines = []
    for row in rows:
        plain_cells = [(name, sortable(name, row.get(name), forms[name])) for name in shown]
        written = tuple(cells[name](row, cell) if name in cells else cell for name, cell in plain_cells)
        lines.append(Row((show_value(first, row[first]),), written))
    hidden = [heads[name] for name in about["hidden"].split() if name in shown]
    columns = numbers(*(heads[name] for name in shown))
    return Sheet((heads[first],), columns, lines, look=about["look"], kinds=kinds, hidden=hidden)


@functools.cache
def list_template(file: str) -> dict[str, dict[str, str]]:
    """Return the rows of a table of `templates` by their first column."""
    return {next(iter(row.values())): row for row in read_rows(ASSETS / file)}


def group_heads(sheet: Sheet) -> list[tuple[str, int]]:
    """Return each group in a row, with the number of columns below it; nothing if no column has a group."""
    heads = [(group, len(list(columns))) for group, columns in groupby(sheet.columns, key=lambda column: column[0])]
    return heads if any(group for group, _ in heads) else []


def split_columns(sheet: Sheet, at_most: int) -> list[Sheet]:
    """Return the sheet in parts of at most so many columns, each with all labels; groups stay whole if they fit."""
    parts: list[list[int]] = [[]]
    for _, group in groupby(range(len(sheet.columns)), key=lambda i: sheet.columns[i][0]):
        columns = list(group)
        if parts[-1] and len(parts[-1]) + len(columns) > at_most:
            parts.append([])
        for start in range(0, len(columns), at_most):
            parts += [[]] if start else []
            parts[-1] += columns[start : start + at_most]
    return [select_columns(sheet, part) for part in parts]


def select_columns(sheet: Sheet, kept: Sequence[int]) -> Sheet:
    """Return the sheet with these columns, by their numbers, and all labels."""
    rows = [replace(row, cells=tuple(row.cells[i] for i in kept)) for row in sheet.rows]
    return replace(sheet, columns=tuple(sheet.columns[i] for i in kept), rows=rows)


# --------------------
# Tables as text.


def marked_text(cell: Cell) -> str:
    """Return the text of a cell with its mark and, if they are few, the words behind it."""
    return cell.text + cell.mark + f" ({cell.words})" * bool(cell.words)


def sheet_to_csv(sheet: Sheet) -> str:
    """Write a table as CSV, group and name in one head, with a last column that says why cells are empty."""
    lines = [[*map(guarded_text, row.labels), *map(marked_text, row.cells), row.note] for row in sheet.rows]
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([[*sheet.headings, "note"], *lines])
    return buffer.getvalue().replace(MINUS, "-")


def sheet_to_markdown(sheet: Sheet, notes: Sequence[str] = ()) -> str:
    """Write a table as Markdown, with notes as a list below."""
    lines = [[*row.labels, *map(_markdown_cell, row.cells)] for row in sheet.rows]
    table = markdown_table(sheet.headings, lines, labels=len(sheet.heads))
    return "\n".join([table, *([markdown_list(notes)] if notes else [])])


def markdown_table(heads: Sequence[str], lines: Iterable[Sequence[str]], *, labels: int) -> str:
    """Return a table in Markdown, text in it escaped but for `Markup`; all columns after `labels` are numbers."""
    rule = [Markup("---" if n < labels else "---:") for n in range(len(heads))]
    written = [
        [text if isinstance(text, Markup) else escape_markdown(text) for text in row] for row in (heads, rule, *lines)
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in written) + "\n"


def _markdown_cell(cell: Cell) -> str:
    text = " ".join(filter(None, (marked_text(cell), cell.interval)))
    return Markup(f"**{escape_markdown(text)}**") if cell.bold else text


def markdown_list(sentences: Iterable[str]) -> str:
    """Return a list in Markdown."""
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences) + "\n"


def sheets_to_latex(sheets: Sequence[Sheet], notes: Sequence[str], *, caption: str, label: str) -> str:
    r"""Write tables for LaTeX, each a `table*` of one number, with notes below the last one.

    They need booktabs, and colortbl for gray cells. The text is ASCII, because pdflatex sets no Bangla and no
    Devanagari without further packages: words in other scripts are counted.

    Args:
        sheets: the parts of the table.
        notes: sentences below it.
        caption: in plain text.
        label: what \ref calls it.
    """
    parts = [(sheet, group_heads(sheet)) for sheet in sheets]
    has_gray = any(cell.shade in GRAYS for sheet in sheets for row in sheet.rows for cell in row.cells)
    template = TEMPLATES.overlay(autoescape=False, finalize=None).get_template("table.tex.j2")
    return template.render(parts=parts, notes=notes, caption=caption, label=label, grays=GRAYS, has_gray=has_gray)


def escape_latex(text: str) -> str:
    """Return plain text as LaTeX prints it, in one line; words in scripts that need other fonts are counted."""
    signs = unicodedata.normalize("NFC", _UNPRINTED.sub(" ", text))
    latin = "".join(sign if sign in _LATEX else _without_accent(sign) or sign for sign in signs)
    counted = _OTHER_SCRIPTS.sub(lambda found: f"[{plural(len(found[0].split()), 'word')}]", latin)
    return " ".join("".join(_LATEX.get(sign, sign) for sign in counted).split())


def _without_accent(sign: str) -> str:
    return unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{sign: f"${sign}$" for sign in "<>|"},
    **dict(zip("‘’“”", ("`", "'", "``", "''"), strict=True)),
    **{MINUS: "$-$", MISSING: "--", "\N{EM DASH}": "---", "±": r"$\pm$", "×": r"$\times$", "†": r"$\dagger$"},
    **{"≤": r"$\leq$", "≥": r"$\geq$", "τ": r"$\tau$"},
}
_OTHER = f"[^\x00-\x7f{re.escape(''.join(sign for sign in _LATEX if not sign.isascii()))}]"
_OTHER_SCRIPTS = re.compile(f"{_OTHER}+(?:[ ,-]+{_OTHER}+)*")
_UNPRINTED = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

# --------------------
# Tables as HTML: text in the page, and the templates.


def html(template: str, *values: str | float) -> Markup:
    """Return HTML with these values in its places, text among them escaped (`shown`)."""
    return Markup(template.format(*(shown(value) if isinstance(value, str) else value for value in values)))


def shown(text: str) -> Markup:
    """Return text as in the page, with Bangla and Hindi marked for fonts and screen readers; HTML stays as it is."""
    if isinstance(text, Markup):
        return text
    if text.isascii():
        return escape(text)
    parts = [
        Markup('<span lang="{}">{}</span>').format(language_of(part), part) if n % 2 else escape(part)
        for n, part in enumerate(_INDIC.split(text))
    ]
    return Markup("").join(parts)


def language_of(text: str) -> str:
    """Return bn or hi by the script of a text: Bangla, or Devanagari; a lone danda counts as Bangla."""
    return "bn" if _BANGLA.search(text) or not _DEVANAGARI.search(text) else "hi"


_INDIC_WORD = "[\u0900-\u09ff\u200c\u200d]+"
_INDIC = re.compile(f"({_INDIC_WORD}(?:[ ,]+{_INDIC_WORD})*)")
_BANGLA = re.compile("[\u0980-\u09ff]")
_DEVANAGARI = re.compile("[\u0900-\u0963\u0966-\u097f]")

TEMPLATES = Environment(
    loader=PackageLoader("prasanga.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=lambda value: shown(value) if isinstance(value, str) else value,
)
"""The templates of the page; `section` and `findings` add their filters."""

TEMPLATES.filters |= {
    **{"plural": plural, "agree": agree, "plain": plain, "two": two, "one_decimal": one_decimal},
    **{"equals": equals_probability, "from_twins": from_twins, "latex": escape_latex, "language": name_of_language},
}


def write_notes(table: str, **facts: Any) -> list[str]:
    """Return the caption and the notes of a table, one per line of its macro in `paper_notes.txt.j2`."""
    names = {"MARK": MARK, "MISSING": MISSING, "FEWEST_WORDS": FEWEST_WORDS}
    template = TEMPLATES.overlay(autoescape=False, finalize=None).get_template("paper_notes.txt.j2", globals=names)
    return list(filter(None, map(str.strip, getattr(template.module, table)(**facts).splitlines())))


def describe_conventions(table: pl.DataFrame) -> str:
    """Return the choices behind the estimates in words."""
    rows = table.filter(pl.col("effect_size").is_finite()).rows(named=True) or table.rows(named=True)
    chosen = dict.fromkeys(tuple((name, row.get(name)) for name in CONVENTIONS) for row in rows)
    return " Or: ".join(write_notes("conventions", row=dict(each))[0] for each in chosen)
