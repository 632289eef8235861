"""The trait lists of Sadhu et al. (2024): CSV files with parts of sentences, put together as their program does it.

The columns of a structure are what is written onto the target (Mask_Suffix), what is written after the trait
(Trait_Suffix), and the rest (Placeholder):

    S1, S2    [target]{Mask_Suffix} {Placeholder} {Trait} {Trait_Suffix}
    S3        {Trait} {Trait_Suffix} [target]{Mask_Suffix} {Placeholder}
    S4, S5    {Placeholder} {Trait} {Trait_Suffix} [target]{Mask_Suffix}

What begins with a hyphen is an ending of the trait (-তা), and is written onto it. Here the mask covers the target with
its ending; in the program the ending hangs on the mask.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import regex

from prasanga.errors import InputError
from prasanga.lexicon.spelling import spelling_of
from prasanga.likelihoods.slots import SentenceTemplate, read_sentence
from prasanga.likelihoods.traits import POLARITIES, STRUCTURES, Oddity, Trait, TraitList, in_sight
from prasanga.text.words import count_words

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
    """Kind, what was found, what was done."""
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
