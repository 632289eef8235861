"""Read a study's config, fill in defaults, and refuse mistakes with a sentence for each.

`prasanga.config.study` describes every key; messages, the editor's schema and the reference page come from there.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from prasanga.base.errors import InputError
from prasanga.base.places import BESIDE, installation, list_links, place, place_of_corpus
from prasanga.base.yaml import find_line, load_yaml, read_text
from prasanga.config.study import StudyConfig
from prasanga.config.values import NORMALIZATION, PAPER, Languages, has_words

Keys = tuple[str | int, ...]
"""The keys and list indices that lead to a value."""

CONFIGS = ("study.yaml", "config.yaml")
"""Names of the config in a folder; the first that exists counts."""

_GONE: dict[Keys, str] = {
    ("outside",): "paths may lead anywhere. Take it out.",
    ("corpus", "texts", "inflation"): "a compressed file may have any size. Take it out.",
    ("corpus", "supplement", "inflation"): "a compressed file may have any size. Take it out.",
    ("pairs", "buckets"): "a model scores a set in one job, which continues after a stop. Take it out.",
    ("log_probability", "buckets"): "a model scores all sentences in one job. Take it out.",
    ("log_probability", "terms"): "it has another name. Write e.g. `aggregation: mean`.",
    ("associations", "interval"): "there is one kind of interval (docs/statistics.md). Take it out.",
    ("associations", "random_twin"): "twins are counted. Write e.g. `random_twins: 8`, or `random_twins: 0` for none.",
}
"""Keys of earlier versions, with what to write instead."""

_IN_QUOTES = 'Put it in quotes, as `"1_0"`: YAML reads 1_0, 012, yes and 2024-01-01 as numbers, truth values and dates.'

_TAKEN = {
    "models": (
        *("check", "convergence", "json", "parquet", "resamples"),
        *("sentences", "templates", "terms", "tokenizer", "words"),
    ),
    "static.vectors": ("train", "vectors", "words"),
    "pairs.sets": ("oddities",),
}
"""Endings of files about a model, static vectors or a set of pairs: with `a`, the name `a.words` is not allowed."""


def config_of(folder: str | Path) -> Path:
    """Return the config of a study's folder.

    Raises:
        InputError: it does not have one.
    """
    for name in CONFIGS:
        if (path := Path(folder, name)).is_file():
            return path
    raise InputError(
        f"{Path(folder).absolute()}: not a study, because it lacks {CONFIGS[0]}. Write one with `prasanga init`, or"
        " name the config of a study: `prasanga run FILE`, or `snakemake --configfile FILE`."
    )


def read_config(path: str | Path) -> dict[str, Any]:
    """Return the keys of a config as plain data, without defaults.

    Raises:
        InputError: the file is missing or invalid YAML, a key is repeated, or it has no keys; with file and line.
    """
    content = load_yaml(path, read_text(Path(path)))
    if not isinstance(content, dict):
        found = "nothing" if content is None else f"a {type(content).__name__}"
        raise InputError(f"{path}: found {found}, but a config has keys. Write e.g. `study: mine`.")
    return content


def read_study(path: str | Path, *, placed: bool = False) -> dict[str, Any]:
    """Read a config and complete it; errors as in `read_config` and `complete`."""
    return complete(read_config(path), source=path, placed=placed)


def split_languages(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the config for each language of a study, with the changes of its entry in `languages`.

    Models and pairs are those of the language. An invalid config is left for `complete` to refuse.
    """
    given = config.get("languages")
    try:
        TypeAdapter(Languages).validate_python(given)
    except ValidationError:
        return {str(config.get("language", "bn")): dict(config)}
    entries: Mapping[str, Any] = given if isinstance(given, Mapping) else {each: {} for each in given or ()}
    studies = {}
    for language, entry in entries.items():
        if entry and entry.get("language") == language:  # complete, as in results
            studies[language] = dict(entry)
            continue
        study = {**merge_configs(config, entry or {}), "languages": [language]}
        if len(entries) > 1:
            study.pop("language", None)
            pairs = study.get("pairs")
            if isinstance(pairs, Mapping) and isinstance(sets := pairs.get("sets"), Mapping):
                asked = {name: {"languages": [language]} for name, each in sets.items() if _is_of(language, each)}
                study["pairs"] = {**pairs, "sets": merge_configs({name: sets[name] for name in asked}, asked)}
        if isinstance(models := study.get("models"), Mapping):
            others = {name: None for name, each in models.items() if not _is_of(language, each)}
            study["models"] = merge_configs(models, others)
            compared = study.get("comparison")
            if isinstance(compared, Mapping) and isinstance(called := compared.get("models"), Mapping):
                study["comparison"] = {**compared, "models": merge_configs(called, others)}
        studies[language] = study
    return studies


