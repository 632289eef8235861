"""Draw the pools that segments are cut from: requirements on contexts, the order of drawing, and counts.

With `pool: shared`, all fixed lengths are cut from the same contexts, those that allow the longest of them: a
difference between lengths is then due to length, and not to authors who write long sentences. With `pool: per_length`
each length takes every context that allows it, as in the Bangla paper. A length such as `>75` always has its own pool.

A draw survives sharding: each occurrence has a priority, a hash of seed, stimulus and normalized context, and the k
contexts of a stimulus with the smallest priorities are kept. This is a uniform draw without replacement that depends
only on the set of contexts: not on the order or number of files, or on who reads them. Copies of one text have one
priority and are one context. The priority does not depend on the segment length, so pools of several lengths agree
wherever their contexts do.
"""

from __future__ import annotations

import binascii
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from prasanga.base.errors import InputError
from prasanga.base.io import open_parquet, read_batches
from prasanga.base.seeds import mix
from prasanga.text import count_words

PoolKind = Literal["shared", "per_length"]
Window = Literal["exact", "paper"]

LONGEST = 250
"""Words of the longest segment for a length such as `>75`, unless the config says otherwise."""


class SegmentLength(NamedTuple):
    """One entry of `samples.lengths`: `words` words or, with `over`, contexts of more words than that.

    `label` is its name in tables and configs (`9`, `>75`), `file_name` in paths (`9`, `over75`).
    """

    label: str
    file_name: str
    words: int
    over: bool


class Requirement(NamedTuple):
    """The requirement of a pool: a context of at least `words` words, and a target of at most `target_words`."""

    words: int
    target_words: int

    @property
    def enough_words(self) -> pl.Expr:
        """Whether the context has enough words, as a condition on the column `n_words`."""
        return pl.col("n_words") >= self.words

    @property
    def met(self) -> pl.Expr:
        """Whether context and target fit, as a condition on the columns `n_words` and `form_words`."""
        return self.enough_words & (pl.col("form_words") <= self.target_words)


def parse_length(label: str | int) -> SegmentLength:
    """Read a segment length: a number of words (`9`), or `>` and a number (`>75`).

    Raises:
        InputError: anything else.
    """
    text = str(label).strip()
    number = text.removeprefix(">")
    if not (number.isascii() and number.isdigit() and int(number) > 0):
        raise InputError(
            f"samples.lengths: {label!r} is not a segment length; allowed are a number of words from 1, or `>` and a"
            ' number for contexts of more words. Write e.g. `lengths: [9, 25, 75, ">75"]`.'
        )
    size = int(number)
    if text.startswith(">"):
        return SegmentLength(f">{size}", f"over{size}", size, over=True)
    return SegmentLength(str(size), str(size), size, over=False)


def require_longest(lengths: Iterable[SegmentLength], longest: int) -> None:
    """Refuse a `samples.longest` that leaves no segment for one of the lengths.

    Raises:
        InputError: contexts of more words than a length allows would be cut to no more than that.
    """
    for length in lengths:
        if length.over and longest <= length.words:
            raise InputError(
                f"samples.longest: {longest}, but samples.lengths has {length.label!r}. Allowed are numbers from"
                f" {length.words + 1}. Write e.g. `longest: {max(LONGEST, 2 * length.words)}`."
            )


def requirements_by_length(
    lengths: Sequence[SegmentLength], window: Window, longest: int
) -> dict[SegmentLength, Requirement]:
    """Return the requirement on a context for each length by itself.

    With the paper's window a shorter context is used whole, so all lengths only require the target.

    Raises:
        InputError: see `require_longest`.
    """
    require_longest(lengths, longest)
    return {
        length: Requirement(
            1 if window == "paper" else length.words + length.over, longest if length.over else length.words
        )
        for length in lengths
    }


def requirements_of_pools(own: dict[SegmentLength, Requirement], kind: PoolKind) -> dict[SegmentLength, Requirement]:
    """Return the requirement for the pool of each length.

    Lengths with the same requirement share one pool.
    """
    fixed = [length for length in own if not length.over]
    if kind == "per_length" or not fixed:
        return dict(own)
    shared = Requirement(max(own[length].words for length in fixed), min(own[length].target_words for length in fixed))
    return {length: requirement if length.over else shared for length, requirement in own.items()}


