"""Define the lexicon (stimuli, their surface forms, the categories that use them), and read other programs' word sets.

The stage writes a lexicon as a table of forms and as categories, which later stages read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import regex

from prasanga.base.errors import InputError, reason
from prasanga.base.yaml import Entry, read_entry, read_json_objects
from prasanga.schema import TABLES
from prasanga.text import fold, normalizer

# --------------------
# Spelling: word lists are normalized like the corpus of their language.
#
# A word that the list writes with a nukta and the corpus without (ज़िंदगी, जिंदगी) would never be found. So a lexicon's
# forms have the same normalization as the text that is searched for them, which depends on the language.


#: The normalization of a language's corpus unless the config says otherwise (`normalization` there).
DEFAULT_NORMALIZATIONS = {"bn": "bangla", "hi": "nukta", "en": "nfkc"}
_OF_OTHER_LANGUAGES = "nfkc"


def spelling_of(language: str, normalization: str | None = None) -> Callable[[str], str]:
    """Return the function that normalizes texts of word lists like the corpus.

    Args:
        language: bn, hi, en; texts in other languages are brought into NFKC.
        normalization: the name of a normalization that replaces the language's own (`prasanga.text.normalizer`).

    Raises:
        InputError: an unknown normalization.
    """
    name = normalization or DEFAULT_NORMALIZATIONS.get(language, _OF_OTHER_LANGUAGES)
    return normalizer(name).one


def read_yaml(path: Path, language: str | None = None, normalization: str | None = None) -> Entry:
    """Read a YAML file of words, with texts spelled as in the corpus.

    Args:
        path: the file, which is one mapping.
        language: of its words; by default the file's `language`.
        normalization: the corpus's, if not the language's own.

    Raises:
        InputError: an unknown normalization; as `read_entry`.
    """
    return read_entry(path, lambda entry: spelling_of(language or str(entry.get("language", "")), normalization))


AUTHORS_LANGUAGE = "bn"
"""The language of the files of Sadhu et al. (2024)."""
SIDES = ("targ1", "targ2", "attr1", "attr2")
"""The keys of a category in those files."""


def read_authors_side(
    path: Path, content: Mapping[str, Any], side: str, keys: Sequence[str], spelled: Callable[[str], str]
) -> tuple[str, str, tuple[str, ...]]:
    """Return the name of a set, the first of `keys` in its entry, and its texts there, spelled.

    Raises:
        InputError: the entry lacks a name or texts.
    """
    entry = content.get(side)
    named = entry if isinstance(entry, dict) else {}
    key = next((key for key in keys if key in named), "")
    texts = named.get(key)
    texts = texts if isinstance(texts, list) and all(isinstance(text, str) for text in texts) else []
    cleaned = tuple(spelled(text).strip() for text in texts)
    if not isinstance(named.get("category"), str) or not cleaned or not all(cleaned):
        allowed = " or ".join(f'"{key}"' for key in keys)
        raise InputError(
            f'{path}: `{side}` must be {{"category": name, {allowed}: [text, ...]}}, with at least one text and none'
            f" empty; found {entry!r:.80}."
        )
    return named["category"], key, cleaned


# --------------------
# Word sets in the files of other programs, JSON or Parquet:
#
# - WEFE: {"flowers": [word, ...], ...}, and a query as a dict ("target_sets", "attribute_sets", their names)
# - SEAT, bias-bench: {"targ1": {"category": name, "examples": [word, ...]}, "targ2", "attr1", "attr2"}
# - WEATHub: one row per language and test, with columns "targ1.category", "targ1.examples" and so on
# - others with the same four sets, as lists or mappings: "target_1", "X", "first_attribute"

_LETTERS = dict(zip("xyab", SIDES, strict=True))
_SIDE = re.compile(r"(targ|attr)[a-z]*[_ ]?(\d+)")
_SENTENCE = re.compile(r"\s.*[.?!\u0964]$")


def read_records(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON file, or the rows of a Parquet file."""
    try:
        return pl.read_parquet(path).to_dicts() if path.suffix == ".parquet" else read_json_objects(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path}: damaged ({reason(error)}). Write the file again, or fetch it again.") from None


