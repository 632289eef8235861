"""Write docs/columns.md from the registry of columns and the schema of the summary; a test compares them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from prasanga.associations.comparisons import CSV_COLUMNS
from prasanga.methods import TABLES as METHOD_TABLES
from prasanga.schema import TABLES, TableSchema

ROOT = Path(__file__).resolve().parents[1]
SUMMARY = "workflow/schemas/summary.schema.json"

HEAD = """# The columns of every table

A study writes its tables as Parquet, and those that people open also as CSV. This page lists every column. Paths are
relative to `results/`; angle brackets mark what differs between files. `results/report/data/` has copies for readers
of the page. [statistics.md](statistics.md) explains notation such as `s(w, A, B)`. [Make pairs](make_pairs.md)
describes the tables that help you make pairs.

| unit | |
| --- | --- |
| d | an effect size: standard deviations of the words' associations |
| cosine | a cosine, or a difference of cosines |
| nats | the natural logarithm of a probability, or of a ratio of two |
| p | a probability, 0 to 1 |
| % | of 100 |

Other units name what is counted. Text, and numbers without a unit, have none. An empty (CSV) or null (Parquet) cell
means that the number does not exist; the note columns say why. Tables of a model's random-weight copies, whose names
end in `-random`, have one more column: `twin`, the number of the copy, from 0.

CSV tables of estimates (`associations/<method>.csv`) have the columns that most readers need; Parquet has all of them:
{csv}.

`make docs` makes this page from `prasanga.schema`.
"""


SUMMARY_HEAD = """## `summary.json`

The [summary](report.md#the-summary-for-programs) is one object. A number that does not exist is null; estimates and
percentages say why in `reason`, and in `interval_note` why they have no interval.
"""


def list_paths(table: TableSchema) -> list[str]:
    """Return the files of a table below results/, with its copy for readers of the page."""
    of_method = {f"{each.path}.parquet": f"report/data/{each.beside}" for each in METHOD_TABLES.values() if each.beside}
    return [*table.paths, *([of_method[table.paths[0]]] if table.paths[0] in of_method else [])]


def page(tables: Iterable[TableSchema]) -> str:
    """Return the page."""
    columns = [f"`{name}`" if name == shown else f"`{name}` as `{shown}`" for name, shown in CSV_COLUMNS.items()]
    lines = [HEAD.replace("{csv}", fill(", ".join(columns), 120))]
    for table in tables:
        first, *others = (f"`{path}`" for path in list_paths(table))
        beside = f" The same: {', '.join(others)}." if others else ""
        lines += [
            f"## {first}",
            "",
            f"A row is {table.row}.{beside}",
            "",
            "| column | unit | meaning |",
            "| --- | --- | --- |",
        ]
        lines += [f"| `{each.name}` | {each.unit} | {each.meaning} |" for each in table.columns]
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
    (ROOT / "docs/columns.md").write_text(page(TABLES.values()), encoding="utf-8")
