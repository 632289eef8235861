"""Commands that need no study of their own: keys of the config, sets, several studies beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from prasanga.cli.common import Folder, app, table, told


@app.command()
def config(
    key: Annotated[str | None, typer.Argument(help="Such as samples.lengths; all if left out.")] = None,
) -> None:
    """Look up a key of the config: what it means, its values, its default."""
    from prasanga.base.config import read_schema, reference
    from prasanga.base.places import installation

    with told():
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
    table(["what", "path", "language", "size", "source and licence"], rows)


@app.command()
def compare(
    studies: Annotated[
        list[Path], typer.Argument(metavar="STUDY...", help="Folders of studies, or summary.json files.")
    ],
    directory: Annotated[Path, typer.Option("--directory", "-d", help="Where to.")] = Path("comparison"),
    lm_eval: Annotated[
        Path | None,
        typer.Option("--lm-eval", help="A folder for results files in the layout of lm-evaluation-harness as well."),
    ] = None,
) -> None:
    """Put studies beside each other, also ones that others sent: a page, a CSV, ranks with their intervals."""
    from prasanga.base.errors import printable
    from prasanga.base.parquet import write_text
    from prasanga.report.studies import (
        compared,
        comparison_to_csv,
        read_studies,
        render_comparison,
        to_lm_eval,
        what_differs,
    )

    with told():
        read = read_studies(studies)
        found = compared(read)
        files = {directory / "index.html": render_comparison(read, found)}
        files[directory / "comparison.csv"] = comparison_to_csv(found)
        if lm_eval is not None:
            files |= {lm_eval / name: text for name, text in to_lm_eval(read, found).items()}
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
    for sentence in what_differs(read, found):
        typer.echo(printable(sentence), err=True)
    for path in files:
        typer.echo(printable(str(path)))


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

    with told():
        found = load_yaml(path, path.read_text(encoding="utf-8"))
    return found if isinstance(found, Mapping) else {}
