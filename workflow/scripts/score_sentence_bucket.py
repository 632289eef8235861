"""Adapter: one bucket of the sentences of traits or categories to the scores that one model gives them."""

from prasanga.base.logs import log_to
from prasanga.base.parquet import write_table
from prasanga.likelihoods.stage import SENTENCES, category_shares, rows_of, score_rows, trait_shares
from prasanga.provenance import describe

log_to(snakemake.log[0])
settings, of = dict(snakemake.params.sentences), snakemake.wildcards.of
if of == "structures":
    rows = rows_of(trait_shares(settings), settings["which"])
else:
    shares = category_shares(settings, snakemake.input.texts[-1])
    rows = rows_of([[row for _, rows in share for row in rows] for share in shares], settings["which"])
scores = score_rows(
    SENTENCES,
    rows,
    of,
    settings={**settings, "name": snakemake.wildcards.model},
    model=snakemake.input.model,
    kept="results/likelihoods/kept",
    threads=snakemake.threads,
    cards=snakemake.resources.cards,
    bucket=(int(snakemake.wildcards.bucket), snakemake.params.buckets),
)
libraries = ["torch", "transformers", "tokenizers"]
made_from = describe("likelihoods", script=__file__, inputs=snakemake.input, settings=settings, libraries=libraries)
write_table(snakemake.output[0], scores.to_arrow(), made_from)
