"""List the shards of one model, in a small file per length."""

from pathlib import Path

from prasanga.base.results import Task
from prasanga.embeddings import list_shards

task = Task(snakemake, "embeddings")
for path in task.output:
    list_shards([shard for shard in task.input.vectors if Path(shard).parent.name == Path(path).stem], path)
