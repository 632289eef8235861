"""Adapter: categories in sentences to the log-probability bias that one model shows in them."""

from prasanga.associations import TestSettings
from prasanga.associations.corrections import of_twins
from prasanga.base.logs import log_to
from prasanga.base.parquet import write_table
from prasanga.likelihoods.categories import score_categories
from prasanga.likelihoods.stage import SENTENCES, category_shares, known_scores, read_buckets, rows_of, score_rows
from prasanga.provenance import describe

log_to(snakemake.log[0])
settings, name = snakemake.params.log_probability, snakemake.wildcards.model
shares = category_shares(settings, snakemake.input.texts[-1])
rows = rows_of([[row for _, rows in share for row in rows] for share in shares], settings["which"])
if snakemake.input.buckets:
    scores = read_buckets(snakemake.input.buckets)
else:
    scores = score_rows(
        SENTENCES,
        rows,
        "log_probability",
        settings={**settings, "name": name},
        model=snakemake.input.model,
        kept="results/likelihoods/kept",
        threads=snakemake.threads,
        cards=snakemake.resources.cards,
    )
known = known_scores(rows, scores, name)
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
made_from = describe("likelihoods", script=__file__, inputs=snakemake.input, settings=settings, libraries=libraries)
for table in tables._fields:
    write_table(snakemake.output[table], getattr(tables, table), made_from)
