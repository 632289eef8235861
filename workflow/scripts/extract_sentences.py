"""Adapter: one corpus file, or a part of it, to its sentences with located stimuli."""

from prasanga.base.documents import digests_of_files, read_document, write_document
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_batches
from prasanga.sentences import REPEATED, SENTENCE_SCHEMA, ExtractionReport, Shard, extract_shard, read_forms
from prasanga.text import normalizer

log_to(snakemake.log[0])
settings = dict(snakemake.params.extraction)
# The supplement is read for these stimuli alone, and not at all where there are none.
short = snakemake.input.get("short")
made = [snakemake.input.forms, short] if short else [snakemake.input.forms]
shard = Shard(**settings["shard"])
digest = shard.digest()
inputs = {**digests_of_files(made), **digest}
libraries = ["ftfy", "regex", "numba", "xxhash"]
made_from = describe(
    "sentences", inputs=inputs, settings=settings, libraries=libraries, version=snakemake.params.version
)
settings.pop("shard")
settings["normalization"] = normalizer(settings["normalization"], **settings.pop("replacements"))
only = read_document(short)["stimuli"] if short else None
forms = read_forms(snakemake.input.forms, only, neighbours=settings.pop("neighbours") == "exclude")
report = ExtractionReport()
batches = extract_shard(shard, lexicon=forms, report=report, **settings) if forms.claims() else []
write_batches(snakemake.output.sentences, SENTENCE_SCHEMA, batches, made_from, dictionary=REPEATED)
write_document(snakemake.output.counts, {**report.as_dict(), "digest": digest})
