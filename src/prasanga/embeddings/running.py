"""Runs batches on a device: as large as pays, halved where memory runs out, fetched while the next one is at work."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from prasanga.embeddings.forward import vectors_of
from prasanga.embeddings.inputs import Inputs
from prasanga.models.batches import plan_batches
from prasanga.models.budget import ON_A_CPU, find_budget
from prasanga.models.halving import Halving, no_memory_for
from prasanga.models.loading import LoadedModel

Vectors = NDArray[np.float32]
_TRIAL_LENGTH = 128


class Runner:
    """A model with the size of its batches.

    Attributes:
        pieces_per_batch: most pieces of a batch, padding included; None until a trial has found it.
    """

    def __init__(self, loaded: LoadedModel, depths: Sequence[int], pieces_per_batch: int | None) -> None:
        """Run `loaded` up to the layers at `depths`."""
        self._loaded = loaded
        self._depths = depths
        self._halving = Halving(lambda pieces: no_memory_for(loaded.name, loaded.device, pieces))
        self.pieces_per_batch = pieces_per_batch

    @torch.inference_mode()
    def run(
        self, inputs: Inputs, dimension: int, limit: int | None, done: Callable[[int], object] | None = None
    ) -> list[Vectors]:
        """The vectors of all items at each layer, (n, d) float32; the same inputs make the same batches.

        Args:
            inputs: from `read_inputs`.
            dimension: d.
            limit: most pieces that the model reads.
            done: told the items of each batch when it has been run, or on a card handed to it.

        Raises:
            InputError: a text for which the device has no memory.
        """
        vectors = [np.empty((len(inputs.row), dimension), dtype=np.float32) for _ in self._depths]
        if not inputs.ids:
            return vectors
        if self.pieces_per_batch is None:
            self.pieces_per_batch = self.find_budget(limit)
        items: list[list[int]] = [[] for _ in inputs.ids]
        for item, row in enumerate(inputs.row):
            items[row].append(item)
        outbox = _Outbox(vectors)
        for batch in plan_batches([len(ids) for ids in inputs.ids], self.pieces_per_batch):
            self._halving.run(
                batch,
                lambda rows: (rows.stop - rows.start) * len(inputs.ids[rows.stop - 1]),
                lambda rows: self._run_batch(inputs, items, rows, outbox, done),
            )
        outbox.empty()
        return vectors

    @torch.inference_mode()
    def find_budget(self, limit: int | None) -> int:
        """Try how many pieces a batch on this device should have, for a model that reads `limit` pieces at most.

        Raises:
            InputError: there is no memory for a single piece.
        """
        if self._loaded.device.type == "cpu":
            return ON_A_CPU
        try:
            return find_budget(lambda pieces: self._time(pieces, limit))
        except torch.OutOfMemoryError as error:
            raise no_memory_for(self._loaded.name, self._loaded.device, 1) from error

    def _run_batch(
        self,
        inputs: Inputs,
        items: list[list[int]],
        batch: slice,
        outbox: _Outbox,
        done: Callable[[int], object] | None,
    ) -> None:
        """Run one batch and hand its items' vectors over."""
        mine = [item for row in items[batch] for item in row]
        outbox.put(mine, self._forward(inputs, mine, batch))
        if done is not None:
            done(len(mine))

    def _forward(self, inputs: Inputs, mine: Sequence[int], batch: slice) -> list[torch.Tensor]:
        rows = [inputs.row[item] - batch.start for item in mine]
        positions = [inputs.positions[item] for item in mine]
        return vectors_of(self._loaded, self._depths, inputs.ids[batch], rows, positions)

    def _time(self, pieces: int, limit: int | None) -> float:
        """Seconds for a batch of so many pieces; the first run of a size warms the device up and does not count."""
        length = min(_TRIAL_LENGTH, limit or _TRIAL_LENGTH, pieces)
        known = int(self._loaded.encoder.get_input_embeddings().num_embeddings)
        rng = np.random.default_rng(pieces)
        ids = rng.integers(0, known, size=(pieces // length, length)).tolist()
        rows, positions = list(range(len(ids))), [[0]] * len(ids)
        for _ in range(2):
            begin = time.perf_counter()
            vectors_of(self._loaded, self._depths, ids, rows, positions)[-1].cpu()  # which waits for the device
            seconds = time.perf_counter() - begin
        return seconds


class _Outbox:
    """Vectors on their way from the device: fetched when the next batch is at work, so that the device never waits."""

    def __init__(self, vectors: list[Vectors]) -> None:
        self._vectors = vectors
        self._waiting: tuple[list[int], list[torch.Tensor], list[Any]] | None = None

    def put(self, items: list[int], means: list[torch.Tensor]) -> None:
        """Begin to fetch the vectors of `items`, one tensor (n, d) a layer."""
        on_host, events = [], []
        for mean in means:
            if mean.device.type == "cpu":
                on_host.append(mean)
                continue
            host = torch.empty(mean.shape, dtype=mean.dtype, pin_memory=True).copy_(mean, non_blocking=True)
            event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            event.record(torch.cuda.current_stream(mean.device))
            on_host.append(host)
            events.append(event)
        self.empty()
        self._waiting = items, on_host, events

    def empty(self) -> None:
        """Write what was fetched into the rows of its items."""
        if self._waiting is not None:
            items, on_host, events = self._waiting
            for event in events:
                event.synchronize()
            for vectors, mean in zip(self._vectors, on_host, strict=True):
                vectors[items] = mean.numpy()
            self._waiting = None
