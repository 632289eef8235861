"""What a model is asked: forward passes, words hidden from it, the pieces that are read; and which scores there are."""

from __future__ import annotations

import hashlib
import operator
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.progress import progress
from prasanga.models.pieces import (
    Pieces,
    Span,
    language_piece,
    language_pieces,
    overlapping,
    read_pieces,
    unknown_pieces,
)

if TYPE_CHECKING:
    from prasanga.models.heads import ModelWithHead


class Query(NamedTuple):
    """One pass of a model, and what is read from it.

    Attributes:
        ids: the pieces that the model reads; of an encoder-decoder, that its encoder reads.
        positions: places of its output; of an encoder-decoder, of the decoder's output.
        targets: the piece whose log-probability is read at each of `positions`.
        decoder_ids: of an encoder-decoder, the pieces that its decoder reads.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    targets: tuple[int, ...]
    decoder_ids: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Pieces that run through the model."""
        return len(self.ids) + len(self.decoder_ids)


# --------------------
# Queries answered as they are made: part by part, and an answer that is known is not asked for again.


Answers = list[NDArray[np.float64]]

WAITING = 1 << 21
"""Pieces of the queries that wait together to be asked: some tens of megabytes."""
REMEMBERED = 1 << 18
"""Log-probabilities that are remembered, the newest: 130 MB where each is of a pass of its own."""


def in_parts(ask: Callable[[Sequence[Query]], Answers], queries: Iterable[Query]) -> Iterator[NDArray[np.float64]]:
    """Yield the answer to each query, in order; never are all queries, or all answers, in memory.

    Equal passes that wait together run once, as `ask` sees to. What was read from an earlier pass is remembered
    (`REMEMBERED`). A pass runs once more where something else is to be read from it than before, or where it was last
    seen that many reads ago.

    Args:
        ask: such as `Scorer.log_probabilities`.
        queries: made as they are needed.
    """
    memory = _Memory()
    waiting: list[tuple[Query, NDArray[np.float64] | None]] = []
    size = 0
    for query in queries:
        known = memory.answer(query)
        waiting.append((query, known))
        size += query.size if known is None else len(known)
        if size >= WAITING:
            yield from _filled(waiting, ask, memory)
            waiting, size = [], 0
    yield from _filled(waiting, ask, memory)


def _filled(
    waiting: Sequence[tuple[Query, NDArray[np.float64] | None]],
    ask: Callable[[Sequence[Query]], Answers],
    memory: _Memory,
) -> Iterator[NDArray[np.float64]]:
    unknown = [query for query, known in waiting if known is None]
    found = ask(unknown) if unknown else []
    for query, values in zip(unknown, found, strict=True):
        memory.keep(query, values)
    asked = iter(found)
    for _, known in waiting:
        yield next(asked) if known is None else known


def answers(
    ask: Callable[..., Answers], texts: Iterable[Iterable[Query]], n: int, what: str
) -> Iterator[tuple[int, Iterator[NDArray[np.float64]]]]:
    """Yield the answers to the queries of each text, by its number, and tell how far that is.

    Args:
        ask: `Scorer.log_probabilities`.
        texts: the queries of each, made as they are needed; a text without any is passed over.
        n: how many texts there are.
        what: is done, for the log.
    """
    owners: deque[int] = deque()

    def stream() -> Iterator[Query]:
        for number, queries in enumerate(texts):
            answered.reached = number + 1
            for query in queries:
                owners.append(number)
                yield query

    with progress(what, n, "sentences") as done:
        answered = Answered(done.advance)
        found = in_parts(partial(ask, told=answered), stream())
        owned = ((owners.popleft(), values) for values in found)  # which has made the query, and noted whose it is
        for number, of_text in groupby(owned, key=operator.itemgetter(0)):
            yield number, (values for _, values in of_text)
        answered.finish()


