"""Valid inputs with something wrong in them: edits of trees, tables and bytes, drawn by Hypothesis.

An edit is three numbers: what is done, where, and with which of the texts, values or bytes below. So an input that
fails shrinks to few and small edits, and is the same in every run.
"""

from __future__ import annotations

import copy
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from prasanga.base.errors import InputError

CPU_SECONDS = 2
WAITING_SECONDS = 600
MEMORY = 1 << 30


class Tried(NamedTuple):
    """How many inputs of a kind were tried, how many of them refused, the processor time of all, and of the slowest."""

    count: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0


TRIED: dict[str, Tried] = {}
"""By kind, since the test began."""

TEXTS: tuple[str, ...] = (
    "",
    " ",
    "\n",
    "\r",
    "\t",
    "\0",
    "\x1b[2J\x1b]0;owned\x07",
    "\x7f\x85\x9b31m",
    "\u202egnp.exe",
    "\u2066\u2067abc\u2069",
    "\u2028\u2029",
    "\ufeff",
    "\ufffe\uffff",
    "\u200c",
    "\u200d\u200d",
    "ফুল",
    "ফুলের বাগানে গোলাপ।",
    "য়ড়ঢ়",
    "ক্" * 40,
    "e" + "\u0301" * 500,
    "ক" + "ঁ" * 300,
    "\u09be\u09cd\u09bc",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "𝒳\U0010ffff",
    "١٢٣৪৫",
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "\"'`",
    '=HYPERLINK("http://x","y")',
    "+1+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "\\input{/etc/passwd}",
    "$\\write18{id}$ %&_#{}~^",
    "[x](javascript:alert(1)) | a | **b** `c`",
    "{{7*7}} {% raw %}",
    "${PATH} $(id) `id`",
    "../../../etc/passwd",
    "/etc/passwd",
    "a/b",
    ".",
    "..",
    "-",
    "_",
    "all",
    "none",
    "null",
    "true",
    "no",
    "0",
    "-1",
    "1e400",
    "nan",
    "9" * 400,
    "9" * 5000,
    "0x1F",
    "2024-13-45",
    "12:30:45",
    "!!python/object/apply:os.system [id]",
    "&a [*a]",
    "*a",
    "<<",
    "? x",
    "- - -",
    "{",
    "}",
    "[",
    "]",
    "%",
    "(" * 30,
    "(a+)+$",
    "a" * 3000,
    "x" * 70_000,
    "{word}",
    "{word:genitive}",
    "{word:}",
    "{}",
    "{0}",
    ",",
    ";",
    ":",
    "a: b",
    "# x",
    "---",
    "...",
    "#",
    "*",
    "**/*",
    "[a-",
    "C1",
    "bn",
    "hi",
)
SURROGATES: tuple[str, ...] = ("\ud800", "a\udfffb")
VALUES: tuple[Any, ...] = (
    *TEXTS,
    *SURROGATES,
    None,
    True,
    False,
    0,
    1,
    -1,
    7,
    10**6,
    10**12,
    2**63,
    10**30,
    -(10**30),
    0.0,
    -0.5,
    1.5,
    1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
    [],
    [[]],
    {},
    [None],
    [1, "1", True],
    ["a", "a"],
    {"": ""},
    {"a": {"b": {"c": {}}}},
    {"files": "*"},
    {"path": "x", "train": {}},
    {"text": "{word}", "id": "x"},
    [[[[[[[[[[]]]]]]]]]],
)
BYTES: tuple[bytes, ...] = (
    b"",
    b"\0",
    b"\xff",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\t",
    b" ",
    b'"',
    b'""',
    b"'",
    b",",
    b";",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[" * 3000,
    b'{"a":' * 3000,
    b":",
    b"null",
    b"NaN",
    b"1e999",
    b"-",
    b"9" * 5000,
    b"\x1f\x8b\x08\0",
    b"\x28\xb5\x2f\xfd",
    b"PAR1",
    b"\x7f" * 8,
    b"\xff\xff\xff\x7f",
    b"\xff" * 8,
    b"\x80\x02cposix\nsystem\n.",
    *(text.encode() for text in TEXTS if len(text) < 3000),
)

Edit = tuple[int, int, int]


def edits(most: int = 4) -> st.SearchStrategy[list[Edit]]:
    """One to `most` edits."""
    number = st.integers(0, 2**20)
    return st.lists(st.tuples(number, number, number), min_size=1, max_size=most)


def fuzzing(share: float = 1.0) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As many inputs as FUZZ_INPUTS says, times `share`; the default keeps `pytest tests/hostile` short."""
    wanted = int(os.environ.get("FUZZ_INPUTS", "50"))
    return settings(
        max_examples=max(20, int(wanted * share)),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def try_input(kind: str, use: Callable[[], object], *named: str) -> str | None:
    """Use an input: it must give a result or an InputError whose message names one of `named` (all, if there are none).

    Returns:
        The message, if it was refused.
    """
    began, message = time.process_time(), None
    try:
        with _within_limits():
            use()
    except InputError as error:
        message = str(error)
        assert message.strip(), "a refusal without a sentence"
        assert not named or any(name in message for name in named), message
        assert all(character.isprintable() or character in "\n\t" or ord(character) >= 0x80 for character in message)
    finally:
        took, before = time.process_time() - began, TRIED.get(kind, Tried())
        refused = before.refused + (message is not None)
        TRIED[kind] = Tried(before.count + 1, refused, before.seconds + took, max(before.slowest, took))
    return message


class TooSlowError(BaseException):
    """Raised in the middle of what takes more than `CPU_SECONDS`; nothing that is tested may catch it."""


@contextmanager
def _within_limits() -> Iterator[None]:
    """Bound processor time, memory and, generously since machines are busy, time: what waits takes no processor."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"more than {CPU_SECONDS} s of processor time" if number == signal.SIGPROF else "it waits")

    before = resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    handlers = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, before[1]))
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WAITING_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


