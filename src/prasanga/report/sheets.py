"""A table for readers, as CSV, Markdown and LaTeX: labels in front, numbers under grouped heads, notes below.

What a layout shows is decided elsewhere (`tables`, `layouts`); here is only how it is written.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from prasanga.report.numbers import MISSING

MARK = "*"

_LONG, _LINE, _COLUMN = 18, 14, 8
"""A head with more characters is broken into lines of so many; a column of numbers is as wide as so many."""


@dataclass(frozen=True)
class Cell:
    """A number as text, and how it is set off. `mark` is written behind it, in CSV as well."""

    text: str = MISSING
    mark: str = ""
    bold: bool = False
    underlined: bool = False


@dataclass(frozen=True)
class Row:
    """A line: the text in front of the numbers, the numbers, and why some are missing (for CSV)."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table: heads of the labels, columns as (group, name), and the rows. A group may be empty."""

    heads: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]


def sheet_to_csv(sheet: Sheet) -> str:
    """As CSV, group and name in one head, with a last column that says what is missing and why."""
    header = [*sheet.heads, *(" ".join(filter(None, column)) for column in sheet.columns), "note"]
    lines = [[*row.labels, *(cell.text + _csv_mark(cell) for cell in row.cells), row.note] for row in sheet.rows]
    return write_csv([header, *lines])


def sheets_to_markdown(sheets: Sequence[Sheet], notes: Sequence[str]) -> str:
    """As Markdown tables, one below the other, with notes as a list."""
    blocks = []
    for sheet in sheets:
        heads = [escape_markdown(" ".join(filter(None, column))) for column in sheet.columns]
        lines = [[*map(escape_markdown, sheet.heads), *heads]]
        lines += [[*("---" for _ in sheet.heads), *("---:" for _ in sheet.columns)]]
        lines += [[*map(escape_markdown, row.labels), *map(_markdown_cell, row.cells)] for row in sheet.rows]
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    listed = "\n".join(f"- {escape_markdown(note)}" for note in notes)
    return "\n\n".join([*blocks, *([listed] if listed else [])]) + "\n"


def sheets_to_latex(sheets: Sequence[Sheet], notes: Sequence[str], *, caption: str, label: str) -> str:
    r"""As a LaTeX `table*` (needs booktabs and nothing else), with notes in a minipage below.

    pdflatex sets no Bangla and no Devanagari without further packages and fonts, so that the text is ASCII: notes have
    the number of such words in place of the words, and a last note says where these are.

    Args:
        sheets: the tables, one below the other.
        notes: sentences below them.
        caption: the caption, in plain text.
        label: what \ref calls it.
    """
    shown = [count_words_of_other_scripts(note) for note in notes]
    if shown != [_in_latin(note) for note in notes]:
        shown.append("Words in other scripts are counted here; the CSV and Markdown files of this table name them.")
    return "\n".join(
        [
            r"% Needs \usepackage{booktabs}.",
            r"\begin{table*}",
            r"\centering\small",
            "\n\n\\medskip\n".join(_tabular(sheet) for sheet in sheets),
            "",
            r"\smallskip",
            r"\begin{minipage}{\linewidth}\footnotesize",
            "\\par\n".join(map(escape_latex, shown)),
            r"\end{minipage}",
            rf"\caption{{{escape_latex(caption)}}}",
            rf"\label{{{label}}}",
            r"\end{table*}",
            "",
        ]
    )


def split_wide(sheet: Sheet, width: int) -> list[Sheet]:
    """The sheet in parts of at most `width` columns, each with all labels. A group is not taken apart if it fits."""
    groups = [list(columns) for _, columns in groupby(range(len(sheet.columns)), key=lambda i: sheet.columns[i][0])]
    pieces = [group[start : start + width] for group in groups for start in range(0, len(group), width)]
    parts: list[list[int]] = []
    for piece in pieces:
        if parts and len(parts[-1]) + len(piece) <= width:
            parts[-1] += piece
        else:
            parts.append(piece)
    return [
        Sheet(
            sheet.heads,
            tuple(sheet.columns[i] for i in part),
            tuple(Row(row.labels, tuple(row.cells[i] for i in part), row.note) for row in sheet.rows),
        )
        for part in parts
    ]


