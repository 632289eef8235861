"""Turn texts into vectors: of a target word inside its context (CEAT), or of a whole sentence (SEAT).

A target's vector is the mean over the pieces that overlap its character span, suffix included (or over the pieces that
`pieces` chooses), at one hidden layer or several. Positions come from the tokenizer's offsets; there is no second
search. Texts are tokenized once, sorted by length and run in batches of a bounded number of pieces. Equal texts share
one forward pass, whatever their targets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.embeddings.pooling import ON_A_GPU, Inputs, Pooling, plan_parts, read_ahead, read_inputs, shorten
from prasanga.models.devices import ON_A_CPU, Halving, find_budget, no_memory_for, pad, padding_of, plan_batches, send
from prasanga.models.loading import LoadedModel, load_model, max_pieces
from prasanga.models.packaged import NO_OPTIONS, ModelOptions, depth_of

# --------------------
# Forward passes: batches of pieces to vectors at some layers.


Vectors = NDArray[np.float32]
_TRIAL_LENGTH = 128


def compute_vectors(
    loaded: LoadedModel,
    depths: Sequence[int],
    ids: Sequence[Sequence[int] | NDArray[np.int64]],
    rows: NDArray[np.int64],
    positions: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> list[torch.Tensor]:
    """Return the vectors of n items in a batch, (n, d) in float32, after each of the layers at `depths`.

    States are gathered and summed in the order of their positions; adding in place (`index_add_`) would give other bits
    every time on a GPU.

    Args:
        loaded: the model.
        depths: layers, 0 the embeddings.
        ids: the pieces of each row of the batch.
        rows: (n,) the row of each item.
        positions: for all items in turn, the positions in its row whose mean is the item's vector.
        counts: (n,) the number of positions of each item, at least one.
    """
    table, mask = pad(ids, padding_of(loaded.tokenizer, loaded.config))
    # Without padding no mask is needed, and attention without a mask is faster.
    attended = None if mask.all() else send(mask.astype(np.int64), loaded.device)
    states = run_layers(loaded, depths, send(table, loaded.device), attended)
    wanted = np.arange(counts.max()) < counts[:, None]
    places = np.zeros(wanted.shape, dtype=np.int64)
    places[wanted] = positions
    tables = (rows[:, None], places, ~wanted[:, :, None], counts[:, None])
    # A model spread over several GPUs has its layers on different ones.
    sent = {device: [send(each, device) for each in tables] for device in {one.device for one in states}}
    vectors = []
    for one in states:
        row, place, filling, number = sent[one.device]
        vectors.append(one[row, place].float().masked_fill_(filling, 0).sum(1) / number)
    return vectors


def run_layers(
    loaded: LoadedModel, layers: Sequence[int], ids: torch.Tensor, mask: torch.Tensor | None
) -> list[torch.Tensor]:
    """Return states (rows, length, d) after each of `layers`, from one pass over ids and mask (rows, length).

    The last layer is the model's output, with its final normalization where it has one; an earlier one is what the
    next block reads. Blocks above the highest layer asked for do not run.
    """
    blocks, read = int(loaded.config.num_hidden_layers), {"input_ids": ids, "attention_mask": mask}
    stacks = (module for module in loaded.encoder.modules() if isinstance(module, torch.nn.ModuleList))
    stack = next((module for module in stacks if len(module) == blocks), None)  # the outermost list has the blocks
    if stack is None or min(layers) == blocks:  # or blocks share weights, as in ALBERT: everything runs
        output = loaded.encoder(**read, output_hidden_states=min(layers) < blocks)
        return [output.last_hidden_state if layer == blocks else output.hidden_states[layer] for layer in layers]
    states: dict[int, torch.Tensor] = {}

    def keep(layer: int) -> Any:
        def hook(_module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            states[layer] = args[0] if args else kwargs["hidden_states"]
            if layer == max(layers):
                raise _Reached

        return hook

    inner = sorted({*layers} - {blocks})
    hooks = [stack[layer].register_forward_pre_hook(keep(layer), with_kwargs=True) for layer in inner]
    try:
        states[blocks] = loaded.encoder(**read).last_hidden_state
    except _Reached:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    return [states[layer] for layer in layers]


class _Reached(Exception):  # noqa: N818
    """Leaves the forward pass when the highest layer asked for is known."""


def load_encoder(
    model: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "auto",
    layer: int | Sequence[int] = -1,
    threads: int | None = None,
    pieces_per_batch: int | None = None,
    options: ModelOptions = NO_OPTIONS,
) -> Encoder:
    """Load the encoder of `model`, a folder or a hub id.

    Args:
        model: as in `prasanga.models.load_model`, like `revision`, `device`, `dtype` and `options`.
        revision: branch, tag or commit on the hub.
        device: `auto`, `cpu`, `cuda`, `cuda:<number>`.
        dtype: `auto`, `float32`, `bfloat16`, `float16`: precision of the model; vectors are always float32.
        layer: hidden layer: 0 the embeddings, k the output of block k, -1 the last, -2 the one before; or several.
        threads: threads of torch in this process; None leaves them unchanged.
        pieces_per_batch: most pieces per batch, padding included; None for 2,048 on a CPU, and on a GPU for the result
            of a trial before the first batch.
        options: of the tokenizer, the weights and the GPUs.

    Raises:
        InputError: the model cannot be loaded, or does not have such a layer.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    loaded = load_model(model, revision=revision, device=device, dtype=dtype, options=options)
    return Encoder(loaded, layer=layer, pieces_per_batch=pieces_per_batch)


