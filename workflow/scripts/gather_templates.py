"""Adapter: the effects by template of each model to one table."""

import polars as pl
import pyarrow as pa

from prasanga.base.documents import guarded
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_table, replacing, require_equal, write_table
from prasanga.schema import TABLES

log_to(snakemake.log[0])
require_equal(list(snakemake.input), ["stage", "version"])
read = (read_table(path).replace_schema_metadata() for path in snakemake.input)
table = pa.concat_tables([TABLES["seat_templates"].arrow().empty_table(), *read])
write_table(snakemake.output.parquet, table, describe("associations", inputs=snakemake.input))
with replacing(snakemake.output.csv) as temporary:
    guarded(pl.DataFrame(table)).write_csv(temporary)
