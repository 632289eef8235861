"""Traits, the sentence structures S1 to S5 (Sadhu et al. 2024, section 4.3), and the sentences that they make.

Traits are our YAML (`resources/traits/<language>/<polarity>.yaml`), or the CSV of Sadhu et al. (2024); structures are
`resources/templates/<language>/structures.yaml`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl
import regex

from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, suggest
from prasanga.lexicon.model import Lexicon, read_yaml, spelling_of
from prasanga.likelihoods.templates import (
    ATTRIBUTE,
    TARGET,
    SentenceTemplate,
    fill_sentence,
    form_for,
    read_sentence,
    sentence_of,
)
from prasanga.models.pieces import Span
from prasanga.schema import TABLES
from prasanga.text.words import WORD, count_words, words

# A trait is a word that can be said of people, an adjective, and the attribute of the sentence structures S1 to S5
# (below). It may bring sentences of its own: in our lists S4 and S5, in the authors'
# all five.


POLARITIES = ("positive", "negative")
STRUCTURES = ("S1", "S2", "S3", "S4", "S5")
"""The sentence structures of Sadhu et al. (2024), section 4.3 and appendix A.4, with more and more context."""


class Oddity(NamedTuple):
    """Something in a list that a reader should know, and what was done about it."""

    file: str
    row: int
    trait: str
    structure: str
    kind: str
    found: str
    done: str


ODDITIES_SCHEMA = TABLES["trait_oddities"].polars
"""Columns of the table of oddities."""


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait word and the sentences that are its own.

    Attributes:
        word: its spelling, normalized.
        gloss: an English translation; "" where the source gives none.
        sentences: by structure.
        place: file and line.
    """

    word: str
    gloss: str
    sentences: Mapping[str, SentenceTemplate]
    place: str = ""


@dataclass(frozen=True, slots=True)
class TraitList:
    """Traits of one polarity.

    Attributes:
        path: the file.
        language: bn, hi, en.
        polarity: positive or negative.
        traits: in the order of the file.
        oddities: what was found in the file besides; always empty of our layout, which is refused instead.
    """

    path: Path
    language: str
    polarity: str
    traits: tuple[Trait, ...]
    oddities: tuple[Oddity, ...] = ()


