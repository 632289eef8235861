"""Adapter: the tables of estimates beside a paper's numbers, as CSV and Markdown."""

from typing import TYPE_CHECKING

import polars as pl

from prasanga.logs import log_to
from prasanga.parquet import write_text
from prasanga.report.comparison import compare, comparison_to_csv, comparison_to_markdown
from prasanga.report.published import read_models, read_published

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
asked = snakemake.params.comparison
tables = {method: pl.concat(map(pl.read_parquet, paths)) for method, paths in snakemake.input.items()}
published = read_published(asked["folder"], asked["paper"])
comparison = compare(tables, published, models=asked["models"], language=asked["language"])
write_text(snakemake.output.csv, comparison_to_csv(comparison))
write_text(snakemake.output.markdown, comparison_to_markdown(comparison, read_models(asked["folder"], asked["paper"])))