# --------------------
# The first k contexts of each stimulus, in the order of drawing.


CANDIDATE_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("stimulus", "form", "source"), pl.UInt32),
        "start": pl.Int32,
        **dict.fromkeys(("occurrence_high", "occurrence_low"), pl.UInt64),
        **dict.fromkeys(("file", "row"), pl.UInt32),
        "supplement": pl.Boolean,
        **dict.fromkeys(("high", "low"), pl.UInt64),
    }
)
"""A pool's values for an occurrence (`ROWS_SCHEMA`); `high` and `low` are the halves of its priority."""

_CONTEXT = ["stimulus", "high", "low"]
_ORDER = [*_CONTEXT, "supplement", "start", "occurrence_high", "occurrence_low"]
_LAST = np.iinfo(np.uint64).max
_ROWS_WAITING = 131_072


class Pool:
    """The k contexts of smallest priority of each stimulus, with one occurrence each.

    Of several occurrences in one context, or in copies of one text, the first in the text is kept, and among those at
    the same place the one with the smallest identifier; one of the supplement only if there is no other. This is the
    smallest in a fixed order, so any order of `add` gives the same pool, and the `drawn` rows of one pool may be added
    to another. Memory is bounded by k occurrences per stimulus and a fixed number that wait to be compared.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self._kept = CANDIDATE_SCHEMA.to_frame()
        self._waiting: list[pl.DataFrame] = []
        self._limits = np.zeros(0, np.uint64)  # by stimulus: the greatest high half that can still be kept

    def add(self, candidates: pl.DataFrame) -> None:
        """Offer occurrences, in any order; columns of `CANDIDATE_SCHEMA`, others are ignored."""
        if candidates.is_empty():
            return
        stimuli = candidates["stimulus"].to_numpy()
        unknown = max(0, int(stimuli.max()) + 1 - len(self._limits))
        self._limits = np.pad(self._limits, (0, unknown), constant_values=_LAST)
        within = candidates["high"].to_numpy() <= self._limits[stimuli]
        self._waiting.append(candidates.filter(within).select(CANDIDATE_SCHEMA.names()))
        if sum(part.height for part in self._waiting) >= _ROWS_WAITING:
            self._compare()

    def drawn(self) -> pl.DataFrame:
        """Return the kept rows, sorted by stimulus (its number) and priority; columns of `CANDIDATE_SCHEMA`."""
        self._compare()
        return self._kept

    def _compare(self) -> None:
        if not self._waiting:
            return
        offered = pl.concat([self._kept, *self._waiting])
        self._waiting.clear()
        contexts = offered.sort(_ORDER).unique(_CONTEXT, keep="first", maintain_order=True)
        self._kept = contexts.filter(pl.int_range(pl.len()).over("stimulus") < self.k)
        full = self._kept.group_by("stimulus").agg(pl.len(), pl.col("high").max()).filter(pl.col("len") == self.k)
        self._limits[full["stimulus"].to_numpy()] = full["high"].to_numpy()


# --------------------
# The order of drawing: a hash of seed, stimulus and text, computed from the text's identifier.
#
# A sentence table identifies each context's text by its `text_id`, a 128-bit XXH3, so a draw need not read the text. A
# second 128-bit XXH3, of seed and stimulus, is the key. Both are split into halves of 64 bits and mixed:
#
#     low'  = mix(high ^ key_high)
#     high' = mix(low ^ low' ^ key_low)
#
# with `mix` from `prasanga.base.seeds`. For a given key each step is invertible, so two texts have the same priority
# exactly if they have the same identifier; another seed or stimulus gives another order.


Words64 = npt.NDArray[np.uint64]


def priority(seed: int, stimulus: str, text: str) -> int:
    """Return the priority of a context for a stimulus, a 128-bit hash; smaller is drawn earlier.

    This is the definition; `priorities` computes it for whole columns.
    """
    halves = np.array([divmod(xxhash.xxh3_128_intdigest(text.encode()), 1 << 64)], np.uint64)
    (high,), (low,) = priorities(halves[:, 0], halves[:, 1], stimulus_keys(seed, [stimulus]))
    return int(high) << 64 | int(low)


def stimulus_keys(seed: int, stimuli: Sequence[str]) -> Words64:
    """Return the keys of stimuli, shape (n, 2): high and low halves."""
    # NUL does not occur in numbers, so different pairs never give the same text.
    keys = (xxhash.xxh3_128_intdigest(f"{seed}\0{stimulus}".encode()) for stimulus in stimuli)
    return np.array([divmod(key, 1 << 64) for key in keys], np.uint64).reshape(-1, 2)


def priorities(high: Words64, low: Words64, keys: Words64) -> tuple[Words64, Words64]:
    """Return the priorities of contexts, as high and low halves.

    Args:
        high: high half of each text's identifier, shape (n,).
        low: low half, shape (n,).
        keys: the key of each row's stimulus, shape (n, 2).
    """
    new_low = mix(high ^ keys[:, 0])
    return mix(low ^ new_low ^ keys[:, 1]), new_low


# --------------------
# The small columns of sentence tables, as numbers: all that a draw needs of an occurrence.
#
# Texts are not read here. Identifiers become two halves of 64 bits, and names (stimuli, forms, sources) their number in
# a list, so that millions of rows can be compared and counted as columns of numbers.


COLUMNS = ("context_id", "form", "n_words", "occurrence_id", "source", "start", "stimulus", "text_id")
"""The columns of a sentence table that are read."""

ROWS_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("stimulus", "form", "source"), pl.UInt32),
        **dict.fromkeys(("form_words", "n_words", "start"), pl.Int32),
        **dict.fromkeys(("text_high", "text_low", "occurrence_high", "occurrence_low"), pl.UInt64),
        **dict.fromkeys(("context", "file", "row"), pl.UInt32),
        "supplement": pl.Boolean,
    }
)
"""One row per occurrence. `stimulus`, `form`, `source` are numbers of names; `form_words` the words of the form;
`context` counts the contexts of a file; `file` and `row` are the occurrence's place."""

