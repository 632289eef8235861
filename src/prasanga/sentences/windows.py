"""Make contexts: each sentence with a hit takes its neighboring sentences along.

The sentences of a block are in one row of bytes, one space after each, so a context is a stretch of that row and is
copied once, into the table. Only as many sentences as a context can reach are carried over from block to block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from prasanga.base.seeds import context_id, occurrence_id, text_id
from prasanga.schema import TABLES
from prasanga.sentences.corpus import ReadingReport
from prasanga.sentences.matcher import Hits, Matcher, Sentences, gather
from prasanga.text.lines import Bytes, Positions

SENTENCE_SCHEMA = TABLES["sentences"].arrow(nullable=())
"""One row per occurrence. `text` is the context, its sentences joined with one space, `text_id` its digest; `start` and
`end` are positions in it; `word_index` is the number of words before the occurrence; `before` and `after` count
sentences."""

REPEATED = ("stimulus", "form", "language", "source")
"""The table's columns with repeated values."""

LONGEST_SENTENCE: Final = 2_000
"""Characters. A longer sentence (a table, a text without punctuation) is cut between words into pieces, each a sentence
of its own: otherwise a line of some megabytes would be written once for each of its hits."""

ANY: Final = -1
NONE: Final = -2

_BYTES_PER_BATCH: Final = 1 << 24


class Passage(NamedTuple):
    """Consecutive sentences: their row, their hits, and their origins.

    Attributes:
        sentences: the row.
        hits: found forms, in order; `sentence` is a place in the row.
        document: number of each sentence's document.
        offset: of the line or record of each sentence.
        ordinal: its number in that line or record.
        only: the number of the only stimulus to look for in it, once, or `ANY` or `NONE`.
        at: the character of the sentence at which that stimulus begins; -1 if unknown.
        owned: whether contexts are made for it, or it only serves other sentences' contexts.
    """

    sentences: Sentences
    hits: Hits
    document: Positions
    offset: Positions
    ordinal: Positions
    only: Positions
    at: Positions
    owned: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.document)

    def since(self, first: int) -> Passage:
        """Return the passage from one of its sentences on; it shares the memory of the whole."""
        row = self.sentences
        begin = int(row.starts[first]) if first < len(self) else len(row.data)
        kept = int(np.searchsorted(self.hits.sentence, first))
        hits = Hits(*(column[kept:] for column in self.hits))
        return Passage(
            sentences=Sentences(
                row.data[begin:], row.starts[first:] - begin, row.ends[first:] - begin, *(c[first:] for c in row[3:])
            ),
            hits=hits._replace(
                sentence=hits.sentence - first, start_byte=hits.start_byte - begin, end_byte=hits.end_byte - begin
            ),
            **{name: getattr(self, name)[first:] for name in self._fields[2:]},
        )

    def joined(self, other: Passage) -> Passage:
        """Join this passage and the following one."""
        number, size = len(self), len(self.sentences.data)
        if number == 0:
            return other
        return Passage(
            sentences=_joined(self.sentences, other.sentences, starts=size, ends=size),
            hits=_joined(self.hits, other.hits, sentence=number, start_byte=size, end_byte=size),
            **{name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in self._fields[2:]},
        )


_Columns = TypeVar("_Columns", Sentences, Hits)


def _joined(one: _Columns, other: _Columns, **moved: int) -> _Columns:
    """Join the columns of both; numbers in some columns of `other` are shifted by `moved`."""
    more = other._replace(**{name: getattr(other, name) + by for name, by in moved.items()})
    return one._replace(**{name: np.concatenate([getattr(one, name), getattr(more, name)]) for name in one._fields})


@dataclass
class ExtractionReport(ReadingReport):
    """Counts of everything read, found and left out; they add up over files and parts.

    `shorter_matches` are left out because a longer form of the same stimulus begins at the same place; `cut_sentences`
    are longer than `LONGEST_SENTENCE`; `unknown_stimuli` are lines of an extracted table whose stimulus the lexicon
    lacks.
    """

    sentences: int = 0
    cut_sentences: int = 0
    matched_sentences: int = 0
    shorter_matches: int = 0
    occurrences: int = 0
    unknown_stimuli: int = 0


