"""Adapter: traits in the sentence structures to the scores that one model gives them."""

from prasanga.associations.corrections import of_twins
from prasanga.base.logs import log_to
from prasanga.base.parquet import write_table
from prasanga.lexicon import lexicon_of
from prasanga.likelihoods.stage import open_scorer, twins_of
from prasanga.likelihoods.structures import load_structures, score_structures, trait_sentences
from prasanga.likelihoods.templates import share_of
from prasanga.likelihoods.traits import load_traits
from prasanga.provenance import describe

log_to(snakemake.log[0])
settings = snakemake.params.structures
normalization = settings["lexicon"]["normalization"]
sentences = trait_sentences(
    load_structures(settings["structures"], normalization),
    [load_traits(path, normalization) for path in settings["traits"]],
    lexicon_of(settings["lexicon"]),
)
which, model, cards = settings["which"], snakemake.input.model, snakemake.resources.cards
n_twins = twins_of(which, len({(sentence.polarity, sentence.trait) for sentence in sentences}))
tables = of_twins(
    n_twins,
    lambda twin: score_structures(
        open_scorer(which, model, threads=snakemake.threads, cards=cards, twin=twin),
        sentences if twin is None else share_of(sentences, lambda row: (row.polarity, row.trait), twin, n_twins or 1),
        model=snakemake.wildcards.model,
        pieces=settings["pieces"],
        terms=settings["terms"],
    ).to_arrow(),
)
libraries = ["torch", "transformers", "tokenizers"]
made_from = describe("likelihoods", script=__file__, inputs=snakemake.input, settings=settings, libraries=libraries)
for name, table in tables._asdict().items():
    write_table(snakemake.output[name], table, made_from)
