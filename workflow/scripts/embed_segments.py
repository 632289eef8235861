"""Adapter: one bucket of segments to the vectors of its target words."""

from pathlib import Path
from typing import TYPE_CHECKING

from prasanga.embeddings import embed_shard, load_encoder, vector_key
from prasanga.logs import log_to
from prasanga.models import hidden_size, model_identity, resolve_dtype
from prasanga.parquet import made_from
from prasanga.provenance import describe, digest_of
from prasanga.provenance.code import fingerprint_of_module

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = dict(snakemake.params.embedding)
settings["dtype"] = resolve_dtype(settings["dtype"])  # auto differs between machines, and so do the vectors
identity = model_identity(settings["model"], settings["revision"])
code = fingerprint_of_module(
    "prasanga.embeddings.encoder",
    Path(__file__).resolve().parents[2] / "src",
    without=["prasanga.errors", "prasanga.models.quiet"],  # messages change no vector
)
key = vector_key(identity, settings["layer"], "mean", settings["dtype"], digest_of(code))
embed_shard(
    snakemake.input.segments,
    snakemake.output[0],
    store=Path("results/store", key, snakemake.wildcards.length, snakemake.wildcards.bucket),
    load=lambda: load_encoder(**settings, threads=snakemake.threads),
    dimension=lambda: hidden_size(settings["model"], revision=settings["revision"]),
    made_from={
        **describe(
            "embeddings",
            script=__file__,
            inputs=[snakemake.input.segments],
            settings={**settings, **identity, "pooling": "mean"},
            libraries=["torch", "transformers", "tokenizers"],
        ),
        "sampling": made_from(snakemake.input.segments)["settings"],
    },
)
