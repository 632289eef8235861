"""Read YAML as plain data, with the line of every mistake.

PyYAML silently keeps the last of two equal keys; this reader refuses them. `load_yaml` returns plain data,
`read_entry` mappings that know their line and their keys.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TypeVar, cast

import yaml

from prasanga.base.errors import InputError, reason
from prasanga.base.formats import open_file, walk_json

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML built without libyaml: the same, slower
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

T = TypeVar("T")


class _Loader(_SafeLoader):
    """PyYAML's safe loader, which refuses repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        first = dict[str, int]()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                line = key.start_mark.line + 1
                if key.value in first:
                    problem = f"the key `{key.value}` is repeated (first: line {first[key.value]})"
                    raise yaml.constructor.ConstructorError(problem=problem, problem_mark=key.start_mark)
                first[key.value] = line
        return super().construct_mapping(node, deep)


class _EntryLoader(_Loader):
    """The same, with mappings as `Entry`."""


def load_yaml(path: str | Path, text: str, loader: type[_Loader] = _Loader) -> Any:
    """Return a YAML document as plain data.

    Args:
        path: the file, for messages.
        text: its content.
        loader: the class that makes data of it.

    Raises:
        InputError: invalid YAML, a repeated key, or a tag for anything but plain data; with file and line.
    """
    try:
        return yaml.load(text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or reason(error)
        where = "".join(text.split("\n")[mark.line : mark.line + 1]) if mark else ""
        if mark and where[mark.column :].startswith("\t"):
            problem = "a tab; indent with blanks"
        elif re.search("alphabetic|alias", problem) and (pattern := re.search(r"\*[^\s,\]}]*", where)):
            problem = f'a value that begins with * needs quotes: `"{pattern[0]}"`'
        raise InputError(f"{path}{line}: not YAML: {problem}. Correct that line or the one before it.") from None


def find_line(path: str | Path, keys: Sequence[Any]) -> int:
    """Return the line of the last of these keys and list indices that a YAML file has; 0 if it lacks all of them."""
    loader = _Loader(read_text(Path(path)))
    node, line = loader.get_single_node(), 0
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            found = [pair for pair in node.value if key in (pair[0].value, loader.construct_object(pair[0]))]
        else:
            items = node.value if isinstance(node, yaml.SequenceNode) and isinstance(key, int) else []
            found = [(item, item) for item in items[int(key) :][:1]] if items else []
        if not found:
            break
        line, node = found[0][0].start_mark.line + 1, found[0][1]
    return line


def read_entry(path: Path, normalized: Callable[[Entry], Callable[[str], str]]) -> Entry:
    """Read a YAML file that consists of one mapping.

    Args:
        path: the file.
        normalized: returns, for the mapping, the function that normalizes the file's texts.

    Raises:
        InputError: the file is missing, not UTF-8, or not a mapping; as `load_yaml`.
    """
    content = load_yaml(path, read_text(path), _EntryLoader)
    if not isinstance(content, Entry):
        raise InputError(f"{path}: found {content!r:.60}, but a file has keys: `key: value`.")
    try:
        return cast(Entry, as_entry(content, path, normalized(content)))
    except RecursionError:
        raise InputError(f"{path}: an anchor (`&`) contains itself, or too many levels. Write it out.") from None


def read_text(path: Path, *, newline: str | None = None) -> str:
    """Read a UTF-8 file, with or without byte order mark; with `newline=""`, line ends stay as they are.

    Raises:
        InputError: the file is missing, not UTF-8, or cannot be read.
    """
    if path.exists() and not path.is_file():  # a pipe would never end
        raise InputError(f"{path}: it is a folder, a pipe or a device. Name a file.")
    try:
        with TextIOWrapper(open_file(path), encoding="utf-8-sig", newline=newline) as file:
            return file.read()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8. Save the file as UTF-8.") from None


def read_json_objects(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON objects: one, an array of them, or one per line.

    Raises:
        InputError: not JSON, not objects, or half a character; as `read_text`.
    """
    text = read_text(path)
    try:
        content = list(walk_json(text))
        json.dumps(content, ensure_ascii=False).encode()  # fails for half a character
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path}: not JSON ({reason(error)}). Correct it, or write it again.") from None
    if not content or not all(isinstance(each, dict) for each in content):
        raise InputError(f"{path}: found {text!r:.60}, but the file must have JSON objects: {{...}}.")
    return content


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a file of one JSON object; errors as in `read_json_objects`."""
    first, *others = read_json_objects(path)
    if others:
        raise InputError(f"{path}: {len(others) + 1} JSON objects, but the file must have one. Delete the others.")
    return first


def suggest(name: str, allowed: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest one, and all allowed ones."""
    names = sorted(allowed)
    near = difflib.get_close_matches(name, names, n=1)
    return (f" Did you mean `{near[0]}`?" if near else "") + f" Allowed: {', '.join(names)}."


def read_distinct(what: str, entries: Iterable[Entry], read: Callable[[Entry], T]) -> tuple[T, ...]:
    """Return the result of `read` for each entry of a list of templates.

    Raises:
        InputError: two of them share an `id` or a `text`; as `read`.
    """
    found, first = [], dict[tuple[str, str], Entry]()
    for entry in entries:
        found.append(read(entry))
        for key in ("id", "text"):
            earlier = first.setdefault((key, entry.text(key)), entry)
            if earlier is not entry:
                raise InputError(
                    f"{entry.place}: {what} has the {key} `{entry.text(key)}` twice (first: {earlier.place}). Delete"
                    " one, or write another."
                )
    return tuple(found)


class Entry(dict[str, Any]):
    """A YAML mapping that knows its line, and how its texts are normalized."""

    path: Path
    line: int
    normalized: Callable[[str], str]

    @property
    def place(self) -> str:
        """Return file and line, or the config key, for a message."""
        return f"{self.path}, line {self.line}" if self.line else f"`{self.path}` in the config"

    def require(self, what: str, *, required: Sequence[str], optional: Sequence[str] = ()) -> None:
        """Refuse unknown and missing keys; `what` names the entry."""
        allowed = [*required, *optional]
        for key in self:
            if key not in allowed:
                raise InputError(f"{self.place}: unknown key `{key}` in {what}.{suggest(key, allowed)}")
        for key in required:
            if key not in self:
                raise InputError(f"{self.place}: {what} lacks the key `{key}`. Write `{key}: ...`.")

    def text(self, key: str, default: str = "", *, may_be_empty: bool = False) -> str:
        """Return the text under `key`, normalized; empty if `may_be_empty`, or if both `key` and `default` are."""
        text = self.clean(self._require_type(key, self.get(key, default), str))
        if key in self and not text and not may_be_empty:
            raise InputError(f"{self.place}: `{key}` is empty. Give it a value.")
        return text

    def flag(self, key: str, *, default: bool) -> bool:
        """Return the boolean under `key`."""
        return self._require_type(key, self.get(key, default), bool)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts under `key`, normalized: an empty tuple for null or a missing key, one for a single text."""
        items = [self[key]] if isinstance(self.get(key), str) else self.items_of(key)
        return tuple(self.clean(self._require_type(key, item, str)) for item in items)

    def items_of(self, key: str) -> list[Any]:
        """Return the list under `key`, empty for null or a missing key."""
        value = self.get(key)
        return [] if value is None else self._require_type(key, value, list)

    def entries_of(self, key: str) -> list[Entry]:
        """Return the list of mappings under `key`."""
        return [self._require_type(key, item, Entry) for item in self.items_of(key)]

    def entry_of(self, key: str) -> Entry:
        """Return the mapping under `key`, empty for null or a missing key."""
        if (value := self.get(key)) is not None:
            return self._require_type(key, value, Entry)
        empty = Entry()
        empty.path, empty.line, empty.normalized = self.path, self.line, self.normalized
        return empty

    def clean(self, text: str) -> str:
        """Return a text in the corpus's spelling, stripped."""
        return self.normalized(text).strip()

    def _require_type(self, key: str, value: Any, kind: type[T]) -> T:
        if not isinstance(value, kind):
            raise InputError(f"{self.place}: `{key}` has {value!r}, but needs {_SHAPES[kind]}.")
        return value


_SHAPES: dict[type, str] = {
    str: "text (in quotation marks if need be)",
    bool: "true or false",
    list: "a list: `[...]`",
    Entry: "a mapping: `{key: value}`",
}


def as_entry(value: Any, path: str | Path, normalized: Callable[[str], str]) -> Any:
    """Return a mapping, and nested ones, as entries; `path` is its file, or its place in the config."""
    if isinstance(value, list):
        return [as_entry(item, path, normalized) for item in value]
    if not isinstance(value, Mapping):
        return value
    entry = Entry({name: as_entry(inner, path, normalized) for name, inner in value.items()})
    entry.path, entry.line, entry.normalized = Path(path), getattr(value, "line", 0), normalized
    return entry


def _construct_entry(loader: _EntryLoader, node: yaml.MappingNode) -> Iterator[Entry]:
    # in two steps, so that anchors may refer to the entry
    entry = Entry()
    entry.line = node.start_mark.line + 1
    yield entry
    entry.update((str(key), value) for key, value in loader.construct_mapping(node).items())


_EntryLoader.add_constructor("tag:yaml.org,2002:map", _construct_entry)
