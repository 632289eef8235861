"""The study's own model beside itself in full precision, on a few of the study's segments."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prasanga.embeddings.pooling import root_end
from prasanga.embeddings.precision import COMPARED, PrecisionReport, choose, compare_vectors, not_compared
from prasanga.embeddings.settings import VectorSettings, start_encoder
from prasanga.errors import InputError
from prasanga.frames import read_frame
from prasanga.models.budget import ON_A_CPU

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder


def compare_with_full_precision(
    settings: VectorSettings,
    report: Mapping[str, Any],
    segments: str | Path,
    root: str | Path,
    *,
    threads: int,
) -> dict[str, Any]:
    """What the precision of the model and of the disk does to vectors, as plain values for JSON.

    The twin in float32 runs on the same device if it has room, else on the processor.

    Args:
        settings: with a settled precision.
        report: `prasanga.models.check_model` of the model.
        segments: the table of segments to choose from.
        root: folder of all stores, which knows the size of batches.
        threads: of this process.

    Returns:
        dtype, stored_dtype, quantization, and a `PrecisionReport`.
    """
    compared = _compare(settings, report, segments, root, threads)
    how = {
        "dtype": settings.dtype,
        "stored_dtype": settings.stored_dtype,
        "quantization": settings.options.quantization,
    }
    return {**how, **compared.to_dict()}


def _compare(
    settings: VectorSettings, report: Mapping[str, Any], segments: str | Path, root: str | Path, threads: int
) -> PrecisionReport:
    if settings.dtype == "float32" and settings.options.quantization == "none":
        return not_compared("the model runs in full precision")
    texts = read_frame(segments, columns=["text", "start", "end", "stimulus"])
    chosen = texts[choose(texts["text"].to_list(), COMPARED)]
    if chosen.is_empty():
        return not_compared("there are no segments")
    encoder = start_encoder(settings, report, root, threads=threads)
    vectors, device = _embed(encoder, chosen, settings.pieces), str(encoder.loaded.device)
    del encoder
    gc.collect()  # the twin needs its room
    try:
        exact = _embed_exactly(settings, report, chosen, device, threads)
    except InputError as error:
        return not_compared(f"the model in float32 cannot be run here: {error}")
    return compare_vectors(vectors, exact, stored_dtype=settings.stored_dtype)


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
    """The vectors in float32, on `device` if it has room for the model and its batches, else on the processor."""
    from prasanga.embeddings.encoder import load_encoder

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
