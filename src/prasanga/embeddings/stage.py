"""The embedding stage: a file of segments, or of filled templates, to a shard of the vectors that a model gives them.

A shard is made of what the store has and of what it was short of. The store is filled part by part: a part that is
written survives a kill, and the next run goes on there. Parts are planned over all items and not over the missing ones.
So after a kill the remaining parts are run in the same batches as they would have been, and give the same bits. (Where
two stimuli claim one form, as in the authors' lists, an item may stand in two buckets; whichever job comes first embeds
it, and the other's batches are without it.) While the model works on one part, the next is tokenized and the one before
is written.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import itertools
import json
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from prasanga.base.documents import digest_of, read_document, to_tsv
from prasanga.base.errors import InputError
from prasanga.base.origin import describe
from prasanga.base.parquet import made_from, open_parquet, read_table, write_row_groups, write_text
from prasanga.base.progress import progress
from prasanga.embeddings.pooling import ON_A_CPU, ON_A_GPU, Pooling, Unknown, plan_parts, read_ahead, root_end
from prasanga.embeddings.settings import (
    VectorSettings,
    open_stores,
    settle_dtype,
    settle_sentence_vector,
    start_encoder,
)
from prasanga.embeddings.shards import Rows, VectorStore, embedding_field, rounded, vectors_to_arrow
from prasanga.methods import MOST_OF_A_TWIN

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder
    from prasanga.embeddings.pooling import Counts, Inputs


_LIBRARIES = ("torch", "transformers", "tokenizers")
_LOG = logging.getLogger(__name__)
_COPIED = ("segment_id", "occurrence_id", "stimulus", "segment_length")
_TWIN = pa.field("twin", pa.int32(), nullable=False)
_LEFT_OUT = ("segment_id", "occurrence_id", "stimulus")
_UNKNOWN, _POSITION = "unknown", "position"
_ATTEMPTS = 3
_NUMBERS = {"n_pieces": pa.int32(), "n_unknown": pa.int32(), "cut": pa.bool_()}


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
    """Write the vectors of files of segments, of one file or of several; only those that no store has are computed.

    A model is loaded once for all of them, and a twin likewise. Each file is run in batches of its own, so that its
    vectors are the same to the bit whatever other files come with it.

    Args:
        segments: Parquet files with the columns of a segment and, in their metadata, how they were sampled.
        outputs: the shard of vectors of each (`embed_shards`).
        left_out: of each, the table (TSV) of the segments that are not in it, with the reason.
        model: the report on the model (`prasanga.models.check_model`).
        embedding: the settings of its vectors, as plain values (`VectorSettings.of`).
        root: folder of all stores.
        threads: of the encoder on a CPU.
        cards: that the model is spread over; 0 for the processor.

    Raises:
        InputError: a file without these columns, a model without the vector that is asked for; whatever the encoder
            refuses.
    """
    report = read_document(model)
    settings = settle_dtype(VectorSettings.of(embedding, cards=cards), report, root)
    settings = settle_sentence_vector(settings, report)
    shards = []
    for path, output, table in zip(segments, outputs, left_out, strict=True):
        record = describe(
            "embeddings",
            inputs=[path],
            settings={**settings.as_plain(), **report["identity"]},
            libraries=_LIBRARIES,
        )
        shards.append(Shard(path, output, table, {**record, "sampling": made_from(path)["settings"]}))
    sources = [
        Source(open_stores(of_one, report, root), partial(start_encoder, of_one, report, root, threads=threads))
        for of_one in settings.of_twins()
    ]
    embed_shards(
        shards,
        sources=sources,
        twins=bool(settings.twins),
        dimension=lambda: report["hidden_size"],
        pooling=settings.pooling,
        unknown=settings.unknown,
    )


class Shard(NamedTuple):
    """A file of segments, and what is made of it."""

    segments: str | Path
    """Parquet file with segment_id, occurrence_id, stimulus, segment_length, text, start, end."""
    output: str | Path
    """Parquet file to write: the first four of these, n_pieces and n_unknown (int32; of the target, or of the whole
    sentence, special pieces included), cut (bool), embedding (fixed-size list), a row group for each stimulus; of twins
    also `twin` (int32), the number of the one that read the segment."""
    left_out: str | Path
    """Table (TSV) of the segments that are not in `output`, each with the reason."""
    made_from: Mapping[str, str]
    """Metadata for `output`."""


def embed_shard(
    segments: str | Path,
    output: str | Path,
    *,
    left_out: str | Path,
    sources: Sequence[Source],
    dimension: Callable[[], int],
    made_from: Mapping[str, str],
    **options: Any,
) -> ShardReport:
    """Write the vectors of all segments of one file, as `embed_shards` does of several."""
    shard = Shard(segments, output, left_out, made_from)
    return embed_shards([shard], sources=sources, dimension=dimension, **options)[0]


def embed_shards(
    shards: Sequence[Shard],
    *,
    sources: Sequence[Source],
    dimension: Callable[[], int],
    twins: bool = False,
    pooling: Pooling | None = None,
    unknown: Unknown = "leave-out",
    part: int | None = None,
) -> list[ShardReport]:
    """Write the vectors of all segments of some files, each in its order; embed only what the store lacks.

    Equal (text, span) items are embedded once. The finished shard of a model is at the same time a file of the store,
    so that the vectors lie on the disk once.

    Args:
        shards: the files.
        sources: of the vectors: the model, or its twins in their order; each is loaded once, if at all.
        dimension: width of the vectors, asked for only if a file has no segment.
        twins: whether the sources are twins, each of which reads a share of the segments (`deal`).
        pooling: what the vectors are made of; by default all pieces of the target.
        unknown: what becomes of a target with a piece that the tokenizer does not know.
        part: see `prasanga.embeddings.stage.fill`.

    Raises:
        InputError: a segments file without these columns; whatever the encoder refuses.
    """
    pooling = pooling or Pooling()
    asked = [_asked(shard.segments, len(sources) if twins else 0, pooling) for shard in shards]
    filled: list[Counter[str]] = [Counter() for _ in shards]
    parts: list[list[Rows]] = [[] for _ in shards]

    def run(number: int, source: Source) -> None:
        """Fill the store of a source for all files; nothing keeps the encoder when that is done."""
        load = functools.cache(source.load)
        for place, shard in enumerate(shards):
            mine = [asked[place].items[row] for row in asked[place].shares[number]]
            if mine:
                embed = partial(
                    fill,
                    source.stores,
                    dict(mine),
                    load,
                    pooling=pooling,
                    unknown=unknown,
                    part=part,
                    where=shard.segments,
                )
                done, rows_of = _fill_and_read(source.stores[0], [name for name, _ in mine], embed)
                filled[place].update(done)
                parts[place].append(rows_of)

    for number, source in enumerate(sources):
        run(number, source)
    stores, key = [source.stores[0] for source in sources], digest_of([source.stores[0].key for source in sources])
    reports = []
    for shard, mine_of, done, rows in zip(shards, asked, filled, parts, strict=True):
        order = np.argsort(np.concatenate(mine_of.shares))
        found = _together(rows, order) if rows else _nothing(dimension(), stores[0])
        key_of = key if twins else stores[0].key
        reports.append(_write(shard, mine_of, found, done, stores[0], key_of, unknown))
        if pooling.positions != "root" and not twins:  # rows of the store with other names, or of several stores
            stores[0].adopt(Path(shard.output), {name: done[name] for name in ("embedded", "reused")})
    return reports


class _Asked(NamedTuple):
    """The rows of a shard, what is to be embedded for each, and which rows each source reads."""

    rows: pa.Table
    items: list[tuple[str, Item]]
    shares: list[NDArray[np.intp]]


def _asked(segments: str | Path, n_twins: int, pooling: Pooling) -> _Asked:
    rows = _read_segments(segments)
    shares = [np.arange(rows.num_rows)]
    if n_twins:
        rows = _dealt(rows, n_twins)
        shares = [np.flatnonzero(rows.column("twin").to_numpy() == number) for number in range(n_twins)]
    return _Asked(rows, _items(rows, pooling), shares)


def _write(
    shard: Shard, asked: _Asked, found: Rows, filled: Counter[str], store: VectorStore, key: str, unknown: Unknown
) -> ShardReport:
    """Write a shard and the table of what is left out of it, and say in the log what became of its segments."""
    output = shard.output
    copied = asked.rows.select([name for name in (*_COPIED, _TWIN.name) if name in asked.rows.column_names])
    forgotten, nowhere = is_left_out(found.n_pieces, found.n_unknown, unknown), found.n_pieces == 0
    stimuli = copied.column("stimulus").to_pylist()

    def count(chosen: NDArray[np.bool_]) -> Counter[str]:
        """Return {stimulus: how many}."""
        return Counter(itertools.compress(stimuli, chosen.tolist()))

    reasons: dict[str, dict[str, int]] = defaultdict(dict)
    for reason, chosen in ((_UNKNOWN, forgotten & ~nowhere), (_POSITION, nowhere)):
        for stimulus, number in count(chosen).items():
            reasons[stimulus][reason] = number
    cut, kept_unknown = count(found.cut & ~forgotten), count((found.n_unknown > 0) & ~forgotten)
    counts = {"left_out": reasons, "cut": cut, "unknown": kept_unknown}
    write_text(shard.left_out, _table_of_left_out(asked, np.flatnonzero(forgotten).tolist(), found))
    numbers = [pa.field(name, kind, nullable=False) for name, kind in _NUMBERS.items()]
    write_row_groups(
        output,
        pa.schema([*copied.schema, *numbers, embedding_field(store.dtype, found.embedding.shape[1])]),
        _by_stimulus(copied, found, np.flatnonzero(~forgotten)),
        {
            **shard.made_from,
            "key": key,
            **{name: json.dumps(of, sort_keys=True, ensure_ascii=False) for name, of in counts.items()},
        },
    )
    report = ShardReport(
        reused=filled["reused"],
        embedded=filled["embedded"],
        passes=filled["passes"],
        cut=cut.total(),
        unknown=int(np.count_nonzero(found.n_unknown)),
        dropped=int(np.count_nonzero(forgotten)),
    )
    _LOG.info("%s: %d segments; %s", output, copied.num_rows, report)
    if passes := filled["passes"]:
        seconds = filled["milliseconds"] / 1000
        rates = (passes / seconds, filled["pieces"] / seconds)
        _LOG.info("%d passes in %.1f s: %.0f a second, %.0f pieces a second", passes, seconds, *rates)
    lost, aside = int(np.count_nonzero(nowhere)), f"and are left out; see {shard.left_out}"
    for number, what in (
        (report.cut, "contexts are too long for the model and were cut around the target"),
        (kept_unknown.total(), "targets have unknown pieces and are kept, as the config says"),
        (lost, f"targets have no piece at their position {aside}"),
        (report.dropped - lost, f"targets have unknown pieces {aside}"),
    ):
        if number:
            _LOG.warning("%s: %d %s", output, number, what)
    return report


def fill(
    stores: Sequence[VectorStore],
    items: Mapping[str, Item],
    load: Callable[[], Encoder],
    *,
    pooling: Pooling | None = None,
    unknown: Unknown = "leave-out",
    part: int | None = None,
    where: str | Path = "",
) -> Counter[str]:
    """Embed the items that the first store lacks, and keep the vectors of every layer in its own store.

    Args:
        stores: one for each layer of the encoder, in its order; the first decides what is missing.
        items: {segment id: what to embed}; equal ids are equal items.
        load: gives the encoder; called only if something is missing.
        pooling: what the vectors are made of; by default all pieces of the target.
        unknown: what will become of targets with unknown pieces.
        part: characters that are kept together; a kill loses the part at work and at most two that wait for the disk.
            None for what suits the device.
        where: the file that the items are from, for messages.

    Raises:
        InputError: what the encoder refuses, naming file and text; a vector too large for the stored precision.

    Returns:
        How many items the store had (`reused`) and lacked (`embedded`); the texts (`passes`; equal ones share one) and
        `pieces` run through the model; the `milliseconds` from the first batch to the last written part.
    """
    ids = list(items)
    has = [dict(zip(ids, store.find(ids).tolist(), strict=True)) for store in stores]
    lacking = len(ids) - sum(has[0].values())
    if not lacking:
        return Counter(reused=len(ids))
    encoder = load()
    earlier, begin = encoder.report, time.perf_counter()
    names = sorted(ids, key=lambda name: (len(items[name].text), *items[name]))
    size = part or (ON_A_GPU if encoder.on_a_gpu else ON_A_CPU)
    parts = plan_parts([items[name].text for name in names], range(len(names)), size)
    missing = [lacked for places in parts if (lacked := [names[i] for i in places if not has[0][names[i]]])]
    unit = "segments" if pooling is None or pooling.unit == "target" else "sentences"
    embedding = progress(" ".join(filter(None, ["embedding", str(where), "by", encoder.loaded.name])), lacking, unit)
    with _naming(where), ThreadPoolExecutor(1) as writer, embedding as done:
        written: list[Future[None]] = []
        for mine, inputs in read_ahead(missing, lambda mine: _read(encoder, items, mine, pooling or Pooling())):
            vectors = encoder.run(inputs, done.advance)
            if len(written) > 1:
                written.pop(0).result()  # no more than two parts wait in memory for the disk
            record = _record(encoder, inputs)
            written.append(writer.submit(_keep, stores, has, mine, inputs, vectors, unknown, record))
        for one in written:
            one.result()
    report = encoder.report
    return Counter(
        reused=len(ids) - lacking,
        embedded=lacking,
        passes=report.passes - earlier.passes,
        pieces=report.pieces - earlier.pieces,
        milliseconds=max(1, round(1000 * (time.perf_counter() - begin))),
    )


@dataclass(frozen=True)
class ShardReport:
    """What became of the segments of a shard.

    Attributes:
        reused: different (text, span) items found in the store.
        embedded: those embedded now.
        passes: texts run through the model for them.
        cut: segments in the shard whose text was too long for the model and was cut around the target.
        unknown: segments whose target (or sentence) has a piece that the tokenizer does not know.
        dropped: segments left out of the shard.
    """

    reused: int
    embedded: int
    passes: int
    cut: int
    unknown: int
    dropped: int


class Source(NamedTuple):
    """Where vectors come from: a model, or one of its twins."""

    stores: Sequence[VectorStore]
    """Of this vector key, and of the other layers that the encoder computes with it."""
    load: Callable[[], Encoder]
    """Gives the encoder, its layers in the order of `stores`; called only if something is missing."""


class Item(NamedTuple):
    """What is embedded: a text, the characters of its target, and where the target's root ends."""

    text: str
    start: int
    end: int
    root: int


