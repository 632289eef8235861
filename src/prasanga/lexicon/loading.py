"""Loading a lexicon from word sets and categories, or from the layouts of Sadhu et al. (2024).

Ours are `resources/stimuli/<language>/*.yaml`. What would make a measurement wrong in silence is refused here: a word
with two different entries, a group that does not fit the end of its word, a form that two stimuli claim without a
decision.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, as_entry, read_json_object, suggest
from prasanga.lexicon import authors
from prasanga.lexicon.inflection import (
    Claimed,
    SuffixGroups,
    capitalize,
    ending_class,
    inflections,
    load_suffix_groups,
    resolve,
    without_emphatic,
)
from prasanga.lexicon.model import (
    CASES,
    NUMBERS,
    Category,
    Lexicon,
    Neighbours,
    Stimulus,
    SurfaceForm,
    WordSet,
    claimants,
    first_readings,
    read_yaml,
    spelling_of,
)
from prasanga.text import WORD, fold

CATEGORIES_FILE = "categories.yaml"
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class _Word:
    """A stimulus, its irregular forms, and where it is written."""

    stimulus: Stimulus
    irregular: tuple[SurfaceForm, ...]
    place: str


@dataclass(frozen=True)
class _Known:
    """The words and sets that have been read, and what they are read by."""

    groups: SuffixGroups
    normalization: str | None
    words: dict[str, _Word] = field(default_factory=dict)
    sets: dict[str, WordSet] = field(default_factory=dict)

    def read(self, path: Path) -> Entry:
        """Read a file of words in the language of the groups."""
        return read_yaml(path, self.groups.language, self.normalization)

    def add(self, content: Entry) -> None:
        """Read one word set and add it with its words, where equal entries of other sets may stand already."""
        content.require("a word set", required=["set", "words"], optional=["gloss", "class", "searched"])
        name, word_class = content.text("set"), content.text("class")
        entries = content.entries_of("words")
        if not entries:
            raise InputError(
                f"{content.path}: the word set `{name}` is empty. Write `words:` and at least one"
                " `- {stimulus: ...}`."
            )
        stimuli: dict[str, str] = {}
        for entry in entries:
            word = _read_word(entry, word_class, self.groups)
            stimulus = word.stimulus.name
            if stimulus in stimuli:
                raise InputError(
                    f"{word.place}: the stimulus {stimulus} stands twice in the word set `{name}` (first:"
                    f" {stimuli[stimulus]}). Delete one."
                )
            stimuli[stimulus] = word.place
            self.words[stimulus] = _one_word(self.words.get(stimulus, word), word)
        if name in self.sets:
            raise InputError(
                f"{content.path}: there is another file with `set: {name}` ({self.sets[name].path}). Rename one of the"
                " sets."
            )
        searched = content.flag("searched", default=True)
        self.sets[name] = WordSet(name, content.text("gloss", name), tuple(stimuli), searched, str(content.path))


def load_word_sets(
    folders: Sequence[Path],
    suffix_groups: Path,
    normalization: str | None = None,
    categories: Mapping[str, Any] | None = None,
) -> Lexicon:
    """Read folders of word sets with their `categories.yaml`, and inflect their words.

    Args:
        folders: the word sets; what a later one has is added, and only the first must have a `categories.yaml`.
        suffix_groups: the groups that they name.
        normalization: the corpus's, if not the language's own.
        categories: of the study's config, with words of their own.

    Raises:
        InputError: see `prasanga.lexicon.loading.load_lexicon`.
    """
    groups = load_suffix_groups(suffix_groups, normalization)
    language = groups.language
    known = _Known(groups, normalization)
    heads = _read_heads(folders, groups, normalization)
    for path in (path for folder in folders for path in sorted(folder.glob("*.yaml"))):
        if path.name != CATEGORIES_FILE:
            known.add(known.read(path))
    own = _read_own(categories or {}, known)
    words, sets = known.words, known.sets
    searched = dict.fromkeys(name for found in sets.values() if found.searched for name in found.stimuli)
    # What is looked for comes first, in an order that sets for templates do not change.
    words = {name: words[name] for name in (*searched, *(name for name in words if name not in searched))}
    _check_groups(words, groups)
    _check_spellings(words, searched)
    defined: dict[str, Entry] = {}
    for category in (*(head.entry_of("categories") for head in heads), own):
        for name in category:
            entry = category.entry_of(name)
            if name in defined:
                raise InputError(f"{entry.place}: the category `{name}` is at {defined[name].place} too. Rename one.")
            defined[name] = entry
    readings = {name: tuple(_readings(word, groups)) for name, word in words.items()}
    forms = first_readings(reading for name in searched for reading in readings[name])
    places = {name: word.place for name, word in words.items()}
    claimed = claimants(forms)
    return Lexicon(
        language=language,
        stimuli=tuple(word.stimulus for word in words.values()),
        categories={name: _read_category(name, entry, sets) for name, entry in defined.items()},
        forms=forms,
        readings=tuple(reading for of_word in readings.values() for reading in of_word if not reading.hyphenated),
        resolutions=resolve(claimed, heads, places),
        neighbours=read_neighbours(claimed, heads),
    )


def _read_heads(folders: Sequence[Path], groups: SuffixGroups, normalization: str | None) -> list[Entry]:
    """Read the `categories.yaml` of each folder that has one, the first at least."""
    heads = []
    for number, folder in enumerate(folders):
        path = folder / CATEGORIES_FILE
        if not path.exists():
            if number:
                continue
            raise InputError(f"{path}: no such file. Write it, with `language:` and `categories:`.")
        head = read_yaml(path, normalization=normalization)
        head.require("a file of categories", required=["language", "categories"], optional=["ambiguous", "neighbours"])
        if (language := head.text("language")) != groups.language:
            raise InputError(
                f"{head.path}: `language` is {language!r}, but {groups.path} is for {groups.language!r}. Give the"
                " suffix groups of the same language."
            )
        heads.append(head)
    return heads


def _read_own(categories: Mapping[str, Any], known: _Known) -> Entry:
    """Read the categories that a config defines itself; their words and sets are added to `known`.

    Returns:
        The categories as they would stand in a `categories.yaml`.
    """
    own: Entry = as_entry(categories, "categories", spelling_of(known.groups.language, known.normalization))
    for name in own:
        entry = own.entry_of(name)
        entry.path = Path(f"categories.{name}")
        for key in ("targets", "attributes"):
            if isinstance(pair := entry.get(key), Entry):
                for set_name, given in pair.items():
                    content, there = _own_set(set_name, given, entry, known), known.sets.get(set_name)
                    if content is not None and not (there and there.path == str(content.path)):
                        known.add(content)
                entry[key] = list(pair)
        if "title" not in entry:
            targets, attributes = (" and ".join(map(str, entry.get(key, ()))) for key in ("targets", "attributes"))
            entry["title"] = f"{targets}, {attributes}".replace("_", " ").capitalize()
    return own


def _own_set(name: str, given: Any, category: Entry, known: _Known) -> Entry | None:
    """Return a word set of which a config has the words, or the file; None for one of the lexicon's."""
    if given is None:
        return None
    if isinstance(given, str):
        if not Path(given).is_file():
            raise InputError(
                f"{category.place}: the set `{name}` is {given!r}, and there is no such file. Write a list of words, or"
                " the path of a word set (YAML)."
            )
        content = known.read(Path(given))
        if content.get("set") != name:
            raise InputError(
                f"{category.place}: {given} has `set: {content.get('set')}`. Write `{content.get('set')}: {given}`."
            )
        return content
    written = [_as_written(word, category, known.words) for word in given]
    made: Entry = as_entry({"set": name, "words": written}, f"{category.path}.{name}", category.normalized)
    return made


