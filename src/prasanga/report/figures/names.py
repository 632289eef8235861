"""Names of the files of figures of which there are several; the rules ask for them before anything is drawn."""

from __future__ import annotations

import re


def words_figure(category: str) -> str:
    """The file of a category's words, without ending: what a file name should not hold becomes _."""
    return f"words_{_safe(category)}"


def hexbins_figure(model: str) -> str:
    """The same of a model's traits."""
    return f"hexbins_{_safe(model)}"


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)
