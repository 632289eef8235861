"""Turns texts into vectors: of a target word inside its context (CEAT), or of a whole sentence (SEAT).

A target's vector is the mean over every piece that overlaps its character span, suffix included, at one hidden layer.
Positions come from the tokenizer's offsets; nothing is searched for again. Texts are tokenized once, sorted by length
and run in batches of a bounded number of pieces; equal texts share one forward pass, whatever their targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from prasanga.embeddings.hidden import check_layer, hidden_states
from prasanga.embeddings.pieces import Piece, cut_around, read_pieces
from prasanga.errors import InputError
from prasanga.models.loading import LoadedModel, load_model

Vectors = NDArray[np.float32]
Counts = NDArray[np.int32]
_POOLINGS = ("cls", "mean", "last")


@dataclass(frozen=True)
class EncoderReport:
    """What an encoder has done since it was loaded.

    Attributes:
        items: targets or sentences turned into vectors.
        passes: texts run through the model; equal texts of one call are run once.
        pieces: pieces run through the model, special ones included, padding not.
        cut: items whose text was too long for the model and was cut (around the target, if there is one).
        unknown: targets with at least one piece that the tokenizer does not know.
    """

    items: int = 0
    passes: int = 0
    pieces: int = 0
    cut: int = 0
    unknown: int = 0


@dataclass(frozen=True)
class TargetVectors:
    """Vectors of n targets, in the order asked for.

    Attributes:
        vectors: (n, d) float32.
        n_pieces: (n,) pieces that overlap the target.
        n_unknown: (n,) how many of these the tokenizer does not know.
        cut: (n,) whether the text was cut to fit the model.
    """

    vectors: Vectors
    n_pieces: Counts
    n_unknown: Counts
    cut: NDArray[np.bool_]


@dataclass(frozen=True)
class _Input:
    """One forward pass: what the model reads, and at which positions each item is averaged."""

    ids: tuple[int, ...]
    wanted: list[tuple[int, list[int]]]  # (item, positions in ids)


def load_encoder(
    model: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "auto",
    layer: int = -1,
    threads: int | None = None,
    pieces_per_batch: int | None = None,
) -> Encoder:
    """Load the encoder of `model`, a folder or the id of a model of the hub.

    Args:
        model: see `prasanga.models.load_model`, as for `revision`, `device` and `dtype`.
        revision: branch, tag or commit of the hub.
        device: `auto`, `cpu`, `cuda`, `cuda:<number>`.
        dtype: `auto`, `float32`, `bfloat16`, `float16`: precision of the model; vectors are float32 in any case.
        layer: hidden layer: 0 the embeddings, k the output of block k, -1 the last, -2 the one before.
        threads: threads of torch in this process; left alone if None.
        pieces_per_batch: most pieces per batch, padding included; by default 2 048 on a CPU, 32 768 on a GPU.

    Raises:
        InputError: the model cannot be had, or has no such layer.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    loaded = load_model(model, revision=revision, device=device, dtype=dtype)
    return Encoder(loaded, layer=layer, pieces_per_batch=pieces_per_batch)