def _as_written(word: Any, category: Entry, words: Mapping[str, _Word]) -> Any:
    """Return a word of a config as it would stand in a word set; a text alone is a word that the lexicon knows."""
    if not isinstance(word, str):
        return word
    known = words.get(category.clean(word))
    if known is None:
        return {"stimulus": word}
    keys = ("form", "number", "case", "emphatic")
    forms = [{key: getattr(form, key) for key in keys if getattr(form, key)} for form in known.irregular]
    return {
        "stimulus": word,
        "groups": list(known.stimulus.groups),
        "variants": list(known.stimulus.variants),
        "forms": forms,
    }


def _read_word(entry: Entry, word_class: str, groups: SuffixGroups) -> _Word:
    """Read a word; `word_class` is that of its set."""
    entry.require("a word", required=["stimulus"], optional=["gloss", "group", "groups", "variants", "forms", "class"])
    name = entry.text("stimulus")
    if ("group" in entry) == ("groups" in entry):
        found = "both `group` and `groups`" if "group" in entry else "no `group`"
        fitting = ", ".join(group.name for group in groups.groups.values() if group.fits(name))
        raise InputError(
            f"{entry.place}: the stimulus {name} has {found}. Write `group: name`, or `groups: [name, name]`; those of"
            f" {groups.path} for its ending: {fitting or 'none'}."
        )
    named = entry.texts("group") + entry.texts("groups")
    if not named:
        raise InputError(f"{entry.place}: the stimulus {name} names no suffix group. Write e.g. `group: uninflected`.")
    variants, word_class = entry.texts("variants"), entry.text("class", word_class)
    stimulus = Stimulus(name, entry.text("gloss"), named, variants, word_class, entry.place)
    irregular = tuple(_read_irregular(name, form) for form in entry.entries_of("forms"))
    return _Word(stimulus, irregular, entry.place)


