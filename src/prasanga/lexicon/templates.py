"""Sentence templates by class of word, their slots, and words put into them."""

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
# Slots of sentence templates: in which form a slot takes a word, and which letters belong to the word in it.
#
# What a slot asks for follows a colon: `{word:genitive plural}`, `{target:indefinite}`. Number and case come from
# the lexicon, in any order; `indefinite` is an English article. A name with a capital asks for one; a word at the
# beginning of an English sentence gets one by itself.


INDEFINITE = "indefinite"
SLOT = regex.compile(r"\{([^{}]*)\}")

_ENGLISH = "en"
_LETTER = regex.compile(r"\p{L}")
_OPTIONS = {"number": NUMBERS, "case": CASES, INDEFINITE: (INDEFINITE,)}

# Spelled with a vowel and spoken with a consonant (a university, a European, a one-way street), and the reverse. `uni`
# is such a beginning where it means one, and not before n, m, d: an uninvited guest, an unimportant, an unideal one.
_BEGINS_WITH_CONSONANT = regex.compile(r"uni(?![nmd])|us[aeu]|ut[eio]|ur[ai]n|ubi|ufo|eu|ewe|one(?!rous)|once")
_BEGINS_WITH_VOWEL = regex.compile(r"[aeiou]|hour|honest|honou?r|heir")

# Read letter by letter: a word in capitals (MBA, MPs), and a letter before a hyphen (X-ray, e-mail). The names of these
# letters begin with a vowel: an F, an X; but a U. Capitals that are spoken as a word (NATO) are taken for letters, too.
_READ_BY_LETTERS = regex.compile(r"\p{Lu}{2,}s?\b|\p{L}-")
_LETTERS_WITH_VOWEL = frozenset("aefhilmnorsx")


@dataclass(frozen=True, slots=True)
class WordForm:
    """The form in which a slot takes a word.

    Attributes:
        number: number of the word; "" together with `case` if the word stands there as it is.
        case: its case.
        indefinite: whether a or an stands before it.
        capital: whether it gets a capital.
    """

    number: str = ""
    case: str = ""
    indefinite: bool = False
    capital: bool = False

    def of(self, lexicon: Lexicon, stimulus: str) -> str:
        """Return the form of a stimulus; a word that stands there as it is need not be in the lexicon.

        Raises:
            InputError: the stimulus has no such form, or the lexicon has no such stimulus.
        """
        return lexicon.inflect(stimulus, number=self.number, case=self.case) if self.case else stimulus

    def phrase(self, word: str) -> str:
        """Return the word with its article and capital.

        The phrase ends as the word does, and has its letters but for the capital.
        """
        phrase = with_article(word) if self.indefinite else word
        return capitalize(phrase) if self.capital else phrase


def read_word_form(what: str, options: str, *, language: str, before: str | None, capital: bool) -> WordForm:
    """Return what a slot asks for.

    Args:
        what: begins a message, up to what is asked for.
        options: the part of the slot after its colon.
        language: bn, hi, en; English has articles and capitals.
        before: the text before the slot; None if another word stands there.
        capital: whether the slot's name has one.

    Raises:
        InputError: an unknown option, or two of one kind; an article in a language without.
    """
    asked: dict[str, str] = {}
    for option in options.split():
        kind = next((kind for kind, names in _OPTIONS.items() if option in names), "")
        if not kind or kind in asked:
            known = suggest(option, (*NUMBERS, *CASES, INDEFINITE))
            raise InputError(f"{what} `{option}`.{known} Write one number and one case at most.")
        asked[kind] = option
    if INDEFINITE in asked and language != _ENGLISH:
        raise InputError(
            f"{what} `{INDEFINITE}`, an English article, but the sentences are for {language!r}. Write the article, if"
            " the language has one, into the text."
        )
    inflected = "number" in asked or "case" in asked
    return WordForm(
        number=asked.get("number", NUMBERS[0]) if inflected else "",
        case=asked.get("case", CASES[0]) if inflected else "",
        indefinite=INDEFINITE in asked,
        capital=capital or (before is not None and begins_sentence(before, language)),
    )


