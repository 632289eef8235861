"""The words of the pages: the rules of CONTRIBUTING.md that a program can hold."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from doc_pages import ROOT, generated, pages, read
from tables import read_data

LONGEST = 45
"""Words of a sentence."""

PASSIVE = 0.36
"""Share of a page's sentences with a form of be and a participle."""

_CLAUSE = "a clause with 'that' as the subject"

RIDDLES = {
    r"(?i)\b(?:what|that|which) (?:is|was) (\w+) (?:is|was) (?:not|never|no longer) \1\b": "says a word of itself",
    r"\bthat (?:it|this|one|they) (?:cannot|can not|could not) be \w+ (?:is|was) no\b": _CLAUSE,
    r"(?:^|[.:;] )That (?:it|this|they|there|a|an|the) (?:\w+ ){1,8}(?:is|was|says|does) (?:no|not)\b": _CLAUSE,
    r"\bis no (?:failure|error|fault|finding|verdict|proof|question|reason|result)s?\b(?! of)": "write 'is not a ...'",
    r"\b(?:it|this) is (?:so|thus) that\b": "say it directly",
    r"\bin so far as\b|\binsofar\b": "write 'as far as', or 'if'",
    r"\bas (?:it|they) ever (?:was|were)\b": "write 'unchanged'",
    r"\bcomes? to the same\b": "write 'is equal'",
    r"\bsuch as (?:it|they) (?:is|are)\b": "say what it is",
    r"\bwhatever one does\b|\bwhat one has\b": "write 'you'",
    r"\bnot to be had\b": "write 'not available'",
}
"""Turns of phrase that are read twice, and what to do instead."""

AVOIDED = read_data(__file__, "avoided_words")
"""Words, and the plainer one."""

PAGES = pages()
_BE = r"(?:is|are|was|were|be|been|being)"
_IRREGULAR = "made done given taken found known said told kept left read drawn shown written held cut put run set seen"
_PARTICIPLE = rf"(?:\w{{3,}}ed|{_IRREGULAR.replace(' ', '|')})"
_PASSIVE = re.compile(rf"\b{_BE} (?:not |never |also |then |only |all )?{_PARTICIPLE}\b")


def paragraphs(text: str) -> Iterator[str]:
    """Running text and the items of lists: without code, tables, headings and quotations."""
    text = re.sub(r"^ *(`{3,})[\s\S]*?^ *\1 *$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]+`", "X", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))
    for block in re.split(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )", text):
        if not re.match(r" {4}\S| *[|#>]", block.strip("\n")):
            yield " ".join(re.sub(r"^ *(?:[-*]|\d+\.) ", "", block).split())


def sentences(text: str) -> list[str]:
    """The sentences of a page."""
    border = r"(?<!al\.)(?<!e\.g\.)(?<=[.?!])[*)\"]*\s+(?=[*(\"]*[^a-z])"
    found = (re.split(border, each) for each in paragraphs(text))
    return [sentence for each in found for sentence in each if len(sentence.split()) > 3]


def faults(text: str) -> Iterator[str]:
    """What a reader would stumble over, a sentence each."""
    said = sentences(text)
    for sentence in said:
        if len(sentence.split()) > LONGEST:
            yield f"{len(sentence.split())} words: {sentence}"
        for pattern, advice in RIDDLES.items():
            if re.search(pattern, sentence):
                yield f"{advice}: {sentence}"
        for word, plain in AVOIDED.items():
            if re.search(rf"\b{word}\b", sentence, re.IGNORECASE):
                yield f"{word!r} (write {plain!r}): {sentence}"
    passive = sum(bool(_PASSIVE.search(sentence)) for sentence in said)
    if len(said) > 20 and passive > PASSIVE * len(said):
        yield f"{passive} of {len(said)} sentences are passive"


@pytest.mark.parametrize("page", PAGES)
def test_the_words_of_a_page_are_plain(page: str) -> None:
    assert list(faults(read(page))) == []


@pytest.mark.parametrize("page", ["docs/columns.md", "docs/command.md", "docs/config.md"])
def test_the_words_of_what_is_made_from_the_code_are_plain(page: str) -> None:
    """Descriptions of keys, columns, commands and options."""
    cells = [
        cell for line in generated()[page].splitlines() if line[:1] == "|" for cell in line.strip("| ").split(" | ")
    ]
    assert len(cells) > 50
    assert [fault for cell in cells for fault in faults(cell)] == []


def messages() -> Iterator[str]:
    """The texts of all errors in the code, with X for what is filled in."""
    for path in [*(ROOT / "src/prasanga").rglob("*.py"), *(ROOT / "construction").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "InputError":
                text = node.args[0]
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in parts)


