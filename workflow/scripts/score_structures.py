"""Adapter: traits in the sentence structures to the scores that one model gives them."""

from prasanga.associations.corrections import of_twins
from prasanga.base.logs import log_to
from prasanga.base.parquet import write_table
from prasanga.likelihoods.stage import SENTENCES, known_scores, read_buckets, rows_of, score_rows, trait_shares
from prasanga.likelihoods.structures import score_structures
from prasanga.provenance import describe

log_to(snakemake.log[0])
settings, name = snakemake.params.structures, snakemake.wildcards.model
shares = trait_shares(settings)
rows = rows_of(shares, settings["which"])
if snakemake.input.buckets:
    scores = read_buckets(snakemake.input.buckets)
else:
    scores = score_rows(
        SENTENCES,
        rows,
        "structures",
        settings={**settings, "name": name},
        model=snakemake.input.model,
        kept="results/likelihoods/kept",
        threads=snakemake.threads,
        cards=snakemake.resources.cards,
    )
known = known_scores(rows, scores, name)
tables = of_twins(
    len(shares) if "twins" in settings["which"] else None,
    lambda twin: score_structures(
        known[twin or 0], shares[twin or 0], model=name, pieces=settings["pieces"], terms=settings["terms"]
    ).to_arrow(),
)
libraries = ["torch", "transformers", "tokenizers"]
made_from = describe("likelihoods", script=__file__, inputs=snakemake.input, settings=settings, libraries=libraries)
for table in tables._fields:
    write_table(snakemake.output[table], getattr(tables, table), made_from)
