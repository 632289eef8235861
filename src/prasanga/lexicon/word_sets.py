"""Reading our word sets and categories (`resources/stimuli/<language>/*.yaml`) into a lexicon.

What would make a measurement wrong in silence is refused here: a word with two different entries, a group that does
not fit the end of its word, a form that two stimuli claim without a decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from prasanga.errors import InputError
from prasanga.lexicon.ambiguity import resolve
from prasanga.lexicon.endings import ending_class
from prasanga.lexicon.groups import SuffixGroups, load_suffix_groups
from prasanga.lexicon.inflection import capitalize, inflections
from prasanga.lexicon.model import CASES, NUMBERS, Category, Lexicon, Stimulus, SurfaceForm, WordSet, first_readings
from prasanga.lexicon.yaml_input import Entry, read_yaml, suggest

CATEGORIES_FILE = "categories.yaml"
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class _Word:
    """A stimulus, its irregular forms, and where it is written."""

    stimulus: Stimulus
    irregular: tuple[SurfaceForm, ...]
    place: str


def load_word_sets(folder: Path, suffix_groups: Path, normalization: str | None = None) -> Lexicon:
    """Read a folder of word sets with its `categories.yaml`, and inflect its words.

    Args:
        folder: the word sets.
        suffix_groups: the groups that they name.
        normalization: the corpus's, if not the language's own.

    Raises:
        InputError: see `prasanga.lexicon.loading.load_lexicon`.
    """
    groups = load_suffix_groups(suffix_groups, normalization)
    if not (folder / CATEGORIES_FILE).exists():
        raise InputError(f"{folder / CATEGORIES_FILE}: no such file. Write it, with `language:` and `categories:`.")
    head = read_yaml(folder / CATEGORIES_FILE, normalization=normalization)
    head.require("a file of categories", required=["language", "categories"], optional=["ambiguous"])
    language = head.text("language")
    if language != groups.language:
        raise InputError(
            f"{head.path}: `language` is {language!r}, but {groups.path} is for {groups.language!r}. Give the suffix"
            " groups of the same language."
        )
    words: dict[str, _Word] = {}
    sets: dict[str, WordSet] = {}
    for path in sorted(folder.glob("*.yaml")):
        if path.name != CATEGORIES_FILE:
            word_set = _read_set(read_yaml(path, language, normalization), words)
            if word_set.name in sets:
                raise InputError(f"{path}: there is another file with `set: {word_set.name}`. Rename one of the sets.")
            sets[word_set.name] = word_set
    _check_groups(words, groups)
    _check_spellings(words)

    categories = head.entry_of("categories")
    readings = tuple(reading for word in words.values() for reading in _readings(word, groups))
    forms = first_readings(readings)
    places = {name: word.place for name, word in words.items()}
    return Lexicon(
        language=language,
        stimuli=tuple(word.stimulus for word in words.values()),
        categories={name: _read_category(name, categories.entry_of(name), sets) for name in categories},
        forms=forms,
        readings=tuple(reading for reading in readings if not reading.hyphenated),
        resolutions=resolve(forms, head, places),
    )


def _read_set(content: Entry, words: dict[str, _Word]) -> WordSet:
    """Read one word set; its words are added to `words`, where equal entries of other sets may stand already."""
    content.require("a word set", required=["set", "words"], optional=["gloss"])
    name = content.text("set")
    entries = content.entries_of("words")
    if not entries:
        raise InputError(
            f"{content.path}: the word set `{name}` is empty. Write `words:` and at least one `- {{stimulus: ...}}`."
        )
    stimuli: dict[str, str] = {}
    for entry in entries:
        word = _read_word(entry)
        stimulus = word.stimulus.name
        if stimulus in stimuli:
            raise InputError(
                f"{word.place}: the stimulus {stimulus} stands twice in the word set `{name}` (first:"
                f" {stimuli[stimulus]}). Delete one."
            )
        stimuli[stimulus] = word.place
        _require_same(words.setdefault(stimulus, word), word)
    return WordSet(name, content.text("gloss", name), tuple(stimuli))


def _read_word(entry: Entry) -> _Word:
    entry.require("a word", required=["stimulus"], optional=["gloss", "group", "groups", "variants", "forms"])
    name = entry.text("stimulus")
    if ("group" in entry) == ("groups" in entry):
        found = "both `group` and `groups`" if "group" in entry else "no `group`"
        raise InputError(
            f"{entry.place}: the stimulus {name} has {found}. Write `group: name`, or `groups: [name, name]`."
        )
    groups = entry.texts("group") + entry.texts("groups")
    if not groups:
        raise InputError(f"{entry.place}: the stimulus {name} names no suffix group. Write e.g. `group: uninflected`.")
    stimulus = Stimulus(name, entry.text("gloss"), groups, entry.texts("variants"))
    irregular = tuple(_read_irregular(name, form) for form in entry.entries_of("forms"))
    return _Word(stimulus, irregular, entry.place)


def _read_irregular(stimulus: str, entry: Entry) -> SurfaceForm:
    entry.require(f"a form of {stimulus}", required=["form"], optional=["number", "case", "emphatic"])
    number, case = entry.text("number", "singular"), entry.text("case", "nominative")
    for kind, value, allowed in (("number", number, NUMBERS), ("case", case, CASES)):
        if value not in allowed:
            raise InputError(f"{entry.place}: a form of {stimulus} has the {kind} `{value}`.{suggest(value, allowed)}")
    return SurfaceForm(entry.text("form"), stimulus, "irregular", number, case, entry.text("emphatic"))


def _require_same(first: _Word, second: _Word) -> None:
    """A word of several sets is one stimulus: group, variants and forms must be the same everywhere."""
    for what, one, other in (
        ("suffix groups", first.stimulus.groups, second.stimulus.groups),
        ("variants", first.stimulus.variants, second.stimulus.variants),
        ("irregular forms", [form.form for form in first.irregular], [form.form for form in second.irregular]),
    ):
        if one != other:
            raise InputError(
                f"{second.place}: the stimulus {second.stimulus.name} has the {what} [{', '.join(other)}], but"
                f" [{', '.join(one)}] at {first.place}. A word of several sets is one stimulus: write the same in both."
            )


def _check_groups(words: Mapping[str, _Word], groups: SuffixGroups) -> None:
    problems = [problem for word in words.values() for problem in _group_problems(word, groups)]
    if problems:
        more = [f"... and {len(problems) - _SHOWN} more."] if len(problems) > _SHOWN else []
        raise InputError("\n".join([*problems[:_SHOWN], *more]))


def _group_problems(word: _Word, groups: SuffixGroups) -> Iterator[str]:
    stimulus = word.stimulus
    for name in stimulus.groups:
        if name not in groups.groups:
            yield (
                f"{word.place}: the stimulus {stimulus.name} names the suffix group `{name}`, which is not in"
                f" {groups.path}.{suggest(name, groups.groups)}"
            )
            continue
        group = groups.groups[name]
        for spelling in (stimulus.name, *stimulus.variants):
            if not group.fits(spelling):
                found = ending_class(spelling)
                fitting = [other.name for other in groups.groups.values() if other.fits(spelling)]
                variant = "" if spelling == stimulus.name else f" (variant {spelling})"
                yield (
                    f"{word.place}: the stimulus {stimulus.name}{variant} has the suffix group `{name}`, which is for"
                    f" stems of the ending class {' or '.join(group.endings)}; {spelling} is of the class {found}."
                    f" Groups for that class: {', '.join(fitting) or 'none'}."
                )


def _check_spellings(words: Mapping[str, _Word]) -> None:
    """Two stimuli with a spelling in common would share all forms: they are one word, or one spelling is wrong."""
    owners: dict[str, _Word] = {}
    for word in words.values():
        for spelling in (word.stimulus.name, *word.stimulus.variants):
            other = owners.setdefault(spelling, word)
            if other is not word:
                raise InputError(
                    f"{word.place}: {spelling} is a spelling of the stimulus {word.stimulus.name}, and also of"
                    f" {other.stimulus.name} ({other.place}). Make them one stimulus, or take the spelling from"
                    " one of them."
                )
        if len({word.stimulus.name, *word.stimulus.variants}) <= len(word.stimulus.variants):
            raise InputError(
                f"{word.place}: a variant of {word.stimulus.name} stands twice, or is the stimulus itself (after"
                " normalization). Delete it."
            )


def _readings(word: _Word, groups: SuffixGroups) -> Iterator[SurfaceForm]:
    stimulus = word.stimulus
    for spelling in (stimulus.name, *stimulus.variants):
        for name in stimulus.groups:
            for form, number, case, emphatic, hyphenated in inflections(spelling, groups.groups[name]):
                yield SurfaceForm(form, stimulus.name, name, number, case, emphatic, hyphenated)
    yield from word.irregular
    if any(groups.groups[name].capitalized for name in stimulus.groups):
        yield from (replace(form, form=capitalize(form.form)) for form in word.irregular)


def _read_category(name: str, entry: Entry, sets: Mapping[str, WordSet]) -> Category:
    entry.require(f"the category `{name}`", required=["targets", "attributes"], optional=["title"])
    targets = _read_pair(name, "targets", entry, sets)
    attributes = _read_pair(name, "attributes", entry, sets)
    return Category(name, entry.text("title", name), targets, attributes)


def _read_pair(name: str, key: str, entry: Entry, sets: Mapping[str, WordSet]) -> tuple[WordSet, WordSet]:
    names = entry.texts(key)
    for found in names:
        if found not in sets:
            raise InputError(
                f"{entry.place}: the category `{name}` names the word set `{found}` under `{key}`, but no file of"
                f" {entry.path.parent} has `set: {found}`.{suggest(found, sets)}"
            )
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(
            f"{entry.place}: `{key}` of the category `{name}` is [{', '.join(names)}], but must name two different word"
            f" sets: `{key}: [first, second]`."
        )
    first, second = (sets[found] for found in names)
    common = set(first.stimuli) & set(second.stimuli)
    if common:
        raise InputError(
            f"{entry.place}: `{key}` of the category `{name}` has {', '.join(sorted(common))} on both sides, where it"
            f" would cancel out. Take it from `{first.name}` or `{second.name}`."
        )
    return first, second
