"""Adapter: the sheets that came back to the translated pairs, what became of each, and the engines' votes."""

import polars as pl

from prasanga.base.io import read_frame, write_text
from prasanga.base.logs import log_to
from prasanga_construction.translation import (
    check_choices,
    count_engines,
    pairs_to_translate,
    report_translation,
    resolve_choices,
    translated_pairs,
    translation_sheet,
    warn_of_losses,
)

log_to(snakemake.log[0])
settings = snakemake.params.choices
into = settings["into"]
pairs = pairs_to_translate(read_frame(snakemake.input.pairs), into)
key = pl.read_csv(snakemake.input.key, infer_schema=False)
blank = translation_sheet(pairs, key)
given = zip(settings["annotators"], snakemake.input.sheets, strict=True)
choices = [check_choices(path, blank, annotator=name) for name, path in given]
decisions = [check_choices(path, blank, annotator="decisions", partly=True) for path in snakemake.input.decisions]
report = report_translation(pairs, resolve_choices(choices, *decisions), key, into=into)
warn_of_losses(report)
write_text(snakemake.output.pairs, translated_pairs(pairs, report, into=into).write_csv())
write_text(snakemake.output.report, report.write_csv())
write_text(snakemake.output.engines, count_engines(choices, key).write_csv())
