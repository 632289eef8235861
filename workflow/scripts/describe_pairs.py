"""Adapter: all sets of pairs to their lengths, labels and bias types."""

import polars as pl

from prasanga.base.documents import guarded
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_frame, write_table, write_text
from prasanga.pairs import statistics

log_to(snakemake.log[0])
table = pl.concat(
    statistics(read_frame(path)).with_columns(set=pl.lit(name))
    for name, path in zip(snakemake.params.sets, snakemake.input, strict=True)
)
made_from = describe("pairs", inputs=snakemake.input, settings={"sets": snakemake.params.sets})
write_table(snakemake.output.parquet, table.to_arrow(), made_from)
write_text(snakemake.output.csv, guarded(table).write_csv(line_terminator="\n"))
