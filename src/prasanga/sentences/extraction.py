"""From a corpus file to located stimuli: one row per occurrence, with the context that it stands in.

Lines are normalized in batches and split into sentences. For each sentence with a stimulus, the window of up to
`before` and `after` neighbouring sentences of the same document is the context. The sentences pass by as a stream, of
which only a few thousand lines are held at a time, so that a document may be as long as a corpus.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from prasanga.sentences.corpus import Documents, Errors, Line, ReadingReport, read_lines
from prasanga.sentences.identity import context_id, occurrence_id
from prasanga.sentences.matcher import HasClaims, Match, Matcher, Position, longest
from prasanga.text import count_words, normalizer, split_sentences, words

SENTENCE_SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "occurrence_id": pa.string(),
            "context_id": pa.string(),
            "stimulus": pa.string(),
            "form": pa.string(),
            "language": pa.string(),
            "text": pa.string(),
            "start": pa.int32(),
            "end": pa.int32(),
            "word_index": pa.int32(),
            "n_words": pa.int32(),
            "before": pa.int32(),
            "after": pa.int32(),
            "source": pa.string(),
            "offset": pa.int64(),
        }.items()
    ]
)
"""One row per occurrence. `text` is the context, its sentences joined with one space; `start` and `end` are positions
in it; `word_index` is the number of words before the occurrence; `before` and `after` count sentences."""

LONGEST_SENTENCE = 2_000
"""Characters. A longer one (a table, a text without punctuation) is cut between words into pieces of at most this
length, each a sentence of its own: otherwise a line of some megabytes would be written once for each of its hits."""

_LINES_AT_A_TIME = 2_000
_ROWS_PER_BATCH = 4_096
_CHARACTERS_PER_BATCH = 1 << 24


@dataclass
class ExtractionReport(ReadingReport):
    """What was read, found, and left out; the counts add up over the files they are given to.

    `shorter_matches` are those left out because a longer form of the same stimulus begins at the same place;
    `cut_sentences` are those longer than `LONGEST_SENTENCE`.
    """

    sentences: int = 0
    cut_sentences: int = 0
    matched_sentences: int = 0
    shorter_matches: int = 0
    occurrences: int = 0


@dataclass
class _Sentence:
    text: str
    offset: int
    ordinal: int
    document: int
    matches: list[Match]

    @cached_property
    def n_words(self) -> int:
        return count_words(self.text)


def extract(
    path: str | Path,
    *,
    source: str,
    lexicon: HasClaims,
    normalization: str,
    language: str,
    documents: Documents = "blank-line",
    errors: Errors = "stop",
    before: int = 3,
    after: int = 3,
    match: Position = "anywhere",
    report: ExtractionReport | None = None,
) -> Iterator[pa.RecordBatch]:
    """Find the stimuli of a lexicon in a corpus file.

    Args:
        path: the file.
        source: its name in the rows and identifiers: the path relative to the corpus root.
        lexicon: whose forms are looked for.
        normalization: name of the batch normalizer (`prasanga.text.normalizer`), applied to each line.
        language: `bn`, `hi` or `en`, written into the rows.
        documents: what ends a document (`read_lines`).
        errors: what to do with lines that are not UTF-8 (`read_lines`).
        before: greatest number of sentences before the matched one in its context.
        after: greatest number after it.
        match: where in a sentence a stimulus may stand.
        report: counts to add to, complete when the iterator is exhausted.

    Yields:
        Batches of `SENTENCE_SCHEMA`, in the order of the text; none if nothing is found.

    Raises:
        InputError: for a file that cannot be read as text.
    """
    report = report if report is not None else ExtractionReport()
    lines = read_lines(path, documents, errors, report)
    sentences = _sentences(lines, normalizer(normalization), Matcher(lexicon, match), report)
    rows: list[dict[str, Any]] = []
    characters = 0
    for window, middle in _windows(sentences, before, after):
        for row in _rows(window, middle, source, language):
            rows.append(row)
            characters += len(row["text"])
            if len(rows) >= _ROWS_PER_BATCH or characters >= _CHARACTERS_PER_BATCH:
                yield pa.RecordBatch.from_pylist(rows, SENTENCE_SCHEMA)
                rows, characters = [], 0
    if rows:
        yield pa.RecordBatch.from_pylist(rows, SENTENCE_SCHEMA)


def _sentences(
    lines: Iterator[Line],
    normalize: Callable[[Sequence[str]], list[str]],
    matcher: Matcher,
    report: ExtractionReport,
) -> Iterator[_Sentence]:
    """The sentences of the lines, normalized, with what is found in each; in order."""
    while chunk := list(islice(lines, _LINES_AT_A_TIME)):
        for line, text in zip(chunk, normalize([line.text for line in chunk]), strict=True):
            for ordinal, (start, end) in enumerate(_spans(text, report)):
                sentence = text[start:end]
                found = matcher.find(sentence)
                kept = longest(found)
                report.sentences += 1
                report.matched_sentences += bool(kept)
                report.shorter_matches += len(found) - len(kept)
                report.occurrences += len(kept)
                yield _Sentence(sentence, line.offset, ordinal, line.document, kept)


def _spans(text: str, report: ExtractionReport) -> Iterator[tuple[int, int]]:
    """The spans of the sentences, those that are too long in pieces."""
    for start, end in split_sentences(text):
        if end - start <= LONGEST_SENTENCE:
            yield start, end
            continue
        report.cut_sentences += 1
        piece = start
        for _, word_start, word_end in words(text[start:end]):
            if start + word_end - piece > LONGEST_SENTENCE and start + word_start > piece:
                yield piece, piece + len(text[piece : start + word_start].rstrip())
                piece = start + word_start
        yield piece, end


def _windows(sentences: Iterable[_Sentence], before: int, after: int) -> Iterator[tuple[list[_Sentence], int]]:
    """For each sentence with a match: the sentences of its context, and its own place among them."""
    earlier: deque[_Sentence] = deque(maxlen=before)
    waiting: deque[_Sentence] = deque()  # for the `after` sentences that follow

    def take() -> Iterator[tuple[list[_Sentence], int]]:
        sentence = waiting.popleft()
        if sentence.matches:
            left = [s for s in earlier if s.document == sentence.document]
            right = [s for s in islice(waiting, after) if s.document == sentence.document]
            yield [*left, sentence, *right], len(left)
        earlier.append(sentence)

    for sentence in sentences:
        waiting.append(sentence)
        if len(waiting) > after:
            yield from take()
    while waiting:
        yield from take()


def _rows(window: list[_Sentence], middle: int, source: str, language: str) -> Iterator[dict[str, Any]]:
    sentence = window[middle]
    text = " ".join(s.text for s in window)
    shift = sum(len(s.text) + 1 for s in window[:middle])
    context = context_id(source, sentence.offset, sentence.ordinal)
    for found in sentence.matches:
        start = shift + found.start
        yield {
            "occurrence_id": occurrence_id(context, found.stimulus, start),
            "context_id": context,
            "stimulus": found.stimulus,
            "form": found.form,
            "language": language,
            "text": text,
            "start": start,
            "end": shift + found.end,
            "word_index": sum(s.n_words for s in window[:middle]) + count_words(sentence.text[: found.start]),
            "n_words": sum(s.n_words for s in window),
            "before": middle,
            "after": len(window) - middle - 1,
            "source": source,
            "offset": sentence.offset,
        }
