"""A table for readers, and how it is written as CSV, Markdown and LaTeX: labels in front, numbers, notes below.

What a table shows is decided where it is made (`ceat_table`, `paper_tables`, `sections`); `section` writes it as HTML.
"""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from markupsafe import Markup, escape

from prasanga.base.documents import escape_markdown, guarded_text
from prasanga.report.grid import MISSING, Estimate, is_number

MINUS = "\N{MINUS SIGN}"


def signed(value: float | None, decimals: int = 3) -> str:
    """Return a number with its sign; what rounds to zero has none. A dash for null, NaN and infinite."""
    if value is None or not is_number(value):
        return MISSING
    text = f"{abs(value):.{decimals}f}"
    return text if float(text) == 0 else f"{'+' if value > 0 else '-'}{text}"


def with_sign(value: float | None, decimals: int = 3) -> str:
    """Return a number as `signed` does, with a minus sign in place of the hyphen."""
    return signed(value, decimals).replace("-", MINUS)


def two(value: float | None) -> str:
    """Return a number as `with_sign` does, in two decimals."""
    return with_sign(value, 2)


def from_twins(row: Estimate, decimals: int) -> str:
    """Return how far an effect or a percentage is from the model's twins, after `; `; "" without a comparison."""
    ends = [row.get(f"twin_difference{end}") for end in ("", "_low", "_high")]
    if not all(map(is_number, ends)):
        return ""
    difference, low, high = (with_sign(end, decimals) for end in ends)
    return f"; difference from {row['n_twins']} twins with random weights {difference}, {low} to {high}"


def plain(value: float | None, decimals: int = 3) -> str:
    """Return a number without a plus; in exponents where it would round to zero, a dash where there is none."""
    if value is None or not is_number(value):
        return MISSING
    if isinstance(value, int):
        return f"{value}"
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        return "0" if value == 0 else f"{value:.1e}".replace("-", MINUS)
    return text.replace("-", MINUS)


def one_decimal(value: float | None) -> str:
    """Return a percentage with one decimal; a dash where there is none."""
    return f"{value:.1f}" if value is not None and is_number(value) else MISSING


def probability(p: float | None) -> str:
    """Return a p as ".032", "< .001" or "1"; a dash where there is none."""
    if p is None or not is_number(p):
        return MISSING
    if p < 0.001:
        return "< .001"
    return "1" if p >= 0.9995 else f"{p:.3f}"[1:]


def equals_probability(p: float | None) -> str:
    """Return a p for use after its name: "= .032", "< .001"."""
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


def from_log(log_p: float | None) -> str:
    """Return a p from its natural logarithm, as "< 1e−12" where it is too small to be written out."""
    if log_p is None or not is_number(log_p):
        return MISSING
    exponent = log_p / math.log(10)
    return probability(math.exp(log_p)) if exponent > -3 else f"< 1e{MINUS}{math.floor(-exponent)}"


MARK = "*"

_LONG, _LINE, _COLUMN = 18, 14, 8
"""A head with more characters is broken into lines of so many; a column of numbers is as wide as so many."""

_LABEL, _PAGE, _SEPARATION = 34, 455.0, 4
"""Characters of a broken label's lines; points of a page in two columns (A4, the ACL's), and on a column's sides."""

_SIZES = {"small": 1.0, "footnotesize": 0.93, "scriptsize": 0.86}
"""Sizes of print in a document of 11 points, and their widths; the largest that fits is taken."""

_GLYPHS = {
    **dict.fromkeys("fijlrt.,;:'!|[]()I -", 3.4),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ", 7.2),
    **dict.fromkeys("mwMW%+<>=&@", 8.4),
}
"""Points of letters in small print; of all others 5.3."""

_LINES, _HEAD, _NOTE = 44, 5, 115
"""Lines of a page of LaTeX, those that the head of a table takes, and characters in a line of the notes."""


@dataclass(frozen=True)
class Cell:
    """A number as text, and how it is set off.

    Attributes:
        text: what stands in the cell. On the page, `Markup` is HTML, and any other text is escaped.
        mark: written behind the text, in CSV as well.
        bold, underlined: whether it is.
        shade: of the heat scale: `zero`, `plus-1` to `plus-5`, `minus-1` to `minus-5`, or `missing`.
        order: what a table of the page sorts by in place of the text; empty for nothing, None for the text.
        hover: what the cell tells when pointed at.
        words: how many words of how many the number rests on, where they are few (`grid.few_words`).
        link: the address of what stands behind the number.
    """

    text: str = MISSING
    mark: str = ""
    bold: bool = False
    underlined: bool = False
    shade: str = ""
    order: str | None = None
    hover: str = ""
    words: str = ""
    link: str = ""


