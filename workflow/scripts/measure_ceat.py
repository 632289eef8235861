"""Adapter: the vectors of one model at one length to the CEAT of every category."""

from typing import TYPE_CHECKING

from prasanga.associations import CeatSettings, measure
from prasanga.embeddings.vectors import read_common_segments, read_embeddings
from prasanga.lexicon import stimuli_of
from prasanga.logs import log_to
from prasanga.parquet import write_table
from prasanga.provenance import describe

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = dict(snakemake.params.ceat)
made_from = describe(
    "associations", script=__file__, inputs=snakemake.input, settings=settings, libraries=["numpy", "scipy"]
)
categories = settings.pop("categories")
table = measure(
    categories,
    read_embeddings(snakemake.input.embeddings, stimuli=stimuli_of(categories), verify=True),
    model=snakemake.wildcards.model,
    segment_length=settings.pop("segment_length"),
    common=read_common_segments(snakemake.input.all_embeddings),
    settings=CeatSettings(**settings),
)
write_table(snakemake.output[0], table, made_from)
