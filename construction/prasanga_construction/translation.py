"""Translations of pairs: candidates of several engines on one sheet, which does not name the engines.

Sahoo et al. 2024, section 4.2.1: several engines translate both sentences of a pair. Annotators choose the best
translation or write their own, without knowing the engines. Both sentences of a candidate come from one engine, which
keeps them similar. This module also reads the choices and decides on them.

Models take the languages in different ways. mBART and NLLB have a piece for each language: the source's comes with the
text, and the answer begins with the target's (`forced_bos_token_id`). Models like T5 take words before the text.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import polars as pl

from prasanga.base.errors import InputError
from prasanga.base.seeds import generator
from prasanga.models.pieces import language_piece
from prasanga.pairs.alignment import align_words
from prasanga_construction.distance import are_same, count_differences
from prasanga_construction.sheets import SheetRow, fill_instructions, read_filled, read_rows, require_once

if TYPE_CHECKING:
    from prasanga_construction.generation import Writer

_LOG = logging.getLogger(__name__)

LANGUAGE_NAMES = {"bn": "Bangla", "hi": "Hindi", "en": "English"}

CANDIDATES = dict.fromkeys(("pair_id", "engine", "first", "second"), pl.String)
"""Columns of a table of candidates."""

OWN, NONE = "own", "none"
"""Allowed words under `choice` in addition to letters: for an own translation, and if nothing fits."""

JOIN = " + "
"""Separates the engines of one candidate."""

_BEAMS = 4
_LONGEST = 256  # pieces of a translation, or fewer if a model's limit is lower
_PREFIX = "translate {source} to {target}: "
"""Precedes a text for a model without pieces for languages, if the config has no other prefix."""


def pairs_to_translate(pairs: pl.DataFrame, into: str) -> pl.DataFrame:
    """Return the pairs of a set's source language: English, or else its only other language.

    Raises:
        InputError: the set has only the language `into`, or several without English.
    """
    others = set(pairs["language"]) - {into}
    source = "en" if "en" in others else next(iter(others), None)
    if source is None or (len(others) > 1 and source != "en"):
        raise InputError(
            f"construction.into is {into!r}, and the languages of the set are:"
            f" {', '.join(sorted(set(pairs['language']))) or 'none'}. A set is translated from English, or from its one"
            " language that is not construction.into: name a set that has one (construction.pairs), or limit it"
            " (pairs.sets.<set>.languages)."
        )
    return pairs.filter(pl.col("language") == source)


def translate_pairs(
    writer: Writer,
    pairs: pl.DataFrame,
    *,
    engine: str,
    into: str,
    codes: Mapping[str, str] | None = None,
    prefix: str | None = None,
    seed: int,
) -> pl.DataFrame:
    """Write one engine's candidate for both sentences of each pair; a sentence of several pairs is translated once.

    Args:
        writer: an encoder-decoder that translates (`prasanga_construction.generation.load_writer`).
        pairs: `pair_id`, `language`, `first`, `second`, of one language.
        engine: the name of its candidates, which sheets do not show.
        into: language of the translations.
        codes: the piece of a language, if it differs from the code (`models.<m>.language_codes`).
        prefix: text before each sentence; {source} and {target} are the names of the languages, in English. None for no
            prefix if the model has pieces for languages, and else for a request in English.
        seed: the study's; a beam search does not use it.

    Returns:
        A row per pair (`CANDIDATES`), without pairs with an empty sentence.

    Raises:
        InputError: the model is not an encoder-decoder; its tokenizer lacks the piece of a language; a prefix has
            another name in braces; a sentence is too long; all answers are empty.
    """
    if writer.kind != "encoder-decoder":
        raise InputError(
            f"model {writer.name} is a {writer.kind}, and pairs are translated by encoder-decoders. Name one under"
            " construction.translators, for example an NLLB or mBART model."
        )
    source = str(pairs["language"][0])
    reads, writes = (language_piece(engine, writer.tokenizer, each, codes or {}) for each in (source, into))
    template = prefix if prefix is not None else "" if writes else _PREFIX
    try:
        asked = template.format(source=LANGUAGE_NAMES[source], target=LANGUAGE_NAMES[into])
    except (KeyError, IndexError, ValueError):
        raise InputError(
            f"model {engine}: the prefix is {prefix!r}. Put only {{source}} and {{target}} in braces, for example"
            f" {_PREFIX!r}."
        ) from None
    sentences = list(dict.fromkeys((*pairs["first"], *pairs["second"])))
    written = writer.generate(
        [asked + sentence for sentence in sentences],
        max_new_tokens=_LONGEST if writer.max_pieces is None else min(_LONGEST, writer.max_pieces - 1),
        seed=seed,
        beams=_BEAMS,
        reads=reads,
        writes=writes,
    )
    answers = dict(zip(sentences, (" ".join(text.split()) for text in written), strict=True))
    rows = [
        (name, engine, answers[first], answers[second])
        for name, first, second in pairs.select("pair_id", "first", "second").iter_rows()
    ]
    candidates = pl.DataFrame(rows, schema=CANDIDATES, orient="row")
    whole = candidates.filter(pl.col("first") != "", pl.col("second") != "")
    if whole.is_empty() and pairs.height:
        raise InputError(
            f"model {writer.name} wrote nothing for any of {pairs.height} pairs. Look whether it is a translation"
            f" model, and whether its languages are named rightly (models.{engine}.language_codes)."
        )
    if whole.height < candidates.height:
        lost = candidates.height - whole.height
        _LOG.warning("%d of %d candidates are left out: nothing was written", lost, candidates.height)
    return whole


def read_translations(path: str | Path, pairs: pl.DataFrame) -> pl.DataFrame:
    """Read translations that were made elsewhere, such as by Google Translate.

    Args:
        path: a CSV with a row per sentence: `pair_id`, `sentence` (first or second), `translation`, and `engine`, under
            which it is kept apart from the sheets.
        pairs: those that are translated.

    Returns:
        A row per pair and engine (`CANDIDATES`), in the order of `pairs` and of the names; a pair may lack an engine.

    Raises:
        InputError: with file and line: a missing column, an empty cell, another sentence, a pair that the set does not
            have, a translation that is there twice; an engine that translated only one sentence of a pair.
    """
    rows = read_rows(path, ("pair_id", "sentence", "translation", "engine"))
    named = [(row.text("pair_id"), row.text("engine"), row.one_of("sentence", ("first", "second"))) for row in rows]
    require_once((name, row.place) for name, row in zip(named, rows, strict=True))
    texts = {name: row.text("translation") for name, row in zip(named, rows, strict=True)}
    known = list(pairs["pair_id"])
    for (pair_id, engine, sentence), row in zip(named, rows, strict=True):
        other = "second" if sentence == "first" else "first"
        if pair_id not in known:
            raise InputError(f"{row.place}: the set lacks the pair {pair_id!r}. Write the pair_id of one of its pairs.")
        if (pair_id, engine, other) not in texts:
            raise InputError(
                f"{row.place}: {engine} has the {sentence} sentence of {pair_id}, but not the {other} one. Add it: both"
                " sentences of a candidate come from one engine."
            )
    whole = sorted({name[:2] for name in named}, key=lambda name: (known.index(name[0]), name[1]))
    found = [(*name, texts[*name, "first"], texts[*name, "second"]) for name in whole]
    return pl.DataFrame(found, schema=CANDIDATES, orient="row")


def hide_engines(candidates: pl.DataFrame, *, seed: int) -> pl.DataFrame:
    """Give each candidate of a pair a letter, in a random order for each pair.

    The order depends only on the seed and the pair, not on the order of the engines or on other pairs. Equal candidates
    of a pair are one, so a letter never shows how many engines agree.

    Args:
        candidates: a row per pair and engine (`CANDIDATES`).
        seed: the study's.

    Returns:
        The key, which annotators do not see: `pair_id`, `letter`, `engines` (joined by " + "), `first`, `second`; the
        pairs in the order of `candidates`, the letters of each from A on.

    Raises:
        InputError: a pair with more than 26 different candidates.
    """
    rows: list[tuple[str, ...]] = []
    for (pair_id,), of_pair in candidates.group_by(["pair_id"], maintain_order=True):
        engines: dict[tuple[str, str], list[str]] = {}
        for engine, *texts in of_pair.sort("engine").select("engine", "first", "second").iter_rows():
            engines.setdefault((texts[0], texts[1]), []).append(engine)
        if len(engines) > len(ascii_uppercase):
            raise InputError(
                f"pair {pair_id} has {len(engines)} different candidates, but a sheet has letters for"
                f" {len(ascii_uppercase)}. Give fewer engines (construction.translators, construction.translations)."
            )
        different = sorted(engines)
        order = generator(seed, "translation", pair_id).permutation(len(different))
        for letter, place in zip(ascii_uppercase, order, strict=False):
            first, second = different[place]
            rows.append((str(pair_id), letter, JOIN.join(dict.fromkeys(engines[first, second])), first, second))
    columns = ["pair_id", "letter", "engines", "first", "second"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def translation_sheet(pairs: pl.DataFrame, key: pl.DataFrame) -> pl.DataFrame:
    """Make the sheet of an annotator: a row per pair, its candidates by letter, and columns to fill in.

    Args:
        pairs: the pairs in the language translated from.
        key: what `hide_engines` gave; its engines do not come into the sheet.

    Returns:
        `pair_id`, `bias_type`, `label`, `first`, `second`; for each letter `A_first`, `A_second`, ... (null where a
        pair has fewer candidates); `same` (letters whose two sentences are the same, blank if none); and, to fill in,
        `choice` (a letter, own or none), `own_first`, `own_second`, `note`.
    """
    sheet = pairs.select("pair_id", "bias_type", "label", "first", "second")
    for letter in sorted(set(key["letter"])):
        of_letter = key.filter(pl.col("letter") == letter)
        named = of_letter.select("pair_id", *(pl.col(side).alias(f"{letter}_{side}") for side in ("first", "second")))
        sheet = sheet.join(named, on="pair_id", how="left", maintain_order="left")
    same: dict[str, list[str]] = {}
    for pair_id, letter, *texts in key.sort("letter").select("pair_id", "letter", "first", "second").iter_rows():
        if are_same(*texts):
            same.setdefault(pair_id, []).append(letter)
    return sheet.with_columns(
        pl.Series("same", [", ".join(same.get(pair_id, ())) for pair_id in sheet["pair_id"]], dtype=pl.String),
        *(pl.lit("", pl.String).alias(name) for name in ("choice", "own_first", "own_second", "note")),
    )


def translation_instructions(n_pairs: int, into: str) -> str:
    """Return the page that goes with the sheets of translations."""
    return fill_instructions("translation", n_pairs=n_pairs, language=LANGUAGE_NAMES[into], own=OWN, nothing=NONE)


# --------------------
# The annotators' choices of translations: read their sheets, decide, and make pairs.
#
# A pair with two equal sentences in the target language cannot be scored. This is frequent if English distinguishes
# gender only by pronouns and the target language does not (Sahoo et al. 2024, section 4.3): such pairs are reported
# with advice, and never written.


CHOSEN, DECIDED, TIE, NOTHING_FITS, IDENTICAL = "chosen", "decided", "tie", "nothing-fits", "identical"
"""The status of a pair: its translation was chosen by most votes, or by the file of decisions; it is not written
after a tie, if nothing fits, and if its two sentences are the same."""

_GENDERED = frozenset(("he", "she", "his", "her", "hers", "him", "himself", "herself", "he's", "she's"))
_NOUNS = {"hi": "एक पुरुष / एक महिला", "bn": "একজন পুরুষ / একজন নারী", "en": "a man / a woman"}


def check_choices(path: str | Path, blank: pl.DataFrame, *, annotator: str, partly: bool = False) -> pl.DataFrame:
    """Check the choices of one annotator against the sheet as it was given out.

    Args:
        path: the sheet that came back.
        blank: the sheet that was given out (`translation_sheet`).
        annotator: whose it is.
        partly: whether pairs may be missing, as in a file of decisions.

    Returns:
        `pair_id`, `annotator`, `choice`, `first`, `second` (the sentences chosen; null under none), `note`; a row per
        pair in the order of `blank`.

    Raises:
        InputError: as `read_filled`; no choice, or one that this pair does not have; own sentences without `own`, or
            `own` without both.
    """
    letters = [name.removesuffix("_first") for name in blank.columns if name.endswith("_first") and name != "own_first"]
    fixed = ["first", "second", *(f"{letter}_{side}" for letter in letters for side in ("first", "second"))]
    rows = [
        (given["pair_id"], annotator, *_read_choice(row, given, letters), row.cells.get("note", ""))
        for row, given in read_filled(path, blank, fixed, ("choice", "own_first", "own_second"), partly=partly)
    ]
    columns = ["pair_id", "annotator", "choice", "first", "second", "note"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def resolve_choices(choices: Sequence[pl.DataFrame], decisions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Decide each pair by the most votes; a decision takes precedence.

    A vote is for two sentences, so an annotator's own translation counts with an equal candidate. If two translations
    share the most votes, the pair is a tie until a decision.

    Args:
        choices: of each annotator (`check_choices`).
        decisions: the same for ties; other pairs are decided by votes.

    Returns:
        A row per pair, in the order of the first table: `pair_id`, `status`, `choice`, `first`, `second`, `votes` (for
        these sentences; in a tie, for the leaders), `annotators`, `leaders` (choices with the most votes,
        joined by ", ").
    """
    settled = {} if decisions is None else {row["pair_id"]: row for row in decisions.iter_rows(named=True)}
    rows: list[tuple[Any, ...]] = []
    for (pair_id,), votes in pl.concat(choices).group_by(["pair_id"], maintain_order=True):
        in_order = votes.sort(pl.col("choice") == OWN, "choice").iter_rows(named=True)
        named: dict[tuple[str | None, str | None], str | None] = {}
        for row in in_order:
            named.setdefault((row["first"], row["second"]), row["choice"])
        counts = Counter(votes.select("first", "second").iter_rows())
        leaders = [texts for texts in named if counts[texts] == max(counts.values())]
        texts, choice, status = leaders[0], named[leaders[0]], CHOSEN
        n_votes, listed = counts[texts], ", ".join(str(named[each]) for each in leaders)
        if decision := settled.get(str(pair_id)):
            texts, choice, status = (decision["first"], decision["second"]), decision["choice"], DECIDED
            n_votes = counts[texts]
        elif len(leaders) > 1:
            texts, choice, status = (None, None), None, TIE
        if choice == NONE:
            status = NOTHING_FITS
        rows.append((pair_id, status, choice, *texts, n_votes, votes.height, listed))
    names = ["pair_id", "status", "choice", "first", "second", "votes", "annotators", "leaders"]
    counted = dict.fromkeys(("votes", "annotators"), pl.Int64)
    return pl.DataFrame(rows, schema={name: counted.get(name, pl.String) for name in names}, orient="row")