@dataclass(frozen=True)
class Row:
    """A line: the text in front of the numbers, the numbers, and why some are missing (for CSV).

    Attributes:
        labels: one for each head of the sheet.
        cells: one for each column.
        note: why cells are missing; CSV alone has it, the page says it below the table.
        block: the head of the block of rows that begins here; empty for a block without a head, None for no new block.
        look: class of the row on the page.
        anchor: what a link of the page leads to it by.
        hover: what the first label tells when pointed at.
        search: what the row is found and filtered by in place of its first label.
        order: what the row is sorted by in place of its first label.
    """

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]
    note: str = ""
    block: str | None = None
    look: str = ""
    anchor: str = ""
    hover: str = ""
    search: str = ""
    order: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table: heads of the labels, columns as (group, name), and the rows. A group may be empty.

    Attributes:
        heads: of the labels.
        columns: of the cells.
        rows: the lines.
        caption: what the table shows, on the page.
        look: classes of the table on the page; one that is `explorable` sorts and filters there.
        kinds: of heads and columns by name, on the page: `list` (few values, chosen from a list), `text`, or the name
            of a style. A column is a `number` where nothing else is said.
        hidden: columns that an explorable table shows only when they are chosen.
    """

    heads: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: Sequence[Row]
    caption: str = ""
    look: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)
    hidden: Collection[str] = ()


def row_of(label: str, *cells: str | Cell) -> Row:
    """Return a row of one label; texts are cells that are not set off."""
    return Row((label,), tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells))


def numbers(*names: str) -> tuple[tuple[str, str], ...]:
    """Return columns of these names without a group."""
    return tuple(("", name) for name in names)


def sheet_to_csv(sheet: Sheet) -> str:
    """Write a table as CSV, group and name in one head, with a last column that says what is missing and why."""
    header = [*sheet.heads, *(" ".join(filter(None, column)) for column in sheet.columns), "note"]
    lines = [[*map(guarded_text, row.labels), *map(marked_text, row.cells), row.note] for row in sheet.rows]
    return write_csv([header, *lines])


def sheets_to_markdown(sheets: Sequence[Sheet], notes: Sequence[str]) -> str:
    """Write tables as Markdown, one below the other, with notes as a list."""
    blocks = [
        _piped(
            [*sheet.heads, *(" ".join(filter(None, column)) for column in sheet.columns)],
            ([*map(escape_markdown, row.labels), *map(_markdown_cell, row.cells)] for row in sheet.rows),
            len(sheet.heads),
        )
        for sheet in sheets
    ]
    return "\n".join([*blocks, *([markdown_list(notes)] if notes else [])])


def markdown_table(heads: Sequence[str], lines: Iterable[Sequence[str]], *, labels: int) -> str:
    """Return a table in Markdown; all columns after the first `labels` are numbers."""
    return _piped(heads, (map(escape_markdown, line) for line in lines), labels)


def markdown_list(sentences: Iterable[str]) -> str:
    """Return a list in Markdown."""
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences) + "\n"


def _piped(heads: Sequence[str], lines: Iterable[Iterable[str]], labels: int) -> str:
    rules = ("---" if i < labels else "---:" for i in range(len(heads)))
    return "\n".join(f"| {' | '.join(line)} |" for line in (map(escape_markdown, heads), rules, *lines)) + "\n"


def sheets_to_latex(sheets: Sequence[Sheet], notes: Sequence[str], *, caption: str, label: str) -> str:
    r"""Write tables as a LaTeX `table*` (needs booktabs and nothing else), with notes in a minipage below.

    pdflatex sets no Bangla and no Devanagari without further packages and fonts, so that the text is ASCII: notes have
    the number of such words in place of the words, and a last note says where these are. What does not fit on a page
    goes on in further ones, under the same number.

    Args:
        sheets: the tables, one below the other.
        notes: sentences below them.
        caption: the caption, in plain text.
        label: what \ref calls it.
    """
    shown = [count_words_of_other_scripts(note) for note in notes]
    if shown != [_in_latin(note) for note in notes]:
        shown.append("Words in other scripts are counted here; the CSV and Markdown files of this table name them.")
    pages = _pages(sheets, shown)
    lines = [r"% Needs \usepackage{booktabs}."]
    for number, page in enumerate(pages):
        lines += [r"\begin{table*}", rf"\centering\{_size_of(page)}\setlength{{\tabcolsep}}{{{_SEPARATION}pt}}"]
        lines += ["\n\n\\medskip\n".join(_tabular(sheet) for sheet in page), ""] if page else []
        if number == len(pages) - 1:
            listed = "\\par\n".join(map(escape_latex, shown))
            lines += [r"\smallskip", r"\begin{minipage}{\linewidth}\footnotesize", listed, r"\end{minipage}"]
        if number:
            lines += [r"\addtocounter{table}{-1}", rf"\caption{{{escape_latex(caption)} (Continued.)}}"]
        else:
            lines += [rf"\caption{{{escape_latex(caption)}}}", rf"\label{{{label}}}"]
        lines += [r"\end{table*}", ""]
    return "\n".join(lines)


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
    """Return bn or hi by the script of a text: Bangla, or Devanagari; a danda alone counts as Bangla."""
    return "bn" if _BANGLA.search(text) or not _DEVANAGARI.search(text) else "hi"


def _pages(sheets: Sequence[Sheet], notes: Sequence[str]) -> list[list[Sheet]]:
    """Return the tables that stand on each page; on the last one the notes have room as well."""
    pages: list[list[Sheet]] = [[]]
    height = 0.0
    for sheet in sheets:
        longest = _longest_label(sheet)
        of_sheet = _HEAD + sum(
            max(
                any(cell.words for cell in row.cells) + 1, *(len(_broken_label(label, longest)) for label in row.labels)
            )
            + (longest is not None) * 0.4
            for row in sheet.rows
        )
        if pages[-1] and height + of_sheet > _LINES:
            pages.append([])
            height = 0.0
        pages[-1].append(sheet)
        height += of_sheet
    if pages[-1] and height + sum(1 + len(note) // _NOTE for note in notes) > _LINES:
        pages.append([])
    return pages


def marked_text(cell: Cell) -> str:
    """Return the text of a cell with its mark; what is underlined has the mark where nothing can be underlined."""
    return cell.text + (cell.mark or MARK * cell.underlined) + f" ({cell.words})" * bool(cell.words)


def group_heads(sheet: Sheet) -> list[tuple[str, int]]:
    """Return each group in a row, with how many columns stand below it."""
    return [(group, len(list(columns))) for group, columns in groupby(sheet.columns, key=lambda column: column[0])]


def split_wide(sheet: Sheet, at_most: int) -> list[Sheet]:
    """Return the sheet in parts that fit on a page of LaTeX, of at most so many columns, each with all labels.

    A group is not taken apart if it fits. Widths are reckoned in characters.
    """
    room = _PAGE / _SIZES["footnotesize"] - _width_of_labels(sheet, _longest_label(sheet))

    def fits(columns: Sequence[int]) -> bool:
        return len(columns) <= 1 or (len(columns) <= at_most and _width_of_columns(sheet, columns) <= room)

    parts: list[list[int]] = []
    for _, of_group in groupby(range(len(sheet.columns)), key=lambda i: sheet.columns[i][0]):
        group = list(of_group)
        if parts and fits([*parts[-1], *group]):
            parts[-1] += group
            continue
        parts.append([])
        for column in group:
            if not fits([*parts[-1], column]):
                parts.append([])
            parts[-1].append(column)
    return [
        Sheet(
            sheet.heads,
            tuple(sheet.columns[i] for i in part),
            tuple(Row(row.labels, tuple(row.cells[i] for i in part), row.note) for row in sheet.rows),
        )
        for part in parts
    ]


def _size_of(sheets: Sequence[Sheet]) -> str:
    """Return the largest print in which all these tables are within a page, the smallest where none is."""
    widths = ((sheet, _width_of_columns(sheet, range(len(sheet.columns)))) for sheet in sheets)
    widest = max((_width_of_labels(sheet, _longest_label(sheet)) + width for sheet, width in widths), default=0.0)
    return next((name for name, factor in _SIZES.items() if widest * factor <= _PAGE), list(_SIZES)[-1])


def _longest_label(sheet: Sheet) -> int | None:
    """Return from how many characters on labels are broken: only where the table would not fit on a page otherwise."""
    width = _width_of_labels(sheet, None) + _width_of_columns(sheet, range(len(sheet.columns)))
    return None if width * _SIZES["footnotesize"] <= _PAGE else _LABEL


def _width_of_labels(sheet: Sheet, longest: int | None) -> float:
    columns = list(zip(sheet.heads, *(row.labels for row in sheet.rows), strict=True))
    widest = (max(_points(line) for text in column for line in _broken_label(text, longest)) for column in columns)
    return sum(widest) + 2 * _SEPARATION * len(columns)


def _width_of_columns(sheet: Sheet, columns: Sequence[int]) -> float:
    width = 0.0
    for group, found in groupby(columns, key=lambda i: sheet.columns[i][0]):
        names = [max(*map(_points, _broken(sheet.columns[i][1])), _width_of_cells(sheet, i)) for i in found]
        head = max(map(_points, _broken(group, len(names) * _COLUMN)))
        width += max(sum(names) + 2 * _SEPARATION * len(names), head + 2 * _SEPARATION)
    return width


def _width_of_cells(sheet: Sheet, column: int) -> float:
    """Return the points of the widest cell, whose hyphens are minus signs; counts of words are in scriptsize."""
    cells = [row.cells[column] for row in sheet.rows]
    plain_texts = (re.sub(r"\\[a-z]+|\\;|[{}^]", "", f"{cell.text}{cell.mark[:1]}").replace("-", "+") for cell in cells)
    return max([0.0, *map(_points, plain_texts), *(0.86 * _points(cell.words) for cell in cells)])


def _points(text: str) -> float:
    """Return about how wide a text is in Computer Modern of 10 points."""
    return sum(_GLYPHS.get(sign, 5.3) for sign in text)


def write_csv(lines: Sequence[Sequence[str]]) -> str:
    """Write lines of cells as CSV with LF at the end of each."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(lines)
    return buffer.getvalue()


