"""Segments of all lengths, or filled templates, to the vectors of a model and its random copies."""

from prasanga.embeddings import list_shards
from prasanga.embeddings.stage import embed_files
from prasanga.runner import Task

task = Task(snakemake, "embeddings")
segments, out = list(task.input.segments), task.output
for number, settings in enumerate(task.params.embedding):
    of_unit = slice(number * len(segments), (number + 1) * len(segments))
    embed_files(
        segments,
        out.vectors[of_unit],
        left_out=out.left_out[of_unit],
        model=task.input.model,
        embedding=settings,
        root="results/store",
        threads=task.threads,
        cards=task.cards,
    )
if lists := out.get("lists"):
    for shard, path in zip(out.vectors, lists, strict=True):
        list_shards([shard], path)
