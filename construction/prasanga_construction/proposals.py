"""Attributes and sentences that a local model proposes, for people to judge (IndiBias 4.1 and 4.2.2).

A model's proposals are not stereotypes yet: attributes become tuples when annotators call them stereotypes, sentences
become pairs when a person has read them. Prompts follow IndiBias (Sahoo et al. 2024, Table 5); their wording is this
project's, in the file of templates, in the language of the study.

Models number their answers or not, put words in bold, explain them, write headings, repeat themselves, stop in the
middle. Recognized answers are used; all others are kept with the reason, so that a reader can see the losses.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import polars as pl
import regex

from prasanga.base.seeds import seed_of
from prasanga.text.words import unicode_form
from prasanga_construction.building import Sentence
from prasanga_construction.distance import find_terms
from prasanga_construction.templates import Axis, Identities, PairTemplates, Term
from prasanga_construction.tuples import POLARITIES, BiasTuple

if TYPE_CHECKING:
    from prasanga_construction.generation import Writer

_LOG = logging.getLogger(__name__)
_TRIES = 4
_COUNTS = {"attributes": 10, "sentences": 5}
_PIECES = {"attributes": 200, "sentences": 400}
_LOST = {"asked_for": pl.String, "tried": pl.Int64, "text": pl.String, "reason": pl.String}

# A number in any script or a bullet, with a blank after it: "1. ", "(2) ", "৩। ", "- ", "• ".
_MARKER = regex.compile(r"(?:\(?\p{Nd}{1,2}(?:[.):\]।]|\s+-)|[-*•–—‣◦])\s+")
_INLINE = regex.compile(r"(?<=\S)\s+(?=\(?\p{Nd}{1,2}[.)\]।]\s+\S)")
_EXPLANATION = regex.compile(r"\s*(?::|\s[-–—]\s|\(|\[|\.\s|।|;|=).*$")
_SEPARATOR = regex.compile(r"\s*[,،/]\s*")
_QUOTES = "\"'“”‘’«»`*_ \t"
_ENDS = ".!?।॥…"
_WORD = regex.compile(r"[\p{L}\p{M}\u200c\u200d]+(?:['’-][\p{L}\p{M}\u200c\u200d]+)*")
_SCRIPTS = {"en": "Latin", "hi": "Devanagari", "bn": "Bengali"}
_LETTER = regex.compile(r"\p{L}")
_EMPTY_WORDS = regex.compile(r"(?:(?:they|are|is|being|very|the|a|an|seen|as|considered)\s+)+", regex.IGNORECASE)
_MOST_WORDS = 3
_FEWEST_WORDS, _LONGEST_SENTENCE = 4, 40

T = TypeVar("T")


@dataclass(frozen=True)
class Proposals(Generic[T]):
    """A model's proposals, and unusable answers.

    Attributes:
        found: tuples without votes, or sentences.
        lost: the request (axis, term, polarity; or a tuple), the number of the try, the text and the reason:
            `asked_for`, `tried`, `text`, `reason`.
        short: the number of missing proposals, by request.
    """

    found: list[T]
    lost: pl.DataFrame
    short: dict[str, int]


class Parsed(NamedTuple):
    """The used and the unused parts of an answer, the latter as (text, reason), in the order of the answer."""

    found: list[str]
    lost: list[tuple[str, str]]


class _Request(NamedTuple):
    name: str
    prompt: str
    parse: Callable[..., Parsed]
    found: tuple[str, ...] = ()


def propose_attributes(
    writer: Writer, identities: Identities, templates: PairTemplates, *, seed: int
) -> Proposals[BiasTuple]:
    """Ask for ten positive and ten negative attributes of every identity term.

    A model that has not given enough is asked again, with another seed, up to four times in all.

    Args:
        writer: a decoder.
        identities: the terms.
        templates: have the prompts.
        seed: of the study.

    Raises:
        InputError: what the model refuses.
    """
    opening = "" if writer.is_chat else templates.prompts.opening
    about: list[tuple[Axis, Term, str]] = []
    requests = []
    for axis in identities.axes.values():
        for term in filter(lambda term: term.proposed, axis.terms.values()):
            for polarity in POLARITIES:
                about.append((axis, term, polarity))
                words = {**_words(axis, term, polarity, templates), "count": str(_COUNTS["attributes"])}
                prompt = _filled(templates.prompts.attributes, words, opening)
                parse = partial(parse_attributes, language=identities.language, identities=term.spellings)
                requests.append(_Request(f"{axis.name}-{term.term_id}-{polarity}", prompt, parse))
    done, lost, short = _ask(writer, requests, opening, "attributes", seed)
    tuples = []
    for request, (axis, term, polarity) in zip(done, about, strict=True):
        for number, attribute in enumerate(request.found, start=1):
            of_term = (identities.language, axis.bias_type, term.people)
            tuples.append(BiasTuple(f"{request.name}-{number}", *of_term, attribute, polarity))
    return Proposals(tuples, lost, short)


def propose_sentences(
    writer: Writer, tuples: Sequence[BiasTuple], identities: Identities, templates: PairTemplates, *, seed: int
) -> Proposals[Sentence]:
    """Ask for sentences about every tuple in which people of its identity are said to have its attribute.

    Args:
        writer: a decoder.
        tuples: those that are kept.
        identities: the terms.
        templates: have the prompts.
        seed: of the study.

    Raises:
        InputError: an unknown identity; a refusal by the model.
    """
    opening = "" if writer.is_chat else templates.prompts.opening
    requests = []
    for each in tuples:
        term = identities.find(each.bias_type, each.identity, each.place)
        words = _words(identities.axes[term.axis], term, each.polarity, templates)
        words |= {"attribute": each.attribute, "count": str(_COUNTS["sentences"])}
        prompt = _filled(templates.prompts.sentences, words, opening)
        parse = partial(parse_sentences, language=identities.language, identities=term.spellings)
        requests.append(_Request(each.tuple_id, prompt, parse))
    done, lost, short = _ask(writer, requests, opening, "sentences", seed)
    sentences = [
        Sentence(f"{request.name}-s{number}", request.name, sentence)
        for request in done
        for number, sentence in enumerate(request.found, start=1)
    ]
    return Proposals(sentences, lost, short)


def parse_attributes(
    answer: str, *, language: str, identities: Collection[str] = (), known: Collection[str] = ()
) -> Parsed:
    """Find attributes in an answer: one to three words each, without explanation and repetition.

    Args:
        answer: the text, the opening of the list included.
        language: bn, hi, en; an attribute is in its script.
        identities: spellings of the identity term, which is not its own attribute.
        known: attributes to ignore.

    Returns:
        Reasons of losses: `no-item` (a line outside the list), `too-long`, `no-word`, `other-script`, `identity`,
        `repeated`.
    """
    names = {_folded(one) for one in identities}

    def parts(line: str) -> Iterator[tuple[str, str]]:
        for part in _SEPARATOR.split(_EXPLANATION.sub("", line.strip(_QUOTES))):
            yield part.strip() or line, _bare(part, language)

    def fault(attribute: str) -> str:
        words = attribute.split()
        if not words or not all(_WORD.fullmatch(word) for word in words):
            return "no-word"
        if len(words) > _MOST_WORDS:
            return "too-long"
        if not _in_script(attribute, language):
            return "other-script"
        return "identity" if _folded(attribute) in names else ""

    return _parsed(_items(answer, prose=False), parts, fault, known)


def parse_sentences(answer: str, *, language: str, identities: Collection[str], known: Collection[str] = ()) -> Parsed:
    """Find sentences in an answer that speak of the identity.

    Args:
        answer: the text, the opening of the list included.
        language: bn, hi, en.
        identities: spellings of the identity term, one of which a sentence must have as whole words.
        known: sentences to ignore.

    Returns:
        Reasons of losses: `no-item` (a line outside a list), `no-identity`, `too-short`, `too-long`, `cut-off`
            (no end of a sentence), `other-script`, `repeated`.
    """

    def fault(sentence: str) -> str:
        words = len(_WORD.findall(sentence))
        if not _in_script(sentence, language):
            return "other-script"
        if words < _FEWEST_WORDS or words > _LONGEST_SENTENCE:
            return "too-short" if words < _FEWEST_WORDS else "too-long"
        if not sentence.rstrip("\"'”’").endswith(tuple(_ENDS)):
            return "cut-off"
        return "" if find_terms(sentence, list(identities)) else "no-identity"

    return _parsed(
        _items(answer, prose=True), lambda line: [(line, " ".join(line.strip(_QUOTES).split()))], fault, known
    )


def _parsed(
    items: Iterable[tuple[str, bool]],
    candidates: Callable[[str], Iterable[tuple[str, str]]],
    fault: Callable[[str], str],
    known: Iterable[str],
) -> Parsed:
    """Return the items without a fault that are new, and the lost lines, or parts of lines."""
    found: list[str] = []
    lost: list[tuple[str, str]] = []
    seen = {_folded(one) for one in known}
    for line, is_item in items:
        if not is_item:
            lost.append((line, "no-item"))
            continue
        for part, text in candidates(line):
            if reason := fault(text) or ("repeated" if _folded(text) in seen else ""):
                lost.append((part, reason))
            else:
                seen.add(_folded(text))
                found.append(text)
    return Parsed(found, lost)


def _words(axis: Axis, term: Term, polarity: str, templates: PairTemplates) -> dict[str, str]:
    return {"axis": axis.title, "identity": term.people, "polarity": templates.prompts.polarities[polarity]}


def _filled(prompt: str, words: dict[str, str], opening: str) -> str:
    for name, word in words.items():
        prompt = prompt.replace(f"{{{name}}}", word)
    return f"{prompt.strip()}\n{opening}".strip()


def _ask(
    writer: Writer, requests: Sequence[_Request], opening: str, kind: str, seed: int
) -> tuple[list[_Request], pl.DataFrame, dict[str, int]]:
    """Return the requests with their answers, a table of losses, and the number of missing answers by request."""
    count = _COUNTS[kind]
    done = {request.name: request for request in requests}
    lost: list[tuple[str, int, str, str]] = []
    for number in range(1, _TRIES + 1):
        waiting = [request for request in done.values() if len(request.found) < count]
        if not waiting:
            break
        prompts = [request.prompt for request in waiting]
        room = writer.room(prompts)
        pieces = _PIECES[kind] if room is None else max(1, min(_PIECES[kind], room))
        answers = writer.generate(prompts, max_new_tokens=pieces, seed=seed_of(seed, "construction", kind, number) >> 1)
        for request, answer in zip(waiting, answers, strict=True):
            parsed = request.parse(f"{opening} {answer}".strip(), known=request.found)
            found = (*request.found, *parsed.found)
            done[request.name] = request._replace(found=found[:count])
            lost += [(request.name, number, text, reason) for text, reason in parsed.lost]
            lost += [(request.name, number, text, "beyond-count") for text in found[count:]]
    short = {name: count - len(each.found) for name, each in done.items() if len(each.found) < count}
    if short:
        _LOG.warning(
            "%d of %d requests for %s are incomplete after %d tries, %d missing in all; the losses are listed",
            *(len(short), len(done), kind, _TRIES, sum(short.values())),
        )
    return list(done.values()), pl.DataFrame(lost, schema=_LOST, orient="row"), short


def _items(answer: str, *, prose: bool) -> list[tuple[str, bool]]:
    """Return the lines of an answer without their markers, and whether each is an item.

    With markers, only marked lines are. Without, each line is, if `prose` is wanted; else a line of one word, or of
    words between commas, but not "I cannot say".
    """
    text = unicode_form("NFC", answer)
    lines = [part.strip() for line in text.splitlines() for part in _INLINE.split(line) if part.strip()]
    marked = [_MARKER.match(line) for line in lines]
    bare = [line[match.end() :].strip() if match else line for line, match in zip(lines, marked, strict=True)]
    listed = any(marked)

    def is_item(line: str) -> bool:
        return not listed and not line.endswith(":") and (prose or len(line.split()) == 1 or "," in line)

    return [(line, bool(match) or is_item(line)) for line, match in zip(bare, marked, strict=True) if line]


def _bare(part: str, language: str) -> str:
    attribute = " ".join(part.strip(_QUOTES + _ENDS).split())
    return _EMPTY_WORDS.sub("", attribute, count=1) if language == "en" and " " in attribute else attribute


def _in_script(text: str, language: str) -> bool:
    """Return whether most letters of a text are of the language's script."""
    own = regex.findall(rf"[\p{{L}}&&\p{{Script={_SCRIPTS[language]}}}]", text, regex.V1)
    return 2 * len(own) > len(_LETTER.findall(text))


def _folded(text: str) -> str:
    return " ".join(unicode_form("NFC", text).casefold().strip(_QUOTES + _ENDS).split())