def begins_sentence(before: str, language: str) -> bool:
    """Return whether a word after this text stands at the beginning of a sentence that begins with a capital."""
    return language == _ENGLISH and not _LETTER.search(before)


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span with the letters that a template writes onto the word: an ending (টি, রা) belongs to it."""
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
# Sentence templates by class of word (`resources/templates/<language>/seat.yaml`), and words put into them.
#
# A template is bleached of meaning - "This is {word}." - so that what its sentence is about comes from the word
# alone (May et al. 2019). It has one slot, which says in which form the word stands there:
#
#     {word}                   the stimulus as its word set writes it
#     {word:genitive}          its genitive, from the lexicon; any number and case, in any order: {word:genitive plural}
#     {word:indefinite}        English, with a or an before it
#     {Word}                   with a capital; a word at the beginning of an English sentence gets one by itself


class SeatSentences(NamedTuple):
    """What files of SEAT hold of a set: its templates, in two halves each, and blocks of sentences, word by word."""

    templates: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, ...], ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of a language.

    Attributes:
        path: the file that they come from, or their folder.
        language: bn, hi, en.
        classes: templates by class of word, in the order of the file.
        filled: of files of Sadhu et al., sentences with the words in them, by class.
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
    """Return the files that `seat.templates` names: one, or those of Sadhu et al. in a folder (`seat1.jsonl`, ...).

    Raises:
        InputError: there is no such file or folder, or the folder has none of them.
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
        path: the file, a folder of theirs, or all files of that (`template_files`).
        normalization: the corpus's, if not the language's own.

    Raises:
        InputError: the file cannot be read; an unknown key; a class without templates; an id or a text that stands
            twice in a class; a text with no slot, with two, or with one that asks for what there is not.
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
    """Put each stimulus into every template of its class, in the order of `stimuli` and then of the file.

    Args:
        lexicon: has the stimuli, their classes and their forms.
        stimuli: names of its stimuli; one that is there twice is filled in once.
        templates: of the same language.

    Raises:
        InputError: a stimulus that has no class or one without templates; a form that a stimulus does not have.
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
    """Refuse stimuli that no template takes, before anything is filled in.

    Args:
        classes: of every stimulus its class of word and where it is written (`LexiconPlan.classes`); the first may be
            "", the second is where the word lists are not of our layout.
        stimuli: those that are to stand in templates.
        templates: of the study.

    Raises:
        InputError: a line for each class without templates, and one for the words without a class: the first word with
            its file and line, how many more there are, and what to write.
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
    """Return what sentences depend on.

    That is the language, and of these classes the templates in order, without their glosses.

    What is not here (a comment, a gloss, a class that no word has) may change in the file, and no sentence does.
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
    """Yield the sentences that the authors filled in with a word, with the place of the word."""
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
                    f" {text!r:.80}. Mend the file, or name the word lists that its sentences were made from."
                )
            yield FilledTemplate(word, str(number), word_class, text, *whole_words(text, start, start + len(word)))


def _read_template(word_class: str, entry: Entry, *, language: str) -> SentenceTemplate:
    entry.require(f"a template of the class `{word_class}`", required=["id", "text"], optional=["gloss"])
    return read_entry_sentence(entry, entry.text("id"), language, roles=(_WORD,))


# --------------------
# The files of SEAT of Sadhu et al. (2024), `seat1.jsonl` ...: as those of categories, with "templates" in place of
# words, or with sentences as "examples": all of the first word, then all of the second.

_AUTHORS_SLOT = regex.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|<[^<>]*>|_{2,}|%s|X{3,}|G{3,}")
_LATIN_SLOT = regex.compile(r"[A-Za-z]+")  # in a Bangla sentence a Latin word is a slot


def _read_seat_files(files: Sequence[Path], spelled: Callable[[str], str]) -> dict[str, SeatSentences]:
    """Read templates or filled sentences of SEAT, by the set whose words stand in them.

    A set that several files have gets the templates of all, each once.

    Raises:
        InputError: a file is no such file; a template has no slot, or several; the message names the file.
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
    """Return the sentences of a word in a block that has as many of each, in the order of the words.

    Raises:
        InputError: they cannot be as many; `what` says where.
    """
    each, rest = divmod(len(block), len(words))
    if rest:
        raise InputError(
            f"{what} has {len(block)} sentences for {len(words)} words, which is not the same number for each. Name"
            " the word lists under `lexicon.stimuli` that the sentences were made from, or take each sentence as an"
            " item of its own (docs/methods.md, SEAT from Python)."
        )
    first = words.index(word) * each
    return block[first : first + each]


