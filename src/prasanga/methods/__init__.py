"""The methods that a study can measure, one record each: what asks for a method, what its jobs run on, its tables.

Rules, downloads, page and cards take names, labels, paths and families of tests from here. To add a method, write the
function that measures it, a rule, and a record here. `tables.tsv` lists the tables that not every method of word
associations has. This package imports nothing of ours, and is quick to import.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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


_STRENGTH = "calibration.repetitions"

_LISTED: dict[str, list[Table]] = {}
with Path(__file__).with_name("tables.tsv").open(encoding="utf-8") as _file:
    _row: dict[str, Any]
    for _row in csv.DictReader(_file, delimiter="\t"):
        _LISTED.setdefault(_row.pop("method"), []).append(Table(**_row))


def _of_words(
    name: str, label: str, stage: Stage, *, by_template: bool = False, has_strength: bool = False, **more: Any
) -> Method:
    """Return a method that measures word associations: its tables are its estimates, each word, and those listed.

    Args:
        name: of the method.
        label: what it is called within a sentence.
        stage: the stage that measures it.
        by_template: whether its words are in templates, with the effect in each.
        has_strength: whether biases of known size are planted in its vectors or scores.
        more: of the method.
    """
    words, templates, strength = f"{name}_words", f"{name}_templates", f"{name}_strength"
    said = f"{label}, every estimate with all its columns"
    tables = [Table(name, f"{stage}/{name}", f"{name}_estimates.csv", said)]
    said = f"{label}, associations of each word"
    tables.append(Table(words, f"{stage}/{words}", f"{words}.parquet", said, on_page=name == "ceat"))
    if by_template:
        said = f"{label}, the effect in each template and without it"
        tables.append(Table(templates, f"{stage}/{templates}", f"{templates}.csv", said, on_page=False))
    if has_strength:
        said, path = f"{label}, the strength of bias that would have been found", f"calibration/{name}"
        tables.append(Table(strength, path, f"{strength}.csv", said, key=_STRENGTH))
    called = f"{label[0].upper()}{label[1:]}"
    return Method(name, called, stage, tables=(*tables, *_LISTED.get(name, ())), in_family=True, **more)


CEAT = _of_words(
    "ceat",
    "CEAT",
    "associations",
    has_strength=True,
    key="categories",
    unit="embedded models",
    docs="statistics.md",
    published_as="ceat",
)

SEAT = _of_words(
    "seat",
    "SEAT",
    "associations",
    by_template=True,
    has_strength=True,
    key="seat.categories",
    unit="embedded models",
    published_as="seat",
    title="SEAT: words in bleached sentences",
    about="Vectors of sentences such as \u201cThis is a flower\u201d, which say little but the word (May et al. 2019)."
    " p_stimuli moves a word with all its sentences.",
)

WEAT = _of_words(
    "weat",
    "WEAT",
    "associations",
    has_strength=True,
    key="static.vectors",
    unit="vectors",
    has_twins=False,
    published_as="weat",
    title="WEAT: static vectors",
    about="One vector for each word, whatever stands around it (Caliskan et al. 2017).",
)

LOG_PROBABILITY = _of_words(
    "log_probability",
    "log-probability bias",
    "likelihoods",
    by_template=True,
    has_strength=True,
    key="log_probability.categories",
    permuted="ab",
    unit="masked models",
    published_as="log_probability_bias",
    title="Log-probability bias: masked words in templates",
    about="How much likelier a model finds the words of the first target set than those of the second beside an"
    " attribute word, less how much it does with that word masked (Kurita et al. 2019; Sadhu et al. 2024, section 3.3)."
    " p_stimuli moves an attribute word with all its sentences, p_attributes the words of the target sets.",
)

STRUCTURES = Method(
    "structures",
    "Sentence structures",
    "likelihoods",
    "log_probability.traits",
    "masked models",
    (*_LISTED["structures"], replace(*_LISTED["drawn"], on_page=False)),
)

PAIRS = Method(
    "pairs",
    "Sentence pairs",
    "likelihoods",
    "pairs.sets",
    "scored models",
    tuple(_LISTED["pairs"]),
    docs="pairs.md",
    published_as="pairs",
)

METHODS = (CEAT, SEAT, WEAT, LOG_PROBABILITY, STRUCTURES, PAIRS)
"""All methods, in the order of the page."""

FAMILY = tuple(method for method in METHODS if method.in_family)
"""The methods of word associations, whose tests together are the family for which p is corrected."""

TWIN_ENDING = "-random"
"""What the name of a model's random-weight copies has after the model's."""

MOST_OF_A_TWIN = 64
"""Segments of a stimulus that a twin with random weights reads at most (docs/statistics.md has why)."""

TABLES = {table.name: table for method in METHODS for table in method.tables}
"""All tables, by name."""


def method_named(name: str) -> Method:
    """Return the method of this name."""
    return next(method for method in METHODS if method.name == name)


def names_of(methods: Iterable[Method]) -> tuple[str, ...]:
    """Return the names of methods, in their order."""
    return tuple(method.name for method in methods)
