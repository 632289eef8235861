"""From a corpus file to located stimuli: one row per occurrence, with the context that it stands in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pyarrow as pa

from prasanga.base.errors import InputError
from prasanga.base.progress import BYTES, progress
from prasanga.sentences.corpus import INFLATION, Documents, Errors
from prasanga.sentences.files import Shard
from prasanga.sentences.matcher import HasClaims, Matcher, Position
from prasanga.sentences.passages import BLOCK, ExtractionReport, Reader, record_blocks, require_text, text_blocks
from prasanga.sentences.records import Record, read_records
from prasanga.sentences.windows import Contexts, Windows
from prasanga.text import Normalizer, normalizer

# A block of lines (`blocks`) becomes a passage of sentences, normalized and searched (`passages`); from passage to
# passage the contexts are made (`windows`). Memory holds a block or two, however large the corpus.


logger = logging.getLogger(__name__)


def extract_shard(
    shard: Shard,
    *,
    lexicon: HasClaims,
    normalization: str | Normalizer,
    language: str,
    errors: Errors = "stop",
    before: int = 3,
    after: int = 3,
    match: Position = "anywhere",
    report: ExtractionReport | None = None,
) -> Iterator[pa.RecordBatch]:
    """Find the stimuli of a lexicon in a shard of a corpus (`find_shards`), whatever its format.

    The arguments are those of `extract`; so are the rows and the errors.
    """
    report = report if report is not None else ExtractionReport()
    part = f" from byte {shard.start:,} on" if shard.start else ""
    with progress(f"searching {shard.source}{part}", _size_of(shard), BYTES) as searched:
        if shard.format == "text":
            yield from extract(
                shard.path,
                source=shard.source,
                lexicon=lexicon,
                normalization=normalization,
                language=language,
                documents=cast(Documents, shard.documents),
                errors=errors,
                before=before,
                after=after,
                match=match,
                start=shard.start,
                end=shard.end,
                report=report,
                read=searched.advance,
                inflation=shard.inflation,
            )
            return
        records = read_records(
            shard.path,
            shard.format,
            field=shard.field,
            columns=shard.columns,
            errors=errors,
            counts=report,
            read=searched.advance,
            inflation=shard.inflation,
        )
        with unchanged(shard.path):
            yield from extract_records(
                shard.path,
                records,
                source=shard.source,
                lexicon=lexicon,
                normalization=normalization,
                language=language,
                before=before,
                after=after,
                match=match,
                report=report,
            )


def _size_of(shard: Shard) -> int | None:
    """Return a shard's bytes on the disk; None where there is no such file, which reading it will tell."""
    try:
        end = shard.end if shard.end is not None else Path(shard.path).stat().st_size
    except OSError:
        return None
    return end - shard.start


def extract(
    path: str | Path,
    *,
    source: str,
    lexicon: HasClaims,
    normalization: str | Normalizer,
    language: str,
    documents: Documents = "blank-line",
    errors: Errors = "stop",
    before: int = 3,
    after: int = 3,
    match: Position = "anywhere",
    start: int = 0,
    end: int | None = None,
    report: ExtractionReport | None = None,
    read: Callable[[int], object] | None = None,
    inflation: int = INFLATION,
) -> Iterator[pa.RecordBatch]:
    """Find the stimuli of a lexicon in a file of plain text.

    Args:
        path: the file, plain or compressed.
        source: its name in the rows and identifiers: the path relative to the corpus root.
        lexicon: whose forms are looked for.
        normalization: a normalizer or its name (`prasanga.text.normalizer`), applied to each line.
        language: `bn`, `hi` or `en`, written into the rows.
        documents: what ends a document: a blank line, every line, or the end of the file alone.
        errors: what to do with a line that is not UTF-8: stop, or leave it out and count it. A line left out ends its
            document, because what stands around it did not stand together.
        before: greatest number of sentences before the matched one in its context.
        after: greatest number after it.
        match: where in a sentence a stimulus may stand.
        start: first byte of the part of the file whose lines are searched: those that begin in it.
        end: the byte after its last, None for the end of the file. Parts that follow each other give together the rows
            of the whole.
        report: counts to add to, complete when the iterator is exhausted.
        read: told, whenever bytes have been read from the disk, how many.
        inflation: how many times its size on the disk a compressed file may come to (`open_decompressed`).

    Yields:
        Batches of `SENTENCE_SCHEMA`, in the order of the text.

    Raises:
        InputError: for a file that cannot be read as text, or that changes while it is read.
    """
    path = Path(path)
    report = report if report is not None else ExtractionReport()
    reader = Reader(path, _normalizer(normalization), Matcher(lexicon, match), errors, report)
    windows = Windows(reader.stimuli, before=before, after=after, source=source, language=language)
    with unchanged(path):
        if start > 0:
            for passage in reader.passages_before(documents, start, before):
                yield from _counted(windows.add(passage), report)
        for block in text_blocks(path, documents, start, end, size=BLOCK, read=read, inflation=inflation):
            yield from _counted(windows.add(reader.passage(block)), report)
        if end is not None:
            for passage in reader.passages_after(documents, end, after):
                yield from _counted(windows.add(passage), report)
        yield from _counted(windows.finish(), report)
    if report.skipped_lines:
        logger.warning(
            "%s: %d line(s) left out that are not UTF-8 (corpus.errors: skip-line).", path, report.skipped_lines
        )
    if start == 0 and end is None:
        require_text(path, report.sentences > 0, report.bytes, report.lines, report.skipped_lines)