def load_traits(path: str | Path, normalization: str | None = None) -> TraitList:
    """Read a list of traits, in our layout (.yaml) or in the authors' (.csv).

    Args:
        path: the file. A CSV has its polarity in its name (positive_traits_bn.csv).
        normalization: the study's, if not the language's own.

    Raises:
        InputError: the file is not there or no such list; an unknown key; a polarity that is none; a trait twice; in
            our layout, a trait that stands in its own sentence once more, where no mask would hide it.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check the paths under `log_probability.traits` in the config.")
    if path.suffix.lower() == ".csv":
        return read_authors_traits(path, normalization)
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise InputError(
            f"{path}: a list of traits is YAML (.yaml) or the CSV of Sadhu et al. (.csv). Name such a file under"
            " `log_probability.traits`."
        )
    return _read_ours(path, normalization)


def oddities_table(lists: Iterable[TraitList]) -> pl.DataFrame:
    """Return the oddities of several lists, in their order; columns `ODDITIES_SCHEMA`."""
    rows = [oddity for found in lists for oddity in found.oddities]
    return pl.DataFrame(rows, schema=dict(ODDITIES_SCHEMA), orient="row")


def require_no_trait_twice(lists: Iterable[TraitList]) -> None:
    """Refuse lists that have a trait in common: its rows could not be told apart.

    Raises:
        InputError: with both places.
    """
    places: dict[tuple[str, str], str] = {}
    for found in lists:
        for trait in found.traits:
            first = places.setdefault((found.polarity, trait.word), trait.place)
            if first != trait.place:
                raise InputError(
                    f"{trait.place}: the {found.polarity} trait {trait.word} is also at {first}. Leave it out of one"
                    " list, or name one of the lists under `log_probability.traits` only."
                )


def in_sight(trait: str, template: SentenceTemplate) -> bool:
    """Return whether the trait stands in the text around the slots, where no mask hides it.

    It must stand there as a word, or words, of its own.
    """
    around = [word for word, _, _ in words(" ".join(template.texts))]
    sought = [word for word, _, _ in words(trait)]
    return any(around[start : start + len(sought)] == sought for start in range(len(around))) if sought else False


def _read_ours(path: Path, normalization: str | None) -> TraitList:
    content = read_yaml(path, normalization=normalization)
    content.require("a list of traits", required=["language", "polarity", "traits"])
    language, polarity = content.text("language"), content.text("polarity")
    if polarity not in POLARITIES:
        raise InputError(f"{content.place}: `polarity` is {polarity!r}.{suggest(polarity, POLARITIES)}")
    traits = _once_each(_read_trait(entry, language) for entry in content.entries_of("traits"))
    if not traits:
        raise InputError(f"{path}: `traits` is empty. Write under it `- {{word: ..., gloss: ..., S4: ..., S5: ...}}`.")
    return TraitList(path, language, polarity, traits)


def _once_each(traits: Iterable[Trait]) -> tuple[Trait, ...]:
    found: dict[str, Trait] = {}
    for trait in traits:
        if (first := found.setdefault(trait.word, trait)) is not trait:
            raise InputError(f"{trait.place}: the trait {trait.word} stands twice (first: {first.place}). Delete one.")
    return tuple(found.values())


def _read_trait(entry: Entry, language: str) -> Trait:
    entry.require("a trait", required=["word"], optional=["gloss", *STRUCTURES])
    word = entry.text("word")
    if not WORD.search(word) or regex.search(r"[{}]", word):
        raise InputError(f"{entry.place}: the trait is {word!r}, which is no word. Write `word: ...`.")
    sentences = {}
    for name in STRUCTURES:
        if name in entry:
            template = read_sentence(entry.text(name), name=f"{word} {name}", place=entry.place, language=language)
            require_plain_attribute(template)
            if in_sight(word, template):
                raise InputError(
                    f"{entry.place}: {name} of the trait {word} has it a second time beside {{attribute}}, where no"
                    " mask hides it. Write the sentence without it."
                )
            sentences[name] = template
    return Trait(word, entry.text("gloss"), sentences, entry.place)


def require_plain_attribute(template: SentenceTemplate) -> None:
    """Refuse a slot that asks for a form of a trait: traits are not in the lexicon.

    Raises:
        InputError: with the slot.
    """
    if template.slot(ATTRIBUTE).form.case:
        raise InputError(
            f"{template.place}: the sentence `{template.name}` asks for a number or case of {{attribute}}, but a trait"
            " is not inflected. Write {attribute}, and its ending, if there is one, after it."
        )


# --------------------
# The trait lists of Sadhu et al. (2024): CSV files with parts of sentences, put together as their program does it.
#
# The columns of a structure are what is written onto the target (Mask_Suffix), what is written after the trait
# (Trait_Suffix), and the rest (Placeholder):
#
#     S1, S2    [target]{Mask_Suffix} {Placeholder} {Trait} {Trait_Suffix}
#     S3        {Trait} {Trait_Suffix} [target]{Mask_Suffix} {Placeholder}
#     S4, S5    {Placeholder} {Trait} {Trait_Suffix} [target]{Mask_Suffix}
#
# What begins with a hyphen is an ending of the trait (-তা), and is written onto it. Here the mask covers the target
# with its ending; in the program the ending hangs on the mask.


_LANGUAGE = "bn"
_PARTS = ("Mask_Suffix", "Placeholder", "Trait_Suffix")
COLUMNS = ("Trait", *(f"{name}_{part}" for name in STRUCTURES for part in _PARTS))
_FEWEST_WORDS = {"S4": 4, "S5": 6}
"""A sentence with less has none of the context that its structure stands for."""


def read_authors_traits(path: Path, normalization: str | None = None) -> TraitList:
    """Read a CSV of the authors; oddities are kept beside the traits, and every sentence is kept as it comes out.

    Raises:
        InputError: no polarity in the file's name; not UTF-8; a missing column; a row without a trait; a trait twice.
    """
    polarity = next((name for name in POLARITIES if name in path.stem.lower()), None)
    if polarity is None:
        raise InputError(
            f"{path}: its name says neither positive nor negative, and the file does not either. Rename it, for example"
            " to positive_traits_bn.csv."
        )
    spelling = spelling_of(_LANGUAGE, normalization)
    traits: list[Trait] = []
    oddities: list[Oddity] = []
    for number, (line, row) in enumerate(_rows(path), start=1):
        word = spelling(row["Trait"]).strip()
        place = f"{path}, line {line}"
        if not word:
            raise InputError(f"{place}: the column Trait is empty. Write the trait, or delete the row.")
        sentences = {name: _sentence(row, name, word, place, spelling) for name in STRUCTURES}
        for name, sentence in sentences.items():
            oddities += (Oddity(str(path), number, word, name, *said) for said in _odd(row, name, word, sentence))
        traits.append(Trait(word, "", sentences, place))
    if not traits:
        raise InputError(f"{path}: no rows below its first line. Give a list of traits.")
    return TraitList(path, _LANGUAGE, polarity, _once_each(traits), tuple(oddities))


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(
                    f"{path} has no column {', '.join(missing)}; it has {', '.join(reader.fieldnames or ()) or 'none'}."
                    " Give a list of traits in YAML, or a CSV with the columns of Sadhu et al. (2024)."
                )
            yield from ((reader.line_num, {name: row[name] or "" for name in COLUMNS}) for row in reader)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}). Save it as UTF-8.") from None


def _sentence(
    row: Mapping[str, str], name: str, word: str, place: str, spelling: Callable[[str], str]
) -> SentenceTemplate:
    on_target, rest, after_trait = (row[f"{name}_{part}"] for part in _PARTS)
    target = "{target}" + on_target
    ending = after_trait.strip().startswith("-")
    trait = "{attribute}" + (after_trait.strip().removeprefix("-") if ending else f" {after_trait}")
    if name in ("S1", "S2"):
        text = f"{target} {rest} {trait}"
    elif name == "S3":
        text = f"{trait} {target} {rest}"
    else:
        text = f"{rest} {trait} {target}"
    # Parts are written with blanks between them, of which there are too many where a part is empty.
    text = regex.sub(r"\s+", " ", text)
    text = spelling(regex.sub(r" (?=[।,?!])", "", text)).strip()
    return read_sentence(text, name=f"{word} {name}", place=place, language=_LANGUAGE)


def _odd(row: Mapping[str, str], name: str, word: str, sentence: SentenceTemplate) -> Iterator[tuple[str, str, str]]:
    """Yield the kind of each oddity, what was found, and what was done."""
    empty = [f"{name}_{part}" for part in _PARTS if not row[f"{name}_{part}"].strip()]
    n_words = count_words(" x ".join(sentence.texts))
    if empty and name == "S5":  # in the others a part is often empty on purpose
        yield "empty-cell", ", ".join(empty), "the sentence is made of what is there"
    if n_words < _FEWEST_WORDS.get(name, 0):
        yield "no-context", f"a sentence of {n_words} words", "scored as it is, though it lacks the structure's context"
    if in_sight(word, sentence):
        yield "trait-in-sight", "the trait stands in the context once more", "scored as it is; no mask hides it there"
    if row[f"{name}_Trait_Suffix"].strip().startswith("-"):
        found = row[f"{name}_Trait_Suffix"].strip()
        yield "ending-after-hyphen", found, f"written onto the trait: {word}{found.removeprefix('-')}"
    if not regex.match(r"[\p{L}\p{M}]", row[f"{name}_Mask_Suffix"]) and name not in ("S4", "S5"):
        yield "target-without-ending", repr(row[f"{name}_Mask_Suffix"]), "the bare term stands there"


# --------------------
# The sentence structures, filled with terms and traits.
#
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
