"""How far vectors are from those that the same model gives in full precision, on a few of the study's own segments.

A model runs in half precision where the device has it, perhaps with weights in 8 bits, and its vectors are kept in
float16. None of it should matter to a statistic of cosines; this says by how much it might, measured once per model.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.parquet import read_frame
from prasanga.embeddings.pooling import root_end
from prasanga.embeddings.settings import VectorSettings, start_encoder

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder

COMPARED = 64
"""Segments that are compared at most: enough for the third decimal, and soon done on any device."""


def compare_with_full_precision(
    settings: VectorSettings,
    report: Mapping[str, Any],
    segments: str | Path,
    root: str | Path,
    *,
    threads: int,
) -> dict[str, Any]:
    """Return what the precision of the model and of the disk does to vectors, as plain values for JSON.

    The twin in float32 runs on the same device if it has room, else on the processor.

    Args:
        settings: with a settled precision.
        report: `prasanga.models.check_model` of the model.
        segments: the table of segments to choose from.
        root: folder of all stores, which knows the size of batches.
        threads: of this process.

    Returns:
        dtype, stored_dtype, quantization, and what `compare_vectors` says.
    """
    how = {name: getattr(settings, name) for name in ("dtype", "stored_dtype")}
    how["quantization"] = settings.options.quantization
    if settings.dtype == "float32" and settings.options.quantization == "none":
        return how | not_compared("the model runs in full precision")
    texts = read_frame(segments, columns=["text", "start", "end", "stimulus"])
    chosen = texts[choose(texts["text"].to_list(), COMPARED)]
    if chosen.is_empty():
        return how | not_compared("there are no segments")
    encoder = start_encoder(settings, report, root, threads=threads)
    vectors, device = _embed(encoder, chosen, settings.pieces), str(encoder.loaded.device)
    del encoder
    gc.collect()  # the twin needs its room
    try:
        exact = _embed_exactly(settings, report, chosen, device, threads)
    except InputError as error:
        return how | not_compared(f"the model in float32 cannot be run here: {error}")
    return how | compare_vectors(vectors, exact, stored_dtype=settings.stored_dtype)


def compare_vectors(
    vectors: NDArray[np.float32], exact: NDArray[np.float32], *, stored_dtype: str = "float16"
) -> dict[str, Any]:
    """Compare (n, d) vectors, once they are rounded to `stored_dtype`, with the (n, d) vectors that they should be.

    Returns:
        compared: segments compared.
        cosine_mean: mean of the cosines; None if nothing was compared.
        cosine_min: the smallest of them.
        float16_cosine_min: the smallest cosine between a vector as the run computes it and itself in float16: what
            keeping vectors in float16 alone does, or would do.
        reason: why the figures are worse than they should be, or why there are none; None otherwise.
    """
    if not len(vectors):
        return not_compared("there are no segments")
    stored = _rounded(vectors, stored_dtype)
    found = cosines(stored, exact)
    overflowing = int((~np.isfinite(stored).all(axis=1)).sum())
    return {
        "compared": len(vectors),
        "cosine_mean": round(float(found.mean()), 8),
        "cosine_min": round(float(found.min()), 8),
        "float16_cosine_min": round(float(cosines(_rounded(vectors, "float16"), vectors).min()), 8),
        "reason": (
            f"{overflowing} of {len(vectors)} vectors have numbers beyond the range of {stored_dtype}; write"
            " `embeddings: {stored_dtype: float32}`"
            if overflowing
            else None
        ),
    }


def not_compared(reason: str) -> dict[str, Any]:
    """Return what `compare_vectors` says where there is nothing to compare, or no way to."""
    nothing = dict.fromkeys(("cosine_mean", "cosine_min", "float16_cosine_min"))
    return {"compared": 0, **nothing, "reason": reason}


def choose(texts: Sequence[str], count: int) -> list[int]:
    """Choose the places of up to `count` texts, spread evenly from the shortest to the longest.

    The same texts are chosen in whatever order they come; texts of one length go by their characters.
    """
    ordered = sorted(range(len(texts)), key=lambda place: (len(texts[place]), texts[place], place))
    if len(ordered) <= count:
        return ordered
    if count < 2:
        return ordered[: max(0, count)]
    return [ordered[step * (len(ordered) - 1) // (count - 1)] for step in range(count)]


def cosines(one: NDArray[np.floating], other: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the cosine of each row of `one` with the same row of `other`, (n,) from (n, d) each.

    Two rows of zeros are the same vector (1); a row of zeros, or one that is not finite, has nothing in common with
    another (0).
    """
    both = np.stack([one, other]).astype(np.float64)
    finite = np.isfinite(both).all(axis=(0, 2))
    both[:, ~finite] = 0.0
    lengths = np.linalg.norm(both, axis=2)
    scale = lengths.prod(axis=0)
    products = (both[0] * both[1]).sum(axis=1) / np.where(scale > 0.0, scale, 1.0)
    equal = finite & (lengths == 0.0).all(axis=0)
    return np.where(equal, 1.0, np.clip(products, -1.0, 1.0))


def _embed(encoder: Encoder, chosen: pl.DataFrame, pieces: str) -> NDArray[np.float32]:
    return encoder.embed(
        chosen["text"].to_list(),
        list(zip(chosen["start"], chosen["end"], strict=True)),
        pieces=pieces,
        roots=[root_end(*one) for one in chosen.select("start", "end", "stimulus").iter_rows()],
    )


def _embed_exactly(
    settings: VectorSettings, report: Mapping[str, Any], chosen: pl.DataFrame, device: str, threads: int
) -> NDArray[np.float32]:
    """Embed in float32, on `device` if it has room for the model and its batches, else on the processor."""
    from prasanga.embeddings.encoder import load_encoder
    from prasanga.models.batches import ON_A_CPU

    for place in dict.fromkeys([device, "cpu"]):
        try:
            twin = load_encoder(
                settings.model,
                revision=report["identity"].get("commit", settings.revision),
                device=place,
                dtype="float32",
                layer=settings.layer,
                threads=threads,
                pieces_per_batch=ON_A_CPU,
                options=replace(settings.options, quantization="none", cards=1),
            )
            return _embed(twin, chosen, settings.pieces)
        except InputError:
            if place == "cpu":
                raise
    raise AssertionError("the processor was tried")


def _rounded(vectors: NDArray[np.float32], dtype: str) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return vectors.astype(dtype).astype(np.float32)