def escape_latex(text: str) -> str:
    """Return plain text that LaTeX sets as it is, in one line; (?) for a name in a script that needs other fonts."""
    latin = _OTHER_SCRIPTS.sub("(?)", _in_latin(_UNPRINTED.sub(" ", text)))
    return " ".join("".join(_LATEX.get(sign, sign) for sign in latin).split())


def count_words_of_other_scripts(text: str) -> str:
    """Return the text with the number of words in place of those not in Latin letters: "3 words: no vector"."""

    def counted(words: re.Match[str]) -> str:
        n_words = len(_OTHER_SCRIPTS.findall(words[0]))
        return f"{n_words} word{'s' if n_words > 1 else ''}"

    return _LIST_IN_OTHER_SCRIPTS.sub(counted, _in_latin(text))


def _in_latin(text: str) -> str:
    """Return the text with Latin letters without their accents; what is left besides is of other scripts."""
    signs = unicodedata.normalize("NFC", text)
    # a letter of another script has no ASCII in it
    return "".join(
        sign
        if sign.isascii() or sign in _LATEX
        else unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode() or sign
        for sign in signs
    )


def _greek(sign: str) -> str:
    """Return a Greek letter in mathematics; LaTeX has no command for those that look like Latin ones."""
    latin = {"ο": "o"} | dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True))
    if sign in latin:
        return f"${latin[sign]}$" if sign.islower() else latin[sign]
    name = unicodedata.name(sign).split()[-1].lower().replace("lamda", "lambda")
    name = "varsigma" if sign == "ς" else name
    return rf"$\{name if sign.islower() else name.capitalize()}$"


