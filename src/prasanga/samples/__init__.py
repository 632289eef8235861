"""Samples: sentences to segments of an exact length, the same for every model and every division of the work."""

from prasanga.samples.cutting import Segment, SegmentLength, cut, parse_length, segment, whole
from prasanga.samples.drawing import Draw, draw, sampling_settings
from prasanga.samples.pool import Occurrence, Pool, priority
from prasanga.samples.table import (
    COVERAGE_SCHEMA,
    SEGMENT_SCHEMA,
    bucket_names,
    bucket_of,
    coverage_table,
    segment_table,
    split_into_buckets,
)

__all__ = [
    "COVERAGE_SCHEMA",
    "SEGMENT_SCHEMA",
    "Draw",
    "Occurrence",
    "Pool",
    "Segment",
    "SegmentLength",
    "bucket_names",
    "bucket_of",
    "coverage_table",
    "cut",
    "draw",
    "parse_length",
    "priority",
    "sampling_settings",
    "segment",
    "segment_table",
    "split_into_buckets",
    "whole",
]
