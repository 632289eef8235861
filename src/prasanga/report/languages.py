"""Languages as a reader sees them."""

from __future__ import annotations

LANGUAGES = {"en": "English", "hi": "Hindi", "bn": "Bangla"}
"""Names by code, in the order of Table 2 of Sahoo et al. (2024)."""


def name_of_language(language: str) -> str:
    """English for en; what is not known stays as it is."""
    return LANGUAGES.get(language, language)
