"""Rank the candidates by the counts of all corpus parts, and write the chosen words as word sets."""

from pathlib import Path

from prasanga.base.io import write_text
from prasanga.base.results import Task
from prasanga.extras.corpora import rank_candidates, read_candidates, word_set_yaml

task = Task(snakemake, "lexicon")
asked = task.params.ranking
task.require_one_version(task.input.counts)
sets = read_candidates(asked["candidates"], asked["normalization"])
ranking = rank_candidates(sets, task.input.counts, asked["top"])
task.write_csv(task.output.ranking, ranking)
folder = Path(task.output.sets[0]).parent
for candidates in sets:
    write_text(folder / f"{candidates.name}.yaml", word_set_yaml(candidates, ranking))
