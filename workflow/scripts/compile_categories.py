"""Adapter: word lists to the categories with their words and glosses."""

from prasanga.base.documents import write_document
from prasanga.base.logs import bound_memory, log_to
from prasanga.lexicon import categories_of, lexicon_of

log_to(snakemake.log[0])
bound_memory(snakemake.resources.get("mem_mb"))
settings = snakemake.params.lexicon
lexicon = lexicon_of(settings)
categories = categories_of(lexicon)
write_document(snakemake.output[0], categories)
