"""Configs with something wrong in them, through what a plan does with a config before it looks at any file."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hostile_inputs import TEXTS, VALUES, Edit, edited_bytes, edited_tree, edits, fuzzing, try_input
from hypothesis import given
from hypothesis import strategies as st

from prasanga.base.config import complete, read_config, read_schema, require_names_apart
from prasanga.plan.models import (
    kind_at_hand,
    require_encoder,
    require_places,
    require_scorer,
    scored_models,
    studied_models,
    twins_of,
)
from prasanga.samples import bucket_names, parse_length, require_longest
from prasanga.sentences.files import find_shards, require_apart

ROOT = Path(__file__).parents[2]
SCHEMA = read_schema(ROOT / "workflow/schemas/config.schema.yaml")
FULL: dict[str, Any] = {
    **yaml.safe_load((ROOT / "tests/golden/every/study.yaml").read_text(encoding="utf-8")),
    "outside": ["../shared", "/data"],
    "replacements": {"urls": "URL", "emoji": None},
    "construction": {"annotators": ["a", "b"], "tuples": "t.csv", "pairs": "demo", "prefixes": {"m": "x: "}},
    "comparison": {"paper": "sadhu2024", "models": {"tiny-narrow": "BanglaBERT"}},
    "report": {"formats": ["svg"], "widths": ["page"]},
}
FULL["models"] = {
    **FULL["models"],
    "mine": {
        "path": "models/mine",
        "revision": "main",
        "layer": [-1, 8],
        "tokenizer": {"keep_accents": True},
        "weights_sha256": {"pytorch_model.bin": "0" * 64},
        "cards": 2,
        "language_codes": {"bn": "bn_IN"},
    },
}


def plan(config: Any) -> None:
    """What `prasanga.plan.Study` does with a config, up to the first file of a study."""
    config = complete(config, SCHEMA)
    models = config["models"]
    studied, scored = studied_models(models), scored_models(models)
    twins_of(studied, config["seed"], config["associations"]["random_twins"])
    twins_of(scored, config["seed"], config["associations"]["random_twins"])
    require_scorer(models, ["pairs.sets"] if config["pairs"]["sets"] else [])
    require_encoder({name: kind_at_hand(each) for name, each in scored.items()}, [])
    require_names_apart(config["static"]["vectors"], {**studied, **scored})
    lengths = [parse_length(length) for length in config["samples"]["lengths"]]
    require_longest(lengths, config["samples"]["longest"])
    if (buckets := config["embeddings"]["buckets"]) != "auto":
        bucket_names(buckets)
    require_places(models, Path.cwd())
    corpus, outside = config["corpus"], [".", *config["outside"]]
    shards = find_shards(corpus["root"], corpus["texts"], corpus["shard_megabytes"] * 10**6, "corpus.texts", outside)
    more = find_shards(corpus["root"], corpus["supplement"], 10**6, "corpus.supplement", outside)
    require_apart(shards, more)
    for name in (*studied, *scored, *config["pairs"]["sets"], *config["static"]["vectors"], *shards):
        assert Path("results", name).resolve().parent == Path("results").resolve(), name
        assert len(name.encode()) < 200
        assert name.isprintable()
    json.dumps(config, allow_nan=False)


@pytest.fixture(scope="module", autouse=True)
def study(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An otherwise empty study, with a text and nothing else to be found."""
    root, before = tmp_path_factory.mktemp("study"), Path.cwd()
    (root / "resources/demo/corpus/bn").mkdir(parents=True)
    (root / "resources/demo/corpus/bn/a.txt").write_text("গোলাপ\n", encoding="utf-8")
    os.chdir(root)
    yield root
    os.chdir(before)
    assert read_schema(ROOT / "workflow/schemas/config.schema.yaml") == SCHEMA, "an input has changed the schema"


def test_the_config_that_is_edited_is_a_good_one() -> None:
    plan(FULL)


@fuzzing()
@given(edits())
def test_values_that_a_program_might_give(changes: list[Edit]) -> None:
    config = edited_tree(FULL, changes)
    try_input("config: values", lambda: plan(config) if isinstance(config, dict) else None)


