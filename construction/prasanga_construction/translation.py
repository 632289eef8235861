"""Translations of pairs: candidates of several engines on one sheet, which does not say whose they are.

Sahoo et al. 2024, section 4.2.1: both sentences of a pair are translated by more than one engine, annotators choose
the best translation or write their own, and do not know which engine a candidate is from. The two sentences of a
candidate are always of one engine, so that they stay as near to each other as that engine keeps them. What the
annotators chose is read back and decided in `prasanga_construction.choices`.

Models are told the languages in different ways. mBART, NLLB and M2M have a piece for each language: the source's stands
beside the text, and the target's is the first that is written (`forced_bos_token_id`). Models like T5 have none, and
are asked in words before the text.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from prasanga.base.errors import InputError
from prasanga.base.seeds import generator
from prasanga_construction.distance import are_same

if TYPE_CHECKING:
    from prasanga_construction.generation import Writer

_LOG = logging.getLogger(__name__)

LANGUAGE_NAMES = {"bn": "Bangla", "hi": "Hindi", "en": "English"}

CANDIDATES = {"pair_id": pl.String, "engine": pl.String, "rank": pl.Int64, "first": pl.String, "second": pl.String}
"""Columns of a table of candidates: `rank` is 1 for what the engine holds best."""

OWN, NONE = "own", "none"
"""What may stand in the column `choice` besides letters: a translation of one's own, and that nothing fits."""

JOIN = " + "
"""What stands between the engines of one candidate."""

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


def translate_pairs(
    writer: Writer,
    pairs: pl.DataFrame,
    *,
    engine: str,
    asking: Asking,
    seed: int,
    n_candidates: int = 1,
    beams: int = 4,
    max_new_tokens: int = 256,
) -> pl.DataFrame:
    """Write candidates of one engine for both sentences of each pair; a sentence of several pairs is translated once.

    Args:
        writer: an encoder-decoder that translates (`prasanga_construction.generation.load_writer`).
        pairs: `pair_id`, `first`, `second`.
        engine: the name under which its candidates are kept, apart from the sheets.
        asking: see `how_to_ask`.
        seed: the study's; a beam search draws nothing.
        n_candidates: candidates of each sentence, best first.
        beams: width of the beam search, at least `n_candidates`.
        max_new_tokens: most pieces of a translation; fewer where the model cannot write as many.

    Returns:
        A row per pair and rank (`CANDIDATES`); the candidates of rank r for the two
        sentences stand together, and are left out if one of them is empty.

    Raises:
        InputError: the model is no encoder-decoder; a sentence is too long for it; it wrote nothing at all.
    """
    if writer.kind != "encoder-decoder":
        raise InputError(
            f"model {writer.name} is a {writer.kind}, and pairs are translated by encoder-decoders. Name one under"
            " construction.translators, for example an NLLB or mBART model."
        )
    sentences = list(dict.fromkeys((*pairs["first"], *pairs["second"])))
    longest = max_new_tokens if writer.max_pieces is None else min(max_new_tokens, writer.max_pieces - 1)
    written = writer.generate(
        [asking.prefix + sentence for sentence in sentences],
        max_new_tokens=longest,
        seed=seed,
        n_candidates=n_candidates,
        beams=max(beams, n_candidates),
        reads=asking.reads,
        writes=asking.writes,
    )
    answers = dict(zip(sentences, ([" ".join(text.split()) for text in texts] for texts in written), strict=True))
    rows = [
        {"pair_id": pair["pair_id"], "engine": engine, "rank": rank, "first": first, "second": second}
        for pair in pairs.iter_rows(named=True)
        for rank, (first, second) in enumerate(
            zip(answers[pair["first"]], answers[pair["second"]], strict=True), start=1
        )
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
    same = _same_letters(key)
    return sheet.with_columns(
        pl.Series("same", [", ".join(same.get(pair_id, ())) for pair_id in sheet["pair_id"]], dtype=pl.String),
        *(pl.lit("", pl.String).alias(name) for name in ("choice", "own_first", "own_second", "note")),
    )


def translation_instructions(n_pairs: int, into: str) -> str:
    """Return the page that goes with the sheets of translations."""
    language = LANGUAGE_NAMES[into]
    return f"""# How to fill in your sheet

Your sheet is a table with {n_pairs} rows. Each row is a pair of sentences, `first` and `second`, that differ in the
group of people they speak about. Beside it stand translations into {language}, by letters: `A_first` and `A_second`
belong together. Where they come from is not said, and a letter means something else in every row.

Write into the column `choice`

    A, B, ...   the translation that says what the pair says, as people would say it
    {OWN}         none is good enough: write both sentences under `own_first` and `own_second`
    {NONE}        the pair cannot be said in {language}; say why under `note`

- The two sentences may differ in nothing but the group, and in words that have to agree with it.
- The column `same` names the letters whose two sentences came out the same. Such a pair is of no use: `{OWN}` can
  carry the difference by a noun or a name where the language has no pronoun that does.
- To mend a single word, copy the translation to `own_first` and `own_second`, mend it there, and write `{OWN}`.
- Choose for every row; work alone; change no other column. The order of the rows may change.
- Save the sheet as CSV in UTF-8, with commas, under the name that it has.

Some sentences are hurtful, and some may be about yourself. They are translated to find out what language models have
picked up. Take breaks; you may stop at any time, and you may say so without giving a reason.
"""


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


def _same_letters(key: pl.DataFrame) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in key.sort("letter").iter_rows(named=True):
        if are_same(row["first"], row["second"]):
            found.setdefault(row["pair_id"], []).append(row["letter"])
    return found