def _read_irregular(stimulus: str, entry: Entry) -> SurfaceForm:
    entry.require(f"a form of {stimulus}", required=["form"], optional=["number", "case", "emphatic"])
    number, case = entry.text("number", "singular"), entry.text("case", "nominative")
    for kind, value, allowed in (("number", number, NUMBERS), ("case", case, CASES)):
        if value not in allowed:
            raise InputError(f"{entry.place}: a form of {stimulus} has the {kind} `{value}`.{suggest(value, allowed)}")
    return SurfaceForm(entry.text("form"), stimulus, "irregular", number, case, entry.text("emphatic"))


def _one_word(first: _Word, second: _Word) -> _Word:
    """Return a word of several sets as one stimulus: group, variants and forms must be the same everywhere.

    So must its class of word where both say one; a set that stands in no template need not repeat it.
    """
    classes = [[word.stimulus.word_class] for word in (first, second)]
    for what, one, other in (
        ("suffix groups", first.stimulus.groups, second.stimulus.groups),
        ("variants", first.stimulus.variants, second.stimulus.variants),
        ("irregular forms", [form.form for form in first.irregular], [form.form for form in second.irregular]),
        ("class", *(classes if [""] not in classes else ([], []))),
    ):
        if one != other:
            raise InputError(
                f"{second.place}: the stimulus {second.stimulus.name} has the {what} [{', '.join(other)}], but"
                f" [{', '.join(one)}] at {first.place}. A word of several sets is one stimulus: write the same in both."
            )
    said = first.stimulus if first.stimulus.word_class else second.stimulus
    return replace(first, stimulus=replace(first.stimulus, word_class=said.word_class, place=said.place))


def _check_groups(words: Mapping[str, _Word], groups: SuffixGroups) -> None:
    """Refuse groups that the file lacks, or that do not fit the end of a word; the first mistakes are listed."""
    problems = []
    for word, name in ((each, name) for each in words.values() for name in each.stimulus.groups):
        stimulus, group = word.stimulus, groups.groups.get(name)
        if group is None:
            problems.append(
                f"{word.place}: the stimulus {stimulus.name} names the suffix group `{name}`, which is not in"
                f" {groups.path}.{suggest(name, groups.groups)}"
            )
            continue
        for spelling in (stimulus.name, *stimulus.variants):
            if not group.fits(spelling):
                fitting = [other.name for other in groups.groups.values() if other.fits(spelling)]
                variant = "" if spelling == stimulus.name else f" (variant {spelling})"
                problems.append(
                    f"{word.place}: the stimulus {stimulus.name}{variant} has the suffix group `{name}`, which is for"
                    f" stems of the ending class {' or '.join(group.endings)}; {spelling} is of the class"
                    f" {ending_class(spelling)}. Groups for that class: {', '.join(fitting) or 'none'}."
                )
    if problems:
        raise InputError("\n".join(problems[:_SHOWN]))