_ROWS_AT_A_TIME = 65_536
_HEX_DIGITS = 32


class Names:
    """Names and their numbers, in order of first appearance; or a fixed list of names."""

    def __init__(self, fixed: Iterable[str] | None = None) -> None:
        self._fixed = fixed is not None
        self._numbers = {name: number for number, name in enumerate(sorted(set(fixed or ())))}

    @property
    def names(self) -> list[str]:
        """All names, by number."""
        return list(self._numbers)

    def numbers(self, column: pa.DictionaryArray) -> npt.NDArray[np.int64]:
        """Return the number of each name, shape (n,); -1 for one that is not in a fixed list."""
        names = column.dictionary.to_pylist()
        if not self._fixed:
            for name in names:
                self._numbers.setdefault(name, len(self._numbers))
        known = np.array([self._numbers.get(name, -1) for name in names], np.int64)
        return np.asarray(known[column.indices.to_numpy()])


class StimulusNames:
    """The names in the rows of all files; only the rows of `stimuli` are read, or all if it is None."""

    def __init__(self, stimuli: Iterable[str] | None) -> None:
        self.stimuli = Names(stimuli)
        self.forms = Names()
        self.sources = Names()


def count_rows(paths: Iterable[str | Path]) -> int:
    """Return the number of rows in sentence tables, from their footers."""
    return sum(open_parquet(path).metadata.num_rows for path in paths)


