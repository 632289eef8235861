"""Log-probability of a word in a sentence, with and without the word it is associated with (Kurita et al. 2019).

For a target and an attribute in a sentence (Sadhu et al. 2024, section 3.3), in natural logarithms:

    fill       log p_target, the target masked
    prior      log p_prior, the target and the attribute masked
    corrected  fill - prior = log(p_target / p_prior)

Both are read at the target's own place, and the mask covers the whole inflected word. A target of several pieces
has as many masks, and its score is the sum over them (`all`). With `left-to-right` a piece is scored with those
before it in sight, by the chain rule. With `first` one mask hides the word and its first piece is read, and one mask
hides the attribute whatever its length, as in the program of the paper.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.base.errors import InputError
from prasanga.likelihoods.engine import Query, Scorer, answer_texts, load_scorer, masked_queries
from prasanga.likelihoods.templates import SPANS
from prasanga.models.pieces import Pieces, Span, overlapping, read_pieces
from prasanga.stats.effects import choice

HOW = ("all", "left-to-right", "first")
"""How a word of several pieces is scored (`log_probability.pieces`)."""

SCORES = {
    **dict.fromkeys(("fill", "prior"), pl.Float64),
    **dict.fromkeys(("n_pieces", "n_attribute_pieces"), pl.Int64),
    **dict.fromkeys(("left_out", "left_out_role"), pl.String),
}
"""Columns of the score of a sentence. `n_pieces` counts the pieces of the target, of which `first` scores one.

