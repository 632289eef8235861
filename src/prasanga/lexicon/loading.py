"""Load a lexicon from word sets and categories, or from the layouts of Sadhu et al. (2024).

Our layout is `resources/stimuli/<language>/*.yaml`. Mistakes that would silently change a measurement are refused: a
word with two different entries, a group that does not fit the end of its word, a form that two stimuli claim without a
decision.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import regex

from prasanga.base.errors import InputError
from prasanga.base.formats import recognize_file, refuse
from prasanga.base.yaml import Entry, as_entry, read_json_object, read_text, suggest
from prasanga.lexicon.inflection import (
    SuffixGroups,
    capitalize,
    ending_class,
    inflections,
    load_suffix_groups,
    read_neighbours,
    resolve,
)
from prasanga.lexicon.model import (
    AUTHORS_LANGUAGE,
    CASES,
    MATCHED,
    NUMBERS,
    SIDES,
    Category,
    Lexicon,
    Stimulus,
    SurfaceForm,
    WordSet,
    claimants,
    find_languages,
    first_readings,
    name_test,
    read_records,
    read_tests,
    read_yaml,
    spelling_of,
    warn_of_repeats,
)

CATEGORIES_FILE = "categories.yaml"
_SHOWN = 12


@dataclass(frozen=True)
class _LexiconReader:
    """The words and sets read so far, and the groups and normalization for reading them.

    `unused` are words and sets that the study does not measure; the study's own of the same name replace them.
    """

    groups: SuffixGroups
    normalization: str | None
    words: dict[str, Stimulus] = field(default_factory=dict)
    sets: dict[str, WordSet] = field(default_factory=dict)
    unused: set[str] = field(default_factory=set)
    clashes: list[tuple[Stimulus, Stimulus]] = field(default_factory=list)
    ungrouped: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def read(self, path: Path) -> Entry:
        """Read a file of words in the groups' language."""
        return read_yaml(path, self.groups.language, self.normalization)

    def read_head(self, folder: Path) -> Entry:
        """Read the categories of a folder of word sets."""
        head = read_yaml(folder / CATEGORIES_FILE, normalization=self.normalization)
        optional = ["ambiguous", "neighbours", "replace"]
        head.require("a file of categories", required=["language", "categories"], optional=optional)
        if (language := head.text("language")) != self.groups.language:
            raise InputError(
                f"{head.path}: `language` is {language!r}, but {self.groups.path} is for {self.groups.language!r}. Give"
                " the suffix groups of the same language."
            )
        return head

    def add(self, content: Entry) -> None:
        """Add a word set with its words; note words whose entry in another set of the study differs."""
        optional = ["gloss", "class", "searched", "as_published"]
        content.require("a word set", required=["set", "words"], optional=optional)
        name = content.text("set")
        entries = content.entries_of("words")
        read = [self._read_word(entry, content.text("class")) for entry in entries]
        names = [word.name for word in read]
        if not names or len(set(names)) < len(names) or name in self.sets.keys() - self.unused:
            repeated = ", ".join(dict.fromkeys(word for word in names if names.count(word) > 1))
            problem = (
                f"has {repeated} twice" if repeated else f"is in {self.sets[name].path} too" if names else "is empty"
            )
            remedy = "Write each word once, and the words of a set in one place."
            raise InputError(f"{content.path}: the word set `{name}` {problem}. {remedy}")
        for word in read:
            known = self.words.get(word.name, word)
            merged = _merge(known, word)
            if merged is None and word.name not in self.unused:
                self.clashes.append((known, word))
            self.words[word.name] = merged or word
        self.unused.difference_update([name, *names])
        gloss, searched = content.text("gloss", name), content.flag("searched", default=True)
        clusters = {word: each.text("cluster") for word, each in zip(names, entries, strict=True) if "cluster" in each}
        published = content.flag("as_published", default=False)
        self.sets[name] = WordSet(name, gloss, tuple(names), searched, str(content.path), clusters, published)

    def _read_word(self, entry: Entry, word_class: str) -> Stimulus:
        """Read a word of a set of that class; for a word that is already known, its name is enough."""
        optional = ["gloss", "group", "groups", "variants", "forms", "class", "cluster"]
        entry.require("a word", required=["stimulus"], optional=optional)
        name = entry.text("stimulus")
        if entry.keys() <= {"stimulus", "gloss", "cluster"} and name in self.words:
            return self.words[name]
        named = entry.texts("group") + entry.texts("groups")
        if not named or ("group" in entry and "groups" in entry):
            fitting = ", ".join(group.name for group in self.groups.groups.values() if group.fits(name))
            problem = "both `group` and `groups`" if named else "no `group`"
            self.ungrouped.append(
                f"{entry.place}: the stimulus {name} has {problem}. Write `{{stimulus: {name}, group: name}}`; groups"
                f" of {self.groups.path} for its ending: {fitting or 'none'}."
            )
        return Stimulus(
            name=name,
            gloss=entry.text("gloss"),
            groups=named,
            variants=entry.texts("variants"),
            word_class=entry.text("class", word_class),
            place=entry.place,
            irregular=tuple(_read_irregular(name, form) for form in entry.entries_of("forms")),
        )

    def add_tests(self, path: Path) -> Iterator[Category]:
        """Add the word sets of another program's file and yield its categories; new words are not inflected.

        A set of a test is named after both, as in `weat1.Flowers`, because tests share names of sets.
        """
        language, new = self.groups.language, dict[str, Stimulus]()
        names = {variant: word.name for word in self.words.values() for variant in word.variants}
        for name, listed in read_tests(path, language, spelling_of(language, self.normalization)):
            sets = [replace(each, stimuli=tuple(names.get(word, word) for word in each.stimuli)) for each in listed]
            for each in sets:
                key = f"{name}.{each.name}" if name else each.name
                if (other := self.sets.setdefault(key, each)) is not each:
                    raise InputError(
                        f"{path}: the word set `{key}` is also in {other.path}. Rename one, or take one file out"
                        " of `lexicon.stimuli`."
                    )
                for word in each.stimuli:
                    new.setdefault(word, Stimulus(word, word_class=each.name, place=str(path)))
            self.warnings.extend(warn_of_repeats(sets))
            if name:
                yield name_test(name, sets)
        if bare := [word for word in new if word not in self.words]:
            self.warnings.append(
                f"{path}: {len(bare)} word(s) are not inflected ({bare[0]}, ...). Word sets in YAML are."
            )
        self.words.update({word: new[word] for word in bare})

    def require_no_clash(self) -> None:
        """Refuse words with several entries, all in one message."""
        if self.clashes:
            lines = []
            for both in self.clashes:
                places = [f"{' '.join((*each.groups, each.word_class)).strip()} at {each.place}" for each in both[::-1]]
                lines.append(f"- {both[0].name}: {'; '.join(places)}")
            word = self.clashes[0][1]
            alone = word.name if word.place.startswith("`") else f"{{stimulus: {word.name}}}"
            raise InputError(
                f"{word.place}: {len(lines)} word(s) of this study differ from another set in group, variant, form or"
                f" class. Write only `- {alone}` at the first place, or the same entry at both.\n" + "\n".join(lines)
            )


