"""Commands that need no study of their own: keys of the config, sets, stores, several studies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prasanga.cli.common import Folder, app, size, stop, told, write_table

if TYPE_CHECKING:
    from prasanga.base.places import Kept


@app.command()
def config(key: Annotated[str | None, typer.Argument(help="Such as samples.lengths; all if left out.")] = None) -> None:
    """Look up a key of the config: what it means, its values, its default."""
    from prasanga.config import describe_key

    with told():
        typer.echo(describe_key(key))


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
    if not rows:
        languages = ", ".join(sorted({row[2] for row in found} - {""}))
        stop(f"--language: nothing is there in {language!r}. Languages: {languages}.")
    write_table(["what", "path", "language", "size", "source and licence"], rows)


@app.command()
def compare(
    studies: Annotated[
        list[Path], typer.Argument(metavar="STUDY...", help="Folders of studies, or summary.json files.")
    ],
    directory: Annotated[Path, typer.Option("--directory", "-d", help="Where to.")] = Path("comparison"),
) -> None:
    """Put studies beside each other, also ones that others sent: a page, a CSV, ranks with their intervals."""
    from prasanga.base.errors import printable
    from prasanga.base.parquet import write_text
    from prasanga.extras import studies as report

    with told():
        read = report.read_studies(studies)
        found = report.compared(read)
        files = {directory / "index.html": report.render_comparison(read, found)}
        files[directory / "comparison.csv"] = report.comparison_to_csv(found)
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
    for sentence in report.what_differs(read, found):
        typer.echo(printable(sentence), err=True)
    for path in files:
        typer.echo(printable(str(path)))


# ---- the store


_store = typer.Typer(help="List or delete what studies keep of vectors and scores.", no_args_is_help=True)
app.add_typer(_store, name="store")
StoreFolder = Annotated[
    Path | None,
    typer.Option(
        "--directory", "-d", envvar="PRASANGA_STORE", help="A study or a store; the present folder's if left out."
    ),
]


@_store.command(name="list")
def list_(directory: StoreFolder = None) -> None:
    """List what is kept: of which model, how it was made, when something was added."""
    from prasanga.base.places import list_store, parts_of

    folder = (directory or Path()).absolute()
    with told():
        kept, parts = list_store(folder), parts_of(folder)
    for what, place in parts.items():
        typer.echo(f"{what}: {place}", err=True)
    _show_kept(kept)


@_store.command()
def prune(
    directory: StoreFolder = None,
    days: Annotated[float, typer.Option(min=0, help="Nothing was added for so many days.")] = 90,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
) -> None:
    """Delete vectors to which nothing was added lately. Results stay; what a study asks for again is computed again."""
    from prasanga.base.places import list_store, prune

    with told():
        unused = [kept for kept in list_store((directory or Path()).absolute()) if kept.is_unused(days)]
    if not unused:
        typer.echo("Nothing to delete: something was added to all of it lately.")
        return
    _show_kept(unused)
    if yes or typer.confirm("Delete these?"):
        with told():
            typer.echo(f"{size(prune(unused))} are free again.")


def _show_kept(kept: Sequence[Kept]) -> None:
    rows = []
    for each in kept:
        changed = f"{datetime.fromtimestamp(each.changed):%Y-%m-%d}"
        about = [each.what, each.model or "not stated", each.details, size(each.n_bytes)]
        rows.append([*about, changed, each.folder.name[:8]])
    write_table(["what", "model", "made with", "size", "added to", "folder"], rows)


# ---- what is there


def _resources(root: Path, whose: str) -> Iterator[list[str]]:
    """Yield a row for everything under `resources/` that a config can name."""
    for pattern, (what, size_of) in _KINDS.items():
        for path in sorted(root.glob(f"resources/{pattern}")):
            place = path.parent if path.name == "categories.yaml" else path
            language = next((part for part in (place.stem, place.parent.name) if part in _LANGUAGES), "")
            yield [what, place.relative_to(root).as_posix(), language, size_of(path), whose]


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

    with told():
        found = load_yaml(path, path.read_text(encoding="utf-8"))
    return found if isinstance(found, Mapping) else {}