def _check_spellings(words: Mapping[str, _Word], searched: Collection[str]) -> None:
    """Refuse two stimuli with a spelling in common, which would share all forms.

    They are one word, or one spelling is wrong.

    A stimulus that is not looked for shares nothing: its variants matter to nobody.
    """
    owners: dict[str, _Word] = {}
    for word in words.values():
        spellings = (word.stimulus.name, *word.stimulus.variants) if word.stimulus.name in searched else ()
        for spelling in spellings:
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


def read_neighbours(claimed: Claimed, heads: Sequence[Entry]) -> dict[str, Neighbours]:
    """Read what beside a form tells that it is another word (`neighbours:` in `categories.yaml`), by folded form.

    What is said of a form holds for the form with an emphatic ending as well; what is said twice is joined.

    Raises:
        InputError: an entry without forms or without neighbours, a form or stimulus that nobody claims, or a neighbour
            that is not one word or one mark.
    """
    found: dict[str, Neighbours] = {}
    entries = [entry for head in heads for entry in head.entries_of("neighbours")]
    forms_of: dict[str, list[str]] = {}
    for form, owners in claimed.items() if entries else ():
        for owner in owners:
            forms_of.setdefault(owner, []).append(form)
    for entry in entries:
        entry.require(
            "neighbours of a form", required=["reason"], optional=["forms", "stimuli", "not_after", "not_before"]
        )
        listed, stimuli = [fold(text) for text in entry.texts("forms")], entry.texts("stimuli")
        beside = Neighbours(_beside(entry, "not_after"), _beside(entry, "not_before"))
        if not (listed or stimuli) or not any(beside):
            raise InputError(
                f"{entry.place}: an entry of `neighbours` needs forms and what does not stand beside them. Write"
                " `forms: [...]` or, for all forms of a word, `stimuli: [...]`; and `not_after: [...]` or"
                " `not_before: [...]`."
            )
        for unknown in [
            *(form for form in listed if form not in claimed),
            *(of for of in stimuli if of not in forms_of),
        ]:
            raise InputError(
                f"{entry.place}: {unknown} is listed under `neighbours`, but no stimulus claims it (any more)."
                " Delete it."
            )
        kin = {form for base in listed for owner in claimed[base] for form in forms_of[owner]}
        meant = {form for form in kin if form in listed or without_emphatic(form, claimed[form]) in listed}
        for form in meant.union(*(forms_of[stimulus] for stimulus in stimuli)):
            said = found.get(form, Neighbours())
            found[form] = Neighbours(said.not_after | beside.not_after, said.not_before | beside.not_before)
    return found


def _beside(entry: Entry, key: str) -> frozenset[str]:
    for text in entry.texts(key):
        if not WORD.fullmatch(text) and len(text) != 1:
            raise InputError(
                f"{entry.place}: `{key}` holds {text!r}, but a neighbour is one word or one punctuation mark. Write the"
                " word that stands next to the form."
            )
    return frozenset(map(fold, entry.texts(key)))


def _read_category(name: str, entry: Entry, sets: Mapping[str, WordSet]) -> Category:
    entry.require(f"the category `{name}`", required=["targets", "attributes"], optional=["title"])
    targets = _read_pair(name, "targets", entry, sets)
    attributes = _read_pair(name, "attributes", entry, sets)
    return Category(name, entry.text("title", name), targets, attributes)