def load_word_sets(
    folders: Sequence[Path],
    suffix_groups: Path | None,
    normalization: str | None = None,
    categories: Mapping[str, Any] | None = None,
    used: Collection[str] | None = None,
) -> Lexicon:
    """Read folders of word sets with their `categories.yaml`, and inflect their words.

    Args:
        folders: the word sets; later folders add to earlier ones, and only the first needs a `categories.yaml`. Or
            other programs' files, and folders of them.
        suffix_groups: the groups that they name; None if all are other programs'.
        normalization: see `load_lexicon`, also for errors.
        categories: of the study's config, with words of their own.
        used: see `load_lexicon`.
    """
    of_others = [folder for folder in folders if _find_kind(folder) == _OTHER_SETS]
    others = [path for folder in of_others for path in _list_files(folder, "*.json*", "*.parquet")]
    if suffix_groups:
        groups = load_suffix_groups(suffix_groups, normalization)
    else:
        language, *several = find_languages(read_records(others[0]))
        groups = SuffixGroups(Path(), "" if several else language, {})
    reader = _LexiconReader(groups, normalization)
    with_yaml = [folder for folder in folders if folder not in of_others]
    with_head = [folder for folder in with_yaml if folder == with_yaml[0] or (folder / CATEGORIES_FILE).exists()]
    heads = [reader.read_head(folder) for folder in with_head]
    listed = {name: entry for head in heads for name, entry in head.entry_of("categories").items()}
    measured = [*(listed[name] for name in listed if used is None or name in used), *(categories or {}).values()]
    named = {name for entry in measured for name in _name_sets(entry)}
    for folder in with_yaml:
        for path in sorted(set(folder.glob("*.yaml")) - {folder / CATEGORIES_FILE}):
            reader.add(reader.read(path))
        if used is not None:
            in_use = {word for name in named & reader.sets.keys() for word in reader.sets[name].stimuli}
            reader.unused.update(reader.words.keys() - in_use)
    reader.require_no_clash()
    found = {category.name: category for path in others for category in reader.add_tests(path)}
    shipped = dict(reader.sets)
    reader.unused.update(shipped.keys() - named if used is not None else ())
    own = _read_own(categories or {}, reader)
    reader.require_no_clash()
    sets = {**shipped, **reader.sets}
    searched = dict.fromkeys(name for found in sets.values() if found.searched for name in found.stimuli)
    # Words that are searched for come first, in an order that sets for templates do not change.
    words = {name: reader.words[name] for name in (*searched, *(name for name in reader.words if name not in searched))}
    _check_words(words.values(), searched.keys() - reader.unused, groups, reader.ungrouped)
    defined: dict[str, tuple[Entry, Mapping[str, WordSet]]] = {}
    given = [(head.entry_of("categories"), head.flag("replace", default=False), shipped) for head in heads]
    for category, replaces, known in (*given, (own, False, sets)):
        for name in category:
            entry = category.entry_of(name)
            if name in defined and not replaces:
                place = defined[name][0].place
                raise InputError(f"{entry.place}: the category `{name}` is at {place} too. Rename one.")
            defined[name] = entry, known
    readings = {name: tuple(_inflect(word, groups)) for name, word in words.items()}
    forms = first_readings(reading for name in searched for reading in readings[name])
    claimed = claimants(forms)
    return Lexicon(
        language=groups.language,
        stimuli=tuple(words.values()),
        categories={**found, **{name: _read_category(name, *given) for name, given in defined.items()}},
        warnings=tuple(reader.warnings),
        forms=forms,
        readings=tuple(reading for of_word in readings.values() for reading in of_word if not reading.hyphenated),
        resolutions=resolve(claimed, heads, {name: word.place for name, word in words.items()}, reader.unused),
        neighbours=read_neighbours(claimed, heads, may_lack_forms=used is not None),
    )


