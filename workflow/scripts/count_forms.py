"""Adapter: the beginnings of corpus files and the filled templates to the occurrences of each surface form."""

from prasanga.base.documents import digests_of_files
from prasanga.base.logs import bound_memory, log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_frame, write_table
from prasanga.sentences import Shard, read_forms
from prasanga.sentences.passages import count_in_sample
from prasanga.text import normalizer

log_to(snakemake.log[0])
bound_memory(snakemake.resources.get("mem_mb"))
settings = dict(snakemake.params.sampling)
forms, templates = snakemake.input.forms, snakemake.input.templates
shards = [Shard(**shard) for shard in settings["shards"]]
inputs = digests_of_files([forms, *templates])
libraries = ["ftfy", "regex", "numba"]
made_from = describe("lexicon", inputs=inputs, settings=settings, libraries=libraries, version=snakemake.params.version)
table = count_in_sample(
    read_frame(forms),
    shards,
    read_frame(templates[0]) if templates else None,
    lexicon=read_forms(forms, neighbours=settings["neighbours"] == "exclude"),
    normalization=normalizer(settings["normalization"], **settings["replacements"]),
    match=settings["match"],
)
write_table(snakemake.output[0], table, made_from)
