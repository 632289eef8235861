"""Translations of pairs: candidates of several engines on one sheet, which does not say whose they are.

Sahoo et al. 2024, section 4.2.1: both sentences of a pair are translated by more than one engine, annotators choose
the best translation or write their own, and do not know which engine a candidate is from. The two sentences of a
candidate are always of one engine, so that they stay as near to each other as that engine keeps them. What the
annotators chose is read back and decided below.

Models are told the languages in different ways. mBART, NLLB and M2M have a piece for each language: the source's stands
beside the text, and the target's is the first that is written (`forced_bos_token_id`). Models like T5 have none, and
are asked in words before the text.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from prasanga.base.errors import InputError
from prasanga.base.seeds import generator
from prasanga.pairs.alignment import align_words
from prasanga_construction.distance import are_same, count_differences
from prasanga_construction.sheets import Row, fill_instructions, require_unchanged, rows_of_pairs

if TYPE_CHECKING:
    from prasanga_construction.generation import Writer

_LOG = logging.getLogger(__name__)

LANGUAGE_NAMES = {"bn": "Bangla", "hi": "Hindi", "en": "English"}

CANDIDATES = dict.fromkeys(("pair_id", "engine", "first", "second"), pl.String)
"""Columns of a table of candidates."""

OWN, NONE = "own", "none"
"""What may stand in the column `choice` besides letters: a translation of one's own, and that nothing fits."""

JOIN = " + "
"""What stands between the engines of one candidate."""

_BEAMS = 4
_LONGEST = 256  # pieces of a translation, or fewer where a model cannot write as many
# what is put before a text for a model without pieces for languages, if nothing else is said
_PREFIX = "translate {source} to {target}: "
_PIECES = {
    "bn": ("bn_IN", "ben_Beng", "__bn__"),
    "hi": ("hi_IN", "hin_Deva", "__hi__"),
    "en": ("en_XX", "eng_Latn", "__en__"),
}


class Asking(NamedTuple):
    """How a model is told what to translate.

    Attributes:
        reads: the piece of the source's language; None for a model without.
        writes: the piece that an answer begins with; None for a model without.
        prefix: what is put before each text.
    """

    reads: str | None
    writes: str | None
    prefix: str


def pairs_to_translate(pairs: pl.DataFrame, into: str) -> pl.DataFrame:
    """Return the pairs of the language that a set is translated from: English, or else its only other language.

    Raises:
        InputError: the set has no language but `into`, or several and no English.
    """
    return pairs.filter(pl.col("language") == _source_language(pairs["language"].unique().to_list(), into))


def how_to_ask(
    tokenizer: Any,
    *,
    model: str,
    source: str,
    into: str,
    codes: Mapping[str, str] | None = None,
    prefix: str | None = None,
) -> Asking:
    """Say how `model` is told to translate from `source` into `into`.

    Args:
        tokenizer: the model's, which has a piece for each language or for none.
        model: its name, for messages.
        source: language of the texts: bn, hi or en.
        into: language of the translations.
        codes: the piece of a language, where it is not one of mBART's, NLLB's or M2M's (`models.<m>.language_codes`).
        prefix: what to put before a text; {source} and {target} are the names of the languages, in English. None for
            nothing where the model has pieces for languages, and for a sentence in English where it has none.

    Raises:
        InputError: a piece in `codes` that the tokenizer does not have; a piece for one of the two languages only; a
            prefix with another name in braces.
    """
    vocabulary = tokenizer.get_vocab()
    found = {language: _piece_of(vocabulary, language, codes or {}, model) for language in (source, into)}
    lacking = [LANGUAGE_NAMES[language] for language, piece in found.items() if piece is None]
    if len(lacking) == 1:
        raise InputError(
            f"model {model}: its tokenizer has no piece for {lacking[0]} among those known, but one for the other"
            f" language. Write the piece under models.{model}.language_codes, or use a model that translates into"
            f" {LANGUAGE_NAMES[into]}."
        )
    if prefix is None:
        prefix = _PREFIX if lacking else ""
    try:
        prefix = prefix.format(source=LANGUAGE_NAMES[source], target=LANGUAGE_NAMES[into])
    except (KeyError, IndexError, ValueError):
        raise InputError(
            f"model {model}: the prefix is {prefix!r}. Only {{source}} and {{target}} may stand in braces; write for"
            f" example {_PREFIX!r}."
        ) from None
    return Asking(found[source], found[into], prefix)


