"""Loading a lexicon, whatever layout its files have: ours, or one of those of Sadhu et al. (2024)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from prasanga.errors import InputError
from prasanga.lexicon import authors
from prasanga.lexicon.model import Lexicon
from prasanga.lexicon.word_sets import load_word_sets

# What a file or folder holds, in the words of the messages below.
_WORD_SETS = "a folder of word sets (*.yaml)"
_GROUPS = "suffix groups (*.yaml)"
_CATEGORIES = "categories of the paper (ceat*.jsonl)"
_SUFFIX_LISTS = "words with their suffixes (weatWordsWithSuffix.jsonl)"
_GROUPED_WORDS = "words with group numbers (allWeatWords.txt)"
_SUFFIX_CATEGORIES = "numbered suffix groups (suffixCategories.jsonl)"

# What to give as suffix groups, for each kind of stimuli.
_PARTNERS = {
    _WORD_SETS: _GROUPS,
    _CATEGORIES: _SUFFIX_LISTS,
    _GROUPED_WORDS: _SUFFIX_CATEGORIES,
    _SUFFIX_LISTS: None,
}


def load_lexicon(
    stimuli: str | Path, suffix_groups: str | Path | None = None, *, normalization: str | None = None
) -> Lexicon:
    """Read word sets and suffix groups and make the surface forms of every stimulus.

    The layout is recognised by the files' content. All words are normalized as the corpus of their language is.

    Args:
        stimuli: a folder of our word sets with `categories.yaml`; or, of the paper's files, the folder with
            `ceat*.jsonl` (or one of them), `weatWordsWithSuffix.jsonl`, or `allWeatWords.txt`.
        suffix_groups: our YAML for our word sets; `weatWordsWithSuffix.jsonl` for `ceat*.jsonl` (without it only bare
            words are found, which is a warning); `suffixCategories.jsonl` for `allWeatWords.txt`; nothing for
            `weatWordsWithSuffix.jsonl`, which holds its suffixes.
        normalization: the name of the corpus's normalization (`prasanga.text.normalizer`); by default the language's
            own (`prasanga.lexicon.spelling`: bangla, nukta for Hindi, nfkc for English).

    Raises:
        InputError: a missing or broken file; files that do not belong together; an unknown key, suffix group, word set,
            number, case or ending class; a word set that is empty or lists a word twice; a word with different entries
            in two sets; a group on a stem of another ending class; in our layout, a form that two stimuli claim and
            that is not listed under `ambiguous:`, or one that is listed there and not ambiguous; an unknown
            normalization.
    """
    groups = None if suffix_groups is None else Path(suffix_groups)
    return replace(_load(Path(stimuli), groups, normalization), normalization=normalization)


def _load(stimuli: Path, groups: Path | None, normalization: str | None) -> Lexicon:
    kind = _kind_of(stimuli)
    if kind not in _PARTNERS:
        raise InputError(
            f"{stimuli}: holds {kind}, which cannot serve as stimuli; it belongs under `suffix_groups`. Give"
            f" {_either(_PARTNERS)}."
        )
    _require_partner(stimuli, kind, groups)
    if kind == _CATEGORIES:
        return authors.load_categories(_category_files(stimuli), groups, normalization)
    if kind == _SUFFIX_LISTS:
        return authors.load_suffix_lists(stimuli, normalization)
    assert groups is not None  # _require_partner
    if kind == _WORD_SETS:
        return load_word_sets(stimuli, groups, normalization)
    return authors.load_grouped_words(stimuli, groups, normalization)


def _require_partner(stimuli: Path, kind: str, groups: Path | None) -> None:
    partner = _PARTNERS[kind]
    if groups is None:
        if kind in {_WORD_SETS, _GROUPED_WORDS}:
            raise InputError(
                f"{stimuli}: holds {kind}, but no suffix groups are given. Give {partner} as `suffix_groups`."
            )
        return
    if partner is None:
        raise InputError(
            f"{groups}: not needed, since {stimuli} holds {kind}. Write `suffix_groups: null`, or leave the"
            " argument out."
        )
    found = _kind_of(groups)
    if found != partner:
        raise InputError(
            f"{groups}: holds {found}, which does not belong to {stimuli} ({kind}). Give {partner} as `suffix_groups`."
        )


def _kind_of(path: Path) -> str:
    if path.is_dir():
        if _category_files(path):
            return _CATEGORIES
        if any(path.glob("*.yaml")):
            return _WORD_SETS
        raise InputError(f"{path}: a folder without word sets. Give {_either(_PARTNERS)}.")
    if not path.exists():
        raise InputError(f"{path}: no such file or folder. Check the paths under `lexicon` in the config.")
    if path.suffix in {".yaml", ".yml"}:
        return _GROUPS
    if path.suffix == ".txt":
        return _GROUPED_WORDS
    keys = authors.read_json_object(path).keys()
    if keys & set(authors.SIDES):
        return _CATEGORIES
    return _SUFFIX_CATEGORIES if keys and all(key.isdecimal() for key in keys) else _SUFFIX_LISTS


def _category_files(path: Path) -> list[Path]:
    return sorted(path.glob("ceat*.json*")) if path.is_dir() else [path]


def _either(kinds: dict[str, str | None]) -> str:
    *others, last = kinds
    return f"{', '.join(others)} or {last}"
