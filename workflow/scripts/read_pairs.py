"""Adapter: a file of sentence pairs to one table, and what is odd about it to another."""

from prasanga.base.documents import guarded
from prasanga.base.logs import bound_memory, log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table, write_text
from prasanga.pairs import read_pair_file

log_to(snakemake.log[0])
bound_memory(snakemake.resources.get("mem_mb"))
settings = dict(snakemake.params.pairs)
found = read_pair_file(snakemake.input[0], settings["languages"], layout=settings["layout"], spoken=settings["spoken"])
made_from = describe("pairs", inputs=snakemake.input, settings=settings, version=snakemake.params.version)
write_table(snakemake.output.pairs, found.pairs.to_arrow(), made_from)
write_table(snakemake.output.oddities, found.oddities.to_arrow(), made_from)
write_text(snakemake.output.csv, guarded(found.oddities).write_csv(line_terminator="\n"))
