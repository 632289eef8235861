"""Tables, figures and the page of a study, made from its results alone; nothing here starts a model."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from prasanga.base import offered

if TYPE_CHECKING:
    from prasanga.report.figures.canvas import save_figure
    from prasanga.report.figures.effects import plot_effect_by_length
    from prasanga.report.findings import headline_findings
    from prasanga.report.page import render_page
    from prasanga.report.paper_tables import render_ceat, render_layout

ASSETS = files(__name__) / "templates"
"""Templates, labels, wordings, styles, scripts and fonts of the page and the tables.

`vendor/vendor.json` has package, version, license and checksum of each file of others. They are the files of the npm
packages, unchanged; since matplotlib reads no WOFF2, each font is there unpacked as well.
"""


def __getattr__(name: str) -> Any:
    return offered(__name__, name)
