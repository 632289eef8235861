"""Reading the word lists of Sadhu et al. (2024) in their own layouts, for comparison with the paper.

The files are JSON or plain text whatever their ending says. They give no number or case, hold spaces at the ends of
suffixes, words listed twice, and words that are another word's suffixed form; all this is kept or repaired as the
paper's code would see it, and said in the lexicon's warnings.

- `weatWordsWithSuffix.jsonl`: {word: [suffix, ...]}; a word's forms are the word and word + suffix.
- `allWeatWords.txt`: lines `word, 12/13`, with `suffixCategories.jsonl`: {"12": [suffix, ...]}.
- `ceat1.jsonl` ...: {"targ1": {"category": name, "examples": [word, ...]}, "targ2", "attr1", "attr2"}, with the
  suffixes of `weatWordsWithSuffix.jsonl`. A word's class, by which SEAT finds its sentences, is the first set it is in.
- `seat1.jsonl` ...: the same with "templates" in place of words, or with sentences as "examples": all of the first
  word, then all of the second.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.base.errors import InputError
from prasanga.base.yaml import read_json_object, read_text
from prasanga.lexicon.model import (
    Category,
    Lexicon,
    Stimulus,
    SurfaceForm,
    WordSet,
    claimants,
    first_readings,
    spelling_of,
)

LANGUAGE = "bn"
SIDES = ("targ1", "targ2", "attr1", "attr2")

_SLOT = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|<[^<>]*>|_{2,}|%s|X{3,}|G{3,}")
_LATIN_SLOT = re.compile(r"[A-Za-z]+")  # in a Bangla sentence a Latin word stands for one

Suffixes = Mapping[str, Sequence[tuple[str, str]]]  # word -> (suffix, group) in order
Clean = Callable[[str], str]


def load_suffix_lists(path: Path, normalization: str | None = None) -> Lexicon:
    """Read words with their suffixes (`weatWordsWithSuffix.jsonl`), without categories."""
    warnings: list[str] = []
    clean = _cleaner(normalization)
    suffixes = _read_suffix_lists(path, warnings, clean)
    return _build(suffixes, suffixes, {}, warnings, clean)


def load_grouped_words(words: Path, suffix_categories: Path, normalization: str | None = None) -> Lexicon:
    """Read words with numbers of suffix groups, without categories.

    The files are `allWeatWords.txt` and `suffixCategories.jsonl`.
    """
    warnings: list[str] = []
    clean = _cleaner(normalization)
    groups = _read_text_lists(suffix_categories)
    suffixes: dict[str, list[tuple[str, str]]] = {}
    for number, line in enumerate(read_text(words).split("\n"), start=1):
        if not line.strip():
            continue
        match = re.fullmatch(r"([^,]+),([\d\s/]+)", line)
        named = re.findall(r"\d+", match[2]) if match else []
        if match is None or not groups.keys() >= set(named):
            raise InputError(
                f"{words}, line {number}: found {line!r}. Write a word, a comma, and numbers of groups in"
                f" {suffix_categories}: `word, 1/2`."
            )
        word = clean(match[1])
        if word in suffixes:
            warnings.append(
                f"{words}, line {number}: {word} is there twice; the suffixes of all its lines are combined."
            )
        suffixes.setdefault(word, []).extend((clean(suffix), group) for group in named for suffix in groups[group])
    return _build(suffixes, suffixes, {}, warnings, clean)


def load_categories(files: Sequence[Path], suffix_lists: Path | None, normalization: str | None = None) -> Lexicon:
    """Read categories (`ceat1.jsonl`, ... are C1, ...) with the suffixes of `weatWordsWithSuffix.jsonl`.

    The stimuli are the words of the categories. A word that a list names twice stands twice in its word set.
    """
    warnings: list[str] = []
    clean = _cleaner(normalization)
    suffixes = {} if suffix_lists is None else _read_suffix_lists(suffix_lists, warnings, clean)
    if suffix_lists is None:
        warnings.append(f"{files[0].parent}: no suffix lists given: words are found in their bare form only.")
    numbered = sorted((int("".join(re.findall(r"\d", path.stem)) or 0), path) for path in files)
    categories = {f"C{number}": _read_category(f"C{number}", path, warnings, clean) for number, path in numbered}
    sets = [side for category in categories.values() for side in (*category.targets, *category.attributes)]
    words = list(dict.fromkeys(word for side in sets for word in side.stimuli))
    warnings += [
        f"{suffix_lists}: no entry for {word}, a word of the categories: it is found in its bare form only."
        for word in words
        if suffix_lists is not None and word not in suffixes
    ]
    classes = {word: side.name for side in reversed(sets) for word in side.stimuli}
    return _build(words, suffixes, categories, warnings, clean, classes)


class SeatSentences(NamedTuple):
    """What files of SEAT hold of a set: its templates, in two halves each, and blocks of sentences, word by word."""

    templates: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, ...], ...] = ()
    place: str = ""


def read_seat_files(files: Sequence[Path], normalization: str | None = None) -> dict[str, SeatSentences]:
    """Read templates or filled sentences of SEAT, by the set whose words stand in them.

    A set that several files have gets the templates of all, each once.

    Raises:
        InputError: a file is no such file; a template has no slot, or several; the message names the file.
    """
    clean = _cleaner(normalization)
    found: dict[str, SeatSentences] = {}
    for path in files:
        content = read_json_object(path)
        for side in SIDES:
            name, key, texts = _read_texts(path, content, side, ("templates", "examples"), clean)
            known = found.get(name, SeatSentences(place=str(path)))
            if key == "templates":
                halves = [_halves(text, path, side) for text in texts]
                known = known._replace(templates=tuple(dict.fromkeys((*known.templates, *halves))))
            else:
                known = known._replace(blocks=tuple(dict.fromkeys((*known.blocks, texts))))
            found[name] = known
    return found


def sentences_of(block: Sequence[str], words: Sequence[str], word: str, what: str) -> Sequence[str]:
    """Return the sentences of a word in a block that has as many of each, in the order of the words.

    Raises:
        InputError: they cannot be as many; `what` says where.
    """
    each, rest = divmod(len(block), len(words))
    if rest:
        raise InputError(
            f"{what} has {len(block)} sentences for {len(words)} words, which is not the same number for each. Name"
            " the word lists under `lexicon.stimuli` that the sentences were made from."
        )
    first = words.index(word) * each
    return block[first : first + each]


def _halves(text: str, path: Path, side: str) -> tuple[str, str]:
    slots = list(_SLOT.finditer(text)) or list(_LATIN_SLOT.finditer(text))
    if len(slots) != 1:
        raise InputError(
            f"{path}: a template of `{side}` has {len(slots) or 'no'} slot{'s' * (len(slots) > 1)}: {text!r:.80}. Write"
            " XXX once where the word stands."
        )
    return text[: slots[0].start()], text[slots[0].end() :]


def _cleaner(normalization: str | None) -> Clean:
    normalized = spelling_of(LANGUAGE, normalization)
    return lambda text: normalized(text).strip()


def _read_suffix_lists(path: Path, warnings: list[str], clean: Clean) -> dict[str, list[tuple[str, str]]]:
    suffixes: dict[str, list[tuple[str, str]]] = {}
    for word, listed in _read_text_lists(path).items():
        if clean(word) in suffixes:
            warnings.append(f"{path}: {word} is there twice after normalization; the suffixes of both are combined.")
        suffixes.setdefault(clean(word), []).extend((clean(suffix), "") for suffix in listed)
    return suffixes


def _read_text_lists(path: Path) -> dict[str, list[str]]:
    content = read_json_object(path)
    for key, value in content.items():
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InputError(f'{path}: `{key}` is {value!r}. Write a list of suffixes: "{key}": ["...", "..."].')
    return content


def _read_category(name: str, path: Path, warnings: list[str], clean: Clean) -> Category:
    content = read_json_object(path)
    sides = []
    for side in SIDES:
        set_name, _, stimuli = _read_texts(path, content, side, ("examples",), clean)
        warnings += [
            f"{path}: {word} is listed {count} times in {set_name}. It counts once; with `preset: paper` it counts"
            f" {count} times in CEAT, as in the paper."
            for word, count in Counter(stimuli).items()
            if count > 1
        ]
        gloss = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", set_name).lower()
        sides.append(WordSet(set_name, gloss, stimuli, path=str(path)))
    x, y, a, b = sides
    title = f"{x.gloss} and {y.gloss}, {a.gloss} and {b.gloss}".capitalize()
    return Category(name, title, (x, y), (a, b))


def _read_texts(
    path: Path, content: Mapping[str, Any], side: str, keys: Sequence[str], clean: Clean
) -> tuple[str, str, tuple[str, ...]]:
    """Return the name of a set, the first of `keys` that its entry has, and the texts under it."""
    entry = content.get(side)
    named = entry if isinstance(entry, dict) else {}
    key = next((key for key in keys if key in named), "")
    texts = named.get(key)
    texts = texts if isinstance(texts, list) and all(isinstance(text, str) for text in texts) else []
    cleaned = tuple(map(clean, texts))
    if not isinstance(named.get("category"), str) or not cleaned or not all(cleaned):
        allowed = " or ".join(f'"{key}"' for key in keys)
        raise InputError(
            f'{path}: `{side}` must be {{"category": name, {allowed}: [text, ...]}}, with at least one text and none'
            f" empty; found {entry!r:.80}."
        )
    return named["category"], key, cleaned


def _build(
    words: Iterable[str],
    suffixes: Suffixes,
    categories: Mapping[str, Category],
    warnings: list[str],
    clean: Clean,
    classes: Mapping[str, str] | None = None,
) -> Lexicon:
    stimuli, readings = [], []
    for word in words:
        listed = suffixes.get(word, ())
        groups = tuple(dict.fromkeys(group for _, group in listed if group))
        stimuli.append(Stimulus(word, groups=groups, word_class=(classes or {}).get(word, "")))
        readings.append(SurfaceForm(word, word, number="singular", case="nominative"))
        readings += [SurfaceForm(clean(word + suffix), word, group) for suffix, group in listed]
    forms = first_readings(readings)
    for form, owners in claimants(forms).items():
        if len(owners) > 1:
            warnings.append(f"The form {form} belongs to the stimuli {' and '.join(owners)}: each gets its hits.")
    return Lexicon(LANGUAGE, tuple(stimuli), categories, forms, tuple(warnings))
