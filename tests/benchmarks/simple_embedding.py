"""The simple way from a target in its context to a vector, as the Bangla paper's program, and ours beside it.

The simple way takes one sentence at a time. It asks the tokenizer twice (for the positions, then for the model), runs
the whole masked language model with its vocabulary head, keeps the states of every layer, and takes the few rows of the
last one that belong to the target. Two things are put right, so that its vectors can be compared with the library's:
the rows are those of the whole inflected word, and a sentence that goes wrong is not passed over in silence.

Nobody should win against a straw man: the model is loaded once, no gradients are kept, nothing is copied that need not
be, and torch may use as many threads as the library has.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tables import Row
from transformers import AutoModelForMaskedLM, AutoTokenizer

from prasanga.embeddings import load_encoder
from prasanga.models.shape import quiet

Vectors = NDArray[np.float32]

#: How many times as fast as the simple way in float32 each precision shall be.
ASKED = {"float32": 2.5, "bfloat16": 8.0}
_SIMPLE = 32


class Segments(NamedTuple):
    """Different texts, and the span of the target in each."""

    texts: list[str]
    spans: list[tuple[int, int]]

    def first(self, number: int) -> Segments:
        """The first so many."""
        return Segments(self.texts[:number], self.spans[:number])


class SimpleEncoder:
    """A masked language model with its head, in float32 on the CPU."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.model: Any = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()

    def embed(self, texts: Sequence[str], spans: Sequence[tuple[int, int]]) -> Vectors:
        """Vectors of the targets at the character `spans` of `texts`: (n, d), one forward pass after the other."""
        return np.stack([self._embed(text, *span) for text, span in zip(texts, spans, strict=True)])

    def _embed(self, text: str, start: int, end: int) -> Vectors:
        offsets = self.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
        target = [row for row, (begin, stop) in enumerate(offsets) if begin < end and stop > start]
        with torch.no_grad():
            output = self.model(**self.tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        vector: Vectors = output.hidden_states[-1][0, target].mean(dim=0).numpy()
        return vector


def compare(
    folder: Path, segments: Segments, work: str, shares: Mapping[str, Callable[[float], float]], *, judge: bool
) -> Iterator[Row]:
    """A row for each precision of `ASKED`, measured for those in `dtypes`: in turns, the best of three counts.

    Args:
        folder: of the model.
        segments: ours embeds all of them, the simple way the first few.
        work: what is done, for the table.
        shares: by precision that the processor is made for, the share of its matrix rate that segments a second are.
        judge: whether to say if what was asked is met.
    """
    few = segments.first(_SIMPLE)
    with quiet():
        simple = SimpleEncoder(folder)
        ours = {dtype: load_encoder(folder, device="cpu", dtype=dtype) for dtype in shares}
    runs = {dtype: partial(encoder.embed, *segments) for dtype, encoder in ours.items()}
    speed = _take_turns({"the simple way": partial(simple.embed, *few), **runs}, rounds=3)
    expected, simple_speed = simple.embed(*few), speed["the simple way"]
    for dtype, times in ASKED.items():
        if dtype not in ours:
            yield Row(f"{work}, {dtype}", f">= {times:g}x", "not measured: the processor is not made for it")
            continue
        ratio, least = speed[dtype] / simple_speed, _least_cosine(ours[dtype].embed(*few), expected)
        yield Row(
            f"{work}, {dtype} (cosine to the simple way's vectors: {least:.5f} at least)",
            f">= {times:g}x",
            f"{speed[dtype]:.1f} segments/s, {shares[dtype](speed[dtype]):.0%} of the matrix rate",
            f"{simple_speed:.1f} segments/s",
            f"{ratio:.1f}x",
            ratio >= times if judge else None,
        )


def _take_turns(runs: dict[str, Callable[[], Vectors]], rounds: int) -> dict[str, float]:
    """Vectors a second of each at its best; in turns, so that a slow minute of the machine is everyone's."""
    best = dict.fromkeys(runs, 0.0)
    for number in range(rounds + 1):
        print(f"... {'warm-up' if number == 0 else f'round {number} of {rounds}'}", file=sys.stderr, flush=True)
        for name, run in runs.items():
            began = time.perf_counter()
            vectors = run()
            if number:
                best[name] = max(best[name], len(vectors) / (time.perf_counter() - began))
    return best


def _least_cosine(a: Vectors, b: Vectors) -> float:
    return float(((a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)).min())