def _read_pair(name: str, key: str, entry: Entry, sets: Mapping[str, WordSet]) -> tuple[WordSet, WordSet]:
    items = [entry[key]] if isinstance(entry.get(key), str) else entry.items_of(key)
    pair = [_read_side(name, key, item, entry, sets) for item in items]
    if len(pair) != 2 or pair[0].name == pair[1].name:
        raise InputError(
            f"{entry.place}: `{key}` of the category `{name}` is [{', '.join(side.name for side in pair)}], but must"
            f" name two different word sets: `{key}: [first, second]`."
        )
    first, second = pair
    common = set(first.stimuli) & set(second.stimuli)
    if common:
        raise InputError(
            f"{entry.place}: `{key}` of the category `{name}` has {', '.join(sorted(common))} on both sides, where it"
            f" would cancel out. Take it from `{first.name}` or `{second.name}`."
        )
    return first, second


def _read_side(name: str, key: str, item: object, entry: Entry, sets: Mapping[str, WordSet]) -> WordSet:
    """Return one side of a pair: the name of a set, or several sets joined under a name of their own."""
    if not isinstance(item, Entry):
        if not isinstance(item, str):
            raise InputError(
                f"{entry.place}: `{key}` of the category `{name}` holds {item!r}, but each of the two is the name of a"
                " word set, or several sets joined: `{set: new_name, sets: [first, second]}`."
            )
        return _set_named(entry.clean(item), f"the category `{name}`", key, entry, sets)
    item.require(f"a joined set of the category `{name}`", required=["set", "sets"], optional=["gloss"])
    joined, names = item.text("set"), item.texts("sets")
    if joined in sets:
        raise InputError(
            f"{item.place}: the joined set of the category `{name}` is called `{joined}`, as a word set is. Give it"
            " another name under `set`."
        )
    parts = [_set_named(found, f"the joined set `{joined}`", "sets", item, sets) for found in names]
    if len(set(names)) != len(names) or len(names) < 2:
        raise InputError(
            f"{item.place}: `sets` of the joined set `{joined}` is [{', '.join(names)}], but must name two or more"
            " different word sets: `sets: [first, second]`."
        )
    words = tuple(dict.fromkeys(stimulus for part in parts for stimulus in part.stimuli))
    return WordSet(joined, item.text("gloss", joined), words, all(part.searched for part in parts))


def _set_named(found: str, what: str, key: str, entry: Entry, sets: Mapping[str, WordSet]) -> WordSet:
    if found not in sets:
        raise InputError(
            f"{entry.place}: {what} names the word set `{found}` under `{key}`, and there is no"
            f" set of that name.{suggest(found, sets)}"
        )
    return sets[found]


# --------------------
# Loading a lexicon, whatever layout its files have: ours, or one of those of Sadhu et al. (2024).


# What a file or folder holds, in the words of the messages below.
_WORD_SETS = "a folder of word sets (*.yaml)"
_GROUPS = "suffix groups (*.yaml)"
_CATEGORIES = "categories of the paper (ceat*.jsonl)"
_SUFFIX_LISTS = "words with their suffixes (weatWordsWithSuffix.jsonl)"
_GROUPED_WORDS = "words with group numbers (allWeatWords.txt)"
_SUFFIX_CATEGORIES = "numbered suffix groups (suffixCategories.jsonl)"

# What to give as suffix groups, for each kind of stimuli.
_PARTNERS = {_WORD_SETS: _GROUPS, _CATEGORIES: _SUFFIX_LISTS, _GROUPED_WORDS: _SUFFIX_CATEGORIES, _SUFFIX_LISTS: None}


