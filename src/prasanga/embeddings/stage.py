"""Run the embedding stage: read a file of segments or filled templates, and write a shard of their vectors.

A shard combines rows that the store has with rows computed now. The store is filled part by part: a written part
survives a kill, and the next run goes on after it. Parts are planned over all items, not only the missing ones, so
after a kill the remaining parts run in the same batches and give the same bits. While the model works on one part, the
next is tokenized and the previous one is written.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.io import (
    Store,
    digest_of,
    made_from,
    read_document,
    read_table,
    remade_by,
    require_columns,
    to_tsv,
    write_row_groups,
    write_text,
)
from prasanga.base.logs import progress
from prasanga.base.results import describe
from prasanga.embeddings.pooling import ON_A_CPU, ON_A_GPU, Inputs, Unknown, plan_parts, read_ahead, root_end
from prasanga.embeddings.settings import (
    VectorSettings,
    open_stores,
    settle_dtype,
    settle_sentence_vector,
    start_encoder,
)
from prasanga.embeddings.shards import StoredDtype, embedding_field, rounded, vectors_to_arrow

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder

_LIBRARIES = ("torch", "transformers", "tokenizers")
_LOG = logging.getLogger(__name__)
_COPIED = ("segment_id", "occurrence_id", "stimulus", "segment_length")
_SEGMENT = (*_COPIED, "text", "start", "end")
_NUMBERS = {"n_pieces": pa.int32(), "n_unknown": pa.int32(), "cut": pa.bool_()}


class ShardFiles(NamedTuple):
    """A file of segments, and the files that are made from it."""

    segments: str | Path
    """Parquet file with segment_id, occurrence_id, stimulus, segment_length, text, start, end."""
    output: str | Path
    """Parquet file to write: the first four of these, n_pieces and n_unknown (int32; of the target, or of the whole
    sentence, special pieces included), cut (bool), embedding (fixed-size list), one row group per stimulus; for twins
    also `twin` (int32), the number of the twin that read the segment."""
    left_out: str | Path
    """Table (TSV) of the segments that are not in `output`, each with the reason."""
    made_from: Mapping[str, str]
    """Metadata for `output`."""


class VectorSource(NamedTuple):
    """The source of vectors: a model, or one of its twins."""

    stores: Sequence[Store]
    """The store of these vectors, then those of the other layers that the encoder computes in the same pass."""
    load: Callable[[], Encoder]
    """Loads the encoder, with its layers in the order of `stores`; called only if a vector is missing."""


class Item(NamedTuple):
    """A text to embed, the characters of its target, and the end of the target's root."""

    text: str
    start: int
    end: int
    root: int


def embed_files(
    segments: Sequence[str | Path],
    outputs: Sequence[str | Path],
    *,
    left_out: Sequence[str | Path],
    model: str | Path,
    embedding: Mapping[str, Any],
    root: str | Path,
    threads: int,
    cards: int,
) -> None:
    """Write the vectors of one file of segments or several; only missing vectors are computed.

    A model, or a twin, is loaded once for all files. Each file is run in batches of its own, so its vectors are the
    same to the bit, whatever other files there are.

    Args:
        segments: Parquet files with the columns of a segment and, in their metadata, how they were sampled.
        outputs: for each file, its shard of vectors (`Shard`).
        left_out: for each file, the table (TSV) of the segments that are not in its shard, with the reason.
        model: the report on the model (`prasanga.models.check_model`).
        embedding: the settings of its vectors, as plain values (`VectorSettings.of`).
        root: folder of all stores.
        threads: of the encoder on a CPU.
        cards: GPUs that the model is spread over; 0 for the CPU.

    Raises:
        InputError: a file lacks these columns; the model lacks the vector asked for; as `Encoder.embed`.
    """
    report = read_document(model)
    settings = settle_dtype(VectorSettings.of(embedding, cards=cards), report, root)
    settings = settle_sentence_vector(settings, report)
    shards = []
    for path, output, table in zip(segments, outputs, left_out, strict=True):
        described = {**settings.as_plain(), **report["identity"]}
        record = describe("embeddings", inputs=[path], settings=described, libraries=_LIBRARIES)
        shards.append(ShardFiles(path, output, table, {**record, "sampling": made_from(path)["settings"]}))
    sources = [
        VectorSource(
            open_stores(each, report, root), functools.partial(start_encoder, each, report, root, threads=threads)
        )
        for each in settings.each_twin()
    ]
    embed_shards(shards, sources, settings, width=report["hidden_size"])


