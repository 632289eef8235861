"""Commands that write the study.yaml of a new study: `init`, and `measure`, which runs it."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from prasanga.base.errors import InputError
from prasanga.cli.running import Cores, Gpus, Store, Verbose, app, stop, told, use_store, work

_METHODS = ("ceat", "seat", "log-probability", "pairs")
_CATEGORIES = [f"C{number}" for number in range(1, 10)]


@app.command()
def init(
    directory: Annotated[Path, typer.Option("--directory", "-d", help="The folder of the new study.")] = Path(),
    language: Annotated[str | None, typer.Option(help="bn, hi or en.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="A folder, or a name on the hub; several times.")] = None,
    corpus: Annotated[str | None, typer.Option(help="A file, a folder or a pattern of texts.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a study.yaml that is there.")] = False,
) -> None:
    """Write a study.yaml with what differs from the defaults; asks for anything you leave out."""
    target = directory / "study.yaml"
    if target.exists() and not force:
        stop(f"{target}: there is one already. Edit it, name another folder (--directory), or write over it: --force.")
    if sys.stdin.isatty():
        language = language or typer.prompt("Language of texts and words (bn, hi, en)", default="bn")
        model = model or [typer.prompt("Model: a folder, or a name on the Hugging Face hub (may be empty)", default="")]
        corpus = corpus or typer.prompt("Texts: a file, a folder or a pattern (may be empty)", default="")
    models = [each for each in model or [] if each]
    with told():
        for each in models:
            require_model(each if Path(each).exists() or not (directory / each).is_dir() else str(directory / each))
        paths = [_find_from(directory, each) for each in models]
        text = render_study(directory.resolve().name, language or "bn", paths, corpus and _find_from(directory, corpus))
        _write_study(target, text)
    if corpus and not (_exists(corpus) or _exists(corpus, directory)):
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
        measured = _choose_methods(methods, language, corpus, pairs, limit)
        require_model(model)
        folder = (directory or Path(f"{_name_path(model)}-{language}")).absolute()
        path = str(Path(model).absolute()) if Path(model).is_dir() else model
        text = render_study(folder.name, language, [path], corpus and str(Path(corpus).absolute()), measured)
        target = folder / "study.yaml"
        if not target.exists():
            _write_study(target, text)
        elif read_config(target) != load_yaml(target, text):
            stop(f"{target}: another study is there. Edit it and run it, or name another folder: --directory.")
        use_store(store, folder)
    typer.echo(f"{target} is written: edit it to measure more, and type `prasanga run {folder.name}`.", err=True)
    raise typer.Exit(work(folder, verbose=verbose, cores=cores, gpus=gpus))


def require_model(model: str) -> None:
    """Look for a model in packages, folders and on the hub, before anything is written for it.

    Raises:
        InputError: it is nowhere.
    """
    from difflib import get_close_matches

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
    open_source(model)


def render_study(
    name: str, language: str, models: Sequence[str], corpus: str | None, measured: dict[str, Any] | None = None
) -> str:
    """Return the file of a new study: comments, and what differs from the defaults.

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


def _choose_methods(
    methods: str, language: str, corpus: str | None, pairs: str | None, limit: int | None
) -> dict[str, Any]:
    """Return the keys of a config that measures these methods.

    Raises:
        InputError: an unknown method, or one without its texts or pairs; missing texts.
    """
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
    if corpus and not _exists(corpus):
        raise InputError(f"--corpus: no file or folder fits {corpus!r}. Name one, or a pattern such as 'texts/*.txt'.")
    measured: dict[str, Any] = {} if "ceat" in names else {"categories": []}
    if limit is not None and "ceat" in names:
        measured["samples"] = {"contexts_per_stimulus": limit}
    measured |= {name: {"categories": _CATEGORIES} for name in ("seat", "log_probability") if name in names}
    if pairs:
        measured["pairs"] = {"sets": {_name_path(Path(pairs).stem): _find_pairs(pairs, language)}}
    return measured


def _find_pairs(pairs: str, language: str) -> dict[str, Any]:
    """Return the entry of a config for a file of pairs, or for a shipped set by its name."""
    from prasanga.base.places import installation

    if Path(pairs).is_file():
        return {"path": str(Path(pairs).absolute())}
    shipped = {path.stem: path for path in installation().glob("resources/pairs/*.csv")}
    shipped["demo"] = installation() / "resources/demo/pairs.csv"
    if pairs not in shipped:
        raise InputError(f"--pairs: no file {pairs}, and no shipped set of that name; shipped: {', '.join(shipped)}.")
    return {"path": shipped[pairs].relative_to(installation()).as_posix(), "languages": [language]}


def _name_path(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", path.rstrip("/").rpartition("/")[2]).strip("-.") or "model"


def _find_from(folder: Path, path: str) -> str:
    """Return a path or pattern as a study's folder reaches it: an absolute one if only this folder has it."""
    return str(Path(path).absolute()) if _exists(path) and not _exists(path, folder) else path


def _exists(pattern: str, folder: Path | None = None) -> bool:
    """Return whether a path or pattern fits a file or folder, from a folder or from here."""
    from glob import iglob

    return next(iglob(pattern, root_dir=folder, recursive=True), None) is not None  # noqa: PTH207 - absolute ones too


def _split_pattern(path: str) -> tuple[str, str]:
    """Return the folder of all files of an absolute path or pattern, and the rest: results name texts from there on."""
    parts = Path(path).parts
    n_fixed = next((n for n, part in enumerate(parts) if set(part) & set("*?[")), max(1, len(parts) - 1))
    return str(Path(*parts[:n_fixed])), str(Path(*parts[n_fixed:]))


def _write_study(target: Path, text: str) -> None:
    """Write the file of a study if it can be used."""
    from tempfile import TemporaryDirectory

    from prasanga.base.parquet import write_text
    from prasanga.config import read_study

    with TemporaryDirectory() as place:
        new = Path(place, target.name)
        new.write_text(text, encoding="utf-8")
        read_study(new)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, text)