def load_lexicon(
    stimuli: str | Path | Sequence[str | Path],
    suffix_groups: str | Path | None = None,
    *,
    normalization: str | None = None,
    categories: Mapping[str, Any] | None = None,
) -> Lexicon:
    """Read word sets and suffix groups and make the surface forms of every stimulus.

    The layout is recognised by the files' content. All words are normalized as the corpus of their language is.

    Args:
        stimuli: a folder of our word sets with `categories.yaml`; or, of the paper's files, the folder with
            `ceat*.jsonl` (or one of them), `weatWordsWithSuffix.jsonl`, or `allWeatWords.txt`. Of several folders of
            word sets the later ones add words and categories.
        suffix_groups: our YAML for our word sets; `weatWordsWithSuffix.jsonl` for `ceat*.jsonl` (without it only bare
            words are found, which is a warning); `suffixCategories.jsonl` for `allWeatWords.txt`; nothing for
            `weatWordsWithSuffix.jsonl`, which holds its suffixes.
        normalization: the name of the corpus's normalization (`prasanga.text.normalizer`); by default the language's
            own (`prasanga.lexicon.model`: bangla, nukta for Hindi, nfkc for English).
        categories: more categories by name, with words or files, as a study's config defines them.

    Raises:
        InputError: a missing or broken file; files that do not belong together; an unknown key, suffix group, word set,
            number, case or ending class; a word set that is empty or lists a word twice; a word with different entries
            in two sets; a group on a stem of another ending class; in our layout, a form that two stimuli claim and
            that is not listed under `ambiguous:`, or one that is listed there and not ambiguous; an unknown
            normalization.
    """
    groups = None if suffix_groups is None else Path(suffix_groups)
    folders = [Path(path) for path in ([stimuli] if isinstance(stimuli, str | Path) else stimuli)]
    kinds = [_find_kind(folder) for folder in folders]
    for folder, kind in zip(folders, kinds, strict=True):
        if (len(folders) > 1 or categories) and kind != _WORD_SETS:
            raise InputError(
                f"{folder}: holds {kind}, to which nothing can be added. Name it alone under `stimuli`, and choose"
                " from its categories."
            )
    lexicon = _load(folders, kinds[0], groups, normalization, categories or {})
    return replace(lexicon, normalization=normalization)


def lexicon_of(words: Mapping[str, Any]) -> Lexicon:
    """Load the lexicon of a study from its `stimuli`, `suffix_groups`, `normalization` and categories (`own`), if any.

    Raises `InputError` as `load_lexicon`.
    """
    given = words["stimuli"], words["suffix_groups"]
    return load_lexicon(*given, normalization=words["normalization"], categories=words.get("own"))


def _load(
    folders: Sequence[Path], kind: str, groups: Path | None, normalization: str | None, categories: Mapping[str, Any]
) -> Lexicon:
    stimuli = folders[0]
    if kind not in _PARTNERS:
        raise InputError(
            f"{stimuli}: holds {kind}, which cannot serve as stimuli; it belongs under `suffix_groups`. Give"
            f" {_either(_PARTNERS)}."
        )
    if kind == _CATEGORIES and groups is None:
        return authors.load_categories(_category_files(stimuli), None, normalization)
    partner, found = _PARTNERS[kind], None if groups is None else _find_kind(groups)
    if found != partner:
        problem = f"{groups}: holds {found}, which does not belong to" if found else "no suffix groups are given for"
        remedy = f"Give {partner} as `suffix_groups`." if partner else "Write `suffix_groups: null`."
        raise InputError(f"{problem} {stimuli} ({kind}). {remedy}")
    if groups is None:
        return authors.load_suffix_lists(stimuli, normalization)
    if kind == _WORD_SETS:
        return load_word_sets(folders, groups, normalization, categories)
    if kind == _CATEGORIES:
        return authors.load_categories(_category_files(stimuli), groups, normalization)
    return authors.load_grouped_words(stimuli, groups, normalization)


def _find_kind(path: Path) -> str:
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
    keys = read_json_object(path).keys()
    if keys & set(authors.SIDES):
        return _CATEGORIES
    return _SUFFIX_CATEGORIES if keys and all(key.isdecimal() for key in keys) else _SUFFIX_LISTS


def _category_files(path: Path) -> list[Path]:
    return sorted(path.glob("ceat*.json*")) if path.is_dir() else [path]


def _either(kinds: dict[str, str | None]) -> str:
    *others, last = kinds
    return f"{', '.join(others)} or {last}"
