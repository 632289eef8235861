"""Choose some measured texts per word."""

from pathlib import Path

from prasanga.base.results import Task
from prasanga.embeddings.shards import read_common_occurrences
from prasanga.samples.segments import FILLED, choose_sentences

task = Task(snakemake, "samples")
files, segments = task.input, dict[str, list[Path]]()
for path in map(Path, files.segments):  # samples/<length>/<bucket>.parquet, samples/templates.parquet
    segments.setdefault(path.stem if path.stem == FILLED else path.parent.name, []).append(path)
lists = {label: [path for path in files.lists if Path(path).stem == label] for label in segments}
common = ((paths, read_common_occurrences(lists[label])) for label, paths in segments.items())
chosen = choose_sentences(common, sources=files.sentences, scored=files.scored, terms=files.terms).to_arrow()
task.write(task.output.parquet, chosen, task.describe())
task.write_tsv(task.output.tsv, chosen)