def read_rows(
    path: str | Path,
    vocabulary: StimulusNames,
    *,
    file: int,
    supplement: bool = False,
    read: Callable[[int], object] | None = None,
) -> Iterator[pl.DataFrame]:
    """Read the small columns of a sentence table in batches of `ROWS_SCHEMA`.

    Args:
        path: a Parquet file with the columns of the sentence contract.
        vocabulary: numbers the names, and has the stimuli to read.
        file: number of the file, for its rows.
        supplement: whether the file belongs to the supplement, for its rows.
        read: called with the number of rows of each batch, other stimuli included, when the next one is requested.

    Raises:
        InputError: the file is missing or damaged, or lacks a column.
    """
    n_rows, n_contexts, last = 0, 0, None
    for batch in read_batches(path, COLUMNS, rows=_ROWS_AT_A_TIME):
        if not batch.num_rows:
            continue
        new = _begins_context(batch["context_id"], last)
        context = n_contexts + np.cumsum(new)
        row = np.arange(n_rows, n_rows + batch.num_rows)
        n_rows, n_contexts, last = n_rows + batch.num_rows, int(context[-1]), batch["context_id"][-1].as_py()
        forms = batch["form"].dictionary_encode()
        form_words = np.array([count_words(form) for form in forms.dictionary.to_pylist()])
        stimulus = vocabulary.stimuli.numbers(batch["stimulus"].dictionary_encode())
        yield (
            pl.DataFrame(
                {
                    "stimulus": stimulus,
                    "form": vocabulary.forms.numbers(forms),
                    "source": vocabulary.sources.numbers(batch["source"].dictionary_encode()),
                    "form_words": form_words[forms.indices.to_numpy()],
                    "n_words": batch["n_words"].to_numpy(),
                    "start": batch["start"].to_numpy(),
                    **_halves(batch, "text"),
                    **_halves(batch, "occurrence"),
                    "context": context,
                    "file": np.full(batch.num_rows, file),
                    "row": row,
                    "supplement": np.full(batch.num_rows, supplement),
                }
            )
            .filter(pl.col("stimulus") >= 0)
            .cast(ROWS_SCHEMA)
        )
        if read is not None:
            read(batch.num_rows)


def _begins_context(ids: pa.Array, last: str | None) -> npt.NDArray[np.bool_]:
    """Mark each row that begins another context; the rows of a context are adjacent."""
    rest = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).to_numpy(zero_copy_only=False)
    return np.concatenate([[ids[0].as_py() != last], rest.astype(bool)])


def _halves(batch: pa.RecordBatch, what: str) -> dict[str, Words64]:
    """Return a column of identifiers of 32 hexadecimal digits as numbers: high and low halves, shape (n,)."""
    digits = batch[f"{what}_id"].cast(pa.binary()).cast(pa.binary(_HEX_DIGITS))
    buffer = digits.buffers()[1].slice(digits.offset * _HEX_DIGITS, len(digits) * _HEX_DIGITS)
    halves = np.frombuffer(binascii.unhexlify(buffer), ">u8").astype(np.uint64).reshape(-1, 2)
    return {f"{what}_high": halves[:, 0], f"{what}_low": halves[:, 1]}


# --------------------
# Counts for each stimulus, in memory that does not grow with the corpus.
#
# The distinct texts of a stimulus cannot be counted in passing, because each would have to be remembered. So the texts
# are written to disk, 28 bytes each, in slices of the range of their hash, and counted slice by slice. Copies of one
# text fall into one slice, so the counts are exact.


_COUNTS = pl.Schema(
    {
        **{"stimulus": pl.UInt32, "requirement": pl.String},
        **dict.fromkeys(("texts", "enough_words", "eligible"), pl.Int64),
    }
)
_TEXT = ["stimulus", "text_high", "text_low"]
_COUNTED = ["stimulus", "file", "context"]
_FORM = ["stimulus", "form", "source"]
_RECORD = np.dtype(
    [("stimulus", "u4"), ("text_high", "u8"), ("text_low", "u8"), ("n_words", "i4"), ("form_words", "i4")]
)
_RECORDS_PER_SLICE = 1 << 18
_MOST_SLICES = 256  # files open at once; with a thousand million rows, a slice is then about 110 MB
_BYTES_IN_MEMORY = 1 << 26
_FORMS_WAITING = 1 << 18


