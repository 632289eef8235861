"""Measure CEAT of every category from the vectors of a model and its random copies at all lengths."""

from functools import partial
from pathlib import Path

from prasanga.associations import CeatSettings, CeatTables, TestSettings, measure_ceat
from prasanga.associations.comparisons import of_twins
from prasanga.base.results import Task
from prasanga.embeddings.shards import StoredEmbeddings, read_common_occurrences
from prasanga.lexicon.model import stimuli_of

task = Task(snakemake, "associations")
categories, lengths, lists = task.params.categories, task.params.lengths, task.input.all_embeddings
paths_of = {label: [path for path in lists if Path(path).stem == name] for name, label in lengths.items()}
common = {label: read_common_occurrences(paths) for label, paths in paths_of.items()}


def measure(twin: int | None, paths: list[str], settings: CeatSettings) -> CeatTables:
    """Measure a model or one of its twins, by its lists of vectors."""
    stored = (StoredEmbeddings(path, stimuli=stimuli_of(categories), twin=twin) for path in paths)
    # nothing here keeps the vectors of a length that has been measured
    return measure_ceat(
        categories,
        dict(zip(lengths.values(), stored, strict=True)),
        model=Path(paths[0]).parent.name,
        settings=settings,
        common=common,
    )


for number, asked in enumerate(task.params.ceat):
    paths = task.input.embeddings[number * len(lengths) : (number + 1) * len(lengths)]
    made_from = task.describe(asked, [*paths, *lists], ["numba", "numpy", "scipy"])
    chosen = {name: value for name, value in asked.items() if name not in ("n_twins", "categories")}
    settings = CeatSettings(**{**chosen, "test": TestSettings(**asked["test"])})
    tables = of_twins(asked["n_twins"], partial(measure, paths=paths, settings=settings))
    for name, table in tables._asdict().items():
        task.write(task.output[name][number], table, made_from)
