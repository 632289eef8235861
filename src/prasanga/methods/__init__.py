"""The methods that a study can measure, one record each: what asks for a method, what its jobs run on, its tables.

Rules, downloads, page and cards take names, labels, paths and families of tests from here. To add a method, write the
function that measures it, a rule, and a record in `methods.tsv`: the attributes of `Method`, with `yes` or nothing for
flags, and whether its words are in templates (`by_template`) and biases of known size are planted in its vectors or
scores (`has_strength`). `tables.tsv` lists the tables that not every method of word associations has. This package
imports nothing of ours, and is quick to import.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

Unit: TypeAlias = Literal["embedded models", "masked models", "vectors", "scored models"]
"""What a job measures: a model by its vectors, a model with a mask, static vectors, a model by its probabilities."""
Stage: TypeAlias = Literal["associations", "likelihoods"]


@dataclass(frozen=True)
class Table:
    """A table of results.

    Attributes:
        name: what rules, page and summary call it.
        path: its Parquet file below `results/`, without ending; `<path>.csv` is next to it if `beside` is a CSV file.
        beside: name of its copy in the folder of the page, "" if it has none.
        label: what that copy shows, for the list of downloads.
        on_page: whether the page is made from it.
        key: the entry of the config that asks for it, where that is another than the method's.
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
        label: what it is called in a sentence, a caption or a menu.
        stage: the stage that measures it.
        key: the entry of the config that asks for it, as `section.entry`; it is not asked for where that is empty.
        unit: what a job measures.
        docs: its page in `docs/`.
        tables: its tables, the table of estimates or scores first.
        in_family: whether its tests count where p of word associations is corrected by Holm's method.
        permuted: the sides that p_stimuli permutes: "xy", the targets, or "ab", the attributes.
        has_twins: whether twins of each model, with random weights, are measured as well.
        published_as: its name in tables of published numbers, "" if there are none.
        title: of its section of the page, "" if it has its own.
        about: what that section says of it.
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
        """Return a config that does not ask for this method, and is otherwise the same."""
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
    """Yield the tables that methods of word associations have alike, of estimates, words, templates and strength."""
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
"""The methods of word associations, whose tests together are the family for which p is corrected."""

TWIN_ENDING = "-random"
"""What the name of a model's random-weight copies has after the model's."""

TABLES = {table.name: table for method in METHODS for table in method.tables}
"""All tables, by name."""


def method_named(name: str) -> Method:
    """Return the method of this name."""
    return next(method for method in METHODS if method.name == name)


def names_of(methods: Iterable[Method]) -> tuple[str, ...]:
    """Return the names of methods, in their order."""
    return tuple(method.name for method in methods)
