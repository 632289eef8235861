"""Adapter: the counts of all corpus parts to the ranking of the candidates, and the words taken as word sets."""

from pathlib import Path

from prasanga.base.logs import log_to
from prasanga.base.parquet import require_equal, write_text
from prasanga.sentences.candidates import add_counts, rank, ranking_csv, read_candidates, word_set_yaml

log_to(snakemake.log[0])
settings = snakemake.params.ranking
require_equal(snakemake.input.counts, ["stage", "code"])
counts = add_counts(snakemake.input.counts)
sets = read_candidates(settings["candidates"], settings["normalization"])
rankings = [(candidates, rank(candidates, counts, settings["top"])) for candidates in sets]
write_text(snakemake.output.ranking, ranking_csv(rankings))
folder = Path(snakemake.output.sets[0]).parent
for candidates, ranked in rankings:
    write_text(folder / f"{candidates.name}.yaml", word_set_yaml(candidates, ranked))
