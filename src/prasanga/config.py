"""The config of a study: read against its schema, completed with defaults, refused with a sentence that helps.

The schema (`workflow/schemas/config.schema.yaml`) is the one description of the config: `complete` checks against it
and fills its defaults, and the page `docs/config.md` is written from it (`describe`).
"""

from __future__ import annotations

import copy
import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError

from prasanga.base.yaml import load_yaml
from prasanga.config_paths import path_problems
from prasanga.config_values import implausible_values
from prasanga.errors import InputError

_SHOWN = 20
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?"
_BY_LANGUAGE = (
    ("seat", "templates", "resources/templates/{}/seat.yaml"),
    ("log_probability", "templates", "resources/templates/{}/log_probability.yaml"),
    ("log_probability", "structures", "resources/templates/{}/structures.yaml"),
    ("construction", "identities", "resources/construction/{}/identities.yaml"),
    ("construction", "templates", "resources/construction/{}/templates.yaml"),
)


def read_schema(path: str | Path) -> dict[str, Any]:
    """Read the schema."""
    schema: dict[str, Any] = load_yaml(path, Path(path).read_text(encoding="utf-8"))
    return schema


def complete(config: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `config` with every default filled in, those of the preset `paper` if it names that.

    Templates are by default those of the study's language.

    Raises:
        InputError: with one paragraph per mistake: the key, the value found, what is allowed and what to write.
    """
    _refuse(implausible_values(config))
    config = _with_numbers(config, schema)
    _refuse(_explain(error) for error in _errors(config, schema))
    completed: dict[str, Any] = _with_defaults(config, schema, preset=config.get("preset", "recommended"))
    for section, key, path in _BY_LANGUAGE:
        if completed[section][key] is None:
            completed[section][key] = path.format(completed["language"])
    for settings in completed["models"].values():
        # tiny models are as fast on one core, and more of them run at a time
        settings.setdefault("cards", 0 if "train" in settings else 1)
        # what auto means on a processor, also where another model of the study has a card
        if settings["cards"] == 0 and settings["dtype"] == "auto":
            settings["dtype"] = "float32"
    _refuse([*_contradictions(completed), *path_problems(completed, schema)])
    return completed


def require_names_apart(vectors: Iterable[str], models: Iterable[str]) -> None:
    """Refuse static vectors with the name of a model: in tables and comparisons nobody could tell one from the other.

    Args:
        vectors: names under `static.vectors`.
        models: names under which models are measured, layer by layer.

    Raises:
        InputError: with the name and what to write.
    """
    taken = set(models)
    for name in vectors:
        if name in taken:
            raise InputError(
                f"`static.vectors.{name}` has the name of a model of the study. Rename it, for example to"
                f" `{name}-static`, or rename the model."
            )


def describe(schema: Mapping[str, Any]) -> str:
    """The config's reference in Markdown: every key with its values, defaults of both presets and meaning."""
    lines = ["| key | values | default | preset paper | meaning |", "| --- | --- | --- | --- | --- |"]
    for key, part in _keys(schema):
        default, paper = (f"`{_yaml(part[name])}`" if name in part else "" for name in ("default", "paper"))
        default = "" if part.get("type") == "object" else default
        cells = (f"`{key}`", _allowed(part), default, paper, " ".join(part.get("description", "").split()))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _refuse(problems: Iterable[str]) -> None:
    found = list(islice(problems, _SHOWN + 1))
    if found:
        more = ["... and more of the kind."] if len(found) > _SHOWN else []
        raise InputError("\n- ".join(["The config cannot be used.", *found[:_SHOWN], *more]))


def _with_numbers(value: Any, schema: Mapping[str, Any]) -> Any:
    """Numbers written as text become numbers where one is asked for: Snakemake reads `--config 'a={n: 9}'` as text."""
    if isinstance(value, Mapping):
        properties, other = schema.get("properties", {}), schema.get("additionalProperties")
        parts = {key: properties.get(key, other) for key in value}
        return {key: _with_numbers(v, parts[key]) if isinstance(parts[key], Mapping) else v for key, v in value.items()}
    if isinstance(value, list):
        return [_with_numbers(item, schema.get("items", {})) for item in value]
    kinds = [option.get("type") for option in (schema, *schema.get("oneOf", ()))]
    if isinstance(value, str) and "integer" in kinds and re.fullmatch(r"[+-]?\d{1,18}", value):
        return int(value)
    if isinstance(value, str) and "number" in kinds and re.fullmatch(_NUMBER, value) and math.isfinite(float(value)):
        return float(value)
    if isinstance(value, float) and "integer" in kinds and value.is_integer():
        return int(value)
    return value


def _with_defaults(value: Any, schema: Mapping[str, Any], preset: str) -> Any:
    if schema.get("type") == "object" and isinstance(value, Mapping):
        properties: Mapping[str, Any] = schema.get("properties", {})
        filled = dict(value)
        for key, part in properties.items():
            if key not in filled and "default" in part:
                filled[key] = copy.deepcopy(part.get(preset, part["default"]))
        other = schema.get("additionalProperties")
        for key in filled:
            part = properties.get(key, other)
            if isinstance(part, Mapping):
                filled[key] = _with_defaults(filled[key], part, preset)
        return filled
    if isinstance(value, list) and "items" in schema:
        return [_with_defaults(item, schema["items"], preset) for item in value]
    return copy.deepcopy(value)


def _contradictions(config: Mapping[str, Any]) -> Iterator[str]:
    """What the schema cannot say: keys that must fit each other."""
    if config["corpus"]["supplement"] and not config["samples"]["minimum"]:
        yield (
            "`corpus.supplement` is never read with `samples.minimum` 0, since nothing falls short of that. Write e.g."
            " `minimum: 100` under `samples`, or leave the supplement out."
        )
    for name, model in config["models"].items():
        if ("path" in model) == ("train" in model):
            found = "both `path` and `train`" if "path" in model else "neither `path` nor `train`"
            yield (
                f"`models.{name}` has {found}; a model needs exactly one of them. Write e.g."
                f" `{name}: {{path: folder/or/hub-name}}`."
            )
        train = model.get("train")
        if train and train["hidden_size"] % train["heads"]:
            heads, width = train["heads"], train["hidden_size"]
            yield (
                f"`models.{name}.train.hidden_size` is {width}, but must be a multiple of `heads` ({heads})."
                f" Write e.g. `hidden_size: {heads * (width // heads + 1)}`."
            )

    for name, vectors in config["static"]["vectors"].items():
        if ("path" in vectors) == ("train" in vectors):
            found = "both `path` and `train`" if "path" in vectors else "neither `path` nor `train`"
            yield (
                f"`static.vectors.{name}` has {found}; vectors need exactly one of them. Write e.g."
                f" `{name}: {{path: vectors.txt}}`, or `{name}: {{train: {{method: word2vec}}}}`."
            )


def _errors(config: Mapping[str, Any], schema: Mapping[str, Any]) -> list[ValidationError]:
    errors = Draft202012Validator(schema).iter_errors(config)
    return sorted(errors, key=lambda error: list(map(str, error.absolute_path)))


def _explain(error: ValidationError) -> str:
    """One mistake in words."""
    place = ".".join(map(str, error.absolute_path))
    key = f"`{place}`" if place else "the config"
    part: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    if "propertyNames" in error.absolute_schema_path:
        return (
            f"{key} has the name {_short(error.instance)}; a name has letters, digits, -, _ and . only. Write another."
        )
    match error.validator:
        case "additionalProperties":
            return _explain_unknown_keys(dict(error.instance), part, place)  # type: ignore[arg-type]
        case "required":
            missing = re.findall(r"'([^']+)' is a required", error.message)[0]
            return f"{key} lacks the key `{missing}`. Write `{missing}: ...`; found {_short(error.instance)}."
        case "uniqueItems":
            items = list(error.instance)  # type: ignore[arg-type]
            twice = next(item for item in items if items.count(item) > 1)
            return f"{key} has {_short(twice)} twice. Write it once."
        case "minLength":
            return f"{key} is empty. Write a path or pattern, such as `texts/*.txt`."
        case "enum":
            near = difflib.get_close_matches(_short(error.instance).strip("'"), list(map(str, part["enum"])), n=1)
            suggestion = near[0] if near else part["enum"][0]
            last = str(error.absolute_path[-1])
            write = f"`{last}: {suggestion}`" if not last.isdigit() else f"`{suggestion}`"
            return f"{key} is {_short(error.instance)}; allowed: {_allowed(part)}. Write e.g. {write}."
    options = [option for option in (part, *part.get("oneOf", ())) if "examples" in option]
    examples = [part["default"]] if "default" in part else [each for o in options for each in o["examples"]]
    example = f" Write e.g. `{_yaml(examples[0])}`." if examples else ""
    return f"{key} is {_short(error.instance)}; allowed: {_allowed(part)}.{example}"


def _explain_unknown_keys(found: Mapping[str, Any], part: Mapping[str, Any], place: str) -> str:
    known = list(part.get("properties", {}))
    unknown = [str(key) for key in found if key not in known]
    where = f" in `{place}`" if place else ""
    sentences = []
    for key in unknown:
        near = difflib.get_close_matches(key[:80], known, n=1)
        write = f" Did you mean `{near[0]}`?" if near else ""
        sentences.append(
            f"unknown key `{key[:80]}`{where} (value {_short(found[key])}).{write} Allowed: {', '.join(known)}."
        )
    return " ".join(sentences)


def _keys(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, part in schema.get("properties", {}).items():
        yield f"{prefix}{key}", part
        yield from _keys(part, f"{prefix}{key}.")
        if isinstance(part.get("additionalProperties"), Mapping):
            yield from _keys(part["additionalProperties"], f"{prefix}{key}.<name>.")
        if isinstance(part.get("items"), Mapping):
            yield from _keys(part["items"], f"{prefix}{key}[].")


def _allowed(part: Mapping[str, Any]) -> str:
    """The values that a part of the schema allows, in words."""
    if "enum" in part:
        return ", ".join(map(str, part["enum"]))
    if "oneOf" in part:
        return " or ".join(_allowed(option) for option in part["oneOf"])
    kinds: Sequence[str] = [part["type"]] if isinstance(part.get("type"), str) else part.get("type", [])
    words = {
        **{"integer": "a whole number", "number": "a number", "boolean": "true or false"},
        **{"string": "text", "object": "keys", "null": "null"},
    }
    if "examples" in part:
        return f"text such as {' or '.join(map(_yaml, part['examples']))}"
    if "object" in kinds and part.get("required"):
        return f"keys, such as {{{', '.join(f'{key}: ...' for key in part['required'])}}}"
    bounds = [
        f"{word} {part[bound]}"
        for bound, word in (
            ("minimum", "at least"),
            ("maximum", "at most"),
            ("exclusiveMinimum", "above"),
            ("minItems", "with at least"),
            ("minProperties", "with at least"),
            ("pattern", "of the form"),
            ("maxLength", "with at most so many characters:"),
        )
        if bound in part
    ]
    if "array" in kinds:
        return " ".join(["a list of", _allowed(part["items"]) if "items" in part else "values", *bounds])
    return " ".join([" or ".join(words.get(kind, kind) for kind in kinds), *bounds])


def _short(value: object) -> str:
    # a text of a megabyte need not be written out to be cut
    text = repr(value[:80]) if isinstance(value, str) and len(value) > 80 else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _yaml(value: object) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000)
    return text.removesuffix("...\n").strip()
