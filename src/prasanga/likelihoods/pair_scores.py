"""Scores of both sentences of each pair by one model (Sahoo et al. 2024, section 6.1; Nangia et al. 2020, section 3).

For an encoder the score is the mean log-probability of the words that both sentences have, each masked whole in turn
and everything else in sight: P(U|M), normalized by the number of scored pieces. `prasanga.likelihoods.queries` names
the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.parquet import as_frame
from prasanga.likelihoods.engine import Scorer, load_scorer
from prasanga.likelihoods.queries import (
    OF_WORDS,
    REDUCTIONS,
    SCORES,
    WEIGHTED,
    SentenceQueries,
    answers,
    resolve_measure,
)
from prasanga.models.options import NO_OPTIONS, ModelOptions
from prasanga.models.pieces import Pieces, Span, overlapping
from prasanga.pairs import align_spans
from prasanga.pairs.alignment import Punctuation, check_punctuation
from prasanga.text import normalizer

UNKNOWN = ("leave-out", "keep")
PIECES = ("all", "left-to-right")


def score_pairs(
    model: str | Path | Scorer,
    pairs: pl.DataFrame,
    *,
    family: str = "auto",
    measure: str = "p_unmodified",
    dtype: str = "auto",
    reduction: str = "mean",
    pieces: str = "all",
    punctuation: Punctuation = "apart",
    unknown: str = "leave-out",
    normalization: Mapping[str, str] | None = None,
    language_codes: Mapping[str, str] | None = None,
    revision: str | None = None,
    device: str = "auto",
    threads: int | None = None,
    pieces_per_batch: int | None = None,
    options: ModelOptions = NO_OPTIONS,
    name: str | None = None,
) -> pl.DataFrame:
    """Score both sentences of each pair.

    Args:
        model: a folder, the id of a model of the hub, or a scorer that is loaded already (for `aula`, with
            attentions).
        pairs: columns `language`, `first`, `second`, and whatever else (`prasanga.pairs.read_pairs`). Scores that the
            table has already, all columns of `prasanga.likelihoods.queries.SCORES`, are replaced.
        family: `auto`, or what the model must be: `encoder`, `decoder`, `encoder-decoder`.
        measure: see `prasanga.likelihoods.queries`; `p_unmodified` is what each kind of model has for it.
        dtype: `auto`, `float32`, `bfloat16`, `float16`.
        reduction: `mean` over the scored pieces, or `sum`.
        pieces: how a word of several pieces is masked: `all` together, or `left-to-right`.
        punctuation: `apart` or `with-word`, see `prasanga.pairs.words_of`.
        unknown: `leave-out` pairs with a scored piece that the tokenizer does not know, or `keep` them.
        normalization: by language, how text is normalized before it is aligned and read; as it stands if None.
        language_codes: by language, the piece by which a multilingual encoder-decoder is told the language.
        revision: branch, tag or commit of the hub.
        device: `auto`, `cpu`, `cuda`, `cuda:<number>`.
        threads: threads of torch.
        pieces_per_batch: see `load_scorer`.
        options: of the tokenizer, the weights and the cards.
        name: what the column `model` says; the model's own name if None.

    Returns:
        `pairs` with the columns `score_first`, `score_second` (natural logarithm; null if left out), `n_first`,
        `n_second` (scored pieces), `left_out` (null, or one of `prasanga.pairs.preferences.REASONS`), and how it was
        done: `kind`, `measure`, `reduction`, `pieces`, `punctuation`, `unknown`, `model`.

    Raises:
        InputError: the model cannot be had, is a scorer of another kind than `family`, or its kind does not have this
            measure; a scorer without attentions is asked for `aula`; a column is missing, or a pair lacks a sentence
            or its language; the model has no piece for a language and needs one.
    """
    choices = {"reduction": reduction, "pieces": pieces, "punctuation": punctuation, "unknown": unknown}
    for key, allowed in (("reduction", REDUCTIONS), ("pieces", PIECES), ("unknown", UNKNOWN)):
        if choices[key] not in allowed:
            raise InputError(f"{key} is {choices[key]!r}; write {' or '.join(allowed)}.")
    check_punctuation(punctuation)
    pairs = as_frame("pairs", pairs)
    _check(pairs)
    pairs = pairs.drop(SCORES, strict=False)
    if isinstance(model, Scorer):
        scorer = model
    else:
        scorer = load_scorer(
            model,
            kind=family,
            revision=revision,
            device=device,
            dtype=dtype,
            threads=threads,
            pieces_per_batch=pieces_per_batch,
            attentions=measure in WEIGHTED,
            options=options,
        )
    if family not in ("auto", scorer.kind):
        raise InputError(
            f"model {scorer.name}: family is {family}, but the scorer is of the kind {scorer.kind}. Write family:"
            f" {scorer.kind} (or auto), or load another model."
        )
    chosen = resolve_measure(scorer.kind, measure, scorer.name)
    if chosen in WEIGHTED:
        scorer.model.require_attention()
    rows: list[tuple[float | int | str | None, ...]] = [()] * len(pairs)
    languages = pairs["language"].to_list()
    for language in sorted(set(languages)):
        asking = SentenceQueries(scorer.model, chosen, language=language, how=pieces, language_codes=language_codes)
        places = [place for place, one in enumerate(languages) if one == language]
        texts = _normalized(pairs[places], (normalization or {}).get(language))
        read = asking.read([text for pair in texts for text in pair])
        planned = [
            _plan(scorer, asking, read, pair, chosen, punctuation=punctuation, keep=unknown == "keep") for pair in texts
        ]
        sums = _summed(scorer, asking, [each for plan in planned if not isinstance(plan, str) for each in plan], chosen)
        for place, plan in zip(places, planned, strict=True):
            if isinstance(plan, str):
                rows[place] = (None, None, None, None, plan)
                continue
            (first, n_first), (second, n_second) = next(sums), next(sums)
            if reduction == "mean":
                first, second = first / n_first, second / n_second
            rows[place] = (first, second, n_first, n_second, None)
    found = pl.DataFrame(rows, schema=_FOUND, orient="row")
    said = {"kind": scorer.kind, "measure": chosen, **choices, "model": name or scorer.name}
    return pairs.hstack(found).with_columns(pl.lit(value).alias(column) for column, value in said.items())


_FOUND = dict(zip(SCORES, (pl.Float64, pl.Float64, pl.Int64, pl.Int64, pl.String), strict=False))


class _Sentence(NamedTuple):
    """A sentence to be scored: its pieces, and the character spans of the words that are."""

    pieces: Pieces
    words: Sequence[Span]


def _check(pairs: pl.DataFrame) -> None:
    """Refuse a table without what is scored."""
    for column in ("language", "first", "second"):
        if column not in pairs.columns:
            raise InputError(f"the pairs have no column {column!r}. They have {', '.join(pairs.columns)}.")
        values = pairs[column]
        if values.null_count():
            row = int(values.is_null().arg_max() or 0)
            called = f" (pair {pairs['pair_id'][row]})" if "pair_id" in pairs.columns else ""
            raise InputError(f"the pairs: row {row}{called} has no {column}. Write it, or leave the pair out.")
        if len(values) and values.dtype != pl.String:
            raise InputError(f"the pairs: column {column!r} is of type {values.dtype}. Give text (String).")


def _normalized(pairs: pl.DataFrame, normalization: str | None) -> list[tuple[str, str]]:
    normalized = normalizer(normalization or "none")
    return list(zip(normalized(pairs["first"].to_list()), normalized(pairs["second"].to_list()), strict=True))


def _plan(
    scorer: Scorer,
    asking: SentenceQueries,
    read: Mapping[str, Pieces],
    pair: tuple[str, str],
    measure: str,
    *,
    punctuation: Punctuation,
    keep: bool,
) -> tuple[_Sentence, _Sentence] | str:
    """Return both sentences with their words to be scored, or why the pair is left out."""
    first, second = pair
    if first == second:
        return "identical"
    aligned = align_spans(first, second, punctuation=punctuation)
    modified = (aligned.modified_first, aligned.modified_second)
    unmodified = (aligned.unmodified_first, aligned.unmodified_second)
    scored = modified if measure == "p_modified" else unmodified
    if not any(modified) or (measure == "p_modified" and not all(modified)):
        return "nothing-modified"
    if measure in OF_WORDS and not all(scored):
        return "nothing-unmodified"
    pieces = (read[first], read[second])
    if any(map(asking.special, pieces)):
        return "special-piece"
    for one, words in zip(pieces, zip(unmodified, modified, strict=True), strict=True):
        if any(not overlapping(one, *word) for half in words for word in half):
            return "dropped-word"
    if list(pieces[0].ids) == list(pieces[1].ids):
        return "identical-pieces"
    sentences = (_Sentence(pieces[0], scored[0]), _Sentence(pieces[1], scored[1]))
    for sentence in sentences:
        if not asking.scored(*sentence):
            return "nothing-scored"
        if not keep and any(sentence.pieces.ids[place] in scorer.unknown for place in asking.scored(*sentence)):
            return "unknown-piece"
        if scorer.max_pieces is not None and asking.longest(*sentence) > scorer.max_pieces:
            return "too-long"
    return sentences


def _summed(
    scorer: Scorer, asking: SentenceQueries, sentences: Sequence[_Sentence], measure: str
) -> Iterator[tuple[float, int]]:
    """Yield the sum of the log-probabilities of each sentence's scored pieces, and their number."""
    weights = _weights(scorer, asking, sentences, measure) if measure in WEIGHTED else None
    sums, counts = [0.0] * len(sentences), [0] * len(sentences)
    queries = (asking.queries(*sentence) for sentence in sentences)
    for number, found in answers(
        scorer.log_probabilities, queries, len(sentences), f"scoring sentences by {scorer.name}"
    ):
        for values in found:
            sums[number] += float(values.sum() if weights is None else weights[number] @ values)
            counts[number] += len(values)
    return zip(sums, counts, strict=True)


def _weights(
    scorer: Scorer, asking: SentenceQueries, sentences: Sequence[_Sentence], measure: str
) -> list[NDArray[np.float64]]:
    """Return what the log-probability of each scored piece of a sentence counts, by the attention that it gets."""
    found = []
    received = scorer.attention([sentence.pieces.ids for sentence in sentences])
    for sentence, weights in zip(sentences, received, strict=True):
        own = weights[asking.scored(*sentence)]
        found.append(own if measure == "aula" else own * (len(own) / own.sum()))
    return found
