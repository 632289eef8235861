"""Vectors of target words in their contexts: computing them, keeping them, reading them back.

The names are imported when they are first used: what computes needs torch, and what reads (`read_embeddings`,
`shard_paths`) must not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prasanga.base import offered

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder, EncoderReport, TargetVectors, load_encoder
    from prasanga.embeddings.pooling import Pooling
    from prasanga.embeddings.settings import (
        VectorSettings,
        compare_with_full_precision,
        open_stores,
        settle_dtype,
        settle_sentence_vector,
        start_encoder,
    )
    from prasanga.embeddings.shards import (
        Rows,
        StoredEmbeddings,
        VectorStore,
        compact_stores,
        history_of,
        list_shards,
        read_common_occurrences,
        read_embeddings,
        shard_paths,
        vector_key,
    )
    from prasanga.embeddings.stage import ShardReport, Source, embed_shard


def __getattr__(name: str) -> Any:
    return offered(__name__, name)
