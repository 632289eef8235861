"""Adapter: the sheet of an adaptation, filled in, to the adapted pairs, findings to check, and counts."""

from prasanga.base.io import read_frame, write_text
from prasanga.base.logs import log_to
from prasanga_construction.adaptation import read_adaptation, read_names, warn_of_findings
from prasanga_construction.translation import pairs_to_translate

log_to(snakemake.log[0])
settings = snakemake.params.adaptation
pairs = pairs_to_translate(read_frame(snakemake.input.pairs), settings["into"])
names = read_names(f"{settings['names']}/{pairs['language'][0]}")
adapted = read_adaptation(snakemake.input.sheet, pairs, names)
warn_of_findings(adapted)
for name in ("pairs", "findings", "report", "summary"):
    write_text(snakemake.output[name], getattr(adapted, name).write_csv())
