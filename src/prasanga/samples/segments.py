"""Cut segments out of contexts around the target, write tables of those drawn, and treat filled templates alike."""

from __future__ import annotations

import hashlib
import tempfile
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from prasanga.base.io import explaining_full_disk, read_frame, read_where, take_rows
from prasanga.base.logs import progress
from prasanga.base.seeds import occurrence_id, text_id
from prasanga.lexicon.model import Lexicon, categories_of, stimuli_of
from prasanga.lexicon.templates import FilledTemplate, Templates, filled_templates
from prasanga.samples.drawing import Draw
from prasanga.samples.pool import LONGEST, SegmentLength, Window
from prasanga.schema import TABLES
from prasanga.text.words import WORD, count_words

# --------------------
# Cutting a segment of a number of words out of a context, around the target.
#
# Words are those of `prasanga.text.words`, in which a corpus is counted. A segment runs from its first word to its last
# and includes the punctuation attached to them (no space between), so that a sentence keeps its danda. Marks that join
# the last word to the next one, as a hyphen does, belong to neither and are left out.


class Segment(NamedTuple):
    """A part of a context: `text[start:end]` is the target, `n_words` the number of words in `text`."""

    text: str
    start: int
    end: int
    n_words: int


class Context:
    """A context divided into words once, for segments of any length.

    Args:
        text: the context, normalized.
        start: first character of the target.
        end: the character after its last.

    Raises:
        ValueError: the span is outside the text, or there is no word in it.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        if not 0 <= start < end <= len(text):
            raise ValueError(f"the span {start} to {end} does not lie in a text of {len(text)} characters")
        spans = [match.span() for match in WORD.finditer(text)]
        # The target's words: those that end after its start and begin before its end.
        first = bisect_right(spans, start, key=itemgetter(1))
        stop = bisect_left(spans, end, key=itemgetter(0))
        if first >= stop:
            raise ValueError(
                f"there is no word between characters {start} and {end} of a text of {len(text)} characters"
            )
        self._text, self._start, self._end = text, start, end
        self._spans = spans
        self._first, self._stop = first, stop

    def segment(self, length: SegmentLength, *, window: Window = "exact", longest: int = LONGEST) -> Segment | None:
        """Return the segment for one entry of `samples.lengths`, or None if the context does not allow it.

        Args:
            length: from `parse_length`. For one such as `>75`, a segment is a whole context of more words.
            window: `exact` for exactly so many words (`cut`), `paper` for the words of the Bangla paper's program
                (`paper`), which for a length such as `>75` takes every context whole.
            longest: the most words for a length such as `>75`: of a longer context, this many around the target.
        """
        if not length.over:
            return self.exact(length.words) if window == "exact" else self.paper(length.words)
        if window == "exact" and len(self._spans) <= length.words:  # the paper's program takes all texts, whole
            return None
        return self._whole() if len(self._spans) <= longest else self.exact(longest)

    def exact(self, length: int) -> Segment | None:
        """Return a segment of exactly `length` words (`cut`), or None if the context is shorter."""
        of_target = self._stop - self._first
        if len(self._spans) < length or of_target > length:
            return None
        first = min(max(self._first - (length - of_target) // 2, 0), len(self._spans) - length)
        return self._between(first, first + length)

    def paper(self, length: int) -> Segment | None:
        """Return the words that the Bangla paper's program takes, from a context of any length.

        With h = `length` // 2: h words before the target and h from its first word on, so for an odd length a segment
        has a word less than asked for. If fewer than h words precede the target, or at most h remain from it on, it is
        the first or the last `length` words of the context. A shorter context is used whole.

        The program only knows targets of one word. One of several words that would reach beyond the segment moves its
        end and, as far as `length` demands, its start; None if the target alone has more words.
        """
        n_words, half = len(self._spans), length // 2
        if self._stop - self._first > length:
            return None
        if n_words < length:
            return self._whole()
        if self._first < half:
            first, stop = 0, length
        elif n_words - self._first <= half:
            first, stop = n_words - length, n_words
        else:
            first, stop = self._first - half, self._first + half
        if stop < self._stop:
            first, stop = max(first, self._stop - length), self._stop
        return self._between(first, stop)

    def _whole(self) -> Segment:
        return Segment(self._text, self._start, self._end, len(self._spans))

    def _between(self, first: int, stop: int) -> Segment:
        """Return the segment of the words from `first` up to `stop`, which include the target."""
        text, spans = self._text, self._spans
        left, right = spans[first][0], spans[stop - 1][1]
        before = text[spans[first - 1][1] if first else 0 : left]
        after = text[right : spans[stop][0] if stop < len(spans) else len(text)]
        attached = (before + "|").split()[-1][:-1], ("|" + after).split()[0][1:]  # up to the nearest white space
        if not first or attached[0] != before:  # else it joins two words
            left -= len(attached[0])
        if stop == len(spans) or attached[1] != after:
            right += len(attached[1])
        # The target without white space at the ends of the span, which may be outside the segment.
        start, end = max(self._start, spans[self._first][0]), min(self._end, spans[self._stop - 1][1])
        return Segment(text[left:right], start - left, end - left, stop - first)


def cut(text: str, start: int, end: int, length: int) -> Segment | None:
    """Cut exactly `length` words around the target `text[start:end]`.

    With k words in the target, (length - k) // 2 words precede it and the rest follow; at an edge of the text the
    window is shifted.

    Args:
        text: the context, normalized.
        start: first character of the target.
        end: the character after its last.
        length: number of words, the target's included.

    Returns:
        The segment, or None if the text has fewer words or the target more.

    Raises:
        ValueError: the span is outside the text, or there is no word in it.
    """
    return Context(text, start, end).exact(length)


# --------------------
# The second pass: the texts of the drawn contexts, cut to every length.
#
# Texts are read in the order of the files, segments are written in the order of stimulus and priority. In between they
# are in a temporary file next to the output, so memory holds only a few thousand of them.


SEGMENT_SCHEMA = TABLES["segments"].arrow(nullable=())
"""One row per segment, sorted by stimulus and priority. The same text and span give the same `segment_id`."""

_RANKED_SCHEMA = SEGMENT_SCHEMA.append(pa.field("rank", pa.int32(), nullable=False))
_COLUMNS = ["occurrence_id", "context_id", "text", "start", "end"]
_BYTES_WAITING = 1 << 25
_COUNTED = 256  # segments that are counted together
_BYTES_PER_ROW = 1_024  # about the memory of a waiting segment besides its text


def segment_id(text: str, start: int, end: int) -> str:
    """Return the identifier of a segment: digest of text and span, 32 hexadecimal digits."""
    return hashlib.blake2b(f"{start}\0{end}\0{text}".encode(), digest_size=16).hexdigest()


class Segments:
    """The segments of a draw, by length; from `cut_segments`."""

    def __init__(self, stimuli: Collection[str], reader: pa.RecordBatchFileReader, places: _Places) -> None:
        self._stimuli = sorted(stimuli)
        self._reader = reader
        self._places = places

    def batches(self, length: SegmentLength, stimuli: Collection[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the segments of one length in `SEGMENT_SCHEMA`, one batch per stimulus; of some stimuli or all.

        Sorted by stimulus and priority: row i of a stimulus is the same context for every model and, with a shared
        pool, for every fixed length.
        """
        for stimulus in self._stimuli:
            places = self._places.get((length, stimulus))
            if places and (stimuli is None or stimulus in stimuli):
                table = pa.Table.from_batches([self._reader.get_batch(place) for place in places])
                (batch,) = table.sort_by("rank").select(SEGMENT_SCHEMA.names).combine_chunks().to_batches()
                yield batch.cast(SEGMENT_SCHEMA)


