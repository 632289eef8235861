"""Embed segments of all lengths, or filled templates, with a model and its random copies."""

from prasanga.base.io import read_document, write_document
from prasanga.base.results import Task
from prasanga.embeddings import VectorSettings, compare_with_full_precision, list_shards, settle_dtype
from prasanga.embeddings.stage import embed_files

task, store = Task(snakemake, "embeddings"), "results/store"
segments, out = list(task.input.segments), task.output
for number, settings in enumerate(task.params.embedding):
    of_unit = slice(number * len(segments), (number + 1) * len(segments))
    embed_files(
        segments,
        out.vectors[of_unit],
        left_out=out.left_out[of_unit],
        model=task.input.model,
        embedding=settings,
        root=store,
        threads=task.threads,
        cards=task.cards,
    )
if lists := out.get("lists"):
    for shard, path in zip(out.vectors, lists, strict=True):
        list_shards([shard], path)
if precision := out.get("precision"):
    report = read_document(task.input.model)
    asked = settle_dtype(VectorSettings.of(task.params.embedding[0], cards=task.cards), report, store)
    compared = compare_with_full_precision(asked, report, task.input.shortest, store, threads=task.threads)
    write_document(precision, compared)