def embed_shards(
    shards: Sequence[ShardFiles], sources: Sequence[VectorSource], settings: VectorSettings, *, width: int
) -> list[Counter[str]]:
    """Write the vectors of all segments of some files, in file order; embed only what the stores lack.

    Args:
        shards: the files.
        sources: the model, or its twins in their order; each is loaded at most once.
        settings: of the vectors; each of several twins reads a share of the segments (`deal`).
        width: of the vectors.

    Returns:
        For each file the counts of `fill`, over all sources.

    Raises:
        InputError: a segments file lacks these columns; as `Encoder.embed`.
    """
    asked = [_read_segments(shard.segments, settings) for shard in shards]
    found: list[list[pa.Table]] = [[] for _ in shards]
    counts: list[Counter[str]] = [Counter() for _ in shards]
    for number, source in enumerate(sources):
        load = functools.cache(source.load)
        for place, shard in enumerate(shards):
            mine = [(key, item) for key, item, twin in asked[place].items if twin == number]
            counts[place] += fill(source.stores, dict(mine), load, settings, shard.segments)
            rows = source.stores[0].read_rows([key for key, _ in mine])
            found[place] += [] if rows is None else [rows]
        del load  # frees the model before the next one is loaded
    keys = [source.stores[0].key for source in sources]
    key = digest_of(keys) if settings.twins else keys[0]
    numbers = [pa.field(name, kind, nullable=False) for name, kind in _NUMBERS.items()]
    nothing = pa.schema([*numbers, embedding_field(settings.stored_dtype, width)]).empty_table()
    for shard, segments, tables, done in zip(shards, asked, found, counts, strict=True):
        order = np.argsort(np.argsort([twin for _, _, twin in segments.items], kind="stable"))
        vectors = pa.concat_tables(tables).select(nothing.column_names).take(order) if tables else nothing
        _write(shard, segments, vectors, key, settings.unknown)
        counted = ", ".join(f"{name}={done[name]}" for name in ("reused", "embedded", "passes"))
        _LOG.info("%s: %d segments; %s", shard.output, segments.rows.num_rows, counted)
    return counts


def fill(
    stores: Sequence[Store],
    items: Mapping[str, Item],
    load: Callable[[], Encoder],
    settings: VectorSettings,
    where: str | Path,
) -> Counter[str]:
    """Embed the items that the first store lacks, and keep the vectors of every layer in its own store.

    Args:
        stores: one for each layer of the encoder, in its order; the first decides what is missing.
        items: {segment id: item}; equal ids are equal items.
        load: loads the encoder; called only if a vector is missing.
        settings: of the vectors.
        where: the file of the items, for messages.

    Raises:
        InputError: as `Encoder.embed`, with file and text; a vector is too large for `dtype`.

    Returns:
        How many items the store had (`reused`) and lacked (`embedded`), and how many texts ran through the model
        (`passes`; equal ones count once).
    """
    ids = sorted(items, key=lambda name: (len(items[name].text), *items[name]))
    has = dict(zip(ids, stores[0].find(ids).tolist(), strict=True))
    lacking = len(ids) - sum(has.values())
    if not lacking:
        return Counter(reused=len(ids))
    encoder, pooling = load(), settings.pooling
    before = encoder.passes
    parts = plan_parts([items[name].text for name in ids], range(len(ids)), ON_A_GPU if encoder.on_a_gpu else ON_A_CPU)
    missing = [lacked for places in parts if (lacked := [ids[i] for i in places if not has[ids[i]]])]

    def read(mine: list[str]) -> Inputs:
        some = [items[name] for name in mine]
        spans = [(item.start, item.end) for item in some] if pooling.unit == "target" else None
        roots = [item.root for item in some] if pooling.positions == "root" else None
        return encoder.read([item.text for item in some], spans, pooling, roots)

    unit = "segments" if pooling.unit == "target" else "sentences"
    embedding = progress(f"embedding {where} by {encoder.loaded.name}", lacking, unit)
    try:
        with ThreadPoolExecutor(1) as writer, embedding as done:
            written: Future[None] | None = None
            for mine, inputs in read_ahead(missing, read):
                vectors = encoder.run(inputs, done.advance)
                if written is not None:
                    written.result()
                written = writer.submit(_keep, stores, mine, inputs, vectors, settings.stored_dtype)
            if written is not None:
                written.result()
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    return Counter(reused=len(ids) - lacking, embedded=lacking, passes=encoder.passes - before)


def deal(stimuli: Sequence[str], n_twins: int, most: int | None = None) -> NDArray[np.int32]:
    """Return the number of the twin that reads each of n segments, (n,): 0 to `n_twins` - 1, or -1 for none.

    The segments of a stimulus are dealt in turn, in file order, which is the same for all lengths of a shared pool and
    for templates. So twins get equally many, give or take one, and at most `most` if given; if a stimulus has fewer
    segments than twins, the last twins get none.
    """
    turns: Counter[str] = Counter()
    numbers = np.full(len(stimuli), -1, dtype=np.int32)
    for place, stimulus in enumerate(stimuli):
        if most is None or turns[stimulus] < n_twins * most:
            numbers[place] = turns[stimulus] % n_twins
        turns[stimulus] += 1
    return numbers


class _SegmentRows(NamedTuple):
    """The rows of a shard and, for each, its key in the store, its item, and the source that reads it."""

    rows: pa.Table
    items: list[tuple[str, Item, int]]


