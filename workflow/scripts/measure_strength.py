"""Measure the strength of bias that a method could have found in each category, from its vectors and estimates."""

from pathlib import Path
from typing import Any

from prasanga.associations import TestSettings
from prasanga.associations.strength import build_cosine_studies, measure_strengths, summarize_models
from prasanga.base.io import read_table
from prasanga.base.results import Task
from prasanga.embeddings.shards import StoredEmbeddings
from prasanga.lexicon.model import stimuli_of
from prasanga.schema import join_curves
from prasanga.static import read_looked_up

task, method = Task(snakemake, "associations"), snakemake.wildcards.method
asked, words = dict(task.params.strength), stimuli_of(task.params.categories)
made_from = task.describe(asked, libraries=["numpy", "scipy"])
n_twins, average, repeated = (asked.pop(name) for name in ("n_twins", "average", "repeated_words"))
of_templates = {"sentences": read_table(task.input.sentences[0]), "average": average} if method == "seat" else {}


def read(path: str, twin: int | None) -> Any:
    """The vectors of a model or a random copy."""
    if method == "weat":
        return {word: ([word], [vector]) for word, vector in read_looked_up(path)[0].items() if any(vector)}
    return StoredEmbeddings(path, stimuli=words, twin=twin)


def build(row: Any, rule: Any, rng: Any) -> Any:
    """The simulated studies of an estimate."""
    own, *copies = summarize(row["model"])
    return build_cosine_studies(task.params.categories, row, own, copies, rule, rng, repeated_words=repeated)


summarize = summarize_models(task.params.vectors, read, words, n_twins, seed=asked["seed"], **of_templates)
tables = {Path(path).stem: read_table(path).to_pylist() for path in task.input.estimates}
table = measure_strengths(tables, method, build, settings=TestSettings(**asked.pop("test")), **asked)
task.write(task.output.parquet, table, made_from)
task.write_csv(task.output.csv, join_curves(table))
