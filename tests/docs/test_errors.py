"""The messages that the page of errors quotes are said by somebody."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from doc_pages import ROOT, blocks

from prasanga.base.errors import InputError
from prasanga.config import complete
from prasanga.lexicon.model import require_language, require_measurable

PAGE = "docs/errors.md"
MESSAGES = [block.code.strip() for block in blocks(PAGE) if block.language == "text"]


def complete_with(**changes: Any) -> None:
    complete(changes)


PROVOKED: dict[str, Callable[[], object]] = {
    "unknown key": lambda: complete_with(asociations={"n_samples": 10}),
    "`language` is": lambda: require_language("bn", "hi"),
    "resources/stimuli/bn_mine/fruits.yaml": lambda: require_measurable(
        {
            "M1": {
                "targets": [{"name": "fruits", "stimuli": ["a"]}, {"name": "vegetables", "stimuli": ["b", "c"]}],
                "attributes": [{"name": "pleasant", "stimuli": ["d"]}, {"name": "unpleasant", "stimuli": ["e"]}],
            }
        },
        ["M1"],
        files={"M1": {"fruits": "resources/stimuli/bn_mine/fruits.yaml"}},
    ),
}
"""Messages that are put together of many parts: what makes the program say them."""


Text = tuple[str, ...]
"""The fixed parts of a text in the program, in order; values come between them."""


@cache
def texts_of(folder: Path) -> list[Text]:
    """The texts in a program, line ends and runs of blanks read as one blank."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append((blank(node.value),))
            elif isinstance(node, ast.JoinedStr):
                parts = [blank(part.value) for part in node.values if isinstance(part, ast.Constant)]
                found.append(tuple(part for part in parts if len(part) >= SHORTEST))
    return found


def blank(text: str) -> str:
    return re.sub(r"\s+", " ", text)


SHORTEST = 6


def covered(message: str, text: Text) -> int:
    """How many letters of the message the text has; it may begin or end in the middle of a part."""
    letters = 0
    for part in text:
        if message in part:
            return len(message)
        if part in message:
            letters += len(part)
        elif part[:SHORTEST] in message or part[-SHORTEST:] in message:
            ends = (
                n for n in range(len(part), SHORTEST, -1) if message.endswith(part[:n]) or message.startswith(part[-n:])
            )
            letters += next(ends, 0)
    return letters


def says(message: str, texts: Iterable[Text]) -> bool:
    """Whether some text of the program has three fifths of the message; the rest are names and numbers."""
    message = blank(message)
    return any(covered(message, text) >= 0.6 * len(message) for text in texts)


def test_messages_are_quoted() -> None:
    assert len(MESSAGES) > 10


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message[:60])
def test_a_quoted_message_is_said(message: str) -> None:
    begin = next((key for key in PROVOKED if message.startswith(key)), None)
    if begin is not None:
        with pytest.raises(InputError) as refused:
            PROVOKED[begin]()
        assert " ".join(message.split()) in " ".join(str(refused.value).split())
    else:
        assert says(message, texts_of(ROOT / "src"))


def test_a_message_that_nobody_says_is_noticed() -> None:
    texts = texts_of(ROOT / "src")
    assert not says("corpora/news.txt: this sentence is said nowhere in the program, whatever one does", texts)
    changed = next(message for message in MESSAGES if "not UTF-8" in message).replace("Convert", "Please turn")
    assert says(changed.replace("Please turn", "Convert"), texts)
    assert not says(changed[:40], texts)
