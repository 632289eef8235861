"""Adapter: categories in sentences to the log-probability bias that one model shows in them."""

from typing import TYPE_CHECKING

from prasanga.associations import TestSettings
from prasanga.base.logs import log_to
from prasanga.base.parquet import write_table
from prasanga.lexicon import lexicon_of
from prasanga.lexicon.categories import chosen_categories, read_categories
from prasanga.likelihoods.categories import score_categories
from prasanga.likelihoods.stage import open_scorer
from prasanga.likelihoods.templates import load_category_templates
from prasanga.provenance import describe

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = snakemake.params.log_probability
normalization = settings["lexicon"]["normalization"]
cards = snakemake.resources.cards
tables = score_categories(
    open_scorer(settings["which"], snakemake.input.model, threads=snakemake.threads, cards=cards),
    chosen_categories(
        read_categories(snakemake.input.categories), settings["categories"], key="log_probability.categories"
    ),
    load_category_templates(settings["templates"], normalization),
    lexicon_of(settings["lexicon"]),
    model=snakemake.wildcards.model,
    settings=TestSettings(**settings["test"]),
    **{name: settings[name] for name in ("exchanged", "pieces", "terms", "seed")},
)
libraries = ["torch", "transformers", "tokenizers", "numpy", "scipy"]
made_from = describe("likelihoods", script=__file__, inputs=snakemake.input, settings=settings, libraries=libraries)
for name, table in tables._asdict().items():
    write_table(snakemake.output[name], table, made_from)
