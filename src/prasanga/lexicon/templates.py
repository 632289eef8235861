"""Read sentence templates by class of word, and fill words into their slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import regex

from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, read_distinct, read_json_object, suggest
from prasanga.lexicon.inflection import capitalize
from prasanga.lexicon.model import (
    CASES,
    NUMBERS,
    SIDES,
    Lexicon,
    find_languages,
    read_authors_side,
    read_yaml,
    spelling_of,
)
from prasanga.text.words import WORD

# --------------------
# Slots of sentence templates: the form of a word in a slot, and the letters that belong to it.
#
# Options of a slot follow a colon: `{word:genitive plural}`, `{target:indefinite}`. Number and case come from the
# lexicon, in any order; `indefinite` is an English article. A capital in the name asks for one; a word at the beginning
# of an English sentence gets one automatically.


INDEFINITE = "indefinite"
SLOT = regex.compile(r"\{([^{}]*)\}")

_ENGLISH = "en"
_LETTER = regex.compile(r"\p{L}")
_OPTIONS = {"number": NUMBERS, "case": CASES, INDEFINITE: (INDEFINITE,)}

# Spelled with a vowel and spoken with a consonant (a university, a European, a one-way street), and the reverse. `uni`
# counts where it means one, but not before n, m, d: an uninvited guest, an unimportant, an unideal one.
_BEGINS_WITH_CONSONANT = regex.compile(r"uni(?![nmd])|us[aeu]|ut[eio]|ur[ai]n|ubi|ufo|eu|ewe|one(?!rous)|once")
_BEGINS_WITH_VOWEL = regex.compile(r"[aeiou]|hour|honest|honou?r|heir")

# Read letter by letter: a word in capitals (MBA, MPs), and a letter before a hyphen (X-ray, e-mail). The names of some
# letters begin with a vowel: an F, an X; but a U. Capitals that are spoken as a word (NATO) also count as letters.
_READ_BY_LETTERS = regex.compile(r"\p{Lu}{2,}s?\b|\p{L}-")
_LETTERS_WITH_VOWEL = frozenset("aefhilmnorsx")


@dataclass(frozen=True, slots=True)
class WordForm:
    """The form of a word in a slot.

    Attributes:
        number: number of the word; "" together with `case` if the word is not inflected.
        case: its case.
        indefinite: whether a or an precedes it.
        capital: whether it gets a capital.
    """

    number: str = ""
    case: str = ""
    indefinite: bool = False
    capital: bool = False

    def of(self, lexicon: Lexicon, stimulus: str) -> str:
        """Return the form of a stimulus; a word that is not inflected need not be in the lexicon.

        Raises:
            InputError: the lexicon lacks the stimulus, or the stimulus lacks the form.
        """
        return lexicon.inflect(stimulus, number=self.number, case=self.case) if self.case else stimulus

    def phrase(self, word: str) -> str:
        """Return the word with its article and capital; it ends with the word's letters."""
        phrase = with_article(word) if self.indefinite else word
        return capitalize(phrase) if self.capital else phrase


def read_word_form(what: str, options: str, *, language: str, before: str | None, capital: bool) -> WordForm:
    """Return the form that a slot asks for.

    Args:
        what: the beginning of a message, before the option.
        options: the part of the slot after its colon.
        language: bn, hi, en; English has articles and capitals.
        before: the text before the slot; None if another word precedes it.
        capital: whether the slot's name begins with a capital.

    Raises:
        InputError: an unknown option, or two of one kind; an article in a language without articles.
    """
    asked: dict[str, str] = {}
    for option in options.split():
        kind = next((kind for kind, names in _OPTIONS.items() if option in names), "")
        if not kind or kind in asked:
            known = suggest(option, (*NUMBERS, *CASES, INDEFINITE))
            raise InputError(f"{what} `{option}`.{known} Write at most one number and one case.")
        asked[kind] = option
    if INDEFINITE in asked and language != _ENGLISH:
        raise InputError(
            f"{what} `{INDEFINITE}`, an English article, but the sentences are for {language!r}. If the language has an"
            " article, write it into the text."
        )
    inflected = "number" in asked or "case" in asked
    return WordForm(
        number=asked.get("number", NUMBERS[0]) if inflected else "",
        case=asked.get("case", CASES[0]) if inflected else "",
        indefinite=INDEFINITE in asked,
        capital=capital or (before is not None and begins_sentence(before, language)),
    )


