"""What a model has written, taken apart: attributes and sentences out of lists of any shape.

Models number their answers or not, put words in bold, explain them, write headings, repeat themselves, stop in the
middle. What is recognized is taken; everything else is kept with the reason, so that a reader can see what was lost.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

import regex

from prasanga.construction.distance import find_terms

# A number in any script or a bullet, with a blank after it: "1. ", "(2) ", "৩। ", "- ", "• ".
_MARKER = regex.compile(r"(?:\(?\p{Nd}{1,2}(?:[.):\]।]|\s+-)|[-*•–—‣◦])\s+")
_INLINE = regex.compile(r"(?<=\S)\s+(?=\(?\p{Nd}{1,2}[.)\]।]\s+\S)")
_EXPLANATION = regex.compile(r"\s*(?::|\s[-–—]\s|\(|\[|\.\s|।|;|=).*$")
_SEPARATOR = regex.compile(r"\s*[,،/]\s*")
_QUOTES = "\"'“”‘’«»`*_ \t"
_ENDS = ".!?।॥…"
_WORD = regex.compile(r"[\p{L}\p{M}\u200c\u200d]+(?:['’-][\p{L}\p{M}\u200c\u200d]+)*")
_SCRIPTS = {"en": regex.compile(r"\p{Script=Latin}"), "hi": regex.compile(r"\p{Script=Devanagari}")}
_SCRIPTS["bn"] = regex.compile(r"\p{Script=Bengali}")
_LETTER = regex.compile(r"\p{L}")
_EMPTY_WORDS = {
    "en": regex.compile(r"(?:(?:they|are|is|being|very|the|a|an|seen|as|considered)\s+)+", regex.IGNORECASE)
}
MOST_WORDS = 3
FEWEST_WORDS, LONGEST_SENTENCE = 4, 40


@dataclass(frozen=True)
class Parsed:
    """What was taken out of an answer, and what was not: (text, reason) each, in the order of the answer."""

    found: list[str]
    lost: list[tuple[str, str]]


def parse_attributes(
    answer: str, *, language: str, identities: Collection[str] = (), known: Collection[str] = ()
) -> Parsed:
    """Attributes in an answer: one to three words each, without explanation and repetition.

    Args:
        answer: the text, the opening of the list included.
        language: bn, hi, en; an attribute is in its script.
        identities: spellings of the identity term, which is no attribute of itself.
        known: attributes that are not to be found again.

    Returns:
        Reasons of what was lost: `no-item` (a line beside the list), `too-long`, `no-word`, `other-script`, `identity`,
        `repeated`.
    """
    found: list[str] = []
    lost: list[tuple[str, str]] = []
    seen = {_folded(one) for one in known}
    names = {_folded(one) for one in identities}
    for line, is_item in _items(answer, prose=False):
        if not is_item:
            lost.append((line, "no-item"))
            continue
        for part in _SEPARATOR.split(_EXPLANATION.sub("", line.strip(_QUOTES))):
            attribute = _bare(part, language)
            reason = _fault(attribute, language, names, seen)
            if reason:
                lost.append((part.strip() or line, reason))
            else:
                seen.add(_folded(attribute))
                found.append(attribute)
    return Parsed(found, lost)


def parse_sentences(answer: str, *, language: str, identities: Collection[str], known: Collection[str] = ()) -> Parsed:
    """Sentences in an answer that speak of the identity.

    Args:
        answer: the text, the opening of the list included.
        language: bn, hi, en.
        identities: spellings of the identity term, one of which a sentence must have as whole words.
        known: sentences that are not to be found again.

    Returns:
        Reasons of what was lost: `no-item` (a line beside a list), `no-identity`, `too-short`, `too-long`, `cut-off`
            (no end of a sentence), `other-script`, `repeated`.
    """
    found: list[str] = []
    lost: list[tuple[str, str]] = []
    seen = {_folded(one) for one in known}
    for line, is_item in _items(answer, prose=True):
        sentence = " ".join(line.strip(_QUOTES).split())
        words = len(_WORD.findall(sentence))
        if not is_item:
            reason = "no-item"
        elif not _in_script(sentence, language):
            reason = "other-script"
        elif words < FEWEST_WORDS or words > LONGEST_SENTENCE:
            reason = "too-short" if words < FEWEST_WORDS else "too-long"
        elif not sentence.rstrip("\"'”’").endswith(tuple(_ENDS)):
            reason = "cut-off"
        elif not find_terms(sentence, list(identities)):
            reason = "no-identity"
        else:
            reason = "repeated" if _folded(sentence) in seen else ""
        if reason:
            lost.append((line, reason))
        else:
            seen.add(_folded(sentence))
            found.append(sentence)
    return Parsed(found, lost)


def _items(answer: str, *, prose: bool) -> list[tuple[str, bool]]:
    """The lines of an answer without their markers, and whether each is an item.

    Where some are marked, only those are. Where none is, each is, if `prose` is wanted; else a line of one word is,
    or of words between commas, and "I cannot say" is none.
    """
    text = unicodedata.normalize("NFC", answer)
    lines = [part.strip() for line in text.splitlines() for part in _INLINE.split(line) if part.strip()]
    marked = [_MARKER.match(line) for line in lines]
    bare = [line[match.end() :].strip() if match else line for line, match in zip(lines, marked, strict=True)]
    listed = any(marked)

    def is_item(line: str) -> bool:
        return not listed and not line.endswith(":") and (prose or len(line.split()) == 1 or "," in line)

    return [(line, bool(match) or is_item(line)) for line, match in zip(bare, marked, strict=True) if line]


def _bare(part: str, language: str) -> str:
    attribute = " ".join(part.strip(_QUOTES + _ENDS).split())
    if language in _EMPTY_WORDS:
        attribute = _EMPTY_WORDS[language].sub("", attribute, count=1) if " " in attribute else attribute
    return attribute


def _fault(attribute: str, language: str, names: Collection[str], seen: Collection[str]) -> str:
    """Why something is no attribute; "" if it is one."""
    words = attribute.split()
    if not words or not all(_WORD.fullmatch(word) for word in words):
        return "no-word"
    if len(words) > MOST_WORDS:
        return "too-long"
    if not _in_script(attribute, language):
        return "other-script"
    if _folded(attribute) in names:
        return "identity"
    return "repeated" if _folded(attribute) in seen else ""


def _in_script(text: str, language: str) -> bool:
    """Whether the letters of a text, most of them at least, are of the language's script."""
    letters = _LETTER.findall(text)
    own = [letter for letter in letters if _SCRIPTS[language].match(letter)]
    return bool(letters) and 2 * len(own) > len(letters)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().strip(_QUOTES + _ENDS).split())
