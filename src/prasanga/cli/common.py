"""What commands share: the program, its options, tables, and how a command ends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

# Each command imports what else it needs, so that help is quick.

PAGE = Path("results/report/index.html")
STORE = "PRASANGA_STORE"
FAILED, UNUSABLE, INTERRUPTED = 1, 2, 130
_EXIT = "0 done; 1 a job failed or results are wrong; 2 the command or the study cannot be used; 130 stopped by Ctrl-C."

app = typer.Typer(
    name="prasanga",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure social bias in language models for Bangla, Hindi and English. A study is a folder with a study.yaml.",
    epilog=f"Exit status: {_EXIT}",
)


def _require_cores(said: str) -> str:
    if said != "all" and not (said.isdecimal() and int(said)):
        raise typer.BadParameter(f"{said!r}. Write a number such as 4, or all.")
    return said


StudyFile = Annotated[
    Path | None,
    typer.Argument(metavar="[STUDY]", help="A folder with study.yaml, or a file; the present folder if left out."),
]
Folder = Annotated[Path | None, typer.Option("--directory", "-d", help="The folder of the study.")]
Cores = Annotated[str, typer.Option(help="Cores of this machine: a number, or all.", callback=_require_cores)]
Gpus = Annotated[int | None, typer.Option(help="Graphics cards to use; all that are found if left out.")]
Profile = Annotated[str | None, typer.Option(help="Where jobs run: slurm, workstation, ..., or a folder.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show everything that Snakemake prints.")]
Store = Annotated[
    Path | None,
    typer.Option(
        envvar=STORE,
        help="A folder of vectors and scores that studies share; .prasanga-store beside the study if left out.",
    ),
]


@app.callback()
def _begin() -> None:
    if named := os.environ.get(STORE):  # relative to where the command was typed; Snakemake works in another folder
        os.environ[STORE] = str(Path(named).absolute())


def use_store(store: Path | None, study: Path) -> None:
    """Have Snakemake keep vectors and scores in a named store, or in the one beside the study."""
    from prasanga.base.places import store_beside

    if kept := store or store_beside(study):
        os.environ[STORE] = str(kept.absolute())


def write_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as wide as the terminal, or with tabs where there is no terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from prasanga.base.errors import printable

    console = Console(highlight=False)
    if not console.is_terminal:
        for row in [header, *rows]:
            typer.echo("\t".join(printable(cell).replace("\t", " ") for cell in row))
        return
    table = Table(*header, box=None, padding=(0, 2, 0, 0), header_style="bold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # brackets in names are no markup
    console.print(table)


def stop(text: str) -> NoReturn:
    """End the command, which cannot be done, with a sentence."""
    typer.echo(text, err=True)
    raise typer.Exit(UNUSABLE)


@contextmanager
def told() -> Iterator[None]:
    """End the command with a sentence on any error; the traceback of an unforeseen one goes to a file."""
    from prasanga.base.errors import InputError
    from prasanga.base.logs import said_of_failure

    try:
        yield
    except InputError as error:
        stop(str(error))
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        stop(said_of_failure(error, "logs/command.log"))