def _halves(text: str, path: Path, side: str) -> tuple[str, str]:
    slots = list(_AUTHORS_SLOT.finditer(text)) or list(_LATIN_SLOT.finditer(text))
    if len(slots) != 1:
        raise InputError(
            f"{path}: a template of `{side}` has {len(slots) or 'no'} slot{'s' * (len(slots) > 1)}: {text!r:.80}. Write"
            " XXX once where the word stands."
        )
    return text[: slots[0].start()], text[slots[0].end() :]


# --------------------
# Sentences with slots, for a word, or for a target and an attribute, and where the words are once they are filled in.
#
#     {target:plural genitive}   the target in this number and case, from the lexicon
#     {attribute}                the attribute as it is
#     {target:indefinite}        English, with a or an before it
#     {Target}                   with a capital; a word at the beginning of an English sentence gets one by itself
#
# A letter that a sentence writes onto a slot ({target}রা) belongs to the word: what is masked is the whole
# inflected word, so that no ending hangs on a mask.


TARGET, ATTRIBUTE, _WORD = "target", "attribute", "word"


class SentenceTemplate(NamedTuple):
    """A sentence with slots for words.

    Attributes:
        name: its id, or the name of its structure.
        texts: the text before, between and after the slots; normalized.
        forms: the forms in which the slots take their words, by role (word, or target and attribute), in the order of
            the slots.
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
        roles: of the words that it takes.
        gloss: English translation.

    Raises:
        InputError: a slot that is missing, is there twice or asks for an unknown form.
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
    """Return a template from the `text` and `gloss` of an entry of a file."""
    how = {"name": name, "place": entry.place, "language": language, "gloss": entry.text("gloss")}
    return read_sentence(entry.text("text"), roles=roles, **how)


def fill_sentence(
    template: SentenceTemplate, words: Mapping[str, str], lexicon: Lexicon, spelling: Callable[[str], str]
) -> tuple[str, list[tuple[int, int]]]:
    """Return a sentence with words in it, and the spans of the whole inflected words, without articles.

    Args:
        template: the sentence.
        words: the stimuli by role; any words where slots ask for no number or case.
        lexicon: where words are inflected.
        spelling: the study's normalization of a text (`prasanga.lexicon.model.spelling_of`).

    Raises:
        InputError: a word lacks the form that its slot asks for; normalization changes letters where a word meets the
            sentence.
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
    # Words and sentence are normalized by themselves. Where they meet is checked for each word and not for each pair
    # of words, of which there are many more.
    if not all(_is_spelled(spelling, part) for part in parts):
        raise InputError(
            f"{template.place}: the sentence `{template.name}` with {' and '.join(words.values())} changes letters when"
            f" it is normalized ({spelling(text)}). Write a space or a form ({{{role}:genitive}}) next to the slot."
        )
    return text, [whole_words(text, *spans[role]) for role in words]


@lru_cache(maxsize=1 << 14)
def _is_spelled(spelling: Callable[[str], str], text: str) -> bool:
    """Return whether normalization leaves a text as it is."""
    return spelling(text) == text
