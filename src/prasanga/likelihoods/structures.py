"""The sentence structures S1 to S5 (Sadhu et al. 2024, section 4.3), filled with terms and traits.

Layout of `resources/templates/<language>/structures.yaml`: the terms of the two groups as pairs in order, and for each
structure a sentence for all traits, or `per-trait` where each trait brings its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from prasanga.base.yaml import Entry, suggest
from prasanga.errors import InputError
from prasanga.lexicon.model import Lexicon
from prasanga.lexicon.spelling import read_yaml, spelling_of
from prasanga.likelihoods.slots import TARGET, SentenceTemplate, fill_sentence, form_for, read_sentence
from prasanga.likelihoods.traits import (
    STRUCTURES,
    Trait,
    TraitList,
    in_sight,
    require_no_trait_twice,
    require_plain_attribute,
)
from prasanga.models.pieces import Span
from prasanga.text.words import count_words

GROUPS = ("male", "female")
"""The two groups of terms; an association is that of the first minus that of the second."""

PER_TRAIT = "per-trait"


@dataclass(frozen=True, slots=True)
class Structures:
    """Terms and sentences of a language.

    Attributes:
        path: the file.
        language: bn, hi, en.
        terms: by group, pairs in order; names of stimuli.
        sentences: by structure, in order; None where each trait brings its own.
    """

    path: Path
    language: str
    terms: Mapping[str, tuple[str, ...]]
    sentences: Mapping[str, SentenceTemplate | None]


class TraitSentence(NamedTuple):
    """A sentence of a trait with a term in it: `text[slice(*target)]` is the term, likewise the attribute the trait."""

    polarity: str
    trait: str
    gloss: str
    structure: str
    group: str
    pair: int
    term: str
    text: str
    target: Span
    attribute: Span
    n_words: int


def load_structures(path: str | Path, normalization: str | None = None) -> Structures:
    """Read a file of sentence structures.

    Args:
        path: the file.
        normalization: the study's, if not the language's own.

    Raises:
        InputError: the file is not there or no such file; an unknown key; groups of different sizes or with a term in
            both; a sentence without its two slots.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check the path under `log_probability.structures` in the config.")
    content = read_yaml(path, normalization=normalization)
    content.require("a file of sentence structures", required=["language", "targets", "structures"])
    language = content.text("language")
    terms = _read_terms(content.entry_of("targets"))
    by_name = content.entry_of("structures")
    for name in by_name:
        if name not in STRUCTURES:
            raise InputError(f"{by_name.place}: there is no structure `{name}`.{suggest(name, STRUCTURES)}")
    if not by_name:
        raise InputError(f"{path}: `structures` is empty. Write under it `S1: {{text: ...}}`, or `S4: {PER_TRAIT}`.")
    sentences = {name: _read_structure(name, by_name, language) for name in STRUCTURES if name in by_name}
    return Structures(path, language, terms, sentences)


def trait_sentences(structures: Structures, lists: Sequence[TraitList], lexicon: Lexicon) -> list[TraitSentence]:
    """Every trait in every structure with every term.

    A trait's own sentence goes before the structure's; a structure that neither has is left out for this trait.

    Args:
        structures: terms and sentences.
        lists: traits of one or both polarities.
        lexicon: where the terms are inflected.

    Raises:
        InputError: lists, structures and lexicon of different languages; a trait in two lists; a trait without a
            sentence of a structure that is per trait; a term that is no stimulus of the lexicon, or lacks a form.
    """
    languages = [(structures.path, structures.language), *((found.path, found.language) for found in lists)]
    for path, language in languages:
        if language != lexicon.language:
            raise InputError(
                f"{path}: `language` is {language!r}, but the word lists are for {lexicon.language!r}. Name files of"
                " that language under `log_probability`."
            )
    require_no_trait_twice(lists)
    _require_terms(structures, lexicon)
    spelling = spelling_of(lexicon.language, lexicon.normalization)
    found = []
    for traits in lists:
        for trait in traits.traits:
            for name, template in _sentences_of(trait, structures).items():
                for group in GROUPS:
                    for pair, term in enumerate(structures.terms[group]):
                        form = form_for(lexicon, term, template.slot(TARGET), template)
                        text, target, attribute = fill_sentence(template, form, trait.word, spelling)
                        found.append(
                            TraitSentence(
                                *(traits.polarity, trait.word, trait.gloss, name, group, pair, term),
                                *(text, target, attribute, count_words(text)),
                            )
                        )
    return found


def _sentences_of(trait: Trait, structures: Structures) -> dict[str, SentenceTemplate]:
    found: dict[str, SentenceTemplate] = {}
    for name, shared in structures.sentences.items():
        template = trait.sentences.get(name, shared)
        if template is None:
            raise InputError(
                f"{trait.place}: the trait {trait.word} has no sentence for {name}, which is per trait in"
                f" {structures.path}. Write `{name}: ...` for it."
            )
        if name not in trait.sentences and in_sight(trait.word, template):
            raise InputError(
                f"{trait.place}: the trait {trait.word} stands in the sentence of {name} as well ({template.place}),"
                f" where no mask hides it. Write a sentence of its own: `{name}: ...`."
            )
        found[name] = template
    return found


def _read_terms(entry: Entry) -> dict[str, tuple[str, ...]]:
    entry.require("the terms under `targets`", required=GROUPS)
    terms = {group: entry.texts(group) for group in GROUPS}
    first, second = (terms[group] for group in GROUPS)
    if len(first) != len(second) or not first:
        raise InputError(
            f"{entry.place}: {GROUPS[0]} has {len(first)} terms and {GROUPS[1]} {len(second)}, but they are pairs in"
            " order. Give as many of both, at least one."
        )
    twice = [term for term in (*first, *second) if (*first, *second).count(term) > 1]
    if twice:
        raise InputError(f"{entry.place}: the term {twice[0]} stands twice. Leave it out once, with its counterpart.")
    return terms


def _read_structure(name: str, by_name: Entry, language: str) -> SentenceTemplate | None:
    if by_name[name] == PER_TRAIT:
        return None
    if not isinstance(by_name[name], Entry):
        raise InputError(
            f"{by_name.place}: {name} is {by_name[name]!r}. Write `{name}: {{text: ...}}`, or `{name}: {PER_TRAIT}`."
        )
    entry = by_name.entry_of(name)
    entry.require(f"the structure {name}", required=["text"], optional=["gloss"])
    template = read_sentence(
        entry.text("text"), name=name, place=entry.place, language=language, gloss=entry.text("gloss")
    )
    require_plain_attribute(template)
    return template


def _require_terms(structures: Structures, lexicon: Lexicon) -> None:
    known = {stimulus.name for stimulus in lexicon.stimuli}
    missing = [term for group in GROUPS for term in structures.terms[group] if term not in known]
    if missing:
        raise InputError(
            f"{structures.path}: the terms {', '.join(missing)} are no stimuli of the study's word lists, so they"
            " cannot be inflected. Add them to a word set; with `searched: false` they are not looked for in texts."
        )
