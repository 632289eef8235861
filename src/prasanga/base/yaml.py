"""Read YAML that a stranger may have written: plain data of a reasonable size, with the line of every mistake.

PyYAML lets the second of two equal keys win in silence, follows aliases into structures of any size, and knows tags
that make objects. So a document is looked at event by event before anything is made of it: what is refused is told with
its line, and memory holds one path from the root to the event that is looked at. `load_yaml` gives plain data,
`read_entry` mappings that know their line and what is asked of them.
"""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from prasanga.base.errors import InputError, open_whole, reason

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML built without libyaml: the same, slower
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

DEEPEST = 40
MOST_NODES = 200_000
MOST_BYTES = 20_000_000
_PREFIX = "tag:yaml.org,2002:"
_TAGS = frozenset(f"{_PREFIX}{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq"))
_NUMBERS = (f"{_PREFIX}int", f"{_PREFIX}float")
_HANDLE = re.compile(r"^%TAG\b", re.MULTILINE)
# What PyYAML takes for a number of base sixty, as YAML 1.1 has them.
_OF_BASE_SIXTY = re.compile(r"[-+]?(?:[1-9][0-9_]*(?::[0-5]?[0-9])+|[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)")

T = TypeVar("T")


def load_yaml(path: str | Path, text: str) -> Any:
    """Return what a YAML document holds, as plain data.

    Args:
        path: the file, for messages.
        text: its content.

    Raises:
        InputError: with file and line, for what is not YAML; a key that stands twice in a mapping; a tag that makes
            anything but text, numbers, truth values, lists and mappings; a number of base sixty; an alias of what it
            stands in; more than `MOST_NODES` values once aliases are followed; lists and mappings more than `DEEPEST`
            deep; more than one document; a file of more than `MOST_BYTES` characters; a value that cannot be made (a
            13th month).
    """
    return _load(path, text, _SafeLoader)


def read_entry(path: Path, normalized: Callable[[Entry], Callable[[str], str]]) -> Entry:
    """Read a YAML file that holds one mapping.

    Args:
        path: the file.
        normalized: gives for the mapping the function by which the file's texts are normalized as they are taken out.

    Raises:
        InputError: no such file, not UTF-8, no mapping; what `load_yaml` refuses.
    """
    content = _load(path, read_text(path), _EntryLoader)
    if not isinstance(content, Entry):
        found = "nothing" if content is None else f"a {type(content).__name__}"
        raise InputError(f"{path}: found {found}, but the file must hold keys: `key: value`.")
    normalize = normalized(content)
    for entry in _entries(content):
        entry.path, entry.normalized = path, normalize
    return content


def read_text(path: Path) -> str:
    """Read a UTF-8 file, with or without byte order mark; what cannot be read is an `InputError`."""
    try:
        with io.TextIOWrapper(open_whole(path), encoding="utf-8-sig") as file:
            return file.read()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Check the path under `lexicon` in the config.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}. Save the file as UTF-8.") from None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}). Let yourself read it, or name another file in the config."
        ) from None


