"""The config of a study: looked at before it is read, completed with defaults, refused with a sentence that helps."""

from __future__ import annotations

import copy
import difflib
import json
import math
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError

from prasanga.base import places
from prasanga.base.errors import InputError, open_whole, printable
from prasanga.base.yaml import DEEPEST, MOST_NODES, load_yaml

# --------------------
# Values that a config may hold at all, before its schema is asked: text, numbers and truth values in lists and
# keys.
#
# What YAML or Snakemake made of a file may be more than that (a date, bytes, a structure of aliases, a number that
# is none), and a name with a control character in it would become part of a path or of a line on a terminal.


LARGEST = 2**63 - 1
LONGEST = 20_000
MOST_ENTRIES = 2_000
# Marks that turn the order of a line around; those within a word (U+200C to U+200F) are text.
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

_END_OF_SCRIPT = re.compile(r"</script|<!--", re.IGNORECASE)


def implausible_values(config: Mapping[Any, Any]) -> Iterator[str]:
    """Yield what no key of a config may hold, one sentence each; the caller need not have looked at anything before.

    Aliases are followed, at most `MOST_NODES` values and `DEEPEST` levels, `MOST_ENTRIES` in a list or under a key.
    """
    pending: list[tuple[str, Any, int]] = [("", config, 0)]
    seen = 0
    while pending:
        place, value, depth = pending.pop()
        seen += 1
        if seen > MOST_NODES:
            yield f"it holds more than {MOST_NODES} values once its aliases are followed. Leave the aliases out."
            return
        if depth > DEEPEST:
            yield f"`{place[:80]}` holds lists or keys more than {DEEPEST} deep in each other. Mend the brackets."
            return
        if isinstance(value, Mapping | list | tuple) and len(value) > MOST_ENTRIES:
            yield f"{_named(place[:80])} has {len(value)} entries; at most {MOST_ENTRIES} are read. Write less."
            return
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if isinstance(key, str):
                    yield from _text_problems(f"the name {key[:80]!r} of a key in {_named(place)}", key)
                    pending.append((f"{place}.{key}" if place else key, inner, depth + 1))
                else:
                    yield (
                        f"{_named(place)} has the key {_shown(key)}, which YAML reads as {_kind(key)}. A name is text:"
                        f' write it in quotation marks, such as "{_shown(key)}".'
                    )
        elif isinstance(value, list | tuple):
            pending.extend((f"{place}.{n}", inner, depth + 1) for n, inner in enumerate(value))
        else:
            yield from _scalar_problems(place, value)


