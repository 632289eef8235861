"""Adapter: one bucket of the sentences of traits or categories to the scores that one model gives them."""

from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table
from prasanga.likelihoods.stage import SENTENCES, Job, category_shares, flat, rows_of, score_rows, trait_shares

log_to(snakemake.log[0])
settings = {**snakemake.params.sentences, "name": snakemake.wildcards.model}
of, bucket = snakemake.wildcards.of, (int(snakemake.wildcards.bucket), snakemake.params.buckets)
job = Job(snakemake.input.model, "results/likelihoods/kept", snakemake.threads, snakemake.resources.cards)
texts = snakemake.input.texts
shares = trait_shares(settings) if of == "structures" else flat(category_shares(settings, texts[-1]))
scores = score_rows(SENTENCES, rows_of(shares, settings["which"]), of, settings, job, bucket=bucket)
libraries = ["torch", "transformers", "tokenizers"]
made_from = describe(
    "likelihoods", inputs=snakemake.input, settings=settings, libraries=libraries, version=snakemake.params.version
)
write_table(snakemake.output[0], scores.to_arrow(), made_from)
