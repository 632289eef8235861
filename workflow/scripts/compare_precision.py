"""Compare the study's vectors with vectors in full precision, on a few segments."""

from prasanga.base.io import read_document, write_document
from prasanga.base.results import Task
from prasanga.embeddings import VectorSettings, compare_with_full_precision, settle_dtype

task = Task(snakemake, "embeddings")
report, store = read_document(task.input.model), "results/store"
settings = settle_dtype(VectorSettings.of(task.params.embedding, cards=task.cards), report, store)
compared = compare_with_full_precision(settings, report, task.input.segments, store, threads=task.threads)
write_document(task.output[0], compared)
