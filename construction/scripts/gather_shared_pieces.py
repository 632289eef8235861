"""Adapter: the shared pieces of all sets by all models as one table, and their counts, each also as text."""

from pathlib import Path

import polars as pl

from prasanga.base.io import read_frame, require_equal, write_text
from prasanga.base.logs import log_to

log_to(snakemake.log[0])
for name in ("table", "counts"):
    paths = list(snakemake.input[name])
    require_equal(paths, ["stage", "version"])
    parts = [read_frame(path).select(pl.lit(Path(path).parent.name).alias("set"), pl.all()) for path in paths]
    write_text(snakemake.output[name], pl.concat(parts).write_csv())
