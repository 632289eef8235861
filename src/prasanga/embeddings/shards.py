"""Vectors on the disk: stores of all that were ever computed, the shards of a study, and the lists that name shards.

A list is a small file beside a folder of shards that names each with its size and digest. Statistics take the list as
their input, so equal shards rerun nothing; the price is that nobody else notices a shard that was deleted by hand. So
every reader here compares what it finds with the list. All of it works without torch.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from prasanga.base.documents import read_document, sha256_of_file, write_document
from prasanga.base.errors import InputError
from prasanga.base.parquet import (
    DamagedFileError,
    made_from,
    open_parquet,
    read_table,
    read_where,
    reading,
    require_equal,
    require_every_page,
)
from prasanga.base.store import KEY, Store

# --------------------
# The stores of vectors: one for everything but text and span that a vector depends on.

_LOG = logging.getLogger(__name__)
StoredDtype = Literal["float16", "float32"]
"""Precision in which vectors are kept."""
_SETTINGS = ("model", "layer", "pooling", "dtype")
_COLUMNS = {"segment_id": pa.string(), "n_pieces": pa.int32(), "n_unknown": pa.int32(), "cut": pa.bool_()}


@dataclass(frozen=True)
class Rows:
    """Rows of a store: n vectors with what is known of each.

    Attributes:
        ids: n segment ids (digests of text and span, 32 hexadecimal digits).
        n_pieces: (n,) int32, pieces of the target.
        n_unknown: (n,) int32, those that the tokenizer does not know.
        cut: (n,) bool, whether the text was cut to fit the model.
        embedding: (n, d), float16 or float32.
    """

    ids: list[str]
    n_pieces: NDArray[np.int32]
    n_unknown: NDArray[np.int32]
    cut: NDArray[np.bool_]
    embedding: NDArray[np.floating]

    def to_table(self) -> pa.Table:
        """Return an Arrow table with the columns named as the attributes, `ids` as segment_id; none has nulls."""
        known = zip((self.ids, self.n_pieces, self.n_unknown, self.cut), _COLUMNS.values(), strict=True)
        vectors = vectors_to_arrow(self.embedding)
        columns = [*(pa.array(values, kind) for values, kind in known), vectors]
        return pa.Table.from_arrays(columns, schema=_columns(vectors.type))


class VectorStore(Store):
    """The vectors of one key."""

    def __init__(
        self,
        folder: str | Path,
        dtype: StoredDtype = "float16",
        key: str = "",
        describes: Mapping[str, Any] | None = None,
    ) -> None:
        """Use `folder`, which need not exist.

        Args:
            folder: the folder of this key alone.
            dtype: precision that vectors are kept in.
            key: `vector_key`. Files of another key, or in another dtype, count as absent.
            describes: what the key is a digest of, for readers.

        Raises:
            InputError: if the folder is of another key.
        """
        self.dtype: StoredDtype = dtype
        number = pa.from_numpy_dtype(np.dtype(dtype))
        super().__init__(folder, key, _columns(_list_type(number)), describes)

    def read(self, ids: Sequence[str]) -> Rows | None:
        """Return the rows of `ids`, in their order, without those that the store lacks; None if it has none."""
        table = self.read_table(ids)
        if table is None:
            return None
        n_pieces, n_unknown, cut = (table.column(name).to_numpy() for name in ("n_pieces", "n_unknown", "cut"))
        vectors = arrow_to_vectors(table.column("embedding"))
        return Rows(table.column("segment_id").to_pylist(), n_pieces, n_unknown, cut, vectors)

    def add(self, rows: Rows, record: Mapping[str, Any]) -> Path:
        """Keep `rows` (`Store.add_table`).

        Raises:
            InputError: rows that this store cannot hold; a folder that cannot be written to.
        """
        lengths = {len(column) for column in (rows.n_pieces, rows.n_unknown, rows.cut, rows.embedding)}
        if lengths != {n := len(rows.ids)} or rows.embedding.ndim != 2:
            columns = f"{n} ids with columns of {sorted(lengths)} rows"
            raise InputError(f"{self.folder}: {columns}, a mistake in the program.")
        if rows.embedding.dtype != self.dtype:
            raise InputError(f"{self.folder}: vectors in {rows.embedding.dtype} cannot be kept, only in {self.dtype}.")
        whole = np.isfinite(rows.embedding).all(axis=1)
        if not whole.all():
            name = rows.ids[int(np.argmin(whole))]
            raise InputError(
                f"{self.folder}: the vector of segment {name} has a number that is not finite in {self.dtype}. If it is"
                " only too large, write embeddings: {stored_dtype: float32}."
            )
        return self.add_table(rows.to_table(), record)


def vector_key(
    identity: Mapping[str, str], layer: int, pooling: str, dtype: str, version: int, **more: str | int | float | bool
) -> str:
    """Return the name of a store: a digest of everything but text and span that a vector depends on.

    Args:
        identity: `prasanga.models.model_identity` of the model.
        layer: hidden layer.
        pooling: how pieces become one vector.
        dtype: precision that the model runs in.
        version: `VECTORS_VERSION`.
        more: anything else that changes vectors, such as stored_dtype, pieces, quantization, options of the tokenizer.
    """
    model = {"identity": dict(identity), "layer": layer, "pooling": pooling, "dtype": dtype}
    parts = {**model, "version": version, "more": more}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def history_of(root: str | Path) -> pl.DataFrame:
    """Return a row for each file of every store under `root`, oldest first: the store, its model, `Store.history`.

    A table with these columns and no rows if there is no store. A store whose key.json is damaged is left out, with a
    warning that names the file.
    """
    tables = []
    for store, described in [(VectorStore(Path(root, "none")), {}), *_stores(Path(root))]:
        first = {"store": store.folder.name, **{name: str(described.get(name, "")) for name in _SETTINGS}}
        columns = [pl.lit(value, pl.String).alias(name) for name, value in first.items()]
        tables.append(store.history().select(*columns, pl.exclude(*first)))
    return pl.concat(tables, how="diagonal_relaxed").sort("written", "store", "shard")


def compact_stores(root: str | Path) -> int:
    """Put the small files of every store under `root` together; return how many files were replaced.

    A store whose key.json is damaged is left as it is, with a warning that names the file.
    """
    replaced = 0
    for store, described in _stores(Path(root)):
        count = store.compact()
        _LOG.info("%s (%s): %d files put together", store.folder, described.get("model"), count)
        replaced += count
    return replaced


def rounded(vectors: NDArray[np.float32], dtype: StoredDtype) -> NDArray[np.floating]:
    """Return vectors in `dtype`.

    Raises:
        InputError: if one has a number too large for it.
    """
    with np.errstate(over="ignore"):
        kept = vectors.astype(dtype)
    if not np.isfinite(kept).all():
        largest = float(np.abs(vectors).max())
        raise InputError(
            f"a vector has a number of {largest:.4g}, too large for {dtype} (at most {np.finfo(dtype).max:.0f}). Write"
            " embeddings: {stored_dtype: float32}."
        )
    return kept


def embedding_field(dtype: StoredDtype, width: int) -> pa.Field:
    """Return the schema's field for vectors of `width` numbers: named embedding.

    Neither a row nor a number in it may be null: Parquet then has no levels to decode, and is read much faster.
    """
    return pa.field("embedding", _list_type(pa.from_numpy_dtype(np.dtype(dtype)), width), nullable=False)


def vectors_to_arrow(vectors: NDArray[np.floating]) -> pa.FixedSizeListArray:
    """Return (n, d) vectors as an Arrow column of fixed-size lists of non-null numbers."""
    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, type=_list_type(flat.type, vectors.shape[1]))


def arrow_to_vectors(column: pa.ChunkedArray) -> NDArray[np.floating]:
    """Return a column of fixed-size lists as (n, d) vectors; no copy is made of a column in one chunk."""
    width = column.type.list_size
    chunks: list[NDArray[np.floating]] = [
        chunk.flatten().to_numpy(zero_copy_only=False).reshape(-1, width) for chunk in column.chunks
    ]
    if len(chunks) == 1:
        return chunks[0]
    return np.concatenate(chunks) if chunks else np.empty((0, width), column.type.value_type.to_pandas_dtype())


def _list_type(number: pa.DataType, width: int = -1) -> pa.DataType:
    return pa.list_(pa.field("element", number, nullable=False), width)


def _columns(vectors: pa.DataType) -> pa.Schema:
    kinds = {**_COLUMNS, "embedding": vectors}
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in kinds.items()])


def _stores(root: Path) -> Iterator[tuple[VectorStore, dict[str, Any]]]:
    for path in sorted(root.glob(f"*/{KEY}")):
        try:
            described = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(described, dict) or not isinstance(described.get("key"), str):
                raise ValueError("it has no key")
            described.setdefault("stored_dtype", "float16")
            if described["stored_dtype"] not in (known := get_args(StoredDtype)):
                raise ValueError(f"stored_dtype is {described['stored_dtype']!r}, not {' or '.join(known)}")
            store = VectorStore(path.parent, described["stored_dtype"], described["key"])
        except (OSError, ValueError) as error:
            _LOG.warning(
                "%s: does not say of what the vectors beside it are (%s); they are passed over. Delete the file, and"
                " the next job that adds vectors there writes it anew; or delete the folder, if nobody needs them.",
                path,
                error,
            )
            continue
        yield store, described


# --------------------
# The shards of vectors that belong together, and the lists that name them.

RUN_KEYS = ("stage", "settings", "sampling", "key")
"""What shards of one list have in common, of all that their metadata say of their making."""
_AT_ONCE = 256 * 2**20
"""Bytes of memory that reading all shards at once may take: a job of statistics asks for 1,000 MB."""
_READ = ("occurrence_id", "stimulus", "segment_length", "embedding")
_SETTLED_LATER = (("dtype", "auto"), ("sentence_vector", "auto"))
_OF_ONE_RUN = "These files do not belong to one run: delete the one that does not fit and run the workflow again."
_REMEDY = (
    "Restore the shard; or delete both, the shard and the list, and run the workflow again with embeddings: {source:"
    " computed}: what the store has is not embedded again."
)


def list_shards(paths: Sequence[str | Path], output: str | Path, *, keys: Sequence[str] = RUN_KEYS) -> None:
    """Write the list of the shards of one model and length.

    The list is a JSON object: shards ({path relative to the list's folder: sha256}), sizes ({path: bytes}), bytes
    (their sum), n_segments, segment_length (null without segments), dimension, stored_dtype, left_out ({stimulus:
    {reason: segments}}), cut ({stimulus: segments}), unknown ({stimulus: segments with unknown pieces that were kept}),
    made_from ({key: value}, equal in all shards).

    Raises:
        InputError: no shard; a damaged one; shards made by different models, settings or code, or of different widths
            or lengths. The message names the one that does not fit.
    """
    if not paths:
        raise InputError(f"{output}: no shard to list. Name at least one.")
    for path in paths:  # what is listed is believed from here on
        require_every_page(path)
    common = require_equal(paths, keys)
    first, *others = (open_parquet(path).schema_arrow.field("embedding").type for path in paths)
    for path, kind in zip(paths[1:], others, strict=True):
        if kind != first:
            raise InputError(f"{path}: its vectors are {kind}, but those of {paths[0]} are {first}. {_OF_ONE_RUN}")
    lengths = [(length, path) for path in paths for length in segment_lengths(path)]
    for length, path in lengths:
        if length != lengths[0][0]:
            other, known = lengths[0]
            what = f"has segments of length {length}, but those of {known} have {other}."
            raise InputError(f"{path}: {what} {_OF_ONE_RUN}")
    left_out: dict[str, Counter[str]] = defaultdict(Counter)
    totals: dict[str, Counter[str]] = {"cut": Counter(), "unknown": Counter()}
    for said in map(made_from, paths):
        for stimulus, reasons in json.loads(said.get("left_out", "{}")).items():
            left_out[stimulus].update(reasons)
        for name, total in totals.items():
            total.update(json.loads(said.get(name, "{}")))
    folder = Path(output).parent
    names = {Path(relpath(path, folder)).as_posix(): Path(path) for path in paths}
    sizes = {name: path.stat().st_size for name, path in names.items()}
    listed = {
        "shards": {name: sha256_of_file(path) for name, path in names.items()},
        "sizes": sizes,
        "bytes": sum(sizes.values()),
        "n_segments": sum(open_parquet(path).metadata.num_rows for path in paths),
        "segment_length": lengths[0][0] if lengths else None,
        "dimension": first.list_size,
        "stored_dtype": "float16" if first.value_type == pa.float16() else "float32",
        "left_out": left_out,
        **totals,
        "made_from": {key: value for key, value in common.items() if value},
    }
    write_document(output, dict(sorted(listed.items())))


def shard_paths(list_path: str | Path, *, verify: bool = False) -> list[Path]:
    """Return the shards that a list names, checked for being there and having the size listed.

    Args:
        list_path: written by `prasanga.embeddings.list_shards`; shards are named relative to its folder.
        verify: compare the content's sha256 as well, which reads every byte.

    Raises:
        InputError: no list, or a shard that is missing or another file than the one listed.
    """
    listed = _read_list(Path(list_path))
    paths = [Path(list_path).parent / name for name in listed["shards"]]
    for path, (name, sha256) in zip(paths, listed["shards"].items(), strict=True):
        if not path.is_file():
            raise _BadListError(f"{path}: no such file, but {list_path} lists it.", _REMEDY)
        size, expected = path.stat().st_size, listed["sizes"][name]
        if size != expected:
            raise _BadListError(f"{path}: has {size} bytes, but {list_path} lists it with {expected}.", _REMEDY)
        if verify and sha256_of_file(path) != sha256:
            raise _BadListError(f"{path}: its content is not what {list_path} lists (sha256 {sha256}).", _REMEDY)
    return paths


def fitting_shards(list_path: str | Path, *, verify: bool = False) -> list[Path]:
    """Return the shards that a list names, as `shard_paths`, if all are of one model, one length and one run.

    Raises:
        InputError: a shard with vectors of another model, layer, precision, pooling or sampling than the list says (or,
            where it says nothing, than the first shard), of another width, or with segments of another length. The
            message names the file and the setting.
    """
    listed = _read_list(Path(list_path))
    paths = shard_paths(list_path, verify=verify)
    expected: dict[str, str] = {}
    length: str | None = listed.get("segment_length")
    width: int | None = listed.get("dimension")
    for path in paths:
        with _reading_shards():
            schema, said = open_parquet(path).schema_arrow, made_from(path)
        if absent := [name for name in _READ if name not in schema.names]:
            raise _misfit(path, list_path, f"has no column {absent[0]!r} and is no shard of vectors")
        expected = expected or {key: listed.get("made_from", {}).get(key, said.get(key, "")) for key in RUN_KEYS}
        for key, value in expected.items():
            if said.get(key, "") != value:
                raise _misfit(path, list_path, _difference(key, said.get(key, ""), value))
        found = int(schema.field("embedding").type.list_size)
        width = found if width is None else width
        if found != width:
            raise _misfit(path, list_path, f"has vectors of {found} numbers, not {width}")
        for other in segment_lengths(path):
            length = other if length is None else length
            if other != length:
                raise _misfit(path, list_path, f"has segments of length {other}, not {length}")
    return paths


def require_shards(
    list_paths: Mapping[str, Mapping[str, Any]], without: Mapping[str, Collection[str]] | None = None
) -> None:
    """Refuse to begin if vectors from the cache are missing, or are others than the config asks for.

    Said while planning, before any job runs.

    Args:
        list_paths: the lists of the study, each with what the config says of its vectors: settings of the model (path,
            revision, layer, dtype), of the sampling and of the sentences. A setting of which a list says nothing, and
            one that is `auto`, are not compared.
        without: lists that a study can go without, by a sentence that says whose they are and what to write then.

    Raises:
        InputError: with the number of lists that are missing or do not fit, the first of them, and what to do.
    """
    problems: dict[str, str] = {}
    for list_path, expected in list_paths.items():
        try:
            shard_paths(list_path)
            _require_settings(Path(list_path), expected)
        except _BadListError as error:
            problems[list_path] = error.what
    if not problems:
        return
    more = f" (and {len(problems) - 1} more like this)" if len(problems) > 1 else ""
    optional = {text: sum(path in paths for path in problems) for text, paths in (without or {}).items()}
    raise InputError(
        " ".join(
            [
                f"embeddings.source is 'cached', but vectors are missing or do not fit{more}:",
                next(iter(problems.values())),
                "Copy the right ones under results/embeddings, or let the models compute them: write `embeddings:"
                " {source: computed}`.",
                *(f"{_of_them(count, len(problems))} {text}" for text, count in optional.items() if count),
            ]
        )
    )


def read_embeddings(
    list_path: str | Path, *, stimuli: Collection[str] | None = None, verify: bool = False, twin: int | None = None
) -> dict[str, tuple[list[str], NDArray[np.float32]]]:
    """Read the vectors of each stimulus, from the shards that a list names, all into memory at once.

    Args:
        list_path: written by `prasanga.embeddings.list_shards`.
        stimuli: read only these, and of the files only their part; those without a vector are absent from the result.
        verify: see `prasanga.embeddings.shards.shard_paths`.
        twin: of vectors of twins, the number of the one whose are read.

    Returns:
        {stimulus: (occurrence ids, (n, d) float32)}, n rows in the order of the shards. Float16 shards are widened.

    Raises:
        InputError: a shard is missing or does not belong to the list (`prasanga.embeddings.shards.fitting_shards`).
    """
    return _vectors_of(fitting_shards(list_path, verify=verify), stimuli, twin)


class StoredEmbeddings(Mapping[str, tuple[list[str], NDArray[np.float32]]]):
    """The vectors of each stimulus as `read_embeddings` gives them, read from the disk when they are asked for.

    A large study is measured word by word, a small one is read at once. What was used last stays in memory, up to a
    bound; names of stimuli and of their occurrences are there from the start, and cost no vector. Vectors cannot be
    written to.
    """

    def __init__(
        self,
        list_path: str | Path,
        stimuli: Collection[str] | None = None,
        verify: bool = True,
        cache_bytes: int = 2 * 2**30,
        twin: int | None = None,
    ) -> None:
        """Look at the shards that a list names.

        Args:
            list_path: written by `prasanga.embeddings.list_shards`.
            stimuli: offer only these; those without a vector are absent.
            verify: compare each shard's sha256 now, which reads every byte once.
            cache_bytes: most bytes of vectors to keep.
            twin: of vectors of twins, the number of the one whose are read.

        Raises:
            InputError: as `read_embeddings`.
        """
        wanted = None if stimuli is None else set(stimuli)
        found: dict[str, tuple[list[str], list[Path]]] = {}
        self._paths = fitting_shards(list_path, verify=verify)
        for path in self._paths:
            for stimulus, ids in _occurrences(path, twin).items():
                if wanted is None or stimulus in wanted:
                    all_ids, paths = found.setdefault(stimulus, ([], []))
                    all_ids += ids
                    paths.append(path)
        self._found = dict(sorted(found.items()))
        self._cache_bytes, self._twin = cache_bytes, twin
        # While it is read, a vector takes some eight times its bytes on disk; opening a file takes 2 ms.
        self._at_once = 8 * sum(path.stat().st_size for path in self._paths) <= min(cache_bytes, _AT_ONCE)
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def __getitem__(self, stimulus: str) -> tuple[list[str], NDArray[np.float32]]:
        """Return occurrence ids and (n, d) float32 vectors of a stimulus, n rows in the order of the shards.

        Raises:
            KeyError: the stimulus has no vector.
            InputError: a shard is damaged, or was replaced since.
        """
        ids, paths = self._found[stimulus]
        if stimulus in self._kept:
            self._kept.move_to_end(stimulus)
            return list(ids), self._kept[stimulus]
        wanted = self._found if self._at_once else [stimulus]
        found = _vectors_of(self._paths if self._at_once else paths, wanted, self._twin)
        for word in wanted:
            counted, shards = self._found[word]
            if word not in found or found[word][0] != counted:
                raise InputError(f"{shards[0]}: its rows of {word!r} have changed since they were counted. Run again.")
            vectors = found[word][1]
            vectors.flags.writeable = False  # the next one to ask gets the same array
            if vectors.nbytes <= self._cache_bytes:
                while self._kept and self.kept_bytes + vectors.nbytes > self._cache_bytes:
                    self._kept.popitem(last=False)  # what was not used for longest
                self._kept[word] = vectors
        return list(ids), found[stimulus][1]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the stimuli that have a vector, sorted."""
        return iter(self._found)

    def __len__(self) -> int:
        """Return how many stimuli have a vector."""
        return len(self._found)

    def __contains__(self, stimulus: object) -> bool:
        """Return whether a stimulus has a vector; none is read."""
        return stimulus in self._found

    def ids(self, stimulus: str) -> list[str]:
        """Return the occurrence ids of a stimulus, in the order of its vectors; no vector is read. KeyError if none."""
        return list(self._found[stimulus][0])

    @property
    def kept_bytes(self) -> int:
        """Bytes of the vectors in memory."""
        return sum(vectors.nbytes for vectors in self._kept.values())


def read_common_occurrences(list_paths: Sequence[str | Path]) -> dict[str, set[str]]:
    """Read the occurrences of each stimulus that all these lists have: what draws in the mode `fixed` may index.

    Args:
        list_paths: lists of the models of a study at one segment length.

    Returns:
        {stimulus: occurrence ids}; a stimulus that one of the models lacks has an empty set.

    Raises:
        InputError: as `read_embeddings`.
    """
    of_models: list[dict[str, set[str]]] = []
    for list_path in list_paths:
        of_models.append(defaultdict(set))
        for path in fitting_shards(list_path):
            for stimulus, ids in _occurrences(path).items():
                of_models[-1][stimulus].update(ids)
    stimuli = set().union(*of_models)
    return {stimulus: set.intersection(*(mine[stimulus] for mine in of_models)) for stimulus in stimuli}


def _vectors_of(
    paths: Sequence[Path], stimuli: Collection[str] | None, twin: int | None
) -> dict[str, tuple[list[str], NDArray[np.float32]]]:
    """Read ids and (n, d) vectors of each stimulus, in the order of the shards; arguments as of `read_embeddings`."""
    with _reading_shards():
        tables = [_rows_of(path, ["occurrence_id", "stimulus", "embedding"], stimuli, twin) for path in paths]
    if not tables:
        return {}
    table = pa.concat_tables(tables)
    vectors = arrow_to_vectors(table.column("embedding"))
    if stimuli is not None and len(stimuli) == 1:
        ids = table.column("occurrence_id").to_pylist()
        return {word: (ids, vectors.astype(np.float32)) for word in stimuli} if ids else {}
    rows = pl.DataFrame(table.select(["stimulus", "occurrence_id"])).with_row_index("row")
    grouped = rows.group_by("stimulus", maintain_order=True).agg("occurrence_id", "row").sort("stimulus")
    return {word: (ids, vectors[mine].astype(np.float32, copy=False)) for word, ids, mine in grouped.iter_rows()}


def _rows_of(path: Path, columns: Sequence[str], stimuli: Collection[str] | None, twin: int | None) -> pa.Table:
    """Read columns of one shard: the rows of some stimuli, or of all; of one twin, or of a model."""
    wanted = [*columns, *([] if twin is None else ["twin"])]
    table = read_table(path, wanted) if stimuli is None else read_where(path, wanted, "stimulus", stimuli)
    return table if twin is None else table.filter(pc.field("twin") == twin).select(columns)


def _occurrences(path: Path, twin: int | None = None) -> dict[str, list[str]]:
    """Read the occurrence ids of each stimulus in one shard, in its order."""
    with _reading_shards():
        table = _rows_of(path, ["occurrence_id", "stimulus"], None, twin)
    grouped = pl.DataFrame(table).group_by("stimulus", maintain_order=True).agg("occurrence_id")
    return dict(grouped.iter_rows())


class _BadListError(InputError):
    """What is wrong with a list (`what`) and, apart from that, what to do about this list alone."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what} {remedy}")
        self.what = what


@contextmanager
def _reading_shards() -> Iterator[None]:
    """Say of a damaged shard that its list is to be made again as well."""
    try:
        yield
    except DamagedFileError as error:
        raise InputError(f"{error.what} {_REMEDY}") from error


def segment_lengths(path: str | Path) -> list[str]:
    """Read the segment lengths in a shard, from its footer where that is enough; none in one without rows."""
    file = open_parquet(path)
    place = file.schema_arrow.names.index("segment_length")
    chunks = [file.metadata.row_group(group).column(place).statistics for group in range(file.num_row_groups)]
    if all(chunk is not None and chunk.has_min_max and chunk.min == chunk.max for chunk in chunks):
        return sorted({chunk.min for chunk in chunks})
    with reading(path):
        return sorted(set(file.read(columns=["segment_length"]).column(0).to_pylist()))


def _misfit(path: Path, list_path: str | Path, how: str) -> InputError:
    return InputError(
        f"{path}: {how}, but {list_path} lists it. Vectors of different models, settings or lengths are never mixed:"
        " delete the shard and the list, and run the workflow again."
    )


def _difference(key: str, found: str, expected: str) -> str:
    """Name what differs, by the first setting that does where both sides are settings."""
    try:
        one, other = json.loads(found), json.loads(expected)
        name = min(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
        return f"was made with {name} {one.get(name)!r}, not {other.get(name)!r}"
    except (ValueError, AttributeError):
        return f"was made with {key} {found!r}, not {expected!r}"


def _of_them(count: int, total: int) -> str:
    if total == 1:
        return "This one is"
    return f"{'All' if count == total else count} of these {total} {'is' if count == 1 else 'are'}"


def _require_settings(list_path: Path, expected: Mapping[str, Any]) -> None:
    made_from = _read_list(list_path).get("made_from", {})
    recorded = {**json.loads(made_from.get("settings", "{}")), **json.loads(made_from.get("sampling", "{}"))}
    for key, value in expected.items():
        if key in recorded and recorded[key] != value and (key, value) not in _SETTLED_LATER:
            made = f"{list_path}: its vectors were made with {key} {recorded[key]!r}, but the config says {value!r}."
            raise _BadListError(made, _REMEDY)


def _read_list(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise _BadListError(f"{path}: no such list of shards.", "Restore it, or let the workflow make it.")
    with suppress(InputError, KeyError, AttributeError):
        listed = read_document(path)
        if listed["shards"].keys() == listed["sizes"].keys():
            return listed
    raise _BadListError(f"{path}: not a list of shards.", "Delete it and run the workflow again.")