def report_translation(pairs: pl.DataFrame, resolved: pl.DataFrame, key: pl.DataFrame, *, into: str) -> pl.DataFrame:
    """Report the result for every pair: the engine, the differences of its sentences, and advice.

    Args:
        pairs: the pairs in the language translated from.
        resolved: the result of `resolve_choices`.
        key: the engines of the letters.
        into: the target language.

    Returns:
        `resolved` with `engines` (of the letter; null for an own translation), `n_modified_first`, `n_modified_second`
        (words that differ), `n_changes` (things that differ; 1 is allowed: `prasanga_construction.distance.changes`),
        and `advice` (may be null); `status` is `identical` if no word differs.
    """
    engines = {(row["pair_id"], row["letter"]): row["engines"] for row in key.iter_rows(named=True)}
    source = {row["pair_id"]: row for row in pairs.iter_rows(named=True)}
    rows = []
    for row in resolved.iter_rows(named=True):
        counts: dict[str, int] = {}
        if row["status"] in (CHOSEN, DECIDED):
            counts = count_differences(row["first"], row["second"], into)
            row["status"] = IDENTICAL if are_same(row["first"], row["second"]) else row["status"]
        engine = engines.get((row["pair_id"], row["choice"]))
        advice = _advice(row["status"], counts.get("n_changes", 0), source[row["pair_id"]], into)
        rows.append({**row, "engines": engine, **counts, "advice": advice})
    counted = dict.fromkeys(["n_modified_first", "n_modified_second", "n_changes"], pl.Int64)
    return pl.DataFrame(rows, schema={**resolved.schema, "engines": pl.String, **counted, "advice": pl.String})


