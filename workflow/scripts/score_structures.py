"""Adapter: traits in the sentence structures to the scores that one model gives them."""

from typing import TYPE_CHECKING

from prasanga.base.logs import log_to
from prasanga.base.parquet import write_table
from prasanga.lexicon import lexicon_of
from prasanga.likelihoods.stage import open_scorer
from prasanga.likelihoods.structures import load_structures, score_structures, trait_sentences
from prasanga.likelihoods.traits import load_traits
from prasanga.provenance import describe

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = snakemake.params.structures
normalization = settings["lexicon"]["normalization"]
sentences = trait_sentences(
    load_structures(settings["structures"], normalization),
    [load_traits(path, normalization) for path in settings["traits"]],
    lexicon_of(settings["lexicon"]),
)
cards = snakemake.resources.cards
tables = score_structures(
    open_scorer(settings["which"], snakemake.input.model, threads=snakemake.threads, cards=cards),
    sentences,
    model=snakemake.wildcards.model,
    pieces=settings["pieces"],
    terms=settings["terms"],
)
libraries = ["torch", "transformers", "tokenizers"]
made_from = describe("likelihoods", script=__file__, inputs=snakemake.input, settings=settings, libraries=libraries)
for name, table in tables._asdict().items():
    write_table(snakemake.output[name], table.to_arrow(), made_from)