class Windows:
    """Makes contexts of up to `before` and `after` neighboring sentences of the same document, block by block.

    They are rows of `SENTENCE_SCHEMA`, and are counted in the report when they are taken.
    """

    def __init__(
        self, matcher: Matcher, report: ExtractionReport, *, before: int, after: int, source: str, language: str
    ) -> None:
        self._matcher, self._report = matcher, report
        self._before, self._after = before, after
        self._source, self._language = source, language
        self._passage: Passage | None = None
        self._next = 0  # the first sentence without a context so far

    def add(self, passage: Passage) -> Iterator[pa.RecordBatch]:
        """Add the following passage; yield the contexts that it completes."""
        held = passage if self._passage is None else self._passage.joined(passage)
        first, last = self._next, max(len(held) - self._after, self._next)
        kept = max(last - self._before, 0)
        self._passage, self._next = held.since(kept), last - kept
        return self._contexts(held, first, last)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Yield the remaining contexts, at the end of the text."""
        held, self._passage = self._passage, None
        return self._contexts(held, self._next, len(held)) if held is not None else iter(())

    def _contexts(self, passage: Passage, first: int, last: int) -> Iterator[pa.RecordBatch]:
        """Yield the contexts of sentences `first` to `last`, in parts of a few megabytes."""
        hit, stimulus = self._occurrences(passage, first, last)
        sentence = passage.hits.sentence[hit]
        self._report.matched_sentences += int(np.count_nonzero(np.diff(sentence, prepend=-1)))
        begin, end = (reached[sentence] for reached in self._reach(passage))
        size = np.cumsum(passage.sentences.ends[end] - passage.sentences.starts[begin])
        most = int(size[-1]) if len(size) else 0
        cuts = np.unique(np.searchsorted(size, np.arange(_BYTES_PER_BATCH, most, _BYTES_PER_BATCH))).tolist()
        for a, b in pairwise([0, *(cut for cut in cuts if cut), len(sentence)]):
            if a < b:
                self._report.occurrences += b - a
                yield self._batch(passage, hit[a:b], stimulus[a:b], sentence[a:b], begin[a:b], end[a:b])

    def _reach(self, passage: Passage) -> tuple[Positions, Positions]:
        """Return the first and the last sentence of the context of each sentence.

        Text that is far too long for a sentence is no neighbor, because it would be written once for each hit nearby.
        """
        alone = passage.sentences.characters > 2 * LONGEST_SENTENCE
        border = np.zeros(len(passage), dtype=np.bool_)
        border[1:] = (passage.document[1:] != passage.document[:-1]) | alone[1:] | alone[:-1]
        stretch = np.cumsum(border)
        number = np.arange(len(passage))
        first = np.searchsorted(stretch, stretch, side="left")
        last = np.searchsorted(stretch, stretch, side="right") - 1
        return np.maximum(number - self._before, first), np.minimum(number + self._after, last)

    def _occurrences(self, passage: Passage, first: int, last: int) -> tuple[Positions, Positions]:
        """Return located stimuli of these sentences, by place and name; of several at one start, only the longest.

        Returns:
            The place of each hit in `Hits`, and the number of its stimulus.
        """
        hits = passage.hits
        a, b = np.searchsorted(hits.sentence, [first, last])
        chosen = np.arange(a, b)[passage.owned[hits.sentence[a:b]]]
        form = hits.form[chosen]
        number = self._matcher.first[form + 1] - self._matcher.first[form]
        hit = np.repeat(chosen, number)
        within = np.arange(len(hit)) - np.repeat(np.cumsum(number) - number, number)
        stimulus = self._matcher.of_form[np.repeat(self._matcher.first[form], number) + within]
        only = passage.only[hits.sentence[hit]]
        wanted = (only == ANY) | (only == stimulus)
        hit, stimulus = hit[wanted], stimulus[wanted]
        order = np.lexsort((hits.end[hit], stimulus, hits.start[hit], hits.sentence[hit]))
        hit, stimulus = hit[order], stimulus[order]
        # Where all three stay the same, a longer one of the same stimulus follows.
        place = np.stack([hits.sentence[hit], hits.start[hit], stimulus])
        is_longest = (np.diff(place, append=-1) != 0).any(axis=0)
        self._report.shorter_matches += int(np.count_nonzero(~is_longest))
        hit, stimulus = hit[is_longest], stimulus[is_longest]
        order = np.lexsort((stimulus, hits.end[hit], hits.start[hit], hits.sentence[hit]))
        hit, stimulus = hit[order], stimulus[order]
        sentence = hits.sentence[hit]
        if (passage.only[sentence] != ANY).any():
            chosen = _once(sentence, hits.start[hit] == passage.at[sentence], passage.only[sentence] != ANY)
            hit, stimulus = hit[chosen], stimulus[chosen]
        return hit, stimulus

    def _batch(
        self,
        passage: Passage,
        hit: Positions,
        stimulus: Positions,
        sentence: Positions,
        begin: Positions,
        end: Positions,
    ) -> pa.RecordBatch:
        row, hits = passage.sentences, passage.hits
        before_byte, after_byte = row.starts[begin], row.ends[end]
        characters = np.cumsum(np.concatenate([[0], row.characters + 1]))
        words = np.cumsum(np.concatenate([[0], row.words]))
        shift = characters[sentence] - characters[begin]
        start = shift + hits.start[hit]
        # A context's values are made once for all its occurrences, which are adjacent.
        is_new = np.diff(sentence, prepend=-1) != 0
        of_row = np.cumsum(is_new) - 1
        first_of = np.flatnonzero(is_new)
        view = row.data.data
        spans = zip(before_byte[first_of].tolist(), after_byte[first_of].tolist(), strict=True)
        text_ids = [text_id(view[a:b]) for a, b in spans]
        middle = sentence[first_of]
        places = zip(passage.offset[middle].tolist(), passage.ordinal[middle].tolist(), strict=True)
        contexts = [context_id(self._source, offset, ordinal) for offset, ordinal in places]
        context_of = of_row.tolist()
        stimuli = [self._matcher.stimuli[number] for number in stimulus.tolist()]
        occurrences = [
            occurrence_id(contexts[context], stimulus, at)
            for context, stimulus, at in zip(context_of, stimuli, start.tolist(), strict=True)
        ]
        n = len(sentence)
        columns = [
            pa.array(occurrences, pa.string()),
            pa.array(contexts, pa.string()).take(pa.array(of_row)),
            pa.array(text_ids, pa.string()).take(pa.array(of_row)),
            pa.array(stimuli, pa.string()),
            _strings(row.data, hits.start_byte[hit], hits.end_byte[hit]),
            pa.repeat(self._language, n),
            _strings(row.data, before_byte, after_byte),
            _int32(start),
            _int32(shift + hits.end[hit]),
            _int32(words[sentence] - words[begin] + hits.word[hit]),
            _int32(words[end + 1] - words[begin]),
            _int32(sentence - begin),
            _int32(end - sentence),
            pa.repeat(self._source, n),
            pa.array(passage.offset[sentence], pa.int64()),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=SENTENCE_SCHEMA)


def _once(sentence: Positions, is_meant: NDArray[np.bool_], once: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark one hit, the given or else the first one, in a sentence with an only stimulus; mark all hits elsewhere."""
    order = np.lexsort((np.arange(len(sentence)), ~is_meant, sentence))
    best = np.zeros(len(sentence), dtype=np.bool_)
    best[order[np.diff(sentence[order], prepend=-1) != 0]] = True
    return best | ~once


def _int32(values: Positions) -> pa.Array:
    return pa.array(values.astype(np.int32), pa.int32())


def _strings(data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    """Return the stretches `data[starts[i]:ends[i]]` as strings."""
    offsets = np.zeros(len(starts) + 1, dtype=np.int32)
    np.cumsum(ends - starts, out=offsets[1:])
    copied = np.empty(int(offsets[-1]), dtype=np.uint8)
    gather(data, starts, ends, copied, offsets[:-1].astype(np.int64))
    return pa.StringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(copied))
