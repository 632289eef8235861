"""Adapter: sets of pairs to the pieces that their modified words share, by the tokenizer of one model."""

from prasanga.base.io import read_frame, write_table
from prasanga.base.logs import log_to
from prasanga.base.results import describe
from prasanga.models import load_tokenizer
from prasanga.models.packaged import ModelOptions
from prasanga_construction.distance import find_shared_pieces

log_to(snakemake.log[0])
settings = snakemake.params.pieces
options = ModelOptions(**settings["options"])
tokenizer = load_tokenizer(settings["model"], revision=settings["revision"], options=options)
made_from = describe("construction", inputs=[snakemake.input.pairs], settings=settings)
found = find_shared_pieces(tokenizer, read_frame(snakemake.input.pairs), model=snakemake.wildcards.family)
write_table(snakemake.output.table, found.table.to_arrow(), made_from)
write_table(snakemake.output.counts, found.counts.to_arrow(), made_from)