@contextmanager
def cut_segments(drawn: Draw, scratch: str | Path | None = None) -> Iterator[Segments]:
    """Cut the contexts of a draw to every length, and yield the segments.

    Args:
        drawn: from `draw`; its sentence tables are read again, as far as they have drawn rows.
        scratch: folder for the segments while they wait to be written (emptied even if the process is killed); None for
            the system's.

    Raises:
        InputError: a sentence table cannot be read.
        ValueError: a context does not allow a length that it was drawn for.
    """
    scratch = Path(scratch or tempfile.gettempdir())
    with ExitStack() as stack:
        with explaining_full_disk(scratch):
            file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115
            stack.callback(_close, file)
            places = _spool(drawn, file)
            file.flush()
        yield Segments(drawn.stimuli, pa.ipc.open_file(pa.PythonFile(file, "r")), places)


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # the failure to write was reported before
        file.close()


_Places = dict[tuple[SegmentLength, str], list[int]]
"""The numbers of the batches in the temporary file with a stimulus's segments of a length."""


def _spool(drawn: Draw, file: IO[bytes]) -> _Places:
    places: defaultdict[tuple[SegmentLength, str], list[int]] = defaultdict(list)
    waiting: defaultdict[tuple[SegmentLength, str], list[tuple[Any, ...]]] = defaultdict(list)
    n_batches = size = 0
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_file(pa.PythonFile(file, "w"), _RANKED_SCHEMA, options=options) as writer:

        def write() -> None:
            nonlocal n_batches, size
            for (length, stimulus), rows in waiting.items():
                writer.write_batch(_batch(rows))
                places[length, stimulus].append(n_batches)
                n_batches += 1
            waiting.clear()
            size = 0

        total = sum(drawn.pools[drawn.requirements[length]].height for length in drawn.lengths)
        with progress("cutting segments", total, "segments") as done:
            for length, row in done.over(_segments(drawn), every=_COUNTED):
                waiting[length, row[3]].append(row)
                size += 2 * len(row[5]) + _BYTES_PER_ROW
                if size >= _BYTES_WAITING:
                    write()
        write()
    return dict(places)