`left_out` says why there is no score: `dropped-word`, the tokenizer drops the target or the attribute; `unknown-piece`,
one of them has a piece that the tokenizer does not know; `shared-piece`, one piece belongs to both; `too-long`, the
model cannot read so long a sentence. `left_out_role` is `target` or `attribute` where one of them is the reason."""

_LOG = logging.getLogger(__name__)


def score_log_probability(
    model: str | Path | Scorer,
    items: Iterable[tuple[str, Span, Span]],
    *,
    pieces: str = "all",
    **loading: Any,
) -> pl.DataFrame:
    """Compute fill, prior and corrected log-probability of the target of each item (see the module).

    Args:
        model: an encoder's folder or id, or a `Scorer` of one.
        items: sentences with the characters of target and attribute: (text, (start, end), (start, end)).
        pieces: how a target of several pieces is scored: all, left-to-right or first.
        **loading: `dtype`, `device`, `revision` and other arguments of `load_scorer`, for a model that is not loaded.

    Returns:
        One row per item, in order: `text`; the words `target` and `attribute`; `fill`, `prior`, `corrected` and the
        other columns of `SCORES`, with the word `left_out_word` in place of the role; `pieces`; `model`.

    Raises:
        InputError: no encoder, or one without a mask piece; an item that is not (text, target, attribute), or whose
            target and attribute overlap or lie outside its text; an unknown way to score pieces.
    """
    choice("log_probability.pieces", pieces, HOW)
    rows = [_read_item(number, item) for number, item in enumerate(items)]
    scorer = load_scorer(model, **loading) if isinstance(model, str | Path) else model
    scored = score_sentences(scorer, pl.DataFrame(rows, schema=SPANS, orient="row"), pieces=pieces)
    warn_of_left_out(scorer.name, scored, pieces)
    return scored.select(
        "text",
        *(_word(role).alias(role) for role in ("target", "attribute")),
        *("fill", "prior"),
        (pl.col("fill") - pl.col("prior")).alias("corrected"),
        *("n_pieces", "n_attribute_pieces", "left_out"),
        _WORD_LEFT_OUT.alias("left_out_word"),
        pl.lit(pieces).alias("pieces"),
        pl.lit(str(scorer.name)).alias("model"),
    )


def score_sentences(scorer: Scorer, sentences: pl.DataFrame, *, pieces: str) -> pl.DataFrame:
    """Return sentences, columns `SPANS` and others, with the columns `SCORES`.

    Masked copies are made as they are run, so that memory does not grow with their number.

    Raises:
        InputError: another kind of model than an encoder, or one without a mask piece.
    """
    mask = _require_mask(scorer)
    read = read_pieces(scorer.tokenizer, sentences["text"])
    scores: list[list[Any]] = []

    def ask() -> Iterator[Sequence[Query]]:
        for text, target, attribute in sentences.select(*SPANS).iter_rows():
            own = [overlapping(read[text], *span) for span in (target, attribute)]
            left_out, role, queries = _plan(scorer, read[text], own, (target, attribute), mask, pieces)
            scores.append([None, None, *map(len, own), left_out, role])
            yield queries

    what = f"scoring words in sentences by {scorer.name}"
    for number, values in answer_texts(scorer.log_probabilities, ask(), len(sentences), what):
        sums = [float(each.sum()) for each in values]
        half = len(sums) // 2  # fill and prior take as many queries
        scores[number][:2] = sum(sums[:half]), sum(sums[half:])
    return sentences.hstack(pl.DataFrame(scores, schema=SCORES, orient="row"))


def warn_of_left_out(model: str, scored: pl.DataFrame, pieces: str) -> None:
    """Log which sentences are left out, and which attributes of several pieces one mask hides (`first`)."""
    left_out = scored.filter(pl.col("left_out").is_not_null()).group_by("left_out", maintain_order=True)
    for reason, n, words in left_out.agg(pl.len(), _WORD_LEFT_OUT.drop_nulls().unique(maintain_order=True)).iter_rows():
        _LOG.warning("%s: %d sentences left out, %s%s", model, n, reason, f": {', '.join(words)}" if words else "")
    several = scored.filter(pl.col("n_attribute_pieces") > 1).select(_word("attribute").unique(maintain_order=True))
    if pieces == "first" and len(several):
        said = "%s: with pieces: first, one mask stands for each of %d attributes of several pieces: %s"
        _LOG.warning(said, model, len(several), ", ".join(several.to_series()))


def _word(role: str) -> pl.Expr:
    start, end = (pl.col(role).list.get(place) for place in (0, 1))
    return pl.col("text").str.slice(start, end - start)


_WORD_LEFT_OUT = pl.coalesce(
    pl.when(pl.col("left_out_role") == role).then(_word(role)) for role in ("target", "attribute")
)


def _require_mask(scorer: Scorer) -> int:
    if scorer.kind != "encoder":
        raise InputError(
            f"model {scorer.name}: log-probability bias masks words, which takes an encoder, and this is"
            f" {'an' if scorer.kind[:1] in 'aeiou' else 'a'} {scorer.kind}. Write"
            " `models: {<its name>: {stages: [embeddings]}}`, or leave `log_probability.categories` and"
            " `log_probability.traits` empty; decoders and encoder-decoders score pairs (`pairs.sets`)."
        )
    if scorer.mask is None:
        raise InputError(
            f"model {scorer.name}: its tokenizer has no mask piece, so no word can be masked. Name the piece in the"
            ' tokenizer\'s settings ("mask_token" in tokenizer_config.json), or write'
            " `models: {<its name>: {stages: [embeddings]}}`."
        )
    return scorer.mask


def _read_item(number: int, item: Any) -> tuple[str, list[int], list[int]]:
    """Return text and spans of an item; a list or an array may hold the whole numbers of a span."""
    try:
        text, target, attribute = item
        spans = [[operator.index(start), operator.index(end)] for start, end in (target, attribute)]
    except (TypeError, ValueError):
        text, spans = None, []
    if not isinstance(text, str):
        raise InputError(
            f"item {number}: {item!r} is no sentence with two words. Write (text, (start, end), (start, end)): the"
            " characters of target and attribute, whole numbers."
        )
    for name, (start, end) in zip(("target", "attribute"), spans, strict=True):
        if not 0 <= start < end <= len(text):
            raise InputError(
                f"item {number}: the {name} is at characters {start} to {end} of a text of {len(text)}: {text}. Give"
                " (start, end) of the whole inflected word."
            )
    (begin, stop), (other_begin, other_stop) = spans
    if begin < other_stop and other_begin < stop:
        raise InputError(f"item {number}: target and attribute overlap in {text}. Give words apart.")
    return text, spans[0], spans[1]


def _plan(
    scorer: Scorer, read: Pieces, own: Sequence[Sequence[int]], spans: Sequence[Span], mask: int, how: str
) -> tuple[str | None, str | None, Sequence[Query]]:
    """Return why a sentence is left out and which word is the reason; else the queries for fill, then prior."""
    roles = dict(zip(("target", "attribute"), own, strict=True))
    for role, positions in roles.items():
        if not positions:
            return "dropped-word", role, ()
    for role, positions in roles.items():
        if any(read.ids[position] in scorer.unknown for position in positions):
            return "unknown-piece", role, ()
    if set(own[0]) & set(own[1]):
        return "shared-piece", None, ()
    target, attribute = spans
    queries = [
        *masked_queries(read, target, mask, how=how),
        *masked_queries(read, target, mask, how=how, hidden=[attribute]),
    ]
    if scorer.max_pieces is not None and max(len(query.ids) for query in queries) > scorer.max_pieces:
        return "too-long", None, ()
    return None, None, queries