def _scalar_problems(place: str, value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from _text_problems(f"`{place}`", value, "\n\t" if place in ("note", "title") else "")
    elif isinstance(value, int) and abs(value) > LARGEST:
        yield f"`{place}` is a whole number of more than 63 bits. Write a smaller one."
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"`{place}` is {value}, which is no number to calculate with. Write a finite one, such as 0.1."
    elif not isinstance(value, int | float | None):
        yield (
            f"`{place}` is {_shown(value)}, which YAML reads as {_kind(value)}. Write text in quotation marks, or a"
            " number."
        )


def _text_problems(what: str, text: str, allowed: str = "") -> Iterator[str]:
    if len(text) > LONGEST:
        yield f"{what} has {len(text)} characters; at most {LONGEST} are read. Write less."
        return
    if found := _END_OF_SCRIPT.search(text):
        yield (
            f"{what} has {found[0]!r}, which would end the part of Snakemake's own report that holds it, so that a"
            " browser runs what follows. Take it out."
        )
        return
    for place, character in enumerate(text):
        if (unicodedata.category(character) in ("Cc", "Cs") and character not in allowed) or character in _REORDERING:
            yield (
                f"{what} has the character U+{ord(character):04X} at place {place + 1}, which no name, path or text of"
                " a config may hold: it is not shown, or changes how the line around it is. Take it out."
            )
            return


def _named(place: str) -> str:
    return f"`{place}`" if place else "the config"


def _kind(value: object) -> str:
    kinds = {bool: "a truth value", int: "a number", float: "a number", type(None): "nothing", bytes: "bytes"}
    return kinds.get(type(value), f"a {type(value).__name__}")


def _shown(value: object) -> str:
    try:
        return str(value)[:80]
    except (ValueError, RecursionError):  # a number of too many digits
        return "..."


# --------------------
# The config of a study: read against its schema, completed with defaults, refused with a sentence that helps.
#
# The schema (`workflow/schemas/config.schema.yaml`) is the one description of the config: `complete` checks against
# it and fills its defaults, and the page `docs/config.md` is written from it (`describe`).


_SCHEMA = "workflow/schemas/config.schema.yaml"
_SHOWN = 20
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?"
_SHIPPED = ("bn", "hi", "en")
_RENAMED = {
    ("associations", "random_twin"): (
        "twins are counted now. Write e.g. `random_twins: 8`, or `random_twins: 0` for none."
    )
}
_BY_LANGUAGE = (
    ("seat", "templates", "resources/templates/{}/seat.yaml"),
    ("log_probability", "templates", "resources/templates/{}/log_probability.yaml"),
    ("log_probability", "structures", "resources/templates/{}/structures.yaml"),
    ("construction", "identities", "resources/construction/{}/identities.yaml"),
    ("construction", "templates", "resources/construction/{}/templates.yaml"),
)


def read_schema(path: str | Path | None = None) -> dict[str, Any]:
    """Read the schema; that of the installation if no other is named."""
    path = path or places.installation() / _SCHEMA
    schema: dict[str, Any] = load_yaml(path, Path(path).read_text(encoding="utf-8"))
    return schema


def read_study(path: str | Path, *, placed: bool = False) -> dict[str, Any]:
    """Read a config and complete it; `placed` leads its paths as `with_places` does.

    Raises:
        InputError: as `read_config` and `complete`.
    """
    schema = read_schema()
    config = complete(read_config(path), schema)
    return with_places(config, schema) if placed else config


def complete(config: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `config` with every default filled in, those of the preset `paper` if it names that.

    Templates are by default those of the study's language.

    Raises:
        InputError: with one paragraph per mistake: the key, the value found, what is allowed and what to write.
    """
    _refuse(implausible_values(config))
    config = _each(config, schema, _with_number)
    errors = Draft202012Validator(schema).iter_errors(config)
    _refuse(map(_explain, sorted(errors, key=lambda error: list(map(str, error.absolute_path)))))
    completed: dict[str, Any] = _with_defaults(config, schema, preset=config.get("preset", "recommended"))
    language, lexicon = completed["language"], completed["lexicon"]
    for section, key, path in _BY_LANGUAGE:
        if completed[section][key] is None:
            completed[section][key] = path.format(language)
    for key in ("stimuli", "suffix_groups"):
        if isinstance(lexicon[key], str):
            lexicon[key] = lexicon[key].replace("{language}", language)
    completed["normalization"].setdefault(language, "nfkc")
    for settings in completed["models"].values():
        # small models are as fast on one core, and more of them run at a time
        settings.setdefault("cards", 1 if "path" in settings else 0)
        # what auto means on a processor, also where another model of the study has a card
        if settings["cards"] == 0 and settings["dtype"] == "auto":
            settings["dtype"] = "float32"
    _refuse([*_contradictions(completed), *places.path_problems(completed, schema)])
    # once more in the schema's order: what was filled in above came last, and stands elsewhere where it is read again
    ordered: dict[str, Any] = _with_defaults(completed, schema, preset=completed["preset"])
    return ordered


def with_places(config: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a complete config in which paths of what the study lacks lead to what is shipped.

    See `prasanga.base.places`; the working directory is the study's folder.
    """
    corpus = config["corpus"]
    patterns = [text["files"] for key in ("texts", "supplement") for text in corpus[key]]
    placed: dict[str, Any] = _each(config, schema, _placed)
    return {**placed, "corpus": {**placed["corpus"], "root": places.place_of_corpus(corpus["root"], patterns)}}


def _each(value: Any, schema: Mapping[str, Any], change: Callable[[Any, Mapping[str, Any]], Any]) -> Any:
    """Return a value of a config with `change` made of all in it but lists and keys, by its part of the schema."""
    if isinstance(value, Mapping):
        parts, other = schema.get("properties", {}), schema.get("additionalProperties")
        inner = {key: parts.get(key, other) for key in value}
        return {key: _each(v, inner[key], change) if isinstance(inner[key], Mapping) else v for key, v in value.items()}
    if isinstance(value, list):
        return [_each(item, schema.get("items", {}), change) for item in value]
    return change(value, schema)


def _placed(value: Any, schema: Mapping[str, Any]) -> Any:
    return places.place(value) if isinstance(value, str) and schema.get("format") == "path" else value


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
    """Return the config's reference in Markdown: every key with its values, defaults of both presets and meaning."""
    lines = ["| key | values | default | preset paper | meaning |", "| --- | --- | --- | --- | --- |"]
    for key, part in _keys(schema):
        default, paper = (f"`{_yaml(part[name])}`" if name in part else "" for name in ("default", "paper"))
        default = "" if part.get("type") == "object" else default
        cells = (f"`{key}`", _allowed(part), default, paper, _meaning(part))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def reference(schema: Mapping[str, Any], key: str | None = None) -> str:
    """Return what a key of the config means, its values and its defaults; without a key, a line for each there is.

    Raises:
        InputError: there is no such key, with the nearest ones.
    """
    parts = dict(_keys(schema))
    if key is None:
        return "\n".join(f"{name}: {_meaning(part).partition('. ')[0].rstrip('.')}" for name, part in parts.items())
    if key not in parts:
        last = difflib.get_close_matches(key.rpartition(".")[2], [name.rpartition(".")[2] for name in parts], n=3)
        near = difflib.get_close_matches(key, parts, n=3) or [n for n in parts if n.rpartition(".")[2] in last]
        meant = f" Did you mean {', '.join(near[:3])}?" if near else ""
        raise InputError(f"no key {key!r} in a config.{meant} `prasanga config` lists all.")
    part = parts[key]
    lines = [key, "", _meaning(part), "", f"values: {_allowed(part)}"]
    lines += [f"default: {_yaml(part['default'])}"] if "default" in part and part.get("type") != "object" else []
    lines += [f"preset paper: {_yaml(part['paper'])}"] if "paper" in part else []
    inner = [name for name in parts if name.startswith((f"{key}.", f"{key}["))]
    return "\n".join([*lines, *(["", "keys within it:", *(f"  {name}" for name in inner)] if inner else [])])


def _meaning(part: Mapping[str, Any]) -> str:
    return " ".join(part.get("description", "").split())


def _refuse(problems: Iterable[str]) -> None:
    found = list(islice(problems, _SHOWN + 1))
    if found:
        more = ["... and more of the kind."] if len(found) > _SHOWN else []
        raise InputError("\n- ".join(["The config cannot be used.", *found[:_SHOWN], *more]))


def _with_number(value: Any, schema: Mapping[str, Any]) -> Any:
    """Turn a number written as text into a number where the schema asks for one.

    Snakemake reads `--config 'a={n: 9}'` as text.
    """
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
        # in the schema's order: Snakemake compares parameters as text, and another order is no other study
        filled = {
            key: value[key] if key in value else copy.deepcopy(part.get(preset, part["default"]))
            for key, part in properties.items()
            if key in value or "default" in part
        }
        filled |= value
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
    """Yield what the schema cannot say: keys that must fit each other."""
    language, stimuli = config["language"], config["lexicon"]["stimuli"]
    if language not in _SHIPPED and stimuli == f"resources/stimuli/{language}" and not places.exists(stimuli):
        yield (
            f"`language` is {language!r}, and there are no words of it: no folder {stimuli}. Write one of"
            f" {', '.join(_SHIPPED)}, or make that folder (docs/my_language.md says how)."
        )
    if config["corpus"]["supplement"] and not config["samples"]["minimum"]:
        yield (
            "`corpus.supplement` is never read with `samples.minimum` 0, since nothing falls short of that. Write e.g."
            " `minimum: 100` under `samples`, or leave the supplement out."
        )
    for name, model in config["models"].items():
        origins = [f"`{key}`" for key in ("path", "train", "package") if key in model]
        if not origins:
            yield (
                f"`models.{name}` has none of `path`, `train`, `package`; a model needs exactly one of them. Write e.g."
                f" `{name}: {{path: folder/or/hub-name}}`."
            )
        if len(origins) > 1:
            yield f"`models.{name}` has {' and '.join(origins)}; a model needs one of them. Leave the others out."
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


def _explain(error: ValidationError) -> str:
    """Return one mistake in words."""
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
        if (place, key) in _RENAMED:
            sentences.append(f"`{place}.{key}` is no key any more: {_RENAMED[place, key]}")
            continue
        near = difflib.get_close_matches(key[:80], known, n=1) or [
            name for name in known if len(key) > 2 and key in name
        ]
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
    """Return the values that a part of the schema allows, in words."""
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
            ("pattern", "of the form"),
            ("maxLength", "with at most so many characters:"),
        )
        if bound in part
    ]
    if "array" in kinds:
        others = [f"{words[kind]} or" for kind in kinds if kind in ("string", "object")]
        return " ".join([*others, "a list of", _allowed(part["items"]) if "items" in part else "values", *bounds])
    return " ".join([" or ".join(words.get(kind, kind) for kind in kinds), *bounds])


