"""Lists of traits: our YAML (`resources/traits/<language>/<polarity>.yaml`), or the CSV of Sadhu et al. (2024).

A trait is a word that can be said of people, an adjective, and the attribute of the sentence structures S1 to S5
(`prasanga.likelihoods.structures`). It may bring sentences of its own: in our lists S4
and S5, in the authors' all five.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl
import regex

from prasanga.base.yaml import Entry, suggest
from prasanga.errors import InputError
from prasanga.lexicon.spelling import read_yaml
from prasanga.likelihoods.slots import ATTRIBUTE, SentenceTemplate, read_sentence
from prasanga.text.words import WORD, words

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


ODDITIES_SCHEMA: Mapping[str, type[pl.DataType]] = {
    name: pl.Int64 if name == "row" else pl.String for name in Oddity._fields
}
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
        from prasanga.likelihoods.authors_traits import read_authors_traits  # which needs this module

        return read_authors_traits(path, normalization)
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise InputError(
            f"{path}: a list of traits is YAML (.yaml) or the CSV of Sadhu et al. (.csv). Name such a file under"
            " `log_probability.traits`."
        )
    return _read_ours(path, normalization)


def oddities_table(lists: Iterable[TraitList]) -> pl.DataFrame:
    """The oddities of several lists, in their order; columns `ODDITIES_SCHEMA`."""
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
    """Whether the trait stands in the text around the slots as a word, or words, of its own, where no mask hides it."""
    around = [word for word, _, _ in words(template.context)]
    sought = [word for word, _, _ in words(trait)]
    return any(around[start : start + len(sought)] == sought for start in range(len(around))) if sought else False


def _read_ours(path: Path, normalization: str | None) -> TraitList:
    content = read_yaml(path, normalization=normalization)
    content.require("a list of traits", required=["language", "polarity", "traits"])
    language, polarity = content.text("language"), content.text("polarity")
    if polarity not in POLARITIES:
        raise InputError(f"{content.place}: `polarity` is {polarity!r}.{suggest(polarity, POLARITIES)}")
    traits: dict[str, Trait] = {}
    for entry in content.entries_of("traits"):
        trait = _read_trait(entry, language)
        if trait.word in traits:
            raise InputError(
                f"{trait.place}: the trait {trait.word} stands twice (first: {traits[trait.word].place}). Delete one."
            )
        traits[trait.word] = trait
    if not traits:
        raise InputError(f"{path}: `traits` is empty. Write under it `- {{word: ..., gloss: ..., S4: ..., S5: ...}}`.")
    return TraitList(path, language, polarity, tuple(traits.values()))


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
