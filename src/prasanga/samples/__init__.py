"""Samples: sentences to segments of a length, the same for every model and every division of the work."""

from prasanga.samples.cutting import Context, Segment, cut, segment
from prasanga.samples.drawing import Draw, draw, sampling_settings, short_stimuli
from prasanga.samples.lengths import SegmentLength, parse_length, require_longest
from prasanga.samples.pool import Pool
from prasanga.samples.priority import priority
from prasanga.samples.segments import SEGMENT_SCHEMA, Segments, cut_segments
from prasanga.samples.table import (
    COVERAGE_SCHEMA,
    FORMS_SCHEMA,
    bucket_names,
    bucket_of,
    counts_of,
    coverage_table,
    forms_table,
    tell_of_missing,
)
from prasanga.samples.templates import TEMPLATE_SCHEMA, fill_templates

__all__ = [
    "COVERAGE_SCHEMA",
    "FORMS_SCHEMA",
    "SEGMENT_SCHEMA",
    "TEMPLATE_SCHEMA",
    "Context",
    "Draw",
    "Pool",
    "Segment",
    "SegmentLength",
    "Segments",
    "bucket_names",
    "bucket_of",
    "counts_of",
    "coverage_table",
    "cut",
    "cut_segments",
    "draw",
    "fill_templates",
    "forms_table",
    "parse_length",
    "priority",
    "require_longest",
    "sampling_settings",
    "segment",
    "short_stimuli",
    "tell_of_missing",
]
