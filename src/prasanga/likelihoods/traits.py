"""Lists of traits: our YAML (`resources/traits/<language>/<polarity>.yaml`), or the CSV of Sadhu et al. (2024)."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl
import regex

from prasanga.base.errors import InputError, open_whole
from prasanga.base.yaml import Entry, suggest
from prasanga.lexicon.model import read_yaml, spelling_of
from prasanga.likelihoods.templates import ATTRIBUTE, SentenceTemplate, read_sentence
from prasanga.text.words import WORD, count_words, words

# A trait is a word that can be said of people, an adjective, and the attribute of the sentence structures S1 to S5
# (`prasanga.likelihoods.structures`). It may bring sentences of its own: in our lists S4 and S5, in the authors'
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
    traits: dict[str, Trait] = {}
    oddities: list[Oddity] = []
    for number, (line, row) in enumerate(_rows(path), start=1):
        word = spelling(row["Trait"]).strip()
        place = f"{path}, line {line}"
        if not word:
            raise InputError(f"{place}: the column Trait is empty. Write the trait, or delete the row.")
        if word in traits:
            raise InputError(f"{place}: the trait {word} stands twice (first: {traits[word].place}). Delete one.")
        sentences = {}
        for name in STRUCTURES:
            sentences[name] = _sentence(row, name, word, place, spelling)
            oddities += [
                Oddity(str(path), number, word, name, *said) for said in _odd(row, name, word, sentences[name])
            ]
        traits[word] = Trait(word, "", sentences, place)
    if not traits:
        raise InputError(f"{path}: no rows below its first line. Give a list of traits.")
    return TraitList(path, _LANGUAGE, polarity, tuple(traits.values()), tuple(oddities))


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    try:
        with io.TextIOWrapper(open_whole(path), encoding="utf-8-sig", newline="") as file:
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
    n_words = count_words(f"{sentence.before} x {sentence.between} x {sentence.after}")
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
