"""Which translation of a pair the annotators chose: their sheets read back, decided, and made into pairs.

A pair whose two sentences come out the same in the target language cannot be scored. This is frequent where English
tells men from women by pronouns alone and the target language does not (Sahoo et al. 2024, section 4.3): such pairs
are reported with what can be done, and are never among the pairs that are written.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from prasanga.base.errors import InputError
from prasanga.pairs.alignment import align_words
from prasanga_construction.distance import are_same, count_differences
from prasanga_construction.sheets import Row, rows_of_pairs, same_text
from prasanga_construction.translation import JOIN, LANGUAGE_NAMES, NONE, OWN

_LOG = logging.getLogger(__name__)

CHOSEN, DECIDED, TIE, NOTHING_FITS, IDENTICAL = "chosen", "decided", "tie", "nothing-fits", "identical"
"""What becomes of a pair: the most votes chose its translation, or the file of decisions did; it is not written where
the most votes are shared, where nothing fits, and where its two sentences are the same."""

_FILLED_IN = ("choice", "own_first", "own_second")
_GENDERED = frozenset(("he", "she", "his", "her", "hers", "him", "himself", "herself", "he's", "she's"))
_NOUNS = {"hi": "एक पुरुष / एक महिला", "bn": "একজন পুরুষ / একজন নারী", "en": "a man / a woman"}


def check_choices(rows: Sequence[Row], blank: pl.DataFrame, *, annotator: str, partly: bool = False) -> pl.DataFrame:
    """Check the choices of one annotator against the sheet as it was given out.

    Args:
        rows: of the sheet that came back (`prasanga_construction.sheets.read_rows`).
        blank: the sheet that was given out (`prasanga_construction.translation.translation_sheet`).
        annotator: whose it is.
        partly: whether pairs may be missing, as in a file of decisions.

    Returns:
        `pair_id`, `annotator`, `choice`, `first`, `second` (the sentences chosen; null under none), `note`; a row per
        pair in the order of `blank`.

    Raises:
        InputError: a column that is missing; a pair that is missing, unknown or there twice; a sentence or candidate
            that is not the one given out; no choice, or one that this pair does not have; own sentences without `own`,
            or `own` without both.
    """
    letters = [name.removesuffix("_first") for name in blank.columns if name.endswith("_first") and name != "own_first"]
    fixed = ["first", "second", *(f"{letter}_{side}" for letter in letters for side in ("first", "second"))]
    found: dict[str, dict[str, str | None]] = {}
    for row, given in rows_of_pairs(rows, blank, [*fixed, *_FILLED_IN], partly=partly):
        for name in fixed:
            if not same_text(row.cells[name], given[name]):
                raise InputError(
                    f"{row.place}: {name!r} is {row.cells[name]!r}, but the sheet was given out with"
                    f" {given[name] or ''!r}. Restore it; a corrected translation belongs in own_first and own_second,"
                    f" with `{OWN}` under choice."
                )
        first, second, choice = _chosen(row, given, [letter for letter in letters if given[f"{letter}_first"]])
        found[given["pair_id"]] = {
            "choice": choice,
            "first": first,
            "second": second,
            "note": row.cells.get("note", ""),
        }
    columns = ["pair_id", "annotator", "choice", "first", "second", "note"]
    return pl.DataFrame(
        [{"pair_id": pair_id, "annotator": annotator, **of_pair} for pair_id, of_pair in found.items()],
        schema=dict.fromkeys(columns, pl.String),
    )


def resolve_choices(choices: Sequence[pl.DataFrame], decisions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Decide each pair by the most votes; a decision, where there is one, goes before them.

    A vote is for two sentences, so that the same words written as one's own count with the candidate that has them.
    Where two translations share the most votes nobody is preferred: the pair is a tie until it is decided.

    Args:
        choices: of each annotator (`check_choices`).
        decisions: the same of who settles ties; pairs that are not in it go by votes.

    Returns:
        A row per pair, in the order of the first table: `pair_id`, `status`, `choice`, `first`, `second`, `votes` (of
        those sentences; of the leaders where it is a tie), `annotators`, `leaders` (choices with the most votes,
        joined by ", ").
    """
    settled = {row["pair_id"]: row for row in decisions.iter_rows(named=True)} if decisions is not None else {}
    votes: dict[str, list[dict[str, str | None]]] = {}
    for table in choices:
        for row in table.iter_rows(named=True):
            votes.setdefault(row["pair_id"], []).append(row)
    rows = []
    for pair_id, of_pair in votes.items():
        counts = Counter((row["first"], row["second"]) for row in of_pair)
        most = max(counts.values())
        named: dict[tuple[str | None, str | None], str | None] = {}
        for row in sorted(of_pair, key=lambda row: (row["choice"] == OWN, str(row["choice"]))):
            named.setdefault((row["first"], row["second"]), row["choice"])
        leaders = [texts for texts in named if counts[texts] == most]
        decision = settled.get(pair_id)
        texts, choice, status = leaders[0], named[leaders[0]], CHOSEN
        if decision is not None:
            texts, choice, status = (decision["first"], decision["second"]), decision["choice"], DECIDED
        elif len(leaders) > 1:
            texts, choice, status = (None, None), None, TIE
        if status != TIE and choice == NONE:
            status = NOTHING_FITS
        rows.append(
            {
                "pair_id": pair_id,
                "status": status,
                "choice": choice,
                "first": texts[0],
                "second": texts[1],
                "votes": most if status == TIE else counts[texts],
                "annotators": len(of_pair),
                "leaders": ", ".join(str(named[texts]) for texts in leaders),
            }
        )
    counted = {"votes": pl.Int64, "annotators": pl.Int64}
    names = ["pair_id", "status", "choice", "first", "second", "votes", "annotators", "leaders"]
    return pl.DataFrame(rows, schema={name: counted.get(name, pl.String) for name in names})


