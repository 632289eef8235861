"""The sentence structures S1 to S5 (Sadhu et al. 2024, section 4.3), filled with terms and traits.

Layout of `resources/templates/<language>/structures.yaml`: the terms of the two groups as pairs in order, and for each
structure a sentence for all traits, or `per-trait` where each trait brings its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

from prasanga.associations.vectors import choice
from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, suggest
from prasanga.lexicon.model import Lexicon, read_yaml, spelling_of
from prasanga.likelihoods.log_probability import (
    TERMS,
    KnownScores,
    LogProbabilityItem,
    Score,
    ScoresMasks,
    combined,
    score_items,
)
from prasanga.likelihoods.templates import TARGET, SentenceTemplate, fill_sentence, form_for, sentence_of
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

# Layout of `resources/templates/<language>/structures.yaml`: the terms of the two groups as pairs in order, and for
# each structure a sentence for all traits, or `per-trait` where each trait brings its own.


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
    """Return every trait in every structure with every term.

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
    template = sentence_of(entry, name, language)
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


# --------------------
# Fill, prior and corrected scores of traits in the sentence structures S1 to S5 (Sadhu et al. 2024, 4.3 and 5.2).
#
# The terms of a group have one score in a sentence, by `log_probability.terms`, fill and prior alike. The
# association is that of the male terms minus that of the female ones: positive where a male subject is likelier.


QUANTITIES = ("fill", "prior", "corrected")

TRAITS_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("model", "polarity", "trait", "gloss", "structure"), pl.String),
    **dict.fromkeys((f"{group}_{what}" for group in GROUPS for what in QUANTITIES), pl.Float64),
    **dict.fromkeys(QUANTITIES, pl.Float64),
    **dict.fromkeys(("n_pairs", "n_words", "n_pieces", "n_attribute_pieces"), pl.Int64),
    "masked_as_one": pl.Boolean,
    **dict.fromkeys(("left_out", "pieces", "terms"), pl.String),
}
"""Columns of the table of traits, one row a model, polarity, trait and structure.

`male_fill` and the like are a group's scores; `fill`, `prior` and `corrected` are the associations, male minus female.
`n_pairs` counts the pairs of terms behind them, `n_pieces` the pieces of these terms together, `n_words` the words of
the sentence. `masked_as_one` says that one mask stood for a trait of several pieces (`pieces` first). `left_out` says
which pairs are missing and why, or why there is no number."""

TERMS_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("model", "polarity", "trait", "structure", "group", "term", "form", "text"), pl.String),
    **dict.fromkeys(QUANTITIES, pl.Float64),
    **dict.fromkeys(("n_words", "n_pieces", "n_attribute_pieces"), pl.Int64),
    **dict.fromkeys(("left_out", "pieces"), pl.String),
}
"""Columns of the table of terms, one row a model, polarity, trait, structure and term."""


class ArrowTables(NamedTuple):
    """The same as `StructureTables`, in Arrow."""

    traits: pa.Table
    terms: pa.Table


class StructureTables(NamedTuple):
    """What one model comes to."""

    traits: pl.DataFrame
    """`TRAITS_SCHEMA`"""
    terms: pl.DataFrame
    """`TERMS_SCHEMA`"""

    def to_arrow(self) -> ArrowTables:
        """Return both tables in Arrow."""
        return ArrowTables(self.traits.to_arrow(), self.terms.to_arrow())


def score_structures(
    scorer: ScoresMasks | KnownScores,
    sentences: Sequence[TraitSentence],
    *,
    model: str,
    pieces: str = "all",
    terms: str = "log-sum-exp",
) -> StructureTables:
    """Score all traits in all structures by one model.

    Args:
        scorer: an encoder, or what it gave all sentences.
        sentences: of `structures.trait_sentences`.
        model: its name, for the tables.
        pieces: how a term of several pieces is scored (`log_probability`).
        terms: how the terms of a group become one score: log-sum-exp or mean.

    Returns:
        Both tables in the order of the sentences. Where a term has no score in a sentence, its counterpart does not
        count there either; without any pair, or with a trait that cannot be masked, a row has no numbers.

    Raises:
        InputError: as `score_log_probability`; an unknown way to combine terms.
    """
    choice("log_probability.terms", terms, TERMS)
    scores = score_items(
        scorer, [LogProbabilityItem(row.text, row.target, row.attribute) for row in sentences], pieces=pieces
    )
    of_trait: dict[tuple[str, str, str], list[tuple[TraitSentence, Score]]] = {}
    for row, score in zip(sentences, scores, strict=True):
        of_trait.setdefault((row.polarity, row.trait, row.structure), []).append((row, score))
    rows = [_trait_row(found, model, pieces, terms) for found in of_trait.values()]
    long = [
        {
            **{
                name: getattr(row, name)
                for name in ("polarity", "trait", "structure", "group", "term", "text", "n_words")
            },
            "model": model,
            "form": row.text[slice(*row.target)],
            **{name: getattr(score, name) for name in (*QUANTITIES, "n_pieces", "n_attribute_pieces")},
            "left_out": _reason(score),
            "pieces": pieces,
        }
        for row, score in zip(sentences, scores, strict=True)
    ]
    return StructureTables(
        pl.DataFrame(rows, schema=dict(TRAITS_SCHEMA)), pl.DataFrame(long, schema=dict(TERMS_SCHEMA))
    )


def _trait_row(found: Sequence[tuple[TraitSentence, Score]], model: str, pieces: str, terms: str) -> dict[str, Any]:
    first, score = found[0]
    reasons: dict[int, str] = {}
    for row, each in found:
        if each.left_out is not None:
            who = "" if each.left_out_role is None else f" {row.term if each.left_out_role == 'target' else row.trait}"
            reasons.setdefault(row.pair, f"{each.left_out}{who}")
    kept = {group: [each for row, each in found if row.group == group and row.pair not in reasons] for group in GROUPS}
    n_pairs = len(kept[GROUPS[0]])
    numbers: dict[str, float] = {}
    if n_pairs:
        for group in GROUPS:
            for what in ("fill", "prior"):
                numbers[f"{group}_{what}"] = combined([getattr(each, what) for each in kept[group]], terms)
            numbers[f"{group}_corrected"] = _minus(numbers, f"{group}_fill", f"{group}_prior")
        for what in QUANTITIES:
            numbers[what] = _minus(numbers, *(f"{group}_{what}" for group in GROUPS))
    return {
        "model": model,
        **{name: getattr(first, name) for name in ("polarity", "trait", "gloss", "structure", "n_words")},
        **numbers,
        "n_pairs": n_pairs,
        "n_pieces": sum(each.n_pieces for group in GROUPS for each in kept[group]),
        "n_attribute_pieces": score.n_attribute_pieces,
        "masked_as_one": pieces == "first" and score.n_attribute_pieces > 1,
        "left_out": "; ".join(dict.fromkeys(reasons.values())) or None,
        "pieces": pieces,
        "terms": terms,
    }


def _minus(numbers: Mapping[str, float], first: str, second: str) -> float:
    return numbers[first] - numbers[second]


def _reason(score: Score) -> str | None:
    if score.left_out is None or score.left_out_role is None:
        return score.left_out
    return f"{score.left_out} ({score.left_out_role})"
