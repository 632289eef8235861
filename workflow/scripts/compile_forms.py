"""Adapter: word lists and suffix groups to the table of surface forms."""

import logging

from prasanga.base.documents import to_tsv
from prasanga.base.logs import bound_memory, log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table, write_text
from prasanga.lexicon import forms_table, lexicon_of

log_to(snakemake.log[0])
bound_memory(snakemake.resources.get("mem_mb"))
settings = snakemake.params.lexicon
lexicon = lexicon_of(settings)
for warning in lexicon.warnings:
    logging.getLogger("prasanga.lexicon").warning("%s", warning)
made_from = describe("lexicon", inputs=snakemake.input, settings=settings, version=snakemake.params.version)
forms = forms_table(lexicon)
write_table(snakemake.output.table, forms, made_from)
write_text(snakemake.output.for_spreadsheets, to_tsv(forms))
