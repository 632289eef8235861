"""The figures of a study, for papers and the page, and their colors.

An entry of `figures.yaml` is a figure, or a family of them: rule, files, caption and download follow from it.
The modules of this package draw, on `canvas`. This one imports neither them nor matplotlib: the rules read it while
they plan, and the page reads its colors.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeAlias

from prasanga.base.io import read_rows
from prasanga.base.results import fingerprints, module_file
from prasanga.base.yaml import load_yaml
from prasanga.methods import TABLES
from prasanga.report import ASSETS

FOLDER = "report/figures"
"""The folder of figures; those in its folder `column` are as wide as one column of two, others as the page."""

COLUMN = "column"
_LONGEST_NAME = 120  # of what a config calls something, in the name of a file

Options: TypeAlias = Mapping[str, Any]
"""Arguments of the function that draws a figure, by name."""


@dataclass(frozen=True)
class Figure:
    """A figure, or a family of figures that one function draws; what its entry in `figures.yaml` says."""

    file: str
    label: str
    plot: str
    tables: Sequence[str]
    caption: str
    method: str
    variants: str = "one"
    options: Options = field(default_factory=dict)
    on_page: bool = True

    @property
    def module(self) -> str:
        """Return the full name of the module with the function."""
        return f"{__package__}.{self.plot.rpartition('.')[0]}"


class Drawing(NamedTuple):
    """One figure of a study: its entry, its options, and the paths of its tables by name."""

    figure: Figure
    options: Options
    tables: Mapping[str, str]


VARIANTS: Mapping[str, Callable[[Mapping[str, Any], Sequence[str]], Sequence[Options]]] = {
    "one": lambda *_: [{}],
    "with_band": lambda config, _: [{"band": config["associations"]["band"]}],
    "both_modes": lambda config, _: [{}] * ({"fixed", "random"} <= set(config["associations"]["sample_modes"])),
    "each_category": lambda config, _: [{"category": name} for name in config["categories"]],
    "each_model": lambda _, models: [{"model": name} for name in models],
}
"""The options of the figures of an entry, by what the entry calls them, from the config and the models with traits."""


@functools.cache
def all_figures() -> tuple[Figure, ...]:
    """Return all figures, in the order of the page."""
    file = files(__name__) / "figures.yaml"
    return tuple(Figure(**entry) for entry in load_yaml(file.name, file.read_text(encoding="utf-8")))


def drawings_of(
    config: Mapping[str, Any], tables: Mapping[str, str], models_of_traits: Sequence[str] = ()
) -> dict[str, Drawing]:
    """Return the figures that a study has, by the name of their files.

    Args:
        config: of the study.
        tables: paths of the results that are there, by name.
        models_of_traits: the models that score traits.
    """
    return {
        name_of(figure.file, **options): Drawing(
            figure, {**figure.options, **options}, {name: tables[name] for name in figure.tables}
        )
        for figure in all_figures()
        if tables.keys() >= set(figure.tables)
        for options in VARIANTS[figure.variants](config, models_of_traits)
    }


def tables_drawn(drawings: Mapping[str, Drawing], names: Iterable[str]) -> list[str]:
    """Return the files that the figures of these names are drawn from."""
    return sorted({path for name in names for path in drawings[name].tables.values()})


def figure_named(name: str) -> Figure | None:
    """Return the figure whose files have this name, its label and caption filled in; None for a name of other files."""
    for figure in all_figures():
        if (options := _match(figure.file, name)) is not None:
            label, caption = figure.label.format_map(options), figure.caption.format_map(options)
            return replace(figure, label=label, caption=caption)
    return None


def figure_files(names: Sequence[str], report: Mapping[str, Any], results: str = "results") -> list[str]:
    """Return the files of figures: SVG for the page, other formats at the widths that are asked for.

    Args:
        names: of the figures; also a pattern of Snakemake's.
        report: the section `report` of the config.
        results: the folder of the study's results.
    """
    others = [ending for ending in report["formats"] if ending != "svg"]
    endings = {
        FOLDER: ["svg", *(others if "page" in report["widths"] else [])],
        f"{FOLDER}/{COLUMN}": others if COLUMN in report["widths"] else [],
    }
    return [f"{results}/{folder}/{name}.{ending}" for folder in endings for name in names for ending in endings[folder]]


def describe_drawings(
    drawings: Mapping[str, Drawing], report: Mapping[str, Any], results: str = "results"
) -> dict[str, dict[str, Any]]:
    """Return what the job that draws a figure is given, by its name, with the code of the function that draws.

    Args:
        drawings: the figures of a study.
        report: the section of the config.
        results: the folder of the study's results.
    """
    modules = {name: module_file(drawing.figure.module) for name, drawing in drawings.items()}
    code = fingerprints(set(modules.values()))
    return {
        name: {
            **{"plot": drawing.figure.plot, "options": dict(drawing.options), "code": code[modules[name]]},
            **{"tables": list(drawing.tables.values()), "files": figure_files([name], report, results)},
        }
        for name, drawing in drawings.items()
    }


def name_of(file: str, **options: object) -> str:
    """Return the name of a figure's files with these options; what a file name should not hold becomes _."""
    return file.format_map({key: _safe(str(value)) for key, value in options.items()})


def _safe(name: str) -> str:
    """Return a name as a part of a file's; one that is long, or would lose its letters, with a digest of it."""
    safe = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    if name.isascii() and len(name) <= _LONGEST_NAME:
        return safe
    return f"{safe[:40]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def shown_in(stem: str) -> str:
    """Return what a file beside the page shows, by its name without the ending."""
    if figure := figure_named(stem):
        return figure.label
    tables = {PurePosixPath(table.beside).stem: table.label for table in TABLES.values() if table.beside}
    listed = {row["name"]: row["label"] for row in read_rows(ASSETS / "files.tsv")}
    found = ((label, _match(name, stem)) for name, label in {**tables, **listed}.items())
    return next((label.format_map(parts) for label, parts in found if parts is not None), stem.replace("_", " "))


def _match(pattern: str, name: str) -> Mapping[str, str] | None:
    """Return the values of the options in a file's name, None if it does not follow the pattern."""
    found = re.fullmatch(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(pattern)), name)
    return None if found is None else found.groupdict()


# --------------------
# Colors, here so that the page can give them a dark counterpart without a drawing library.
#
# The colors of models follow Okabe and Ito (2008): people with any common form of color blindness can distinguish
# them. Pale ones are darker, so that a thin line has a contrast of 3:1 with white. Marker shapes differ as well.


INK = "#22262b"
MUTED = "#6a7078"
LINE = "#d9dce0"
PAPER = "#fefefe"
"""Inside of open markers. Not quite white, so that nothing else in a figure has it."""

MODELS = ("#0072b2", "#c85600", "#00895f", "#b85f8e", "#b97f00", "#2f8fc4", "#4b4f55")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")
"""Their number shares no factor with the number of colors, so that 70 models look different."""

COUNTS = ("#b2e2e2", "#73c0d1", "#4499c0", "#3270a9", "#2e468d", "#2b2061")
"""Few to many. Lightness falls in equal steps of OKLab (Ottosson 2020), from 0.88 to 0.30, so that the order is seen
without color too."""

VARIABLES = {INK: "--ink", MUTED: "--muted", LINE: "--line", PAPER: "--surface"} | {
    color: f"--{name}-{number}"
    for name, colors in (("model", MODELS), ("count", COUNTS))
    for number, color in enumerate(colors, start=1)
}
"""Colour -> the variable of the page's style sheet that stands for it."""