_LETTERS = {"ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ß": "ss", "ł": "l", "Ł": "L", "ı": "i"}

_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"${sign}$" for sign in "<>|"},
    "\N{MINUS SIGN}": "$-$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{EM DASH}": "---",
    "\N{DAGGER}": r"$\dagger$",
    **dict(zip("‘’“”", ("`", "'", "``", "''"), strict=True)),
    MISSING: "--",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{MIDDLE DOT}": r"$\cdot$",
    "\N{SECTION SIGN}": r"\S{}",
    "\N{DEGREE SIGN}": r"$^{\circ}$",
    "\N{SUPERSCRIPT TWO}": "$^{2}$",
    "\N{SUPERSCRIPT THREE}": "$^{3}$",
    "\N{VULGAR FRACTION ONE HALF}": "1/2",
    "\N{MICRO SIGN}": r"$\mu$",
    **{sign: rf"\{name}{{}}" for sign, name in _LETTERS.items()},
    **{sign: _greek(sign) for sign in "αβγδεζηθικλμνξοπρςστυφχψωΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"},
}

_OTHER = f"[^\x00-\x7f{re.escape(''.join(sign for sign in _LATEX if not sign.isascii()))}]"
_INDIC_WORD = "[\u0900-\u09ff\u200c\u200d]+"
_INDIC = re.compile(f"({_INDIC_WORD}(?:[ ,]+{_INDIC_WORD})*)")
_BANGLA = re.compile("[\u0980-\u09ff]")
_DEVANAGARI = re.compile("[\u0900-\u0963\u0966-\u097f]")
_UNPRINTED = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# a word, or several with spaces and hyphens between them
_OTHER_SCRIPTS = re.compile(rf"{_OTHER}+(?:[ \-]+{_OTHER}+)*")
_LIST_IN_OTHER_SCRIPTS = re.compile(rf"{_OTHER_SCRIPTS.pattern}(?:, {_OTHER_SCRIPTS.pattern})*")


