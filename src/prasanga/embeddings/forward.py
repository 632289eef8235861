"""Forward passes: batches of pieces to vectors at some layers, as large as pays, halved where memory runs out.

All the computing there is. What else an encoder does changes no vector.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from prasanga.embeddings.pooling import Inputs
from prasanga.models.batches import ON_A_CPU, Halving, find_budget, no_memory_for, pad, padding_of, plan_batches, send
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
        """Return the vectors of all items at each layer, (n, d) float32; the same inputs make the same batches.

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
        """Return the seconds for a batch of so many pieces; a first run warms the device up and does not count."""
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


def vectors_of(
    loaded: LoadedModel,
    depths: Sequence[int],
    ids: Sequence[Sequence[int]],
    rows: Sequence[int],
    positions: Sequence[Sequence[int]],
) -> list[torch.Tensor]:
    """Return the vectors of n items in a batch, (n, d) in float32, after each of the layers at `depths`.

    Args:
        loaded: the model.
        depths: layers, 0 the embeddings.
        ids: the pieces of each row of the batch.
        rows: the row of each item.
        positions: of each item, the positions in its row whose mean is its vector.
    """
    table, mask = pad(ids, padding_of(loaded.tokenizer, loaded.config))
    # Without padding no mask is needed, and attention without a mask is faster.
    attended = None if mask.all() else send(mask.astype(np.int64), loaded.device)
    states = hidden_states(loaded, depths, send(table, loaded.device), attended)
    # A model spread over several cards has its layers on different ones.
    places = {device: place(rows, positions, device) for device in {one.device for one in states}}
    return [mean_of(one, places[one.device]) for one in states]


def hidden_states(
    loaded: LoadedModel, layers: Sequence[int], ids: torch.Tensor, mask: torch.Tensor | None
) -> list[torch.Tensor]:
    """Return states (rows, length, d) after each of `layers`, from one pass over ids and mask (rows, length).

    The last layer is the model's output, with its final normalization where it has one; an earlier one is what the
    next block reads. Blocks above the highest layer asked for do not run.
    """
    blocks = int(loaded.config.num_hidden_layers)
    inner = {layer for layer in layers if layer < blocks}
    if not inner:
        return [_tensor(loaded.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)] * len(layers)
    stack = None if loaded.config.model_type == "albert" else _blocks(loaded.encoder, blocks)
    if stack is None:  # blocks that share weights, as in ALBERT: everything runs, and some layers are taken
        output = loaded.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        return [
            _tensor(output.last_hidden_state if layer == blocks else output.hidden_states[layer]) for layer in layers
        ]
    states: dict[int, torch.Tensor] = {}
    highest = max(layers)

    def keep(layer: int) -> Any:
        def hook(_module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            states[layer] = _tensor(args[0] if args else kwargs["hidden_states"])
            if layer == highest:
                raise _Reached

        return hook

    hooks = [stack[layer].register_forward_pre_hook(keep(layer), with_kwargs=True) for layer in inner]
    try:
        states[blocks] = _tensor(loaded.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)
    except _Reached:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    if not states.keys() >= set(layers):
        raise RuntimeError(
            f"model {loaded.name}: the forward pass did not meet blocks {sorted(set(layers) - set(states))}"
        )
    return [states[layer] for layer in layers]


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


class _Reached(Exception):  # noqa: N818
    """Leaves the forward pass when the highest layer asked for is known."""


def _blocks(encoder: torch.nn.Module, count: int) -> torch.nn.ModuleList | None:
    """Return the list of transformer blocks: the outermost list with as many members as the model has blocks."""
    for module in encoder.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == count:
            return module
    return None


def _tensor(value: Any) -> torch.Tensor:
    assert isinstance(value, torch.Tensor)
    return value


@dataclass(frozen=True)
class Places:
    """Where the vectors of n items are found in a batch, as tables on the device of its states.

    Attributes:
        row: (n, 1), the row of each item.
        table: (n, k), its positions in that row, filled up with 0.
        filling: (n, k, 1), true where `table` is filled up.
        counts: (n, 1), how many positions it has.
    """

    row: torch.Tensor
    table: torch.Tensor
    filling: torch.Tensor
    counts: torch.Tensor


def place(rows: Sequence[int], positions: Sequence[Sequence[int]], device: torch.device) -> Places:
    """Return the places of n items: the row of each, and its positions in that row, at least one."""
    counts = np.fromiter(map(len, positions), dtype=np.int64, count=len(positions))
    wanted = np.arange(counts.max()) < counts[:, None]
    table = np.zeros(wanted.shape, dtype=np.int64)
    table[wanted] = np.fromiter((i for one in positions for i in one), dtype=np.int64, count=int(counts.sum()))
    row = np.array(rows, dtype=np.int64)[:, None]
    return Places(*(send(one, device) for one in (row, table, ~wanted[:, :, None], counts[:, None])))


def mean_of(states: torch.Tensor, places: Places) -> torch.Tensor:
    """Return the mean over each item's places in `states` (rows, length, d), in float32: (n, d), same device.

    States are gathered and summed in the order of their positions; adding them up in place (`index_add_`) would give
    other bits every time on a card.
    """
    gathered = states[places.row, places.table].float()
    return gathered.masked_fill_(places.filling, 0).sum(1) / places.counts
