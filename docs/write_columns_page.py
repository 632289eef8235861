"""Write docs/columns.md from workflow/schemas (columns, summary) and the schemas in the code; tests compare them.

A description without a column, and a column without a description, is an error that names both.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from prasanga.methods import TABLES

ROOT = Path(__file__).resolve().parents[1]
DESCRIPTIONS = "workflow/schemas/columns.yaml"
SUMMARY = "workflow/schemas/summary.schema.json"

HEAD = """# The columns of every table

A study writes tables as Parquet, and those that people open as CSV too; this page has every column of each. Paths are
below `results/`, in angle brackets what differs between files. Copies for readers of the page lie in
`results/report/data/`. What a notation such as `s(w, A, B)` means stands in [statistics.md](statistics.md). Tables that
help to make pairs of your own are on [their page](pairs.md#making-pairs).

| unit | |
| --- | --- |
| d | an effect size: standard deviations of the words' associations |
| cosine | a cosine, or a difference of cosines |
| nats | the natural logarithm of a probability, or of a ratio of two |
| p | a probability, 0 to 1 |
| % | of 100 |

Other units are what is counted. Text, and numbers without a unit, have none. A column that is empty (CSV) or null
(Parquet) says that there is no such number; the columns of notes say why. Tables of the twins of a model, whose
name ends in `-random`, have one column more: `twin`, the number of the twin from 0.

This page is made from `workflow/schemas/columns.yaml` and the schemas in the code by `make docs`.
"""


SUMMARY_HEAD = """## `summary.json`

The [summary](report.md#the-summary-for-programs) is one object. An object that may hold null has a key `reasons`:
for each key that is null, a sentence that says why.
"""


class Column(NamedTuple):
    """A column: its name, unit and meaning. A name in angle brackets stands for any number of columns."""

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """A table: where it lies below results/, what a row is, its columns in order."""

    paths: tuple[str, ...]
    rows: str
    columns: tuple[Column, ...]


def read_tables(described: Mapping[str, Any] | None = None) -> list[Table]:
    """Return all tables with all their columns.

    Raises:
        ValueError: a column has no description, or a description no column.
    """
    given = described or yaml.safe_load((ROOT / DESCRIPTIONS).read_text(encoding="utf-8"))
    common, wrong, used, tables = given["columns"], [], set(), []
    for entry in given["tables"]:
        own, columns = entry.get("columns", {}), []
        declared = _declared(entry["schema"]) if "schema" in entry else dict.fromkeys(own)
        for name, meaning in {**declared, **dict.fromkeys(entry.get("more", ()))}.items():
            if meaning is not None:
                columns.append(Column(name, "", meaning))
            elif name in own or name in common:
                columns.append(Column(name, *(own.get(name) or common[name])))
                used |= {name} - set(own)
            else:
                wrong.append(f"column {name} of {entry['path']} has no description: write {name}: [unit, meaning]")
        unknown = set(own) - {column.name for column in columns}
        wrong += [f"{entry['path']} has no column {name}: take it out" for name in sorted(unknown)]
        tables.append(
            Table((entry["path"], *entry.get("also", ()), *_copies(entry["path"])), entry["rows"], tuple(columns))
        )
    wrong += [f"no table takes the common description of {name}: take it out" for name in common if name not in used]
    if wrong:
        raise ValueError("\n".join([f"{DESCRIPTIONS}:", *wrong]))
    return tables


def _declared(path: str) -> dict[str, str | None]:
    """Return the columns of a schema in the code, with their meanings where it has them."""
    module, _, name = path.rpartition(".")
    schema = getattr(importlib.import_module(module), name)
    if isinstance(schema, Mapping):
        return {key: value if isinstance(value, str) else None for key, value in schema.items()}
    return dict.fromkeys(getattr(schema, "names", schema))


def _copies(path: str) -> tuple[str, ...]:
    """Return where a method's table lies for readers of the page."""
    return tuple(
        f"report/data/{table.beside}" for table in TABLES.values() if table.beside and f"{table.path}.parquet" == path
    )


def page(tables: list[Table]) -> str:
    """Return the page."""
    lines = [HEAD]
    for table in tables:
        first, *others = (f"`{path}`" for path in table.paths)
        beside = f" The same: {', '.join(others)}." if others else ""
        lines += [
            f"## {first}",
            "",
            f"A row is {table.rows}.{beside}",
            "",
            "| column | unit | meaning |",
            "| --- | --- | --- |",
        ]
        lines += [
            f"| `{name}` | {unit} | {meaning.replace('|', chr(92) + '|')} |" for name, unit, meaning in table.columns
        ]
        lines.append("")
    return "\n".join([*lines, *_summary()]) + "\n"


def _summary() -> Iterator[str]:
    """Yield the lines of the section on results/summary.json: a table for each kind of object in it."""
    layout = json.loads((ROOT / SUMMARY).read_text(encoding="utf-8"))
    yield SUMMARY_HEAD
    objects = {
        "The whole": layout,
        "`program`": layout["properties"]["program"],
        "`methods`": layout["properties"]["methods"],
    }
    objects |= {f"`{name}`": found for name, found in layout["$defs"].items() if "properties" in found}
    objects["An entry of `lengths` of `coverage`"] = layout["$defs"]["coverage"]["properties"]["lengths"]["items"]
    for name, found in objects.items():
        yield from (f"### {name}", "", "| key | value | meaning |", "| --- | --- | --- |")
        for key, value in found["properties"].items():
            if key != "reasons":
                yield f"| `{key}` | {_kind(value)} | {value.get('description', '')} |"
        yield ""


def _kind(value: Mapping[str, Any]) -> str:
    """Return in words what may stand under a key, with the section that describes it."""
    if "$ref" in value:
        return f"`{value['$ref'].rpartition('/')[2]}`"
    if "oneOf" in value:
        return " or ".join(_kind(each) for each in value["oneOf"])
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    kinds = [value["type"]] if isinstance(value["type"], str) else value["type"]
    names = {"string": "text", "integer": "whole number", "boolean": "true or false", "array": "list"}
    of = f" of {_kind(value['items'])}" if value.get("items", {}).keys() & {"$ref", "type"} else ""
    return " or ".join(names.get(kind, kind) + (of if kind == "array" else "") for kind in kinds)


if __name__ == "__main__":
    (ROOT / "docs/columns.md").write_text(page(read_tables()), encoding="utf-8")
