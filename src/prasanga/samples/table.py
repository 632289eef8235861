"""The tables of the samples stage: segments in buckets, and what each stimulus has of them (coverage).

Within a stimulus, segments stand in the order of their contexts' priorities, so that row i of a stimulus is the same
context for every model, and with a shared pool for every fixed length. A stimulus's bucket depends on its name alone,
so that adding stimuli moves no other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from prasanga.samples.cutting import Segment, SegmentLength, segment
from prasanga.samples.drawing import Counts, Draw

SEGMENT_SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "segment_id": pa.string(),
            "occurrence_id": pa.string(),
            "context_id": pa.string(),
            "stimulus": pa.string(),
            "segment_length": pa.string(),
            "text": pa.string(),
            "start": pa.int32(),
            "end": pa.int32(),
            "n_words": pa.int32(),
        }.items()
    ]
)
"""One row per segment, sorted by stimulus and priority. The same text and span give the same `segment_id`."""

COVERAGE_SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "stimulus": pa.string(),
            "segment_length": pa.string(),
            "occurrences": pa.int64(),
            "contexts": pa.int64(),
            "long_enough": pa.int64(),
            "eligible": pa.int64(),
            "sampled": pa.int64(),
            "reason": pa.string(),
        }.items()
    ]
)
"""One row per stimulus and segment length: located occurrences; the contexts that hold them; those that allow this
length; those that the pool is drawn from (fewer in a shared pool); segments; and why there are none (else empty).
Copies of one text count each before the draw, and once in it."""


def segment_id(text: str, start: int, end: int) -> str:
    """The name of a segment: digest of text and span, 32 hexadecimal digits."""
    return hashlib.blake2b(f"{start}\0{end}\0{text}".encode(), digest_size=16).hexdigest()


def segment_table(drawn: Draw, length: SegmentLength) -> pa.Table:
    """The segments of one length, one for each context drawn."""
    rows = []
    for _, occurrence in drawn.drawn(length):
        part = segment(occurrence.text, occurrence.start, occurrence.end, length)
        if part is None:
            raise ValueError(
                f"the context of occurrence {occurrence.occurrence_id} does not allow length {length.label}:"
                " its n_words does not fit its text"
            )
        rows.append(_row(occurrence.occurrence_id, occurrence.context_id, occurrence.stimulus, length, part))
    return pa.Table.from_pylist(rows, SEGMENT_SCHEMA)


def _row(occurrence_id: str, context_id: str, stimulus: str, length: SegmentLength, part: Segment) -> dict[str, Any]:
    return {
        "segment_id": segment_id(part.text, part.start, part.end),
        "occurrence_id": occurrence_id,
        "context_id": context_id,
        "stimulus": stimulus,
        "segment_length": length.label,
        **part._asdict(),
    }


def bucket_of(stimulus: str, buckets: int) -> str:
    """The bucket of a stimulus, `00`, `01`, ...: a stable hash of its name modulo the number of buckets."""
    digest = hashlib.blake2b(stimulus.encode(), digest_size=8).digest()
    return bucket_names(buckets)[int.from_bytes(digest, "big") % buckets]


def bucket_names(buckets: int) -> list[str]:
    """The names of all buckets, in order."""
    return [f"{number:02d}" for number in range(buckets)]


def split_into_buckets(segments: pa.Table, buckets: int) -> dict[str, pa.Table]:
    """The rows of each bucket, in their order; an empty table for a bucket without a stimulus."""
    of_stimulus = {stimulus: bucket_of(stimulus, buckets) for stimulus in segments["stimulus"].unique().to_pylist()}
    bucket = pa.array([of_stimulus[stimulus] for stimulus in segments["stimulus"].to_pylist()], pa.string())
    return {name: segments.filter(pc.equal(bucket, name)) for name in bucket_names(buckets)}


def coverage_table(drawn: Draw, stimuli: Iterable[str]) -> pa.Table:
    """What there is of each stimulus at each length, also of stimuli that do not occur; sorted by stimulus."""
    sampled = {
        length: Counter(occurrence.stimulus for _, occurrence in drawn.drawn(length)) for length in drawn.lengths
    }
    rows = []
    for stimulus in sorted(set(stimuli)):
        counts = drawn.counts.get(stimulus, Counts())
        for length in drawn.lengths:
            number = sampled[length][stimulus]
            rows.append(
                {
                    "stimulus": stimulus,
                    "segment_length": length.label,
                    "occurrences": counts.occurrences,
                    "contexts": counts.contexts,
                    "long_enough": counts.eligible[drawn.own[length]],
                    "eligible": counts.eligible[drawn.requirements[length]],
                    "sampled": number,
                    "reason": _reason(counts.occurrences, number),
                }
            )
    return pa.Table.from_pylist(rows, COVERAGE_SCHEMA)


def _reason(occurrences: int, sampled: int) -> str:
    if sampled:
        return ""
    return "no-context-long-enough" if occurrences else "no-occurrence"
