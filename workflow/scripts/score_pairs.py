"""Adapter: a set of sentence pairs to the scores that one model gives both sentences of each."""

from prasanga.base.logs import log_to
from prasanga.base.parquet import read_frame, write_table
from prasanga.likelihoods.stage import PAIRS, deal_pairs, read_buckets, score_rows, set_table
from prasanga.provenance import describe

log_to(snakemake.log[0])
settings, name = dict(snakemake.params.scoring), snakemake.wildcards.set
pairs = read_frame(snakemake.input.pairs)
if snakemake.input.buckets:
    scores = read_buckets(snakemake.input.buckets)
else:
    scores = score_rows(
        PAIRS,
        deal_pairs(pairs, settings["which"]),
        name,
        settings=settings,
        model=snakemake.input.model,
        kept="results/likelihoods/kept",
        threads=snakemake.threads,
        cards=snakemake.resources.cards,
    )
libraries = ["torch", "transformers", "tokenizers"]
made_from = describe("likelihoods", script=__file__, inputs=snakemake.input, settings=settings, libraries=libraries)
write_table(snakemake.output[0], set_table(pairs, scores, name, settings).to_arrow(), made_from)