def write_csv(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells as CSV with LF at the end of each."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(lines)
    return buffer.getvalue()


def escape_markdown(text: str) -> str:
    """Plain text that Markdown shows as it is, in one line."""
    # a lone > is plain inside a cell or a sentence
    for sign in "\\|*_`<[]":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def escape_latex(text: str) -> str:
    """Plain text that LaTeX sets as it is, in one line; (?) for a name in a script that needs other fonts."""
    latin = _OTHER_SCRIPTS.sub("(?)", _in_latin(text))
    return " ".join("".join(_LATEX.get(sign, sign) for sign in latin).split())


def count_words_of_other_scripts(text: str) -> str:
    """The text with the number of words in place of those that are not in Latin letters: "3 words: no vector"."""

    def counted(words: re.Match[str]) -> str:
        n_words = len(_OTHER_SCRIPTS.findall(words[0]))
        return f"{n_words} word{'s' if n_words > 1 else ''}"

    return _LIST_IN_OTHER_SCRIPTS.sub(counted, _in_latin(text))


def _in_latin(text: str) -> str:
    """Latin letters without their accents and signs that LaTeX has, so that what else is left is of other scripts."""
    return "".join(_bare(sign) for sign in text)


def _bare(sign: str) -> str:
    if sign.isascii() or sign in _LATEX:
        return sign
    # a letter of another script has no ASCII in it
    return unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode() or sign


_OTHER = f"[^\x00-\x7f{MISSING}\N{MINUS SIGN}\N{EM DASH}\N{MULTIPLICATION SIGN}‘’“”]"
# a word, or several with spaces and hyphens between them
_OTHER_SCRIPTS = re.compile(rf"{_OTHER}+(?:[ \-]+{_OTHER}+)*")
_LIST_IN_OTHER_SCRIPTS = re.compile(rf"{_OTHER_SCRIPTS.pattern}(?:, {_OTHER_SCRIPTS.pattern})*")


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "\N{MINUS SIGN}": "$-$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{EM DASH}": "---",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    MISSING: "--",
}


def _csv_mark(cell: Cell) -> str:
    """CSV cannot underline: what is underlined elsewhere has the mark here."""
    return cell.mark or (MARK if cell.underlined else "")


def _markdown_cell(cell: Cell) -> str:
    text = f"**{cell.text}**" if cell.bold else cell.text
    return (f"<u>{text}</u>" if cell.underlined else text) + cell.mark


def _latex_cell(cell: Cell) -> str:
    if cell.text == MISSING:
        return "--"
    number = rf"\mathbf{{{cell.text}}}" if cell.bold else cell.text
    number = f"${number}^{{{cell.mark}}}$" if cell.mark else f"${number}$"
    return rf"\underline{{{number}}}" if cell.underlined else number


def _tabular(sheet: Sheet) -> str:
    n_labels = len(sheet.heads)
    lines = [rf"\begin{{tabular}}{{{'l' * n_labels}{'r' * len(sheet.columns)}}}", r"\toprule"]
    names = [_stacked(name) for _, name in sheet.columns]
    if any(group for group, _ in sheet.columns):
        heads, rules = zip(*_group_heads(sheet), strict=True)
        lines += [" & ".join([*map(escape_latex, sheet.heads), *heads]) + r" \\", " ".join(filter(None, rules))]
        lines += [" & ".join([*("" for _ in sheet.heads), *names]) + r" \\"]
    else:
        lines += [" & ".join([*map(escape_latex, sheet.heads), *names]) + r" \\"]
    lines += [r"\midrule"]
    lines += [" & ".join([*map(escape_latex, row.labels), *map(_latex_cell, row.cells)]) + r" \\" for row in sheet.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _group_heads(sheet: Sheet) -> Iterator[tuple[str, str]]:
    """Each group's head over its columns, and the rule below it."""
    first = len(sheet.heads) + 1
    for group, columns in groupby(sheet.columns, key=lambda column: column[0]):
        n_columns = len(list(columns))
        last = first + n_columns - 1
        head = rf"\multicolumn{{{n_columns}}}{{c}}{{{_stacked(group, n_columns * _COLUMN)}}}"
        yield head, rf"\cmidrule(lr){{{first}-{last}}}" if group else ""
        first = last + 1


def _stacked(name: str, room: int = 0) -> str:
    """A head; a long name is broken after -, _, . or a space into lines one above the other."""
    if len(name) <= max(_LONG, room):
        return escape_latex(name)
    lines = [""]
    for part in re.findall(r"[^-_. ]*[-_. ]?", name):
        if lines[-1] and len(lines[-1]) + len(part) > _LINE:
            lines.append("")
        lines[-1] += part
    stack = r" \\ ".join(escape_latex(line) for line in lines)
    return rf"\shortstack{{{stack}}}"