def deal(stimuli: Sequence[str], n_twins: int) -> NDArray[np.int32]:
    """Return which twin reads each of n segments, (n,): number 0 to `n_twins` - 1, or -1 for none.

    The segments of a stimulus are dealt in turn, in their order, which is the same for all lengths of a shared pool,
    and that of the templates. So each twin has as many as the others, but for one; no more than `MOST_OF_A_TWIN`, and
    of a stimulus with fewer segments than twins the last ones have none.
    """
    turns: Counter[str] = Counter()
    numbers = np.full(len(stimuli), -1, dtype=np.int32)
    for place, stimulus in enumerate(stimuli):
        if turns[stimulus] < n_twins * MOST_OF_A_TWIN:
            numbers[place] = turns[stimulus] % n_twins
        turns[stimulus] += 1
    return numbers


def is_left_out(n_pieces: Counts, n_unknown: Counts, unknown: Unknown) -> NDArray[np.bool_]:
    """Return which of n items a shard lacks: (n,). Items without a piece not even the config can keep."""
    dropped: NDArray[np.bool_] = (n_pieces == 0) | ((n_unknown > 0) & (unknown == "leave-out"))
    return dropped


def _items(rows: pa.Table, pooling: Pooling) -> list[tuple[str, Item]]:
    """Return what to embed for each row, under the name that the store knows it by.

    A segment's name is a digest of text and span, all that a vector depends on; the mean over the root depends on
    where the root ends as well.
    """
    items = []
    rooted = pooling.positions == "root"
    names = (*_COPIED[:1], "stimulus", "text", "start", "end")
    for name, stimulus, text, start, end in zip(*(rows.column(column).to_pylist() for column in names), strict=True):
        root = root_end(start, end, stimulus)
        key = hashlib.blake2b(f"{name} {root}".encode(), digest_size=16).hexdigest() if rooted else name
        items.append((key, Item(text, start, end, root)))
    return items


