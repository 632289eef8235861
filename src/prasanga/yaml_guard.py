"""YAML that a stranger may have written: looked at event by event before anything is made of it.

PyYAML lets the second of two equal keys win in silence, follows aliases into structures of any size, and knows tags
that make objects. What is refused here is told with its line; nothing is constructed, and memory holds one path from
the root to the event that is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from prasanga.errors import InputError, reason

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML built without libyaml: the same, slower
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

DEEPEST = 40
MOST_NODES = 200_000
MOST_BYTES = 20_000_000
_PREFIX = "tag:yaml.org,2002:"
_TAGS = frozenset(f"{_PREFIX}{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq"))


@dataclass
class _Open:
    """A list or mapping that has begun: the keys seen, and whether a key comes next."""

    mapping: bool
    anchor: str | None
    line: int
    size: int = 1
    keys: dict[str, int] = field(default_factory=dict)
    key_next: bool = True


def check_yaml(path: str | Path, text: str) -> None:
    """Refuse YAML that is not plain data of a reasonable size.

    Args:
        path: the file, for messages.
        text: its content.

    Raises:
        InputError: with file and line, for what is not YAML; a key that stands twice in a mapping; a tag that makes
            anything but text, numbers, truth values, lists and mappings; an alias of what it stands in; more than
            `MOST_NODES` values once aliases are followed; lists and mappings more than `DEEPEST` deep; more than
            one document; a file of more than `MOST_BYTES` characters.
    """
    if len(text) > MOST_BYTES:
        raise InputError(f"{path}: {len(text)} characters, and at most {MOST_BYTES} are read. Make it smaller.")
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
                _take_key(path, stack, event, line)
                total += 1
                _add(stack, 1, event.anchor, sizes)
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                _refuse_tag(where, event)
                if stack and stack[-1].mapping and stack[-1].key_next:
                    raise InputError(f"{where}: a key is a list or a mapping itself. Write a text as key.")
                stack.append(_Open(isinstance(event, yaml.MappingStartEvent), event.anchor, line))
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
        raise not_yaml(path, error) from None


def load_plain(path: str | Path, text: str) -> Any:
    """What a YAML file holds, after `check_yaml`; values that cannot be made (a 13th month) are an `InputError`."""
    check_yaml(path, text)
    try:
        return yaml.load(text, Loader=_SafeLoader)
    except yaml.YAMLError as error:
        raise not_yaml(path, error) from None
    except (ValueError, RecursionError, OverflowError, TypeError) as error:
        raise no_value(path, error) from None


def not_yaml(path: str | Path, error: yaml.YAMLError) -> InputError:
    """What to raise for a syntax error, with its line."""
    mark = getattr(error, "problem_mark", None)
    line = f", line {mark.line + 1}" if mark is not None else ""
    problem = getattr(error, "problem", None) or reason(error)
    return InputError(f"{path}{line}: not YAML: {problem}. Mend that line or the one before it.")


def no_value(path: str | Path, error: Exception) -> InputError:
    """What to raise where a value looks like a number or a date and is none."""
    return InputError(
        f"{path}: a value in it looks like a number or a date and is none ({reason(error)}). Write it in"
        " quotation marks."
    )


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