def test_the_words_of_messages_are_plain() -> None:
    assert len(list(messages())) > 200
    assert [fault for message in messages() for fault in faults(message)] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "What is done is not done twice.",
        "That it cannot be said is no failure.",
        "We utilize the model in order to measure it.",
        "The word " * 30 + "is here.",
    ],
)
def test_a_sentence_that_is_read_twice_is_found(sentence: str) -> None:
    assert list(faults(sentence))
    assert list(faults(f"- {sentence}\n"))
    assert not list(faults(f"```text\n{sentence}\n```\n"))


def test_a_passive_page_is_found() -> None:
    assert list(faults("The words are found in a corpus by the program. " * 21))
    assert not list(faults("The program finds the words in a corpus. " * 21))


# --------------------
# Idioms, over the whole project: docs, README, page templates, help, messages, docstrings and comments.


class Idiom(NamedTuple):
    """A pattern, what to write instead, and how many places may have it."""

    pattern: str
    advice: str
    allowed: int = 0


_MEASURED = "(?:row|file|job|word|context|second|minute)"
_COUNTED = "row|word|job|model|category|file|study|kind|pair|side|method|draw|table|figure|segment|set|language|length"
IDIOMS = {
    "posture verb": Idiom(
        r"\b(?:stands?|stood|lies|carr(?:y|ies)|tells?|(?:is|are) told)\b", "write 'is' or 'has'", 60
    ),
    "distributive a": Idiom(
        rf"\b(?:one|two|each|per|times|(?:one|two|\d) {_MEASURED}s?) an? (?:{_COUNTED})\b", "write 'per'"
    ),
    "number and percent": Idiom(r"\d %(?![}s])", "write '95%'"),
    "those of, that of": Idiom(r"\b(?:those|that) of\b", "name the thing", 40),
    "goes before": Idiom(r"\bgoes (?:before|first)\b", "write 'takes precedence'"),
    "old words": Idiom(r"\b(?:anew|mended|reckon(?:s|ed)?|hardly|whoever)\b", "write 'again', 'fixed', 'estimated'"),
    "card": Idiom(r"\bgraphics cards?\b", "write 'GPU'"),
}
"""The rules of English in CONTRIBUTING.md that a pattern can hold."""

IN_PLACE = (
    r"lies (?:in|on|within) (?:the|an?) interval",  # mathematics
    r"two words a set with two contexts each",  # a note in results: reference tables have it
)
"""Phrases in which an idiom is right."""

_WRITTEN = (".py", ".md", ".smk", ".yaml", ".j2", ".js", ".toml", ".tsv", "Makefile", "Snakefile")
_ELSEWHERE = ("resources/", "tests/", "CHANGELOG.md", "docs/examples/", "docs/measured/")
"""Data, what tests quote, and history."""


def prose_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file with words for people: of Python comments and texts, of Markdown all but blocks of code."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                yield from enumerate(token.string.splitlines(), token.start[0])
        return
    blank = re.compile(r"^ *(`{3,})[\s\S]*?^ *\1 *$", re.MULTILINE)
    text = blank.sub(lambda block: "\n" * block[0].count("\n"), source) if path.suffix == ".md" else source
    yield from enumerate(text.splitlines(), 1)


def idioms_in(text: str) -> Iterator[str]:
    for phrase in IN_PLACE:
        text = re.sub(phrase, "", text)
    for name, idiom in IDIOMS.items():
        yield from [name] * len(re.findall(idiom.pattern, text))


def test_the_english_of_the_project_is_plain() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    places: dict[str, list[str]] = {name: [] for name in IDIOMS}
    files = [name for name in tracked if name.endswith(_WRITTEN) and not name.startswith(_ELSEWHERE)]
    assert len(files) > 200
    for name in (name for name in files if "vendor/" not in name):
        for number, line in prose_lines(ROOT / name):
            for idiom in idioms_in(line):
                places[idiom].append(f"{name}:{number}: {line.strip()}")
    found = {
        f"{name}: {len(places[name])} of at most {idiom.allowed}; {idiom.advice}": places[name]
        for name, idiom in IDIOMS.items()
        if len(places[name]) > idiom.allowed
    }
    assert found == {}


def test_an_idiom_is_found_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text('stands = f"it stands {1} of 5 %"  # one row a category\n"""Fine.\n\nIt goes before."""\n')
    assert [(number, [*idioms_in(line)]) for number, line in prose_lines(file) if [*idioms_in(line)]] == [
        (1, ["posture verb", "number and percent"]),
        (1, ["distributive a"]),
        (4, ["goes before"]),
    ]
    assert not [*idioms_in("95% of the numbers per category; the point lies in the interval")]
