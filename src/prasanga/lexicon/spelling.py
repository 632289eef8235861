"""One spelling for one word: word lists are normalized as the corpus of their language is.

A word that the list writes with a nukta and the corpus without (ज़िंदगी, जिंदगी) would never be found. So the forms of a
lexicon are in the same normalization as the text that they are looked for in, and that depends on the language.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prasanga.base.yaml import Entry, read_entry
from prasanga.text import normalizer

#: What a corpus of the language goes through unless the config says otherwise (`normalization` there).
DEFAULT_NORMALIZATIONS = {"bn": "bangla", "hi": "nukta", "en": "nfkc"}
_OF_OTHER_LANGUAGES = "nfkc"


def spelling_of(language: str, normalization: str | None = None) -> Callable[[str], str]:
    """Return the function that gives a text of word lists the spelling that it has in the corpus.

    Args:
        language: bn, hi, en; another language's texts are brought into NFKC.
        normalization: the name of another normalization than the language's own (`prasanga.text.normalizer`).

    Raises:
        InputError: for an unknown normalization.
    """
    name = normalization or DEFAULT_NORMALIZATIONS.get(language, _OF_OTHER_LANGUAGES)
    return normalizer(name).one


def read_yaml(path: Path, language: str | None = None, normalization: str | None = None) -> Entry:
    """Read a YAML file of words, texts spelled as in the corpus.

    Args:
        path: the file, which holds one mapping.
        language: of its words; by default what the file says under `language`.
        normalization: the corpus's, if not the language's own.

    Raises:
        InputError: an unknown normalization; as `read_entry`.
    """
    return read_entry(path, lambda entry: spelling_of(language or str(entry.get("language", "")), normalization))
