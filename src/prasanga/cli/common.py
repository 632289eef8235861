"""What commands share: the program, options, tables, a run on the terminal, a plan with its costs, how they end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

# All else is imported by the command that needs it: help is there in a moment.
if TYPE_CHECKING:
    from prasanga.running import Event, Run

PAGE = Path("results/report/index.html")
_ENDED = 10
_STORE = "PRASANGA_STORE"
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

StudyFile = Annotated[
    Path | None,
    typer.Argument(metavar="[STUDY]", help="A folder with study.yaml, or a file; the present folder if left out."),
]
Folder = Annotated[Path | None, typer.Option("--directory", "-d", help="The folder of the study.")]


def _cores(said: str) -> str:
    if said != "all" and not (said.isdecimal() and int(said)):
        raise typer.BadParameter(f"{said!r}. Write a number such as 4, or all.")
    return said


Cores = Annotated[str, typer.Option(help="Cores of this machine: a number, or all.", callback=_cores)]
Gpus = Annotated[int | None, typer.Option(help="Graphics cards to use; all that are found if left out.")]
Profile = Annotated[str | None, typer.Option(help="Where jobs run: slurm, workstation, ..., or a folder.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show all that Snakemake says.")]
Store = Annotated[
    Path | None,
    typer.Option(
        envvar=_STORE,
        help="A folder of vectors and scores that studies share; .prasanga-store beside the study if left out.",
    ),
]


@app.callback()
def _begin() -> None:
    # Relative to where the command was typed: what it starts works in the study's folder.
    if named := os.environ.get(_STORE):
        os.environ[_STORE] = str(Path(named).absolute())


def keep_in(store: Path | None, study: Path) -> None:
    """Have what is started keep vectors and scores in a store: one that is named, or that beside the study."""
    from prasanga.base.places import store_beside

    if kept := store or store_beside(study):
        os.environ[_STORE] = str(kept.absolute())


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: as wide as the terminal, or with tabs where there is none."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from prasanga.base.errors import printable

    console = Console(highlight=False)
    if not console.is_terminal:
        for row in [header, *rows]:
            typer.echo("\t".join(printable(cell).replace("\t", " ") for cell in row))
        return
    shown = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in header:
        shown.add_column(name, justify="right" if name in ("jobs", "size") else "left")
    for row in rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))  # what stands in brackets is no markup
    console.print(shown)


def size(n_bytes: float) -> str:
    """Return a number of bytes as a person reads it."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.1f} MB"


def stop(text: str) -> NoReturn:
    """End the command, which cannot be done, with a sentence."""
    typer.echo(text, err=True)
    raise typer.Exit(UNUSABLE)


@contextmanager
def told() -> Iterator[None]:
    """Say what is wrong in a sentence; of what nobody foresaw, a traceback is kept in a file."""
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


# --------------------
# A run on the terminal: its live view, how it ends, and the plan as a table with what it costs.


def work(folder: Path, targets: Sequence[str] = (), *, verbose: bool = False, **asked: Any) -> None:
    """Run the workflow and end the command if that does not end well."""
    import subprocess

    from prasanga.running import command, only_run

    unlocking = "--unlock" in asked.get("others", ())
    with told():
        line = command(folder, targets, **asked)
        if unlocking or verbose:
            status = subprocess.run(line, check=False).returncode
        else:
            with only_run(folder) as held:
                status = _watched(folder, line, held)
    if status:
        raise typer.Exit(INTERRUPTED if status in (-signal.SIGINT, INTERRUPTED) else status)


def _watched(folder: Path, line: Sequence[str], held: int) -> int:
    """Run Snakemake, show how far it is, and at the end what came out; returns the status of the command."""
    from rich.console import Console

    from prasanga.running import Run, follow, stages_of_rules

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    state = Run(folder, stages_of_rules())
    with _view(console, state) as (show, look):
        status = follow(line, state, show=show, look=look, held=[held])
    done = f"{state.done} of {state.total} jobs are done" if state.total else "no job was done"
    if status == -signal.SIGINT:
        console.print(f"Stopped: {done}. They are kept; the same command goes on from there.")
    elif status and state.began:
        mend = "mend what failed, and the same command goes on from there"
        console.print(f"Not finished: {done}. They are kept; {mend}.")
        return FAILED
    elif status:
        return UNUSABLE
    elif state.is_empty:
        console.print("Nothing to do: all results are what the study asks for.")
    if not status and (summary := folder / "results/summary.json").is_file():
        from prasanga.report.summary import print_last_words

        print_last_words(summary, folder / PAGE)
    return status