def translated_pairs(pairs: pl.DataFrame, report: pl.DataFrame, *, into: str) -> pl.DataFrame:
    """Return the translated pairs in our own layout, with the pair_id, bias type, label, origin and cluster they had.

    Ties, pairs for which nothing fits and pairs with two equal sentences are not among them; `report` has them all.
    """
    written = report.filter(pl.col("status").is_in([CHOSEN, DECIDED])).select("pair_id", "first", "second")
    kept = [name for name in ("pair_id", "bias_type", "label", "origin", "cluster") if name in pairs.columns]
    joined = pairs.select(kept).join(written, on="pair_id", how="inner", maintain_order="left")
    joined = joined.with_columns(pl.lit(into).alias("language"))
    order = ["pair_id", "language", "bias_type", "label", "first", "second", "origin", "cluster"]
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
    taken = Counter(
        name
        for table in choices
        for pair_id, choice in table.select("pair_id", "choice").iter_rows()
        for name in engines.get((pair_id, choice), [choice])
    )
    total = sum(table.height for table in choices)
    names = [*sorted({name for names in engines.values() for name in names}), OWN, NONE]
    votes = [taken[name] for name in names]
    shares = [count / total if total else None for count in votes]
    return pl.DataFrame({"engine": names, "votes": votes, "share": shares}, schema_overrides={"share": pl.Float64})


