"""Vectors of target words in their contexts: computing them, keeping them, reading them back.

The names are imported when they are first used: what computes needs torch, and what reads (`read_embeddings`,
`shard_paths`) must not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder, EncoderReport, TargetVectors, load_encoder
    from prasanga.embeddings.pooling import Pooling
    from prasanga.embeddings.precision import compare_with_full_precision
    from prasanga.embeddings.settings import (
        VectorSettings,
        open_stores,
        settle_dtype,
        settle_sentence_vector,
        start_encoder,
    )
    from prasanga.embeddings.shards import (
        StoredEmbeddings,
        list_shards,
        read_common_occurrences,
        read_embeddings,
        shard_paths,
    )
    from prasanga.embeddings.stage import ShardReport, Source, embed_shard
    from prasanga.embeddings.store import Rows, VectorStore, compact_stores, history_of, vector_key

__all__ = [
    "Encoder",
    "EncoderReport",
    "Pooling",
    "Rows",
    "ShardReport",
    "Source",
    "StoredEmbeddings",
    "TargetVectors",
    "VectorSettings",
    "VectorStore",
    "compact_stores",
    "compare_with_full_precision",
    "embed_shard",
    "history_of",
    "list_shards",
    "load_encoder",
    "open_stores",
    "read_common_occurrences",
    "read_embeddings",
    "settle_dtype",
    "settle_sentence_vector",
    "shard_paths",
    "start_encoder",
    "vector_key",
]


def __getattr__(name: str) -> Any:
    """Import a name's module when the name is asked for."""
    if name in ("Encoder", "EncoderReport", "TargetVectors", "load_encoder"):
        from prasanga.embeddings import encoder

        return getattr(encoder, name)
    if name == "Pooling":
        from prasanga.embeddings import pooling

        return getattr(pooling, name)
    if name == "compare_with_full_precision":
        from prasanga.embeddings import precision

        return getattr(precision, name)
    if name in ("VectorSettings", "open_stores", "settle_dtype", "settle_sentence_vector", "start_encoder"):
        from prasanga.embeddings import settings

        return getattr(settings, name)
    if name in ("StoredEmbeddings", "list_shards", "read_common_occurrences", "read_embeddings", "shard_paths"):
        from prasanga.embeddings import shards

        return getattr(shards, name)
    if name in ("ShardReport", "Source", "embed_shard"):
        from prasanga.embeddings import stage

        return getattr(stage, name)
    if name in ("Rows", "VectorStore", "compact_stores", "history_of", "vector_key"):
        from prasanga.embeddings import store

        return getattr(store, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
