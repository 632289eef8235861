"""Read a corpus in blocks of about a megabyte, and turn each into normalized sentences with the forms found in them.

A block is whole lines as bytes, neither decoded nor copied. Only a line feed ends a line (a carriage return before it
is dropped). A part of a plain file is a byte range: it has the lines that begin in it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.formats import BYTE_ORDER_MARK, find_compression, open_decompressed
from prasanga.base.logs import BYTES, progress
from prasanga.schema import TABLES
from prasanga.sentences.corpus import LONGEST_LINE, Errors, Shard, describe_not_utf8, is_remote, too_long
from prasanga.sentences.matcher import HasClaims, Matcher, Position, fold_column
from prasanga.sentences.records import Record, read_records
from prasanga.sentences.windows import ANY, LONGEST_SENTENCE, NONE, ExtractionReport, Passage, Windows
from prasanga.text import Normalizer, normalizer
from prasanga.text.lines import Bytes, Lines, Positions, Spans, compiled, decode, split_lines
from prasanga.text.words import IS_SPACE, character_flags

BLOCK = 1 << 20

_ANY_LENGTH = 1 << 40
_LINE_FEED: Final = 10
_RETURN: Final = 13
_LINE_ENDS = re.compile(r"[\r\n]+")


class Block(NamedTuple):
    """Lines of a corpus, blank ones included.

    Attributes:
        lines: the lines without their ends.
        offsets: for each line's record, its byte offset in the decompressed source, or its number.
        begins: whether a document begins at the line, whatever precedes it.
        continues: whether the line belongs to the same record as the previous line.
        blank: whether it is only white space.
        breaks: whether the document ends at the line.
        size: bytes of the source, line ends included.
        offset: their start in the decompressed source.
        records: the record of each line; None for text, where they are not counted yet.
    """

    lines: Lines
    offsets: Positions
    begins: NDArray[np.bool_]
    continues: NDArray[np.bool_]
    blank: NDArray[np.bool_]
    breaks: NDArray[np.bool_]
    size: int
    offset: int = 0
    records: list[Record] | None = None


def text_blocks(shard: Shard, begin: int | None = None) -> Iterator[Block]:
    """Yield the lines of a text file from a part to the end of the file; blocks do not mix the part and later lines.

    Args:
        shard: the part.
        begin: the first byte of the decompressed text at which a line may begin; None for the part's beginning.

    Raises:
        InputError: the file cannot be read, or a line is longer than `LONGEST_LINE`; the message names the place.
    """
    for offset, data in _whole_lines(shard, shard.start if begin is None else begin):
        starts, ends, blank = _lines_of(np.frombuffer(data, dtype=np.uint8), offset)
        every = np.full(len(starts), shard.documents == "line")
        breaks = blank if shard.documents == "blank-line" else np.zeros_like(blank)
        offsets = starts + offset
        if offset == 0 and len(offsets):
            offsets[0] = 0  # with the byte order mark
        lines = Lines(np.frombuffer(data, dtype=np.uint8), starts, ends)
        yield Block(lines, offsets, every, np.zeros_like(blank), blank, breaks, len(data), offset)


def _blocks(shard: Shard, errors: Errors, report: ExtractionReport | None = None) -> Iterator[Block]:
    """Yield the lines of a part of a file in any format; for text, also the lines after the part."""
    if shard.format == "text":
        return text_blocks(shard)
    return record_blocks(read_records(shard, errors, report))


def record_blocks(records: Iterable[Record]) -> Iterator[Block]:
    """Yield the lines of records, each record a document; blocks do not divide records."""
    texts: list[bytes] = []
    held: list[Record] = []
    total = 0
    for record in records:
        text = record.text if record.stimulus is None else _LINE_ENDS.sub(" ", record.text)
        texts.append(text.encode("utf-8", "surrogatepass") + b"\n")
        held.append(record)
        total += len(texts[-1])
        if total >= BLOCK:
            yield _block_of_records(texts, held)
            texts, held, total = [], [], 0
    if held:
        yield _block_of_records(texts, held)


def _block_of_records(texts: list[bytes], records: list[Record]) -> Block:
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    starts, ends, blank = _lines_of(data, -1)
    # The record of each line: the one that its first byte belongs to.
    until = np.cumsum([len(text) for text in texts])
    record = np.searchsorted(until, starts, side="right")
    continues = np.concatenate([[False], record[1:] == record[:-1]])
    mine = [records[index] for index in record.tolist()]
    numbers = np.array([each.number for each in mine], dtype=np.int64)
    lines, breaks = Lines(data, starts, ends), np.zeros_like(blank)
    return Block(lines, numbers, ~continues, continues, blank, breaks, len(data), records=mine)


def _whole_lines(shard: Shard, begin: int) -> Iterator[tuple[int, bytes]]:
    """Yield pieces of whole lines that begin at `begin` or later, each with its offset."""
    path = Path(shard.path)
    # One byte earlier, to see whether a line begins exactly there.
    offset = max(begin - 1, 0)
    with open_decompressed(path, start=offset) as stream:
        if begin > 0:
            offset += _skip_line(stream)
        borders = [border for border in (shard.start, shard.end) if border is not None]
        held: list[bytes] = []
        while piece := stream.read(BLOCK):
            cut = piece.rfind(b"\n") + 1
            held.append(piece if cut == 0 else piece[:cut])
            if cut == 0:
                if sum(map(len, held)) > LONGEST_LINE:
                    raise too_long(path, offset)
                continue
            data = b"".join(held)
            held = [piece[cut:]]
            for part in _apart(data, [border - offset for border in borders]):
                yield offset, part
                offset += len(part)
        if rest := b"".join(held):
            yield offset, rest


def _apart(data: bytes, borders: list[int]) -> Iterator[bytes]:
    """Yield whole lines, split at each border by where they begin."""
    done = 0
    for border in borders:
        if done < border < len(data):
            after = data.find(b"\n", border - 1) + 1
            yield data[done:after]
            done = after
    if done < len(data):
        yield data[done:]


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of the line, and return the number of bytes read."""
    size = 0
    while piece := stream.readline(BLOCK):
        size += len(piece)
        if piece.endswith(b"\n"):
            break
    return size