def extract_records(
    path: str | Path,
    records: Iterable[Record],
    *,
    source: str,
    lexicon: HasClaims,
    normalization: str | Normalizer,
    language: str,
    before: int = 3,
    after: int = 3,
    match: Position = "anywhere",
    report: ExtractionReport | None = None,
) -> Iterator[pa.RecordBatch]:
    """Find the stimuli of a lexicon in records (JSON lines, a column of a table), each of them a document.

    A record that says for which stimulus it was found is one context as it is, and holds one occurrence.

    Args:
        path: their file, for messages.
        records: the records, each with `text`, `number` and `stimulus` (the only one to look for in it, or None).
        source: see `extract`, as for all that follow.
        lexicon: see there.
        normalization: see there.
        language: see there.
        before: see there.
        after: see there.
        match: see there.
        report: counts of sentences and occurrences to add to; what was read is counted by who reads the records.

    Yields:
        Batches of `SENTENCE_SCHEMA`, in the order of the records; `offset` is the number of the record.

    Raises:
        InputError: if the records say for which stimuli they were found, and none of these is in the lexicon.
    """
    report = report if report is not None else ExtractionReport()
    reader = Reader(Path(path), _normalizer(normalization), Matcher(lexicon, match), "stop", report)
    windows = Windows(reader.stimuli, before=before, after=after, source=source, language=language)
    for block in record_blocks(records):
        yield from _counted(windows.add(reader.passage(block)), report)
    yield from _counted(windows.finish(), report)
    if reader.unknown:
        _tell_of_unknown(Path(path), reader.unknown, report)


def _tell_of_unknown(path: Path, words: list[str], report: ExtractionReport) -> None:
    shown = ", ".join(repr(word[:40]) for word in words[:5])
    if report.unknown_stimuli == report.sentences:
        raise InputError(
            f"{path}: none of its {report.sentences} rows has a stimulus of the lexicon; found {shown}. Write the right"
            " `columns: {stimulus: ..., sentence: ...}` of this entry of `corpus.texts`, or the right lexicon."
        )
    logger.warning(
        "%s: %d row(s) are left out, since the lexicon has no stimulus %s (%d different ones).",
        path,
        report.unknown_stimuli,
        shown,
        len(words),
    )


def _normalizer(normalization: str | Normalizer) -> Normalizer:
    return normalizer(normalization) if isinstance(normalization, str) else normalization


def _counted(contexts: Contexts, report: ExtractionReport) -> Iterator[pa.RecordBatch]:
    report.matched_sentences += contexts.matched_sentences
    report.shorter_matches += contexts.shorter_matches
    for batch in contexts.batches:
        report.occurrences += batch.num_rows
        yield batch


@contextmanager
def unchanged(path: str | Path) -> Iterator[None]:
    """Refuse a file that is changed by others within the block.

    Raises:
        InputError: if its size or time is another at the end, or if it is not there.
    """
    path = Path(path)
    state = _state_of(path)
    yield
    if _state_of(path) != state:
        raise InputError(f"{path}: the file changed while it was read. Let it be finished first, and run again.")


def _state_of(path: Path) -> tuple[int, int]:
    try:
        state = path.stat()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}. Correct `corpus.texts`, or put the file there.") from None
    return state.st_size, state.st_mtime_ns
