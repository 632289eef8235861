"""Draw samples: cut sentences to segments of a length, the same for every model and every division of the work."""

from prasanga.samples.drawing import (
    Draw,
    bucket_names,
    buckets_for,
    choose_part,
    counts_of,
    coverage_table,
    draw,
    drawn_forms,
    short_stimuli,
    tell_of_missing,
)
from prasanga.samples.pool import SegmentLength, parse_length, priority, require_longest
from prasanga.samples.segments import SEGMENT_SCHEMA, Context, Segment, Segments, cut, cut_segments, fill_templates