def _lines_of(data: Bytes, offset: int) -> tuple[Positions, Positions, NDArray[np.bool_]]:
    """Find the beginnings and ends of lines in `data`, and which lines are blank.

    `offset` 0 is the beginning of a file.
    """
    count = int(np.count_nonzero(data == _LINE_FEED)) + (len(data) > 0 and data[-1] != _LINE_FEED)
    starts, ends = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    blank = np.empty(count, dtype=np.bool_)
    first = len(BYTE_ORDER_MARK) if offset == 0 and data[:3].tobytes() == BYTE_ORDER_MARK else 0
    _find_lines(data, first, character_flags(), starts, ends, blank)
    return starts, ends, blank


@compiled
def _find_lines(
    data: Bytes, first: int, flags: NDArray[np.uint16], starts: Positions, ends: Positions, blank: NDArray[np.bool_]
) -> None:
    i = first
    for line in range(len(starts)):
        starts[line] = i
        end = i
        while end < len(data) and data[end] != _LINE_FEED:
            end += 1
        following = end + 1
        if end > i and data[end - 1] == _RETURN:
            end -= 1
        ends[line] = end
        blank[line] = True
        while i < end:
            code, length = decode(data, i, end)
            if code < 0 or flags[code] & IS_SPACE == 0:
                blank[line] = False
                break
            i += length
        i = following


# --------------------
# From blocks of lines to passages: normalized sentences in a row, with the forms found in them.
#
# Reading is counted here. Text before and after a part of a file is read as far as the part's contexts reach, and not
# counted.


_MARGIN = 1 << 16

logger = logging.getLogger(__name__)


