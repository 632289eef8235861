"""Figures as files: SVG, PDF and PNG at both widths, whole or not at all, the same bytes from the same results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import polars as pl
from matplotlib.figure import Figure
from matplotlib.patheffects import Normal
from matplotlib.style import context as style_context
from matplotlib.text import Text

from prasanga.base.documents import read_document
from prasanga.base.errors import InputError
from prasanga.base.parquet import read_frame, replacing
from prasanga.report.figures.canvas import STYLE, TOLD, Width
from prasanga.report.figures.registry import COLUMN

_COMPRESSION = 3
"""Of PNG, 0 to 9: quicker than the usual 6, for files that are a little larger."""


def draw_figure(
    plot: str,
    tables: Iterable[str | Path],
    options: Mapping[str, Any],
    paths: Iterable[str | Path],
    *,
    made_from: str = "",
) -> None:
    """Draw one figure of the registry to each path, as wide as `save_widths` says.

    Args:
        plot: the function that draws it, as `module.function` of this package.
        tables: files of its tables, in the order of its arguments.
        options: its other arguments, by name.
        paths: as for `save_widths`.
        made_from: as for `save_figure`.

    Raises:
        InputError: another ending, or what the function raises.
    """
    module, _, function = plot.rpartition(".")
    drawn = getattr(import_module(f"{__package__}.{module}"), function)
    save_widths(partial(drawn, *map(_read, tables), **options), paths, made_from=made_from)


def save_widths(plot: Callable[..., Figure], paths: Iterable[str | Path], *, made_from: str = "") -> None:
    """Write a figure to each path: at column width in a folder `column`, at page width in any other.

    Args:
        plot: draws the figure at a `width`; called once for each width that the paths ask for.
        paths: files that end with .svg, .pdf or .png.
        made_from: as for `save_figure`.

    Raises:
        InputError: another ending, or what `plot` raises.
    """
    files = [Path(path) for path in paths]
    for width in get_args(Width):
        of_width = [path for path in files if (path.parent.name == COLUMN) == (width == "column")]
        if of_width:
            figure = plot(width=width)
            for path in of_width:
                save_figure(figure, path, made_from=made_from)


def save_figure(figure: Figure, path: str | Path, *, made_from: str = "") -> None:
    """Write a figure as SVG, PDF or PNG (300 dots an inch), by the ending of `path`, whole or not at all.

    `made_from` says what the figure was made from, and is kept in the file's metadata. No date goes in.

    Raises:
        InputError: another ending.
    """
    path = Path(path)
    metadata: dict[str, dict[str, str | None]] = {
        ".svg": {"Date": None, "Source": made_from or None},
        ".pdf": {"CreationDate": None, "Subject": made_from or None},
        ".png": {"Source": made_from} if made_from else {},
    }
    if path.suffix not in metadata:
        raise InputError(f"{path}: a figure cannot be saved as {path.suffix!r}. Write {', '.join(metadata)}.")
    is_png = path.suffix == ".png"
    more: dict[str, Any] = {"pil_kwargs": {"compress_level": _COMPRESSION}} if is_png else {}
    paths = _as_paths(figure) if path.suffix == ".pdf" else nullcontext()  # the others have no fonts in them
    with style_context(["default", STYLE]), replacing(path) as temporary, paths:
        figure.savefig(
            temporary,
            format=path.suffix[1:],
            dpi=300,
            facecolor="white" if is_png else "none",
            metadata=metadata[path.suffix],
            **more,
        )
        if path.suffix == ".svg":
            _tell(temporary)


def _tell(file: Path) -> None:
    """Turn links of an SVG file that begin with `TOLD` into what a reader is told who points at the mark."""
    text = file.read_text(encoding="utf-8")
    told = re.sub(
        rf'<a xlink:href="{TOLD}([^"]*)"[^>]*>(.*?)</a>', r"<g><title>\1</title>\2</g>", text, flags=re.DOTALL
    )
    file.write_text(told, encoding="utf-8")


def _read(path: str | Path) -> Any:
    """Return the content of a result: a table from Parquet or CSV, a mapping from JSON."""
    match Path(path).suffix:
        case ".json":
            return read_document(path)
        case ".csv":  # every column by all its rows: in one without a number at first a later one would be refused
            return pl.read_csv(path, infer_schema_length=None)
    return read_frame(path)


@contextmanager
def _as_paths(figure: Figure) -> Iterator[None]:
    """Draw text as paths in PDF, as it is in SVG: fonts need not be cut, and a figure looks the same in all formats.

    With its font embedded, matplotlib 3.11 misplaces what follows a joiner (বাঙ্‌লা), and takes half a second to cut
    it.
    """
    for axes in figure.axes:  # labels of ticks have their text once they are asked for
        axes.get_xticklabels()
        axes.get_yticklabels()
    texts = figure.findobj(Text)
    before = [text.get_path_effects() for text in texts]
    for text in texts:
        text.set_path_effects([Normal()])
    try:
        yield
    finally:
        for text, effects in zip(texts, before, strict=True):
            text.set_path_effects(effects)