def suggest(name: str, allowed: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest one, and all."""
    names = sorted(allowed)
    near = difflib.get_close_matches(name, names, n=1)
    return (f" Did you mean `{near[0]}`?" if near else "") + f" Allowed: {', '.join(names)}."


def read_distinct(what: str, entries: Iterable[Entry], read: Callable[[Entry], T]) -> tuple[T, ...]:
    """Return what `read` makes of each entry of a list of templates.

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


class Entry(dict[str, Any]):
    """A YAML mapping that knows where it stands, and how its texts are normalized."""

    path: Path
    line: int
    normalized: Callable[[str], str]

    @property
    def place(self) -> str:
        """Return file and line, or the key of the config, as they stand in a message."""
        return f"{self.path}, line {self.line}" if self.line else f"`{self.path}` in the config"

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
        """Return the text under `key`, normalized; it is empty where it may be, or where the key and `default` are."""
        text = self._text(self.get(key, default), key)
        if key in self and not text and not may_be_empty:
            raise InputError(f"{self.place}: `{key}` is empty. Give it a value.")
        return text

    def flag(self, key: str, *, default: bool) -> bool:
        """Return the truth value under `key`."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            raise InputError(f"{self.place}: `{key}` is {value!r}. Write `{key}: true` or `{key}: false`.")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts under `key`, normalized: none if it is missing or null, one if it is a text itself."""
        value = self.get(key)
        if isinstance(value, str):
            return (self._text(value, key),)
        return tuple(self._text(item, key) for item in self.items_of(key))

    def items_of(self, key: str) -> list[Any]:
        """Return the list under `key`; a missing key or null is an empty list."""
        value = self.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise InputError(f"{self.place}: `{key}` is {value!r}, but must be a list. Write `{key}: [...]`.")
        return value

    def entries_of(self, key: str) -> list[Entry]:
        """Return the list of mappings under `key`."""
        items = self.items_of(key)
        for item in items:
            if not isinstance(item, Entry):
                raise InputError(
                    f"{self.place}: `{key}` holds {item!r}, but each item must be a mapping: `{{key: value}}`."
                )
        return items

    def entry_of(self, key: str) -> Entry:
        """Return the mapping under `key`; a missing key or null is an empty one."""
        value = self.get(key)
        if value is None:
            value = Entry()
            value.path, value.line, value.normalized = self.path, self.line, self.normalized
        if not isinstance(value, Entry):
            raise InputError(f"{self.place}: `{key}` is {value!r}, but must be a mapping: `{key}: {{key: value}}`.")
        return value

    def clean(self, text: str) -> str:
        """Return a text of the file as the corpus would spell it, without white space at the ends."""
        return self.normalized(text).strip()

    def _text(self, value: object, key: str) -> str:
        if not isinstance(value, str):
            raise InputError(
                f"{self.place}: `{key}` holds {value!r}, but must be text. Give it a value, in quotation"
                " marks if need be."
            )
        return self.clean(value)


def as_entry(value: Any, key: str, normalized: Callable[[str], str]) -> Any:
    """Return a mapping of a config, and those in it, as entries; `key` is where it stands."""
    if isinstance(value, list):
        return [as_entry(item, key, normalized) for item in value]
    if not isinstance(value, Mapping):
        return value
    entry = Entry({name: as_entry(inner, key, normalized) for name, inner in value.items()})
    entry.path, entry.line, entry.normalized = Path(key), 0, normalized
    return entry


def _load(path: str | Path, text: str, loader: type[_SafeLoader]) -> Any:
    _check(path, text)
    try:
        return yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        raise _not_yaml(path, text, error) from None
    except (ValueError, RecursionError, OverflowError, TypeError, LookupError) as error:
        raise InputError(
            f"{path}: a value in it looks like a number or a date and is none ({reason(error)}). Write it in"
            " quotation marks."
        ) from None


class _EntryLoader(_SafeLoader):
    """PyYAML's safe loader, with mappings as `Entry`."""


def _construct_entry(loader: _EntryLoader, node: yaml.MappingNode) -> Iterator[Entry]:
    # In two steps, as PyYAML does it: the empty mapping first, so that anchors may refer to it.
    entry = Entry()
    entry.line = node.start_mark.line + 1
    yield entry
    entry.update((str(key), value) for key, value in loader.construct_mapping(node).items())


_EntryLoader.add_constructor(f"{_PREFIX}map", _construct_entry)


def _entries(content: object) -> Iterator[Entry]:
    """Yield all mappings below `content`."""
    if isinstance(content, Entry):
        yield content
    if isinstance(content, dict | list):
        for child in content.values() if isinstance(content, dict) else content:
            yield from _entries(child)


@dataclass
class _Open:
    """A list or mapping that has begun: the keys seen, and whether a key comes next."""

    mapping: bool
    anchor: str | None
    size: int = 1
    keys: dict[str, int] = field(default_factory=dict)
    key_next: bool = True


def _check(path: str | Path, text: str) -> None:
    """Refuse YAML that is not plain data of a reasonable size (`load_yaml`)."""
    if len(text) > MOST_BYTES:
        raise InputError(f"{path}: {len(text)} characters, and at most {MOST_BYTES} are read. Make it smaller.")
    if handle := _HANDLE.search(text):  # the parser compares each with all before it
        line = text.count("\n", 0, handle.start()) + 1
        raise InputError(
            f"{path}, line {line}: a name for tags (`%TAG`). Only plain text, numbers, truth values, lists and mappings"
            " are read. Take the line out."
        )
    stack: list[_Open] = []
    sizes: dict[str, int] = {}
    documents = total = 0
    try:
        for event in yaml.parse(text, Loader=_SafeLoader):
            line = event.start_mark.line + 1 if event.start_mark is not None else 1
            where = f"{path}, line {line}"
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise InputError(f"{where}: a second document begins (`---`). Write one file for each.")
            elif isinstance(event, yaml.AliasEvent):
                if event.anchor not in sizes:
                    raise InputError(
                        f"{where}: the alias `*{event.anchor}` stands before its anchor `&{event.anchor}` or within"
                        " it. Write the value itself."
                    )
                total += sizes[event.anchor]
                _add(stack, sizes[event.anchor])
            elif isinstance(event, yaml.ScalarEvent):
                _refuse_tag(where, event)
                _refuse_base_sixty(where, event)
                _take_key(path, stack, event, line)
                total += 1
                _add(stack, 1, event.anchor, sizes)
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                _refuse_tag(where, event)
                if stack and stack[-1].mapping and stack[-1].key_next:
                    raise InputError(f"{where}: a key is a list or a mapping itself. Write a text as key.")
                stack.append(_Open(isinstance(event, yaml.MappingStartEvent), event.anchor))
                total += 1
                if len(stack) > DEEPEST:
                    raise InputError(
                        f"{where}: lists and mappings stand {len(stack)} deep in each other, and at most {DEEPEST} are"
                        " read. Mend the brackets or the indentation."
                    )
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                done = stack.pop()
                _add(stack, done.size, done.anchor, sizes)
            if total > MOST_NODES:
                raise InputError(
                    f"{where}: more than {MOST_NODES} values once its aliases (`*name`) are followed. Write less, or"
                    " leave the aliases out."
                )
    except yaml.YAMLError as error:
        raise _not_yaml(path, text, error) from None


def _not_yaml(path: str | Path, text: str, error: yaml.YAMLError) -> InputError:
    """Return what to raise for a syntax error, with its line."""
    mark = getattr(error, "problem_mark", None)
    line = f", line {mark.line + 1}" if mark is not None else ""
    problem = getattr(error, "problem", None) or reason(error)
    if mark is not None and text[mark.index : mark.index + 1] == "\t":
        problem = "a tab, where YAML has spaces"
    return InputError(f"{path}{line}: not YAML: {problem}. Mend that line or the one before it.")


def _add(stack: list[_Open], size: int, anchor: str | None = None, sizes: dict[str, int] | None = None) -> None:
    """Count a value that is complete; within a mapping, keys and values take turns."""
    if anchor is not None and sizes is not None:
        sizes[anchor] = size
    if stack:
        stack[-1].size += size
        stack[-1].key_next = not stack[-1].key_next


def _take_key(path: str | Path, stack: list[_Open], event: yaml.ScalarEvent, line: int) -> None:
    if not (stack and stack[-1].mapping and stack[-1].key_next):
        return
    keys = stack[-1].keys
    if event.value in keys:
        raise InputError(
            f"{path}, line {line}: the key `{event.value:.80}` stands twice (first: line {keys[event.value]}). Delete"
            " one."
        )
    keys[event.value] = line


def _refuse_tag(where: str, event: Any) -> None:
    if event.tag is not None and event.tag != "!" and event.tag not in _TAGS:
        shown = str(event.tag).replace(_PREFIX, "!!")
        raise InputError(
            f"{where}: the tag `{shown:.80}`. Only plain text, numbers, truth values, lists and mappings are read."
            " Take the tag out, and write the value."
        )


def _refuse_base_sixty(where: str, event: yaml.ScalarEvent) -> None:
    """Refuse numbers such as 1:30, which nobody means, and which cost a time that grows with their square."""
    if (event.tag in _NUMBERS and ":" in event.value) or (event.implicit[0] and _OF_BASE_SIXTY.fullmatch(event.value)):
        raise InputError(
            f"{where}: `{event.value:.80}` is a number of base sixty to YAML. Write it in quotation marks, or as one"
            " number."
        )
