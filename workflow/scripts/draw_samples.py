"""Adapter: sentences to the segments of every stimulus at every length, in buckets, and what there was to draw from."""

import json
from pathlib import Path

from prasanga.base.documents import digests_of_files
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import require_equal, write_batches, write_table, write_text
from prasanga.samples import (
    SEGMENT_SCHEMA,
    choose_part,
    coverage_table,
    cut_segments,
    draw,
    drawn_forms,
    parse_length,
    tell_of_missing,
)
from prasanga.sentences import common_settings

log_to(snakemake.log[0])
settings = dict(snakemake.params.sampling)
sentences, supplement = list(snakemake.input.sentences), list(snakemake.input.supplement)
require_equal(sentences, ["stage", "version"])
require_equal(supplement, ["stage", "version"])
common = common_settings([*sentences, *supplement])
inputs = digests_of_files(sentences)
all_inputs = inputs | digests_of_files(supplement)
scratch = Path(snakemake.output.coverage).parent
buckets, lengths = settings.pop("buckets"), [parse_length(length) for length in settings.pop("lengths")]
drawn = draw(sentences, supplement=supplement, lengths=lengths, scratch=scratch, **settings)
with cut_segments(drawn, scratch) as segments:
    for path in map(Path, snakemake.output.segments):
        part = choose_part(drawn, path.parent.name, path.stem, buckets)
        its_settings, its_inputs = {**common, **part.settings}, all_inputs if part.is_supplemented else inputs
        made_from = describe("samples", inputs=its_inputs, settings=its_settings, version=snakemake.params.version)
        write_batches(path, SEGMENT_SCHEMA, segments.batches(part.length, part.stimuli), made_from)
made_from = describe(
    "samples",
    inputs=all_inputs,
    settings={**common, **settings, "lengths": [length.label for length in lengths]},
    version=snakemake.params.version,
)
coverage = coverage_table(drawn)
tell_of_missing(coverage)
write_table(snakemake.output.coverage, coverage, made_from)
write_table(snakemake.output.forms, drawn_forms(drawn), made_from)
write_text(snakemake.output.drawn, json.dumps({"segments": list(snakemake.output.segments)}, indent=2) + "\n")
