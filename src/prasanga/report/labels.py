"""What the page itself says, in English, Bangla and Hindi. The code has the English; here stand the other two.

Results, names of models and what a study names are never translated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ENGLISH = "en"

LABELS: Mapping[str, Mapping[str, str]] = {}
"""Translations by the English text and by the code of the language."""


def language_of(config: Mapping[str, Any]) -> str:
    """Return the language of the labels on the page of a study."""
    return str(config.get("report", {}).get("language", ENGLISH))


def said(text: str, language: str, **values: object) -> str:
    """Return a label of the page in a language, with these values in it.

    Args:
        text: the label in English, the key of `LABELS`; what is not there is of a study, and stays as it is.
        language: en, bn or hi.
        values: what stands in braces in the label.
    """
    found = LABELS.get(text, {}).get(language, text)
    return found.format(**values) if values else found
