"""Adapter: a set of pairs to one engine's translations of both sentences of each."""

from prasanga.base.io import read_frame, write_table
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga_construction.generation import writer_of
from prasanga_construction.translation import how_to_ask, pairs_to_translate, translate_pairs

log_to(snakemake.log[0])
settings, engine = snakemake.params.translation, snakemake.wildcards.family
writer = writer_of(settings, cards=snakemake.resources.cards)
pairs = pairs_to_translate(read_frame(snakemake.input.pairs), settings["into"])
source = pairs["language"][0]
languages = {"source": source, "into": settings["into"], "codes": settings["codes"], "prefix": settings["prefix"]}
asking = how_to_ask(writer.tokenizer, model=engine, **languages)
candidates = translate_pairs(writer, pairs, engine=engine, asking=asking, seed=settings["seed"])
libraries = ["torch", "transformers"]
inputs = [snakemake.input.pairs]
made_from = describe("construction", inputs=inputs, settings=settings, libraries=libraries)
write_table(snakemake.output[0], candidates.to_arrow(), made_from)
