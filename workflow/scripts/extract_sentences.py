"""Adapter: one corpus file to its sentences with located stimuli."""

import json
from typing import TYPE_CHECKING

from prasanga.logs import log_to
from prasanga.parquet import write_batches, write_text
from prasanga.provenance import describe
from prasanga.sentences import SENTENCE_SCHEMA, ExtractionReport, extract, read_forms

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = dict(snakemake.params.extraction)
made_from = describe(
    "sentences", script=__file__, inputs=snakemake.input, settings=settings, libraries=["ftfy", "regex"]
)
report = ExtractionReport()
batches = extract(snakemake.input.corpus, lexicon=read_forms(snakemake.input.forms), report=report, **settings)
write_batches(snakemake.output.sentences, SENTENCE_SCHEMA, batches, made_from)
write_text(snakemake.output.counts, json.dumps(report.as_dict(), indent=1) + "\n")