def _markdown_cell(cell: Cell) -> str:
    text = f"**{cell.text}**" if cell.bold else cell.text
    return (f"<u>{text}</u>" if cell.underlined else text) + cell.mark + f" ({cell.words})" * bool(cell.words)


def _latex_cell(cell: Cell) -> str:
    if cell.text == MISSING:
        return "--"
    number = rf"\mathbf{{{cell.text}}}" if cell.bold else cell.text
    number = f"${number}^{{{cell.mark}}}$" if cell.mark else f"${number}$"
    number = rf"\underline{{{number}}}" if cell.underlined else number
    # the counts stand below the number, so that the column stays narrow
    return rf"\shortstack[r]{{{number} \\ {{\scriptsize {cell.words}}}}}" if cell.words else number


def _tabular(sheet: Sheet) -> str:
    n_labels = len(sheet.heads)
    lines = [rf"\begin{{tabular}}{{{'l' * n_labels}{'r' * len(sheet.columns)}}}", r"\toprule"]
    names = [_stacked(name) for _, name in sheet.columns]
    if any(group for group, _ in sheet.columns):
        heads, rules = zip(*_group_heads(sheet), strict=True)
        lines += [" & ".join([*map(escape_latex, sheet.heads), *heads]) + r" \\", " ".join(filter(None, rules))]
        lines += [" & ".join([*[""] * n_labels, *names]) + r" \\"]
    else:
        lines += [" & ".join([*map(escape_latex, sheet.heads), *names]) + r" \\"]
    lines += [r"\midrule"]
    longest = _longest_label(sheet)
    for number, row in enumerate(sheet.rows):
        if number and longest is not None:
            lines.append(r"\addlinespace")  # else it is not plain to which line of the labels a number belongs
        labels = [_stack(_broken_label(label, longest), "[l]") for label in row.labels]
        lines.append(" & ".join([*labels, *map(_latex_cell, row.cells)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _group_heads(sheet: Sheet) -> Iterator[tuple[str, str]]:
    """Yield each group's head over its columns, and the rule below it."""
    first = len(sheet.heads) + 1
    for group, n_columns in group_heads(sheet):
        last = first + n_columns - 1
        head = rf"\multicolumn{{{n_columns}}}{{c}}{{{_stacked(group, n_columns * _COLUMN)}}}"
        yield head, rf"\cmidrule(lr){{{first}-{last}}}" if group else ""
        first = last + 1


def _stacked(name: str, room: int = 0) -> str:
    """Return a head; a long name is broken after -, _, . or a space into lines one above the other."""
    return _stack(_broken(name, room))


def _stack(lines: Sequence[str], side: str = "") -> str:
    # after \\ these signs would belong to it
    stack = r" \\ ".join(("{}" if line[:1] in ("*", "[") else "") + escape_latex(line) for line in lines)
    return rf"\shortstack{side}{{{stack}}}" if len(lines) > 1 else stack


def _broken(name: str, room: int = 0) -> list[str]:
    if len(name) <= max(_LONG, room):
        return [name]
    return _lines_of(name, r"[^-_. ]*[-_. ]?", _LINE)


def _broken_label(text: str, longest: int | None) -> list[str]:
    """Return a label in lines, before its parenthesis if both parts are short enough; a single word as heads are."""
    if longest is not None and " " not in text:
        return _broken(text)
    first, found, rest = text.partition(" (")
    if longest is not None and found and len(text) > longest >= max(len(first), len(rest) + 1):
        return [first, f"({rest}"]
    return [text] if longest is None or len(text) <= longest else _lines_of(text, r"[^ ]* ?", longest)


def _lines_of(text: str, parts: str, width: int) -> list[str]:
    """Return the text in lines of at most `width` characters, broken between its parts, within longer ones."""
    lines = [""]
    for part in re.findall(parts, text):
        if lines[-1] and len(lines[-1].rstrip()) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line[start : start + width] for line in lines for start in range(0, len(line), width)] or [""]
