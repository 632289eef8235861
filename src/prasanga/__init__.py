"""Social bias in language models for Bangla, Hindi and English, and how its measurement depends on context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from prasanga.notebook import measure, measure_pairs, study

__all__ = ["measure", "measure_pairs", "study"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Whoever imports a part of the package waits for no other.
    from prasanga import notebook

    return getattr(notebook, name)
