"""Adapter: one bucket of a set of sentence pairs to the scores that one model gives them."""

from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_frame, write_table
from prasanga.likelihoods.stage import PAIRS, Job, deal_pairs, score_rows

log_to(snakemake.log[0])
settings, bucket = dict(snakemake.params.scoring), (int(snakemake.wildcards.bucket), snakemake.params.buckets)
job = Job(snakemake.input.model, "results/likelihoods/kept", snakemake.threads, snakemake.resources.cards)
pairs = deal_pairs(read_frame(snakemake.input.pairs), settings["which"])
scores = score_rows(PAIRS, pairs, snakemake.wildcards.set, settings, job, bucket=bucket)
libraries = ["torch", "transformers", "tokenizers"]
made_from = describe(
    "likelihoods", inputs=snakemake.input, settings=settings, libraries=libraries, version=snakemake.params.version
)
write_table(snakemake.output[0], scores.to_arrow(), made_from)
