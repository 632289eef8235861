"""Adapter: a set of pairs to one engine's translations of both sentences of each."""

from prasanga.base.io import read_frame, write_table
from prasanga.base.logs import log_to
from prasanga.base.results import describe
from prasanga_construction.generation import writer_of
from prasanga_construction.translation import pairs_to_translate, translate_pairs

log_to(snakemake.log[0])
settings, engine = snakemake.params.translation, snakemake.wildcards.family
writer = writer_of(settings, cards=snakemake.resources.cards)
pairs = pairs_to_translate(read_frame(snakemake.input.pairs), settings["into"])
asked = {key: settings[key] for key in ("into", "codes", "prefix", "seed")}
candidates = translate_pairs(writer, pairs, engine=engine, **asked)
libraries = ["torch", "transformers"]
made_from = describe("construction", inputs=[snakemake.input.pairs], settings=settings, libraries=libraries)
write_table(snakemake.output[0], candidates.to_arrow(), made_from)