def _as_yaml(tree: Any) -> str:
    return str(yaml.dump(tree, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False))


WRITERS: tuple[Callable[[Any], str], ...] = (_as_yaml, lambda tree: json.dumps(tree, indent=1))


@fuzzing()
@given(edits(), st.sampled_from(WRITERS))
def test_files_with_odd_values(changes: list[Edit], write: Callable[[Any], str]) -> None:
    config = edited_tree(FULL, changes)
    try:
        text = write(config).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, yaml.YAMLError):
        return  # not to be written at all
    Path("c.yaml").write_bytes(text)
    try_input("config: files", lambda: plan(read_config("c.yaml")))


TEXT = _as_yaml(FULL).encode()


@fuzzing()
@given(edits(6))
def test_files_with_odd_text(changes: list[Edit]) -> None:
    Path("c.yaml").write_bytes(edited_bytes(TEXT, changes))
    try_input("config: text", lambda: plan(read_config("c.yaml")))


@fuzzing(0.3)
@given(st.binary(max_size=400))
def test_files_of_any_bytes(data: bytes) -> None:
    Path("c.yaml").write_bytes(data)
    try_input("config: bytes", lambda: plan(read_config("c.yaml")))


# ---- configs that the schema allows, or nearly, and YAML that is more than text


def of_schema(part: Mapping[str, Any]) -> Iterator[Any]:
    """Values that a part of the schema allows, those at its limits and beside them."""
    yield from part.get("enum", ())
    yield from (part[key] for key in ("default", "const") if key in part)
    for key in ("minimum", "maximum", "exclusiveMinimum"):
        if key in part:
            yield from (part[key], part[key] - 1, part[key] + 1, part[key] + 1e-9)
    for option in part.get("oneOf", ()):
        yield from of_schema(option)
    for inner, wrap in ((part.get("items"), list), (part.get("additionalProperties"), dict)):
        if isinstance(inner, Mapping):
            for number, value in enumerate(of_schema(inner)):
                yield [value] * (1 + number % 3) if wrap is list else {f"n{k}": value for k in range(1 + number % 3)}
    if properties := part.get("properties"):
        yield {key: next(of_schema(inner), {}) for key, inner in properties.items()}
    yield from {"string": ("x", "a/b", "9"), "integer": (0, 3), "number": (0.5,), "object": ({},)}.get(
        str(part.get("type")), ()
    )