class Encoder:
    """A loaded model that turns texts into vectors; `report` counts what it did."""

    def __init__(self, loaded: LoadedModel, *, layer: int = -1, pieces_per_batch: int | None = None) -> None:
        """Wrap a loaded model; `load_encoder` is the usual way to get one."""
        self.loaded = loaded
        self.layer = check_layer(loaded, layer)
        self.dimension = int(loaded.config.hidden_size)
        self.max_pieces = _max_pieces(loaded)
        self.pieces_per_batch = pieces_per_batch or (2048 if loaded.device.type == "cpu" else 32768)
        self.report = EncoderReport()

    def embed(self, texts: Sequence[str], spans: Sequence[tuple[int, int]]) -> Vectors:
        """Vectors of the targets at the character `spans` (start, end) of `texts`: (n, d) float32, in order.

        Raises:
            InputError: a span outside its text, a target without a piece or longer than the model reads, or vectors
                that are not finite.
        """
        return self.embed_targets(texts, spans).vectors

    def embed_with_pieces(self, texts: Sequence[str], spans: Sequence[tuple[int, int]]) -> tuple[Vectors, Counts]:
        """As `embed`, and the number of pieces of each target, (n,) int32."""
        result = self.embed_targets(texts, spans)
        return result.vectors, result.n_pieces

    def embed_targets(self, texts: Sequence[str], spans: Sequence[tuple[int, int]]) -> TargetVectors:
        """As `embed`, with all that is known of each target."""
        if len(texts) != len(spans):
            raise InputError(f"{len(texts)} texts, but {len(spans)} spans; give one span (start, end) for each text.")
        tokenized = self._tokenize(texts)
        inputs: dict[tuple[str, int], _Input] = {}
        n_pieces, n_unknown = (np.zeros(len(texts), dtype=np.int32) for _ in range(2))
        cut = np.zeros(len(texts), dtype=np.bool_)
        for item, (text, (start, end)) in enumerate(zip(texts, spans, strict=True)):
            pieces = tokenized[text]
            target = _target(text, start, end, pieces)
            kept, cut[item] = self._fit(text, pieces, target)
            n_pieces[item] = len(target)
            n_unknown[item] = sum(pieces[i].id == self.loaded.tokenizer.unk_token_id for i in target)
            positions = [kept.index(i) for i in target] if cut[item] else target
            # Texts of which different stretches are kept differ as input; the first ordinary piece tells them apart.
            first = next(i for i in kept if not pieces[i].special)
            one = inputs.setdefault((text, first), _Input(tuple(pieces[i].id for i in kept), []))
            one.wanted.append((item, positions))
        vectors = self._run(list(inputs.values()), len(texts))
        self._count(items=len(texts), cut=int(cut.sum()), unknown=int(np.count_nonzero(n_unknown)))
        return TargetVectors(vectors, n_pieces, n_unknown, cut)

    def encode(self, texts: Sequence[str], pooling: str = "cls") -> Vectors:
        """Sentence vectors, (n, d) float32, in order.

        Args:
            texts: sentences; one too long for the model loses its end.
            pooling: `cls` the first position; `last` the last one (for decoders, which read from left to right);
                `mean` over all positions, special pieces included.

        Raises:
            InputError: an unknown pooling, an empty text, or vectors that are not finite.
        """
        if pooling not in _POOLINGS:
            raise InputError(f"pooling is {pooling!r}; write one of {', '.join(_POOLINGS)}.")
        tokenized = self._tokenize(texts)
        inputs: dict[str, _Input] = {}
        cut = 0
        for item, text in enumerate(texts):
            pieces = tokenized[text]
            if not any(not piece.special for piece in pieces):
                raise InputError(f"text {item + 1} of {len(texts)}, {text!r}, has no piece: leave empty texts out.")
            kept = cut_around(pieces, 0, 0, self.max_pieces)
            cut += len(kept) < len(pieces)
            positions = {"cls": [0], "last": [len(kept) - 1], "mean": list(range(len(kept)))}[pooling]
            one = inputs.setdefault(text, _Input(tuple(pieces[i].id for i in kept), []))
            one.wanted.append((item, positions))
        vectors = self._run(list(inputs.values()), len(texts))
        self._count(items=len(texts), cut=cut)
        return vectors

    def _tokenize(self, texts: Sequence[str]) -> dict[str, list[Piece]]:
        return read_pieces(self.loaded.tokenizer, list(dict.fromkeys(texts)))

    def _fit(self, text: str, pieces: list[Piece], target: list[int]) -> tuple[list[int], bool]:
        kept = cut_around(pieces, target[0], target[-1] + 1, self.max_pieces)
        if len(kept) == len(pieces):
            return kept, False
        if not set(target) <= set(kept):
            raise InputError(
                f"model {self.loaded.name} reads {self.max_pieces} pieces, but the target alone has {len(target)}:"
                f" {_shorten(text)!r}. Leave this context out."
            )
        return kept, True

    def _run(self, inputs: list[_Input], n_items: int) -> Vectors:
        """Run the inputs in batches of similar length; the same inputs make the same batches, in whatever order."""
        vectors = np.empty((n_items, self.dimension), dtype=np.float32)
        ordered = sorted(inputs, key=lambda one: (len(one.ids), one.ids))
        begin = 0
        while begin < len(ordered):
            stop = begin + 1
            while stop < len(ordered) and len(ordered[stop].ids) * (stop + 1 - begin) <= self.pieces_per_batch:
                stop += 1
            self._run_batch(ordered[begin:stop], vectors)
            begin = stop
        if not np.isfinite(vectors).all():
            raise InputError(
                f"model {self.loaded.name}: some vectors are not finite in {self.loaded.dtype}. Write dtype: float32;"
                " if that does not help, the weights are damaged."
            )
        self._count(passes=len(inputs), pieces=sum(len(one.ids) for one in inputs))
        return vectors

    def _run_batch(self, batch: list[_Input], vectors: Vectors) -> None:
        """Forward one batch, in halves if the device's memory does not hold it; write its items' rows of `vectors`."""
        try:
            states = self._forward([one.ids for one in batch])
        except torch.OutOfMemoryError as error:
            if len(batch) == 1:
                raise InputError(
                    f"model {self.loaded.name}: device {self.loaded.device} has no memory for one text of"
                    f" {len(batch[0].ids)} pieces. Use a larger device, or dtype: bfloat16."
                ) from error
            middle = len(batch) // 2
            self._run_batch(batch[:middle], vectors)
            self._run_batch(batch[middle:], vectors)
            return
        wanted = [(row, item, where) for row, one in enumerate(batch) for item, where in one.wanted]
        rows = torch.tensor([row for row, _, where in wanted for _ in where], device=states.device)
        columns = torch.tensor([column for _, _, where in wanted for column in where], device=states.device)
        chosen = states[rows, columns].float().cpu().numpy()
        lengths = np.array([len(where) for _, _, where in wanted])
        begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        means = np.add.reduceat(chosen, begins, axis=0) / lengths[:, None]
        vectors[[item for _, item, _ in wanted]] = means

    @torch.inference_mode()
    def _forward(self, ids: list[tuple[int, ...]]) -> torch.Tensor:
        """Hidden states (rows, longest, d) of a batch, padded on the right, which changes no position."""
        longest = max(map(len, ids))
        padding = _padding(self.loaded)
        table = torch.full((len(ids), longest), padding, dtype=torch.long)
        mask = torch.zeros((len(ids), longest), dtype=torch.long)
        for row, one in enumerate(ids):
            table[row, : len(one)] = torch.tensor(one)
            mask[row, : len(one)] = 1
        device = self.loaded.device
        return hidden_states(self.loaded, self.layer, table.to(device), mask.to(device))

    def _count(self, **more: int) -> None:
        self.report = replace(self.report, **{key: getattr(self.report, key) + n for key, n in more.items()})


