"""Adapter: the estimates of a study to their differences, and to where they settle."""

import pyarrow as pa

from prasanga.associations.comparisons import differences, settling
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_table, require_equal, write_table


def together(paths: list[str]) -> pa.Table:
    """Tables of several jobs in one."""
    return pa.concat_tables(read_table(path).replace_schema_metadata() for path in paths)


log_to(snakemake.log[0])
require_equal([*snakemake.input.resamples, *snakemake.input.convergence], ["stage", "version"])
params = dict(snakemake.params.comparison)
estimates = read_table(snakemake.input.estimates)
between = differences(estimates, together(snakemake.input.resamples), models=params["models"])
made_from = describe("associations", inputs=snakemake.input, settings=params)
write_table(snakemake.output.differences, between, made_from)
write_table(snakemake.output.settling, settling(estimates, between, band=params["band"]), made_from)
write_table(snakemake.output.convergence, together(snakemake.input.convergence), made_from)