def _parts(schema: Mapping[str, Any], place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    yield place, list(of_schema(schema))
    for key, part in schema.get("properties", {}).items():
        yield from _parts(part, (*place, key))
    for part in (schema.get("additionalProperties"), *schema.get("oneOf", ())):
        if isinstance(part, Mapping):
            yield from _parts(part, (*place, "<name>"))


PARTS = [(place, values) for place, values in _parts(SCHEMA) if place and values]
NAMES = (
    "a",
    "b",
    "tiny",
    "a.json",
    "x.oddities",
    "-a",
    "a\nb",
    "{a}",
    "..",
    "ক",
    "a" * 101,
    "statistics",
    "CON",
    "\udc80",
)


@fuzzing(2)
@given(st.lists(st.tuples(*[st.integers(0, 2**20)] * 3), max_size=12))
def test_configs_of_the_schema(drawn: list[tuple[int, int, int]]) -> None:
    config = copy.deepcopy(FULL)
    for where, which, name in drawn:
        place, values = PARTS[where % len(PARTS)]
        inner: Any = config
        for key in place[:-1]:
            inner = inner.setdefault(NAMES[name % len(NAMES)] if key == "<name>" else key, {})
            if not isinstance(inner, dict):
                break
        else:
            key = NAMES[name % len(NAMES)] if place[-1] == "<name>" else place[-1]
            # a copy: what is put into it later is no part of the schema's own default, nor of the next input
            inner[key] = copy.deepcopy(VALUES[name % len(VALUES)] if which % 8 == 0 else values[which % len(values)])
    try_input("config: of the schema", lambda: plan(config))


TAGS = (
    *(f"!!{name} " for name in ("int", "float", "bool", "null", "str", "seq", "map", "omap", "pairs", "set", "binary")),
    *("!!timestamp ", "!!merge ", "!!value ", "!!yaml ", "!!python/name:os.system ", "!!python/tuple ", "!own ", "! "),
    *("!<tag:yaml.org,2002:int> ", "!<!> ", "!e!x ", "!!int &a ", "&a ", "*a ", "? ", "- ", "| ", "> ", ""),
)
PLAIN = ("", "", "!!int ", "!!float ", "!!bool ", "!!null ", "!!str ", "!!seq ")
SCALARS = (
    *("", "~", "null", "x", "''", '""', "[]", "{}", "[x]", "{x: y}", "1", "-1", "1_000", "0x1F", "0o7", "010", "0b1"),
    *(
        "1:30",
        "1:" * 3000 + "1",
        "1e3",
        "1e999",
        ".inf",
        "-.INF",
        ".nan",
        "1.",
        "+",
        "-",
        ".",
        "=",
        "<<",
        "true",
        "yes",
    ),
    *("2001-01-01", "2001-13-45", "2001-01-01 25:61:61", "9" * 5000, "0." + "0" * 5000 + "1", "aGk=", "*a", "&b c"),
    *("'\\x00'", '"\\x00"', '"\\uD800"', '"\\U00110000"', '"\\q"', "\t", "@x", "`x", "%x", "\ufeff", "\u2028", "\x85"),
    *("[" * 50, "{a: " * 50, "[" * 50 + "]" * 50, "|\n  a\n b", ">-\n\n\n", "&a [*a]", "{<<: *a}", "{<<: [{a: b}, 1]}"),
)
KEYS = [place for place, _ in PARTS]


@fuzzing(2)
@given(st.lists(st.tuples(*[st.integers(0, 2**20)] * 3), min_size=1, max_size=3))
def test_values_with_odd_tags(drawn: list[tuple[int, int, int]]) -> None:
    """`study: !!bool x` was a KeyError, `seed: !!int ""` an IndexError."""
    lines = []
    for where, tag, scalar in drawn:
        place = KEYS[where % len(KEYS)]
        opened = "".join(f"{'n' if key == '<name>' else key}: {{" for key in place[:-1])
        key = f"{TAGS[tag % 977 % len(TAGS)] if tag % 5 == 0 else ''}{'n' if place[-1] == '<name>' else place[-1]}"
        value = (
            f"{TAGS[tag // 7 % len(TAGS)] if tag % 7 == 0 else PLAIN[tag % len(PLAIN)]}{SCALARS[scalar % len(SCALARS)]}"
        )
        lines.append(f"{opened}{key}: {value}{'}' * opened.count('{')}\n")
    taken = {KEYS[where % len(KEYS)][0] for where, _, _ in drawn}
    rest = _as_yaml({key: value for key, value in FULL.items() if key not in taken})
    Path("c.yaml").write_text(rest + "".join(lines), encoding="utf-8")
    try_input("config: tags", lambda: plan(read_config("c.yaml")), "c.yaml", "config", "`")


PIECES = (
    *TAGS,
    *SCALARS[:40],
    *(
        "\n",
        "\n",
        "\n",
        "\n  ",
        "\n  ",
        "\n    ",
        "\n- ",
        "\n  - ",
        ": ",
        ": ",
        ": ",
        ":",
        ", ",
        "{",
        "}",
        "[",
        "]",
        "#",
    ),
    *("\n---\n", "\n...\n", "%YAML 1.2\n---\n", "%TAG ! tag:x,2000:\n---\n", "%TAG !! tag:x:\n---\n", "\r", "\t", "\0"),
    *("study", "models", "seed", "categories", "corpus", "root", "texts", "files", "path", "train", "pairs", "sets"),
    *(text for text in TEXTS if len(text) < 50),
)


@fuzzing(2)
@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from([*FULL, ""]))
def test_yaml_of_odd_pieces(pieces: list[str], key: str) -> None:
    rest = _as_yaml({other: value for other, value in FULL.items() if other != key}) + f"{key}: " if key else ""
    Path("c.yaml").write_text(rest + "".join(pieces), encoding="utf-8", errors="surrogatepass")
    try_input("config: YAML", lambda: plan(read_config("c.yaml")))
