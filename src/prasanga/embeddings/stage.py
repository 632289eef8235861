"""The embedding stage: a file of segments, or of filled templates, to the vectors that a model gives them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prasanga.documents import read_document
from prasanga.embeddings.settings import (
    VectorSettings,
    open_stores,
    settle_dtype,
    settle_sentence_vector,
    start_encoder,
)
from prasanga.embeddings.shards import ShardReport, embed_shard
from prasanga.parquet import made_from
from prasanga.provenance import describe

_LIBRARIES = ("torch", "transformers", "tokenizers")


def embed_file(
    segments: str | Path,
    output: str | Path,
    *,
    left_out: str | Path,
    model: str | Path,
    embedding: Mapping[str, Any],
    root: str | Path,
    script: str | Path,
    threads: int,
    cards: int,
) -> ShardReport:
    """Write the vectors of one file of segments; only those that no store has are computed.

    Args:
        segments: Parquet file with the columns of a segment and, in its metadata, how it was sampled.
        output: the shard of vectors (`embed_shard`).
        left_out: table (TSV) of the segments that are not in it, each with the reason.
        model: the report on the model (`prasanga.models.check_model`).
        embedding: the settings of its vectors, as plain values (`VectorSettings.of`).
        root: folder of all stores.
        script: what runs, for the record in `output`.
        threads: of the encoder on a CPU.
        cards: that the model is spread over; 0 for the processor.

    Raises:
        InputError: a file without these columns, a model without the vector that is asked for; whatever the encoder
            refuses.
    """
    report = read_document(model)
    settings = settle_dtype(VectorSettings.of(embedding, cards=cards), report, root)
    settings = settle_sentence_vector(settings, report)
    record = describe(
        "embeddings",
        script=script,
        inputs=[segments],
        settings={**settings.as_plain(), **report["identity"]},
        libraries=_LIBRARIES,
    )
    return embed_shard(
        segments,
        output,
        left_out=left_out,
        stores=open_stores(settings, report, root),
        load=lambda: start_encoder(settings, report, root, threads=threads),
        dimension=lambda: report["hidden_size"],
        made_from={**record, "sampling": made_from(segments)["settings"]},
        pooling=settings.pooling,
        unknown=settings.unknown,
    )
