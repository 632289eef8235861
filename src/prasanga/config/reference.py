"""The reference of a config's keys: values, defaults and meanings in words, from the models of a study."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import yaml

from prasanga.base.errors import InputError
from prasanga.config.study import StudyConfig
from prasanga.config.values import PAPER

Part = Mapping[str, Any]
"""The JSON schema of a value."""


@cache
def make_schema() -> dict[str, Any]:
    """Return the JSON schema of a config, without references: for editors, messages and the reference."""
    schema = StudyConfig.model_json_schema()
    definitions = schema.pop("$defs")
    resolved: dict[str, Any] = _resolve(schema, definitions)
    return resolved


def _resolve(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a part of the schema with the definitions that it refers to in it, and without titles."""
    if isinstance(part, list):
        return [_resolve(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = {**definitions[part["$ref"].rpartition("/")[2]], **{key: part[key] for key in part if key != "$ref"}}
    if "patternProperties" in part:  # entries with names of the user's choice
        [entry] = part["patternProperties"].values()
        part = {**{key: part[key] for key in part if key != "patternProperties"}, "additionalProperties": entry}
    if isinstance(part.get("title"), str):
        part = {key: value for key, value in part.items() if key != "title"}
    return {key: value if key == "default" else _resolve(value, definitions) for key, value in part.items()}


def find_part(keys: tuple[str | int, ...]) -> Part:
    """Return the schema of the value that keys and list indices lead to."""
    parts: list[Part] = [make_schema()]
    for key in keys:
        options = [option for part in parts for option in (part, *part.get("anyOf", ()))]
        parts = [child for option in options if (child := _find_child(option, key)) is not None]
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def _find_child(part: Part, key: str | int) -> Part | None:
    entries = part.get("additionalProperties")
    child: Part | None = part.get("items") if isinstance(key, int) else part.get("properties", {}).get(key)
    return entries if child is None and isinstance(key, str) and isinstance(entries, dict) else child


def describe_config() -> str:
    """Return the reference in Markdown: every key with its values, the defaults of both presets and its meaning."""
    lines = ["| key | values | default | preset paper | meaning |", "| --- | --- | --- | --- | --- |"]
    for key, part in _list_keys(make_schema()):
        cells = [f"`{key}`", show_allowed(part), *_show_defaults(key, part), part.get("description", "")]
        lines.append("| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def describe_key(key: str | None = None) -> str:
    """Return the meaning of a key, its values and its defaults; without a key, a line for each key.

    Raises:
        InputError: there is no such key, with the nearest ones.
    """
    parts = dict(_list_keys(make_schema()))
    meanings = {name: " ".join(part.get("description", "").split()) for name, part in parts.items()}
    if key is None:
        return "\n".join(f"{name}: {meaning.partition('. ')[0].rstrip('.')}" for name, meaning in meanings.items())
    if key not in parts:
        last = difflib.get_close_matches(key.rpartition(".")[2], [name.rpartition(".")[2] for name in parts], n=3)
        near = difflib.get_close_matches(key, parts, n=3) or [n for n in parts if n.rpartition(".")[2] in last]
        meant = f" Did you mean {', '.join(near[:3])}?" if near else ""
        raise InputError(f"no key {key!r} in a config.{meant} `prasanga config` lists all.")
    default, paper = (cell.strip("`") for cell in _show_defaults(key, parts[key]))
    lines = [key, "", meanings[key], "", f"values: {show_allowed(parts[key])}"]
    lines += [f"{name}: {cell}" for name, cell in (("default", default), ("preset paper", paper)) if cell]
    inner = [name for name in parts if name.startswith((f"{key}.", f"{key}["))]
    return "\n".join([*lines, *(["", "keys within it:", *(f"  {name}" for name in inner)] if inner else [])])


def _list_keys(part: Part, prefix: str = "") -> Iterator[tuple[str, Part]]:
    """Yield every key below a part, such as `models.<name>.path` and `corpus.texts[].files`."""
    for key, inner in part.get("properties", {}).items():
        yield f"{prefix}{key}", inner
        yield from _list_keys(inner, f"{prefix}{key}.")
        for option in (inner, *inner.get("anyOf", ())):
            for below, mark in (("additionalProperties", ".<name>."), ("items", "[].")):
                if isinstance(option.get(below), dict):
                    for entry in (option[below], *option[below].get("anyOf", ())):
                        yield from _list_keys(entry, f"{prefix}{key}{mark}")


def _show_defaults(key: str, part: Part) -> tuple[str, str]:
    """Return the default of a key and that of the preset of the papers, as code; "" where it has none of its own."""
    default = f"`{show_yaml(part['default'])}`" if "default" in part and part.get("type") != "object" else ""
    paper: Any = PAPER
    for name in key.replace("<name>", "*").split("."):
        paper = paper.get(name) if isinstance(paper, dict) else None
    return default, "" if paper is None or isinstance(paper, dict) else f"`{show_yaml(paper)}`"


_WORDS = {
    **{"integer": "a whole number", "number": "a number", "boolean": "true or false"},
    **{"string": "text", "object": "keys", "null": "null"},
}
_BOUNDS = {
    **{"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "minItems": "with at least"},
    **{"pattern": "of the form", "maxLength": "with at most so many characters:"},
}


def show_allowed(part: Part) -> str:
    """Return the values that a part of the schema allows, in words."""
    if "enum" in part:
        return ", ".join(map(str, part["enum"]))
    if "const" in part:
        return str(part["const"])
    if "anyOf" in part:
        return " or ".join(dict.fromkeys(map(show_allowed, part["anyOf"])))
    if "examples" in part:
        return f"text such as {' or '.join(map(show_yaml, part['examples']))}"
    if "required" in part:
        return f"keys, such as {{{', '.join(f'{key}: ...' for key in part['required'])}}}"
    bounds = [f"{word} {part[bound]}" for bound, word in _BOUNDS.items() if bound in part]
    kind = part.get("type", "object")
    what = f"a list of {show_allowed(part['items'])}" if kind == "array" else _WORDS[kind]
    return " ".join([what, *bounds])


def show_yaml(value: object) -> str:
    """Return a value as YAML in one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000)
    return text.removesuffix("...\n").strip()