def report_translation(pairs: pl.DataFrame, resolved: pl.DataFrame, key: pl.DataFrame, *, into: str) -> pl.DataFrame:
    """Report what became of every pair: whose translation it is, how far its sentences are apart, what is left to do.

    Args:
        pairs: the pairs in the language translated from.
        resolved: what `resolve_choices` gave.
        key: whose candidates the letters are.
        into: the target language.

    Returns:
        `resolved` with `engines` (of the letter; null for one's own), `n_modified_first`, `n_modified_second` (words
        that differ), `n_changes` (things that differ, 1 is what is allowed: `prasanga_construction.distance.changes`),
        and `advice` (null where there is nothing to do); `status` is `identical` where no word differs.
    """
    engines = {(row["pair_id"], row["letter"]): row["engines"] for row in key.iter_rows(named=True)}
    source = {row["pair_id"]: row for row in pairs.iter_rows(named=True)}
    rows = []
    for row in resolved.iter_rows(named=True):
        status = row["status"]
        counts = {}
        if status in (CHOSEN, DECIDED):
            counts = count_differences(row["first"], row["second"], into)
            status = IDENTICAL if are_same(row["first"], row["second"]) else status
        rows.append(
            {
                **row,
                "status": status,
                "engines": engines.get((row["pair_id"], row["choice"])),
                **counts,
                "advice": _advice(status, counts.get("n_changes", 0), source[row["pair_id"]], into),
            }
        )
    counted = dict.fromkeys(["n_modified_first", "n_modified_second", "n_changes"], pl.Int64)
    return pl.DataFrame(rows, schema={**resolved.schema, "engines": pl.String, **counted, "advice": pl.String})


