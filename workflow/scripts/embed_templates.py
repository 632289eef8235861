"""Adapter: the sentences of templates to the vectors that one model gives them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from prasanga.embeddings import (
    VectorSettings,
    embed_shard,
    open_stores,
    settle_dtype,
    settle_sentence_vector,
    start_encoder,
)
from prasanga.logs import log_to
from prasanga.parquet import made_from
from prasanga.provenance import describe

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
report = json.loads(Path(snakemake.input.model).read_text(encoding="utf-8"))
settings = VectorSettings.of(snakemake.params.embedding, cards=snakemake.resources.get("cards", 1))
settings = settle_sentence_vector(settle_dtype(settings, report, "results/store"), report)
stores = open_stores(settings, report, "results/store")
embed_shard(
    snakemake.input.sentences,
    snakemake.output.vectors,
    left_out=snakemake.output.left_out,
    stores=stores,
    load=lambda: start_encoder(settings, report, "results/store", threads=snakemake.threads),
    dimension=lambda: report["hidden_size"],
    made_from={
        **describe(
            "embeddings",
            script=__file__,
            inputs=[snakemake.input.sentences],
            settings={**settings.as_plain(), **report["identity"]},
            libraries=["torch", "transformers", "tokenizers"],
        ),
        "sampling": made_from(snakemake.input.sentences)["settings"],
    },
    pooling=settings.pooling,
    unknown=settings.unknown,
)
