"""Candidates from a local translation model: both sentences of each pair, told which language to read and to write.

Models say the languages in different ways. mBART, NLLB and M2M have a piece for each language: the source's stands
beside the text, and the target's is the first that is written (`forced_bos_token_id`). Models like T5 have none, and
are asked in words before the text.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from prasanga.construction.translation import CANDIDATES
from prasanga.errors import InputError

if TYPE_CHECKING:
    from prasanga.construction.generation import Writer

_LOG = logging.getLogger(__name__)

NAMES = {"bn": "Bangla", "hi": "Hindi", "en": "English"}
PREFIX = "translate {source} to {target}: "
"""What is put before a text for a model without pieces for languages, if nothing else is said."""

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


def how_to_ask(
    tokenizer: Any,
    *,
    model: str,
    source: str,
    into: str,
    codes: Mapping[str, str] | None = None,
    prefix: str | None = None,
) -> Asking:
    """How `model` is told to translate from `source` into `into`.

    Args:
        tokenizer: the model's, which has a piece for each language or for none.
        model: its name, for messages.
        source: language of the texts: bn, hi or en.
        into: language of the translations.
        codes: the piece of a language, where it is not one of mBART's, NLLB's or M2M's (`models.<m>.language_codes`).
        prefix: what to put before a text; {source} and {target} are the names of the languages, in English. None for
            nothing where the model has pieces for languages, and for `PREFIX` where it has none.

    Raises:
        InputError: a piece in `codes` that the tokenizer does not have; a piece for one of the two languages only; a
            prefix with another name in braces.
    """
    vocabulary = tokenizer.get_vocab()
    found = {language: _piece_of(vocabulary, language, codes or {}, model) for language in (source, into)}
    lacking = [NAMES[language] for language, piece in found.items() if piece is None]
    if len(lacking) == 1:
        raise InputError(
            f"model {model}: its tokenizer has no piece for {lacking[0]} among those known, but one for the other"
            f" language. Write the piece under models.{model}.language_codes, or use a model that translates into"
            f" {NAMES[into]}."
        )
    if prefix is None:
        prefix = PREFIX if lacking else ""
    try:
        prefix = prefix.format(source=NAMES[source], target=NAMES[into])
    except (KeyError, IndexError, ValueError):
        raise InputError(
            f"model {model}: the prefix is {prefix!r}. Only {{source}} and {{target}} may stand in braces; write for"
            f" example {PREFIX!r}."
        ) from None
    return Asking(found[source], found[into], prefix)


def _piece_of(vocabulary: Mapping[str, int], language: str, codes: Mapping[str, str], model: str) -> str | None:
    given = codes.get(language)
    if given is not None and given not in vocabulary:
        raise InputError(
            f"model {model}: language_codes has {given!r} for {language}, but its tokenizer has no such piece. Look it"
            " up in the model's documentation (mBART: hi_IN, NLLB: hin_Deva)."
        )
    return given or next((piece for piece in _PIECES[language] if piece in vocabulary), None)


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
    """Candidates of one engine for both sentences of each pair; a sentence that several pairs have is translated once.

    Args:
        writer: an encoder-decoder that translates (`prasanga.construction.generation.load_writer`).
        pairs: `pair_id`, `first`, `second`.
        engine: the name under which its candidates are kept, apart from the sheets.
        asking: see `how_to_ask`.
        seed: the study's; a beam search draws nothing.
        n_candidates: candidates of each sentence, best first.
        beams: width of the beam search, at least `n_candidates`.
        max_new_tokens: most pieces of a translation; fewer where the model cannot write as many.

    Returns:
        A row per pair and rank (`prasanga.construction.translation.CANDIDATES`); the candidates of rank r for the two
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
    answers = dict(zip(sentences, ([_one_line(text) for text in texts] for texts in written), strict=True))
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


def _one_line(text: str) -> str:
    return " ".join(text.split())
