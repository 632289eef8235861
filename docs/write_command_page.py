"""Write docs/command.md from the command; a test compares them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from prasanga.cli import app

ROOT = Path(__file__).resolve().parents[1]

COMMAND_HEAD = """# The command

`prasanga COMMAND --help` says the same on a terminal, and `prasanga --version` shows the version.
[Run a study](running.md) shows how the commands work together.

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
            yield f"{level} `{program} {name}`\n\n{_help(command)}\n"
            yield from _commands(command, f"{program} {name}", f"{level}#")
        elif isinstance(command, TyperCommand) and not command.hidden:
            arguments = [_argument(each) for each in command.params if isinstance(each, TyperArgument)]
            yield f"{level} `{' '.join([program, name, *arguments])}`\n\n{_help(command)}\n"
            rows = [_row(each) for each in command.params if not each.hidden]
            yield from ("| | | default |", "| --- | --- | --- |", *rows, "") if rows else ()


def _help(command: TyperCommand | TyperGroup) -> str:
    said, _, examples = (command.help or "").partition("\n\nExamples:\n")
    block = "\n".join(f"    {line.strip()}" for line in examples.strip().splitlines())
    return f"{_line(said)}\n\n{block}" if block else _line(said)


def _argument(argument: TyperArgument) -> str:
    name = f"{argument.metavar}{'...' if argument.nargs != 1 else ''}"
    return name if argument.required else f"[{name}]"


def _row(parameter: TyperArgument | TyperOption) -> str:
    names = ", ".join(f"`{each}`" for each in parameter.opts)
    if isinstance(parameter, TyperArgument):
        names = f"`{_argument(parameter)}`"
    default = f"`{parameter.default}`" if isinstance(parameter.default, str) and parameter.default else ""
    return f"| {names} | {_line(parameter.help)} | {default} |"


def _line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    (ROOT / "docs/command.md").write_text(command_page(), encoding="utf-8")
