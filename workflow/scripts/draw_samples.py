"""Draw the segments of every stimulus at every length from sentences, in buckets, and report the pools."""

import json
from pathlib import Path

from prasanga.base.io import digests_of_files, write_batches, write_text
from prasanga.base.results import Task
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

task = Task(snakemake, "samples")
settings, out = dict(task.params.sampling), task.output
sentences, supplement = list(task.input.sentences), list(task.input.supplement)
task.require_one_version(sentences)
task.require_one_version(supplement)
common = common_settings([*sentences, *supplement])
inputs, scratch = digests_of_files(sentences), Path(out.coverage).parent
all_inputs = inputs | digests_of_files(supplement)
buckets, lengths = settings.pop("buckets"), [parse_length(length) for length in settings.pop("lengths")]
drawn = draw(sentences, supplement=supplement, lengths=lengths, scratch=scratch, **settings)
with cut_segments(drawn, scratch) as segments:
    for path in map(Path, out.segments):
        part = choose_part(drawn, path.parent.name, path.stem, buckets)
        read = all_inputs if "supplemented" in part.settings else inputs
        made_from = task.describe({**common, **part.settings}, read)
        write_batches(path, SEGMENT_SCHEMA, segments.batches(part.length, part.stimuli), made_from)
labels = [length.label for length in lengths]
made_from, coverage = task.describe({**common, **settings, "lengths": labels}, all_inputs), coverage_table(drawn)
tell_of_missing(coverage)
task.write(out.coverage, coverage, made_from)
task.write(out.forms, drawn_forms(drawn), made_from)
write_text(out.drawn, json.dumps({"segments": list(out.segments)}, indent=2) + "\n")
