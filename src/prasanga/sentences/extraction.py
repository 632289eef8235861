"""From a corpus file to located stimuli: one row per occurrence, with the context that it stands in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import cast

import polars as pl
import pyarrow as pa

from prasanga.base.errors import InputError
from prasanga.base.progress import BYTES, progress
from prasanga.sentences.audit import folded
from prasanga.sentences.corpus import Documents, Errors
from prasanga.sentences.files import Shard
from prasanga.sentences.matcher import HasClaims, Matcher, Position
from prasanga.sentences.passages import BLOCK, ExtractionReport, Reader, record_blocks, text_blocks
from prasanga.sentences.records import read_records
from prasanga.sentences.windows import Contexts, Passage, Windows
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

    Of records (JSON lines, a column of a table) each is a document, and `offset` in the rows is its number. A record
    that says for which stimulus it was found is one context as it is, and holds one occurrence.

    Args:
        shard: the file or part of a file. Parts that follow each other give together the rows of the whole.
        lexicon: whose forms are looked for.
        normalization: a normalizer or its name (`prasanga.text.normalizer`), applied to each line.
        language: `bn`, `hi` or `en`, written into the rows.
        errors: what to do with a line or record that cannot be used (`read_lines`, `read_records`).
        before: greatest number of sentences before the matched one in its context.
        after: greatest number after it.
        match: where in a sentence a stimulus may stand.
        report: counts to add to, complete when the iterator is exhausted.

    Yields:
        Batches of `SENTENCE_SCHEMA`, in the order of the text.

    Raises:
        InputError: for a file that cannot be read as text, or that changes while it is read; records that say for
            which stimuli they were found, none of which is in the lexicon.
    """
    report, path = report if report is not None else ExtractionReport(), Path(shard.path)
    normalized = normalizer(normalization) if isinstance(normalization, str) else normalization
    reader = Reader(path, normalized, Matcher(lexicon, match), errors if shard.format == "text" else "stop", report)
    windows = Windows(reader.stimuli, before=before, after=after, source=shard.source, language=language)
    part = f" from byte {shard.start:,} on" if shard.start else ""
    with progress(f"searching {shard.source}{part}", _size_of(shard), BYTES) as searched:
        if shard.format == "text":
            passages = _passages(shard, reader, before, after, searched.advance)
        else:
            records = read_records(shard, errors, report, searched.advance)
            passages = map(reader.passage, record_blocks(records))
        with unchanged(path):
            for passage in passages:
                yield from _counted(windows.add(passage), report)
            yield from _counted(windows.finish(), report)
        if reader.unknown:
            _tell_of_unknown(path, reader.unknown, report)
        if shard.format == "text":
            _require_text(shard, report)


OCCURRENCE_SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "form": pa.string(),
            "stimulus": pa.string(),
            "counted": pa.bool_(),
            "occurrences": pa.int64(),
        }.items()
    ]
)
"""One row per stimulus and form, in the lexicon's order: how often it stands in a sample of the study's text."""


def count_in_sample(
    forms: pl.DataFrame,
    shards: Iterable[Shard],
    templates: pl.DataFrame | None,
    *,
    lexicon: HasClaims,
    normalization: Normalizer,
    match: Position,
) -> pa.Table:
    """Count forms in the first block (about a megabyte) of each file, and in filled templates (`OCCURRENCE_SCHEMA`).

    It is a quick look, before the corpus is read. A file that cannot be read counts nothing here: the job that reads
    all of it says why.

    Args:
        forms: the lexicon's table of forms.
        shards: whole files.
        templates: filled ones (`TEMPLATE_SCHEMA`), of which each counts the form of its stimulus; None for none.
        lexicon: whose forms are looked for, as in `extract_shard`.
        normalization: applied to each line.
        match: where in a sentence a stimulus may stand.
    """
    matcher, keys = Matcher(lexicon, match), ["stimulus", "form"]
    found = [pl.DataFrame(schema=dict.fromkeys(keys, pl.String))]
    if templates is not None:
        word = pl.col("text").str.slice(pl.col("start"), pl.col("end") - pl.col("start"))
        found.append(templates.select("stimulus", form=word))
    for shard in shards:
        reader = Reader(Path(shard.path), normalization, matcher, "skip-line", ExtractionReport())
        windows = Windows(reader.stimuli, before=0, after=0, source=shard.source, language="")
        with suppress(InputError):
            if shard.format == "text":
                blocks = text_blocks(shard.path, cast(Documents, shard.documents), inflation=shard.inflation)
            else:
                blocks = record_blocks(read_records(shard, "skip-line"))
            for block in islice(blocks, 1):
                batches = windows.add(reader.passage(block)).batches
                found += [pl.DataFrame(batch.select(keys)) for batch in batches]
    counts = pl.concat(found).group_by("stimulus", folded("form")).agg(occurrences=pl.len().cast(pl.Int64))
    listed = forms.with_columns(written="form", form=folded("form"))
    first = pl.struct(keys).is_first_distinct()  # of two spellings that only a sign without a width tells apart
    number = pl.when(first).then("occurrences").fill_null(0)
    table = listed.join(counts, on=keys, how="left", maintain_order="left").with_columns(occurrences=number)
    return table.with_columns(form="written").select(OCCURRENCE_SCHEMA.names).to_arrow().cast(OCCURRENCE_SCHEMA)


def _passages(
    shard: Shard, reader: Reader, before: int, after: int, read: Callable[[int], object]
) -> Iterator[Passage]:
    """Yield what is in a part of a text file, and around it as far as its contexts reach."""
    documents = cast(Documents, shard.documents)
    if shard.start > 0:
        yield from reader.passages_before(documents, shard.start, before)
    blocks = text_blocks(
        shard.path, documents, shard.start, shard.end, size=BLOCK, read=read, inflation=shard.inflation
    )
    yield from map(reader.passage, blocks)
    if shard.end is not None:
        yield from reader.passages_after(documents, shard.end, after)


def _require_text(shard: Shard, report: ExtractionReport) -> None:
    """Tell of lines that were left out, and refuse a file without text."""
    if skipped := report.skipped_lines:
        logger.warning("%s: %d line(s) left out that are not UTF-8 (corpus.errors: skip-line).", shard.path, skipped)
    if shard.start == 0 and shard.end is None and not report.sentences:
        raise InputError(
            f"{shard.path}: there is no text in it ({report.bytes} bytes in {report.lines} lines, of which {skipped}"
            " skipped as not UTF-8). Take it out of `corpus.texts`, or restore it."
        )


def _size_of(shard: Shard) -> int | None:
    """Return a shard's bytes on the disk; None where there is no such file, which reading it will tell."""
    try:
        end = shard.end if shard.end is not None else Path(shard.path).stat().st_size
    except OSError:
        return None
    return end - shard.start


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
