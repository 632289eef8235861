"""Adapter: the translations of all engines to a sheet for each annotator, and the key to its letters."""

import polars as pl

from prasanga.base.io import read_frame, require_equal, write_text
from prasanga.base.logs import log_to
from prasanga_construction.sheets import sheet_text
from prasanga_construction.translation import (
    hide_engines,
    pairs_to_translate,
    read_translations,
    translation_instructions,
    translation_sheet,
)

log_to(snakemake.log[0])
settings = snakemake.params.sheets
require_equal(snakemake.input.candidates, ["stage", "version", "inputs"])
pairs = pairs_to_translate(read_frame(snakemake.input.pairs), settings["into"])
candidates = [read_frame(path) for path in snakemake.input.candidates]
candidates += [read_translations(path, pairs) for path in snakemake.input.translations]
key = hide_engines(pl.concat(candidates), seed=settings["seed"])
sheet = translation_sheet(pairs, key)
write_text(snakemake.output.key, key.write_csv())
for path in snakemake.output.sheets:
    write_text(path, sheet_text(sheet))
write_text(snakemake.output.instructions, translation_instructions(pairs.height, settings["into"]))
