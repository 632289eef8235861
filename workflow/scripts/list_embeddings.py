"""The shards of one model at all lengths to a small file for each length that names them."""

from pathlib import Path

from prasanga.base.results import Task
from prasanga.embeddings import list_shards

task = Task(snakemake, "embeddings")
for path in task.output:
    list_shards([shard for shard in task.input.vectors if Path(shard).parent.name == Path(path).stem], path)
