"""Slots of sentence templates: in which form a slot takes a word, and which letters belong to the word in it.

What a slot asks for follows a colon: `{word:genitive plural}`, `{target:indefinite}`. Number and case come from the
lexicon, in any order; `indefinite` is an English article. A name with a capital asks for one; a word at the beginning
of an English sentence gets one by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

from prasanga.base.yaml import suggest
from prasanga.errors import InputError
from prasanga.lexicon.inflection import capitalize
from prasanga.lexicon.model import CASES, NUMBERS, Lexicon
from prasanga.text.words import WORD

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
        """The form of a stimulus; a word that stands there as it is need not be in the lexicon.

        Raises:
            InputError: the stimulus has no such form, or the lexicon has no such stimulus.
        """
        return lexicon.inflect(stimulus, number=self.number, case=self.case) if self.case else stimulus

    def phrase(self, word: str) -> str:
        """The word with its article and capital; it ends as the word does, and has its letters but for the capital."""
        phrase = with_article(word) if self.indefinite else word
        return capitalize(phrase) if self.capital else phrase


def read_word_form(what: str, options: str, *, language: str, before: str | None, capital: bool) -> WordForm:
    """What a slot asks for.

    Args:
        what: begins a message, up to what is asked for.
        options: the part of the slot after its colon.
        language: bn, hi, en; English has articles and capitals.
        before: the text before the slot; None if another word stands there.
        capital: whether the slot's name has one.

    Raises:
        InputError: something asked for that there is not, or twice; an article in a language without.
    """
    asked: dict[str, str] = {}
    for option in options.split():
        kind = next((kind for kind, names in _OPTIONS.items() if option in names), None)
        if kind is None:
            raise InputError(f"{what} `{option}`.{suggest(option, (*NUMBERS, *CASES, INDEFINITE))}")
        if kind in asked:
            raise InputError(f"{what} `{asked[kind]}` and `{option}`, but a word has one {kind}. Delete one of them.")
        asked[kind] = option
    if INDEFINITE in asked and language != _ENGLISH:
        raise InputError(
            f"{what} `{INDEFINITE}`, which puts an English article before the word, but the sentences are for"
            f" {language!r}. Write the article, if there is one, into the text."
        )
    inflected = "number" in asked or "case" in asked
    return WordForm(
        number=asked.get("number", NUMBERS[0]) if inflected else "",
        case=asked.get("case", CASES[0]) if inflected else "",
        indefinite=INDEFINITE in asked,
        capital=capital or (before is not None and begins_sentence(before, language)),
    )


def begins_sentence(before: str, language: str) -> bool:
    """Whether a word after this text stands at the beginning of a sentence that begins with a capital."""
    return language == _ENGLISH and not _LETTER.search(before)


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The span with the letters that a template writes onto the word: an ending (টি, রা) belongs to it."""
    for match in WORD.finditer(text):
        if match.start() < start < match.end():
            start = match.start()
        if match.start() < end < match.end():
            end = match.end()
    return start, end


def with_article(word: str) -> str:
    """An English word with `a` or `an` before it: an hour, a university, an apple, an MBA, a US state, an X-ray."""
    small = word.lower()
    if _READ_BY_LETTERS.match(word):
        vowel = small[0] in _LETTERS_WITH_VOWEL
    else:
        vowel = bool(_BEGINS_WITH_VOWEL.match(small)) and not _BEGINS_WITH_CONSONANT.match(small)
    return f"{'an' if vowel else 'a'} {word}"
