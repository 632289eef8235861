"""Files of segments as the samples stage writes them, from plain texts and spans, and how they are embedded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from prasanga.base.io import write_table
from prasanga.embeddings import VectorSettings
from prasanga.models import ModelOptions
from prasanga.samples.segments import segment_id

Item = tuple[str, str, tuple[int, int]]
"""Stimulus, text, and the characters (start, end) of the target."""

_VECTORS = {"model": "mine", "revision": None, "layer": -1, "layers": (-1,), "dtype": "float32"}
FULL_PRECISION = VectorSettings(
    **_VECTORS, stored_dtype="float32", pieces="all", unknown="leave-out", options=ModelOptions()
)
"""Settings of the vectors of a model."""


def write_segments(path: Path, items: Sequence[Item], length: str = "9") -> Path:
    """Write a segment for each item, with the occurrence ids o0, o1, ..."""
    columns = {
        "segment_id": pa.array([segment_id(text, *span) for _, text, span in items], pa.string()),
        "occurrence_id": pa.array([f"o{i}" for i in range(len(items))], pa.string()),
        "stimulus": pa.array([stimulus for stimulus, _, _ in items], pa.string()),
        "segment_length": pa.array([length] * len(items), pa.string()),
        "text": pa.array([text for _, text, _ in items], pa.string()),
        "start": pa.array([start for _, _, (start, _) in items], pa.int32()),
        "end": pa.array([end for _, _, (_, end) in items], pa.int32()),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(path, pa.table(columns), {"stage": "samples"})
    return path