def begins_sentence(before: str, language: str) -> bool:
    """Return whether a word after this text begins a sentence, in a language with capitals."""
    return language == _ENGLISH and not _LETTER.search(before)


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span with the letters that a template attaches to the word, such as an ending (টি, রা)."""
    for match in WORD.finditer(text):
        if match.start() < start < match.end():
            start = match.start()
        if match.start() < end < match.end():
            end = match.end()
    return start, end


def with_article(word: str) -> str:
    """Put `a` or `an` before an English word: an hour, a university, an apple, an MBA, a US state, an X-ray."""
    small = word.lower()
    if _READ_BY_LETTERS.match(word):
        vowel = small[0] in _LETTERS_WITH_VOWEL
    else:
        vowel = bool(_BEGINS_WITH_VOWEL.match(small)) and not _BEGINS_WITH_CONSONANT.match(small)
    return f"{'an' if vowel else 'a'} {word}"


# --------------------
# Sentence templates by class of word (`resources/templates/<language>/seat.yaml`), filled with words.
#
# A template is bleached of meaning - "This is {word}." - so that only the word gives its sentence a topic (May et al.
# 2019). It has one slot, which states the form of the word:
#
#     {word}                   the stimulus as in its word set
#     {word:genitive}          its genitive, from the lexicon; any number and case, in any order: {word:genitive plural}
#     {word:indefinite}        English, with a or an before it
#     {Word}                   with a capital; a word at the beginning of an English sentence gets one automatically


class SeatSentences(NamedTuple):
    """A set's sentences in SEAT's files: its templates, each in two halves, and blocks of sentences, word by word."""

    templates: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, ...], ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of a language.

    Attributes:
        path: their file or folder.
        language: bn, hi, en.
        classes: templates by class of word, in file order.
        filled: for files of Sadhu et al., filled sentences by class.
    """

    path: Path
    language: str
    classes: Mapping[str, tuple[SentenceTemplate, ...]]
    filled: Mapping[str, SeatSentences] = field(default_factory=dict)


class FilledTemplate(NamedTuple):
    """A sentence with a word in it: `text[start:end]` is the whole inflected word, without its article."""

    stimulus: str
    template: str
    word_class: str
    text: str
    start: int
    end: int


def template_files(path: str | Path) -> list[Path]:
    """Return the files that `seat.templates` names: one, or files of Sadhu et al. in a folder (`seat1.jsonl`, ...).

    Raises:
        InputError: the file or folder is missing, or the folder lacks such files.
    """
    path = Path(path)
    files = sorted(path.glob("*.jsonl"), key=lambda file: (len(file.name), file.name)) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        found = "no seat*.jsonl in this folder" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {found}. Check the path under `seat.templates` in the config.")
    return files


def load_templates(path: str | Path | Sequence[str], normalization: str | None = None) -> Templates:
    """Read a file of templates, or the files of Sadhu et al. (2024) with templates or filled sentences.

    Args:
        path: the file, a folder of theirs, or all its files (`template_files`).
        normalization: the corpus's, if not the language's own.

    Raises:
        InputError: the file cannot be read; an unknown key; a class without templates; a repeated id or text in a
            class; a text without exactly one slot, or with an unknown option.
    """
    files = template_files(path) if isinstance(path, str | Path) else list(map(Path, path))
    path = files[0]
    if path.suffix == ".jsonl":
        return _templates_of_authors(files, normalization)
    content = read_yaml(path, normalization=normalization)
    content.require("a file of templates", required=["language", "templates"])
    language, by_class = content.text("language"), content.entry_of("templates")
    classes = {
        name: read_distinct(
            f"the class `{name}`", by_class.entries_of(name), partial(_read_template, name, language=language)
        )
        for name in by_class
    }
    if not classes or not all(classes.values()):
        raise InputError(
            f"{path}: `templates` or a class in it is empty. Write under it `class: [{{id: this-is, text: ...}}]`."
        )
    return Templates(path, language, classes)


