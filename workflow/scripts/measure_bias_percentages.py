"""Adapter: the scores of all sets of pairs to bias percentages and to the differences of scores."""

from pathlib import Path

import polars as pl

from prasanga.base.documents import guarded
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import require_equal, write_table, write_text
from prasanga.likelihoods.bias import bias_percentage, pair_differences, read_scores

log_to(snakemake.log[0])
require_equal([*snakemake.input.scores, *snakemake.input.twins], ["stage", "version"])
scores = read_scores(snakemake.input.scores)
twins: dict[str, list[str]] = {}
for path in snakemake.input.twins:
    twins.setdefault(snakemake.params.twin_of[Path(path).stem], []).append(path)
controls = {model: read_scores(paths) for model, paths in twins.items()}
bias: pl.DataFrame = bias_percentage(scores, twins=controls, **snakemake.params.bias)
made_from = describe(
    "likelihoods",
    inputs=snakemake.input,
    settings=snakemake.params.bias,
    libraries=["numpy", "polars", "scipy"],
)
write_table(snakemake.output.percentages, bias.to_arrow(), made_from)
write_table(snakemake.output.differences, pair_differences(scores, controls).to_arrow(), made_from)
write_text(snakemake.output.csv, guarded(bias).write_csv(line_terminator="\n"))