def _dealt(rows: pa.Table, n_twins: int) -> pa.Table:
    """Return the rows that twins read, with the column `twin`."""
    numbers = deal(rows.column("stimulus").to_pylist(), n_twins)
    return rows.append_column(_TWIN, pa.array(numbers)).filter(pa.array(numbers >= 0))


def _together(parts: Sequence[Rows], order: NDArray[np.intp]) -> Rows:
    """Return rows of several sources in the order of the segments."""
    if len(parts) == 1 and (order[1:] > order[:-1]).all():
        return parts[0]
    ids = [name for part in parts for name in part.ids]
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])[order] for name in (*_NUMBERS, "embedding")
    }
    return Rows([ids[place] for place in order], **columns)


def _fill_and_read(
    store: VectorStore, names: Sequence[str], embed: Callable[[], Counter[str]]
) -> tuple[Counter[str], Rows]:
    """Embed what the store lacks, and read the rows of `names`, in their order, repeated where they repeat.

    That a file of the store is damaged shows when it is read; from then on its rows are lacking, and embedded again.
    """
    filled: Counter[str] = Counter()
    for _ in range(_ATTEMPTS):
        done = embed()
        reused = max(done["reused"] - filled["embedded"], 0)
        filled.update(done)
        filled["reused"] = reused
        found = store.read(names)
        if found is not None and len(found.ids) == len(names):
            return filled, found
    raise InputError(f"{store.folder}: vectors written to this store are gone. Has it been deleted? Run again.")