def _read_segments(path: str | Path, settings: VectorSettings) -> _SegmentRows:
    """Read a file of segments; for twins, only the rows that they read, with the column `twin`.

    A segment's id is a digest of text and span, all that a vector depends on; a mean over the root also depends on the
    end of the root, which is added.
    """
    rows = read_table(path)
    require_columns(str(path), pl.DataFrame(rows), _SEGMENT, remade_by("samples"))
    rows = rows.select(_SEGMENT)
    twins = np.zeros(rows.num_rows, dtype=np.int32)
    if settings.twins:
        twins = deal(rows.column("stimulus").to_pylist(), len(settings.twins), settings.contexts_per_twin)
        rows = rows.append_column(pa.field("twin", pa.int32(), nullable=False), pa.array(twins))
        rows, twins = rows.filter(pa.array(twins >= 0)), twins[twins >= 0]
    columns = (rows.column(name).to_pylist() for name in ("segment_id", "stimulus", "text", "start", "end"))
    items = []
    for name, stimulus, text, start, end, twin in zip(*columns, twins.tolist(), strict=True):
        root = root_end(start, end, stimulus)
        if settings.pooling.positions == "root":
            name = hashlib.blake2b(f"{name} {root}".encode(), digest_size=16).hexdigest()
        items.append((name, Item(text, start, end, root), twin))
    return _SegmentRows(rows, items)


def _keep(
    stores: Sequence[Store],
    ids: Sequence[str],
    inputs: Inputs,
    layers: Sequence[NDArray[np.float32]],
    dtype: StoredDtype,
) -> None:
    """Write the vectors of one part, of every layer to its store."""
    known = [pa.array(ids, pa.string())]
    known += [pa.array(getattr(inputs, name), kind) for name, kind in _NUMBERS.items()]
    for store, vectors in zip(stores, layers, strict=True):
        store.add_rows(pa.table([*known, vectors_to_arrow(rounded(vectors, dtype))], names=store.columns))


def _write(shard: ShardFiles, segments: _SegmentRows, vectors: pa.Table, key: str, unknown: Unknown) -> None:
    """Write a shard and its table of left-out segments."""
    rows = segments.rows.drop_columns(["text", "start", "end"])
    n_pieces, n_unknown, cut = (vectors.column(name).to_numpy() for name in _NUMBERS)
    lost = n_pieces == 0  # not even the config can keep these
    left_out = lost | ((n_unknown > 0) & (unknown == "leave-out"))
    masks = {"cut": cut & ~left_out, "kept": (n_unknown > 0) & ~left_out, "position": lost, "unknown": left_out & ~lost}
    stimuli = np.array(rows.column("stimulus").to_pylist(), dtype=object)
    counted = {name: Counter(stimuli[mask]) for name, mask in masks.items()}
    reasons: dict[str, dict[str, int]] = defaultdict(dict)
    for reason in ("unknown", "position"):
        for stimulus, count in counted[reason].items():
            reasons[stimulus][reason] = count
    losses = {"left_out": reasons, "cut": counted["cut"], "unknown": counted["kept"]}
    said = {name: json.dumps(each, sort_keys=True, ensure_ascii=False) for name, each in losses.items()}
    write_text(shard.left_out, _table_of_left_out(segments, left_out, n_pieces, n_unknown))
    write_row_groups(
        shard.output,
        pa.schema([*rows.schema, *vectors.schema]),
        _group_by_stimulus(rows, vectors, np.flatnonzero(~left_out), stimuli),
        {**shard.made_from, "key": key, **said},
    )


def _group_by_stimulus(
    rows: pa.Table, vectors: pa.Table, kept: NDArray[np.intp], stimuli: NDArray[Any]
) -> Iterator[pa.Table]:
    """Yield the rows that are kept, neighbours of one stimulus together."""
    changes = np.flatnonzero(stimuli[kept][1:] != stimuli[kept][:-1]) + 1
    for group in np.split(kept, changes) if len(kept) else []:
        both = [(table, name) for table in (rows, vectors) for name in table.column_names]
        yield pa.table({name: table.column(name).take(group).combine_chunks() for table, name in both})


def _table_of_left_out(
    segments: _SegmentRows, left_out: NDArray[np.bool_], n_pieces: NDArray[np.int32], n_unknown: NDArray[np.int32]
) -> str:
    """Return the segments that are left out as a table for a spreadsheet, with the form and the reason of each."""
    counts = {"n_pieces": n_pieces, "n_unknown": n_unknown}
    rows = pl.DataFrame(segments.rows).with_columns(**{name: pl.Series(each) for name, each in counts.items()})
    unknown = pl.format("{} of {} pieces unknown to the tokenizer", "n_unknown", "n_pieces")
    nowhere = pl.lit("no piece at the position that the target has among the words")
    table = rows.filter(pl.Series(left_out)).select(
        *("segment_id", "occurrence_id", "stimulus"),
        form=pl.col("text").str.slice("start", pl.col("end") - pl.col("start")),
        reason=pl.when(pl.col("n_pieces") > 0).then(unknown).otherwise(nowhere),
    )
    return to_tsv(table.to_arrow())