@contextmanager
def _view(console: Any, state: Run) -> Iterator[tuple[Callable[[str], object], Callable[[], object]]]:
    """Yield what shows a sentence, and what is called after each event: a live table, or lines where nobody looks."""
    import time

    if console.is_terminal:
        from rich.live import Live

        with Live(
            console=console, refresh_per_second=4, transient=True, get_renderable=lambda: _progress(state)
        ) as live:
            yield (lambda text: live.console.print(text, markup=False)), (lambda: None)
        return
    last = [time.monotonic()]

    def look() -> None:
        if time.monotonic() - last[0] >= _ENDED and state.began:
            last[0] = time.monotonic()
            console.print(f"{time.strftime('%H:%M:%S')} {state.line()}", markup=False)

    yield (lambda text: console.print(text, markup=False)), look


def _progress(state: Run) -> Any:
    """Return the live view: a line for each stage, and how far the whole is."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    stages = Table.grid(padding=(0, 2))
    for name, stage in state.stages.items():
        running = f"{stage.running} running" if stage.running else ""
        bar = ProgressBar(total=max(stage.total, 1), completed=stage.done, width=30)
        stages.add_row(name, bar, f"{stage.done}/{stage.total}", running)
    return Group(stages, state.line() if state.total else "planning ...")


def planned(folder: Path, targets: Sequence[str] = (), **asked: Any) -> tuple[Run, list[str]]:
    """Return what a run would do, and the warnings of the plan; ends the command if it cannot be planned."""
    from prasanga.running import Run, command, follow, stages_of_rules

    said: list[str] = []
    with told():
        state = Run(folder, stages_of_rules())
        status = follow(command(folder, targets, dry_run=True, **asked), state, show=said.append)
    if status:
        typer.echo("\n".join(said), err=True)
        raise typer.Exit(INTERRUPTED if status == -signal.SIGINT else UNUSABLE)
    return state, [text for text in said if text not in state.failures]


def show_plan(folder: Path, **asked: Any) -> None:
    """Show what a run would do: the jobs of each stage with their reasons, and what models and twins cost."""
    state, warnings = planned(folder, **asked)
    for text in warnings:
        typer.echo(text, err=True)
    stages = {name: stage for name, stage in state.stages.items() if stage.total}
    if not stages:
        typer.echo("Nothing to do: all results are what the study asks for.")
        return
    rows = []
    for name, stage in stages.items():
        counted = [f"{text} ({count})" for text, count in stage.reasons.most_common()]
        reasons = counted if len(counted) > 1 else list(stage.reasons)
        rows.append([name, str(stage.total), "; ".join(reasons)])
    table(["stage", "jobs", "why"], rows)
    typer.echo(f"{sum(stage.total for stage in stages.values())} jobs in all.")
    if "samples" in stages and any("checkpoint" in note for note in state.notes):
        typer.echo("What is embedded depends on what is drawn: of embeddings and what follows, more or fewer may run.")
    if state.costs and {"embeddings", "likelihoods"} & stages.keys():
        _show_costs(state.costs)


def _show_costs(said: Event) -> None:
    """Say how many texts each model gets at most, how long that takes, and what of it twins add."""
    cores = os.cpu_count() or 1

    def time(seconds: float | None) -> str:
        if seconds is None:
            return "not known yet"
        minutes = seconds / cores / 60
        return "< 1 min" if minutes < 1 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.0f} h"

    rows = []
    for cost in said["costs"]:
        counts = [f"{cost['texts']:,}", f"{cost['pairs']:,}", str(cost["n_twins"])]
        vectors = "not known yet" if cost["n_bytes"] is None else size(cost["n_bytes"])
        rows.append([cost["model"], *counts, time(cost["core_seconds"]), time(cost["seconds_of_twins"]), vectors])
    typer.echo()
    table(["model", "texts", "pairs", "twins", f"time on {cores} cores", "of it twins", "vectors"], rows)
    machine = said["machine"].partition(",")[0]
    typer.echo(f"At most, from nothing, without a card, as fast as {machine} (docs/performance.md).")
