"""Translations of pairs: candidates of several engines on one sheet, which does not say whose they are.

Sahoo et al. 2024, section 4.2.1: both sentences of a pair are translated by more than one engine, annotators choose
the best translation or write their own, and do not know which engine a candidate is from. The two sentences of a
candidate are always of one engine, so that they stay as near to each other as that engine keeps them.

What the annotators chose is read back and decided in `prasanga.construction.choices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

import polars as pl

from prasanga.errors import InputError
from prasanga.pairs.alignment import align_words
from prasanga.seeds import generator

CANDIDATES = {"pair_id": pl.String, "engine": pl.String, "rank": pl.Int64, "first": pl.String, "second": pl.String}
"""Columns of a table of candidates: `rank` is 1 for what the engine holds best."""

OWN, NONE = "own", "none"
"""What may stand in the column `choice` besides letters: a translation of one's own, and that nothing fits."""

_JOIN = " + "


def source_language(languages: Sequence[str], into: str) -> str:
    """The language that a set is translated from: English if the set has it, or else its only other language.

    Raises:
        InputError: the set has no language but `into`, or several and no English.
    """
    others = sorted(set(languages) - {into})
    if "en" in others:
        return "en"
    if len(others) == 1:
        return others[0]
    found = ", ".join(sorted(set(languages))) or "none"
    raise InputError(
        f"construction.into is {into!r}, and the languages of the set are: {found}. A set is translated from English,"
        " or from its one language that is not construction.into: name a set that has one (construction.pairs), or"
        " limit it (pairs.sets.<set>.languages)."
    )


def pairs_to_translate(pairs: pl.DataFrame, into: str) -> pl.DataFrame:
    """The pairs of the language that a set is translated from, in their order. Raises as `source_language` does."""
    return pairs.filter(pl.col("language") == source_language(pairs["language"].unique().to_list(), into))


def hide_engines(candidates: pl.DataFrame, *, seed: int) -> pl.DataFrame:
    """Give each candidate of a pair a letter, in an order drawn anew for each pair.

    The order depends on the seed and the pair alone: not on the order of the engines, nor on other pairs. Candidates of
    a pair that are equal in both sentences are one, so that a letter never tells how many engines agree.

    Args:
        candidates: a row per pair, engine and rank (`CANDIDATES`).
        seed: the study's.

    Returns:
        The key, which annotators do not see: `pair_id`, `letter`, `engines` (joined by " + "), `first`, `second`; the
        pairs in the order of `candidates`, the letters of each from A on.

    Raises:
        InputError: a pair with more than 26 different candidates.
    """
    rows: list[dict[str, str]] = []
    for (pair_id,), of_pair in candidates.group_by(["pair_id"], maintain_order=True):
        engines: dict[tuple[str, str], list[str]] = {}
        for row in of_pair.sort("engine", "rank").iter_rows(named=True):
            engines.setdefault((row["first"], row["second"]), []).append(row["engine"])
        if len(engines) > len(ascii_uppercase):
            raise InputError(
                f"pair {pair_id} has {len(engines)} different candidates, but a sheet has letters for"
                f" {len(ascii_uppercase)}. Name fewer engines (construction.translators), or take fewer candidates"
                " of each."
            )
        texts = sorted(engines)
        order = generator(seed, "translation", pair_id).permutation(len(texts))
        for letter, place in zip(ascii_uppercase, order, strict=False):
            first, second = texts[place]
            by = _JOIN.join(dict.fromkeys(engines[first, second]))
            rows.append({"pair_id": str(pair_id), "letter": letter, "engines": by, "first": first, "second": second})
    columns = ["pair_id", "letter", "engines", "first", "second"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String))


def translation_sheet(pairs: pl.DataFrame, key: pl.DataFrame) -> pl.DataFrame:
    """The sheet of an annotator: a row per pair, its candidates by letter, and columns to fill in.

    Args:
        pairs: the pairs in the language translated from.
        key: what `hide_engines` gave; its engines do not come into the sheet.

    Returns:
        `pair_id`, `bias_type`, `label`, `first`, `second`; for each letter `A_first`, `A_second`, ... (null where a
        pair has fewer candidates); `same` (letters whose two sentences are the same, blank if none); and, to fill in,
        `choice` (a letter, own or none), `own_first`, `own_second`, `note`.
    """
    sheet = pairs.select("pair_id", "bias_type", "label", "first", "second")
    for letter in letters_of(key):
        of_letter = key.filter(pl.col("letter") == letter)
        named = of_letter.select("pair_id", *(pl.col(side).alias(f"{letter}_{side}") for side in ("first", "second")))
        sheet = sheet.join(named, on="pair_id", how="left", maintain_order="left")
    same = _same_letters(key)
    return sheet.with_columns(
        pl.Series("same", [", ".join(same.get(pair_id, ())) for pair_id in sheet["pair_id"]], dtype=pl.String),
        *(pl.lit("", pl.String).alias(name) for name in ("choice", "own_first", "own_second", "note")),
    )


def letters_of(key: pl.DataFrame) -> list[str]:
    """The letters that a sheet has columns for, in order."""
    return sorted(set(key["letter"]))


def are_same(first: str, second: str) -> bool:
    """Whether no word of two sentences differs, so that no score can tell them apart (case and marks set aside)."""
    alignment = align_words(first, second)
    return not alignment.modified_first and not alignment.modified_second


def _same_letters(key: pl.DataFrame) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in key.sort("letter").iter_rows(named=True):
        if are_same(row["first"], row["second"]):
            found.setdefault(row["pair_id"], []).append(row["letter"])
    return found
