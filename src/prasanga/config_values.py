"""Values that a config may hold at all, before its schema is asked: text, numbers and truth values in lists and keys.

What YAML or Snakemake made of a file may be more than that (a date, bytes, a structure of aliases, a number that is
none), and a name with a control character in it would become part of a path or of a line on a terminal.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from prasanga.base.yaml import DEEPEST, MOST_NODES

LARGEST = 2**63 - 1
LONGEST = 20_000
MOST_ENTRIES = 2_000
_MULTILINE = frozenset("\n\t")
# Marks that turn the order of a line around; those within a word (U+200C to U+200F) are text.
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def implausible_values(config: Mapping[Any, Any]) -> Iterator[str]:
    """What no key of a config may hold, one sentence each; the caller need not have looked at anything before.

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
                    yield from _text_problems(f"the name {key[:80]!r} of a key in {_named(place)}", key, frozenset())
                else:
                    yield (
                        f"{_named(place)} has the key {_shown(key)}, which YAML reads as {_kind(key)}. A name is text:"
                        f' write it in quotation marks, such as "{_shown(key)}".'
                    )
                    continue
                pending.append((f"{place}.{key}" if place else key, inner, depth + 1))
        elif isinstance(value, list | tuple):
            pending.extend((f"{place}.{n}", inner, depth + 1) for n, inner in enumerate(value))
        else:
            yield from _scalar_problems(place, value)


def _scalar_problems(place: str, value: object) -> Iterator[str]:
    if isinstance(value, str):
        multiline = _MULTILINE if place in ("note", "title") else frozenset[str]()
        yield from _text_problems(f"`{place}`", value, multiline)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if abs(value) > LARGEST:
            yield f"`{place}` is a whole number of more than 63 bits. Write a smaller one."
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield f"`{place}` is {value}, which is no number to calculate with. Write a finite one, such as 0.1."
    else:
        yield (
            f"`{place}` is {_shown(value)}, which YAML reads as {_kind(value)}. Write text in quotation marks, or a"
            " number."
        )


def _text_problems(what: str, text: str, allowed: frozenset[str]) -> Iterator[str]:
    if len(text) > LONGEST:
        yield f"{what} has {len(text)} characters; at most {LONGEST} are read. Write less."
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
