"""Adapter: templates and word lists to the sentences of all words of some categories."""

from prasanga.base.logs import bound_memory, log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table
from prasanga.lexicon import lexicon_of, load_templates
from prasanga.samples.segments import fill_templates

log_to(snakemake.log[0])
bound_memory(snakemake.resources.get("mem_mb"))
settings = snakemake.params.filling
normalization = settings["normalization"]
lexicon = lexicon_of(settings)
templates = load_templates(snakemake.input.templates, normalization)
made_from = describe(
    "samples", inputs=snakemake.input, settings=settings, libraries=["ftfy", "regex"], version=snakemake.params.version
)
write_table(snakemake.output[0], fill_templates(lexicon, settings["categories"], templates), made_from)
