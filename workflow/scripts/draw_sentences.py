"""Draw sentences for the structure S5 from the study's texts, one per trait; the CSV quotes only licensed texts."""

import polars as pl

from prasanga.base.results import Task
from prasanga.lexicon.loading import lexicon_of
from prasanga.likelihoods.drawn import draw_sentences

task = Task(snakemake, "likelihoods")
asked = task.params.drawing
drawn = draw_sentences(asked, lexicon_of(asked["lexicon"]))
task.write(task.output.parquet, drawn, task.describe(asked, libraries=["ftfy", "regex"]))
task.write_csv(task.output.csv, drawn.with_columns(text=pl.when(pl.col("licence").is_not_null()).then("text")))