def filled_templates(lexicon: Lexicon, stimuli: Sequence[str], templates: Templates) -> Iterator[FilledTemplate]:
    """Fill each stimulus into every template of its class, in the order of `stimuli` and then of the file.

    Args:
        lexicon: the stimuli, their classes and their forms.
        stimuli: names of its stimuli; a repeated one is filled in once.
        templates: of the same language.

    Raises:
        InputError: a stimulus lacks a class, templates for its class, or a form.
    """
    classes = {stimulus.name: (stimulus.word_class, stimulus.place) for stimulus in lexicon.stimuli}
    require_classes(classes, stimuli, templates)
    spelling = spelling_of(lexicon.language, lexicon.normalization)
    for name in dict.fromkeys(stimuli):
        word_class = classes[name][0]
        for template in templates.classes[word_class]:
            text, ((start, end),) = fill_sentence(template, {_WORD: name}, lexicon, spelling)
            yield FilledTemplate(name, template.name, word_class, text, start, end)
        if word_class in templates.filled:
            yield from _find_filled(lexicon, name, word_class, templates)


def require_classes(classes: Mapping[str, Sequence[str]], stimuli: Iterable[str], templates: Templates) -> None:
    """Refuse stimuli without templates, before anything is filled in.

    Args:
        classes: for every stimulus its class of word, perhaps "", and its place (`LexiconPlan.classes`), which is "" in
            other layouts than ours.
        stimuli: the stimuli to fill in.
        templates: of the study.

    Raises:
        InputError: a line for each class without templates, and one for words without a class: the first word with its
            file and line, the number of others, and what to write.
    """
    without: dict[str, list[str]] = {}
    for name in dict.fromkeys(stimuli):
        if classes[name][0] not in templates.classes:
            without.setdefault(classes[name][0], []).append(name)
    problems = []
    for word_class, names in without.items():
        place = classes[names[0]][1]
        more = f" (and {len(names) - 1} more of `seat.categories`)" if len(names) > 1 else ""
        remedy = (
            "Write another `class:` in the word set, for the set or the word, or templates for it there."
            f"{suggest(word_class, templates.classes)}"
            if place
            else "Name a folder with templates of Sadhu et al. (seat1.jsonl, ...) under `seat.templates`, write"
            " `seat: {categories: []}`, or measure SEAT with word sets in YAML."
        )
        problems.append(
            f"{place}{': ' if place else ''}the stimulus {names[0]}{more} has"
            f" {f'the class `{word_class}`' if word_class else 'no class of word'}, for which {templates.path} has no"
            f" templates. {remedy}"
        )
    if problems:
        raise InputError("\n".join(problems))


def texts_of(templates: Templates, classes: Iterable[str]) -> dict[str, Any]:
    """Return the values that sentences depend on: the language and these classes' templates, in order, without glosses.

    A change of anything else in the file (a comment, a gloss, a class without words) changes no sentence.
    """
    names = sorted(set(classes))
    filled = {name: list(templates.filled[name].blocks) for name in names if name in templates.filled}
    return {
        **({"filled": filled} if filled else {}),
        "language": templates.language,
        "classes": {
            name: [[each.name, *each.texts, *astuple(each.forms[_WORD])] for each in templates.classes[name]]
            for name in names
        },
    }


def _templates_of_authors(files: Sequence[Path], normalization: str | None) -> Templates:
    language = find_languages([read_json_object(files[0])])[0]
    found = _read_seat_files(files, spelling_of(language, normalization))
    classes = {
        name: tuple(
            SentenceTemplate(str(number), halves, {_WORD: WordForm()}, sentences.place)
            for number, halves in enumerate(sentences.templates, start=1)
        )
        for name, sentences in found.items()
    }
    path = files[0] if len(files) == 1 else files[0].parent
    return Templates(path, language, classes, {name: each for name, each in found.items() if each.blocks})


