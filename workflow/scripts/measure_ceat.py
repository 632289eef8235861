"""The vectors of a model and its random copies at all lengths to the CEAT of every category."""

from pathlib import Path
from typing import Any

from prasanga.associations import CeatSettings, TestSettings, measure_ceat
from prasanga.associations.comparisons import of_twins
from prasanga.base.results import Task
from prasanga.embeddings.shards import StoredEmbeddings, read_common_occurrences
from prasanga.lexicon.model import stimuli_of

task = Task(snakemake, "associations")
categories, lengths = task.params.categories, task.params.lengths
stimuli, lists = stimuli_of(categories), task.input.all_embeddings
common = {
    label: read_common_occurrences([path for path in lists if Path(path).stem == name])
    for name, label in lengths.items()
}


def measure(vectors: list[str], asked: dict[str, Any]) -> Any:
    """Measure a model or its twins, by their lists of vectors; `asked` are the settings of the rule."""
    del asked["categories"]  # their names
    n_twins, paths = asked.pop("n_twins"), dict(zip(lengths.values(), vectors, strict=True))
    settings = CeatSettings(**{**asked, "test": TestSettings(**asked["test"])})

    def measure_twin(twin: int | None) -> Any:
        model = Path(vectors[0]).parent.name
        # nothing here keeps the vectors of a length that has been measured
        return measure_ceat(
            categories,
            {label: StoredEmbeddings(path, stimuli=stimuli, twin=twin) for label, path in paths.items()},
            model=model,
            settings=settings,
            common=common,
        )

    return of_twins(n_twins, measure_twin)


for number, asked in enumerate(task.params.ceat):
    vectors = task.input.embeddings[number * len(lengths) : (number + 1) * len(lengths)]
    made_from = task.describe(asked, [*vectors, *task.input.all_embeddings], ["numba", "numpy", "scipy"])
    for name, table in measure(vectors, dict(asked))._asdict().items():
        task.write(task.output[name][number], table, made_from)
