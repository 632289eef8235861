"""The figures of a study, an entry of `figures.yaml` each: rule, files, caption and download follow from it.

The rules read this module while they plan, so it imports neither matplotlib nor the functions that draw.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias

from prasanga.base.yaml import load_yaml
from prasanga.report import figures

FOLDER = "results/report/figures"
"""Where figures lie; those in its folder `column` are as wide as one column of two, others as the page."""

COLUMN = "column"
_LONGEST_NAME = 120  # of what a config calls something, in the name of a file

Options: TypeAlias = Mapping[str, Any]
"""Arguments of the function that draws a figure, by name."""


class Measured(NamedTuple):
    """What decides which figures a study has, besides its results: the config, and the models that score traits."""

    config: Mapping[str, Any]
    models_of_traits: Sequence[str] = ()


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
    on_page: bool = True

    @property
    def function(self) -> str:
        """Return the full name of the function."""
        return f"{__package__}.{self.plot}"

    def name(self, options: Options) -> str:
        """Return the name of the files with these options."""
        return name_of(self.file, **options)

    def options(self, measured: Measured) -> Sequence[Options]:
        """Return the options of each figure that a study has; none where it has no such figure."""
        return VARIANTS[self.variants](measured)

    def filled(self, options: Options) -> Figure:
        """Return the figure with these options in its label and caption."""
        return replace(self, label=self.label.format_map(options), caption=self.caption.format_map(options))


class Drawing(NamedTuple):
    """One figure of a study: its entry, its options, and the paths of its tables by name."""

    figure: Figure
    options: Options
    tables: Mapping[str, str]


VARIANTS: Mapping[str, Callable[[Measured], Sequence[Options]]] = {
    "one": lambda _: [{}],
    "by_bias_type": lambda _: [{"lines": "bias_type"}],
    "with_band": lambda measured: [{"band": measured.config["associations"]["band"]}],
    "both_modes": lambda measured: (
        [{}] if {"fixed", "random"} <= set(measured.config["associations"]["sample_modes"]) else []
    ),
    "each_category": lambda measured: [{"category": name} for name in measured.config["categories"]],
    "each_category_of_sentences": lambda measured: [
        {"category": name}  # one that both name is one figure, since both have the same file
        for section in (measured.config, measured.config.get("seat", {}))
        for name in section.get("categories", [])
    ],
    "each_model": lambda measured: [{"model": name} for name in measured.models_of_traits],
}
"""The options of the figures of an entry, by what the entry calls them."""


@functools.cache
def all_figures() -> tuple[Figure, ...]:
    """Return all figures, in the order of the page."""
    file = files(figures.__name__) / "figures.yaml"
    return tuple(Figure(**entry) for entry in load_yaml(file.name, file.read_text(encoding="utf-8")))


def drawings_of(measured: Measured, tables: Mapping[str, str]) -> dict[str, Drawing]:
    """Return the figures that a study has, by the name of their files.

    Args:
        measured: its config and models.
        tables: paths of the results that are there, by name.
    """
    return {
        figure.name(options): Drawing(figure, options, {name: tables[name] for name in figure.tables})
        for figure in all_figures()
        if tables.keys() >= set(figure.tables)
        for options in figure.options(measured)
    }


def figure_named(name: str) -> Figure | None:
    """Return the figure whose files have this name, its label and caption filled in; None for a name of other files."""
    for figure in all_figures():
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(figure.file))
        if found := re.fullmatch(pattern, name):
            return figure.filled(found.groupdict())
    return None


def figure_files(names: Iterable[str], report: Mapping[str, Any]) -> list[str]:
    """Return the files of figures: SVG for the page, other formats at the widths that are asked for.

    Args:
        names: of the figures; also a pattern of Snakemake's.
        report: the section `report` of the config.
    """
    names, widths = list(names), report["widths"]
    others = [ending for ending in report["formats"] if ending != "svg"]
    of_page = ["svg", *(others if "page" in widths else [])]
    of_column = others if COLUMN in widths else []
    return [
        f"{folder}/{name}.{ending}"
        for folder, endings in ((FOLDER, of_page), (f"{FOLDER}/{COLUMN}", of_column))
        for name in names
        for ending in endings
    ]


def name_of(file: str, **options: object) -> str:
    """Return the name of a figure's files with these options; what a file name should not hold becomes _."""
    return file.format_map({key: _safe(str(value)) for key, value in options.items()})


def _safe(name: str) -> str:
    """Return a name as a part of a file's; one that is long, or would lose its letters, with a digest of it."""
    safe = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    return (
        safe
        if name.isascii() and len(name) <= _LONGEST_NAME
        else f"{safe[:40]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    )
