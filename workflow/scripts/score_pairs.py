"""Adapter: a set of sentence pairs to the scores that one model gives both sentences of each."""

from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_frame, write_table
from prasanga.likelihoods.stage import PAIRS, Job, deal_pairs, score_rows, set_table

log_to(snakemake.log[0])
settings, name = dict(snakemake.params.scoring), snakemake.wildcards.set
job = Job(snakemake.input.model, "results/likelihoods/kept", snakemake.threads, snakemake.resources.cards)
pairs = deal_pairs(read_frame(snakemake.input.pairs), settings["which"])
scores = score_rows(PAIRS, pairs, name, settings, job, buckets=snakemake.input.buckets)
libraries = ["torch", "transformers", "tokenizers"]
made_from = describe(
    "likelihoods", inputs=snakemake.input, settings=settings, libraries=libraries, version=snakemake.params.version
)
write_table(snakemake.output[0], set_table(pairs, scores, name, settings["name"]).to_arrow(), made_from)
