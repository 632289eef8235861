"""Adapter: categories in sentences to the log-probability bias that one model shows in them."""

from prasanga.associations import TestSettings
from prasanga.associations.comparisons import of_twins
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table
from prasanga.likelihoods.categories import score_categories
from prasanga.likelihoods.stage import Job, category_shares, flat, known_scores

log_to(snakemake.log[0])
settings, name = snakemake.params.log_probability, snakemake.wildcards.model
job = Job(snakemake.input.model, "results/likelihoods/kept", snakemake.threads, snakemake.resources.cards)
shares = category_shares(settings, snakemake.input.texts[-1])
known = known_scores(flat(shares), "log_probability", {**settings, "name": name}, job, snakemake.input.buckets)
tables = of_twins(
    len(shares) if "twins" in settings["which"] else None,
    lambda twin: score_categories(
        known[twin or 0],
        shares[twin or 0],
        model=name,
        settings=TestSettings(**settings["test"]),
        **{key: settings[key] for key in ("exchanged", "pieces", "terms", "seed")},
    ),
)
libraries = ["torch", "transformers", "tokenizers", "numpy", "scipy"]
made_from = describe("likelihoods", inputs=snakemake.input, settings=settings, libraries=libraries)
for table, content in tables._asdict().items():
    write_table(snakemake.output[table], content, made_from)
