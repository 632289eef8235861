"""Adapter: the estimates of all methods to one table, and how far every two agree."""

from prasanga.base.documents import guarded
from prasanga.base.logs import log_to
from prasanga.base.parquet import read_frame, write_text
from prasanga.report.agreement import agreement, side_by_side

log_to(snakemake.log[0])
estimates = side_by_side({method: read_frame(path) for method, path in snakemake.input.items()})
for path, table in zip(snakemake.output, (estimates, agreement(estimates)), strict=True):
    write_text(path, guarded(table).write_csv(line_terminator="\n"))
