"""Figures as files: SVG, PDF and PNG at both widths, whole or not at all, the same bytes from the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, get_args

from matplotlib.figure import Figure
from matplotlib.patheffects import Normal
from matplotlib.style import context as style_context
from matplotlib.text import Text

from prasanga.errors import InputError
from prasanga.parquet import replacing
from prasanga.report.figures.panels import STYLE, Width

COLUMN = "column"
"""Figures in a folder of this name are as wide as one column of a two-column page, all others as the page."""

_COMPRESSION = 3
"""Of PNG, 0 to 9: quicker than the usual 6, for files that are a little larger."""


def save_widths(plot: Callable[[Width], Figure], paths: Iterable[str | Path], *, made_from: str = "") -> None:
    """Write a figure to each path: at column width in a folder `column`, at page width in any other.

    Args:
        plot: draws the figure at a width; called once for each width that the paths ask for.
        paths: files that end with .svg, .pdf or .png.
        made_from: as for `save_figure`.

    Raises:
        InputError: another ending, or what `plot` raises.
    """
    files = [Path(path) for path in paths]
    for width in get_args(Width):
        of_width = [path for path in files if (path.parent.name == COLUMN) == (width == "column")]
        if of_width:
            figure = plot(width)
            for path in of_width:
                save_figure(figure, path, made_from=made_from)


def save_each(
    plots: Mapping[str, Callable[[Width], Figure]], paths: Iterable[str | Path], *, made_from: str = ""
) -> None:
    """Write several figures, each to the paths that are called as it is, and as wide as `save_widths` says.

    Args:
        plots: by the name of the files without ending, what draws the figure at a width.
        paths: files that end with .svg, .pdf or .png.
        made_from: as for `save_figure`.

    Raises:
        InputError: a path that no figure is called as, another ending, or what a plot raises.
    """
    of_figure: dict[str, list[Path]] = {}
    for path in map(Path, paths):
        if path.stem not in plots:
            raise InputError(f"{path}: no figure is called {path.stem!r}. Write one of: {', '.join(plots) or 'none'}.")
        of_figure.setdefault(path.stem, []).append(path)
    for name, its_paths in of_figure.items():
        save_widths(plots[name], its_paths, made_from=made_from)


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


@contextmanager
def _as_paths(figure: Figure) -> Iterator[None]:
    """Draw text as paths in PDF, as it is in SVG: fonts need not be cut, and a figure looks the same in all formats.

    With its font embedded, matplotlib 3.11 misplaces what follows a joiner (বাঙ্‌লা), and takes half a second to cut it.
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
