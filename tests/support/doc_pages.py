"""The pages of the documentation as their readers meet them: blocks of code, commands, and names of files."""

from __future__ import annotations

import importlib.util
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[a-z]*)(?: title=\"(?P<title>[^\"]*)\")? *\n"
    r"(?P<code>.*?)^(?P=indent)(?P=fence) *$",
    re.DOTALL | re.MULTILINE,
)
_INDENTED = re.compile(r"(?:\A|\n)\n((?: {4,}\S.*\n(?:\n(?= {4}))?)+)")
_SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")


@dataclass(frozen=True)
class Block:
    """A block of code of a page: where it begins, in which language it is (empty where nothing says), its title."""

    page: str
    line: int
    language: str
    title: str
    code: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def generated() -> dict[str, str]:
    """The pages that the site gets from the code, by their paths from the project's folder."""
    spec = importlib.util.spec_from_file_location("generated_pages", ROOT / "docs/generated_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {f"docs/{path}": text for path, text in module.generated_pages().items()}


def pages() -> list[str]:
    """Paths of all pages that people write, from the project's folder."""
    found = [path for path in (ROOT / "docs").rglob("*.md") if "measured" not in path.parts]
    return sorted(path.relative_to(ROOT).as_posix() for path in [*found, ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


def read(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    """Fenced and indented blocks, in the order of the page."""
    text, found = read(page), []
    for match in _FENCE.finditer(text):
        code = textwrap.dedent(match["code"]) if match["indent"] else match["code"]
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, match["language"], match["title"] or "", code))
    without = _FENCE.sub(lambda match: re.sub(r"[^\n]", "", match[0]), text)
    for match in _INDENTED.finditer(without):
        line = without.count("\n", 0, match.start(1)) + 1
        code = textwrap.dedent(match[1])
        language = "python" if re.match(r"(from \w|import \w)", code) else ""
        found.append(Block(page, line, language, "", code))
    return sorted(found, key=lambda block: block.line)


def spans(page: str) -> list[str]:
    """What stands between single backticks in running text, a line end read as a blank."""
    text = _FENCE.sub("", read(page).partition("\n## Every message\n")[0])  # that list is made from the code
    return [" ".join(match.split()) for match in _SPAN.findall(text)]


def commands(page: str, *programs: str) -> Iterator[tuple[str, str]]:
    """(where, command) for each command of one of the programs that a page has in a block or in running text."""
    begins = re.compile(rf"(?:\w+=\S+ )*(?:nohup |\.venv/bin/)?((?:{'|'.join(programs)}) \S.*)")
    for block in blocks(page):
        if block.language in ("", "bash", "sh", "console"):
            lines = re.sub(r"\\\n *", "", block.code).splitlines()
            for number, line in enumerate(lines):
                if match := begins.fullmatch(re.sub(r"^\$ ", "", line.strip())):
                    yield f"{page}:{block.line + number}", _bare(match[1])
    for span in spans(page):
        if match := begins.fullmatch(span):
            yield page, _bare(match[1])


def _bare(command: str) -> str:
    """The command without what follows it on its line: a comment, a pipe, another command."""
    return re.split(r"\s+#\s|\s+(?:\||&&|&|>|2>)(?:\s|$)|;\s", command)[0].strip()
