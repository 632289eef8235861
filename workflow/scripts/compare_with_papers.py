"""Adapter: the tables of estimates beside a paper's numbers, as CSV and Markdown."""

import polars as pl

from prasanga.base.logs import log_to
from prasanga.base.parquet import read_frame, write_text
from prasanga.report.comparison import PAIRS, compare, compare_pairs, render_comparison
from prasanga.report.paper_tables import with_fewer_draws
from prasanga.report.published import read_models, read_percentages, read_published

log_to(snakemake.log[0])
asked = snakemake.params.comparison
folder, paper = asked["folder"], asked["paper"]
first = snakemake.input.get("first_draws")
tables = {
    method: pl.concat(map(read_frame, paths)) for method, paths in snakemake.input.items() if method != "first_draws"
}
if "ceat" in tables and first:
    tables["ceat"] = with_fewer_draws(tables["ceat"], read_frame(first), asked["n_samples"])
bias = tables.pop(PAIRS, None)
models, about = asked["models"], read_models(folder, paper)
comparison = compare(tables, read_published(folder, paper), models=models, language=asked["language"], about=about)
found = [comparison] if tables or bias is None else []
if bias is not None:
    percentages = read_percentages(folder, paper)
    found += [compare_pairs(bias, percentages, paper=paper, models=models, preset=asked["preset"], about=about)]
texts = render_comparison(paper, found)
for path, text in zip((snakemake.output.csv, snakemake.output.markdown), texts, strict=True):
    write_text(path, text)
