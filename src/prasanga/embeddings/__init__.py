"""Vectors of target words in their contexts: computing them, keeping them, reading them back.

What computes needs torch and is imported when it is first used; what reads (`read_embeddings`, `shard_paths`) does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prasanga.embeddings.shards import ShardReport, embed_shard, list_shards
from prasanga.embeddings.store import VectorStore, vector_key
from prasanga.embeddings.vectors import read_embeddings, shard_paths

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder, EncoderReport, TargetVectors, load_encoder

__all__ = [
    "Encoder",
    "EncoderReport",
    "ShardReport",
    "TargetVectors",
    "VectorStore",
    "embed_shard",
    "list_shards",
    "load_encoder",
    "read_embeddings",
    "shard_paths",
    "vector_key",
]


def __getattr__(name: str) -> Any:
    if name == "Encoder":
        from prasanga.embeddings.encoder import Encoder

        return Encoder
    if name == "EncoderReport":
        from prasanga.embeddings.encoder import EncoderReport

        return EncoderReport
    if name == "TargetVectors":
        from prasanga.embeddings.encoder import TargetVectors

        return TargetVectors
    if name == "load_encoder":
        from prasanga.embeddings.encoder import load_encoder

        return load_encoder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