class Answered:
    """Counts the texts whose queries are answered, while the queries of many texts run together.

    A part (`in_parts`) has the queries of some texts. Of these, so many count as answered as of the part's passes have
    run: the longest run last, but this is told while the work goes on and not at its end.

    Attributes:
        reached: texts whose queries have been made.
    """

    def __init__(self, advance: Callable[[float], object]) -> None:
        """Begin with none; `advance` is told how many more are answered, in fractions."""
        self._advance = advance
        self.reached = 0
        self._before = 0
        self._told = 0.0

    def __call__(self, n_run: int, n_passes: int) -> None:
        """Tell how far a part is: of its `n_passes`, `n_run` have run."""
        self._tell(self._before + (self.reached - self._before) * n_run / n_passes)
        if n_run == n_passes:
            self._before = self.reached

    def finish(self) -> None:
        """Tell that all are answered, those of the last part too if nothing had to run for them."""
        self._tell(self.reached)

    def _tell(self, answered: float) -> None:
        self._advance(answered - self._told)
        self._told = answered


class _Memory:
    """What was read from passes, by a digest of the pass; the oldest passes go first."""

    def __init__(self) -> None:
        self._reads: dict[bytes, dict[tuple[int, int], float]] = {}
        self._count = 0

    def answer(self, query: Query) -> NDArray[np.float64] | None:
        """Return the query's answer if all of it is known."""
        known = self._reads.get(_digest(query), {})
        values = [known.get(read) for read in zip(query.positions, query.targets, strict=True)]
        found = [value for value in values if value is not None]
        return np.array(found, dtype=np.float64) if known and len(found) == len(values) else None

    def keep(self, query: Query, values: NDArray[np.float64]) -> None:
        """Remember the query's answer."""
        reads = self._reads.setdefault(_digest(query), {})
        before = len(reads)
        reads.update(zip(zip(query.positions, query.targets, strict=True), values.tolist(), strict=True))
        self._count += len(reads) - before
        while self._count > REMEMBERED:
            oldest = next(iter(self._reads))
            self._count -= len(self._reads.pop(oldest))


def _digest(query: Query) -> bytes:
    numbers = array("q", (len(query.ids), *query.ids, *query.decoder_ids))
    return hashlib.blake2b(numbers.tobytes(), digest_size=16).digest()


# --------------------
# Words hidden from a model: which pieces of a text are masked, and which are read at the masks.
#
# A word is always hidden whole. A piece of it left in sight would give the rest away, and in Bangla and Hindi
# unrelated words share pieces (Sahoo et al. 2024, section 6.1 and figure 3).


HOW = ("all", "left-to-right", "first")
"""How a word of several pieces is scored (`log_probability.pieces`, `pairs.pieces`)."""


def masked_queries(
    pieces: Pieces, span: Span, mask: int, *, how: str = "all", hidden: Sequence[Span] = ()
) -> list[Query]:
    """Return the queries whose log-probabilities, summed, are the score of the word at `span`.

    Args:
        pieces: of the whole text with the word in it.
        span: characters of the word.
        mask: the mask's id.
        how: `all` masks the word's pieces together, one mask each. `left-to-right` makes a query for each piece, which
            hides it and those after it and shows those before it. `first` puts one mask for the whole word and reads
            its first piece (the program of Sadhu et al.); so it does with the spans of `hidden`.
        hidden: other words that the model may not see, such as the attribute where a prior is asked for; one mask a
            piece.

    Returns:
        None at all if no piece stands for a character of the word: the tokenizer drops it.
    """
    own = overlapping(pieces, *span)
    if not own:
        return []
    others = [overlapping(pieces, *other) for other in hidden]
    if how == "first":
        return [_one_mask_a_word(pieces, own, others, mask)]
    covered = {position for word in others for position in word}
    begins = range(len(own)) if how == "left-to-right" else [0]
    read = [[own[begin]] if how == "left-to-right" else own for begin in begins]
    return [
        Query(
            ids=tuple(_replaced(pieces.ids, covered | set(own[begin:]), mask)),
            positions=tuple(positions),
            targets=tuple(pieces.ids[position] for position in positions),
        )
        for begin, positions in zip(begins, read, strict=True)
    ]


