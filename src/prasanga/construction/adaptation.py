"""Adapting a set of pairs to another society: a sheet with a decision, a concern and new sentences for each pair.

Sahoo et al. 2024, sections 4.2.1 and 4.3, took over the pairs of CrowS-Pairs that make sense in India, changed those
that could be changed, and removed the others; Figure 6, Table 7 and Table 13 give the reasons, which follow the
pitfalls that Blodgett et al. 2021 found in such sets. They are named here in our own words. What comes back is
checked in `prasanga.construction.adaptation_checks`.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from prasanga.construction.names import has_name, possible_names, suggest_names
from prasanga.pairs.alignment import align_words
from prasanga.pairs.marks import write_mark

KEEP, MODIFY, REMOVE = DECISIONS = ("keep", "modify", "remove")
"""What may stand in the column `decision`."""

CONTRADICTION, MISMATCH, IRRELEVANT = "contradicts-reality", "attribute-mismatch", "irrelevant-here"
OTHER = "other"

CONCERNS: dict[str, str] = {
    "no-stereotype": "No one holds what the sentence says of the group, or it means nothing.",
    "no-contrast": "The other sentence is neither opposed nor less stereotypical, so preferring one says nothing.",
    "wrong-bias-type": "The stereotype is about another kind of group than the pair's bias type.",
    "wrong-counterpart": "The other sentence's group is no counterpart, such as one person set against a people.",
    "several-stereotypes": "Several stereotypes are mixed in one pair, so that it is open which one was measured.",
    "illogical": "With the groups exchanged, one of the sentences does not follow or makes no sense.",
    CONTRADICTION: "One of the sentences cannot be true, whatever one thinks of the group; the pair is removed.",
    MISMATCH: "Group and attribute differ both between the sentences, or more than one thing was changed.",
    "topics-differ": "The two sentences are about different things.",
    "unnatural": "Nobody would say or write such a sentence.",
    "grammar": "Grammar or spelling is wrong, or differs between the sentences.",
    IRRELEVANT: "It is about a place, custom or group that means nothing in the society adapted to.",
    "lacks-context": "One cannot tell what is meant without knowing more.",
    "translation": "It cannot be said in the language of the translation, or what differs is lost there.",
    OTHER: "Something else; say what under note.",
}
"""What may stand in the column `concern`, and what it means."""

FILLED_IN = ("decision", "concern", "names", "modified_first", "modified_second", "note")
"""The columns that annotators write in."""


def adaptation_sheet(pairs: pl.DataFrame, names: Mapping[str, Mapping[str, str]], *, seed: int) -> pl.DataFrame:
    """The sheet of a set of pairs of one language, a row each.

    Args:
        pairs: the pairs (columns of `prasanga.pairs.read_pairs`).
        names: sets of names to suggest from (`prasanga.construction.names.read_names`).
        seed: the study's.

    Returns:
        `pair_id`, `language`, `bias_type`, `label`, `first`, `second`; `differs` (the modified words, `first /
        second`); `suggested_names` (words that may be foreign names, with one name of each set); and, to fill in,
        `decision`, `concern`, `names`, `modified_first`, `modified_second`, `note`.
    """
    known = [spelling for spellings in names.values() for spelling in spellings]
    found = possible_names((*pairs["first"], *pairs["second"]), known)
    suggested = suggest_names(sorted(found), names, seed=seed)
    differs, suggestions = [], []
    for pair in pairs.iter_rows(named=True):
        aligned = align_words(pair["first"], pair["second"])
        differs.append(write_mark(aligned.modified_first, aligned.modified_second))
        here = [name for name in suggested if has_name(pair["first"], name) or has_name(pair["second"], name)]
        suggestions.append(" | ".join(f"{name} = {suggested[name]}" for name in here))
    return pairs.select("pair_id", "language", "bias_type", "label", "first", "second").with_columns(
        pl.Series("differs", differs, dtype=pl.String),
        pl.Series("suggested_names", suggestions, dtype=pl.String),
        *(pl.lit("", pl.String).alias(name) for name in FILLED_IN),
    )
