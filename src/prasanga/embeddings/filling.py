"""Embeds what a store lacks, part by part: a part that is written survives a kill, and the next run goes on there.

Parts are planned over all items and not over the missing ones. So after a kill the remaining parts are run in the same
batches as they would have been, and give the same bits. (Where two stimuli claim one form, as in the authors' lists, an
item may stand in two buckets; whichever job comes first embeds it, and the other's batches are without it.) While the
model works on one part, the next is tokenized and the one before is written.
"""

from __future__ import annotations

import functools
import importlib.metadata
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prasanga.embeddings.parts import ON_A_CPU, ON_A_GPU, plan_parts, read_ahead
from prasanga.embeddings.pooling import Pooling, Unknown
from prasanga.embeddings.rounding import rounded
from prasanga.embeddings.store import Rows, VectorStore
from prasanga.errors import InputError
from prasanga.progress import progress

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder
    from prasanga.embeddings.inputs import Counts, Inputs


class Item(NamedTuple):
    """What is embedded: a text, the characters of its target, and where the target's root ends."""

    text: str
    start: int
    end: int
    root: int


@dataclass(frozen=True)
class Filled:
    """What was done to fill a store.

    Attributes:
        reused: items that it had.
        embedded: items that it lacked.
        passes: texts run through the model; equal texts share one.
        pieces: pieces run through the model.
        seconds: from the first batch to the last written part, loading the model not counted.
    """

    reused: int
    embedded: int
    passes: int = 0
    pieces: int = 0
    seconds: float = 0.0

    def after(self, earlier: Filled) -> Filled:
        """Both together, where what was there at first turned out to be damaged."""
        return Filled(
            reused=max(self.reused - earlier.embedded, 0),
            embedded=self.embedded + earlier.embedded,
            passes=self.passes + earlier.passes,
            pieces=self.pieces + earlier.pieces,
            seconds=self.seconds + earlier.seconds,
        )


def fill(
    stores: Sequence[VectorStore],
    items: Mapping[str, Item],
    load: Callable[[], Encoder],
    *,
    pooling: Pooling | None = None,
    unknown: Unknown = "leave-out",
    part: int | None = None,
    where: str | Path = "",
) -> Filled:
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
    """
    ids = list(items)
    has = [dict(zip(ids, store.find(ids).tolist(), strict=True)) for store in stores]
    lacking = len(ids) - sum(has[0].values())
    if not lacking:
        return Filled(reused=len(ids), embedded=0)
    encoder = load()
    begin = time.perf_counter()
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
    return Filled(
        reused=len(ids) - lacking,
        embedded=lacking,
        passes=report.passes,
        pieces=report.pieces,
        seconds=time.perf_counter() - begin,
    )


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


def is_left_out(n_pieces: Counts, n_unknown: Counts, unknown: Unknown) -> NDArray[np.bool_]:
    """Which of n items a shard does not have: (n,). Of those without a piece, not even the config can keep any."""
    dropped: NDArray[np.bool_] = (n_pieces == 0) | ((n_unknown > 0) & (unknown == "leave-out"))
    return dropped


def _record(encoder: Encoder, inputs: Inputs) -> dict[str, Any]:
    """What the store's history says of a part."""
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
