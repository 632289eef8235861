"""The vectors and estimates of a method to the strength of bias that it could have found in each category."""

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from prasanga.associations import TestSettings
from prasanga.associations.strength import WordVectors, measure_strengths, summarize_vectors
from prasanga.base.io import read_table
from prasanga.base.results import Task
from prasanga.embeddings.shards import StoredEmbeddings
from prasanga.lexicon.model import stimuli_of
from prasanga.schema import join_curves
from prasanga.static import read_looked_up

task, method = Task(snakemake, "associations"), snakemake.wildcards.method
asked: dict[str, Any] = dict(task.params.strength)
made_from, categories = task.describe(asked, libraries=["numpy", "scipy"]), task.params.categories
n_twins, average, settings = asked.pop("n_twins"), asked.pop("average"), TestSettings(**asked.pop("test"))
sentences: dict[str, list[str]] = {}
for row in (row for path in task.input.sentences if method == "seat" for row in read_table(path).to_pylist()):
    sentences.setdefault(row["stimulus"], []).append(row["occurrence_id"])


def summarize(path: str, twin: int | None = None) -> WordVectors:
    """The words of the study in one file of vectors."""
    if method == "weat":
        vectors: Any = {word: ([word], [vector]) for word, vector in read_looked_up(path)[0].items() if any(vector)}
    else:
        vectors = StoredEmbeddings(path, stimuli=stimuli_of(categories), twin=twin)
    how = {"sentences": sentences, "average": average} if method == "seat" else {}
    return summarize_vectors(vectors, stimuli_of(categories), seed=asked["seed"], **how)


tables = {Path(path).stem: read_table(path).to_pylist() for path in task.input.estimates}
family = [row["p_association"] for rows in tables.values() for row in rows if row["n_tests"]]
found = []
for model, (paths, *copies) in task.params.vectors.items():
    twins = [[summarize(path, twin) for path in lists] for lists in copies for twin in range(n_twins[model])]
    rows = [row for row in tables[method] if row["model"] == model]
    spaces = [summarize(path) for path in paths]
    found.append(measure_strengths(categories, rows, family, spaces, twins, method=method, settings=settings, **asked))
table = pa.concat_tables(found)
task.write(task.output.parquet, table, made_from)
task.write_csv(task.output.csv, join_curves(pl.DataFrame(table)))
