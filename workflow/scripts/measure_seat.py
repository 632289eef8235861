"""Measure SEAT of every category from the sentence vectors of a model and its random copies."""

import json
from pathlib import Path
from typing import Any

from prasanga.associations import TestSettings
from prasanga.associations.comparisons import of_twins
from prasanga.associations.effects import measure_seat
from prasanga.base.io import read_document, read_table
from prasanga.base.results import Task
from prasanga.embeddings.shards import read_embeddings
from prasanga.lexicon.model import stimuli_of

task = Task(snakemake, "associations")
categories, sentences = task.params.categories, read_table(task.input.sentences)


def measure(vectors: str, asked: dict[str, Any]) -> Any:
    """Measure one list of vectors; `asked` are the settings of the rule."""
    n_twins = asked.pop("n_twins")
    del asked["categories"]  # their names
    how = json.loads(read_document(vectors)["made_from"]["settings"])["sentence_vector"]
    options = {"model": Path(vectors).parent.name, "settings": TestSettings(**asked.pop("test")), **asked}

    def measure_twin(twin: int | None) -> Any:
        found = read_embeddings(vectors, stimuli=stimuli_of(categories), twin=twin)
        return measure_seat(categories, sentences, found, sentence_vector=how, **options)

    return of_twins(n_twins, measure_twin)


for number, (vectors, asked) in enumerate(zip(task.input.embeddings, task.params.seat, strict=True)):
    made_from = task.describe(asked, [vectors, task.input.sentences], ["numpy", "scipy"])
    for name, table in measure(vectors, dict(asked))._asdict().items():
        task.write(task.output[name][number], table, made_from)
