"""Samples: sentences to segments of a length, the same for every model and every division of the work."""

from prasanga.samples.drawing import (
    COVERAGE_SCHEMA,
    FORMS_SCHEMA,
    Draw,
    bucket_names,
    bucket_of,
    buckets_for,
    choose_part,
    counts_of,
    coverage_table,
    draw,
    drawn_forms,
    sampling_settings,
    short_stimuli,
    tell_of_missing,
)
from prasanga.samples.pool import Pool, SegmentLength, parse_length, priority, require_longest
from prasanga.samples.segments import (
    SEGMENT_SCHEMA,
    TEMPLATE_SCHEMA,
    Context,
    Segment,
    Segments,
    cut,
    cut_segments,
    fill_templates,
)
