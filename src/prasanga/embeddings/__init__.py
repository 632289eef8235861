"""Compute, store and read vectors of target words in their contexts.

Names are imported on first use: computing needs torch, and reading (`read_embeddings`) must not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prasanga.base import offered

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder, load_encoder
    from prasanga.embeddings.pooling import Pooling
    from prasanga.embeddings.settings import (
        VectorSettings,
        compare_with_full_precision,
        open_stores,
        settle_dtype,
        settle_sentence_vector,
        start_encoder,
    )
    from prasanga.embeddings.shards import StoredEmbeddings, list_shards, read_embeddings
    from prasanga.embeddings.stage import embed_shards


def __getattr__(name: str) -> Any:
    return offered(__name__, name)