def _read_choice(row: SheetRow, given: Mapping[str, Any], letters: Sequence[str]) -> tuple[str, str | None, str | None]:
    """Return the choice of a row, and its sentences."""
    written, there = row.cells["choice"], [letter for letter in letters if given[f"{letter}_first"]]
    choice = written.upper() if written.upper() in there else written.lower()
    row.one_of("choice", (*there, OWN, NONE), choice)
    if choice == OWN:
        return choice, row.text("own_first"), row.text("own_second")
    if row.cells["own_first"] or row.cells["own_second"]:
        raise InputError(
            f"{row.place}: 'choice' is {written!r}, but own_first or own_second is filled in. Write `{OWN}` to take"
            " both of these sentences, or empty the two cells."
        )
    return (choice, None, None) if choice == NONE else (choice, given[f"{choice}_first"], given[f"{choice}_second"])


def _advice(status: str, n_changes: int, pair: Mapping[str, str], into: str) -> str | None:
    """Return advice for a pair that is not written, or should be checked."""
    if status == TIE:
        return "Annotators disagree: decide in the file of decisions, or let them discuss it."
    if status == NOTHING_FITS:
        return f"No candidate fits: write both sentences under `{OWN}`, or change the pair before it is translated."
    if status != IDENTICAL:
        further = "the sentences may differ only in the group, and in words that agree with it"
        return f"{n_changes} things differ, but {further}: make them more similar." if n_changes > 1 else None
    language = LANGUAGE_NAMES[into]
    aligned = align_words(pair["first"], pair["second"])
    differing = {word.casefold() for word in (*aligned.modified_first, *aligned.modified_second)}
    if differing and differing <= _GENDERED:
        return (
            f"Only pronouns distinguish the two sentences, and {language} has no such pronouns. Express the gender by a"
            f" noun or a name: {_NOUNS[into]}, or a given name in place of the pronoun."
        )
    return f"Both sentences are the same in {language}: write a translation under `{OWN}` that keeps the difference."
