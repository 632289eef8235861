"""The words that come with the project, each language loaded once per process."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from prasanga.lexicon import Lexicon, load_lexicon

RESOURCES = Path(__file__).parents[2] / "resources"


@cache
def lexicon_of(language: str) -> Lexicon:
    """The lexicon of bn, hi or en."""
    return load_lexicon(RESOURCES / "stimuli" / language, RESOURCES / f"suffix_groups/{language}.yaml")