def _replaced(ids: Sequence[int], positions: Iterable[int], mask: int) -> list[int]:
    replaced = list(ids)
    for position in positions:
        replaced[position] = mask
    return replaced


def _one_mask_a_word(pieces: Pieces, own: Sequence[int], others: Sequence[Sequence[int]], mask: int) -> Query:
    words = [own, *(word for word in others if word)]
    firsts = {word[0] for word in words}
    dropped = {position for word in words for position in word[1:]} - firsts
    kept = [position for position in range(len(pieces.ids)) if position not in dropped]
    return Query(
        ids=tuple(mask if position in firsts else pieces.ids[position] for position in kept),
        positions=(kept.index(own[0]),),
        targets=(pieces.ids[own[0]],),
    )


# --------------------
# Scores of a sentence of a pair: which there are, which a kind of model can give, and what is asked for each.


MEASURES = {
    "encoder": ("p_unmodified", "p_modified", "aul", "aula", "aula_renormalized"),
    "decoder": ("causal",),
    "encoder-decoder": ("infill", "causal"),
}
"""Scores by kind of model, the usual one first."""

OF_WORDS = ("p_unmodified", "p_modified", "infill")
"""Measures that score some words of a sentence and need the pair's alignment."""

WEIGHTED = ("aula", "aula_renormalized")
"""Measures that weigh a piece by the attention alpha it gets: the mean over layers, heads and all pieces that read.

`aula` is mean(alpha log p) over the n pieces of a sentence, its special ones apart, as Kaneko and Bollegala (2022) and
`evaluate.py` of their program have it. Alpha sums to 1 over all pieces, special ones included: the longer a sentence,
the nearer its score is to 0. `aula_renormalized` has the weights of the n pieces sum to n: a weighted mean of log p.
"""

REDUCTIONS = ("mean", "sum")

SCORES = (
    *("score_first", "score_second", "n_first", "n_second", "left_out"),
    *("kind", "measure", "reduction", "pieces", "punctuation", "unknown", "model"),
)
"""Columns that `score_pairs` adds to pairs."""


def resolve_measure(kind: str, measure: str, name: str) -> str:
    """Return the score that a model of this kind gives when asked for `measure`.

    `p_unmodified` means the probability of what both sentences have, given what they have not. An encoder-decoder gives
    that by `infill`. A decoder, which never sees what comes after, has the probability of the whole sentence only,
    `causal` (Sahoo et al. 2024, section 6.1).

    Args:
        kind: `encoder`, `decoder`, `encoder-decoder`.
        measure: one of `MEASURES`.
        name: the model's, for messages.

    Raises:
        InputError: no such measure, or not of such a model.
    """
    allowed = MEASURES[kind]
    if measure == "p_unmodified" or measure in allowed:
        return measure if measure in allowed else allowed[0]
    known = list(dict.fromkeys(one for measures in MEASURES.values() for one in measures))
    if measure not in known:
        raise InputError(f"measure is {measure!r}. Allowed: {', '.join(known)}.")
    others = [other for other, measures in MEASURES.items() if measure in measures]
    raise InputError(
        f"model {name} is of the kind {kind}, and {measure} is a measure of the kind {' or '.join(others)}. Write"
        f" measure: {' or '.join(allowed)}, or use another model."
    )


# --------------------
# What a model is asked about one sentence, by measure; what is summed is the log-probability of the scored pieces.