class Encoder:
    """Turns texts into vectors with a loaded model.

    Attributes:
        passes: texts run through the model so far; equal texts in one call count once.
        pieces: pieces run through the model so far, special ones included, padding excluded.
        pieces_per_batch: most pieces per batch, padding included; None on a GPU until it is found or set.
    """

    def __init__(
        self, loaded: LoadedModel, *, layer: int | Sequence[int] = -1, pieces_per_batch: int | None = None
    ) -> None:
        """Wrap a loaded model; use `load_encoder` to load one."""
        self.loaded = loaded
        self.layers = (layer,) if isinstance(layer, int) else tuple(layer)
        blocks = int(loaded.config.num_hidden_layers)
        self._depths = [depth_of(one, blocks, loaded.name) for one in self.layers]
        if not self.layers:
            raise InputError(f"model {loaded.name}: layer is an empty list. Write at least one layer, such as -1.")
        self.dimension = int(loaded.config.hidden_size)
        self.max_pieces = max_pieces(loaded.tokenizer, loaded.config, loaded.encoder)
        self.passes = self.pieces = 0
        self.pieces_per_batch = ON_A_CPU if pieces_per_batch is None and not self.on_a_gpu else pieces_per_batch
        self._halving = Halving(lambda pieces: no_memory_for(loaded.name, loaded.device, pieces))

    @property
    def on_a_gpu(self) -> bool:
        """Whether the model runs on a GPU."""
        return self.loaded.device.type != "cpu"

    @property
    def device_name(self) -> str:
        """The name of the GPU, or the type of another device."""
        device = self.loaded.device
        return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type

    def embed(
        self,
        texts: Sequence[str],
        spans: Sequence[tuple[int, int]],
        *,
        pieces: str = "all",
        roots: Sequence[int] | None = None,
    ) -> Vectors:
        """Return vectors of the targets at the character `spans` (start, end) of `texts`: (n, d) float32, in order.

        Args:
            texts: n texts.
            spans: their targets.
            pieces: `all` the mean over every piece that overlaps the span; `root` over the pieces that begin before the
                root ends; `first`, `last` a single one; `position` the piece at the target's place if every word were
                one piece.
            roots: where each target's root ends, a position in its text; for `pieces="root"`.

        Raises:
            InputError: a span is outside its text; a target does not have a piece (at its `position`) or is longer than
                the model's limit; vectors are not finite.
        """
        return self._read_and_run(texts, spans, Pooling("target", pieces), roots)[0]

    def encode(self, texts: Sequence[str], pooling: str = "cls") -> Vectors:
        """Return sentence vectors, (n, d) float32, in order, at the first layer that the encoder was loaded with.

        Args:
            texts: sentences; one that is too long for the model is cut at its end.
            pooling: `cls` the first position, whatever its piece; `last` the last position, special or not (for
                decoders, which read from left to right); `mean` over all positions, special pieces included.

        Raises:
            InputError: an unknown pooling, an empty text, or vectors that are not finite.
        """
        return self._read_and_run(texts, None, Pooling("sentence", pooling))[0]

    def read(
        self,
        texts: Sequence[str],
        spans: Sequence[tuple[int, int]] | None,
        pooling: Pooling,
        roots: Sequence[int] | None = None,
    ) -> Inputs:
        """Tokenize texts, the first half of the work; it can run in parallel with the model's half (`run`).

        Raises:
            InputError: as `embed` and `encode`.
        """
        return read_inputs(self.loaded, self.max_pieces, texts, spans, pooling, roots)

    def _read_and_run(
        self,
        texts: Sequence[str],
        spans: Sequence[tuple[int, int]] | None,
        pooling: Pooling,
        roots: Sequence[int] | None = None,
    ) -> list[Vectors]:
        """Return vectors at each layer; the next texts are tokenized while the GPU works."""
        for name, given in (("spans", spans), ("roots", roots)):
            if given is not None and len(texts) != len(given):
                raise InputError(f"{len(texts)} texts, but {len(given)} {name}. Give one for each text.")

        def choose(values: Sequence[Any] | None, places: list[int]) -> Any:
            return None if values is None else [values[place] for place in places]

        def read(places: list[int]) -> Inputs:
            return self.read(choose(texts, places), choose(spans, places), pooling, choose(roots, places))

        order = sorted(range(len(texts)), key=lambda place: (len(texts[place]), texts[place]))
        vectors = [np.empty((len(texts), self.dimension), dtype=np.float32) for _ in self.layers]
        for places, inputs in read_ahead(plan_parts(texts, order, ON_A_GPU), read):
            for place in np.array(places)[inputs.n_pieces == 0].tolist():
                raise InputError(
                    f"pieces is 'position', but {shorten(texts[place])!r} does not have a piece at its target's place"
                    " among the words. Leave the text out, or write pieces: all."
                )
            for whole, part in zip(vectors, self.run(inputs), strict=True):
                whole[places] = part
        return vectors

    @torch.inference_mode()
    def run(self, inputs: Inputs, done: Callable[[int], object] | None = None) -> list[Vectors]:
        """Return the vectors of all items at each layer, (n, d) float32; the same inputs give the same batches.

        Args:
            inputs: from `read`.
            done: called with the number of items of each batch when it has run, or was sent to a GPU.

        Raises:
            InputError: vectors are not finite, or the device has too little memory for a text.
        """
        vectors = [np.empty((len(inputs.row), self.dimension), dtype=np.float32) for _ in self.layers]
        if inputs.ids and self.pieces_per_batch is None:
            self.pieces_per_batch = self.find_budget()
        items = np.argsort(inputs.row, kind="stable")
        borders = np.searchsorted(inputs.row[items], np.arange(len(inputs.ids) + 1))
        begins = np.cumsum(inputs.counts) - inputs.counts
        waiting: list[tuple[NDArray[np.int64], list[torch.Tensor]]] = []
        devices: set[torch.device] = set()

        def run_batch(batch: slice) -> None:
            mine = items[borders[batch.start] : borders[batch.stop]]
            counts = inputs.counts[mine]
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            positions = inputs.positions[np.repeat(begins[mine], counts) + within]
            rows = inputs.row[mine] - batch.start
            found = compute_vectors(self.loaded, self._depths, inputs.ids[batch], rows, positions, counts)
            devices.update(each.device for each in found)
            waiting.append((mine, [each.to("cpu", non_blocking=True) for each in found]))  # so a card never waits
            if done is not None:
                done(len(mine))

        for batch in plan_batches([len(ids) for ids in inputs.ids], self.pieces_per_batch or 0):
            self._halving.run(batch, lambda rows: (rows.stop - rows.start) * len(inputs.ids[rows.stop - 1]), run_batch)
        for device in devices - {torch.device("cpu")}:
            torch.cuda.synchronize(device)
        for mine, found in waiting:
            for whole, part in zip(vectors, found, strict=True):
                whole[mine] = part.numpy()
        if not all(np.isfinite(one).all() for one in vectors):
            remedy = "fetch the weights again: they are damaged"
            if self.loaded.dtype != "float32":
                remedy = f"write dtype: float32; if that does not help, {remedy}"
            raise InputError(
                f"model {self.loaded.name}: some vectors are not finite in {self.loaded.dtype}. {remedy.capitalize()}."
            )
        self.passes += len(inputs.ids)
        self.pieces += sum(map(len, inputs.ids))
        return vectors

    @torch.inference_mode()
    def find_budget(self) -> int:
        """Find by trial how many pieces a batch on this device should have.

        Raises:
            InputError: the device has too little memory for a single piece.
        """
        if not self.on_a_gpu:
            return ON_A_CPU
        try:
            return find_budget(self._time)
        except torch.OutOfMemoryError as error:
            raise no_memory_for(self.loaded.name, self.loaded.device, 1) from error

    def _time(self, pieces: int) -> float:
        """Return the seconds for a batch of so many pieces; an uncounted first run warms the device up."""
        length = min(_TRIAL_LENGTH, self.max_pieces or _TRIAL_LENGTH, pieces)
        known = int(self.loaded.encoder.get_input_embeddings().num_embeddings)
        rng = np.random.default_rng(pieces)
        ids = list(rng.integers(0, known, size=(pieces // length, length)))
        rows = np.arange(len(ids))
        for _ in range(2):
            begin = time.perf_counter()
            means = compute_vectors(self.loaded, self._depths, ids, rows, np.zeros_like(rows), np.ones_like(rows))
            means[-1].cpu()  # waits for the device
            seconds = time.perf_counter() - begin
        return seconds
