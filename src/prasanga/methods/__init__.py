"""List the methods that a study can measure, one record each: its config key, the unit of its jobs, its tables.

Rules, downloads, page and cards take names, labels, paths and families of tests from here. To add a method, write the
function that measures it, a rule, and a record in `methods.tsv`: the attributes of `Method`, with `yes` or nothing for
flags, and whether its words are in templates (`by_template`) and biases of known size are planted in its vectors or
scores (`has_strength`). `tables.tsv` lists the tables that only some word-association methods have. This package
imports nothing of ours, and imports quickly.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

Unit: TypeAlias = Literal["embedded models", "masked models", "vectors", "scored models"]
"""The unit of a job: a model by its vectors, a model with a mask, static vectors, a model by its probabilities."""
Stage: TypeAlias = Literal["associations", "likelihoods"]


@dataclass(frozen=True)
class Table:
    """A table of results.

    Attributes:
        name: its name for rules, page and summary.
        path: its Parquet file below `results/`, without ending; `<path>.csv` is next to it if `beside` is a CSV file.
        beside: name of its copy in the page's folder, "" without one.
        label: a description of that copy, for the list of downloads.
        on_page: whether the page uses it.
        key: the config entry that asks for it, if it differs from the method's.
    """

    name: str
    path: str
    beside: str = ""
    label: str = ""
    on_page: bool = True
    key: str = ""

    def is_asked_for(self, config: Mapping[str, Any]) -> bool:
        """Return whether a config that asks for the method asks for this table."""
        return not self.key or bool(_read_entry(config, self.key))


@dataclass(frozen=True)
class Method:
    """A method of measuring bias.

    Attributes:
        name: of its table, its folder in `results/<stage>/`, and its section of the page.
        label: its name in a sentence, a caption or a menu.
        stage: the stage that measures it.
        key: the config entry that asks for it, as `section.entry`, if it is not empty.
        unit: the unit of a job.
        docs: its page in `docs/`.
        tables: its tables, the table of estimates or scores first.
        in_family: whether its tests are in the family of word-association tests that Holm's method corrects.
        permuted: the sides that p_stimuli permutes: "xy", the targets, or "ab", the attributes.
        has_twins: whether twins of each model, with random weights, are also measured.
        published_as: its name in tables of published numbers, "" without one.
        title: of its section of the page, "" if it has its own.
        about: the introduction of that section.
    """

    name: str
    label: str
    stage: Stage
    key: str
    unit: Unit
    tables: tuple[Table, ...]
    docs: str = "methods.md"
    in_family: bool = False
    permuted: Literal["xy", "ab"] = "xy"
    has_twins: bool = True
    published_as: str = ""
    title: str = ""
    about: str = ""

    def is_asked_for(self, config: Mapping[str, Any]) -> bool:
        """Return whether a config asks for this method."""
        return bool(_read_entry(config, self.key))

    def without(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the config without its request for this method."""
        section, _, entry = self.key.rpartition(".")
        part = config[section] if section else config
        emptied = {**part, entry: type(part[entry])()}
        return {**config, section: emptied} if section else emptied


def _read_entry(config: Mapping[str, Any], key: str) -> Any:
    found: Any = config
    for part in key.split("."):
        found = found[part]
    return found


def _read_rows(name: str) -> list[dict[str, Any]]:
    with Path(__file__).with_name(name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _list_word_tables(name: str, label: str, stage: Stage, *, by_template: str, has_strength: str) -> Iterator[Table]:
    """Yield the tables that word-association methods share: estimates, words, templates and strength."""
    yield Table(name, f"{stage}/{name}", f"{name}_estimates.csv", f"{label}, every estimate with all its columns")
    words, templates, strength = f"{name}_words", f"{name}_templates", f"{name}_strength"
    said = f"{label}, associations of each word"
    yield Table(words, f"{stage}/{words}", f"{words}.parquet", said, on_page=name == "ceat")
    if by_template:
        said = f"{label}, the effect in each template and without it"
        yield Table(templates, f"{stage}/{templates}", f"{templates}.csv", said, on_page=False)
    if has_strength:
        said, key = f"{label}, the strength of bias that would have been found", "calibration.repetitions"
        yield Table(strength, f"calibration/{name}", f"{strength}.csv", said, key=key)


def _read_methods() -> Iterator[Method]:
    listed: dict[str, list[Table]] = {}
    for row in _read_rows("tables.tsv"):
        listed.setdefault(row.pop("method"), []).append(Table(**{**row, "on_page": bool(row["on_page"])}))
    for row in _read_rows("methods.tsv"):
        name, label, stage = row.pop("name"), row.pop("label"), row.pop("stage")
        others = {key: row.pop(key) for key in ("by_template", "has_strength")}
        row |= {key: bool(row[key]) for key in ("in_family", "has_twins")}
        tables = list(_list_word_tables(name, label, stage, **others)) if row["in_family"] else []
        tables += listed.get(name, [])
        yield Method(name, f"{label[0].upper()}{label[1:]}", stage, tables=tuple(tables), **row)


METHODS = tuple(_read_methods())
"""All methods, in the order of the page."""

CEAT, SEAT, PAIRS = (next(each for each in METHODS if each.name == name) for name in ("ceat", "seat", "pairs"))

FAMILY = tuple(method for method in METHODS if method.in_family)
"""Word-association methods, whose tests together are the family for which p is corrected."""

TWIN_ENDING = "-random"
"""The suffix of a model's name for its random-weight copies."""

TABLES = {table.name: table for method in METHODS for table in method.tables}
"""All tables, by name."""


def method_named(name: str) -> Method:
    """Return the method of this name."""
    return next(method for method in METHODS if method.name == name)


def names_of(methods: Iterable[Method]) -> tuple[str, ...]:
    """Return the names of methods, in their order."""
    return tuple(method.name for method in methods)