def _short(value: object) -> str:
    # a text of a megabyte need not be written out to be cut
    text = repr(value[:80]) if isinstance(value, str) and len(value) > 80 else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _yaml(value: object) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000)
    return text.removesuffix("...\n").strip()


# --------------------
# The files of a config, looked at before they are used.
#
# Snakemake reads them, with a loader that lets the second of two equal keys win, follows aliases to any size, and,
# where a file asks for it (`__use_yte__`), runs expressions of Python in it. `python -P -m prasanga.base.config FILE`
# looks at a stranger's config without Snakemake, and runs nothing.


TEMPLATE_KEY = "__use_yte__"
CONFIGS = ("study.yaml", "config.yaml")
"""What the config of a folder may be called; the first that is there."""


def config_of(folder: str | Path) -> Path:
    """Return the config of a study's folder.

    Raises:
        InputError: it has none.
    """
    for name in CONFIGS:
        if (path := Path(folder, name)).is_file():
            return path
    raise InputError(
        f"{Path(folder).absolute()}: no study, since it has no {CONFIGS[0]}. Write one with `prasanga init`, or"
        " name the config of a study: `prasanga run FILE`, or `snakemake --configfile FILE`."
    )


def read_config(path: str | Path) -> dict[str, Any]:
    """Return the keys of a config, YAML or JSON, as plain data.

    Raises:
        InputError: with the file, and the line where there is one: a file that is absent, not UTF-8, or neither YAML
            nor JSON; a key that stands twice; a tag, an alias or a template that makes more than plain data
            (`prasanga.base.yaml`); no keys at top level.
    """
    path = Path(path)
    text = _text(path)
    content = _json(path, text) if text.lstrip().startswith("{") else None
    content = load_yaml(path, text) if content is None else content
    if not isinstance(content, dict):
        found = "nothing" if content is None else f"a {type(content).__name__}"
        raise InputError(f"{path}: found {found}, but a config holds keys. Write e.g. `study: mine`.")
    if TEMPLATE_KEY in content:
        raise InputError(
            f"{path}: it has the key `{TEMPLATE_KEY}`, by which Snakemake takes the file for a template and runs the"
            " Python expressions in it. A config here is plain data: read what its expressions do, write the values"
            " themselves, and take the key out."
        )
    return content


def _text(path: Path) -> str:
    try:
        with open_whole(path) as file:
            return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8. Save the file as UTF-8.") from None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}). Write the path of a config, such as config.yaml."
        ) from None


def _json(path: Path, text: str) -> Any:
    """Return a config in JSON, as Snakemake reads it first; None for what is no JSON, which may still be YAML."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise InputError(f"{path}: the key `{key:.80}` stands twice in one object. Delete one.")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=once)
    except InputError:
        raise
    except (ValueError, RecursionError):
        return None


def main(paths: list[str]) -> int:
    """Look at configs and say what is wrong with them; 0 if nothing is, 1 if something is, 2 if none is named."""
    if not paths:
        print("Name the config to look at: python -P -m prasanga.base.config FILE...", file=sys.stderr)
        return 2
    wrong, schema = 0, places.installation() / _SCHEMA
    compared = schema.is_file()
    for path in paths:
        try:
            _ = read_study(path) if compared else read_config(path)
        except InputError as error:
            wrong += 1
            print(error, file=sys.stderr)
        else:
            keys = "a config of this version" if compared else f"not compared with the schema, which is not at {schema}"
            print(f"{printable(path)}: plain data, and {keys}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