def _batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _RANKED_SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_RANKED_SCHEMA)


def _segments(drawn: Draw) -> Iterator[tuple[SegmentLength, tuple[Any, ...]]]:
    """Yield every segment with its length, as a row of `_RANKED_SCHEMA`; in the order of the files."""
    lengths = [
        [length for length in drawn.lengths if drawn.requirements[length] == requirement] for requirement in drawn.pools
    ]
    for number, path in enumerate(drawn.files):
        wanted = pl.concat(
            pool.filter(pl.col("file") == number).select("row", "stimulus", "rank", pool=pl.lit(i, pl.Int32))
            for i, pool in enumerate(drawn.pools.values())
        ).sort("row", "pool")
        uses = wanted.select("stimulus", "rank", "pool").iter_rows()
        rows, n_uses = np.unique(wanted["row"].to_numpy().astype(np.int64), return_counts=True)
        read = (row for part in take_rows(path, rows, _COLUMNS) for row in zip(*part.to_pydict().values(), strict=True))
        for (occurrence, context, text, start, end), n in zip(read, n_uses, strict=True):
            divided = Context(text, start, end)
            for _ in range(n):
                stimulus, rank, pool = next(uses)
                for length in lengths[pool]:
                    part = divided.segment(length, window=drawn.window, longest=drawn.longest)
                    assert part is not None, f"n_words of occurrence {occurrence} does not fit its text"
                    name = segment_id(part.text, part.start, part.end)
                    yield length, (name, occurrence, context, drawn.stimuli[stimulus], length.label, *part, rank)


# --------------------
# Filled templates as segments: sentences from no corpus, embedded by the same code.


FILLED = "templates"
"""Name of the file of filled templates, and their `segment_length`."""

TEMPLATE_SCHEMA = TABLES["template_sentences"].arrow(nullable=())
"""One row per stimulus and template of its class, sorted by stimulus. `template` is its id in the class."""


def fill_templates(lexicon: Lexicon, categories: Iterable[str], templates: Templates) -> pa.Table:
    """Return the sentences of all words of some categories, each word once whatever its number of categories.

    Args:
        lexicon: the words.
        categories: names of its categories (`seat.categories`).
        templates: from `prasanga.lexicon.templates.load_templates`.

    Returns:
        A table in `TEMPLATE_SCHEMA`, which includes the columns of a segment.

    Raises:
        InputError: the lexicon lacks a category; as `filled_templates`.
    """
    stimuli = stimuli_of(categories_of(lexicon), categories, key="seat.categories")
    rows = [_row(filled) for filled in filled_templates(lexicon, sorted(stimuli), templates)]
    return pa.Table.from_pylist(rows, schema=TEMPLATE_SCHEMA)


def _row(filled: FilledTemplate) -> dict[str, Any]:
    context = text_id(f"{filled.word_class}\0{filled.template}".encode())
    return {
        "segment_id": segment_id(filled.text, filled.start, filled.end),
        "occurrence_id": occurrence_id(context, filled.stimulus, filled.start),
        "context_id": context,
        "segment_length": FILLED,
        "n_words": count_words(filled.text),
        **filled._asdict(),
    }


