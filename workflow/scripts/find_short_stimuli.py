"""Adapter: sentences to the stimuli with too few contexts, which are looked for in the supplement as well."""

from pathlib import Path

from prasanga.base.documents import write_document
from prasanga.base.logs import log_to
from prasanga.base.parquet import require_equal
from prasanga.samples import parse_length, short_stimuli

log_to(snakemake.log[0])
settings = dict(snakemake.params.sampling)
require_equal(snakemake.input, ["stage", "version"])
lengths = [parse_length(length) for length in settings.pop("lengths")]
found = short_stimuli(snakemake.input, lengths=lengths, scratch=Path(snakemake.output[0]).parent, **settings)
short = {"minimum": settings["minimum"], "stimuli": found}
write_document(snakemake.output[0], short)