class Tally(ExitStack):
    """Counts of stimuli and forms; a context manager, which removes its temporary files.

    Args:
        requirements: the requirements that texts are counted by.
        n_rows: about how many rows will be counted; decides the number of slices.
        scratch: folder for temporary files; None for the system's.
    """

    def __init__(self, requirements: Iterable[Requirement], n_rows: int, scratch: str | Path | None = None) -> None:
        super().__init__()
        self._requirements = sorted(set(requirements))
        n_slices = min(_MOST_SLICES, max(1, -(-n_rows // _RECORDS_PER_SLICE)))
        self._slices = [self._new_slice(_BYTES_IN_MEMORY // n_slices, scratch) for _ in range(n_slices)]
        self._contexts = np.zeros(0, np.int64)
        # stimuli of the last context, which may continue in the next batch
        self._open = pl.DataFrame(schema=dict.fromkeys(_COUNTED, pl.UInt32))
        self._forms = [pl.DataFrame(schema={**dict.fromkeys(_FORM, pl.UInt32), "occurrences": pl.Int64})]

    def add(self, rows: pl.DataFrame) -> None:
        """Count rows of `ROWS_SCHEMA`; the batches of a file in order, files in any order."""
        if rows.is_empty():
            return
        self._count_contexts(rows)
        self._set_aside(rows.group_by(_TEXT).agg(pl.col("n_words").max(), pl.col("form_words").min()))
        self._forms.append(rows.group_by(_FORM).agg(pl.len().cast(pl.Int64).alias("occurrences")))
        if sum(part.height for part in self._forms[1:]) > max(_FORMS_WAITING, self._forms[0].height):
            self._forms = [self.forms()]

    def forms(self) -> pl.DataFrame:
        """Return the occurrences by form and file: stimulus, form, source (numbers), occurrences."""
        return pl.concat(self._forms).group_by(_FORM).agg(pl.col("occurrences").sum())

    def counts(self) -> pl.DataFrame:
        """Return the counts so far; more rows may be added afterwards.

        Returns:
            One row per stimulus that occurs and requirement: stimulus (number), requirement (its `str`), occurrences,
            contexts (with them), texts (distinct ones), enough_words (texts with the words), eligible (texts that meet
            all of the requirement).
        """
        counted = pl.DataFrame(schema=_COUNTS)
        for file in self._slices:
            file.seek(0)
            records = np.frombuffer(file.read(), _RECORD)
            texts = pl.DataFrame({name: records[name] for name in _RECORD.names or ()})
            texts = texts.group_by(_TEXT).agg(pl.col("n_words").max(), pl.col("form_words").min())
            for requirement in self._requirements:
                numbers = {"enough_words": requirement.enough_words.sum(), "eligible": requirement.met.sum()}
                found = texts.group_by("stimulus").agg(texts=pl.len(), **numbers)
                found = found.with_columns(requirement=pl.lit(str(requirement))).select(*_COUNTS).cast(_COUNTS)
                counted = pl.concat([counted, found])
            counted = counted.group_by("stimulus", "requirement").agg(pl.all().sum())
        occurrences = self.forms().group_by("stimulus").agg(pl.col("occurrences").sum())
        contexts = pl.DataFrame({"contexts": self._contexts}).with_row_index("stimulus")
        return counted.join(occurrences, on="stimulus").join(contexts, on="stimulus")

    def _new_slice(self, in_memory: int, scratch: str | Path | None) -> IO[bytes]:
        folder = None if scratch is None else str(scratch)
        return self.enter_context(tempfile.SpooledTemporaryFile(in_memory, dir=folder))

    def _count_contexts(self, rows: pl.DataFrame) -> None:
        new = rows.select(_COUNTED).unique().join(self._open, on=_COUNTED, how="anti")
        seen = pl.concat([self._open, new])
        self._open = seen.filter((pl.col("file") == rows["file"][-1]) & (pl.col("context") == rows["context"][-1]))
        counts = np.bincount(new["stimulus"].to_numpy(), minlength=len(self._contexts))
        counts[: len(self._contexts)] += self._contexts
        self._contexts = counts

    def _set_aside(self, texts: pl.DataFrame) -> None:
        """Write texts to their slices: the upper bits of the hash, scaled to the number of slices."""
        records = np.empty(texts.height, _RECORD)
        for name in _RECORD.names or ():
            records[name] = texts[name].to_numpy()
        scaled = (records["text_high"] >> np.uint64(32)) * np.uint64(len(self._slices)) >> np.uint64(32)
        order = np.argsort(scaled, kind="stable")
        bounds = np.searchsorted(scaled[order], np.arange(len(self._slices) + 1, dtype=np.uint64))
        for file, start, stop in zip(self._slices, bounds, bounds[1:], strict=False):
            file.seek(0, 2)
            file.write(records[order[start:stop]].tobytes())
