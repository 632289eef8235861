"""Scores of sentences by one model: both sentences of each pair, and words in sentences.

For a pair and an encoder the score is the mean log-probability of the words that both sentences have, each masked whole
in turn with everything else visible: P(U|M), normalized by the number of scored pieces (Sahoo et al. 2024, section 6.1;
Nangia et al. 2020, section 3). `MEASURES` names other scores.

For a target and an attribute in a sentence there are three scores, in natural logarithms (Kurita et al. 2019; Sadhu et
al. 2024, section 3.3):

    fill       log p_target, the target masked
    prior      log p_prior, the target and the attribute masked
    corrected  fill - prior = log(p_target / p_prior)

Both are read at the target's own place, and the mask covers the whole inflected word. A target of several pieces has as
many masks, and its score is the sum over them (`all`). With `left-to-right` a piece is scored with earlier ones
visible, by the chain rule. With `first` one mask hides the word and its first piece is read, and one mask hides the
attribute, as in the program of the paper.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.io import as_frame, require_columns
from prasanga.likelihoods.engine import Query, Scorer, answer_texts, load_scorer, masked_queries
from prasanga.models.heads import SENTINEL, ModelWithHead, require_mask
from prasanga.models.pieces import (
    Pieces,
    Span,
    language_piece,
    language_pieces,
    overlapping,
    read_pieces,
    unknown_pieces,
)
from prasanga.pairs import align_spans
from prasanga.pairs.alignment import Punctuation
from prasanga.pairs.preferences import SCORES, SENTENCE_SCORES, SPANS
from prasanga.stats.effects import choice
from prasanga.text import normalizer

# --------------------
# Pairs of sentences.


CHOICES = {
    "reduction": ("mean", "sum"),
    "pieces": ("all", "left-to-right"),
    "punctuation": get_args(Punctuation),
    "unknown": ("leave-out", "keep"),
}
"""How pairs may be scored, by argument of `score_pairs`."""


def score_pairs(
    model: str | Path | Scorer,
    pairs: pl.DataFrame,
    *,
    family: str = "auto",
    measure: str = "auto",
    reduction: str = "mean",
    pieces: str = "all",
    punctuation: Punctuation = "apart",
    unknown: str = "leave-out",
    normalization: Mapping[str, str] | None = None,
    language_codes: Mapping[str, str] | None = None,
    name: str | None = None,
    **loading: Any,
) -> pl.DataFrame:
    """Score both sentences of each pair.

    Args:
        model: a folder, the id of a model of the hub, or a loaded scorer.
        pairs: columns `language`, `first`, `second`, and any others (`prasanga.pairs.read_pairs`). Earlier scores, all
            columns of `prasanga.pairs.preferences.SCORES`, are replaced.
        family: `auto`, or the required kind: `encoder`, `decoder`, `encoder-decoder`.
        measure: one of `MEASURES`; `auto` is the default of the model's kind.
        reduction: `mean` over the scored pieces, or `sum`.
        pieces: how a word of several pieces is masked: `all` together, or `left-to-right`.
        punctuation: `apart` or `with-word`, see `prasanga.pairs.alignment.words_of`.
        unknown: `leave-out` pairs with a scored piece that the tokenizer does not know, or `keep` them.
        normalization: by language, of text before alignment; None for no normalization.
        language_codes: by language, the piece that names the language to a multilingual encoder-decoder.
        name: of the model in tables; None for its own name.
        **loading: `dtype`, `device`, `revision` and other arguments of `load_scorer`, if the model is not loaded.

    Returns:
        `pairs` with the columns `score_first`, `score_second` (natural logarithm; null if left out), `n_first`,
        `n_second` (scored pieces), `left_out` (null, or one of `prasanga.pairs.preferences.REASONS`), and the settings:
        `kind`, `measure`, `reduction`, `pieces`, `punctuation`, `unknown`, `model`.

    Raises:
        InputError: the model is not available, its kind is not `family` or lacks this measure; a column is missing, or
            a pair lacks a sentence or its language; the model lacks the piece of a language.
    """
    choices = {"reduction": reduction, "pieces": pieces, "punctuation": punctuation, "unknown": unknown}
    for key, allowed in CHOICES.items():
        choice(key, choices[key], allowed)
    pairs = as_frame("pairs", pairs)
    require_columns("pairs", pairs, ("language", "first", "second"), "Give what read_pairs returns.")
    for column in ("language", "first", "second"):
        if pairs[column].null_count():
            row = pairs[column].is_null().arg_max()
            raise InputError(f"pairs: row {row} has no {column}. Write it, or leave the pair out.")
        if pairs[column].dtype.is_numeric():
            raise InputError(f"pairs: column {column} has numbers ({pairs[column][0]}). Give text.")
    pairs = pairs.drop(SCORES.names(), strict=False)
    if family in MEASURES:  # before the model is loaded
        resolve_measure(family, measure, name or str(getattr(model, "name", model)))
    scorer = model if isinstance(model, Scorer) else load_scorer(model, kind=family, **loading)
    if family not in ("auto", scorer.kind):
        differs = f"model {scorer.name}: family is {family}, but the scorer is of the kind {scorer.kind}"
        raise InputError(f"{differs}. Write family: {scorer.kind} (or auto), or load another model.")
    chosen = resolve_measure(scorer.kind, measure, scorer.name)
    rows: list[tuple[float | int | str | None, ...]] = [()] * len(pairs)
    languages = pairs["language"].to_list()
    for language in sorted(set(languages)):
        asking = SentenceQueries(scorer.model, chosen, language=language, how=pieces, language_codes=language_codes)
        places = [place for place, one in enumerate(languages) if one == language]
        normalized = normalizer((normalization or {}).get(language, "none"))
        sides = (normalized(pairs[side][places].to_list()) for side in ("first", "second"))
        texts = list(zip(*sides, strict=True))
        read = asking.read([text for pair in texts for text in pair])
        planned = [_plan(scorer, asking, read, pair, punctuation, keep=unknown == "keep") for pair in texts]
        sentences = [each for plan in planned if not isinstance(plan, str) for each in plan]
        scores = _score_sentences(scorer, asking, sentences, reduction)
        for place, plan in zip(places, planned, strict=True):
            if isinstance(plan, str):
                rows[place] = (None, None, None, None, plan)
            else:
                (first, n_first), (second, n_second) = next(scores), next(scores)
                rows[place] = (first, second, n_first, n_second, None)
    found = pl.DataFrame(rows, schema=dict(list(SCORES.items())[:5]), orient="row")
    said = {"kind": scorer.kind, "measure": chosen, **choices, "model": name or scorer.name}
    return pairs.hstack(found).with_columns(pl.lit(value).alias(column) for column, value in said.items())


class _ScoredSentence(NamedTuple):
    """A sentence to be scored: its pieces, and the character spans of its scored words."""

    pieces: Pieces
    words: Sequence[Span]


def _plan(
    scorer: Scorer,
    asking: SentenceQueries,
    read: Mapping[str, Pieces],
    pair: tuple[str, str],
    punctuation: Punctuation,
    *,
    keep: bool,
) -> tuple[_ScoredSentence, _ScoredSentence] | str:
    """Return both sentences with their scored words, or why the pair is left out."""
    (first, second), measure = pair, asking.measure
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
    sentences = (_ScoredSentence(pieces[0], scored[0]), _ScoredSentence(pieces[1], scored[1]))
    for sentence in sentences:
        if not asking.scored(*sentence):
            return "nothing-scored"
        if not keep and any(sentence.pieces.ids[place] in scorer.unknown for place in asking.scored(*sentence)):
            return "unknown-piece"
        if scorer.max_pieces is not None and asking.longest(*sentence) > scorer.max_pieces:
            return "too-long"
    return sentences


def _score_sentences(
    scorer: Scorer, asking: SentenceQueries, sentences: Sequence[_ScoredSentence], reduction: str
) -> Iterator[tuple[float, int]]:
    """Yield the score of each sentence, from the log-probabilities of its scored pieces, and their number."""
    weights: list[NDArray[np.float64]] = []
    if asking.measure in WEIGHTED:
        received = scorer.attention([sentence.pieces.ids for sentence in sentences])
        weights = [each[asking.scored(*sentence)] for sentence, each in zip(sentences, received, strict=True)]
    if asking.measure == "aula_renormalized":
        weights = [each * (len(each) / each.sum()) for each in weights]
    sums, counts = [0.0] * len(sentences), [0] * len(sentences)
    queries = (asking.queries(*sentence) for sentence in sentences)
    what = f"scoring sentences by {scorer.name}"
    for number, found in answer_texts(scorer.log_probabilities, queries, len(sentences), what):
        for values in found:
            sums[number] += float(weights[number] @ values if weights else values.sum())
            counts[number] += len(values)
    for total, count in zip(sums, counts, strict=True):
        yield (total / count if reduction == "mean" else total), count


# --------------------
# Scores of a sentence of a pair by kind of model.


MEASURES = {
    "encoder": ("p_unmodified", "p_modified", "aul", "aula", "aula_renormalized"),
    "decoder": ("causal",),
    "encoder-decoder": ("infill", "causal"),
}
"""Scores by kind of model, the default first."""

OF_WORDS = ("p_unmodified", "p_modified", "infill")
"""Measures that score some words of a sentence, and need the pair's alignment."""

