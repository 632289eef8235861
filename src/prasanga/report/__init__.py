"""Tables, figures and the page of a study, made from its results alone; nothing here starts a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prasanga.report.ceat_table import to_csv, to_latex, to_markdown
    from prasanga.report.figures.effects import plot_effect_by_length
    from prasanga.report.figures.saving import save_figure
    from prasanga.report.findings import headline_findings
    from prasanga.report.page import render_page

__all__ = [
    "headline_findings",
    "plot_effect_by_length",
    "render_page",
    "save_figure",
    "to_csv",
    "to_latex",
    "to_markdown",
]


def __getattr__(name: str) -> Any:
    # Whoever wants a table does not wait for matplotlib, and whoever wants a figure not for the page.
    found: Any
    if name == "headline_findings":
        from prasanga.report import findings as found
    elif name == "plot_effect_by_length":
        from prasanga.report.figures import effects as found
    elif name == "render_page":
        from prasanga.report import page as found
    elif name == "save_figure":
        from prasanga.report.figures import saving as found
    elif name in ("to_csv", "to_latex", "to_markdown"):
        from prasanga.report import ceat_table as found
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(found, name)