# ---- trees


def edited_tree(tree: Any, edits: Sequence[Edit], values: Sequence[Any] = VALUES) -> Any:
    """A copy of lists and dictionaries with values replaced, taken out, moved, renamed, added or wrapped."""
    tree = [copy.deepcopy(tree)]
    for what, where, which in edits:
        places = list(_places(tree))
        parent, key = places[where % len(places)]
        value = copy.deepcopy(values[which % len(values)])
        match what % 8:
            case 0 | 1 | 2:
                parent[key] = value
            case 3 if parent is not tree:
                del parent[key]
            case 4 if isinstance(parent, dict):
                parent[_as_key(value)] = parent.pop(key)
            case 5:
                parent[key] = [parent[key], value]
            case 6:
                other, at = places[which % len(places)]
                parent[key] = copy.deepcopy(other[at])
            case _:
                inner = parent[key]
                if isinstance(inner, dict):
                    inner[_as_key(value)] = value
                elif isinstance(inner, list):
                    inner.insert(where % (len(inner) + 1), value)
                elif isinstance(inner, str):
                    at = where % (len(inner) + 1)
                    parent[key] = f"{inner[:at]}{value}{inner[at:]}"
                else:
                    parent[key] = str(inner)
    return tree[0]


def _as_key(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    pending = [tree]
    while pending:
        parent = pending.pop()
        for key in range(len(parent)) if isinstance(parent, list) else list(parent):
            yield parent, key
            if isinstance(parent[key], list | dict):
                pending.append(parent[key])


# ---- bytes and tables


def edited_bytes(data: bytes, edits: Sequence[Edit], tokens: Sequence[bytes] = BYTES) -> bytes:
    """Bytes with pieces replaced, taken out, doubled, cut off, or flipped."""
    for what, where, which in edits:
        at = where % (len(data) + 1)
        token = tokens[which % len(tokens)]
        size = 1 + which % 16
        match what % 8:
            case 0 | 1:
                data = data[:at] + token + data[at:]
            case 2:
                data = data[:at] + token + data[at + len(token) :]
            case 3:
                data = data[:at] + data[at + size :]
            case 4:
                data = data[:at]
            case 5:
                data = data[:at] + data[at : at + size] * 3 + data[at + size :]
            case 6:
                data = data[:at] + bytes([which & 0xFF]) + data[at + 1 :]
            case _:
                data = data[:at] + bytes(byte ^ (1 << which % 8) for byte in data[at : at + 1]) + data[at + 1 :]
    return data


def edited_rows(rows: Sequence[Sequence[str]], edits: Sequence[Edit], texts: Sequence[str] = TEXTS) -> list[list[str]]:
    """Rows of cells with cells replaced, added to, taken out or exchanged, and rows doubled."""
    table = [list(row) for row in rows]
    for what, where, which in edits:
        row = table[where % len(table)]
        at, text = which % max(1, len(row)), texts[which % len(texts)]
        match what % 7:
            case 0 | 1 if row:
                row[at] = text
            case 2 if row:
                row[at] += text
            case 3 if row:
                del row[at]
            case 4:
                row.insert(at, text)
            case 5:
                table.append(list(row))
            case _:
                other = table[which % len(table)]
                if row and other:
                    row[at % len(row)], other[-1] = other[-1], row[at % len(row)]
    return table
