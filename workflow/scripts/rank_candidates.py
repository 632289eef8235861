"""Adapter: the counts of all corpus parts to the ranking of the candidates, and the words chosen as word sets."""

from pathlib import Path

from prasanga.base.documents import guarded
from prasanga.base.logs import log_to
from prasanga.base.parquet import require_equal, write_text
from prasanga.extras.candidates import rank_candidates, read_candidates, word_set_yaml

log_to(snakemake.log[0])
settings = snakemake.params.ranking
require_equal(snakemake.input.counts, ["stage", "version"])
sets = read_candidates(settings["candidates"], settings["normalization"])
ranking = rank_candidates(sets, snakemake.input.counts, settings["top"])
write_text(snakemake.output.ranking, guarded(ranking).write_csv())
folder = Path(snakemake.output.sets[0]).parent
for candidates in sets:
    write_text(folder / f"{candidates.name}.yaml", word_set_yaml(candidates, ranking))