def _find_filled(lexicon: Lexicon, word: str, word_class: str, templates: Templates) -> Iterator[FilledTemplate]:
    """Yield the sentences that the authors filled with a word, with the word's place."""
    sets = (side for category in lexicon.categories.values() for side in (*category.targets, *category.attributes))
    words = next((side.stimuli for side in sets if side.name == word_class), (word,))
    place, number = templates.filled[word_class].place, 0
    for block in templates.filled[word_class].blocks:
        for text in _sentences_of(block, words, word, f"{place}: the set {word_class}"):
            number += 1
            starts = [i for i in range(len(text)) if text.startswith(word, i)]
            start = next((i for i in starts if whole_words(text, i, i + len(word))[0] == i), None)
            if start is None:
                raise InputError(
                    f"{place}: sentence {number} of {word} in the set {word_class} does not have the word:"
                    f" {text!r:.80}. Correct the file, or name the word lists that its sentences were made from."
                )
            yield FilledTemplate(word, str(number), word_class, text, *whole_words(text, start, start + len(word)))


def _read_template(word_class: str, entry: Entry, *, language: str) -> SentenceTemplate:
    entry.require(f"a template of the class `{word_class}`", required=["id", "text"], optional=["gloss"])
    return read_entry_sentence(entry, entry.text("id"), language, roles=(_WORD,))


# --------------------
# The SEAT files of Sadhu et al. (2024), `seat1.jsonl` ...: like category files, with "templates" in place of words, or
# with sentences as "examples": all of the first word, then all of the second.

_AUTHORS_SLOT = regex.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|<[^<>]*>|_{2,}|%s|X{3,}|G{3,}")
_LATIN_SLOT = regex.compile(r"[A-Za-z]+")  # in a Bangla sentence a Latin word is a slot


def _read_seat_files(files: Sequence[Path], spelled: Callable[[str], str]) -> dict[str, SeatSentences]:
    """Read templates or filled sentences of SEAT, by the set of their words.

    A set in several files gets the distinct templates of all.

    Raises:
        InputError: a file has another layout; a template does not have exactly one slot.
    """
    found: dict[str, SeatSentences] = {}
    for path in files:
        content = read_json_object(path)
        for side in SIDES:
            name, key, texts = read_authors_side(path, content, side, ("templates", "examples"), spelled)
            known = found.get(name, SeatSentences(place=str(path)))
            if key == "templates":
                halves = [_halves(text, path, side) for text in texts]
                known = known._replace(templates=tuple(dict.fromkeys((*known.templates, *halves))))
            else:
                known = known._replace(blocks=tuple(dict.fromkeys((*known.blocks, texts))))
            found[name] = known
    return found


def _sentences_of(block: Sequence[str], words: Sequence[str], word: str, what: str) -> Sequence[str]:
    """Return the sentences of a word in a block with equally many for each word, in the order of the words.

    Raises:
        InputError: the numbers differ; the message begins with `what`.
    """
    each, rest = divmod(len(block), len(words))
    if rest:
        raise InputError(
            f"{what} has {len(block)} sentences for {len(words)} words, not equally many for each. Name their word"
            " lists under `lexicon.stimuli`, or make each sentence an item (docs/methods.md, SEAT from Python)."
        )
    first = words.index(word) * each
    return block[first : first + each]


def _halves(text: str, path: Path, side: str) -> tuple[str, str]:
    slots = list(_AUTHORS_SLOT.finditer(text)) or list(_LATIN_SLOT.finditer(text))
    if len(slots) != 1:
        raise InputError(
            f"{path}: a template of `{side}` has {len(slots) or 'no'} slot{'s' * (len(slots) > 1)}: {text!r:.80}. Write"
            " XXX once in place of the word."
        )
    return text[: slots[0].start()], text[slots[0].end() :]


# --------------------
# Sentences with slots for a word, or for a target and an attribute, and the places of the words in filled sentences.
#
#     {target:plural genitive}   the target in this number and case, from the lexicon
#     {attribute}                the attribute, not inflected
#     {target:indefinite}        English, with a or an before it
#     {Target}                   with a capital; a word at the beginning of an English sentence gets one automatically
#
# A letter that a sentence attaches to a slot ({target}রা) belongs to the word: a mask covers the whole inflected word,
# so no ending is left next to a mask.


TARGET, ATTRIBUTE, _WORD = "target", "attribute", "word"


