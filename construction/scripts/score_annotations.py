"""Adapter: the annotators' sheets to tuples with votes, and to how far the annotators agree."""

from prasanga.base.io import write_text
from prasanga.base.logs import log_to
from prasanga_construction.templates import load_identities
from prasanga_construction.tuples import add_votes, agreement_table, read_sheet, read_tuples, tuples_csv

log_to(snakemake.log[0])
settings = snakemake.params.scoring
language = load_identities(snakemake.input.identities).language
tuples = read_tuples(snakemake.input.tuples, language, annotators=len(settings["annotators"]))
sheets = zip(settings["annotators"], snakemake.input.sheets, strict=True)
annotated = add_votes(tuples, {annotator: read_sheet(path, tuples) for annotator, path in sheets})
write_text(snakemake.output.tuples, tuples_csv(annotated))
write_text(snakemake.output.agreement, agreement_table(annotated, settings["votes"]).write_csv())