WEIGHTED = ("aula", "aula_renormalized")
"""Measures that weight a piece by its attention alpha: the mean over layers, heads and all attending pieces.

`aula` is mean(alpha log p) over the n pieces of a sentence without special ones, as in Kaneko and Bollegala (2022) and
`evaluate.py` of their program. Alpha sums to 1 over all pieces, special ones included, so longer sentences have scores
nearer to 0. With `aula_renormalized` the weights of the n pieces sum to n: a weighted mean of log p.
"""


def resolve_measure(kind: str, measure: str, name: str) -> str:
    """Return the measure for a model of this kind.

    Args:
        kind: `encoder`, `decoder`, `encoder-decoder`.
        measure: one of `MEASURES`, or `auto` for the default of the kind. A decoder, which never sees later text, has
            only the probability of the whole sentence, `causal` (Sahoo et al. 2024, section 6.1).
        name: the model's, for messages.

    Raises:
        InputError: the kind of model lacks this measure.
    """
    allowed = MEASURES[kind]
    if measure not in ("auto", *allowed):
        said = f"model {name} is of the kind {kind}, which has no measure {measure!r}"
        raise InputError(f"{said}. Write measure: {' or '.join(allowed)}, or auto for {allowed[0]}.")
    return allowed[0] if measure == "auto" else measure


