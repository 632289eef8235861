"""Blocks of lines to passages: normalized sentences in a row, with what is found in them.

Here is counted what was read. What stands before and after a part of a file is read as far as the part's contexts
reach, and not counted.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prasanga.errors import InputError
from prasanga.sentences.blocks import BLOCK, Block, text_blocks
from prasanga.sentences.corpus import Documents, Errors, ReadingReport
from prasanga.sentences.decompression import open_decompressed
from prasanga.sentences.matcher import Matcher
from prasanga.sentences.windows import ANY, LONGEST_SENTENCE, NONE, Passage, Stimuli
from prasanga.text import Normalizer
from prasanga.text.lines import Lines, Spans, split_lines

_MARGIN = 1 << 16

logger = logging.getLogger(__name__)


@dataclass
class ExtractionReport(ReadingReport):
    """What was read, found, and left out; the counts add up over the files and parts that they are given to.

    `shorter_matches` are those left out because a longer form of the same stimulus begins at the same place;
    `cut_sentences` are those longer than `LONGEST_SENTENCE`; `unknown_stimuli` are lines of an extracted table whose
    stimulus is none of the lexicon's.
    """

    sentences: int = 0
    cut_sentences: int = 0
    matched_sentences: int = 0
    shorter_matches: int = 0
    occurrences: int = 0
    unknown_stimuli: int = 0


class Reader:
    """Blocks to passages: lines to normalized sentences, with what is found in them."""

    def __init__(
        self, path: Path, normalizer: Normalizer, matcher: Matcher, errors: Errors, report: ExtractionReport
    ) -> None:
        self._path = path
        self._normalizer = normalizer
        self._matcher = matcher
        self._errors = errors
        self._report = report
        self._documents = 0
        self._broken = True  # whether a document ended at the last line
        self._last_with_text = -1
        self._numbers = {name: number for number, name in enumerate(matcher.stimuli)}
        self.unknown: list[str] = []  # stimuli of another table that are none of the lexicon's
        self.stimuli = Stimuli(matcher.stimuli, matcher.first, matcher.of_form)

    def passage(self, block: Block, *, owned: bool = True) -> Passage:
        """The sentences of a block; counted if they are `owned`."""
        lines, undecodable = self._normalizer.rewrite(block.lines)
        # White space is no text, also where a repair makes a mark of it (U+0085 becomes an ellipsis).
        lines.ends[block.blank] = lines.starts[block.blank]
        breaks = block.breaks
        if undecodable:
            if self._errors == "stop":
                self._refuse(block, undecodable[0])
            breaks = breaks.copy()
            breaks[undecodable] = True
        begins = block.begins | np.concatenate([[self._broken], breaks[:-1]])[: len(breaks)]
        document = self._documents + np.cumsum(begins)
        if len(breaks):
            self._documents, self._broken = int(document[-1]), bool(breaks[-1])
        only = np.full(len(document), ANY, dtype=np.int64)
        if block.only is not None:
            only[:] = [ANY if word is None else self._number_of(word) for word in block.only]
        at = np.full(len(document), -1, dtype=np.int64) if block.at is None else block.at
        spans, cut = _whole_lines(lines) if block.only is not None else split_lines(lines, LONGEST_SENTENCE)
        sentences, hits = self._matcher.scan(lines.data, spans.starts, spans.ends)
        # A record begins at its first line; sentences are numbered from there.
        record = np.cumsum(~block.continues)[spans.lines]
        ordinal = np.arange(len(record)) - np.searchsorted(record, record, side="left")
        text = ~block.blank
        text[undecodable] = False
        seen = document[text]
        new = int(np.count_nonzero(np.diff(seen, prepend=self._last_with_text)))
        self._last_with_text = int(seen[-1]) if len(seen) else self._last_with_text
        if owned:
            if not block.records:
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
        """The stimulus that a word of another table is, in whatever spelling."""
        if word not in self._numbers:
            spelled = self._normalizer.one(word).strip()
            whole = [match.stimulus for match in self._matcher.find(spelled) if match.form == spelled]
            self._numbers[word] = self._numbers.get(spelled, self._numbers[whole[0]] if whole else NONE)
            if self._numbers[word] == NONE:
                self.unknown.append(word)
            elif len(whole) > 1:
                logger.warning("%s: %r is a form of %s; taken for the first.", self._path, word, " and ".join(whole))
        return self._numbers[word]

    def passages_before(self, documents: Documents, start: int, wanted: int) -> list[Passage]:
        """What stands before byte `start`: at least `wanted` sentences of the last document there, if it has them."""
        size = _MARGIN
        while True:
            begin = max(start - size, 0)
            self._documents, self._broken, self._last_with_text = 0, True, -1
            passages = [self.passage(b, owned=False) for b in text_blocks(self._path, documents, begin, start)]
            held = np.concatenate([[], *(p.document for p in passages)])
            last = int((held == self._documents).sum())
            if begin == 0 or (passages and (last >= max(wanted, 1) or self._broken or self._documents > 1)):
                return passages
            size *= 4

    def passages_after(self, documents: Documents, end: int, wanted: int) -> Iterator[Passage]:
        """What stands after byte `end`, until there are `wanted` sentences, or another document begins."""
        document = self._documents
        found = 0
        for block in text_blocks(self._path, documents, end, size=_MARGIN):
            if found >= wanted or self._broken or self._documents > document:
                return
            passage = self.passage(block, owned=False)
            found += len(passage)
            yield passage

    def _refuse(self, block: Block, line: int) -> None:
        raw = block.lines.data[block.lines.starts[line] : block.lines.ends[line]].tobytes()
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            at = (
                int(block.offsets[line])
                + error.start
                + 3 * (block.lines.starts[line] == 3 and block.offsets[line] == 0)
            )
            shown = " ".join(f"{byte:02x}" for byte in raw[error.start : error.start + 8])
        raise InputError(
            f"{self._path}: not UTF-8 at byte {at} of the decompressed text (line {_line_number(self._path, at)}):"
            f" found the bytes {shown}. Convert the file to UTF-8, or write `corpus.errors: skip-line` to leave such"
            " lines out and count them."
        )


def _whole_lines(lines: Lines) -> tuple[Spans, int]:
    """Each line that is not empty as it is."""
    kept = np.flatnonzero(lines.ends > lines.starts)
    return Spans(kept, lines.starts[kept], lines.ends[kept]), 0


def _line_number(path: Path, offset: int) -> int:
    """The number of the line that a byte of the decompressed text stands in, from 1."""
    number = 1
    # what comes before the place has been read already, within its limit
    with open_decompressed(path, inflation=sys.maxsize) as stream:
        while offset > 0 and (piece := stream.read(min(BLOCK, offset))):
            number += piece.count(b"\n")
            offset -= len(piece)
    return number