def _target(text: str, start: int, end: int, pieces: list[Piece]) -> list[int]:
    """Positions of the pieces that overlap the span."""
    if not 0 <= start < end <= len(text):
        raise InputError(f"span {start}-{end} does not lie in its text of {len(text)} characters: {_shorten(text)!r}.")
    target = [i for i, piece in enumerate(pieces) if not piece.special and piece.start < end and piece.end > start]
    if not target:
        raise InputError(
            f"the tokenizer makes no piece of the target {text[start:end]!r} at {start}-{end} of {_shorten(text)!r}:"
            " its normalization drops these characters. Leave the word out, or use a tokenizer that keeps them."
        )
    return target


def _max_pieces(loaded: LoadedModel) -> int | None:
    """Most pieces that the model reads, special ones included; None if nothing limits it."""
    limits = [loaded.tokenizer.model_max_length, getattr(loaded.config, "max_position_embeddings", None)]
    for name, module in loaded.encoder.named_modules():
        # RoBERTa and its kin count positions from padding_idx + 1 on, so that many of the table's rows are never used.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limits.append(module.num_embeddings - module.padding_idx - 1)
    known = [int(limit) for limit in limits if limit is not None and 0 < limit < 1_000_000]
    return min(known, default=None)


def _padding(loaded: LoadedModel) -> int:
    """The id to pad with; decoders often have none, and any will do there, since padding is masked and on the right."""
    tokenizer: Any = loaded.tokenizer
    candidates = [tokenizer.pad_token_id, getattr(loaded.config, "pad_token_id", None), tokenizer.eos_token_id]
    return next((int(one) for one in candidates if one is not None), 0)


def _shorten(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}..."
