"""Attributes and sentences that a local model proposes, for people to judge (IndiBias 4.1 and 4.2.2).

Nothing that a model proposes is a stereotype because it says so: attributes become tuples when annotators have called
them stereotypes, sentences become pairs when a person has read them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import polars as pl

from prasanga.construction.identities import Axis, Identities, Term
from prasanga.construction.parsing import Parsed, parse_attributes, parse_sentences
from prasanga.construction.prompts import attribute_prompt, sentence_prompt
from prasanga.construction.templates import Templates
from prasanga.construction.tuples import POLARITIES, BiasTuple
from prasanga.errors import InputError
from prasanga.seeds import seed_of

_LOG = logging.getLogger(__name__)
ATTRIBUTES, SENTENCES = 10, 5
TRIES = 4
_PIECES = {"attributes": 200, "sentences": 400}
LOST_COLUMNS = ("asked_for", "tried", "text", "reason")


class WritesText(Protocol):
    """What proposing needs of a model (`prasanga.construction.generation.Writer`)."""

    @property
    def is_chat(self) -> bool:
        """Whether it answers questions."""

    def room(self, texts: Sequence[str]) -> int | None:
        """Most pieces that an answer to the longest of `texts` can have; None for no limit."""

    def generate(self, texts: Sequence[str], *, max_new_tokens: int, seed: int) -> list[list[str]]:
        """Answers."""


@dataclass(frozen=True)
class Proposals:
    """Proposed tuples, and what could not be used.

    Attributes:
        tuples: without votes.
        lost: `LOST_COLUMNS`: what was asked for (axis, term, polarity), in which try, the text, and why it was lost.
        short: by what was asked for, how many are missing.
    """

    tuples: list[BiasTuple]
    lost: pl.DataFrame
    short: dict[str, int]


@dataclass(frozen=True)
class ProposedSentence:
    """A sentence about the identity of a tuple."""

    sentence_id: str
    tuple_id: str
    sentence: str


@dataclass(frozen=True)
class SentenceProposals:
    """Proposed sentences, and what could not be used; as `Proposals`."""

    sentences: list[ProposedSentence]
    lost: pl.DataFrame
    short: dict[str, int]


@dataclass(frozen=True)
class _Request:
    name: str
    prompt: str
    opening: str
    parse: Callable[[str, Sequence[str]], Parsed]
    found: tuple[str, ...] = ()


def propose_attributes(
    writer: WritesText,
    identities: Identities,
    templates: Templates,
    *,
    seed: int,
    count: int = ATTRIBUTES,
    tries: int = TRIES,
) -> Proposals:
    """`count` positive and `count` negative attributes for every identity term.

    A model that has not given enough is asked again, with another seed, up to `tries` times.

    Args:
        writer: a decoder.
        identities: the terms.
        templates: have the prompts, of the same language.
        seed: of the study.
        count: of each polarity.
        tries: how often a term is asked about at most.

    Raises:
        InputError: identities and templates of two languages; what the model refuses.
    """
    _require_one_language(identities, templates)
    about: dict[str, tuple[Axis, Term, str]] = {}
    requests = []
    for axis in identities.axes.values():
        for term in filter(lambda term: term.proposed, axis.terms.values()):
            for polarity in POLARITIES:
                name = f"{axis.name}-{term.term_id}-{polarity}"
                about[name] = axis, term, polarity
                prompt = attribute_prompt(templates.prompts, axis, term, polarity, count=count, chat=writer.is_chat)
                requests.append(_Request(name, prompt, _opening(writer, templates), _attributes_of(term, identities)))
    done, lost = _ask(writer, requests, kind="attributes", seed=seed, count=count, tries=tries)
    tuples = []
    for request in done:
        axis, term, polarity = about[request.name]
        for number, attribute in enumerate(request.found, start=1):
            people = term.forms["people"][0]
            tuples.append(
                BiasTuple(f"{request.name}-{number}", identities.language, axis.bias_type, people, attribute, polarity)
            )
    return Proposals(tuples, lost, _short(done, count))


def propose_sentences(
    writer: WritesText,
    tuples: Sequence[BiasTuple],
    identities: Identities,
    templates: Templates,
    *,
    seed: int,
    count: int = SENTENCES,
    tries: int = TRIES,
) -> SentenceProposals:
    """`count` sentences for every tuple in which people of its identity are said to have its attribute; as above."""
    _require_one_language(identities, templates)
    requests = []
    for each in tuples:
        term = identities.find(each.bias_type, each.identity, each.place)
        axis = identities.axes[term.axis]
        prompt = sentence_prompt(templates.prompts, axis, term, each, count=count, chat=writer.is_chat)
        parse = _sentences_of(term, identities)
        requests.append(_Request(each.tuple_id, prompt, _opening(writer, templates), parse))
    done, lost = _ask(writer, requests, kind="sentences", seed=seed, count=count, tries=tries)
    sentences = [
        ProposedSentence(f"{request.name}-s{number}", request.name, sentence)
        for request in done
        for number, sentence in enumerate(request.found, start=1)
    ]
    return SentenceProposals(sentences, lost, _short(done, count))


def _ask(
    writer: WritesText, requests: Sequence[_Request], *, kind: str, seed: int, count: int, tries: int
) -> tuple[list[_Request], pl.DataFrame]:
    """The requests with what was found, and a table of what was lost."""
    done = {request.name: request for request in requests}
    lost: list[tuple[str, int, str, str]] = []
    for number in range(1, tries + 1):
        waiting = [request for request in done.values() if len(request.found) < count]
        if not waiting:
            break
        prompts = [request.prompt for request in waiting]
        room = writer.room(prompts)
        pieces = _PIECES[kind] if room is None else max(1, min(_PIECES[kind], room))
        answers = writer.generate(prompts, max_new_tokens=pieces, seed=seed_of(seed, "construction", kind, number) >> 1)
        for request, (answer, *_) in zip(waiting, answers, strict=True):
            parsed = request.parse(f"{request.opening} {answer}".strip(), request.found)
            found = (*request.found, *parsed.found)
            done[request.name] = replace(request, found=found[:count])
            lost += [(request.name, number, text, reason) for text, reason in parsed.lost]
            lost += [(request.name, number, text, "beyond-count") for text in found[count:]]
    short = _short(list(done.values()), count)
    if short:
        _LOG.warning(
            "%d of %d requests for %s came out short after %d tries, %d missing in all; what was lost is listed",
            len(short),
            len(done),
            kind,
            tries,
            sum(short.values()),
        )
    schema = {"asked_for": pl.String, "tried": pl.Int64, "text": pl.String, "reason": pl.String}
    return list(done.values()), pl.DataFrame(lost, schema=schema, orient="row")


def _attributes_of(term: Term, identities: Identities) -> Callable[[str, Sequence[str]], Parsed]:
    names = spellings_of(term)

    def parse(answer: str, known: Sequence[str]) -> Parsed:
        return parse_attributes(answer, language=identities.language, identities=names, known=known)

    return parse


def _sentences_of(term: Term, identities: Identities) -> Callable[[str, Sequence[str]], Parsed]:
    names = spellings_of(term)

    def parse(answer: str, known: Sequence[str]) -> Parsed:
        return parse_sentences(answer, language=identities.language, identities=names, known=known)

    return parse


def spellings_of(term: Term) -> list[str]:
    """All spellings of all forms of a term, each once."""
    return list(dict.fromkeys(spelling for form in term.forms.values() for spelling in form))


def _opening(writer: WritesText, templates: Templates) -> str:
    return "" if writer.is_chat else templates.prompts.opening


def _short(requests: Sequence[_Request], count: int) -> dict[str, int]:
    return {request.name: count - len(request.found) for request in requests if len(request.found) < count}


def _require_one_language(identities: Identities, templates: Templates) -> None:
    if identities.language != templates.language:
        raise InputError(
            f"{templates.path}: `language` is {templates.language!r}, but {identities.path} is in"
            f" {identities.language!r}. Name files of one language under `construction`."
        )