def find_languages(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the languages that rows name; otherwise the one of bn, hi and en with the words' script, or ""."""
    text = " ".join(word for record in records for word in _list_words(record))
    scripts = {"bn": r"\p{Bengali}", "hi": r"\p{Devanagari}", "en": r"\p{Latin}"}
    written = [language for language, letters in scripts.items() if regex.search(letters, text)]
    named = sorted({str(record["language"]) for record in records if "language" in record})
    return named or written[:1] or ["" if text else "en"]


def _list_words(value: Any) -> Iterator[str]:
    for each in value.values() if isinstance(value, Mapping) else value:
        if isinstance(each, Mapping | list):
            yield from _list_words(each)
        elif isinstance(value, list):
            yield str(each)


def read_tests(path: Path, language: str, spelled: Callable[[str], str]) -> Iterator[tuple[str, list[WordSet]]]:
    """Yield the tests in a file of word sets by name, with the four sets of each; "" for sets that belong to no test.

    Raises:
        InputError: the file is not word sets (sentences, for example), or has words in other languages.
    """
    spoken = find_languages(records := read_records(path))
    if not language or (language not in spoken and (len(spoken) > 1 or language in DEFAULT_NORMALIZATIONS)):
        remedy = f"Write `language: {spoken[0]}` in the study, or give" if spoken[0] else "Give"
        raise InputError(
            f"{path}: words in {', '.join(spoken) or 'a script of no known language'}, but the suffix groups are for"
            f" {language or 'none'}. {remedy} load_lexicon the suffix groups of {spoken[0] or 'their language'}."
        )
    for record in (record for record in records if record.get("language", language) == language):
        if named := "words" in record and (record.get("name") or record.get("set")):
            record = {str(named): record["words"]}
        sides = _find_sides(path, record)
        name = str(record.get("weat") or record.get("query_name") or path.stem) if sides else ""
        for key, value in record.items() if not sides else ():
            if not isinstance(value, list) or (value and all(isinstance(each, list) for each in value)):
                continue  # lists of pairs are for debiasing, not for tests
            if not value or not all(isinstance(word, str) and word.strip() for word in value):
                raise InputError(f"{path}: `{key}` is {value!r:.80}. Write a list of words, or take the key out.")
            sides[key] = {"category": key, "examples": value}
        sets = []
        for side in SIDES if name else sides:
            title, _, words = read_authors_side(path, sides, side, ("examples",), spelled)
            if sentence := next(filter(_SENTENCE.search, words), ""):
                raise InputError(
                    f"{path}: `{side}` has sentences, such as {sentence!r}. Name the file of the words, such as"
                    " weat1.jsonl for sent-weat1.jsonl. docs/methods.md (SEAT from Python) measures the sentences."
                )
            gloss = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", title).replace("_", " ").lower()
            sets.append(WordSet(title, gloss, words, path=str(path)))
        if not sets:
            raise InputError(
                f'{path}: found {record!s:.60}. Write sets, {{"name": ["word", ...], ...}}, or the four sets of a test,'
                f' {{"targ1": {{"category": "name", "examples": ["word", ...]}}, ...}} ({", ".join(SIDES)}).'
            )
        yield re.sub(r"[^\w.-]+", "_", name), sets


def name_test(name: str, sets: Sequence[WordSet]) -> Category:
    """Return the category of the sets X, Y, A and B, with a title from their names."""
    x, y, a, b = sets
    return Category(name, f"{x.gloss} and {y.gloss}, {a.gloss} and {b.gloss}".capitalize(), (x, y), (a, b))


def warn_of_repeats(sets: Iterable[WordSet]) -> list[str]:
    """Return a sentence for each word that a set lists more than once."""
    repeats = ((each, word, n) for each in sets for word, n in Counter(each.stimuli).items() if n > 1)
    return [
        f"{each.path}: {word} is listed {n} times in {each.name}. It counts once; with `preset: paper` it counts {n}"
        " times in CEAT, as in the paper."
        for each, word, n in repeats
    ]


def _find_sides(path: Path, record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the sets of a test by side (`SIDES`), each with its name and words; {} if this is not a test."""
    for kind in ("target", "attribute"):  # a query of WEFE
        sets = record.get(f"{kind}_sets") or ()
        names = record.get(f"{kind}_sets_names") or [f"{kind}_{n + 1}" for n in range(len(sets))]
        for n, (name, words) in enumerate(zip_longest(names, sets), 1):
            record = {**record, f"{kind}{n}": {"category": name, "examples": words}}
    found: dict[str, dict[str, Any]] = {}
    for key, value in record.items():
        first, _, last = key.lower().partition(".")
        match = _SIDE.fullmatch(first)
        if side := f"{match[1]}{match[2]}" if match else _LETTERS.get(first, ""):
            added = {last: value} if last else value if isinstance(value, dict) else {"examples": value}
            found[side] = {"category": key, **found.get(side, {}), **added}
    if not ({*SIDES} <= found.keys() or record.keys() & {SIDES[0], "target_sets"}):
        return {}
    if others := found.keys() - {*SIDES}:
        raise InputError(
            f"{path}: a test has two target sets and two attribute sets, but `{min(others)}` is a further one. Make a"
            " test of each pair of sets, or write all sets by name and `categories` in the study."
        )
    return found


# --------------------
# The lexicon: stimuli, their surface forms, and the categories that use them.
#
# A stimulus is a word; a category makes it a target or an attribute. A surface form is a spelling of a stimulus in
# running text. All strings are normalized (`spelling_of`).


NUMBERS = ("singular", "definite", "plural", "partitive")
# The nominative is Hindi's direct case; its oblique precedes postpositions (लड़के को), which are separate words.
MATCHED = ("targets", "attributes", "both")
CASES = ("nominative", "genitive", "objective", "locative", "instrumental", "oblique", "vocative")


@dataclass(frozen=True, slots=True)
class Stimulus:
    """A word of the study.

    Attributes:
        name: its spelling, which is also its name in every table.
        gloss: an English translation ("" if the source lacks one).
        groups: the suffix groups that license its forms.
        variants: other spellings of the same word.
        word_class: the class that selects its templates (person_name, adjective; `prasanga.lexicon.templates`), or "".
        place: its file and line, preferably one that gives its class; "" if the layout lacks them.
        irregular: forms that its word set lists.
    """

    name: str
    gloss: str = ""
    groups: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    word_class: str = ""
    place: str = field(default="", compare=False)
    irregular: tuple[SurfaceForm, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class SurfaceForm:
    """A spelling of a stimulus in running text, and its reading.

    Attributes:
        form: the spelling; one or several words.
        stimulus: its stimulus.
        group: the suffix group that licenses it; "irregular" for a listed form, "" if the source lacks groups.
        number: one of `NUMBERS`, or "" if unknown.
        case: one of `CASES`, or "" if unknown.
        emphatic: the emphatic ending (ই, ও) or "".
        hyphenated: whether the ending follows a hyphen (মা-কে). Such forms are found in text but never produced.
    """

    form: str
    stimulus: str
    group: str = ""
    number: str = ""
    case: str = ""
    emphatic: str = ""
    hyphenated: bool = False


@dataclass(frozen=True, slots=True)
class WordSet:
    """A named list of stimuli; a word that the source lists twice is in it twice.

    Attributes:
        name: its name in the categories.
        gloss: its meaning, in English.
        stimuli: their names.
        searched: whether texts are searched for its words; false if they are only for templates.
        path: its file; "" for a set joined from others.
        clusters: by stimulus, the name of the cluster that counts as one unit.
        as_published: whether the words are a paper's, only for comparison with its numbers.
    """

    name: str
    gloss: str
    stimuli: tuple[str, ...]
    searched: bool = True
    path: str = field(default="", compare=False)
    clusters: Mapping[str, str] = field(default_factory=dict)
    as_published: bool = False


@dataclass(frozen=True, slots=True)
class Category:
    """An association test: two target sets and two attribute sets.

    `matched` names the sides whose sets are pairs, matched by position: one of `MATCHED`, or "".
    A `sanity_check` is an association that nobody disputes.
    """

    name: str
    title: str
    targets: tuple[WordSet, WordSet]
    attributes: tuple[WordSet, WordSet]
    matched: str = ""
    sanity_check: bool = False


class Neighbours(NamedTuple):
    """Neighboring words and marks that show that a form is another word.

    Attributes:
        not_after: words and marks that never directly precede the form, folded.
        not_before: words and marks that never directly follow it.
    """

    not_after: frozenset[str] = frozenset()
    not_before: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Lexicon:
    """The words of a study and all spellings under which they are found.

    Attributes:
        language: bn, hi, en.
        stimuli: in the order of the word sets: first those that are searched for, then those only for templates.
        categories: by name.
        forms: the spellings that are searched for, one per stimulus and spelling, with its first reading (a thing's
            nominative is also its objective: here it is the nominative). A stimulus only for templates has none.
        warnings: remarks for the user, a sentence each.
        readings: every reading that can be produced, including later readings of a spelling and those of stimuli only
            for templates; empty means `forms`.
        resolutions: folded form -> the stimuli that get its hits, for forms that several stimuli claim. Other forms
            belong to all their claimants.
        normalization: the name of the words' normalization; None is the language's own.
        neighbours: folded form -> neighbors that show that it is another word, where they are known.
    """

    language: str
    stimuli: tuple[Stimulus, ...]
    categories: Mapping[str, Category]
    forms: tuple[SurfaceForm, ...]
    warnings: tuple[str, ...] = ()
    readings: tuple[SurfaceForm, ...] = field(default=(), repr=False)
    resolutions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    normalization: str | None = None
    neighbours: Mapping[str, Neighbours] = field(default_factory=dict)

    def claims(self) -> dict[str, tuple[str, ...]]:
        """Map each folded form (`prasanga.text.fold`: without ZWNJ) to the stimuli that get its hits.

        A form whose resolution is `none` is absent.
        """
        claims = {form: tuple(owners) for form, owners in claimants(self.forms).items()}
        claims.update(self.resolutions)
        return {form: owners for form, owners in claims.items() if owners}

    def inflect(self, stimulus: str, *, number: str = "singular", case: str = "nominative", emphatic: str = "") -> str:
        """Return the first form that the stimulus's suffix groups license for a number, a case and an emphatic ending.

        Forms of the stimulus's own name precede forms of its variants; a group's endings are in file order. Endings
        after a hyphen are never returned.

        Raises:
            InputError: it does not exist; the message lists the existing ones.
        """
        found = self._inflections.get((stimulus, number, case, emphatic))
        if found is None:
            # A user may write the stimulus as the word list does (ख़ुशी), not by its normalized name (खुशी).
            normalized = spelling_of(self.language, self.normalization)(stimulus)
            found = self._inflections.get((normalized, number, case, emphatic))
        if found is None:
            raise InputError(self._explain_missing(stimulus, number, case, emphatic))
        return found

    @cached_property
    def _inflections(self) -> dict[tuple[str, str, str, str], str]:
        inflections: dict[tuple[str, str, str, str], str] = {}
        for form in self.readings or self.forms:
            if not form.hyphenated:
                inflections.setdefault((form.stimulus, form.number, form.case, form.emphatic), form.form)
        return inflections

    def _explain_missing(self, stimulus: str, number: str, case: str, emphatic: str) -> str:
        exist = dict.fromkeys(f"{found[1]} {found[2]}" for found in self._inflections if found[0] == stimulus)
        if not exist:
            return f"The lexicon has no stimulus {stimulus!r}; add it to a word set, or write one that it has."
        wanted = f"number {number!r}, case {case!r}" + (f", emphatic {emphatic!r}" if emphatic else "")
        return (
            f"The stimulus {stimulus!r} has no form with {wanted}. It has {', '.join(exist)}. Write one of these, or"
            " add the ending to its suffix group."
        )


def claimants(forms: Iterable[SurfaceForm]) -> dict[str, dict[str, SurfaceForm]]:
    """Map each folded form to the stimuli that claim it, each with its reading, in the order of `forms`."""
    claimed: dict[str, dict[str, SurfaceForm]] = {}
    for form in forms:
        claimed.setdefault(fold(form.form), {}).setdefault(form.stimulus, form)
    return claimed


def first_readings(readings: Iterable[SurfaceForm]) -> tuple[SurfaceForm, ...]:
    """Keep the first reading per stimulus and spelling."""
    first: dict[tuple[str, str], SurfaceForm] = {}
    for reading in readings:
        first.setdefault((reading.stimulus, reading.form), reading)
    return tuple(first.values())


# --------------------
# The categories for later stages: the stimuli in `categories.json`.


GLOSSES = "glosses"


def stimuli_of(
    categories: Mapping[str, Any], names: Iterable[str] | None = None, *, key: str = "categories"
) -> list[str]:
    """Return the stimuli of some categories, each once, by first mention.

    Args:
        categories: in the layout of `prasanga.lexicon.categories_of`.
        names: the categories; all by default.
        key: the config key that names them, for the message.

    Raises:
        InputError: the lexicon lacks a category.
    """
    known = [name for name in categories if name != GLOSSES]
    stimuli: dict[str, None] = {}
    for name in known if names is None else names:
        if name not in known:
            raise InputError(
                f"`{key}` names {name!r}, which the lexicon does not have. Allowed:"
                f" {', '.join(known) or 'none, since these word lists have no categories'}."
            )
        for side in (*categories[name]["targets"], *categories[name]["attributes"]):
            stimuli.update(dict.fromkeys(side["stimuli"]))
    return list(stimuli)


def chosen_categories(
    categories: Mapping[str, Any], names: Iterable[str], *, key: str = "categories"
) -> dict[str, Any]:
    """Return some categories, reduced to the values that statistics depend on.

    These are title, names of sets, stimuli, pairs, clusters, and whether they are a paper's. `key` is the config key
    that names the categories, for a message.

    Raises:
        InputError: the lexicon lacks a category.
    """
    names = list(names)
    stimuli_of(categories, names, key=key)
    chosen: dict[str, Any] = {name: _pick(categories[name], "title", "matched") for name in names}
    keys = ("name", "stimuli", "clusters", "as_published")
    for name, role in product(names, ("targets", "attributes")):
        chosen[name][role] = [_pick(side, *keys) for side in categories[name][role]]
    return chosen


def _pick(layout: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: layout[key] for key in keys if key in layout}


def require_measurable(
    categories: Mapping[str, Any],
    names: Iterable[str],
    *,
    key: str = "categories",
    files: Mapping[str, Mapping[str, str]] | None = None,
    in_texts: bool = False,
    preset: str = "paper",
) -> None:
    """Refuse categories whose effect size is undefined, whatever the texts contain.

    A standard deviation over the target words needs two of each set. A word among targets and attributes is nearest to
    itself in every model. A word set with `searched: false` is only for templates, and one with `as_published: true`
    only for the preset paper.

    Args:
        categories: in the layout of `prasanga.lexicon.categories_of`.
        names: the categories under `key`, which the lexicon has.
        key: the config key that names them, for the message.
        files: for each category the files of its sets, if known.
        in_texts: whether they are measured in running text.
        preset: of the study.

    Raises:
        InputError: a line per problem, with category, set, file and words.
    """
    problems = []
    for name in names:
        targets, attributes = categories[name]["targets"], categories[name]["attributes"]
        for side, least in (*((each, 2) for each in targets), *((each, 1) for each in attributes)):
            place = (files or {}).get(name, {}).get(side["name"], "")
            what = f"{place}{': ' if place else ''}the set {side['name']!r} of the category {name}"
            if len(side["stimuli"]) < least:
                found = len(side["stimuli"])
                few = f"{found} word{'' if found == 1 else 's'}, but an effect size needs {least}"
                problems.append(f"{what} has {few}. Add words to it, or take {name} out of `{key}`.")
            if in_texts and not side.get("searched", True):
                problems.append(
                    f"{what} is for templates only (`searched: false`). Name {name} under `seat.categories` instead of"
                    f" `{key}`."
                )
            if preset != "paper" and side.get("as_published"):
                problems.append(
                    f"{what} has the words of a paper, for comparison with its numbers only (`as_published: true`)."
                    " Write `preset: paper`, or take its folder out of `lexicon.stimuli`."
                )
        for one, other in combinations((*targets, *attributes), 2):
            if common := [word for word in one["stimuli"] if word in other["stimuli"]]:
                problems.append(
                    f"the category {name} has {', '.join(dict.fromkeys(common))} in the sets {one['name']!r} and"
                    f" {other['name']!r}. Take it out of one of them, or take {name} out of `{key}`."
                )
    if problems:
        raise InputError("\n".join(problems))


def require_language(found: str, wanted: str, *, key: str = "lexicon.stimuli") -> None:
    """Refuse word lists or templates in another language (`found`) than the config's (`wanted`).

    Args:
        found: their language.
        wanted: `language` of the config.
        key: their config key, `lexicon.stimuli` or `seat.templates`.

    Raises:
        InputError: the languages differ.
    """
    ours = {
        "lexicon.stimuli": f"stimuli: resources/stimuli/{wanted}, suffix_groups: resources/suffix_groups/{wanted}.yaml",
        "seat.templates": f"templates: resources/templates/{wanted}/seat.yaml",
    }
    if found != wanted:
        raise InputError(
            f"`language` is {wanted!r}, but `{key}` is for {found!r}. Write `language: {found}`, or files for"
            f" {wanted!r}: `{key.partition('.')[0]}: {{{ours[key]}}}`."
        )


# --------------------
# The lexicon as the stage writes it: a table of surface forms, and the categories as JSON values.


SCHEMA = TABLES["forms"].arrow(nullable=())


def forms_table(lexicon: Lexicon) -> pa.Table:
    """Return one row per stimulus and form (`SCHEMA`), in the lexicon's order.

    `counted` is false if the form is ambiguous and its hits go to another stimulus or to none; `not_after` and
    `not_before` are words and marks, separated by blanks.
    """
    claims = lexicon.claims()
    columns: dict[str, list[Any]] = {
        name: [getattr(form, name) for form in lexicon.forms] for name in SCHEMA.names if hasattr(SurfaceForm, name)
    }
    folded = [fold(form.form) for form in lexicon.forms]
    columns["counted"] = [form.stimulus in claims.get(of, ()) for form, of in zip(lexicon.forms, folded, strict=True)]
    beside = [lexicon.neighbours.get(of, Neighbours()) for of in folded]
    for number, name in enumerate(Neighbours._fields):
        columns[name] = [" ".join(sorted(each[number])) for each in beside]
    return pa.table(columns, schema=SCHEMA)


def categories_of(lexicon: Lexicon) -> dict[str, Any]:
    """Return the categories by name, and under "glosses" the English gloss of every stimulus.

    A category is {"title": ..., "targets": [set, set], "attributes": [set, set]}, a set {"name": ..., "gloss": ...,
    "stimuli": [...]}. Optional keys: for a category "matched" ("targets", "attributes" or "both") and "sanity_check":
    True; for a set "clusters" ({stimulus: name}), "searched": False for words only in templates, and "as_published":
    True for a paper's words.
    """
    categories: dict[str, Any] = {
        category.name: {
            "title": category.title,
            "targets": [_plain(side) for side in category.targets],
            "attributes": [_plain(side) for side in category.attributes],
            **({"matched": category.matched} if category.matched else {}),
            **({"sanity_check": True} if category.sanity_check else {}),
        }
        for category in lexicon.categories.values()
    }
    return {**categories, GLOSSES: {stimulus.name: stimulus.gloss for stimulus in lexicon.stimuli}}


def words_for_templates(lexicon: Lexicon) -> dict[str, list[list[str]]]:
    """Return what templates take of a lexicon.

    That is the class of word of every stimulus, and the readings that can be produced.
    """
    return {
        "classes": [[stimulus.name, stimulus.word_class] for stimulus in lexicon.stimuli],
        "readings": [
            [form.stimulus, form.form, form.number, form.case, form.emphatic]
            for form in lexicon.readings or lexicon.forms
            if not form.hyphenated
        ],
    }


def _plain(word_set: WordSet) -> dict[str, Any]:
    return {
        **{"name": word_set.name, "gloss": word_set.gloss, "stimuli": list(word_set.stimuli)},
        **({"clusters": dict(word_set.clusters)} if word_set.clusters else {}),
        **({} if word_set.searched else {"searched": False}),
        **({"as_published": True} if word_set.as_published else {}),
    }
