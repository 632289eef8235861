"""Figures as files: which width goes where, and what is left of the fonts in a PDF."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from prasanga.base.errors import InputError
from prasanga.report.figures.canvas import WIDTHS, house_style, save_figure, save_widths

ENDINGS = (".svg", ".pdf", ".png")


def plot(width: Any, text: str = "effect size") -> Figure:
    with house_style(width):
        figure = Figure(figsize=(WIDTHS[width], 1))
        FigureCanvasAgg(figure)
        figure.text(0.1, 0.5, text)
    return figure


def test_each_width_is_drawn_once_and_goes_to_its_folder(tmp_path: Path) -> None:
    drawn = []

    def plot_and_count(width: Any) -> Figure:
        drawn.append(width)
        return plot(width)

    paths = [folder / f"a.b{ending}" for folder in (tmp_path, tmp_path / "column") for ending in ENDINGS]
    (tmp_path / "column").mkdir()
    save_widths(plot_and_count, paths, made_from="f00d")
    assert sorted(drawn) == ["column", "page"]
    assert all(path.stat().st_size for path in paths)
    assert [Image.open(path).width for path in paths if path.suffix == ".png"] == [2040, 990]
    assert all(b"f00d" in path.read_bytes() for path in paths)
    save_widths(plot_and_count, paths[:3])
    assert len(drawn) == 3


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be saved as '\.gif'"):
        save_widths(plot, [tmp_path / "one.gif"])


def test_a_pdf_needs_no_font(tmp_path: Path) -> None:
    save_figure(plot("column"), tmp_path / "a.pdf")
    assert not re.search(rb"/(BaseFont|FontFile)", (tmp_path / "a.pdf").read_bytes())


def test_other_scripts_are_paths_and_the_figure_is_as_before(tmp_path: Path) -> None:
    figure = plot("column", "ফুল")
    save_figure(figure, tmp_path / "a.pdf")
    assert b"/FontFile2" not in (tmp_path / "a.pdf").read_bytes()
    assert [text.get_path_effects() for text in figure.findobj(Text)] == [[]]
