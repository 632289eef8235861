"""Adapter: the estimates of all models and lengths to one table."""

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv

from prasanga.logs import log_to
from prasanga.parquet import read_table, replacing, require_equal, write_table
from prasanga.provenance import describe

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
require_equal(snakemake.input, ["stage", "code"])
table = pa.concat_tables(read_table(path).replace_schema_metadata() for path in snakemake.input)
write_table(snakemake.output.parquet, table, describe("associations", script=__file__, inputs=snakemake.input))
with replacing(snakemake.output.csv) as temporary:
    pyarrow.csv.write_csv(table, temporary)
