"""Write and read the vectors of a study: shards, and the lists that name them. This module works without torch.

A list is a small file next to a folder of shards; it names each with its digest. Statistics take the list as input, so
equal shards rerun nothing.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from os.path import relpath
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.io import (
    made_from,
    open_parquet,
    read_document,
    read_table,
    read_where,
    require_equal,
    sha256_of_file,
    write_document,
)

Vectors = tuple[list[str], NDArray[np.float32]]
"""Occurrence ids and (n, d) vectors of a stimulus."""

# --------------------
# Vectors as a column of Arrow.

StoredDtype = Literal["float16", "float32"]
"""Precision of stored vectors."""


def rounded(vectors: NDArray[np.float32], dtype: StoredDtype) -> NDArray[np.floating]:
    """Return vectors in `dtype`.

    Raises:
        InputError: a number is too large for `dtype`.
    """
    with np.errstate(over="ignore"):
        kept = vectors.astype(dtype)
    if not np.isfinite(kept).all():
        largest = float(np.abs(vectors).max())
        raise InputError(
            f"a vector has the number {largest:.4g}, but {dtype} allows at most {np.finfo(dtype).max:.0f}. Write"
            " embeddings: {stored_dtype: float32}."
        )
    return kept


def embedding_field(dtype: StoredDtype, width: int) -> pa.Field:
    """Return the schema's field for vectors of `width` numbers, named embedding.

    Neither rows nor numbers are nullable: Parquet then stores no levels, and reading is much faster.
    """
    return pa.field("embedding", _list_type(pa.from_numpy_dtype(np.dtype(dtype)), width), nullable=False)


def vectors_to_arrow(vectors: NDArray[np.floating]) -> pa.FixedSizeListArray:
    """Return (n, d) vectors as an Arrow column of fixed-size lists of non-null numbers."""
    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, type=_list_type(flat.type, vectors.shape[1]))


def arrow_to_vectors(column: pa.ChunkedArray) -> NDArray[np.floating]:
    """Return a column of fixed-size lists as (n, d) vectors; a column in one chunk is not copied."""
    flat = pc.list_flatten(column).combine_chunks().to_numpy(zero_copy_only=False)
    vectors: NDArray[np.floating] = flat.reshape(-1, column.type.list_size)
    return vectors


def _list_type(number: pa.DataType, width: int) -> pa.DataType:
    return pa.list_(pa.field("element", number, nullable=False), width)


# --------------------
# Lists of the shards that belong together.

RUN_KEYS = ("stage", "settings", "sampling", "key")
"""Metadata that all shards of a list have in common."""


def list_shards(paths: Sequence[str | Path], output: str | Path) -> None:
    """Write the list of the shards of one model and length.

    The list is a JSON object: shards ({path relative to the list's folder: sha256}), n_segments,
    segment_length (null without segments), dimension, stored_dtype, left_out ({stimulus: {reason: segments}}), cut
    ({stimulus: segments}), unknown ({stimulus: segments with unknown pieces that were kept}), made_from ({key: value},
    equal in all shards).

    Raises:
        InputError: shards differ in model, settings, code, width or length.
    """
    common = require_equal(paths, RUN_KEYS)
    kinds = [open_parquet(path).schema_arrow.field("embedding").type for path in paths]
    found = [read_table(path, ["segment_length"]).column(0).unique().to_pylist() for path in paths]
    lengths = sorted(set(chain.from_iterable(found)))
    for path, kind in zip(paths, kinds, strict=True):
        if kind != kinds[0] or len(lengths) > 1:
            raise InputError(
                f"{path}: its vectors are {kind}, of segments of length {' and '.join(lengths)}, but {paths[0]} has"
                f" {kinds[0]}. Delete the shard that does not fit, and run again."
            )
    left_out: dict[str, Counter[str]] = defaultdict(Counter)
    totals: dict[str, Counter[str]] = {"cut": Counter(), "unknown": Counter()}
    for said in map(made_from, paths):
        for stimulus, reasons in json.loads(said.get("left_out", "{}")).items():
            left_out[stimulus].update(reasons)
        for name, total in totals.items():
            total.update(json.loads(said.get(name, "{}")))
    names = {Path(relpath(path, Path(output).parent)).as_posix(): Path(path) for path in paths}
    listed = {
        "shards": {name: sha256_of_file(path) for name, path in names.items()},
        "n_segments": sum(open_parquet(path).metadata.num_rows for path in paths),
        "segment_length": lengths[0] if lengths else None,
        "dimension": kinds[0].list_size,
        "stored_dtype": "float16" if kinds[0].value_type == pa.float16() else "float32",
        "left_out": left_out,
        **totals,
        "made_from": {key: value for key, value in common.items() if value},
    }
    write_document(output, dict(sorted(listed.items())))


def shard_paths(list_path: str | Path) -> list[Path]:
    """Return the shards that a list names, relative to its folder.

    Raises:
        InputError: the list or a shard is missing, or a shard comes from another model, other settings or another
            sample than the list.
    """
    listed = _read_list(Path(list_path))
    paths = [Path(list_path).parent / name for name in listed["shards"]]
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path}: {list_path} lists this shard, and it is missing. Restore it, or run again.")
        said = made_from(path)
        for key, value in listed.get("made_from", {}).items():
            if key in RUN_KEYS and said.get(key, "") != value:
                raise InputError(
                    f"{path}: {_difference(key, said.get(key, ''), value)}, but {list_path} lists it. Vectors of"
                    " different models or settings are never mixed: delete the shard and the list, and run again."
                )
    return paths


def _difference(key: str, found: str, expected: str) -> str:
    """Return the first setting that differs, or the whole values if they are not settings."""
    with suppress(ValueError, AttributeError):
        one, other = json.loads(found), json.loads(expected)
        name = min(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
        return f"was made with {name} {one.get(name)!r}, not {other.get(name)!r}"
    return f"was made with {key} {found!r}, not {expected!r}"


def _read_list(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError(f"{path}: no such list of shards. Restore it, or run the workflow again.")
    listed: dict[str, Any] = read_document(path)
    if not isinstance(listed.get("shards"), dict):
        raise InputError(f"{path}: not a list of shards. Delete it and run the workflow again.")
    return listed


# --------------------
# Reading the vectors of stimuli.


def read_embeddings(
    list_path: str | Path, *, stimuli: Collection[str] | None = None, twin: int | None = None
) -> dict[str, Vectors]:
    """Read the vectors of each stimulus, from the shards that a list names, into memory.

    Args:
        list_path: written by `prasanga.embeddings.list_shards`.
        stimuli: read only these; those without a vector are absent from the result.
        twin: for vectors of twins, the number of the twin to read.

    Returns:
        {stimulus: (occurrence ids, (n, d) float32)}, n rows in the order of the shards. Float16 shards are widened.

    Raises:
        InputError: a shard is missing or does not belong to the list (`prasanga.embeddings.shards.shard_paths`).
    """
    return dict(StoredEmbeddings(list_path, stimuli, twin=twin))


class StoredEmbeddings(Mapping[str, Vectors]):
    """The vectors of each stimulus, as from `read_embeddings`, read from disk on demand.

    A large study is read word by word, a small one at once. Recently used words stay in memory, up to a bound.
    """

    def __init__(
        self,
        list_path: str | Path,
        stimuli: Collection[str] | None = None,
        cache_bytes: int = 2 << 30,
        twin: int | None = None,
    ) -> None:
        """Open the shards that a list names.

        Args:
            list_path: written by `prasanga.embeddings.list_shards`.
            stimuli: offer only these; those without a vector are absent.
            cache_bytes: most bytes of vectors to keep.
            twin: for vectors of twins, the number of the twin to read.

        Raises:
            InputError: as `read_embeddings`.
        """
        self._paths, self._twin, self._cache_bytes = shard_paths(list_path), twin, cache_bytes
        found: dict[str, tuple[list[str], list[Path]]] = {}
        for path in self._paths:
            for stimulus, ids in _read_occurrences(path, twin).items():
                if stimuli is None or stimulus in stimuli:
                    all_ids, paths = found.setdefault(stimulus, ([], []))
                    all_ids += ids
                    paths.append(path)
        self._found = dict(sorted(found.items()))
        # While it is read, a vector takes about eight times its size on disk.
        self._at_once = 8 * sum(path.stat().st_size for path in self._paths) <= min(cache_bytes, 256 << 20)
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def __getitem__(self, stimulus: str) -> Vectors:
        """Return occurrence ids and (n, d) float32 vectors of a stimulus, n rows in the order of the shards.

        Raises:
            KeyError: the stimulus does not have a vector.
        """
        ids, paths = self._found[stimulus]
        if stimulus in self._kept:
            self._kept.move_to_end(stimulus)
            return list(ids), self._kept[stimulus]
        sources, words = (self._paths, [*self._found]) if self._at_once else (paths, [stimulus])
        for word, (_, vectors) in _read_vectors(sources, words, self._twin).items():
            vectors.flags.writeable = False  # later callers get the same array
            self._kept[word] = vectors
        found = self._kept[stimulus]
        while sum(each.nbytes for each in self._kept.values()) > self._cache_bytes:
            self._kept.popitem(last=False)
        return list(ids), found

    def __iter__(self) -> Iterator[str]:
        """Iterate over the stimuli that have a vector, sorted."""
        return iter(self._found)

    def __len__(self) -> int:
        """Return how many stimuli have a vector."""
        return len(self._found)

    def __contains__(self, stimulus: object) -> bool:
        """Return whether a stimulus has a vector, without reading one."""
        return stimulus in self._found

    def ids(self, stimulus: str) -> list[str]:
        """Return the occurrence ids of a stimulus in the order of its vectors, without reading vectors."""
        return list(self._found[stimulus][0])


def read_common_occurrences(list_paths: Sequence[str | Path]) -> dict[str, set[str]]:
    """Read the occurrences of each stimulus that all these lists share; `fixed` draws index only these.

    Args:
        list_paths: lists of the models of a study at one segment length.

    Returns:
        {stimulus: occurrence ids}; the set is empty for a stimulus that one of the models lacks.

    Raises:
        InputError: as `read_embeddings`.
    """
    by_model: list[dict[str, set[str]]] = []
    for list_path in list_paths:
        by_model.append(defaultdict(set))
        for path in shard_paths(list_path):
            for stimulus, ids in _read_occurrences(path).items():
                by_model[-1][stimulus].update(ids)
    return {word: set.intersection(*(mine[word] for mine in by_model)) for word in set().union(*by_model)}


def _read_vectors(paths: Sequence[Path], stimuli: Collection[str], twin: int | None) -> dict[str, Vectors]:
    """Read ids and (n, d) vectors of each stimulus, in the order of the shards; arguments as in `read_embeddings`."""
    table = pa.concat_tables(
        _read_rows(path, ["occurrence_id", "stimulus", "embedding"], stimuli, twin) for path in paths
    )
    vectors = arrow_to_vectors(table.column("embedding"))
    if len(stimuli) == 1:  # grouping would take as long as reading
        return {word: (table.column("occurrence_id").to_pylist(), vectors.astype(np.float32)) for word in stimuli}
    rows = pl.DataFrame(table.select(["stimulus", "occurrence_id"])).with_row_index("row")
    grouped = rows.group_by("stimulus", maintain_order=True).agg("occurrence_id", "row")
    return {word: (ids, vectors[mine].astype(np.float32, copy=False)) for word, ids, mine in grouped.iter_rows()}


def _read_rows(path: Path, columns: Sequence[str], stimuli: Collection[str] | None, twin: int | None) -> pa.Table:
    """Read columns of one shard: the rows of some stimuli or all, and of one twin or the model."""
    wanted = [*columns, *([] if twin is None else ["twin"])]
    table = read_table(path, wanted) if stimuli is None else read_where(path, wanted, "stimulus", stimuli)
    return table if twin is None else table.filter(pc.field("twin") == twin).select(columns)


def _read_occurrences(path: Path, twin: int | None = None) -> dict[str, list[str]]:
    """Read the occurrence ids of each stimulus in one shard, in its order."""
    table = _read_rows(path, ["occurrence_id", "stimulus"], None, twin)
    return dict(pl.DataFrame(table).group_by("stimulus", maintain_order=True).agg("occurrence_id").iter_rows())