def _nothing(width: int, store: VectorStore) -> Rows:
    none = np.empty(0, dtype=np.int32)
    return Rows([], none, none, np.empty(0, dtype=np.bool_), np.empty((0, width), dtype=store.dtype))


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


def _by_stimulus(copied: pa.Table, found: Rows, kept: NDArray[np.intp]) -> Iterator[pa.Table]:
    """Yield the rows that are kept, those of one stimulus together where they stand together."""
    stimuli = np.array(copied.column("stimulus").to_pylist())[kept]
    changes = np.flatnonzero(stimuli[1:] != stimuli[:-1]) + 1
    for group in np.split(kept, changes) if len(kept) else []:
        columns = {name: copied.column(name).take(pa.array(group, pa.int64())) for name in copied.column_names}
        numbers = {name: pa.array(getattr(found, name)[group], kind) for name, kind in _NUMBERS.items()}
        yield pa.table({**columns, **numbers, "embedding": vectors_to_arrow(found.embedding[group])})


def _table_of_left_out(asked: _Asked, places: Sequence[int], found: Rows) -> str:
    nowhere = "no piece at the position that the target has among the words"
    items = [asked.items[place][1] for place in places]
    reasons = [
        f"{found.n_unknown[i]} of {found.n_pieces[i]} pieces unknown to the tokenizer" if found.n_pieces[i] else nowhere
        for i in places
    ]
    forms = [item.text[item.start : item.end] for item in items]
    left_out = asked.rows.select(_LEFT_OUT).take(pa.array(places, pa.int64()))
    for name, column in (("form", forms), ("reason", reasons)):
        left_out = left_out.append_column(name, pa.array(column, pa.string()))
    return to_tsv(left_out)