class SentenceQueries:
    """Makes the queries of sentences in one language for one model and one measure."""

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
            measure: a measure that it can give (`resolve_measure`).
            language: bn, hi, en.
            how: how a word of several pieces is masked, `all` or `left-to-right`.
            language_codes: by language, the piece that tells an encoder-decoder which language it is.

        Raises:
            InputError: the tokenizer has no mask where one is needed, or no piece for the language.
        """
        from prasanga.models.heads import require_mask  # torch: not where scores are only put together

        self._model, self._measure, self._how = model, measure, how
        self._code = language_piece(model.name, model.tokenizer, language, language_codes or {})
        self._mask = require_mask(model) if measure in OF_WORDS else -1
        self._before = _before_text(model, self._code) if model.kind != "encoder" else ()
        self._special = _special_pieces(model)
        # T5's decoder names the gap before it fills it. Looked up once: a vocabulary is long.
        self._named = (self._mask,) if self._mask != -1 and self._mask == _sentinel(model) else ()
        self._end: tuple[int, ...] = ()
        if model.kind == "encoder-decoder":
            self._end = tuple(self.read([""])[""].ids)

    def read(self, texts: Sequence[str]) -> dict[str, Pieces]:
        """Return the pieces of each text, as this model reads the language."""
        if self._code is not None:
            self._model.tokenizer.src_lang = self._code
        return read_pieces(self._model.tokenizer, texts)

    def scored(self, pieces: Pieces, words: Sequence[Span]) -> list[int]:
        """Return the positions in `pieces` of what is scored, in order.

        They are those of `words`, or all where a measure takes all.
        """
        if self._measure in OF_WORDS:
            return [position for word in words for position in overlapping(pieces, *word)]
        ordinary = _ordinary(pieces)
        if self._measure == "causal" and self._model.kind == "decoder" and not self._before and not _opened(pieces):
            return ordinary[1:]  # nothing comes before the first piece that it could be conditioned on
        return ordinary

    def longest(self, pieces: Pieces, words: Sequence[Span]) -> int:
        """Count the pieces of the longest input, of the encoder or the decoder, that a sentence's queries have."""
        if self._model.kind == "encoder":  # a mask stands for each piece
            return len(pieces.ids)
        if self._measure == "infill":  # a mask stands for a word, and the word's last piece is only read
            own = [len(overlapping(pieces, *word)) for word in words]
            most = len(self._before) + len(self._named) + max(own, default=0) - 1
            return max(len(pieces.ids) - min(own, default=0) + 1, most)
        return max((max(len(one.ids), len(one.decoder_ids)) for one in self.queries(pieces, words)), default=0)

    def special(self, pieces: Pieces) -> bool:
        """Return whether characters of the text itself came out as a special piece, such as a mask written there.

        The piece for what the tokenizer does not know is none of these.
        """
        written = (piece for piece, special in zip(pieces.ids, pieces.special, strict=True) if not special)
        return not self._special.isdisjoint(written)

    def queries(self, pieces: Pieces, words: Sequence[Span]) -> Iterator[Query]:
        """Yield the queries of a sentence; together they read each piece of `scored` once, in its order."""
        match self._measure:
            case "p_unmodified" | "p_modified":
                for word in words:
                    yield from masked_queries(pieces, word, self._mask, how=self._how)
            case "aul" | "aula" | "aula_renormalized":
                ordinary = _ordinary(pieces)
                yield Query(tuple(pieces.ids), tuple(ordinary), tuple(pieces.ids[place] for place in ordinary))
            case "infill":
                for word in words:
                    yield self._infill(pieces, overlapping(pieces, *word))
            case "causal" if self._model.kind == "decoder":
                yield self._written(pieces, self.scored(pieces, words))
            case _:
                yield self._written_by_decoder(pieces)

    def _infill(self, pieces: Pieces, own: Sequence[int]) -> Query:
        """Return the query in which the encoder reads the sentence with a mask for a word, the decoder writes it."""
        hidden = set(own)
        ids = [piece for place, piece in enumerate(pieces.ids) if place not in hidden]
        ids.insert(own[0], self._mask)
        word = tuple(pieces.ids[place] for place in own)
        before = (*self._before, *self._named)
        places = range(len(before) - 1, len(before) - 1 + len(word))
        return Query(tuple(ids), tuple(places), word, (*before, *word[:-1]))

    def _written(self, pieces: Pieces, scored: Sequence[int]) -> Query:
        """Return the query in which a decoder writes the sentence; each piece is read one position before its own."""
        before = () if _opened(pieces) else self._before
        ids = (*before, *pieces.ids[: scored[-1] + 1]) if scored else (*before, *pieces.ids)
        targets = tuple(pieces.ids[place] for place in scored)
        # The last piece is only read, so it need not run.
        return Query(ids[:-1] or ids, tuple(len(before) + place - 1 for place in scored), targets)

    def _written_by_decoder(self, pieces: Pieces) -> Query:
        """Return the query in which the encoder reads an empty text and the decoder writes the whole sentence."""
        targets = tuple(pieces.ids[place] for place in _ordinary(pieces))
        first = len(self._before) - 1
        return Query(self._end, tuple(range(first, first + len(targets))), targets, (*self._before, *targets[:-1]))