class Reader:
    """Turns blocks of lines into passages: normalized sentences with the forms found in them."""

    def __init__(
        self, path: Path, normalizer: Normalizer, matcher: Matcher, errors: Errors, report: ExtractionReport
    ) -> None:
        self.matcher, self._normalizer = matcher, normalizer
        self._path, self._errors, self._report = path, errors, report
        self._numbers = {name: number for number, name in enumerate(matcher.stimuli)}
        self.unknown: list[str] = []  # stimuli of another table that the lexicon lacks
        self.forget()

    def forget(self) -> None:
        """Begin another text."""
        self.documents = 0  # begun so far
        self.broken = True  # whether a document ended at the last line
        self._last_with_text = -1

    def passage(self, block: Block, *, owned: bool = True) -> Passage:
        """Return the sentences of a block; they are counted if `owned`."""
        lines, undecodable = _normalized(block, self._normalizer, self._errors, self._path)
        breaks = block.breaks
        if undecodable:
            breaks = breaks.copy()
            breaks[undecodable] = True
        begins = block.begins | np.concatenate([[self.broken], breaks[:-1]])[: len(breaks)]
        document = self.documents + np.cumsum(begins)
        if len(breaks):
            self.documents, self.broken = int(document[-1]), bool(breaks[-1])
        only, at = np.full(len(document), ANY, dtype=np.int64), np.full(len(document), -1, dtype=np.int64)
        if block.records and any(record.stimulus is not None for record in block.records):
            words = [record.stimulus for record in block.records]
            only[:] = [ANY if word is None else self._number_of(word) for word in words]
            at[:] = [-1 if record.start is None else record.start for record in block.records]
            kept = np.flatnonzero(lines.ends > lines.starts)  # each line is a whole context
            spans, cut = Spans(kept, lines.starts[kept], lines.ends[kept]), 0
        else:
            spans, cut = split_lines(lines, LONGEST_SENTENCE)
        sentences, hits = self.matcher.scan(lines.data, spans.starts, spans.ends)
        # A record begins at its first line; sentences are numbered from there.
        record = np.cumsum(~block.continues)[spans.lines]
        ordinal = np.arange(len(record)) - np.searchsorted(record, record, side="left")
        text = ~block.blank
        text[undecodable] = False
        seen = document[text]
        new = int(np.count_nonzero(np.diff(seen, prepend=self._last_with_text)))
        self._last_with_text = int(seen[-1]) if len(seen) else self._last_with_text
        if owned:
            if block.records is None:
                self._report.documents += new
                self._report.bytes += block.size
                self._report.lines += len(block.blank)
                self._report.skipped_lines += len(undecodable)
            self._report.sentences += len(record)
            self._report.cut_sentences += cut
            self._report.unknown_stimuli += int(np.count_nonzero(only == NONE))
        return Passage(
            sentences,
            hits,
            document[spans.lines],
            block.offsets[spans.lines],
            ordinal,
            only[spans.lines],
            at[spans.lines],
            np.full(len(record), owned),
        )

    def _number_of(self, word: str) -> int:
        """Return the stimulus of a word in another table, in any spelling."""
        if word not in self._numbers:
            spelled = self._normalizer.one(word).strip()
            whole = [match.stimulus for match in self.matcher.find(spelled) if match.form == spelled]
            self._numbers[word] = self._numbers.get(spelled, self._numbers[whole[0]] if whole else NONE)
            if self._numbers[word] == NONE:
                self.unknown.append(word)
            elif len(whole) > 1:
                logger.warning("%s: %r is a form of %s; taken for the first.", self._path, word, " and ".join(whole))
        return self._numbers[word]


def _normalized(block: Block, normalizer: Normalizer, errors: Errors, path: Path) -> tuple[Lines, list[int]]:
    """Return the normalized lines of a block, and which lines to skip because they are not UTF-8."""
    lines, undecodable = normalizer.rewrite(block.lines)
    # White space is not text, even if a repair turns it into a mark (U+0085 becomes an ellipsis).
    lines.ends[block.blank] = lines.starts[block.blank]
    if undecodable and errors == "stop":
        line = undecodable[0]
        raw = block.lines.data[block.lines.starts[line] : block.lines.ends[line]].tobytes()
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            first, begins = int(block.offsets[line]), int(block.lines.starts[line])
            at = first + error.start + 3 * (begins == 3 and first == 0)  # after the byte order mark
            raise InputError(f"{path}: {describe_not_utf8(at, _line_number(path, at), error)}") from None
        raise AssertionError("only lines that are not UTF-8 are refused")
    return lines, undecodable


