"""Adapter: sentences to the segments of every stimulus at every length, in buckets, and what there was to draw from."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from prasanga.lexicon import stimuli_of
from prasanga.logs import log_to
from prasanga.parquet import write_table
from prasanga.provenance import describe
from prasanga.samples import coverage_table, draw, parse_length, segment_table, split_into_buckets

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = snakemake.params.sampling
made_from = describe("samples", script=__file__, inputs=snakemake.input, settings=settings)
categories = json.loads(Path(snakemake.input.categories).read_text(encoding="utf-8"))
stimuli = stimuli_of(categories, settings["categories"])
drawn = draw(
    snakemake.input.sentences,
    lengths=[parse_length(length) for length in settings["lengths"]],
    pool=settings["pool"],
    contexts_per_stimulus=settings["contexts_per_stimulus"],
    seed=settings["seed"],
    stimuli=stimuli,
)
for length in drawn.lengths:
    buckets = split_into_buckets(segment_table(drawn, length), settings["buckets"])
    for bucket, segments in buckets.items():
        write_table(f"results/samples/{length.file_name}/{bucket}.parquet", segments, made_from)
write_table(snakemake.output.coverage, coverage_table(drawn, stimuli), made_from)
