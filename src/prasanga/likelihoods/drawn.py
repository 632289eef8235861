"""Sentences of the study's texts for the structure S5 (Sadhu et al. 2024, Table 3).

A sentence can be S5 of a trait if the trait is followed by a noun for a person of any sex (সৎ মানুষের): a term in the
same number and case can replace that noun. `persons` in the file of structures lists the nouns.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.base.seeds import seed_of
from prasanga.lexicon.model import Lexicon
from prasanga.likelihoods.structures import FEWEST_WORDS, has_word, read_structures, read_traits
from prasanga.schema import TABLES
from prasanga.sentences import Forms, Shard, extract_shard
from prasanga.text import normalizer, words

LONGEST_DRAWN = 200
"""Characters of the longest sentence that is drawn."""

DRAWN_SCHEMA = TABLES["drawn_sentences"].polars
"""Columns of the drawn sentences, one row per trait with a sentence. `text` has slots in place of trait and noun."""

_FOUND = ("stimulus", "text", "start", "end", "source", "offset")
_PEOPLE = ("person", "kin", "person_name")
"""Classes of words that name people."""
_OF_WORDS = ("extracted", "pickle", "word")
"""Formats with sentences that were found for other words."""


def draw_sentences(settings: Mapping[str, Any], lexicon: Lexicon) -> pl.DataFrame:
    """Draw a sentence per trait from all that can be S5; equal sentences count once.

    A sentence must have context (6 words), at most `LONGEST_DRAWN` characters, the trait only once, no braces, and no
    other word for a person that the lexicon knows: a name or a word for kin would show the sex.

    Args:
        settings: plain values: the files `structures` and `traits`; `shards`, whole files of the corpus, and for each
            in `texts` its title and license; how they are read: `normalization`, `replacements`, `language`, `errors`;
            and the `seed`.
        lexicon: has the terms.

    Returns:
        `DRAWN_SCHEMA`, sorted by trait. The order of the files does not matter.

    Raises:
        InputError: as `read_structures`, `read_traits` and `extract_shard`.
    """
    _, terms, _, persons = read_structures(Path(settings["structures"]), lexicon.normalization, are_drawn=True)
    people = {word.name for word in lexicon.stimuli if word.word_class in _PEOPLE}.union(*terms.values())
    of_people = {reading.form for reading in lexicon.readings if reading.stimulus in people}
    traits = {trait.word for file in settings["traits"] for trait in read_traits(file, lexicon.normalization)[1]}
    sought = {f"{trait} {noun}": (f"{trait}\n{form}",) for trait in traits for noun, form in persons.items()}
    how = {"language": settings["language"], "errors": settings["errors"], "before": 0, "after": 0}
    how["normalization"] = normalizer(settings["normalization"], **settings["replacements"])
    best: dict[str, tuple[Any, ...]] = {}
    for shard, of_text in zip((Shard(**each) for each in settings["shards"]), settings["texts"], strict=True):
        for batch in extract_shard(shard, lexicon=Forms(sought), **how) if shard.format not in _OF_WORDS else ():
            for found, text, start, end, *place in pl.DataFrame(batch).select(_FOUND).iter_rows():
                trait, form = found.split("\n")
                order = seed_of(settings["seed"], "S5", trait, text), *place
                around = f"{text[:start]} {text[end:]}"
                others = [word for word, _, _ in words(around)]
                is_taken = trait in best and best[trait][0] <= order
                if is_taken or len(text) > LONGEST_DRAWN or {"{", "}"} & set(text) or has_word(trait, around):
                    continue
                if len(others) + 2 >= FEWEST_WORDS["S5"] and of_people.isdisjoint(others):
                    slots = f"{text[:start]}{{attribute}} {{target:{form}}}{text[end:]}"
                    best[trait] = order, (trait, slots, *of_text, *place)
    return pl.DataFrame([best[trait][1] for trait in sorted(best)], DRAWN_SCHEMA, orient="row")
