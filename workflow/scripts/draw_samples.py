"""Adapter: sentences to the segments of every stimulus at every length, in buckets, and what there was to draw from."""

from pathlib import Path
from typing import TYPE_CHECKING

from prasanga.logs import log_to
from prasanga.parquet import require_equal, write_table
from prasanga.provenance import describe, digests_of_files
from prasanga.samples import coverage_table, draw, parse_length, sampling_settings, segment_table, split_into_buckets
from prasanga.sentences import common_settings

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = snakemake.params.sampling
require_equal(snakemake.input, ["stage", "code"])
drawn = draw(
    snakemake.input,
    lengths=[parse_length(length) for length in settings["lengths"]],
    pool=settings["pool"],
    contexts_per_stimulus=settings["contexts_per_stimulus"],
    seed=settings["seed"],
    stimuli=settings["stimuli"],
)
tables = {
    (length.file_name, bucket): (length, table)
    for length in drawn.lengths
    for bucket, table in split_into_buckets(segment_table(drawn, length), settings["buckets"]).items()
}
common, inputs = common_settings(snakemake.input), digests_of_files(snakemake.input)
for path in map(Path, snakemake.output.segments):
    length, table = tables[path.parent.name, path.stem]
    # What this length and bucket depend on and no more: a new category or length leaves the others as they were.
    its_settings = {**common, **sampling_settings(drawn, length, settings["seed"])}
    write_table(path, table, describe("samples", script=__file__, inputs=inputs, settings=its_settings))
coverage = coverage_table(drawn, settings["stimuli"])
made_from = describe("samples", script=__file__, inputs=inputs, settings={**common, **settings})
write_table(snakemake.output.coverage, coverage, made_from)
