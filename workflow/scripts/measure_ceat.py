"""The vectors of a model and its random copies at all lengths to the CEAT of every category."""

from pathlib import Path
from typing import Any

from prasanga.associations import CeatSettings, TestSettings, measure_ceat
from prasanga.associations.comparisons import of_twins
from prasanga.embeddings.shards import StoredEmbeddings, read_common_occurrences
from prasanga.lexicon.model import stimuli_of
from prasanga.runner import Task

task = Task(snakemake, "associations")
categories = task.params.categories


def measure(vectors: str, same_length: list[str], asked: dict[str, Any]) -> Any:
    """Measure one list of vectors; `asked` are the settings of the rule."""
    del asked["categories"]  # their names
    asked["test"] = TestSettings(**asked["test"])
    common = {"segment_length": asked.pop("segment_length"), "common": read_common_occurrences(same_length)}
    n_twins, model, stimuli = asked.pop("n_twins"), Path(vectors).parent.name, stimuli_of(categories)
    settings = CeatSettings(**asked)

    def measure_twin(twin: int | None) -> Any:
        stored = StoredEmbeddings(vectors, stimuli=stimuli, twin=twin)
        return measure_ceat(categories, stored, model=model, settings=settings, **common)

    return of_twins(n_twins, measure_twin)


for number, (vectors, asked) in enumerate(zip(task.input.embeddings, task.params.ceat, strict=True)):
    same_length = [path for path in task.input.all_embeddings if Path(path).stem == Path(vectors).stem]
    made_from = task.describe(asked, [vectors, *same_length], ["numba", "numpy", "scipy"])
    for name, table in measure(vectors, same_length, dict(asked))._asdict().items():
        task.write(task.output[name][number], table, made_from)