@contextmanager
def _naming(where: str | Path) -> Iterator[None]:
    """Say in which file it was that something is wrong."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}" if where else str(error)) from error


def _read(encoder: Encoder, items: Mapping[str, Item], names: Sequence[str], pooling: Pooling) -> Inputs:
    mine = [items[name] for name in names]
    spans = [(item.start, item.end) for item in mine] if pooling.unit == "target" else None
    roots = [item.root for item in mine] if pooling.positions == "root" else None
    return encoder.read([item.text for item in mine], spans, pooling, roots)


def _keep(
    stores: Sequence[VectorStore],
    has: Sequence[Mapping[str, bool]],
    names: Sequence[str],
    inputs: Inputs,
    layers: Sequence[NDArray[np.float32]],
    unknown: Unknown,
    record: Mapping[str, Any],
) -> None:
    """Write the vectors of one part, of every layer to its store, without those that it has.

    Targets that will be left out go into a file of their own: a shard without them replaces the others' file, and must
    not leave theirs to be embedded again. Theirs comes second, so that a kill between the two leaves nothing lacking
    but what no shard will hold.
    """
    left_out = is_left_out(inputs.n_pieces, inputs.n_unknown, unknown)
    for store, had, vectors in zip(stores, has, layers, strict=True):
        new = np.array([not had[name] for name in names])
        for rows in (np.flatnonzero(new & ~left_out), np.flatnonzero(new & left_out)):
            if len(rows):
                store.add(
                    Rows(
                        [names[row] for row in rows.tolist()],
                        inputs.n_pieces[rows],
                        inputs.n_unknown[rows],
                        inputs.cut[rows],
                        rounded(vectors[rows], store.dtype),
                    ),
                    record,
                )


def _record(encoder: Encoder, inputs: Inputs) -> dict[str, Any]:
    """Return what the store's history says of a part."""
    return {
        **_versions(),
        "model": encoder.loaded.name,
        "dtype": encoder.loaded.dtype,
        "device": encoder.device_name,
        "passes": len(inputs.ids),
        "pieces": sum(map(len, inputs.ids)),
    }


@functools.cache
def _versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("torch", "transformers", "tokenizers")}