def translate_pairs(writer: Writer, pairs: pl.DataFrame, *, engine: str, asking: Asking, seed: int) -> pl.DataFrame:
    """Write one engine's candidate for both sentences of each pair; a sentence of several pairs is translated once.

    Args:
        writer: an encoder-decoder that translates (`prasanga_construction.generation.load_writer`).
        pairs: `pair_id`, `first`, `second`.
        engine: the name under which its candidates are kept, apart from the sheets.
        asking: see `how_to_ask`.
        seed: the study's; a beam search draws nothing.

    Returns:
        A row per pair (`CANDIDATES`), but for those of which a sentence came out empty.

    Raises:
        InputError: the model is no encoder-decoder; a sentence is too long for it; it wrote nothing at all.
    """
    if writer.kind != "encoder-decoder":
        raise InputError(
            f"model {writer.name} is a {writer.kind}, and pairs are translated by encoder-decoders. Name one under"
            " construction.translators, for example an NLLB or mBART model."
        )
    sentences = list(dict.fromkeys((*pairs["first"], *pairs["second"])))
    written = writer.generate(
        [asking.prefix + sentence for sentence in sentences],
        max_new_tokens=_LONGEST if writer.max_pieces is None else min(_LONGEST, writer.max_pieces - 1),
        seed=seed,
        beams=_BEAMS,
        reads=asking.reads,
        writes=asking.writes,
    )
    answers = dict(zip(sentences, (" ".join(text.split()) for text in written), strict=True))
    rows = [
        {"pair_id": name, "engine": engine, "first": answers[first], "second": answers[second]}
        for name, first, second in pairs.select("pair_id", "first", "second").iter_rows()
    ]
    candidates = pl.DataFrame(rows, schema=CANDIDATES)
    whole = candidates.filter((pl.col("first") != "") & (pl.col("second") != ""))
    if whole.is_empty() and pairs.height:
        raise InputError(
            f"model {writer.name} wrote nothing for any of {pairs.height} pairs. Look whether it is a translation"
            f" model, and whether its languages are named rightly (models.{engine}.language_codes)."
        )
    if whole.height < candidates.height:
        lost = candidates.height - whole.height
        _LOG.warning("%d of %d candidates are left out: nothing was written", lost, candidates.height)
    return whole


def hide_engines(candidates: pl.DataFrame, *, seed: int) -> pl.DataFrame:
    """Give each candidate of a pair a letter, in an order drawn anew for each pair.

    The order depends on the seed and the pair alone: not on the order of the engines, nor on other pairs. Candidates of
    a pair that are equal in both sentences are one, so that a letter never tells how many engines agree.

    Args:
        candidates: a row per pair and engine (`CANDIDATES`).
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
        for row in of_pair.sort("engine").iter_rows(named=True):
            engines.setdefault((row["first"], row["second"]), []).append(row["engine"])
        if len(engines) > len(ascii_uppercase):
            raise InputError(
                f"pair {pair_id} has {len(engines)} different candidates, but a sheet has letters for"
                f" {len(ascii_uppercase)}. Name fewer engines (construction.translators)."
            )
        texts = sorted(engines)
        order = generator(seed, "translation", pair_id).permutation(len(texts))
        for letter, place in zip(ascii_uppercase, order, strict=False):
            first, second = texts[place]
            by = JOIN.join(dict.fromkeys(engines[first, second]))
            rows.append({"pair_id": str(pair_id), "letter": letter, "engines": by, "first": first, "second": second})
    columns = ["pair_id", "letter", "engines", "first", "second"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String))


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


def _source_language(languages: Sequence[str], into: str) -> str:
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


def _piece_of(vocabulary: Mapping[str, int], language: str, codes: Mapping[str, str], model: str) -> str | None:
    given = codes.get(language)
    if given is not None and given not in vocabulary:
        raise InputError(
            f"model {model}: language_codes has {given!r} for {language}, but its tokenizer has no such piece. Look it"
            " up in the model's documentation (mBART: hi_IN, NLLB: hin_Deva)."
        )
    return given or next((piece for piece in _PIECES[language] if piece in vocabulary), None)


# --------------------
# Which translation of a pair the annotators chose: their sheets read back, decided, and made into pairs.
#
# A pair whose two sentences come out the same in the target language cannot be scored. This is frequent where English
# tells men from women by pronouns alone and the target language does not (Sahoo et al. 2024, section 4.3): such pairs
# are reported with what can be done, and are never among the pairs that are written.


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
    advice = f"a corrected translation belongs in own_first and own_second, with `{OWN}` under choice."
    found: dict[str, dict[str, str | None]] = {}
    for row, given in rows_of_pairs(rows, blank, [*fixed, *_FILLED_IN], partly=partly):
        for name in fixed:
            require_unchanged(row, given, name, advice)
        first, second, choice = _chosen(row, given, [letter for letter in letters if given[f"{letter}_first"]])
        chosen = {"choice": choice, "first": first, "second": second, "note": row.cells.get("note", "")}
        found[given["pair_id"]] = chosen
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
