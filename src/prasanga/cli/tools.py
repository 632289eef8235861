"""Commands that need no study of their own: keys of the config, sets, stores, several studies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prasanga.cli.common import STORE, Folder, app, stop, told, write_table

if TYPE_CHECKING:
    from prasanga.base.places import Kept


@app.command()
def config(key: Annotated[str | None, typer.Argument(help="Such as samples.lengths; all if left out.")] = None) -> None:
    """Look up a key of the config: what it means, its values, its default."""
    from prasanga.config import describe_key

    with told():
        typer.echo(describe_key(key))


@app.command()
def compare(
    studies: Annotated[
        list[Path], typer.Argument(metavar="STUDY...", help="Folders of studies, or summary.json files.")
    ],
    directory: Annotated[Path, typer.Option("--directory", "-d", help="Where to.")] = Path("comparison"),
) -> None:
    """Compare studies, also ones that others sent: a page, a CSV, ranks with their intervals."""
    from prasanga.base.errors import printable
    from prasanga.base.parquet import write_text
    from prasanga.extras import studies as report

    with told():
        read = report.read_studies(studies)
        found = report.compared(read)
        directory.mkdir(parents=True, exist_ok=True)
        write_text(directory / "index.html", report.render_comparison(read, found))
        write_text(directory / "comparison.csv", report.comparison_to_csv(found))
    for sentence in report.what_differs(read, found):
        typer.echo(printable(sentence), err=True)
    for name in ("index.html", "comparison.csv"):
        typer.echo(printable(str(directory / name)))


# ---- the store


_store = typer.Typer(help="List or delete what studies keep of vectors and scores.", no_args_is_help=True)
app.add_typer(_store, name="store")
StoreFolder = Annotated[
    Path | None,
    typer.Option("--directory", "-d", envvar=STORE, help="A study or a store; the present folder's if left out."),
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
            typer.echo(f"{_format_size(prune(unused))} are free again.")


def _show_kept(kept: Sequence[Kept]) -> None:
    rows = []
    for each in kept:
        changed = f"{datetime.fromtimestamp(each.changed):%Y-%m-%d}"
        about = [each.what, each.model or "not stated", each.details, _format_size(each.n_bytes)]
        rows.append([*about, changed, each.folder.name[:8]])
    write_table(["what", "model", "made with", "size", "added to", "folder"], rows)


def _format_size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.1f} MB"


# ---- word sets, templates, traits and pairs


_LANGUAGES = ("bn", "hi", "en")
_KINDS = {
    "stimuli/*/categories.yaml": "word sets",
    "suffix_groups/*.yaml": "endings",
    "templates/*/*.yaml": "templates",
    "traits/*/*.yaml": "traits",
    "demo/pairs.csv": "pairs",
    "pairs/*.csv": "pairs",
    "published/*.csv": "published numbers",
}


@app.command()
def sets(
    language: Annotated[str | None, typer.Option(help="bn, hi or en; all if left out.")] = None,
    directory: Folder = None,
) -> None:
    """List the word sets, templates, traits and pairs that are there: shipped, and the study's own."""
    from prasanga.base.places import installation

    own = (directory or Path()).absolute()
    with told():
        found = list(_list_resources(installation(), "shipped, Apache-2.0"))
        if own.resolve() != installation().resolve():
            found += _list_resources(own, "the study's own")
    rows = [row for row in found if language in (None, row[2])]
    if not rows:
        languages = ", ".join(sorted({row[2] for row in found} - {""}))
        stop(f"--language: nothing is there in {language!r}. Languages: {languages}.")
    write_table(["what", "path", "language", "size", "source and licence"], rows)


def _list_resources(root: Path, whose: str) -> Iterator[list[str]]:
    """Yield a row for everything under `resources/` that a config can name."""
    for pattern, what in _KINDS.items():
        for path in sorted(root.glob(f"resources/{pattern}")):
            place = path.parent if path.name == "categories.yaml" else path
            language = next((part for part in (place.stem, place.parent.name) if part in _LANGUAGES), "")
            yield [what, place.relative_to(root).as_posix(), language, _describe_size(path), whose]


def _describe_size(path: Path) -> str:
    import csv

    from prasanga.base.yaml import load_yaml

    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return f"{sum(1 for _ in csv.reader(file)) - 1} rows"
    files = path.parent.glob("*.yaml") if path.name == "categories.yaml" else [path]
    contents = [dict(load_yaml(file, file.read_text(encoding="utf-8"))) for file in files]
    if path.name == "categories.yaml":
        words = [len(content["words"]) for content in contents if "words" in content]
        categories = sum(len(content.get("categories", ())) for content in contents)
        return f"{len(words)} sets of {sum(words)} words, {categories} categories"
    key = next(key for key in ("groups", "traits", "templates", "structures", "categories") if key in contents[0])
    entries = contents[0][key]
    lists = [each for each in (entries.values() if isinstance(entries, dict) else ()) if isinstance(each, list)]
    return f"{sum(map(len, lists)) or len(entries)} {key if key in ('groups', 'traits') else 'sentences'}"