def _name_sets(category: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a category's sets that are not defined within it."""
    for key in ("targets", "attributes"):
        given = category.get(key) or ()
        if isinstance(given, Mapping):
            given = [name for name, words in given.items() if words is None]
        for item in [given] if isinstance(given, str) else given:
            yield from item.get("sets", ()) if isinstance(item, Mapping) else [item]


def _read_own(categories: Mapping[str, Any], reader: _LexiconReader) -> Entry:
    """Read the categories that a config defines itself; add their words and sets to the reader's.

    Returns:
        The categories in the layout of a `categories.yaml`.
    """
    own: Entry = as_entry(categories, "categories", spelling_of(reader.groups.language, reader.normalization))
    for name in own:
        entry = own.entry_of(name)
        entry.path = Path(f"categories.{name}")
        for key in ("targets", "attributes"):
            if isinstance(pair := entry.get(key), Entry):
                for set_name, given in pair.items():
                    content, known = _read_own_set(set_name, given, entry, reader), reader.sets.get(set_name)
                    if content is not None and not (known and known.path == str(content.path)):
                        reader.add(content)
                entry[key] = list(pair)
        if "title" not in entry:
            targets, attributes = (" and ".join(map(str, entry.get(key, ()))) for key in ("targets", "attributes"))
            entry["title"] = f"{targets}, {attributes}".replace("_", " ").capitalize()
    return own


def _read_own_set(name: str, given: Any, category: Entry, reader: _LexiconReader) -> Entry | None:
    """Return a word set from the words or the file in a config; None for a set of the lexicon."""
    if given is None:
        return None
    if isinstance(given, str):
        content = reader.read(Path(given)) if Path(given).match("*.y*ml") and Path(given).is_file() else None
        if content is None or content.get("set") != name:
            raise InputError(
                f"{category.place}: the set `{name}` is {given!r}, which is no file with `set: {name}`. Write a list of"
                " words, or the path of such a word set (YAML). Name files of other programs under `lexicon.stimuli`."
            )
        return content
    words = [{"stimulus": word} if isinstance(word, str) else word for word in given]
    made: Entry = as_entry({"set": name, "words": words}, f"{category.path}.{name}", category.normalized)
    return made


def _read_irregular(stimulus: str, entry: Entry) -> SurfaceForm:
    entry.require(f"a form of {stimulus}", required=["form"], optional=["number", "case", "emphatic"])
    read = {"number": entry.text("number", "singular"), "case": entry.text("case", "nominative")}
    for kind, allowed in (("number", NUMBERS), ("case", CASES)):
        if read[kind] not in allowed:
            raise InputError(
                f"{entry.place}: a form of {stimulus} has the {kind} `{read[kind]}`.{suggest(read[kind], allowed)}"
            )
    return SurfaceForm(entry.text("form"), stimulus, "irregular", read["number"], read["case"], entry.text("emphatic"))


def _merge(first: Stimulus, second: Stimulus) -> Stimulus | None:
    """Return a word of several sets as one stimulus; None if group, variants or forms differ.

    Its class must be the same where both give one; a set without templates need not repeat it.
    """
    one, other = ((word.groups, word.variants, [form.form for form in word.irregular]) for word in (first, second))
    if one != other or len({first.word_class, second.word_class} - {""}) > 1:
        return None
    return first if first.word_class else replace(first, word_class=second.word_class, place=second.place)


def _check_words(
    words: Collection[Stimulus], searched: Collection[str], groups: SuffixGroups, problems: list[str]
) -> None:
    """Refuse groups that are missing or do not fit the end of a word, and spellings that two stimuli share.

    Only words that are searched for share spellings: otherwise variants do not matter. `problems` are earlier ones.
    """
    owners: dict[str, Stimulus] = {}
    for word in words:
        spellings, who = (word.name, *word.variants), f"{word.place}: the stimulus {word.name}"
        for name in word.groups:
            if (group := groups.groups.get(name)) is None:
                known = suggest(name, groups.groups)
                problems.append(f"{who} names the suffix group `{name}`, which is not in {groups.path}.{known}")
                continue
            for spelling in (each for each in spellings if not group.fits(each)):
                fitting = ", ".join(other.name for other in groups.groups.values() if other.fits(spelling))
                problems.append(
                    f"{who} has the suffix group `{name}`, which is for stems of the ending class"
                    f" {' or '.join(group.endings)}; {spelling} is of the class {ending_class(spelling)}. Groups for"
                    f" that class: {fitting or 'none'}."
                )
        for spelling in dict.fromkeys(spellings) if word.name in searched else ():
            if (other := owners.setdefault(spelling, word)) is not word:
                problems.append(
                    f"{who} has the spelling {spelling}, and so has {other.name} ({other.place}). Make them one"
                    " stimulus, or take the spelling from one of them."
                )
        if len(set(spellings)) < len(spellings):
            problems.append(f"{who} repeats a variant, or has its name as one (after normalization). Delete it.")
    if len(problems) > _SHOWN:
        problems[_SHOWN:] = [f"... and {len(problems) - _SHOWN} more like these."]
    if problems:
        raise InputError("\n".join(problems))


def _inflect(stimulus: Stimulus, groups: SuffixGroups) -> Iterator[SurfaceForm]:
    for spelling in (stimulus.name, *stimulus.variants):
        for name in stimulus.groups:
            for form, number, case, emphatic, hyphenated in inflections(spelling, groups.groups[name]):
                yield SurfaceForm(form, stimulus.name, name, number, case, emphatic, hyphenated)
    if not stimulus.groups:
        yield SurfaceForm(stimulus.name, stimulus.name, number="singular", case="nominative")
    yield from stimulus.irregular
    if any(groups.groups[name].capitalized for name in stimulus.groups):
        yield from (replace(form, form=capitalize(form.form)) for form in stimulus.irregular)


def _read_category(name: str, entry: Entry, sets: Mapping[str, WordSet]) -> Category:
    entry.require(
        f"the category `{name}`", required=["targets", "attributes"], optional=["title", "matched", "sanity_check"]
    )
    if "matched" in entry and entry["matched"] not in MATCHED:
        raise InputError(
            f"{entry.place}: `matched` of the category `{name}` is {entry['matched']!r}. Write {' or '.join(MATCHED)}:"
            " the sides whose two sets are pairs, word by word."
        )
    targets, attributes = (_read_pair(name, key, entry, sets) for key in ("targets", "attributes"))
    is_check = entry.flag("sanity_check", default=False)
    return Category(name, entry.text("title", name), targets, attributes, entry.get("matched", ""), is_check)


def _read_pair(name: str, key: str, entry: Entry, sets: Mapping[str, WordSet]) -> tuple[WordSet, WordSet]:
    items = [entry[key]] if isinstance(entry.get(key), str) else entry.items_of(key)
    pair = [_read_side(f"the category `{name}`", key, item, entry, sets) for item in items]
    common = set.intersection(*(set(side.stimuli) for side in pair)) if len(pair) == 2 else set()
    if len(pair) != 2 or common:
        raise InputError(
            f"{entry.place}: `{key}` of the category `{name}` is [{', '.join(side.name for side in pair)}] (words in"
            f" both: {', '.join(sorted(common)) or 'none'}). Write two word sets without a common word."
        )
    _check_units(f"{entry.place}: `{key}` of the category `{name}`", key, pair, entry.get("matched") in (key, "both"))
    return pair[0], pair[1]


def _check_units(place: str, key: str, pair: Sequence[WordSet], matched: bool) -> None:
    """Refuse matched sets that are not pairs or whose clusters split pairs, and clusters that both sets share."""
    first, second = pair
    one, other = first.clusters, second.clusters
    if matched and len(first.stimuli) != len(second.stimuli):
        raise InputError(
            f"{place} is matched, but {first.name} has {len(first.stimuli)} words and {second.name}"
            f" {len(second.stimuli)}. Give each word its partner at the same place, or take `{key}` out of `matched`."
        )
    for x, y in zip(first.stimuli, second.stimuli, strict=True) if matched else ():
        if one.get(x) != other.get(y):
            named = (f"`cluster: {name}`" if name else "no `cluster`" for name in (one.get(x), other.get(y)))
            raise InputError(
                f"{place} is matched, but in the pair {x}, {y} the words have {' and '.join(named)}. Write the same"
                " `cluster` for both, or for neither."
            )
    if not matched and (common := set(one.values()) & set(other.values())):
        raise InputError(
            f"{place}: both {first.name} and {second.name} have words of the cluster `{min(common)}`, but only matched"
            f" sets share clusters. Rename it in one of them, or write `matched: {key}` if the sets are pairs."
        )


def _read_side(what: str, key: str, item: object, entry: Entry, sets: Mapping[str, WordSet]) -> WordSet:
    """Return one side of a pair: the named set, or several sets joined under a name of their own."""
    if not isinstance(item, Entry):
        if not isinstance(item, str) or (name := entry.clean(item)) not in sets:
            raise InputError(
                f"{entry.place}: {what} names the word set `{item}` under `{key}`, and there is no set of that name."
                f"{suggest(str(item), sets)} Or join several sets: `{{set: new_name, sets: [first, second]}}`."
            )
        return sets[name]
    item.require(f"a joined set of {what}", required=["set", "sets"], optional=["gloss"])
    joined, names = item.text("set"), item.texts("sets")
    if joined in sets or len(names) < 2 or len(set(names)) < len(names):
        raise InputError(
            f"{item.place}: the joined set `{joined}` of {what} has `sets: [{', '.join(names)}]`. Give it a name that"
            " no word set has, and two or more different word sets: `sets: [first, second]`."
        )
    parts = [_read_side(f"the joined set `{joined}`", "sets", found, item, sets) for found in names]
    listed = [stimulus for part in parts for stimulus in part.stimuli]
    words = tuple(dict.fromkeys(listed))
    if entry.get("matched") in (key, "both") and len(words) < len(listed):
        repeated = ", ".join(word for word in words if listed.count(word) > 1)
        raise InputError(
            f"{item.place}: the joined set `{joined}` is matched and has {repeated} twice, so later words would lose"
            f" their partners. Join sets without a word in common, or take `{key}` out of `matched`."
        )
    clusters = {word: name for part in reversed(parts) for word, name in part.clusters.items()}
    searched, published = all(part.searched for part in parts), any(part.as_published for part in parts)
    return WordSet(joined, item.text("gloss", joined), words, searched, "", clusters, published)


# --------------------
# Load a lexicon in any layout: ours, or one of Sadhu et al. (2024).


_GROUPED = re.compile(r"([^,\n]+),(\s*\d[\d\s/]*)")
_IN_STUDY = "Or write the words in the study: `categories: {V1: {targets: {a: [...], b: [...]}, attributes: {...}}}`."
_WORD_SETS = "a folder of word sets (*.yaml)"
_OTHER_SETS = "word sets of another program (JSON, JSON lines, Parquet)"
_GROUPS = "suffix groups (*.yaml)"
_CATEGORIES = "categories of the paper (ceat*.jsonl)"
_SUFFIX_LISTS = "words with their suffixes (weatWordsWithSuffix.jsonl)"
_GROUPED_WORDS = "words with group numbers (allWeatWords.txt)"
_SUFFIX_CATEGORIES = "numbered suffix groups (suffixCategories.jsonl)"
_NOTHING = "nothing"
_TOGETHER = (
    (_WORD_SETS, _GROUPS),
    (_OTHER_SETS, _GROUPS),
    (_OTHER_SETS, _NOTHING),
    (_CATEGORIES, _SUFFIX_LISTS),
    (_CATEGORIES, _NOTHING),
    (_GROUPED_WORDS, _SUFFIX_CATEGORIES),
    (_SUFFIX_LISTS, _NOTHING),
)
"""The combinations of stimuli and suffix groups."""


def load_lexicon(
    stimuli: str | Path | Sequence[str | Path],
    suffix_groups: str | Path | None = None,
    *,
    normalization: str | None = None,
    categories: Mapping[str, Any] | None = None,
    used: Collection[str] | None = None,
) -> Lexicon:
    """Read word sets and suffix groups and make the surface forms of every stimulus.

    The layout is recognized by the files' content. All words are normalized like the corpus of their language.

    Args:
        stimuli: a folder of our word sets with `categories.yaml`; or, of the paper's files, the folder with
            `ceat*.jsonl` (or one of them), `weatWordsWithSuffix.jsonl`, or `allWeatWords.txt`; or a file or folder of
            word sets of WEFE, SEAT, bias-bench or WEATHub (docs/lexicon.md), whose words are not inflected. Later
            folders add words and categories.
        suffix_groups: our YAML for our word sets, or for the language of other programs' sets (by default the one of
            bn, hi and en with their script); `weatWordsWithSuffix.jsonl` for `ceat*.jsonl` (without it only bare words
            are found, with a warning); `suffixCategories.jsonl` for `allWeatWords.txt`; None for
            `weatWordsWithSuffix.jsonl`, which includes its suffixes.
        normalization: the name of the corpus's normalization (`prasanga.text.normalizer`); by default the language's
            own (`prasanga.lexicon.model`: bangla, nukta for Hindi, nfkc for English).
        categories: more categories by name, with words or files, as a study's config defines them.
        used: the folders' categories that a study measures; None for all. Words that only others have give way to
            words of later folders and of `categories`, and sets to sets of `categories`.

    Raises:
        InputError: a missing or broken file; files that do not belong together; an unknown key, suffix group, word set,
            number, case or ending class; a word set that is empty or repeats a word; a word with different entries in
            two sets; matched sets that are not pairs, or clusters that split them; a group on a stem of another ending
            class; in our layout, a form that two stimuli claim and that is not listed under `ambiguous:`, or one that
            is listed there and not ambiguous; an unknown normalization.
    """
    groups = None if suffix_groups is None else Path(suffix_groups)
    folders = [Path(path) for path in ([stimuli] if isinstance(stimuli, str | Path) else stimuli)]
    kinds, partner = dict.fromkeys(map(_find_kind, folders)), _NOTHING if groups is None else _find_kind(groups)
    if _WORD_SETS in kinds:
        kinds.pop(_OTHER_SETS, None)
    kind = " and ".join(kinds)
    has_sets = kind in (_WORD_SETS, _OTHER_SETS)
    if (kind, partner) not in _TOGETHER or (not has_sets and (len(folders) > 1 or categories)):
        fitting = "; ".join(f"{one} with {other}" for one, other in _TOGETHER)
        raise InputError(
            f"{', '.join(map(str, folders))}: {kind}, with {partner} as `suffix_groups` ({suffix_groups}). Give"
            f" {fitting}. Only to word sets can a study add folders and categories. {_IN_STUDY}"
        )
    if has_sets:
        loaded = load_word_sets(folders, groups, normalization, categories, used)
    else:
        loaded = _load_authors_words(kind, folders[0], groups, spelling_of(AUTHORS_LANGUAGE, normalization))
    return replace(loaded, normalization=normalization)


def lexicon_of(words: Mapping[str, Any]) -> Lexicon:
    """Load a study's lexicon from its `stimuli`, `suffix_groups`, `normalization`, and optional categories.

    `own` are the categories that it defines, `used` the names of others that it measures. Raises InputError as
    `load_lexicon`.
    """
    given = words["stimuli"], words["suffix_groups"]
    options: dict[str, Any] = {"categories": words.get("own"), "used": words.get("used")}
    return load_lexicon(*given, normalization=words["normalization"], **options)


def _find_kind(path: Path) -> str:
    layouts = {"ceat*.json*": _CATEGORIES, "*.yaml": _WORD_SETS, "*.json*": _OTHER_SETS, "*.parquet": _OTHER_SETS}
    if path.is_dir() and (kind := next((kind for end, kind in layouts.items() if any(path.glob(end))), "")):
        return kind
    if path.is_dir() or not path.exists():
        problem = "a folder without word sets" if path.is_dir() else "no such file or folder"
        raise InputError(f"{path}: {problem}. Check the paths under `lexicon` in the config.")
    if path.match("*.y*ml"):
        return _GROUPS
    found = recognize_file(path)
    if path.suffix == ".txt" and found.kind in ("text", "table") and _GROUPED.match(read_text(path)):
        return _GROUPED_WORDS
    if found.compression or not (found.kind in ("json", "jsonl", "parquet") or path.suffix.startswith(".json")):
        what = refuse(found).partition(". ")[0].removeprefix("is ") or f"{found.kind} {found.compression}".strip()
        raise InputError(f"{path}: {what}, where plain JSON or Parquet is read (docs/lexicon.md). {_IN_STUDY}")
    first, *others = read_records(path)
    if others or first.keys() & {*SIDES}:
        return _OTHER_SETS if others or not path.name.startswith("ceat") else _CATEGORIES
    if first and all(key.isdecimal() for key in first):
        return _SUFFIX_CATEGORIES
    has_endings = regex.search(r'"\s*\p{M}', json.dumps(first, ensure_ascii=False))  # no word begins with a mark
    return _SUFFIX_LISTS if has_endings or "suffix" in path.name.lower() else _OTHER_SETS


def _list_files(path: Path, *endings: str) -> list[Path]:
    """Return a folder's files with word sets, or the file itself."""
    return sorted(each for end in endings for each in path.glob(end)) if path.is_dir() else [path]


# --------------------
# The word lists of Sadhu et al. (2024) in their own layouts, for comparison with the paper.
#
# The files are JSON or plain text whatever their ending. They lack number and case, and have spaces at the ends of
# suffixes, repeated words, and words that are another word's suffixed form; all this is read like in the paper's code.
#
# - `weatWordsWithSuffix.jsonl`: {word: [suffix, ...]}; a word's forms are the word and word + suffix.
# - `allWeatWords.txt`: lines `word, 12/13`, with `suffixCategories.jsonl`: {"12": [suffix, ...]}.
# - `ceat1.jsonl` ... are C1, ...: {"targ1": {"category": name, "examples": [word, ...]}, "targ2", "attr1", "attr2"},
#   with the suffixes of `weatWordsWithSuffix.jsonl`. A word's class, which selects its SEAT sentences, is its first
#   set.
#   set it is in.


def _load_authors_words(kind: str, path: Path, suffixes_of: Path | None, spelled: Callable[[str], str]) -> Lexicon:
    """Read word lists of a kind; `suffixes_of` has their suffixes if they lack them."""
    warnings: list[str] = []
    suffixes: dict[str, list[tuple[str, str]]] = {}  # by word, each with its group
    if kind == _GROUPED_WORDS and suffixes_of:
        listed = list(_read_grouped_words(path, suffixes_of))
    elif source := path if kind == _SUFFIX_LISTS else suffixes_of:
        listed = [(word, "", endings) for word, endings in _read_text_lists(source).items()]
    else:
        listed = []
        warnings.append(f"{path}: no suffix lists given: words are found in their bare form only.")
    for word, group, own in listed:
        suffixes.setdefault(spelled(word).strip(), []).extend((spelled(each).strip(), group) for each in own)
    files = _list_files(path, "ceat*.json*") if kind == _CATEGORIES else []
    numbered = sorted((int("".join(re.findall(r"\d", file.stem)) or 0), file) for file in files)
    categories = {
        f"C{number}": name_test(f"C{number}", sets)
        for number, file in numbered
        for _, sets in read_tests(file, AUTHORS_LANGUAGE, spelled)
    }
    sets = [side for category in categories.values() for side in (*category.targets, *category.attributes)]
    warnings += warn_of_repeats(sets)
    classes = {word: side.name for side in reversed(sets) for word in side.stimuli}
    words = list(dict.fromkeys(word for side in sets for word in side.stimuli)) or list(suffixes)
    for word in (word for word in words if suffixes and word not in suffixes):
        warnings.append(f"{suffixes_of}: no entry for {word}, a word of the categories: it is found in its bare form.")
    stimuli, readings = [], []
    for word in words:
        endings = suffixes.get(word, [])
        groups = tuple(dict.fromkeys(group for _, group in endings if group))
        stimuli.append(Stimulus(word, groups=groups, word_class=classes.get(word, "")))
        readings.append(SurfaceForm(word, word, number="singular", case="nominative"))
        readings += [SurfaceForm(spelled(word + suffix).strip(), word, group) for suffix, group in endings]
    forms = first_readings(readings)
    for form, owners in claimants(forms).items():
        if len(owners) > 1:
            warnings.append(f"The form {form} belongs to the stimuli {' and '.join(owners)}: each gets its hits.")
    return Lexicon(AUTHORS_LANGUAGE, tuple(stimuli), categories, forms, tuple(warnings))


def _read_grouped_words(path: Path, suffix_categories: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each word with each of its groups and the group's suffixes."""
    groups = _read_text_lists(suffix_categories)
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        match = _GROUPED.fullmatch(line)
        named = re.findall(r"\d+", match[2]) if match else []
        if line.strip() and (match is None or not groups.keys() >= set(named)):
            raise InputError(
                f"{path}, line {number}: found {line!r}. Write a word, a comma, and numbers of groups in"
                f" {suffix_categories}: `word, 1/2`."
            )
        yield from ((match[1], group, groups[group]) for group in named if match)


def _read_text_lists(path: Path) -> dict[str, list[str]]:
    content = read_json_object(path)
    for key, value in content.items():
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InputError(f'{path}: `{key}` is {value!r}. Write a list of suffixes: "{key}": ["...", "..."].')
    return content
