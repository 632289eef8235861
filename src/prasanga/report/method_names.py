"""How methods are called: one list for page, cards, summary and the end of a run."""

from __future__ import annotations

LABELS = {"seat": "SEAT", "weat": "WEAT", "log_probability": "Log-probability bias"}
"""How a method besides CEAT is called in a sentence, a caption or a menu, by the name of its table."""

METHODS = {"ceat": "CEAT", **LABELS}
"""The same of all methods whose estimates are of words, in their order."""
