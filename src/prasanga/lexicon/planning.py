"""What a plan must know of a lexicon, without reading it every time.

Whoever starts the workflow wants to know that the word lists hold no mistake, and which jobs they change. To read and
inflect them takes a second or more; what a plan takes from them is a language, a digest and the categories. These are
kept in a small file and used as long as the word lists, byte by byte, and the code that reads them are the same. A
lexicon with a mistake is read, and refused, every time.
"""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.digests import digest_of, read_cache, sha256_of_file, write_cache
from prasanga.provenance.code import fingerprint_of, remembered

# What YAML means, and what normalization makes of a word (with Python's tables of Unicode).
_LIBRARIES = ("ftfy", "PyYAML", "regex")


class LexiconPlan(NamedTuple):
    """What jobs depend on.

    Attributes:
        language: bn, hi, en.
        forms: a digest of the table of surface forms (`prasanga.lexicon.forms_table`).
        categories: in the layout of `prasanga.lexicon.categories_of`.
        words: a digest of what templates take of the lexicon, the class and the readings of every stimulus.
        classes: of every stimulus its class of word and where it is written, file and line; both may be "".
        files: of every word set of a category its file, where it has one; by category, a set's name may return.
    """

    language: str
    forms: str
    categories: dict[str, Any]
    words: str
    classes: dict[str, list[str]]
    files: dict[str, dict[str, str]]


def plan_lexicon(
    stimuli: str | Path, suffix_groups: str | Path | None = None, *, normalization: str | None = None, cache: str | Path
) -> LexiconPlan:
    """What a plan must know of a lexicon; the lexicon itself is read only if it was not read like this before.

    Args:
        stimuli: as for `prasanga.lexicon.load_lexicon`.
        suffix_groups: likewise.
        normalization: likewise.
        cache: a folder for what is known, made if need be; where it cannot be written, nothing is kept.

    Raises:
        InputError: as `prasanga.lexicon.load_lexicon` does.
    """
    stimuli, groups = Path(stimuli), None if suffix_groups is None else Path(suffix_groups)
    names = [str(stimuli), None if groups is None else str(groups)]
    path = Path(cache, f"lexicon-{digest_of(names)}.json")
    with remembered(Path(cache, "code.json")):
        code = fingerprint_of(_read).fingerprint
    made_from = [names, normalization, code, _versions()]
    key = _key(stimuli, groups, made_from)
    if key is not None and (known := read_cache(path, key)) is not None:
        return LexiconPlan(**known)
    plan = _read(stimuli, groups, normalization)
    if key is not None and key == _key(stimuli, groups, made_from):  # else somebody is writing the word lists
        write_cache(path, key, plan._asdict())
    return plan


def _read(stimuli: Path, groups: Path | None, normalization: str | None) -> LexiconPlan:
    # Imported here: a plan that is known needs neither the reader of word lists nor what normalizes them.
    from prasanga.lexicon.loading import load_lexicon
    from prasanga.lexicon.table import categories_of, forms_table, words_for_templates

    lexicon = load_lexicon(stimuli, groups, normalization=normalization)
    forms, words = digest_of(forms_table(lexicon).to_pydict()), digest_of(words_for_templates(lexicon))
    classes = {stimulus.name: [stimulus.word_class, stimulus.place] for stimulus in lexicon.stimuli}
    files = {
        name: {side.name: side.path for side in (*category.targets, *category.attributes) if side.path}
        for name, category in lexicon.categories.items()
    }
    return LexiconPlan(lexicon.language, forms, categories_of(lexicon), words, classes, files)


def _key(stimuli: Path, groups: Path | None, made_from: list[Any]) -> str | None:
    """A digest of everything that decides what comes out; None if a file cannot be read, which the reader explains."""
    try:
        files = [[str(path), sha256_of_file(path)] for given in (stimuli, groups) if given for path in _files(given)]
    except OSError:
        return None
    return digest_of([files, made_from])


def _files(given: Path) -> list[Path]:
    """The files whose names or content `load_lexicon` looks at, in whatever layout the word lists are."""
    if not given.is_dir():
        return [given]
    return sorted({*given.glob("*.yaml"), *given.glob("ceat*.json*")})


def _versions() -> dict[str, str]:
    found = {name: importlib.metadata.version(name) for name in _LIBRARIES}
    return {**found, "python": ".".join(map(str, sys.version_info[:3]))}
