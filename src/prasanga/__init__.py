"""Social bias in language models for Bangla, Hindi and English, and how its measurement depends on context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from prasanga.notebook import measure, study

__all__ = ["measure", "study"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Whoever imports a part of the package waits for no other.
    from prasanga.notebook import measure, study

    return measure if name == "measure" else study
