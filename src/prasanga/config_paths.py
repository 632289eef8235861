"""Paths in a config: where they may lead.

A study is a folder. A relative path that climbs out of it by `..` is easily overlooked in somebody else's config, so
the folder that it leads to must be named under `outside`; an absolute path is plain to see, and needs no more. Patterns
of corpus files stay below `corpus.root`. Which keys hold paths, the schema says (`format`).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

# In bytes: what Linux and the file systems of clusters take, for one name and for a whole path.
_LONGEST_NAME, _LONGEST_PATH = 255, 4095


def path_problems(config: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the paths of a config that fits its schema, one sentence each."""
    outside = config.get("outside", [])
    for folder in outside:
        if _without_parents(folder):
            yield (
                f"`outside` has {folder!r}, which does not lead out of the study's folder. Take it out; it is for"
                " folders such as `../shared` and `/data/corpora`."
            )
    for place, kind, path in _paths(config, schema):
        if _is_too_long(path):
            yield (
                f"`{place}` is {path[:40]!r} and so on, which no file can be called: a name has at most {_LONGEST_NAME}"
                f" bytes, a path {_LONGEST_PATH}. Write the path of one file or folder."
            )
        elif kind == "pattern":
            if ".." in PurePosixPath(path).parts:
                yield (
                    f"`{place}` is {path!r}, which leads out of `corpus.root`. Write the folder as `corpus.root`, and a"
                    " pattern below it here."
                )
        elif not below_any(path, outside):
            yield (
                f"`{place}` is {path!r}, which leads out of the study's folder. If that is meant, write at the top of"
                f" the config `outside: [{_first_outside(path)}]`; or write an absolute path, or one below the study's"
                " folder."
            )
    for name, model in config.get("models", {}).items():
        revision = model.get("revision") or ""
        if ".." in revision or revision.startswith("/"):
            yield (
                f"`models.{name}.revision` is {revision!r}, which is no commit, tag or branch. Write e.g. a commit: 40"
                " hexadecimal digits."
            )


def below_any(path: str, outside: Sequence[str]) -> bool:
    """Whether a path is absolute, stays below the folder that it starts from, or leads into one of `outside`."""
    if path.startswith("/") or _without_parents(path):
        return True
    return any(PurePosixPath(posixpath.normpath(path)).is_relative_to(posixpath.normpath(folder)) for folder in outside)


def _without_parents(path: str) -> bool:
    """Whether a relative path stays below where it starts."""
    return not path.startswith("/") and posixpath.normpath(path).split("/", 1)[0] != ".."


def _is_too_long(path: str) -> bool:
    written = path.encode("utf-8", "replace")
    return len(written) > _LONGEST_PATH or any(len(name) > _LONGEST_NAME for name in written.split(b"/"))


def _first_outside(path: str) -> str:
    """The first folder on the way that is not the study's nor above it: `../shared` of `../shared/corpora/bn`."""
    parts = PurePosixPath(posixpath.normpath(path)).parts
    climbed = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    return "/".join(parts[: climbed + 1])


def _paths(value: Any, schema: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str, str]]:
    """Every path or pattern with its place; `format` says in the schema which texts are one."""
    if isinstance(value, str):
        if schema.get("format") in ("path", "pattern"):
            yield place, schema["format"], value
    elif isinstance(value, Mapping):
        other = schema.get("additionalProperties")
        for key, inner in value.items():
            part = schema.get("properties", {}).get(key, other)
            if isinstance(part, Mapping):
                yield from _paths(inner, part, f"{place}.{key}" if place else key)
    elif isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for number, inner in enumerate(value):
            yield from _paths(inner, schema["items"], f"{place}.{number}")
