"""Tables, figures and the page of a study, made from its results alone; nothing here starts a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prasanga.report.findings import headline_findings
from prasanga.report.page import render_page
from prasanga.report.tables import to_csv, to_latex, to_markdown, to_tidy_csv

if TYPE_CHECKING:
    from prasanga.report.figures.effect_by_length import plot_effect_by_length
    from prasanga.report.figures.panels import save_figure

__all__ = [
    "headline_findings",
    "plot_effect_by_length",
    "render_page",
    "save_figure",
    "to_csv",
    "to_latex",
    "to_markdown",
    "to_tidy_csv",
]


def __getattr__(name: str) -> Any:
    # Whoever wants a table does not wait for matplotlib.
    if name == "plot_effect_by_length":
        from prasanga.report.figures.effect_by_length import plot_effect_by_length

        return plot_effect_by_length
    if name == "save_figure":
        from prasanga.report.figures.panels import save_figure

        return save_figure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