class SentenceTemplate(NamedTuple):
    """A sentence with slots for words.

    Attributes:
        name: its id, or the name of its structure.
        texts: the text before, between and after the slots; normalized.
        forms: the forms of the words by role (word, or target and attribute), in the order of the slots.
        place: file and line, for messages.
        gloss: English translation.
    """

    name: str
    texts: tuple[str, ...]
    forms: Mapping[str, WordForm]
    place: str
    gloss: str = ""


def read_sentence(
    text: str, *, name: str, place: str, language: str, roles: Sequence[str] = (TARGET, ATTRIBUTE), gloss: str = ""
) -> SentenceTemplate:
    """Return a template from its text, which is normalized.

    Args:
        text: with one slot for each role.
        name: its id.
        place: file and line, for messages.
        language: bn, hi, en; English has articles and capitals.
        roles: of its words.
        gloss: English translation.

    Raises:
        InputError: a slot is missing or repeated, or has an unknown option.
    """
    what = f"{place}: the sentence `{name}`"
    slots = list(SLOT.finditer(text))
    edges = [0, *(edge for slot in slots for edge in slot.span()), len(text)]
    texts = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    forms: dict[str, WordForm] = {}
    for slot in slots:
        written, _, options = slot[1].partition(":")
        role = written.strip()
        if role not in (*roles, *map(str.capitalize, roles)):
            raise InputError(f"{what} has the slot {slot[0]}.{suggest(role, roles)}")
        asks, before = f"{what} asks in its slot {slot[0]} for", None if forms else texts[0]
        capital = role[0].isupper()
        forms[role.lower()] = read_word_form(asks, options, language=language, before=before, capital=capital)
    are_open = text.count("{") != len(slots) or text.count("}") != len(slots)
    if are_open or not len(slots) == len(forms) == len(roles) or not all(texts[1:-1]):
        found = ", ".join(slot[0] for slot in slots) or "none"
        wanted = " and ".join(f"{{{role}}} once" for role in roles)
        raise InputError(f"{what} has the slots {found}. Write {wanted}, and at least a space between slots: {text}")
    return SentenceTemplate(name, tuple(texts), forms, place, gloss)


def read_entry_sentence(
    entry: Entry, name: str, language: str, roles: Sequence[str] = (TARGET, ATTRIBUTE)
) -> SentenceTemplate:
    """Return a template from an entry's `text` and `gloss`."""
    how = {"name": name, "place": entry.place, "language": language, "gloss": entry.text("gloss")}
    return read_sentence(entry.text("text"), roles=roles, **how)


def fill_sentence(
    template: SentenceTemplate, words: Mapping[str, str], lexicon: Lexicon, spelling: Callable[[str], str]
) -> tuple[str, list[tuple[int, int]]]:
    """Return a filled sentence, and the spans of the whole inflected words, without articles.

    Args:
        template: the sentence.
        words: the stimuli by role; any words for slots without number and case.
        lexicon: inflects the words.
        spelling: the study's normalization of a text (`prasanga.lexicon.model.spelling_of`).

    Raises:
        InputError: a word lacks the form in its slot; normalization changes letters where word and sentence meet.
    """
    text, spans, parts = template.texts[0], {}, []
    for (role, form), (left, rest) in zip(template.forms.items(), pairwise(template.texts), strict=True):
        try:
            word = form.of(lexicon, words[role])
        except InputError as error:
            raise InputError(
                f"{template.place}: the sentence `{template.name}` cannot be filled in. {error} Or list the form under"
                " `forms:` of the word in its word set."
            ) from None
        phrase = form.phrase(word)
        text += phrase
        spans[role] = (len(text) - len(word), len(text))
        text += rest
        parts.append(left + phrase + rest)
    # Words and sentence are normalized separately. Their seams are checked for each word instead of each pair of words,
    # which would be many more.
    if not all(_is_spelled(spelling, part) for part in parts):
        raise InputError(
            f"{template.place}: normalization changes letters of the sentence `{template.name}` with"
            f" {' and '.join(words.values())} ({spelling(text)}). Write a space or {{{role}:genitive}} at the slot."
        )
    return text, [whole_words(text, *spans[role]) for role in words]


@lru_cache(maxsize=1 << 14)
def _is_spelled(spelling: Callable[[str], str], text: str) -> bool:
    """Return whether normalization leaves a text unchanged."""
    return spelling(text) == text
