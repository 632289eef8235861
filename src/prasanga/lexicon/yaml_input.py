"""Reading our YAML files so that every complaint can name file and line.

PyYAML drops line numbers and lets the second of two equal keys win in silence; here a mapping knows its line, and a
key that stands twice is refused. Texts are normalized as they are taken out, in the way of the file's language.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from prasanga.errors import InputError
from prasanga.lexicon.spelling import spelling_of
from prasanga.yaml_guard import check_yaml, no_value, not_yaml

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML built without libyaml: the same, slower
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

T = TypeVar("T")


class Entry(dict[str, Any]):
    """A YAML mapping that knows where it stands, and how its texts are normalized."""

    path: Path
    line: int
    normalized: Callable[[str], str]

    @property
    def place(self) -> str:
        """File and line, as they stand in a message."""
        return f"{self.path}, line {self.line}"

    def require(self, what: str, *, required: Sequence[str], optional: Sequence[str] = ()) -> None:
        """Refuse unknown keys and demand the required ones; `what` says what the entry is."""
        allowed = [*required, *optional]
        for key in self:
            if key not in allowed:
                raise InputError(f"{self.place}: unknown key `{key}` in {what}.{suggest(key, allowed)}")
        for key in required:
            if key not in self:
                raise InputError(f"{self.place}: {what} lacks the key `{key}`. Write `{key}: ...`.")

    def text(self, key: str, default: str = "", *, may_be_empty: bool = False) -> str:
        """The text under `key`, normalized; empty where the key is missing and `default` is empty, or where it may."""
        text = self._text(self.get(key, default), key)
        if key in self and not text and not may_be_empty:
            raise InputError(f"{self.place}: `{key}` is empty. Give it a value.")
        return text

    def flag(self, key: str, *, default: bool) -> bool:
        """The truth value under `key`."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            raise InputError(f"{self.place}: `{key}` is {value!r}. Write `{key}: true` or `{key}: false`.")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of texts under `key`, normalized; a missing key or null is an empty list, a text a list of one."""
        value = self.get(key)
        if isinstance(value, str):
            return (self._text(value, key),)
        return tuple(self._text(item, key) for item in self.items_of(key))

    def items_of(self, key: str) -> list[Any]:
        """The list under `key`; a missing key or null is an empty list."""
        value = self.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise InputError(f"{self.place}: `{key}` is {value!r}, but must be a list. Write `{key}: [...]`.")
        return value

    def entries_of(self, key: str) -> list[Entry]:
        """The list of mappings under `key`."""
        items = self.items_of(key)
        for item in items:
            if not isinstance(item, Entry):
                raise InputError(
                    f"{self.place}: `{key}` holds {item!r}, but each item must be a mapping: `{{key: value}}`."
                )
        return items

    def entry_of(self, key: str) -> Entry:
        """The mapping under `key`; a missing key or null is an empty one."""
        value = self.get(key)
        if value is None:
            value = Entry()
            value.path, value.line, value.normalized = self.path, self.line, self.normalized
        if not isinstance(value, Entry):
            raise InputError(f"{self.place}: `{key}` is {value!r}, but must be a mapping: `{key}: {{key: value}}`.")
        return value

    def clean(self, text: str) -> str:
        """A text of the file as the corpus would spell it, without white space at the ends."""
        return self.normalized(text).strip()

    def _text(self, value: object, key: str) -> str:
        if not isinstance(value, str):
            raise InputError(
                f"{self.place}: `{key}` holds {value!r}, but must be text. Give it a value, in quotation"
                " marks if need be."
            )
        return self.clean(value)


def suggest(name: str, allowed: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest one, and all."""
    names = sorted(allowed)
    near = difflib.get_close_matches(name, names, n=1)
    return (f" Did you mean `{near[0]}`?" if near else "") + f" Allowed: {', '.join(names)}."


def read_yaml(path: Path, language: str | None = None, normalization: str | None = None) -> Entry:
    """Read a YAML file that holds one mapping.

    Args:
        path: the file.
        language: of its words; by default what the file says under `language`.
        normalization: the corpus's, if not the language's own (`prasanga.lexicon.spelling`).

    Raises:
        InputError: no such file, not UTF-8, a syntax error or a key that stands twice (with its line), no mapping; an
            unknown normalization.
    """
    text = read_text(path)
    check_yaml(path, text)
    try:
        content = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise not_yaml(path, error) from None
    except (ValueError, OverflowError, TypeError) as error:
        raise no_value(path, error) from None
    if not isinstance(content, Entry):
        found = "nothing" if content is None else f"a {type(content).__name__}"
        raise InputError(f"{path}: found {found}, but the file must hold keys: `key: value`.")
    normalized = spelling_of(language or str(content.get("language", "")), normalization)
    for entry in _entries(content):
        entry.path, entry.normalized = path, normalized
    return content


def read_text(path: Path) -> str:
    """Read a UTF-8 file, with or without byte order mark; what cannot be read is an `InputError`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Check the path under `lexicon` in the config.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}. Save the file as UTF-8.") from None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}). Let yourself read it, or name another file in the config."
        ) from None


def read_distinct(what: str, entries: Iterable[Entry], read: Callable[[Entry], T]) -> tuple[T, ...]:
    """What `read` makes of each entry of a list of templates.

    Raises:
        InputError: an `id` or a `text` that stands in two of them; as `read`.
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


class _Loader(_SafeLoader):
    """PyYAML's safe loader, with mappings as `Entry`."""


def _construct_entry(loader: _Loader, node: yaml.MappingNode) -> Iterator[Entry]:
    # In two steps, as PyYAML does it: the empty mapping first, so that anchors may refer to it.
    entry = Entry()
    entry.line = node.start_mark.line + 1
    yield entry
    entry.update((str(key), value) for key, value in loader.construct_mapping(node).items())


_Loader.add_constructor("tag:yaml.org,2002:map", _construct_entry)


def _entries(content: object) -> Iterator[Entry]:
    """All mappings below `content`."""
    if isinstance(content, Entry):
        yield content
    children: Iterable[object] = ()
    if isinstance(content, dict):
        children = content.values()
    elif isinstance(content, list):
        children = content
    for child in children:
        yield from _entries(child)