def _is_of(language: str, entry: Any) -> bool:
    """Return whether a model or a set of pairs is measured in a language."""
    named = entry.get("languages") if isinstance(entry, Mapping) else None
    return not isinstance(named, list) or language in named


def merge_configs(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with changes, key by key; None removes a key."""
    merged = {
        key: merge_configs(config[key], value)
        if isinstance(value, Mapping) and isinstance(config.get(key), Mapping)
        else value
        for key, value in changes.items()
    }
    return {key: value for key, value in {**config, **merged}.items() if key not in changes or value is not None}


def complete(config: Mapping[str, Any], *, source: str | Path | None = None, placed: bool = False) -> dict[str, Any]:
    """Return a config with all defaults, as plain data in the order of the reference of keys.

    For several languages it is the first one's, with the complete config of each under `languages`.

    Args:
        config: keys and values, as from `read_config`.
        source: the file that they come from, for line numbers in messages.
        placed: whether paths that the study lacks lead to shipped files (`prasanga.base.places`); the working directory
            must be the study's folder then.

    Raises:
        InputError: one line per mistake: file and line, the key, the value found, what is allowed and what to write.
    """
    completed, problems = dict[str, Any](), dict[str, Keys]()
    for language, own in split_languages(config).items():
        if config.get("models") and not own.get("models"):
            sentence = f"no model is measured in {language}. Add it to `languages` of a model, or leave it out."
            problems.setdefault(sentence, ("languages",))
            continue
        try:
            study = StudyConfig.model_validate(own)
            found = list(_find_contradictions(study))
            completed[language] = _dump(study, placed=placed)
        except ValidationError as error:
            found = list(_explain_errors(error, own))
        entries = config.get("languages")
        entry = entries.get(language) or {} if isinstance(entries, Mapping) else {}
        for keys, sentence in found:
            problems.setdefault(sentence, ("languages", language, *keys) if keys[0] in entry else keys)
    if problems:
        said = list(problems)
        if source is not None:
            lines = sorted((find_line(source, keys), sentence) for sentence, keys in problems.items())
            # a key that the file lacks came with `--config`
            said = [f"{source}, line {line}: {sentence}" if line else sentence for line, sentence in lines]
        raise InputError("\n- ".join(["The config cannot be used.", *said]))
    first: dict[str, Any] = next(iter(completed.values()))
    return first if len(completed) == 1 else {**first, "languages": completed}


def _dump(study: StudyConfig, *, placed: bool) -> dict[str, Any]:
    """Return a config as plain data."""
    completed: dict[str, Any] = study.model_dump(mode="json", context={"placed": place} if placed else None)
    if placed:
        patterns = [text.files for text in (*study.corpus.texts, *study.corpus.supplement)]
        completed["corpus"]["root"] = place_of_corpus(study.corpus.root, patterns)
    return completed


_EFFECTS = {
    "hf": "read from the Hugging Face hub, with your token",
    "s3": "read from S3 (or AWS_ENDPOINT_URL), with your AWS credentials",
    "https": "requested from that server, also inside your network, without credentials",
    "http": "requested from that server, also inside your network, without credentials",
    "package": "fetched from the Python package index (or PIP_INDEX_URL)",
    "path": "fetched from the Hugging Face hub (or HF_ENDPOINT), with your token",
    "remote_code": "RUNS CODE: the model's Python files, which can do all that you can",
    "weights_sha256": "opens a pickle, for tensors only",
}
"""Addresses by protocol and keys of a model that lead outside a study's folder, with what a run does."""


def list_outside(path: Path, folder: Path) -> list[list[str]]:
    """Return what a config reaches outside a study's folder: each key, its value, and what a run does with it.

    Code comes first. Nothing is imported or requested. Links in the config's folders are followed.

    Raises:
        InputError: as `read_config` and `complete`; a folder that cannot be read.
    """
    folder, found, seen = folder.resolve(), list[list[str]](), set[Path]()
    ours = (installation() / "resources", folder.parent / BESIDE)  # targets of links that a study itself makes
    completed = split_languages(complete(read_config(path), source=path)).values()
    studies = [StudyConfig.model_validate(own) for own in completed]
    marked = [each.model_dump(mode="json", context={"placed": "\0".__add__}) for each in studies]  # \0 before paths
    leaves = [(study, *leaf) for study, own in zip(studies, marked, strict=True) for leaf in _list_leaves(own)]
    for study, keys, value in leaves:
        key, named = ".".join(map(str, keys)), str(value).removeprefix("\0")
        is_text = (keys[0], keys[-1]) == ("corpus", "files")
        before = re.split(r"[^/]*[*?[]", named)[0] if is_text else named
        begin = Path(folder, study.corpus.root if is_text else "", before)
        kind = next((each for each in _EFFECTS if keys[0] == "models" and each in keys[2:4]), "")
        if kind == "path" and (named.startswith(("/", ".")) or os.path.lexists(begin)):
            kind = ""
        if is_text and "://" in named:
            kind = named.partition("://")[0].lower()
        if kind and value:
            found.append([key, named, _EFFECTS.get(kind, "refused")])
        elif is_text or value != named:
            places = [begin]
            for each in places:
                if not (target := Path(os.path.realpath(each))).is_relative_to(folder):
                    if each == begin or (target != installation() and not any(map(target.is_relative_to, ours))):
                        link = named if each == begin else os.path.relpath(each, folder)
                        found.append([key, link, f"reads {target}"])
                elif target not in seen and key != "corpus.root":
                    seen.add(target)
                    places += list_links(target)
    distinct = [list(row) for row in dict.fromkeys(map(tuple, found))]  # languages share most keys
    return sorted(distinct, key=lambda row: row[2] != _EFFECTS["remote_code"])


def _list_leaves(value: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Yield the leaves of nested mappings and lists, each with its place."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _list_leaves(inner, (*keys, key))
    else:
        yield keys, value


def _find_contradictions(study: StudyConfig) -> Iterator[tuple[Keys, str]]:
    """Yield keys that contradict each other, with a sentence each."""
    language, stimuli = study.language, study.lexicon.stimuli
    if study.languages != [language]:
        both = f"`language` is {language!r}, and `languages` is {study.languages}"
        yield ("language",), f"{both}. Write `languages` only."
    asked = study.categories or study.seat.categories or study.log_probability.categories or study.static.vectors
    if (asked or not study.pairs.sets) and not has_words(language, {"stimuli": stimuli}):
        sentences = (
            f"`language` is {language!r}, but it does not have words: the folder {stimuli} is missing. Write one of"
            f" {', '.join(NORMALIZATION)}, make that folder (see docs/my_language.md), or name pairs of sentences"
            " under `pairs.sets`, which need no words."
        )
        yield ("language",), sentences
    if study.corpus.supplement and not study.samples.minimum:
        sentences = (
            "`corpus.supplement` is never read with `samples.minimum` 0, because every word has that many. Write e.g."
            " `minimum: 100` under `samples`, or leave the supplement out."
        )
        yield ("corpus", "supplement"), sentences
    models, vectors = study.models.items(), study.static.vectors.items()
    owners: list[tuple[str, str, Any, tuple[str, ...]]] = [
        *(("models", name, model, ("path", "package", "train")) for name, model in models),
        *(("static.vectors", name, each, ("path", "train")) for name, each in vectors),
    ]
    for section, name, entry, keys in owners:
        given = [f"`{key}`" for key in keys if getattr(entry, key) is not None]
        if len(given) != 1:
            found = " and ".join(given) or f"none of {', '.join(f'`{key}`' for key in keys)}"
            said = f"`{section}.{name}` has {found}, but needs exactly one. Write e.g. `{name}: {{path: ...}}`."
            yield (*section.split("."), name), said
    named: dict[str, Mapping[str, Any]] = {"models": study.models, "static.vectors": study.static.vectors}
    for section, names in (named | {"pairs.sets": study.pairs.sets}).items():
        spelled: dict[str, str] = {}
        for name in names:
            if (other := spelled.setdefault(name.casefold(), name)) != name:
                said = f"`{section}` has the names `{other}` and `{name}`, which are the same file on some systems."
                yield (*section.split("."), name), f"{said} Rename one, e.g. to `{name}-2`."
            base, _, last = name.rpartition(".")
            if (base in names and last in _TAKEN[section]) or (section, name) == ("pairs.sets", "statistics"):
                about = f"`{section}.{base}`" if base else "all sets"
                said = f"`{section}.{name}` has the name of a file about {about}."
                yield (*section.split("."), name), f"{said} Rename it, e.g. to `{base or name}-{last if base else 1}`."


def _explain_errors(error: ValidationError, config: Mapping[str, Any]) -> Iterator[tuple[Keys, str]]:
    """Yield the mistakes of a config, each with its place; among a union's errors the deepest counts."""
    found: dict[Keys, Mapping[str, Any]] = {}
    for each in sorted(error.errors(include_url=False), key=lambda each: each["type"] != "mistake"):
        keys = _find_keys(each["loc"], config)
        if not keys:  # a default that follows from another key, which has its own error
            continue
        found.setdefault((*keys, each["loc"][-1]) if each["type"] == "missing" else keys, each)
    for keys in sorted(found, key=lambda keys: [str(key) for key in keys]):
        if not any(len(other) > len(keys) and other[: len(keys)] == keys for other in found):
            yield keys, _explain(keys, found[keys], config)


def _find_keys(location: tuple[str | int, ...], data: Any) -> Keys:
    """Return the place in the config for pydantic's location, which also names members of unions."""
    keys: list[str | int] = []
    for part in location:
        if isinstance(data, Mapping):  # pydantic spells keys that are not text differently
            part = next((key for key in data if part in (key, str(key), repr(key))), part)
        if part in data if isinstance(data, Mapping) else isinstance(data, list) and isinstance(part, int):
            keys.append(part)
            data = data[part]
    return tuple(keys)


def _explain(keys: Keys, error: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Return what is wrong with one value, and what to write."""
    key, kind = f"`{'.'.join(map(str, keys))}`", error["type"]
    section = f"`{'.'.join(map(str, keys[:-1]))}`"
    if kind == "missing":
        return f"{section} lacks the key `{keys[-1]}`. Write `{keys[-1]}: ...`; found {_shorten(error['input'])}."
    if kind == "extra_forbidden":
        return _explain_unknown_key(keys, error["input"])
    if error["loc"][-1] == "[key]" or kind == "invalid_key":
        name = _shorten(keys[-1])
        if not isinstance(keys[-1], str):
            return f"{section} has a name that YAML reads as {name}. {_IN_QUOTES}"
        allowed = "a name has letters, digits, - _ and ., and begins with a letter or digit"
        return f"{section} has the name {name}; {allowed}. Write another."
    if kind == "mistake":
        return f"{key} {error['ctx']['sentences']}"
    value: Any = config
    for each in keys:
        value = value[each]
    part = find_part(keys)
    if value == "":
        return f"{key} is empty. Write a path or pattern, such as `texts/*.txt`."
    misread = kind == "string_type" and value is not None and not isinstance(value, list | Mapping)
    remedy = f" {_IN_QUOTES}" if misread else _suggest_value(keys, value, part)
    return f"{key} is {_shorten(value)}; allowed: {show_allowed(part)}.{remedy}"


def _suggest_value(keys: Keys, value: Any, part: Mapping[str, Any]) -> str:
    """Return an example of an allowed value, the nearest choice if there are several."""
    if "enum" in part:
        near = [*difflib.get_close_matches(str(value), part["enum"], n=1), part["enum"][0]][0]
        return f" Write e.g. `{near}`." if isinstance(keys[-1], int) else f" Write e.g. `{keys[-1]}: {near}`."
    examples = [example for option in (part, *part.get("anyOf", ())) for example in option.get("examples", ())]
    if part.get("default") is not None and part.get("type") != "object":
        examples.insert(0, part["default"])
    return f" Write e.g. `{show_yaml(examples[0])}`." if examples else ""


def _explain_unknown_key(keys: Keys, value: Any) -> str:
    *section, key = keys
    named = tuple(each for each in keys if isinstance(each, str))
    if named in _GONE:
        return f"`{'.'.join(map(str, keys))}` is not a key any more: {_GONE[named]}"
    known = list(find_part(tuple(section)).get("properties", {}))
    near = difflib.get_close_matches(str(key), known, n=1) or [n for n in known if len(str(key)) > 2 and str(key) in n]
    where = f" in `{'.'.join(map(str, section))}`" if section else ""
    meant = f" Did you mean `{near[0]}`?" if near else ""
    return f"unknown key `{key}`{where} (value {_shorten(value)}).{meant} Allowed: {', '.join(known)}."


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


# --------------------
# The reference of config keys: values, defaults and meanings in words, from a study's models.

Part = Mapping[str, Any]
"""The JSON schema of a value."""


@cache
def make_schema() -> dict[str, Any]:
    """Return the JSON schema of a config, without references, for editors, messages and the reference."""
    schema = StudyConfig.model_json_schema()
    definitions = schema.pop("$defs")
    resolved: dict[str, Any] = _resolve(schema, definitions)
    return resolved


def _resolve(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a part of the schema with its references resolved and without titles."""
    if isinstance(part, list):
        return [_resolve(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = {**definitions[part["$ref"].rpartition("/")[2]], **{key: part[key] for key in part if key != "$ref"}}
    if "patternProperties" in part:  # entries named by the user
        [entry] = part["patternProperties"].values()
        part = {**{key: part[key] for key in part if key != "patternProperties"}, "additionalProperties": entry}
    if isinstance(part.get("title"), str):
        part = {key: value for key, value in part.items() if key != "title"}
    return {key: value if key == "default" else _resolve(value, definitions) for key, value in part.items()}


def find_part(keys: tuple[str | int, ...]) -> Part:
    """Return the schema of the value at a path of keys and list indices."""
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
    """Return a key's meaning, values and defaults; without a key, one line per key.

    Raises:
        InputError: an unknown key, with the nearest ones.
    """
    parts = dict(_list_keys(make_schema()))
    meanings = {name: " ".join(part.get("description", "").split()) for name, part in parts.items()}
    if key is None:
        return "\n".join(f"{name}: {meaning.partition('. ')[0].rstrip('.')}" for name, meaning in meanings.items())
    if key not in parts:
        last = difflib.get_close_matches(key.rpartition(".")[2], [name.rpartition(".")[2] for name in parts], n=3)
        near = difflib.get_close_matches(key, parts, n=3) or [n for n in parts if n.rpartition(".")[2] in last]
        meant = f" Did you mean {', '.join(near[:3])}?" if near else ""
        raise InputError(
            f"unknown config key {key!r}.{meant} `prasanga config` lists all keys, and"
            " `prasanga config study.yaml` what that file reaches outside its folder."
        )
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
    """Return a key's default and its default in the papers' preset, as code; "" if it does not have one."""
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
    """Return in words the values that a part of the schema allows."""
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
