"""Adapter: texts that were measured to a table of some for each word, the first of each."""

from pathlib import Path

from prasanga.base.documents import to_tsv
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table, write_text
from prasanga.embeddings.shards import read_common_occurrences
from prasanga.report.words import TEMPLATES, choose_sentences

log_to(snakemake.log[0])
files = snakemake.input
segments: dict[str, list[Path]] = {}
for path in map(Path, files.segments):  # samples/<length>/<bucket>.parquet, samples/templates.parquet
    segments.setdefault(path.stem if path.stem == TEMPLATES else path.parent.name, []).append(path)
lists = {label: [path for path in files.lists if Path(path).stem == label] for label in segments}
table = choose_sentences(
    ((paths, read_common_occurrences(lists[label])) for label, paths in segments.items()),
    sources=files.sentences,
    scored=files.scored,
    terms=files.terms,
).to_arrow()
write_table(snakemake.output.parquet, table, describe("samples", inputs=files))
write_text(snakemake.output.tsv, to_tsv(table))
