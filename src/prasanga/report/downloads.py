"""Files that lie beside the page, each named by what it shows: one entry for all formats of a figure or table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import NamedTuple

from prasanga.methods import TABLES
from prasanga.report.figures.registry import COLUMN, figure_named
from prasanga.report.grid import natural_order

FORMATS = {
    **{"pdf": "PDF", "svg": "SVG", "png": "PNG"},
    **{"csv": "CSV", "md": "Markdown", "tex": "LaTeX", "tsv": "TSV", "parquet": "Parquet"},
}
"""Names of the endings, in the order in which they are offered."""

_FOLDERS = {"figures": "Figures", "tables": "Tables", "data": "Data", "": "About the study"}
_NAMES = {
    **{PurePosixPath(table.beside).stem: table.label for table in TABLES.values() if table.beside},
    "comparison": "this study beside a paper's numbers",
    "ceat": "CEAT in the layout of the paper",
    "methods": "effects by method, side by side",
    "agreement": "agreement of methods: Kendall's tau of every two",
    "concordance": "concordance with sources",
    "suffixes": "all suffixes with their hits",
    "forms": "all forms by stimulus and file",
    "lengths": "lengths of contexts",
    "methods_card": "methods card: what was measured and how",
    "data_card": "data card: what it was measured on",
}
_FAMILIES = (
    (re.compile(r"sadhu_table(\d+)"), "in the layout of Table {} of Sadhu et al."),
    (re.compile(r"sahoo_table(\d+)"), "in the layout of Table {} of Sahoo et al."),
    (re.compile(r"(.+)\.oddities"), "oddities of the pairs of {}"),
)


class Download(NamedTuple):
    """A figure or table: its name, and (format, path from the page) of each file."""

    name: str
    files: list[tuple[str, str]]


class DownloadGroup(NamedTuple):
    """The downloads of one folder."""

    title: str
    downloads: list[Download]


def downloads_of(files: Iterable[str]) -> list[DownloadGroup]:
    """Return what lies beside the page, by folder.

    Args:
        files: paths from the page, as `figures/settling.pdf`; those in `figures/column` are the same figures at the
            width of one column.
    """
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for path in map(PurePosixPath, files):
        top, column = path.parts[0] if len(path.parts) > 1 else "", path.parent.name == COLUMN
        ending = path.suffix[1:]
        label = f"{FORMATS.get(ending, ending.upper())}{', one column wide' * column}"
        found.setdefault(top, {}).setdefault(path.stem, []).append((label, str(path)))
    return [
        DownloadGroup(
            title,
            [
                Download(name_of(stem), sorted(found[top][stem], key=lambda file: _place(file[1])))
                for stem in sorted(found[top], key=natural_order)
            ],
        )
        for top, title in _FOLDERS.items()
        if top in found
    ]


def name_of(stem: str) -> str:
    """Return what a file shows, by its name without the ending."""
    if figure := figure_named(stem):
        return figure.label
    for pattern, name in _FAMILIES:
        if match := pattern.fullmatch(stem):
            return name.format(match.group(1))
    return _NAMES.get(stem, stem.replace("_", " "))


def _place(path: str) -> tuple[bool, int, str]:
    file, order = PurePosixPath(path), list(FORMATS)
    ending = file.suffix[1:]
    return file.parent.name == COLUMN, order.index(ending) if ending in order else len(order), path