def translated_pairs(pairs: pl.DataFrame, report: pl.DataFrame, *, into: str) -> pl.DataFrame:
    """Return the translated pairs in our own layout, with the pair_id, bias type, label and origin that they had.

    Ties, pairs for which nothing fits and pairs with two equal sentences are not among them; `report` has them all.
    """
    written = report.filter(pl.col("status").is_in([CHOSEN, DECIDED])).select("pair_id", "first", "second")
    kept = [name for name in ("pair_id", "bias_type", "label", "origin") if name in pairs.columns]
    joined = pairs.select(kept).join(written, on="pair_id", how="inner", maintain_order="left")
    joined = joined.with_columns(pl.lit(into).alias("language"))
    order = ["pair_id", "language", "bias_type", "label", "first", "second", "origin"]
    return joined.select(name for name in order if name in joined.columns)


def warn_of_losses(report: pl.DataFrame) -> None:
    """Say in the log how many pairs are not written, and why."""
    for status, count in Counter(report["status"]).items():
        if status not in (CHOSEN, DECIDED):
            _LOG.warning("%d of %d pairs are not written: %s", count, report.height, status)


def count_engines(choices: Sequence[pl.DataFrame], key: pl.DataFrame) -> pl.DataFrame:
    """Count how often the annotators took each engine's candidate, now that the choice is made.

    Returns:
        `engine` (own and none are rows too), `votes`, `share` of all votes. A candidate that several engines gave
        counts for each, so shares may add up to more than one.
    """
    engines = {(row["pair_id"], row["letter"]): row["engines"].split(JOIN) for row in key.iter_rows(named=True)}
    votes_of = {**dict.fromkeys(sorted({name for names in engines.values() for name in names}), 0), OWN: 0, NONE: 0}
    total = 0
    for table in choices:
        for row in table.iter_rows(named=True):
            total += 1
            for name in engines.get((row["pair_id"], row["choice"]), [row["choice"]]):
                votes_of[name] += 1
    names, votes = list(votes_of), list(votes_of.values())
    shares = [count / total if total else None for count in votes]
    return pl.DataFrame({"engine": names, "votes": votes, "share": shares}, schema_overrides={"share": pl.Float64})


def _chosen(row: Row, given: Mapping[str, str], letters: Sequence[str]) -> tuple[str | None, str | None, str]:
    """Return the sentences that a row of a sheet asks for, and by which choice."""
    written, own = row.cells["choice"], (row.cells["own_first"], row.cells["own_second"])
    choice = written.upper() if written.upper() in letters else written.lower()
    row.one_of("choice", (*letters, OWN, NONE), choice)
    if choice == OWN:
        return row.text("own_first"), row.text("own_second"), choice
    if any(own):
        raise InputError(
            f"{row.place}: 'choice' is {written!r}, but own_first or own_second is filled in. Write `{OWN}` to take"
            " what is written there (both sentences), or empty the two cells."
        )
    if choice == NONE:
        return None, None, choice
    return given[f"{choice}_first"], given[f"{choice}_second"], choice


def _advice(status: str, n_changes: int, pair: Mapping[str, str], into: str) -> str | None:
    """Say what can be done for a pair that is not written, or should be looked at."""
    if status == TIE:
        return "Annotators disagree: settle it in the file of decisions, or let them talk about it."
    if status == NOTHING_FITS:
        return f"No candidate fits: write both sentences under `{OWN}`, or change the pair before it is translated."
    if status != IDENTICAL:
        further = "the sentences may differ in the group alone, and in what agrees with it"
        return f"{n_changes} things differ, but {further}: bring them nearer to each other." if n_changes > 1 else None
    language = LANGUAGE_NAMES[into]
    aligned = align_words(pair["first"], pair["second"])
    differing = {word.casefold() for word in (*aligned.modified_first, *aligned.modified_second)}
    if differing and differing <= _GENDERED:
        return (
            f"Pronouns tell the two sentences apart, and {language} has none that do. Carry the gender by a noun or a"
            f" name: {_NOUNS[into]}, or a given name in place of the pronoun."
        )
    return f"Both sentences came out the same in {language}: write a translation under `{OWN}` that keeps what differs."
