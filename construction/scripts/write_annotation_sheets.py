"""Adapter: tuples to a sheet for each annotator, with instructions."""

from pathlib import Path

from prasanga.base.logs import log_to
from prasanga_construction.templates import load_identities
from prasanga_construction.tuples import read_tuples, write_sheets

log_to(snakemake.log[0])
settings = snakemake.params.sheets
language = load_identities(snakemake.input.identities).language
tuples = read_tuples(snakemake.input.tuples, language, annotators=len(settings["annotators"]))
write_sheets(tuples, Path(snakemake.output.instructions).parent, settings["annotators"], settings["seed"])