def read_sentences(shard: Shard, normalizer: Normalizer, errors: Errors = "stop") -> Iterator[tuple[Bytes, Spans]]:
    """Yield all normalized sentences of a file or part, whatever their length, a few thousand at a time.

    Args:
        shard: the file, or the lines that begin in a part of it.
        normalizer: the study's normalization.
        errors: what to do with a line or record that cannot be used.

    Raises:
        InputError: the file cannot be read; a line or record cannot be used, unless it may be skipped.
    """
    for block in _blocks(shard, errors):
        if shard.end is not None and block.records is None and block.offset >= shard.end:
            return
        lines, _ = _normalized(block, normalizer, errors, Path(shard.path))
        yield lines.data, split_lines(lines, _ANY_LENGTH)[0]


def _line_number(path: Path, offset: int) -> int:
    """Return the number of the line with a byte of the decompressed text, from 1."""
    number = 1
    with open_decompressed(path) as stream:
        while offset > 0 and (piece := stream.read(min(BLOCK, offset))):
            number += piece.count(b"\n")
            offset -= len(piece)
    return number


# --------------------
# From a corpus file to located stimuli: one row per occurrence, with its context.


# A block of lines (`blocks`) becomes a passage of sentences, normalized and searched (`passages`); `windows` makes
# contexts from passage to passage. Memory holds a block or two, however large the corpus.


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
    """Find the stimuli of a lexicon in a shard of a corpus (`find_shards`), in any format.

    For records (JSON lines, a column of a table), each is a document, and `offset` in the rows is its number. A record
    that names its stimulus is one whole context, with one occurrence.

    Args:
        shard: the file or part of a file. Consecutive parts together give the rows of the whole.
        lexicon: the forms to find.
        normalization: a normalizer or its name (`prasanga.text.normalizer`), applied to each line.
        language: a code such as `bn`, written into the rows.
        errors: what to do with a line or record that cannot be used (`read_lines`, `read_records`).
        before: most sentences before the matched one in its context.
        after: most sentences after it.
        match: the allowed positions of a stimulus in a sentence.
        report: counts to add to, complete when the iterator is exhausted.

    Yields:
        Batches of `SENTENCE_SCHEMA`, in the order of the text.

    Raises:
        InputError: a file cannot be read as text, or changes while it is read; records name their stimuli, and the
            lexicon lacks all of them.
    """
    report, path = report if report is not None else ExtractionReport(), Path(shard.path)
    normalized = normalizer(normalization) if isinstance(normalization, str) else normalization
    reader = Reader(path, normalized, Matcher(lexicon, match), errors if shard.format == "text" else "stop", report)
    windows = Windows(reader.matcher, report, before=before, after=after, source=shard.source, language=language)
    if shard.format == "text":
        passages = _passages(shard, reader, before, after)
    else:
        passages = map(reader.passage, _blocks(shard, errors, report))
    is_packed = not is_remote(shard.path) and find_compression(shard.path)
    size = None if is_packed else shard.bytes_on_disk or None
    before_reading = _state_of(shard.path)
    with progress(f"searching {shard.source}", size, BYTES) as searched:
        for passage in passages:
            yield from windows.add(passage)
            searched.advance(len(passage.sentences.data))
        yield from windows.finish()
    if _state_of(shard.path) != before_reading:
        raise InputError(f"{path}: the file changed while it was read. Wait until it is complete, and run again.")
    if reader.unknown:
        _tell_of_unknown(path, reader.unknown, report)
    if shard.format == "text":
        _require_text(shard, report)


