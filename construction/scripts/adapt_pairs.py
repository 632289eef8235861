"""Adapter: a set of pairs to the sheet by which it is adapted."""

from prasanga.base.io import read_frame, write_text
from prasanga.base.logs import log_to
from prasanga_construction.adaptation import adaptation_instructions, adaptation_sheet, read_names
from prasanga_construction.sheets import sheet_text
from prasanga_construction.translation import pairs_to_translate

log_to(snakemake.log[0])
settings = snakemake.params.adaptation
pairs = pairs_to_translate(read_frame(snakemake.input.pairs), settings["into"])
names = read_names(f"{settings['names']}/{pairs['language'][0]}")
write_text(snakemake.output.sheet, sheet_text(adaptation_sheet(pairs, names, seed=settings["seed"])))
write_text(snakemake.output.instructions, adaptation_instructions(pairs.height))
