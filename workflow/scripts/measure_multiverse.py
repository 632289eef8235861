"""Measure every estimate under all choices from all vectors of a study."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from prasanga.base.io import read_document, read_table
from prasanga.base.results import Task
from prasanga.embeddings.shards import StoredEmbeddings, read_embeddings
from prasanga.extras import multiverse
from prasanga.lexicon.model import stimuli_of
from prasanga.static import read_looked_up

task = Task(snakemake, "associations")
asked: dict[str, Any] = task.params.multiverse
categories = {method: task.params.categories[method] for method in asked["categories"]}
templates: dict[str, dict[str, int]] = {}
for row in (row for path in task.input.sentences for row in read_table(path).to_pylist()):
    places = templates.setdefault(row["stimulus"], {})
    places[row["occurrence_id"]] = len(places)


def read_sources() -> Iterator[multiverse.ModelVectors]:
    """Each list of vectors, read when its turn comes."""
    for path, about in asked["sources"].items():
        stimuli = stimuli_of(categories[about["method"]])
        if about["method"] == "ceat":
            contexts = StoredEmbeddings(path, stimuli=stimuli)
            variants = partial(multiverse.variants_of_contexts, contexts, seed=asked["seed"])
        elif about["method"] == "seat":
            sentences = read_embeddings(path, stimuli=stimuli)
            variants = partial(multiverse.variants_of_sentences, sentences, templates=templates)
            how = json.loads(read_document(path)["made_from"]["settings"])["sentence_vector"]
            about = {**about, "choices": {**about["choices"], "sentence_vector": how}}
        else:
            variants = partial(multiverse.variants_of_words, read_looked_up(path)[0])
        yield multiverse.ModelVectors(**about, variants=variants)


how = {key: asked[key] for key in ("seed", "repeated_words")}
table = multiverse.measure_multiverse(categories, read_sources(), **how)
task.write(task.output.parquet, table, task.describe(asked, libraries=["numpy", "scipy"]))
task.write_csv(task.output.csv, table)