OCCURRENCE_SCHEMA = TABLES["form_occurrences"].arrow(nullable=())
"""One row per stimulus and form, in the lexicon's order, with its count in a sample of the study's text."""


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

    This is a quick look before the corpus is read. A file that cannot be read adds nothing: the job that reads all of
    it reports the error.

    Args:
        forms: the lexicon's table of forms.
        shards: whole files.
        templates: filled ones (`TEMPLATE_SCHEMA`), each of which counts the form of its stimulus; None without any.
        lexicon: the forms to find, as in `extract_shard`.
        normalization: applied to each line.
        match: the allowed positions of a stimulus in a sentence.
    """
    matcher, keys = Matcher(lexicon, match), ["stimulus", "form"]
    found = [pl.DataFrame(schema=dict.fromkeys(keys, pl.String))]
    if templates is not None:
        word = pl.col("text").str.slice(pl.col("start"), pl.col("end") - pl.col("start"))
        found.append(templates.select("stimulus", form=word))
    for shard in shards:
        reader = Reader(Path(shard.path), normalization, matcher, "skip-line", ExtractionReport())
        windows = Windows(matcher, ExtractionReport(), before=0, after=0, source=shard.source, language="")
        with suppress(InputError):
            for block in islice(_blocks(shard, "skip-line"), 1):
                found += [pl.DataFrame(batch.select(keys)) for batch in windows.add(reader.passage(block))]
    counts = pl.concat(found).group_by("stimulus", fold_column("form")).agg(occurrences=pl.len().cast(pl.Int64))
    listed = forms.with_columns(written="form", form=fold_column("form"))
    first = pl.struct(keys).is_first_distinct()  # of two spellings that differ only in a zero-width sign
    number = pl.when(first).then("occurrences").fill_null(0)
    table = listed.join(counts, on=keys, how="left", maintain_order="left").with_columns(occurrences=number)
    return table.with_columns(form="written").select(OCCURRENCE_SCHEMA.names).to_arrow().cast(OCCURRENCE_SCHEMA)


def _passages(shard: Shard, reader: Reader, before: int, after: int) -> Iterator[Passage]:
    """Yield the passages in a part of a text file, and around it as far as its contexts reach."""
    margin = _MARGIN
    while True:
        reader.forget()
        begin = max(shard.start - margin, 0)
        blocks = text_blocks(shard, begin)
        earlier, first = list[Passage](), None
        for block in blocks:
            if block.offset >= shard.start:
                first = block
                break
            earlier.append(reader.passage(block, owned=False))
        of_last = sum(int((passage.document == reader.documents).sum()) for passage in earlier)
        if begin == 0 or (earlier and (of_last >= max(before, 1) or reader.broken or reader.documents > 1)):
            break
        margin *= 4
    yield from earlier
    found, document = 0, None
    for block in chain([first] if first else [], blocks):
        owned = shard.end is None or block.offset < shard.end
        if not owned:
            document = reader.documents if document is None else document
            if found >= after or reader.broken or reader.documents > document:
                return
        passage = reader.passage(block, owned=owned)
        found += 0 if owned else len(passage)
        yield passage


def _require_text(shard: Shard, report: ExtractionReport) -> None:
    """Log lines that were left out, and refuse a file without text."""
    if skipped := report.skipped_lines:
        logger.warning("%s: %d line(s) left out that are not UTF-8 (corpus.errors: skip-line).", shard.path, skipped)
    if shard.is_whole and not report.sentences:
        raise InputError(
            f"{shard.path}: its text is empty ({report.bytes} bytes in {report.lines} lines, of which {skipped}"
            " skipped as not UTF-8). Take it out of `corpus.texts`, or restore it."
        )


def _tell_of_unknown(path: Path, words: list[str], report: ExtractionReport) -> None:
    shown = ", ".join(repr(word[:40]) for word in words[:5])
    if report.unknown_stimuli == report.sentences:
        raise InputError(
            f"{path}: none of its {report.sentences} rows has a stimulus of the lexicon; found {shown}. Write the right"
            " `columns: {stimulus: ..., sentence: ...}` of this entry of `corpus.texts`, or the right lexicon."
        )
    logger.warning(
        "%s: %d row(s) are left out, because the lexicon lacks the stimulus %s (%d different ones).",
        path,
        report.unknown_stimuli,
        shown,
        len(words),
    )


def _state_of(path: str) -> tuple[int, int] | None:
    """Return size and time of a local file; the reader reports a missing one."""
    if is_remote(path) or not Path(path).exists():
        return None
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns
