"""The tables of the samples stage that say what there was, and the buckets that segments are written in.

A stimulus's bucket depends on its name alone, so that adding stimuli moves no other.
"""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from prasanga.errors import InputError
from prasanga.parquet import made_from
from prasanga.samples.drawing import Draw
from prasanga.samples.lengths import SegmentLength
from prasanga.samples.tally import Counts

logger = logging.getLogger(__name__)

COVERAGE_SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "stimulus": pa.string(),
            "segment_length": pa.string(),
            "occurrences": pa.int64(),
            "contexts": pa.int64(),
            "copies": pa.int64(),
            "too_short": pa.int64(),
            "target_too_long": pa.int64(),
            "long_enough": pa.int64(),
            "outside_pool": pa.int64(),
            "eligible": pa.int64(),
            "over_cap": pa.int64(),
            "sampled": pa.int64(),
            "from_supplement": pa.int64(),
            "short": pa.bool_(),
            "reason": pa.string(),
        }.items()
    ]
)
"""One row per stimulus and segment length. Located occurrences; the contexts that hold them; and what became of these:

    contexts    = copies + too_short + target_too_long + long_enough
    long_enough = outside_pool + eligible
    eligible    = over_cap + sampled

`copies` have the text of another context, and every later column counts texts. `too_short` have too few words for this
length, in `target_too_long` the target has more words than the segment; `long_enough` allow this length. `outside_pool`
do, but not the other lengths that share its pool. `over_cap` were not drawn, `sampled` were. `from_supplement` of these
stand in the supplement alone, `short` says that fewer than the minimum are eligible, and `reason` why there is no
sample (else empty)."""

FORMS_SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "stimulus": pa.string(),
            "form": pa.string(),
            "source": pa.string(),
            "occurrences": pa.int64(),
            "sampled": pa.int64(),
        }.items()
    ]
)
"""One row per stimulus, form and corpus file: occurrences, and how many of them were drawn, at any length."""


def bucket_of(stimulus: str, buckets: int) -> str:
    """The bucket of a stimulus, `00`, `01`, ...: a stable hash of its name modulo the number of buckets."""
    digest = hashlib.blake2b(stimulus.encode(), digest_size=8).digest()
    return bucket_names(buckets)[int.from_bytes(digest, "big") % buckets]


def bucket_names(buckets: int) -> list[str]:
    """The names of all buckets, in order."""
    return [f"{number:02d}" for number in range(buckets)]


def require_bucket(path: str | Path, length: str, bucket: str) -> None:
    """Refuse segments of another length or bucket than a job is for.

    Args:
        path: what the job was given.
        length: file name of the segment length.
        bucket: name of the bucket.

    Raises:
        InputError: the file is another one, as where samples were deleted one by one.
    """
    path = Path(path)
    if (path.parent.name, path.stem) != (length, bucket):
        raise InputError(
            f"the segments of length {length} in bucket {bucket} are gone ({path} is not theirs). Delete the folder"
            " results/samples and run the workflow again: nothing is embedded again."
        )


def tell_of_missing(coverage: pa.Table) -> None:
    """Say in the log how many stimuli have no sample at any length; nothing if all have one."""
    sampled = pl.DataFrame(coverage).group_by("stimulus").agg(pl.col("sampled").sum())
    missing = sorted(sampled.filter(pl.col("sampled") == 0)["stimulus"])
    if missing:
        logger.warning(
            "%d of %d stimuli have no sample at any length (%s); the table of coverage says why.%s",
            len(missing),
            sampled.height,
            ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else ""),
            " Are `language` and `lexicon` those of the corpus?" if len(missing) == sampled.height else "",
        )


def counts_of(coverage: str | Path) -> list[str]:
    """The files that say what was read of the corpus files that a coverage table was made from, those that are there.

    A folder of sentence tables may hold others as well, of files that are no longer in the corpus.
    """
    if not Path(coverage).exists():
        return []
    tables = json.loads(made_from(coverage).get("inputs", "{}"))
    counts = [Path(table).with_suffix(".json") for table in sorted(tables) if "supplement" not in Path(table).parts]
    return [path.as_posix() for path in counts if path.exists()]


def coverage_table(drawn: Draw) -> pa.Table:
    """What there is of each stimulus at each length, in `COVERAGE_SCHEMA`; also of stimuli that do not occur."""
    sampled = {requirement: _numbers(pool) for requirement, pool in drawn.pools.items()}
    nothing = Counts(
        enough_words=dict.fromkeys([*drawn.own.values(), *drawn.requirements.values()], 0),
        eligible=dict.fromkeys([*drawn.own.values(), *drawn.requirements.values()], 0),
    )
    rows = []
    for number, stimulus in enumerate(drawn.stimuli):
        counts = drawn.counts.get(stimulus, nothing)
        for length in drawn.lengths:
            its_sampled, from_supplement = sampled[drawn.requirements[length]].get(number, (0, 0))
            rows.append(_coverage(drawn, stimulus, length, counts, its_sampled, from_supplement))
    return pa.Table.from_pylist(rows, COVERAGE_SCHEMA)


def forms_table(drawn: Draw) -> pa.Table:
    """Which forms and which corpus files the samples come from, in `FORMS_SCHEMA`; sorted."""
    return drawn.forms.select(FORMS_SCHEMA.names).to_arrow().cast(FORMS_SCHEMA)


def _numbers(pool: pl.DataFrame) -> dict[int, tuple[int, int]]:
    """By stimulus (number): contexts drawn, and those of them from the supplement."""
    found = pool.group_by("stimulus").agg(pl.len(), pl.col("supplement").sum())
    return {stimulus: (drawn, supplement) for stimulus, drawn, supplement in found.iter_rows()}


def _coverage(
    drawn: Draw, stimulus: str, length: SegmentLength, counts: Counts, sampled: int, from_supplement: int
) -> dict[str, Any]:
    own, pool = drawn.own[length], drawn.requirements[length]
    long_enough, eligible = counts.eligible[own], counts.eligible[pool]
    row = {
        "stimulus": stimulus,
        "segment_length": length.label,
        "occurrences": counts.occurrences,
        "contexts": counts.contexts,
        "copies": counts.contexts - counts.texts,
        "too_short": counts.texts - counts.enough_words[own],
        "target_too_long": counts.enough_words[own] - long_enough,
        "long_enough": long_enough,
        "outside_pool": long_enough - eligible,
        "eligible": eligible,
        "over_cap": eligible - sampled,
        "sampled": sampled,
        "from_supplement": from_supplement,
        "short": eligible < drawn.minimum,
    }
    return {**row, "reason": _reason(row)}


def _reason(row: dict[str, Any]) -> str:
    """Why there is no sample: what kept out the contexts that came furthest."""
    if row["sampled"]:
        return ""
    if row["outside_pool"]:
        return "no-context-for-all-lengths"
    if row["target_too_long"]:
        return "target-too-long"
    return "no-context-long-enough" if row["occurrences"] else "no-occurrence"
