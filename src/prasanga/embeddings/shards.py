"""From segments to a shard of vectors: what the store has is reused, the rest embedded in parts that survive a kill."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from prasanga.embeddings.columns import arrow_to_vectors, vectors_to_arrow
from prasanga.embeddings.store import Rows, StoredDtype, VectorStore, item_key
from prasanga.errors import InputError
from prasanga.parquet import open_parquet, read_table, require_equal, write_table, write_text
from prasanga.provenance import sha256_of_file

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder

_LOG = logging.getLogger(__name__)
_COPIED = ("segment_id", "occurrence_id", "stimulus", "segment_length")

Item = tuple[str, int, int]


@dataclass(frozen=True)
class ShardReport:
    """What became of the segments of a shard.

    Attributes:
        reused: different (text, span) items found in the store.
        embedded: those embedded now.
        cut: segments whose text was too long for the model and was cut around the target.
        unknown: segments whose target has a piece that the tokenizer does not know.
        dropped: segments left out of the output.
    """

    reused: int
    embedded: int
    cut: int
    unknown: int
    dropped: int


def embed_shard(
    segments: str | Path,
    output: str | Path,
    *,
    store: str | Path,
    load: Callable[[], Encoder],
    made_from: Mapping[str, str],
    dimension: Callable[[], int] | None = None,
    stored_dtype: StoredDtype = "float32",
    part_size: int = 512,
) -> ShardReport:
    """Write the vectors of all segments of one file, in its order; embed only what `store` lacks.

    Equal (text, span) items are embedded once. Parts are planned over all items, not over the missing ones, so that
    after a kill the remaining parts are run in the same batches as they would have been, and give the same bits.

    Args:
        segments: Parquet file with segment_id, occurrence_id, stimulus, segment_length, text, start, end.
        output: Parquet file to write: the first four of these, n_pieces (int32), embedding (fixed-size list).
        store: folder of this vector key, segment length and bucket; outside the workflow's outputs.
        load: gives the encoder; called only if something is missing.
        made_from: metadata for `output`.
        dimension: width of the vectors, asked for only if there is no segment; from the encoder if None.
        stored_dtype: float16 or float32, in store and output.
        part_size: items kept together; a kill loses at most one part.

    Raises:
        InputError: a segments file without these columns; whatever `Encoder.embed` refuses.
    """
    rows = _read_segments(segments)
    items: list[Item] = list(zip(*(rows.column(name).to_pylist() for name in ("text", "start", "end")), strict=True))
    shelf = VectorStore(store, stored_dtype)
    if not items:
        width = dimension() if dimension is not None else load().dimension
        empty = np.empty((0, width), dtype=stored_dtype)
        write_table(output, _output_table(rows, np.empty(0, dtype=np.int32), empty), made_from)
        return ShardReport(reused=0, embedded=0, cut=0, unknown=0, dropped=0)

    keys = [item_key(*item) for item in items]
    by_key = dict(zip(keys, items, strict=True))
    reused, embedded = _fill(shelf, by_key, load, part_size)
    table = shelf.read(by_key)
    place = {key: row for row, key in enumerate(table.column("key").to_pylist())} if table is not None else {}
    if table is None or len(place) < len(by_key):
        raise InputError(f"{store}: vectors written to this store are gone. Has it been deleted? Run the job again.")
    order = np.array([place[key] for key in keys])
    n_pieces, n_unknown, cut = (table.column(name).to_numpy()[order] for name in ("n_pieces", "n_unknown", "cut"))
    vectors = arrow_to_vectors(table.column("embedding"))[order]
    write_table(output, _output_table(rows, n_pieces, vectors), made_from)
    shelf.merge()
    report = ShardReport(
        reused=reused,
        embedded=embedded,
        cut=int(np.count_nonzero(cut)),
        unknown=int(np.count_nonzero(n_unknown)),
        dropped=0,
    )
    _LOG.info("%s: %d segments; %s", output, len(items), report)
    return report


def list_shards(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    keys: Sequence[str] = ("stage", "settings", "sampling"),
) -> None:
    """Write the list of the shards that belong together: what statistics take as their input.

    The list is a small JSON object: shards ({path relative to the list's folder: sha256}), sizes ({path: bytes}),
    n_segments, dimension, made_from ({key: value}, equal in all shards).

    Raises:
        InputError: no shard; shards made by different models, settings or code, or of different widths. The message
            names the one that does not fit.
    """
    if not paths:
        raise InputError(f"{output}: no shard to list. Name at least one.")
    common = require_equal(paths, keys)
    first, *others = (open_parquet(path).schema_arrow.field("embedding").type for path in paths)
    for path, kind in zip(paths[1:], others, strict=True):
        if kind != first:
            raise InputError(
                f"{path}: its vectors are {kind}, but those of {paths[0]} are {first}. These files do not belong to one"
                " run: delete the one that does not fit and run the workflow again."
            )
    folder = Path(output).parent
    names = {Path(relpath(path, folder)).as_posix(): Path(path) for path in paths}
    listed = {
        "shards": {name: sha256_of_file(path) for name, path in names.items()},
        "sizes": {name: path.stat().st_size for name, path in names.items()},
        "n_segments": sum(open_parquet(path).metadata.num_rows for path in paths),
        "dimension": first.list_size,
        "made_from": {key: value for key, value in common.items() if value},
    }
    write_text(output, json.dumps(listed, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def _read_segments(path: str | Path) -> pa.Table:
    columns = [*_COPIED, "text", "start", "end"]
    present = open_parquet(path).schema_arrow.names
    for name in columns:
        if name not in present:
            raise InputError(
                f"{path}: no column {name!r} (found: {', '.join(present)}). A file of segments has"
                f" {', '.join(columns)}: delete this one and run the workflow again."
            )
    return read_table(path, columns)


def _fill(
    shelf: VectorStore, items: Mapping[str, Item], load: Callable[[], Encoder], part_size: int
) -> tuple[int, int]:
    """Embed the items that the store lacks, part by part. Returns how many it had and how many it lacked."""
    have_table = shelf.read(items)
    have = set() if have_table is None else set(have_table.column("key").to_pylist())
    encoder: Encoder | None = None
    for part in _parts(items, part_size):
        missing = [key for key in part if key not in have]
        if not missing:
            continue
        encoder = encoder or load()
        targets = encoder.embed_targets(
            [items[key][0] for key in missing], [(items[key][1], items[key][2]) for key in missing]
        )
        shelf.add(Rows(missing, targets.n_pieces, targets.n_unknown, targets.cut, targets.vectors.astype(shelf.dtype)))
    return len(have), len(items) - len(have)


def _parts(items: Mapping[str, Item], part_size: int) -> list[list[str]]:
    """Keys in parts of about `part_size`: short texts first, and all targets of one text in one part."""
    parts: list[list[str]] = [[]]
    before = None
    for key, (text, _, _) in sorted(items.items(), key=lambda pair: (len(pair[1][0]), *pair[1])):
        if len(parts[-1]) >= part_size and text != before:
            parts.append([])
        parts[-1].append(key)
        before = text
    return parts


def _output_table(
    rows: pa.Table, n_pieces: np.ndarray[tuple[int], np.dtype[np.int32]], vectors: np.ndarray
) -> pa.Table:
    columns = {name: rows.column(name) for name in _COPIED}
    return pa.table({**columns, "n_pieces": pa.array(n_pieces, pa.int32()), "embedding": vectors_to_arrow(vectors)})
