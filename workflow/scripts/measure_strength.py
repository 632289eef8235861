"""The vectors and estimates of a method to the strength of bias that it could have found in each category."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.associations import TestSettings
from prasanga.associations.strength import build_cosine_studies, measure_strengths, summarize_vectors
from prasanga.base.io import read_table
from prasanga.base.results import Task
from prasanga.embeddings.shards import StoredEmbeddings
from prasanga.lexicon.model import stimuli_of
from prasanga.schema import join_curves
from prasanga.static import read_looked_up

task, method = Task(snakemake, "associations"), snakemake.wildcards.method
asked, categories = dict(task.params.strength), task.params.categories
made_from = task.describe(asked, libraries=["numpy", "scipy"])
n_twins, average, repeated = (asked.pop(name) for name in ("n_twins", "average", "repeated_words"))
of_templates = {"sentences": read_table(task.input.sentences[0]), "average": average} if method == "seat" else {}


def read(path: str, twin: int | None) -> Any:
    """The vectors of a model or a random copy."""
    if method == "weat":
        return {word: ([word], [vector]) for word, vector in read_looked_up(path)[0].items() if any(vector)}
    return StoredEmbeddings(path, stimuli=stimuli_of(categories), twin=twin)


@lru_cache(maxsize=1)
def summarize(model: str) -> list[Any]:
    """The words of the study in the vectors of a model, and of each random copy."""
    paths, *copies = task.params.vectors[model]
    lists = [(paths, None), *((each, twin) for each in copies for twin in range(n_twins[model]))]
    how = {"seed": asked["seed"], **of_templates}
    return [
        [summarize_vectors(read(path, twin), stimuli_of(categories), **how) for path in each] for each, twin in lists
    ]


def build(row: Any, rule: Any, rng: Any) -> Any:
    """The simulated studies of an estimate."""
    return build_cosine_studies(categories, row, *summarize(row["model"]), rule=rule, rng=rng, repeated_words=repeated)


tables = {Path(path).stem: read_table(path).to_pylist() for path in task.input.estimates}
table = measure_strengths(tables, method, build, settings=TestSettings(**asked.pop("test")), **asked)
task.write(task.output.parquet, table, made_from)
task.write_csv(task.output.csv, join_curves(pl.DataFrame(table)))
