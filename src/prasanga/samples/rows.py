"""The small columns of sentence tables, as numbers: all that a draw needs to know of an occurrence.

Texts are not read here. Identifiers become two halves of 64 bits, names (stimuli, forms, sources) their number in a
list, so that millions of rows can be compared and counted as columns of numbers.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from prasanga.errors import InputError
from prasanga.parquet import open_parquet, read_batches
from prasanga.samples.priority import Words64
from prasanga.text import count_words

COLUMNS = ("context_id", "form", "n_words", "occurrence_id", "source", "start", "stimulus", "text_id")
"""The columns of a sentence table that are read."""

ROWS_SCHEMA = pl.Schema(
    {
        "stimulus": pl.UInt32,
        "form": pl.UInt32,
        "source": pl.UInt32,
        "form_words": pl.Int32,
        "n_words": pl.Int32,
        "start": pl.Int32,
        "text_high": pl.UInt64,
        "text_low": pl.UInt64,
        "occurrence_high": pl.UInt64,
        "occurrence_low": pl.UInt64,
        "context": pl.UInt32,
        "file": pl.UInt32,
        "row": pl.UInt32,
        "supplement": pl.Boolean,
    }
)
"""One row per occurrence. `stimulus`, `form`, `source` are numbers of names; `form_words` the words of the form;
`context` counts the contexts of a file; `file` and `row` say where the occurrence stands."""

_ROWS_AT_A_TIME = 65_536
_HEX_DIGITS = 32


class Names:
    """Names and their numbers, in the order in which they were met; or a fixed list, and no other."""

    def __init__(self, fixed: Iterable[str] | None = None) -> None:
        self.names: list[str] = sorted(set(fixed)) if fixed is not None else []
        self._fixed = fixed is not None
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def numbers(self, column: pa.DictionaryArray) -> npt.NDArray[np.int64]:
        """The number of each name, shape (n,); -1 for one that is not in a fixed list."""
        known = np.array([self._number(name) for name in column.dictionary.to_pylist()], np.int64)
        indices: npt.NDArray[np.int32] = column.indices.to_numpy()
        return known[indices]

    def _number(self, name: str) -> int:
        if (number := self._numbers.get(name)) is None:
            if self._fixed:
                return -1
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
        return number


class Vocabulary:
    """The names that the rows of all files refer to; only the rows of `stimuli` are read, or all if it is None."""

    def __init__(self, stimuli: Iterable[str] | None) -> None:
        self.stimuli = Names(stimuli)
        self.forms = Names()
        self.sources = Names()


def count_rows(paths: Iterable[str | Path]) -> int:
    """The number of rows in sentence tables, from their footers."""
    return sum(open_parquet(path).metadata.num_rows for path in paths)


def read_rows(
    path: str | Path,
    vocabulary: Vocabulary,
    *,
    file: int,
    supplement: bool = False,
    read: Callable[[int], object] | None = None,
) -> Iterator[pl.DataFrame]:
    """Read the small columns of a sentence table in batches of `ROWS_SCHEMA`.

    Args:
        path: a Parquet file with the columns of the sentence contract.
        vocabulary: gives names their numbers, and says which stimuli are wanted.
        file: number of the file, for its rows.
        supplement: whether the file belongs to the supplement, for its rows.
        read: told the rows of each batch when the next one is asked for, those of other stimuli too.

    Raises:
        InputError: if the file is absent or damaged, lacks a column, or has identifiers of another kind.
    """
    if missing := sorted(set(COLUMNS) - set(open_parquet(path).schema_arrow.names)):
        raise InputError(
            f"{path}: lacks the columns {', '.join(missing)}, so it is no table of sentences. Delete it and run the"
            " workflow again."
        )
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
        text_high, text_low = _halves(batch, "text_id", path)
        occurrence_high, occurrence_low = _halves(batch, "occurrence_id", path)
        yield (
            pl.DataFrame(
                {
                    "stimulus": stimulus,
                    "form": vocabulary.forms.numbers(forms),
                    "source": vocabulary.sources.numbers(batch["source"].dictionary_encode()),
                    "form_words": form_words[forms.indices.to_numpy()],
                    "n_words": batch["n_words"].to_numpy(),
                    "start": batch["start"].to_numpy(),
                    "text_high": text_high,
                    "text_low": text_low,
                    "occurrence_high": occurrence_high,
                    "occurrence_low": occurrence_low,
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
    """Whether each row belongs to another context than the one before it; the rows of a context stand together."""
    rest = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).to_numpy(zero_copy_only=False)
    return np.concatenate([[ids[0].as_py() != last], rest.astype(bool)])


def _halves(batch: pa.RecordBatch, name: str, path: str | Path) -> tuple[Words64, Words64]:
    """A column of identifiers of 32 hexadecimal digits as numbers: high and low halves, shape (n,) each."""
    try:
        digits = batch[name].cast(pa.binary()).cast(pa.binary(_HEX_DIGITS))
        buffer = digits.buffers()[1].slice(digits.offset * _HEX_DIGITS, len(digits) * _HEX_DIGITS)
        halves = np.frombuffer(binascii.unhexlify(buffer), ">u8").astype(np.uint64).reshape(-1, 2)
    except (pa.ArrowInvalid, binascii.Error):
        raise InputError(
            f"{path}: the column {name} holds something else than identifiers of {_HEX_DIGITS} hexadecimal digits, so"
            " it is no table of sentences. Delete it and run the workflow again."
        ) from None
    return halves[:, 0], halves[:, 1]