def _ordinary(pieces: Pieces) -> list[int]:
    """Return the positions of the pieces of the text itself."""
    return [place for place, special in enumerate(pieces.special) if not special]


def _opened(pieces: Pieces) -> bool:
    """Return whether the tokenizer puts a special piece before the text by itself, as Llama's."""
    return len(pieces.special) > 0 and bool(pieces.special[0])


def _special_pieces(model: ModelWithHead) -> frozenset[int]:
    """Return the pieces that no ordinary text is made of.

    They are those with a role, and those added as special, such as sentinels.
    """
    tokenizer = model.tokenizer
    added = (piece for piece, token in tokenizer.added_tokens_decoder.items() if token.special)
    special = frozenset([*tokenizer.all_special_ids, *added]) - unknown_pieces(tokenizer)
    # GPT-2 names one piece for all roles, that of the unknown too, which it has no use for.
    roles = ("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "mask_token_id")
    return special | {piece for role in roles if (piece := getattr(tokenizer, role)) is not None}


def _sentinel(model: ModelWithHead) -> int | None:
    from prasanga.models.heads import SENTINEL

    found = model.tokenizer.get_vocab().get(SENTINEL)
    return None if found is None else int(found)


def _before_text(model: ModelWithHead, code: str | None) -> tuple[int, ...]:
    """Return what a decoder has read before it writes the first piece of a text.

    A model that writes alone has its beginning-of-text piece (BOS), or the end-of-text piece (EOS) where that is all
    it has (GPT-2). The decoder of an encoder-decoder has the piece that its configuration names, and then, if it was
    trained in several languages with a piece for each, that of the language (mBART: the language alone, or after the
    end of text); else what its tokenizer puts before a text (BART).
    """
    tokenizer, config = model.tokenizer, model.config
    if model.kind == "decoder":
        candidates = [tokenizer.bos_token_id, tokenizer.eos_token_id]
        return next(((int(one),) for one in candidates if one is not None), ())
    start = getattr(config, "decoder_start_token_id", None)
    language = None if code is None else int(tokenizer.convert_tokens_to_ids(code))
    if start is None and language is None:
        start = next((one for one in (tokenizer.pad_token_id, tokenizer.bos_token_id) if one is not None), None)
    opening = _opening(tokenizer) if language is None else [language]
    replaced = opening if language is None else set(language_pieces(tokenizer).values())
    before = tuple(int(one) for one in ([] if start is None or start in replaced else [start]) + opening)
    if not before:
        raise InputError(
            f"model {model.name}: config.json has no decoder_start_token_id, and the tokenizer no piece to begin a text"
            " with. Write the id that the model was trained with into config.json."
        )
    return before


def _opening(tokenizer: Any) -> list[int]:
    """Return the special pieces that a tokenizer puts before a text."""
    pieces = read_pieces(tokenizer, [_ANY_TEXT])[_ANY_TEXT]
    ordinary = next((place for place, special in enumerate(pieces.special) if not special), 0)
    return list(pieces.ids[:ordinary])


_ANY_TEXT = "1"
