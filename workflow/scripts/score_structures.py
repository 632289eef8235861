"""Adapter: traits in the sentence structures to the scores that one model gives them."""

from prasanga.associations.comparisons import of_twins
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table
from prasanga.likelihoods.stage import Job, known_scores, trait_shares
from prasanga.likelihoods.structures import StructureTables, score_structures

log_to(snakemake.log[0])
settings, name = snakemake.params.structures, snakemake.wildcards.model
job = Job(snakemake.input.model, "results/likelihoods/kept", snakemake.threads, snakemake.resources.cards)
shares = trait_shares(settings)
known = known_scores(shares, "structures", {**settings, "name": name}, job, snakemake.input.buckets)
choices = {key: settings[key] for key in ("pieces", "terms")}
tables = of_twins(
    len(shares) if "twins" in settings["which"] else None,
    lambda twin: StructureTables._make(
        table.to_arrow() for table in score_structures(known[twin or 0], shares[twin or 0], model=name, **choices)
    ),
)
libraries = ["torch", "transformers", "tokenizers"]
made_from = describe("likelihoods", inputs=snakemake.input, settings=settings, libraries=libraries)
for table, content in tables._asdict().items():
    write_table(snakemake.output[table], content, made_from)