# --------------------
# The sentences behind the numbers: the first measured ones of each word, for readers.


SENTENCES_SHOWN = 3
"""The most contexts of a word at a length that the page shows."""

FILLED_SHOWN = 6
"""The most filled templates of a word that the page shows."""

SENTENCES_SCHEMA = TABLES["measured_sentences"].polars
"""Columns of the table of measured sentences, one row per sentence of a word.

`category` is empty in CEAT and SEAT, where all categories share a word's sentences; for a trait it is the structure.
`n_measured` counts all measured sentences of the word, of which the first by `rank` are listed. `start` and `end` are
null if the word does not occur in the sentence as listed."""


def choose_sentences(
    measured: Iterable[tuple[Iterable[str | Path], Mapping[str, Collection[str]]]],
    *,
    sources: Iterable[str | Path],
    scored: Iterable[str | Path],
    terms: Iterable[str | Path],
) -> pl.DataFrame:
    """Return the first measured sentences of each word, in `SENTENCES_SCHEMA`.

    Segments are sorted by priority, so the first are the same whatever the order of the corpus.

    Args:
        measured: tables of segments of a length, or of filled templates, with the occurrences that all models measured.
        sources: tables of sentences, with the file of each occurrence.
        scored: tables of the sentences of log-probability bias, one per model.
        terms: tables of the terms of sentence structures, one per model.
    """
    tables = [pl.DataFrame(schema=dict(SENTENCES_SCHEMA))]
    for paths, occurrences in measured:
        ids = pl.Series(list(set().union(*occurrences.values())), dtype=pl.String).implode()
        for path in paths:
            table = read_frame(path, ["stimulus", "segment_length", "text", "start", "end", "occurrence_id"])
            table = table.filter(pl.col("occurrence_id").is_in(ids))
            filled = Path(path).stem == FILLED
            tables.append(_take_first(table, "seat" if filled else "ceat", FILLED_SHOWN if filled else SENTENCES_SHOWN))
    for method, paths, names in (
        ("log_probability", scored, {"attribute": "stimulus"}),
        ("structures", terms, {"trait": "stimulus", "structure": "category", "group": "template"}),
    ):
        # all models have the same sentences; another model may have scored one that this model left out
        has_score = pl.col("left_out").is_null(), pl.col("text").is_not_null()  # a text may not be shown
        found = [read_frame(path).filter(*has_score).rename(names) for path in paths]
        if found:
            once = pl.concat(found).unique(["category", "stimulus", "template"], keep="first", maintain_order=True)
            tables.append(_take_first(once, method, FILLED_SHOWN))
    return _add_sources(pl.concat(tables), sources)


def _take_first(table: pl.DataFrame, method: str, most: int) -> pl.DataFrame:
    """Return the first rows of each word, in `SENTENCES_SCHEMA`; a word without a known place is searched for."""
    if "start" not in table.columns:
        places = [(text.find(word), len(word)) for text, word in table.select("text", "stimulus").iter_rows()]
        starts = pl.Series([start if start >= 0 else None for start, _ in places], dtype=pl.Int32)
        table = table.with_columns(start=starts, end=starts + pl.Series([n for _, n in places], dtype=pl.Int32))
    defaults = dict.fromkeys(SENTENCES_SCHEMA.keys() - table.columns, pl.lit(""))
    word = ("category", "stimulus")
    counts = {"rank": pl.int_range(1, pl.len() + 1).over(word), "n_measured": pl.len().over(word)}
    table = table.with_columns(**{**defaults, "method": pl.lit(method)}).with_columns(**counts)
    return table.filter(pl.col("rank") <= most).select(pl.col(name).cast(of) for name, of in SENTENCES_SCHEMA.items())


def _add_sources(chosen: pl.DataFrame, sources: Iterable[str | Path]) -> pl.DataFrame:
    """Return the sentences with their corpus file; "" for templates."""
    ids, columns = set(chosen.filter(method="ceat")["occurrence_id"]), ["occurrence_id", "source"]
    files: dict[str, str] = {}
    for path in sources:
        files |= dict(pl.DataFrame(read_where(path, columns, columns[0], ids)).iter_rows())
    return chosen.with_columns(source=pl.col("occurrence_id").replace_strict(files, default="", return_dtype=pl.String))
