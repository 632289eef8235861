"""Write docs/command.md from the command, and the list of docs/errors.md from the code; tests compare them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from prasanga.cli import app

ROOT = Path(__file__).resolve().parents[1]

COMMAND_HEAD = """# The command

`prasanga COMMAND --help` says the same on a terminal. [Run a study](running.md) shows how the commands work together.

| status | meaning |
| --- | --- |
| 0 | done, or nothing to do |
| 1 | a job failed, or `check` found results that are not what they should be |
| 2 | the command, the config or the folder cannot be used; no job was started |
| 130 | stopped by Ctrl-C |

This page is made from the command by `make docs`.
"""


def command_page() -> str:
    """Return the page on the command: for each of its commands what it does, and its arguments and options."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    return "\n".join([COMMAND_HEAD, *_commands(group, "prasanga", "##")])


def _commands(group: TyperGroup, program: str, level: str) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        if isinstance(command, TyperGroup):
            yield f"{level} `{program} {name}`\n\n{_line(command.help)}\n"
            yield from _commands(command, f"{program} {name}", f"{level}#")
        elif isinstance(command, TyperCommand) and not command.hidden:
            arguments = [_argument(each) for each in command.params if isinstance(each, TyperArgument)]
            yield f"{level} `{' '.join([program, name, *arguments])}`\n\n{_line(command.help)}\n"
            rows = [_row(each) for each in command.params if not each.hidden]
            yield from ("| | | default |", "| --- | --- | --- |", *rows, "") if rows else ()


def _argument(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name or "").strip("{}[]").upper()
    return name if argument.required else f"[{name}]"


def _row(parameter: TyperArgument | TyperOption) -> str:
    names = ", ".join(f"`{each}`" for each in parameter.opts)
    if isinstance(parameter, TyperArgument):
        names = f"`{_argument(parameter)}`"
    default = f"`{parameter.default}`" if isinstance(parameter.default, str) and parameter.default else ""
    return f"| {names} | {_line(parameter.help)} | {default} |"


def _line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


# ---- messages

LIST = "## Every message\n"
"""The heading from which on docs/errors.md is written by this program."""

LIST_HEAD = """
Each message of the program, by the part that says it, with what to do. Names, places and values stand in ‹brackets›;
search for a few words between them. The list is made from the code by `make docs`.
"""

ROOMS = {
    "base": "Config, files and results",
    "cli": "The command",
    "lexicon": "Words, endings and categories",
    "text": "Normalization",
    "sentences": "Corpora",
    "samples": "Samples and templates",
    "models": "Models and tokenizers",
    "embeddings": "Vectors",
    "static": "Static vectors",
    "associations": "Effect sizes and tests",
    "pairs": "Sentence pairs",
    "likelihoods": "Probabilities",
    "prasanga_construction": "Making pairs",
    "report": "Page, tables and figures",
    "plan": "Planning",
    "": "Elsewhere",
}

_BORDERS = (
    re.compile(r"(?<=[.?])(?:\s+(?=[A-Z`‹])|(?=‹[^›]+›$))"),
    re.compile(r"; |, but (?=it must |the file must |must |each |only )|: (?=name |write |give |say |leave |\d+ to )"),
)
_MEND = "Mend what the message names."


def errors_page(text: str) -> str:
    """Return docs/errors.md with its list of messages made anew."""
    lines = [text.partition(LIST)[0] + LIST + LIST_HEAD]
    for room, of_room in groupby(sorted(set(messages())), key=lambda each: each[0]):
        lines += [f"### {ROOMS[list(ROOMS)[room]]}\n", "| message | what to do |", "| --- | --- |"]
        lines += [f"| {_cell(cause)} | {_cell(remedy)} |" for _, cause, remedy in of_room]
        lines.append("")
    return "\n".join(lines)


def messages() -> Iterator[tuple[int, str, str]]:
    """Yield (room, cause, way out) of every `InputError` in the code."""
    for path in [*(ROOT / "src/prasanga").rglob("*.py"), *(ROOT / "construction").rglob("*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        room = next(n for n, name in enumerate(ROOMS) if name in path.relative_to(ROOT).parts or name == "")
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                known = {**_assigned(tree.body), **_assigned(list(ast.walk(function)))}
                for said in _said(function):
                    text = " ".join(_text(said, known).split())
                    if len(re.findall(r"[a-z]{2,}", re.sub("‹[^›]*›", "", text))) >= 3:
                        yield (room, *_parted(text))


def _said(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield what a function says of bad input: in an error, or as one of the mistakes that an error lists."""
    lists = re.search(r"mistake|problem|refus|wrong|unusable|conflict", function.name)
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and node.args and _name(node.func) == "InputError":
            yield node.args[0]
        elif lists and isinstance(node, ast.Yield | ast.Return) and isinstance(node.value, ast.JoinedStr):
            yield node.value
        elif lists and isinstance(node, ast.Call) and _name(node.func) == "append":
            yield from (each for each in node.args if isinstance(each, ast.JoinedStr))


def _assigned(statements: list[ast.stmt] | list[ast.AST]) -> dict[str, ast.expr]:
    """Return what names stand for where one assignment says it in text."""
    return {
        node.targets[0].id: node.value
        for node in statements
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.JoinedStr | ast.Constant)
    }


def _text(node: ast.expr, known: Mapping[str, ast.expr]) -> str:
    """Return a text of the code, with a name in brackets for what is filled in."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=parts):
            return "".join(_text(part, known) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left, known) + _text(right, known)
        case ast.Name(id=name) if name in known:
            return _text(known[name], {other: value for other, value in known.items() if other != name})
        case ast.FormattedValue(value=ast.Name(id=name) as value) if name in known:
            return _text(value, known)
        case ast.FormattedValue(value=value):
            return f"‹{_name(value)}›"
    return f"‹{_name(node)}›"


def _name(node: ast.AST) -> str:
    """Return a word for a value: its name, or that of what it is made of."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_").replace("_", " ") if name != "InputError" else name
        case ast.Subscript(value=value):
            return _name(value)
        case ast.Call(func=ast.Name(id="len")):
            return "number"
        case ast.Call(args=[first, *_]):
            return _name(first)
        case ast.Call(func=function):
            return _name(function)
        case ast.GeneratorExp() | ast.ListComp():
            return _name(node.generators[0].iter)
    return "..."


def _parted(text: str) -> tuple[str, str]:
    """Return what is wrong, and what to do about it."""
    for border in _BORDERS:
        if found := border.search(text):
            remedy = text[found.end() :]
            return text[: found.start()], remedy[:1].upper() + remedy[1:]
    return text, _MEND


def _cell(text: str) -> str:
    """Return text for a cell of a table: markup outside of code is shown as it is."""
    parts = text.replace("|", "\\|").split("`")
    if len(parts) % 2 == 0:
        return re.sub(r"([\\`*_<\[])", r"\\\1", text)
    return "`".join(part if n % 2 else re.sub(r"([*_<\[])", r"\\\1", part) for n, part in enumerate(parts))


if __name__ == "__main__":
    errors = ROOT / "docs/errors.md"
    errors.write_text(errors_page(errors.read_text(encoding="utf-8")), encoding="utf-8")
    (ROOT / "docs/command.md").write_text(command_page(), encoding="utf-8")
