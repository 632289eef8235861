"""Adapter: categories in sentences to the log-probability bias that one model shows in them."""

from prasanga.associations import TestSettings
from prasanga.associations.corrections import of_twins
from prasanga.base.logs import log_to
from prasanga.base.parquet import write_table
from prasanga.lexicon import lexicon_of
from prasanga.lexicon.model import chosen_categories, read_categories
from prasanga.likelihoods.categories import score_categories
from prasanga.likelihoods.stage import open_scorer, twins_of
from prasanga.likelihoods.templates import load_category_templates
from prasanga.provenance import describe

log_to(snakemake.log[0])
settings = snakemake.params.log_probability
normalization = settings["lexicon"]["normalization"]
which, model, cards = settings["which"], snakemake.input.model, snakemake.resources.cards
templates = load_category_templates(settings["templates"], normalization)
n_twins = twins_of(which, templates.most)
tables = of_twins(
    n_twins,
    lambda twin: score_categories(
        open_scorer(which, model, threads=snakemake.threads, cards=cards, twin=twin),
        chosen_categories(
            read_categories(snakemake.input.categories), settings["categories"], key="log_probability.categories"
        ),
        templates,
        lexicon_of(settings["lexicon"]),
        model=snakemake.wildcards.model,
        settings=TestSettings(**settings["test"]),
        **{name: settings[name] for name in ("exchanged", "pieces", "terms", "seed")},
        share=None if twin is None else (twin, n_twins or 1),
    ),
)
libraries = ["torch", "transformers", "tokenizers", "numpy", "scipy"]
made_from = describe("likelihoods", script=__file__, inputs=snakemake.input, settings=settings, libraries=libraries)
for name, table in tables._asdict().items():
    write_table(snakemake.output[name], table, made_from)
