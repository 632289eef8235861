"""The pages that the site gets from the code: the config, the command, the columns, and the Python packages.

`docs/site_hooks.py` adds them to the site. Run as a program, this file writes the schema for editors.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from prasanga.associations.comparisons import CSV_COLUMNS
from prasanga.base import offered
from prasanga.cli import app
from prasanga.config import describe_config, make_schema
from prasanga.methods import TABLES as METHOD_TABLES
from prasanga.schema import TABLES, TableSchema

ROOT = Path(__file__).resolve().parents[1]
SUMMARY = "workflow/schemas/summary.schema.json"

DEFINED_HERE = ("prasanga.config", "prasanga.schema", "prasanga.methods")
"""Packages whose names are defined in the package itself; what they import is not theirs."""

CONFIG_HEAD = """# The config

A study is one YAML file. The workflow reads `config.yaml`, the demo study; `--configfile config/other.yaml` reads
another one instead of it. Every key that a file leaves out has the default below. prasanga refuses keys that are not
in this table and names the nearest key of the same section. The config is science only: cores, memory and queues are
in `profiles/`.

An editor that knows YAML completes and checks keys if a study begins with
`# yaml-language-server: $schema=<path of docs/config.schema.json>`. `prasanga config KEY` shows one key.

"""

COMMAND_HEAD = """# The command

`prasanga COMMAND --help` shows the same on a terminal. [Run and resume](running.md) shows how the commands work
together.

| status | meaning |
| --- | --- |
| 0 | done, or nothing to do |
| 1 | a job failed, or `check` found results that are not what they should be |
| 2 | the command, the config or the folder cannot be used; no job was started |
| 130 | stopped by Ctrl-C |
"""

COLUMNS_HEAD = """# The columns

A study writes its tables as Parquet, and those that people open also as CSV. This page lists every column. Paths are
relative to `results/`; angle brackets mark what differs between files. `results/report/data/` has copies for readers
of the page. [Statistics](statistics.md) explains notation such as `s(w, A, B)`. [Make pairs](make_pairs.md)
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
"""


SUMMARY_HEAD = """## `summary.json`

The [summary](outputs.md#the-summary-for-programs) is one object. A number that does not exist is null; estimates and
percentages say why in `reason`, and in `interval_note` why they have no interval.
"""


def list_paths(table: TableSchema) -> list[str]:
    """Return the files of a table below results/, with its copy for readers of the page."""
    of_method = {f"{each.path}.parquet": f"report/data/{each.beside}" for each in METHOD_TABLES.values() if each.beside}
    return [*table.paths, *([of_method[table.paths[0]]] if table.paths[0] in of_method else [])]


def columns_page() -> str:
    """Return the page on the columns of all tables, and on the keys of the summary."""
    columns = [f"`{name}`" if name == shown else f"`{name}` as `{shown}`" for name, shown in CSV_COLUMNS.items()]
    lines = [COLUMNS_HEAD.replace("{csv}", fill(", ".join(columns), 120))]
    for table in TABLES.values():
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
    """Return in words which values a key may have, with the section that describes them."""
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


def command_page() -> str:
    """Return the page on the command: each subcommand with its purpose, arguments and options."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    return "\n".join([COMMAND_HEAD, *_commands(group, "prasanga", "##")])


def _commands(group: TyperGroup, program: str, level: str) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        if isinstance(command, TyperGroup):
            yield f"{level} `{program} {name}`\n\n{_help(command)}\n"
            yield from _commands(command, f"{program} {name}", f"{level}#")
        elif isinstance(command, TyperCommand) and not command.hidden:
            arguments = [_argument(each) for each in command.params if isinstance(each, TyperArgument)]
            yield f"{level} `{' '.join([program, name, *arguments])}`\n\n{_help(command)}\n"
            rows = [_row(each) for each in command.params if not each.hidden]
            yield from ("| | | default |", "| --- | --- | --- |", *rows, "") if rows else ()


def _help(command: TyperCommand | TyperGroup) -> str:
    said, _, examples = (command.help or "").partition("\n\nExamples: ")
    return "\n\n".join([_line(said), "\n".join(f"    {line.strip()}" for line in examples.split("; ") if line)]).strip()


def _argument(argument: TyperArgument) -> str:
    name = f"{argument.metavar or argument.name.upper()}{'...' if argument.nargs != 1 else ''}"
    return name if argument.required else f"[{name}]"


def _row(parameter: TyperArgument | TyperOption) -> str:
    names = ", ".join(f"`{each}`" for each in parameter.opts)
    if isinstance(parameter, TyperArgument):
        names = f"`{_argument(parameter)}`"
    default = f"`{parameter.default}`" if isinstance(parameter.default, str) and parameter.default else ""
    return f"| {names} | {_line(parameter.help)} | {default} |"


def _line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def config_page() -> str:
    """Return the page on the keys of the config."""
    patterns = re.compile(r"(?<=text of the form )\S+")  # brackets would be read as links
    return CONFIG_HEAD + patterns.sub(lambda match: f"`{match[0]}`", describe_config())


def python_pages() -> dict[str, str]:
    """Return a page for each row of the table of packages in docs/api/index.md, by its path in docs/.

    Names that stay come first. A package that offers no names of its own has a section for each of its modules.
    """
    row = re.compile(
        r"^\| \[`(?P<package>\w[\w.]*)`\]\((?P<page>\w+\.md)\) \| (?P<what>.*?) \|(?P<names>.*)\|$", re.MULTILINE
    )
    found = {}
    for match in row.finditer((ROOT / "docs/api/index.md").read_text(encoding="utf-8")):
        package, names = match["package"], re.findall(r"`([\w.]+)`", match["names"])
        importlib.import_module(package)
        modules: dict[str, list[str]] = {f"{package}{name}": [] for name in names if name.startswith(".")}
        if not modules:
            public = offered(package, "__all__") if package not in DEFINED_HERE else []
            modules = {package: list(dict.fromkeys([*names, *public]))}
        parts = [f"# `{package}`\n\n{match['what']}.\n"]
        for module, members in modules.items():
            listed = "".join(f"        - {name}\n" for name in members)
            parts.append(f"::: {module}\n    options:\n      members:\n{listed}" if members else f"::: {module}\n")
        found[f"api/{match['page']}"] = "\n".join(parts)
    return found


def generated_pages() -> dict[str, str]:
    """Return all pages of this module by their paths in docs/."""
    return {
        "config.md": config_page(),
        "command.md": command_page(),
        "columns.md": columns_page(),
        **python_pages(),
    }


if __name__ == "__main__":
    schema = json.dumps(make_schema(), indent=1, ensure_ascii=False)
    (ROOT / "docs/config.schema.json").write_text(f"{schema}\n", encoding="utf-8")