# --------------------
# The queries of one sentence, by measure. The log-probabilities of the scored pieces are summed.


class SentenceQueries:
    """Makes the queries of sentences in one language for one model and one `measure`."""

    def __init__(
        self,
        model: ModelWithHead,
        measure: str,
        *,
        language: str,
        how: str = "all",
        language_codes: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare for sentences in `language`.

        Args:
            model: the model.
            measure: of the model's kind (`resolve_measure`).
            language: bn, hi, en.
            how: how a word of several pieces is masked, `all` or `left-to-right`.
            language_codes: by language, the piece that names the language to an encoder-decoder.

        Raises:
            InputError: the tokenizer lacks the mask, or the piece for the language.
        """
        self._model, self.measure, self._how = model, measure, how
        self._code = language_piece(model.name, model.tokenizer, language, language_codes or {})
        self._mask = require_mask(model.name, model.tokenizer, model.kind) if measure in OF_WORDS else -1
        self._before = _before_text(model, self._code) if model.kind != "encoder" else ()
        self._special = _special_pieces(model)
        # T5's decoder names the gap before it fills it. Looked up once: a vocabulary is long.
        names_gap = measure == "infill" and self._mask == model.tokenizer.get_vocab().get(SENTINEL)
        self._named = (self._mask,) if names_gap else ()
        self._end = tuple(self.read([""])[""].ids) if model.kind == "encoder-decoder" else ()

    def read(self, texts: Sequence[str]) -> dict[str, Pieces]:
        """Return the pieces of each text, as this model reads the language."""
        if self._code is not None:
            self._model.tokenizer.src_lang = self._code
        return read_pieces(self._model.tokenizer, texts)

    def scored(self, pieces: Pieces, words: Sequence[Span]) -> list[int]:
        """Return the scored positions in `pieces`, in order: of `words`, or all if the measure takes all."""
        if self.measure in OF_WORDS:
            return [position for word in words for position in overlapping(pieces, *word)]
        ordinary = _ordinary(pieces)
        if self.measure == "causal" and self._model.kind == "decoder" and not self._before and not _opened(pieces):
            return ordinary[1:]  # the first piece has no condition
        return ordinary

    def longest(self, pieces: Pieces, words: Sequence[Span]) -> int:
        """Count the pieces of the longest encoder or decoder input in a sentence's queries."""
        if self._model.kind == "encoder":  # each piece has a mask
            return len(pieces.ids)
        return max((max(len(one.ids), len(one.decoder_ids)) for one in self.queries(pieces, words)), default=0)

    def special(self, pieces: Pieces) -> bool:
        """Return whether the text itself has a special piece, such as a mask, but not the unknown piece."""
        written = (piece for piece, special in zip(pieces.ids, pieces.special, strict=True) if not special)
        return not self._special.isdisjoint(written)

    def queries(self, pieces: Pieces, words: Sequence[Span]) -> Iterator[Query]:
        """Yield the queries of a sentence; together they read each piece of `scored` once, in order."""
        match self.measure:
            case "p_unmodified" | "p_modified":
                for word in words:
                    yield from masked_queries(pieces, word, self._mask, how=self._how)
            case "aul" | "aula" | "aula_renormalized":
                ordinary = _ordinary(pieces)
                yield Query(tuple(pieces.ids), tuple(ordinary), tuple(pieces.ids[place] for place in ordinary))
            case "infill":  # the encoder reads the sentence with a mask for a word, and the decoder writes the word
                for word in words:
                    own = overlapping(pieces, *word)
                    ids = [piece for place, piece in enumerate(pieces.ids) if place not in own]
                    ids.insert(own[0], self._mask)
                    before = (*self._before, *self._named)
                    yield _write(ids, before, [pieces.ids[place] for place in own])
            case "causal" if self._model.kind == "decoder":
                yield self._written(pieces, self.scored(pieces, words))
            case _:  # the encoder reads an empty text, and the decoder writes the sentence
                yield _write(self._end, self._before, [pieces.ids[place] for place in _ordinary(pieces)])

    def _written(self, pieces: Pieces, scored: Sequence[int]) -> Query:
        """Return the query in which a decoder writes the sentence; each piece is read one position before its own."""
        before = () if _opened(pieces) else self._before
        ids = (*before, *pieces.ids[: scored[-1] + 1]) if scored else (*before, *pieces.ids)
        targets = tuple(pieces.ids[place] for place in scored)
        # The last piece is only a target, so it need not run.
        return Query(ids[:-1] or ids, tuple(len(before) + place - 1 for place in scored), targets)


def _write(ids: Sequence[int], before: Sequence[int], targets: Sequence[int]) -> Query:
    """Return the query in which the encoder reads `ids` and the decoder, after `before`, writes `targets`."""
    first = len(before) - 1
    return Query(tuple(ids), tuple(range(first, first + len(targets))), tuple(targets), (*before, *targets[:-1]))


def _ordinary(pieces: Pieces) -> list[int]:
    """Return the positions of the pieces of the text itself."""
    return [place for place, special in enumerate(pieces.special) if not special]


def _opened(pieces: Pieces) -> bool:
    """Return whether the tokenizer puts a special piece before the text by itself, as Llama's."""
    return len(pieces.special) > 0 and bool(pieces.special[0])


def _special_pieces(model: ModelWithHead) -> frozenset[int]:
    """Return the pieces that ordinary text lacks: pieces with a role, and added special ones, such as sentinels."""
    tokenizer = model.tokenizer
    added = (piece for piece, token in tokenizer.added_tokens_decoder.items() if token.special)
    special = frozenset([*tokenizer.all_special_ids, *added]) - unknown_pieces(tokenizer)
    # GPT-2 names one piece for all roles, including the unknown piece, which it never uses.
    roles = ("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "mask_token_id")
    return special | {piece for role in roles if (piece := getattr(tokenizer, role)) is not None}


def _before_text(model: ModelWithHead, code: str | None) -> tuple[int, ...]:
    """Return the pieces that a decoder reads before it writes the first piece of a text.

    A decoder-only model has its beginning-of-text piece (BOS), or else the end-of-text piece (EOS; GPT-2). The decoder
    of an encoder-decoder has the piece that its configuration names, and then the piece of the language, if it has one
    (mBART: only the language, or after the end of text); else the pieces that its tokenizer puts before a text (BART).
    """
    tokenizer, config = model.tokenizer, model.config
    if model.kind == "decoder":
        candidates = [tokenizer.bos_token_id, tokenizer.eos_token_id]
        return next(((int(one),) for one in candidates if one is not None), ())
    start = getattr(config, "decoder_start_token_id", None)
    language = None if code is None else int(tokenizer.convert_tokens_to_ids(code))
    if start is None and language is None:
        start = next((one for one in (tokenizer.pad_token_id, tokenizer.bos_token_id) if one is not None), None)
    if language is None:  # the special pieces that the tokenizer puts before any text
        pieces = read_pieces(tokenizer, ["1"])["1"]
        opening = replaced = list(pieces.ids[: _ordinary(pieces)[0]])
    else:
        opening, replaced = [language], list(language_pieces(tokenizer).values())
    before = tuple(int(one) for one in ([] if start is None or start in replaced else [start]) + opening)
    if not before:
        said = f"model {model.name}: neither config.json (decoder_start_token_id) nor the tokenizer has a first piece"
        raise InputError(f"{said}. Write the id that the model was trained with into config.json.")
    return before


# --------------------
# Words in sentences, with and without the associated word.


HOW = ("all", "left-to-right", "first")
"""How a word of several pieces is scored (`log_probability.pieces`)."""


def score_log_probability(
    model: str | Path | Scorer, items: Iterable[tuple[str, Span, Span]], *, pieces: str = "all", **loading: Any
) -> pl.DataFrame:
    """Compute fill, prior and corrected log-probability of the target of each item (see the module).

    Args:
        model: an encoder's folder or id, or a `Scorer` of one.
        items: sentences with the characters of target and attribute: (text, (start, end), (start, end)).
        pieces: how a target of several pieces is scored: all, left-to-right or first.
        **loading: `dtype`, `device`, `revision` and other arguments of `load_scorer`, if the model is not loaded.

    Returns:
        One row per item, in order: `text`; the words `target` and `attribute`; `fill`, `prior`, `corrected` and the
        other columns of `SENTENCE_SCORES`, with the word `left_out_word` in place of the role; `pieces`; `model`.

    Raises:
        InputError: not an encoder, or without a mask piece; an item that is not (text, target, attribute), or with
            target and attribute that overlap or exceed its text; an unknown way to score pieces.
    """
    choice("log_probability.pieces", pieces, HOW)
    rows = [_read_item(number, item) for number, item in enumerate(items)]
    scorer = load_scorer(model, **loading) if isinstance(model, str | Path) else model
    scored = score_sentences(scorer, pl.DataFrame(rows, schema=SPANS, orient="row"), pieces=pieces)
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


def score_sentences(
    scorer: Scorer, sentences: pl.DataFrame, *, pieces: str, prior_mask: str = "target", raw_logits: bool = False
) -> pl.DataFrame:
    """Return sentences, columns `SPANS` and others, with the columns `SENTENCE_SCORES`.

    Masked copies are made as they run, so memory does not grow with their number.

    Args:
        scorer: of an encoder.
        sentences: the sentences.
        pieces: as for `score_log_probability`.
        prior_mask: where the prior is read: at the mask of the `target`; or, with `pieces` first, at the attribute's
            mask, as in the program of the `authors` for traits.
        raw_logits: whether fill and prior are logits instead of log-probabilities.

    Raises:
        InputError: not an encoder, or without a mask piece.
    """
    mask = _require_mask(scorer)
    read = read_pieces(scorer.tokenizer, sentences["text"])
    scores: list[list[Any]] = []

    def ask() -> Iterator[Sequence[Query]]:
        for text, target, attribute in sentences.select(*SPANS).iter_rows():
            own = [overlapping(read[text], *span) for span in (target, attribute)]
            left_out, role, queries = _plan_words(scorer, read[text], own, (target, attribute), mask, pieces)
            if prior_mask == "authors" and queries:
                queries = [queries[0], _read_other_mask(queries[1], mask)]
            scores.append([None, None, *map(len, own), left_out, role])
            yield queries

    what = f"scoring words in sentences by {scorer.name}"
    compute = partial(scorer.log_probabilities, raw_logits=raw_logits)
    for number, values in answer_texts(compute, ask(), len(sentences), what):
        sums = [float(each.sum()) for each in values]
        half = len(sums) // 2  # fill and prior take as many queries
        scores[number][:2] = sum(sums[:half]), sum(sums[half:])
    return sentences.hstack(pl.DataFrame(scores, schema=SENTENCE_SCORES, orient="row"))


def _read_other_mask(prior: Query, mask: int) -> Query:
    """Return the query of a prior, of one mask for each word, that reads the target at the mask of the attribute."""
    other = next(place for place, piece in enumerate(prior.ids) if piece == mask and place not in prior.positions)
    return prior._replace(positions=(other,))


def _word(role: str) -> pl.Expr:
    start, end = (pl.col(role).list.get(place) for place in (0, 1))
    return pl.col("text").str.slice(start, end - start)


_WORD_LEFT_OUT = pl.coalesce(
    pl.when(pl.col("left_out_role") == role).then(_word(role)) for role in ("target", "attribute")
)


def _require_mask(scorer: Scorer) -> int:
    if scorer.kind != "encoder":
        raise InputError(
            f"model {scorer.name}: log-probability bias needs an encoder, and its kind is {scorer.kind}. Write `models:"
            " {<its name>: {stages: [embeddings]}}`, or leave `log_probability.categories` and `log_probability.traits`"
            " empty; decoders and encoder-decoders score pairs (`pairs.sets`)."
        )
    return require_mask(scorer.name, scorer.tokenizer, scorer.kind)


def _read_item(number: int, item: Any) -> tuple[str, list[int], list[int]]:
    """Return text and spans of an item; a span may be a list or an array of whole numbers."""
    try:
        text, target, attribute = item
        spans = [[operator.index(start), operator.index(end)] for start, end in (target, attribute)]
    except (TypeError, ValueError):
        text, spans = None, []
    if isinstance(text, str):
        (start, end), (other_start, other_end) = sorted(spans)
        if 0 <= start < end <= other_start < other_end <= len(text):
            return text, spans[0], spans[1]
    raise InputError(
        f"item {number}: {item!r} is not a sentence with two words. Write (text, (start, end), (start, end)): the"
        " characters of target and attribute, two whole inflected words that do not overlap."
    )


def _plan_words(
    scorer: Scorer, read: Pieces, own: Sequence[Sequence[int]], spans: Sequence[Span], mask: int, how: str
) -> tuple[str | None, str | None, Sequence[Query]]:
    """Return why a sentence is left out, and because of which word; else the queries for fill, then prior."""
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
